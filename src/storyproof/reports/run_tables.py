"""The numbers of a report on runs as tables, and as Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from storyproof.evaluation.diagnose import NONE as NO_PROCEDURE
from storyproof.evaluation.diagnose import Diagnosis
from storyproof.language.display_names import display_name
from storyproof.reports.numbers import NONE, counted, percent, signed, with_interval
from storyproof.reports.run_groups import Breakdown, Curve
from storyproof.reports.run_mistakes import DIAGNOSED, LabelComparison, Mistakes
from storyproof.reports.run_numbers import BoardNumbers
from storyproof.reports.run_replies import Effort, Replies
from storyproof.reports.run_scores import Baseline, LeaderboardRow, PairDifference, Score
from storyproof.reports.table_text import as_md, as_tex, csv_lines, latex_table, markdown_table
from storyproof.stats import Interval, how

CSV_COLUMNS = ("dataset", "labels", "section", "solver", "group", "measure", "value", "low", "high", "of")
DECIDING = 2  # questions that are named
_CONTROL = "percent right, with 95% intervals over stories"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of a report.

    Attributes:
        key: What it is, such as `leaderboard`; part of addresses.
        title: Its heading.
        note: What a reader needs to know.
        heads: What stands above the columns.
        rows: The cells, as text.
        labels: How many columns from the left hold names.
        aside: How many rows at the end are for comparison only.
    """

    key: str
    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1
    aside: int = 0


def build_tables(board: BoardNumbers) -> list[ReportTable]:
    """Return all tables about the runs on one dataset; those without rows are left out."""
    tables = [leaderboard(board)]
    if board.label_change is not None:
        tables.append(_labels(board.label_change))
    if board.pairs:
        tables.append(_pairs(board.pairs))
    if board.curve is not None:
        tables.append(_curve(board.curve))
    tables += [_breakdown(each) for each in board.breakdowns]
    if board.mistakes is not None:
        tables.append(_mistakes(board.mistakes))
    if any(group.best for each in board.diagnoses for group in each.groups):
        tables.append(_procedures(board.diagnoses))
    if board.replies:
        tables.append(_replies(board.replies))
    tables.append(_efforts(board.efforts))
    return tables


def leaderboard(board: BoardNumbers) -> ReportTable:
    """Return the solvers with their scores, the best first, and what can be reached without reasoning."""
    rows = board.rows
    joint = any(row.joint is not None and row.joint.of != row.accuracy.of for row in rows)
    beliefs, missing = any(row.gap for row in rows), any(row.missing for row in rows)
    sizes = len({row.accuracy.of for row in rows}) > 1
    heads = ["solver", "average"]
    heads += ["joint"] * joint + ["true belief", "false belief", "gap"] * beliefs
    heads += ["questions"] * sizes + ["no answer"] * missing
    body = []
    for row in rows:
        cells = [row.solver, score_text(row.accuracy)] + [score_text(row.joint)] * joint
        if beliefs:
            cells += [score_text(row.true_belief, short=True), score_text(row.false_belief, short=True), _gap(row.gap)]
        cells += [f"{row.accuracy.of:,}"] * sizes + [f"{row.missing:,}" if row.missing else NONE] * missing
        body.append(tuple(cells))
    ends = {"chance": board.chance, "structural floor": board.floor}
    asides = [_aside(name, baseline, joint, len(heads)) for name, baseline in ends.items() if baseline is not None]
    return ReportTable(
        "leaderboard", "Leaderboard", _leaderboard_note(board, joint, beliefs), tuple(heads), (*body, *asides),
        aside=len(asides),
    )  # fmt: skip


def _aside(name: str, baseline: Baseline, joint: bool, width: int) -> tuple[str, ...]:
    cells = [name, percent(baseline.accuracy)] + [percent(baseline.joint)] * joint
    return (*cells, *[""] * (width - len(cells)))


def _leaderboard_note(board: BoardNumbers, joint: bool, beliefs: bool) -> str:
    size = f"{counted(board.questions, 'question')} of {counted(board.stories, 'story')}, {board.labels} labels"
    parts = [f"{size}; percent right. {' '.join(how(board.stories))}."]
    if joint:
        parts.append("Joint: all questions of a story right.")
    if beliefs:
        parts.append("Gap: how many points harder false beliefs are than true ones.")
    if board.chance is not None:
        parts.append(f"Chance: {board.chance.about}.")
    if board.floor is not None:
        parts.append(f"Structural floor: the best score of a reader who sees only this: {board.floor.about}.")
    return " ".join(parts)


def score_text(score: Score | None, *, short: bool = False) -> str:
    """Return a score in percent, with its interval unless that is too much."""
    if score is None:
        return NONE
    return percent(score.value) if short else with_interval(score.value, (score.low, score.high), "–")


