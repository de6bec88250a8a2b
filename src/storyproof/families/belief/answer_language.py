"""How replies speak of minds: "Milo will look in the drawer" says nothing about where Julia will."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

from storyproof.language.answer_language import Mention, Talk, language_of

if TYPE_CHECKING:
    from storyproof.families.belief.speech import Speech


@cache
def _speech_of(language: str) -> Speech:
    """Return how people speak of minds in a language."""
    from storyproof.families.belief.speech import SPEECH  # whose patterns take a while to compile

    return SPEECH[language]


class BeliefTalk(Talk):
    """Replies that say where things are, and where people think they are or look for them."""

    def set_aside_first(self, said: str, mentions: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions in what others do or think, in sentences that name nobody who was asked about."""
        return _speech_of(language_of(question)).outsiders(said, mentions, question)

    def decisive(self, said: str, mentions: Sequence[Mention], question: str) -> Sequence[Mention]:
        """Return mentions in clauses that say just what was asked, such as where somebody looks or what they think."""
        return _speech_of(language_of(question)).decisive(said, mentions, question)


TALK = BeliefTalk()
