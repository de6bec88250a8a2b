import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import storyproof
from storyproof.families.family import family_of
from storyproof.findings import AuditReport, FileReport, Finding
from storyproof.reports.notebook import view
from tests.reports.test_audit_page import NAME, TEXT, erratum, report_of
from tests.samples import example


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def images(html: str) -> list[str]:
    return [base64.b64decode(each).decode() for each in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)]


def test_an_example_is_shown_with_its_picture() -> None:
    html = example()._repr_html_()
    (picture,) = images(html)
    assert "Ben thinks" in picture
    assert "box (false)" in picture
    shown = Tags(html).text
    assert "Where will Ben look for the key? box (sentences 2, 3, 4)" in shown
    assert "Ada moved the key to the jar." in shown


def test_a_picture_is_shown() -> None:
    (picture,) = family_of(example()).pictures([example()])
    assert picture._repr_svg_().startswith("<svg")
    assert images(view(picture)) == [picture._repr_svg_()]


def test_an_example_that_cannot_be_drawn_is_shown_as_text() -> None:
    html = example(story="Nothing that is known.", question="Why?")._repr_html_()
    assert images(html) == []
    assert "Nothing that is known." in Tags(html).text


def test_an_audit_is_shown() -> None:
    report = report_of(erratum(0), erratum(1, reading="infer-mover"), erratum(2, kind="trace", field="trace"))
    shown = Tags(report._repr_html_()).text
    assert "2 of 1,200 answers (0.2%) are wrong, 1 of them only under some readings" in shown
    assert shown.index("structural") < shown.index("trace")


def test_the_first_findings_are_shown(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=1, out=tmp_path / "x")
    assert "All 18 answers follow from their stories" in Tags(storyproof.verify(tmp_path / "x")._repr_html_()).text
    findings = [
        Finding(file="a", row=n, kind="structural", field="answer", found=f"f{n}", expected="e") for n in range(12)
    ]
    shown = Tags(AuditReport([FileReport("a", "jsonl", {}, findings, questions=6)])._repr_html_()).text
    assert "f9" in shown
    assert "f10" not in shown
    assert "and 2 more" in shown


def test_a_run_is_shown(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=1, out=tmp_path / "x")
    run = storyproof.evaluate("oracle", tmp_path / "x")
    shown = Tags(run._repr_html_()).text
    assert "oracle" in shown
    assert "18 questions of 3 stories, given labels" in shown
    assert "100.0" in shown
    assert "second order, false belief" in shown


def test_nothing_from_data_is_markup() -> None:
    story = example().story.replace("Ada", NAME)
    evil = example(story=story, answer=TEXT, id=TEXT)
    fields = dict.fromkeys(("id", "field", "found", "expected", "reason", "reading", "asked", "file", "kind"), TEXT)
    for html in (
        evil._repr_html_(),
        report_of(erratum(0, **fields))._repr_html_(),
    ):
        found = Tags(html)
        assert not {"script", "style", "iframe", "object"} & set(found.tags)
        assert not any(name.startswith("on") for name in found.attributes)
        html.encode()


@pytest.mark.parametrize("value", [3, "<b>"])
def test_anything_else_is_text(value: object) -> None:
    assert Tags(view(value)).text == repr(value)


def test_stories_and_answers_are_shown_with_their_pictures() -> None:
    made = storyproof.stream("tomi", seed=7)[1]
    html = made._repr_html_()
    (picture,) = images(html)
    assert "(false)" in picture  # the question about a false belief is drawn, the others are listed
    assert Tags(html).tags.count("tr") == len(made.rows)
    own = storyproof.story("Ada entered the hall. The key is in the box. Ada exited the hall.")
    assert "Ada exited the hall." in Tags(own._repr_html_()).text
    found = own.ask("Where will Ada look for the key?")
    shown = Tags(found._repr_html_()).text
    assert "✓ proved, and confirmed by the checker" in shown
    assert "box" in shown
    assert len(images(found._repr_html_())) == 1


def test_an_answer_that_does_not_follow_is_said_not_to() -> None:
    found = storyproof.story("Ada is the mother of Ben. Cleo is Ada's sister. Dora is Cleo's friend.").problems("Who?")
    assert found
    open_ended = storyproof.story("Ada is a grandmother of Ben. Cleo is Ada's daughter.").ask("What is Cleo to Ben?")
    assert not open_ended.is_settled
    assert "? no answer follows" in Tags(open_ended._repr_html_()).text


def test_a_verdict_is_one_line() -> None:
    row = {"story": "Ada is the mother of Ben. Cleo is Ben's sister.", "question": "What is Cleo to Ada?"}
    right, wrong = (storyproof.judge(reply, row)._repr_html_() for reply in ("Her daughter.", "Her <b>niece."))
    assert Tags(right).text.startswith("✓ right:")
    assert Tags(wrong).text.startswith("✗ wrong:")
    assert Tags(wrong).tags == ["p", "b", "span", "small"]


def test_a_report_is_its_leaderboard(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=3, out=tmp_path)
    runs = [storyproof.evaluate(model, tmp_path) for model in ("rules", "random")]
    shown = Tags(storyproof.report(runs)._repr_html_()).text
    assert "rules answers" in shown
    assert "chance" in shown


def test_dials_are_a_table() -> None:
    found = storyproof.dials("tom-k")
    tags = Tags(found._repr_html_())
    assert tags.tags.count("tr") == len(found) + 1
    assert "order" in tags.text
    assert found["order"].least == 1
