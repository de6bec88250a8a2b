"""The benchmark `clutrr`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.benchmark import Benchmark
from storyproof.errors import ConfigError
from storyproof.families.kinship.config import (
    ALL_TRADITIONS,
    DROP,
    PLACEHOLDERS,
    PLAIN,
    PRESETS,
    REFUSE,
    SYNTHETIC,
    USUAL_COUNTS,
    ClutrrConfig,
)
from storyproof.families.kinship.generation.narration import PuzzleNarrator, ToldRows
from storyproof.families.kinship.generation.patterns import SIBLING, PatternSource, ProvedPatterns, longest_run
from storyproof.families.kinship.generation.proof_file import strict_proofs
from storyproof.families.kinship.generation.puzzle_table import PuzzleArrays, PuzzleTable
from storyproof.families.kinship.generation.row_schedule import Assignment, Schedule
from storyproof.families.kinship.language.frames import our_frames
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.language.narrator import SceneNarrator
from storyproof.families.kinship.language.scenes import Scenes, our_scenes
from storyproof.families.kinship.placeholders.collection import Placeholders, require_singles
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import GENDERS, NAMES
from storyproof.families.kinship.rules import PUBLISHED, STRICT
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.tasks import CLEAN, MEMORY, MIXED, TASK_NUMBERS, TASKS
from storyproof.families.kinship.templates import synthetic
from storyproof.generation.arrow_columns import NO_WORD, coded, constant_words, identity, number_lists, word_lists
from storyproof.generation.seeds import Draws, Permutation

if TYPE_CHECKING:
    from storyproof.families.kinship.generation.puzzle_maker import PuzzleMaker
    from storyproof.families.kinship.placeholders.checks import PlaceholderFlaw


Numbers = npt.NDArray[np.int32]
_COUNTED = 3  # people whose names enumerate a puzzle's rows; every puzzle has at least as many
_SPARE = 24  # more people than any story has, so that a free name is always left


class NameAssigner:
    """Assigns names to people."""

    def __init__(self, pools: Sequence[Mapping[str, Sequence[str]]], *purpose: object) -> None:
        """Number the names.

        Args:
            pools: Names by gender; the people of a row have names of one pool, and a name is in one pool only. Both
                genders have the same names if names do not show the gender.
            *purpose: What the choice of names depends on.
        """
        self._shared = all(names[GENDERS[0]] == names[GENDERS[1]] for names in pools)
        kinds = GENDERS[:1] if self._shared else GENDERS
        lists = [names[gender] for names in pools for gender in kinds]
        self.names = [name for each in lists for name in each]
        self._sizes = np.array([len(each) for each in lists]).reshape(len(pools), len(kinds))  # [pool, gender]
        self._first = (np.cumsum(self._sizes) - self._sizes.ravel()).reshape(self._sizes.shape)
        self._fewest = int(self._sizes.min()) - _SPARE
        self.capacity: int = len(pools) * self._fewest**_COUNTED
        self._order = Permutation(self.capacity, *purpose, "names")

    def assign(
        self,
        places: npt.NDArray[np.int64],
        starts: npt.NDArray[np.int64],
        genders: npt.NDArray[np.integer],
        draws: Draws,
    ) -> Numbers:
        """Return names for the people of each row.

        Args:
            places: One number per row, below the capacity; different numbers give different names to the same puzzle.
            starts: One number per row, equal for equal puzzles: an offset into the lists of names.
            genders: [row, person], indices into GENDERS.
            draws: Random draws for the remaining people.

        Returns:
            Numbers of names, [row, person].
        """
        rows, people = genders.shape
        counted, pool = np.divmod(self._order(places), len(self._sizes))
        kinds = np.zeros_like(genders) if self._shared else genders
        chosen = np.empty((people, rows), np.int32)
        for person in range(people):
            if person < _COUNTED:
                names = (counted % self._fewest).astype(np.int32)
                counted //= self._fewest
            else:
                names = draws.below(self._fewest, rows).astype(np.int32)
            taken = np.where(kinds[:, person] == kinds[:, :person].T, chosen[:person], np.int32(1 << 30))
            for used in np.sort(taken, axis=0):
                names += names >= used
            chosen[person] = names
        turned = (np.ascontiguousarray(chosen.T) + starts[:, None]) % self._sizes[pool[:, None], kinds]
        numbers: Numbers = (turned + self._first[pool[:, None], kinds]).astype(np.int32)
        return numbers


ENTITIES = 200  # tokens that name people in cloze stories
_MANY_SIBLINGS = f" {' '.join([SIBLING] * 5)} "  # in the pattern of a story that names six of one family in a row


class Clutrr(Benchmark):
    """CLUTRR: what one person is to another, in a story from which the answer follows.

    World: families in which everyone has two married parents and spouses share no ancestor; a chain of two to fifteen
    facts leads from one person to another. Noise (supporting, irrelevant or disconnected facts) is optional.

    Questions: what is the last person of the chain to the first?

    Splits: may hold out patterns of relations, placeholders, both or neither. The test split has every requested
    combination of task and length.

    Known artefacts: the gender of the asked person halves the possible answers, as in the original. Under the strict
    reading husband and wife have a single pattern at each length (a child's sibling's … parent), and long chains need
    large families; the manifest says how many stories name six or more brothers and sisters. Under other rules, long
    chains use at most 64 patterns of each relation for a seed.

    Source: Sinha, Sodhani, Dong, Pineau and Hamilton, "CLUTRR: A Diagnostic Benchmark for Inductive Reasoning from
    Text" (2019), appendix. Deviations: chains are built from the rules up instead of being sampled from a family and
    rejected; labels follow from their stories; all people of a chain are distinct; noise facts have types and are
    narrated.
    """

    name = "clutrr"
    version = 1
    family = "kinship"
    usual_counts = USUAL_COUNTS
    test_parts = "task and k"
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

    def __init__(self, config: ClutrrConfig | None = None, seed: int = 0) -> None:
        super().__init__(config or self.config_type(), seed)
        self.rules = self.config.used_rules
        # Puzzles and names depend on the seed alone: other placeholders word the same puzzles.
        self._purpose = (self.name, self.version, self.rules.name, seed)
        self._narrators: dict[str, PuzzleNarrator | SceneNarrator] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self.config, "seed": self.seed, "block_stories": self.block_stories}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["config"], state["seed"])  # type: ignore[misc]
        self.block_stories = state["block_stories"]

    @cached_property
    def _maker(self) -> PuzzleMaker:
        """What makes and proves puzzles one by one."""
        from storyproof.families.kinship.generation.puzzle_maker import shared_maker  # needs oracle and checker

        return shared_maker(self.rules, *self._purpose)

    @cached_property
    def patterns(self) -> PatternSource:
        """The patterns of chains."""
        bound = self.config.sibling_run
        if self.rules.name == STRICT:
            return ProvedPatterns(self.rules, strict_proofs(), bound, *self._purpose)
        from storyproof.families.kinship.generation.pattern_search import SearchedPatterns

        return SearchedPatterns(self._maker.search, bound)

    @cached_property
    def _table(self) -> PuzzleTable:
        return PuzzleTable(self.patterns)

    @cached_property
    def placeholders(self) -> dict[str, Placeholders]:
        """The placeholders of training and test."""
        config = self.config
        if config.style == SYNTHETIC:
            return dict.fromkeys(("train", "test"), synthetic(self.rules.predicates))
        if config.style != PLACEHOLDERS:
            return {}
        collection = self._usable(config.placeholders) if config.placeholders else ours()
        if config.test_placeholders is not None:
            sides = collection, self._usable(config.test_placeholders)
        elif config.split_placeholders:
            sides = collection.split(self.name, self.seed)
        else:
            sides = collection, collection
        kept = [side.share(config.keep_placeholders, self.name, self.seed) for side in sides]
        return dict(zip(("train", "test"), kept, strict=True))

    @cached_property
    def flaws(self) -> dict[str, list[PlaceholderFlaw]]:
        """What the checks find in placeholders from users' files."""
        given = [each for each in (self.config.placeholders, self.config.test_placeholders) if each is not None]
        if not given:
            return {}
        from storyproof.families.kinship.placeholders.checks import problems  # compiles many expressions

        return {self._called(each): problems(each) for each in given}

    def _called(self, given: Placeholders) -> str:
        """Return a collection's name; of two files with one name, the second is marked."""
        first = self.config.placeholders
        twin = given is not first and first is not None and given.name == first.name
        return f"{given.name} (test)" if twin else given.name

    def _usable(self, given: Placeholders) -> Placeholders:
        """Refuse, keep or drop templates with flaws; those with slots for unknown people cannot be kept."""
        from storyproof.families.kinship.placeholders.checks import FATAL, UNKNOWN_SLOT

        flaws = self.flaws[self._called(given)]
        fatal = [flaw for flaw in flaws if flaw.kind in FATAL]
        if self.config.bad_placeholders == REFUSE and fatal:
            texts = len({(flaw.key, flaw.number) for flaw in fatal})
            raise ConfigError(
                f"{given.name} has {texts} placeholders that lack a person or reveal an answer, the first: {fatal[0]} "
                "Fix them, or leave them out with --bad-placeholders drop."
            )
        dropped = [flaw for flaw in flaws if self.config.bad_placeholders == DROP or flaw.kind == UNKNOWN_SLOT]
        given = given.without({(flaw.key, flaw.number) for flaw in dropped})
        require_singles(given, self._stated)
        return given

    @property
    def _stated(self) -> tuple[str, ...]:
        """The relations that stories state and that have shipped words."""
        return tuple(relation for relation in self.rules.stated if relation in NAMES)

    @cached_property
    def name_assigner(self) -> NameAssigner:
        """The names of people."""
        if self.config.cloze:
            tokens = tuple(f"@entity-{number}" for number in range(ENTITIES))
            return NameAssigner([dict.fromkeys(GENDERS, tokens)], *self._purpose)
        texts = [text for side in self.placeholders.values() for each in side.templates.values() for text in each]
        texts += [repr(each) for each in (self.config.scenes, self.config.test_scenes)]  # ours have no names
        words = set(re.findall(r"[^\W\d_]+", " ".join(texts)))
        pools = [
            {gender: [name for name in names if name not in words] for gender, names in tradition.items()}
            for tradition in our_names().values()
        ]
        if self.config.names == ALL_TRADITIONS:
            pools = [{gender: [name for pool in pools for name in pool[gender]] for gender in GENDERS}]
        return NameAssigner(pools, *self._purpose)

    @cached_property
    def schedule(self) -> Schedule:
        """Which puzzle each row is."""
        return Schedule(self.config, self.patterns, self.name_assigner.capacity, *self._purpose)

    def narrator(self, side: str) -> PuzzleNarrator | SceneNarrator:
        """Return the narrator of training or test, which is prepared when it is first needed."""
        if side not in self._narrators:
            names = self.name_assigner.names
            if self.placeholders:
                self._narrators[side] = PuzzleNarrator(self.rules, self.placeholders[side], names)
            else:
                self._check_words()
                self._narrators[side] = SceneNarrator(self._scenes[side], names)
        return self._narrators[side]

    def _check_words(self) -> None:
        """Raise ConfigError if rules of a user's own state relations for which natural text has no word."""
        for relation in self.rules.stated:
            if relation not in NAMES:
                raise ConfigError(f"natural text has no word for '{relation}'; use --text synthetic or placeholders.")

    @cached_property
    def _scenes(self) -> dict[str, Scenes | None]:
        """The scenes of training and test."""
        config, sides = self.config, ("train", "test")
        if config.style == PLAIN:
            return dict.fromkeys(sides, None)
        scenes, test_scenes = getattr(config, "scenes", None) or our_scenes(), getattr(config, "test_scenes", None)
        purpose = self.name, self.seed
        if test_scenes is not None:
            both = scenes, test_scenes
        else:
            both = scenes.split(*purpose) if config.split_placeholders else (scenes, scenes)
        return dict(zip(sides, (side.share(config.keep_placeholders, *purpose) for side in both), strict=True))

    def rows_per_story(self, split: str) -> int:
        """Return 1: one question per story."""
        return 1

    def stories(self, split: str, asked: int) -> int:
        """Return the number of stories: the requested number, in test for each scenario."""
        return asked * len(self.schedule.scenarios(split)) if split == "test" and asked > 0 else asked

    def capacity(self, split: str) -> int:
        """Return how many stories can be made before names of a pattern of the rarest label would repeat.

        Ids have nine digits, so there are never more than a billion.
        """
        labels = len(self.schedule.scenarios(split)) * len(self.rules.targets)
        return min(labels * self.name_assigner.capacity // 3, 10**9)

    def check_count(self, split: str, count: int, option: str = "") -> None:
        """Raise ConfigError unless `count` stories can be made for a split; `option` names the count to users."""
        super().check_count(split, count, option)
        if count:
            for task, k in self.schedule.scenarios(split):
                self.schedule.labels(split == "test", MEMORY if task == MEMORY else "clean", k)

    def notes(self, splits: Iterable[str]) -> dict[str, Any]:
        """Return for the manifest what is held out, and what cannot be."""
        splits = list(splits)
        kept = self.schedule.kept_in_training() if {"train", "test"} <= set(splits) else {}
        return {
            "held_out_lengths": sorted(kept),
            "single_pattern_labels_kept_in_training": {
                str(k): [self.rules.word(target, gender) for target in targets for gender in GENDERS]
                for k, targets in kept.items()
            },
            "placeholders": {side: collection.count for side, collection in self.placeholders.items()},
            **self._language_notes(),
            "placeholder_flaws": {name: [str(flaw) for flaw in flaws] for name, flaws in self.flaws.items()},
            **({} if self.config.cloze else {"naming_traditions": [*our_names()]}),
            **self._pattern_notes(splits),
        }

    def _language_notes(self) -> dict[str, Any]:
        """Return for the manifest how many scenes and frames word the stories of training and test."""
        if self.placeholders:
            return {}
        return {
            "language": {
                side: {"scenes": 0, "frames": len(our_frames().plain)}
                if scenes is None
                else {"scenes": len(scenes.scenes), "frames": scenes.frames}
                for side, scenes in self._scenes.items()
            }
        }

    def _pattern_notes(self, splits: Iterable[str]) -> dict[str, Any]:
        """Return for the manifest which labels have longer runs of siblings, and where the proofs come from."""
        bound = self.config.sibling_run
        longer: dict[str, dict[str, int]] = {}
        for k in sorted({k for split in splits for _, k in self.schedule.scenarios(split)}):
            runs = {target: self.patterns.longest_run(k, target) for target in self.rules.targets}
            words = {
                self.rules.word(target, gender): run
                for target, run in runs.items()
                if run > bound
                for gender in GENDERS
            }
            if words:
                longer[str(k)] = words
        if not isinstance(self.patterns, ProvedPatterns):
            return {"longer_sibling_runs": longer}
        proofs = self.patterns.proofs
        return {"longer_sibling_runs": longer, "proofs": {"sha256": proofs.sha256, "problem": proofs.problem}}

    def remarks(self, manifest: Mapping[str, Any]) -> list[str]:
        """Return remarks on labels without a held-out pattern, and on doubtful placeholders."""
        remarks = [
            f"at k={k} these have a single pattern, which stays in training: {', '.join(words)}"
            for k, words in manifest["single_pattern_labels_kept_in_training"].items()
            if words
        ]
        if problem := manifest.get("proofs", {}).get("problem"):
            remarks.append(
                f"{problem}; the puzzles were proved again, which takes longer (make proofs writes the file)"
            )
        for name, flaws in manifest["placeholder_flaws"].items():
            if not flaws:
                continue
            done = "left out" if self.config.bad_placeholders == DROP else "used anyway"
            remarks.append(f"{name}: the checks found {len(flaws):,} problems, the texts are {done}; see manifest.json")
        return remarks

    def summary(self, counts: Mapping[str, Counter[tuple[str, ...]]]) -> dict[str, Any]:
        """Return how balanced labels are in each scenario, and patterns within labels, instead of all counts."""
        plain = super().summary({name: amount for name, amount in counts.items() if name not in ("labels", "patterns")})
        uses: dict[str, dict[str, dict[str, int]]] = {}  # of each scenario's labels' patterns
        for (scenario, label, pattern), number in counts["patterns"].items():
            uses.setdefault(scenario, {}).setdefault(label, {})[pattern] = number
        balance: dict[str, Any] = {}
        for scenario, labels in sorted(uses.items()):
            rows = [sum(patterns.values()) for patterns in labels.values()]
            spreads = [max(patterns.values()) - min(patterns.values()) for patterns in labels.values()]
            crowded = sum(
                number
                for patterns in labels.values()
                for pattern, number in patterns.items()
                if _MANY_SIBLINGS in f" {pattern} "
            )
            balance[scenario] = {
                "labels": len(labels),
                "rows_per_label": [min(rows), max(rows)],
                "patterns": len(set().union(*labels.values())),
                "most_uneven_patterns_of_a_label": max(spreads),
                "longest_sibling_run": max(
                    longest_run(pattern.split(" ")) for pattern in set().union(*labels.values())
                ),
                "six_or_more_siblings": round(crowded / sum(rows), 4),
            }
        return {**plain, "balance": balance}

    def block(self, split: str, index: int) -> pa.Table:
        """Return one block: assign puzzles, draw genders, name the people, narrate."""
        narrator = self.narrator("test" if split == "test" else "train")
        start = index * self.block_stories
        assigned = self.schedule.assign(split, start, self.block_stories)
        rows = self._rows(assigned, Draws(*self._purpose, split, index, "genders"))
        draws = Draws(*self._purpose, split, index, "telling")
        names = self.name_assigner.assign(assigned.place, assigned.start, rows.genders, draws)
        narrated = narrator.tell(rows, names, draws)
        tasks = self.schedule.scenarios(split)
        task_names = constant_words(tuple(f"task_{TASK_NUMBERS[task]}.{k}" for task, k in tasks))
        names_of_tasks = tuple(dict.fromkeys(task for task, _ in tasks))
        task_of = np.array([names_of_tasks.index(task) for task, _ in tasks])
        called = pa.array(self.name_assigner.names, pa.string())
        first, second = (names[np.arange(self.block_stories), rows.asked[:, end]] for end in (0, 1))
        nothing = np.full((self.block_stories, 0), NO_WORD, np.int32)
        columns = {
            **identity(self.name, split, start, self.block_stories, 1),
            "story": coded(np.arange(self.block_stories), narrated.story),
            "question": _questions(called, first, second),
            "candidates": self._candidates(split, assigned.scenario),
            "question_type": coded(assigned.scenario, task_names),
            "order": pa.array(np.zeros(self.block_stories, np.int8)),
            "chain": word_lists(called, nothing),
            "false_belief": pa.array(np.zeros(self.block_stories, np.bool_)),
            "proof": number_lists(
                narrated.proves, np.broadcast_to(np.arange(1, narrated.proves.shape[1] + 1), narrated.proves.shape)
            ),
            "task": coded(task_of[assigned.scenario], constant_words(names_of_tasks)),
            "query": word_lists(called, np.column_stack([first, second])),
            "genders": self._genders(names, rows),
            "placeholders": self._placeholder_ids(narrator, narrated, called),
            **self._table.columns(rows),
        }
        return pa.table([columns[name] for name in KINSHIP_SCHEMA.names], schema=KINSHIP_SCHEMA)

    def _rows(self, assigned: Assignment, draws: Draws) -> PuzzleArrays:
        """Return the puzzles of rows: those of proved patterns from the table, others are made."""
        proved = np.zeros(len(assigned.k), np.bool_)
        if isinstance(self.patterns, ProvedPatterns):
            proved = assigned.task == TASKS.index(CLEAN)
        puzzle = np.zeros(len(proved), np.int64)
        if proved.any():
            puzzle[proved] = self._table.proved(assigned.pattern[proved])
        if not proved.all():
            kinds, kind = self.schedule.kinds(assigned.take(np.flatnonzero(~proved)))
            puzzle[~proved] = self._table.made(kinds, self._maker)[kind]
        return self._table.rows(puzzle, assigned.gender, draws)

    def _placeholder_ids(
        self, narrator: PuzzleNarrator | SceneNarrator, narrated: ToldRows, called: pa.Array
    ) -> pa.Array:
        """Return which placeholder worded each line; none if the text needs none to be read."""
        if isinstance(narrator, PuzzleNarrator) and narrated.template is not None and self.config.style != SYNTHETIC:
            return word_lists(narrator.id_array, narrated.template)
        return word_lists(called, np.full((self.block_stories, 0), NO_WORD, np.int32))

    def _candidates(self, split: str, scenario: npt.NDArray[np.int64]) -> pa.Array:
        """Return the candidates: all words of targets and, where stated facts are asked for, of stated relations."""
        lists = []
        for task, _ in self.schedule.scenarios(split):
            words = {*self.rules.targets, *(self.rules.stated if task in (MEMORY, MIXED) else ())}
            lists.append(sorted(self.rules.word(target, gender) for target in words for gender in GENDERS))
        if any(each != lists[0] for each in lists):
            return pa.array(lists, pa.list_(pa.string())).take(pa.array(scenario))
        return _repeated(tuple(lists[0]), len(scenario))

    @cached_property
    def _gendered_names(self) -> pa.Array:
        return pa.array([f"{name}:{gender}" for name in self.name_assigner.names for gender in GENDERS], pa.string())

    def _genders(self, names: npt.NDArray[np.int32], rows: PuzzleArrays) -> pa.Array:
        there = np.arange(names.shape[1]) < rows.people[:, None]
        numbers = np.where(there, names * np.int32(2) + rows.genders, NO_WORD)
        return word_lists(self._gendered_names, numbers.astype(np.int32))


@cache
def _repeated(words: tuple[str, ...], count: int) -> pa.Array:
    """Return a column of the same list in every row, which all blocks share."""
    return pa.array([words], pa.list_(pa.string())).take(pa.array(np.zeros(count, np.int32)))


def _questions(called: pa.Array, first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> pa.Array:
    return pc.binary_join_element_wise(
        "What is ", called.take(pa.array(second)), " to ", called.take(pa.array(first)), "?", ""
    )
