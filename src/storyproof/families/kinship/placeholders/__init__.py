"""Placeholders: templates that state one to three kinship facts, with slots for people."""

from storyproof.families.kinship.placeholders.collection import Key, Placeholders
from storyproof.families.kinship.placeholders.files import load_placeholders, ours

__all__ = ["Key", "Placeholders", "load_placeholders", "ours"]
