"""Checks of placeholders: whether a text states the facts of its key, all of them and nothing else.

The relations that a text states are found by `claims`. If the owner is a pronoun, a claim is accepted if it is right
for anybody of that gender.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from storyproof.families.kinship.placeholders.claims import (
    ADJ,
    STOP,
    UNCLEAR,
    ClaimReader,
    KinClaim,
    Owner,
    Way,
    numbers,
)
from storyproof.families.kinship.placeholders.collection import Key, Placeholders
from storyproof.families.kinship.placeholders.kin_words import GENERIC, NEAR, OTHER, PRONOUNS, TELLING, Kin
from storyproof.families.kinship.relations import inverse, predicate_of, word
from storyproof.families.kinship.strict_rules import sound_compositions

MISSING, UNKNOWN_SLOT, REVEALS = "missing-person", "unknown-slot", "reveals"
SWAPPED, PRONOUN, FRAGMENT = "swapped-roles", "wrong-pronoun", "fragment"
NOT_TOLD, GENDER, NOT_RECOGNISED = "fact-not-told", "gender-not-told", "not-recognised"
FATAL = (MISSING, UNKNOWN_SLOT, REVEALS)
DOUBTFUL = (SWAPPED, PRONOUN, FRAGMENT, NOT_TOLD, GENDER, NOT_RECOGNISED)


class TextProblem(NamedTuple):
    """Something wrong with a text.

    Attributes:
        kind: One of FATAL or DOUBTFUL.
        what: A description for people.
    """

    kind: str
    what: str


class PlaceholderFlaw(NamedTuple):
    """A problem, and the placeholder that has it."""

    key: Key
    number: int
    text: str
    kind: str
    what: str

    def __str__(self) -> str:
        words, genders = self.key
        return f"{'-'.join(words)} {'-'.join(genders)} {self.number}: {self.kind}: {self.what}: {self.text}"


_SLOT = re.compile(r"ENT[_\d]\w*")
_STRAY = re.compile(r"male '\w|\w's'|\\|^\w+: ENT|\[|\]|_{2,}|[a-z]\.[A-Z]")
_VERB = re.compile(rf" (?:is|was|are|were|has|had|have|(?!(?:{STOP.replace(' ', '|')}) )[a-zé-]{{2,}}) ")


def _compose(path: Sequence[str]) -> str | None:
    """Return what a path of predicates leads to; None if that is not known."""
    found: str | None = path[0]
    for step in path[1:]:
        found = sound_compositions().get((found or "", step))
    return found


class _TextCheck:
    """Compares a text with the facts that it should state."""

    def __init__(self, words: Sequence[str], genders: Sequence[str], text: str) -> None:
        self.words, self.genders, self.text = words, genders, text
        self.reader = ClaimReader(text, genders)
        self.given: dict[tuple[int, int], str] = {}
        for number, predicate in enumerate(map(predicate_of, words)):
            self.given |= {(number, number + 1): predicate, (number + 1, number): inverse(predicate)}
        self.recognised: set[int] = set()  # facts
        self.understood: set[int] = set()  # kin words
        self.shown: set[int] = set()  # people whose gender a word shows

    def claims(self) -> Iterator[TextProblem]:
        """Check the relations that are stated."""
        for claim, number in self.reader.claims:
            ways = [onward for way in claim.owners for onward in self._onward(way)]
            meanings = [(first, _compose((*path, claim.predicate))) for first, path in ways]
            right = [
                first for first, meaning in meanings if meaning and self.given.get((first, claim.second)) == meaning
            ]
            if right:
                yield from self._accept(claim, number, right[0])
            elif claim.predicate == OTHER or None not in [meaning for _, meaning in meanings]:
                yield from self._refuse(claim)

    def _onward(self, way: Way) -> Iterator[Way]:
        """Yield a path, and shorter ones if kin on it are people of the facts: "her mother's" may be ENT_1's."""
        yield way
        first, path = way
        for (of, kin), predicate in self.given.items():
            if path and (of, predicate) == (first, path[0]):
                yield from self._onward((kin, path[1:]))

    def _accept(self, claim: KinClaim, number: int, first: int) -> Iterator[TextProblem]:
        self.recognised.add(min(first, claim.second))
        self.understood.add(number)
        while number in self.reader.through:
            number = self.reader.through[number]
            self.understood.add(number)
        if claim.pronoun in PRONOUNS:
            self.shown.add(first)
        if claim.gender == self.genders[claim.second]:
            self.shown.add(claim.second)
        elif claim.gender:
            yield TextProblem(PRONOUN, f"ENT_{claim.second} is called a {claim.word}")

    def _refuse(self, claim: KinClaim) -> Iterator[TextProblem]:
        """Return why a claim is not right for anybody who may be meant."""
        second = claim.second
        direct = [first for first, path in claim.owners if not path]
        derived = [first for first in direct if self._derived(first, second) == claim.predicate]
        fitting = [of for (of, kin), predicate in self.given.items() if (kin, predicate) == (second, claim.predicate)]
        gender = PRONOUNS.get(claim.pronoun or "")
        astray = gender and (claim.nearest is None or self.genders[claim.nearest] != gender)
        if not claim.owners or (astray and fitting and not derived):
            yield TextProblem(PRONOUN, f"'{claim.pronoun} {claim.word}' is said of ENT_{second}, but fits nobody")
            return
        first = [*derived, *direct, claim.owners[0][0]][0]
        said = f"ENT_{second} is said to be ENT_{first}'s {'' if direct else '… '}{claim.word}"
        if (first, second) in self.given:
            yield TextProblem(SWAPPED, f"{said}, who is their {word(self.given[first, second], self.genders[second])}")
        elif direct:  # "her mother's mother, ENT_2" is not shorter than the facts
            yield TextProblem(REVEALS, f"{said}, which is not a given fact")

    def _derived(self, first: int, second: int) -> str | None:
        step = 1 if second > first else -1
        return _compose([self.given[place, place + step] for place in range(first, second, step)])

    def pronouns(self) -> Iterator[TextProblem]:
        """Find pronouns that can refer to nobody in the text."""
        code, kins = self.reader.code, self.reader.kins
        present = {self.genders[person] for person in numbers(code)}
        strangers = {kin.gender for kin, seconds in zip(kins, self.reader.seconds, strict=True) if not seconds}
        for found in re.finditer(r" (" + "|".join(PRONOUNS) + r")(?= )", code):
            gender = PRONOUNS[found[1]]
            if gender not in present and not strangers & {gender, None} and "~" not in code:
                yield TextProblem(PRONOUN, f"'{found[1]}', but nobody is {gender}")
                return

    def untold(self) -> Iterator[TextProblem]:
        """Find facts for which the text does not even have a word."""
        said = {kin.predicate for kin in self.reader.kins}
        for number, kin in self.reader.through.items():
            said.add(_compose([self.reader.kins[kin].predicate, self.reader.kins[number].predicate]) or "")
        around = not all(self.reader.seconds)  # "his sister … her son ENT_1": kin that lead on to a nephew
        for number, fact in enumerate(self.words):
            either = {predicate_of(fact), inverse(predicate_of(fact))}
            hint = any(re.search(hints, self.text, re.I) for name, hints in TELLING.items() if name in either)
            hint |= around and not either & NEAR
            if not either & said and number not in self.recognised and not hint:
                yield TextProblem(NOT_TOLD, f"no word states that ENT_{number + 1} is ENT_{number}'s {fact}")

    def unclear(self) -> Iterator[TextProblem]:
        """Find facts, kin words and genders that were not understood."""
        for number, fact in enumerate(self.words):
            if number not in self.recognised:
                yield TextProblem(NOT_RECOGNISED, f"that ENT_{number + 1} is ENT_{number}'s {fact}")
        for number, (kin, owner) in enumerate(zip(self.reader.kins, self.reader.owners, strict=True)):
            generic = owner is None and kin.word in GENERIC
            if number not in self.understood and not generic and not self._refers_back(number, kin):
                yield TextProblem(NOT_RECOGNISED, f"who is called '{kin.word}'")
            elif owner and owner.pronoun == "their" and not self._knows_both(owner, self.reader.seconds[number]):
                yield TextProblem(NOT_RECOGNISED, f"whose '{kin.word}' is meant")
        married = len(re.findall(r" (?:marr(?:y|ie[sd])|wed) ", self.reader.code))
        if married > sum(number == -1 for _, number in self.reader.claims):
            yield TextProblem(NOT_RECOGNISED, "who is married")
        if UNCLEAR.search(self.reader.code):
            yield TextProblem(NOT_RECOGNISED, "whether 'and' joins two people or two parts of the sentence")
        self._follow_pronouns()
        for person in range(1, len(self.genders)):
            if person not in self.shown:
                yield TextProblem(GENDER, f"no word shows that ENT_{person} is {self.genders[person]}")

    def _knows_both(self, owner: Owner, seconds: Sequence[int]) -> bool:
        return owner.each and not {first for first, _ in owner.ways} & set(seconds)

    def _refers_back(self, number: int, kin: Kin) -> bool:
        """Return whether a kin word without a name repeats a given fact: "his son", "the father"."""
        owner = self.reader.owners[number]
        firsts = {first for first, path in owner.ways if not path} if owner else set(range(len(self.genders)))
        plain = owner or re.search(rf" the {ADJ}$", self.reader.code[: kin.start])
        if not plain or kin.plural or self.reader.seconds[number]:
            return False
        meant = {
            second
            for (first, second), predicate in self.given.items()
            if first in firsts and predicate == kin.predicate and kin.gender in (None, self.genders[second])
        }
        if kin.gender and len(meant) == 1:
            self.shown |= meant
        return bool(meant)

    def _follow_pronouns(self) -> None:
        """Count a pronoun as showing the gender of all whom it may mean; for other genders there are fewer."""
        for found in re.findall(r" (" + "|".join(PRONOUNS) + r")(?= (?!#))", self.reader.code):
            self.shown |= {person for person, gender in enumerate(self.genders) if gender == PRONOUNS[found]}


