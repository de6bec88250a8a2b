from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

import storyproof
from storyproof import catalog
from storyproof.benchmark import BLOCK_STORIES
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import ConfigError, ProofError, UnknownNameError
from storyproof.example import SCHEMA
from storyproof.families.family import load_family
from storyproof.families.rowwise import RowwiseBenchmark, RowwiseFamily
from storyproof.generation.seeds import Draws
from tests.samples import table


def test_table_has_the_schema_and_all_splits_in_order() -> None:
    made = storyproof.generate("tomi", train=6, val=3, test=9, seed=3)
    assert made.schema == SCHEMA
    assert [row["split"] for row in made.select(["split"]).to_pylist()] == ["train"] * 36 + ["val"] * 18 + ["test"] * 54


def test_blocks_are_the_table() -> None:
    count = BLOCK_STORIES + 12
    blocks = list(storyproof.generate("tom-babi-easy", test=count, as_blocks=True))
    assert [block.num_rows for block in blocks] == [BLOCK_STORIES, 12]
    ids = pa.concat_tables(blocks).column("id").to_pylist()
    assert len(set(ids)) == count


def test_blocks_come_one_by_one() -> None:
    # Far more than memory holds: only the first block may be made.
    blocks = storyproof.generate("tomi", train=30_000_000, as_blocks=True)
    assert next(blocks).num_rows == 6 * BLOCK_STORIES


def test_a_longer_dataset_begins_with_the_shorter_one() -> None:
    short, long = table("tomi", "train", 96), table("tomi", "train", BLOCK_STORIES + 3)
    assert long.slice(0, short.num_rows).to_pylist() == short.to_pylist()


def test_nobody_gets_stories_they_did_not_ask_for() -> None:
    made = table("tomi", "test", 96)
    (chunk,) = made.column("story").chunks
    assert len(chunk.dictionary) == 96


def test_settings_change_the_content() -> None:
    quiet, loud = (storyproof.generate("tom-babi-easy", test=12, noise=noise) for noise in (0, 1))
    assert not any("Phone rang." in story for story in quiet.column("story").to_pylist())
    for story in loud.column("story").to_pylist():
        assert story.split("\n")[0::2] == ["Phone rang."] * (story.count("\n") // 2 + 1)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("tomy", {"test": 3}, "unknown benchmark 'tomy'. Did you mean 'tomi'?"),
        ("tomi", {"test": 3, "noise": 0.1}, "unknown setting of tomi 'noise'"),
        ("tomi", {"test": 3, "seed": -1}, "the seed is -1; use a whole number from 0 on"),
        ("tomi", {"test": -3}, "--test is -3; the number of stories cannot be negative"),
        ("tom-babi", {"test": 12, "noise": 1.5}, "--noise is 1.5; use a number from 0 to 1"),
        ("tomi", {"test": 3, "disjoint": ("things",)}, "unknown value of --disjoint 'things'.*Known: agents"),
        ("tomi", {"train": 0, "val": 0, "test": 0}, "no stories requested"),
        ("tomi", {"test": 3.0}, "--test is 3.0; expected a whole number of stories"),
        ("tomi", {"test": 3, "preset": "small"}, "--preset is 'small', but tomi has no presets"),
        ("tomi@1", {"test": 3, "version": 2}, "the benchmark is 'tomi@1', but --version is 2; give one of them"),
        ("tomi", {"test": 3, "version": 2}, "unknown version of tomi '2'. Known: 1"),
        ("tomi@x", {"test": 3}, "unknown version of tomi 'x'. Known: 1"),
        ("tomy@1", {"test": 3}, "unknown benchmark 'tomy'. Did you mean 'tomi'?"),
        ("tomi", {"test": 3 * 10**12}, "this vocabulary allows at most [0-9]+ different stories there; add words"),
    ],
)
def test_what_cannot_be_made_is_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        storyproof.generate(name, **options)


@pytest.mark.parametrize(
    ("name", "count"), [("tomi", 1000), ("tomi", 1), ("tom-babi", 7), ("tom-k", 11), ("tomi-matched", 4)]
)
def test_any_number_of_stories_can_be_made(name: str, count: int, tmp_path: Path) -> None:
    manifest = storyproof.generate(name, test=count, seed=5, out=tmp_path / "data")
    entry = manifest["splits"]["test"]
    assert entry["stories"] == sum(entry["story_types"].values()) == count
    found = storyproof.verify(tmp_path / "data")
    assert found.ok
    assert (found.stories, found.questions) == (count, entry["questions"])
    types = entry["story_types"].values()
    assert name != "tomi" or max(types) - min(types) <= 1  # balanced but for the round that is cut


def test_a_cut_round_is_the_beginning_of_a_whole_one() -> None:
    cut, whole = (storyproof.generate("tomi", test=count, seed=5) for count in (4, 6))
    assert cut.to_pylist() == whole.to_pylist()[: cut.num_rows]


def test_without_numbers_there_are_the_usual_ones() -> None:
    blocks = storyproof.generate("tomi", seed=1, as_blocks=True)
    assert sum(block.num_rows for block in blocks) == 6 * 3 * 999
    assert storyproof.generate("tomi", seed=1, val=2).num_rows == 12
    assert storyproof.generate("tomi", seed=1, train=0, val=0).num_rows == 6 * 999


def test_unknown_split() -> None:
    with pytest.raises(UnknownNameError, match="unknown split 'dev'"):
        make_benchmark("tomi").check_count("dev", 3)


def test_a_preset_has_counts_of_its_own() -> None:
    blocks = storyproof.generate("clutrr", preset="robust-clean", task="clean", as_blocks=True)
    assert sum(block.num_rows for block in blocks) == 10_000 + 100 * 4 * 2
    assert storyproof.generate("clutrr", preset="robust-clean", train=10).num_rows == 10


class Forgetful(RowwiseBenchmark):
    """A recipe that says the same in all stories, whatever its capacity claims."""

    name = "forgetful"
    prover = cast(RowwiseFamily, load_family("orderings"))
    questions = 1

    def worlds(self) -> int:
        return 1000

    def tell(self, world: int, draws: Draws) -> tuple[list[str], list[str]]:
        return ["Ada is taller than Ben."], ["Who is the tallest?"]


@pytest.mark.parametrize("way", [{}, {"out": "x"}, {"out": "x", "shard_stories": 100}])
def test_a_benchmark_that_repeats_its_stories_is_found_out(
    way: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(catalog.BENCHMARKS, "forgetful", f"{__name__}:Forgetful")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProofError, match="forgetful made 9 stories of the split test, and only 1 of them differ"):
        storyproof.generate("forgetful", test=9, **way)
    assert not list(tmp_path.glob("x/*.parquet"))
    assert storyproof.generate("forgetful", test=1).num_rows == 1
