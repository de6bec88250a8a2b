"""The pages of a study: whole studies played through the application, and everything that must not work."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from storyproof.errors import ConfigError, DataError
from storyproof.runtime.guard import LARGEST_REQUEST
from storyproof.study import admin, schema
from storyproof.study.admin import MOST_WRONG, MOST_WRONG_IN_ALL, TooManyAttemptsError, hash_password
from storyproof.study.admin import log_in as begin_session
from storyproof.study.app import create_app
from storyproof.study.design import LANGUAGES, MTURK, PROLIFIC
from storyproof.study.folder import Study, open_study
from storyproof.study.forms import seal_arrival
from storyproof.study.items import MAIN, find_paraphrasing
from storyproof.study.messages import load_texts, read_messages
from storyproof.study.participants import Arrival
from storyproof.study.text_checks import COPIES_EARLIER, COPIES_INSTRUCTIONS, check_story
from tests.study.browser import Browser, forms_of
from tests.study.crowd import opening
from tests.study.samples import LIMITED, UNLIMITED, Clock, make_study, solve_design

HOSTILE = "<script>alert(1)</script>'; DROP TABLE answer; --\" onload=x {0} %s \u202e"
PASSWORD = "correct horse battery"


def count(study: Study, table: Any, *where: Any) -> int:
    with study.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one())


def begin(study: Study, query: str = "", **how: Any) -> Browser:
    browser = Browser(create_app(study, **how))
    assert browser.open(f"/{query}").status == 200
    assert browser.submit(agree="yes").status == 200
    return browser


def right_answer(study: Study, browser: Browser) -> str:
    slot = int(browser.form.fields["slot"])
    with study.database.reading() as connection:
        target = connection.execute(select(schema.slot.c.target).where(schema.slot.c.id == slot)).scalar_one()
    return study.items[target].answer


def go_on(study: Study, browser: Browser) -> None:
    """Do one step, rightly."""
    kind = browser.form.action.rsplit("/", 1)[1]
    if kind == "answer":
        browser.submit(answer=right_answer(study, browser), browser_ms="1200")
        if "/feedback/" in browser.path:
            token = browser.path.split("/")[2]
            browser.open(f"/s/{token}")
    elif kind == "rate":
        browser.submit(difficulty="2")
    elif kind == "write":
        facts = re.findall(r'<li><span class="data">(.*?)</span>', browser.page.text)
        stated = [unescape(each) for each in facts if "&#x27;s" in each]
        task = next(
            item.writing_task() for item in study.items.of(MAIN) if set(item.writing_task().facts) <= set(stated)
        )
        browser.submit(text=opening(int(browser.form.fields["slot"])) + " ".join(task.facts))
        assert browser.page.status == 200, browser.page.text
    else:
        browser.submit(verdict="good")


def play(study: Study, browser: Browser) -> list[str]:
    titles: list[str] = []
    while forms_of(browser.page.text):
        assert len(titles) < 50
        titles.append(browser.title)
        go_on(study, browser)
    return titles


def test_a_whole_solve_study(study: Study) -> None:
    browser = begin(study)
    assert browser.title == "Practice"
    answer = right_answer(study, browser)
    browser.submit(answer=answer, browser_ms="900")
    assert "Right: the answer is" in browser.page.text
    assert 'class="deciding"' in browser.page.text
    assert "<svg" in browser.page.text
    browser.open(browser.path.partition("/feedback")[0])
    titles = play(study, browser)
    assert titles.count("Question") == 4  # three, and an attention check
    assert titles.count("How difficult was this question?") == 3
    assert browser.title == "Thank you"
    assert "1.50 USD" in browser.page.text
    assert count(study, schema.answer) == 5
    browser.open(browser.path)
    assert browser.title == "Thank you"


def test_a_whole_paraphrase_study(writing: Study) -> None:
    first = begin(writing)
    assert first.title == "Write a short story"
    assert "A good story" in first.page.text
    play(writing, first)
    assert first.title == "Thank you"
    second = begin(writing)
    titles = play(writing, second)
    assert titles[0] == "Write a short story"
    assert titles.count("Review a story") == 2  # one story of the first writer, and the attention check
    assert count(writing, schema.text) == 2


def test_feedback_shows_what_was_wrong(study: Study) -> None:
    browser = begin(study)
    answer = right_answer(study, browser)
    wrong = next(each for each in browser.form.choices["answer"] if each != answer)
    browser.submit(answer=wrong)
    assert f"The right answer is “{answer}”. Your answer was “{wrong}”." in browser.page.text


def test_a_story_is_checked_when_it_is_sent(writing: Study) -> None:
    browser = begin(writing)
    assert browser.submit(text="Too short.").status == 422
    assert "use at least 30 characters" in browser.page.text
    assert browser.submit(text="x" * 1_001).status == 422
    assert browser.submit(text="The weather was fine and nobody of them came to the beach.").status == 422
    assert "does not mention" in browser.page.text
    assert "Please change this" in browser.page.text
    assert count(writing, schema.text) == 0


def test_what_the_reader_does_not_understand_is_a_question(writing: Study) -> None:
    browser = begin(writing)
    with writing.database.reading() as connection:
        target = connection.execute(
            select(schema.slot.c.target).where(schema.slot.c.id == int(browser.form.fields["slot"]))
        ).scalar_one()
    task = writing.items[target].writing_task()
    text = f"{' '.join(task.facts)} {task.people[0]} never had a quiet cousin."
    assert browser.submit(text=text).status == 422
    assert "Please look at this again" in browser.page.text
    assert browser.submit(text=text, confirm="yes").status == 200
    assert count(writing, schema.text) == 1


def test_help_while_writing(writing: Study) -> None:
    browser = begin(writing)
    token, slot = browser.path.split("/")[2], int(browser.form.fields["slot"])
    found = Browser(create_app(writing))
    client = found._client
    body = {"slot": slot, "text": "Nobody at all came to the beach that day."}
    answer = client.post(f"/s/{token}/check", body)
    assert any("does not mention" in each for each in answer.json["problems"])
    assert client.post(f"/s/{token}/check", {"slot": 10**6, "text": "x"}).json == {"problems": [], "questions": []}
    assert client.post(f"/s/{token}/check", {"slot": slot}).status == 400
    assert client.post(f"/s/{token}/check", [1]).status == 400
    assert client.post("/s/nobody/check", body).status == 404


def test_copies_are_refused(writing: Study) -> None:
    first, second = begin(writing), begin(writing)
    play(writing, first)
    with writing.database.reading() as connection:
        text = connection.execute(select(schema.text.c.text)).scalar_one()
        item = writing.items[connection.execute(select(schema.text.c.item)).scalar_one()]
    assert [each.kind for each in check_story(writing, item, text)] == [COPIES_EARLIER]
    shown = find_paraphrasing("kinship").examples()[0].text
    assert [each.kind for each in check_story(writing, item, shown)] == [COPIES_INSTRUCTIONS]
    assert second.submit(text=shown).status == 422
    assert "repeats the instructions" in second.page.text


@pytest.mark.study
def test_a_bad_review_needs_a_reason(writing: Study) -> None:
    play(writing, begin(writing))
    browser = begin(writing)
    go_on(writing, browser)
    assert browser.title == "Review a story"
    assert browser.submit(verdict="bad").status == 422
    assert browser.submit(verdict="good", reason=["nonsense"]).status == 422
    assert browser.submit().status == 422
    assert browser.submit(verdict="bad", reason=["nonsense", "misses-fact"]).status == 200
    assert count(writing, schema.review) == 2


def test_a_second_click_changes_nothing(study: Study) -> None:
    browser = begin(study)
    form, answer = browser.form, right_answer(study, browser)
    for _ in range(3):
        assert browser.send(form.action, {**form.fields, "answer": answer}).status == 200
    assert count(study, schema.answer) == 1


def test_a_second_consent_leads_to_the_same_participant(study: Study) -> None:
    browser = Browser(create_app(study))
    browser.open("/")
    form = browser.form
    places = set()
    for _ in range(3):
        browser.send(form.action, {**form.fields, "agree": "yes"})
        places.add(browser.path)
    assert len(places) == 3  # links are random, and all of them go on
    assert len({browser.open(place).text.count("<form") for place in places}) == 1
    assert count(study, schema.participant) == 1


def test_without_consent_nothing_is_stored(study: Study) -> None:
    browser = Browser(create_app(study))
    browser.open("/")
    assert browser.submit().status == 400
    assert "tick the box" in browser.page.text
    assert count(study, schema.participant) == 0


def test_a_full_study(tmp_path: Path, data: Path, clock: Clock) -> None:
    design = solve_design(
        items=1, answers_per_item=1, tasks_per_participant=1, conditions=(UNLIMITED,), recruitment=PROLIFIC,
        completion_code="DONE1", screen_out_code="OUT1",
    )  # fmt: skip
    study = make_study(tmp_path, design, data=data, now=clock)
    first = begin(study, "?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x")
    play(study, first)
    assert "submissions/complete?cc=DONE1" in first.page.text
    second = Browser(create_app(study))
    second.open("/?PROLIFIC_PID=p2&STUDY_ID=s&SESSION_ID=y")
    second.submit(agree="yes")
    assert second.title == "The study is complete"
    assert "submissions/complete?cc=OUT1" in second.page.text
    study.close()


@pytest.fixture
def limited(tmp_path: Path, data: Path, clock: Clock) -> Iterator[Study]:
    found = make_study(tmp_path, solve_design(conditions=(LIMITED,), attention_checks=0), data=data, now=clock)
    yield found
    found.close()


def test_a_time_limit_is_announced_and_practised(limited: Study, clock: Clock) -> None:
    """The consent names it, practice shows it without an end, and its clock starts with a button, not with a link."""
    browser = Browser(create_app(limited))
    assert "You have 30 seconds for each question" in browser.open("/").text
    browser.submit(agree="yes")
    assert browser.title == "Practice"
    assert 'data-left-ms="30000"' in browser.page.text
    assert "data-over=" in browser.page.text
    clock.turn(100)
    browser.submit(answer=right_answer(limited, browser))
    assert "/feedback/" in browser.path  # practice has no end
    link = browser.path.partition("/feedback")[0]
    for _ in range(2):
        browser.open(link)
        assert browser.title == "Ready?"
        assert "You have 30 seconds for each" in browser.page.text
        clock.turn(100)  # nothing runs yet
    assert count(limited, schema.lease) == 0
    browser.submit()
    assert browser.title == "Question"
    assert 'data-left-ms="30000"' in browser.page.text
    assert "data-over=" not in browser.page.text
    clock.turn(10)
    browser.open(link)
    assert 'data-left-ms="20000"' in browser.page.text
    browser.submit(answer=right_answer(limited, browser))
    browser.submit(difficulty="1")
    assert browser.title == "Question"  # the next one comes at once
    browser.submit(answer=right_answer(limited, browser))
    clock.turn(3600)
    browser.submit(difficulty="1")
    assert browser.title == "Ready?"  # after a pause


def test_whose_time_is_over_is_told(limited: Study, clock: Clock) -> None:
    over = load_texts("en")("timed_out_note")
    for fields in ({}, {"answer": "chosen", "over": "1"}):
        browser = Browser(create_app(limited))
        browser.open("/")
        browser.submit(agree="yes")
        browser.submit(answer=right_answer(limited, browser))
        browser.open(browser.path.partition("/feedback")[0])
        browser.submit()
        assert over not in browser.page.text
        clock.turn(30)
        browser.submit(
            **{key: right_answer(limited, browser) if key == "answer" else each for key, each in fields.items()}
        )
        assert browser.title == "How difficult was this question?"
        assert over in browser.page.text


def test_the_limits_of_some_conditions(tmp_path: Path, data: Path, clock: Clock) -> None:
    """Nobody knows before the consent in which condition they will be."""
    study = make_study(tmp_path, solve_design(), data=data, now=clock)
    text = Browser(create_app(study)).open("/").text
    assert "may have a time limit (30 seconds)" in text
    study.close()


def test_places_of_people_who_left_return(tmp_path: Path, data: Path, clock: Clock) -> None:
    """Who leaves in practice keeps places for some minutes; until then others are told when to come back."""
    design = solve_design(conditions=(UNLIMITED,), items=4, answers_per_item=1, tasks_per_participant=4)
    study = make_study(tmp_path, design, data=data, now=clock)
    begin(study)
    second = begin(study)
    assert second.title == "All places are taken now"
    assert "Come back in about 10 min" in second.page.text
    study.set_password(hash_password(PASSWORD))
    cells = re.findall('<td class="number">(.*?)</td>', log_in(study).page.text.partition("<h2>Places")[2])
    assert cells[:5] == ["4", "0", "0", "4", "0"]  # in all, done, given out, reserved, free
    clock.turn(9 * 60)
    assert "about 1 min" in begin(study).page.text
    clock.turn(2 * 60)
    third = begin(study)
    assert third.title == "Practice"
    play(study, third)
    assert third.title == "Thank you"
    assert begin(study).title == "The study is complete"
    study.close()


def test_every_page_says_which_study_it_is(tmp_path: Path, data: Path, clock: Clock) -> None:
    design = solve_design(conditions=(UNLIMITED,), title="Who knows what?", institution="A laboratory")
    study = make_study(tmp_path, design, data=data, now=clock)
    browser = Browser(create_app(study))
    browser.open("/")
    while True:
        head = browser.page.text.partition("<main")[0]
        assert "Who knows what?" in head
        assert "A laboratory" in head
        assert "default readings" not in browser.page.text
        if "/feedback/" in browser.path:
            assert "<progress" in browser.page.text
            assert browser.page.text.count('<li class="deciding"><mark>') > 0
        if not forms_of(browser.page.text) and "/feedback/" not in browser.path:
            break
        if browser.title == "Before you begin":
            browser.submit(agree="yes")
        elif "/feedback/" in browser.path:
            browser.open(browser.path.partition("/feedback")[0])
        elif browser.form.action.endswith("/answer"):
            browser.submit(answer=right_answer(study, browser))
        else:
            assert 'class="choices scale"' in browser.page.text
            browser.submit(difficulty="2")
    assert browser.title == "Thank you"
    assert "data-copy=" in browser.page.text
    study.close()


def test_prolific(tmp_path: Path, data: Path, clock: Clock) -> None:
    design = solve_design(recruitment=PROLIFIC, completion_code="C0DE")
    study = make_study(tmp_path, design, data=data, now=clock)
    browser = Browser(create_app(study))
    for query in ("", "?PROLIFIC_PID=a", "?PROLIFIC_PID=<b>&STUDY_ID=s&SESSION_ID=x"):
        assert browser.open(f"/{query}").status == 400
    first = begin(study, "?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=x")
    go_on(study, first)
    again = begin(study, "?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=y")
    assert again.path != first.path.partition("/feedback")[0]
    assert again.open(first.path.partition("/feedback")[0]).status == 200
    assert count(study, schema.participant) == 1
    study.close()


def test_mechanical_turk(tmp_path: Path, data: Path, clock: Clock) -> None:
    study = make_study(tmp_path, solve_design(recruitment=MTURK), data=data, now=clock)
    browser = Browser(create_app(study))
    preview = browser.open("/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")
    assert "This is a preview" in preview.text
    assert forms_of(preview.text) == []
    assert "frame-ancestors https://*.mturk.com" in preview.headers["content-security-policy"]
    assert "x-frame-options" not in preview.headers
    ids = "?assignmentId=A1&hitId=h&workerId=w&turkSubmitTo="
    assert browser.open(f"/{ids}https://evil.example").status == 400
    first = begin(study, f"{ids}https://workersandbox.mturk.com")
    while forms_of(first.page.text)[:1] and first.title != "Thank you":
        go_on(study, first)
    form = first.form
    assert form.action == "https://workersandbox.mturk.com/mturk/externalSubmit"
    assert form.fields["assignmentId"] == "A1"
    assert "form-action https://www.mturk.com https://workersandbox" in first.page.headers["content-security-policy"]
    study.close()


# What must not work.


def test_other_peoples_links(study: Study) -> None:
    mine, other = begin(study), begin(study)
    token = other.path.split("/")[2]
    form = mine.form
    answer = right_answer(study, mine)
    assert mine.send(f"/s/{token}/answer", {**form.fields, "answer": answer}).status == 400  # not signed for them
    for guess in ("x", "..", "%00", "a" * 43, "é", token[:-1], token.upper()):
        assert mine.open(f"/s/{guess}").status == 404
    assert count(study, schema.answer) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"signature": ""},
        {"signature": "0" * 64},
        {"signature": "é"},
        {"slot": "999999"},
        {"slot": "-1"},
        {"slot": "1e3"},
        {"slot": "٣"},
        {"slot": ""},
        {"slot": "9" * 400},
        {"answer": HOSTILE},
        {"answer": ""},
        {"answer": ["son", "daughter"]},
        {"answer": "\x00"},
    ],
)
def test_forged_forms(study: Study, change: dict[str, Any]) -> None:
    browser = begin(study)
    fields = {**browser.form.fields, "answer": right_answer(study, browser), **change}
    assert browser.send(browser.form.action, fields).status == 400
    assert "nothing is lost" in browser.page.text
    assert count(study, schema.answer) == 0


def test_a_form_of_another_step_does_not_do(study: Study) -> None:
    browser = begin(study)
    action = browser.form.action.replace("answer", "rate")
    assert browser.send(action, {**browser.form.fields, "difficulty": "3"}).status == 400
    browser.open(action.removesuffix("/rate"))
    while not browser.form.action.endswith("rate"):
        go_on(study, browser)
    form = browser.form
    for value in ("0", "6", "3.0", "", HOSTILE, "５"):
        assert browser.send(form.action, {**form.fields, "difficulty": value}).status == 400


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe", b"a=%ff", b"=&=&", b"&" * 1000, b"a=1&" * 50, b"%", "ä=ö".encode(), b"slot=1&slot=2&signature=x"],
)
def test_broken_forms(study: Study, body: bytes) -> None:
    browser = begin(study)
    for path in (browser.form.action, "/consent", "/admin/login"):
        assert browser.send(path, body).status == 400


def test_forged_arrivals(study: Study) -> None:
    browser = Browser(create_app(study))
    browser.open("/")
    sealed = browser.form.fields["arrival"]
    other = seal_arrival("0" * 64, Arrival("nonce"))
    for value in ("", "x", sealed[:-1], other, HOSTILE, f"{sealed}.{sealed}"):
        assert browser.send("/consent", {"arrival": value, "agree": "yes"}).status == 400
    assert count(study, schema.participant) == 0


def test_pages_of_other_sites_cannot_send_forms(study: Study) -> None:
    browser = begin(study)
    fields = {**browser.form.fields, "answer": right_answer(study, browser)}
    action = browser.form.action
    assert browser.send(action, fields, origin="https://evil.example").status == 403
    assert browser.send(action, fields, **{"sec-fetch-site": "cross-site"}).status == 403
    assert browser.send(action, fields, host="evil.example").status == 421
    assert browser.send(action, b"{}", **{"content-type": "text/plain"}).status == 415
    assert browser.send(action, b"a=" + b"x" * LARGEST_REQUEST).status == 413
    assert count(study, schema.answer) == 0


@pytest.mark.study
def test_hostile_text_is_only_ever_text(writing: Study) -> None:
    """A story with a script in it is shown to a reviewer, and in the dashboard and exports, as it was written."""
    first = begin(writing)
    slot = int(first.form.fields["slot"])
    with writing.database.reading() as connection:
        target = connection.execute(select(schema.slot.c.target).where(schema.slot.c.id == slot)).scalar_one()
    task = writing.items[target].writing_task()
    text = f"{' '.join(task.facts)} {HOSTILE}"
    assert first.submit(text=text).status == 422
    assert "<script>alert" not in first.page.text
    assert first.submit(text=text, confirm="yes").status == 200
    assert count(writing, schema.text) == 1
    second = begin(writing)
    go_on(writing, second)
    shown = [second.page.text]
    while forms_of(second.page.text):
        go_on(writing, second)
        shown.append(second.page.text)
    assert any("&lt;script&gt;alert(1)&lt;/script&gt;" in page for page in shown)
    assert not any("<script>alert" in page for page in shown)
    with writing.database.reading() as connection:
        assert connection.execute(select(schema.text.c.text).where(schema.text.c.item == target)).scalar_one() == text


def test_every_page_has_a_strict_policy(study: Study) -> None:
    browser = begin(study)
    token = browser.path.split("/")[2]
    for path in ("/", f"/s/{token}", "/s/nobody", "/admin", "/nothing", f"/s/{token}/feedback/1", "/health"):
        headers = browser.open(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert " onclick=" not in browser.page.text
        assert " style=" not in browser.page.text


@pytest.mark.parametrize("error", [PoolTimeoutError(), OperationalError("", {}, Exception("gone"))])
def test_a_database_that_does_not_answer(study: Study, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Participants are told to try again, and do; nothing is lost."""
    browser = begin(study)
    form, answer = browser.form, right_answer(study, browser)

    def fail() -> None:
        raise error

    monkeypatch.setattr(study.database.engine, "connect", fail)
    assert browser.send(form.action, {**form.fields, "answer": answer}).status == 503
    assert "Try again in a moment" in browser.page.text
    monkeypatch.undo()
    assert browser.send(form.action, {**form.fields, "answer": answer}).status == 200
    assert count(study, schema.answer) == 1


