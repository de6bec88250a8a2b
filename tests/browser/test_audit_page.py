"""The audit page in a browser."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import storyproof
from storyproof.findings import AuditReport, FileReport
from storyproof.reports.audit_page import Examples, Section, audit_page
from storyproof.reports.audit_sections import page_of
from tests.browser.conftest import Open, Visit
from tests.reports.test_audit_page import NAME, TEXT, erratum, hostile, report_of, small
from tests.samples import SEARCH, example


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return written(tmp_path, *small())


def written(folder: Path, report: AuditReport, shown: Examples, **options: Any) -> Path:
    path = folder / "audit page.html"
    path.write_text(audit_page(report, shown, title="Audit", **options), "utf-8")
    return path


def rows(visit: Visit) -> list[str]:
    """Return the rows that are listed."""
    return [each.rpartition(" ")[2] for each in visit.texts(".where")]


def test_filters(visit: Open, page: Path) -> None:
    seen = visit(page)
    assert len(rows(seen)) == 7
    assert rows(seen)[:2] == ["0", "2"]  # wrong answers first
    expect(seen.page.locator(".finding .asking").first).to_have_text(SEARCH)
    for name, value, found in [
        ("file", "1.3_test.csv", {"7", "8", "9"}),
        ("kind", "structural", {"0", "2"}),
        ("field", "rows", {"file"}),
        ("asked", "second_order", {"2"}),
        ("reading", "some", {"2"}),
        ("reading", "every", {"0", "1", "file", "7", "8", "9"}),
    ]:
        seen.page.locator(f"#filters [name={name}]").select_option(value)
        assert set(rows(seen)) == found
        expect(seen.page.locator("#count")).to_have_text(f"{len(found)} of 7 listed findings")
        seen.page.locator("#clear").click()
        assert len(rows(seen)) == 7
    seen.page.locator("button[data-kind=structural]").click()
    assert rows(seen) == ["0", "2"]
    assert seen.trouble == []


def test_search(visit: Open, page: Path) -> None:
    seen = visit(page)
    field = seen.page.locator("#filters [name=search]")
    field.fill("HARUKA oliver")  # in the story of row 7 only
    assert rows(seen) == ["7"]
    field.fill("HARUKA oliver nobody")
    assert rows(seen) == []
    expect(seen.page.locator("#count")).to_have_text("0 of 7 listed findings")


def test_a_finding_opens_by_keyboard_and_shows_story_and_picture(visit: Open, page: Path) -> None:
    seen = visit(page)
    assert seen.page.locator("#list svg").count() == 0
    seen.page.locator("#clear").focus()
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Enter")
    expect(seen.page.locator("details.finding[open] .where")).to_have_text("val.txt row 0")
    expect(seen.page.locator("details[open] svg.wide .wrong")).to_have_text("label: jar")
    assert seen.texts("details[open] mark") == ["The key is in the box.", "Ben exited the attic."]
    assert seen.page.locator("details[open] .story li").count() == 5
    seen.page.keyboard.press("Enter")
    expect(seen.page.locator("details.finding[open]")).to_have_count(0)


@pytest.mark.parametrize(("width", "form"), [(1280, "wide"), (390, "narrow")])
def test_the_point_of_a_picture_is_on_the_screen(visit: Open, page: Path, width: int, form: str) -> None:
    """The framed belief with label and right answer is visible without scrolling sideways."""
    seen = visit(page, "#val.txt:0", width=width)
    asked = seen.page.locator(f"details[open] svg.{form} .asked-column")
    expect(asked).to_be_visible()
    box = asked.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    for style in ("wrong", "right"):
        expect(seen.page.locator(f"details[open] svg.{form} text.{style}")).to_be_visible()
    other = "narrow" if form == "wide" else "wide"
    expect(seen.page.locator(f"details[open] svg.{other}")).to_be_hidden()
    expect(seen.page.locator("details[open] .cue")).to_be_hidden()


def test_a_picture_that_does_not_fit_says_so(visit: Open, page: Path) -> None:
    seen = visit(page, "#1.3_test.csv:7", width=390)
    drawing = seen.page.locator("details[open] .drawing").first
    expect(drawing.locator("svg")).to_be_visible()
    cue = seen.page.locator("details[open] .cue").first
    drawing.evaluate("(node) => { node.style.width = '80px'; }")
    expect(cue).to_be_visible()
    drawing.evaluate("(node) => { node.style.width = '900px'; }")
    expect(cue).to_be_hidden()


def test_a_label_is_held_against_two_families(visit: Open, page: Path) -> None:
    seen = visit(page, "#1.3_test.csv:7")
    expect(seen.page.locator("details[open] svg.family")).to_have_count(2)
    holds, fails = seen.texts("details[open] figcaption")
    assert "the label holds" in holds
    assert "the label does not hold" in fails


def test_long_values_are_shown_as_a_difference(visit: Open, tmp_path: Path) -> None:
    found = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,agent_2_enters"
    expected = "enter_agent_0,enter_agent_1,agent_1_exits,agent_2_enters,agent_0_moves_obj"
    finding = erratum(0, kind="trace", field="trace", found=found, expected=expected)
    seen = visit(written(tmp_path, report_of(finding), {}))
    assert seen.texts(".diff span")[0] == "enter_agent_0,enter_agent_1,agent_1_exits,"
    (gone,), (new,) = seen.texts(".diff del"), seen.texts(".diff ins")
    assert gone.strip(",") == new.strip(",")  # the one action that stands elsewhere
    seen.page.locator("summary", has_text="val.txt").click()
    expect(seen.page.locator("details.finding[open] dd").nth(1)).to_have_text(expected)
    assert seen.texts("details.finding[open] dd")[0] == found


def test_permalinks(visit: Open, tmp_path: Path) -> None:
    many = report_of(*(erratum(row) for row in range(250)), erratum(9, file="a b:c.txt"), erratum(240, field="story"))
    page = written(tmp_path, many, {("val.txt", row): example() for row in (7, 240)}, per_kind=1000)
    seen = visit(page, "#val.txt:240")
    expect(seen.page.locator("details.finding[open] .where")).to_have_text(["val.txt row 240"] * 2)  # both of the row
    top = seen.page.locator("details.finding[open]").first.bounding_box()
    assert top is not None
    assert -1 <= top["y"] < 900
    assert seen.page.evaluate("document.activeElement === document.querySelector('details.finding[open] summary')")
    seen.page.locator("#filters [name=file]").select_option("a b:c.txt")
    assert rows(seen) == ["9"]
    seen.page.evaluate("location.hash = '#val.txt:7'")  # hidden by the filter, which gives way
    expect(seen.page.locator(".finding.target .where")).to_have_text("val.txt row 7")
    assert len(rows(seen)) == 100
    seen = visit(page, "#a%20b%3Ac.txt:9")
    expect(seen.page.locator("details.finding[open] .where")).to_have_text("a b:c.txt row 9")
    assert seen.page.locator("details.finding[open] a").get_attribute("href") == "#a%20b%3Ac.txt:9"
    seen.page.evaluate("location.hash = '#val.txt:9999'")
    expect(seen.page.locator("#count")).to_have_text("No listed finding is in row 9999 of val.txt.")


def test_files_of_one_name_in_two_folders(visit: Open, tmp_path: Path) -> None:
    for folder, thing in (("one", "key"), ("two", "map")):
        (tmp_path / folder).mkdir()
        story = "".join(f"{number} {line}\n" for number, line in enumerate(example().story.split("\n"), 1))
        asked = f"{story}6 {SEARCH}\tjar\t1\n".replace("key", thing)
        (tmp_path / folder / "val.txt").write_text(asked)
    paths = [tmp_path / "one", tmp_path / "two"]
    page = tmp_path / "page.html"
    page.write_text(page_of(storyproof.audit(paths), paths, {}), "utf-8")
    seen = visit(page)
    assert seen.texts("#filters [name=file] option") == ["all", "one/val.txt", "two/val.txt"]
    seen.page.locator("#filters [name=file]").select_option("two/val.txt")
    assert seen.texts(".where") == ["two/val.txt row 0"]
    for folder, thing in (("one", "key"), ("two", "map")):
        seen = visit(page, f"#{folder}%2Fval.txt:0")
        expect(seen.page.locator("details.finding[open] .where")).to_have_text(f"{folder}/val.txt row 0")
        assert f"The {thing} is in the box." in seen.texts("details[open] .story li")
        assert seen.page.locator("details.finding[open] a").get_attribute("href") == f"#{folder}%2Fval.txt:0"
        assert seen.trouble == []


def test_thousands_of_findings_are_shown_a_hundred_at_a_time(visit: Open, tmp_path: Path) -> None:
    seen = visit(written(tmp_path, report_of(*map(erratum, range(3000))), {}, per_kind=3000))
    expect(seen.page.locator("#count")).to_have_text("3,000 of 3,000 listed findings; the first 100 are shown")
    assert len(rows(seen)) == 100
    seen.page.locator("#more").click()
    assert len(rows(seen)) == 200
    assert seen.page.evaluate("document.activeElement.querySelector('.where').textContent") == "val.txt row 100"


def test_hostile_data_run_nothing(visit: Open, tmp_path: Path) -> None:
    more = {"sections": [Section(TEXT, "")], "verdict": TEXT, "complete_list": TEXT}
    seen = visit(written(tmp_path, *hostile(), **more))
    for summary in seen.page.locator("#list summary").all():
        summary.click()
    expect(seen.page.locator("figure svg.wide")).to_have_count(3)  # a timeline, and two families
    seen.page.locator("details.finding[open] a").first.click()
    seen.page.locator("button[data-kind]").first.click()
    assert len(rows(seen)) == 3
    assert NAME in (seen.page.locator("figure svg.wide").first.text_content() or "")
    assert NAME in (seen.page.locator("figure svg.narrow").first.text_content() or "")
    assert seen.page.evaluate("typeof hacked") == "undefined"
    assert seen.page.evaluate("[...document.scripts].filter((script) => !script.type).length") == 2
    assert seen.page.locator("img, iframe, object, [onerror], [onload]").count() == 0
    assert seen.trouble == []


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_overflows(visit: Open, page: Path, width: int) -> None:
    seen = visit(page, "#val.txt:0", width=width)
    seen.page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    expect(seen.page.locator("figure svg.wide").first).to_be_attached()
    assert seen.overflow() <= 0


def test_dark_where_the_reader_wants_it(visit: Open, page: Path) -> None:
    shades = []
    for scheme in ("light", "dark"):
        seen = visit(page, "#val.txt:0", scheme=scheme)
        expect(seen.page.locator("svg.wide text").first).to_be_visible()
        colours = seen.page.evaluate(
            "[[document.body, 'backgroundColor'], [document.querySelector('svg.wide text'), 'fill']]"
            ".map(([node, name]) => getComputedStyle(node)[name])"
        )
        shades.append([sum(map(int, re.findall(r"\d+", colour)[:3])) > 380 for colour in colours])
    assert shades == [[True, False], [False, True]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_serious_for_those_who_use_aids(visit: Open, page: Path, scheme: str, width: int) -> None:
    seen = visit(page, "#val.txt:0", scheme=scheme, width=width)
    seen.page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    expect(seen.page.locator("figure svg.wide").first).to_be_attached()
    assert seen.findings() == []


def test_a_clean_page_has_nothing_serious_either(visit: Open, tmp_path: Path) -> None:
    clean = AuditReport([FileReport("a.txt", "tomi", {"rows": 6})])
    seen = visit(written(tmp_path, clean, {}))
    expect(seen.page.locator(".verdict")).to_contain_text("Passed")
    assert seen.findings() == []
    assert seen.trouble == []


def test_without_scripts_the_result_is_there(visit: Open, page: Path) -> None:
    seen = visit(page, script=False)
    expect(seen.page.locator(".verdict")).to_contain_text("5 of 2,400 answers")


def test_a_finding_as_an_image(page: Path, visit: Open, tmp_path: Path) -> None:
    """A finding without pictures is a card, too: what was published, what is proved, and why."""
    seen = visit(page)
    seen.page.locator(".finding summary").first.click()
    with seen.page.expect_download() as download:
        seen.page.locator("button", has_text="Save as image").first.click()
    download.value.save_as(tmp_path / "card.png")
    assert download.value.suggested_filename == "storyproof-finding.png"
    assert (tmp_path / "card.png").stat().st_size > 5_000
    assert seen.trouble == []
