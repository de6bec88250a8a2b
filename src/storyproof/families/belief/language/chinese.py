"""Chinese nouns: no articles and no spaces; "一把钥匙" with the measure word of the noun."""

from __future__ import annotations

from types import MappingProxyType

from storyproof.families.belief.language.grammar import FEMALE, MALE, NAME, Forms, GrammarError


class Chinese:
    """See `Grammar`. Forms of nouns: name; with a measure word also a and that. Of names: name; agreeing: him."""

    naming = frozenset((NAME, "a", "that"))
    pronouns = MappingProxyType({MALE: "他", FEMALE: "她"})
    is_silent = False
    spaced = False
    takes_any_word = False

    def noun_forms(self, word: str, marks: frozenset[str]) -> Forms:
        """Return the forms of a noun."""
        if len(marks) > 1:
            raise GrammarError(f"expected at most one measure word, found {len(marks)}")
        measured = f"{''.join(marks)}{word}"
        return {NAME: word, "a": f"一{measured}", "that": f"那{measured}"} if marks else {NAME: word}

    def agent_forms(self, name: str, gender: str) -> Forms:
        """Return the forms of a name."""
        return {NAME: name, "him": self.pronouns[gender]}
