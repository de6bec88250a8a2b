from __future__ import annotations

from pathlib import Path

import pytest

import storyproof
from storyproof.catalog import BENCHMARKS


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_hundred_thousand_stories_verify(name: str, tmp_path: Path) -> None:
    storyproof.generate(name, test=100_008, seed=9, out=tmp_path / "data")
    result = storyproof.verify(tmp_path / "data")
    assert result.findings == []
    assert result.stories == 100_008
