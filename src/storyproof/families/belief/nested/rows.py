"""What rows about nested beliefs should say, derived from their text by the oracle and confirmed by the checker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from storyproof.errors import ParseError, UnknownNameError
from storyproof.families.belief.arrays import LocalNames
from storyproof.families.belief.derivation import RowProblem
from storyproof.families.belief.nested.answers import reply
from storyproof.families.belief.nested.arrays import encode_plots
from storyproof.families.belief.nested.batches import QuestionBatch
from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.reading import PlotText, read_question, read_story
from storyproof.families.belief.nested.readings import COMPARED, NESTED_DEFAULT, NestedReading, parse_reading
from storyproof.families.belief.nested.wording import PlotWording
from storyproof.families.belief.nested.world import MESSAGES, EventKind, PlotEvent, cast_of

READINGS = tuple(map(str, COMPARED))  # that rows are compared under
READABLE, POSSIBLE = "a text that can be read", "a story that can happen"
MOST_BELIEVERS = 6  # agents of a story up to which all sets of them are candidates
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_PLACES = (Ask.BELIEF, Ask.SAYS, Ask.COMMON)  # questions about beliefs that a place answers
_MARKS = ((EventKind.PEEK, "peeks"), (EventKind.DISTRACT, "distractions"))
_AT_ONCE = 512  # stories that are proved together


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row to be proved.

    Attributes:
        story: Its text.
        question: What it asks.
        reading: The reading that it is judged under: the first of its own, else the default.
        keeps_unknown: Whether "unknown" is among its candidates.
    """

    story: str
    question: str
    reading: NestedReading = NESTED_DEFAULT
    keeps_unknown: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> AskedRow:
        """Return what a row asks, and how it wants to be judged."""
        candidates, answer = row.get("candidates") or (), row.get("answer")
        return cls(row["story"], row["question"], reading_of(row.get("readings")), _says_unknown((*candidates, answer)))


@lru_cache(maxsize=64)
def _unknown_words() -> frozenset[str]:
    from storyproof.families.belief.nested.wording import LANGUAGES, find_wording

    return frozenset(find_wording(language).answer(None) for language in LANGUAGES)


def _says_unknown(answers: Sequence[str | None]) -> bool:
    return not _unknown_words().isdisjoint(answers)


def reading_of(names: Sequence[str] | None) -> NestedReading:
    """Return the reading that a row is judged under: the first that it names, if that is a reading of such stories."""
    if not names:
        return NESTED_DEFAULT
    try:
        return parse_reading(str(names[0]))
    except UnknownNameError:
        return NESTED_DEFAULT


def places_of(events: Sequence[PlotEvent], thing: str) -> list[str]:
    """Return the containers in which an object is put or said to be, in the order of the story."""
    found = (event.container for event in events if event.thing == thing and event.container is not None)
    return list(dict.fromkeys(found))


def candidates_of(
    events: Sequence[PlotEvent], question: NestedQuestion, wording: PlotWording, *, unknown: bool = False
) -> list[str]:
    """Return the possible answers to a question, sorted.

    Args:
        events: The story.
        question: The question.
        wording: The words of the answers.
        unknown: Whether "unknown" is a possible answer where a belief is asked for.
    """
    replies: list[Reply]
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG):
        replies = ["no", "yes"]
    elif question.ask == Ask.BELIEVERS:
        cast = sorted(cast_of(events))
        replies = [chosen for size in range(len(cast) + 1) for chosen in combinations(cast, size)]
    else:
        replies = [*places_of(events, question.thing)]
        if unknown and question.ask in _PLACES:
            replies.append(None)
    return sorted(map(wording.answer, replies))


def kind_of(question: NestedQuestion) -> str:
    """Return what a question asks, such as `third_order`, `knows_wrong` or `common`."""
    if question.ask != Ask.BELIEF:
        return question.ask.replace("-", "_")
    return f"{_ORDINALS[question.order - 1]}_order" if question.order <= len(_ORDINALS) else f"order_{question.order}"


