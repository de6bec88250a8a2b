"""Contamination: a model on published data and on a twin of them with other words, which no model can have seen.

Data of ours with a manifest are generated again under another seed. Of all other data the twin has the same stories,
sentence by sentence, in which people, objects, containers and rooms are exchanged for others of their role in the same
file. So it has the same kinds of questions, false beliefs, labels, lengths and wording, and each story is compared with
its own twin: for a solver that has not seen the file, it is chance which of the two it finds easier.

A verdict needs two things: the solver is better on the published stories than chance gives in one of twenty such
comparisons, and by more than each of some solvers that certainly saw nothing.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.catalog import names
from storyproof.datasets.generate import load_benchmark
from storyproof.datasets.reading import Source, find_source, read_examples
from storyproof.errors import DataError, StoryproofError
from storyproof.evaluation.runs import Evaluation
from storyproof.example import Example, plain_schema
from storyproof.families.family import Family, family_of
from storyproof.formats.jsonl import JsonlSplit
from storyproof.generation.seeds import Draws
from storyproof.io.atomic_files import writing_to
from storyproof.io.locks import Claim
from storyproof.solvers.unseen import unseen_answers
from storyproof.stats import Interval, difference, difference_interval, mean_interval, permutation_p

TEST = "test"  # the split that a twin is
LEVEL = 0.05  # how often chance alone may be called more than chance
_DRAFT = ".part"
_COMPARED = 200  # rows that are read again in other words


@dataclass(frozen=True, slots=True)
class Contamination:
    """A model's scores on published data, and on a twin of them.

    Attributes:
        published: On the data as published.
        twin: On the twin.
        accuracy: How much better it is on the published data, with a 95% interval over stories; within strata.
        joint_accuracy: The same for whole stories.
        p: How often a solver that has seen neither is better on the published data by at least as much.
        unseen: How much better solvers are on the published data that have seen neither, by name.
    """

    published: Evaluation
    twin: Evaluation
    accuracy: Interval
    joint_accuracy: Interval
    p: float = 1.0
    unseen: Mapping[str, float] = field(default_factory=dict)

    @property
    def interrupted(self) -> bool:
        """Whether a user stopped it before all was asked."""
        return self.published.interrupted or self.twin.interrupted

    @property
    def has_seen(self) -> bool:
        """Whether the model is better on the published data than chance and than solvers that saw nothing explain."""
        return self.p < LEVEL and self.accuracy.value > max([0.0, *self.unseen.values()])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "accuracy": self.accuracy.as_dict(),
            "joint_accuracy": self.joint_accuracy.as_dict(),
            "p": self.p,
            "unseen": dict(self.unseen),
            "has_seen": self.has_seen,
            "published": self.published.about(),
            "twin": self.twin.about(),
        }


def contamination(
    evaluate: Callable[[Path | str, str | None, Path], Evaluation],
    data: str | Path,
    split: str | None,
    folder: Path,
    seed: int | None = None,
    max_stories: int | None = None,
) -> Contamination:
    """Evaluate a model on data and on a twin of them.

    Args:
        evaluate: Evaluates the model on data and a split of them, and writes the run to a folder.
        data: The published data, a folder or a file.
        split: Which split.
        folder: Where runs are written, and the twin is kept, in a folder of its own and with its run beside it, so that
            an interrupted run resumes with the same.
        seed: Of the twin; by default a random one.
        max_stories: The most stories that the twin has.

    Raises:
        DataError: If no twin can be made of such data.
        KeyboardInterrupt: If the first run was interrupted: without the second there is nothing to compare.
    """
    source = find_source(data, split)
    twin = make_twin(source, folder, seed, max_stories)
    published = evaluate(data, split, folder)
    if published.interrupted:
        raise KeyboardInterrupt
    fresh = evaluate(twin, None, twin.parent)
    first = read_examples(source, max_stories=max_stories)
    second = read_examples(find_source(twin))
    unseen = {
        name: compare_answers(first, second, *answers)[0].value for name, answers in unseen_answers(first, second)
    }
    accuracy, p = compare_answers(first, second, _rights(published), _rights(fresh))
    joint = difference(_interval(published, "joint_accuracy"), _interval(fresh, "joint_accuracy"))
    return Contamination(published, fresh, accuracy, joint, p, unseen)


def _interval(evaluation: Evaluation, score: str) -> Interval:
    low, high = evaluation.intervals.get(score, (0.0, 1.0))
    return Interval(getattr(evaluation.scores, score), low, high)


def _rights(run: Evaluation) -> dict[str, bool]:
    """Return which questions were answered, and whether rightly."""
    return {each["id"]: bool(each["right"]) for each in run.predictions if not each.get("failed")}


def compare_answers(
    published: Sequence[Example], twin: Sequence[Example], first: Mapping[str, bool], second: Mapping[str, bool]
) -> tuple[Interval, float]:
    """Return how much better answers to published questions are, and how often chance gives at least as much.

    Stories with a twin of their own are compared with it. Otherwise shares are compared within strata: questions of one
    kind, about true or about false beliefs.

    Args:
        published: The published questions.
        twin: Those of the twin.
        first: Whether the published questions are answered rightly, by id.
        second: The same of the twin.
    """
    if [each.id for each in published] != [each.id for each in twin]:
        return _within_strata(published, twin, first, second)
    both = [each for each in published if each.id in first and each.id in second]
    if not both:
        return Interval(0.0, -1.0, 1.0), 1.0
    gaps: dict[str, int] = defaultdict(int)
    for each in both:
        gaps[each.story_id] += int(first[each.id]) - int(second[each.id])
    right, other = ([float(side[each.id]) for each in both] for side in (first, second))
    interval = difference_interval(other, right, [each.story_id for each in both])
    either = permutation_p(list(gaps.values()))
    return interval, either / 2 if sum(gaps.values()) > 0 else 1.0


def _within_strata(
    published: Sequence[Example], twin: Sequence[Example], first: Mapping[str, bool], second: Mapping[str, bool]
) -> tuple[Interval, float]:
    sides = [_by_stratum(published, first), _by_stratum(twin, second)]
    shared = [name for name in sides[0] if name in sides[1]]
    total = sum(len(sides[0][name]) for name in shared)
    value = variance = 0.0
    for name in shared:
        weight = len(sides[0][name]) / total
        one, two = (mean_interval([r for _, r in side[name]], [s for s, _ in side[name]]) for side in sides)
        value += weight * (one.value - two.value)
        reach = difference(one, two)
        variance += (weight * (reach.high - reach.low) / 2) ** 2
    if not shared:
        return Interval(0.0, -1.0, 1.0), 1.0
    reach_all = float(np.sqrt(variance))
    z = value / (reach_all / NormalDist().inv_cdf(0.975)) if reach_all else 0.0
    interval = Interval(value, max(-1.0, value - reach_all), min(1.0, value + reach_all))
    return interval, 1 - NormalDist().cdf(z)


def _by_stratum(
    examples: Sequence[Example], right: Mapping[str, bool]
) -> dict[tuple[str, bool], list[tuple[str, float]]]:
    found: dict[tuple[str, bool], list[tuple[str, float]]] = {}
    for each in examples:
        if each.id in right:
            stratum = family_of(each).kind(each), each.false_belief
            found.setdefault(stratum, []).append((each.story_id, float(right[each.id])))
    return found


def make_twin(source: Source, folder: Path, seed: int | None = None, max_stories: int | None = None) -> Path:
    """Make a twin of data: their recipe under another seed, or the same stories in other words.

    Returns:
        The file; if it was made of the same data before, that one.

    Raises:
        DataError: If their stories cannot be read, or do not read the same in other words.
    """
    digest = "-".join(file.sha256()[:8] for file in source.files[:4])
    shape = f"{digest}-{max_stories or 'all'}" + ("" if seed is None else f"-seed{seed}")
    path = folder / f"twin-{shape}" / f"{TEST}.jsonl"
    if path.exists():
        return path
    seed = secrets.randbelow(1 << 53) if seed is None else seed
    table = _twin_rows(source, seed, max_stories)
    with Claim(path.with_name(".twin.lock"), "--output-dir") as ours:
        if not ours:
            raise DataError(f"another process is making {path}; wait until it ends, or choose another --output-dir.")
        if not path.exists():  # another process has made it until a moment ago
            with writing_to(path, "--output-dir"):
                _write_twin(path, table)
    return path


def _write_twin(path: Path, table: pa.Table) -> None:
    try:
        draft = JsonlSplit(path.parent, _DRAFT)
        try:
            draft.write(table)
        finally:
            [written] = draft.close()
        written.replace(path)
    except OSError:
        (path.parent / f"{_DRAFT}.jsonl").unlink(missing_ok=True)
        raise


def _twin_rows(source: Source, seed: int, max_stories: int | None) -> pa.Table:
    examples = read_examples(source, max_stories=max_stories)
    if not examples:
        raise DataError(f"{source.name} has no questions, so there is nothing to make a twin of.")
    stories = {(each.split, each.story_id) for each in examples}
    made = _declared_recipe(source, examples[0].benchmark, seed)
    if made is not None:
        count = -(-len(stories) // made.round) * made.round
        made.check_count(TEST, count)
        return pa.concat_tables(made.blocks(TEST, count)).slice(0, len(stories) * made.rows_per_story(TEST))
    family = family_of(examples[0])
    renamed = exchange_words(examples, seed)
    if renamed == examples:
        raise DataError(f"{source.name}: no people or places are found in its stories, so it can have no twin.")
    step = -(-len(examples) // _COMPARED)
    for one, other in zip(examples[::step], renamed[::step], strict=True):
        if _has_changed(family, one, other):
            raise DataError(f"{source.name}, {one.id}: the story reads differently in other words; no twin is made.")
    return pa.Table.from_pylist([_as_row(each) for each in renamed], schema=plain_schema(family.schema))


def _as_row(example: Example) -> dict[str, Any]:
    row = {name: getattr(example, name) for name in Example.__dataclass_fields__ if name not in ("family", "extra")}
    return {**row, **example.extra}


def _has_changed(family: Family, one: Example, other: Example) -> bool:
    """Return whether a question has another answer in other words, apart from the words."""
    first, second = (family.checked_answer(each) for each in (one, other))
    return (first == one.answer) != (second == other.answer)


def exchange_words(examples: Sequence[Example], seed: int) -> list[Example]:
    """Return the same rows, in which words are exchanged for others of their role, story by story at random.

    Args:
        examples: All rows of a file; words come from it.
        seed: For the draws.
    """
    roles = family_of(examples[0]).exchangeable(examples)
    words: dict[str, list[str]] = defaultdict(list)
    for word, role in sorted(roles.items()):
        words[role].append(word)
    pattern = re.compile("|".join(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in sorted(roles, key=len)[::-1]))
    mappings: dict[str, dict[str, str]] = {}
    return [_renamed(each, mappings, words, pattern, seed) for each in examples] if roles else list(examples)


def _renamed(
    example: Example,
    mappings: dict[str, dict[str, str]],
    words: Mapping[str, Sequence[str]],
    pattern: re.Pattern[str],
    seed: int,
) -> Example:
    key = f"{example.split} {example.story_id}"
    if key not in mappings:
        draws = Draws("words of a twin", seed, key)
        mappings[key] = {
            word: listed[int(place)]
            for listed in words.values()
            for word, place in zip(listed, np.argsort(draws.below(1 << 62, len(listed))), strict=True)
        }
    mapping = mappings[key]

    def exchange(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda match: mapping[match[0]], value)
        if isinstance(value, list | tuple):
            return [exchange(each) for each in value]
        return value

    kept = {"id", "story_id", "benchmark", "split", "question_type", "story_type", "readings", "family", "extra"}
    changed = {name: exchange(getattr(example, name)) for name in Example.__dataclass_fields__ if name not in kept}
    changed["candidates"] = sorted(changed["candidates"])
    return replace(example, **changed, extra={name: exchange(value) for name, value in example.extra.items()})


def _declared_recipe(source: Source, benchmark: str, seed: int) -> Benchmark | None:
    """Return the recipe of a dataset with the settings of its manifest; None if they cannot be taken from there.

    A test split with parts, such as that of clutrr, has as many stories of each part as the data, which a manifest does
    not say. Settings that refer to files, such as words of one's own, are plain values that cannot be read back.
    """
    manifest = source.manifest()
    if (
        manifest is None
        or benchmark not in names("benchmark")
        or manifest.get("benchmark") != benchmark
        or not isinstance(manifest.get("config"), dict)
    ):
        return None
    try:
        kind = load_benchmark(benchmark, manifest.get("version"))
        settings = {
            name: tuple(value) if isinstance(value, list) else value for name, value in manifest["config"].items()
        }
        config = kind.config_type(**settings)
        is_same = json.loads(json.dumps(config.as_dict())) == manifest["config"]
    except (StoryproofError, AttributeError, TypeError, ValueError):
        return None
    return kind(config, seed) if is_same and not kind.test_parts else None
