from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.benchmark import BLOCK_STORIES
from storyproof.datasets.generate import generate
from storyproof.errors import VocabularyError
from storyproof.families.belief.benchmarks.base import BeliefConfig
from storyproof.families.belief.benchmarks.script import keys
from storyproof.families.belief.benchmarks.tomi_matched import (
    _ENTER,
    _EXIT,
    ABSENT,
    AGENTS,
    LENGTH,
    MOVES,
    PRESENT,
    SCRIPT,
    TYPE_OF,
    WAYS,
    TomiMatched,
    _proved,
    departure,
    draw_plots,
    draw_skeletons,
    draw_ways,
    of_pair,
    pair_plots,
)
from storyproof.families.belief.benchmarks.tomi_questions import ASKED, Answers, ask
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.tomi_labels import STORY_TYPES, Questions, ask_plainly, confirm, label, story_type
from storyproof.families.belief.tomi_text import FEELINGS, narrate, parse
from storyproof.families.belief.vocabulary import from_lists
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.generation.seeds import Draws
from tests.families.belief.asking import ask_both, belief
from tests.families.belief.benchmarks.test_tomi import surprise
from tests.groups import try_examples
from tests.samples import table

DRAWN = 48_000
COMPANION = {kind: number for number, kind in enumerate(STORY_TYPES, start=1)}  # the agent who makes the type


def whole_questions(bare: np.ndarray, asked: np.ndarray) -> Questions:
    """Ask the six questions of whole stories about the mover and whoever is asked, with everybody in view."""
    stories, count = SCRIPT.spell(bare), bare.shape[1]
    six = ask(stories)
    chain = np.where(six.chain == 1, asked[six.story].astype(np.int8), six.chain)
    mover = np.zeros(len(six.story), np.int8)
    types = story_type(stories, np.arange(count), mover[:count], mover[:count], asked.astype(np.int8))
    labels = label(stories, ask_plainly(six.story, six.thing, chain, six.memory), mover)
    return Questions(six.story, six.thing, chain, six.memory, types[six.story], labels)


def test_ways_are_of_the_type_that_they_are_filed_under() -> None:
    known, answers = _proved()  # by the oracle, and confirmed by the checker
    plots = pair_plots()
    types = [STORY_TYPES[answers.story_type[np.searchsorted(known, key), 0]] for key in keys(plots)]
    assert types == [TYPE_OF[way] for _ in range(2) for way in TYPE_OF]
    assert len(set(known.tolist())) == 2 * len(TYPE_OF) == 88
    assert {kind: len(ways) for kind, ways in WAYS.items()} == dict(zip(STORY_TYPES, (33, 10, 1), strict=True))


def test_no_answer_hangs_on_a_reading() -> None:
    _, answers = _proved()
    assert answers.holds.shape == (88, ASKED, len(READINGS))
    assert answers.holds.all()


def test_without_the_mover_leaving_and_the_object_spoken_of_again_answers_would_hang_on_readings() -> None:
    """Why the stories are as long as they are: this is the plain second-order false belief."""
    events = parse(
        "M entered the r.\nS entered the r.\nThe o is in the c.\nS exited the r.\nM moved the o to the d.\n"
        "M exited the r.\nS entered the r.\nS exited the r."
    )
    assert [ask_both(events, belief("o", "S"), reading) for reading in READINGS] == ["d", "c", "d"]
    assert [ask_both(events, belief("o", "S", "M"), reading) for reading in READINGS] == ["c", "c", "d"]


