"""storyproof compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.output import check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import console
from storyproof.errors import ConfigError
from storyproof.language.display_names import display_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from storyproof.evaluation.compare import Comparison, Gap
    from storyproof.evaluation.rescore import Compared, Rescored


def rescored_view(results: Sequence[Rescored]) -> RenderableType:
    """Show what each model scores on published and on corrected labels, and by which the two differ."""
    from rich.console import Group
    from rich.text import Text

    from storyproof.reports.numbers import Column, Fitting
    from storyproof.stats import how

    parts: list[RenderableType] = []
    for each in results:
        rows = [("all, average", _label_cells(each.scores, "accuracy"))]
        if each.scores.stories < each.scores.questions:
            rows.append(("all, joint", _label_cells(each.scores, "joint")))
        styles = [""] * len(rows) + ["dim"] * len(each.by_kind)
        rows += [(display_name(kind), _label_cells(compared, "accuracy")) for kind, compared in each.by_kind.items()]
        columns = [Column("questions", [name for name, _ in rows], name=True)]
        headings = ("labels changed", "published", "corrected", "difference")
        columns += map(Column, headings, zip(*(cells for _, cells in rows), strict=True))
        parts += [Text(each.model), Fitting(columns, styles), Text(_caption(each), style="dim")]
    stories = max(each.scores.stories for each in results)
    lines = ["percent right", *how(stories), *how(stories, paired=True)]
    return Group(*parts, *(Text(line, style="dim") for line in lines))


def _label_cells(compared: Compared, score: str) -> list[str]:
    from storyproof.reports.numbers import signed, with_interval

    counts = f"{compared.changed_labels:,} of {compared.questions:,}" if score == "accuracy" else ""
    sides = [each[score] for each in (compared.published, compared.corrected)]
    difference = compared.difference[score]
    return [
        counts,
        *(with_interval(each.value, (each.low, each.high)) for each in sides),
        signed(difference.value, difference.low, difference.high),
    ]


def _caption(result: Rescored) -> str:
    from storyproof.reports.numbers import counted, percent

    parts = [f"{counted(result.scores.questions, 'question')} of {counted(result.scores.stories, 'story')}"]
    if result.dropped:
        have = "has" if result.dropped == 1 else "have"
        right = percent(result.dropped_accuracy)
        parts.append(f"{result.dropped:,} more {have} no answer in the corrected data ({right} right as published)")
    if result.unanswered_stories:
        be = "is" if result.unanswered_stories == 1 else "are"
        parts.append(f"{counted(result.unanswered_stories, 'story')} {be} not answered")
    return "; ".join(parts)


def compare(
    first: Annotated[
        str,
        typer.Argument(help="A run, as evaluate wrote it; of several FILE.json:MODEL or 'FILE.json:MODEL (PROMPT)'."),
    ],
    second: Annotated[
        str | None, typer.Argument(help="Another run on the same questions; with --labels it is left out.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Corrected data: score the run on their labels, beside the published ones.")
    ] = None,
    published: Annotated[
        Path | None, typer.Option(help="--labels: the data as published, if the run does not record its labels.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="--labels: which split; by default that of the run.")] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the comparison to a file; - for standard output.")
    ] = None,
) -> None:
    """Compare two runs question by question, or one run on published and on corrected labels."""
    if labels is not None:
        if second is not None:
            raise ConfigError("--labels compares the labels of one run; leave the second run out.")
        _compare_labels(Path(first), labels, published, split, json_out)
        return
    for name, value in (("--published", published), ("--split", split)):
        if value is not None:
            raise ConfigError(f"{name} applies to --labels only; leave it out.")
    if second is None:
        raise ConfigError(
            "compare takes two runs, or one run and --labels FIXED; for several runs see storyproof report."
        )
    import storyproof

    files = [name.partition(".json:")[0] + ".json" if ".json:" in name else name for name in (first, second)]
    check_results(json_out, files)
    with progress_bar("comparing", None):
        comparison = storyproof.compare(first, second)
    if not write_results(json_out, [comparison.as_dict()]):
        console().print(_view(comparison))


def _compare_labels(run: Path, labels: Path, published: Path | None, split: str | None, json_out: Path | None) -> None:
    """Score recorded answers on published and on corrected labels."""
    from storyproof.evaluation.rescore import rescore_all

    check_results(json_out, [run, labels, published])
    with progress_bar("comparing labels", None):
        results = rescore_all(run, labels, split=split, published=published)
    if not write_results(json_out, [each.as_dict() for each in results]):
        console().print(rescored_view(results))


def _view(comparison: Comparison) -> RenderableType:
    """Show both runs; names may be long, so that they stand above and columns have letters."""
    from rich.console import Group
    from rich.text import Text

    from storyproof.reports.numbers import Column, Fitting, counted
    from storyproof.stats import how

    gaps: dict[str, Gap | None] = {"average": comparison.accuracy}
    if comparison.stories < comparison.questions:
        gaps["joint"] = comparison.joint
    styles = [""] * len(gaps)
    rows = [*gaps.items(), *(comparison.by_question_type.items() if len(comparison.by_question_type) > 1 else ())]
    cells = zip(*(_cells(gap) for _, gap in rows), strict=True)
    columns = [Column("percent right", [display_name(name).replace(", ", ",\n", 1) for name, _ in rows], name=True)]
    columns += map(Column, ("of", "A", "B", "B less A", "p"), cells)
    agreed = comparison.agreement
    lines = [
        f"{counted(comparison.questions, 'question')} of {counted(comparison.stories, 'story')}: "
        f"both right {agreed['both']:,}, only A {agreed['first']:,}, only B {agreed['second']:,}, "
        f"neither {agreed['neither']:,}",
    ]
    if comparison.only_first or comparison.only_second:
        lines.append(
            f"left out, as the other has no answer: {comparison.only_first:,} of A, {comparison.only_second:,} of B"
        )
    lines += [*how(comparison.stories, paired=True), "p by an exact permutation test over stories, not corrected"]
    table = Fitting(columns, [*styles, *["dim"] * (len(rows) - len(styles))])
    return Group(
        *map(Text, (f"A  {comparison.first}", f"B  {comparison.second}")), table, *(Text(line, "dim") for line in lines)
    )


def _cells(gap: Gap | None) -> list[str]:
    from storyproof.reports.numbers import NONE, percent, signed

    if gap is None:
        return [NONE] * 5
    difference = signed(gap.difference.value, gap.difference.low, gap.difference.high)
    p = "<0.0001" if gap.p < 0.0001 else f"{gap.p:.4f}"
    return [f"{gap.of:,}", percent(gap.first.value), percent(gap.second.value), difference, p]
