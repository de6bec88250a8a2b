"""storyproof report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.output import check_folder, check_results, takes_output, write_result
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import echo, note


def report(
    runs: Annotated[list[Path], typer.Argument(help="Runs, as evaluate wrote them, or folders of them.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the report to this file; - for standard output.")
    ] = None,
    format: Annotated[
        str, typer.Option(help="'html', a self-contained page; 'markdown', 'latex' or 'csv' for tables.")
    ] = "html",
    figures: Annotated[
        Path | None, typer.Option(help="Also write all charts to this folder, as SVG, PNG and PDF for print.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(metavar="<path>", help="Where the data of the runs are, if they have moved; may be repeated."),
    ] = None,
    title: Annotated[str, typer.Option(help="The title of the report.")] = "Runs",
) -> None:
    """Compare runs on one page: scores, differences, groups, mistakes, and every answer with its story and proof."""
    from storyproof.reports.report import HTML, check_format
    from storyproof.reports.report import report as compare_runs

    check_format(format, figures=figures is not None)
    out = out or Path("report.html" if format == HTML else "-")
    check_results(out, [*runs, *(data or [])], "--out")
    if figures is not None:
        check_folder(figures, "--figures")
    with progress_bar("report", None):
        page = compare_runs(runs, data=data or (), title=title)
        rendered = page.render(format)
    write_result(out, rendered, "--out")
    quiet = takes_output(out)
    if figures is not None:
        with progress_bar("figures", None):
            files = page.write_figures(figures)
        note(f"{len(files)} figures written to {figures}", err=quiet)
    if not quiet:
        echo(page.headline)
        note(f"written to {out}")
