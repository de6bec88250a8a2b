"""Cuts stories and questions into words, with people as numbered entities.

Sentences are the lines of a story, or of a running text what its full stops part.
"""

from __future__ import annotations

import re

from storyproof.example import Example
from storyproof.families.family import family_of

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


def question_words(example: Example) -> list[str]:
    """Return what the models are asked: the words of the question, unless the family says otherwise."""
    asked = family_of(example).question_words(example)
    return list(asked) if asked is not None else [word for word in words_of(example.question) if word != "?"]
