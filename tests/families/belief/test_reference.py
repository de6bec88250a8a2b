"""Both provers against the decision record, read literally: questions of all kinds, with and without secrets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import count

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from storyproof.errors import ConfigError
from storyproof.families.belief.answers import oracle_answer, oracle_proof
from storyproof.families.belief.arrays import LocalNames, decode_plot
from storyproof.families.belief.benchmarks.plot_sampler import CONTAINERS, PlotDials, draw_plots
from storyproof.families.belief.provers import CheckedStory
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.readings import ALL_READINGS, AUDIT_READINGS
from storyproof.families.belief.world import IDLE, EventKind
from storyproof.generation.seeds import Draws
from tests.families.belief.plots import (
    PEOPLE,
    PLAIN,
    THINGS,
    Chain,
    Plot,
    any_plot,
    ask_checker,
    ask_oracle,
    describe,
    gossiping_plot,
    plots,
    possible_plot,
    returning_plot,
)
from tests.families.belief.possible_worlds import MindWorlds
from tests.families.belief.reference import Reference, Sentence, Tale, proof

ROOMS = ("hall", "den", "attic", "barn")
CONTAINERS_OF_ROOMS = [f"{room}-{number}" for room in ROOMS for number in range(CONTAINERS)]
STRANGER = "Zoe"
WEIGHTS = {
    Ask.REALITY: 1,
    Ask.MEMORY: 1,
    Ask.BELIEF: 12,
    Ask.SAYS: 1,
    Ask.KNOWS_WHERE: 2,
    Ask.KNOWS_WRONG: 3,
    Ask.BELIEVERS: 4,
    Ask.COMMON: 3,
}


def tale_of(story: Plot) -> Tale:
    """Return a story in the reference's form."""
    sentences = []
    for kind, agent, room, thing, container, hearer, *_ in story:
        words = (agent, room, thing, container, hearer) if kind not in IDLE else ()
        sentences.append(Sentence(EventKind(kind).name, *(word or "" for word in words)))
    return Tale(tuple(sentences), frozenset(named_in(story)))


def answer_of(reference: Reference, question: BeliefQuestion) -> Reply:
    """Return the reference's answer in the words of the provers."""
    chain, thing = question.chain, question.thing
    match question.ask:
        case Ask.REALITY:
            return reference.reality(thing)
        case Ask.MEMORY:
            return reference.memory(thing)
        case Ask.BELIEF:
            return reference.believes(chain, thing)
        case Ask.SAYS:
            return reference.would_say(chain[0], thing)
        case Ask.KNOWS_WHERE:
            return "yes" if reference.knows_where(chain[0], thing) else "no"
        case Ask.KNOWS_WRONG:
            return "yes" if reference.knows_wrong(chain[0], chain[1], thing) else "no"
        case Ask.BELIEVERS:
            return tuple(sorted(reference.who_believes(chain, thing, str(question.place))))
        case Ask.COMMON:
            return reference.common_belief(chain, thing)


def value_of(reference: Reference, question: BeliefQuestion) -> object:
    """Return the value of a question: its answer, or all that it compares."""
    chain, thing = question.chain, question.thing
    match question.ask:
        case Ask.KNOWS_WHERE:
            return reference.believes(chain, thing), reference.reality(thing)
        case Ask.KNOWS_WRONG:
            return reference.compared(*chain, thing)
        case Ask.BELIEVERS:
            cast = sorted(reference.tale.cast.difference(chain[:1]))
            return tuple(reference.believes((agent, *chain), thing) for agent in cast)
        case _:
            return answer_of(reference, question)


def value_under(question: BeliefQuestion, reading: str, tale: Tale) -> object:
    return value_of(Reference(tale, reading), question)


