"""storyproof diagnose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.cli.output import check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import console
from storyproof.language.display_names import display_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from storyproof.evaluation.diagnose import Diagnosis, GroupDiagnosis

_WIDTH = 92


def diagnose(
    runs: Annotated[list[Path], typer.Argument(help="Runs, as evaluate wrote them, or logs of Inspect or lm-eval.")],
    data: Annotated[Path | None, typer.Option(help="What was answered; by default where the run says.")] = None,
    split: Annotated[str | None, typer.Option(help="Which split; by default that of the run.")] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the diagnoses to a file; - for standard output.")
    ] = None,
) -> None:
    """Find which procedure a model's answers follow: the rules, a shortcut, two of these, guessing, or none."""
    import storyproof

    check_results(json_out, [*runs, data])
    found = []
    with progress_bar("diagnosing", None):
        for run in runs:
            found += storyproof.diagnose(run, data, split=split)
    if not write_results(json_out, [each.as_dict() for each in found]):
        for each in found:
            console().print(_view(each))


def _view(found: Diagnosis) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    lines = [Text(f"{found.model} on {found.data}", "bold")]
    for group in found.groups:
        lines += [Text(line) for line in _group_lines(group, found.descriptions)]
    lines.append(Text("shares have 95% intervals; the other answers are guesses among the candidates", "dim"))
    return Group(*lines)


def _group_lines(group: GroupDiagnosis, descriptions: Any) -> Iterator[str]:
    from storyproof.evaluation.diagnose import FEWEST, GUESS, NONE
    from storyproof.reports.numbers import counted, percent

    unanswered = f", {group.unanswered:,} without an answer" if group.unanswered else ""
    yield f"{display_name(group.group)} ({counted(group.questions, 'answer')}{unanswered})"
    best = group.best
    if best is None:
        few = group.questions < FEWEST
        yield f"  not known: {f'at least {FEWEST} answers are needed' if few else 'all procedures answer these alike'}"
        return
    sure = f"probability {best.probability:.2f}"
    if best.procedures == (GUESS,):
        yield f"  guesses among the candidates ({sure})"
    elif best.procedures == (NONE,):
        yield f"  follows none of the known procedures ({sure}); the closest:"
    else:
        yield f"  follows {'a mixture of two procedures' if len(best.procedures) > 1 else 'one procedure'} ({sure}):"
    for name, share in group.shares.items():
        interval = f"{percent(share.value)}% of the answers ({percent(share.low)} to {percent(share.high)})"
        yield f"    {name}: {descriptions[name]}; {interval}"
        if name in group.same:
            yield f"      the same on these questions: {', '.join(group.same[name])}"
    if group.deciding:
        yield f"    decided by {', '.join(group.deciding)}"
