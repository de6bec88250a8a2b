"""Explains wrong answers: which known mistake of reasoning leads to them, as the family of the example derives it."""

from __future__ import annotations

from storyproof.errors import StoryproofError
from storyproof.example import Example
from storyproof.families.family import Family, family_of

LABEL, UNSETTLED, NO_ANSWER, UNEXPLAINED = "label", "unsettled", "no_answer", "unexplained"
_FIRST = {
    LABEL: "what is proved; the label is wrong",
    UNSETTLED: "something, though no answer follows from the story",
}
_LAST = {NO_ANSWER: "nothing that is a possible answer", UNEXPLAINED: "something that no known mistake explains"}


def describe(family: Family) -> dict[str, str]:
    """Return all explanations of wrong answers in order of priority, each in words that follow "answered"."""
    return {**_FIRST, **family.mistakes, **_LAST}


class MistakeFinder:
    """Explains wrong answers to one example.

    Args:
        example: What was asked.
    """

    def __init__(self, example: Example) -> None:
        family = family_of(example)
        try:
            self._proved: str | None = family.checked_answer(example)
            self._answers = dict(family.mistaken_answers(example))
            self._possible = frozenset(family.candidates(example))
        except (StoryproofError, LookupError, ValueError):  # rows may name people that are not in their text
            self._proved, self._answers, self._possible = None, {}, frozenset(example.candidates)

    def explain(self, answer: str) -> tuple[str, ...]:
        """Return all explanations that fit a wrong answer, the first of `describe` first; at least one."""
        found = []
        if self._proved is not None and self._proved == answer != "":
            found.append(LABEL)
        if self._proved == "":
            found.append(UNSETTLED)
        found += [name for name, answers in self._answers.items() if answer in answers]
        return tuple(found) or ((UNEXPLAINED if answer in self._possible else NO_ANSWER),)
