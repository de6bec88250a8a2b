"""Runs as the terminal shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.evaluation.compare import prompt_of
from storyproof.evaluation.fresh_twin import LEVEL, Contamination
from storyproof.evaluation.runs import Evaluation
from storyproof.language.display_names import display_name
from storyproof.reports.numbers import NONE, Column, Fitting, counted, percent, signed, with_interval
from storyproof.stats import Interval, how

_MATCHERS = ("strict", "careful", "lenient")


def scores_view(evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show scores, one solver of any kind per row: average, joint, and by kind of question.

    Where runs differ in prompt, seed or matching, these stand beside the solver; what went wrong stands below.
    """
    scores = [each.scores for each in evaluations]
    settings = {
        "prompt": [prompt_of(each) for each in evaluations],
        "seed": [str(each.seed) for each in evaluations],
        "matching": [str(each.details.get("matching", "")) if each.free_text else "" for each in evaluations],
    }
    columns = [
        Column("solver", [each.model for each in evaluations], name=True),
        *(Column(name, values, name=True) for name, values in settings.items() if len(set(values)) > 1),
        Column("average", [percent(each.accuracy) for each in scores]),
        Column("joint", [percent(each.joint_accuracy if each.stories else None) for each in scores]),
    ]
    for kind in sorted({kind for each in scores for kind in each.kinds}):
        name = display_name(kind.name)
        headings = {"no_false_belief": name}
        if kind.asks_belief:
            headings = {"no_false_belief": f"{name},\ntrue belief", "false_belief": f"{name},\nfalse belief"}
        for belief, heading in headings.items():
            found = [each.by_order.get(belief, {}).get(kind.name) for each in scores]
            cells = ["" if value is None else percent(value) for value in found]
            columns.append(Column(heading, cells, rank=len(columns)))
    missing = [_missing(each) for each in evaluations]
    if any(missing):
        columns.append(Column("failed", [f"{count:,}" for count in missing], rank=1))
    first = max(evaluations, key=lambda each: each.scores.questions)
    caption = Text(
        f"{counted(first.scores.questions, 'question')} of {counted(first.scores.stories, 'story')}, "
        f"{first.labels} labels; percent right; 'joint' requires all questions of a story right",
        style="dim",
    )
    unknown = [
        Text(
            f"{each.model} was never trained on the answers to {count:,} of them, and cannot give these", style="yellow"
        )
        for each in evaluations
        if (count := each.details.get("unknown_answers"))
    ]
    notes = [
        line
        for each in evaluations
        if each.free_text
        for line in (
            Text.assemble(f"{each.model}: ", _kinds(each.details["match_types"]), style="dim"),
            *(Text(f"{each.model}: {warning}", style=style) for warning, style in _warnings(each)),
        )
    ]
    return Group(Fitting(columns), caption, *unknown, *notes)


def run_view(run: Evaluation) -> RenderableType:
    """Show one run: the matchings side by side, question types, kinds of matches, and what went wrong."""
    parts: list[RenderableType] = [_matchings(run), _types(run), _kinds(run.details["match_types"])]
    return Group(*parts, *(Text(line, style=style) for line, style in _notes(run)))


def runs_view(runs: Sequence[Evaluation]) -> RenderableType:
    """Show several runs, one per row; what is the same for all stands above."""
    names = {
        "model": [run.model for run in runs],
        "prompt": [prompt_of(run) for run in runs],
        "seed": [str(run.seed) for run in runs],
        "matching": [str(run.details.get("matching", "")) for run in runs],
    }
    same = [f"{name} {values[0]}" for name, values in names.items() if len(set(values)) == 1 and values[0]]
    columns = [Column(name, values, name=True) for name, values in names.items() if len(set(values)) > 1]
    columns += [
        Column("average", [with_interval(run.scores.accuracy, run.intervals.get("accuracy"), "–") for run in runs]),
        Column("joint", [with_interval(_joint(run), run.intervals.get("joint_accuracy"), "–") for run in runs]),
    ]
    for name in _MATCHERS:
        if set(names["matching"]) != {name}:  # else it is what stands under average
            sides = [run.details.get("matchings", {}).get(name) for run in runs]
            columns.append(Column(name, ["" if side is None else percent(side["accuracy"]) for side in sides], rank=2))
    missing = [_missing(run) for run in runs]
    if any(missing):
        columns.append(Column("failed", [f"{count:,}" for count in missing], rank=1))
    lines = ["percent right, on average and of whole stories (joint)", *how(max(run.scores.stories for run in runs))]
    return Group(Text(", ".join(same)), Fitting(columns), *(Text(line, style="dim") for line in lines))


def _missing(run: Evaluation) -> int:
    failures = run.details.get("failures", {})
    return int(failures.get("failed", 0) + failures.get("not_asked", 0))


def _joint(run: Evaluation) -> float | None:
    """Return joint accuracy, if any story was answered as a whole."""
    return run.scores.joint_accuracy if run.scores.stories else None


