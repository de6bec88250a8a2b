"""How plots, questions and answers are put into words, and read back, by language and style.

`find_wording("de", "narrative")` returns an object with everything a benchmark needs; what it writes, `read` and
`read_question` read back from the text alone. Word numbers are places in the lists of `vocabulary`; the same numbers
mean the same things in every language.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import ParseError, UnknownNameError, VocabularyError, quoted
from storyproof.families.belief.arrays import Flags, PlotArrays, encode_plots
from storyproof.families.belief.language.choices import BY_NAME, SILENT, choose
from storyproof.families.belief.language.grammar import FEMALE, MALE, NAME, Forms
from storyproof.families.belief.language.narrator import Interviewer, StoryNarrator, word_question
from storyproof.families.belief.language.pack import (
    AGENT,
    CONTAINER,
    GRAMMARS,
    HEARER,
    KEYS,
    NARRATIVE,
    PLAIN,
    ROLES,
    THING,
    TOMI,
    LanguagePack,
    Slot,
    load_pack,
    render,
    templates_of,
)
from storyproof.families.belief.language.reader import StoryReader
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.vocabulary import Vocabulary
from storyproof.families.belief.vocabulary import shares as cut
from storyproof.families.belief.world import PlotEvent
from storyproof.generation.arrow_columns import Words
from storyproof.generation.seeds import Draws

LANGUAGES = tuple(GRAMMARS)
STYLES = (PLAIN, NARRATIVE, TOMI)
_NAMED = Slot(AGENT, NAME)
ASKS = tuple(Ask)  # kinds of question by number


class PlotWording(Protocol):
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

    def ask(self, question: BeliefQuestion) -> str:
        """Return a question in words."""

    def read_question(self, text: str) -> BeliefQuestion:
        """Read a question; raise ParseError if it has none of the known forms."""

    def answer(self, reply: Reply) -> str:
        """Return an answer in words: a container, "yes" or "no", names, or the words for nobody and unknown."""

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
    has_tomi = ("place", TOMI) in load_pack(language).sentences
    styles = STYLES if has_tomi else STYLES[:2]
    if style not in styles:
        raise UnknownNameError(f"style of '{language}'", style, styles)


class PackWording:
    """The wording of a language pack in one style; see `PlotWording`."""

    def __init__(self, pack: LanguagePack, style: str) -> None:
        self.language, self.style = pack.language, style
        self.vocabulary = pack.vocabulary
        self._pack = pack
        self._forms: dict[str, dict[str, Forms]] = {
            role: {noun.word: noun.forms for noun in nouns} for role, nouns in pack.nouns.items()
        }
        self._gender = {noun.word: noun.gender for noun in pack.agents}

    def __reduce__(self) -> tuple[Any, ...]:
        """Be sent to another process by name: the words are there, and what a reader remembers cannot be sent."""
        return find_wording, (self.language, self.style)

    @cached_property
    def _reader(self) -> StoryReader:
        return reader_of(self.language)

    @cached_property
    def _narrator(self) -> StoryNarrator:
        return StoryNarrator(self._pack, self.style)

    @cached_property
    def _interviewer(self) -> Interviewer:
        return Interviewer(self._pack)

    def narrate(self, events: Sequence[PlotEvent], draws: Draws | None = None) -> list[str]:
        """Return the sentences of a story, one per event.

        Args:
            events: The story. Plain English takes any words, all else those of `vocabulary`.
            draws: The source of randomness; the same sentences each time if there is none.

        Raises:
            VocabularyError: If the language does not have a word.
        """
        if not events:
            return []
        pack = self._pack
        stories, (names,) = encode_plots([events])
        lie = np.array([[event.lie] for event in events])
        is_female = np.array([[self._gender.get(name) == FEMALE] for name in names.agents], np.bool_).reshape(-1, 1)
        choices = choose(pack, self.style, stories, lie, is_female, draws or Draws("wording"))
        prefixes = (*pack.connectives, *pack.times)
        sentences = []
        for time, event in enumerate(events):
            prefix, subject = int(choices.prefix[time, 0]), int(choices.subject[time, 0])
            template = templates_of(pack, KEYS[choices.key[time, 0]])[choices.variant[time, 0]]
            words = {role: self._forms_of(role, name) for role in ROLES if (name := getattr(event, role)) is not None}
            if subject != BY_NAME:
                gender = self._gender[str(event.agent)]
                stands = "" if subject == SILENT else pack.grammar.pronouns[gender]
                words[AGENT] = pack.grammar.agent_forms(stands, gender)
            parts = template.alone if prefix < 0 else template.after
            is_named = subject == BY_NAME and parts[0] == _NAMED  # any name stays as it is, capital or not
            text, _ = render(parts, words, pack.grammar.naming, initial=prefix < 0 and not is_named)
            sentences.append(text if prefix < 0 else f"{prefixes[prefix]}{pack.space}{text}")
        return sentences

    def _forms_of(self, role: str, word: str) -> Forms:
        """Return the forms of a word; one may like a container as well as an object."""
        pack = self._pack
        forms = self._forms[role].get(word)
        if forms is None and role == THING:
            forms = self._forms[CONTAINER].get(word)
        if forms is not None:
            return forms
        if not pack.grammar.takes_any_word or self.style == NARRATIVE:
            raise VocabularyError(
                f"the language '{self.language}' has no {role} {quoted(word)}; add it to {pack.path}, or use one of: "
                f"{', '.join(list(self._forms[role])[:8])} …"
            )
        grammar = pack.grammar
        return grammar.agent_forms(word, MALE) if role in (AGENT, HEARER) else grammar.noun_forms(word, frozenset())

    def read(self, story: str | Sequence[str]) -> list[PlotEvent]:
        """Read a story in this language, in any style; see `StoryReader.read`."""
        return self._reader.read(story)

    def ask(self, question: BeliefQuestion) -> str:
        """Return a question in words."""
        forms: dict[str, dict[str, Forms]] = {
            AGENT: {agent: self._forms_of(AGENT, agent) for agent in question.chain},
            THING: {question.thing: self._forms_of(THING, question.thing)},
        }
        if question.place is not None:
            forms[CONTAINER] = {question.place: self._forms_of(CONTAINER, question.place)}
        return word_question(self._pack, question, forms)

    def read_question(self, text: str) -> BeliefQuestion:
        """Read a question; see `StoryReader.read_question`."""
        return self._reader.read_question(text)

    def answer(self, reply: Reply) -> str:
        """Return an answer in words."""
        words = self._pack.answers
        if reply is None:
            return words["unknown"]
        if isinstance(reply, tuple):
            return words["between"].join(reply) or words["nobody"]
        return words[reply] if reply in ("yes", "no") else reply

    def narrate_block(self, stories: PlotArrays, lie: Flags, cast: Cast, draws: Draws) -> pa.Array:
        """Return the text of many stories; see `PlotWording.narrate_block`."""
        return self._narrator.narrate(stories, lie, cast, draws)

    def ask_block(self, asked: npt.NDArray[np.uint8], thing: Words, chain: Words, place: Words) -> pa.Array:
        """Return the text of many questions; see `PlotWording.ask_block`."""
        return self._interviewer.ask(asked, thing, chain, place)


@cache
def find_wording(language: str = "en", style: str = PLAIN) -> PlotWording:
    """Return the wording of a language and style.

    Raises:
        UnknownNameError: If there is none.
    """
    check_wording(language, style)
    return PackWording(load_pack(language), style)


@cache
def reader_of(language: str) -> StoryReader:
    """Return the reader of a language."""
    return StoryReader(load_pack(language))


def find_language(text: str) -> str:
    """Return the language of a story or question: the one that understands most of it.

    Raises:
        ParseError: If none of its sentences can be read in any language.
    """
    language = _language_of(text)
    if language is None:
        first = text.partition("\n")[0]
        raise ParseError(f"not a sentence of a story in any of {', '.join(LANGUAGES)}: {quoted(first)}.")
    return language


@lru_cache(maxsize=256)  # what is not understood is read in several ways, one after the other
def _language_of(text: str) -> str | None:
    for sentence in text.split("\n"):
        for language in LANGUAGES:
            if reader_of(language).knows(sentence):
                return language
    return None


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
    ranges: list[dict[str, range]] = [{} for _ in shares]
    for role, words in vocabulary.as_dict().items():
        start = 0
        for split, part in zip(ranges, cut(words, shares, least.get(role, 1)), strict=True):
            split[role] = range(start, start + len(part))
            start += len(part)
    return ranges
