"""What can be asked of a story with messages. What the answer is, oracle and checker say, each on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError

# A container, None for "nowhere" or "unknown", "yes" or "no", or the names of some agents in alphabetical order.
Reply = str | tuple[str, ...] | None


class Ask(StrEnum):
    """The kinds of question."""

    REALITY = "reality"  # Where is the key really?
    MEMORY = "memory"  # Where was the key at the beginning?
    BELIEF = "belief"  # Where does Ada think that Bo … believes the key is?
    SAYS = "says"  # What would Ada say if asked where the key is? Agents say what they believe.
    KNOWS_WHERE = "knows-where"  # Does Ada know where the key is?
    KNOWS_WRONG = "knows-wrong"  # Does Ada know that Bo is wrong about where the key is?
    BELIEVERS = "believers"  # Who believes (or: thinks that Bo … believes) that the key is in the box? Bo not counted.
    COMMON = "common"  # Where do Ada, Bo and Cy commonly believe the key to be?


_LEAST = {Ask.BELIEF: 1, Ask.SAYS: 1, Ask.KNOWS_WHERE: 1, Ask.KNOWS_WRONG: 2, Ask.COMMON: 2}
_MOST = {Ask.REALITY: 0, Ask.MEMORY: 0, Ask.SAYS: 1, Ask.KNOWS_WHERE: 1, Ask.KNOWS_WRONG: 2}


@dataclass(frozen=True, slots=True)
class BeliefQuestion:
    """A question about one object.

    Attributes:
        ask: What is asked.
        thing: The object.
        chain: The agents, outermost first; the group of COMMON.
        place: The container that BELIEVERS asks about.
    """

    ask: Ask
    thing: str
    chain: tuple[str, ...] = ()
    place: str | None = None

    def __post_init__(self) -> None:
        count = len(self.chain)
        least, most = _LEAST.get(self.ask, 0), _MOST.get(self.ask, count)
        if not least <= count <= most:
            expected = str(least) if least == _MOST.get(self.ask) else f"at least {least}"
            raise DataError(f"a question of kind '{self.ask}' names {expected} agents, not {count}.")
        if (self.ask == Ask.BELIEVERS) != (self.place is not None):
            raise DataError(f"a question of kind '{Ask.BELIEVERS}', and no other, names a container.")

    @property
    def order(self) -> int:
        """The number of minds in the question: the agents of the chain or group, and who believes it (BELIEVERS)."""
        if self.ask == Ask.COMMON:
            return len(set(self.chain))
        return len(self.chain) + (self.ask == Ask.BELIEVERS)


ASKS = tuple(Ask)
MISSING = 127  # the number of an object or container that is not in the story


@dataclass(frozen=True, slots=True)
class QuestionArrays:
    """Many questions about many stories, as arrays of the stories' local numbers, one column per question.

    Answers to them are codes: the number of a container, -1 for nowhere or unknown; 0 or 1 for no or yes; or the bit
    mask of a set of agents.

    Attributes:
        story: The column of the story.
        ask: What is asked, as an index into ASKS.
        thing: The object, or MISSING.
        chain: The agents, outermost first, or the group of COMMON, [place in the chain, question]; shorter chains end
            in -1, and who is not in the story has the number -2.
        place: The container that BELIEVERS asks about, or MISSING; -1 for other questions.
    """

    story: npt.NDArray[np.intp]
    ask: npt.NDArray[np.uint8]
    thing: npt.NDArray[np.int8]
    chain: npt.NDArray[np.int8]
    place: npt.NDArray[np.int8]

    @classmethod
    def of_beliefs(
        cls, thing: npt.NDArray[np.int8], chain: npt.NDArray[np.int8], story: npt.NDArray[np.intp] | None = None
    ) -> QuestionArrays:
        """Return questions about beliefs.

        Args:
            thing: The object of each.
            chain: The agents, [place in the chain, question].
            story: The story of each; one for each story if None.
        """
        ask = np.full(len(thing), ASKS.index(Ask.BELIEF), np.uint8)
        return cls(
            np.arange(len(thing)) if story is None else story, ask, thing, chain, np.full(len(thing), -1, np.int8)
        )

    @property
    def count(self) -> int:
        """The number of questions."""
        return len(self.story)

    def pick(self, questions: npt.NDArray[np.intp]) -> QuestionArrays:
        """Return some of the questions, in that order."""
        return QuestionArrays(*(getattr(self, item.name).take(questions, axis=-1) for item in fields(self)))

    def between(self, start: int, end: int) -> QuestionArrays:
        """Return the questions from one number up to another."""
        return QuestionArrays(*(getattr(self, item.name)[..., start:end] for item in fields(self)))


def join_questions_by_story(parts: Sequence[QuestionArrays]) -> QuestionArrays:
    """Return several questions about each of some stories, story by story; each part has one for each of them."""
    count, longest = parts[0].count, max(len(part.chain) for part in parts)
    chains = [np.pad(part.chain, ((0, longest - len(part.chain)), (0, 0)), constant_values=-1) for part in parts]
    story, ask, thing, place = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("story", "ask", "thing", "place")
    )
    every = QuestionArrays(story, ask, thing, np.concatenate(chains, axis=1), place)
    return every.pick(np.arange(len(parts) * count).reshape(len(parts), count).T.reshape(-1))