def _slots(genders: Sequence[str], text: str) -> Iterator[TextProblem]:
    known = [f"ENT_{number}_{gender}" for number, gender in enumerate(genders)]
    found = _SLOT.findall(text)
    for slot in known:
        if slot not in found:
            yield TextProblem(MISSING, f"{slot} is not mentioned")
    for slot in dict.fromkeys(found):
        if slot not in known:
            yield TextProblem(UNKNOWN_SLOT, f"{slot}; expected {', '.join(known)}")


def _fragments(text: str, code: str) -> Iterator[TextProblem]:
    stray = _STRAY.search(text)
    if stray:
        yield TextProblem(FRAGMENT, f"stray characters at {text[stray.start() : stray.start() + 12]!r}")
    if not re.match(r"[\"'“‘`(]*[A-Z]", text):
        yield TextProblem(FRAGMENT, f"begins with {text[:1]!r}, not with a capital letter")
    if not re.search(r"[.!?…][\"'”’)]*\s*$", text):
        yield TextProblem(FRAGMENT, f"ends with {text[-1:]!r}, not like a sentence")
    if not _VERB.search(re.sub(rf" {ADJ}#\d+ ", " ", code)):  # only people and kin are left
        yield TextProblem(FRAGMENT, "no verb")


def check(words: Sequence[str], genders: Sequence[str], text: str, *, thorough: bool = False) -> list[TextProblem]:
    """Find what is wrong with a placeholder.

    Args:
        words: What each person is to the one before.
        genders: Everybody's gender.
        text: With slots such as `ENT_0_male`.
        thorough: Also require that every fact and every kin word is recognised, and everybody's gender shown. An
            ambiguous pronoun is read in favour of the facts, so a text is safe only if it is checked for all genders.

    Returns:
        Problems, fatal ones first; empty if there are none.
    """
    judge = _TextCheck(words, genders, text)
    found = [*_slots(genders, text), *judge.claims(), *judge.pronouns(), *_fragments(text, judge.reader.code)]
    found += judge.untold()
    found += judge.unclear() if thorough else ()
    order = (*FATAL, *DOUBTFUL)
    return sorted(dict.fromkeys(found), key=lambda problem: order.index(problem.kind))


def problems(placeholders: Placeholders, *, thorough: bool = False) -> list[PlaceholderFlaw]:
    """Check all texts of a collection; return flaws in its order."""
    return [
        PlaceholderFlaw(key, number, text, *problem)
        for key, texts in placeholders.templates.items()
        for number, text in enumerate(texts)
        for problem in check(key[0], key[1], text, thorough=thorough)
    ]