# The dashboard.


def log_in(study: Study, password: str = PASSWORD, **how: Any) -> Browser:
    browser = Browser(create_app(study, **how))
    browser.open("/admin")
    browser.submit(password=password)
    return browser


def test_dashboard(study: Study) -> None:
    study.set_password(hash_password(PASSWORD))
    play(study, begin(study))
    browser = log_in(study)
    assert browser.page.status == 200
    assert "Accuracy and time" in browser.page.text
    assert "100.0%" in browser.page.text
    assert browser.page.headers["refresh"]
    assert browser.page.text.count('class="stat"') == 4
    assert "http://127.0.0.1/</a>" in browser.page.text
    assert "too few have come" in browser.page.text
    for _ in range(2):
        play(study, begin(study))
    browser.open("/admin")
    assert re.search(
        r"At this rate \(\d+\.\d an hour\) they will be in at \d{4}-\d\d-\d\d \d\d:\d\d UTC", browser.page.text
    )
    archive = browser.open("/admin/export.zip")
    assert archive.headers["content-type"] == "application/zip"
    browser.open("/admin")
    browser.submit()
    assert browser.title == "Log in"
    assert browser.open("/admin/export.zip").headers["content-type"].startswith("text/html")


def test_dashboard_of_stories(writing: Study) -> None:
    writing.set_password(hash_password(PASSWORD))
    for _ in range(3):
        play(writing, begin(writing))
    text = log_in(writing).page.text
    assert "acceptance rate" in text
    assert "kappa" in text


