"""The first screen of a report: three numbers, every solver on every dataset, and strips by order and length.

A strip is a picture of one score on the scale from 0 to 100 that stretches to its place: the interval, the score, and
thin grey lines for what it is compared with. Its strokes do not stretch, so that a dot stays a dot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storyproof.language.display_names import display_name
from storyproof.pictures.colours import HEAT, SERIES
from storyproof.pictures.svg import element, number, safe
from storyproof.reports.numbers import NONE, counted, percent, signed
from storyproof.reports.run_groups import Curve
from storyproof.reports.run_numbers import BoardNumbers, contenders, short_titles
from storyproof.reports.run_scores import BASELINE, MODEL, PEOPLE, Score

_KINDS = (MODEL, PEOPLE, BASELINE)
_MEASURES = {"average": "single answers", "joint": "whole stories"}


@dataclass(frozen=True, slots=True)
class Series:
    """A solver of a report, the same in all of its parts.

    Attributes:
        title: Its full name.
        name: Its short name.
        kind: Whether it is a model, people or a baseline.
        number: Its place in the report, by which parts of the page know it.
        colour: Which of the colours of charts it has; -1 for none.
    """

    title: str
    name: str
    kind: str
    number: int
    colour: int

    def head(self) -> str:
        """Return its name as a button that brings it out in all tables."""
        provider = self.title.partition(", ")[0].removesuffix(self.name.partition(", ")[0]).strip("/")
        small = element("small", safe(provider), class_="provider") if provider else ""
        dot = element("span", "", class_=f"dot {self.style()}", aria_hidden="true")
        label = element("span", f"{element('span', safe(self.name), class_='name')}{small}", class_="label")
        return element("button", dot + label, type="button", class_="series", title=self.title,
                       data_series=str(self.number), aria_pressed="false")  # fmt: skip

    def style(self) -> str:
        """Return the class of its colour."""
        return f"series-{self.colour}" if self.colour >= 0 else self.kind


def find_series(boards: Sequence[BoardNumbers]) -> dict[str, Series]:
    """Return all solvers by title: models first, the best first, then people and baselines."""
    names = short_titles(boards)
    rows: dict[str, tuple[str, list[float]]] = {}
    for board in boards:
        for row in board.rows:
            rows.setdefault(row.solver, (row.kind, []))[1].append(row.accuracy.value)
    order = sorted(rows, key=lambda title: (_KINDS.index(rows[title][0]), -sum(rows[title][1]) / len(rows[title][1])))
    found: dict[str, Series] = {}
    for place, title in enumerate(order):
        kind = rows[title][0]
        found[title] = Series(title, names[title], kind, place, place % SERIES if kind == MODEL else -1)
    return found


def overview(boards: Sequence[BoardNumbers], series: Mapping[str, Series]) -> str:
    """Return the first screen: numbers, the matrix of scores, and strips by order and length."""
    strips = "".join(_strip(board, board.curve, series) for board in boards if board.curve is not None)
    if strips:
        strips = element("h2", "How far they get") + element("div", strips, class_="strips")
    return f"{_cards(boards, series)}{_matrix(boards, series)}{strips}"


# --- three numbers


def _cards(boards: Sequence[BoardNumbers], series: Mapping[str, Series]) -> str:
    cards = [*_hardest(boards, series), *_gap(boards, series), *_reason(boards, series), *_doubted(boards)]
    questions, stories = sum(board.questions for board in boards), sum(board.stories for board in boards)
    answers = sum(row.accuracy.of for board in boards for row in board.rows)
    cards.append((f"{answers:,}", f"answers to {counted(questions, 'question')} of {counted(stories, 'story')}"))
    cards.append(
        (f"{len(series):,}", f"solvers, of which {sum(each.kind == MODEL for each in series.values())} models")
    )
    cards.append((f"{stories:,}", "stories"))
    body = "".join(
        element("div", element("dd", safe(value), class_="value") + element("dt", safe(text)), class_="stat")
        for value, text in cards[:3]
    )
    return element("dl", body, class_="stats")


def _hardest(boards: Sequence[BoardNumbers], series: Mapping[str, Series]) -> list[tuple[str, str]]:
    """Return the best score on the dataset on which it is lowest."""
    board = min(boards, key=lambda each: contenders(each)[0].accuracy.value)
    best = contenders(board)[0]
    found = best.accuracy
    what = f"right on {board.name}" + (", the hardest data" if len(boards) > 1 else "")
    people = next((row for row in board.rows if row.kind == PEOPLE and row is not best), None)
    beside = f"; people {percent(people.accuracy.value)}%" if people is not None else ""
    return [(f"{percent(found.value)}%", f"{what}, by {series[best.solver].name}, the best there{beside}")]


def _gap(boards: Sequence[BoardNumbers], series: Mapping[str, Series]) -> list[tuple[str, str]]:
    """Return by how many points false beliefs are harder than true ones for the best contender."""
    for board in boards:
        best = contenders(board)[0]
        if best.gap is not None:
            name = series[best.solver].name
            change = "lower" if best.gap.value >= 0 else "higher"
            text = f"{change} on false than on true beliefs: {name} on {board.name}"
            return [(f"{abs(100 * best.gap.value):.1f} points", text)]
    for board in boards:
        if board.curve is not None:
            best = contenders(board)[0]
            scores = board.curve.scores[best.solver]
            ends = [board.curve.points[0], board.curve.points[-1]]
            if all(end in scores for end in ends):
                drop = 100 * (scores[ends[1]].value - scores[ends[0]].value)
                change = "lower" if drop <= 0 else "higher"
                text = f"{change} at {board.curve.scale} {ends[1]} than at {board.curve.scale} {ends[0]}"
                return [(f"{abs(drop):.1f} points", f"{text}: {series[best.solver].name} on {board.name}")]
    return []


def _reason(boards: Sequence[BoardNumbers], series: Mapping[str, Series]) -> list[tuple[str, str]]:
    """Return the mistake that explains most of the contenders' wrong answers."""
    counts: Counter[str] = Counter()
    meanings: dict[str, str] = {}
    for board in boards:
        if board.mistakes is not None:
            meanings.update(board.mistakes.descriptions)
            for row in contenders(board):
                counts.update(board.mistakes.first[row.solver])
    if not counts:
        return []
    name, most = counts.most_common(1)[0]
    who = "models'" if any(each.kind == MODEL for each in series.values()) else "solvers'"
    mistake = f"“{display_name(name)}”: {meanings.get(name, '')}"
    text = f"of the {who} {counts.total():,} wrong answers are the mistake {mistake}"
    return [(f"{100 * most / counts.total():.0f}%", text.rstrip(": "))]


