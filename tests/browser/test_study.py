"""Studies in a real browser: several participants write, review and solve; pause, run out of time, and leave."""

import re
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

import storyproof
from storyproof.datasets.reading import find_source
from storyproof.evaluation.provenance import data_identity
from storyproof.study import schema
from storyproof.study.admin import hash_password
from storyproof.study.design import MTURK, PROLIFIC, StudyCondition
from storyproof.study.export import export_study
from storyproof.study.folder import Study, open_study
from storyproof.study.items import MAIN
from storyproof.study.messages import load_texts
from storyproof.study.results import read_rows
from storyproof.study.serve import serve_study
from tests.browser.conftest import TIMEOUT_MS, Open, Visit
from tests.study.samples import UNLIMITED, kinship_data, make_study, solve_design, writing_design
from tests.study.test_sets import believers

expect.set_options(timeout=TIMEOUT_MS)
Play = Callable[..., tuple[Study, str]]


@pytest.fixture
def serve(tmp_path: Path) -> Play:
    def start(design: Any, data: Path | None = None) -> tuple[Study, str]:
        if design.kind == "solve" and data is None:
            data = kinship_data(tmp_path)
        study = make_study(tmp_path, design, data=data)
        study.set_password(hash_password("a long password"))
        addresses: Queue[str] = Queue()
        how = {"port": 0, "ready": addresses.put}
        Thread(target=serve_study, args=[study.folder], kwargs=how, daemon=True).start()
        return study, addresses.get(timeout=120)

    return start


def begin(seen: Visit) -> None:
    seen.page.check("[name=agree]")
    with seen.page.expect_navigation():
        seen.page.click("button[type=submit]")


def go_on(study: Study, seen: Visit) -> bool:
    """Do one step; return whether there was one."""
    page = seen.page
    form = page.locator("form[data-step]")
    if not form.count():
        return False
    kind = form.get_attribute("data-step")
    slot = int(page.input_value("[name=slot]"))
    with study.database.reading() as connection:
        target = connection.execute(select(schema.slot.c.target).where(schema.slot.c.id == slot)).scalar_one()
    if kind == "answer":
        item = study.items[target]
        if item.parts:
            for each in item.parts[item.answer] or [item.answer]:
                page.check(f'[name=part][value="{each}"]')
        else:
            page.check(f'[name=answer][value="{item.answer}"]')
    elif kind == "rate":
        page.check("[name=difficulty][value='3']")
    elif kind == "write":
        facts = " ".join(study.items[target].writing_task().facts)
        page.fill("[name=text]", f"Lamp number {slot} was lit. {facts}")
        expect(page.locator(".remarks")).not_to_be_empty()
        if page.locator(".confirm").is_visible():
            page.check("[name=confirm]")
    else:
        page.check("[name=verdict][value=good]")
    with page.expect_navigation():
        page.click("button[type=submit]")
    if page.locator("#continue").count():
        with page.expect_navigation():
            page.click("#continue")
    return True


def test_solve_with_a_pause(serve: Play, visit: Open) -> None:
    study, address = serve(solve_design(conditions=(UNLIMITED,)))
    seen = visit(address)
    assert seen.findings() == []
    begin(seen)
    for _ in range(3):
        assert seen.findings() == []
        assert seen.overflow() == 0
        go_on(study, seen)
    link = re.search(r"http://\S+/s/\S+", seen.page.locator("footer").inner_text())
    assert link
    elsewhere = visit(link[0], width=390, height=800, scheme="dark")  # another device
    assert elsewhere.overflow() == 0
    while go_on(study, elsewhere):
        pass
    expect(elsewhere.page.locator("h1")).to_have_text("Thank you")
    seen.page.reload()
    expect(seen.page.locator("h1")).to_have_text("Thank you")
    with study.database.reading() as connection:
        rows = connection.execute(select(schema.answer)).all()
    assert len(rows) == 5
    assert all(row.timing == "ok" and row.browser_ms is not None for row in rows)
    assert seen.trouble == []


