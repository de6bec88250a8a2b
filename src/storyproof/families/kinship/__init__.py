"""Kinship: who is what to whom.

`read` and `read_many` return what a text in plain English states, or refuse it. They are imported when first used, as
that takes a while.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from storyproof.families.kinship.relations import WORDS, Fact, predicate_of, word

if TYPE_CHECKING:
    from storyproof.families.kinship.language.reader import read as read
    from storyproof.families.kinship.language.reader import read_many as read_many
    from storyproof.families.kinship.language.reading import NotUnderstood as NotUnderstood
    from storyproof.families.kinship.language.reading import Reading as Reading

_READER = frozenset({"NotUnderstood", "Reading", "read", "read_many"})
__all__ = ["WORDS", "Fact", "NotUnderstood", "Reading", "predicate_of", "read", "read_many", "word"]


def __getattr__(name: str) -> Any:
    if name in _READER:
        return getattr(import_module("storyproof.families.kinship.language.reader"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
