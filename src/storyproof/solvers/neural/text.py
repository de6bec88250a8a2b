"""Cuts stories and questions into words, with people as numbered entities.

Sentences are the lines of a story, or of a running text what its full stops part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from storyproof.example import Example
from storyproof.tom.events import FEELINGS

_WORD = re.compile(r"@?\w+(?:-\w+)*|'\w+|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def sentences_of(story: str) -> list[list[str]]:
    """Cut a story into sentences and these into words."""
    lines = story.split("\n")
    sentences = lines if len(lines) > 1 else _SENTENCE_END.split(story)
    return [words for sentence in sentences if (words := words_of(sentence))]


def words_of(sentence: str) -> list[str]:
    """Cut a sentence into words; a possessive 's and every punctuation mark are words of their own, but a full stop."""
    return [word for word in _WORD.findall(sentence) if word != "."]


def people_of(example: Example) -> list[str]:
    """Name everybody in an example of kinship, in the order of its graph."""
    return [person.rsplit(":", 1)[0] for person in example.genders or ()]


def question_words(example: Example) -> list[str]:
    """Give what the models are asked: of kinship the two people, of theory of mind the words of the question."""
    if example.query is not None:
        return list(example.query)
    return [word for word in words_of(example.question) if word != "?"]


def agents_of(sentences: Sequence[Sequence[str]]) -> list[str]:
    """Name everybody in a theory-of-mind story, in order of appearance."""
    found = {
        words[0]: None
        for words in sentences
        if len(words) > 2 and words[0] != "The" and words[1] in ("entered", "exited", "moved", "is", *FEELINGS)
    }
    return list(found)
