"""What oracle and checker say about many questions at once, as codes; see `QuestionArrays`.

Everything that labels stories, or compares labels, asks the two provers here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames, Small
from storyproof.families.belief.nested.answers import Codes, Columns, chain_classes
from storyproof.families.belief.nested.arrays import PlotArrays, decode_plot
from storyproof.families.belief.nested.batches import QuestionBatch
from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.questions import ASKS, Ask, NestedQuestion, QuestionArrays, Reply
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.world import MESSAGES

_GENERIC = LocalNames.generic(128)
_STRANGER = "nobody of the story"


@dataclass(frozen=True, slots=True)
class Derived:
    """What the oracle says.

    Attributes:
        codes: The answers under each reading, one per question.
        proofs: The sentences that the answers under the deciding reading rest on, [time, question].
    """

    codes: Mapping[NestedReading, Codes]
    proofs: Flags


class Difference(NamedTuple):
    """Where the checker differs from the oracle under one reading: the questions, and the checker's answers."""

    reading: NestedReading
    questions: Columns
    codes: Codes


def cast_sizes(stories: PlotArrays) -> Columns:
    """Return how many agents each story has; their numbers are the lowest."""
    found: Columns = np.maximum(stories.agent, stories.hearer).max(axis=0, initial=NOBODY).astype(np.intp) + 1
    return found


def answer(stories: PlotArrays, asked: QuestionArrays, reading: NestedReading) -> Codes:
    """Return the oracle's answers."""
    return _batch(stories, asked).answer(reading)


def derive(
    stories: PlotArrays, asked: QuestionArrays, own: NestedReading, compared: Sequence[NestedReading]
) -> Derived:
    """Return the oracle's answers and proofs.

    Args:
        stories: The stories.
        asked: The questions.
        own: The reading that decides.
        compared: Further readings to answer under.
    """
    batch = _batch(stories, asked)
    codes = {reading: batch.answer(reading) for reading in dict.fromkeys([own, *compared])}
    return Derived(codes, batch.prove(own))


def differences(stories: PlotArrays, asked: QuestionArrays, derived: Derived) -> Iterator[Difference]:
    """Yield where the checker differs from the oracle, by reading."""
    checked = {reading: np.empty(asked.count, np.int64) for reading in derived.codes}
    questions = [_question(asked, place) for place in range(asked.count)]
    is_silent = ~np.isin(stories.kind, MESSAGES).any(axis=0)
    order = np.argsort(asked.story, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(asked.story[order])) + 1):
        if not len(places):
            continue
        column = int(asked.story[places[0]])
        events, known = decode_plot(stories, column, _GENERIC), dict[str, MindWorlds]()
        for reading, found in checked.items():
            # Without messages trust does not matter, so one model serves all readings of the same sight.
            key = reading.sight if is_silent[column] else str(reading)
            worlds = known.get(key) or known.setdefault(key, MindWorlds(events, reading))
            for place in places.tolist():
                found[place] = _code(worlds.answer(questions[place]))
    for reading, found in checked.items():
        differing = np.flatnonzero(found != derived.codes[reading])
        if len(differing):
            yield Difference(reading, differing, found[differing])


def describe(stories: PlotArrays, asked: QuestionArrays, derived: Derived, found: Difference) -> str:
    """Return what oracle and checker say about the first question that they differ on, in generic names."""
    place = int(found.questions[0])
    return (
        f"answer under {found.reading} (oracle and checker): {derived.codes[found.reading][place]} against "
        f"{found.codes[0]}, on {_question(asked, place)}, in {decode_plot(stories, int(asked.story[place]), _GENERIC)}"
    )


def _question(asked: QuestionArrays, place: int) -> NestedQuestion:
    """Return a question in generic names."""
    agents, things, boxes = tuple(_GENERIC.agents), tuple(_GENERIC.things), tuple(_GENERIC.containers)
    chain = tuple(agents[agent] if agent >= 0 else _STRANGER for agent in asked.chain[:, place] if agent != NOBODY)
    ask = ASKS[asked.ask[place]]
    return NestedQuestion(
        ask, things[asked.thing[place]], chain, boxes[asked.place[place]] if ask == Ask.BELIEVERS else None
    )


def _code(reply: Reply) -> int:
    if reply is None:
        return NOBODY
    if isinstance(reply, tuple):
        return sum(1 << _GENERIC.agents[name] for name in reply)
    return ("no", "yes").index(reply) if reply in ("no", "yes") else _GENERIC.containers[reply]


def _batch(stories: PlotArrays, asked: QuestionArrays) -> QuestionBatch:
    """Return questions with the chains of the beliefs that they come down to; the empty one stands for reality."""
    rows, chains = list[Columns](), list[Small]()  # the question and the chain of each belief

    def add(questions: Columns, chain: Small) -> None:
        rows.append(questions)
        chains.append(chain)

    def those(*asks: Ask) -> Columns:
        return np.flatnonzero(np.isin(asked.ask, [ASKS.index(ask) for ask in asks]))

    chosen = those(Ask.REALITY, Ask.MEMORY)
    add(chosen, np.empty((0, len(chosen)), np.int8))
    chosen = those(Ask.BELIEF, Ask.SAYS)
    add(chosen, asked.chain[:, chosen])
    chosen = those(Ask.KNOWS_WHERE)
    add(chosen, asked.chain[:1, chosen])
    add(chosen, np.empty((0, len(chosen)), np.int8))
    chosen = those(Ask.KNOWS_WRONG)
    for part in (slice(1), slice(1, 2), slice(2), slice(0)):
        add(chosen, asked.chain[part, chosen])
    chosen = those(Ask.BELIEVERS)
    sizes = cast_sizes(stories)[asked.story[chosen]]
    for agent in range(int(sizes.max(initial=0))):
        part = chosen[sizes > agent]
        add(part, np.concatenate([np.full((1, len(part)), agent, np.int8), asked.chain[:, part]]))
    chosen = those(Ask.COMMON)
    group, sizes = _distinct(asked.chain[:, chosen])
    for size in np.unique(sizes).tolist():
        part = np.flatnonzero(sizes == size)
        for members in chain_classes(size):
            add(chosen[part], group[list(members)][:, part])
    row = np.concatenate(rows)
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=asked.count))]).astype(np.intp)
    longest = max(len(each) for each in chains)
    chain = np.concatenate(
        [np.pad(each, ((0, longest - len(each)), (0, 0)), constant_values=NOBODY) for each in chains], axis=1
    )[:, order]
    return QuestionBatch(
        stories, asked.story, asked.ask.astype(np.intp), asked.thing, asked.place.astype(np.intp), start, chain
    )


def _distinct(chain: Small) -> tuple[Small, Columns]:
    """Return the different members of groups in order of appearance, and how many each has."""
    repeated = chain == NOBODY
    for place in range(1, len(chain)):
        repeated[place] |= (chain[:place] == chain[place]).any(axis=0)
    order = np.argsort(repeated, axis=0, kind="stable")
    return np.take_along_axis(chain, order, axis=0), (~repeated).sum(axis=0)