@pytest.mark.parametrize(
    ("language", "style", "pages"), [("en", "narrative", "en"), ("de", "plain", "de"), ("zh", "narrative", "en")]
)
def test_nested_beliefs(serve: Play, visit: Open, tmp_path: Path, language: str, style: str, pages: str) -> None:
    """Places, yes or no, and sets of people are answered on a desktop and on a phone; people stand beside models."""
    data = tmp_path / "tom-k"
    settings = {"language": language, "style": style, "unknown": True}
    storyproof.generate("tom-k", train=0, val=0, test=30, seed=3, out=data, **settings)
    wanted: dict[str, Any] = {"items": 10, "tasks_per_participant": 10, "answers_per_item": 2, "language": pages}
    wanted["source"] = {"path": str(data), "split": "test", "data": data_identity(find_source(data))}
    study, address = serve(solve_design(conditions=(UNLIMITED,), **wanted), data)
    kinds = {item.stratum for item in study.items.of(MAIN)}
    assert {"believers", "knows_where", "memory", "third_order"} <= kinds
    for width in (1280, 390):
        seen = visit(address, width=width, height=844)
        begin(seen)
        tested: set[str] = set()
        while (form := seen.page.locator("form[data-step]")).count():
            sort = "parts" if seen.page.locator("[name=part]").count() else form.get_attribute("data-step") or ""
            if sort not in tested:
                assert seen.findings() == []
                assert seen.overflow() == 0
                tested.add(sort)
            go_on(study, seen)
        assert tested == {"answer", "parts", "rate"}
        assert seen.trouble == []
    rows = read_rows(study)
    main = [row for row in rows.answers if row.role == MAIN]
    assert len(main) == 20
    assert all(row.is_right for row in rows.answers)
    export_study(study, tmp_path / "out")
    [people] = (tmp_path / "out" / "runs").glob("*.json")
    storyproof.evaluate("oracle", data, output_dir=tmp_path / "models")
    storyproof.evaluate("majority", data, output_dir=tmp_path / "models")
    [board] = storyproof.report([people, *(tmp_path / "models").glob("*.json")]).boards
    right = {row.solver: row.accuracy.value for row in board.rows}
    assert right["people-unlimited"] == right["oracle"] == 1.0
    assert right["majority"] < 1.0


def test_ticking_names(serve: Play, visit: Open) -> None:
    """The box for nobody stands alone, and a form without a tick is not sent."""
    wanted = {"items": 6, "tasks_per_participant": 6, "practice": 0, "attention_checks": 0}
    study, address = serve(solve_design(conditions=(UNLIMITED,), **wanted), believers())
    seen = visit(address)
    begin(seen)
    page = seen.page
    while not page.locator("[name=part]").count():
        go_on(study, seen)
    boxes, nobody = page.locator("[name=part]:not([data-alone])"), page.locator("[name=part][data-alone]")
    page.click("button[type=submit]")
    expect(boxes.first).to_have_js_property("validationMessage", load_texts("en").plain("parts_missing"))
    boxes.nth(0).check()
    boxes.nth(1).check()
    nobody.check()
    expect(boxes.nth(0)).not_to_be_checked()
    expect(boxes.nth(1)).not_to_be_checked()
    boxes.nth(1).check()
    expect(nobody).not_to_be_checked()
    with page.expect_navigation():
        page.click("button[type=submit]")
    last = read_rows(study).answers[-1]
    item = study.items[last.item]
    assert item.parts[last.answer] == [item.members[1]]
    # Without the script the server says what is missing.
    plain = visit(address, script=False)
    begin(plain)
    while not plain.page.locator("[name=part]").count():
        go_on(study, plain)
    with plain.page.expect_navigation():
        plain.page.click("button[type=submit]")
    expect(plain.page.locator(".notice")).to_have_text(load_texts("en").plain("parts_missing"))


def test_time_runs_out(serve: Play, visit: Open) -> None:
    study, address = serve(
        solve_design(conditions=(StudyCondition(name="short", time_limit_s=2.0),), practice=0, attention_checks=0)
    )
    seen = visit(address)
    begin(seen)
    expect(seen.page.locator("h1")).to_have_text("Ready?")
    with seen.page.expect_navigation():
        seen.page.click("button[type=submit]")
    expect(seen.page.locator("[role=timer]")).to_contain_text("Time left")
    expect(seen.page.locator(".clock.low")).to_be_visible()  # in its last quarter
    expect(seen.page.locator("h1")).to_have_text("How difficult was this question?")  # sent by itself
    expect(seen.page.locator(".notice")).to_have_text(load_texts("en").plain("timed_out_note"))
    with study.database.reading() as connection:
        [row] = connection.execute(select(schema.answer)).all()
    assert (row.is_timed_out, row.is_right) == (True, False)


def test_practice_has_a_clock_without_an_end(serve: Play, visit: Open) -> None:
    study, address = serve(solve_design(conditions=(StudyCondition(name="short", time_limit_s=1.0),)))
    seen = visit(address)
    begin(seen)
    expect(seen.page.locator("[role=timer]")).to_have_text(load_texts("en").plain("practice_over"))
    expect(seen.page.locator("h1")).to_have_text("Practice")
    assert seen.findings() == []
    go_on(study, seen)
    expect(seen.page.locator("h1")).to_have_text("Ready?")
    assert seen.findings() == []
    assert seen.trouble == []


