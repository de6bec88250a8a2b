from __future__ import annotations

from pathlib import Path

import pytest

import storyproof
from storyproof.catalog import BENCHMARKS
from storyproof.families.kinship.config import PRESETS


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_hundred_thousand_stories_verify(name: str, tmp_path: Path) -> None:
    split = "train" if name.startswith("clutrr") else "test"  # which has so many of each task and length there
    storyproof.generate(name, **{split: 100_008}, seed=9, out=tmp_path / "data")
    result = storyproof.verify(tmp_path / "data")
    assert result.findings == []
    assert result.stories == 100_008


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("reading", ["strict", "published"])
def test_presets_verify_at_full_size(name: str, reading: str, tmp_path: Path) -> None:
    storyproof.generate("clutrr", preset=name, reading=reading, seed=9, out=tmp_path / "data")
    result = storyproof.verify(tmp_path / "data")
    assert result.findings == []
    scenarios = len(PRESETS[name].get("test_tasks", ("clean",))) * len(PRESETS[name]["test_k"])
    assert result.questions == 10_000 + 100 * scenarios
    if reading == "strict":
        assert result.statuses == {"entailed": result.questions}
    assert not result.statuses["impossible"]
