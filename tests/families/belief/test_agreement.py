"""Laws of both provers on random stories of all kinds."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from storyproof.families.belief.answers import oracle_answer
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.readings import ALL_READINGS
from storyproof.families.belief.world import EventKind, PlotEvent, PlotState
from tests.families.belief.plots import (
    ALL_BOXES,
    PEOPLE,
    THINGS,
    Chain,
    Plot,
    any_plot,
    ask_checker,
    ask_oracle,
    chains,
    describe,
    plots,
    possible_plot,
)
from tests.families.belief.plots import KINDS as ALL_KINDS
from tests.families.belief.possible_worlds import MindWorlds

SEEDS = st.integers(0, 2**32 - 1)
UNSHRUNK = (Phase.explicit, Phase.generate)  # a smaller seed is no smaller story


def assert_agreement(stories: Sequence[Plot], asked: Sequence[Chain]) -> None:
    for reading in ALL_READINGS:
        for thing in THINGS:
            answers = ask_oracle(stories, asked, thing, reading)
            for story, found in zip(stories, answers, strict=True):
                expected = ask_checker(story, asked, thing, reading)
                differ = [row for row in zip(asked, found, expected, strict=True) if row[1] != row[2]]
                assert not differ, f"{reading}, {thing}: {differ[0]} in\n{describe(story)}"


def some_chains(seed: int, least: int, most: int, count: int) -> list[Chain]:
    rng = random.Random(seed)
    return [tuple(rng.choice(PEOPLE) for _ in range(rng.randint(least, most))) for _ in range(count)]


@given(SEEDS)
@settings(max_examples=2, phases=UNSHRUNK)
def test_oracle_and_checker_agree(seed: int) -> None:
    asked = [*chains(PEOPLE, 2), *some_chains(seed, 3, 5, 40), *some_chains(seed, 6, 9, 10), ("Nobody", "Ada")]
    assert_agreement(plots(seed, 32, people=5), asked)


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=40, phases=UNSHRUNK)
def test_oracle_and_checker_agree_on_every_chain_up_to_order_five(seed: int) -> None:
    stories = plots(seed, 12, people=5, length=24)
    assert_agreement(stories, [chain for chain in chains(PEOPLE, 5) if all(map(str.__ne__, chain, chain[1:]))])


@pytest.mark.parametrize("count", [9, 17, 31])
def test_oracle_and_checker_agree_on_many_people(count: int) -> None:
    rng = random.Random(count)
    people = [f"P{number}" for number in range(count)]
    story = [PlotEvent(EventKind.NOISE, name) for name in people]
    story += possible_plot(rng, people, 60)
    asked = [tuple(rng.choice(people[-4:]) for _ in range(rng.randint(1, 4))) for _ in range(30)]
    assert_agreement([story], asked)


@given(SEEDS)
@settings(max_examples=2, phases=UNSHRUNK)
def test_oracle_and_checker_agree_on_stories_of_many_messages(seed: int) -> None:
    rng = random.Random(seed)
    words = (*ALL_KINDS, *(EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE) * 8)
    story = possible_plot(rng, PEOPLE[:3], 30, words)
    assert_agreement([story, any_plot(rng, PEOPLE[:3], 20)], chains(PEOPLE[:3], 3))


@given(SEEDS)
@settings(max_examples=4, phases=UNSHRUNK)
def test_oracle_and_checker_agree_on_every_kind_of_question(seed: int) -> None:
    rng = random.Random(seed)
    story = possible_plot(rng, PEOPLE[:4], 14)
    people = [name for name in PEOPLE[:4] if any(name in (event.agent, event.hearer) for event in story)]
    one, other, third = (rng.choice(people) for _ in range(3))
    questions = [
        BeliefQuestion(Ask.REALITY, "key"),
        BeliefQuestion(Ask.MEMORY, "key"),
        BeliefQuestion(Ask.MEMORY, "coin"),
        BeliefQuestion(Ask.SAYS, "key", (one,)),
        BeliefQuestion(Ask.KNOWS_WHERE, "key", (one,)),
        BeliefQuestion(Ask.KNOWS_WRONG, "key", (one, other)),
        BeliefQuestion(Ask.COMMON, "key", (one, other)),
        BeliefQuestion(Ask.COMMON, "key", (one, other, third)),
        *(BeliefQuestion(Ask.BELIEVERS, "key", (), box) for box in ALL_BOXES[:3]),
        BeliefQuestion(Ask.BELIEVERS, "key", (other,), "pot"),
    ]
    for reading in ALL_READINGS:
        worlds = MindWorlds(story, reading)
        for question in questions:
            found, expected = oracle_answer(story, question, reading), worlds.answer(question)
            assert found == expected, f"{reading}, {question}: {found}, not {expected}, in\n{describe(story)}"


@given(SEEDS)
@settings(max_examples=1, phases=UNSHRUNK)
def test_renaming_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    others = ["Uma", "Vi", "Wu", "Xi", "Yo"]
    rng.shuffle(others)
    new: dict[str | None, str] = dict(zip(PEOPLE, others, strict=True))
    stories, asked = plots(seed, 20), some_chains(seed, 1, 4, 30)
    renamed = [
        [event._replace(agent=new.get(event.agent), hearer=new.get(event.hearer)) for event in story]
        for story in stories
    ]
    hidden = [tuple(new[agent] for agent in chain) for chain in asked]
    for reading in ALL_READINGS:
        assert ask_oracle(stories, asked, "key", reading) == ask_oracle(renamed, hidden, "key", reading)


def assert_unchanged(tried: Sequence[tuple[Plot, PlotEvent, Chain]]) -> None:
    """Assert for stories with another event each that a chain believes the same with it as without."""
    asked = sorted({chain for _, _, chain in tried})
    stories = [each for story, event, _ in tried for each in (story, [*story, event])]
    for reading in ALL_READINGS:
        answers = iter(ask_oracle(stories, asked, "key", reading))
        for story, event, chain in tried:
            place = asked.index(chain)
            before, after = next(answers)[place], next(answers)[place]
            assert before == after, f"{reading}, {chain}: {event} after\n{describe(story)}"


def unnoticed(rng: random.Random, story: Plot, chain: Chain) -> PlotEvent | None:
    """Return something that nobody of a chain notices after a story, if there is anything."""
    state = PlotState()
    for event in story:
        state.advance(event)
    for _ in range(20):
        kind = rng.choice((EventKind.MOVE, EventKind.TELL, EventKind.WHISPER))
        agent = rng.choice([name for name in PEOPLE if name not in chain])
        room = state.where.get(agent)
        hearer = rng.choice(PEOPLE) if kind == EventKind.WHISPER else None
        event = PlotEvent(kind, agent, room if kind == EventKind.MOVE else None, "key", rng.choice(ALL_BOXES), hearer)
        if kind == EventKind.MOVE:
            room = event.room or "attic"
            event = event._replace(room=room)
        near = {name for name in PEOPLE if name in chain and room in (state.where.get(name), state.watching.get(name))}
        if hearer not in chain and (kind == EventKind.WHISPER or not near):
            return event
    return None


@given(SEEDS)
@settings(max_examples=2, phases=UNSHRUNK)
def test_what_nobody_of_the_chain_notices_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    tried: list[tuple[Plot, PlotEvent, Chain]] = []
    for story in plots(seed, 40):
        chain = tuple(rng.choice(PEOPLE[:3]) for _ in range(rng.randint(1, 4)))
        event = unnoticed(rng, story, chain)
        if event is not None:
            tried.append((story, event, chain))
    assert len(tried) > 5
    assert_unchanged(tried)


@given(SEEDS)
@settings(max_examples=2, phases=UNSHRUNK)
def test_telling_what_is_common_already_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    tried = 0
    for story in plots(seed, 40, people=3):
        worlds = {reading: MindWorlds(story, reading) for reading in ALL_READINGS}
        state = PlotState()
        for event in story:
            state.advance(event)
        speaker = rng.choice(PEOPLE[:3])
        room = state.where.get(speaker)
        group = [name for name in PEOPLE[:3] if state.where.get(name) == room]
        if room is None or len(group) < 2 or state.distracted & set(group):
            continue
        if any(there == room for there in state.watching.values()):
            continue  # who overhears it may learn something
        for reading in ALL_READINGS:
            place = worlds[reading].common(group, "key")
            if place is None:
                continue
            tried += 1
            told = [*story, PlotEvent(EventKind.TELL, speaker, None, "key", place)]
            asked = [*chains(PEOPLE[:3], 3)]
            before, after = ask_oracle([story, told], asked, "key", reading)
            assert before == after, f"{reading}: {speaker} tells {place} after\n{describe(story)}"
    assert tried


@given(SEEDS)
@settings(max_examples=2, phases=UNSHRUNK)
def test_words_never_change_what_the_speaker_itself_believes(seed: int) -> None:
    rng = random.Random(seed)
    tried: list[tuple[Plot, PlotEvent, Chain]] = []
    for story in plots(seed, 40):
        speaker, hearer = rng.sample(PEOPLE[:4], 2)
        kind = rng.choice((EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE))
        lie = PlotEvent(kind, speaker, None, "key", "lie", hearer if kind == EventKind.WHISPER else None, lie=True)
        tried.append((story, lie, (speaker,)))
    assert_unchanged(tried)


@given(SEEDS)
@settings(max_examples=3, phases=UNSHRUNK)
def test_what_one_thinks_of_ones_own_thoughts_is_what_one_thinks(seed: int) -> None:
    asked = some_chains(seed, 1, 4, 30)
    doubled = [tuple(agent for agent in chain for _ in range(2)) for chain in asked]
    for story in plots(seed, 10):
        for reading in ALL_READINGS:
            assert ask_checker(story, asked, "key", reading) == ask_checker(story, doubled, "key", reading)
        assert ask_oracle([story], asked, "key", reading) == ask_oracle([story], doubled, "key", reading)


@given(SEEDS)
@settings(max_examples=3, phases=UNSHRUNK)
def test_noise_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    asked = some_chains(seed, 1, 4, 30)
    for story in plots(seed, 10):
        noisy = [each for event in story for each in (event, *[PlotEvent(EventKind.NOISE)] * rng.randint(0, 2))]
        for reading in ALL_READINGS:
            quiet, loud = ask_oracle([story, noisy], asked, "key", reading)
            assert quiet == loud
            assert quiet == ask_checker(noisy, asked, "key", reading)


def test_random_stories_tell_all_readings_apart() -> None:
    """Otherwise agreement under each of them would say little."""
    stories, asked = plots(7, 150), chains(PEOPLE[:3], 2)
    found = {
        reading: [place for places in ask_oracle(stories, asked, "key", reading) for place in places]
        for reading in ALL_READINGS
    }
    for number, one in enumerate(ALL_READINGS):
        for other in ALL_READINGS[:number]:
            differ = sum(map(str.__ne__, map(str, found[one]), map(str, found[other])))
            assert differ >= 3, f"{one} and {other}"