def story_type(events: Sequence[PlotEvent]) -> str:
    """Return what a story has beyond people who come, go and move things: `plain`, or such as `messages+lies`."""
    found = ["messages"] if any(event.kind in MESSAGES and not event.lie for event in events) else []
    found += ["lies"] if any(event.lie for event in events) else []
    found += [name for kind, name in _MARKS if any(event.kind == kind for event in events)]
    return "+".join(found) or "plain"


@dataclass(frozen=True, slots=True)
class NestedProofs:
    """What rows should say.

    Attributes:
        labels: The label columns of each row; None where the row cannot be read.
        by_reading: The answer under each of READINGS, in words.
        problems: What is wrong with the text or question of a row, and where oracle and checker differ.
    """

    labels: list[dict[str, Any] | None]
    by_reading: list[dict[str, str]]
    problems: list[RowProblem]


def prove_rows(rows: Sequence[AskedRow], *, check: bool = True) -> NestedProofs:
    """Derive what rows should say.

    Args:
        rows: The rows; those of one story side by side.
        check: Whether to ask the checker as well as the oracle.
    """
    found = NestedProofs([None] * len(rows), [{} for _ in rows], [])
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.story, []).append(place)
    stories = list(places)
    for start in range(0, len(stories), _AT_ONCE):
        _prove_stories({story: places[story] for story in stories[start : start + _AT_ONCE]}, rows, found, check=check)
    found.problems.sort(key=lambda problem: problem.row)
    return found


def _prove_stories(
    places: Mapping[str, Sequence[int]], rows: Sequence[AskedRow], found: NestedProofs, *, check: bool
) -> None:
    texts: list[PlotText] = []
    story_of: list[int] = []
    asked: list[tuple[int, NestedQuestion]] = []
    for story, numbers in places.items():
        try:
            text = read_story(story)
        except ParseError as error:
            found.problems.append(RowProblem(numbers[0], "story", str(error).rstrip("."), READABLE))
            continue
        for sentence, what in text.problems:
            found.problems.append(RowProblem(numbers[0], "story", f"sentence {sentence}: {what}", POSSIBLE))
        for number in numbers:
            question = _read(rows[number].question, text, number, found.problems)
            if question is not None:
                asked.append((number, question))
                story_of.append(len(texts))
        texts.append(text)
    if asked:
        _label(texts, story_of, asked, rows, found, check=check)


def _read(question: str, text: PlotText, row: int, problems: list[RowProblem]) -> NestedQuestion | None:
    """Read a question about a story; note a problem and return None if that is not possible."""
    try:
        asked = read_question(question)
    except ParseError as error:
        problems.append(RowProblem(row, "question", str(error).rstrip("."), READABLE))
        return None
    if not places_of(text.events, asked.thing):
        problems.append(RowProblem(row, "question", f"the {asked.thing} is nowhere in the story", "an object of it"))
        return None
    return asked


def _label(
    texts: Sequence[PlotText],
    story_of: Sequence[int],
    asked: Sequence[tuple[int, NestedQuestion]],
    rows: Sequence[AskedRow],
    found: NestedProofs,
    *,
    check: bool,
) -> None:
    questions = [
        PlotQuestion(story, question, rows[number].reading, rows[number].keeps_unknown)
        for story, (number, question) in zip(story_of, asked, strict=True)
    ]
    labelled = label_questions([(text.events, text.wording) for text in texts], questions, check=check)
    for (number, _), labels, by_reading in zip(asked, labelled.labels, labelled.by_reading, strict=True):
        found.labels[number], found.by_reading[number] = labels, by_reading
    found.problems.extend(replace(problem, row=asked[problem.row][0]) for problem in labelled.problems)


class PlotQuestion(NamedTuple):
    """A question about one of several stories.

    Attributes:
        story: The number of the story.
        question: What is asked.
        reading: The reading that decides.
        keeps_unknown: Whether "unknown" is a possible answer.
    """

    story: int
    question: NestedQuestion
    reading: NestedReading
    keeps_unknown: bool