def test_wrong_passwords(study: Study, clock: Clock) -> None:
    study.set_password(hash_password(PASSWORD))
    for _ in range(MOST_WRONG):
        assert log_in(study, "wrong password").page.status == 403
    assert log_in(study).page.status == 429  # even the right one
    clock.turn(16 * 60)
    assert log_in(study).page.status == 200


def test_wrong_passwords_elsewhere_do_not_lock_the_owner_out(study: Study) -> None:
    study.set_password(hash_password(PASSWORD))
    owner = log_in(study)
    device = next(value for name, value in owner.cookies.items() if name.endswith("-device"))
    for number in range(MOST_WRONG_IN_ALL):
        assert admin.log_in(study, "wrong password", f"10.0.0.{number}") is None
    with pytest.raises(admin.TooManyAttemptsError):
        admin.log_in(study, PASSWORD, "10.0.1.1")
    for forged in (device[:-1], f"x{device}", "x.", ".", "x"):
        with pytest.raises(admin.TooManyAttemptsError):
            admin.log_in(study, PASSWORD, "10.0.1.1", forged)
    assert admin.log_in(study, PASSWORD, "10.0.1.1", device) is not None
    for _ in range(MOST_WRONG):  # a known browser has a limit of its own
        assert admin.log_in(study, "wrong password", "10.0.1.1", device) is None
    with pytest.raises(admin.TooManyAttemptsError):
        admin.log_in(study, PASSWORD, "10.0.1.1", device)
    assert admin.unlock(study) == MOST_WRONG_IN_ALL + MOST_WRONG
    assert admin.log_in(study, PASSWORD, "10.0.1.1") is not None
    study.set_password(hash_password("another password"))
    for number in range(MOST_WRONG_IN_ALL):
        admin.log_in(study, PASSWORD, f"10.0.0.{number}")
    with pytest.raises(admin.TooManyAttemptsError):
        admin.log_in(study, "another password", "10.0.1.1", device)  # which knew the old one


