"""The checker for whole blocks against the checker for one story."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from storyproof.families.belief import block_checker as mind_blocks
from storyproof.families.belief.arrays import NOBODY, STRANGER, LocalNames, PlotArrays, decode_plot, encode_plots
from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_plots
from storyproof.families.belief.benchmarks.tom_k import PRESETS, TomK, TomKConfig
from storyproof.families.belief.block_checker import PlotEventBlock, answer_under
from storyproof.families.belief.questions import ASKS, Ask, BeliefQuestion, QuestionArrays, Reply
from storyproof.families.belief.readings import ALL_READINGS, INFER_MOVER, BeliefReading
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.generation.seeds import Draws
from tests.families.belief.plots import (
    ALL_BOXES,
    PEOPLE,
    THINGS,
    Plot,
    any_event,
    any_plot,
    chains,
    describe,
    gossiping_plot,
    plots,
    possible_plot,
)
from tests.families.belief.possible_worlds import MindWorlds
from tests.families.belief.surprises import SURPRISES

SEEDS = st.integers(0, 2**32 - 1)
UNSHRUNK = (Phase.explicit, Phase.generate)  # a smaller seed is no smaller story
SIX = (*PEOPLE, "Flo")
TALK = (EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE)

Asked = list[tuple[int, BeliefQuestion]]
Answerer = Callable[[PlotEventBlock, QuestionArrays, Sequence[BeliefReading]], Any]


def block_of(stories: PlotArrays) -> PlotEventBlock:
    return PlotEventBlock(stories.kind, stories.agent, stories.room, stories.thing, stories.container, stories.hearer)


def questions_of(asked: Asked, names: Sequence[LocalNames]) -> QuestionArrays:
    chain = np.full((max([1, *(len(each.chain) for _, each in asked)]), len(asked)), NOBODY, np.int8)
    for column, (story, each) in enumerate(asked):
        chain[: len(each.chain), column] = [names[story].agents.get(agent, STRANGER) for agent in each.chain]
    return QuestionArrays(
        np.array([story for story, _ in asked], np.intp),
        np.array([ASKS.index(each.ask) for _, each in asked], np.uint8),
        np.array([names[story].things.get(each.thing, 99) for story, each in asked], np.int8),
        chain,
        np.array(
            [NOBODY if each.place is None else names[story].containers.get(each.place, 99) for story, each in asked],
            np.int8,
        ),
    )


def any_question(rng: random.Random, people: tuple[str, ...], order: int = 6) -> BeliefQuestion:
    """Return a question of any kind; its object, place and people need not be in the story."""
    ask = rng.choice((*ASKS, *(Ask.BELIEF,) * 8, Ask.COMMON, Ask.BELIEVERS))
    thing = rng.choice((*THINGS * 6, "hat"))
    least, most = {
        Ask.REALITY: (0, 0),
        Ask.MEMORY: (0, 0),
        Ask.SAYS: (1, 1),
        Ask.KNOWS_WHERE: (1, 1),
        Ask.KNOWS_WRONG: (2, 2),
        Ask.BELIEVERS: (0, 4),
        Ask.COMMON: (2, 4),
    }.get(ask, (1, order))
    names = (*people * 4, "Nobody")
    chain = tuple(rng.choice(names) for _ in range(rng.randint(least, most)))
    return BeliefQuestion(ask, thing, chain, rng.choice((*ALL_BOXES, "hut")) if ask == Ask.BELIEVERS else None)


def code_of(found: Reply, names: LocalNames, question: BeliefQuestion) -> int:
    """Return a reply as a code; see `QuestionArrays`."""
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG):
        return int(found == "yes")
    if question.ask == Ask.BELIEVERS:
        return sum(1 << names.agents[agent] for agent in found or ())
    return NOBODY if found is None else names.containers[str(found)]


def differences(stories: Sequence[Plot], asked: Asked) -> list[str]:
    """Return where the two checkers differ; all stories are asked in one block."""
    arrays, names = encode_plots(stories)
    codes = answer_under(block_of(arrays), questions_of(asked, names), ALL_READINGS)
    differing = []
    for reading, row in zip(ALL_READINGS, codes.tolist(), strict=True):
        worlds = [MindWorlds(story, reading) for story in stories]
        for code, (story, question) in zip(row, asked, strict=True):
            expected = worlds[story].answer(question)
            if code != code_of(expected, names[story], question):
                differing.append(f"{reading}, {question}: {code}, not {expected}, in\n{describe(stories[story])}")
    return differing


def assert_equal(stories: Sequence[Plot], asked: Asked) -> None:
    differ = differences(stories, asked)
    assert not differ, f"{len(differ)}; {differ[0]}"


def some_stories(rng: random.Random, count: int) -> list[Plot]:
    """Return stories of all kinds: of different length and cast, with many messages, impossible ones."""
    found = plots(rng.randrange(2**32), count, people=5)
    for number in range(count // 2):
        cast = SIX[: rng.randint(2, 6)]
        if number % 8 == 0:
            found.append(any_plot(rng, cast, rng.randint(4, 40)))
        elif number % 8 == 4:  # some are only spoken to
            found.append(
                [any_event(rng, cast, (*TALK, EventKind.ENTER, EventKind.PLACE)) for _ in range(rng.randint(3, 8))]
            )
        elif number % 4 == 1:
            found.append([event for event in gossiping_plot(rng, cast) if rng.random() < 0.85])
        elif number % 4 == 2:
            found.append(gossiping_plot(rng, cast))
        else:
            found.append(possible_plot(rng, cast, rng.randint(10, 40), (*TALK * 8, EventKind.ENTER, EventKind.EXIT)))
    rng.shuffle(found)
    return found


def ask_about(rng: random.Random, stories: Sequence[Plot], each: int) -> Asked:
    asked = [(story, any_question(rng, SIX)) for story in range(len(stories)) for _ in range(each)]
    rng.shuffle(asked)
    return asked


@given(SEEDS)
@settings(max_examples=4, phases=UNSHRUNK, deadline=None)
def test_blocks_are_checked_as_single_stories_are(seed: int) -> None:
    rng = random.Random(seed)
    stories = some_stories(rng, 24)
    assert_equal(stories, ask_about(rng, stories, 40))


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=40, phases=UNSHRUNK, deadline=None)
def test_many_blocks_are_checked_as_single_stories_are(seed: int) -> None:
    rng = random.Random(seed)
    stories = some_stories(rng, 60)
    assert_equal(stories, ask_about(rng, stories, 40))


@given(SEEDS)
@settings(max_examples=3, phases=UNSHRUNK, deadline=None)
def test_long_stories_and_many_messages(seed: int) -> None:
    rng = random.Random(seed)
    stories = [
        possible_plot(rng, PEOPLE[:3], 70),
        any_plot(rng, SIX, 140),
        possible_plot(rng, PEOPLE, 33),
        possible_plot(rng, PEOPLE[:4], 60, (*TALK * 3, EventKind.ENTER, EventKind.EXIT, EventKind.MOVE)),
        any_plot(rng, PEOPLE[:2], 3),
        [],
    ]
    assert_equal(stories, ask_about(rng, stories, 60))


def test_many_people_and_objects() -> None:
    rng = random.Random(5)
    people = tuple(f"P{number}" for number in range(31))
    story: Plot = [PlotEvent(EventKind.NOISE, name) for name in people]
    story += [PlotEvent(EventKind.PLACE, None, "attic", f"thing {number}", "jar") for number in range(9)]
    stories = [story + possible_plot(rng, people[-6:], 50) for _ in range(3)]
    asked = [(number % 3, any_question(rng, people[-7:])) for number in range(300)]
    assert_equal(stories, asked)


def drawn_stories(dials: PlotDials, count: int) -> tuple[PlotArrays, LocalNames]:
    return draw_plots(dials, Draws("mind blocks"), count).stories, LocalNames.generic(20)


def drawn_questions(dials: PlotDials, count: int, order: int) -> Asked:
    """Return questions about drawn stories: a belief of each order, and one of another kind."""
    rng = random.Random(count)
    people, found = [f"a{number}" for number in range(dials.agents)], []
    for story in range(count):
        thing = f"o{rng.randrange(dials.objects)}"
        found += [
            (story, BeliefQuestion(Ask.BELIEF, thing, tuple(rng.choices(people, k=length))))
            for length in range(1, order + 1)
        ]
        ask = ASKS[story % len(ASKS)]
        size = {Ask.REALITY: 0, Ask.MEMORY: 0, Ask.KNOWS_WRONG: 2, Ask.COMMON: rng.randint(2, 3)}.get(ask, 1)
        place = f"c{rng.randrange(3 * dials.rooms)}" if ask == Ask.BELIEVERS else None
        found.append((story, BeliefQuestion(ask, thing, tuple(rng.sample(people, size)), place)))
    return found


def assert_equal_on_drawn(preset: str, count: int) -> None:
    config = TomKConfig(**PRESETS[preset])
    stories, names = drawn_stories(config.plot_dials, count)
    asked = drawn_questions(config.plot_dials, count, config.order)
    codes = answer_under(block_of(stories), questions_of(asked, [names] * count), ALL_READINGS)
    by_story: dict[int, list[int]] = {}
    for place, (story, _) in enumerate(asked):
        by_story.setdefault(story, []).append(place)
    for story, places in by_story.items():
        events = decode_plot(stories, story, names)
        for reading, row in zip(ALL_READINGS, codes, strict=True):
            worlds = MindWorlds(events, reading)
            for place in places:
                question = asked[place][1]
                expected = worlds.answer(question)
                message = f"{reading}, {question}: {row[place]}, not {expected}, in\n{describe(events)}"
                assert row[place] == code_of(expected, names, question), message


@pytest.mark.parametrize("preset", ["easy", "medium", "hard", "extreme"])
def test_drawn_stories(preset: str) -> None:
    assert_equal_on_drawn(preset, 64)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "count"), [("easy", 8_000), ("medium", 16_000), ("hard", 8_000), ("extreme", 3_000)]
)
def test_tens_of_thousands_of_drawn_stories(preset: str, count: int) -> None:
    assert_equal_on_drawn(preset, count)


def test_large_blocks_are_answered_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    stories = some_stories(rng, 24)
    arrays, names = encode_plots(stories)
    asked = questions_of(ask_about(rng, stories, 10), names)
    whole = answer_under(block_of(arrays), asked, ALL_READINGS)
    monkeypatch.setattr(mind_blocks, "_AT_ONCE", 60)
    monkeypatch.setattr(mind_blocks, "_MOST_CHAINS", 7)
    assert (answer_under(block_of(arrays), asked, ALL_READINGS) == whole).all()
    for reading, row in zip(ALL_READINGS, whole, strict=True):
        assert (answer_under(block_of(arrays), asked, [reading])[0] == row).all()
    assert (answer_under(block_of(arrays), asked, ALL_READINGS[::-1]) == whole[::-1]).all()


def test_no_stories_and_no_questions() -> None:
    arrays, names = encode_plots([])
    assert answer_under(block_of(arrays), questions_of([], names), ALL_READINGS).shape == (12, 0)
    arrays, _ = encode_plots([[]])
    empty = PlotEventBlock(arrays.kind[:0], *(arrays.agent[:0],) * 5)
    asked = questions_of(
        [(0, BeliefQuestion(ask, "key", ("Ada",) * 2)) for ask in (Ask.BELIEF, Ask.COMMON)],
        [LocalNames({}, {}, {}, {})],
    )
    assert (answer_under(empty, asked, ALL_READINGS) == NOBODY).all()


MUTATIONS = {
    "secret observers are known": (
        "(inside | before, notices, inside)",
        "(inside | before | notices, notices, inside)",
    ),
    "the distracted know who stays": ("notices |= leaves & attentive[:-1, None]", "notices |= leaves"),
    "leavers do not know who stays": ("(inside | before, notices, inside)", "(inside, notices, inside)"),
    "the distracted hear": ("& is_told))) & attentive", "& is_told)))"),
    "watchers hear whispers": ("(is_inside & is_told)", "(is_inside & (is_told | is_whispered))"),
    "whispers are heard by all": ("(is_whispered & (acts | hears))", "is_whispered"),
    "announcements reach those who are nowhere": ("(where >= 0) & (is_inside & is_public)", "is_inside & is_public"),
    "announcements come from nowhere": ("(where >= 0) & (is_inside & is_public)", "(where >= 0) & is_public"),
    "closed containers are open": ("if sight == CLOSED:", "if False:"),
    "who is said to be somewhere did not come": ("comes = self._enters |", "comes = self._enters & "),
    "whoever is in a room returns": (
        "self._enters, peeks = kind == EventKind.ENTER,",
        "self._enters, peeks = kind < 4,",
    ),
    "the distracted find objects moved": (" == who)) & self._attentive[1:]", " == who))"),
    "those who stay are suspicious": ("rejoins &= walked_out", "pass"),
    "people are left behind anywhere": ("np.equal(met, now, out=rejoins)", "rejoins[:] = True"),
    "everything surprises": ("surprised = _differ(places, place)", "surprised = np.ones(len(row), np.bool_)"),
    "words prepare for no surprise": ("changes, known = changes | told, seen | told", "pass"),
    "surprises last for ever": ("shown = seen | surprises", "shown = seen"),
    "who is asked about is counted": ("believe &= np.arange(self._people)[:, None] != chain[0, whose]", "pass"),
    "whoever is right about the other knows": ("(own == real) & (thought == others)", "(thought == others)"),
    "whoever is right knows": ("(own == real) & (thought == others)", "(own == real)"),
    "speakers believe themselves": ("steps[:, alone] &= ~self._said_by", "steps[:, alone] |= 0 & self._said_by"),
    "as late is not late enough": ("(_latest(its) >= own)", "(_latest(its) > own)"),
    "who stays as long is trusted": ("= its > stayed", "= its >= stayed"),
    "the distrusted are sincere": ("chains.last_but_one, chains.last)", "chains.last, chains.last)"),
    "news are lies": ("(_latest(seen) > its) | (its == 2 * time + 2)", "its >= 0"),
    "who looks on catches nobody": (" | (its == 2 * time + 2)", ""),
    "liars are forgiven": (
        "self._below.take(2 * message.time + 1, axis=1)",
        "(self._below.take(2 * message.time + 1, axis=1) & ~self._below.take(2 * message.time, axis=1))",
    ),
    "the first lie is believed": ("self._below.take(2 * message.time + 1,", "self._below.take(2 * message.time,"),
    "liars are taken at their word": ("chains.without_last(np.flatnonzero(speaker == chains.last))", "chains"),
    "those who know nothing are liars": ("(believed != _NONE) & (believed != said)", "believed != said"),
    "words about anything count": ("steps = steps & self._about.take(self._of_thing(chains), axis=1)", "pass"),
    "chains of two are enough": ("if member != chain[-1] and", "if len(chain) < 2 and member != chain[-1] and"),
    "what all saw is the last": ("_latest(any_step) == _latest(all", "_latest(all_steps) == _latest(all"),
    "speakers do not see what they speak of": ("below[:-1:2] | bits[1::2]", "below[:-1:2]"),
}


@cache
def examples(seed: int) -> tuple[PlotEventBlock, QuestionArrays, list[list[int]]]:
    """Return stories, questions and the answers of `MindWorlds` by reading."""
    rng = random.Random(seed)
    stories = some_stories(rng, 24)
    asked = ask_about(rng, stories, 40)
    if seed == 0:  # what random stories rarely show
        beliefs = [BeliefQuestion(Ask.BELIEF, "key", chain) for chain in chains(PEOPLE[:3], 2)]
        asked += [(len(stories) + number, each) for number in range(len(SURPRISES)) for each in beliefs]
        stories += [list(row[1]) for row in SURPRISES]
    arrays, names = encode_plots(stories)
    codes = []
    for reading in ALL_READINGS:
        worlds = [MindWorlds(story, reading) for story in stories]
        codes.append([code_of(worlds[story].answer(each), names[story], each) for story, each in asked])
    return block_of(arrays), questions_of(asked, names), codes


def is_noticed(seed: int, answerer: Answerer) -> bool:
    stories, asked, expected = examples(seed)
    found: list[list[int]] = answerer(stories, asked, ALL_READINGS).tolist()
    return found != expected


def mutant(old: str, new: str) -> Answerer:
    """Return the module's function after replacing a piece of its code."""
    source = Path(str(mind_blocks.__file__)).read_text(encoding="utf-8")
    assert source.count(old) == 1, old
    module = ModuleType("mutated_mind_blocks")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source.replace(old, new), "mutated_mind_blocks", "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    found: Answerer = module.answer_under
    return found


