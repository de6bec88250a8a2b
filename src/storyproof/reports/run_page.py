"""A report on runs as one self-contained page of HTML: scores, groups, mistakes, and a browser of all answers.

Text from runs and data is escaped in tables; what the browser of answers shows is packed data that the page's script
shows as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any
from urllib.parse import quote

from storyproof import __version__
from storyproof.evaluation.diagnose import Diagnosis
from storyproof.pictures.colours import HEAT, SERIES
from storyproof.pictures.svg import element, safe
from storyproof.reports.header import page_header
from storyproof.reports.numbers import NONE, counted, percent
from storyproof.reports.page import build_page, build_table, data_text, read_asset
from storyproof.reports.run_browser import PICTURES, BrowserData
from storyproof.reports.run_groups import Breakdown
from storyproof.reports.run_mistakes import Mistakes
from storyproof.reports.run_numbers import BoardNumbers, contenders
from storyproof.reports.run_overview import Series, find_series, overview
from storyproof.reports.run_scores import Score
from storyproof.reports.run_tables import (
    DECIDING,
    ReportTable,
    build_tables,
    missed_text,
    mistake_texts,
    procedure_texts,
)

_FOLDED = ("differences", "curve", "effort")  # tables that are folded again, as few readers need them
_WIDE = 5  # columns of a table that takes the whole width
_DARK_SHADE = 7  # on which letters are light


def run_page(
    title: str, headline: str, boards: Sequence[BoardNumbers], notes: Sequence[str], browser: BrowserData
) -> str:
    """Return the page of a report.

    Args:
        title: What it is called.
        headline: The result in one sentence.
        boards: The numbers about the runs on each dataset.
        notes: What else a reader must know.
        browser: What the browser of answers shows.
    """
    runs = sum(len(board.rows) for board in boards)
    about = f"{counted(runs, 'run')} on {counted(len(boards), 'dataset')} · storyproof {__version__}"
    series = find_series(boards)
    body = Template(read_asset(__package__, "run_page.html")).substitute(
        title=safe(title),
        headline=safe(headline),
        about=safe(about),
        notes="".join(element("p", safe(note), class_="note") for note in notes),
        contents=_contents(boards),
        overview=overview(boards, series),
        boards="\n".join(_board(number, board, series, alone=len(boards) == 1) for number, board in enumerate(boards)),
        bound=safe(_bound(browser)),
        legend="".join(element("p", safe(text)) for text in dict.fromkeys(board.legend for board in boards) if text),
    )
    return build_page(
        title,
        body,
        data={"names": {each.title: each.name for each in series.values()}},
        packed={"answers": browser.answers, "pictures": browser.pictures},
        scripts=[read_asset(__package__, "page.js"), read_asset(__package__, "run_page.js")],
        styles=[read_asset(__package__, "run_page.css") + _shades()],
        header=page_header("Report"),
    )


def _shades() -> str:
    """Return the style of shaded cells and of series."""
    rules = [f".heat-{step} {{ background: var(--heat-{step}); }}" for step in range(HEAT)]
    rules += [f".series-{place} {{ --own: var(--series-{place}); }}" for place in range(SERIES)]
    dark = ", ".join(f".heat-{step}, .heat-{step} button.plain" for step in range(_DARK_SHADE, HEAT))
    return "\n".join([*rules, f"{dark} {{ color: var(--on-accent); }}", ""])


def _contents(boards: Sequence[BoardNumbers]) -> str:
    links = [element("a", safe(board.name), href=f"#board-{number}") for number, board in enumerate(boards)]
    ends = ['<a href="#overview">Overview</a>', '<a href="#answers-title">All answers</a>']
    return "".join(element("li", link) for link in [ends[0], *links, ends[1]])


def _bound(browser: BrowserData) -> str:
    text = (
        f"Pictures are drawn for the {len(browser.pictures):,} questions that most solvers miss, of all question types"
    )
    parts = [f"{text} (at most {PICTURES:,})."]
    if browser.cut:
        parts.append(
            f"{counted(browser.cut, 'long reply')} {'is' if browser.cut == 1 else 'are'} cut; the runs' files have all."
        )
    return " ".join(parts)


def _board(number: int, board: BoardNumbers, series: Mapping[str, Series], *, alone: bool) -> str:
    """Return the section of one dataset; its tables are folded where there are several."""
    name = f"board-{number}"
    best = contenders(board)[0]
    size = f"{counted(board.questions, 'question')} of {counted(board.stories, 'story')}, {board.labels} labels"
    line = f"{size}; best is {series[best.solver].name} with {percent(best.accuracy.value)}% right."
    parts = [element("p", safe(note), class_="note warning") for note in board.notes]
    groups = {f"By {each.facet}": each for each in board.breakdowns}
    for table in build_tables(board):
        if table.title in groups:
            parts.append(_group(table, groups[table.title], series))
        else:
            parts.append(_section(number, board, table, series))
    missed = missed_text(board)
    if missed and board.missed is not None:
        button = ""
        if board.missed.questions:
            button = element(
                "button", "Show these questions", type="button", data_board=str(number), data_agreement="none"
            )
        parts += ["<h3>Missed by all</h3>", element("p", safe(missed)), button]
    heading = element("h2", data_text(board.name)) + element("p", safe(line), class_="note")
    content = element("div", "\n".join(parts), class_="inner")
    opened = " open" if alone else ""
    return f'<details class="board" id="{name}"{opened}><summary>{heading}</summary>{content}</details>'


def _section(number: int, board: BoardNumbers, table: ReportTable, series: Mapping[str, Series]) -> str:
    """Return a table with its heading and its note."""
    rows = [
        [_named(cell, series) if place < table.labels else safe(cell) for place, cell in enumerate(row)]
        for row in table.rows
    ]
    heads = list(map(safe, table.heads))
    below = ""
    if table.key == "leaderboard":
        _link_solvers(number, board, rows, series)
    elif table.key == "mistakes" and board.mistakes is not None:
        _link_mistakes(number, board.mistakes, rows)
        below = _meanings(mistake_texts(board.mistakes))
    elif table.key == "procedures":
        _link_deciding(number, board.diagnoses, rows)
        below = _meanings(procedure_texts(board.diagnoses))
    elif table.key == "curve" and board.curve is not None:
        _shade_rows(rows, list(board.curve.scores.values()), board.curve.points)
    full = len(heads) >= _WIDE and table.key not in ("curve", "mistakes")
    body = build_table(heads, rows, label=f"{table.title}, {board.name}", style=f"{table.key}{' full' * full}")
    note = element("p", safe(table.note), class_="note")
    heading = element("h3", safe(table.title))
    if table.key in _FOLDED:
        summary = f"{len(table.rows):,} pairs of solvers" if table.key == "differences" else "Table"
        return f"{heading}{note}<details><summary>{summary}</summary>{body}</details>"
    return heading + body + below + note


def _named(text: str, series: Mapping[str, Series]) -> str:
    """Return the cell of a name: solvers by their short names, with the full one as a tooltip."""
    each = series.get(text)
    return safe(text) if each is None else element("span", safe(each.name), class_="solver", title=each.title)


def _link_solvers(number: int, board: BoardNumbers, rows: list[list[str]], series: Mapping[str, Series]) -> None:
    """Let the names of solvers that miss something lead to their wrong answers."""
    for place, row in enumerate(board.rows):
        if row.accuracy.value < 1:
            values = {"data_board": str(number), "data_solver": row.solver, "data_result": "wrong"}
            each = series[row.solver]
            rows[place][0] = element(
                "button", safe(each.name), type="button", class_="plain", title=each.title, **values
            )


def _meanings(texts: Sequence[tuple[str, str]]) -> str:
    """Return what names in a table mean."""
    return element(
        "dl", "".join(element("dt", safe(name)) + element("dd", safe(text)) for name, text in texts), class_="meanings"
    )


def _link_deciding(number: int, found: Sequence[Diagnosis], rows: list[list[str]]) -> None:
    """Let the questions that speak for a procedure lead to their stories."""
    deciding = [group.deciding[:DECIDING] for each in found for group in each.groups if group.best is not None]
    for ids, row in zip(deciding, rows, strict=True):
        links = [
            element("a", str(place), href=f"#{number}:{quote(each, safe='')}")
            for place, each in enumerate(ids, start=1)
        ]
        row[-1] = " ".join(links) or NONE


def _link_mistakes(number: int, found: Mistakes, rows: list[list[str]]) -> None:
    """Shade the cells of mistakes, and let them lead to the wrong answers that they count."""
    solvers = [solver for solver, wrong in found.wrong.items() if wrong]
    for solver, row in zip(solvers, rows, strict=True):
        for place, name in enumerate(found.descriptions, start=1):
            count, fits = found.first[solver].get(name, 0), found.fitting[solver].get(name, 0)
            if count:
                row[place] = _shade(count / found.wrong[solver], _mistake_button(number, solver, name, row[place]))
            else:
                row[place] = NONE
            if fits > count:
                row[place] += element("div", f"fits {fits:,}", class_="meaning")


def _mistake_button(number: int, solver: str, mistake: str, text: str) -> str:
    values = {"data_board": str(number), "data_solver": solver, "data_result": "wrong", "data_mistake": mistake}
    return element("button", text, type="button", class_="plain", **values)


def _shade(share: float, content: str, about: str = "", *, faint: bool = False) -> str:
    step = min(int(share * HEAT), HEAT - 1)
    return element("span", content, class_=f"shade heat-{step}{' faint' * faint}", data_tip=about)


def _shade_rows(rows: list[list[str]], scores: Sequence[Mapping[Any, Score]], groups: Sequence[Any]) -> None:
    """Shade the cells of solvers by their scores, with intervals as tooltips."""
    for row, found in zip(rows, scores, strict=False):
        for place, group in enumerate(groups, start=1):
            score = found.get(group)
            if score is not None:
                about = f"{100 * score.low:.1f}–{100 * score.high:.1f}, {counted(score.of, 'question')}"
                row[place] = _shade(score.value, row[place], about, faint=score.is_sparse)


def _group(table: ReportTable, found: Breakdown, series: Mapping[str, Series]) -> str:
    """Return a table of groups whose cells are shaded by their values."""
    rows = [[_named(row[0], series), *map(safe, row[1:])] for row in table.rows]
    _shade_rows(rows, list(found.scores.values()), found.groups)
    shown = build_table(list(map(safe, table.heads)), rows, label=table.title, style="shaded")
    return element("h3", safe(table.title)) + shown
