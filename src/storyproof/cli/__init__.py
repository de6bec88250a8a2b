"""The command line: one thin module per command."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from importlib.machinery import ModuleSpec
from itertools import zip_longest
from typing import Any

import typer
from typer.core import TyperGroup

from storyproof import __version__
from storyproof.cli import (
    ask,
    audit,
    compare,
    diagnose,
    doctor,
    errata,
    evaluate,
    experiment,
    generate,
    new_family,
    process,
    report,
    serve,
    show,
    study,
    train,
)
from storyproof.cli.command import Command
from storyproof.cli.crash import DEBUG, EXIT_CODE, report_crash, show_traceback
from storyproof.cli.options import BenchmarkCommand, ModelCommand, OneQuestionCommand, TrainingCommand
from storyproof.cli.safe_terminal import complain, discard_output, echo, echo_text, visible_output
from storyproof.errors import OutputError, ReaderLeftError, StoryproofError, name_options

_UsageError: Any = typer.BadParameter.__bases__[0]  # wherever this Typer keeps it


HELP = ["-h", "--help"]
# What `python -m storyproof` runs. Worker processes import the program that starts them again, but for such modules.
_PROGRAM = ModuleSpec("storyproof.__main__", None)
EXIT_CODES = (
    "Exit codes: 0: success. 1: audit found labels that are wrong, or rows that it does not understand. 2: an error in "
    "the command or its input; the message says what was found, where, and what to do. 3: evaluate got too few answers "
    f"from a language model for its scores to count. {EXIT_CODE}: internal error; the message names a report to attach "
    "to an issue. 130: interrupted. 141: broken pipe."
)


def _dashes(word: str) -> str:
    """Accept options with underscores, as in many programs, for those with dashes."""
    return word.replace("_", "-")


class _Commands(TyperGroup):
    """The commands in the order of their use; the papers' experiments come last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return sorted(super().list_commands(ctx), key=lambda name: name == "experiment")


app = typer.Typer(
    name="storyproof",
    cls=_Commands,
    context_settings={"token_normalize_func": _dashes, "help_option_names": HELP, "max_content_width": 100},
    help="Reasoning benchmarks with a machine-checked proof for every answer.",
    epilog=f"{EXIT_CODES} With {DEBUG}=1 every error shows its traceback.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("generate", cls=BenchmarkCommand)(generate.generate)
app.command("process", cls=Command, short_help="Convert raw data to one JSON list per split.")(process.process)
app.command("audit", cls=Command, short_help="Check every label against the text, and write corrected files.")(
    audit.audit
)
app.command("verify", cls=Command, short_help="Another name of audit.", hidden=True)(audit.audit)
app.add_typer(errata.app, name="errata", short_help="Look up labels that are known to be wrong, and correct them.")
app.command("show", cls=Command, short_help="Show a story with answers and proofs, or draw it.")(show.show)
app.command("train", cls=TrainingCommand, short_help="Train one of the classical models.")(train.train)
app.command("evaluate", cls=ModelCommand)(evaluate.evaluate)
app.command("ask", cls=OneQuestionCommand, short_help="Ask a model one question.")(ask.ask)
app.command("compare", cls=Command, short_help="Compare two runs, or two sets of labels.")(compare.compare)
app.command("report", cls=Command, short_help="Compare runs on one page or in tables.")(report.report)
app.command("diagnose", cls=Command, short_help="Find which procedure a model's answers follow.")(diagnose.diagnose)
app.command(
    "serve", cls=OneQuestionCommand, short_help="Start the home page on this machine: explorer, runs, data, studies."
)(serve.serve)
app.add_typer(study.app, name="study", short_help="Run studies with people.")
app.command("doctor", cls=Command, short_help="Report installed extras and problems.")(doctor.doctor)
app.command("new-family", cls=Command, short_help="Write a package with a family of your own.")(new_family.new_family)
app.command("experiment", cls=Command, short_help="Reproduce a paper's table beside its own figures.")(
    experiment.experiment
)


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"storyproof {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Reasoning benchmarks with a machine-checked proof for every answer."""
    if context.invoked_subcommand is None:
        echo_text(context.get_help())


def _terminate(number: int, frame: object) -> None:
    """End worker processes, remove unfinished folders and exit at once."""
    processes = sys.modules.get("storyproof.engines.processes")
    if processes is not None:
        processes.end_workers()  # they write to those folders
    folders = sys.modules.get("storyproof.datasets.folders")
    if folders is not None:
        folders.clear_drafts()
    os._exit(128 + number)


_EXPECTED = {"integer": "a whole number", "number": "a number", "float": "a number", "int": "a whole number"}


def _plain_message(error: Any) -> str:
    """Return what is wrong with an argument in one sentence, without the words of the parser."""
    message: str = error.format_message().strip().rstrip(".").replace("\n", " ")
    kind = re.search(r"valid (integer|number|float|int)\b", message)
    flags = getattr(getattr(error, "param", None), "opts", ())
    if kind is None or not flags:
        return message
    typed = ""
    for word, after in zip_longest(sys.argv, sys.argv[1:], fillvalue=""):
        name, sign, value = word.partition("=")
        if _dashes(name) in flags:
            typed = value if sign else after
    return f"{flags[0]} is '{typed}'; expected {_EXPECTED[kind[1]]}"


def main() -> None:
    """Run a command; what goes wrong is reported in one sentence on standard error, see `EXIT_CODES`."""
    name_options()
    sys.modules["__main__"].__spec__ = _PROGRAM
    signal.signal(signal.SIGTERM, _terminate)
    # Commands make many objects that live until the end, and few cycles: the collector need not look at them so often.
    gc.set_threshold(100_000, 20, 100)
    with visible_output():
        code = _run()
    sys.exit(code)


def _run() -> int:
    """Run the command of the arguments and report what went wrong; return the exit code."""
    try:
        code = int(app(prog_name=app.info.name, standalone_mode=False) or 0)
        sys.stdout.flush()
    except ReaderLeftError as error:
        discard_output()
        return error.exit_code
    except OutputError as error:
        discard_output()
        complain(error)
        return error.exit_code
    except StoryproofError as error:
        show_traceback(error)
        complain(error)
        return error.exit_code
    except _UsageError as error:
        message = _plain_message(error)
        where = error.ctx.command_path if error.ctx is not None else "storyproof"
        complain(f"{message}{'' if message.endswith('?') else '.'} See {where} --help.")
        return 2
    except OSError as error:
        show_traceback(error)
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        complain(f"cannot read or write {what}; check the path, the permissions and the space on the disk.")
        return 2
    except MemoryError as error:
        show_traceback(error)
        complain("there is not enough memory; use less data at a time, or a machine with more.")
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        return report_crash(error)
    if code == 130:
        complain("interrupted; nothing is half-written.")
    return code
