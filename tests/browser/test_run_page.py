"""The page of a report in a real browser."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image

import storyproof
from storyproof.benchmark import Benchmark
from storyproof.evaluation.runs import Evaluation
from storyproof.pictures.colours import colour
from storyproof.reports.report import report
from tests.browser.conftest import Open, overprinted
from tests.reports.run_samples import HOSTILE, LONG_NAMES, chat_name, data_folder, evaluate, long_names

READY = "html[data-ready]"
MARKS = ("light", "dark")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Evaluation]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Benchmark, "block_stories", 512)
        kin = data_folder(folder, "clutrr", test=30, test_k=(2, 3, 4))
    found = evaluate(data_folder(folder), "random", "rules", "oracle", chat_name(), folder=folder / "runs")
    return [*found, *evaluate(kin, "random", "rules", "oracle")]


@pytest.fixture(scope="module")
def page(runs: list[Evaluation], folder: Path) -> Path:
    path = folder / "report.html"
    path.write_text(report(runs).render(), encoding="utf-8")
    return path


@pytest.fixture
def opened(visit: Open, page: Path) -> Callable[..., object]:
    def open_page(fragment: str = "", **how: object) -> object:
        found = visit(page, fragment, **how)
        found.page.wait_for_selector(READY, state="attached")
        return found

    return open_page


def test_opens(opened: Open) -> None:
    seen = opened()
    assert seen.trouble == []
    assert seen.texts("h1") == ["Runs"]
    assert "run_samples:chat" in seen.texts(".lead")[0]
    assert seen.texts("h2") == [
        "Percent right",
        "How far they get",
        "Details",
        "tomi test",
        "clutrr test",
        "All answers",
    ]
    assert seen.page.locator(".stat").count() == 3
    assert seen.page.locator("#matrix tbody tr").count() == 4
    assert seen.page.locator("table.strip").count() == 2  # by order, and by length
    assert seen.page.locator("#list > li").count() == 50
    widths = [each.bounding_box() for each in seen.page.locator("#matrix svg:visible").all()]
    assert len(widths) == 4 + 3
    assert all(box is not None and box["width"] > 150 for box in widths)


def test_the_matrix_is_on_the_first_screen(opened: Open) -> None:
    """The sentence, three numbers and the first scores are there without scrolling; details are folded."""
    seen = opened(height=800)
    for place in (".lead", ".stat >> nth=2", "#matrix tbody tr >> nth=0"):
        box = seen.page.locator(place).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800
    assert seen.page.locator("details.board[open]").count() == 0


def test_sorting_focus_and_filters_are_in_the_address(opened: Open) -> None:
    seen = opened()
    page = seen.page
    names = [text.strip() for text in seen.texts("#matrix tbody .name")]
    page.click("#matrix .sort >> nth=1")
    scores = [float(text) for text in seen.texts("#matrix tbody tr td:nth-child(2) .average b")]
    assert scores == sorted(scores, reverse=True)
    page.click(".choice button >> nth=1")
    joint = [float(text) for text in seen.texts("#matrix tbody tr td:nth-child(2) .joint b")]
    assert joint == sorted(joint, reverse=True)
    page.click("#matrix button.series:has-text('rules')")
    assert page.locator("tr.focused").count() == 3  # the matrix and two strips
    page.select_option("select[name=board]", "1")
    page.select_option("select[name=solver]", "rules")
    counted = page.locator("#count").text_content()
    order = seen.texts("#matrix tbody .name")
    again = opened(page.evaluate("location.hash"))
    assert again.page.locator("#count").text_content() == counted
    assert again.texts("#matrix tbody .name") == order
    assert again.page.locator("tr.focused").count() == 3
    assert again.page.locator("#matrix").get_attribute("data-measure") == "joint"
    again.page.click("#matrix button.series:has-text('rules')")
    assert again.page.locator("tr.focused").count() == 0
    assert sorted(order) == sorted(names)
    assert seen.trouble == again.trouble == []


def test_hints_and_links_to_details(opened: Open) -> None:
    seen = opened()
    seen.page.hover("#matrix td[data-tip] >> nth=0")
    tip = seen.page.locator("#tip").text_content() or ""
    assert "tomi test" in tip
    assert "single answers:" in tip
    seen.page.click("#matrix thead a >> nth=1")
    seen.page.wait_for_selector("#board-1[open]")
    assert seen.page.locator("#board-0[open]").count() == 0
    assert seen.trouble == []


def test_filters(opened: Open, runs: list[Evaluation]) -> None:
    seen = opened()
    page, rules = seen.page, runs[1]
    wrong = sum(not row["right"] for row in rules.predictions)
    page.select_option("select[name=solver]", "rules")
    assert page.locator("#count").text_content() == f"{wrong} of 144 questions"
    page.select_option("select[name=result]", "right")
    assert (page.locator("#count").text_content() or "").startswith(f"{144 - wrong} of 144 questions")
    page.click("#clear")
    assert (page.locator("#count").text_content() or "").startswith("144 of 144")
    page.fill("input[name=search]", "really?")
    assert page.locator("#count").text_content() == "24 of 144 questions"
    assert all("really?" in text for text in seen.texts("#list .asked"))
    page.click("#clear")
    page.select_option("select[name=board]", "1")
    assert page.locator("#count").text_content() == "90 of 90 questions; the first 50 are shown"
    page.fill("input[name=search]", "no such words anywhere")
    assert page.locator("#count").text_content() == "0 of 90 questions"
    assert seen.trouble == []


def test_agreement_counts_the_solvers_that_matter(opened: Open, runs: list[Evaluation]) -> None:
    """The oracle is never wrong, and yet there are questions that all others miss."""
    seen = opened()
    rules, chat = ({row["id"]: row["right"] for row in run.predictions} for run in (runs[1], runs[3]))
    missed = sum(not right and not chat[row] for row, right in rules.items())
    seen.page.select_option("select[name=result]", "")
    seen.page.select_option("select[name=agreement]", "none")
    assert seen.page.locator("#count").text_content() == f"{missed} of 144 questions"
    assert missed > 0


def test_cells_lead_to_answers(opened: Open) -> None:
    seen = opened()
    seen.page.click("#board-0 > summary")
    cell = seen.page.locator("table.mistakes button").first
    count = int((cell.text_content() or "").split()[0])
    cell.click()
    assert (seen.page.locator("#count").text_content() or "").startswith(f"{count} of 144 questions")
    assert seen.page.locator("select[name=mistake]").input_value() != ""
    seen.page.locator("table.leaderboard button").first.click()
    assert seen.page.locator("select[name=mistake]").input_value() == ""
    assert seen.page.locator("select[name=result]").input_value() == "wrong"


def test_an_answer(opened: Open, runs: list[Evaluation]) -> None:
    seen = opened()
    page = seen.page
    page.locator("#list summary").first.click()
    page.wait_for_selector("#list figure svg", state="attached")
    body = page.locator("#list .body").first
    assert body.locator(".story mark").count() > 0
    assert body.locator(".said tbody tr").count() == 4
    assert "answered" in (body.locator(".said").text_content() or "")
    href = body.locator(".links a").get_attribute("href") or ""
    again = opened(href)
    again.page.wait_for_selector(".answer.target[open] figure svg", state="attached")
    assert again.texts(".answer.target dd")[-1] in href
    assert seen.trouble == again.trouble == []


@pytest.mark.parametrize("scheme", MARKS)
def test_an_answer_as_an_image(opened: Open, tmp_path: Path, scheme: Literal["light", "dark"]) -> None:
    """The card has the picture with the false belief, the wrong answer struck out, and the right one."""
    seen = opened(scheme=scheme)
    page = seen.page
    page.locator("#list summary").first.click()
    page.wait_for_selector("#list figure svg", state="attached")
    with page.expect_download() as download:
        page.click("#list button:has-text('Save as image')")
    assert download.value.suggested_filename == "storyproof-answer.png"
    download.value.save_as(tmp_path / "card.png")
    with Image.open(tmp_path / "card.png") as card:
        assert card.width == 2400
        shades = {shade for _, shade in card.convert("RGB").getcolors(card.width * card.height) or []}
    for name in ("paper", "ink", "wrong", "right", "mark", "accent-soft"):
        value = colour(name, scheme)
        assert tuple(int(value[place : place + 2], 16) for place in (1, 3, 5)) in shades, name
    assert seen.trouble == []


def test_a_link_to_nothing(opened: Open) -> None:
    for fragment in ("#0:nothing", "#9:x", "#0:%E0%A4%A"):
        seen = opened(fragment)
        assert "There is no question" in (seen.page.locator("#count").text_content() or "")
        assert seen.trouble == []


def test_the_keyboard(opened: Open) -> None:
    seen = opened()
    seen.page.locator("#list summary").first.focus()
    seen.page.keyboard.press("Enter")
    assert seen.page.locator("#list .answer[open]").count() == 1
    more = seen.page.locator("#more")
    more.focus()
    seen.page.keyboard.press("Enter")
    assert seen.page.locator("#list > li").count() > 50
    focused = seen.page.evaluate("document.activeElement.localName")
    assert focused == "summary"


@pytest.mark.parametrize("scheme", MARKS)
@pytest.mark.parametrize("width", [1280, 390])
def test_accessible(opened: Open, scheme: Literal["light", "dark"], width: int) -> None:
    seen = opened(width=width, scheme=scheme)
    seen.page.locator("#list summary").first.click()
    seen.page.wait_for_selector("#list figure svg", state="attached")
    for board in seen.page.locator("details.board > summary").all():
        board.click()
    seen.page.click("details.board details > summary >> nth=0")
    assert seen.page.locator("details.board[open]").count() == 2
    assert seen.findings() == []
    assert seen.overflow() <= 0


def test_dark(opened: Open) -> None:
    colours = [
        opened(scheme=scheme).page.evaluate("getComputedStyle(document.body).backgroundColor") for scheme in MARKS
    ]
    assert colours[0] == "rgb(255, 255, 255)"
    assert colours[1] != colours[0]


def test_without_scripts(visit: Open, page: Path) -> None:
    seen = visit(page, script=False)
    assert "needs JavaScript" in seen.page.content()
    assert seen.page.locator("table.leaderboard tbody tr").count() == 11


def test_nothing_hostile_runs(visit: Open, runs: list[Evaluation], folder: Path, tmp_path: Path) -> None:
    """Names of models, files and folders, stories, questions, answers, replies and ids are shown as text."""
    place = tmp_path / "<img src=x onerror=alert(3)>"
    rows = storyproof.generate("tomi", test=3, seed=8).to_pylist()
    place.mkdir()
    keep = ("id", "story_id", "story", "question", "answer", "candidates", "question_type", "split", "benchmark")
    lines = [{name: row[name] for name in keep} for row in rows]
    nasty = "<img/src=x/onerror=alert(4)>"
    for line in lines:
        for word in line["candidates"]:
            line["story"] = line["story"].replace(f" {word}.", f" {word}{nasty}.")
        line["answer"] += nasty
        line["candidates"] = [f"{word}{nasty}" for word in line["candidates"]]
        line["id"] += nasty
    (place / "test.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    found = evaluate(place, "rules", "random", chat_name())
    names = [replace(each, model=f"{HOSTILE}{number}") for number, each in enumerate(found)]
    rows = [[dict(row) | {"reply": HOSTILE, "match": HOSTILE} for row in each.predictions] for each in names]
    names = [replace(each, predictions=some) for each, some in zip(names, rows, strict=True)]
    path = tmp_path / "report.html"
    path.write_text(report(names, title=HOSTILE).render(), encoding="utf-8")
    seen = visit(path)
    seen.page.wait_for_selector(READY, state="attached")
    seen.page.select_option("select[name=result]", "")
    for number in range(3):
        seen.page.locator("#list summary .asked").nth(number).click()
    seen.page.wait_for_selector("#list .body")
    assert seen.page.locator("img").count() == 0
    assert HOSTILE[:40] in seen.texts("h1")[0]
    assert "onerror=alert(4)" in (seen.page.locator(".story").first.text_content() or "")
    assert seen.trouble == []


@pytest.mark.slow
def test_six_thousand_questions_are_usable_at_once(visit: Open, tmp_path: Path) -> None:
    """A page with ten runs of 5,994 questions is ready, filtered and opened within two seconds each."""
    data = data_folder(tmp_path, test=999)
    [first] = evaluate(data, "random")
    kept = list(first.predictions)
    runs = [replace(first, model=f"m{number}", predictions=kept, path=None) for number in range(10)]
    path = tmp_path / "report.html"
    with pytest.MonkeyPatch.context() as patch:  # what is tested here is the page; numbers take a minute
        patch.setattr("storyproof.reports.run_numbers.pair_differences", lambda board: ((), []))
        path.write_text(report(runs).render(), encoding="utf-8")
    assert path.stat().st_size < 5_000_000
    seen = visit(path)
    seen.page.wait_for_selector(READY, state="attached")
    ready = seen.page.evaluate("performance.now()")
    begun = time.monotonic()
    seen.page.fill("input[name=search]", "look for")
    assert "of 5,994 questions" in (seen.page.locator("#count").text_content() or "")
    seen.page.locator("#list summary").first.click()
    seen.page.wait_for_selector("#list .body")
    assert time.monotonic() - begun < 2
    assert ready < 2000
    assert seen.trouble == []


@pytest.fixture(scope="module")
def long_named(folder: Path) -> Path:
    """A report on eight models with long names on three datasets, with its figures beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Benchmark, "block_stories", 512)
        sets = [data_folder(folder / "long", "clutrr", test=12, test_k=(2, 3, 4))]
    sets += [data_folder(folder / "long", "tomi", test=12), data_folder(folder / "long", "tom-k", test=12)]
    found = report([run for data in sets for run in long_names(data)], title="Eight models")
    path = folder / "long.html"
    path.write_text(found.render(), encoding="utf-8")
    found.write_figures(folder / "figures")
    return path


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_long_names_fit_everywhere(visit: Open, long_named: Path, width: int) -> None:
    seen = visit(long_named, width=width)
    page = seen.page
    page.wait_for_selector(READY, state="attached")
    for summary in page.locator("details.board > summary").all():
        summary.click()
    page.evaluate("document.querySelectorAll('details.board details').forEach((each) => { each.open = true; })")
    page.locator("#list summary").first.click()
    assert page.locator("#matrix .name").first.get_attribute("title") is None
    full = {button.get_attribute("title") for button in page.locator("#matrix button.series").all()}
    assert set(LONG_NAMES) <= full
    assert seen.overprints() == []
    assert seen.overflow() <= 0
    assert seen.trouble == []


def test_long_names_fit_in_figures(visit: Open, long_named: Path) -> None:
    figures = sorted((long_named.parent / "figures").glob("*.svg"))
    assert len(figures) > 10
    for figure in figures:
        page = visit(figure).page
        boxes = page.evaluate(
            """() => [...document.querySelectorAll("text")].map((node) => {
              const box = node.getBoundingClientRect();
              return [box.left, box.top, box.right, box.bottom, node.textContent];
            })"""
        )
        width, height = (
            page.evaluate(f"document.documentElement.{side}.baseVal.value") for side in ("width", "height")
        )
        assert overprinted(boxes) == [], figure.name
        assert all(box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height for box in boxes), figure.name
