"""storyproof verify."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.cli import engine_options as engines
from storyproof.cli.output import check_results, takes_output, write_result
from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import echo, note
from storyproof.findings import PROOF_SAMPLE
from storyproof.storage import as_place

if TYPE_CHECKING:
    from storyproof.audits.verify import Verification
    from storyproof.findings import Finding

_LISTED = ("id", "field", "found", "expected", "kind", "row", "line")


def verify(
    path: Annotated[
        str,
        typer.Argument(
            metavar="path",
            help="A dataset folder or a file (.parquet, .jsonl, .txt, .csv), placeholders (.json), or a URL (s3://…).",
        ),
    ],
    most: Annotated[int, typer.Option(help="List at most this many disagreements; 0 lists all.")] = 0,
    rules: Annotated[
        Path | None, typer.Option(help="The rules that kinship data were generated with, if they are your own.")
    ] = None,
    proofs: Annotated[
        bool,
        typer.Option(
            "--proofs",
            help="Check every proof by leaving out sentences, not only those of the first "
            f"{PROOF_SAMPLE} different questions per file.",
        ),
    ] = False,
    engine: engines.Name = engines.PROCESSES,
    address: engines.Address = None,
    workers: engines.Workers = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write all disagreements to a file; - for standard output.")
    ] = None,
) -> None:
    """Check by oracle and checker that data hold what they claim, and list every disagreement.

    Exit code 1 if there is one.
    """
    import storyproof

    place = as_place(path)
    check_results(json_out, [place, rules])
    with engines.needed(engine, address, workers, place) as started, progress_bar("questions", None) as progress:
        result = storyproof.verify(place, rules=rules, proofs=proofs, engine=started, progress=progress)
    if not takes_output(json_out):
        _list(result, most)
    unchecked = {name: count for name, count in result.unchecked.items() if count}
    if json_out is not None:
        statuses = result.listed_statuses()
        summary = {
            "questions": result.questions,
            "stories": result.stories,
            "disagreements": len(result.findings),
            "by_field": result.by_field(),
            "unchecked": unchecked,
            "proofs_checked": result.proofs_checked,
            **({"lacks_manifest": True} if result.lacks_manifest else {}),
            **({"statuses": statuses} if statuses else {}),
        }
        found = {**summary, "findings": [*map(_listed, result.findings)]}
        write_result(json_out, json.dumps(found, indent=2) + "\n")
    if not takes_output(json_out):
        _sum_up(place, result, unchecked)
        if json_out is not None:
            note(f"written to {json_out}")
    if not result.ok:
        raise typer.Exit(1)


def _list(result: Verification, most: int) -> None:
    """Print disagreements, one per line."""
    shown = result.findings if most <= 0 else result.findings[:most]
    for finding in shown:
        echo(finding)
    if len(shown) < len(result.findings):
        echo(f"… and {len(result.findings) - len(shown):,} more")


def _listed(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON lists it: where it is, and what was compared."""
    known = finding.as_dict()
    return {"where": known["file"], **{name: known[name] for name in _LISTED}}


def _sum_up(path: str | Path, result: Verification, unchecked: Collection[str]) -> None:
    """Print what was checked, how much of it is wrong, and what verify does not ask."""
    from storyproof.families.judge import AUDIT_ASKS, VERIFY_ASKS
    from storyproof.reports.numbers import counted

    checked = f"{counted(result.questions, 'question')} of {counted(result.stories, 'story')}"
    if not result.stories:
        checked = f"{result.questions:,} placeholders"
    unknown = "; no manifest.json, so files cannot be checked against what was generated" * result.lacks_manifest
    echo(f"{checked}: {len(result.findings):,} disagreements{unknown}")
    for name, count in result.by_field().items():
        echo(f"  {name}: {count:,}")
    if statuses := result.listed_statuses():
        echo(f"  under {result.standard}: {_counts(statuses)}")
    if result.proofs_checked:
        echo(f"  checked by leaving out sentences: {counted(result.proofs_checked, 'proof')}")
    if unchecked:
        echo(f"  not in the data, so not checked: {', '.join(unchecked)}")
    if result.unsettled:
        unsettled = {name: count for name in statuses if (count := result.unsettled[name])}
        rows = f"{counted(result.unsettled.total(), 'label')} that do not follow under {result.standard}"
        echo(f"  {rows} ({_counts(unsettled)}) are not marked so; `storyproof audit {path}` lists them")
    echo(VERIFY_ASKS)
    echo(AUDIT_ASKS)


def _counts(statuses: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in statuses.items())
