"""Spanish nouns: gender and number, "al" and "del", "el aula", and "e Inés" for "y Inés"."""

from __future__ import annotations

from types import MappingProxyType

from storyproof.families.belief.language.grammar import FEMALE, MALE, NAME, Forms, check_marks, one_of

_GENDERS = frozenset(("m", "f"))
_THE = {"m": "el", "f": "la", "mpl": "los", "fpl": "las"}
_A = {"m": "un", "f": "una", "mpl": "unos", "fpl": "unas"}
_IT = {"m": "lo", "f": "la", "mpl": "los", "fpl": "las"}
_VERBS = {"is": "está", "was": "estaba", "gustaba": "gustaba"}


class Spanish:
    """See `Grammar`.

    Forms of nouns: the, The, a, to ("al"), of ("del"); agreeing: is, was, gustaba, it. Of names: name, and;
    agreeing: absorto, encantado, lo.
    """

    naming = frozenset((NAME, "the", "The", "a", "to", "of", "and"))
    pronouns = MappingProxyType({MALE: "él", FEMALE: "ella"})
    is_silent = True
    spaced = True
    takes_any_word = False

    def noun_forms(self, word: str, marks: frozenset[str]) -> Forms:
        """Return the forms of a noun."""
        check_marks(marks, _GENDERS | {"pl", "el"})
        gender = one_of(marks, _GENDERS)
        number = "pl" if "pl" in marks else ""
        article = gender if "el" not in marks else "m"  # "el aula" although it is feminine
        the = f"{_THE[article + number]} {word}"
        contracted = the.startswith("el ")
        return {
            "the": the,
            "The": the[:1].upper() + the[1:],
            "a": f"{_A[article + number]} {word}",
            "to": f"al {word}" if contracted else f"a {the}",
            "of": f"del {word}" if contracted else f"de {the}",
            "it": _IT[gender + number],
            **{form: verb + ("n" if number else "") for form, verb in _VERBS.items()},
        }

    def agent_forms(self, name: str, gender: str) -> Forms:
        """Return the forms of a name."""
        ending = "a" if gender == FEMALE else "o"
        joined = "e" if name.lower().startswith(("i", "í", "hi")) else "y"
        agreeing = {"absorto": f"absort{ending}", "encantado": f"encantad{ending}", "lo": f"l{ending}"}
        return {NAME: name, "and": f"{joined} {name}", **agreeing}
