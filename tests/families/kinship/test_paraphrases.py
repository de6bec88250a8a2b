"""Paraphrases of kinship facts: tasks that can be, checks that find what is wrong, and a file that generate takes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.family import load_family
from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.placeholders import load_placeholders
from storyproof.families.kinship.placeholders.collection import missing
from storyproof.families.kinship.relations import Fact, predicate_of
from storyproof.families.paraphrasing import (
    MISSING_FACT,
    MISSING_PERSON,
    OTHER_FACT,
    REASONS,
    REMARKS,
    REVEALS_HIDDEN,
    UNCLEAR,
    WRONG_GENDER,
    Paraphrasing,
    WritingTask,
)
from tests.groups import try_examples

_found = load_family("kinship").paraphrasing()
assert _found is not None
ASKED: Paraphrasing = _found
TASKS = ASKED.tasks(400, 3)


def words_of(task: WritingTask) -> list[str]:
    return [fact.rsplit(" ", 1)[1].rstrip(".") for fact in task.facts]


def test_tasks_begin_with_every_single_fact() -> None:
    document = ASKED.collect([(task, " ".join(task.facts)) for task in TASKS[:30]]).document
    assert sum(len(by_gender) for by_gender in document.values()) == 30
    assert len({task.key for task in TASKS[:30]}) == 30
    assert {task.group for task in TASKS[:30]} == {"1 fact"}
    assert {task.group for task in TASKS[30:]} == {"2 facts", "3 facts"}
    assert ASKED.tasks(400, 3) == TASKS
    assert ASKED.tasks(50, 4) != TASKS[:50]


def test_the_hidden_fact_follows_and_nobody_has_two_fathers() -> None:
    for task in TASKS[30:]:
        genders = [each.rsplit(" ", 1)[1].rstrip(".") for each in task.genders]
        facts = [Fact(place, predicate_of(word), place + 1) for place, word in enumerate(words_of(task))]
        hidden = task.hidden.rsplit(" ", 1)[1].rstrip(".")
        assert status(genders, facts, Fact(0, predicate_of(hidden), len(facts))) == ENTAILED
        assert len(set(task.people)) == len(genders)


def test_tasks_survive_json() -> None:
    for task in TASKS[:40]:
        assert WritingTask.from_dict(json.loads(json.dumps(task.as_dict()))) == task


@try_examples(60)
@given(task=st.sampled_from(TASKS))
def test_the_facts_as_they_stand_pass(task: WritingTask) -> None:
    assert ASKED.check(task, " ".join(task.facts)) == []


@try_examples(60)
@given(task=st.sampled_from(TASKS[30:]))
def test_what_is_wrong_is_found(task: WritingTask) -> None:
    facts = " ".join(task.facts)
    assert (REVEALS_HIDDEN, task.hidden) in {each[:2] for each in ASKED.check(task, f"{facts} {task.hidden}")}
    left_out = ASKED.check(task, " ".join(task.facts[1:]))
    assert {MISSING_PERSON, MISSING_FACT} <= {each.kind for each in left_out}
    assert any(each.what == task.people[0] and not each.is_question for each in left_out)


def task_of(key: str) -> WritingTask:
    return next(task for task in ASKED.tasks(1_086, 1) if task.key == key)


def test_remarks() -> None:
    task = task_of("daughter-brother male-female-male")
    first, second, third = task.people
    for text, kind, is_question in (
        (f"{first} met his daughter {second}. {second} met her sister {third}.", WRONG_GENDER, False),
        (f"{first} hummed. {second} and {third} sang.", MISSING_FACT, True),
        (f"{' '.join(task.facts)} {first} never had a cousin.", UNCLEAR, True),
    ):
        found = ASKED.check(task, text)
        assert any((each.kind, each.is_question) == (kind, is_question) for each in found), (text, found)
        assert {each.kind for each in found} <= set(REMARKS)
        questions = [each.is_question for each in found]
        assert questions == sorted(questions)  # problems first


def test_a_fact_that_follows_on_the_way_is_not_given_either() -> None:
    task = task_of("daughter-brother-son male-female-male-male")
    text = f"{' '.join(task.facts)} {task.people[2]} is {task.people[0]}'s son."
    assert [each[:2] for each in ASKED.check(task, text)] == [
        (OTHER_FACT, f"{task.people[2]} is {task.people[0]}'s son.")
    ]


def test_examples_have_the_verdicts_that_they_claim() -> None:
    good, *bad = ASKED.examples()[:3]
    assert good.is_good
    assert not any(each.is_good for each in bad)
    for each in ASKED.examples():
        found = ASKED.check(each.task, each.text)
        assert (found == []) == each.is_good, each.text
        assert set(each.reasons) <= set(REASONS)
        assert bool(each.reasons) != each.is_good
        if "reveals-hidden" in each.reasons:
            assert any(remark.kind == REVEALS_HIDDEN and not remark.is_question for remark in found)


def test_fingerprints_ignore_names_and_case() -> None:
    one, other, *_ = (task for task in ASKED.tasks(1_200, 1) if task.key == "son male-male")
    texts = [f"{task.people[0]} saw  {task.people[1]}, who slept." for task in (one, other)]
    assert one.people != other.people
    assert ASKED.fingerprint(one, texts[0]) == ASKED.fingerprint(one, texts[0].replace("saw", "SAW"))
    assert ASKED.fingerprint(one, texts[0]) == ASKED.fingerprint(other, texts[1])
    assert ASKED.fingerprint(one, texts[0]) != ASKED.fingerprint(one, texts[0] + " Again.")


def test_collected_texts_are_placeholders(tmp_path: Path) -> None:
    pairs = [(task, " ".join(task.facts)) for task in TASKS[:60]]
    revealing = next(task for task in TASKS if task.hidden)
    collected = ASKED.collect([*pairs, (revealing, f"{' '.join(revealing.facts)} {revealing.hidden}")], fill="train")
    assert (collected.used, len(collected.left_out), collected.added) == (60, 1, 0)
    path = tmp_path / "placeholders.json"
    path.write_text(json.dumps(collected.document), "utf-8")
    found = load_placeholders(path)
    assert found.count == 60
    assert missing(found) == []
    filled = ASKED.collect(pairs[:3], fill="train")
    assert filled.used == 3
    assert filled.added > 27


def test_train_and_test_are_filled_with_different_texts(tmp_path: Path) -> None:
    sides = {}
    for side in ("train", "test"):
        path = tmp_path / f"{side}.json"
        path.write_text(json.dumps(ASKED.collect([], fill=side).document), "utf-8")
        sides[side] = load_placeholders(path)
        assert missing(sides[side]) == []
    for key, texts in sides["train"].templates.items():
        assert not set(texts) & set(sides["test"].templates[key])


def test_families_without_paraphrases() -> None:
    assert load_family("belief").paraphrasing() is None


@pytest.mark.parametrize("text", ["", " ", "\n", "😀", "<script>", "ENT_0_male ENT_1_female", "a" * 5000])
def test_any_text_gets_remarks(text: str) -> None:
    assert ASKED.check(TASKS[40], text)