@try_examples(25)
@given(st.integers(0, 2**40))
def test_what_the_other_two_do_changes_no_answer_and_no_proof(seed: int) -> None:
    plots, asked = draw_plots(Draws("whole", seed), 24)
    pair, sentences = of_pair(plots, asked)
    known, answers = _proved()
    found = answers.pick(np.searchsorted(known, keys(pair)))
    questions = whole_questions(plots.bare, asked)
    whole = Answers.of(questions)
    mover, other = np.zeros(24 * ASKED, np.int8), np.repeat(asked, ASKED).astype(np.int8)
    confirm(SCRIPT.spell(plots.bare), questions, mover, other)
    assert questions.labels.holds.all()
    for name in ("place", "holds", "false_belief", "question_type", "story_type"):
        assert (getattr(found, name) == getattr(whole, name)).all(), name
    for story in range(24):
        for number in range(ASKED):
            told = plots.sentence[whole.proof[story, number], story]
            assert sentences[found.proof[story, number], story].tolist() == told.tolist()


def test_every_story_has_a_companion_of_each_type() -> None:
    bare = draw_skeletons(Draws("each"), 200)
    for kind, agent in COMPANION.items():
        questions = whole_questions(bare, np.full(200, agent))
        assert {STORY_TYPES[number] for number in questions.story_type.tolist()} == {kind}


def test_companions_do_the_same_and_the_mover_always_its_own() -> None:
    bare = draw_skeletons(Draws("same"), 2_000)
    for agent in range(AGENTS):
        assert ((bare == _ENTER[agent]).sum(axis=0) == 2).all()
        assert ((bare == _EXIT[agent]).sum(axis=0) == 2).all()
    assert (np.sort(bare[:AGENTS], axis=0) == np.array(_ENTER)[:, None]).all()
    assert (bare[AGENTS] == SCRIPT.code["object placed"]).all()
    assert ((bare == SCRIPT.code["object moved"]).sum(axis=0) == 1).all()
    assert ((bare == SCRIPT.code["object there"]).sum(axis=0) == 2).all()
    assert len(bare) == LENGTH == 20


def test_half_of_those_with_a_true_belief_were_there_at_the_move() -> None:
    ways = [tuple(way) for way in draw_ways(Draws("halves"), DRAWN)[0].T.tolist()]
    there = sum(way[1] < MOVES for way in ways)
    assert surprise(np.array([there, DRAWN - there]), np.full(2, DRAWN / 2)) < 3.5
    for kinds, drawn in ((PRESENT, there), (ABSENT, DRAWN - there)):
        counts = Counter(way for way in ways if way in kinds)
        assert surprise(np.array([counts[way] for way in kinds]), np.full(len(kinds), drawn / len(kinds))) < 3.5
    assert not set(PRESENT) & set(ABSENT)


def test_false_beliefs_are_drawn_alike() -> None:
    counts = Counter(map(tuple, draw_ways(Draws("false"), DRAWN)[1].T.tolist()))
    known = WAYS["false_belief"]
    assert surprise(np.array([counts[way] for way in known]), np.full(len(known), DRAWN / len(known))) < 3.5


def test_openings_and_interleavings_are_drawn_alike() -> None:
    bare = draw_skeletons(Draws("orders"), DRAWN)
    openings = Counter(map(tuple, bare[:AGENTS].T.tolist()))
    counts = np.array([openings[order] for order in permutations(_ENTER)])
    assert surprise(counts, np.full(24, DRAWN / 24)) < 3.5
    # Where the companion of the true belief leaves in the last stretch, the other one does so before or after it.
    last = bare[-2:]
    both = np.isin(last, [_EXIT[COMPANION[kind]] for kind in ("true_belief", "second_order_false_belief")]).all(axis=0)
    first = (last[0, both] == _EXIT[COMPANION["true_belief"]]).sum()
    assert both.sum() > 5_000
    assert surprise(np.array([first, both.sum() - first]), np.full(2, both.sum() / 2)) < 3.5


