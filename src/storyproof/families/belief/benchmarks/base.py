"""What the theory-of-mind benchmarks share: settings, words for each split, distinct casts, and recipe checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from storyproof.benchmark import Benchmark, Config, comma_separated, option
from storyproof.catalog import load_version, names, versions
from storyproof.errors import ConfigError, VocabularyError
from storyproof.example import SPLITS
from storyproof.families.belief.narration import Narrator
from storyproof.families.belief.plot_index import Plot
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.vocabulary import ROLES, Vocabulary, default_vocabulary, load_vocabulary, shares
from storyproof.generation.arrow_columns import Words
from storyproof.generation.seeds import Draws, Indices, Permutation

_SHARES = {"train": 3.0, "val": 1.0, "test": 1.0}  # of the words of a role that is kept disjoint


@dataclass(frozen=True)
class BeliefConfig(Config):
    """Settings that every theory-of-mind benchmark has.

    Attributes:
        vocabulary: The words to use.
        disjoint: Roles of which no word may occur in two splits.
    """

    vocabulary: Vocabulary = field(
        default_factory=default_vocabulary,
        metadata=option("A YAML file with your own words.", read=load_vocabulary, metavar="<path>"),
    )
    disjoint: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Roles with no word in two splits: agents, rooms, objects, containers; comma-separated.",
            read=comma_separated,
            choices=ROLES,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.vocabulary, Vocabulary):
            raise ConfigError("the vocabulary must be a Vocabulary; read one with load_vocabulary(PATH).")
        object.__setattr__(self, "disjoint", tuple(sorted(set(self.disjoint))))

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**plain, "vocabulary": self.vocabulary.as_dict(), "disjoint": list(self.disjoint)}


def split_vocabulary(config: BeliefConfig, seed: int, split: str, needed: dict[str, int], benchmark: str) -> Vocabulary:
    """Return the words that a split may use.

    Args:
        config: The settings.
        seed: Decides which words go to which split.
        split: The split.
        needed: How many words of each role a story needs.
        benchmark: Its name, for messages.

    Raises:
        StoryproofError: If the vocabulary has too few words.
    """
    config.vocabulary.require(needed, benchmark)
    lists = {}
    for role in ROLES:
        words: Sequence[str] = getattr(config.vocabulary, role)
        if role in config.disjoint:
            shuffled = [words[number] for number in Draws("disjoint", role, list(words), seed).order(len(words))]
            if len(words) < len(SPLITS) * needed[role]:
                raise ConfigError(
                    f"{role} cannot be kept disjoint: {len(words)} found, and {benchmark} needs {needed[role]} in each "
                    f"of {len(SPLITS)} splits; add {role}."
                )
            pieces = shares(shuffled, [_SHARES[name] for name in SPLITS], needed[role])
            words = sorted(pieces[SPLITS.index(split)])
        lists[role] = tuple(words)
    return Vocabulary(**lists)


class Casts:
    """Assigns to every story the words that its text always shows, never the same ones twice.

    Two agents, a room, an object and two containers are visible in every story. Each story has its own place in one
    long random order of all such casts, so the stories of a dataset differ by construction, whatever block they are in.
    """

    def __init__(self, vocabulary: Vocabulary, *purpose: object) -> None:
        agents, rooms = len(vocabulary.agents), len(vocabulary.rooms)
        containers, objects = len(vocabulary.containers), len(vocabulary.objects)
        self._sizes = (agents, agents - 1, rooms, objects, containers, containers - 1)
        if prod(self._sizes) >= 1 << 62:
            raise VocabularyError("the vocabulary allows more casts than can be numbered; use fewer words.")
        self._order = Permutation(prod(self._sizes), "cast", *purpose)

    @property
    def capacity(self) -> int:
        """How many stories one split can have; the splits share the order between them, and ids have nine digits."""
        return min(self._order.size // len(SPLITS), 10**9)

    def __call__(self, split: str, first: int, count: int) -> tuple[Indices, ...]:
        """Return mover, other agent, room, object and both containers of `count` stories from `first` on."""
        # A block may reach past the last story.
        stories = np.minimum(np.arange(first, first + count), self.capacity - 1)
        rank = self._order(stories * len(SPLITS) + SPLITS.index(split))
        digits = []
        for size in self._sizes:
            rank, digit = np.divmod(rank, size)
            digits.append(digit)
        mover, other, room, thing, before, after = digits
        return mover, other + (other >= mover), room, thing, before, after + (after >= before)


class BeliefBenchmark(Benchmark):
    """Base of the theory-of-mind benchmarks: words for each split, and distinct casts for distinct stories.

    Attributes:
        needed: How many words of each role a story needs.
    """

    family = "belief"
    config_type = BeliefConfig
    readings = READINGS
    needed: ClassVar[dict[str, int]]

    config: BeliefConfig

    def __init__(self, config: BeliefConfig | None = None, seed: int = 0) -> None:
        super().__init__(config or self.config_type(), seed)
        self.vocabularies = {
            split: split_vocabulary(self.config, seed, split, self.needed, self.name) for split in SPLITS
        }

    @classmethod
    def breach(cls, plot: Plot, thing: int) -> str | None:
        """Return how a story departs from the recipe of this benchmark; None if it does not.

        A changed sentence can leave a story possible and its labels true of the changed story; only the recipe shows
        then that the story is not one of its benchmark.

        Args:
            plot: What happens.
            thing: The local number of the object in question.
        """
        return None

    @cached_property
    def narrator(self) -> Narrator:
        """All words, with the text that they occur in."""
        return Narrator(word for role in ROLES for word in getattr(self.config.vocabulary, role))

    @cached_property
    def casts(self) -> dict[str, Casts]:
        """The casts of each split."""
        return {split: Casts(self.vocabularies[split], *self.identity) for split in SPLITS}

    def capacity(self, split: str) -> int:
        """Return the number of casts of visible words."""
        return self.casts[split].capacity

    def draw_liked(self, draws: Draws, split: str) -> Words:
        """Draw the things that the two statements of each story are about, [2, story]."""
        words = self.vocabularies[split]
        things = self.narrator.numbers((*words.containers, *words.objects))
        liked: Words = things[draws.below(len(things), 2 * self.block_stories)].reshape(2, -1)
        return liked


def breach(benchmark: str, plot: Plot, thing: int, *, ours: bool) -> str | None:
    """Return how a story departs from the recipe of its benchmark in all its versions; None if it does not.

    Args:
        benchmark: The name in the row; nothing is known of the recipe of an unknown one.
        plot: What happens.
        thing: The local number of the object in question.
        ours: Whether storyproof generated the story; others begin with somebody who "is in" a room.
    """
    if ours and not plot.announced:
        return "somebody 'is in' a room without having come there"
    key = benchmark, thing
    if key not in plot.breaches:
        plot.breaches[key] = _breach_of_all_versions(benchmark, plot, thing)
    return plot.breaches[key]


def _breach_of_all_versions(benchmark: str, plot: Plot, thing: int) -> str | None:
    breaches = [each.breach(plot, thing) for each in _all_versions(benchmark)]
    return breaches[-1] if breaches and all(breaches) else None


@lru_cache(maxsize=256)  # looking entry points up takes milliseconds
def _all_versions(benchmark: str) -> tuple[type[BeliefBenchmark], ...]:
    """Return all versions of a benchmark, the current one last; none if its name is not known."""
    if benchmark not in names("benchmark"):
        return ()
    known = (load_version(benchmark, version) for version in versions(benchmark))
    return tuple(each for each in known if issubclass(each, BeliefBenchmark))


def another(draws: Draws, limit: int, taken: Sequence[Indices]) -> Indices:
    """Draw numbers below `limit` that differ from those taken (which differ among themselves)."""
    return others(draws, limit, taken, len(taken) + 1)[-1]


def others(draws: Draws, limit: int, taken: Sequence[Indices], needed: int) -> list[Indices]:
    """Draw more numbers below `limit` until there are enough, all different, with those taken."""
    numbers, in_order = list(taken), list(np.sort(np.stack(taken), axis=0))
    while len(numbers) < needed:
        drawn = draws.below(limit - len(numbers), len(taken[0]))
        for used in in_order:
            drawn += drawn >= used
        numbers.append(drawn)
        rest = drawn
        for place, used in enumerate(in_order):
            in_order[place], rest = np.minimum(used, rest), np.maximum(used, rest)
        in_order.append(rest)
    return numbers


def may_be_first(first: Words, second: Words, context: Sequence[Words], seed: int) -> npt.NDArray[np.bool_]:
    """Decide which of two words may stand first in a context: one coin per pair, the same for both orders."""
    mixed = np.full(len(first), seed, np.uint64)
    for part in (np.minimum(first, second), np.maximum(first, second), *context):
        mixed = (mixed ^ part.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    decided: npt.NDArray[np.bool_] = (mixed >> np.uint64(63) == 0) == (first < second)
    return decided
