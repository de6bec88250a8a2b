"""Questions are chosen so that cheap readers are right no more often than one who guesses."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from storyproof.families.belief import oracle
from storyproof.families.belief.arrays import NOBODY
from storyproof.families.belief.benchmarks import short_chains
from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_plots
from storyproof.families.belief.benchmarks.question_sampler import (
    balance,
    choose_beliefs,
    choose_others,
    choose_stories,
    draw_chains,
    draw_questions,
    find_places,
    tells_truly,
)
from storyproof.families.belief.provers import answer
from storyproof.families.belief.questions import ASKS, Ask
from storyproof.families.belief.readings import ALL_READINGS, DEFAULT_READING, BeliefReading
from storyproof.families.belief.trajectories import Course
from storyproof.families.belief.world import MESSAGES
from storyproof.generation.seeds import Draws
from tests.families.belief.benchmarks.test_plot_sampler import events_of
from tests.families.belief.possible_worlds import MindWorlds

DIALS = PlotDials(agents=4, rooms=2, objects=2, moves=4, tells=2, lies=1, peeks=1, distractions=1, noise=1, walks=12)


def test_prices_bring_readers_down_to_guessing() -> None:
    draws = Draws("balance")
    rows, columns = 8, 4000
    right = [draws.below(10, rows * columns).reshape(rows, columns) < 7 for _ in range(3)]
    fits = draws.below(4, rows * columns).reshape(rows, columns) > 0
    bits = sum(flags.astype(np.uint8) << place for place, flags in enumerate(right))
    choices = np.full((rows, columns), 3, np.int8)
    chosen = balance(fits, bits.astype(np.uint8), [True, False, False], [1.0] * 3, choices, draws.bytes(rows, columns))
    at = chosen, np.arange(columns)
    kept = fits.any(axis=0)
    assert fits[at][kept].all()
    first, *others = (float(flags[at][kept].mean()) for flags in right)
    assert abs(first - 1 / 3) < 0.04
    assert max(others) < 0.38


def test_questions_of_every_order_are_chosen_and_have_answers() -> None:
    drawn = draw_plots(DIALS, Draws("selection"), 300)
    places = find_places(drawn.stories, DIALS.objects, 6)
    chains = draw_questions(drawn.stories, places, Draws("chains"), 3, DIALS.agents, DEFAULT_READING, unknown=False)
    kept = choose_stories(chains.orders, np.ones(300, np.bool_), 150)
    assert len(kept) == 150
    chosen = choose_beliefs(chains.pick(kept).orders)
    stories = [events_of(drawn)[column] for column in kept[:40]]
    for order, choice in enumerate(chosen, start=1):
        assert choice.chain.shape == (order, 150)
        for column, events in enumerate(stories):
            worlds = MindWorlds(events, DEFAULT_READING)
            chain, thing = [f"a{agent}" for agent in choice.chain[:, column]], f"o{choice.thing[column]}"
            answer = worlds.belief(chain, thing)
            assert answer is not None
            shorter = {
                "reality": worlds.reality(thing),
                "first_mention": worlds.memory(thing),
                **({"without_last": worlds.belief(chain[:-1], thing)} if order > 1 else {}),
                **({"without_first": worlds.belief(chain[1:], thing)} if order > 1 else {}),
                **({"first_alone": worlds.belief(chain[:1], thing)} if order > 2 else {}),
                **({"last_alone": worlds.belief(chain[-1:], thing)} if order > 2 else {}),
            }
            assert {name: bool(choice.right[name][column]) for name in shorter} == {
                name: place == answer for name, place in shorter.items()
            }
    assert all(abs(float(each.right["reality"].mean()) - float(each.guess.mean())) < 0.2 for each in chosen)


def test_chains_have_nobody_twice_in_a_row() -> None:
    for agents, length in ((2, 5), (3, 8), (5, 4), (6, 6)):
        chain = draw_chains(Draws("chains", agents), agents, length, 200)
        assert (chain[1:] != chain[:-1]).all()
        assert (chain >= 0).all()
        assert (chain < agents).all()
        if length <= min(agents, 4):
            assert all(len(set(column)) == length for column in chain.T.tolist())


def test_stories_whose_lies_are_no_lies_under_another_reading_are_found() -> None:
    dials = PlotDials(agents=3, objects=1, moves=2, tells=4, lies=2, walks=8)
    drawn, reading = draw_plots(dials, Draws("lies"), 60), BeliefReading(trust="fresher")
    assert tells_truly(drawn.stories, drawn.lie, DEFAULT_READING).all()
    found = tells_truly(drawn.stories, drawn.lie, reading)
    assert 0 < found.sum() < 60
    for column, story in enumerate(events_of(drawn)):
        fits = all(
            (MindWorlds(story[:time], reading).belief((str(event.agent),), str(event.thing)) != event.container)
            == drawn.lie[time, column]
            for time, event in enumerate(story)
            if event.kind in MESSAGES
        )
        assert fits == found[column]


def test_places_are_those_of_puttings_and_words() -> None:
    drawn = draw_plots(DIALS, Draws("places"), 40)
    places = find_places(drawn.stories, DIALS.objects, 6)
    for column, story in enumerate(events_of(drawn)):
        for thing in range(DIALS.objects):
            said = [event.container for event in story if event.thing == f"o{thing}" and event.container]
            found = (places.count, places.first, places.last, places.real)
            count, first, last, real = (int(each[thing, column]) for each in found)
            worlds = MindWorlds(story, DEFAULT_READING)
            assert count == len(set(said))
            assert [f"c{first}", f"c{last}", f"c{real}"] == [said[0], said[-1], worlds.reality(f"o{thing}")]
            assert NOBODY not in (first, last, real)


@pytest.mark.parametrize("sight", ["open", "closed"])
@pytest.mark.parametrize("noise", [1, 50])  # in one word of instants, and in two
def test_beliefs_in_whole_stories_are_those_of_single_questions(sight: str, noise: int) -> None:
    stories = draw_plots(replace(DIALS, noise=noise), Draws("whole", noise), 200).stories
    course, reading = Course.of(stories), BeliefReading(sight)
    chains = [(2,), (0, 1), (3, 0), (1, 0, 2), (0, 1, 0), (3, 0, 1, 2)]
    found = short_chains.beliefs_of_all(course, chains, reading)
    columns = np.arange(200)
    for chain, by_object in zip(chains, found, strict=True):
        who = np.repeat(np.array(chain, np.int8)[:, None], 200, axis=1)
        for thing, places in enumerate(by_object):
            things = np.full(200, thing, np.int8)
            assert (oracle.beliefs(course, columns, things, who, reading) == places).all()


def beliefs_one_by_one(course: Course, way: tuple[int, ...], thing: int, reading: BeliefReading) -> list[int]:
    """Return what a chain believes about an object in each story, from the oracle."""
    columns = np.arange(course.count)
    who = np.repeat(np.array(way, np.int8)[:, None], course.count, axis=1)
    return oracle.beliefs(course, columns, np.full(course.count, thing, np.int8), who, reading).tolist()


@pytest.mark.parametrize("reading", ALL_READINGS, ids=str)
@pytest.mark.parametrize(("agents", "objects"), [(2, 1), (3, 3), (4, 2)])
def test_what_short_chains_believe_is_what_the_oracle_says(reading: BeliefReading, agents: int, objects: int) -> None:
    dials = replace(DIALS, agents=agents, objects=objects)
    drawn = draw_plots(dials, Draws("short", agents, objects), 25)
    course, objects = Course.of(drawn.stories), Course.of(drawn.stories).objects
    short = short_chains.find_short(course, objects, agents, 3, reading)
    assert short.places.shape[1:] == (objects, course.count)
    assert len(short.rows) == (min(3, agents) if not oracle.is_weighed(reading) else 2)
    columns = np.arange(course.count)
    for length in range(1, len(short.rows) + 1):
        for way in permutations(range(agents), length):
            chain = np.repeat(np.array(way, np.int8)[:, None], course.count, axis=1)
            for thing in range(objects):
                found = short.of(chain, thing * course.count + columns)
                assert found.tolist() == beliefs_one_by_one(course, way, thing, reading)
    few = np.array([3, 7, 7])
    assert (short.pick(few).places == short.places[:, :, few]).all()


@pytest.mark.parametrize("trust", ["always", "fresher"])
@pytest.mark.parametrize("objects", [1, 2])
def test_as_many_beliefs_are_found_at_once_as_are_worth_it(
    trust: str, objects: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chains of one and two of four agents are 4 and 16, whatever the order in them."""
    reading = BeliefReading(trust=trust)
    name = "_ALL_PAIRS" if oracle.is_weighed(reading) else "_ALL_SETS"
    course = Course.of(draw_plots(replace(DIALS, objects=objects), Draws("worth"), 5).stories)
    for most, longest, chains in ((0, 1, 4), (16 * objects - 1, 1, 4), (16 * objects, 2, 16)):
        monkeypatch.setattr(short_chains, name, most)
        short = short_chains.find_short(course, objects, 4, 3, reading)
        assert len(short.rows) == longest
        assert short.places.shape == (chains, objects, 5)
    for name in ("_ALL_PAIRS", "_ALL_SETS"):
        monkeypatch.setattr(short_chains, name, 10_000)
    shorts = [short_chains.find_short(course, objects, 4, order, reading) for order in (1, 2, 3, 4)]
    # Of three agents, only who is first matters, and not the order of the other two.
    expected = (
        [(1, 4), (2, 16), (2, 16), (2, 16)] if oracle.is_weighed(reading) else [(1, 4), (2, 16), (3, 28), (3, 28)]
    )
    assert [(len(short.rows), len(short.places)) for short in shorts] == expected


