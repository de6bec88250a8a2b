"""Judges replies by their words: which rung of the ladder each one reaches, and whether that counts as right."""

from storyproof.evaluation.matching.match import KINDS, Match
from storyproof.evaluation.matching.matchers import (
    MATCHERS,
    Matcher,
    candidates_of,
    judge,
    load_matcher,
)

__all__ = ["KINDS", "MATCHERS", "Match", "Matcher", "candidates_of", "judge", "load_matcher"]