# Of what decides which answers are asked for again if people infer who moved an object.
SHORT_CUTS = {
    "only single agents infer movers": ("(is_named.sum(axis=0) == 2)", "(is_named.sum(axis=0) == 1)"),
    "who is asked for infers nothing": ("changes = is_open & by", "changes = ~is_open & by"),
    "liars are judged before surprises": ("doubting[who, each, story] = told.any(axis=0)", "pass"),
}
TALKATIVE = TomKConfig(order=2, agents=3, objects=2, moves=5, tells=4, lies=4, unknown=True)


def short_cut_is_wrong(answerer: Answerer) -> bool:
    drawn = TomK(TALKATIVE).plots("test", 0)
    together = answerer(block_of(drawn.stories), drawn.asked, ALL_READINGS)
    return any(
        (answer_under(block_of(drawn.stories), drawn.asked, [reading])[0] != codes).any()
        for reading, codes in zip(ALL_READINGS, together, strict=True)
        if reading.sight == INFER_MOVER
    )


def test_who_infers_movers_is_answered_alike_alone_and_with_other_readings() -> None:
    assert not short_cut_is_wrong(answer_under)


@pytest.mark.parametrize("name", SHORT_CUTS)
def test_wrong_short_cuts_are_noticed(name: str) -> None:
    assert short_cut_is_wrong(mutant(*SHORT_CUTS[name]))


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutations_are_noticed(name: str) -> None:
    changed = mutant(*MUTATIONS[name])
    assert not any(is_noticed(seed, answer_under) for seed in range(2))
    assert any(is_noticed(seed, changed) for seed in range(12))


