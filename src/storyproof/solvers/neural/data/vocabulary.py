"""Words of stories and questions, and the vocabularies that number them.

Names can be entities instead of words: each story then draws numbers for its people from a pool, so that a model cannot
learn anything about a name (source: the CLUTRR paper, appendix 1.5).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.generation.seeds import Indices

PAD, UNKNOWN = 0, 1
FIRST_WORD = 2
POOL = 50  # entities to draw from; the longest published stories name fifteen people
_WORD = re.compile(r"@?\w+(?:-\w+)*|'\w+|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class TokenVocabulary:
    """The words that a model can read and the answers that it can give.

    Attributes:
        words: The known words; a word's number is its place plus two. The entities of the pool follow.
        answers: The possible answers.
        entities: Whether people are entities, or words like any other.
        pool: How many entities there are to draw from.
    """

    words: tuple[str, ...]
    answers: tuple[str, ...]
    entities: bool
    pool: int = POOL
    numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers = {word: FIRST_WORD + place for place, word in enumerate(self.words)}
        object.__setattr__(self, "numbers", numbers)

    @property
    def first_entity(self) -> int:
        """The number of the pool's first entity."""
        return FIRST_WORD + len(self.words)

    @property
    def size(self) -> int:
        """How many numbers there are in all."""
        return self.first_entity + (self.pool if self.entities else 0)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "numbers"}


def split_sentences(story: str) -> list[list[str]]:
    """Split a story into sentences of words: its lines, or the sentences of a text that is a single line."""
    lines = story.split("\n")
    sentences = lines if len(lines) > 1 else _SENTENCE_END.split(story)
    return [words for sentence in sentences if (words := split_words(sentence))]


def split_words(sentence: str) -> list[str]:
    """Split a sentence into words; a possessive 's and every punctuation mark but the full stop are words."""
    return [word for word in _WORD.findall(sentence) if word != "."]


def question_words(example: Example) -> list[str]:
    """Return what a model is asked: the words of the question, unless the family defines something else."""
    words = family_of(example).question_words(example)
    return list(words) if words is not None else [word for word in split_words(example.question) if word != "?"]


def group_key(example: Example) -> tuple[str, str]:
    """Return which story an example belongs to; examples of one story may show different lengths of it."""
    return example.split, example.story_id


def story_key(example: Example) -> tuple[str, str, str]:
    """Return which text an example is about."""
    return *group_key(example), example.story


def one_per_story(examples: Sequence[Example]) -> list[Example]:
    """Return the first example of each distinct text, in order."""
    return list({story_key(example): example for example in reversed(examples)}.values())[::-1]


def learn_vocabulary(
    examples: Sequence[Example], *, entities: bool | None = None, at_least: int = 2
) -> TokenVocabulary:
    """Collect the words and answers of training examples.

    Args:
        examples: The training examples.
        entities: Whether people are entities; by default as the family says (`Family.names_are_entities`).
        at_least: How often a word must occur; rarer ones are read as unknown, so that a model learns what that means.

    Raises:
        DataError: If there are no examples.
    """
    if not examples:
        raise DataError("There are no examples to learn from; choose data that has some.")
    entities = family_of(examples[0]).names_are_entities if entities is None else entities
    counts: Counter[str] = Counter()
    for example in one_per_story(examples):
        people = set(family_of(example).people(example)) if entities else set()
        sentences = split_sentences(example.story)
        counts.update(word.lower() for words in sentences for word in words if word not in people)
    for example in examples:
        people = set(family_of(example).people(example)) if entities else set()
        counts.update(word.lower() for word in question_words(example) if word not in people)
    words = sorted(word for word, count in counts.items() if count >= at_least)
    return TokenVocabulary(tuple(words), tuple(sorted({example.answer for example in examples})), entities)


def merge_vocabularies(vocabularies: Sequence[TokenVocabulary]) -> TokenVocabulary:
    """Return a vocabulary with the words and answers of all."""
    words = sorted({word for each in vocabularies for word in each.words})
    answers = sorted({answer for each in vocabularies for answer in each.answers})
    first = vocabularies[0]
    return TokenVocabulary(tuple(words), tuple(answers), first.entities, first.pool)


def translate_numbers(part: TokenVocabulary, whole: TokenVocabulary) -> Indices:
    """Return, for every number of a vocabulary, its number in a merged one."""
    words = [whole.numbers[word] for word in part.words]
    people = range(whole.first_entity, whole.size)
    return np.asarray([*range(FIRST_WORD), *words, *people], np.int64)
