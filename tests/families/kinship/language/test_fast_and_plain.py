"""The reader reads many texts as arrays; every step of this must give what the plain reader of one text gives."""

from __future__ import annotations

import random
import re
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.language import grammar, reader
from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.bulk import _CLOSER, KnownTokens, _simplify
from storyproof.families.kinship.language.reader import NotUnderstood, Reading, read, read_many
from storyproof.families.kinship.language.tokens import LINE, Tokens, simplify
from tests.families.kinship.language.narrated import narrate
from tests.families.kinship.language.test_bulk import ALPHABET
from tests.families.kinship.language.texts import try_to_read
from tests.groups import try_examples

LENGTHS = (2, 3, 6, 10)
# Words of every class, marks, and tokens that are cut in unusual ways.
WORDS = sorted({word for words in lx._LISTS.values() for word in words.split()[:8]} | set(lx.kin_words()))
ODD = (
    *",.;:!?()\"“—-_…3'", "7th", "@x", "@x's", "who's", "it's", "isn't", "he'll", "Émile", "Émile's", "sons'",
    "Omarʼs", "Omar’s", "well-known", "step-son", "'s", "Mum", "Aunt.", "niece,nephew", "Omar.Freya", "Lima", "Paris",
    "April", "It", "So", "Then", "O'Brien's",
)  # fmt: skip
# In the manner of published stories, which people wrote.
PUBLISHED = (
    ("Alice went to the park with her brother, Bob. Bob took his daughter Carol.", ("Alice", "Bob", "Carol")),
    ("Dorothy's brother Michael and her son Eric are at the zoo.", ("Dorothy", "Michael", "Eric")),
    ("Kristin and her son Justin went to visit her mother Carol.\nJustin loves Carol.", ("Kristin", "Justin", "Carol")),
    ("Jason likes to visit his grandma. Her name is Gabrielle.", ("Jason", "Gabrielle")),
    (
        "Dale was so happy that his sister Guillermina would be in his wedding to Louise.",
        ("Dale", "Guillermina", "Louise"),
    ),
)


@cache
def stories() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return stories of all styles and tasks, and some in the manner of published ones, with their people."""
    found = [*PUBLISHED]
    for task in ("clean", "all"):
        for text in ("natural", "plain", "placeholders", "synthetic"):
            found += [(story.text, story.names) for story in narrate(12, LENGTHS, task, block=5, text=text)]
    return tuple(found)


def differ(texts: list[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Return the texts that are not read together as they are read alone."""
    together = read_many([text for text, _ in texts], [names for _, names in texts])
    return [
        text
        for (text, names), found in zip(texts, together, strict=True)
        if shown(try_to_read(text, names)) != shown(found)
    ]


def shown(found: Reading | NotUnderstood) -> object:
    return str(found) if isinstance(found, NotUnderstood) else found


@st.composite
def changed_stories(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """Draw a story in which words are left out, exchanged, replaced or added."""
    text, names = draw(st.sampled_from(stories()))
    tokens = text.split(" ")
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(tokens) - 1))
        word = draw(st.sampled_from([*WORDS, *ODD]) | st.sampled_from(names) | st.text(max_size=6))
        match draw(st.sampled_from(("add", "replace", "leave out", "append", "exchange"))):
            case "add":
                tokens.insert(at, word)
            case "replace":
                tokens[at] = word
            case "leave out" if len(tokens) > 1:
                del tokens[at]
            case "append":
                tokens[at] += draw(st.sampled_from((*",.;:!?", "'s", "\n", " ", "\n\n")))
            case _:
                other = draw(st.integers(0, len(tokens) - 1))
                tokens[at], tokens[other] = tokens[other], tokens[at]
    return " ".join(tokens), names


@try_examples(25)
@given(st.lists(changed_stories(), min_size=1, max_size=5))
def test_changed_stories_are_read_together_as_alone(texts: list[tuple[str, tuple[str, ...]]]) -> None:
    assert not differ(texts)


def test_hundreds_of_changed_stories_are_read_together_as_alone() -> None:
    draws, texts = random.Random(3), []
    for text, names in stories() * 4:
        tokens = text.split(" ")
        tokens.insert(draws.randrange(len(tokens)), draws.choice([*WORDS, *ODD]))
        tokens[draws.randrange(len(tokens))] += draws.choice(("", ",", ".", "'s", "\n"))
        texts.append((" ".join(tokens), names))
    assert not differ(texts)
    understood = sum(isinstance(try_to_read(text, names), Reading) for text, names in texts)
    assert len(texts) / 20 < understood < len(texts) * 19 / 20  # both sorts are compared


# --- steps


@try_examples(150)
@given(
    st.sampled_from([*WORDS, *ODD, *(word.capitalize() for word in WORDS)]) | st.text(max_size=8),
    st.sampled_from(("", "'s", "'S", "s'", "’s")),
    st.text(",;:.!?)\"'…", max_size=3),
    st.sampled_from((" ", LINE)),
)
def test_tokens_are_analysed_by_their_words(word: str, possessive: str, marks: str, end: str) -> None:
    text = (word + possessive + marks).replace(" ", "").replace(LINE, "")
    token = Tokens()[text]
    known = KnownTokens(Tokens())
    [number] = known.number(pa.array([text + end], pa.string())).tolist()
    assert known.kinds[number].as_py().decode() == token.kinds + end.strip(" ")
    capital = known.capital[number]
    assert (known.words[int(capital)].as_py() if capital >= 0 else None) == token.capital
    assert bool(known.is_kin[number]) == (token.kin is not None)
    assert known.is_name(text) == Tokens().is_name(text)


@try_examples(300)
@given(st.lists(st.text(ALPHABET, max_size=20), min_size=1, max_size=3))
def test_classes_are_simplified_as_one_by_one(texts: list[str]) -> None:
    usable = [f"{text}{LINE}" for text in texts if not re.search(_CLOSER, text)]
    kinds = np.frombuffer("".join(usable).encode(), np.uint8).copy()
    if len(kinds):
        _simplify(kinds)
    assert kinds.tobytes().decode() == "".join(simplify(text) for text in usable)


@pytest.mark.parametrize("refusals", [grammar._UNREADABLE, grammar._UNCLEAR])
def test_the_short_way_finds_the_same_refusals(refusals: grammar._Refusals) -> None:
    draws = random.Random(1)
    for _ in range(20_000):
        kinds = "".join(draws.choices(ALPHABET + '?"#^', k=draws.randrange(1, 12)))
        matches = ((reason, match.start()) for pattern, reason in refusals.patterns if (match := pattern.search(kinds)))
        assert refusals.find(kinds) == next(matches, None)


# --- memory


@pytest.mark.parametrize("bound", ["_MOST_TOKENS", "_MOST_BYTES", "_MOST_MEANINGS"])
def test_the_reader_forgets_when_it_knows_too_much(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, names = PUBLISHED[0]
    reader._shared.cache_clear()
    assert not reader._reader().is_full()
    read_many([text], [names])
    try_to_read(text, names)
    full = reader._shared()
    monkeypatch.setattr(reader, bound, 1)
    assert full.is_full()
    assert reader._reader() is not full


def test_reading_goes_on_after_the_reader_has_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read("Omar's niece Freya rowed.", ["Omar", "Freya"])
    monkeypatch.setattr(reader, "_MOST_BYTES", 1)
    for _ in range(3):
        assert read_many(["Omar's niece Freya rowed."], [["Omar", "Freya"]]) == [expected]
