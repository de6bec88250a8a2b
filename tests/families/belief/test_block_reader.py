"""Sentences and questions that are read as arrays are read as one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from storyproof.datasets.generate import make_benchmark
from storyproof.errors import ParseError
from storyproof.families.belief.arrays import LocalNames, decode_plot
from storyproof.families.belief.language.block_reader import ROLES, UNREAD, BlockReader
from storyproof.families.belief.language.pack import (
    AGENT,
    CONTAINER,
    KEYS,
    NARRATIVE,
    PLAIN,
    ROOM,
    THING,
    load_pack,
    render,
)
from storyproof.families.belief.questions import ASKS, BeliefQuestion
from storyproof.families.belief.read_text import read_question
from storyproof.families.belief.tomi_text import parse_question, parse_sentence
from storyproof.families.belief.worded_rows import _read_stories
from storyproof.families.belief.wording import LANGUAGES, find_wording, reader_of
from storyproof.families.belief.world import EventKind, PlotEvent
from tests.families.belief.test_worded_rows import change_text

READER = reader_of("en")
PACK = READER.pack
WORDS = {role: [noun.word for noun in PACK.nouns[role]] for role in PACK.nouns}
THINGS = [*WORDS[THING], *WORDS[CONTAINER]]  # in the order of their numbers


def sentence(rng: random.Random, style: str) -> str:
    """Return a sentence with words of the pack."""
    template = rng.choice(PACK.sentences[rng.choice(KEYS), style])
    forms = {role: rng.choice(nouns).forms for role, nouns in PACK.nouns.items()}
    return render(template.alone, forms, PACK.grammar.naming, initial=True)[0]


def question(rng: random.Random) -> str:
    """Return a question with words of the pack."""
    ask, people = rng.choice(ASKS), tuple(rng.choice(WORDS[AGENT]) for _ in range(5))
    least, most = {
        "reality": (0, 0),
        "memory": (0, 0),
        "says": (1, 1),
        "knows-where": (1, 1),
        "knows-wrong": (2, 2),
    }.get(ask, (0 if ask == "believers" else 2 if ask == "common" else 1, 5))
    place = rng.choice(WORDS[CONTAINER]) if ask == "believers" else None
    chain = people[: rng.randint(least, most)]
    return find_wording().ask(BeliefQuestion(ask, rng.choice(WORDS[THING]), chain, place))


def is_read(read: object, text: str) -> bool:
    """Return whether a text can be read."""
    try:
        read(text)  # type: ignore[operator]
    except ParseError:
        return False
    return True


def distinct(texts: Sequence[str]) -> pa.StringArray:
    """Return texts once each, not at the beginning of their buffer."""
    return pa.array(["", *dict.fromkeys(texts)], pa.string()).slice(1)


@pytest.mark.parametrize("seed", range(3))
def test_sentences_are_read_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    plain = [sentence(rng, PLAIN) for _ in range(800)]
    other = [sentence(rng, NARRATIVE) for _ in range(300)]
    changed = [change_text(rng.choice(plain), rng).split("\n")[0] for _ in range(1500)]
    not_read = ["", "Then ada entered the hall.", "Then The key was in a box in the hall."]
    texts = distinct([*plain, *other, *changed, "\n", *not_read])
    table = BlockReader(READER).sentences(texts)
    words = {**WORDS, THING: THINGS}
    unread = set()
    for number, text in enumerate(texts.to_pylist()):
        if table.kind[number] == UNREAD:
            unread.add(text)
            continue
        if table.left_out[:, number].any() or table.hour[number] >= 0:
            continue  # which `test_narratives_are_read_as_one_by_one` reads
        named = {
            role: words[role][at] if at >= 0 else None for role, at in zip(ROLES, table.words[:, number], strict=True)
        }
        event = PlotEvent(table.kind[number], lie=bool(table.is_lie[number]), **named)
        if event.kind == EventKind.MOVE:  # which happens where its agent is
            right = READER.read([f"{event.agent} entered the kitchen.", text])[-1]._replace(room=None)
        else:
            (right,) = READER.read([text])
        assert event == right._replace(feeling=None), text
        assert bool(table.is_tomi[number]) == is_read(parse_sentence, text), text
    assert unread.isdisjoint([*plain, *other])
    assert unread.issuperset(not_read)


def events_of(stories: Any, column: int, language: str) -> list[PlotEvent]:
    """Return a story that was read as arrays."""
    nouns = reader_of(language).pack.nouns
    things = [noun.word for noun in (*nouns[THING], *nouns[CONTAINER])]
    lists = ([noun.word for noun in nouns[AGENT]], [noun.word for noun in nouns[ROOM]], things)
    names = LocalNames(
        *(
            {known[word]: number for number, word in enumerate(numbers[:, column].tolist()) if word >= 0}
            for known, numbers in zip(
                (*lists, [noun.word for noun in nouns[CONTAINER]]),
                (stories.cast.agents, stories.cast.rooms, stories.cast.things, stories.cast.containers),
                strict=True,
            )
        )
    )
    events = decode_plot(stories.plots, column, names)
    return [event._replace(lie=lie) for event, lie in zip(events, stories.lie[:, column].tolist(), strict=True)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_narratives_are_read_as_one_by_one(language: str) -> None:
    rng, wording = random.Random(language), find_wording(language, NARRATIVE)
    table = make_benchmark("tom-k", 6, preset="hard", style=NARRATIVE, language=language).beginning("test", 0, 60)
    whole = list(dict.fromkeys(table.column("story").to_pylist()))
    words = sorted(
        {word for text in whole for word in (text if language == "zh" else text.replace("\n", " ").split(" "))}
    )
    texts = list(dict.fromkeys([*whole, *(change_text(rng.choice(whole), rng, words) for _ in range(900))]))
    stories = _read_stories(pa.array(texts), BlockReader(reader_of(language)))
    read = 0
    for text, column in zip(texts, stories.number.tolist(), strict=True):
        if column < 0:
            assert text not in whole
            continue
        right, found = wording.read(text), events_of(stories, column, language)
        assert found[: len(right)] == [event._replace(feeling=None) for event in right], text
        assert {event.kind for event in found[len(right) :]} <= {EventKind.NOISE}
        read += text not in whole
    assert read > 20
    times = load_pack(language).times
    told = whole[0].split("\n")
    places = [place for place, line in enumerate(told) if line.startswith(times)]
    told[places[0]], told[places[1]] = told[places[1]], told[places[0]]
    assert _read_stories(pa.array(["\n".join(told)]), BlockReader(reader_of(language))).number.tolist() == [-1]


@pytest.mark.parametrize("seed", range(3))
def test_questions_are_read_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    plain = [question(rng) for _ in range(600)]
    texts = distinct([*plain, *(change_text(rng.choice(plain), rng).split("\n")[0] for _ in range(1200))])
    table = BlockReader(READER).questions(texts)
    unread = set()
    for number, text in enumerate(texts.to_pylist()):
        if not table.is_read[number]:
            unread.add(text)
            continue
        place = WORDS[CONTAINER][table.place[number]] if table.place[number] >= 0 else None
        chain = tuple(WORDS[AGENT][agent] for agent in table.chain[:, number].tolist() if agent >= 0)
        found = BeliefQuestion(ASKS[table.ask[number]], THINGS[table.thing[number]], chain, place)
        assert found == read_question(text), text
        assert bool(table.is_tomi[number]) == is_read(parse_question, text), text
    assert unread.isdisjoint(plain)
    assert 100 < len(unread) < len(texts) - len(plain) // 2


def test_no_connective_or_time_names_anything() -> None:
    """So that texts that differ in names only have the same ones."""
    phrases = READER.phrases()
    for prefix in (*PACK.connectives, *PACK.times):
        assert not any(prefix.startswith(phrase) or prefix.lower().startswith(phrase) for phrase in phrases), prefix
