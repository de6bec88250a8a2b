"""German nouns: genders and cases, and prepositions joined with articles ("im Flur", "in der Küche", "ins Büro")."""

from __future__ import annotations

from types import MappingProxyType

from storyproof.families.belief.language.grammar import FEMALE, MALE, NAME, Forms, check_marks, one_of

_GENDERS = frozenset(("m", "f", "n", "pl"))
_NOMINATIVE = {"m": "der", "f": "die", "n": "das", "pl": "die"}
_ACCUSATIVE = {"m": "den", "f": "die", "n": "das", "pl": "die"}
_INDEFINITE = {"m": "ein ", "f": "eine ", "n": "ein ", "pl": ""}
_INDEFINITE_ACCUSATIVE = _INDEFINITE | {"m": "einen "}
_INDEFINITE_DATIVE = {"m": "einem", "f": "einer", "n": "einem"}
_ES = {"m": "er", "f": "sie", "n": "es", "pl": "sie"}
_IT = {"m": "ihn", "f": "sie", "n": "es", "pl": "sie"}
# Where one is, goes, comes from, and goes away from; by gender, in a place and on one.
_IN = {"m": "im", "f": "in der", "n": "im"}, {"m": "auf dem", "f": "auf der", "n": "auf dem"}
_INTO = {"m": "in den", "f": "in die", "n": "ins"}, {"m": "auf den", "f": "auf die", "n": "auf das"}
_FROM = {"m": "aus dem", "f": "aus der", "n": "aus dem"}, {"m": "vom", "f": "von der", "n": "vom"}
_AWAY = "hinaus", "hinunter"


class German:
    """See `Grammar`.

    Forms of nouns: nom, Nom, acc, a (nominative with "ein"), acca (accusative with "einen"); for places, not in the
    plural: in, into, ina, intoa (with "einem", "einen"), from, away; agreeing: is, was, lay, be (subjunctive), es
    ("er"), it ("ihn"). Of names: name; agreeing: er, ihm, ihn.
    """

    naming = frozenset((NAME, "nom", "Nom", "acc", "a", "acca", "in", "into", "ina", "intoa", "from", "away"))
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
            "Nom": f"{_NOMINATIVE[gender].capitalize()} {word}",
            "acc": f"{_ACCUSATIVE[gender]} {declined}",
            "a": f"{_INDEFINITE[gender]}{word}",
            "acca": f"{_INDEFINITE_ACCUSATIVE[gender]}{declined}",
            **dict(zip(("is", "was", "lay", "be"), verbs, strict=True)),
            "es": _ES[gender],
            "it": _IT[gender],
        }
        if gender != "pl":
            on = "auf" in marks
            forms["in"] = f"{_IN[on][gender]} {declined}"
            forms["into"] = f"{_INTO[on][gender]} {declined}"
            at = "auf" if on else "in"
            forms["ina"] = f"{at} {_INDEFINITE_DATIVE[gender]} {declined}"
            forms["intoa"] = f"{at} {_INDEFINITE_ACCUSATIVE[gender]}{declined}"
            forms["from"] = f"{_FROM[on][gender]} {declined}"
            forms["away"] = f"{forms['from']} {_AWAY[on]}"
        return forms

    def agent_forms(self, name: str, gender: str) -> Forms:
        """Return the forms of a name."""
        er, ihm, ihn = ("sie", "ihr", "sie") if gender == FEMALE else ("er", "ihm", "ihn")
        return {NAME: name, "er": er, "ihm": ihm, "ihn": ihn}
