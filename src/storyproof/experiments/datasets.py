"""The stories that experiments train and test on, generated or read when they are needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from storyproof.catalog import load
from storyproof.datasets.generate import generate, make_benchmark
from storyproof.datasets.reading import DataFile, Source, find_source, read_examples
from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.experiments.declaration import DeclaredData
from storyproof.generation.seeds import digest

TRAIN, TEST = 0, 1  # the two parts of a data set
PROOF_FIRST = "proof first"
_PARTS = ("train", "test")  # their names as settings of a benchmark


class Datasets:
    """Loads the stories of data sets; keeps those of the last training sets, and all test stories, in memory.

    Args:
        published: The folder with published data; None if the user has none.

    Raises:
        ConfigError: If there is no such folder.
    """

    def __init__(self, published: Path | None) -> None:
        if published is not None and not published.is_dir():
            raise ConfigError(
                f"--published is {published}, which is not a folder; give the folder that contains tomi and clutrr."
            )
        self._published = published
        self._training: dict[bytes, list[Example]] = {}
        self._tests: dict[bytes, list[Example]] = {}
        self._hashes: dict[DataFile, str] = {}

    def lacks(self, data: DeclaredData) -> str:
        """Return why a data set is not available; empty if it is."""
        if not data.published:
            return ""
        if self._published is None:
            return f"'{data.published}' is published data; give its parent folder with --published"
        if not (self._published / data.published).exists():
            return f"--published has no '{data.published}'"
        try:
            for part in (TRAIN, TEST):
                self._source(data, part)
        except DataError as error:
            return str(error).rstrip(".")
        return ""

    def identity(self, data: DeclaredData, part: int) -> dict[str, Any]:
        """Return what identifies the stories of a part."""
        count = data.test if part == TEST else data.train
        if data.published:
            files = [self._hash(file) for file in self._source(data, part).files]
            return {"published": data.published, "files": files, "labels": data.labels, "count": count}
        return {
            "benchmark": data.benchmark.partition("@")[0],  # its version is beside it
            "version": _version(data.benchmark),
            "text": _sample_hash(data.benchmark, json.dumps(dict(data.settings), sort_keys=True), part, data.seed),
            "settings": dict(data.settings),
            "part": _PARTS[part],
            "count": count,
            "seed": data.seed,
            **({"sentences": data.sentences} if data.sentences == PROOF_FIRST else {}),
        }

    def training(self, data: Sequence[DeclaredData]) -> list[list[Example]]:
        """Return the training stories of some data sets, and forget those of others."""
        wanted = [digest(self.identity(each, TRAIN)) for each in data]
        before, self._training = self._training, {}
        for each, key in zip(data, wanted, strict=True):
            self._training[key] = before.get(key) or self._training.get(key) or self._examples(each, TRAIN)
        return [self._training[key] for key in wanted]

    def tests(self, data: DeclaredData) -> list[Example]:
        """Return the test stories of a data set."""
        key = digest(self.identity(data, TEST))
        if key not in self._tests:
            self._tests[key] = self._examples(data, TEST)
        return self._tests[key]

    def _examples(self, data: DeclaredData, part: int) -> list[Example]:
        count = data.test if part == TEST else data.train
        if not data.published:
            settings: dict[str, Any] = {**dict(data.settings), _PARTS[part]: count}
            table = generate(data.benchmark, seed=data.seed, **settings)
            examples = [Example.from_row(row) for row in table.to_pylist()]
            return list(map(_proof_first, examples)) if data.sentences == PROOF_FIRST else examples
        source = self._source(data, part)
        examples = read_examples(source, proved=data.labels == "proved", max_stories=count or None)
        if not examples:
            raise DataError(f"{source.name} has no stories; give --published a folder that has them.")
        return examples

    def _source(self, data: DeclaredData, part: int) -> Source:
        assert self._published is not None
        return find_source(self._published / data.published, data.splits[part])

    def _hash(self, file: DataFile) -> str:
        if file not in self._hashes:
            self._hashes[file] = file.sha256()
        return self._hashes[file]


def _proof_first(example: Example) -> Example:
    """Return an example with the sentences on which the answer rests in front, in their order, and the others after."""
    numbered = list(enumerate(example.story.split("\n"), start=1))
    named = set(example.proof)
    first = [line for number, line in numbered if number in named]
    rest = [line for number, line in numbered if number not in named]
    return replace(example, story="\n".join([*first, *rest]), proof=list(range(1, len(first) + 1)))


@cache
def _version(benchmark: str) -> int:
    version: int = load("benchmark", benchmark).version
    return version


@cache
def _sample_hash(benchmark: str, settings: str, part: int, seed: int) -> str:
    """Return a hash of a few stories, questions and answers: before release 1.0 they change within one version."""
    given: dict[str, Any] = json.loads(settings)
    table = generate(benchmark, seed=seed, **{**given, _PARTS[part]: make_benchmark(benchmark, seed, **given).round})
    return digest(table.select(["story", "question", "answer"]).to_pylist()).hex()[:8]
