"""The explorer in a real browser."""

import json
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import storyproof
from tests.browser.conftest import TIMEOUT_MS, Open, Visit
from tests.reports.run_samples import HOSTILE, data_folder, evaluate
from tests.web.test_stories import FAMILY, QUESTION, STORY

READY = "html[data-ready]"
expect.set_options(timeout=TIMEOUT_MS)
PLACE: dict[str, Any] = {"benchmark": "tomi", "preset": "", "settings": {}, "split": "test", "place": 4, "number": 0}


def chat(prompt: str) -> str:
    return f"It is in the box. {HOSTILE}"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explorer")
    evaluate(data_folder(folder), "rules", "oracle", folder=folder / "runs")
    return folder


@pytest.fixture(scope="module")
def address(data: Path) -> str:
    addresses: Queue[str] = Queue()
    settings = {"port": 0, "seed": 7, "models": [f"{__name__}:chat"], "ready": addresses.put}
    Thread(target=storyproof.serve, args=[data], kwargs=settings, daemon=True).start()
    return addresses.get(timeout=120)


@pytest.fixture
def opened(visit: Open, address: str) -> Callable[..., Visit]:
    def open_page(place: dict[str, Any] | None = PLACE, **how: Any) -> Visit:
        found = visit(address, f"#{quote(json.dumps(place))}" if place else "", **how)
        found.page.wait_for_selector(READY, state="attached")
        expect(found.page.locator("#moment table, #moment figure").first).to_be_visible()
        return found

    return open_page


def write(seen: Visit, story: str, question: str, people: str = "") -> None:
    seen.page.select_option("#text [name=family]", "")
    for name, value in (("people", people), ("story", story), ("question", question)):
        seen.page.fill(f"#text [name={name}]", value)
    seen.page.click("#text button")


def test_opens_with_a_proved_story(opened: Callable[..., Visit]) -> None:
    seen = opened()
    expect(seen.page.locator("#answer dl")).to_contain_text("✓ confirms it")
    assert seen.page.locator("#pictures svg.wide").count() == 1
    assert seen.texts("#answer mark.data")  # deciding sentences
    assert seen.page.input_value("#text [name=story]").count("\n") > 3
    assert seen.trouble == []


def test_a_dial_makes_another_story(opened: Callable[..., Visit]) -> None:
    seen = opened()
    seen.page.select_option("#dials [name=benchmark]", "clutrr")
    expect(seen.page.locator("#answer")).to_contain_text("What is ")
    seen.page.click("#more-dials summary")
    seen.page.select_option("#dials [name=dial-text]", "synthetic")
    expect(seen.page.locator("#answer .story")).to_contain_text(" is the ")
    seen.page.fill("#dials [name=dial-test_k]", "99")
    seen.page.click("#dials button")
    expect(seen.page.locator("#state")).to_contain_text("use whole numbers from 2 to 15")
    assert [each for each in seen.trouble if "400" not in each] == []


def test_the_address_leads_back(opened: Callable[..., Visit], visit: Open) -> None:
    seen = opened(None)
    story = seen.page.input_value("#text [name=story]")
    again = visit(seen.page.url)
    again.page.wait_for_selector(READY, state="attached")
    assert again.page.input_value("#text [name=story]") == story