def test_right_passwords_do_not_count(study: Study) -> None:
    study.set_password(hash_password(PASSWORD))
    for _ in range(MOST_WRONG + 1):
        assert log_in(study).page.status == 200


def test_no_password_no_entry(study: Study) -> None:
    assert log_in(study, "").page.status == 403
    assert log_in(study, "anything").page.status == 403


def test_sessions_end(study: Study, clock: Clock) -> None:
    study.set_password(hash_password(PASSWORD))
    browser = log_in(study)
    clock.turn(13 * 3600)
    browser.open("/admin")
    assert browser.title == "Log in"
    browser = log_in(study)
    study.set_password(hash_password("another password"))
    browser.open("/admin")
    assert browser.title == "Log in"


def test_cookies(study: Study) -> None:
    study.set_password(hash_password(PASSWORD))
    browser = Browser(create_app(study, public_url="https://study.example.org"))
    browser.open("/admin")
    form = browser.form
    browser.submit(password=PASSWORD)
    assert form.action == "/admin/login"
    assert set(browser.cookies) == {"__Host-storyproof", "__Host-storyproof-device"}
    for part in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"):
        assert part in browser.set_cookie


def test_log_out_needs_its_key(study: Study) -> None:
    study.set_password(hash_password(PASSWORD))
    browser = log_in(study)
    assert browser.send("/admin/logout", {"form_key": "x"}).status == 400
    browser.open("/admin")
    assert browser.title == "Dashboard"