def sensitivity_view(found: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """Show how much scores depend on prompts and seeds."""
    lines = []
    for model, spread in found.items():
        text = f"{model}: {percent(spread['lowest'])} to {percent(spread['highest'])} over {spread['runs']} runs"
        for name in ("prompts", "seeds"):
            if name in spread:
                values = spread[name].values()
                text += f"; {name} alone move it by {percent(max(values) - min(values))}"
        lines.append(Text(text))
    return Group(*lines)


def contamination_view(found: Contamination) -> RenderableType:
    """Show how much better a model is on published data than on a twin that no model can have seen."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "published", "twin", "difference"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, score in (("average", "accuracy"), ("joint", "joint_accuracy")):
        both = (found.published, found.twin)
        pair = [_joint(run) if name == "joint" else run.scores.accuracy for run in both]
        gap: Interval = getattr(found, score)
        table.add_row(name, *map(percent, pair), NONE if None in pair else signed(gap.value, gap.low, gap.high))
    gap = found.accuracy
    verdict = "no sign that it has seen the published data"
    if found.has_seen:
        verdict = f"{100 * gap.value:.1f} points better on the published than on the twin's stories; it has seen them"
    elif found.p < LEVEL:
        verdict = "better on the published stories, but no more than solvers that saw nothing"
    parts = [f"{found.published.model}: {verdict} (p = {found.p:.2g})"]
    if found.unseen:
        least, most = min(found.unseen.values()), max(found.unseen.values())
        parts.append(f"solvers that saw nothing differ by {100 * least:+.1f} to {100 * most:+.1f} points")
    parts.append(f"the twin is {found.twin.data}, labels as {found.twin.labels}")
    return Group(table, Text("; ".join(parts), style="dim"))


def _matchings(run: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("matching")
    table.add_column("average", justify="right")
    table.add_column("joint", justify="right")
    for name, found in run.details["matchings"].items():
        chosen = name == run.details["matching"]
        intervals = found["intervals"]
        table.add_row(
            Text(f"{name} *" if chosen else name),
            with_interval(found["accuracy"], intervals["accuracy"]),
            with_interval(found["joint_accuracy"] if run.scores.stories else None, intervals["joint_accuracy"]),
            style="bold" if chosen else "dim",
        )
    return table


def _types(run: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("question type")
    table.add_column("right", justify="right")
    intervals = run.intervals.get("by_question_type", {})
    for name, value in run.scores.by_question_type.items():
        table.add_row(Text(display_name(name)), with_interval(value, intervals.get(name)))
    intervals = run.intervals.get("by_false_belief", {})
    for name, value in run.scores.by_false_belief.items():
        table.add_row(display_name(name), with_interval(value, intervals.get(name)), style="dim")
    return table


def _kinds(shares: Mapping[str, float]) -> Text:
    return Text("matches: " + ", ".join(f"{kind} {percent(share)}" for kind, share in shares.items()))


def _notes(run: Evaluation) -> list[tuple[str, str]]:
    """Return one line for each thing that a reader should know."""
    name = f"{run.model}, {prompt_of(run)}: " if prompt_of(run) else f"{run.model}: "
    size = f"{counted(run.scores.questions, 'question')} of {counted(run.scores.stories, 'story')}, {run.labels} labels"
    lines = [f"{name}{size}", *_selected(run), *_effort(run), *how(run.scores.stories)]
    return [*((line, "dim") for line in lines), *_warnings(run)]


def _selected(run: Evaluation) -> list[str]:
    """Say how many questions there are, and how many of them were asked."""
    counts = run.details.get("selection")
    if counts is None:
        return []
    left_out = counts["loaded"] - counts["kept"]
    without = f", {counts['kept']:,} without memory and reality questions" if left_out else ""
    asked = f", asked {run.scores.questions:,}" if run.scores.questions < counts["kept"] else ""
    return [f"loaded {counted(counts['loaded'], 'question')} from {run.data}{without}{asked}"]


def _warnings(run: Evaluation) -> list[tuple[str, str]]:
    """Return one line for each thing that went wrong."""
    failures = run.details["failures"]
    notes: list[tuple[str, str]] = []
    if _missing(run):
        text = f"{failures['failed']:,} failed and {failures['not_asked']:,} not asked, of {failures['of']:,}"
        causes = "; ".join(f"{count:,} × {error}" for error, count in list(failures["errors"].items())[:3])
        notes.append((f"{text}{'; ' if causes else ''}{causes}; rerun to ask them again", "yellow"))
    cut_off = run.details.get("cut_off", 0)
    if cut_off:
        notes.append((f"{counted(cut_off, 'reply')} cut off before an answer; raise --max-tokens", "yellow"))
    if (at_limit := run.details.get("at_limit", 0) - cut_off) > 0:
        text = (
            f"{counted(at_limit, 'reply')} with an answer used all tokens allowed; raise --max-tokens to see the rest"
        )
        notes.append((text, "yellow"))
    if run.ended is not None:
        notes.append((f"ended early: {run.ended}", "yellow"))
    if not run.counts:
        notes.append(("too many answers are missing for this result to count", "bold red"))
    return notes


def _effort(run: Evaluation) -> list[str]:
    traffic, tokens = run.details["traffic"], run.details.get("tokens")
    shared = f"{traffic['shared_prefix']:.0%} of the prompts' text is shared"
    asked = f"{counted(traffic['asked'], 'request')} in {run.run['seconds']:.1f} s"
    again = f", {counted(traffic['retries'], 'retry')}" if traffic.get("retries") else ""
    lines = [f"{asked}{again}, {traffic['found']:,} known before; {shared}"]
    if tokens:
        share = tokens["cached"] / tokens["prompt"] if tokens["prompt"] else 0.0
        cached = f" ({share:.0%} from the server's cache)" if share else ""
        cost = f", cost {run.details['cost']:.4f}" if "cost" in run.details else ""
        lines.append(f"{counted(tokens['prompt'], 'token')} read{cached}, {tokens['output']:,} written{cost}")
    return lines