def test_steps_by_button_and_by_key(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(seen.page.locator("#sentence")).to_contain_text("7/7")
    moment = seen.page.locator("#moment")
    expect(moment).to_contain_text("Bo thinks Ada thinks")
    expect(moment.locator(".bad").first).to_have_text("≠ box")
    seen.page.click("#back")
    expect(seen.page.locator("#sentence")).to_contain_text("6/7")
    seen.page.locator("#back").press("ArrowLeft")
    expect(seen.page.locator("#sentence")).to_contain_text("5/7 Ada moved the key to the jar.")
    expect(moment.locator("tr.changed").first).to_contain_text("jar")
    seen.page.fill("#text [name=order]", "4")
    seen.page.locator("#text [name=order]").press("Tab")
    expect(moment).to_contain_text("Ada thinks Bo thinks Ada thinks Bo thinks")


def test_an_edit_is_read_and_a_mistake_is_marked(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(seen.page.locator("#answer .found")).to_have_text("box")
    seen.page.fill("#text [name=story]", STORY.replace("moved the key", "hid the key"))
    problem = seen.page.locator(".problem")
    expect(problem).to_contain_text("Line 5, column 5")
    expect(problem.locator("mark")).to_have_text("hid")
    problem.locator("button").click()
    chosen = seen.page.evaluate("""() => {
        const field = document.activeElement;
        return field.value.slice(field.selectionStart, field.selectionEnd);
    }""")
    assert chosen == "hid"
    seen.page.fill("#text [name=story]", STORY)
    expect(problem).to_have_count(0)
    expect(seen.page.locator("#answer .found")).to_have_text("box")
    assert seen.trouble == []


def test_questions_readings_and_worlds(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(seen.page.locator("#readings")).to_contain_text("The readings differ")
    seen.page.select_option("#text [name=choices]", label="Where is the key really?")
    expect(seen.page.locator("#answer .found")).to_have_text("jar")
    write(seen, FAMILY, "What is Dan to Ann?")
    expect(seen.page.locator("#answer .found")).to_have_text("no answer follows")
    expect(seen.page.locator("#models figure")).to_have_count(2)
    expect(seen.page.locator("#models-note")).to_contain_text("differ in the answer")


def test_models_are_asked_and_replies_are_text(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(seen.page.locator("#answer .found")).to_have_text("box")
    seen.page.select_option("#ask [name=model]", "oracle")
    seen.page.click("#ask button")
    expect(seen.page.locator(".reply").first).to_contain_text("✓ right: expected box")
    seen.page.select_option("#ask [name=model]", f"{__name__}:chat")
    seen.page.click("#ask button")
    expect(seen.page.locator(".reply").first).to_contain_text("<img src=x onerror=alert(2)>")
    assert seen.page.locator("#replies img, #replies script").count() == 0
    assert seen.trouble == []


@pytest.mark.parametrize(
    "text", [HOSTILE, "<img src=x onerror=alert(1)>", "\u202e\u0000\u001b[2J", "]]>--><svg onload=alert(1)>"]
)
def test_hostile_texts_are_text(opened: Callable[..., Visit], text: str) -> None:
    seen = opened()
    write(seen, f"{text}\n{STORY}", text, people=text)
    expect(seen.page.locator(".problem").first).to_be_visible()
    name = "<img/src=x/onerror=alert(1)>"
    write(seen, STORY.replace("Ada", name), QUESTION.replace("Ada", name))
    expect(seen.page.locator("#answer .found")).to_have_text("box")
    expect(seen.page.locator("#moment")).to_contain_text(name)
    assert seen.page.locator("main img, main script").count() == 0
    assert seen.trouble == []


def test_a_dataset_is_downloaded(opened: Callable[..., Visit], data: Path) -> None:
    seen = opened()
    seen.page.fill("#download [name=test]", "6")
    seen.page.click("#download button")
    link = seen.page.locator("#downloaded a")
    expect(link).to_be_visible()
    with seen.page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename.startswith("tomi-")
    assert list((data / "downloads").glob("tomi-*.zip"))


def test_runs_and_audits_open(opened: Callable[..., Visit]) -> None:
    seen = opened()
    for box in seen.page.locator("#files input").all():
        box.check()
    with seen.page.context.expect_page() as report:
        seen.page.click("#files button")
    expect(report.value.locator(".lead")).to_contain_text("rules answers")
    expect(report.value.locator("#count")).to_contain_text("questions")
    with seen.page.context.expect_page() as audit:
        seen.page.click("#files a")
    expect(audit.value.locator(".lead")).to_contain_text("Passed")


def test_keys(opened: Callable[..., Visit]) -> None:
    seen = opened()
    before = seen.page.url
    seen.page.locator("#back").press("n")
    seen.page.wait_for_url(lambda url: url != before)
    seen.page.locator("#text [name=question]").press("n")  # in a field it is a letter
    assert "n" in seen.page.input_value("#text [name=question]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_accessible_in_every_size_and_colour(
    opened: Callable[..., Visit], width: int, scheme: Literal["light", "dark"]
) -> None:
    seen = opened(width=width, scheme=scheme)
    assert seen.serious() == []
    assert seen.overflow() <= 0
    shown = "narrow" if width == 390 else "wide"
    expect(seen.page.locator(f"#pictures svg.{shown}").first).to_be_visible()
    write(seen, f"Ada sat.\n{STORY}\nAda exited the attic.", "Where is Ada?")
    expect(seen.page.locator(".problem").first).to_be_visible()
    assert seen.serious() == []
    write(seen, FAMILY, "What is Dan to Ann?")
    expect(seen.page.locator("#models figure")).to_have_count(2)
    assert seen.serious() == []
    assert seen.overflow() <= 0


def test_a_server_that_is_gone_is_noticed(opened: Callable[..., Visit]) -> None:
    seen = opened()
    seen.page.route("**/api/**", lambda route: route.abort())
    seen.page.click("#dials button")
    expect(seen.page.locator("#state")).to_contain_text("does not answer")