def test_statements_are_as_many_and_by_whom_tomi_has_them() -> None:
    plots = SCRIPT.add_statements(Draws("likes"), draw_skeletons(Draws("bare"), DRAWN), np.full(DRAWN, LENGTH))
    statements = np.isin(plots.told, [SCRIPT.code["first statement"], SCRIPT.code["second statement"]])
    assert surprise(np.bincount(statements.sum(axis=0)), np.full(3, DRAWN / 3)) < 3.5
    assert surprise(np.bincount(plots.feelers[0]), np.full(AGENTS, DRAWN / AGENTS)) < 3.5
    assert not statements[-1].any()
    assert (np.take_along_axis(plots.told, plots.sentence.astype(np.intp), axis=0) == plots.bare).all()


def skeleton(story: str) -> list[str]:
    """Tell a story with its names numbered by first appearance; what is liked is left out, for it is drawn anew."""
    names: dict[str, str] = defaultdict(lambda: f"n{len(names)}")
    plain = {"The", "the", "is", "in", "to", "entered", "exited", "moved", *FEELINGS}
    lines = []
    for line in story.split("\n"):
        words = line.rstrip(".").split()
        if words[1] in FEELINGS:
            words = words[:-1]
        lines.append(" ".join(word if word in plain else names[word] for word in words))
    return lines


@pytest.mark.parametrize("split", ["train", "test"])
def test_stories_come_in_threes_that_are_told_alike_and_asked_of_each_companion(split: str) -> None:
    rows = table("tomi-matched", split, 99).to_pylist()[4::ASKED]  # where the other will look
    for start in range(0, 99, 3):
        three = rows[start : start + 3]
        assert {row["story_type"] for row in three} == set(STORY_TYPES)
        told = [skeleton(row["story"]) for row in three]
        assert told[0] == told[1] == told[2]
        assert len({row["story"] for row in three}) == 3
        # The same skeleton asked about three people: they enter at three places.
        places = {
            [line.split()[0] for line in row["story"].split("\n") if " entered " in line].index(row["chain"][0])
            for row in three
        }
        assert len(places) == 3


def test_types_come_in_any_order_within_a_three() -> None:
    _, asked = draw_plots(Draws("threes"), DRAWN)
    threes = asked.reshape(-1, 3)
    assert (np.sort(threes, axis=1) == [1, 2, 3]).all()
    orders = Counter(map(tuple, threes.tolist()))
    assert surprise(np.array([orders[order] for order in permutations((1, 2, 3))]), np.full(6, DRAWN / 18)) < 3.5


def test_six_questions_about_the_mover_and_one_other() -> None:
    rows = table("tomi-matched", "test", 99).to_pylist()
    for start in range(0, len(rows), ASKED):
        six = rows[start : start + ASKED]
        kinds = [row["question_type"].removesuffix("_tom").removesuffix("_no") for row in six]
        assert kinds == ["memory", "first_order_0", "second_order_0", "reality", "first_order_1", "second_order_1"]
        mover = next(line for line in six[0]["story"].split("\n") if " moved " in line).split()[0]
        other = six[4]["chain"][0]
        assert [row["chain"] for row in six] == [[], [mover], [mover, other], [], [other], [other, mover]]
        assert all(row["readings"] == list(READINGS) for row in six)


def test_words_are_drawn_alike_and_differ() -> None:
    benchmark = TomiMatched(seed=5)
    cast = benchmark.cast("train", 0)
    number = benchmark.narrator.numbers(benchmark.config.vocabulary.agents)
    for agents in cast.agents:
        counts = np.array([(agents == word).sum() for word in number])
        assert surprise(counts, np.full(len(number), BLOCK_STORIES / len(number))) < 3.5
    assert (np.diff(np.sort(cast.agents, axis=0), axis=0) > 0).all()
    assert (cast.containers[0] != cast.containers[1]).all()


