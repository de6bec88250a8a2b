"""Proofs: what is named matters, and nothing else does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from storyproof.errors import DataError
from storyproof.families.belief import answers, provers
from storyproof.families.belief.answers import (
    Columns,
    PlotAnswers,
    chain_classes,
    oracle_answer,
    oracle_proof,
    reply,
)
from storyproof.families.belief.arrays import Flags, encode_plots, encode_questions
from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_some
from storyproof.families.belief.benchmarks.question_sampler import draw_chains
from storyproof.families.belief.questions import Ask, BeliefQuestion, QuestionArrays
from storyproof.families.belief.readings import ALL_READINGS, ALWAYS, CLOSED, DEFAULT_READING, OPEN, BeliefReading
from storyproof.families.belief.story import Story
from storyproof.families.belief.time_sets import unpack
from storyproof.families.belief.world import EventKind, PlotEvent, cast_of
from storyproof.generation.seeds import Draws
from tests.families.belief.plots import PEOPLE, Plot, describe, plots
from tests.families.belief.possible_worlds import MindWorlds

SEEDS = st.integers(0, 2**32 - 1)
UNSHRUNK = (Phase.explicit, Phase.generate)
STRANGER = "nobody of the story"  # believes nothing
LENGTHS = {Ask.SAYS: 1, Ask.KNOWS_WHERE: 1, Ask.KNOWS_WRONG: 2}


def without(story: Plot, deleted: set[int]) -> Plot:
    """Return a story without some sentences, but with its cast."""
    return [
        event._replace(kind=EventKind.NOISE) if number in deleted else event
        for number, event in enumerate(story, start=1)
    ]


def questions(rng: random.Random, story: Plot) -> list[BeliefQuestion]:
    people = [name for name in PEOPLE if any(name in (event.agent, event.hearer) for event in story)]
    if not people:
        return []
    chain = tuple(rng.choice(people) for _ in range(rng.randint(1, 4)))
    pair = (rng.choice(people), rng.choice(people))
    return [
        BeliefQuestion(Ask.BELIEF, "key", chain),
        BeliefQuestion(Ask.KNOWS_WRONG, "key", pair),
        BeliefQuestion(Ask.BELIEVERS, "key", (), "jar"),
        BeliefQuestion(Ask.COMMON, "key", pair),
        BeliefQuestion(Ask.MEMORY, "key"),
    ]


def parts_of(question: BeliefQuestion, cast: Sequence[str]) -> list[BeliefQuestion]:
    """Return the questions whose answers are the value of a question: itself, or all that it compares."""
    thing, chain = question.thing, question.chain

    def belief(*names: str) -> BeliefQuestion:
        return BeliefQuestion(Ask.BELIEF, thing, names) if names else BeliefQuestion(Ask.REALITY, thing)

    match question.ask:
        case Ask.KNOWS_WHERE:
            return [belief(*chain), belief()]
        case Ask.KNOWS_WRONG:
            return [belief(*names) for names in (chain[:1], chain[1:], chain, ())]
        case Ask.BELIEVERS:
            return [belief(name, *chain) for name in (*cast, STRANGER) if name not in chain[:1]]
        case _:
            return [question]


def assert_named_and_nothing_else(story: Plot, question: BeliefQuestion, reading: BeliefReading) -> None:
    """Judge a proof by the checker, which knows nothing of it."""
    proof = set(oracle_proof(story, question, reading))
    everything, parts = set(range(1, len(story) + 1)), parts_of(question, cast_of(story))

    def ask(deleted: set[int]) -> object:
        worlds = MindWorlds(without(story, deleted), reading)
        return [worlds.answer(part) for part in parts]

    answer, where = ask(set()), f"{reading}, {question}, proof {sorted(proof)} in\n{describe(story)}"
    assert ask(everything - proof) == answer, where
    for number in everything - proof:
        assert ask({number}) == answer, f"without {number}: {where}"
    for number in proof:
        changes = ask({number}) != answer or ask(everything - proof | {number}) != answer
        assert changes, f"{number} does not matter: {where}"


@given(SEEDS)
@settings(max_examples=2, phases=UNSHRUNK)
def test_proofs_name_what_matters_and_nothing_else(seed: int) -> None:
    rng = random.Random(seed)
    for story in plots(seed, 12):
        for question in questions(rng, story):
            assert_named_and_nothing_else(story, question, rng.choice(ALL_READINGS))


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=60, phases=UNSHRUNK)
def test_proofs_name_what_matters_and_nothing_else_in_many_stories(seed: int) -> None:
    rng = random.Random(seed)
    for story in plots(seed, 12, people=5, length=22):
        for question in questions(rng, story):
            assert_named_and_nothing_else(story, question, rng.choice(ALL_READINGS))


def sally_and_anne() -> Story:
    return Story().enter("Sally", "den").enter("Anne", "den").place("marble", "box").exit("Sally")


def test_the_proof_of_a_false_belief() -> None:
    story = sally_and_anne().move("Anne", "marble", "jar")
    # Her entering, the placing, and that she left before the move. The move itself she missed either way.
    assert story.believes("Sally", "marble").proof == (1, 3, 4)
    assert story.believes("Anne", "marble").proof == (2, 5)
    assert story.believes("Anne", "Sally", "marble").proof == (1, 2, 3, 4)
    assert story.reality("marble").proof == (5,)
    assert story.memory("marble").proof == (3,)


@pytest.mark.parametrize("reading", ALL_READINGS, ids=str)
def test_where_an_object_is_rests_on_its_own_putting(reading: BeliefReading) -> None:
    story = [PlotEvent(EventKind.PLACE, None, "den", thing, "box") for thing in ("coin", "key", "coin")]
    assert oracle_proof(story, BeliefQuestion(Ask.REALITY, "key"), reading) == (2,)
    assert oracle_proof(story, BeliefQuestion(Ask.MEMORY, "key"), reading) == (2,)
    assert oracle_proof(story, BeliefQuestion(Ask.REALITY, "coin"), reading) == (3,)


def test_who_believes_something_rests_on_what_everybody_believes() -> None:
    story = Story().place("key", "bag", room="attic").enter("Bo", "attic").place("coin", "jar", room="attic")
    assert story.believers("key", "jar").value == ()
    assert story.believers("key", "jar").proof == story.believers("key", "bag").proof == (1, 2)
    assert Story().place("key", "bag", room="attic").believers("key", "bag").value == ()


def test_of_two_grounds_the_later_is_named() -> None:
    story = Story().enter("Ann", "hall").place("key", "box").exit("Ann").enter("Bob", "den").enter("Ann", "den")
    story.tell("Ann", "key", "box").tell("Ann", "key", "box", to="Bob")
    assert story.believes("Bob", "key").proof == (4, 5, 7)


def test_of_several_sentences_that_are_enough_the_last_is_named() -> None:
    story = Story().enter("Bo", "attic").enter("Cy", "attic").place("key", "jar").enter("Di", "hall")
    story.announce_lie("Di", "key", "pot").move("Cy", "key", "jar").lie("Bo", "key", "pot")
    found = story.believes("Cy", "Bo", "key")
    assert (found.value, found.proof) == ("jar", (1, 2, 6))  # 3 instead of 6 would do


def test_who_is_asked_about_is_not_counted() -> None:
    story = Story().enter("Bo", "attic").enter("Cy", "attic").place("key", "jar")
    assert story.believers("key", "jar").value == ("Bo", "Cy")
    assert story.believers("key", "jar", chain=["Bo"]).value == ("Cy",)
    assert story.believers("key", "jar", chain=["Cy", "Bo"]).value == ("Bo",)


def test_who_knows_that_another_is_wrong_is_right_about_both() -> None:
    story = sally_and_anne().move("Anne", "marble", "jar")
    assert story.knows_wrong("Anne", "Sally", "marble").value == "yes"
    assert story.knows_wrong("Sally", "Anne", "marble").value == "no"
    mistaken = story.enter("Max", "den").exit("Anne").move("Max", "marble", "tin")
    assert mistaken.knows_wrong("Max", "Anne", "marble").value == "yes"
    assert mistaken.knows_wrong("Anne", "Sally", "marble").value == "no"  # Anne is wrong about the marble herself


def test_the_proof_of_a_comparison_is_that_of_all_that_is_compared() -> None:
    story = sally_and_anne().move("Anne", "marble", "jar")
    assert story.knows_where("Anne", "marble").proof == (2, 5)
    assert story.knows_where("Sally", "marble").proof == (1, 3, 4, 5)
    assert story.knows_wrong("Anne", "Sally", "marble").proof == (1, 2, 3, 4, 5)


def test_who_left_too_early_to_see_through_a_lie_with_another_is_named() -> None:
    story = Story().place("key", "box", room="den").enter("Ann", "hall").enter("Bob", "hall").enter("Cat", "hall")
    story.lie("Cat", "key", "jar").exit("Ann").enter("Ann", "den").exit("Ann").exit("Bob").enter("Bob", "den")
    found = story.believes("Ann", "Bob", "key")
    assert (found.value, found.proof) == ("jar", (2, 3, 4, 5, 8))


def test_what_is_unknown_rests_on_nothing_or_on_what_hid_it() -> None:
    story = Story().enter("Ann", "hall").place("key", "box").enter("Bob", "den")
    assert story.believes("Bob", "key").value is None
    assert story.believes("Bob", "key").proof == ()
    story.distract("Bob").announce("Ann", "key", "box")
    assert story.believes("Bob", "key").proof == (4,)


def any_questions(seed: int, count: int) -> tuple[list[Plot], list[int], list[BeliefQuestion]]:
    """Return questions of all kinds about random stories, some of them about people and things that are not there."""
    rng, stories = random.Random(seed), plots(seed, count)
    story, asked = [], []
    for number, plot in enumerate(stories):
        people = [*cast_of(plot), "Nobody"]
        boxes = [event.container for event in plot if event.container] or ["jar"]
        for ask in Ask:
            free = {Ask.BELIEF: rng.randint(1, 4), Ask.BELIEVERS: rng.randint(0, 2), Ask.COMMON: rng.randint(2, 3)}
            chain = tuple(rng.choice(people) for _ in range(free.get(ask, LENGTHS.get(ask, 0))))
            place = rng.choice(boxes) if ask == Ask.BELIEVERS else None
            asked.append(BeliefQuestion(ask, rng.choice(["key", "coin", "ball"]), chain, place))
            story.append(number)
    return stories, story, asked


def assert_answered_at_once(seed: int, count: int) -> None:
    """Assert that many questions are answered and proved together as each is alone.

    That a sentence is decisive is compared with trying every sentence; what else a proof may have is judged by the
    checker (`assert_named_and_nothing_else`).
    """
    rng = random.Random(seed)
    stories, story, asked = any_questions(seed, count)
    arrays, names = encode_plots(stories)
    together = encode_questions(names, story, asked)
    for reading in (DEFAULT_READING, BeliefReading("closed"), rng.choice(ALL_READINGS)):
        answers_to_all = PlotAnswers(arrays, together, reading.sight)
        (codes,), proofs = answers_to_all.codes(reading.trust), answers_to_all.prove(reading.trust)
        decisive = answers_to_all.decisive(reading.trust)
        for place in range(rng.randrange(3), len(asked), 3):
            alone, (known,) = encode_plots([stories[story[place]]])
            by_itself = PlotAnswers(alone, encode_questions([known], [0], [asked[place]]), reading.sight)
            where = f"{reading}, {asked[place]} in\n{describe(stories[story[place]])}"
            code = int(by_itself.codes(reading.trust)[0][0])
            assert reply(int(codes[place]), names[story[place]], asked[place]) == reply(code, known, asked[place]), (
                where
            )
            pairs = (
                (proofs[:, place], by_itself.prove(reading.trust)),
                (decisive[:, place], by_itself.decisive(reading.trust, is_plain=True)),
            )
            for found, right in pairs:
                assert np.flatnonzero(found).tolist() == np.flatnonzero(right[:, 0]).tolist(), where


@given(SEEDS)
@settings(max_examples=2, phases=UNSHRUNK)
def test_many_stories_are_proved_at_once(seed: int) -> None:
    assert_answered_at_once(seed, 12)


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=15, phases=UNSHRUNK)
def test_very_many_stories_are_proved_at_once(seed: int) -> None:
    assert_answered_at_once(seed, 40)


def assert_others_do_not_matter(seed: int, count: int) -> None:
    """Assert that beliefs are the same without any of the sentences that do not bear on them."""
    stories, story, asked = any_questions(seed, count)
    arrays, names = encode_plots(stories)
    single = [place for place, each in enumerate(asked) if each.ask in (Ask.BELIEF, Ask.SAYS, Ask.MEMORY, Ask.REALITY)]
    numbered = encode_questions(names, [story[place] for place in single], [asked[place] for place in single])
    columns, rng = np.arange(len(single)), np.random.default_rng(seed)
    for sight in (OPEN, CLOSED):
        prover = PlotAnswers(arrays, numbered, sight)
        (codes,) = prover.codes(ALWAYS)
        (told,) = prover._tell(is_weighed=False)
        bearing = unpack(prover._bearing(told, ALWAYS), len(arrays.kind))
        for share in (0.2, 0.5, 0.9):
            gone = ~bearing & (rng.random(bearing.shape) < share)
            shorter = arrays.pick(numbered.story).without(gone)
            (same,) = PlotAnswers(shorter, replace(numbered, story=columns), sight).codes(ALWAYS)
            assert same.tolist() == codes.tolist()


def test_sentences_that_bear_on_no_belief_can_be_left_out_in_any_number() -> None:
    assert_others_do_not_matter(8, 300)


def assert_proved(prover: type[PlotAnswers], reading: BeliefReading, count: int) -> None:
    """Assert that the proofs of many stories have what is decisive and what else is needed, and nothing more."""
    stories, story, asked = any_questions(6, count)
    arrays, names = encode_plots(stories)
    numbered = encode_questions(names, story, asked)
    found = prover(arrays, numbered, reading.sight)
    decisive, proofs, (answers,) = found.decisive(reading.trust), found.prove(reading.trust), found.codes(reading.trust)
    right = PlotAnswers(arrays, numbered, reading.sight)
    assert np.array_equal(answers, right.codes(reading.trust)[0])
    assert np.array_equal(decisive, right.decisive(reading.trust, is_plain=True))
    assert not (decisive & ~proofs).any()

    parts = [parts_of(each, cast_of(stories[number])) for number, each in zip(story, asked, strict=True)]
    part_of = [number for number, some in enumerate(parts) for _ in some]
    compared = encode_questions(names, [story[number] for number in part_of], [each for some in parts for each in some])
    (values,) = PlotAnswers(arrays, compared, reading.sight).codes(reading.trust)
    first = np.searchsorted(part_of, np.arange(len(parts) + 1))

    def is_same(kept: Flags, question: Columns) -> Flags:
        """Return whether questions have the same values if stories have these sentences only, [time, question]."""
        rows = np.concatenate([np.arange(first[each], first[each + 1]) for each in question])
        counts = np.diff(first)[question]
        shorter = arrays.pick(numbered.story[question]).without(~kept)
        few = replace(compared.pick(rows), story=np.repeat(np.arange(len(question)), counts))
        same = PlotAnswers(shorter, few, reading.sight).codes(reading.trust)[0] == values[rows]
        found: Flags = np.logical_and.reduceat(same, np.cumsum(counts) - counts)
        return found

    assert is_same(proofs, np.arange(len(asked))).all()
    time, question = np.nonzero(proofs & ~decisive)
    assert len(time) > count // 6
    without_one = proofs[:, question]
    without_one[time, np.arange(len(time))] = False
    assert not is_same(without_one, question).any()


@pytest.mark.parametrize("reading", [DEFAULT_READING, BeliefReading("closed"), BeliefReading(trust="fresher")], ids=str)
def test_proofs_of_many_stories_are_found_by_trying_few_sentences(reading: BeliefReading) -> None:
    assert_proved(PlotAnswers, reading, 1200)


@pytest.mark.parametrize("sight", ["open", "closed"])
def test_common_beliefs_need_fewer_chains_where_everybody_is_believed(
    sight: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stories, story, asked = any_questions(5, 60)
    arrays, names = encode_plots(stories)
    (few,) = PlotAnswers(arrays, encode_questions(names, story, asked), sight).codes("always")
    monkeypatch.setattr(
        PlotAnswers, "_parts", lambda self, *, is_weighed: answers._divide(self._stories, self._asked, is_weighed=True)
    )
    (all_of_them,) = PlotAnswers(arrays, encode_questions(names, story, asked), sight).codes("always")
    assert few.tolist() == all_of_them.tolist()
    assert len({int(code) for code, question in zip(few, asked, strict=True) if question.ask == Ask.COMMON}) > 2


def test_chains_are_told_apart_by_what_the_oracle_sees() -> None:
    for count in range(1, 5):
        everything = {(chain[0], frozenset(chain[1:])) for chain in chain_classes(count, is_weighed=True)}
        few = [(chain[0], frozenset(chain[1:])) for chain in chain_classes(count, is_weighed=False)]
        assert (len(few), set(few)) == (len(everything), everything)


def test_chains_are_told_apart_by_their_last_two_where_messages_are_weighed() -> None:
    for count in range(1, 5):
        every = (chain for length in range(1, 6) for chain in product(range(count), repeat=length))
        chains = [chain for chain in every if all(one != other for one, other in pairwise(chain))]
        everything = {(chain[0], frozenset(chain[1:-1]), chain[-2:]) for chain in chains}
        few = [(chain[0], frozenset(chain[1:-1]), chain[-2:]) for chain in chain_classes(count, is_weighed=True)]
        assert len(few) == len(set(few))
        assert set(few) >= everything


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("sights", [(OPEN, CLOSED), (CLOSED, OPEN)])
def test_beliefs_are_evaluated_in_batches(size: int, sights: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    stories, story, asked = any_questions(6, 40)
    arrays, names = encode_plots(stories)
    questions = encode_questions(names, story, asked)
    trusts = ("always", "never-liars")
    expected = [[codes.tolist() for codes in PlotAnswers(arrays, questions, sight).codes(*trusts)] for sight in sights]
    monkeypatch.setattr(answers, "_BELIEFS", size)
    first = PlotAnswers(arrays, questions, sights[0])
    for whole, each in zip(expected, (first, first.under(sights[1])), strict=True):
        for _ in range(2):
            assert [codes.tolist() for codes in each.codes(*trusts)] == whole


@pytest.mark.parametrize("width", [1, 7])
def test_stories_are_proved_in_parts(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_WIDTH", width)
    assert_answered_at_once(3, 3)


def test_questions_name_as_many_agents_as_they_need() -> None:
    with pytest.raises(DataError, match=r"'knows-wrong' names 2 agents, not 1\."):
        BeliefQuestion(Ask.KNOWS_WRONG, "key", ("Ann",))
    with pytest.raises(DataError, match=r"'belief' names at least 1 agents, not 0\."):
        BeliefQuestion(Ask.BELIEF, "key")
    with pytest.raises(DataError, match=r"'reality' names 0 agents, not 1\."):
        BeliefQuestion(Ask.REALITY, "key", ("Ann",))
    with pytest.raises(DataError, match="names a container"):
        BeliefQuestion(Ask.BELIEVERS, "key")
    with pytest.raises(DataError, match="names a container"):
        BeliefQuestion(Ask.BELIEF, "key", ("Ann",), "box")


def test_the_order_of_a_question_counts_minds() -> None:
    assert BeliefQuestion(Ask.REALITY, "key").order == 0
    assert BeliefQuestion(Ask.BELIEF, "key", ("Ann", "Bob", "Ann")).order == 3
    assert BeliefQuestion(Ask.BELIEVERS, "key", ("Bob",), "box").order == 2
    assert BeliefQuestion(Ask.COMMON, "key", ("Ann", "Bob", "Carl")).order == 3
    assert BeliefQuestion(Ask.COMMON, "key", ("Ann", "Bob", "Ann")).order == 2


def test_what_is_not_in_the_story_is_unknown() -> None:
    story = sally_and_anne().place("coin", "jar").events
    for reading in ALL_READINGS:
        worlds = MindWorlds(story, reading)
        for question in (
            BeliefQuestion(Ask.BELIEF, "marble", ("Max",)),
            BeliefQuestion(Ask.BELIEF, "marble", ("Anne", "Max")),
            BeliefQuestion(Ask.BELIEF, "ball", ("Anne",)),
            BeliefQuestion(Ask.REALITY, "ball"),
            BeliefQuestion(Ask.MEMORY, "ball"),
            BeliefQuestion(Ask.COMMON, "marble", ("Anne", "Max")),
        ):
            assert oracle_answer(story, question, reading) is None
            assert worlds.answer(question) is None
        nobody = BeliefQuestion(Ask.BELIEVERS, "marble", (), "bag")
        assert oracle_answer(story, nobody, reading) == worlds.answer(nobody) == ()
        knows = BeliefQuestion(Ask.KNOWS_WHERE, "ball", ("Anne",))
        assert oracle_answer(story, knows, reading) == worlds.answer(knows) == "no"


def test_a_story_without_sentences_is_answered() -> None:
    question = BeliefQuestion(Ask.BELIEF, "key", ("Ann",))
    assert oracle_answer([], question, DEFAULT_READING) is None
    assert oracle_proof([], question, DEFAULT_READING) == ()
    assert oracle_answer([], BeliefQuestion(Ask.MEMORY, "key"), DEFAULT_READING) is None
    assert MindWorlds([], DEFAULT_READING).answer(question) is None


@pytest.mark.parametrize("trust", ["always", "fresher", "never-liars", "hi-tom"])
def test_answers_over_time_are_those_of_beginnings(trust: str) -> None:
    reading = BeliefReading(trust=trust)
    drawn = draw_some(PlotDials(5, 2, 2, 5, 3, 2, 2, 1, 1, 2, 12), Draws("over time"), 40).stories
    things, chance = Draws("things").below(2, drawn.count).astype(np.int8), Draws("chains")
    for ask, length in ((Ask.BELIEF, 3), (Ask.KNOWS_WRONG, 2), (Ask.BELIEVERS, 1), (Ask.COMMON, 3), (Ask.MEMORY, 0)):
        chain = draw_chains(chance, 5, length, drawn.count) if length else np.full((1, drawn.count), -1, np.int8)
        place = chance.below(6, drawn.count).astype(np.int8) if ask == Ask.BELIEVERS else np.full_like(things, -1)
        kinds = np.full(drawn.count, list(Ask).index(ask), np.uint8)
        asked = QuestionArrays(np.arange(drawn.count), kinds, things, chain, place)
        codes = PlotAnswers(drawn, asked).over_time(trust)
        for time in range(len(codes)):
            beginning = drawn.until(np.full(drawn.count, time + 1))
            # Who speaks or is spoken to later is a person of the story, too.
            assert (provers.answer(beginning, asked, reading) == codes[time]).all(), (ask, time)
