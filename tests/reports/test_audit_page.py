import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storyproof.findings import AuditReport, FileReport, Finding
from storyproof.reports.audit_page import Examples, Section, audit_page, describe_result, listed
from tests.families.kinship.pictures.test_tree import AUNT, GRANDMOTHER, TWO_FATHERS
from tests.groups import try_examples
from tests.samples import BELIEF, SEARCH, changed, example

NAME = "<img/src=x/onerror=hacked=1>"
TEXT = "</script><script>hacked=2</script><img src=x onerror=hacked=3><!--<script>\u2028&lt;${hacked=4}\ud800"


def erratum(row: int, **changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "file": "val.txt",
        "line": row * 6 + 6,
        "id": f"val-{row}",
        "kind": "structural",
        "field": "answer",
        "found": "jar",
        "expected": "box",
        "reason": "somebody was inserted after the fact",
        "sentences": (3, 4),
        "asked": "first_order",
    }
    return Finding(row=row, **{**fields, **changes})


def report_of(*errata: Finding) -> AuditReport:
    files: dict[str, list[Finding]] = {}
    for each in errata:
        files.setdefault(each.file, []).append(each)
    totals = {"rows": 1200, "stories": 200, "wrong_answers": {"memory": 0, "first_order": len(errata)}}
    return AuditReport([FileReport(file, "tomi", dict(totals), found) for file, found in files.items()])


def small() -> tuple[AuditReport, Examples]:
    errata = [
        erratum(0),
        erratum(1, kind="semantic", field="story_type", found="true_belief", expected="false_belief", asked="reality"),
        erratum(2, reading="infer-mover", asked="second_order"),
        erratum(-1, kind="small_test", field="rows", found="12 rows", expected="", line=0, id="", asked=""),
        erratum(7, file="1.3_test.csv", kind="ambiguous", field="target", found="mother", expected="", sentences=()),
        erratum(8, file="1.3_test.csv", kind="contradicted", field="target", found="sister", expected="sister-in-law"),
        erratum(9, file="1.3_test.csv", kind="impossible", field="target", found="brother", expected=""),
    ]
    asked = example(question=BELIEF, chain=["Ada", "Ben"])
    shown: Examples = {
        ("val.txt", 0): [asked, example()],
        ("val.txt", 1): example(),
        ("1.3_test.csv", 7): GRANDMOTHER,
        ("1.3_test.csv", 8): [AUNT],
        ("1.3_test.csv", 9): TWO_FATHERS,
    }
    return report_of(*errata), shown


def hostile() -> tuple[AuditReport, Examples]:
    """Make an audit in which everything that comes from data would be run if it were not shown as text."""
    story = example().story.replace("Ada", NAME).replace("box", '"><svg/onload=hacked=5>')
    row = example(story=story, question=SEARCH, candidates=[], id=TEXT)
    kin = GRANDMOTHER.get("genders") or []
    evil = {"query": [NAME, "Haruka"], "genders": [f"{NAME}:male", *kin[1:]], "story": TEXT, "question": TEXT}
    fields = dict.fromkeys(("id", "field", "found", "expected", "reason", "reading", "asked"), TEXT)
    errata = [erratum(row, **fields, file=TEXT + "%", kind=TEXT) for row in range(3)]
    family = changed(GRANDMOTHER, **evil)
    unreadable = example(story=TEXT, question=TEXT)
    return report_of(*errata), {(TEXT + "%", number): each for number, each in enumerate([row, family, unreadable])}


def data_of(page: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found)


def pictures_of(page: str) -> list[dict[str, str]]:
    (found,) = re.findall(r'<script type="application/gzip" id="pictures">(.*?)</script>', page, re.S)
    unpacked: list[dict[str, str]] = json.loads(gzip.decompress(base64.b64decode(found)))
    return unpacked