def _gap(gap: Interval | None) -> str:
    return NONE if gap is None else signed(gap.value, gap.low, gap.high)


def p_text(p: float) -> str:
    """Return a p-value."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _pairs(pairs: Sequence[PairDifference]) -> ReportTable:
    rows = [
        (
            pair.first,
            pair.second,
            f"{pair.questions:,}",
            signed(pair.difference.value, pair.difference.low, pair.difference.high),
            p_text(pair.adjusted_p),
            "yes" if pair.is_significant else "no",
        )
        for pair in pairs
    ]
    note = (
        "Points by which the first is better, on the questions that both answered, with 95% intervals of paired "
        "differences; p by an exact permutation test over stories, adjusted for the number of pairs (Holm). "
        "Intervals are not adjusted: one without 0 need not be significant."
    )
    return ReportTable(
        "differences", "Differences", note, ("better", "than", "questions", "by points", "p", "significant"),
        tuple(rows), labels=2,
    )  # fmt: skip


def _labels(labels: LabelComparison) -> ReportTable:
    rows = [
        (
            row.solver,
            f"{row.questions:,}",
            score_text(row.published),
            score_text(row.corrected),
            signed(row.difference.value, row.difference.low, row.difference.high),
        )
        for row in labels.rows
    ]
    note = f"{labels.changed:,} of {labels.of:,} labels are not the answer that is proved from the text"
    if labels.unsettled:
        note += f"; to {counted(labels.unsettled, 'other question')} no answer follows, and these do not count"
    return ReportTable(
        "labels", "Given and proved labels", f"{note}. {_CONTROL.capitalize()}.",
        ("solver", "questions", "given labels", "proved labels", "difference"), tuple(rows),
    )  # fmt: skip


def _curve(curve: Curve) -> ReportTable:
    rows = [
        (solver, *(score_text(scores.get(point), short=True) for point in curve.points))
        for solver, scores in curve.scores.items()
    ]
    asides = [
        (f"{each.title} ({each.source})", *(percent(each.values.get(point)) for point in curve.points))
        for each in curve.references
    ]
    if curve.chance:
        asides.append(("chance", *(percent(curve.chance.get(point)) for point in curve.points)))
    heads = ("solver", *(f"{curve.scale} {point}" for point in curve.points))
    sources = dict.fromkeys(each.source for each in curve.references)
    note = "Percent right." + (f" Published figures: {'; '.join(sources)}." if sources else "")
    return ReportTable(
        "curve", f"By {curve.scale}", note, heads, (*rows, *asides), aside=len(asides)
    )  # fmt: skip


def _breakdown(found: Breakdown) -> ReportTable:
    rows = [
        (solver, *(score_text(scores.get(group), short=True) for group in found.groups))
        for solver, scores in found.scores.items()
    ]
    asides = [("chance", *(percent(found.chance.get(group)) for group in found.groups))] if found.chance else []
    return ReportTable(
        f"by-{found.facet.replace(' ', '-')}", f"By {found.facet}", "Percent right.",
        ("solver", *map(display_name, found.groups)), (*rows, *asides), aside=len(asides),
    )  # fmt: skip


def _mistakes(found: Mistakes) -> ReportTable:
    rows = []
    for solver, wrong in found.wrong.items():
        if not wrong:
            continue
        cells = []
        for name in found.descriptions:
            count, fits = found.first[solver].get(name, 0), found.fitting[solver].get(name, 0)
            share = f"{count:,} ({100 * count / wrong:.0f}%)"
            cells.append(share if count else f"fits {fits:,}" if fits else NONE)
        rows.append((solver, *cells, f"{wrong:,}"))
    note = (
        "Wrong answers by what the prover finds that they are the answer to. An answer that fits several mistakes "
        "counts for the first of them in this order; 'fits' counts all that it fits."
    )
    heads = ("solver", *map(display_name, found.descriptions), "all wrong answers")
    return ReportTable("mistakes", "Mistakes", note, heads, tuple(rows))


def _procedures(found: Sequence[Diagnosis]) -> ReportTable:
    rows = []
    for each in found:
        for group in each.groups:
            if group.best is None:
                continue
            followed = " and ".join(map(display_name, group.shares)) or "guessing"
            if group.best.procedures == (NO_PROCEDURE,):
                followed = f"none that is known; closest: {followed}"
            shares = " and ".join(
                with_interval(share.value, (share.low, share.high), "–") for share in group.shares.values()
            )
            kind, decided = display_name(group.group), ", ".join(group.deciding[:DECIDING])
            sure = f"{group.best.probability:.2f}"
            rows.append((each.model, kind, followed, shares or NONE, f"{group.questions:,}", sure, decided or NONE))
    note = (
        f"Which procedure the answers follow, on the first {DIAGNOSED} questions: how often, in percent, with 95% "
        "intervals, the other answers being guesses; and how probable it is among all known procedures, mixtures of "
        "two, guessing, and none of these. All about one run: storyproof diagnose RUN."
    )
    heads = ("solver", "kind of question", "follows", "how often", "answers", "probability", "decided by")
    return ReportTable("procedures", "Procedures", note, heads, tuple(rows), labels=3)


def procedure_texts(found: Sequence[Diagnosis]) -> list[tuple[str, str]]:
    """Return the procedures of a table with what each does."""
    named = {name: each.descriptions[name] for each in found for group in each.groups for name in group.shares}
    return [(display_name(name), text) for name, text in named.items()]


def mistake_texts(found: Mistakes) -> list[tuple[str, str]]:
    """Return the mistakes of a table with what each is."""
    return [(display_name(name), text) for name, text in found.descriptions.items()]


def _replies(replies: Sequence[Replies]) -> ReportTable:
    kinds = list(dict.fromkeys(kind for each in replies for kind in each.matches))
    heads = ("solver", "matching", *map(display_name, kinds), "cut off", "failed", "not asked", "of")
    rows = [
        (
            each.solver,
            each.matching,
            *(percent(each.matches.get(kind)) for kind in kinds),
            *(f"{count:,}" for count in (each.cut_off, each.failed, each.not_asked, each.of)),
        )
        for each in replies
    ]
    causes = [f"{count:,} × {cause}" for each in replies for cause, count in each.causes.items()]
    note = "Percent of the replies by how they were matched; then counts of replies and requests."
    if causes:
        note += f" Failed because of: {'; '.join(causes)}."
    return ReportTable("replies", "Replies", note, heads, tuple(rows), labels=2)


def _efforts(efforts: Sequence[Effort]) -> ReportTable:
    columns: dict[str, Callable[[Effort], str]] = {
        "seconds": lambda each: _number(each.seconds, 1),
        "answers": lambda each: _number(each.answers),
        "requests": lambda each: _number(each.requests),
        "known before": lambda each: _number(each.known_before),
        "retries": lambda each: _number(each.retries),
        "median s": lambda each: _number(each.latency, 2),
        "95% within s": lambda each: _number(each.slow_latency, 2),
        "tokens read": lambda each: _number(each.prompt_tokens),
        "tokens written": lambda each: _number(each.output_tokens),
        "cost": lambda each: _number(each.cost, 4),
    }
    cells = {name: [show(each) for each in efforts] for name, show in columns.items()}
    kept = {name: values for name, values in cells.items() if set(values) != {NONE}}
    rows = [(each.solver, *(values[place] for values in kept.values())) for place, each in enumerate(efforts)]
    return ReportTable(
        "effort", "Effort", "What each run took, as far as it was recorded.", ("solver", *kept), tuple(rows)
    )


def _number(value: float | None, digits: int = 0) -> str:
    return NONE if value is None else f"{value:,.{digits}f}"


def missed_text(board: BoardNumbers) -> str:
    """Return which questions all solvers miss, in a sentence; empty if too few solvers miss anything."""
    found = board.missed
    if found is None:
        return ""
    text = f"{len(found.questions):,} of {counted(found.of_questions, 'question')} are missed by all that answered them"
    if found.of_stories < found.of_questions:
        text += f", and {len(found.stories):,} of {counted(found.of_stories, 'story')} by all as a whole"
    return f"{text}; counted are {', '.join(found.solvers)}."


# --- files


def as_markdown(title: str, headline: str, boards: Sequence[BoardNumbers]) -> str:
    """Return the report as Markdown."""
    parts = [f"# {as_md(title)}", as_md(headline)]
    for board in boards:
        parts.append(f"## {as_md(board.name)}")
        parts += [f"*{as_md(note)}*" for note in board.notes]
        for table in build_tables(board):
            rows = [[as_md(cell) for cell in row] for row in table.rows]
            shown = markdown_table([as_md(head) for head in table.heads], rows, labels=table.labels)
            parts += [f"### {as_md(table.title)}", as_md(table.note), shown]
            meanings = []
            if table.key == "mistakes" and board.mistakes is not None:
                meanings = mistake_texts(board.mistakes)
            elif table.key == "procedures":
                meanings = procedure_texts(board.diagnoses)
            if meanings:
                parts.append("\n".join(f"- {as_md(name)}: {as_md(text)}" for name, text in meanings))
        if missed_text(board):
            parts += ["### Missed by all", as_md(missed_text(board))]
    return "\n\n".join(parts) + "\n"


def as_latex(title: str, headline: str, boards: Sequence[BoardNumbers]) -> str:
    """Return the tables of the report for LaTeX, each in a table environment with its caption."""
    parts = [f"% {as_tex(title)}", f"% {as_tex(headline)}", "% needs \\usepackage{booktabs}"]
    for number, board in enumerate(boards):
        for table in build_tables(board):
            caption = as_tex(f"{board.name}: {table.title}. {table.note}")
            shown = latex_table(table.heads, table.rows, labels=table.labels)
            label = f"tab:{number}-{table.key}"
            parts += [
                "",
                "\\begin{table}",
                "\\centering",
                shown,
                f"\\caption{{{caption}}}",
                f"\\label{{{label}}}",
                "\\end{table}",
            ]
    return "\n".join(parts) + "\n"


def as_csv(boards: Sequence[BoardNumbers]) -> str:
    """Return every figure as one line, in fractions and counts."""
    return csv_lines(CSV_COLUMNS, (line for board in boards for line in _figures(board)))


def _figures(board: BoardNumbers) -> Iterator[tuple[object, ...]]:
    def line(section: str, solver: str, group: object, measure: str, *values: object) -> tuple[object, ...]:
        return (board.name, board.labels, section, solver, group, measure, *values, *[None] * (4 - len(values)))

    for row in board.rows:
        for measure, score in _scores(row):
            yield line("leaderboard", row.solver, "", measure, score.value, score.low, score.high, score.of)
        if row.gap is not None:
            yield line("leaderboard", row.solver, "", "false_belief_gap", row.gap.value, row.gap.low, row.gap.high)
        yield line("leaderboard", row.solver, "", "no_answer", row.missing)
    for name, baseline in (("chance", board.chance), ("structural_floor", board.floor)):
        if baseline is not None:
            yield line("leaderboard", name, "", "average", baseline.accuracy)
            yield line("leaderboard", name, "", "joint", baseline.joint)
    for pair in board.pairs:
        gap, other = pair.difference, f"less {pair.second}"
        yield line("differences", pair.first, other, "difference", gap.value, gap.low, gap.high, pair.questions)
        yield line("differences", pair.first, other, "p", pair.p)
        yield line("differences", pair.first, other, "adjusted_p", pair.adjusted_p)
    for each in board.breakdowns:
        for solver, scores in each.scores.items():
            for group, score in scores.items():
                yield line(f"by {each.facet}", solver, group, "average", score.value, score.low, score.high, score.of)
    if board.curve is not None:
        for solver, points in board.curve.scores.items():
            for point, score in sorted(points.items()):
                yield line(
                    f"by {board.curve.scale}", solver, point, "average", score.value, score.low, score.high, score.of
                )
        for reference in board.curve.references:
            for point, value in reference.values.items():
                yield line(f"by {board.curve.scale}", reference.title, point, "average", value)
    if board.label_change is not None:
        for change in board.label_change.rows:
            for measure, score in (("given_labels", change.published), ("proved_labels", change.corrected)):
                yield line("labels", change.solver, "", measure, score.value, score.low, score.high, score.of)
    if board.mistakes is not None:
        for solver, counts in board.mistakes.first.items():
            for name in board.mistakes.descriptions:
                fits = board.mistakes.fitting[solver].get(name, 0)
                yield line(
                    "mistakes", solver, name, "explains", counts.get(name, 0), None, None, board.mistakes.wrong[solver]
                )
                yield line("mistakes", solver, name, "fits", fits, None, None, board.mistakes.wrong[solver])
    for diagnosis in board.diagnoses:
        for asked in diagnosis.groups:
            for name, follows in asked.shares.items():
                values = (follows.value, follows.low, follows.high, asked.questions)
                yield line("procedures", diagnosis.model, f"{name}, {asked.group}", "share", *values)
    for found in board.replies:
        for kind, share in found.matches.items():
            yield line("replies", found.solver, kind, "share", share)
        for measure in ("cut_off", "failed", "not_asked"):
            yield line("replies", found.solver, "", measure, getattr(found, measure), None, None, found.of)
    for effort in board.efforts:
        for measure in Effort.__slots__[1:]:
            value = getattr(effort, measure)
            if value is not None:
                yield line("effort", effort.solver, "", measure, value)


def _scores(row: LeaderboardRow) -> list[tuple[str, Score]]:
    found = {
        "average": row.accuracy,
        "joint": row.joint,
        "true_belief": row.true_belief,
        "false_belief": row.false_belief,
    }
    return [(name, score) for name, score in found.items() if score is not None]
