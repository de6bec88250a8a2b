"""The benchmark `tomi-matched`.

Its stories without words come first: who comes and goes when. Seven marks cut a story into stretches: the object is
placed, the mover leaves, comes back, moves the object; the object is mentioned again; the mover leaves for good; the
object is mentioned again. Stretch n follows mark n. Besides entering at the start, every companion leaves, comes back
and leaves; its *way* is the stretches in which it does so.

There are millions of interleavings of three ways, so whole plots are not enumerated. What the mover and one companion
believe of each other depends only on what those two and the object do. (Tests show under every reading that the
movements of others change nothing, and `verify` derives the answers from every whole story.) That is one of 88 plots of
two people, which are enumerated and proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement, product
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.example import SPLITS
from storyproof.families.belief.arrays import NOBODY
from storyproof.families.belief.benchmarks.base import BeliefBenchmark, another
from storyproof.families.belief.benchmarks.script import Plots, Script, Sentence, keys, orders_of_types, slot_names
from storyproof.families.belief.benchmarks.tomi_questions import ASKED, MOVER, OTHER, Answers, lay_out, prove
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.plot_index import Plot
from storyproof.families.belief.tomi_labels import STORY_TYPES, Codes
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.generation.arrow_columns import identity
from storyproof.generation.seeds import Draws, Indices

Way = tuple[int, int, int]

AGENTS = 1 + len(STORY_TYPES)  # the mover, and for each story type the companion who makes it one if asked about
HOME = 0
_SENTENCES: dict[str, Sentence] = {
    **{f"{agent} enters": (EventKind.ENTER, agent, HOME, NOBODY, NOBODY) for agent in range(AGENTS)},
    **{f"{agent} exits": (EventKind.EXIT, agent, HOME, NOBODY, NOBODY) for agent in range(AGENTS)},
    "object placed": (EventKind.PLACE, NOBODY, HOME, 0, 0),
    "object moved": (EventKind.MOVE, MOVER, HOME, 0, 1),
    "object there": (EventKind.PLACE, NOBODY, HOME, 0, 1),
}
SCRIPT = Script(_SENTENCES, agents=AGENTS, rooms=1)
_ENTER, _EXIT = ([SCRIPT.code[f"{agent} {verb}"] for agent in range(AGENTS)] for verb in ("enters", "exits"))

PLACED, LEAVES, RETURNS, MOVES, SHOWN, GONE, SHOWN_AGAIN = range(7)  # the marks
_MARKS = [
    SCRIPT.code["object placed"],
    _EXIT[MOVER],
    _ENTER[MOVER],
    SCRIPT.code["object moved"],
    SCRIPT.code["object there"],
    _EXIT[MOVER],
    SCRIPT.code["object there"],
]
LENGTH = AGENTS + len(_MARKS) + 3 * (AGENTS - 1)
_PAIR_LENGTH = 2 + len(_MARKS) + 3

_BEFORE_MOVE = (PLACED, LEAVES, RETURNS)
# The two kinds of true belief: present at the move, or back in time to be shown the object with the mover. Half of
# each, so that presence at the move does not reveal the type.
PRESENT: tuple[Way, ...] = tuple(
    (*away, end) for away in combinations_with_replacement(_BEFORE_MOVE, 2) for end in (MOVES, SHOWN, GONE, SHOWN_AGAIN)
)
ABSENT: tuple[Way, ...] = tuple((start, MOVES, end) for start, end in product(_BEFORE_MOVE, (SHOWN, GONE, SHOWN_AGAIN)))
# A companion with a false belief has left for good before the move. For a second-order false belief a companion leaves
# while the mover is out, so that under `infer-mover` they do not assume that the mover stayed; and is back, with the
# mover gone, when the object is mentioned, so that they know the place under `closed` as well.
WAYS: dict[str, tuple[Way, ...]] = {
    "true_belief": PRESENT + ABSENT,
    "false_belief": tuple(combinations_with_replacement(_BEFORE_MOVE, 3)),
    "second_order_false_belief": ((LEAVES, GONE, SHOWN_AGAIN),),
}
TYPE_OF = {way: kind for kind, ways in WAYS.items() for way in ways}


def draw_ways(draws: Draws, count: int) -> Indices:
    """Draw the companions' ways, [companion, act, story]; companions are numbered by the types that they make."""
    here = draws.below(2, count) == 0
    found = []
    for kind in STORY_TYPES:
        if kind == "true_belief":
            one, other = (np.array(ways)[draws.below(len(ways), count)] for ways in (PRESENT, ABSENT))
            found.append(np.where(here[:, None], one, other).T)
        else:
            found.append(np.array(WAYS[kind])[draws.below(len(WAYS[kind]), count)].T)
    return np.stack(found)