def _doubted(boards: Sequence[BoardNumbers]) -> list[tuple[str, str]]:
    changed = sum(board.label_change.changed for board in boards if board.label_change is not None)
    of = sum(board.label_change.of for board in boards if board.label_change is not None)
    return [(f"{changed:,}", f"of {of:,} labels are not the answer that is proved")] if changed else []


# --- the matrix


def _matrix(boards: Sequence[BoardNumbers], series: Mapping[str, Series]) -> str:
    rows = [{row.solver: row for row in board.rows} for board in boards]
    has_joint = any(row.joint is not None and row.joint.of != row.accuracy.of for board in boards for row in board.rows)
    measures = list(_MEASURES) if has_joint else ["average"]
    heads = element("th", element("button", "Solver", type="button", class_="sort", data_column="0"), scope="col")
    for place, board in enumerate(boards, start=1):
        sort = element("button", safe(board.name), type="button", class_="sort", data_column=str(place),
                       aria_label=f"Sort by {board.name}")  # fmt: skip
        link = element("a", "details", href=f"#board-{place - 1}", aria_label=f"Details of {board.name}")
        size = element("small", f"{counted(board.stories, 'story')} · {link}")
        heads += element("th", f"{sort}{size}", scope="col")
    body = ""
    for each in series.values():
        cells = "".join(
            element("td", NONE, data_average="-1", data_joint="-1", class_="none")
            if each.title not in rows[place]
            else _matrix_cell(board, each, measures)
            for place, board in enumerate(boards)
        )
        head = element("th", each.head(), scope="row")
        body += element("tr", head + cells, data_series=str(each.number), class_=f"kind-{each.kind}")
    table = element("table", f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>", id="matrix",
                    class_=f"matrix of-{min(len(boards), 4)}", data_measure="average")  # fmt: skip
    choice = ""
    if len(measures) > 1:
        choice = "".join(
            element("button", text, type="button", data_measure=name, aria_pressed=str(name == "average").lower())
            for name, text in _MEASURES.items()
        )
        choice = element("div", choice, class_="choice", role="group", aria_label="What is counted as right")
    top = element("div", element("h2", "Percent right") + choice, class_="top")
    frame = element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Scores of all solvers")
    legend = (
        "Dots with 95% intervals over stories, from 0 to 100; faint over fewer than ten stories. Thin lines: people "
        "and rules; dashed: guessing. Click a solver to bring it out everywhere, a heading to sort."
    )
    return element("section", top + frame + element("p", legend, class_="note"), class_="overview")


def _matrix_cell(board: BoardNumbers, each: Series, measures: Sequence[str]) -> str:
    row = next(row for row in board.rows if row.solver == each.title)
    scores = {"average": row.accuracy, "joint": row.joint}
    parts, tips = "", [f"{each.title} · {board.name}"]
    for measure in measures:
        found = scores[measure]
        if found is None:
            parts += element("span", NONE, class_=f"score {measure}")
            continue
        value = element("b", percent(found.value))
        span = element("span", f"{percent(found.low)}–{percent(found.high)}", class_="range")
        parts += element("span", f"{value}{span}{_dots(board, each, measure, found)}", class_=f"score {measure}")
        sparse = f", only {counted(found.stories, 'story')}" if found.is_sparse else ""
        tips.append(
            f"{_MEASURES[measure]}: {percent(found.value)} ({percent(found.low)} to {percent(found.high)}) "
            f"of {found.of:,}{sparse}"
        )
    if row.gap is not None:
        tips.append(f"false beliefs are harder by {signed(row.gap.value, row.gap.low, row.gap.high)} points")
    values = {name: f"{-1 if found is None else found.value:.5f}" for name, found in scores.items()}
    return element("td", parts, data_average=values["average"], data_joint=values["joint"], data_tip="\n".join(tips))


