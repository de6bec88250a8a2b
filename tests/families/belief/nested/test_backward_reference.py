"""Both provers against `backward_reference`, on questions of all kinds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import count

import pytest

from storyproof.families.belief.arrays import LocalNames
from storyproof.families.belief.nested.answers import oracle_answer, oracle_proof
from storyproof.families.belief.nested.arrays import decode_plot
from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.drawing import CONTAINERS, PlotDials, draw_plots
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.readings import NESTED_READINGS
from storyproof.families.belief.nested.world import EventKind
from storyproof.seeds import Draws
from tests.families.belief.nested.backward_reference import BackwardReference, Event, Tale, is_proof
from tests.families.belief.nested.plots import (
    BOXES,
    PEOPLE,
    THINGS,
    Chain,
    Plot,
    describe,
    gossiping_plot,
    possible_plot,
    returning_plot,
)

ROOMS = ("hall", "den", "attic", "barn")
STANDS = {f"{room}-{number}": room for room in ROOMS for number in range(CONTAINERS)}
STANDS |= {box: room for (room, _), boxes in BOXES.items() for box in boxes}
STRANGER = "Zoe"
PUTS = (EventKind.PLACE, EventKind.MOVE)
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
    """Return a story in the reference's form, which has the room of a container in one place only."""
    events = []
    for kind, agent, room, thing, container, hearer, *_ in story:
        if kind in PUTS:
            assert room == STANDS[str(container)]
            room = None
        words = (agent, room, thing, container, hearer) if kind != EventKind.NOISE else ()
        events.append(Event(EventKind(kind).name, *(word or "" for word in words)))
    named = {name for event in story for name in (event.agent, event.hearer) if name}
    return Tale(tuple(events), STANDS, frozenset(named))


def answer_of(reference: BackwardReference, question: NestedQuestion) -> Reply:
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


def answer_to(question: NestedQuestion, reading: str, tale: Tale) -> Reply:
    return answer_of(BackwardReference(tale, reading), question)


def drawn_story(rng: random.Random, people: Chain, number: int) -> Plot:
    """Return a story as `tom-k` draws it."""
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
    words = (people, ROOMS, THINGS, [name for name in STANDS if "-" in name])
    names = LocalNames(*({name: place for place, name in enumerate(each)} for each in words))
    return list(decode_plot(draw_plots(dials, Draws("backward", number), 1).stories, 0, names))


def stories(seed: int) -> Iterator[Plot]:
    """Yield stories of four kinds without end; in every other one, sentences are deleted as proofs do it."""
    rng = random.Random(seed)
    for number in count():
        people = PEOPLE[: rng.randint(2, len(PEOPLE))]
        match number % 4:
            case 0:
                story = drawn_story(rng, people, seed * 1_000_003 + number)
            case 1:
                story = possible_plot(rng, people, rng.randint(6, 20))
            case 2:
                story = returning_plot(rng)
            case _:
                story = gossiping_plot(rng, people)
        if number // 4 % 2:
            story = [event._replace(kind=EventKind.NOISE) if rng.random() < 0.15 else event for event in story]
        yield story


def chain_of(rng: random.Random, people: list[str], length: int) -> Chain:
    return tuple(rng.choice(people) if rng.random() > 0.02 else STRANGER for _ in range(length))


def question_of(rng: random.Random, people: list[str], places: list[str]) -> NestedQuestion:
    ask, thing = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0], rng.choice((*THINGS, THINGS[0]))
    match ask:
        case Ask.REALITY | Ask.MEMORY:
            return NestedQuestion(ask, thing)
        case Ask.BELIEF:
            return NestedQuestion(ask, thing, chain_of(rng, people, rng.randint(1, 8)))
        case Ask.SAYS | Ask.KNOWS_WHERE:
            return NestedQuestion(ask, thing, chain_of(rng, people, 1))
        case Ask.KNOWS_WRONG:
            return NestedQuestion(ask, thing, chain_of(rng, people, 2))
        case Ask.BELIEVERS:
            return NestedQuestion(ask, thing, chain_of(rng, people, rng.randint(0, 7)), rng.choice(places))
        case _:
            return NestedQuestion(ask, thing, tuple(rng.sample(people, rng.randint(2, len(people)))))


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
        for reading in NESTED_READINGS:
            worlds, reference = MindWorlds(story, reading), BackwardReference(tale_of(story), str(reading))
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


def assert_proofs(seed: int, most: int) -> None:
    rng, compared = random.Random(f"proofs {seed}"), 0
    for story in stories(seed):
        people, tale = named_in(story), tale_of(story)
        places = sorted({event.container for event in story if event.container})
        if len(people) < 2 or not places:
            continue
        reading, question = rng.choice(NESTED_READINGS), question_of(rng, people, places)
        named = frozenset(oracle_proof(story, question, reading))
        is_right = is_proof(named, tale, partial(answer_to, question, str(reading)))
        assert is_right, f"{reading}, {question}, {sorted(named)}\n{describe(story)}"
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
        reading = str(rng.choice(NESTED_READINGS))
        literal, by_class = (BackwardReference(tale_of(story), reading, classes=each) for each in (False, True))
        for _ in range(10):
            chain = chain_of(rng, people, rng.randint(1, 8))
            assert literal.believes(chain, "key") == by_class.believes(chain, "key"), describe(story)
