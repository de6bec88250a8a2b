"""The home page of `serve`, and the pages that it leads to, in a real browser."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import expect

import storyproof
from storyproof.study.progress import address_shown
from tests.browser.conftest import TIMEOUT_MS, Open, Visit
from tests.browser.serving import start_server
from tests.reports.run_samples import HOSTILE, chat_name, data_folder, evaluate

READY = "html[data-ready]"
PLACES = {"Explore": "/explore", "Runs": "/runs", "Data": "/data", "Studies": "/studies", "Docs": "/docs"}
BUILDING_MS = 200_000  # for reports and audits, which are made in a process of their own
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    evaluate(data_folder(folder), "rules", "oracle", chat_name(), folder=folder / "runs")
    study = folder / "study"
    study.mkdir()
    (study / "design.json").write_text(json.dumps({"name": "kin", "title": HOSTILE}))
    (study / "items.jsonl").write_text("")
    return folder


@pytest.fixture(scope="module")
def address(data: Path) -> str:
    return start_server(data)


@pytest.fixture
def opened(visit: Open, address: str) -> Callable[..., Visit]:
    def open_page(path: str = "/", **how: Any) -> Visit:
        seen = visit(address.rstrip("/") + path, **how)
        if path not in ("/docs", "/nowhere"):
            seen.page.wait_for_selector(READY, state="attached")
        return seen

    return open_page


def test_everything_is_reached_by_the_keyboard_within_two_clicks(opened: Callable[..., Visit], address: str) -> None:
    seen = opened()
    reached = set()
    for name, path in PLACES.items():
        seen.page.goto(address)
        for _ in range(9):
            seen.page.keyboard.press("Tab")
            if seen.page.evaluate("document.activeElement.textContent") == name:
                break
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url(f"**{path}")
        assert seen.page.locator(".site-header [aria-current]").text_content() == name
        reached.add(path)
    for first, last in (("Runs", "Report"), ("Data", "Audit")):
        seen.page.goto(address)
        seen.page.click(f".site-header >> text={first}")
        seen.page.locator(f".tile .foot a:has-text('{last}')").first.press("Enter")
        seen.page.wait_for_url(f"**/{last.lower()}?**", timeout=BUILDING_MS)
        seen.page.click(".site-header .brand")
        seen.page.wait_for_url(address)
    assert reached == set(PLACES.values())
    assert seen.trouble == []


def test_cards_say_what_there_is(opened: Callable[..., Visit]) -> None:
    seen = opened()
    cards = seen.page.locator(".tile.run")
    expect(cards).to_have_count(3)
    oracle = cards.filter(has_text="oracle")
    expect(oracle).to_contain_text("100.0%")
    expect(oracle).to_contain_text("questions")
    expect(seen.page.locator("#data .tile")).to_contain_text("test: 144 questions")
    expect(seen.page.locator("#studies .tile")).to_contain_text("<img")  # a title is text
    assert seen.page.locator("main img, main script").count() == 0
    assert seen.trouble == []


def test_a_study_that_is_served_links_to_its_dashboard(opened: Callable[..., Visit], data: Path) -> None:
    served = "http://127.0.0.1:8643"
    with address_shown(data / "study", served):
        seen = opened("/studies")
        expect(seen.page.locator("#studies .tile a")).to_have_attribute("href", f"{served}/admin")
        assert seen.findings() == []
    seen = opened("/studies")
    expect(seen.page.locator("#studies .tile code")).to_contain_text("storyproof study serve study")


def test_chosen_runs_become_one_report(opened: Callable[..., Visit]) -> None:
    seen = opened("/runs")
    open_report = seen.page.locator("#runs .bar button.primary")
    expect(open_report).to_be_disabled()
    seen.page.click("text=Select all")
    expect(open_report).to_have_text("Open the report on 3 runs")
    open_report.click()
    seen.page.wait_for_url("**/report?**", timeout=BUILDING_MS)
    expect(seen.page.locator(".lead").first).to_contain_text("answers")


def test_an_audit_is_shown_on_its_card_afterwards(visit: Open, data: Path) -> None:
    seen = visit(f"{start_server(data)}data")
    expect(seen.page.locator("#data .tile").first).to_contain_text("not audited yet")
    seen.page.click("#data .tile a")
    seen.page.wait_for_url("**/audit?**", timeout=BUILDING_MS)
    expect(seen.page.locator(".lead").first).to_contain_text("Passed")
    seen.page.click(".site-header >> text=Data")
    expect(seen.page.locator("#data .tile").first).to_contain_text("✓ passed")
    expect(seen.page.locator("#data .tile").first).to_contain_text("100.0% understood")


def test_a_dropped_file_is_audited(opened: Callable[..., Visit], tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, out=tmp_path / "made", format="jsonl")
    seen = opened()
    seen.page.set_input_files("#file", tmp_path / "made" / "test.jsonl")
    seen.page.wait_for_url("**/audit?**", timeout=BUILDING_MS)
    expect(seen.page.locator("h1")).to_contain_text("test.jsonl")
    again = opened()
    (tmp_path / "notes.docx").write_text("nothing")
    again.page.set_input_files("#file", tmp_path / "notes.docx")
    expect(again.page.locator("#dropped")).to_contain_text("not a file of data by its name")


def test_a_wrong_address_gets_a_page(opened: Callable[..., Visit], address: str) -> None:
    seen = opened("/nowhere")
    expect(seen.page.locator("h1")).to_have_text("Nothing is here")
    seen.page.click("text=Go to the home page")
    seen.page.wait_for_url(address)


def test_an_empty_folder_says_what_to_do(visit: Open, tmp_path: Path) -> None:
    seen = visit(start_server(tmp_path))
    seen.page.wait_for_selector(READY, state="attached")
    assert [each for each in seen.texts(".empty") if "storyproof " in each] == seen.texts(".empty")
    assert len(seen.texts(".empty")) == 3
    assert seen.findings() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", ["/", *list(PLACES.values())[1:], "/nowhere"])
def test_accessible_in_every_size_and_colour(
    opened: Callable[..., Visit], path: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    seen = opened(path, width=width, scheme=scheme)
    assert seen.findings() == []
    assert seen.overflow() <= 0