def drawn_story(rng: random.Random, people: Chain, number: int) -> Plot:
    """Return a story as `tom-k` draws it."""
    words = (people, ROOMS, THINGS, CONTAINERS_OF_ROOMS)
    names = LocalNames(*({name: place for place, name in enumerate(each)} for each in words))
    while True:
        rooms = rng.randint(1, 3)
        dials = PlotDials(
            len(people),
            rooms=rooms,
            objects=rng.randint(1, 2),
            moves=rng.randint(0, 3),
            tells=rng.randint(0, 4),
            lies=rng.randint(0, 4),
            peeks=rng.randint(0, 3) if rooms > 1 else 0,
            distractions=rng.randint(0, 3),
            noise=rng.randint(0, 1),
            walks=rng.randint(6, 14),
        )
        try:
            return list(decode_plot(draw_plots(dials, Draws("reference", number), 1).stories, 0, names))
        except ConfigError:  # more is asked for than so few walks allow
            continue


def stories(seed: int) -> Iterator[Plot]:
    """Yield stories of six kinds without end; of every other six, sentences are deleted as proofs do it."""
    rng = random.Random(seed)
    for number in count():
        people = PEOPLE[: rng.randint(2, len(PEOPLE))]
        match number % 6:
            case 0:
                story = drawn_story(rng, people, seed * 1_000_003 + number)
            case 1:
                story = possible_plot(rng, people, rng.randint(6, 20))
            case 2:
                story = possible_plot(rng, people, rng.randint(6, 20), PLAIN)
            case 3:
                story = any_plot(rng, people, rng.randint(4, 20))
            case 4:
                story = returning_plot(rng)
            case _:
                story = gossiping_plot(rng, people)
        if number // 6 % 2:
            story = [event._replace(kind=EventKind.NOISE) if rng.random() < 0.15 else event for event in story]
        yield story


def chain_of(rng: random.Random, people: list[str], length: int) -> Chain:
    return tuple(rng.choice(people) if rng.random() > 0.02 else STRANGER for _ in range(length))


def question_of(rng: random.Random, people: list[str], places: list[str]) -> BeliefQuestion:
    ask, thing = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0], rng.choice((*THINGS, THINGS[0]))
    match ask:
        case Ask.REALITY | Ask.MEMORY:
            return BeliefQuestion(ask, thing)
        case Ask.BELIEF:
            return BeliefQuestion(ask, thing, chain_of(rng, people, rng.randint(1, 8)))
        case Ask.SAYS | Ask.KNOWS_WHERE:
            return BeliefQuestion(ask, thing, chain_of(rng, people, 1))
        case Ask.KNOWS_WRONG:
            return BeliefQuestion(ask, thing, chain_of(rng, people, 2))
        case Ask.BELIEVERS:
            return BeliefQuestion(ask, thing, chain_of(rng, people, rng.randint(0, 7)), rng.choice(places))
        case _:
            return BeliefQuestion(ask, thing, tuple(rng.sample(people, rng.randint(2, len(people)))))


def named_in(story: Plot) -> list[str]:
    return sorted({name for event in story for name in (event.agent, event.hearer) if name})


def assert_same_answers(seed: int, most: int) -> Counter[Ask]:
    """Compare the answers to some questions, and return how many of each kind there were."""
    rng, asked = random.Random(f"questions {seed}"), Counter[Ask]()
    for story in stories(seed):
        people = named_in(story)
        places = sorted({event.container for event in story if event.container})
        if len(people) < 2 or not places:
            continue
        for reading in ALL_READINGS:
            worlds, reference = MindWorlds(story, reading), Reference(tale_of(story), str(reading))
            for _ in range(4):
                question = question_of(rng, people, places)
                expected, where = answer_of(reference, question), f"{reading}, {question}\n{describe(story)}"
                assert worlds.answer(question) == expected, where
                assert oracle_answer(story, question, reading) == expected, where
                asked[question.ask] += 1
        if asked.total() >= most:
            return asked
    raise AssertionError("stories do not end")


