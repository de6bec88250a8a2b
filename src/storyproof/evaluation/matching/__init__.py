"""Matching: judge free-text replies by their words."""

from storyproof.evaluation.matching.kinds import KINDS, Match
from storyproof.evaluation.matching.matchers import (
    MATCHERS,
    Matcher,
    exact,
    find_meant,
    is_unparsed,
    judge,
    load_matcher,
)

__all__ = ["KINDS", "MATCHERS", "Match", "Matcher", "exact", "find_meant", "is_unparsed", "judge", "load_matcher"]
