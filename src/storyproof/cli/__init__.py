"""The command line: one file a verb, thin."""

from __future__ import annotations

import sys

import typer

from storyproof import __version__
from storyproof.cli import evaluate, generate, show, verify
from storyproof.errors import StoryproofError

app = typer.Typer(
    name="storyproof",
    help="Reading tests of reasoning whose every answer is proved.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("generate")(generate.generate)
app.command("verify")(verify.verify)
app.command("evaluate")(evaluate.evaluate)
app.command("show")(show.show)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"storyproof {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Reading tests of reasoning whose every answer is proved."""


def main() -> None:
    """Run a command; a user's mistake is one sentence on standard error and exit code 2."""
    try:
        app()
    except StoryproofError as error:
        typer.echo(f"storyproof: {error}", err=True)
        sys.exit(2)
    except SystemExit as stop:
        if stop.code == 130:  # what Typer makes of Ctrl-C
            typer.echo("storyproof: interrupted; nothing half-written was kept.", err=True)
        raise
    except BrokenPipeError:
        sys.stderr.close()  # whoever read us has left
        sys.exit(141)
