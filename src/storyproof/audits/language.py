"""How varied the language of stories is, with the names of people masked.

All measures depend on how much text there is, so they are taken of at most `MOST_STORIES` stories, and those that
compare pieces of text of a fixed amount of it, in an order that depends on the texts alone.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.generation.seeds import Draws

MOST_STORIES = 10_000
_TOKENS, _BYTES = 200_000, 600_000  # how much text is looked at for 3-grams and for compression
_CANDIDATES, _REFERENCES = 200, 500  # sentences that are compared for self-BLEU
_LONGEST = 4  # words in a row that self-BLEU compares
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"']?\s+|\n")
_NAME_OR_END = re.compile(r"@\d+|[.!?;:\n]")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")

Grams = Counter[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class LanguageMeasures:
    """How varied some stories are.

    Attributes:
        stories: How many stories were looked at.
        sentences: How many sentences they have.
        distinct_sentences: How many different ones, with names masked.
        word_types: How many different words.
        trigrams: How many different sequences of three words there are in the first 200,000 words.
        compression: How many times as long as its zlib-compressed form the first 600,000 bytes of text are.
        unique_stories: The share of the stories that occur once, with names numbered in order of appearance.
        self_bleu: How much of a sentence occurs in 500 others: the mean BLEU-4 of 200 sentences.
        commonest_words: The three words in a row, without a name, that most stories have.
        commonest_share: The share of the stories that have them.
    """

    stories: int
    sentences: int
    distinct_sentences: int
    word_types: int
    trigrams: int
    compression: float
    unique_stories: float
    self_bleu: float
    commonest_words: str
    commonest_share: float

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


def measure_language(examples: Iterable[Example], most: int = MOST_STORIES) -> LanguageMeasures:
    """Measure how varied the language of stories is.

    Args:
        examples: Their questions; each story is looked at once.
        most: How many stories are looked at, chosen at random if there are more.

    Raises:
        DataError: If there is no story.
    """
    distinct = {(each.story_id, each.story): each for each in examples}
    if not distinct:
        raise DataError("there are no stories, so there is no language to measure.")
    draws = Draws("language", len(distinct))
    chosen = list(distinct.values())
    chosen = [chosen[place] for place in draws.order(len(chosen))[:most].tolist()]
    masked = [_masked(each) for each in chosen]
    plain = [re.sub(r"@\d+", "X", text) for text in masked]
    sentences = [sentence for text in plain for sentence in _sentences(text)]
    words = [word for text in plain for word in _WORD.findall(text.lower())]
    start, text = words[:_TOKENS], "\n".join(plain).encode()[:_BYTES]
    stories = Counter(map(_folded, masked))
    commonest, count = _commonest(masked)
    return LanguageMeasures(
        stories=len(chosen),
        sentences=len(sentences),
        distinct_sentences=len(set(sentences)),
        word_types=len(set(words)),
        trigrams=len(set(zip(start, start[1:], start[2:], strict=False))),
        compression=round(len(text) / len(zlib.compress(text, 9)), 2),
        unique_stories=round(sum(count for count in stories.values() if count == 1) / len(chosen), 4),
        self_bleu=round(_self_bleu(sentences, draws), 3),
        commonest_words=" ".join(commonest),
        commonest_share=round(count / len(chosen), 4),
    )


def _masked(example: Example) -> str:
    """Return a story with its people as @0, @1 … in order of appearance."""
    story = _BRACKETS.sub(r"\1", example.story)
    names = sorted(family_of(example).people(example), key=len, reverse=True)
    if not names:
        return story
    seen: dict[str, int] = {}
    any_name = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w@])(?:{any_name})(?!\w)", lambda match: f"@{seen.setdefault(match[0], len(seen))}", story)


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text.lower().replace("’", "'")).strip(' .!?,;"')


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE_END.split(text):
        if folded := _folded(part):
            yield folded


def _commonest(masked: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Return the three words in a row that most stories have, and how many have them."""
    counts: Grams = Counter()
    for text in masked:
        parts = [_WORD.findall(part) for part in _NAME_OR_END.split(text.lower())]
        counts.update({gram for words in parts for gram in zip(words, words[1:], words[2:], strict=False)})
    # Of equally frequent ones the first in the alphabet, whatever the order of the stories.
    return min(counts.items(), key=lambda each: (-each[1], each[0]), default=((), 0))


def _self_bleu(sentences: Sequence[str], draws: Draws) -> float:
    """Return the mean BLEU-4 of some sentences against others."""
    order = [sentences[place] for place in draws.order(len(sentences))[: _CANDIDATES + _REFERENCES].tolist()]
    cut = min(_CANDIDATES, len(order) // 2)
    candidates, references = order[:cut], order[cut:]
    if not candidates:
        return 0.0
    most: Grams = Counter()  # how often a reference has a sequence of words, at most
    for sentence in references:
        for gram, count in _grams(_WORD.findall(sentence)).items():
            most[gram] = max(most[gram], count)
    return sum(_bleu(_WORD.findall(sentence), most) for sentence in candidates) / len(candidates)


def _grams(words: Sequence[str]) -> Grams:
    return Counter(
        tuple(words[start : start + size]) for size in range(1, _LONGEST + 1) for start in range(len(words) - size + 1)
    )


def _bleu(words: Sequence[str], most: Grams) -> float:
    """Return the geometric mean of how much of a sentence's sequences of 1 to 4 words occur in a reference."""
    total = 0.0
    for size in range(1, _LONGEST + 1):
        grams = Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))
        if not grams:
            return 0.0
        matches = sum(min(count, most[gram]) for gram, count in grams.items())
        total += math.log((matches + 1e-9) / sum(grams.values())) / _LONGEST
    return math.exp(total)
