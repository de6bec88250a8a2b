"""Which words each split may use, and distinct casts of words for distinct stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from storyproof.benchmark import Benchmark, Config
from storyproof.columns import Words
from storyproof.errors import ConfigError, UnknownNameError, VocabularyError
from storyproof.example import SPLITS
from storyproof.families.belief.lexicon import Lexicon
from storyproof.families.belief.vocabulary import ROLES, Vocabulary, default_vocabulary, shares
from storyproof.seeds import Draws, Indices, Permutation

_SHARES = {"train": 3.0, "val": 1.0, "test": 1.0}  # of the words of a role that is kept disjoint


@dataclass(frozen=True)
class TomConfig(Config):
    """Settings that every theory-of-mind benchmark has.

    Attributes:
        vocabulary: The words to use.
        disjoint: Roles of which no word may occur in two splits.
    """

    vocabulary: Vocabulary = field(default_factory=default_vocabulary)
    disjoint: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.vocabulary, Vocabulary):
            raise ConfigError("the vocabulary must be a Vocabulary; read one with load_vocabulary(PATH).")
        if isinstance(self.disjoint, str):
            raise ConfigError(f"disjoint is '{self.disjoint}'; give a list of roles.")
        for role in self.disjoint:
            if role not in ROLES:
                raise UnknownNameError("role to keep disjoint", role, ROLES)
        object.__setattr__(self, "disjoint", tuple(sorted(set(self.disjoint))))

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as plain values."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**plain, "vocabulary": self.vocabulary.as_dict(), "disjoint": list(self.disjoint)}


def split_vocabulary(config: TomConfig, seed: int, split: str, needed: dict[str, int], who: str) -> Vocabulary:
    """Give the words that a split may use.

    Args:
        config: The settings.
        seed: Which words go to which split hangs on it.
        split: The split.
        needed: How many words of each role a story needs.
        who: The benchmark, for messages.
    """
    config.vocabulary.require(needed, who)
    lists = {}
    for role in ROLES:
        words: Sequence[str] = getattr(config.vocabulary, role)
        if role in config.disjoint:
            shuffled = [words[number] for number in Draws("disjoint", role, list(words), seed).order(len(words))]
            if len(words) < len(SPLITS) * needed[role]:
                raise ConfigError(
                    f"{role} cannot be kept disjoint: {len(words)} found, and {who} needs {needed[role]} in each of "
                    f"{len(SPLITS)} splits; add {role}."
                )
            pieces = shares(shuffled, [_SHARES[name] for name in SPLITS], needed[role])
            words = sorted(pieces[SPLITS.index(split)])
        lists[role] = tuple(words)
    return Vocabulary(**lists)


class Casting:
    """Hands out the words that every telling of a story shows, never the same ones twice.

    Two agents, a room, an object and two containers name a story's visible core. Each story has a place of its own in
    one long random order of all such casts, so stories of a dataset differ by construction, whatever block they are in.
    """

    def __init__(self, vocabulary: Vocabulary, *purpose: object) -> None:
        agents, rooms = len(vocabulary.agents), len(vocabulary.rooms)
        containers, objects = len(vocabulary.containers), len(vocabulary.objects)
        self._sizes = (agents, agents - 1, rooms, objects, containers, containers - 1)
        if prod(self._sizes) >= 1 << 62:
            raise VocabularyError("the vocabulary gives more casts than can be numbered; use fewer words.")
        self._order = Permutation(prod(self._sizes), "cast", *purpose)

    @property
    def capacity(self) -> int:
        """How many stories one split can have; the splits share the order between them, and ids have nine digits."""
        return min(self._order.size // len(SPLITS), 10**9)

    def __call__(self, split: str, first: int, count: int) -> tuple[Indices, ...]:
        """Give mover, other agent, room, object and both containers of stories from `first` on."""
        # A block may reach past the last story.
        stories = np.minimum(np.arange(first, first + count), self.capacity - 1)
        rank = self._order(stories * len(SPLITS) + SPLITS.index(split))
        digits = []
        for size in self._sizes:
            rank, digit = np.divmod(rank, size)
            digits.append(digit)
        mover, other, room, thing, before, after = digits
        return mover, other + (other >= mover), room, thing, before, after + (after >= before)


class TomBenchmark(Benchmark):
    """What the theory-of-mind benchmarks share: words for each split, and distinct casts for distinct stories.

    Attributes:
        needed: How many words of each role a story needs.
    """

    needed: ClassVar[dict[str, int]]
    config: TomConfig

    def __init__(self, config: TomConfig | None = None, seed: int = 0) -> None:
        super().__init__(config or self.config_type(), seed)
        self.vocabularies = {
            split: split_vocabulary(self.config, seed, split, self.needed, self.name) for split in SPLITS
        }

    @cached_property
    def lexicon(self) -> Lexicon:
        """All words, with the text that they occur in."""
        return Lexicon(word for role in ROLES for word in getattr(self.config.vocabulary, role))

    @cached_property
    def castings(self) -> dict[str, Casting]:
        """Who hands out the words, by split."""
        return {split: Casting(self.vocabularies[split], *self.identity) for split in SPLITS}

    def capacity(self, split: str) -> int:
        """As many stories as there are casts of visible words."""
        return self.castings[split].capacity

    def draw_liked(self, draws: Draws, split: str) -> Words:
        """Draw for a block's stories the things that two statements are about, [2, story]."""
        words = self.vocabularies[split]
        things = self.lexicon.numbers((*words.containers, *words.objects))
        liked: Words = things[draws.below(len(things), 2 * self.block_stories)].reshape(2, -1)
        return liked


def another(draws: Draws, limit: int, taken: Sequence[Indices]) -> Indices:
    """Draw numbers below `limit` that differ from those taken (which differ among themselves)."""
    found = draws.below(limit - len(taken), len(taken[0]))
    for used in np.sort(np.stack(taken), axis=0):
        found += found >= used
    return found


def may_be_first(first: Words, second: Words, context: Sequence[Words], seed: int) -> npt.NDArray[np.bool_]:
    """Decide which of two words may stand first in a context: a coin for each pair, whichever way round it is asked."""
    mixed = np.full(len(first), seed, np.uint64)
    for part in (np.minimum(first, second), np.maximum(first, second), *context):
        mixed = (mixed ^ part.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    decided: npt.NDArray[np.bool_] = (mixed >> np.uint64(63) == 0) == (first < second)
    return decided
