"""How plots, questions and answers are put into words, and read back, by language and style.

`find_wording("de", "narrative")` returns an object with everything a benchmark needs; what it writes, `read` and
`read_question` read back from the text alone. Word numbers are places in the lists of `vocabulary`; the same numbers
mean the same things in every language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.columns import Words
from storyproof.errors import UnknownNameError
from storyproof.families.belief.arrays import Flags
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.world import PlotEvent
from storyproof.families.belief.vocabulary import Vocabulary
from storyproof.families.belief.vocabulary import shares as cut
from storyproof.seeds import Draws

LANGUAGES = ("en", "de", "es", "zh")
STYLES = ("plain", "narrative", "tomi")
ASKS = tuple(Ask)  # kinds of question by number


class Wording(Protocol):
    """One language and style.

    Attributes:
        language: One of LANGUAGES.
        style: One of STYLES.
        vocabulary: The words by role; word numbers are places in its lists.
    """

    language: str
    style: str
    vocabulary: Vocabulary

    def narrate(self, events: Sequence[PlotEvent], draws: Draws | None = None) -> list[str]:
        """Return the sentences of a story, one per event; without draws, the first paraphrase of each."""

    def read(self, story: str | Sequence[str]) -> list[PlotEvent]:
        """Read a story in this language, in any style; raise ParseError with the place that is not understood."""

    def ask(self, question: NestedQuestion) -> str:
        """Return a question in words."""

    def read_question(self, text: str) -> NestedQuestion:
        """Read a question; raise ParseError if it has none of the known forms."""

    def answer(self, reply: Reply) -> str:
        """Return an answer in words: a container, "yes" or "no", names, or the words for nobody and unknown."""

    def read_answer(self, text: str, question: NestedQuestion) -> Reply:
        """Read an answer to a question; raise ParseError if it is not one."""

    def narrate_block(self, stories: PlotArrays, lie: Flags, cast: Cast, draws: Draws) -> pa.Array:
        """Return the text of many stories, one sentence per line.

        Args:
            stories: The plots; all have as many sentences as the arrays have rows.
            lie: Which messages the text calls lies, [time, story].
            cast: The word numbers of local numbers, [local number, story].
            draws: The source of randomness for paraphrases, connectives and times.
        """

    def ask_block(self, asked: npt.NDArray[np.uint8], thing: Words, chain: Words, place: Words) -> pa.Array:
        """Return the text of many questions.

        Args:
            asked: The kind of each question, a place in ASKS.
            thing: The word number of the object.
            chain: The word numbers of the agents, [place in the chain, question], NO_WORD after the end.
            place: The word number of the container, NO_WORD where the kind has none.
        """


def check_wording(language: str, style: str) -> None:
    """Check that a language and a style exist.

    Raises:
        UnknownNameError: If one does not.
    """
    if language not in LANGUAGES:
        raise UnknownNameError("language", language, LANGUAGES)
    styles = STYLES if language == "en" else STYLES[:2]
    if style not in styles:
        raise UnknownNameError(f"style of '{language}'", style, styles)


def find_wording(language: str = "en", style: str = "plain") -> Wording:
    """Return the wording of a language and style.

    Raises:
        UnknownNameError: If there is none.
    """
    check_wording(language, style)
    from storyproof.families.belief.nested.plain_english import PlainEnglish

    return PlainEnglish()


def divide_words(vocabulary: Vocabulary, shares: Sequence[float], least: dict[str, int]) -> list[dict[str, range]]:
    """Divide a vocabulary between splits, so that no two have a word in common.

    Args:
        vocabulary: The words.
        shares: How much of them each split gets.
        least: How many words of each role every split needs.

    Returns:
        For each split, the word numbers of each role.

    Raises:
        VocabularyError: If there are too few words.
    """
    vocabulary.require({role: count * len(shares) for role, count in least.items()}, f"{len(shares)} splits")
    found: list[dict[str, range]] = [{} for _ in shares]
    for role, words in vocabulary.as_dict().items():
        start = 0
        for split, part in zip(found, cut(words, shares, least.get(role, 1)), strict=True):
            split[role] = range(start, start + len(part))
            start += len(part)
    return found
