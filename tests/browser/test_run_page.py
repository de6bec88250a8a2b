"""The page of a report in a real browser."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

import storyproof
from storyproof.benchmark import Benchmark
from storyproof.evaluation.runs import Evaluation
from storyproof.reports.report import report
from tests.browser.conftest import Open
from tests.reports.run_samples import HOSTILE, chat_name, data_folder, evaluate

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
    assert "rules answers" in seen.texts(".lead")[0]
    assert seen.texts("section > h2") == ["tomi test", "clutrr test", "All answers"]
    assert seen.page.locator("svg.chart").count() == 4  # average and joint, average, and the curve
    assert seen.page.locator("#list > li").count() == 50
    widths = [each.bounding_box() for each in seen.page.locator("svg.chart").all()]
    assert all(box is not None and box["width"] > 300 for box in widths)


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
    seen.page.locator("details > summary").first.click()
    assert seen.serious() == []
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
