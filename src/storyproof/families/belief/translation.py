"""Stories in German, Spanish and Chinese as people write them, put into English sentences with their own words.

The readers of `language.reader` know the words of their packs and the sentences that we narrate. Other stories are
translated here, sentence by sentence, by the patterns of `language/translations.yaml`: "Der Ball ist im Korb" becomes
"The Ball is in the Korb". Only verbs and small words are translated, so that answers are words of the story. What
comes of it is read as any English story, by `rewording`. A sentence that fits no pattern is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from storyproof.errors import ParseError, quoted
from storyproof.families.belief.rewording import reword
from storyproof.families.family import Rewording
from storyproof.io.bounded_input import load_shipped

_LONGEST = 300  # characters of a sentence
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n")
_SLOT = re.compile(r"\{(\w+)\}")
_CODED = re.compile(r"\b(Word|word)([a-j]+)x\b")


class _Words:
    """Names and nouns of a story as words that are no others in English, so that they are read as what they are."""

    def __init__(self, actors: frozenset[str] = frozenset()) -> None:
        self._numbers: dict[str, int] = {}
        self.actors = actors  # who does something, where nothing else distinguishes people from things

    def code(self, word: str, *, is_name: bool) -> str:
        """Return what stands for a word."""
        number = self._numbers.setdefault(word, len(self._numbers))
        digits = "".join("abcdefghij"[int(digit)] for digit in str(number))
        return f"{'Word' if is_name else 'word'}{digits}x"

    def decode(self, text: str) -> str:
        """Return a text with the words themselves."""
        words = list(self._numbers)

        def word(match: re.Match[str]) -> str:
            return words[int("".join(str("abcdefghij".index(letter)) for letter in match[2]))]

        return _CODED.sub(word, text)


def _tables() -> Any:
    return load_shipped("storyproof.families.belief.language", "translations.yaml")


@cache
def _patterns(language: str, kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    table = _tables()[language]
    words = {**table["words"], **{name: f"(?P<{name}>{source})" for name, source in table["slots"].items()}}
    patterns = []
    for each in table[kind]:
        [(source, english)] = each.items()
        patterns.append((re.compile(_SLOT.sub(lambda match: str(words[match[1]]), source)), english))
    return tuple(patterns)


@cache
def _away(language: str) -> re.Pattern[str]:
    """Return the pattern of "while Ann is away, " in a language."""
    table = _tables()[language]
    return re.compile(_SLOT.sub(lambda match: f"(?P<{match[1]}>{table['slots'][match[1]]})", table["away"]))


def language_of(question: str) -> str:
    """Return the language in which a question is asked, by its first words; empty if it is none of these."""
    for language, table in _tables().items():
        if re.match(table["asks"], question):
            return str(language)
    return ""


@lru_cache(maxsize=256)
def translate(story: str, question: str) -> Rewording:
    """Return a story and its question in plain English sentences with its own names and nouns.

    Raises:
        ParseError: With the number of the sentence that is not understood, has two readings, or cannot happen.
    """
    language = language_of(question)
    if not language:
        raise ParseError("not understood in any language.")
    sentences = [each.strip() for each in _END.split(story) if each.strip()]
    words = _Words(_actors(_tables()[language], [*sentences, question]))
    english = []
    for number, sentence in enumerate(sentences, start=1):
        bare = re.sub(r"^\s*\d+[.):]?\s+", "", sentence).rstrip(".!。！").strip()
        said = _clauses(language, bare, words) if len(bare) <= _LONGEST else None
        if said is None:
            raise ParseError(f"sentence {number}: not understood: {quoted(sentence)}.")
        english.append(f"{said}.")
    asked = _translated(language, "questions", question.strip(), words)
    if asked is None:
        raise ParseError(f"not a question that is understood: {quoted(question)}.")
    try:
        rewording = reword("\n".join(english), asked)
    except ParseError as error:
        raise ParseError(words.decode(str(error))) from None
    written = dict(zip(english, sentences, strict=True))
    read_as = tuple((written.get(one, one), words.decode(other)) for one, other in rewording.read_as)
    return Rewording(words.decode(rewording.story), read_as, words.decode(rewording.question or asked))


def _actors(table: dict[str, Any], sentences: Sequence[str]) -> frozenset[str]:
    """Return who does something, in languages in which nothing else distinguishes people from things."""
    if "actors" not in table:
        return frozenset()
    matches = (re.match(table["actors"], re.sub(table["connectives"], "", each)) for each in sentences)
    names = frozenset(name for match in matches if match for name in re.split(table["and"], match[1]))
    for name in sorted(names):
        if longer := next((each for each in sorted(names) if each != name and each.startswith(name)), ""):
            raise ParseError(f"{quoted(longer)} may be {quoted(name)} or somebody else; write it in other words.")
    return names


def _clauses(language: str, text: str, words: _Words, depth: int = 0) -> str | None:
    """Return a sentence in English; one of several clauses as several, with the subject of the first."""
    table = _tables()[language]
    text = re.sub(table["connectives"], "", text)
    if depth == 0 and (match := _away(language).match(text)):
        rest = _clauses(language, text[match.end() :], words, 1)
        agent = _worded(table, "agent", match["agent"], words)
        return f"While {agent} is away, {rest}" if rest is not None else None
    for source, order in _patterns(language, "order"):
        text = source.sub(order, text)
    whole = _translated(language, "sentences", text, words)
    if whole is not None or depth > 2:
        return whole
    for between in re.finditer(table["between"], text):
        first = _translated(language, "sentences", text[: between.start()], words)
        subject = re.match(table["subject"], text)
        if first is None or subject is None:
            continue
        rest = text[between.end() :]
        for each in (rest, f"{subject[0]}{table['space']}{rest}"):
            following = _clauses(language, each, words, depth + 1)
            if following is not None:
                return f"{first} and {following}"
    return None


def _translated(language: str, kind: str, text: str, words: _Words) -> str | None:
    """Return what a text says by the first pattern that it fits; None if it fits none."""
    table = _tables()[language]
    for pattern, english in _patterns(language, kind):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        slots = {name: value for name, value in match.groupdict().items() if value}
        parts = (
            part for value in slots.values() for part in re.split(table["and"], re.sub(table["articles"], "", value))
        )
        if any(re.fullmatch(table["no_words"], part) for part in parts):
            continue
        if "actors" in table and "agents" in slots and "room" in slots and " are in " in english:
            names = re.split(table["and"], slots["agents"])
            if len(names) == 1 and names[0] not in words.actors and names[0] not in table["pronouns"]:
                continue  # a thing is there
        said = {name: _worded(table, name, value, words) for name, value in slots.items() if f"{{{name}}}" in english}
        if english.endswith((" left {room}", " went out of {room}")) and re.fullmatch(table["any_room"], slots["room"]):
            said["room"] = "the room"  # in which they are
        return english.format(**said)
    return None


def _worded(table: dict[str, Any], slot: str, value: str, words: _Words) -> str:
    """Return what stands in a slot in English."""
    if slot in ("agents", "agent", "other"):
        names = re.split(table["and"], value)
        coded = [table["pronouns"].get(each) or words.code(each, is_name=True) for each in names]
        return " and ".join([", ".join(coded[:-1]), coded[-1]] if len(coded) > 1 else coded)
    owner = re.match(table["owners"], value)
    article = "a" if re.match(table["indefinite"], value) else "the"
    if owner is not None:
        article = table["possessives"][owner[1]]
    return f"{article} {words.code(re.sub(table['articles'], '', value), is_name=False)}"
