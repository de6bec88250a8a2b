"""Situations and frames state their fact and nothing else, in the words that the reader knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from storyproof.families.kinship.language.frames import SITUATION, SPARE, Frame, our_frames
from storyproof.families.kinship.language.reader import read, read_table
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, NAMES, word

PRONOUNS = {MALE: ("he", "his", "him"), FEMALE: ("she", "her", "her")}
NAMED = {MALE: ("Omar", "Bertil"), FEMALE: ("Leila", "Freya")}
WHOLE = [frame for frame in our_frames().frames if frame.group in (SITUATION, SPARE)]
SITUATIONS = [frame for frame in our_frames().frames if frame.is_situation]


def fill(
    frame: Frame, relation: str, genders: tuple[str, str], *, pronouns: bool, words: Sequence[str] = ()
) -> tuple[str, tuple[str, str, str]]:
    """Return the text of a frame, and the fact that it states."""
    owner, relative = NAMED[genders[0]][0], NAMED[genders[1]][1]
    he, his, him = PRONOUNS[genders[0]]
    kin = word(relation, genders[1])
    text = re.sub(r"\{[AB]\.(?:new|busy|later)\}", "", frame.body)
    for number, word_in_slot in enumerate(words):
        text = text.replace(f"{{word {number}}}", word_in_slot)
    for slot, value in (
        ("A.he", he), ("A.his", his), ("A.him", him), ("A.He", he.capitalize()), ("A.His", his.capitalize()),
        ("A or he", he if pronouns else owner), ("A or him", him if pronouns else owner),
        ("A's", his if pronouns else f"{owner}'s"), ("kin", kin), ("A", owner), ("B", relative),
        ("A.did", "sang"), ("A.doing", "singing"), ("A.done", "sung"), ("B.did", "danced"),
        ("B.doing", "dancing"), ("B.done", "danced"), ("B.do", "dance"), ("adv", " by the gate"),
        ("place", " by the gate"),
    ):  # fmt: skip
        text = text.replace(f"{{{slot}}}", value)
    return text, (owner, kin, relative)


def cases(frame: Frame) -> list[tuple[str, tuple[str, str], bool]]:
    return [
        (relation, (one, other), pronouns)
        for relation, one, other in product(sorted(frame.relations), GENDERS, GENDERS)
        if relation != "SO" or one != other
        for pronouns in ((True, False) if one != other else (False,))
    ]


def facts(text: str, names: list[str]) -> set[tuple[str, str, str]]:
    return {(fact.first, fact.word, fact.second) for fact in read(text, names).facts}


def choices(frame: Frame) -> Iterator[list[str]]:
    """Yield words for the choices of a frame: the first ones, and each of the others beside the first ones."""
    first = [each[0] for each in frame.words]
    yield first
    for number, words in enumerate(frame.words):
        for another in dict.fromkeys(words[1:]):
            yield [*first[:number], another, *first[number + 1 :]]


@pytest.mark.parametrize("frame", WHOLE, ids=lambda frame: frame.text)
def test_a_situation_states_its_fact_and_no_other(frame: Frame) -> None:
    every = cases(frame)
    for number, words in enumerate(choices(frame)):
        for relation, genders, pronouns in every if number == 0 else [every[number % len(every)]]:
            text, fact = fill(frame, relation, genders, pronouns=pronouns, words=words)
            around = f"The sun shone.\n{fact[0]} ate a plum.\n{text}\n{fact[2]} drank a glass of water."
            assert facts(around, [fact[0], fact[2]]) == {fact}


def test_all_situations_are_read_as_arrays() -> None:
    """What has to be read on its own takes ten times as long."""
    told = [
        (text, (owner, relative))
        for frame in WHOLE
        for words in choices(frame)
        for text, (owner, _, relative) in [
            fill(frame, min(frame.relations), (FEMALE, MALE), pronouns=False, words=words)
        ]
    ]
    assert any('"' in text for text, _ in told)
    _, others = read_table([f"The sun shone.\n{text}" for text, _ in told], [names for _, names in told])
    assert [told[number][0] for number in others] == []


@pytest.mark.parametrize("frame", [each for each in SITUATIONS if each.can_be_joined], ids=lambda frame: frame.text)
@pytest.mark.parametrize("joiner", our_frames().joiners)
def test_a_joined_situation_states_its_fact_too(frame: Frame, joiner: str) -> None:
    other, another = "Samir's sister Nora ate a plum.", ("Samir", "sister", "Nora")
    relations = sorted(frame.relations)
    for number, words in enumerate(choices(frame)):
        for relation in relations if number == 0 else [relations[number % len(relations)]]:
            text, fact = fill(frame, relation, (FEMALE, MALE), pronouns=False, words=words)
            names = [fact[0], fact[2], "Samir", "Nora"]
            assert facts(f"{text[:-1]}{joiner}{other}", names) == {fact, another}
            assert facts(f"{other[:-1]}{joiner}{text}", names) == {fact, another}


def test_there_are_situations_for_every_relation() -> None:
    assert len({frame.text for frame in SITUATIONS}) == len(SITUATIONS) >= 300
    train, test = our_frames().split("clutrr", 1)
    for side, relation in product((train, test), NAMES):
        assert len([each for each in side.frames if each.is_situation and relation in each.relations]) > 60


@pytest.mark.parametrize("frame", SITUATIONS, ids=lambda frame: frame.text)
def test_situations_are_in_the_past_tense_and_active(frame: Frame) -> None:
    for words in choices(frame):
        text, _ = fill(frame, min(frame.relations), (FEMALE, MALE), pronouns=False, words=words)
        text = re.sub(r'"[^"]*"', "", text)
        check_tense(text)


def check_tense(text: str) -> None:
    assert not re.search(r"\b(?:is|are|has|does)\b", text)
    assert not re.search(r"\b(?:was|were|been|being) \w+(?:ed|wn|ught|ld|nt|ven|ken|ten)\b(?! to\b| of\b)", text), text