def draw_skeletons(draws: Draws, count: int) -> Codes:
    """Draw the order of entries and the interleaving of the companions' ways, all equally likely, [time, story]."""
    ways = draw_ways(draws, count)
    within = draws.below(2**31, ways.size).reshape(ways.shape)
    # Sorting a companion's moments keeps its acts in order and all interleavings equally likely.
    acts = np.sort((ways << 32) + within, axis=1).reshape(-1, count)
    entries = draws.below(2**31, AGENTS * count).reshape(AGENTS, count) - (2 << 32)
    marks = np.repeat((np.arange(len(_MARKS)) << 32)[:, None] - 1, count, axis=1)
    order = np.argsort(np.concatenate([entries, marks, acts]), axis=0, kind="stable")
    companions = [code for agent in range(1, AGENTS) for code in (_EXIT[agent], _ENTER[agent], _EXIT[agent])]
    codes: Codes = np.array([*_ENTER, *_MARKS, *companions], np.uint8)[order]
    return codes


def draw_plots(draws: Draws, count: int) -> tuple[Plots, Indices]:
    """Draw stories in threes with the same text but for the words, and whom each story of a three asks about.

    Returns:
        The stories, and the agent who is asked about besides the mover; in each three every companion once.
    """
    rounds = count // len(STORY_TYPES)
    skeletons = draw_skeletons(draws, rounds)
    plots = SCRIPT.add_statements(draws, skeletons, np.full(rounds, LENGTH))
    return plots.repeat(len(STORY_TYPES)), 1 + orders_of_types(draws, rounds).reshape(-1)


def of_pair(plots: Plots, asked: Indices) -> tuple[Codes, npt.NDArray[np.int8]]:
    """Return the stories without what the two companions who are not asked about do.

    Returns:
        The codes of the plots of two people [time, story], with the asked companion as agent 1; and where each of these
        sentences stands in the text.
    """
    agent = SCRIPT.agent[plots.bare]
    kept = (agent == asked) | (agent == MOVER) | (agent == NOBODY)
    codes, sentences = (np.ascontiguousarray(array.T)[kept.T] for array in (plots.bare, plots.sentence))
    shift = np.where(agent > MOVER, asked - OTHER, 0).T[kept.T]  # codes of agents follow one upon the other
    pair: Codes = (codes - shift).astype(np.uint8)
    return pair.reshape(-1, _PAIR_LENGTH).T, sentences.reshape(-1, _PAIR_LENGTH).T


def pair_plots() -> Codes:
    """Return every possible plot of two people, [time, plot]."""
    plots = []
    for first, way in product((MOVER, OTHER), TYPE_OF):
        plot = [_ENTER[first], _ENTER[MOVER + OTHER - first]]
        for stretch, mark in enumerate(_MARKS):
            acts = zip(way, (_EXIT[OTHER], _ENTER[OTHER], _EXIT[OTHER]), strict=True)
            plot += [mark, *(act for when, act in acts if when == stretch)]
        plots.append(plot)
    return np.array(plots, np.uint8).T.copy()


@cache
def _proved() -> tuple[npt.NDArray[np.uint64], Answers]:
    """Return the keys of all plots of two people, sorted, and the answers to their questions."""
    bare = pair_plots()
    order = np.argsort(keys(bare))
    return keys(bare)[order], prove(SCRIPT.spell(bare[:, order]))


