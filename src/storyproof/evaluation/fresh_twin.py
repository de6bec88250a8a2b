"""Contamination: a model on published data and on a fresh twin of the same shape, which no model can have seen."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.catalog import load, names
from storyproof.datasets.generate import load_benchmark
from storyproof.datasets.reading import Source, find_source, iterate_examples
from storyproof.errors import DataError, StoryproofError
from storyproof.evaluation.runs import Evaluation
from storyproof.example import Example
from storyproof.formats.jsonl import JsonlSplit
from storyproof.io.atomic_files import writing_to
from storyproof.io.locks import Claim
from storyproof.stats import Interval, difference

TEST = "test"  # the split that a twin is
_DRAFT = ".part"


@dataclass(frozen=True, slots=True)
class Contamination:
    """A model's scores on published data, and on a twin of them.

    Attributes:
        published: On the data as published.
        twin: On fresh data of the same shape.
        accuracy: How much better it is on the published data, with a 95% interval.
        joint_accuracy: The same for whole stories.
    """

    published: Evaluation
    twin: Evaluation
    accuracy: Interval
    joint_accuracy: Interval

    @property
    def interrupted(self) -> bool:
        """Whether a user stopped it before all was asked."""
        return self.published.interrupted or self.twin.interrupted

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "accuracy": self.accuracy.as_dict(),
            "joint_accuracy": self.joint_accuracy.as_dict(),
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
    """Evaluate a model on data and on a fresh twin of them.

    Args:
        evaluate: Evaluates the model on data and a split of them, and writes the run to a folder.
        data: The published data, a folder or a file.
        split: Which split.
        folder: Where runs are written, and the twin is kept, in a folder of its own and with its run beside it, so that
            an interrupted run resumes with the same.
        seed: Of the twin; by default a random one.
        max_stories: The most stories that the twin has.

    Raises:
        DataError: If no twin can be generated for such data.
        KeyboardInterrupt: If the first run was interrupted: without the second there is nothing to compare.
    """
    source = find_source(data, split)
    twin = make_twin(source, folder, seed, max_stories)
    published = evaluate(data, split, folder)
    if published.interrupted:
        raise KeyboardInterrupt
    fresh = evaluate(twin, None, twin.parent)
    joint = difference(_interval(published, "joint_accuracy"), _interval(fresh, "joint_accuracy"))
    return Contamination(
        published, fresh, difference(_interval(published, "accuracy"), _interval(fresh, "accuracy")), joint
    )


def _interval(evaluation: Evaluation, score: str) -> Interval:
    low, high = evaluation.intervals.get(score, (0.0, 1.0))
    return Interval(getattr(evaluation.scores, score), low, high)


def make_twin(source: Source, folder: Path, seed: int | None = None, max_stories: int | None = None) -> Path:
    """Generate fresh data of the same shape: as many stories of each kind by the same recipe, under another seed.

    Returns:
        The file; if it was generated for the same data before, that one.

    Raises:
        DataError: If storyproof has no recipe for such data.
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
    first: dict[tuple[str, str], Example] = {}
    for example in iterate_examples(source, max_stories=max_stories):
        key = example.split, example.story_id
        earlier = first.setdefault(key, example)
        if example.order > earlier.order and example.story == earlier.story:  # which says more about the recipe
            first[key] = example
    stories = list(first.values())
    benchmark = stories[0].benchmark if stories else ""
    if benchmark not in names("benchmark"):
        known_names = ", ".join(names("benchmark"))
        raise DataError(f"{source.name} is of benchmark '{benchmark}'; twins can be generated for {known_names}.")
    made = _declared_recipe(source, benchmark, seed)
    if made is None:
        rows: pa.Table = load("benchmark", benchmark).twin(stories, seed)
        return rows
    count = -(-len(stories) // made.round) * made.round
    made.check_count(TEST, count)
    return pa.concat_tables(made.blocks(TEST, count)).slice(0, len(stories) * made.rows_per_story(TEST))


def _declared_recipe(source: Source, benchmark: str, seed: int) -> Benchmark | None:
    """Return the recipe of a dataset with the settings of its manifest; None if they cannot be taken from there.

    A test split with parts, such as that of clutrr, has as many stories of each part as the data, which a manifest does
    not say. Settings that refer to files, such as words of one's own, are plain values that cannot be read back.
    """
    manifest = source.manifest()
    if manifest is None or manifest.get("benchmark") != benchmark or not isinstance(manifest.get("config"), dict):
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
