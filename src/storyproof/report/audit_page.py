"""An audit as one self-contained page of HTML: totals, kinds of findings, and findings with their pictures.

Text from the data is never markup: in the page's tables it is escaped, and the findings are JSON that the page's script
shows as text. A policy in the page's head allows no other script, and no requests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Any

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import Picture, families, family_of, load_family
from storyproof.findings import AuditReport, Finding
from storyproof.report.page import build_page, build_table, data_text, read_asset
from storyproof.svg import element, safe

LISTED = 300  # findings of a kind that a page lists

Examples = Mapping[tuple[str, int], Sequence[Example] | Example]
Section = tuple[str, Sequence[Mapping[str, object]]]


def audit_page(
    report: AuditReport, examples: Examples, *, title: str, sections: Sequence[Section] = (), per_kind: int = LISTED
) -> str:
    """Return the page of an audit.

    Args:
        report: What was found.
        examples: The rows to show, by file and row, as published; see `listed` for those that the page shows.
            A list holds all questions of the row's story, with the row's own last. A row that is missing is shown
            without its story.
        title: What the page is about.
        sections: Tables between the totals and the findings: a heading and rows, each a figure by its name.
        per_kind: How many findings of a kind to list at most.
    """
    findings = listed(report, per_kind)
    data, pictures = _data(findings, examples)
    body = Template(read_asset(__package__, "audit_page.html")).substitute(
        title=safe(title),
        lead=_lead(report),
        classes=_classes(report),
        totals=_totals(report),
        sections="\n".join(_section(number, *each) for number, each in enumerate(sections)),
        bound=_bound(report, findings, per_kind),
    )
    return build_page(
        title,
        body,
        data={"data": data},
        pictures={f"picture-{number}": svg for number, svg in enumerate(pictures)},
        scripts=[read_asset(__package__, "audit_page.js")],
        styles=[read_asset(__package__, "audit_page.css")],
    )


def listed(report: AuditReport, per_kind: int = LISTED) -> list[Finding]:
    """Return the findings that a page lists: the first ones of each kind, in the order of the files."""
    seen: Counter[str] = Counter()
    found = []
    for finding in _findings(report):
        seen[finding.kind] += 1
        if seen[finding.kind] <= per_kind:
            found.append(finding)
    return found


def _findings(report: AuditReport) -> Iterator[Finding]:
    return (finding for file in report.files for finding in file.findings)


# --- the findings


def _data(findings: Sequence[Finding], examples: Examples) -> tuple[dict[str, Any], list[str]]:
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
    return {"findings": found, **shared}, [each.svg for each in pictures]


def _answers(finding: Finding) -> tuple[str, str] | None:
    """Return the label and the right answer, if an answer is wrong."""
    return (finding.found, finding.expected) if finding.field == "answer" else None


def _bound(report: AuditReport, findings: Sequence[Finding], per_kind: int) -> str:
    """Return a sentence about how many of the findings are listed."""
    cut = [(kind, count) for kind, count in _by_kind(_findings(report)).items() if count > per_kind]
    if not cut:
        return "All findings are listed." if findings else "Nothing wrong was found."
    counts = ", ".join(f"{safe(_words(kind))} {per_kind:,} of {count:,}" for kind, count in cut)
    return f"The list holds the first {per_kind:,} findings of each class: {counts}. Other classes are listed in full."


# --- the tables


def _by_kind(findings: Iterator[Finding]) -> Counter[str]:
    return Counter(finding.kind for finding in findings)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _lead(report: AuditReport) -> str:
    """Return the result in a sentence."""
    found, some = _count(list(_findings(report)))
    number = len(report.files)
    text = f"{found:,} finding{'s' * (found != 1)} in {number:,} file{'s' * (number != 1)}"
    return f"{text}, {some:,} of them rule-dependent." if some else f"{text}."


def _count(findings: Sequence[Finding]) -> tuple[int, int]:
    """Return how many findings there are, and how many are rule-dependent."""
    return len(findings), sum(bool(finding.reading) for finding in findings)


def _classes(report: AuditReport) -> str:
    """Return a table of how many findings there are of each kind, with bars."""
    groups: dict[str, list[Finding]] = {}
    for finding in _findings(report):
        groups.setdefault(finding.kind, []).append(finding)
    if not groups:
        return '<p class="note">Nothing wrong was found.</p>'
    most = max(map(len, groups.values()))
    meanings = _meanings(report)
    rows = []
    for kind, findings in sorted(groups.items(), key=lambda item: -len(item[1])):
        found, some = _count(findings)
        meaning = element("div", safe(meanings.get(kind, "")), class_="meaning")
        button = element("button", safe(_words(kind)), type="button", class_="plain", data_kind=kind)
        rows.append([button + meaning + _bar(found, some, most), f"{found:,}", f"{some:,}" if some else ""])
    return build_table(["class", "findings", "rule-dependent"], rows, label="Classes of findings", style="full")


def _meanings(report: AuditReport) -> dict[str, str]:
    """Return what kinds of findings mean; where families differ, those of the audited rows decide."""
    audited = [load_family(file.family) for file in report.files if file.family]
    return {kind: text for family in (*families(), *audited) for kind, text in family.kinds.items()}


def _bar(found: int, some: int, most: int) -> str:
    """Return a bar whose rule-dependent part is lighter."""
    sure = 100 * (found - some) / most
    parts = element("rect", width=f"{sure:.2f}%", height="8", class_="all")
    parts += element("rect", x=f"{sure:.2f}%", width=f"{100 * some / most:.2f}%", height="8", class_="some")
    return f'<svg class="bar" aria-hidden="true">{parts}</svg>'


def _totals(report: AuditReport) -> str:
    """Return the counts of each file and of all files, in short and in full."""
    rows = [_summary(file.file, file.format, file.findings, file.totals) for file in report.files]
    if len(report.files) > 1:
        rows.append(_summary("all files", "", list(_findings(report)), report.totals))
    short = build_table(["file", "checked", "findings", "rule-dependent"], rows, label="Files", style="full")
    counts = [(file.file, dict(_flat(file.totals))) for file in report.files]
    if len(counts) > 1:
        counts.insert(0, ("all files", dict(_flat(report.totals))))
    names = dict.fromkeys(name for _, each in counts for name in each)
    full = [[safe(name), *(_figure(each.get(name)) for _, each in counts)] for name in names]
    table = build_table(["count", *(data_text(file) for file, _ in counts)], full, label="All counts")
    return f'{short}<details class="counts"><summary>All counts</summary>{table}</details>' if full else short


def _summary(file: str, form: str, findings: Sequence[Finding], totals: Mapping[str, Any]) -> list[str]:
    name = data_text(file) + element("div", safe(form), class_="meaning")
    checked = [f"{totals[name]:,} {name}" for name in ("questions", "rows") if totals.get(name)]
    found, some = _count(findings)
    return [name, safe(" and ".join(checked)), f"{found:,}", f"{some:,}" if some else ""]


def _flat(totals: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in totals.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{_words(name)}: ")
        else:
            yield before + _words(name), value


def _section(number: int, heading: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Return a table of figures by name, with the columns that they have."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_figure(row.get(name)) for name in names] for row in rows]
    table = (
        build_table([safe(_words(name)) for name in names], cells, label=heading)
        if rows
        else '<p class="note">Nothing to show.</p>'
    )
    head = element("h2", safe(heading), id=f"section-{number}")
    return f'<section aria-labelledby="section-{number}">{head}{table}</section>'


def _figure(value: object) -> str:
    """Return a figure as text: a number, an interval, a number with its interval, or a text."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
        case [(int() | float()) as low, (int() | float()) as high]:
            return f"{_figure(low)} to {_figure(high)}"
        case list() | tuple():
            return ", ".join(map(_figure, value))
        case {"value": number, "low": low, "high": high}:
            return f"{_figure(number)} ({_figure(low)} to {_figure(high)})"
        case Mapping():
            return ", ".join(f"{safe(_words(str(name)))} {_figure(each)}" for name, each in value.items())
        case _:
            return data_text(str(value))