def label_questions(
    stories: Sequence[tuple[Sequence[PlotEvent], PlotWording]], questions: Sequence[PlotQuestion], *, check: bool = True
) -> NestedProofs:
    """Return the labels of questions by the oracle, and where the checker differs.

    Args:
        stories: What happens, and the words for it.
        questions: What is asked; problems are numbered in their order.
        check: Whether to ask the checker.
    """
    arrays, names = encode_plots([events for events, _ in stories])
    story_of, asked = [each.story for each in questions], [each.question for each in questions]
    batch = QuestionBatch.of(arrays, names, story_of, asked)
    wanted = list(dict.fromkeys([*COMPARED, *(each.reading for each in questions)]))
    replies = {reading: _replies(batch, names, asked, reading) for reading in wanted}
    real = QuestionBatch.of(arrays, names, story_of, [NestedQuestion(Ask.REALITY, each.thing) for each in asked])
    really = _replies(real, names, [NestedQuestion(Ask.REALITY, each.thing) for each in asked], NESTED_DEFAULT)
    proofs = _proofs(batch, [each.reading for each in questions])
    labels: list[dict[str, Any] | None] = []
    by_reading = []
    types = [story_type(events) for events, _ in stories]
    for place, (story, question, own, unknown) in enumerate(questions):
        events, wording = stories[story]
        value = replies[own][place]
        is_false = question.ask in _PLACES and value is not None and value != really[place]
        mark = ("_tom" if is_false else "_no_tom") if question.ask in _PLACES else ""
        labels.append(
            {
                "answer": wording.answer(value),
                "candidates": candidates_of(events, question, wording, unknown=unknown),
                "question_type": kind_of(question) + mark,
                "order": question.order,
                "chain": list(question.chain),
                "story_type": types[story],
                "false_belief": is_false,
                "readings": holding(own, {reading: replies[reading][place] for reading in wanted}),
                "proof": proofs[place],
            }
        )
        by_reading.append({str(reading): wording.answer(replies[reading][place]) for reading in COMPARED})
    problems = list(_differences([events for events, _ in stories], questions, replies)) if check else []
    return NestedProofs(labels, by_reading, problems)


def _replies(
    batch: QuestionBatch, names: Sequence[LocalNames], asked: Sequence[NestedQuestion], reading: NestedReading
) -> list[Reply]:
    codes = zip(batch.answer(reading).tolist(), batch.story.tolist(), asked, strict=True)
    return [reply(code, names[story], question) for code, story, question in codes]


def holding(own: NestedReading, replies: Mapping[NestedReading, Reply]) -> list[str]:
    """Return the readings under which an answer holds: the row's own first, then those of READINGS."""
    others = [name for name in READINGS if replies[parse_reading(name)] == replies[own]]
    return [str(own), *(name for name in others if name != str(own))]


def _proofs(batch: QuestionBatch, readings: Sequence[NestedReading]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in readings]
    for reading in dict.fromkeys(readings):
        chosen = [place for place, each in enumerate(readings) if each == reading]
        flags = batch.pick(np.array(chosen, np.intp)).prove(reading)
        for column, place in enumerate(chosen):
            found[place] = (np.flatnonzero(flags[:, column]) + 1).tolist()
    return found


def _differences(
    stories: Sequence[Sequence[PlotEvent]],
    questions: Sequence[PlotQuestion],
    replies: Mapping[NestedReading, Sequence[Reply]],
) -> Iterator[RowProblem]:
    """Yield where the checker differs from the oracle."""
    by_story: dict[int, list[int]] = {}
    for place, each in enumerate(questions):
        by_story.setdefault(each.story, []).append(place)
    for story, places in by_story.items():
        is_silent = not any(event.kind in MESSAGES for event in stories[story])
        known: dict[str, MindWorlds] = {}
        for reading, found in replies.items():
            # Without messages trust does not matter, so one model serves all readings of the same sight.
            key = reading.sight if is_silent else str(reading)
            worlds = known.get(key) or known.setdefault(key, MindWorlds(stories[story], reading))
            for place in places:
                checked = worlds.answer(questions[place].question)
                if checked != found[place]:
                    what = f"answer under {reading} (oracle and checker)"
                    yield RowProblem(place, what, str(found[place]), str(checked))
