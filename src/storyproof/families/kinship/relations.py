"""Kinship terms: 22 words, two for each gender-neutral predicate.

A fact `(a, predicate, b)` says what b is to a: `(a, "child", b)` makes b a's child; the gender of b decides between son
and daughter. Predicates are named as in the CLUTRR paper: those that point up or back are the inverse (`inv-`) of those
that point down. The paper has no rule for brothers- and sisters-in-law and hence no predicate; here it is
`sibling-in-law`.
"""

from __future__ import annotations

from typing import NamedTuple

MALE, FEMALE = "male", "female"
GENDERS = (MALE, FEMALE)


class Predicate(NamedTuple):
    """A gender-neutral relation.

    Attributes:
        name: As in the paper.
        male: The word if the second person is male.
        female: The word if the second person is female.
        inverse: What the first person is to the second.
    """

    name: str
    male: str
    female: str
    inverse: str


class Fact(NamedTuple):
    """What the second person is to the first."""

    first: int
    predicate: str
    second: int


PREDICATES = (
    Predicate("child", "son", "daughter", "inv-child"),
    Predicate("inv-child", "father", "mother", "child"),
    Predicate("SO", "husband", "wife", "SO"),
    Predicate("sibling", "brother", "sister", "sibling"),
    Predicate("grand", "grandson", "granddaughter", "inv-grand"),
    Predicate("inv-grand", "grandfather", "grandmother", "grand"),
    Predicate("un", "nephew", "niece", "inv-un"),
    Predicate("inv-un", "uncle", "aunt", "un"),
    Predicate("in-law", "son-in-law", "daughter-in-law", "inv-in-law"),
    Predicate("inv-in-law", "father-in-law", "mother-in-law", "in-law"),
    Predicate("sibling-in-law", "brother-in-law", "sister-in-law", "sibling-in-law"),
)
BASIC = (
    "child",
    "inv-child",
    "SO",
    "sibling",
    "grand",
    "inv-grand",
    "un",
    "inv-un",
)  # the relations that stories state

_BY_NAME = {predicate.name: predicate for predicate in PREDICATES}
_BY_WORD = {word: predicate.name for predicate in PREDICATES for word in (predicate.male, predicate.female)}
NAMES = tuple(_BY_NAME)
WORDS = tuple(_BY_WORD)


def word(predicate: str, gender: str) -> str:
    """Return the word for a second person of this gender; both words if the gender is not known."""
    predicate_words = _BY_NAME[predicate]
    if not gender:
        return f"{predicate_words.male} or {predicate_words.female}"
    return predicate_words.male if gender == MALE else predicate_words.female


def predicate_of(word: str) -> str:
    """Return the predicate of a word; raise KeyError if it is not a kinship term."""
    return _BY_WORD[word]


def gender_of(word: str) -> str:
    """Return the gender of the second person that a word implies."""
    return MALE if _BY_NAME[_BY_WORD[word]].male == word else FEMALE


def inverse(predicate: str) -> str:
    """Return what the first person is to the second."""
    return _BY_NAME[predicate].inverse