def test_what_pairs_believe_spares_the_oracle() -> None:
    drawn = draw_plots(DIALS, Draws("pairs"), 500)
    places = find_places(drawn.stories, DIALS.objects, 6)
    by_order = []
    for order in (1, 2):  # only what single agents believe is known, and that of pairs
        known = draw_questions(drawn.stories, places, Draws("known"), order, 4, DEFAULT_READING, unknown=False).known
        assert len(known.rows) == order
        kinds = (Ask.KNOWS_WRONG, Ask.COMMON)
        by_order.append(
            choose_others(drawn.stories, places, known, Draws("kinds"), kinds, 3, DEFAULT_READING, unknown=False)
        )
    one, other = by_order
    assert (one.ask == other.ask).all()
    assert (one.thing == other.thing).all()
    assert (one.chain == other.chain).all()


def test_questions_of_other_kinds_are_asked_equally_often_with_more_balanced_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = (Ask.SAYS, Ask.KNOWS_WHERE, Ask.KNOWS_WRONG, Ask.BELIEVERS, Ask.COMMON)
    drawn = draw_plots(DIALS, Draws("others"), 1000)
    places = find_places(drawn.stories, DIALS.objects, 6)
    known = draw_questions(drawn.stories, places, Draws("known"), 1, 4, DEFAULT_READING, unknown=False).known

    def shares() -> dict[Ask, float]:
        """Return how often the answer is yes, or where the object really is."""
        asked = choose_others(drawn.stories, places, known, Draws("kinds"), kinds, 3, DEFAULT_READING, unknown=False)
        assert asked.story.tolist() == list(range(1000))
        codes, found = answer(drawn.stories, asked, DEFAULT_READING), {}
        for kind in kinds:
            chosen = np.flatnonzero(asked.ask == ASKS.index(kind))
            lengths = set((asked.chain[:, chosen] >= 0).sum(axis=0).tolist())
            assert lengths == {Ask.BELIEVERS: {0, 1, 2}, Ask.COMMON: {2, 3}, Ask.KNOWS_WRONG: {2}}.get(kind, {1})
            assert (asked.place[chosen] >= 0).all() == (kind == Ask.BELIEVERS)
            if kind in (Ask.SAYS, Ask.COMMON):
                assert (codes[chosen] != NOBODY).all()
                found[kind] = float((codes[chosen] == places.real[asked.thing[chosen], chosen]).mean())
            elif kind != Ask.BELIEVERS:
                found[kind] = float(codes[chosen].mean())
            assert kind in (Ask.KNOWS_WHERE, Ask.COMMON) or 130 < len(chosen) < 270
        return found

    chosen = shares()
    monkeypatch.setattr("storyproof.families.belief.benchmarks.question_sampler._FURTHER", 1)
    for kind, share in shares().items():
        assert abs(chosen[kind] - 0.5) < abs(share - 0.5) + 0.02, kind
    assert max(abs(chosen[kind] - 0.5) for kind in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG)) < 0.2


def test_beliefs_that_are_looked_up_are_those_of_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = draw_plots(DIALS, Draws("pairs"), 100)
    places = find_places(drawn.stories, DIALS.objects, 6)

    def found() -> list[np.ndarray]:
        chains = draw_questions(drawn.stories, places, Draws("chains"), 4, 4, DEFAULT_READING, unknown=False)
        return [each.right for each in chains.orders]

    looked_up = found()
    monkeypatch.setattr("storyproof.families.belief.benchmarks.short_chains._ALL_PAIRS", 0)
    for one, other in zip(looked_up, found(), strict=True):
        assert (one == other).all()
