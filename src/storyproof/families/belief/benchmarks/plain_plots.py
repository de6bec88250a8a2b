"""Random plain stories, as ToMi words them: people who come and go, and an object that is moved.

Stories have from two people on, and from one move on. The six questions of ToMi are about the person who moves the
object last and one other. Stories of ToMi's three types come in equal numbers, in rounds of three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import ConfigError, ProofError
from storyproof.families.belief.arrays import NOBODY, LocalNames, PlotArrays, Small, decode_plot, join_plots
from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_plots
from storyproof.families.belief.benchmarks.script import orders_of_types
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.tomi_labels import STORY_TYPES, beliefs_of_pair, type_of_beliefs
from storyproof.families.belief.tomi_rows import prove
from storyproof.families.belief.tomi_text import FEELINGS, ask, narrate
from storyproof.families.belief.vocabulary import Vocabulary
from storyproof.families.belief.world import IDLE, NOTHING, EventKind, PlotEvent
from storyproof.generation.seeds import Draws

_POOL = 12  # stories drawn for each that is kept
_LEAST = 600  # stories drawn at once: of few, none may be of a rare type
_ROUNDS = 50  # draws after which too few stories of a type are given up
_WALKS = 6, 2  # comings and goings in all, and for each person; two people with few of them have few plots
# In the published order: whether the beginning is asked about, and whose minds (0 for the mover, 1 for the other).
SIX: tuple[tuple[bool, tuple[int, ...]], ...] = (
    (True, ()),
    (False, (0,)),
    (False, (0, 1)),
    (False, ()),
    (False, (1,)),
    (False, (1, 0)),
)
_ARRAYS = ("length", "people", "mover", "other")


@dataclass(frozen=True, slots=True)
class PlainBlock:
    """Plain stories without words.

    Attributes:
        stories: The plots; noise after the end.
        length: How many sentences each story has.
        people: How many people.
        mover: Who moves the object last.
        other: The other one who is asked about.
    """

    stories: PlotArrays
    length: npt.NDArray[np.int64]
    people: npt.NDArray[np.int64]
    mover: Small
    other: Small

    def pick(self, columns: npt.NDArray[np.intp]) -> PlainBlock:
        """Return some of the stories."""
        return PlainBlock(
            self.stories.pick(columns),
            self.length[columns],
            self.people[columns],
            self.mover[columns],
            self.other[columns],
        )


@dataclass(frozen=True, slots=True)
class PlainPlots:
    """Draws plain stories.

    Attributes:
        agents: How many people a story has at most.
        dials: How much happens; of moves, at most this number.
        length: How many sentences every story has; 0 for enough that everybody has time to come and go.
    """

    agents: int
    dials: PlotDials
    length: int = 0

    def draw(self, draws: Draws, count: int) -> PlainBlock:
        """Draw stories; each three of them has one of each type, in random order.

        Raises:
            ConfigError: If hardly any stories are of one of the types.
        """
        need = count // len(STORY_TYPES)
        blocks: list[list[PlainBlock]] = [[] for _ in STORY_TYPES]
        missing = [need] * len(STORY_TYPES)
        for _ in range(_ROUNDS):
            pool = self._draw_pool(draws, max(_POOL * max(missing), _LEAST))
            pairs = [_with_other(pool, step) for step in range(1, self.agents)]
            types = np.stack([_types(pair) for pair in pairs])
            used = np.zeros(len(pool.length), np.bool_)
            for number in reversed(range(len(STORY_TYPES))):  # the rarest type first; no story is used twice
                fits = types == number
                kept = np.flatnonzero(fits.any(axis=0) & ~used)[: missing[number]]
                other = np.stack([pair.other[kept] for pair in pairs])
                chosen = other[fits[:, kept].argmax(axis=0), np.arange(len(kept))]
                blocks[number].append(replace(pool.pick(kept), other=chosen))
                missing[number] -= len(kept)
                used[kept] = True
            if not any(missing):
                break
        else:
            raise ConfigError("hardly any story is of one of ToMi's types; ask for more moves, people or sentences.")
        every = _join([part for parts in blocks for part in parts])
        order = orders_of_types(draws, need).reshape(-1)
        place = np.repeat(np.arange(need), len(STORY_TYPES))
        return every.pick(order * need + place)

    def _draw_pool(self, draws: Draws, count: int) -> PlainBlock:
        """Draw stories of every number of people and moves, equally many of each, in random order."""
        sizes = list(product(range(2, self.agents + 1), range(1, self.dials.moves + 1)))
        parts = []
        for agents, moves in sizes:
            base = replace(self.dials, agents=agents, moves=moves, walks=0)
            walks = self.length - base.sentences if self.length else _WALKS[0] + _WALKS[1] * agents
            dials = replace(base, walks=max(walks, 0))
            drawn = draw_plots(dials, draws, -(-count // len(sizes)))
            stories = drawn.stories
            shape = stories.kind.shape
            length = np.full(shape[1], shape[0])
            mover = _last_mover(stories)
            parts.append(PlainBlock(stories, length, np.full(shape[1], agents), mover, np.full_like(mover, NOBODY)))
        every = _join(parts)
        return every.pick(draws.order(len(every.length)))


def _with_other(block: PlainBlock, step: int) -> PlainBlock:
    """Return stories with the agent this number of places after the mover as the other; NOBODY if there are fewer."""
    other = (block.mover + step) % block.people
    return replace(block, other=np.where(step < block.people, other, NOBODY).astype(np.int8))


def _last_mover(stories: PlotArrays) -> Small:
    """Return who moves the object last."""
    movers = np.zeros(stories.kind.shape[1], np.int8)
    for kind, agent in zip(stories.kind, stories.agent, strict=True):
        movers = np.where(kind == EventKind.MOVE, agent, movers)
    return movers


def _join(parts: list[PlainBlock]) -> PlainBlock:
    """Return several sets of stories as one, filled up with noise to one length."""
    longest = max(len(part.stories.kind) for part in parts)

    def filled(stories: PlotArrays) -> PlotArrays:
        missing = longest - len(stories.kind)

        def fill(array: npt.NDArray[Any], value: int) -> npt.NDArray[Any]:
            return np.pad(array, ((0, missing), (0, 0)), constant_values=value)

        names = ("agent", "room", "thing", "container", "hearer")
        arrays: dict[str, Any] = {name: fill(getattr(stories, name), NOBODY) for name in names}
        return replace(stories, kind=fill(stories.kind, EventKind.NOISE), **arrays)

    return PlainBlock(
        join_plots([filled(part.stories) for part in parts]),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS),
    )


def as_plain_events(events: Sequence[PlotEvent]) -> list[PlotEvent]:
    """Return a story as ToMi words it: noise is what somebody of the story likes, or the phone that rings."""
    acting = {event.agent for event in events if event.kind not in IDLE}
    return [
        event
        if event.kind not in IDLE
        else event._replace(kind=EventKind.FEEL, feeling=FEELINGS[0])
        if event.agent in acting
        else NOTHING
        for event in events
    ]


def _types(block: PlainBlock) -> npt.NDArray[np.int64]:
    """Return the types of stories; -1 where there is no other, or one of the six questions has no answer."""
    count = len(block.length)
    believed = beliefs_of_pair(
        block.stories, np.arange(count), np.zeros(count, np.int8), block.mover, np.maximum(block.other, 0)
    )
    usable = (block.other != NOBODY) & (believed[:4] != NOBODY).all(axis=0)
    return np.where(usable, type_of_beliefs(believed).astype(np.int64), -1)


def plot_keys(block: PlainBlock) -> list[bytes]:
    """Return what happens in each story apart from words and noise, so that equal plots have equal keys."""
    plots = block.stories
    silent = plots.kind <= EventKind.FEEL
    order = np.argsort(silent, axis=0, kind="stable")
    columns = [np.where(silent, np.int8(0), plots.kind.view(np.int8))]
    for name in ("agent", "room", "container"):
        values = np.where(silent, np.int8(NOBODY), getattr(plots, name))
        columns.append(_by_appearance(values))
    packed = np.stack([np.take_along_axis(column, order, axis=0) for column in columns])
    rows = np.ascontiguousarray(packed.transpose(2, 1, 0).reshape(packed.shape[2], -1))
    return [row.tobytes() for row in rows]


def _by_appearance(values: Small) -> Small:
    """Number local numbers anew in the order in which they appear in each story; NOBODY stays."""
    steps, count = values.shape
    most = 1 + int(values.max(initial=0))
    first = np.full((most, count), steps, np.int64)
    columns = np.arange(count)
    for time in range(steps - 1, -1, -1):
        which = np.flatnonzero(values[time] >= 0)
        first[values[time, which], columns[which]] = time
    rank = np.argsort(np.argsort(first, axis=0, kind="stable"), axis=0, kind="stable").astype(np.int8)
    return np.where(values < 0, np.int8(NOBODY), rank[np.maximum(values, 0), columns])


def narrate_plain(block: PlainBlock, cast: Cast, words: Vocabulary, stories: int) -> dict[str, pa.Array]:
    """Narrate the first stories of a block, and derive their labels from the text as `verify` does.

    Returns:
        The columns of their rows but those that say which stories they are.

    Raises:
        ProofError: If oracle and checker differ, or a question has no answer.
    """
    texts, asked = [], []
    for column in range(stories):
        names = _names(cast, column, words)
        events = decode_plot(block.stories, column, names)[: int(block.length[column])]
        texts.append(narrate(as_plain_events(events)))
        agents, (thing, *_) = tuple(names.agents), tuple(names.things)
        pair = agents[int(block.mover[column])], agents[int(block.other[column])]
        for memory, chain in SIX:
            kind = Ask.BELIEF if chain else Ask.MEMORY if memory else Ask.REALITY
            asked.append(ask(BeliefQuestion(kind, thing, tuple(pair[who] for who in chain))))
    story_of = np.repeat(np.arange(stories), len(SIX))
    proved = prove(pa.array(texts, pa.string()), story_of, pa.array(asked, pa.string()))
    if proved.problems or len(proved.rows) < len(asked):
        problem = next(iter(proved.problems), None)
        if problem is None:
            raise ProofError("a row of a plain story has no answer.")
        story = texts[int(story_of[problem.row])]
        raise ProofError(f"{problem.what}: {problem.found}, expected {problem.expected}, in {story}")
    told = pa.DictionaryArray.from_arrays(pa.array(story_of.astype(np.int32)), pa.array(texts, pa.string()))
    return {**proved.columns, "story": told, "question": pa.array(asked, pa.string())}


def _names(cast: Cast, column: int, words: Vocabulary) -> LocalNames:
    """Return what the local numbers of a story stand for."""
    lists = (
        [known[number] for number in numbers[:, column]]
        for numbers, known in (
            (cast.agents, words.agents),
            (cast.rooms, words.rooms),
            (cast.things, words.objects),
            (cast.containers, words.containers),
        )
    )
    return LocalNames(*({word: number for number, word in enumerate(found)} for found in lists))


def count_plots(keys: Mapping[str, Sequence[bytes]]) -> dict[str, dict[str, Any]]:
    """Count plots by their keys, and those of a split that occur in the training split."""
    counts: dict[str, dict[str, Any]] = {
        split: {"stories": len(each), "distinct": len(set(each))} for split, each in keys.items()
    }
    known = set(keys.get("train", ()))
    for split, each in keys.items():
        if known and split != "train":
            counts[split]["in_train"] = round(sum(key in known for key in each) / len(each), 6)
    return counts
