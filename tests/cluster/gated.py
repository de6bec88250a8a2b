"""A benchmark whose block waits at a gate, so that whoever works on it can be killed meanwhile."""

import os
import time
from pathlib import Path
from typing import Any

from storyproof.families.belief.benchmarks.tomi import Tomi

GATE = "STORYPROOF_TEST_GATE"  # the environment variable with the folder of the gate
BLOCK = 4  # of the training split


class Gated(Tomi):
    """Makes what Tomi makes; says who makes one of the blocks, and waits there until the gate is open."""

    def part(self, split: str, count: int, index: int) -> Any:
        gate = Path(os.environ[GATE])
        if split == "train" and index == BLOCK and not (gate / "open").exists():
            (gate / f"{os.getpid()}.pid").touch()
            while not (gate / "open").exists():
                time.sleep(0.02)
        return super().part(split, count, index)


def waiting_at(gate: Path) -> list[int]:
    """Return the processes that have come to the gate."""
    return [int(path.stem) for path in gate.glob("*.pid")]
