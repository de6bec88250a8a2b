"""A report on runs as one self-contained page of HTML: scores, groups, mistakes, and a browser of all answers.

Text from runs and data is escaped in tables; what the browser of answers shows is packed data that the page's script
shows as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template
from typing import TYPE_CHECKING

from storyproof import __version__
from storyproof.language.display_names import display_name
from storyproof.pictures.colours import HEAT
from storyproof.pictures.svg import element, safe
from storyproof.reports.charts import render
from storyproof.reports.header import page_header
from storyproof.reports.numbers import NONE, counted
from storyproof.reports.page import build_page, build_table, data_text, read_asset
from storyproof.reports.run_browser import PICTURES, BrowserData
from storyproof.reports.run_charts import curve_chart, score_charts
from storyproof.reports.run_groups import Breakdown
from storyproof.reports.run_mistakes import Mistakes
from storyproof.reports.run_numbers import BoardNumbers
from storyproof.reports.run_tables import ReportTable, build_tables, missed_text

if TYPE_CHECKING:
    from altair import TopLevelMixin

_FOLDED = ("differences", "effort", "curve")  # tables that are folded where a chart or a sentence says the same
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
    body = Template(read_asset(__package__, "run_page.html")).substitute(
        title=safe(title),
        headline=safe(headline),
        about=safe(about),
        notes="".join(element("p", safe(note), class_="note") for note in notes),
        contents=_contents(boards),
        boards="\n".join(_board(number, board) for number, board in enumerate(boards)),
        bound=safe(_bound(browser)),
        legend="".join(element("p", safe(text)) for text in dict.fromkeys(board.legend for board in boards) if text),
    )
    return build_page(
        title,
        body,
        packed={"answers": browser.answers, "pictures": browser.pictures},
        scripts=[read_asset(__package__, "page.js"), read_asset(__package__, "run_page.js")],
        styles=[read_asset(__package__, "run_page.css") + _shades()],
        header=page_header("Report"),
    )


def _shades() -> str:
    """Return the style of shaded cells."""
    rules = [f".heat-{step} {{ background: var(--heat-{step}); }}" for step in range(HEAT)]
    dark = ", ".join(f".heat-{step}, .heat-{step} button.plain" for step in range(_DARK_SHADE, HEAT))
    return "\n".join([*rules, f"{dark} {{ color: var(--on-accent); }}", ""])


def _contents(boards: Sequence[BoardNumbers]) -> str:
    links = [element("a", safe(board.name), href=f"#board-{number}") for number, board in enumerate(boards)]
    return "".join(element("li", link) for link in [*links, '<a href="#answers-title">All answers</a>'])


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


def _board(number: int, board: BoardNumbers) -> str:
    """Return the section of one dataset."""
    name = f"board-{number}"
    parts = [element("h2", data_text(board.name), id=name)]
    parts += [element("p", safe(note), class_="note warning") for note in board.notes]
    groups = {f"By {each.facet}": each for each in board.breakdowns}
    divided: list[str] = []
    for table in build_tables(board):
        if table.title in groups:
            divided.append(element("div", _group(table, groups[table.title])))
            continue
        if divided:
            parts.append(element("div", "".join(divided), class_="groups"))
            divided = []
        parts.append(_section(number, board, table))
    if divided:
        parts.append(element("div", "".join(divided), class_="groups"))
    missed = missed_text(board)
    if missed and board.missed is not None:
        button = ""
        if board.missed.questions:
            button = element(
                "button", "Show these questions", type="button", data_board=str(number), data_agreement="none"
            )
        parts += ["<h3>Missed by all</h3>", element("p", safe(missed)), button]
    return element("section", "\n".join(parts), aria_labelledby=name, class_="board")


def _section(number: int, board: BoardNumbers, table: ReportTable) -> str:
    """Return a table with its heading, its note and its chart."""
    charts = []
    if table.key == "leaderboard":
        charts = [_picture(chart, f"Bars: {name} of all solvers") for name, chart in score_charts(board).items()]
    elif table.key == "curve" and board.curve is not None:
        charts = [_picture(curve_chart(board.curve), f"Curves: percent right by {board.curve.scale}")]
    rows = [list(map(safe, row)) for row in table.rows]
    heads = list(map(safe, table.heads))
    if table.key == "leaderboard":
        _link_solvers(number, board, rows)
    elif table.key == "mistakes" and board.mistakes is not None:
        _link_mistakes(number, board.mistakes, rows)
    body = build_table(heads, rows, label=table.title, style=f"{table.key}{' full' * (len(heads) >= _WIDE)}")
    note = element("p", safe(table.note), class_="note")
    heading = element("h3", safe(table.title))
    plots = element("div", "".join(element("figure", chart) for chart in charts), class_="plots") if charts else ""
    if table.key in _FOLDED:
        summary = f"{len(table.rows):,} pairs of solvers" if table.key == "differences" else "Table"
        return f"{heading}{note}{plots}<details><summary>{summary}</summary>{body}</details>"
    return heading + plots + body + note


def _picture(chart: TopLevelMixin, label: str) -> str:
    """Return a chart for the page, with what it shows for screen readers; the table beside it has the numbers."""
    return str(render(chart, "svg")).replace('aria-label="Chart"', f'aria-label="{safe(label)}"', 1)


def _link_solvers(number: int, board: BoardNumbers, rows: list[list[str]]) -> None:
    """Let the names of solvers that miss something lead to their wrong answers."""
    for place, row in enumerate(board.rows):
        if row.accuracy.value < 1:
            values = {"data_board": str(number), "data_solver": row.solver, "data_result": "wrong"}
            rows[place][0] = element("button", safe(row.solver), type="button", class_="plain", **values)


def _link_mistakes(number: int, found: Mistakes, rows: list[list[str]]) -> None:
    """Shade the cells of mistakes, and let them lead to the wrong answers that they count."""
    solvers = [solver for solver, wrong in found.wrong.items() if wrong]
    for name, row in zip(found.descriptions, rows, strict=False):
        row[0] = element("strong", safe(display_name(name))) + element(
            "div", safe(found.descriptions[name]), class_="meaning"
        )
        for place, solver in enumerate(solvers, start=1):
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


def _shade(share: float, content: str, about: str = "") -> str:
    step = min(int(share * HEAT), HEAT - 1)
    return element("span", content, class_=f"shade heat-{step}", title=about)


def _group(table: ReportTable, found: Breakdown) -> str:
    """Return a table of groups whose cells are shaded by their values, with intervals as tooltips."""
    solvers = list(found.scores)
    chances = {cells[-1] for cells in table.rows} if found.chance else set()
    width = len(solvers) + 1 + (len(chances) > 1)
    rows = []
    for group, cells in zip(found.groups, table.rows, strict=True):
        row = [safe(cells[0])]
        for place, solver in enumerate(solvers, start=1):
            score = found.scores[solver].get(group)
            if score is None:
                row.append(NONE)
                continue
            about = f"{100 * score.low:.1f}–{100 * score.high:.1f}, {counted(score.of, 'question')}"
            row.append(_shade(score.value, safe(cells[place]), about))
        rows.append([*row, *map(safe, cells[len(solvers) + 1 : width])])
    shown = build_table(list(map(safe, table.heads[:width])), rows, label=table.title, style="shaded")
    note = element("p", f"Chance is {safe(chances.pop())} in all groups.", class_="note") if len(chances) == 1 else ""
    return element("h3", safe(table.title)) + shown + note