@pytest.mark.parametrize("width", [390, 1280])
def test_ratings_are_alike_and_keys_choose(serve: Play, visit: Open, width: int) -> None:
    """Five cards of one size, in one row or one column; a click anywhere on one chooses it, and so do keys."""
    study, address = serve(solve_design(conditions=(UNLIMITED,), practice=0, attention_checks=0))
    seen = visit(address, width=width)
    begin(seen)
    page = seen.page
    assert page.locator("[name=answer]").count() > 9
    page.keyboard.press("2")  # of many relations, none is easier to choose than the others
    assert page.locator("[data-key]").count() == page.locator("[name=answer]:checked").count() == 0
    go_on(study, seen)
    assert page.locator("[data-key]").count() == 5
    boxes = [box for each in page.locator(".scale label").all() if (box := each.bounding_box())]
    assert len(boxes) == 5
    side = "y" if width == 1280 else "x"
    assert len({box[side] for box in boxes}) == 1
    assert max(box["width"] for box in boxes) - min(box["width"] for box in boxes) < 1
    assert all(box["height"] >= 44 for box in boxes)
    page.mouse.click(boxes[3]["x"] + boxes[3]["width"] - 6, boxes[3]["y"] + boxes[3]["height"] - 6)
    expect(page.locator("[name=difficulty]").nth(3)).to_be_checked()
    page.keyboard.press("5")
    expect(page.locator("[name=difficulty]").nth(4)).to_be_checked()
    assert page.locator("[data-copy]").get_attribute("data-copy") in page.locator("footer").inner_text()
    assert seen.overflow() == 0
    assert seen.trouble == []


def test_write_and_review(serve: Play, visit: Open) -> None:
    study, address = serve(writing_design())
    first = visit(address)
    begin(first)
    first.page.fill("[name=text]", "Nobody was at home, and the dog slept.")
    expect(first.page.locator(".problem")).to_contain_text("does not mention")
    assert first.findings() == []
    people = [first]
    for number in range(3):
        seen = people[number] if number < len(people) else visit(address)
        if number:
            begin(seen)
        while go_on(study, seen):
            pass
        expect(seen.page.locator("h1")).to_have_text("Thank you")
    with study.database.reading() as connection:
        reviews = connection.execute(select(schema.review).where(schema.review.c.role == MAIN)).all()
    assert len(reviews) >= 2
    assert first.trouble == []


def test_double_click(serve: Play, visit: Open) -> None:
    study, address = serve(solve_design(conditions=(UNLIMITED,)))
    seen = visit(address)
    begin(seen)
    seen.page.locator("[name=answer]").first.check()
    seen.page.dblclick("button[type=submit]", no_wait_after=True)
    expect(seen.page.locator("#continue")).to_be_visible()
    with study.database.reading() as connection:
        assert len(connection.execute(select(schema.answer)).all()) == 1


def test_prolific_and_back(serve: Play, visit: Open) -> None:
    study, address = serve(solve_design(recruitment=PROLIFIC, completion_code="C0DE", conditions=(UNLIMITED,)))
    seen = visit(f"{address}/?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x")
    begin(seen)
    while go_on(study, seen):
        pass
    leave = seen.page.locator("#leave")
    assert leave.get_attribute("href") == "https://app.prolific.com/submissions/complete?cc=C0DE"


def test_mechanical_turk_and_back(serve: Play, visit: Open) -> None:
    study, address = serve(solve_design(recruitment=MTURK, conditions=(UNLIMITED,)))
    ids = "assignmentId=A1&hitId=h&workerId=w&turkSubmitTo=https://workersandbox.mturk.com"
    seen = visit(f"{address}/?{ids}")
    begin(seen)
    while go_on(study, seen):
        pass
    sent: list[str] = []
    seen.page.route(
        "https://workersandbox.mturk.com/**",
        lambda route: (sent.append(route.request.post_data or ""), route.fulfill(body="taken")),
    )
    seen.page.click("#leave button")
    expect(seen.page.locator("body")).to_have_text("taken")
    assert "assignmentId=A1" in sent[0]


def test_dashboard(serve: Play, visit: Open) -> None:
    study, address = serve(solve_design(conditions=(UNLIMITED,)))
    person = visit(address)
    begin(person)
    while go_on(study, person):
        pass
    seen = visit(f"{address}/admin")
    seen.page.fill("[name=password]", "a long password")
    seen.page.click("button[type=submit]")
    expect(seen.page.locator("body")).to_contain_text("Accuracy and time")
    assert seen.findings() == []
    assert seen.trouble == []
    again = open_study(study.folder)
    again.close()
