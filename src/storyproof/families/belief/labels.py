"""The labels of a question, from the oracle: answer, readings, proof, question type, story type."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from storyproof.families.belief import oracle
from storyproof.families.belief.arrays import NOBODY, Flags, Small
from storyproof.families.belief.oracle import View
from storyproof.families.belief.readings import DEFAULT, READINGS

Codes = npt.NDArray[np.uint8]

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

    story: npt.NDArray[np.intp]
    thing: Small
    chain: Small
    memory: Flags
    story_type: Codes
    labels: Labels

    def pick(self, rows: npt.NDArray[np.intp], story: npt.NDArray[np.intp]) -> Questions:
        """Return the questions in the given rows, as asked of the given stories."""
        return Questions(
            story,
            self.thing[rows],
            self.chain[:, rows],
            self.memory[rows],
            self.story_type[rows],
            Labels(*(np.take(getattr(self.labels, item.name), rows, axis=-1) for item in fields(Labels))),
        )


def label(seen: View, chain: Small, asks_memory: Flags, mover: Small) -> Labels:
    """Label one question per column.

    Args:
        seen: What the stories show of the object asked about.
        chain: [place in the chain, column], all NOBODY for memory and reality.
        asks_memory: Whether a question without a chain asks for memory.
        mover: Who is agent 0: the one who moves the object.
    """
    order = (chain != NOBODY).sum(axis=0, dtype=np.int8)
    is_belief = order > 0
    now, first = oracle.reality(seen), oracle.memory(seen)
    control = oracle.Belief(
        np.where(asks_memory, first.place, now.place), np.where(asks_memory, first.decided, now.decided)
    )
    believed = {reading: oracle.belief(seen, chain, reading) for reading in READINGS}
    by_reading = np.stack([np.where(is_belief, believed[reading].place, control.place) for reading in READINGS])
    place = by_reading[READINGS.index(DEFAULT)]
    proof = np.where(
        is_belief, oracle.belief_proof(seen, chain, believed[DEFAULT]), oracle.control_proof(seen, control)
    )
    false_belief = is_belief & (place != now.place)
    return Labels(
        place=place,
        holds=(by_reading == place) & (place != NOBODY),
        proof=proof,
        order=order,
        false_belief=false_belief,
        question_type=_question_type(order, chain[0] != mover, false_belief, asks_memory),
        by_reading=by_reading,
    )


def _question_type(order: Small, second_agent: Flags, tom: Flags, asks_memory: Flags) -> Codes:
    believing = 2 + 4 * (order - 1) + 2 * second_agent + tom
    return np.where(order > 0, believing, np.where(asks_memory, 0, 1)).astype(np.uint8)


def story_type(seen: View, mover: Small, other: Small) -> Codes:
    """Return the type of each story by the beliefs of the two queried agents, as indices into STORY_TYPES."""
    alone = [oracle.belief(seen, np.stack([agent]), DEFAULT).place for agent in (mover, other)]
    of_each_other = [oracle.belief(seen, np.stack(pair), DEFAULT).place for pair in ((other, mover), (mover, other))]
    real = oracle.reality(seen).place
    wrong = (alone[0] != real) | (alone[1] != real)
    misjudged = (of_each_other[0] != alone[0]) | (of_each_other[1] != alone[1])
    return np.where(wrong, 1, np.where(misjudged, 2, 0)).astype(np.uint8)