class Elements(HTMLParser):
    """Collects the elements of a page, and the text in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


# --- the page as text


def test_totals_and_classes() -> None:
    report, shown = small()
    text = Elements(audit_page(report, shown, title="Audit of A & B")).text
    assert text.count("Audit of A & B") == 2
    assert "5 of 2,400 answers (0.2%) are wrong, 1 of them only under some readings (rule-dependent)." in text
    assert "2 other findings in 2 files." in text
    assert text.index("rule-dependent: wrong under the default readings") < text.index("structural")
    assert "The labelled answer is wrong" in text
    assert "2,400" in text.split("\n")
    assert "wrong answers: first order" in text
    assert "All findings are listed." in text


def test_a_clean_audit_passes_clearly() -> None:
    page = audit_page(AuditReport([FileReport("a.txt", "tomi", {"rows": 6})]), {}, title="Clean")
    assert "✓ Passed. All 6 answers follow from their stories, and no other problem was found in 1 file." in page
    assert '<section class="verdict pass"' in page
    assert page.count("Nothing wrong was found.") == 1
    assert {key: data_of(page)[key] for key in ("findings", "stories", "captions")} == {
        "findings": [],
        "stories": [],
        "captions": [],
    }


def test_where_answers_need_not_follow_the_result_says_so() -> None:
    report = report_of(erratum(7, kind="ambiguous", field="target", found="mother", expected="", reading="published"))
    report.files[0].family = "kinship"
    page = audit_page(report, {}, title="x")
    assert "1 of 1,200 answers (0.1%) are wrong or do not follow from their stories, all of them only under" in page


def test_answers_may_be_right_where_other_labels_are_wrong() -> None:
    page = audit_page(report_of(erratum(0, kind="trace", field="trace")), {}, title="x")
    assert "No answer is wrong in 1,200 questions." in page
    assert "1 other finding in 1 file." in page
    assert '<section class="verdict fail"' in page


def test_what_is_right_under_some_reading_is_not_shown_as_wrong() -> None:
    depends = [erratum(row, reading="infer-mover") for row in range(3)]
    assert '<section class="verdict depends"' in audit_page(report_of(*depends), {}, title="x")
    assert '<section class="verdict fail"' in audit_page(report_of(*depends, erratum(4)), {}, title="x")


def test_what_is_not_understood_is_never_called_right() -> None:
    unread = report_of(*(erratum(row, kind="unread", field="story") for row in range(300)))
    assert describe_result(unread) == [
        "No answer is wrong in 900 questions that are understood.",
        "300 of 1,200 questions (25.0%) are not understood; nothing is known about their answers.",
    ]
    unread.files[0].findings.append(erratum(400))
    assert describe_result(unread)[0] == "1 of 1,200 answers (0.1%) are wrong."
    nothing = report_of(*(erratum(row, kind="unread", field="story") for row in range(1200)))
    [result] = describe_result(nothing)
    assert result == "None of 1,200 questions is understood, so nothing is known about the answers."
    page = audit_page(nothing, {}, title="x")
    assert result in page
    assert "is wrong" not in page.partition("<script")[0].partition("What is wrong")[0]


def test_rare_findings_never_look_like_none() -> None:
    report = report_of(erratum(0))
    report.files[0].totals["rows"] = 100_000
    assert "1 of 100,000 answers (&lt;0.1%) are wrong." in audit_page(report, {}, title="x")


def test_what_matters_most_comes_first() -> None:
    kinds = ["trace", "semantic", "unheard_of", "structural", "question_type"]
    report = report_of(*(erratum(row, kind=kind) for row, kind in enumerate(kinds)))
    report.files[0].family = "belief"
    page = audit_page(report, {}, title="x")
    order = ["structural", "question_type", "semantic", "trace", "unheard_of"]
    assert re.findall(r'data-kind="(\w+)"', page) == order
    assert [each["kind"] for each in data_of(page)["findings"]] == order


def test_the_verdict_belongs_to_the_result() -> None:
    text = Elements(audit_page(*small(), title="x", verdict="This data does not test belief.")).text
    assert text.index("answers (0.2%)") < text.index("This data does not test belief.") < text.index("What is wrong")


def test_a_bounded_number_is_listed_and_the_page_says_so() -> None:
    report = report_of(*map(erratum, range(5)), erratum(5, kind="semantic"))
    assert [each.row for each in listed(report, 2)] == [0, 1, 5]
    page = audit_page(report, {}, title="Bounded", per_kind=2)
    assert "The list contains the first 2 findings of each class: structural 2 of 5. To get all of them" in page
    assert "<code>--json FILE</code>" in page
    named = audit_page(report, {}, title="Bounded", per_kind=2, complete_list="all <1>.json")
    assert 'All 6 findings are in <span class="data">all &lt;1&gt;.json</span>.' in named
    assert [each["row"] for each in data_of(page)["findings"]] == [0, 1, 5]


def test_findings_share_stories_and_pictures() -> None:
    shown = {("val.txt", row): example() for row in (0, 3)}
    data = data_of(audit_page(report_of(erratum(0), erratum(3)), shown, title="x"))
    assert [each["story"] for each in data["findings"]] == [0, 0]
    assert [each["pictures"] for each in data["findings"]] == [[0], [0]]
    assert len(data["captions"]) == 1


def test_what_there_is_to_see() -> None:
    report, shown = small()
    page = audit_page(report, shown, title="x")
    data, pictures = data_of(page), pictures_of(page)
    assert len(pictures) == len(data["captions"]) == 5
    by_row = {each["row"]: each for each in data["findings"]}
    assert {row: len(each["pictures"]) for row, each in by_row.items()} == {0: 1, 1: 1, 2: 0, -1: 0, 7: 2, 8: 1, 9: 0}
    assert by_row[9]["note"] == "There is no picture: no family fits the story."
    assert by_row[2]["story"] is None
    for form in ("svg", "narrow"):
        assert "label: jar" in pictures[by_row[0]["pictures"][0]][form]
        assert "label:" not in pictures[by_row[1]["pictures"][0]][form]  # its answer is not what is wrong


def test_sections() -> None:
    sections = [Section("Short & cuts", "<p>one</p>"), Section("Overlaps", "<p>two</p>")]
    page = audit_page(AuditReport([]), {}, title="x", sections=sections)
    assert page.index("Short &amp; cuts") < page.index("<p>one</p>") < page.index("Overlaps") < page.index("<p>two</p>")


def test_the_policy_allows_nothing_but_what_is_there() -> None:
    page = audit_page(*small(), title="x")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (allowed,) = re.findall(rf"{directive} ([^;]+)", policy)
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
        assert allowed == " ".join(f"'sha256-{digest}'" for digest in digests)
    for _, attributes in Elements(page).found:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attributes)


HARMLESS = Elements(audit_page(*small(), title="x"))


@try_examples(25)
@given(st.one_of(st.just(TEXT), st.text()))
def test_text_from_the_data_is_text(text: str) -> None:
    errata = [erratum(0, file=text, kind=text, field=text, found=text, expected=text, reason=text, id=text, asked=text)]
    shown = {(text, 0): example(story=text, question=text)}
    sections, more = [Section(text, "")], {"verdict": text, "complete_list": text, "per_kind": 0}
    audit_page(report_of(*errata), shown, title=text, sections=sections, **more).encode()
    page = audit_page(report_of(*errata), shown, title=text, sections=sections, verdict=text, complete_list=text)
    (found,) = data_of(page)["findings"]
    assert {found[name] for name in ("file", "kind", "field", "found", "expected", "reason", "question")} == {text}
    assert data_of(page)["stories"] == [text.split("\n")]
    elements = Elements(page).found
    assert {tag for tag, _ in elements} <= {tag for tag, _ in HARMLESS.found}
    assert [attributes for tag, attributes in elements if tag == "script" and "type" not in attributes] == [{}, {}]
    page.encode()
