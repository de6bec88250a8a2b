"""Judges replies by their words: which rung of the ladder each one reaches, and whether that counts as right."""

from storyproof.scoring.matching.matchers import (
    MATCHERS,
    Matcher,
    candidates_of,
    judge,
    load_matcher,
)
from storyproof.scoring.matching.rungs import KINDS, Match

__all__ = ["KINDS", "MATCHERS", "Match", "Matcher", "candidates_of", "judge", "load_matcher"]
