"""Runs of language models as the terminal shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.scoring.intervals import Interval
from storyproof.scoring.runs.outcome import Evaluation
from storyproof.scoring.sensitivity import prompt_of
from storyproof.scoring.twins import Contamination


def run_view(run: Evaluation) -> RenderableType:
    """Show one run: the matchings side by side, question types, kinds of matches, and what went wrong."""
    parts: list[RenderableType] = [_matchings(run), _types(run), _kinds(run.details["match_types"])]
    return Group(*parts, *(Text(line, style=style) for line, style in _notes(run)))


def runs_view(runs: Sequence[Evaluation]) -> RenderableType:
    """Show several runs, one a row."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("model", "prompt", "seed"):
        table.add_column(heading)
    for heading in ("average", "joint", "strict", "careful", "lenient", "failed"):
        table.add_column(heading, justify="right")
    for run in runs:
        matchings = run.details.get("matchings", {})
        failures = run.details.get("failures", {})
        missing = failures.get("failed", 0) + failures.get("not_asked", 0)
        table.add_row(
            Text(run.model),
            prompt_of(run),
            str(run.seed),
            _shown(run.scores.accuracy, run.intervals.get("accuracy")),
            _shown(run.scores.joint_accuracy, run.intervals.get("joint_accuracy")),
            *(
                _percent(matchings[name]["accuracy"]) if name in matchings else ""
                for name in ("strict", "careful", "lenient")
            ),
            f"{missing:,}" if failures else "",
        )
    return Group(table, Text("percent right, with 95% intervals over stories", style="dim"))


def sensitivity_view(found: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """Show how much scores hang on prompts and seeds."""
    lines = []
    for model, spread in found.items():
        text = f"{model}: {_percent(spread['lowest'])} to {_percent(spread['highest'])} over {spread['runs']} runs"
        for name in ("prompts", "seeds"):
            if name in spread:
                values = spread[name].values()
                text += f"; {name} alone move it by {_percent(max(values) - min(values))}"
        lines.append(Text(text))
    return Group(*lines)


def contamination_view(found: Contamination) -> RenderableType:
    """Show how much better a model is on published data than on a twin that nobody can have seen."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "published", "twin", "difference"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, score in (("average", "accuracy"), ("joint", "joint_accuracy")):
        pair = [getattr(run.scores, score) for run in (found.published, found.twin)]
        gap: Interval = getattr(found, score)
        shown = f"{100 * gap.value:+.1f} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f})"
        table.add_row(name, *map(_percent, pair), shown)
    gap = found.accuracy
    verdict = "more than chance would have it" if gap.low > 0 else "no sign that it has seen the published data"
    note = f"{found.published.model}: {verdict}; the twin is {found.twin.data}, labels as {found.twin.labels}"
    return Group(table, Text(note, style="dim"))


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
            _shown(found["accuracy"], intervals["accuracy"]),
            _shown(found["joint_accuracy"], intervals["joint_accuracy"]),
            style="bold" if chosen else "dim",
        )
    return table


def _types(run: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("question type")
    table.add_column("right", justify="right")
    intervals = run.intervals.get("by_question_type", {})
    for name, value in run.scores.by_question_type.items():
        table.add_row(Text(name), _shown(value, intervals.get(name)))
    for name, value in run.scores.by_false_belief.items():
        table.add_row(Text(name.replace("_", " "), style="dim"), Text(_percent(value), style="dim"))
    return table


def _kinds(shares: Mapping[str, float]) -> Text:
    return Text("matches: " + ", ".join(f"{kind} {_percent(share)}" for kind, share in shares.items() if share))


def _notes(run: Evaluation) -> list[tuple[str, str]]:
    """Say in a line each what a reader should know."""
    failures = run.details["failures"]
    name = f"{run.model}, {prompt_of(run)}: " if prompt_of(run) else f"{run.model}: "
    size = f"{run.scores.questions:,} questions of {run.scores.stories:,} stories, {run.labels} labels"
    notes = [(f"{name}{size}", "dim"), *((line, "dim") for line in _effort(run))]
    missing = failures["failed"] + failures["not_asked"]
    if missing:
        text = f"{failures['failed']:,} failed and {failures['not_asked']:,} not asked, of {failures['of']:,}"
        causes = "; ".join(f"{count:,} × {error}" for error, count in list(failures["errors"].items())[:3])
        notes.append((f"{text}{'; ' if causes else ''}{causes}; the same command asks them again", "yellow"))
    if run.ended is not None:
        notes.append((f"ended early: {run.ended}", "yellow"))
    if not run.counts:
        notes.append(("too much is missing for this result to count", "bold red"))
    return notes


def _effort(run: Evaluation) -> list[str]:
    traffic, tokens = run.details["traffic"], run.details.get("tokens")
    shared = f"{traffic['shared_prefix']:.0%} of the prompts' text is shared"
    lines = [
        f"{traffic['asked']:,} requests in {run.run['seconds']:.1f} s, {traffic['found']:,} known before; {shared}"
    ]
    if tokens:
        cached = f" ({tokens['cached'] / tokens['prompt']:.0%} from the server's cache)" if tokens["cached"] else ""
        cost = f", cost {run.details['cost']:.4f}" if "cost" in run.details else ""
        lines.append(f"{tokens['prompt']:,} tokens read{cached}, {tokens['output']:,} written{cost}")
    return lines


def _shown(value: float, interval: Sequence[float] | None) -> str:
    return _percent(value) + (f" ({_percent(interval[0])} to {_percent(interval[1])})" if interval else "")


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"
