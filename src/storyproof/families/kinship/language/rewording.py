"""Stories about families as people write them, in the words that the reader knows.

`language.reader` refuses whatever it does not understand. `reword` is for text that it refuses: it applies the rules of
`rewordings.yaml`, turns of phrase with what they say in other words, and returns the text with what was changed. What
comes of it is read by the same reader, which refuses as before; a text on which no rule helps stays refused.

One thing is read in one way, always: "his" or "her" before a kin word means the subject of its sentence, the first
person named who is not a possessor, if nobody else named before it in the sentence can have that gender, and it does
not begin with the same pronoun ("Her mother Ada came, but her brother …"). The subject must have it by a kin word of
the text or by a first name of one gender, or be right before it ("Jean and her sister").
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from storyproof.families.family import Rewording
from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.names import genders_of_names
from storyproof.families.kinship.language.namings import REASONS, Sentence, mentioned, state_namings
from storyproof.families.kinship.language.reader import NotUnderstood, read
from storyproof.families.kinship.language.tokens import Tokens, cut, guess_names, words_as_names
from storyproof.families.kinship.relations import FEMALE, MALE
from storyproof.io.bounded_input import load_shipped

_NAME = r"[A-ZÀ-ÖØ-ÞČĆĐĞĪİŁŃŌŐŒŘŚŞŠŪŮŰŹŻŽ][\w-]+"
_SLOT = re.compile(r"\{(N|K|H|O)(\d?)\}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_HIS = re.compile(r"\b(his|her) (?!own )")
_PRONOUNS = {"his": MALE, "her": FEMALE}
_MOST_READINGS = 8
_NAME_IS = re.compile(rf"(?:His|Her) name is {_NAME}\.?$")
_MARKED = re.compile(rf"\[({_NAME})\]")


def reword(text: str) -> list[Rewording]:
    """Return all readings of a text in other words, a sentence per line; none if no rule changes it, or too many do."""
    sentences = _SENTENCE_END.split(" ".join(text.replace("’", "'").split()))
    readings: list[list[str]] = [[]]
    genders = _shown_genders(text)
    for sentence in sentences:
        ways = _reword_sentence(sentence)
        readings = [[*before, way] for before in readings for way in ways]
        if len(readings) > _MOST_READINGS:
            return []  # too many to try them all, and an answer must be the same under each
    rewordings = []
    names = _names(text)
    for reading in readings:
        lines = [_bind_possessives(each, genders) for each in reading]
        lines = _state_namings(lines, names, {name: _gender(name, genders) for name in names})
        changed = tuple((one, other) for one, other in zip(sentences, lines, strict=True) if one != other)
        if changed:
            story = "\n".join(line for each in lines for line in _SENTENCE_END.split(each) if line)
            rewordings.append(Rewording(story, changed))
    return rewordings


def _names(text: str) -> frozenset[str]:
    """Return the names of a text: those in brackets, if it has any, else what can be nothing but a name."""
    if marked := _MARKED.findall(text):
        return frozenset(marked)
    tokens = [Tokens()[each] for each in cut(text)]
    kinds = "".join(token.kinds for token in tokens)
    return guess_names(kinds, [token.capital for token in tokens if token.capital])[0] | words_as_names(text, None)


def _gender(name: str, genders: dict[str, str]) -> str:
    return genders.get(name) or _common_names().get(name) or ""


def _state_namings(lines: list[str], names: frozenset[str], genders: dict[str, str]) -> list[str]:
    """Return sentences in which those that the reader refuses say only what they take for granted, see `namings`.

    Sentences that it understands stay as they are; if one remains that it refuses, all stay as they were.
    """
    known = {name: gender for name, gender in genders.items() if gender}
    places = {word for word in re.findall(rf"(?<=[a-z] ){_NAME}", " ".join(lines)) if word not in names | lx.CALENDAR}
    if len(places) > 1:
        return lines  # where one person may be at a time
    stated = list(lines)
    said: dict[int, Sentence] = {}
    while True:
        parts = [(number, part) for number, each in enumerate(stated) for part in _SENTENCE_END.split(each) if part]
        try:
            reading = read("\n".join(part for _, part in parts), names)
        except NotUnderstood as refused:
            number = parts[refused.line - 1][0] if refused.line <= len(parts) else -1
            if number < 0 or number in said or refused.reason not in REASONS:
                return lines
        else:
            named = {name for fact in reading.facts for name in (fact.first, fact.second)}
            return stated if not said or named >= names else lines  # who is left over may be meant somewhere
        for each in (number, *range(number + 1, len(lines))):
            if each > number and not (_NAME_IS.match(lines[each]) and said[each - 1].open):
                break  # "Her name is Asia." belongs to the sentence before
            before = said.get(each - 1) or (mentioned(lines[each - 1], names, known) if each else None)
            sentence = state_namings(lines[each], before, names, known)
            if sentence is None:
                return lines
            said[each], stated[each] = sentence, sentence.text


def _tables() -> Any:
    return load_shipped("storyproof.families.kinship.language", "rewordings.yaml")


@cache
def _kin() -> str:
    """Return a pattern for kin words in the singular, with modifiers."""
    words = sorted((word for word, kin in lx.kin_words().items() if not kin.plural), key=len, reverse=True)
    return rf"(?:(?:{'|'.join(lx.words_of(lx.MODIFIER, lx.OLD, lx.ELDER))}) )*(?:{'|'.join(words)})"


@cache
def _rules() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    return tuple(
        (re.compile(_pattern(rule["read"])), tuple([rule["as"]] if isinstance(rule["as"], str) else rule["as"]))
        for rule in _tables()["rules"]
    )


def _pattern(text: str) -> str:
    slots = {"N": _NAME, "K": _kin(), "H": "his|her", "O": f"his|her|their|{_NAME}'s"}
    seen: set[str] = set()

    def fill(match: re.Match[str]) -> str:
        name = match[1] + match[2]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{slots[match[1]]})"

    return _SLOT.sub(fill, text)


def _reword_sentence(sentence: str) -> list[str]:
    """Return a sentence after all rules, in all readings."""
    ways = [sentence]
    for pattern, outcomes in _rules():
        ways = [each for way in ways for each in dict.fromkeys(_apply(pattern, outcome, way) for outcome in outcomes)]
    return ways


def _apply(pattern: re.Pattern[str], outcome: str, text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        filled = _SLOT.sub(lambda slot: match[slot[1] + slot[2]], outcome)
        return re.sub(r"\\(\d)", lambda group: _numbered(match, int(group[1])), filled)

    return pattern.sub(replacement, text)


def _numbered(match: re.Match[str], number: int) -> str:
    """Return what the nth group without a name matched."""
    named = set(match.re.groupindex.values())
    places = [place for place in range(1, match.re.groups + 1) if place not in named]
    return match[places[number - 1]] or ""


# --------------------------------------------------------------------------------------------------------- possessives


def _shown_genders(text: str) -> dict[str, str]:
    """Return the genders that kin words beside names show; nobody who would have two."""
    shown: dict[str, set[str]] = {}
    owner = rf"(?:{_NAME}'s|his|her|the|a|an)"
    for pattern in (
        rf"\b(?P<K>{_kin()}),? (?:called |named )?(?P<N>{_NAME})\b(?!')",
        rf"\b(?P<N>{_NAME})(?:,| is| was) {owner} (?P<K>{_kin()})\b",
    ):
        for match in re.finditer(pattern, text.replace("’", "'")):
            shown.setdefault(match["N"], set()).add(lx.kin_words()[match["K"].split(" ")[-1]].gender)
    for match in re.finditer(rf"\b(sons|brothers|daughters|sisters),? ({_NAME}) and ({_NAME})\b", text):
        for name in match.groups()[1:]:
            shown.setdefault(name, set()).add(lx.kin_words()[match[1]].gender)
    return {name: min(genders) for name, genders in shown.items() if len(genders) == 1}


def _bind_possessives(text: str, genders: dict[str, str]) -> str:
    """Return a sentence in which "Sam saw his sister Robin" is "Sam himself saw Sam's sister Robin"."""
    return " ".join(_bind(sentence, genders) for sentence in _SENTENCE_END.split(text))


def _bind(sentence: str, genders: dict[str, str]) -> str:
    people = [match for match in re.finditer(rf"\b{_NAME}\b", sentence) if _may_be_name(match[0])]
    acting = [match for match in people if sentence[match.end() : match.end() + 1] != "'"]
    if not acting:
        return sentence
    subject, kin = acting[0], re.compile(rf"{_kin()},? {_NAME}")
    known = {match[0]: genders.get(match[0]) or _common_names().get(match[0]) for match in people}

    def replacement(match: re.Match[str]) -> str:
        gender = _PRONOUNS[match[1]]
        if re.search(rf"\b{match[1]}\b", sentence[: subject.start()], re.IGNORECASE):
            return match[0]  # "Her mother Ada came, but her brother did not": of whom, another sentence says
        able = {each[0] for each in people if each.end() < match.start() and known[each[0]] in (None, gender)}
        beside = sentence[subject.end() : match.start()] == " and "
        is_meant = able == {subject[0]} and (known[subject[0]] == gender or beside)
        return f"{subject[0]}'s " if is_meant and kin.match(sentence, match.end()) else match[0]

    bound = _HIS.sub(replacement, sentence)
    if bound == sentence or sentence[subject.end() : subject.end() + 1] != " ":
        return bound
    pronoun = next(match[1] for match in _HIS.finditer(sentence) if replacement(match) != match[0])
    return f"{bound[: subject.end()]} {'himself' if pronoun == 'his' else 'herself'}{bound[subject.end() :]}"


def _may_be_name(word: str) -> bool:
    return lx.class_of(word.lower()) == lx.OTHER and word.lower() not in lx.NO_NAMES and not word.endswith("ly")


@cache
def _common_names() -> dict[str, str]:
    """Return common first names, by which "his" or "her" is told to mean the subject or not."""
    tables = _tables()
    return {name: gender for gender in (MALE, FEMALE) for name in tables[gender].split()}


def name_gender(name: str) -> str | None:
    """Return the gender of a first name that has one, by our lists of names and of common first names."""
    return _name_genders().get(name)


@cache
def _name_genders() -> dict[str, str]:
    common, ours = _common_names(), genders_of_names()
    return {name: gender for name, gender in (ours | common).items() if ours.get(name, gender) == gender}
