"""An audit as one self-contained page: the result in a sentence, what is wrong by consequence, then every finding.

Text from the data is never markup; see `report.page`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Any, NamedTuple

from storyproof.audits.audit import audited_families, by_consequence, kinds_of
from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import Picture, families, family_of
from storyproof.findings import UNREAD, AuditReport, FileReport, Finding
from storyproof.language.display_names import display_name
from storyproof.pictures.svg import element, safe
from storyproof.reports.header import page_header
from storyproof.reports.numbers import counted
from storyproof.reports.page import build_page, build_table, data_text, read_asset

LISTED = 300  # findings of a kind that a page lists
RULE_DEPENDENT = (
    "rule-dependent: wrong under the default readings, but right under another reading that has a name, such as "
    "another rule for what somebody can know"
)

Examples = Mapping[tuple[str, int], Sequence[Example] | Example]


class Section(NamedTuple):
    """A part of the page between what is wrong and the findings.

    Attributes:
        heading: Plain text.
        body: HTML; text in it is escaped already.
    """

    heading: str
    body: str


def audit_page(
    report: AuditReport,
    examples: Examples,
    *,
    title: str,
    verdict: str = "",
    sections: Sequence[Section] = (),
    per_kind: int = LISTED,
    complete_list: str = "",
) -> str:
    """Return the page of an audit.

    Args:
        report: What was found.
        examples: The rows to show, by file and row, as published; see `listed` for those that the page shows.
            A list holds all questions of the row's story, with the row's own last. A row that is missing is shown
            without its story.
        title: What the page is about.
        verdict: What else belongs to the result, in a sentence.
        sections: What else was measured.
        per_kind: How many findings of a kind to list at most.
        complete_list: The name of a file with all findings, if there is one.
    """
    findings = listed(report, per_kind)
    data, pictures = _data(findings, examples)
    data["kinds"] = kinds_of(report)
    body = Template(read_asset(__package__, "audit_page.html")).substitute(
        title=safe(title),
        tone="pass" if report.ok else "depends" if all(each.reading for each in report.findings) else "fail",
        lead=_lead(report, verdict),
        classes=_classes(report),
        sections="\n".join(_section(number, each) for number, each in enumerate(sections)),
        totals=_totals(report),
        bound=_bound(report, findings, per_kind, complete_list),
        legend=_picture_legend(report),
    )
    return build_page(
        title,
        body,
        data={"data": data},
        packed={"pictures": [{"svg": each.svg, "narrow": each.narrow} for each in pictures]},
        scripts=[read_asset(__package__, "page.js"), read_asset(__package__, "audit_page.js")],
        styles=[read_asset(__package__, "audit_page.css")],
        header=page_header("Audit"),
    )


def listed(report: AuditReport, per_kind: int = LISTED) -> list[Finding]:
    """Return the findings that a page lists: the first ones of each kind, what matters most first."""
    groups = _by_kind(report)
    return [finding for findings in groups.values() for finding in findings[:per_kind]]


def _by_kind(report: AuditReport) -> dict[str, list[Finding]]:
    """Return the findings of each kind in the order of the files; kinds that matter most first."""
    groups: dict[str, list[Finding]] = {}
    for finding in by_consequence(report):
        groups.setdefault(finding.kind, []).append(finding)
    places = {kind: place for place, kind in enumerate(kinds_of(report))}
    return dict(sorted(groups.items(), key=lambda item: places.get(item[0], len(places))))


# --- the findings


def _data(findings: Sequence[Finding], examples: Examples) -> tuple[dict[str, Any], list[Picture]]:
    """Return what the page's script shows, and the pictures; what several findings share is there once.

    All text in pictures is escaped, so that they can be part of the page as they are, to be drawn when needed.
    """
    stories: dict[str, int] = {}
    pictures: dict[Picture, int] = {}
    found = []
    for finding in findings:
        each = finding.as_dict() | {"story": None, "question": "", "pictures": [], "note": ""}
        rows = examples.get((finding.file, finding.row), ())
        rows = (rows,) if isinstance(rows, Example) else rows
        if rows:
            each["story"] = stories.setdefault(rows[-1].story, len(stories))
            each["question"] = rows[-1].question
            try:
                drawn = family_of(rows[-1]).pictures(rows, finding.sentences, _answers(finding))
                each["pictures"] = [pictures.setdefault(picture, len(pictures)) for picture in drawn]
            except DataError as error:
                each["note"] = f"There is no picture: {error}"
        found.append(each)
    shared = {"stories": [story.split("\n") for story in stories], "captions": [each.caption for each in pictures]}
    return {"findings": found, **shared}, list(pictures)


def _answers(finding: Finding) -> tuple[str, str] | None:
    """Return the label and the right answer, if an answer is wrong."""
    return (finding.found, finding.expected) if finding.field == "answer" else None


def _bound(report: AuditReport, findings: Sequence[Finding], per_kind: int, complete_list: str) -> str:
    """Return which findings are listed, and where the others are."""
    counts = {kind: len(each) for kind, each in _by_kind(report).items()}
    cut = [
        f"{safe(display_name(kind))} {per_kind:,} of {count:,}" for kind, count in counts.items() if count > per_kind
    ]
    if not cut:
        return "All findings are listed." if findings else "There is nothing to list."
    if complete_list:
        rest = f"All {sum(counts.values()):,} findings are in {data_text(complete_list)}."
    else:
        rest = "To get all of them, run <code>storyproof audit</code> again with <code>--json FILE</code>."
    return f"The list contains the first {per_kind:,} findings of each class: {', '.join(cut)}. {rest}"


def _picture_legend(report: AuditReport) -> str:
    texts = [family.legend for family in audited_families(report) or families() if family.legend]
    if not texts or report.clean:
        return ""
    items = "".join(element("li", safe(text)) for text in texts)
    return f'<details class="legend"><summary>How to read the pictures</summary><ul>{items}</ul></details>'


# --- the result


def _questions(file: FileReport) -> int:
    return file.questions or file.totals.get("rows", 0)


class _Answers(NamedTuple):
    """Findings about answers.

    Attributes:
        wrong: How many rows are wrong.
        some: How many of them are rule-dependent.
        unread: How many rows are not understood.
        other: How many other findings there are.
    """

    wrong: int
    some: int
    unread: int
    other: int


def _about_answers(report: AuditReport, findings: Sequence[Finding]) -> _Answers:
    fields = frozenset[str]().union(*(family.answer_fields for family in audited_families(report) or families()))
    wrong = [each for each in findings if each.row >= 0 and each.field in fields]
    sure = {(each.file, each.row) for each in wrong if not each.reading}
    every = {(each.file, each.row) for each in wrong}
    unread = [each for each in findings if each.kind == UNREAD and each.row >= 0]
    rows = {(each.file, each.row) for each in unread}
    return _Answers(len(every), len(every - sure), len(rows), len(findings) - len(wrong) - len(unread))


def describe_result(report: AuditReport) -> list[str]:
    """Return the result of an audit in a sentence, and how much else was found."""
    findings = report.findings
    asked = sum(map(_questions, report.files))
    files = counted(len(report.files), "file")
    if not findings:
        checked = f"All {asked:,} answers follow from their stories" if asked else "Nothing is wrong"
        return [f"✓ Passed. {checked}, and no other problem was found in {files}."]
    wrong, some, unread, other = _about_answers(report, findings)
    rest = [f"{counted(other, 'other finding')} in {files}."] if other else []
    if unread and unread >= asked:
        none = f"None of {unread:,} questions is understood" if unread > 1 else "The question is not understood"
        return [f"{none}, so nothing is known about the answers.", *rest]
    if unread:
        share = f"{unread:,} of {counted(asked, 'question')} ({share_text(unread, asked)})"
        whose = "is not understood; nothing is known about its answer"
        if unread > 1:
            whose = "are not understood; nothing is known about their answers"
        rest.insert(0, f"{share} {whose}.")
    if not wrong:
        understood = f" {asked - unread:,} questions" + (" that are understood" if unread else "")
        return [f"No answer is wrong in{understood}." if asked else "No answer is wrong.", *rest]
    settled = all(family.is_always_settled for family in audited_families(report))
    what = "are wrong" if settled else "are wrong or do not follow from their stories"
    share = f" of {asked:,} answers ({share_text(wrong, asked)})" if asked else " answers"
    which = "all of them" if some == wrong else f"{some:,} of them"
    depends = f", {which} only under some readings (rule-dependent)" if some else ""
    return [f"{wrong:,}{share} {what}{depends}.", *rest]


def _lead(report: AuditReport, verdict: str) -> str:
    first, *rest = describe_result(report)
    paragraphs = [element("p", safe(text)) for text in (*rest, verdict) if text]
    return element("p", safe(first), class_="lead") + "".join(paragraphs)


def share_text(part: int, whole: int) -> str:
    """Return a share as percent; one that is not zero never looks like zero."""
    if not whole:
        return ""
    share = 100 * part / whole
    return "<0.1%" if 0 < share < 0.05 else f"{share:.1f}%"


# --- the tables


class ClassRow(NamedTuple):
    """A kind of findings.

    Attributes:
        kind: Its name in the data.
        name: Its name in words.
        meaning: What it means.
        findings: How many findings.
        share: The share of all rows that have one, in percent; empty if it is about files.
        some: How many are rule-dependent; empty if none.
        sure_share: The share of rows that are wrong under every reading, as a fraction.
        some_share: The share of rows that are rule-dependent, as a fraction.
    """

    kind: str
    name: str
    meaning: str
    findings: str
    share: str
    some: str
    sure_share: float
    some_share: float


def class_rows(report: AuditReport) -> list[ClassRow]:
    """Return how many findings there are of each kind, what matters most first."""
    asked, meanings = sum(map(_questions, report.files)), kinds_of(report)
    rows = []
    for kind, findings in _by_kind(report).items():
        places = {(each.file, each.row) for each in findings if each.row >= 0}
        sure = {(each.file, each.row) for each in findings if each.row >= 0 and not each.reading}
        some = sum(bool(each.reading) for each in findings)
        rows.append(
            ClassRow(
                kind,
                display_name(kind),
                meanings.get(kind, ""),
                f"{len(findings):,}",
                share_text(len(places), asked) if places else "",
                f"{some:,}" if some else "",
                len(sure) / asked if asked else 0.0,
                len(places - sure) / asked if asked else 0.0,
            )
        )
    return rows


def _classes(report: AuditReport) -> str:
    """Return a table of how many findings there are of each kind, with bars."""
    rows = class_rows(report)
    if not rows:
        return '<p class="note">Nothing wrong was found.</p>'
    cells = []
    for row in rows:
        meaning = row.meaning.rstrip(".") or row.name
        name = element("button", safe(meaning), type="button", class_="plain", data_kind=row.kind)
        name += element("div", safe(row.name), class_="meaning") if row.meaning else ""
        name += _bar(100 * row.sure_share, 100 * row.some_share) if row.share else ""
        cells.append([name, row.findings, safe(row.share), row.some])
    depends = any(row.some for row in rows)
    heads = ["class", "findings", "of all rows", "rule-dependent"][: 4 if depends else 3]
    table = build_table(heads, [each[: len(heads)] for each in cells], label="Classes of findings", style="full")
    return (_key() if depends else "") + table


def _key() -> str:
    """Return what the colours of bars mean."""
    items = [("all", "wrong under every reading"), ("some", RULE_DEPENDENT)]
    swatches = ""
    for style, text in items:
        square = element("rect", width="100%", height="100%", class_=style)
        swatches += element("li", f'<svg aria-hidden="true">{square}</svg>{safe(text)}')
    return f'<ul class="key" aria-label="Colours of the bars">{swatches}</ul>'


def _bar(sure: float, some: float) -> str:
    """Return a bar of percents: what is wrong under every reading, then what is rule-dependent."""
    parts = element("rect", width="100%", height="100%", class_="ground")
    parts += element("rect", width=f"{sure:.2f}%", height="100%", class_="all")
    parts += element("rect", x=f"{sure:.2f}%", width=f"{some:.2f}%", height="100%", class_="some")
    return f'<svg class="bar" aria-hidden="true">{parts}</svg>'


def _totals(report: AuditReport) -> str:
    """Return the counts of each file and of all files, in short and in full."""
    rows = [_summary(report, file.file, file.format, _questions(file), file.findings) for file in report.files]
    if len(report.files) > 1:
        asked = sum(map(_questions, report.files))
        rows.append(_summary(report, "all files", "", asked, report.findings))
    heads = ["file", "questions", "wrong answers", "percent", "rule-dependent", "not understood", "other findings"]
    short = build_table(heads, rows, label="Files", style="full")
    counts = [(file.file, dict(_flat(file.totals))) for file in report.files]
    if len(counts) > 1:
        counts.insert(0, ("all files", dict(_flat(report.totals))))
    names = dict.fromkeys(name for _, each in counts for name in each)
    full = [[safe(name), *(_count(each.get(name)) for _, each in counts)] for name in names]
    table = build_table(["count", *(data_text(file) for file, _ in counts)], full, label="All counts")
    return f'{short}<details class="counts"><summary>All counts</summary>{table}</details>' if full else short


def _summary(report: AuditReport, file: str, form: str, asked: int, findings: Sequence[Finding]) -> list[str]:
    name = data_text(file) + element("div", safe(form), class_="meaning")
    wrong, some, unread, other = _about_answers(report, findings)
    share = safe(share_text(wrong, asked))
    return [name, f"{asked:,}", f"{wrong:,}", share, f"{some:,}", f"{unread:,}", f"{other:,}"]


def _flat(totals: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in totals.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{display_name(name)}: ")
        else:
            yield before + display_name(name), value


def _count(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else data_text(str(value))


def _section(number: int, section: Section) -> str:
    head = element("h2", safe(section.heading), id=f"section-{number}")
    return f'<section aria-labelledby="section-{number}">{head}{section.body}</section>'
