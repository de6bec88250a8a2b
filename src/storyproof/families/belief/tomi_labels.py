"""The labels of questions in ToMi's scheme: answer, readings, proof, question type, story type.

The provers answer; here is what rows say about the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ProofError
from storyproof.families.belief import provers
from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames, PlotArrays, Small, decode_plot, distinct_rows
from storyproof.families.belief.questions import ASKS, Ask, QuestionArrays, join_questions_by_story
from storyproof.families.belief.readings import DEFAULT, DEFAULT_READING, READINGS, BeliefReading
from storyproof.families.belief.world import EventKind

Codes = npt.NDArray[np.uint8]
Columns = npt.NDArray[np.intp]

STORY_TYPES = ("true_belief", "false_belief", "second_order_false_belief")
MOST_ORDER = 8
_ORDERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
QUESTION_TYPES = (
    "memory",
    "reality",
    *(
        f"{order}_order_{agent}_{tom}"
        for order in _ORDERS[:MOST_ORDER]
        for agent in (0, 1)
        for tom in ("no_tom", "tom")
    ),
)
_SIGHTS = tuple(BeliefReading(sight) for sight in READINGS)
_MEMORY, _REALITY, _BELIEF = (ASKS.index(ask) for ask in (Ask.MEMORY, Ask.REALITY, Ask.BELIEF))
_TYPED_BY = 5  # questions that tell the type of a story


@dataclass(frozen=True, slots=True)
class Labels:
    """The oracle's labels, one question per column.

    Attributes:
        place: The answer's local container number; NOBODY if there is none.
        holds: [reading, column], whether the answer holds under each of READINGS.
        proof: [time, column], the sentences it rests on.
        order: How many minds the question goes through.
        false_belief: Whether a belief differs from where the object really is.
        question_type: Index into QUESTION_TYPES.
        by_reading: [reading, column], the answer under each of READINGS.
    """

    place: Small
    holds: Flags
    proof: Flags
    order: Small
    false_belief: Flags
    question_type: Codes
    by_reading: Small

    def pick(self, rows: Columns) -> Labels:
        """Return the labels of some questions."""
        return Labels(*(np.take(getattr(self, item.name), rows, axis=-1) for item in fields(Labels)))


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions asked of a block of stories, in local numbers, with the oracle's labels.

    Attributes:
        story: Which story each is about.
        thing: The object asked about.
        chain: [place in the chain, question].
        memory: Whether a question without a chain asks for memory.
        story_type: Index into STORY_TYPES.
        labels: The oracle's labels.
    """

    story: Columns
    thing: Small
    chain: Small
    memory: Flags
    story_type: Codes
    labels: Labels

    def pick(self, rows: Columns, story: Columns) -> Questions:
        """Return the questions in the given rows, as asked of the given stories."""
        return Questions(
            story,
            self.thing[rows],
            self.chain[:, rows],
            self.memory[rows],
            self.story_type[rows],
            self.labels.pick(rows),
        )

    @property
    def arrays(self) -> QuestionArrays:
        """The questions as the provers take them."""
        return ask_plainly(self.story, self.thing, self.chain, self.memory)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question, by its place among those asked, on which oracle and checker differ."""

    question: int
    what: str
    oracle: str | None
    checker: str | None


def ask_plainly(story: Columns, thing: Small, chain: Small, memory: Flags) -> QuestionArrays:
    """Return questions about beliefs, and those without a chain about memory or reality."""
    control = np.where(memory, np.uint8(_MEMORY), np.uint8(_REALITY))
    ask = np.where(chain[0] == NOBODY, control, np.uint8(_BELIEF))
    return QuestionArrays(story, ask, thing, chain, np.full(len(story), NOBODY, np.int8))


def label(stories: PlotArrays, asked: QuestionArrays, mover: Small) -> Labels:
    """Label questions by the oracle.

    Args:
        stories: The stories.
        asked: The questions, all about memory, reality or beliefs.
        mover: Who is agent 0, for each question: the one who moves the object.
    """
    derived = provers.derive(stories, asked, DEFAULT_READING, _SIGHTS)
    by_reading = np.stack([derived.codes[reading].astype(np.int8) for reading in _SIGHTS])
    place = by_reading[READINGS.index(DEFAULT)]
    chain = asked.chain
    order = (chain != NOBODY).sum(axis=0, dtype=np.int8)
    false_belief = (order > 0) & (place != _reality(stories, asked))
    return Labels(
        place=place,
        holds=(by_reading == place) & (place != NOBODY),
        proof=derived.proofs,
        order=order,
        false_belief=false_belief,
        question_type=_question_type(order, chain[0] != mover, false_belief, asked.ask == _MEMORY),
        by_reading=by_reading,
    )


def _reality(stories: PlotArrays, asked: QuestionArrays) -> Small:
    """Return where the object of each question is at the end; NOBODY if nowhere."""
    puts = (stories.kind == EventKind.PLACE) | (stories.kind == EventKind.MOVE)
    about = puts[:, asked.story] & (stories.thing[:, asked.story] == asked.thing)
    times = np.arange(1, len(about) + 1, dtype=np.int16)[:, None]
    last = (about * times).max(axis=0, initial=0)
    place = stories.container[np.maximum(last, 1) - 1, asked.story]
    return np.where(last > 0, place, np.int8(NOBODY))


def _question_type(order: Small, second_agent: Flags, tom: Flags, asks_memory: Flags) -> Codes:
    believing = 2 + 4 * (order - 1) + 2 * second_agent + tom
    return np.where(order > 0, believing, np.where(asks_memory, 0, 1)).astype(np.uint8)


def _ask_for_type(story: Columns, thing: Small, mover: Small, other: Small) -> QuestionArrays:
    """Return the questions that tell the type of each story, side by side: four beliefs, and where the object is."""
    nobody, never = np.full_like(thing, NOBODY), np.zeros(len(thing), np.bool_)
    chains = ((mover, nobody), (other, nobody), (mover, other), (other, mover), (nobody, nobody))
    return join_questions_by_story([ask_plainly(story, thing, np.stack(chain), never) for chain in chains])


def beliefs_of_pair(
    stories: PlotArrays, story: Columns, thing: Small, mover: Small, other: Small
) -> npt.NDArray[np.int64]:
    """Return what two agents believe, and what they think that the other believes, and where the object is.

    Args:
        stories: The stories.
        story: Which of them is asked about.
        thing: The object.
        mover: The one who moves it.
        other: The other one.

    Returns:
        Places as [which, question]: the mover's belief, the other's, the mover's about the other's, the other's about
        the mover's, and reality; NOBODY for no belief.
    """
    questions = _ask_for_type(story, thing, mover, other)
    return provers.answer(stories, questions, DEFAULT_READING).reshape(-1, _TYPED_BY).T


def story_type(stories: PlotArrays, story: Columns, thing: Small, mover: Small, other: Small) -> Codes:
    """Return the types of stories, as indices into STORY_TYPES; the arguments are those of `beliefs_of_pair`."""
    return type_of_beliefs(beliefs_of_pair(stories, story, thing, mover, other))


def type_of_beliefs(believed: npt.NDArray[np.signedinteger[Any]]) -> Codes:
    """Return the types of stories by what `beliefs_of_pair` gives."""
    own, others, of_other, of_own, real = believed
    is_wrong, misjudges = (own != real) | (others != real), (of_other != others) | (of_own != own)
    return np.where(is_wrong, 1, np.where(misjudges, 2, 0)).astype(np.uint8)


def compare(stories: PlotArrays, questions: Questions, mover: Small, other: Small) -> Iterator[Disagreement]:
    """Yield where the checker differs from the oracle: on answers, and on the beliefs that story types follow from.

    Args:
        stories: The stories.
        questions: What is asked of them, and the oracle's answers.
        mover: Who moves the object, for each question; negative if unknown.
        other: The other queried agent; negative if unknown.
    """
    yield from compare_answers(stories, questions)
    yield from compare_types(stories, questions.story, questions.thing, mover, other)


def compare_answers(stories: PlotArrays, questions: Questions) -> Iterator[Disagreement]:
    """Yield where the checker differs from the oracle on answers; see `compare`."""
    codes: dict[BeliefReading, npt.NDArray[Any]] = dict(zip(_SIGHTS, questions.labels.by_reading, strict=True))
    yield from _differences(stories, questions.arrays, codes, "answer", 1)


def compare_types(
    stories: PlotArrays, story: Columns, thing: Small, mover: Small, other: Small
) -> Iterator[Disagreement]:
    """Yield where the checker differs from the oracle on the beliefs that story types follow from; see `compare`."""
    rows = np.flatnonzero((mover >= 0) & (other >= 0))
    first, which = distinct_rows(np.column_stack([each[rows] for each in (story, thing, mover, other)]))
    of = rows[first]  # questions about one story tell the same type
    typed = _ask_for_type(story[of], thing[of], mover[of], other[of])
    codes = {DEFAULT_READING: provers.answer(stories, typed, DEFAULT_READING)}
    differences = list(_differences(stories, typed, codes, "story type's belief", _TYPED_BY))
    for row, pair in zip(rows.tolist(), which.tolist(), strict=True) if differences else ():
        yield from (replace(each, question=row) for each in differences if each.question == pair)


def _differences(
    stories: PlotArrays, asked: QuestionArrays, codes: Mapping[BeliefReading, npt.NDArray[Any]], what: str, each: int
) -> Iterator[Disagreement]:
    derived = provers.DerivedCodes(codes, np.zeros((0, asked.count), np.bool_))
    for reading, places, checked in provers.differences(stories, asked, derived):
        for place, code in zip(places.tolist(), checked.tolist(), strict=True):
            said = int(codes[reading][place])
            yield Disagreement(place // each, f"{what} under {reading.sight}", *map(_place, (said, code)))


def _place(number: int) -> str | None:
    return None if number == NOBODY else f"c{number}"


def confirm(stories: PlotArrays, questions: Questions, mover: Small, other: Small) -> None:
    """Confirm by the checker every answer about a block; the arguments are those of `compare`.

    Raises:
        ProofError: If the two differ: nothing is generated that they do not agree on.
    """
    for difference in compare(stories, questions, mover, other):
        story = int(questions.story[difference.question])
        events = decode_plot(stories, story, LocalNames.generic(128))
        raise ProofError(
            f"oracle and checker differ on the {difference.what}: {difference.oracle} against {difference.checker}, "
            f"in {events}"
        )
