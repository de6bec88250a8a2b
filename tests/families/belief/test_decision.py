"""The stories of the decision record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

RECORD = Path(__file__).parents[3] / "docs" / "decisions" / "0021-nested-beliefs.md"
FIRST, *BLOCKS = re.findall(r"```python\n(.*?)```", RECORD.read_text(encoding="utf-8"), re.DOTALL)


def test_the_record_has_a_story_for_each_question() -> None:
    assert len(BLOCKS) >= 10
    assert all("assert " in block for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_story_of_the_record(block: str) -> None:
    names: dict[str, Any] = {}
    exec(FIRST, names)
    exec(block, names)
