"""The explorer in a real browser."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from storyproof.solvers.llm.options import ModelOptions
from tests.browser.conftest import TIMEOUT_MS, Open, Visit
from tests.browser.serving import start_server
from tests.reports.run_samples import HOSTILE
from tests.solvers.llm.serving import FakeServer
from tests.web.test_stories import FAMILY, QUESTION, STORY

READY = "html[data-ready]"
expect.set_options(timeout=TIMEOUT_MS)
PLACE: dict[str, Any] = {"benchmark": "tomi", "split": "test", "place": 4, "number": 0}
# Where the text of a node ends.
RIGHT_END = """each => {
  const range = document.createRange();
  range.selectNodeContents(each);
  return range.getBoundingClientRect().right;
}"""
STORIES = 50  # of which the picture must be whole on the first screen


def chat(prompt: str) -> str:
    return f"It is in the box. {HOSTILE}"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explorer")


@pytest.fixture(scope="module")
def address(data: Path) -> str:
    return f"{start_server(data, models=[f'{__name__}:chat'])}explore"


@pytest.fixture
def opened(visit: Open, address: str) -> Callable[..., Visit]:
    def open_page(place: dict[str, Any] | None = PLACE, **how: Any) -> Visit:
        found = visit(address, f"#{urlencode(place)}" if place else "", **how)
        found.page.wait_for_selector(READY, state="attached")
        expect(found.page.locator("#moment table, #moment figure").first).to_be_visible()
        return found

    return open_page


def write(seen: Visit, story: str, question: str, people: str = "") -> None:
    seen.page.click("#write-tab")
    for name, value in (("people", people), ("story", story), ("question", question)):
        seen.page.locator(f"#text [name={name}]").evaluate("(field, value) => { field.value = value; }", value)
    seen.page.locator("#text [name=question]").press("Control+Enter")


def answer(seen: Visit) -> Any:
    return seen.page.locator("#answer .found")


def test_opens_with_a_proved_story(opened: Callable[..., Visit]) -> None:
    seen = opened()
    expect(seen.page.locator("#answer")).to_contain_text("✓ proved and checked")
    assert seen.page.locator("#pictures svg.wide .band").count() > 0  # deciding sentences
    assert seen.page.input_value("#text [name=story]").count("\n") > 3
    assert seen.trouble == []


def test_the_picture_is_whole_on_the_first_screen(opened: Callable[..., Visit]) -> None:
    """At 1280 × 800, for every story: nothing below the fold, nothing to the right, and still legible."""
    seen = opened(height=800)
    for place in range(STORIES):
        about = PLACE | {"place": place}
        with seen.page.expect_response("**/api/steps"):
            seen.page.evaluate("hash => { location.hash = hash; }", urlencode(about))
        seen.page.wait_for_function("hash => location.hash.includes(hash)", arg=f"place={place}&")
        seen.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        box = seen.page.locator("#pictures svg.wide").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800, place
        assert box["x"] + box["width"] <= 1280, place
        natural = seen.page.locator("#pictures svg.wide").evaluate("each => each.viewBox.baseVal.width")
        assert box["width"] / natural >= 0.75, place
        hidden = seen.page.locator("#pictures .drawing").evaluate("each => each.scrollWidth - each.clientWidth")
        assert hidden <= 1, place
        title = seen.page.locator("#answer").bounding_box()
        assert title is not None
        assert title["y"] < box["y"]
    assert seen.overflow() <= 0


def test_a_dial_makes_another_story(opened: Callable[..., Visit]) -> None:
    seen = opened()
    seen.page.select_option("#dials [name=benchmark]", "clutrr")
    expect(seen.page.locator("#asked")).to_contain_text("What is")
    seen.page.select_option("[data-dial=text] select", "synthetic")
    expect(seen.page.locator("#sentence")).to_contain_text(" is the ")
    assert seen.page.locator("[data-dial=text].turned").count() == 1
    with seen.page.expect_response("**/api/steps"):  # of the story that the reset makes
        seen.page.locator("[data-dial=text] .reset").click()
    expect(seen.page.locator("[data-dial=text].turned")).to_have_count(0)
    before = answer(seen).text_content()
    seen.page.fill("[data-dial=test_k] input", "99")
    seen.page.click("#settings summary")  # folds the group
    seen.page.click("#dials button.primary")
    error = seen.page.locator("[data-dial=test_k] .error")
    expect(error).to_contain_text("use whole numbers from 2 to 15")
    assert "--" not in (error.text_content() or "")
    assert answer(seen).text_content() == before  # the last story stays
    assert [each for each in seen.trouble if "400" not in each] == []


def test_a_preset_fills_the_dials(opened: Callable[..., Visit]) -> None:
    seen = opened(PLACE | {"benchmark": "tom-k"})
    lies = seen.page.locator("[data-dial=lies] input")
    assert (lies.get_attribute("type"), lies.get_attribute("min"), lies.get_attribute("max")) == ("range", "0", "20")
    assert lies.input_value() == "1"
    seen.page.click("#settings summary >> text=Messages")
    seen.page.click("#presets >> text=extreme")
    expect(lies).to_be_visible()
    expect(lies).to_have_value("3")
    assert seen.page.locator("[data-dial=order] output").text_content() == "6"
    assert seen.page.locator(".dial.turned").count() == 0
    lies.press("ArrowRight")
    expect(seen.page.locator("[data-dial=lies].turned")).to_have_count(1)


def test_the_address_leads_back(opened: Callable[..., Visit], visit: Open) -> None:
    seen = opened(None)
    story = seen.page.input_value("#text [name=story]")
    again = visit(seen.page.url)
    again.page.wait_for_selector(READY, state="attached")
    assert again.page.input_value("#text [name=story]") == story
    write(seen, STORY, QUESTION)
    expect(answer(seen)).to_have_text("box")
    own = visit(seen.page.url)
    expect(answer(own)).to_have_text("box")


def test_steps_by_button_by_key_and_by_itself(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(seen.page.locator("#sentence")).to_contain_text("7 / 7")
    cells = seen.page.locator(".matrix tbody tr")
    expect(cells.nth(1).locator("td").nth(1)).to_have_text("✗ box")  # Bo thinks that Ada thinks
    seen.page.click("#back")
    expect(seen.page.locator("#sentence")).to_contain_text("6 / 7")
    seen.page.locator("#back").press("ArrowLeft")
    expect(seen.page.locator("#sentence")).to_contain_text("5 / 7  Ada moved the key to the jar.")
    expect(seen.page.locator(".matrix td.changed").first).to_contain_text("jar")
    picture = seen.page.locator("#pictures svg.wide")
    expect(picture.locator(".end")).to_have_css("opacity", "0")
    rows = (picture.get_attribute("data-rows") or "").split()
    assert f"{rows[5]}px" in (picture.locator(".told").evaluate("each => each.style.clipPath"))
    seen.page.click("#play")
    expect(seen.page.locator("#play")).to_have_attribute("aria-label", "Pause")
    expect(seen.page.locator("#sentence")).to_contain_text("7 / 7")
    expect(picture.locator(".end")).to_have_css("opacity", "1")
    expect(seen.page.locator("#play")).to_have_attribute("aria-label", "Play")


def test_beliefs_of_higher_order_are_a_matrix(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(answer(seen)).to_have_text("box")
    seen.page.locator("#orders label").nth(2).click()
    expect(seen.page.locator(".according")).to_contain_text("thinks that")
    seen.page.select_option(".according select", "Bo")
    expect(seen.page.locator(".matrix tbody tr").first.locator("td").nth(2)).to_have_text("box")


def test_a_question_is_a_sentence_to_complete(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, "Where will Ada look for the key?")
    expect(answer(seen)).to_have_text("jar")
    seen.page.select_option("#asked select >> nth=0", "Bo")
    expect(seen.page.locator("#text [name=question]")).to_have_value("Where will Bo look for the key?")
    seen.page.click("#asked >> text=+ mind")
    expect(seen.page.locator("#asked select")).to_have_count(3)
    expect(answer(seen)).to_have_text("box")
    seen.page.click("#asked >> text=− mind")
    expect(answer(seen)).to_have_text("jar")
    seen.page.select_option("#asked .kind", label="Ask where the key was at first")
    expect(answer(seen)).to_have_text("box")


def test_typing_never_destroys(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(answer(seen)).to_have_text("box")
    story = seen.page.locator("#story")
    story.focus()
    story.press("Control+End")
    seen.page.keyboard.type("\nBo ent")
    expect(seen.page.locator(".editor mark")).to_have_text("ent")
    expect(seen.page.locator("#stale")).to_be_visible()
    expect(answer(seen)).to_have_text("box")
    expect(seen.page.locator("#pictures svg.wide")).to_be_visible()
    seen.page.click("text=Use “entered”")
    assert seen.page.input_value("#story").endswith("\nBo entered")
    seen.page.fill("#story", STORY.replace("Bo exited", "Bo exitted"))
    seen.page.click("text=Use “exited”")
    expect(seen.page.locator("#stale")).to_be_hidden()
    expect(seen.page.locator(".editor mark")).to_have_count(0)
    assert seen.page.input_value("#story") == STORY
    seen.page.fill("#story", "")
    expect(seen.page.locator("#reading")).to_contain_text("Write a story")
    expect(answer(seen)).to_have_text("box")
    assert seen.page.locator(".problem").count() == 0
    assert seen.trouble == []


def test_samples_are_one_click_away(opened: Callable[..., Visit]) -> None:
    seen = opened()
    for title, expected in (("Sally and Anne", "basket"), ("A secret look", "oven"), ("A lie", "cabinet")):
        seen.page.click(f"#samples >> text={title}")
        expect(answer(seen)).to_have_text(expected)
    seen.page.click("#samples >> text=Two families fit")
    expect(answer(seen)).to_have_text("no answer follows")
    expect(seen.page.locator("#pictures svg .moved")).to_have_count(2)


def test_readings_and_worlds(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(seen.page.locator("#readings-note")).to_contain_text("The readings differ")
    expect(seen.page.locator("#readings .differs")).to_contain_text("jar")
    write(seen, FAMILY, "What is Dan to Ann?")
    expect(answer(seen)).to_have_text("no answer follows")
    expect(seen.page.locator("#pictures figure")).to_have_count(2)


def test_models_are_asked_and_replies_are_text(opened: Callable[..., Visit]) -> None:
    seen = opened()
    write(seen, STORY, QUESTION)
    expect(answer(seen)).to_have_text("box")
    seen.page.select_option("#ask [name=model]", "oracle")
    seen.page.click("#ask button")
    expect(seen.page.locator(".reply").first).to_contain_text("✓ right")
    seen.page.select_option("#ask [name=model]", "random")
    seen.page.select_option("#ask [name=model]", f"{__name__}:chat")
    seen.page.click("#ask button")
    expect(seen.page.locator(".reply").first).to_contain_text("<img src=x onerror=alert(2)>")
    assert seen.page.locator("#replies img, #replies script").count() == 0
    assert seen.trouble == []


def test_a_reply_grows_as_it_comes(data: Path, visit: Open) -> None:
    with FakeServer(reply="I think that it is in the box.", hold_after_words=3) as server:
        options = ModelOptions(base_urls=(server.url,), retries=0)
        seen = visit(f"{start_server(data, models=['openai/fake'], options=options)}explore", f"#{urlencode(PLACE)}")
        seen.page.wait_for_selector(READY, state="attached")
        seen.page.select_option("#ask [name=model]", "openai/fake")
        seen.page.click("#ask button")
        expect(seen.page.locator(".reply .growing")).to_have_text("I think that ")
        server.behave()
        expect(seen.page.locator(".reply .said")).to_have_text("I think that it is in the box.")
        expect(seen.page.locator(".reply .growing")).to_have_count(0)
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
    expect(answer(seen)).to_have_text("box")
    expect(seen.page.locator("#moment")).to_contain_text(name)
    assert seen.page.locator("main img, main script").count() == 0
    assert seen.trouble == []


def test_a_dataset_is_downloaded(opened: Callable[..., Visit], data: Path) -> None:
    seen = opened()
    seen.page.click("#download-details > summary")
    seen.page.fill("#download [name=test]", "6")
    with seen.page.expect_download() as download:
        seen.page.click("#download button")
    assert download.value.suggested_filename.startswith("tomi-")
    assert list((data / "downloads").glob("tomi-*.zip"))


def test_a_card_is_saved(opened: Callable[..., Visit]) -> None:
    """An image with the story, a wrong reply struck out, and the proved answer, wide enough to be read."""
    seen = opened()
    write(seen, STORY, "Where is the key really?")
    expect(answer(seen)).to_have_text("jar")
    heights = []
    for model in ("oracle", f"{__name__}:chat"):
        seen.page.select_option("#ask [name=model]", model)
        seen.page.click("#ask button")
        expect(seen.page.locator(".reply").first).to_contain_text("right" if model == "oracle" else "wrong")
        with seen.page.expect_download() as download:
            seen.page.click("text=Save as image")
        content = Path(download.value.path()).read_bytes()
        assert content.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", content[16:24])
        assert width == 2400
        heights.append(height)
    assert heights[1] > heights[0]  # by the line of the wrong reply
    assert seen.trouble == []


def test_a_family_story_plays(opened: Callable[..., Visit]) -> None:
    seen = opened({"benchmark": "clutrr", "split": "test", "place": 4, "number": 0})
    told = seen.page.locator("#told li")
    count = int(seen.page.get_attribute("#where", "max") or 0)
    expect(told).to_have_count(count)
    expect(seen.page.locator("#told .later")).to_have_count(0)
    expect(seen.page.locator(".matrix.kin .asked")).to_have_text(answer(seen).text_content())
    whole = seen.page.locator(".matrix.kin td:not(.same):has-text('')").count()
    people = seen.page.locator(".matrix.kin tbody tr").count()
    assert whole == people * (people - 1)
    told.nth(1).locator("button").click()
    expect(seen.page.locator("#told .later")).to_have_count(count - 2)
    expect(seen.page.locator("#told .now")).to_have_count(1)
    expect(seen.page.locator("#pictures")).to_be_hidden()
    expect(seen.page.locator("#meanwhile svg.wide")).to_be_visible()
    expect(seen.page.locator(".matrix.kin .asked")).to_have_text("?")
    seen.page.click("#play")
    expect(seen.page.locator("#told .later")).to_have_count(0)
    expect(seen.page.locator("#pictures")).to_be_visible()
    assert seen.trouble == []


def test_dials_are_grouped_by_subject(opened: Callable[..., Visit]) -> None:
    seen = opened({"benchmark": "tom-k", "split": "test", "place": 4, "number": 0})
    headings = seen.page.locator("#settings summary").all_text_contents()
    assert headings == ["Questions", "Plot", "Messages and secrets", "Wording"]
    order = seen.page.locator("[data-dial=order]")
    assert order.bounding_box()["height"] < 30  # type: ignore[index] # name, slider and value in one line
    order.locator("input").fill("2")
    expect(order.locator("output")).to_have_text("2")
    order.locator(".reset").click()
    expect(order.locator("output")).to_have_text("3")


def test_keys(opened: Callable[..., Visit]) -> None:
    seen = opened()
    before = seen.page.url
    seen.page.locator("#back").press("n")
    seen.page.wait_for_url(lambda url: url != before)
    seen.page.click("#write-tab")
    seen.page.locator("#text [name=question]").press("n")  # in a field it is a letter
    assert "n" in seen.page.input_value("#text [name=question]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1920, 1280, 390])
def test_accessible_in_every_size_and_colour(
    opened: Callable[..., Visit], width: int, scheme: Literal["light", "dark"]
) -> None:
    seen = opened(width=width, scheme=scheme)
    assert seen.findings() == []
    assert seen.overflow() <= 0
    shown = "narrow" if width == 390 else "wide"
    expect(seen.page.locator(f"#pictures svg.{shown}").first).to_be_visible()
    write(seen, f"Ada quagged.\n{STORY}\nAda exited the attic.", "Where is Ada?")
    expect(seen.page.locator(".problem").first).to_be_visible()
    assert seen.findings() == []
    write(seen, FAMILY, "What is Dan to Ann?")
    expect(seen.page.locator("#pictures figure")).to_have_count(2)
    assert seen.findings() == []
    assert seen.overflow() <= 0


@pytest.mark.parametrize("width", [1920, 1280, 390])
def test_no_text_covers_another(opened: Callable[..., Visit], width: int) -> None:
    """With the most people, the longest names of relations and all dials open."""
    for benchmark, preset in (("tom-k", "hard"), ("clutrr", "")):
        seen = opened(PLACE | {"benchmark": benchmark, "preset": preset, "place": 3}, width=width)
        seen.page.evaluate("document.querySelectorAll('#settings details').forEach((each) => { each.open = true; })")
        assert seen.overprints() == []
        assert seen.page.locator(".dial.turned").count() == 0
        for dial in seen.page.locator(".dial.number").all():
            text = dial.locator(".name > span").evaluate(RIGHT_END)
            slider = dial.locator("input").bounding_box()
            assert slider is not None
            assert text <= slider["x"]
        if width == 390:
            for target in seen.page.locator(".tools button, .chips button, #asked select, #asked button").all():
                box = target.bounding_box()
                assert box is None or box["height"] >= 36, target.text_content()
        assert seen.overflow() <= 0


def test_a_server_that_is_gone_is_noticed(opened: Callable[..., Visit]) -> None:
    seen = opened()
    seen.page.route("**/api/**", lambda route: route.abort())
    seen.page.click("#dials button.primary")
    expect(seen.page.locator("#state")).to_contain_text("does not answer")