class TomiMatched(BeliefBenchmark):
    """ToMi without the cues that allow answering without following who saw what.

    World: a mover and three companions, one room, one object, two containers. All enter, the object is placed, the
    mover leaves, comes back, moves it and leaves again; each companion leaves, comes back and leaves. In every story
    one companion ends with a true belief (half of them present at the move, half back in time to be shown the object),
    one with a false belief, and one makes it a second-order false belief; all three do the same, at different times.

    Questions: the six of `tomi`, about the mover and one companion. Which companion is drawn independently of the text:
    stories come in threes with the same text but for the words, each asked about another companion. Ignoring who is
    who, or the order of entries and exits, therefore reveals nothing about the type of a story; giving the same answers
    to every text gains nothing over the structural baseline of the six questions: 5/6 on average and 1/3 of the
    stories, in every prefix of whole threes.

    Readings: the object is mentioned twice after the move ("The key is in the jar."), once with the mover present and
    once without, and the mover leaves once before the move. Without this the answers would depend on a reading: whether
    somebody who returns sees where the object is (`closed`), and whether they infer who moved it (`infer-mover`). As it
    is, all readings agree on all answers.

    Splits: differ in their stories, and on request in their words (`disjoint`).

    Known artefacts: the object is moved exactly once, and the mover knows where it is; memory, reality and the mover's
    own belief have the same positions in every story. Of the three companions the first to leave for good has the false
    belief, and the last to come back makes the second-order one, so following each of them suffices without mover and
    object. The first cannot be avoided with one move and a companion of each type in every story, the second as long as
    each comes back once. The answers to two stories of a three determine the type of the third, so folds of a split
    should keep threes together. No sentence follows the last core sentence.

    Source: after Le, Boureau and Nickel (2019), whose questions, statements and sentences it keeps.
    """

    name = "tomi-matched"
    formats = ("tomi",)
    version = 1
    usual_counts: ClassVar[dict[str, int]] = dict.fromkeys(SPLITS, 999)
    round = 3

    needed: ClassVar[dict[str, int]] = {"agents": AGENTS, "rooms": 1, "containers": 2, "objects": 1}

    @classmethod
    def breach(cls, plot: Plot, thing: int) -> str | None:
        """Return how the events differ from what every story of this benchmark has in common."""
        return departure(plot.events, tuple(plot.names.things)[thing])

    def rows_per_story(self, split: str) -> int:
        """Return the number of questions, which is six."""
        return ASKED

    def plots(self, split: str, index: int) -> tuple[Plots, Indices]:
        """Draw a block of stories without their words, and whom each is asked about."""
        return draw_plots(Draws(*self.identity, split, index, "plot"), self.block_stories)

    def cast(self, split: str, index: int) -> Cast:
        """Draw the words of a block's stories.

        The combination of mover, one companion, room, object and containers is never the same twice. The text shows
        which companion that is by what they do, whichever is asked about, so no two stories have the same text.
        """
        draws = Draws(*self.identity, split, index, "words")
        words, number = self.vocabularies[split], self.narrator.numbers
        mover, first, room, thing, before, after = self.casts[split](
            split, index * self.block_stories, self.block_stories
        )
        agents = [mover, first]
        while len(agents) < AGENTS:
            agents.append(another(draws, len(words.agents), agents))
        return Cast(
            agents=number(words.agents)[np.stack(agents)],
            rooms=number(words.rooms)[room][None],
            things=np.concatenate([number(words.objects)[thing][None], self.draw_liked(draws, split)]),
            containers=number(words.containers)[np.stack([before, after])],
        )

    def block(self, split: str, index: int) -> pa.Table:
        """Generate one block: draw, look up the proved answers of the two who are asked about, narrate."""
        return self.beginning(split, index, self.block_stories)

    def beginning(self, split: str, index: int, stories: int) -> pa.Table:
        """Generate the first stories of a block; the others are drawn, but not narrated."""
        drawn, asked = self.plots(split, index)
        drawn, asked, cast = drawn.first(stories), asked[:stories], self.cast(split, index).between(0, stories)
        pair, sentences = of_pair(drawn, asked)
        known, proved = _proved()
        answers = proved.pick(np.searchsorted(known, keys(pair)))
        texts = self.narrator.tell(*SCRIPT.told(drawn), slot_names(drawn, cast, len(self.narrator.words)))
        who = identity(self.name, split, index * self.block_stories, stories, ASKED)
        two = np.stack([cast.agents[MOVER], cast.agents[asked, np.arange(stories)]])
        about = Cast(two, cast.rooms, cast.things, cast.containers)
        return lay_out(self.narrator, who, texts, about, answers, sentences)


_WALK = (EventKind.EXIT, EventKind.ENTER, EventKind.EXIT)


def departure(events: Sequence[PlotEvent], thing: str) -> str | None:
    """Return how a story about an object differs from all stories of `tomi-matched`; None if it is one of them.

    Args:
        events: What happens, without likes and dislikes.
        thing: The object.
    """
    moves = [event for event in events if event.kind is EventKind.MOVE and event.thing == thing]
    if len(moves) != 1:
        return f"the object is moved {len(moves)} times, not once"
    rooms = {event.room for event in events}
    if len(rooms) > 1:
        return f"it happens in {len(rooms)} rooms, not in one"
    opening, rest = events[:AGENTS], events[AGENTS:]
    people = {event.agent for event in opening if event.kind is EventKind.ENTER}
    mover = moves[0].agent
    if len(people) < AGENTS or mover not in people:
        return f"it does not begin with the entries of {AGENTS} people, the mover among them"
    companions = people - {mover}
    if [event for event in rest if event.agent not in companions] != _marks(moves[0], rest[0]):
        return "mover and object do not do what they do in every story"
    if rest[0].container == moves[0].container:
        return "the object is moved to where it was"
    return _wrong_companions(rest, companions)


def _marks(move: PlotEvent, placing: PlotEvent) -> list[PlotEvent]:
    """Return what mover and object must do after the entries."""
    leaves, returns = (PlotEvent(kind, move.agent, move.room) for kind in (EventKind.EXIT, EventKind.ENTER))
    there = PlotEvent(EventKind.PLACE, None, move.room, move.thing, move.container)
    placed = there._replace(container=placing.container)
    return [placed, leaves, returns, move, there, leaves, there]


def _wrong_companions(events: Sequence[PlotEvent], companions: set[str | None]) -> str | None:
    """Return which companion does something that no companion does, or which story type they do not make."""
    stretch = -1
    walks: dict[str | None, list[tuple[EventKind, int]]] = {agent: [] for agent in sorted(map(str, companions))}
    for event in events:
        if event.agent in walks:
            walks[event.agent].append((event.kind, stretch))
        else:
            stretch += 1
    types = []
    for agent, walk in walks.items():
        kinds, when = tuple(kind for kind, _ in walk), tuple(stretch for _, stretch in walk)
        if kinds != _WALK or when not in TYPE_OF:
            return f"{agent} does not leave, come back and leave as a companion does"
        types.append(TYPE_OF[when])
    missing = sorted(set(STORY_TYPES) - set(types))
    return f"no companion makes it a story of {missing[0]}" if missing else None
