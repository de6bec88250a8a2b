"""Measure how well data can be answered without the reasoning that they claim to test."""

from storyproof.shortcuts.results import Forced, ShortcutReport, ShortcutScore
from storyproof.shortcuts.split_setup import Fold, Trial, set_up

__all__ = ["Fold", "Forced", "ShortcutReport", "ShortcutScore", "Trial", "set_up"]