def test_common_belief_takes_chains_of_four() -> None:
    story = [
        PlotEvent(EventKind.ENTER, "Cy", "attic"),
        PlotEvent(EventKind.PLACE, None, "attic", "key", "tin"),
        PlotEvent(EventKind.ENTER, "Bo", "attic"),
        PlotEvent(EventKind.EXIT, "Cy", "attic"),
        PlotEvent(EventKind.PEEK, "Bo", "barn"),
        PlotEvent(EventKind.PEEK, "Ada", "attic"),
        PlotEvent(EventKind.MOVE, "Bo", "attic", "key", "jar"),
        PlotEvent(EventKind.ENTER, "Cy", "attic"),
        PlotEvent(EventKind.ENTER, "Ada", "barn"),
        PlotEvent(EventKind.EXIT, "Cy", "attic"),
        PlotEvent(EventKind.ENTER, "Cy", "attic"),
        PlotEvent(EventKind.ANNOUNCE, "Cy", None, "key", "jar"),
        PlotEvent(EventKind.ANNOUNCE, "Bo", None, "key", "pot"),
        PlotEvent(EventKind.ANNOUNCE, "Bo", None, "key", "jar"),
        PlotEvent(EventKind.EXIT, "Bo", "attic"),
    ]
    asked = [(0, BeliefQuestion(Ask.COMMON, "key", ("Ada", "Bo", "Cy")))]
    assert_equal([story], asked)
    arrays, names = encode_plots([story])
    short = mutant("if member != chain[-1] and", "if len(chain) < 3 and member != chain[-1] and")
    codes = [
        each(block_of(arrays), questions_of(asked, names), ALL_READINGS).tolist() for each in (answer_under, short)
    ]
    assert codes[0] != codes[1]
