"""What notebooks show: stories and answers with their pictures, verdicts, audits, runs, reports, and dials.

Notebooks add HTML to a page of their own, so there are no styles and no scripts here. Text is escaped, and pictures are
images, in which nothing runs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import singledispatch

from storyproof.audits.audit import by_consequence
from storyproof.datasets.dials import Dials
from storyproof.errors import DataError
from storyproof.evaluation.judge import ReplyVerdict
from storyproof.evaluation.runs import Evaluation
from storyproof.example import Example
from storyproof.families.family import Picture, family_of
from storyproof.findings import AuditReport, Finding, cut
from storyproof.language.display_names import display_name
from storyproof.pictures.svg import element, safe, standalone
from storyproof.reports.audit_page import class_rows, describe_result
from storyproof.reports.numbers import counted, percent, with_interval
from storyproof.reports.page import data_text
from storyproof.reports.report import RunReport
from storyproof.reports.run_numbers import short_titles
from storyproof.reports.run_tables import leaderboard
from storyproof.stories import ProvedAnswer, StoryText

_FINDINGS = 10  # that are shown
_RIGHT, _WRONG = "#2e8b57", "#d0453c"  # readable on light and on dark notebooks


@singledispatch
def view(value: object) -> str:
    """Return a value as HTML for a notebook."""
    return element("pre", safe(repr(value)))


@view.register
def _example(example: Example) -> str:
    try:
        drawn = "".join(map(_picture, family_of(example).pictures([example], example.proof)))
    except DataError:
        drawn = ""
    proof = f" (sentences {', '.join(map(str, example.proof))})" if example.proof else ""
    asked = element("p", f"{element('b', data_text(example.question))} {data_text(example.answer)}{safe(proof)}")
    lines = "".join(element("li", data_text(line)) for line in example.story.split("\n"))
    return element("div", asked + drawn + f"<details><summary>story</summary><ol>{lines}</ol></details>")


@view.register
def _picture(picture: Picture) -> str:
    coded = b64encode(standalone(picture.svg).encode()).decode()
    image = f'<img alt="{safe(picture.caption)}" src="data:image/svg+xml;base64,{coded}">'
    return element("figure", element("figcaption", safe(picture.caption)) + image)


@view.register
def _story(story: StoryText) -> str:
    """Show the story with the question about a false belief, if a benchmark made it, and its other questions below."""
    lines = element("ol", "".join(element("li", data_text(line)) for line in story.sentences))
    if not story.rows:
        return element("div", lines)
    chosen = min(story.rows, key=lambda row: (not row.false_belief, row.order or 0))
    rows = [[data_text(row.question), data_text(row.answer)] for row in story.rows if row is not chosen]
    return element("div", _example(chosen) + _table(["other questions", "answer"], rows))


@view.register
def _answer(found: ProvedAnswer) -> str:
    head = _colour("✓", _RIGHT) if found.is_settled and found.is_confirmed else _colour("?", _WRONG)
    said = "proved, and confirmed by the checker" if found.is_confirmed else "the checker does not confirm it"
    if not found.is_settled:
        said = f"no answer follows ({found.status})" if found.status else "no answer follows"
    read = "".join(
        element("p", f"read as {element('i', data_text(other))}: {data_text(one)}") for one, other in found.read_as
    )
    return element("div", element("p", f"{head} {safe(said)}") + read + _example(found.example))


@view.register
def _verdict(verdict: ReplyVerdict) -> str:
    mark = _colour("✓", _RIGHT) if verdict.right else _colour("✗", _WRONG)
    return element("p", f"{mark} {data_text(verdict.reason)} {element('small', safe(display_name(verdict.kind)))}")


@view.register
def _report(report: RunReport) -> str:
    """Show the headline and the leaderboard of each dataset."""
    parts = element("p", element("b", safe(report.headline)))
    names = short_titles(report.boards)
    for board in report.boards:
        table = leaderboard(board)
        rows = [[data_text(names.get(row[0], row[0])), *map(safe, row[1:])] for row in table.rows]
        parts += element("p", data_text(board.name)) + _table(list(map(safe, table.heads)), rows)
    return element("div", parts)


@view.register
def _dials(found: Dials) -> str:
    rows = [
        [f"<code>{safe(name)}</code>", data_text(each.range), data_text(_value(each.default)), data_text(each.help)]
        for name, each in found.items()
    ]
    return _table(["dial", "range", "by default", "what it does"], rows)


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)


def _colour(text: str, shade: str) -> str:
    return element("b", text, style=f"color:{shade}")


@view.register
def _audit(report: AuditReport) -> str:
    result = "".join(element("p", safe(line)) for line in describe_result(report))
    rows = [[safe(row.name), safe(row.meaning), row.findings, safe(row.share), row.some] for row in class_rows(report)]
    classes = _table(["class", "meaning", "findings", "of all rows", "rule-dependent"], rows)
    return element("div", result + classes + _findings(by_consequence(report)))


def _findings(findings: Sequence[Finding]) -> str:
    rows = [
        [
            data_text(each.file),
            str(each.row) if each.row >= 0 else "",
            *(data_text(cut(text)) for text in (each.id, each.field, each.found, each.expected, each.reason)),
        ]
        for each in findings[:_FINDINGS]
    ]
    rest = len(findings) - _FINDINGS
    more = element("p", f"… and {rest:,} more in <code>findings</code>") if rest > 0 else ""
    return _table(["file", "row", "id", "field", "found", "expected", "why"], rows) + more


@view.register
def _evaluation(run: Evaluation) -> str:
    scores, intervals = run.scores, run.intervals
    rows = [
        ["average", with_interval(scores.accuracy, intervals.get("accuracy"))],
        ["joint", with_interval(scores.joint_accuracy if scores.stories else None, intervals.get("joint_accuracy"))],
    ]
    for belief, kinds in scores.by_order.items():
        what = ", false belief" if belief == "false_belief" else ""
        rows += [[safe(f"{display_name(kind)}{what}"), percent(value)] for kind, value in kinds.items()]
    about = f"{counted(scores.questions, 'question')} of {counted(scores.stories, 'story')}, {run.labels} labels"
    head = element("p", f"{element('b', data_text(run.model))} on {data_text(run.data)}: {safe(about)}")
    return element("div", head + _table(["", "percent right"], rows))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of escaped cells, which the notebook styles as its own."""
    if not rows:
        return ""
    head = "".join(element("th", text) for text in heads)
    body = "".join(element("tr", "".join(element("td", cell) for cell in row)) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
