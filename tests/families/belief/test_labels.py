"""Label columns from arrays say what follows from the events of each story, one question at a time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from storyproof.families.belief.answers import oracle_answer, oracle_proof
from storyproof.families.belief.labels import LabelWords, _subsets
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.readings import ALL_READINGS, BeliefReading
from storyproof.families.belief.rows import PlotQuestion, candidates_of, kind_of, label_questions
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import MESSAGES, EventKind
from tests.families.belief.possible_worlds import MindWorlds
from tests.families.belief.test_answers import any_questions

PLACES = (Ask.BELIEF, Ask.SAYS, Ask.COMMON)


@cache
def replies_to(events: tuple[Any, ...], question: BeliefQuestion) -> dict[BeliefReading, Any]:
    """Return the answers under all readings, of one question after the other."""
    return {each: oracle_answer(events, question, each) for each in ALL_READINGS}


def expected(events: Any, asked: PlotQuestion, wording: Any) -> dict[str, Any]:
    """Return the labels of one question."""
    question, own = asked.question, asked.reading
    replies = replies_to(tuple(events), question)
    value, real = replies[own], MindWorlds(events, own).reality(question.thing)
    is_false = question.ask in PLACES and value is not None and value != real
    marks = {
        "messages": any(event.kind in MESSAGES and not event.lie for event in events),
        "lies": any(event.lie for event in events),
        "peeks": any(event.kind == EventKind.PEEK for event in events),
        "distractions": any(event.kind == EventKind.DISTRACT for event in events),
    }
    holds = [each for each in ALL_READINGS if each != own and replies[each] == value]
    return {
        "answer": wording.answer(value),
        "candidates": candidates_of(events, question, wording, unknown=asked.keeps_unknown),
        "question_type": kind_of(question) + (("_tom" if is_false else "_no_tom") if question.ask in PLACES else ""),
        "order": question.order,
        "chain": list(question.chain),
        "story_type": "+".join(name for name, found in marks.items() if found) or "plain",
        "false_belief": is_false,
        "readings": [str(own), *map(str, holds)],
        "proof": list(oracle_proof(events, question, own)),
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_labels_are_those_of_single_questions(language: str) -> None:
    stories, story, asked = any_questions(8, 14)
    told = [([each._replace(lie=number % 3 == 0) for each in plot], number) for number, plot in enumerate(stories)]  # type: ignore[attr-defined]
    wording = find_wording(language)
    plots = [
        ([event if event.kind in MESSAGES else event._replace(lie=False) for event in events], wording)
        for events, _ in told
    ]
    readings = BeliefReading(), BeliefReading("closed", "fresher")
    questions = [
        PlotQuestion(number, question, readings[place % 2], place % 3 == 0)
        for place, (number, question) in enumerate(zip(story, asked, strict=True))
    ]
    found = label_questions(plots, questions)
    assert found.problems == []
    for question, labels, by_reading in zip(questions, found.labels, found.by_reading, strict=True):
        events = plots[question.story][0]
        assert labels == expected(events, question, wording)
        assert by_reading == {
            str(each): wording.answer(reply) for each, reply in replies_to(tuple(events), question.question).items()
        }


def test_lists_of_names_that_begin_alike_are_sorted_as_texts() -> None:
    names = {"no": "no", "yes": "yes", "unknown": "unknown", "nobody": "nobody", "between": ", "}
    assert LabelWords(("Ann", "Anna", "Bo"), ("box",), **names).are_lists_sorted_by_name
    assert not LabelWords(("Ann", "Ann'a"), ("box",), **names).are_lists_sorted_by_name
    assert not LabelWords(("nobody1", "Bo"), ("box",), **names).are_lists_sorted_by_name


def test_sets_are_listed_in_alphabetical_order() -> None:
    members, place = _subsets(3)
    lists = [[each for each in row if each >= 0] for row in members.tolist()]
    assert lists == sorted(lists)
    assert [lists[place[mask]] for mask in (1, 6, 7)] == [[0], [1, 2], [0, 1, 2]]
    assert len(np.unique(place[1:])) == 7
