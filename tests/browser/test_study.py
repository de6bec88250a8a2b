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

from storyproof.study import schema
from storyproof.study.admin import hash_password
from storyproof.study.design import MTURK, PROLIFIC, StudyCondition
from storyproof.study.folder import Study, open_study
from storyproof.study.items import MAIN
from storyproof.study.serve import serve_study
from tests.browser.conftest import TIMEOUT_MS, Open, Visit
from tests.study.samples import UNLIMITED, kinship_data, make_study, solve_design, writing_design

expect.set_options(timeout=TIMEOUT_MS)
Play = Callable[..., tuple[Study, str]]


@pytest.fixture
def serve(tmp_path: Path) -> Play:
    def start(design: Any) -> tuple[Study, str]:
        data = kinship_data(tmp_path) if design.kind == "solve" else None
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
        page.check(f'[name=answer][value="{study.items[target].answer}"]')
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
    assert seen.serious() == []
    begin(seen)
    for _ in range(3):
        assert seen.serious() == []
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


def test_time_runs_out(serve: Play, visit: Open) -> None:
    study, address = serve(
        solve_design(conditions=(StudyCondition(name="short", time_limit_s=2.0),), practice=0, attention_checks=0)
    )
    seen = visit(address)
    begin(seen)
    expect(seen.page.locator("[role=timer]")).to_contain_text("Time left")
    expect(seen.page.locator("h1")).to_have_text("How difficult was this question?")  # sent by itself
    with study.database.reading() as connection:
        [row] = connection.execute(select(schema.answer)).all()
    assert (row.is_timed_out, row.is_right) == (True, False)


def test_write_and_review(serve: Play, visit: Open) -> None:
    study, address = serve(writing_design())
    first = visit(address)
    begin(first)
    first.page.fill("[name=text]", "Nobody was at home, and the dog slept.")
    expect(first.page.locator(".problem")).to_contain_text("does not mention")
    assert first.serious() == []
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
    assert seen.serious() == []
    assert seen.trouble == []
    again = open_study(study.folder)
    again.close()