# Languages.


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_have_all_texts(language: str) -> None:
    english, other = load_texts("en"), load_texts(language)
    assert sorted(other.keys()) == sorted(english.keys())
    for key in list(english.keys()):
        assert re.findall(r"\{\w+\}", other.plain(key)) == re.findall(r"\{\w+\}", english.plain(key)), key


def test_another_language(tmp_path: Path, data: Path) -> None:
    study = make_study(tmp_path, solve_design(language="de"), data=data)
    browser = Browser(create_app(study))
    browser.open("/")
    assert browser.title == "Bevor Sie beginnen"
    assert '<html lang="de">' in browser.page.text
    study.close()


def test_rules_are_in_the_language_of_the_page_or_left_out(tmp_path: Path, data: Path) -> None:
    designs = {each: solve_design(name=each, language=each) for each in LANGUAGES}
    designs["none"] = solve_design(name="none", conventions=False)
    assert designs["none"].sha256 != solve_design(name="none").sha256
    assert type(designs["none"]).from_dict(designs["none"].as_dict()) == designs["none"]
    pages = {}
    for name, design in designs.items():
        study = make_study(tmp_path / name, design, data=data)
        pages[name] = begin(study).page.text
        study.close()
    assert "<details open" in pages["en"]
    assert "Different names are different people." in pages["en"]
    assert "Verschiedene Namen sind verschiedene Personen." in pages["de"]
    assert "<details" not in pages["none"]


