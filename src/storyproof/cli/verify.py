"""storyproof verify."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.output import check_results, write_text
from storyproof.cli.progress import progress_bar

if TYPE_CHECKING:
    from storyproof.audits.verify import Verification


def verify(
    path: Annotated[
        Path, typer.Argument(help="A dataset folder or a file (.parquet, .jsonl, .txt, .csv), or placeholders (.json).")
    ],
    most: Annotated[int, typer.Option(help="List at most so many disagreements; 0 lists all.")] = 0,
    rules: Annotated[
        Path | None, typer.Option(help="The rules that kinship data were made by, if of your own.")
    ] = None,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write all disagreements to a file.")] = None,
) -> None:
    """Parse the text, ask oracle and checker, and list every disagreement. Exit code 1 if there is one."""
    import storyproof

    check_results(json_out, [path, rules])
    with progress_bar("questions", None) as progress:
        result = storyproof.verify(path, rules=rules, progress=progress)
    shown = result.findings if most <= 0 else result.findings[:most]
    for finding in shown:
        typer.echo(str(finding))
    if len(shown) < len(result.findings):
        typer.echo(f"… and {len(result.findings) - len(shown):,} more")
    statuses = _statuses(result)
    unchecked = {name: count for name, count in result.unchecked.items() if count}
    if json_out is not None:
        summary = {
            "questions": result.questions,
            "stories": result.stories,
            "disagreements": len(result.findings),
            "by_field": result.by_field(),
            "unchecked": unchecked,
            **({"lacks_manifest": True} if result.lacks_manifest else {}),
            **({"statuses": statuses} if statuses else {}),
        }
        findings = [asdict(finding) for finding in result.findings]
        write_text(json_out, json.dumps({**summary, "findings": findings}, indent=2) + "\n")
    _sum_up(result, statuses, unchecked)
    if not result.ok:
        raise typer.Exit(1)


def _statuses(result: Verification) -> dict[str, int]:
    """Count statuses, all that there are; none if the data are not about kinship."""
    from storyproof.families.kinship.checker import STATUSES

    return {
        name: result.statuses[name]
        for name in (*STATUSES, "undefined")
        if result.statuses[name] or (name in STATUSES and result.statuses)
    }


def _sum_up(result: Verification, statuses: dict[str, int], unchecked: Collection[str]) -> None:
    """Say what was looked at, and how much of it is wrong."""
    from storyproof.report.numbers import counted

    looked_at = f"{counted(result.questions, 'question')} of {counted(result.stories, 'story')}"
    if not result.stories:
        looked_at = f"{result.questions:,} placeholders"
    unknown = "; no manifest.json, so files cannot be checked against what was generated" * result.lacks_manifest
    typer.echo(f"{looked_at}: {len(result.findings):,} disagreements{unknown}")
    for name, count in result.by_field().items():
        typer.echo(f"  {name}: {count:,}")
    if statuses:
        shares = ", ".join(f"{name} {count:,}" for name, count in statuses.items())
        typer.echo(f"  under strict kinship: {shares}")
    if unchecked:
        typer.echo(f"  not in the data, so not checked: {', '.join(unchecked)}")
