"""What all commands share: `--quiet`, and other names of options.

Options that mean the same have the same name in all commands: `--data` for data, `--out` for what is written,
`--option` for what a model takes, `--batch-size`. Names that usual evaluation scripts have also work, and `--data` for
data that are an argument; they are not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from storyproof.cli.safe_terminal import quietly
from storyproof.runtime.lean_imports import import_arrow_alone

ARGUMENT = ""  # the option is the command's argument under another name
OTHER_NAMES: dict[str, dict[str, str]] = {
    "ask": {"--example-id": "--index", "--json-file": "--data"},
    "audit": {"--data": ARGUMENT},
    "evaluate": {"--dataset": "--split"},
    "process": {"--data": ARGUMENT},
    "show": {"--data": ARGUMENT},
    "verify": {"--data": ARGUMENT},
}


def with_usual_names(args: Sequence[str], other: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of a command line with the names that options have here."""
    words = iter(args)
    for word in words:
        if word == "--":
            yield word
            yield from words
            return
        name, sign, value = word.partition("=")
        usual = other.get(name.replace("_", "-"))
        if usual is None:
            yield word
        elif usual != ARGUMENT:
            yield f"{usual}{sign}{value}"
        elif sign:
            yield value
        else:
            yield from (value for value in (next(words, None),) if value is not None)


def is_given(context: typer.Context, name: str) -> bool:
    """Return whether a parameter was given on the command line, rather than left at its default."""
    return getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"


class Command(TyperCommand):
    """A command with `--quiet` that also takes other names of its options."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Begin the command: before anything else is imported for it."""
        import_arrow_alone()
        return super().make_context(*args, **extra)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments under the names that options have here."""
        return super().parse_args(ctx, list(with_usual_names(args, OTHER_NAMES.get(self.name or "", {}))))

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters, then `--quiet` and `--help`."""
        own = super().get_params(ctx)
        return [*own[:-1], _QUIET, *own[-1:]]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, quietly if that is wanted."""
        with quietly(bool(ctx.params.pop("quiet", False))):
            return super().invoke(ctx)


def _make_quiet() -> Any:
    """Return the parameter, made by Typer as those of a function are."""

    def nothing(
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")] = False,
    ) -> None:
        """Do nothing."""

    app = typer.Typer(add_completion=False)
    app.command()(nothing)
    return get_command(app).params[0]


_QUIET = _make_quiet()
