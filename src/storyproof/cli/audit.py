"""storyproof audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.catalog import FORMATS
from storyproof.cli import completion
from storyproof.cli import engine_options as engines
from storyproof.cli.command import is_given
from storyproof.cli.output import check_folder, check_results, takes_output, write_result
from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import console, echo, note
from storyproof.errors import ConfigError
from storyproof.storage import as_place

if TYPE_CHECKING:
    from storyproof.findings import AuditReport


def audit(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="paths",
            help="Files, folders or URLs (s3://…): .txt (ToMi, ToM-bAbI), .csv (CLUTRR), .jsonl, .json, .parquet.",
        ),
    ],
    format: Annotated[
        str,
        typer.Option(
            help=f"auto, {', '.join(FORMATS)}; other packages can add formats.", autocompletion=completion.formats
        ),
    ] = "auto",
    reading: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<str>", help="Only these make a wrong label rule-dependent; may be repeated.", show_default="all"
        ),
    ] = None,
    fix: Annotated[Path | None, typer.Option(help="Write the corrected files to this folder, with errata.csv.")] = None,
    ambiguous: Annotated[str, typer.Option(help="--fix: 'mark' or 'drop' rows from which no answer follows.")] = "mark",
    shortcuts: Annotated[
        bool, typer.Option("--shortcuts", help="Also measure how well the data can be answered without reasoning.")
    ] = False,
    overlaps: Annotated[
        bool, typer.Option("--overlaps", help="Also look for duplicates, within and between splits.")
    ] = False,
    language: Annotated[
        bool, typer.Option("--language", help="Also measure how varied the language of the stories is.")
    ] = False,
    against: Annotated[Path | None, typer.Option(help="Also look for overlap with this dataset.")] = None,
    most: Annotated[int, typer.Option(help="List at most this many findings; 0 lists all.")] = 20,
    engine: engines.Name = engines.PROCESSES,
    address: engines.Address = None,
    workers: engines.Workers = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write everything to a JSON file; - for standard output.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page; - for standard output.")] = None,
) -> None:
    """List what is wrong with data, row by row and why, and write corrected files. Exit code 1 if anything is."""
    import storyproof

    places = [as_place(path) for path in paths]
    for asked, option in ((shortcuts, "--shortcuts"), (overlaps, "--overlaps"), (language, "--language")):
        engines.refuse_urls(places if asked else [], option)
    for given, option in ((against, "--against"), (html, "--html")):
        engines.refuse_urls(places if given is not None else [], option)
    for out, option in ((json_out, "--json"), (html, "--html")):
        check_results(out, [*places, against], option)
    if json_out is not None and json_out == html:
        raise ConfigError(f"--json and --html are both {html}; choose two files.")
    if fix is not None:
        check_folder(fix, "--fix")
    elif is_given(context, "ambiguous") and ambiguous in ("mark", "drop"):
        raise ConfigError(
            f"--ambiguous is '{ambiguous}', but it has an effect on corrected files only; add --fix FOLDER."
        )
    with engines.needed(engine, address, workers, *places) as started, progress_bar("files", None) as progress:
        report = storyproof.audit(
            places,
            format=format,
            readings=tuple(reading or ()),
            fix=fix,
            ambiguous=ambiguous,
            engine=started,
            progress=progress,
        )
    with progress_bar("further probes", None):
        more = _more([Path(path) for path in paths], shortcuts, overlaps or against is not None, language, against)
    extra = {name: found for name, found, _ in more}
    quiet = takes_output(json_out) or takes_output(html)
    if not quiet:
        _print(report, most)
        for heading, _, text in more:
            echo()
            echo(heading)
            console().print(text)
    if fix is not None:
        note(f"corrected files and errata.csv written to {fix}", err=quiet)
    if json_out is not None:
        plain = quiet  # escapes of the screen would not be JSON
        write_result(json_out, json.dumps({**report.as_dict(), **extra}, indent=2, ensure_ascii=plain) + "\n")
    if html is not None:
        from storyproof.reports.audit_sections import page_of

        complete_list = json_out.name if json_out is not None and not takes_output(json_out) else ""
        write_result(
            html, page_of(report, [Path(path) for path in paths], extra, complete_list=complete_list), option="--html"
        )
    for out, what in ((json_out, "all findings"), (html, "the page")):
        if out is not None and not takes_output(out):
            note(f"{what} written to {out}", err=quiet)
    if not report.clean:
        raise typer.Exit(1)


def _print(report: AuditReport, most: int) -> None:
    """Print findings, then the totals, then what an audit asks."""
    from storyproof.families.judge import AUDIT_ASKS, VERIFY_ASKS
    from storyproof.findings import cut

    findings = [each for file in report.files for each in file.findings]
    for each in findings[: most or None]:
        depends = f" (right under '{each.reading}')" if each.reading else ""
        where = f"{each.file} row {each.row}" if each.row >= 0 else each.file
        expected = f", expected {cut(each.expected)}" if each.expected else ""
        found = f"{each.kind}: {each.field}: found {cut(each.found)}{expected}{depends}; {cut(each.reason)}"
        echo(f"{where}: {found}")
    if most and len(findings) > most:
        echo(f"… and {len(findings) - most:,} more")
    for name, value in report.totals.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {count:,}" for key, count in value.items())
        echo(f"{name}: {value if isinstance(value, str) else format(value, ',')}")
    echo(AUDIT_ASKS)
    echo(VERIFY_ASKS)


def _more(
    paths: Sequence[Path], shortcuts: bool, overlaps: bool, language: bool, against: Path | None
) -> list[tuple[str, Any, Any]]:
    """Return what else was asked for: name, plain values, and a table to print."""
    from storyproof.reports import audit_sections as auditing

    found: list[tuple[str, Any, Any]] = []
    if shortcuts:
        found.append(("shortcuts", *auditing.shortcuts_of(paths)))
    if overlaps:
        found.append(("overlaps", *auditing.overlaps_of(paths, against)))
    if language:
        found.append(("language", *auditing.language_of(paths)))
    return found
