"""Stories without something that reasoning about beliefs needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from storyproof.families.belief.shortcuts.stories import NONE, Told, by_batch
from storyproof.families.belief.world import EventKind
from storyproof.generation.seeds import Draws
from storyproof.stats.intervals import Ints

_PRESENCE = (EventKind.ENTER, EventKind.EXIT, EventKind.IS_IN)


@dataclass(frozen=True, slots=True)
class Ablation:
    """One way to remove information.

    Attributes:
        name: What it is called.
        reader: Who is left with it, in words that go on from "a reader who".
        shortcut: Whether anything is missing.
        apply: Takes it away; draws are seeded.
    """

    name: str
    reader: str
    shortcut: bool
    apply: Callable[[Told, int], Told]


def remove_names(told: Told, seed: int = 0) -> Told:
    """Replace all names by one, in the story and in the question."""
    del seed
    somebody = _new_word(told)

    def hide(agents: Ints) -> Ints:
        return np.where(agents == NONE, NONE, somebody)

    return replace(told, agent=hide(told.agent), believer=hide(told.believer), searcher=hide(told.searcher))


def remove_names_but_mover(told: Told, seed: int = 0) -> Told:
    """Replace all names by one, but keep which of the asked agents is the mover."""
    nameless = remove_names(told, seed)
    mover, other = (_new_word(nameless) + place for place in range(2))
    moves = by_batch(told, np.arange(len(told.story)), lambda part: part.mover)

    def call(asked: Ints) -> Ints:
        return np.where(asked == NONE, NONE, np.where(asked == moves, mover, other))

    moving = np.where(told.kind == EventKind.MOVE, mover, nameless.agent)
    return replace(nameless, agent=moving, believer=call(told.believer), searcher=call(told.searcher))


def _new_word(told: Told) -> int:
    """Return the number of a word that does not occur yet."""
    return 1 + max(int(column.max(initial=0)) for column in told.all_words)


def remove_comings_and_goings(told: Told, seed: int = 0) -> Told:
    """Remove sentences that say who entered, exited or is in a room, without leaving gaps."""
    del seed
    gone = np.isin(told.kind, _PRESENCE)
    order = np.argsort(gone, axis=1, kind="stable")
    return told.sentences(lambda column: np.take_along_axis(np.where(gone, NONE, column), order, axis=1))


def shuffle_sentences(told: Told, seed: int = 0) -> Told:
    """Shuffle the sentences of each story."""
    drawn = Draws("shortcuts", "shuffled sentences", seed).below(2**31, told.kind.size).reshape(told.kind.shape)
    order = np.argsort(np.where(told.kind == NONE, 2**31, drawn), axis=1, kind="stable")
    return told.sentences(lambda column: np.take_along_axis(column, order, axis=1))


def remove_story(told: Told, seed: int = 0) -> Told:
    """Keep only the question with its candidates."""
    del seed
    return told.sentences(lambda column: np.full((len(column), 1), NONE))


def remove_nothing(told: Told, seed: int = 0) -> Told:
    """Remove nothing."""
    del seed
    return told


ABLATIONS = (
    Ablation("question_only", "sees the question alone", True, remove_story),
    Ablation("names_removed", "cannot tell the people apart", True, remove_names),
    Ablation(
        "names_removed_but_mover",
        "cannot tell the people apart but knows whether the mover is asked about",
        True,
        remove_names_but_mover,
    ),
    Ablation("without_enter_exit", "sees nobody come or go", True, remove_comings_and_goings),
    Ablation("shuffled_sentences", "sees the sentences in random order", True, shuffle_sentences),
    Ablation("full_text", "sees everything", False, remove_nothing),
)
