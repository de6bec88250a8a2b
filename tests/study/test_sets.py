"""Questions whose answer is a set of people: participants tick names instead of choosing among all sets."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from sqlalchemy import select

import storyproof
from storyproof.datasets.reading import find_source, iterate_examples
from storyproof.families.family import family_of
from storyproof.study import schema
from storyproof.study.app import create_app
from storyproof.study.folder import Study, open_study
from storyproof.study.items import ATTENTION, MAIN, StudyItem
from tests.study.browser import Browser
from tests.study.samples import LIMITED, UNLIMITED, Clock, make_study, solve_design

LANGUAGES = ("en", "de", "es", "zh")


@cache
def believers(language: str = "en", style: str = "plain") -> Path:
    """Return stories about each of which a question asks who believes something."""
    out = Path(mkdtemp(prefix="storyproof-believers-")) / "data"
    settings = {"order": 1, "questions": ("believers",), "language": language, "style": style}
    storyproof.generate("tom-k", train=0, val=0, test=12, seed=4, out=out, **settings)
    return out


def set_items(items: Any, role: str = MAIN) -> list[StudyItem]:
    return [item for item in items.of(role) if item.parts]


@pytest.fixture
def sets(tmp_path: Path, clock: Clock) -> Iterator[Study]:
    changes = {"items": 8, "tasks_per_participant": 8, "practice": 0, "attention_checks": 2, "answers_per_item": 1}
    study = make_study(tmp_path, solve_design(**changes, conditions=(UNLIMITED,)), data=believers(), now=clock)
    yield study
    study.close()


def current(study: Study, browser: Browser) -> StudyItem:
    slot = int(browser.form.fields["slot"])
    with study.database.reading() as connection:
        target = connection.execute(select(schema.slot.c.target).where(schema.slot.c.id == slot)).scalar_one()
    return study.items[target]


def go_to_a_set(study: Study, browser: Browser) -> StudyItem:
    """Answer questions until one asks for a set."""
    browser.open("/")
    browser.submit(agree="yes")
    while True:
        if browser.form.action.endswith("/rate"):
            browser.submit(difficulty="1")
            continue
        if browser.form.action.endswith("/start"):
            browser.submit()
            continue
        item = current(study, browser)
        if item.parts and item.role == MAIN:
            return item
        browser.submit(
            **({"part": list(item.parts[item.answer]) or item.answer} if item.parts else {"answer": item.answer})
        )


@pytest.mark.parametrize("language", ["en", *(pytest.param(each, marks=pytest.mark.study) for each in LANGUAGES[1:])])
def test_candidates_are_all_sets_of_the_people(language: str) -> None:
    for style in ("plain",) if language == "en" else ("plain", "narrative"):
        found = 0
        for each in iterate_examples(find_source(believers(language, style))):
            family = family_of(each)
            parts = family.answer_parts(each)
            if each.question_type != "believers":
                assert parts == {}
                continue
            found += 1
            assert set(parts) == set(family.candidates(each))
            assert len(set(map(frozenset, parts.values()))) == len(parts) == 2 ** len(family.people(each))
            assert {name for names in parts.values() for name in names} == set(family.people(each))
        assert found == 12


def test_names_are_ticked(sets: Study) -> None:
    browser = Browser(create_app(sets))
    item = go_to_a_set(sets, browser)
    people = sorted({name for names in item.parts.values() for name in names})
    assert browser.form.choices["part"] == item.members == [*people, "nobody"]
    assert "answer" not in browser.form.choices
    assert len(item.choices) == 2 ** len(people)
    slot = int(browser.form.fields["slot"])
    for wrong in ([], ["nobody", people[0]], ["nobody", *people]):
        page = browser.submit(part=wrong)
        assert page.status == 422
        assert "Tick at least one box" in page.text
        assert current(sets, browser) == item
    for forged in (["Mallory"], [people[0], "Mallory"], ["", people[0]]):
        form = browser.form
        assert browser.send(form.action, {**form.fields, "part": forged}).status == 400
        browser.open(form.action.rsplit("/", 1)[0])
    assert browser.submit(answer="Mallory").status == 400
    browser.open(form.action.rsplit("/", 1)[0])
    ticked = [*reversed(item.parts[item.answer])] or ["nobody"]
    assert browser.submit(part=ticked).status == 200
    with sets.database.reading() as connection:
        row = connection.execute(select(schema.answer).where(schema.answer.c.slot_id == slot)).one()
    assert (row.answer, row.is_right) == (item.answer, True)


def test_another_set_is_wrong(sets: Study) -> None:
    browser = Browser(create_app(sets))
    item = go_to_a_set(sets, browser)
    other = next(answer for answer in item.choices if answer != item.answer and len(item.parts[answer]) > 1)
    slot = int(browser.form.fields["slot"])
    browser.submit(part=list(item.parts[other]))
    with sets.database.reading() as connection:
        row = connection.execute(select(schema.answer).where(schema.answer.c.slot_id == slot)).one()
    assert (row.answer, row.is_right) == (other, False)


def test_attention_checks_ask_for_a_set(sets: Study) -> None:
    for item in set_items(sets.items, ATTENTION):
        assert item.answer in item.question
        assert item.compose(item.parts[item.answer] or [item.answer]) == item.answer


def test_nothing_ticked_when_time_is_over(tmp_path: Path, clock: Clock) -> None:
    changes = {"items": 8, "tasks_per_participant": 8, "practice": 0, "attention_checks": 0, "answers_per_item": 1}
    study = make_study(tmp_path, solve_design(**changes, conditions=(LIMITED,)), data=believers(), now=clock)
    browser = Browser(create_app(study))
    go_to_a_set(study, browser)
    slot = int(browser.form.fields["slot"])
    assert browser.submit().status == 422
    clock.turn(30)
    assert browser.submit().status == 200
    with study.database.reading() as connection:
        row = connection.execute(select(schema.answer).where(schema.answer.c.slot_id == slot)).one()
    assert (row.answer, row.is_timed_out, row.is_right) == ("", True, False)
    study.close()


def test_items_are_read_as_they_were_stored(sets: Study) -> None:
    plain = [json.loads(line) for line in (sets.folder / "items.jsonl").read_text("utf-8").splitlines()]
    assert any(each["parts"] for each in plain)
    again = open_study(sets.folder)
    assert again.items.sha256 == sets.items.sha256
    again.close()
