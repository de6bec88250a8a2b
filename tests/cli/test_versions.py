"""A benchmark with two versions: the old one stays, is found by its number, and generates what it generated."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pyarrow as pa
import pytest

import storyproof
from storyproof import catalog
from storyproof.benchmark import Benchmark, Config, option
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import SPLITS
from storyproof.families.belief.benchmarks import base
from storyproof.families.belief.benchmarks.base import BeliefBenchmark
from storyproof.families.belief.benchmarks.tomi import Tomi
from storyproof.families.belief.plot_index import Plot
from tests.cli.invocation import Refuse, run_line

GOLDEN = {
    1: "0e77cb647ee649d649a203e34c270200956d6d056cb8e54f7dc8684e4c3de094",
    2: "3d130181c2fa802bc44a56cb605f22a3fb5525a6f58cf517e86a0b56e2efb174",
}


@dataclass(frozen=True)
class OldConfig(Config):
    """Settings of version 1, with one that version 2 does not have."""

    old: int = field(default=0, metadata=option("Only in version 1.", read=int))


@dataclass(frozen=True)
class NewConfig(Config):
    """Settings of version 2."""

    new: bool = field(default=True, metadata=option("Only in version 2.", read=bool))


class Shelf1(Benchmark):
    """The first version of a benchmark with one question per story."""

    name = "shelf"
    version = 1
    family = "belief"
    usual_counts: ClassVar[dict[str, int]] = dict.fromkeys(SPLITS, 2)
    round = 1
    config_type: ClassVar[type[Config]] = OldConfig
    readings = ("open",)
    block_stories = 4
    presets: ClassVar[dict[str, Any]] = {"small": {"test": 1}}

    def rows_per_story(self, split: str) -> int:
        return 1

    def capacity(self, split: str) -> int:
        return 1000

    def block(self, split: str, index: int) -> pa.Table:
        places = range(index * self.block_stories, (index + 1) * self.block_stories)
        return pa.Table.from_pylist([self.row(split, place) for place in places], schema=self.schema)

    def row(self, split: str, place: int) -> dict[str, Any]:
        first, second = f"box{place}", f"jar{self.version}"
        return {
            "id": f"{split}-{place:09}-0",
            "story_id": f"{split}-{place:09}",
            "benchmark": self.name,
            "split": split,
            "story": f"Ada entered the den.\nThe key is in the {first}.\nAda moved the key to the {second}.",
            "question": "Where is the key really?",
            "answer": second,
            "candidates": sorted([first, second]),
            "question_type": "reality",
            "order": 0,
            "chain": [],
            "story_type": "true_belief",
            "false_belief": False,
            "readings": list(self.readings),
            "proof": [3],
        }


class Shelf2(Shelf1):
    """The second version."""

    version = 2
    config_type = NewConfig
    presets: ClassVar[dict[str, Any]] = {}


@pytest.fixture(autouse=True)
def shelves(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("shelves")
    module.Shelf1, module.Shelf2 = Shelf1, Shelf2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shelves", module)
    places = {"shelf": "shelves:Shelf2", "shelf@1": "shelves:Shelf1"}
    points = [EntryPoint(name, place, "storyproof.benchmarks") for name, place in places.items()]
    monkeypatch.setattr(catalog, "entry_points", lambda group: [point for point in points if point.group == group])


def test_the_catalog_knows_the_versions() -> None:
    assert "shelf" in catalog.names("benchmark")
    assert "shelf@1" not in catalog.names("benchmark")
    assert catalog.versions("shelf") == [1, 2]
    assert catalog.load("benchmark", "shelf") is catalog.load("benchmark", "shelf@2") is Shelf2
    assert catalog.load("benchmark", "shelf@1") is catalog.load_version("shelf", 1) is Shelf1
    for unknown in ("shelf@3", "shelf@", "shelf@one"):
        with pytest.raises(UnknownNameError, match=r"unknown version of shelf .* Known: 1, 2\."):
            catalog.load("benchmark", unknown)


@pytest.mark.parametrize("version", GOLDEN)
def test_every_version_keeps_its_content(version: int, tmp_path: Path) -> None:
    manifest = storyproof.generate(f"shelf@{version}", test=9, seed=7, out=tmp_path / "named")
    assert (manifest["benchmark"], manifest["version"]) == ("shelf", version)
    assert manifest["splits"]["test"]["content_sha256"] == GOLDEN[version]
    again = storyproof.generate("shelf", version=version, test=9, seed=7, out=tmp_path / "given")
    assert again == manifest
    rows = {name: storyproof.generate(name, test=9, seed=7) for name in ("shelf", "shelf@1", "shelf@2")}
    assert rows["shelf"] == rows["shelf@2"]
    assert rows["shelf"] != rows["shelf@1"]


def test_the_command_line(tmp_path: Path) -> None:
    def made(arguments: str) -> dict[str, Any]:
        done = run_line(f"generate {arguments} --out {tmp_path / hashlib.sha256(arguments.encode()).hexdigest()}")
        assert done.exit_code == 0, done.exception
        [path] = (tmp_path / hashlib.sha256(arguments.encode()).hexdigest()).glob("manifest.json")
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    assert made("shelf --train 0 --val 0")["version"] == 2
    old = made("shelf@1 --old 3 --train 0 --val 0")
    assert (old["version"], old["config"], old["splits"]["test"]["stories"]) == (1, {"old": 3}, 2)
    assert made("shelf --version 1 --old 3 --val 0 --train 0")["config"] == {"old": 3}
    assert made("shelf@2 --no-new --train 0")["config"] == {"new": False}
    small = made("shelf@1 --preset small --train 0 --val 0")
    assert small["splits"]["test"]["stories"] == 1


def test_options_belong_to_a_version(folder: Path, refuse: Refuse) -> None:
    assert "--old is not an option of shelf, but of shelf" not in (said := refuse("generate shelf --old 3 --out out"))
    assert "--old is not an option of version 2 of shelf" in said
    assert "shelf has --new" in said
    assert "--old is 'x'; expected a whole number" in refuse("generate shelf@1 --old x --out out")
    assert "unknown version of shelf '3'. Known: 1, 2" in refuse("generate shelf --version 3 --out out")
    assert "but --version is 2; give one of them" in refuse("generate shelf@1 --version 2 --out out")
    assert "--noise is not an option of version 2 of shelf" in refuse("generate shelf --noise 1 --out out")


def test_help_shows_options_of_all_versions(folder: Path) -> None:
    said = run_line("generate shelf --help").stdout
    assert "Options of shelf:" in said
    assert "--old <int>" in said
    assert "--new / --no-new" in said


def test_a_broken_package_breaks_nothing_else(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    points = [EntryPoint("broken", "no_such_package:Broken", "storyproof.benchmarks")]
    monkeypatch.setattr(catalog, "entry_points", lambda group: [point for point in points if point.group == group])
    assert "--train-k" in run_line("generate --help").stdout
    assert run_line("generate tomi --test 3 --train 0 --val 0 --out out").exit_code == 0
    assert isinstance(run_line("generate broken --out new").exception, ConfigError)


def test_a_recipe_is_broken_only_if_all_versions_break_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Strict(Tomi):
        @classmethod
        def breach(cls, plot: Plot, thing: int) -> str | None:
            return "never right"

    class Lenient(BeliefBenchmark):
        pass

    plot = Plot(b"", possible=True, announced=True)
    for known, expected in (([Strict], "never right"), ([Lenient, Strict], None), ([], None)):
        monkeypatch.setattr(base, "_all_versions", lambda name, known=known: tuple(known))
        plot.breaches.clear()
        assert base.breach("shelf", plot, 0, ours=False) == expected


def test_help_lists_the_formats_of_each_benchmark(folder: Path) -> None:
    said = " ".join(run_line("generate --help").stdout.split())
    assert "1200 train, 1200 val, 1200 test; formats: jsonl, inspect, parquet, hf, babi" in said
    assert "100 test for each task and k; formats: jsonl, inspect, parquet, hf, csv" in said
    assert "formats:" not in run_line("train --help").stdout
