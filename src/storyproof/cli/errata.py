"""storyproof errata: look up and correct labels that are known to be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.command import Command
from storyproof.cli.output import check_folder, check_results, takes_output, write_result
from storyproof.cli.safe_terminal import echo, note

if TYPE_CHECKING:
    from storyproof.findings import AuditReport

app = typer.Typer(
    help="Labels of published sets that are known to be wrong: look them up in a copy, or correct it.",
    add_completion=False,
    rich_markup_mode=None,
)

_Paths = Annotated[list[str], typer.Argument(metavar="paths", help="Files or folders of a published set, as in audit.")]
_Errata = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="<path>",
        help="A file of errata, as audit --write-errata writes it; may be repeated.",
        show_default="those that come with storyproof",
    ),
]
_Most = Annotated[int, typer.Option(help="List at most this many; 0 lists all.")]


@app.command("lookup", cls=Command, short_help="List the labels that are known to be wrong.")
def lookup(
    paths: _Paths,
    errata: _Errata = None,
    most: _Most = 20,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write all of them to a JSON file; - for standard output.")
    ] = None,
) -> None:
    """List the labels of files that are known to be wrong. Rows are found by hashes; nothing is derived.

    Exit code 1 if there are any.
    """
    import storyproof

    check_results(json_out, [*paths, *(errata or ())])
    report = storyproof.lookup_errata(paths, errata or ())
    if json_out is not None:
        quiet = takes_output(json_out)
        write_result(json_out, json.dumps(report.as_dict(), indent=2, ensure_ascii=quiet) + "\n")
    if not takes_output(json_out):
        _print(report, most)
    if not report.ok:
        raise typer.Exit(1)


@app.command("apply", cls=Command, short_help="Write copies with these labels corrected.")
def apply(
    paths: _Paths,
    out: Annotated[Path, typer.Option(help="A new folder for the corrected copies, with errata.csv.")],
    errata: _Errata = None,
    most: _Most = 20,
) -> None:
    """Write copies of files in which the labels that are known to be wrong are corrected; all else stays the same."""
    import storyproof

    check_folder(out, "--out")
    report = storyproof.apply_errata(paths, out, errata or ())
    _print(report, most)
    findings = [each for file in report.files for each in file.findings]
    corrected = sum(bool(each.fix) for each in findings)
    left = len(findings) - corrected
    depends = f"; {left:,} left as they are, because the right one depends on the reading, or cannot be written there"
    echo(f"{corrected:,} labels corrected{depends if left else ''}")
    note(f"corrected files and errata.csv written to {out}")


def _print(report: AuditReport, most: int) -> None:
    """Print the errata that were found, and how many there are in each file."""
    from storyproof.reports.numbers import counted

    findings = [each for file in report.files for each in file.findings]
    for each in findings[: most or None]:
        echo(each)
    if most and len(findings) > most:
        echo(f"… and {len(findings) - most:,} more; --most 0 lists all")
    for file in report.files:
        other = file.totals["other_answers"]
        changed = (
            f"; {other:,} of its rows are among the errata, with another label than was published" if other else ""
        )
        known = "known erratum" if file.totals["known_errata"] == 1 else "known errata"
        echo(f"{file.file}: {counted(file.questions, 'row')}, {file.totals['known_errata']:,} {known}{changed}")
