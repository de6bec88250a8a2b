"""English nouns: "the key is", "the jeans are", "an umbrella", "some scissors"."""

from __future__ import annotations

from types import MappingProxyType

from storyproof.families.belief.language.grammar import FEMALE, MALE, NAME, Forms, check_marks

_MARKS = frozenset(("pl", "a", "an"))


class English:
    """See `Grammar`.

    Forms of nouns: the, The, a; agreeing: is, was, it, they. Of names: name; agreeing: she, him, her, herself.
    """

    naming = frozenset((NAME, "the", "The", "a"))
    pronouns = MappingProxyType({MALE: "he", FEMALE: "she"})
    is_silent = False
    spaced = True
    takes_any_word = True

    def noun_forms(self, word: str, marks: frozenset[str]) -> Forms:
        """Return the forms of a noun."""
        check_marks(marks, _MARKS)
        the = {"the": f"the {word}", "The": f"The {word}"}
        if "pl" in marks:
            return {**the, "a": f"some {word}", "is": "are", "was": "were", "it": "them", "they": "they"}
        is_vowel = word[0].lower() in "aeiou"
        article = "an" if "an" in marks or (is_vowel and "a" not in marks) else "a"
        return {**the, "a": f"{article} {word}", "is": "is", "was": "was", "it": "it", "they": "it"}

    def agent_forms(self, name: str, gender: str) -> Forms:
        """Return the forms of a name."""
        if gender == FEMALE:
            return {NAME: name, "she": "she", "him": "her", "her": "her", "herself": "herself"}
        return {NAME: name, "she": "he", "him": "him", "her": "his", "herself": "himself"}
