"""The benchmark `clutrr`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.benchmark import Benchmark
from storyproof.columns import NO_WORD, coded, constant_words, identity, number_lists, word_lists
from storyproof.errors import ConfigError
from storyproof.example import Example
from storyproof.families.kinship.config import (
    DROP,
    PRESETS,
    REFUSE,
    SYNTHETIC,
    TASK_NUMBERS,
    USUAL_COUNTS,
    ClutrrConfig,
)
from storyproof.families.kinship.names import Casting
from storyproof.families.kinship.narration import Teller
from storyproof.families.kinship.placeholder_checks import FATAL, UNKNOWN_SLOT, Flaw, problems
from storyproof.families.kinship.placeholder_files import our_names, ours
from storyproof.families.kinship.placeholders import Placeholders, require_singles
from storyproof.families.kinship.puzzle_columns import Shelf
from storyproof.families.kinship.puzzles import CLEAN, MEMORY, MIXED, Maker
from storyproof.families.kinship.relations import GENDERS, NAMES
from storyproof.families.kinship.rules import PUBLISHED, STRICT
from storyproof.families.kinship.schedule import Dealer
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.text import synthetic
from storyproof.seeds import Draws

ENTITIES = 200  # tokens that cloze stories draw their people from


class Clutrr(Benchmark):
    """CLUTRR: what one person is to another, in a story from which the answer follows.

    World: families in which everyone has two married parents and spouses share no ancestor; a chain of two to fifteen
    facts leads from one person to another. Noise (supporting, irrelevant or disconnected facts) is optional.

    Questions: what is the last person of the chain to the first?

    Splits: may hold out patterns of relations, placeholders, both or neither. The test split has every requested
    combination of task and length.

    Known artefacts: the gender of the asked person halves the possible answers, as in the original. Under the strict
    reading husband and wife have a single pattern at each length (a child's sibling's … parent). Long chains use at
    most 64 patterns of each relation for a seed.

    Source: Sinha, Sodhani, Dong, Pineau and Hamilton, "CLUTRR: A Diagnostic Benchmark for Inductive Reasoning from
    Text" (2019), appendix. Deviations: chains are built from the rules up instead of being sampled from a family and
    rejected; labels follow from their stories; all people of a chain are distinct; noise facts have types and are
    narrated.
    """

    name = "clutrr"
    version = 1
    family = "kinship"
    usual_counts = USUAL_COUNTS
    round = 1
    config_type = ClutrrConfig
    presets = PRESETS
    readings = (STRICT, PUBLISHED)
    formats = ("clutrr",)
    schema = KINSHIP_SCHEMA
    counted: ClassVar[dict[str, tuple[str, ...]]] = {
        **Benchmark.counted,
        "statuses": ("status",),
        "labels": ("question_type", "answer"),
        "patterns": ("question_type", "answer", "pattern"),
    }

    config: ClutrrConfig

    @classmethod
    def twin(cls, stories: Sequence[Example], seed: int) -> pa.Table:
        """Generate as many fresh puzzles of each task and length; the wording is our own."""
        wanted = Counter((each.get("task") or CLEAN, each.get("k") or 2) for each in stories)
        tasks, lengths = sorted({task for task, _ in wanted}), sorted({k for _, k in wanted})
        made = cls(ClutrrConfig(test_k=tuple(lengths), test_tasks=tuple(tasks)), seed)
        [count] = made.check_counts({"test": max(wanted.values())}).values()
        table = pa.concat_tables(made.blocks("test", count))
        kept = []
        for number, row in enumerate(table.select(["task", "k"]).to_pylist()):
            if wanted[row["task"], row["k"]] > 0:
                wanted[row["task"], row["k"]] -= 1
                kept.append(number)
        return table.take(pa.array(kept))

    def __init__(self, config: ClutrrConfig | None = None, seed: int = 0) -> None:
        super().__init__(config or ClutrrConfig(), seed)
        self.rules = self.config.used_rules
        # Puzzles and names hang on the seed alone: other words tell the same puzzles.
        self._purpose = (self.name, self.version, self.rules.name, seed)
        self._maker = Maker(self.rules, *self._purpose)
        self._shelves: dict[str, Shelf] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self.config, "seed": self.seed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["config"], state["seed"])  # type: ignore[misc]

    @cached_property
    def placeholders(self) -> dict[str, Placeholders]:
        """What each side of the data is told in."""
        config = self.config
        if config.text == SYNTHETIC:
            return dict.fromkeys(("train", "test"), synthetic(self.rules.predicates))
        found = self._usable(config.placeholders) if config.placeholders else ours()
        if config.test_placeholders is not None:
            sides = found, self._usable(config.test_placeholders)
        elif config.split_placeholders:
            sides = found.split(self.name, self.seed)
        else:
            sides = found, found
        kept = [side.share(config.keep_placeholders, self.name, self.seed) for side in sides]
        return dict(zip(("train", "test"), kept, strict=True))

    @cached_property
    def flaws(self) -> dict[str, list[Flaw]]:
        """What our checks find in placeholders that are not ours."""
        given = (self.config.placeholders, self.config.test_placeholders)
        return {self._called(each): problems(each) for each in given if each is not None}

    def _called(self, given: Placeholders) -> str:
        """Give a collection's name, so that two files of one name are told apart."""
        first = self.config.placeholders
        twin = given is not first and first is not None and given.name == first.name
        return f"{given.name} (test)" if twin else given.name

    def _usable(self, given: Placeholders) -> Placeholders:
        """Refuse, keep or drop templates with flaws; those that speak of somebody who is not there cannot be kept."""
        flaws = self.flaws[self._called(given)]
        fatal = [flaw for flaw in flaws if flaw.kind in FATAL]
        if self.config.bad_placeholders == REFUSE and fatal:
            texts = len({(flaw.key, flaw.number) for flaw in fatal})
            raise ConfigError(
                f"{given.name} has {texts} placeholders that lack a person or reveal an answer, the first: {fatal[0]} "
                "Mend them, or leave them out with --bad-placeholders drop."
            )
        dropped = [flaw for flaw in flaws if self.config.bad_placeholders == DROP or flaw.kind == UNKNOWN_SLOT]
        given = given.without({(flaw.key, flaw.number) for flaw in dropped})
        require_singles(given, self._tellable)
        return given

    @property
    def _tellable(self) -> tuple[str, ...]:
        """The relations that stories tell."""
        return tuple(relation for relation in self.rules.told if relation in NAMES)

    @cached_property
    def casting(self) -> Casting:
        """Who is called what."""
        if self.config.cloze:
            tokens = tuple(f"@entity-{number}" for number in range(ENTITIES))
            return Casting(dict.fromkeys(GENDERS, tokens), *self._purpose)
        texts = " ".join(
            text for side in self.placeholders.values() for each in side.templates.values() for text in each
        )
        words = set(re.findall(r"[^\W\d_]+", texts))
        return Casting(
            {gender: tuple(name for name in our_names()[gender] if name not in words) for gender in GENDERS},
            *self._purpose,
        )

    @cached_property
    def dealer(self) -> Dealer:
        """Who says which puzzle each row is."""
        return Dealer(self.config, self._maker, self.casting.capacity, *self._purpose)

    @cached_property
    def tellers(self) -> dict[str, Teller]:
        """Who tells them, for training and for test."""
        return {side: Teller(self.rules, found, self.casting.names) for side, found in self.placeholders.items()}

    def rows_per_story(self, split: str) -> int:
        """One question a story."""
        return 1

    def stories(self, split: str, asked: int) -> int:
        """As many as asked for, for each test scenario."""
        return asked * len(self.dealer.scenarios(split)) if split == "test" and asked > 0 else asked

    def capacity(self, split: str) -> int:
        """So many that each pattern of the rarest label has names left that nobody had."""
        return len(self.dealer.scenarios(split)) * len(self.rules.targets) * self.casting.capacity // 3

    def check_count(self, split: str, count: int, option: str = "") -> None:
        """Raise ConfigError unless so many stories can be made for a split; `option` names it to users."""
        super().check_count(split, count, option)
        if count:
            for task, k in self.dealer.scenarios(split):
                self.dealer.labels(split == "test", MEMORY if task == MEMORY else "clean", k)

    def notes(self, splits: Iterable[str]) -> dict[str, Any]:
        """Say for the manifest what was held out, and what could not be."""
        kept = self.dealer.kept_in_training() if {"train", "test"} <= set(splits) else {}
        return {
            "held_out_lengths": sorted(kept),
            "single_pattern_labels_kept_in_training": {
                str(k): [self.rules.word(target, gender) for target in targets for gender in GENDERS]
                for k, targets in kept.items()
            },
            "placeholders": {side: found.count for side, found in self.placeholders.items()},
            "placeholder_flaws": {name: [str(flaw) for flaw in flaws] for name, flaws in self.flaws.items()},
        }

    def remarks(self, manifest: Mapping[str, Any]) -> list[str]:
        """Say which labels have no held-out pattern, and how many placeholders are doubtful."""
        found = [
            f"at k={k} these have a single pattern, which stays in training: {', '.join(words)}"
            for k, words in manifest["single_pattern_labels_kept_in_training"].items()
            if words
        ]
        for name, flaws in manifest["placeholder_flaws"].items():
            if not flaws:
                continue
            done = "left out" if self.config.bad_placeholders == DROP else "used all the same"
            found.append(f"{name}: our checks have {len(flaws):,} objections, the texts are {done}; see manifest.json")
        return found

    def summary(self, counts: Mapping[str, Counter[tuple[str, ...]]]) -> dict[str, Any]:
        """Say how even labels are in each scenario, and patterns within labels, instead of listing them all."""
        plain = super().summary({name: found for name, found in counts.items() if name not in ("labels", "patterns")})
        balance: dict[str, Any] = {}
        for scenario in sorted({key[0] for key in counts["labels"]}):
            labels = {key[1]: number for key, number in counts["labels"].items() if key[0] == scenario}
            spreads = []
            for label in labels:
                uses = [number for key, number in counts["patterns"].items() if key[:2] == (scenario, label)]
                spreads.append(max(uses) - min(uses))
            patterns = {key[2] for key in counts["patterns"] if key[0] == scenario}
            balance[scenario] = {
                "labels": len(labels),
                "rows_per_label": [min(labels.values()), max(labels.values())],
                "patterns": len(patterns),
                "most_uneven_patterns_of_a_label": max(spreads),
            }
        return {**plain, "balance": balance}

    def block(self, split: str, index: int) -> pa.Table:
        """Make one block: deal puzzles, have them proved, name their people, tell them."""
        side = "test" if split == "test" else "train"
        teller = self.tellers[side]
        if side not in self._shelves:
            self._shelves[side] = Shelf(self.rules, teller)
        shelf = self._shelves[side]
        start = index * self.block_stories
        dealt = self.dealer.deal(split, start, self.block_stories)
        puzzle = shelf.numbers(dealt.kinds, self._maker)[dealt.kind]
        draws = Draws(*self._purpose, split, index, "telling")
        names = self.casting(dealt.place, dealt.start, shelf.genders[puzzle], draws)
        lines = teller.lines(shelf.sheets, puzzle, draws)
        tasks = self.dealer.scenarios(split)
        task_names = constant_words(tuple(f"task_{TASK_NUMBERS[task]}.{k}" for task, k in tasks))
        names_of_tasks = tuple(dict.fromkeys(task for task, _ in tasks))
        task_of = np.array([names_of_tasks.index(task) for task, _ in tasks])
        called = pa.array(self.casting.names, pa.string())
        asked = shelf.asked[puzzle]
        first, second = (names[np.arange(self.block_stories), asked[:, end]] for end in (0, 1))
        spoken = np.where(lines.used, lines.template, NO_WORD) if self.config.text != SYNTHETIC else None
        nothing = np.full((self.block_stories, 0), NO_WORD, np.int32)
        columns = {
            **identity(self.name, split, start, self.block_stories, 1),
            "story": coded(np.arange(self.block_stories), teller.tell(lines, names)),
            "question": _questions(called, first, second),
            "candidates": self._candidates(split, dealt.scenario),
            "question_type": coded(dealt.scenario, task_names),
            "order": pa.array(np.zeros(self.block_stories, np.int8)),
            "chain": word_lists(called, nothing),
            "false_belief": pa.array(np.zeros(self.block_stories, np.bool_)),
            "proof": number_lists(
                lines.proves, np.broadcast_to(np.arange(1, lines.proves.shape[1] + 1), lines.proves.shape)
            ),
            "task": coded(task_of[dealt.scenario], constant_words(names_of_tasks)),
            "query": word_lists(called, np.column_stack([first, second])),
            "genders": self._genders(names, shelf.genders[puzzle], shelf.people[puzzle]),
            "placeholders": word_lists(called, nothing) if spoken is None else word_lists(teller.id_array, spoken),
            **shelf.columns(puzzle),
        }
        return pa.table([columns[name] for name in KINSHIP_SCHEMA.names], schema=KINSHIP_SCHEMA)

    def _candidates(self, split: str, scenario: npt.NDArray[np.int32]) -> pa.Array:
        """List what could be answered: all words of the targets, and where facts are asked for, of what is told."""
        lists = []
        for task, _ in self.dealer.scenarios(split):
            found = {*self.rules.targets, *(self.rules.told if task in (MEMORY, MIXED) else ())}
            lists.append(sorted(self.rules.word(target, gender) for target in found for gender in GENDERS))
        return pa.array(lists, pa.list_(pa.string())).take(pa.array(scenario))

    def _genders(
        self, names: npt.NDArray[np.int32], genders: npt.NDArray[np.int8], people: npt.NDArray[np.int32]
    ) -> pa.Array:
        table = constant_words(tuple(f"{name}:{gender}" for name in self.casting.names for gender in GENDERS))
        there = np.arange(names.shape[1]) < people[:, None]
        return word_lists(table, np.where(there, names * np.int32(2) + genders, NO_WORD).astype(np.int32))


def _questions(called: pa.Array, first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> pa.Array:
    return pc.binary_join_element_wise(
        "What is ", called.take(pa.array(second)), " to ", called.take(pa.array(first)), "?", ""
    )
