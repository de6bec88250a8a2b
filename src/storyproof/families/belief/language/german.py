"""German nouns: genders and cases, and prepositions joined with articles ("im Flur", "in der Küche", "ins Büro")."""

from __future__ import annotations

from types import MappingProxyType

from storyproof.families.belief.language.grammar import FEMALE, MALE, NAME, Forms, check_marks, one_of

_GENDERS = frozenset(("m", "f", "n", "pl"))
_NOMINATIVE = {"m": "der", "f": "die", "n": "das", "pl": "die"}
_ACCUSATIVE = {"m": "den", "f": "die", "n": "das", "pl": "die"}
_INDEFINITE = {"m": "ein ", "f": "eine ", "n": "ein ", "pl": ""}
_IT = {"m": "ihn", "f": "sie", "n": "es", "pl": "sie"}
# Where one is, goes, comes from, and goes away from; by gender, in a place and on one.
_IN = {"m": "im", "f": "in der", "n": "im"}, {"m": "auf dem", "f": "auf der", "n": "auf dem"}
_INTO = {"m": "in den", "f": "in die", "n": "ins"}, {"m": "auf den", "f": "auf die", "n": "auf das"}
_FROM = {"m": "aus dem", "f": "aus der", "n": "aus dem"}, {"m": "vom", "f": "von der", "n": "vom"}
_AWAY = "hinaus", "hinunter"


class German:
    """See `Grammar`.

    Forms of nouns: nom, acc, a (nominative with "ein"); in, into, from, away for places, not in the plural; agreeing:
    is, was, lay, be (subjunctive), it. Of names: name.
    """

    naming = frozenset((NAME, "nom", "acc", "a", "in", "into", "from", "away"))
    pronouns = MappingProxyType({MALE: "er", FEMALE: "sie"})
    is_silent = False
    spaced = True
    takes_any_word = False

    def noun_forms(self, word: str, marks: frozenset[str]) -> Forms:
        """Return the forms of a noun."""
        check_marks(marks, _GENDERS | {"auf", "en"})
        gender = one_of(marks, _GENDERS)
        declined = f"{word}en" if "en" in marks else word
        verbs = ("sind", "waren", "lagen", "seien") if gender == "pl" else ("ist", "war", "lag", "sei")
        forms = {
            "nom": f"{_NOMINATIVE[gender]} {word}",
            "acc": f"{_ACCUSATIVE[gender]} {declined}",
            "a": f"{_INDEFINITE[gender]}{word}",
            **dict(zip(("is", "was", "lay", "be"), verbs, strict=True)),
            "it": _IT[gender],
        }
        if gender != "pl":
            on = "auf" in marks
            forms["in"] = f"{_IN[on][gender]} {declined}"
            forms["into"] = f"{_INTO[on][gender]} {declined}"
            forms["from"] = f"{_FROM[on][gender]} {declined}"
            forms["away"] = f"{forms['from']} {_AWAY[on]}"
        return forms

    def agent_forms(self, name: str, gender: str) -> Forms:
        """Return the forms of a name."""
        return {NAME: name}