def test_oracle_and_checker_answer_as_the_reference() -> None:
    assert set(assert_same_answers(1, 700)) == set(WEIGHTS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_oracle_and_checker_answer_as_the_reference_very_often(seed: int) -> None:
    assert min(assert_same_answers(seed, 25_000).values()) > 500


def test_oracle_and_checker_answer_as_the_reference_under_readings_for_audits() -> None:
    """The readings that only explain labels of others; the checker's worlds one by one do not know them."""
    rng, block, differing = random.Random(11), plots(11, 60), 0
    asked = [tuple(rng.choice(PEOPLE[:4]) for _ in range(1 + rng.randrange(4))) for _ in range(24)]
    for reading in sorted(set(AUDIT_READINGS) - set(ALL_READINGS)):
        for story, places in zip(block, ask_oracle(block, asked, "key", reading), strict=True):
            reference = Reference(tale_of(story), str(reading))
            expected = [reference.believes(chain, "key") for chain in asked]
            assert places == expected, f"{reading}\n{describe(story)}"
            checked = CheckedStory(story).beliefs(asked, "key", [reading])[reading]
            assert checked == expected, f"{reading}\n{describe(story)}"
            nested = Reference(tale_of(story), f"{reading.sight}+hi-tom")
            differing += sum(map(str.__ne__, map(str, expected), (str(nested.believes(c, "key")) for c in asked)))
    assert differing > 30


def assert_proofs(seed: int, most: int) -> None:
    rng, compared = random.Random(f"proofs {seed}"), 0
    for story in stories(seed):
        people, tale = named_in(story), tale_of(story)
        places = sorted({event.container for event in story if event.container})
        if len(people) < 2 or not places:
            continue
        reading, question = rng.choice(ALL_READINGS), question_of(rng, people, places)
        named = set(oracle_proof(story, question, reading))
        value = partial(value_under, question, str(reading))
        assert named == proof(tale, value), f"{reading}, {question}, {sorted(named)}\n{describe(story)}"
        beliefs = value(tale)
        is_unknown = all(place is None for place in (beliefs if isinstance(beliefs, tuple) else [beliefs]))
        assert named or is_unknown, f"{reading}, {question}\n{describe(story)}"
        compared += 1
        if compared == most:
            return


def test_proofs_are_proofs_for_the_reference() -> None:
    assert_proofs(1, 15)


@pytest.mark.slow
def test_proofs_are_proofs_for_the_reference_very_often() -> None:
    assert_proofs(2, 1_000)


def test_literal_chains_and_classes_come_to_the_same() -> None:
    """The remark of the record that a belief depends on the first, the set between and the last two."""
    rng = random.Random(7)
    for story, _ in zip(stories(3), range(20), strict=False):
        people = named_in(story) or list(PEOPLE)
        reading = str(rng.choice(ALL_READINGS))
        literal, by_class = (Reference(tale_of(story), reading, classes=each) for each in (False, True))
        for _ in range(10):
            chain = chain_of(rng, people, rng.randint(1, 8))
            assert literal.believes(chain, "key") == by_class.believes(chain, "key"), describe(story)


def assert_as_recorded(seed: int, count: int) -> None:
    """Compare the beliefs of many chains, of which the oracle answers a whole block at once."""
    rng, block = random.Random(seed), plots(seed, count)
    asked = [tuple(rng.choice(PEOPLE[:4]) for _ in range(1 + rng.randrange(4))) for _ in range(12)]
    for reading in ALL_READINGS:
        for thing in THINGS:
            answers = ask_oracle(block, asked, thing, reading)
            for story, places in zip(block, answers, strict=True):
                reference = Reference(tale_of(story), str(reading))
                expected = [reference.believes(chain, thing) for chain in asked]
                assert ask_checker(story, asked, thing, reading) == expected, f"{reading}\n{describe(story)}"
                assert places == expected, f"{reading}\n{describe(story)}"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=2, phases=(Phase.explicit, Phase.generate))
def test_oracle_and_checker_are_as_recorded(seed: int) -> None:
    assert_as_recorded(seed, 15)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, phases=(Phase.explicit, Phase.generate))
def test_oracle_and_checker_are_as_recorded_on_many_stories(seed: int) -> None:
    assert_as_recorded(seed, 30)
