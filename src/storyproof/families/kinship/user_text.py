"""A story that has nothing but its text, as rows: its facts and genders are read from the text."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any

from storyproof.errors import ParseError, quoted, suggest
from storyproof.families.family import ReadingProblem
from storyproof.families.kinship.language.lexicon import OTHER, class_of, kin_words
from storyproof.families.kinship.language.rewording import name_gender
from storyproof.families.kinship.people import UNKNOWN, choose_genders
from storyproof.families.kinship.relations import FEMALE, MALE, inverse, predicate_of
from storyproof.families.kinship.templates import NAME, ask

if TYPE_CHECKING:
    from storyproof.families.kinship.language.reading import Reading

_ASKED = re.compile(
    rf"(?:(?:what|who|how) is (?P<who>{NAME})(?: related)? to (?P<whom>{NAME}) ?\??"
    rf"|what relation is (?P<who2>{NAME}) to (?P<whom2>{NAME}) ?\??"
    rf"|(?P<who3>{NAME}) is (?:the )?_+ (?:of|to) (?P<whom3>{NAME}) ?[.?]?"  # a gap to fill in
    rf"|(?P<who4>{NAME}) is (?P<whom4>{NAME})['’]s _+ ?[.?]?)",
    re.IGNORECASE,
)
_MISSPELT = 0.75  # how alike a word and a kin word must be
_LIKE_KIN = re.compile(rf"(?:\b(?:his|her|their)|['’]s) (?P<kin>[a-z][a-z-]{{2,}}),? (?={NAME}\b)(?=[A-Z])")
MOST_QUESTIONS = 300


def rows_of_text(story: str, question: str, people: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the columns of a row for each choice of the genders that a text does not show.

    Args:
        story: A story in plain English, see `language.reader`.
        question: "What is B to A?", "How is B related to A?" or "B is the ___ of A".
        people: The names of everybody in it; without them, capitalised words are taken for names where they can be.

    Raises:
        ParseError: If one of them is not understood, or the text does not show a gender on which the answer depends.
    """
    first, second = asked_people(question)
    reading = _read(story, people)
    names = sorted(reading.people)
    _check_asked(reading, first, second)
    number = {name: place for place, name in enumerate(names)}
    facts: dict[tuple[str, str], str] = {}
    for fact in reading.facts:
        # "They are sisters" says the same from either side; one of both is enough.
        mirrored = facts.get((fact.second, fact.first))
        if mirrored is None or predicate_of(mirrored) != inverse(predicate_of(fact.word)):
            facts[fact.first, fact.second] = fact.word
    shown = _add_spouses(facts, dict(reading.genders))
    if (gender := name_gender(second)) is not None:  # only if neither kin words nor pronouns show another one
        shown.setdefault(second, gender)
    return [
        {
            "genders": genders,
            "edges": [[number[one], number[other]] for one, other in facts],
            "edge_types": list(facts.values()),
            "query": [first, second],
            "k": len(facts),
        }
        for genders in choose_genders([f"{name}:{shown.get(name, UNKNOWN)}" for name in names])
    ]


def _read(story: str, people: Collection[str]) -> Reading:
    """Read a text with the names that are given, or else, as somebody may be missing there, without them."""
    from storyproof.families.kinship.language.reader import NotUnderstood, read  # takes a while to import

    if not people:
        return read(story)
    try:
        return read(story, people)
    except NotUnderstood as error:
        try:
            return read(story)
        except NotUnderstood:
            raise error from None


def asked_people(question: str) -> tuple[str, str]:
    """Return who is asked about: first and second person.

    Raises:
        ParseError: If the question is in no form that is understood.
    """
    match = _ASKED.fullmatch(question.strip())
    if match is None:
        raise ParseError(f"{quoted(question)} is not a kinship question; expected 'What is B to A?'.")
    second, first = (each for each in match.groups() if each is not None)
    return first, second


def is_asked(question: str) -> bool:
    """Return whether a question asks what somebody is to somebody."""
    return _ASKED.fullmatch(question.strip()) is not None


def _check_asked(reading: Reading, first: str, second: str) -> None:
    """Raise _AskedError unless a text names two people and shows the gender of the second."""
    listed = ", ".join(sorted(reading.people))
    for name in (second, first):
        if name not in reading.people:
            message = f"the story does not name '{name}'; it names {listed}."
            raise _AskedError(name, message + suggest(name, reading.people))
    if first == second:
        raise _AskedError(second, f"the question is what {second} is to {second}; expected two people.")
    if second not in reading.genders and name_gender(second) is None:
        message = f"the story does not show whether {second} is {MALE} or {FEMALE}; the answer depends on it."
        raise _AskedError(second, message)


class _AskedError(ParseError):
    """A question that its story does not allow, because of a name in it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def find_problems(story: str, question: str, people: Collection[str] = ()) -> list[ReadingProblem]:
    """Return where a text is not understood, what its question lacks, and the line from which on no family fits."""
    from storyproof.families.kinship.language.reading import NotUnderstood

    if misspelt := _misspelt(story):
        line = story.count("\n", 0, misspelt.start("kin")) + 1
        column = misspelt.start("kin") - story.rfind("\n", 0, misspelt.start("kin"))
        word = misspelt["kin"]
        message = f"'{word}' is no kin word that is known.{suggest(word, kin_words())}"
        return [ReadingProblem(message, "story", line, column, len(word))]
    try:
        rows_of_text(story, question, people)
    except NotUnderstood as error:
        return [ReadingProblem(f"not understood: {error.reason}.", "story", error.line, error.column, len(error.words))]
    except _AskedError as error:
        return [ReadingProblem(str(error), "question", 1, question.find(error.name) + 1, len(error.name))]
    except ParseError as error:
        about = "story" if is_asked(question) else "question"
        return [ReadingProblem(str(error), about, 1 if about == "question" else 0)]
    _, second = asked_people(question)
    if (gender := name_gender(second)) is not None and second not in _read(story, people).genders:
        message = f"{second} is taken to be {gender}, by the name alone."
        return [ReadingProblem(message, "question", 1, question.find(second) + 1, len(second), is_fatal=False)]
    return []


def _misspelt(story: str) -> re.Match[str] | None:
    """Return where a word stands like a kin word, and is nearly one: "her neice Ann"."""
    for match in _LIKE_KIN.finditer(story):
        word = match["kin"]
        if class_of(word) == OTHER and get_close_matches(word, kin_words(), 1, _MISSPELT):
            return match
    return None


def list_questions(story: str, people: Collection[str] = ()) -> list[str]:
    """Return the question about each two people of a story, as far as the gender of the answer is shown.

    Raises:
        ParseError: If the story is not understood.
    """
    reading = _read(story, people)
    names = sorted(reading.people)
    pairs = (ask(first, second) for first in names for second in names if first != second and second in reading.genders)
    return list(islice(pairs, MOST_QUESTIONS))


def _add_spouses(facts: dict[tuple[str, str], str], genders: dict[str, str]) -> dict[str, str]:
    """Return genders with those of people whose wife or husband a text names."""
    for (first, _), relation in facts.items():
        if relation in ("wife", "husband"):
            genders.setdefault(first, MALE if relation == "wife" else FEMALE)
    return genders