FRENCH = {"consent_title": "Avant de commencer", "progress": "Étape {done} sur {total}"}


def test_messages_of_a_lab(tmp_path: Path, data: Path) -> None:
    """A study in a language that does not ship has all its texts from a file, which belongs to its design."""
    path = tmp_path / "fr.yaml"
    english = load_texts("en")
    texts = {key: english.plain(key) for key in list(english.keys())}
    path.write_text(json.dumps(texts | FRENCH | {"Different names are different people.": "D'autres noms"}), "utf-8")
    design = solve_design(language="fr", messages=read_messages(path, "fr"), practice=1)
    study = make_study(tmp_path, design, data=data)
    study.close()
    study = open_study(study.folder)
    browser = Browser(create_app(study))
    browser.open("/")
    assert browser.title == "Avant de commencer"
    assert '<html lang="fr">' in browser.page.text
    browser.submit(agree="yes")
    assert "Étape 1 sur 5" in browser.page.text
    assert "D&#x27;autres noms" in browser.page.text
    study.close()


def test_some_texts_of_a_lab(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"send: {json.dumps(HOSTILE.replace('{0}', ''))}\n", "utf-8")
    study = make_study(tmp_path, solve_design(language="de", messages=read_messages(path, "de")), data=data)
    browser = begin(study)
    assert "<script>alert" not in browser.page.text
    assert "alert(1)" in browser.page.text
    assert browser.title == "Übung"
    study.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sent: x", "the text 'sent' is unknown"),
        ("progress: none", r"\{done\}, \{total\} must stand in braces"),
        ("progress: '{done} {total} {more}'", "must stand in braces"),
        ("progress: '{done.real} {total}'", "must stand in braces"),
        ("progress: '{done!r} {total}'", "must stand in braces"),
        ("send: '{'", "nothing must stand in braces"),
        ("- send", "not a list of texts"),
        ("send: 1", "not a list of texts"),
        ("send: [", "not valid YAML"),
        ("send: Enviar", "lacks"),
    ],
)
def test_messages_that_cannot_be(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "es.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=message):
        read_messages(path, "es")
    with pytest.raises(DataError, match="cannot read"):
        read_messages(tmp_path / "nowhere.yaml", "es")
    with pytest.raises(ConfigError, match="unknown language 'es'"):
        solve_design(language="es")
    with pytest.raises(ConfigError, match="use a code such as"):
        solve_design(language="<es>", messages={"send": "x"})


def test_own_texts(tmp_path: Path, data: Path) -> None:
    design = replace(solve_design(), consent=f"First.\n\n{HOSTILE}", debriefing="All is told.")
    study = make_study(tmp_path, design, data=data)
    browser = Browser(create_app(study))
    browser.open("/")
    assert "<script>alert" not in browser.page.text
    assert "First." in browser.page.text
    study.close()


def test_wrong_passwords_from_many_addresses_are_limited_in_all(study: Study, clock: Clock) -> None:
    study.set_password(hash_password(PASSWORD))
    for number in range(MOST_WRONG_IN_ALL):
        assert begin_session(study, "wrong password", f"10.0.0.{number}") is None
    with pytest.raises(TooManyAttemptsError):
        begin_session(study, "wrong password", "10.0.1.1")
    clock.turn(16 * 60)
    assert begin_session(study, PASSWORD, "10.0.1.1") is not None