def test_no_story_occurs_twice_even_with_few_words() -> None:
    few = {"agents": ["Ada", "Bo", "Cy", "Di"], "rooms": ["attic"], "containers": ["box", "jar"]}
    words = from_lists({**few, "objects": [f"thing{number}" for number in range(300)]})
    most = TomiMatched(BeliefConfig(vocabulary=words)).capacity("train") // 3 * 3
    made = generate("tomi-matched", train=most, val=most, test=most, vocabulary=words)
    stories = made.column("story").to_pylist()[::ASKED]
    assert len(set(stories)) == len(stories) == 3 * most
    made = generate("tomi-matched", train=2 * BLOCK_STORIES, seed=11)
    stories = made.column("story").to_pylist()[::ASKED]
    assert len(set(stories)) == len(stories)


def test_a_longer_dataset_begins_with_the_shorter_one() -> None:
    long = generate("tomi-matched", train=BLOCK_STORIES + 3, seed=2)
    assert long.slice(0, 60 * ASKED).to_pylist() == generate("tomi-matched", train=60, seed=2).to_pylist()


def test_three_agents_are_too_few() -> None:
    few = {"agents": ["Ada", "Bo", "Cy"], "rooms": ["attic"], "containers": ["box", "jar"], "objects": ["key"]}
    with pytest.raises(VocabularyError, match="agents"):
        generate("tomi-matched", test=3, vocabulary=from_lists(few))


def story_of(ways: list[tuple[int, int, int]]) -> list[PlotEvent]:
    """Play a story in which companions 1, 2, … have the given ways."""
    acts = [(when, f"a{who} {verb} the r.") for who, way in enumerate(ways, 1)
            for when, verb in zip(way, ("exited", "entered", "exited"), strict=True)]  # fmt: skip
    marks = ["The o is in the c.", "a0 exited the r.", "a0 entered the r.", "a0 moved the o to the d.",
             "The o is in the d.", "a0 exited the r.", "The o is in the d."]  # fmt: skip
    lines = [f"a{who} entered the r." for who in range(len(ways) + 1)]
    for stretch, mark in enumerate(marks):
        lines += [mark, *(act for when, act in acts if when == stretch)]
    return parse(lines)


FALSE, SECOND, TRUE = (WAYS[kind][0] for kind in ("false_belief", "second_order_false_belief", "true_belief"))


def test_a_story_of_the_recipe_departs_from_nothing() -> None:
    for way, kind in TYPE_OF.items():
        others = [WAYS[other][-1] for other in STORY_TYPES if other != kind]
        assert departure(story_of([way, *others]), "o") is None


@pytest.mark.parametrize(
    ("ways", "found"),
    [
        ([FALSE, SECOND, FALSE], "no companion makes it a story of true_belief"),
        ([TRUE, TRUE, FALSE], "no companion makes it a story of second_order_false_belief"),
        ([FALSE, SECOND, (0, 5, 6)], "a3 does not leave, come back and leave"),
        ([FALSE, SECOND, TRUE, TRUE], "mover and object do not do what they do"),
        ([FALSE, SECOND], "with the entries of 4 people"),
    ],
)
def test_other_ways_are_no_story_of_it(ways: list[tuple[int, int, int]], found: str) -> None:
    assert re.search(found, departure(story_of(ways), "o") or "")


def test_whatever_is_left_out_or_told_twice_is_seen() -> None:
    events = story_of([FALSE, SECOND, TRUE])
    for place in range(len(events)):
        assert departure([*events[:place], *events[place + 1 :]], "o") is not None, narrate(events[place : place + 1])
        assert departure([*events[:place], events[place], *events[place:]], "o") is not None
    assert departure(events, "p") == "the object is moved 0 times, not once"


def test_another_room_or_place_is_seen() -> None:
    events = story_of([FALSE, SECOND, TRUE])
    for place, event in enumerate(events):
        changed = event._replace(room="s")
        assert departure([*events[:place], changed, *events[place + 1 :]], "o") is not None
        if event.kind in (EventKind.PLACE, EventKind.MOVE):
            changed = event._replace(container="c" if event.container == "d" else "d")
            assert departure([*events[:place], changed, *events[place + 1 :]], "o") is not None
