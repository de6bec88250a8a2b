"""Kinship: who is what to whom."""

from storyproof.families.kinship.relations import WORDS, Fact, predicate_of, word

__all__ = ["WORDS", "Fact", "predicate_of", "word"]
