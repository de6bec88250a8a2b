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
from storyproof.families.belief.arrays import (
    MOST_NAMES,
    NOBODY,
    LocalNames,
    PlotArrays,
    Small,
    decode_plot,
    join_plots,
)
from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_plots_of_sizes
from storyproof.families.belief.benchmarks.script import orders_of_types
from storyproof.families.belief.benchmarks.short_chains import find_short
from storyproof.families.belief.columns import in_words, label_columns
from storyproof.families.belief.narration import Cast, Narrator
from storyproof.families.belief.proof_check import check_proofs
from storyproof.families.belief.readings import DEFAULT_READING
from storyproof.families.belief.rooms import infer_rooms, occurrences
from storyproof.families.belief.time_sets import last
from storyproof.families.belief.tomi_labels import (
    STORY_TYPES,
    Questions,
    ask_plainly,
    confirm,
    label,
    type_of_beliefs,
)
from storyproof.families.belief.trajectories import Course
from storyproof.families.belief.vocabulary import Vocabulary
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import NO_WORD, Words, coded, number_lists
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
# Of these, what a story's type follows from, in the order of `type_of_beliefs`.
_TYPED_BY = tuple((False, chain) for chain in ((0,), (1,), (0, 1), (1, 0), ()))
_PROOFS_CHECKED = 16  # stories of a block whose proofs are checked by deletion
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
            others = [_other(pool, step) for step in range(1, self.agents)]
            types = _types(pool, others)
            used = np.zeros(len(pool.length), np.bool_)
            for number in reversed(range(len(STORY_TYPES))):  # the rarest type first; no story is used twice
                fits = types == number
                kept = np.flatnonzero(fits.any(axis=0) & ~used)[: missing[number]]
                chosen = np.stack(others)[fits[:, kept].argmax(axis=0), kept]
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
        dials = [self._dials(agents, moves) for agents, moves in sizes]
        drawn = draw_plots_of_sizes(dials, draws, -(-count // len(sizes)))
        parts = []
        for (agents, _), each in zip(sizes, drawn, strict=True):
            stories, (steps, number) = each.stories, each.stories.kind.shape
            nobody = np.full(number, NOBODY, np.int8)
            parts.append(
                PlainBlock(stories, np.full(number, steps), np.full(number, agents), _last_mover(stories), nobody)
            )
        every = _join(parts)
        return every.pick(draws.order(len(every.length)))

    def _dials(self, agents: int, moves: int) -> PlotDials:
        """Return how much happens in stories of some people, with some moves."""
        base = replace(self.dials, agents=agents, moves=moves, walks=0)
        walks = self.length - base.sentences if self.length else _WALKS[0] + _WALKS[1] * agents
        return replace(base, walks=max(walks, 0))


def _other(block: PlainBlock, step: int) -> Small:
    """Return the agent this number of places after the mover of each story; NOBODY if there are fewer."""
    other = (block.mover + step) % block.people
    return np.where(step < block.people, other, NOBODY).astype(np.int8)


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


def _types(block: PlainBlock, others: Sequence[Small]) -> npt.NDArray[np.int64]:
    """Return the types of stories, [which, story], for each of several agents as the other one who is asked about.

    -1 where there is no other, or one of the six questions has no answer.
    """
    stories, count = block.stories, block.stories.count
    course, columns = Course.of(stories), np.arange(count)
    known = find_short(course, 1, stories.agents, 2, DEFAULT_READING)
    real = course.put(columns, np.zeros(count, np.int8), last)
    types = []
    for other in others:
        pair = np.stack([block.mover, np.maximum(other, 0)])
        whose = (pair[:1], pair[1:], pair, pair[::-1])
        believed = np.stack([*(known.of(chain, columns) for chain in whose), real]).astype(np.int64)
        usable = (other != NOBODY) & (believed[:4] != NOBODY).all(axis=0)
        types.append(np.where(usable, type_of_beliefs(believed).astype(np.int64), -1))
    return np.stack(types)


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


def label_plain(block: PlainBlock, cast: Cast, words: Vocabulary, narrator: Narrator) -> dict[str, pa.Array]:
    """Narrate stories, answer their six questions by the oracle, and confirm the answers by the checker.

    In ToMi's wording the text does not say in which room an object is placed: what counts is the room that a reader
    infers.

    Args:
        block: The stories.
        cast: Their words, as places in the lists of words.
        words: The lists of words.
        narrator: The same words with the text that they occur in.

    Returns:
        The columns of their rows but those that say which stories they are.

    Raises:
        ProofError: If a story cannot happen, a question has no answer, oracle and checker differ, or a proof that is
            checked by deletion does not hold.
    """
    names = Cast(
        narrator.numbers(words.agents)[cast.agents],
        narrator.numbers(words.rooms)[cast.rooms],
        narrator.numbers(words.objects)[cast.things],
        narrator.numbers(words.containers)[cast.containers],
    )
    told = _as_told(block)
    texts = narrator.narrate(told, names, block.length[None])
    stories = infer_rooms(told)
    if not occurrences(stories).possible.all():
        raise ProofError("a plain story cannot happen as it is told.")
    questions = _ask_six(stories, block.mover, block.other)
    if (questions.labels.place == NOBODY).any():
        raise ProofError("a question about a plain story has no answer.")
    asked_anyway = np.full(len(questions.story), NOBODY, np.int8)  # the beliefs that the type of a story follows from
    confirm(stories, questions, asked_anyway, asked_anyway)
    _confirm_proofs(stories, questions)
    rows = in_words(questions, names, _places(stories, names)[:, questions.story])
    proved = questions.labels.proof.T
    return {
        "story": coded(questions.story, texts),
        "question": narrator.ask(rows.thing, rows.chain, questions.memory),
        **label_columns(
            narrator.words, rows, number_lists(proved, np.broadcast_to(1 + np.arange(proved.shape[1]), proved.shape))
        ),
    }


def _as_told(block: PlainBlock) -> PlotArrays:
    """Return stories as ToMi words them: noise is what somebody of the story likes, or the phone that rings."""
    stories = block.stories
    acts = stories.kind > EventKind.FEEL
    of_story = np.zeros_like(acts)
    for agent in range(stories.agents):
        of_story |= (stories.agent == agent) & (acts & (stories.agent == agent)).any(axis=0)
    rings = ~acts & ~of_story | (np.arange(len(acts))[:, None] >= block.length)
    return stories.without(rings)


def _ask_six(stories: PlotArrays, mover: Small, other: Small) -> Questions:
    """Answer the six questions of each story by the oracle."""
    each, count = len(SIX), stories.count
    pair = np.stack([mover, other, np.full_like(mover, NOBODY)])
    whose = np.array([(*chain, NOBODY, NOBODY)[:2] for _, chain in SIX])  # NOBODY picks the last of `pair`
    chain = pair[whose].transpose(1, 2, 0).reshape(2, count * each)
    story, thing = np.repeat(np.arange(count), each), np.zeros(count * each, np.int8)
    memory = np.tile(np.array([memory for memory, _ in SIX]), count)
    labels = label(stories, ask_plainly(story, thing, chain, memory), mover[story])
    types = type_of_beliefs(labels.place.reshape(count, each).T[[SIX.index(asked) for asked in _TYPED_BY]])
    return Questions(story, thing, chain, memory, types[story], labels)


def _confirm_proofs(stories: PlotArrays, questions: Questions) -> None:
    """Check the proofs of some stories by deletion; `verify` checks as many as one likes."""
    few = min(stories.count, _PROOFS_CHECKED)
    asked, proofs = questions.arrays.between(0, few * len(SIX)), questions.labels.proof[:, : few * len(SIX)]
    faults = check_proofs(stories.between(0, few), asked, proofs, DEFAULT_READING)
    for wrong in np.flatnonzero(faults.is_wrong)[:1].tolist():
        events = decode_plot(stories, int(asked.story[wrong]), LocalNames.generic(MOST_NAMES))
        raise ProofError(f"a proof {faults.describe(wrong)}, in {events}")


def _places(stories: PlotArrays, names: Cast) -> Words:
    """Return the words of the containers in which the object of each story was, in alphabetical order."""
    put = np.where(stories.kind > EventKind.EXIT, stories.container, np.int8(NOBODY))
    boxes = np.arange(len(names.containers), dtype=np.int8)[:, None]
    used = np.zeros(names.containers.shape, np.bool_)
    for container in put:
        used |= container == boxes
    return np.sort(np.where(used, names.containers, np.int32(NO_WORD)), axis=0)


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
