"""The benchmark `tomi`.

Its stories without words come first: the three algorithms of the paper's supplement, on whole blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.benchmark import option
from storyproof.example import SPLITS
from storyproof.families.belief.arrays import NOBODY, Flags
from storyproof.families.belief.benchmarks.base import BeliefBenchmark, BeliefConfig, another, may_be_first
from storyproof.families.belief.benchmarks.script import (
    MOST_STATEMENTS,
    Plots,
    Script,
    Sentence,
    draw_places,
    insert,
    keys,
    orders_of_types,
    slot_names,
)
from storyproof.families.belief.benchmarks.tomi_questions import ASKED, MOVER, OTHER, Answers, ask, lay_out, prove
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.plot_index import Plot
from storyproof.families.belief.tomi_labels import Codes, story_type
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import identity
from storyproof.generation.seeds import Draws, Indices

ANNE, SALLY, THIRD = MOVER, OTHER, 2
HOME, ELSEWHERE = 0, 1

_SENTENCES: dict[str, Sentence] = {
    "anne enters": (EventKind.ENTER, ANNE, HOME, NOBODY, NOBODY),
    "sally enters": (EventKind.ENTER, SALLY, HOME, NOBODY, NOBODY),
    "object placed": (EventKind.PLACE, NOBODY, HOME, 0, 0),
    "anne moves": (EventKind.MOVE, ANNE, HOME, 0, 1),
    "sally exits": (EventKind.EXIT, SALLY, HOME, NOBODY, NOBODY),
    "anne exits": (EventKind.EXIT, ANNE, HOME, NOBODY, NOBODY),
    "sally enters elsewhere": (EventKind.ENTER, SALLY, ELSEWHERE, NOBODY, NOBODY),
    "third enters": (EventKind.ENTER, THIRD, HOME, NOBODY, NOBODY),
    "third enters elsewhere": (EventKind.ENTER, THIRD, ELSEWHERE, NOBODY, NOBODY),
    "third exits": (EventKind.EXIT, THIRD, HOME, NOBODY, NOBODY),
    "third exits elsewhere": (EventKind.EXIT, THIRD, ELSEWHERE, NOBODY, NOBODY),
}
SCRIPT = Script(_SENTENCES, agents=3, rooms=2)
_CODE, _END = SCRIPT.code, SCRIPT.end
LONGEST = 9 + MOST_STATEMENTS  # three opening sentences, four actions, two comings and goings


def core_branches() -> Iterator[tuple[Fraction, tuple[str, ...]]]:
    """Yield every way a story can go after the opening, with its probability (the paper's Algorithm 2)."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    yield half * half, ("anne moves", "sally exits")
    yield half * half, ("sally exits", "anne moves")
    for move_at in range(3):
        for leaves in (True, False) if move_at < 2 else (None,):  # the coin is thrown only before a late re-entry
            for back in ("sally enters", "sally enters elsewhere"):
                actions = ["sally exits", *(["anne exits"] if leaves else []), back]
                actions.insert(move_at, "anne moves")
                probability = half * third * half * (1 if leaves is None else half)
                yield probability, tuple(actions)


@cache
def cells() -> tuple[Codes, Codes]:
    """Return the equally likely cells of Algorithm 2 (first to enter × branches) as sentence codes, and their types."""
    cells = []
    for probability, actions in core_branches():
        for opening in (("anne enters", "sally enters"), ("sally enters", "anne enters")):
            codes = [_CODE[name] for name in (*opening, "object placed", *actions)]
            cells += [codes + [_END] * (7 - len(codes))] * int(probability * 24)
    cores = np.array(cells, np.uint8).T.copy()
    zeros = np.zeros(cores.shape[1], np.int8)
    anne, sally = zeros + np.int8(ANNE), zeros + np.int8(SALLY)
    types = story_type(SCRIPT.spell(cores), np.arange(len(zeros)), zeros, anne, sally)
    return cores, types


@cache
def robust_cells() -> Flags:
    """Return which cells have the same answers to all six questions under all readings."""
    holds = ask(SCRIPT.spell(cells()[0])).labels.holds
    return np.asarray(holds.reshape(len(holds), -1, ASKED).all(axis=(0, 2)))


def draw_cores(draws: Draws, count: int) -> Indices:
    """Draw stories as in Algorithm 2, before any rejection, as indices into the cells."""
    return draws.below(cells()[0].shape[1], count)


def balanced_cores(draws: Draws, count: int, *, is_robust: bool = False) -> Indices:
    """Draw with rejection until each type has its share (Algorithm 1); every round has one story of each.

    Args:
        draws: The source of randomness.
        count: How many stories.
        is_robust: Whether to reject those whose answers depend on the reading, and with them the type
            second_order_false_belief: in its stories somebody finds out by entering a room.
    """
    _, types = cells()
    usable = robust_cells() if is_robust else np.ones_like(types, np.bool_)
    kinds = np.unique(types[usable]).tolist()
    quota = count // len(kinds)
    kept: dict[int, list[Indices]] = {kind: [] for kind in kinds}
    have = dict.fromkeys(kinds, 0)
    while min(have.values()) < quota:
        drawn = draw_cores(draws, 9 * count)
        drawn = drawn[usable[drawn]]
        for kind in kinds:
            chosen = drawn[types[drawn] == kind][: quota - have[kind]]
            kept[kind].append(chosen)
            have[kind] += len(chosen)
    by_type = np.stack([np.concatenate(cores) for cores in kept.values()])
    return np.take_along_axis(by_type.T, orders_of_types(draws, quota, len(kinds)), axis=1).reshape(-1)


def add_distractors(draws: Draws, cores: Codes) -> Plots:
    """Insert the third agent's entry and exit, then the statements (Algorithm 3)."""
    count = cores.shape[1]
    length = (cores != _END).sum(axis=0)
    entrances = draws.below(3, count)
    places = draw_places(draws, length)
    come = np.where(entrances == 1, places[0], places.min(axis=0))
    bare = _come_and_go(cores, entrances, come, places.max(axis=0), draws.below(2, count) == HOME)
    return SCRIPT.add_statements(draws, bare, length + entrances)


def _come_and_go(cores: Codes, entrances: Indices, come: Indices, go: Indices, home: npt.NDArray[np.bool_]) -> Codes:
    """Insert the third agent's entry and exit."""
    bare = np.full((LONGEST - 2, cores.shape[1]), _END, np.uint8)
    bare[: cores.shape[0]] = cores
    entry = np.where(home, _CODE["third enters"], _CODE["third enters elsewhere"])
    leave = np.where(home, _CODE["third exits"], _CODE["third exits elsewhere"])
    bare = insert(bare, come, entry, entrances > 0)
    return insert(bare, go, leave, entrances > 1)


def all_bare() -> Codes:
    """Return every possible bare plot once."""
    ways = [
        (core, entrances, come, go, home)
        for core, length in enumerate((cells()[0] != _END).sum(axis=0).tolist())
        for entrances, come, go in (
            (0, 0, 0),
            *((1, come, 0) for come in range(length)),
            *((2, come, go) for come in range(length) for go in range(come + 1, length)),
        )
        for home in (True, False)
    ]
    core, entrances, come, go, home = (np.array(column) for column in zip(*ways, strict=True))
    bare = _come_and_go(cells()[0][:, core], entrances, come, go, home)
    _, first = np.unique(keys(bare), return_index=True)
    return bare[:, first]


def swappable(bare: Codes) -> npt.NDArray[np.bool_]:
    """Return which plots have a text that does not show which of two agents is the third.

    Sally and the third both entered before the object was placed, both left, and neither came back. With the two names
    swapped, the text of such a story is that of another one.
    """
    comes, goes, placed = (bare == _CODE[name] for name in ("third enters", "third exits", "object placed"))
    back = (bare == _CODE["sally enters"]).sum(axis=0) + (bare == _CODE["sally enters elsewhere"]).sum(axis=0) > 1
    early = comes.argmax(axis=0) < placed.argmax(axis=0)
    found: npt.NDArray[np.bool_] = comes.any(axis=0) & goes.any(axis=0) & early & ~back
    return found


def send_elsewhere(plots: Plots, chosen: npt.NDArray[np.bool_]) -> Plots:
    """Move the third agent to the other room in the chosen stories."""
    instead = np.arange(len(_CODE), dtype=np.uint8)
    for verb in ("enters", "exits"):
        instead[_CODE[f"third {verb}"]] = _CODE[f"third {verb} elsewhere"]
    bare, told = (np.where(chosen, instead[codes], codes) for codes in (plots.bare, plots.told))
    return replace(plots, bare=bare, told=told)


@cache
def _proved() -> tuple[npt.NDArray[np.uint64], Answers]:
    """Return the keys of all possible plots, sorted, and the answers to their questions."""
    bare = all_bare()
    return keys(bare), prove(SCRIPT.spell(bare))


@dataclass(frozen=True)
class TomiConfig(BeliefConfig):
    """The settings of ToMi.

    Attributes:
        robust: Whether all answers shall be the same under all readings.
    """

    robust: bool = field(
        default=False, metadata=option("Make only stories whose answers are the same under all readings.", read=bool)
    )


class Tomi(BeliefBenchmark):
    """ToMi: one randomised generator for all stories, six questions each, balanced by rejection.

    World: two agents and a third who comes and goes, two rooms, one object, two containers. Somebody moves the object;
    people who are out of the room miss it.

    Questions: memory, reality, what each of the two agents believes, and what each believes of the other's belief.

    Splits: differ in their stories, and on request in their words (`disjoint`).

    Known artefacts, kept because they follow from the paper's algorithms: every second-order false-belief story has the
    same four actions (exit, move, exit, re-entry); the object is moved exactly once; no sentence follows the last
    core sentence.

    Source: Le, Boureau and Nickel, "Revisiting the Evaluation of Theory of Mind through Question Answering" (2019) and
    the three algorithms of its supplement. Deviation: labels come from the oracle after all sentences are inserted.
    """

    name = "tomi"
    formats = ("tomi",)
    version = 1
    usual_counts: ClassVar[dict[str, int]] = dict.fromkeys(SPLITS, 999)
    round = 3

    needed: ClassVar[dict[str, int]] = {"agents": 3, "rooms": 2, "containers": 2, "objects": 1}
    config_type = TomiConfig
    config: TomiConfig

    def __init__(self, config: TomiConfig | None = None, seed: int = 0) -> None:
        super().__init__(config, seed)
        if self.config.robust:
            self.round = 2  # there are two types of such stories

    @classmethod
    def breach(cls, plot: Plot, thing: int) -> str | None:
        """Return how often the object is moved, unless it is once."""
        name = tuple(plot.names.things)[thing]
        moves = sum(event.kind is EventKind.MOVE and event.thing == name for event in plot.events)
        return None if moves == 1 else f"the object is moved {moves} times, not once"

    def rows_per_story(self, split: str) -> int:
        """Return the number of questions, which is six."""
        return ASKED

    def plots(self, split: str, index: int) -> Plots:
        """Draw a block of balanced stories without words."""
        draws = Draws(*self.identity, split, index, "plot")
        return add_distractors(
            draws, cells()[0][:, balanced_cores(draws, self.block_stories, is_robust=self.config.robust)]
        )

    def cast(self, split: str, index: int, swappable: Flags) -> tuple[Cast, Flags]:
        """Draw the words of a block's stories.

        Two stories could have the same text with other and third agent swapped, where the text does not show which is
        which (`swappable`). There, of any two agents in a given cast only one may be the other agent; the third agent
        is the next one that fits.

        Returns:
            The words, and the stories for which no third agent fits.
        """
        draws = Draws(*self.identity, split, index, "words")
        words, number = self.vocabularies[split], self.narrator.numbers
        mover, other, room, thing, before, after = self.casts[split](
            split, index * self.block_stories, self.block_stories
        )
        third = another(draws, len(words.agents), [mover, other])
        elsewhere = another(draws, len(words.rooms), [room])
        liked = self.draw_liked(draws, split)
        agents, rooms = number(words.agents), number(words.rooms)
        visible = [agents[mover], rooms[room], number(words.objects)[thing]]
        visible += [number(words.containers)[place] for place in (before, after)]
        unfit = np.flatnonzero(swappable)
        for _ in agents:
            here = [part[unfit] for part in visible]
            taken = (third[unfit] == mover[unfit]) | (third[unfit] == other[unfit])
            fits = ~taken & may_be_first(agents[other[unfit]], agents[third[unfit]], here, self.seed)
            unfit = unfit[~fits]
            if not len(unfit):
                break
            third[unfit] = (third[unfit] + 1) % len(agents)
        alone = np.zeros(self.block_stories, np.bool_)
        alone[unfit] = True
        third = np.where(alone, another(draws, len(agents), [mover, other]), third) if len(unfit) else third
        cast = Cast(
            agents=agents[np.stack([mover, other, third])],
            rooms=rooms[np.stack([room, elsewhere])],
            things=np.concatenate([visible[2][None], liked]),
            containers=np.stack(visible[3:]),
        )
        return cast, alone

    def block(self, split: str, index: int) -> pa.Table:
        """Generate one block: draw plots and words, look up the proved answers, narrate."""
        return self.beginning(split, index, self.block_stories)

    def beginning(self, split: str, index: int, stories: int) -> pa.Table:
        """Generate the first stories of a block; the others are drawn, but not narrated."""
        drawn = self.plots(split, index)
        cast, alone = self.cast(split, index, swappable(drawn.bare))
        drawn = send_elsewhere(drawn, alone) if alone.any() else drawn
        drawn, cast = drawn.first(stories), cast.between(0, stories)
        known, proved = _proved()
        answers = proved.pick(np.searchsorted(known, keys(drawn.bare)))
        texts = self.narrator.tell(*SCRIPT.told(drawn), slot_names(drawn, cast, len(self.narrator.words)))
        who = identity(self.name, split, index * self.block_stories, stories, ASKED)
        return lay_out(self.narrator, who, texts, cast, answers, drawn.sentence)