def _dots(board: BoardNumbers, each: Series, measure: str, found: Score) -> str:
    """Return the strip of a score."""
    marks = ""
    for row in board.rows:
        score = row.accuracy if measure == "average" else row.joint
        if score is not None and row.solver != each.title and (row.kind == PEOPLE or row.solver == "rules"):
            marks += element("path", d=f"M{_x(score.value)} 0V20", class_=f"ref {row.kind}")
    if board.chance is not None:
        guess = board.chance.accuracy if measure == "average" else board.chance.joint
        marks += element("path", d=f"M{_x(guess)} 0V20", class_="ref chance")
    faint = " faint" if found.is_sparse else ""
    marks += element("path", d=f"M{_x(found.low)} 10H{_x(found.high)}", class_=f"interval {each.style()}{faint}")
    marks += element("path", d=f"M{_x(found.value)} 10h0", class_=f"point {each.style()}")
    return f'<svg class="dots" viewBox="-2 0 104 20" preserveAspectRatio="none" aria-hidden="true">{marks}</svg>'


def _x(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".")


# --- strips by order and length


def _strip(board: BoardNumbers, curve: Curve, series: Mapping[str, Series]) -> str:
    """Return shades of solvers by order or length, with people as a line above them."""
    solvers = [each for each in series.values() if each.title in curve.scores]
    people = {each.name: curve.scores[each.title] for each in solvers if each.kind == PEOPLE}
    lines: dict[str, Mapping[int, float]] = {
        name: {point: score.value for point, score in scores.items()} for name, scores in people.items()
    }
    lines |= {each.title: each.values for each in curve.references if not lines or "people" in each.title}
    heads = element("th", safe(curve.scale), scope="col")
    heads += "".join(element("th", str(point), scope="col") for point in curve.points)
    body = ""
    if lines:
        names = "".join(element("span", safe(name), class_=f"line-{place % 3}") for place, name in enumerate(lines))
        first = next(iter(lines.values()))
        values = "".join(
            element("span", f"{100 * first[point]:.0f}" if point in first else NONE) for point in curve.points
        )
        picture = _people_lines(curve.points, list(lines.values())) + element("span", values, class_="points")
        drawn = element("td", picture, colspan=str(len(curve.points)))
        body += element("tr", element("th", names, scope="row") + drawn, class_="people")
    for each in solvers:
        if each.kind == PEOPLE or (each.kind == BASELINE and each.title == "oracle"):
            continue
        cells = ""
        for point in curve.points:
            score = curve.scores[each.title].get(point)
            if score is None:
                cells += element("td", NONE)
                continue
            faint = " faint" if score.is_sparse else ""
            tip = (
                f"{each.title}\n{curve.scale} {point}: {percent(score.value)} "
                f"({percent(score.low)} to {percent(score.high)}), {counted(score.of, 'question')}"
            )
            step = min(int(score.value * HEAT), HEAT - 1)
            cells += element("td", f"{100 * score.value:.0f}", class_=f"heat-{step}{faint}", data_tip=tip)
        body += element("tr", element("th", each.head(), scope="row") + cells, data_series=str(each.number),
                        class_=f"kind-{each.kind}")  # fmt: skip
    label = f"Percent right by {curve.scale}, {board.name}"
    table = element("table", f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>", class_="strip")
    frame = element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)
    title = (
        "order of belief" if curve.scale == "order" else f"length {curve.scale}" if curve.scale == "k" else curve.scale
    )
    return element("figure", element("figcaption", f"By {safe(title)} · {safe(board.name)}") + frame)


def _people_lines(points: Sequence[int], lines: Sequence[Mapping[int, float]]) -> str:
    """Return lines over the columns of a strip: 0 at the foot, 100 at the top."""
    drawn = "".join(element("path", d=f"M0 {y}H{len(points)}", class_="grid") for y in (2, 30))
    for number_, line in enumerate(lines):
        places = [(place + 0.5, 30 - 28 * line[point]) for place, point in enumerate(points) if point in line]
        if places:
            path = "M" + "L".join(f"{x:.2f} {number(y)}" for x, y in places)
            dots = "".join(f"M{x:.2f} {number(y)}h0" for x, y in places)
            drawn += element("path", d=path, class_=f"people-line line-{number_ % 3}")
            drawn += element("path", d=dots, class_=f"people-dot line-{number_ % 3}")
    return (
        f'<svg class="lines" viewBox="0 0 {len(points)} 32" preserveAspectRatio="none" role="img" '
        f'aria-label="People, percent right">{drawn}</svg>'
    )
