"""Many questions of all kinds about many stories at once, answered and proved by the oracle.

Every question comes down to some beliefs: whether Ada knows where the key is rests on what she believes and on where
the key is. The beliefs of all questions are asked together, and then combined question by question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames, Small
from storyproof.families.belief.nested import oracle
from storyproof.families.belief.nested.answers import Codes, Columns, chain_classes, prove, prove_beliefs
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.questions import Ask, NestedQuestion
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.world import EventKind
from storyproof.families.belief.oracle import STRANGER

_ASKS = tuple(Ask)
_MISSING = 99  # the number of an object or container that is not in the story
_AT_ONCE = 1 << 16  # beliefs that are evaluated together


@dataclass(frozen=True, slots=True)
class QuestionBatch:
    """Questions about stories, and the beliefs that they come down to.

    Attributes:
        stories: The stories.
        story: The story of each question.
        ask: What each question asks, as an index into `Ask`.
        thing: The local number of each question's object.
        place: The local number of the container that it names, if it names one.
        start: Where the beliefs of each question begin, and at last where those of the last one end.
        chain: Local agent numbers [place in the chain, belief].
    """

    stories: PlotArrays
    story: Columns
    ask: npt.NDArray[np.intp]
    thing: Small
    place: npt.NDArray[np.intp]
    start: Columns
    chain: Small

    @classmethod
    def of(
        cls,
        stories: PlotArrays,
        names: Sequence[LocalNames],
        story: Sequence[int],
        questions: Sequence[NestedQuestion],
    ) -> QuestionBatch:
        """Look up the names of questions.

        Args:
            stories: The stories.
            names: What the local numbers of each story stand for.
            story: The story of each question.
            questions: The questions.
        """
        chains: list[list[int]] = []
        start, thing, place = [0], [], []
        for column, question in zip(story, questions, strict=True):
            known = names[column]
            agents = [known.agents.get(agent, STRANGER) for agent in question.chain]
            chains += _chains(question.ask, agents, len(known.agents))
            start.append(len(chains))
            thing.append(known.things.get(question.thing, _MISSING))
            place.append(known.containers.get(question.place or "", _MISSING))
        asked = np.full((max([1, *map(len, chains)]), len(chains)), NOBODY, np.int8)
        for number, chain in enumerate(chains):
            asked[: len(chain), number] = chain
        return cls(
            stories,
            np.array(story, np.intp),
            np.array([_ASKS.index(question.ask) for question in questions], np.intp),
            np.array(thing, np.int8),
            np.array(place, np.intp),
            np.array(start, np.intp),
            asked,
        )

    @property
    def count(self) -> int:
        """The number of questions."""
        return len(self.story)

    def pick(self, questions: Columns) -> QuestionBatch:
        """Return some of the questions."""
        counts = (self.start[1:] - self.start[:-1])[questions]
        start = np.concatenate([[0], np.cumsum(counts)])
        which = np.repeat(self.start[questions] - start[:-1], counts) + np.arange(int(start[-1]))
        ask, thing, place = self.ask[questions], self.thing[questions], self.place[questions]
        return QuestionBatch(self.stories, self.story[questions], ask, thing, place, start, self.chain[:, which])

    def answer(self, reading: NestedReading) -> Codes:
        """Return the answers: a container's number or NOBODY, 0 or 1 for no or yes, or the bit mask of agents."""
        questions = np.arange(self.count)
        found = np.zeros(self.count, np.int64)
        # Whole questions at a time, so that the arrays of a large block fit into memory.
        parts = np.searchsorted(self.start, np.arange(_AT_ONCE, self.start[-1] + _AT_ONCE, _AT_ONCE), "right") - 1
        first = 0
        for end in [*np.unique(parts[parts > 0]).tolist(), self.count]:
            if end > first:
                part = questions[first:end]
                found[part] = self._evaluate(self.stories, self.story[part], part, reading)
                first = end
        return found

    def _evaluate(self, stories: PlotArrays, story: Columns, question: Columns, reading: NestedReading) -> Codes:
        """Answer some of the questions about some stories, which may differ from those of the batch."""
        counts = (self.start[1:] - self.start[:-1])[question]
        begin = np.cumsum(counts) - counts
        which = np.repeat(self.start[question] - begin, counts) + np.arange(int(counts.sum()))
        thing = self.thing[question]
        places = oracle.beliefs(
            stories, np.repeat(story, counts), np.repeat(thing, counts), self.chain[:, which], reading
        ).astype(np.int64)
        first = places[begin]
        found: Codes = first.copy()
        asked = self.ask[question]

        def rows(ask: Ask) -> Columns:
            return np.flatnonzero(asked == _ASKS.index(ask))

        chosen = rows(Ask.MEMORY)
        if len(chosen):
            found[chosen] = oracle.memory(stories.pick(story[chosen]), thing[chosen])
        chosen = rows(Ask.KNOWS_WHERE)
        found[chosen] = _known_alike(first[chosen], places[begin[chosen] + 1])
        chosen = rows(Ask.KNOWS_WRONG)
        if len(chosen):
            own, other, thought, real = (places[begin[chosen] + place] for place in range(4))
            found[chosen] = _known_to_differ(other, real) & _known_to_differ(own, thought)
        chosen = rows(Ask.BELIEVERS)
        if len(chosen):
            member = np.arange(len(places)) - np.repeat(begin, counts)
            believe = (places == np.repeat(self.place[question], counts)).astype(np.int64) << member
            found[chosen] = np.add.reduceat(believe, begin)[chosen]
        chosen = rows(Ask.COMMON)
        if len(chosen):
            same = np.minimum.reduceat(places, begin) == np.maximum.reduceat(places, begin)
            found[chosen] = np.where(same, first, NOBODY)[chosen]
        return found

    def prove(self, reading: NestedReading) -> Flags:
        """Return the sentences that the answers rest on, [time, question]; see `answers.prove`."""
        found = np.zeros((len(self.stories.kind), self.count), np.bool_)
        believed = np.isin(self.ask, [_ASKS.index(Ask.BELIEF), _ASKS.index(Ask.SAYS)])
        chosen = np.flatnonzero(believed)
        if len(chosen):
            chain = self.chain[:, self.start[chosen]]
            found[:, chosen] = prove_beliefs(self.stories, self.story[chosen], self.thing[chosen], chain, reading)
        others = np.flatnonzero(~believed)
        if len(others):
            # Noise concerns nobody; what else does not, is found by trying.
            concerns = self.stories.kind[:, self.story[others]] != EventKind.NOISE

            def evaluate(changed: PlotArrays, story: Columns, question: Columns) -> Codes:
                return self._evaluate(changed, story, others[question], reading)

            found[:, others] = prove(self.stories, self.story[others], evaluate, concerns, concerns)
        return found


def _chains(ask: Ask, agents: list[int], cast: int) -> list[list[int]]:
    """Return the chains of the beliefs that a question comes down to; the empty one stands for reality."""
    if ask in (Ask.REALITY, Ask.MEMORY):
        return [[]]
    if ask == Ask.KNOWS_WHERE:
        return [agents, []]
    if ask == Ask.KNOWS_WRONG:
        return [agents[:1], agents[1:], agents, []]
    if ask == Ask.BELIEVERS:
        return [[agent, *agents] for agent in range(cast)]
    if ask == Ask.COMMON:
        group = list(dict.fromkeys(agents))
        return [[group[member] for member in each] for each in chain_classes(len(group))]
    return [agents]


def _known_alike(one: Codes, other: Codes) -> Flags:
    found: Flags = (one != NOBODY) & (one == other)
    return found


def _known_to_differ(one: Codes, other: Codes) -> Flags:
    found: Flags = (one != NOBODY) & (other != NOBODY) & (one != other)
    return found
