import os
import subprocess
import sys
from multiprocessing import active_children
from multiprocessing.connection import Connection
from typing import Any

import pytest

from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.workers import blocks_from_workers
from storyproof.errors import ConfigError, ProofError
from storyproof.families.belief.benchmarks.tomi import Tomi

STORIES = 9 * Tomi.block_stories
_STARTS = """
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.workers import blocks_from_workers
blocks = blocks_from_workers(make_benchmark("tomi", 7), "train", {}, 2)
next(blocks)
print("ready", flush=True)
input()
"""


class Unproved(Tomi):
    """A benchmark with a block that cannot be made."""

    def part(self, split: str, count: int, index: int) -> Any:
        if index == 1:
            raise ProofError("oracle and checker differ")
        return super().part(split, count, index)


def test_a_worker_that_is_killed_is_noticed() -> None:
    blocks = blocks_from_workers(make_benchmark("tomi", 7), "train", STORIES, 2)
    next(blocks)
    active_children()[0].kill()
    with pytest.raises(ConfigError, match=r"a worker process was killed, .*; use fewer --workers\."):
        list(blocks)
    assert active_children() == []


class Interrupted(Tomi):
    """A benchmark whose workers die while they send a block."""

    def part(self, split: str, count: int, index: int) -> Any:
        def send(connection: Any, data: bytes) -> None:
            os.write(connection.fileno(), data[:100])
            if len(data) > 100:  # not the length alone, which is sent before
                os._exit(1)

        Connection._send = send  # type: ignore[attr-defined]
        return super().part(split, count, index)


def test_a_worker_that_is_killed_while_it_sends_is_noticed() -> None:
    blocks = blocks_from_workers(Interrupted(make_benchmark("tomi", 7).config, 7), "train", STORIES, 2)
    with pytest.raises(ConfigError, match="a worker process was killed"):
        next(blocks)
    assert active_children() == []


def test_errors_of_workers_are_raised() -> None:
    made = make_benchmark("tomi", 7)
    blocks = blocks_from_workers(Unproved(made.config, 7), "train", STORIES, 2)
    assert next(blocks).num_rows
    with pytest.raises(ProofError, match="oracle and checker differ"):
        next(blocks)
    assert active_children() == []


def test_workers_end_with_the_process_that_started_them() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _STARTS.format(STORIES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.kill()
        assert process.stdout.read() == ""  # returns when nobody holds the pipe any more


def test_workers_end_with_the_last_block_that_is_wanted() -> None:
    blocks = blocks_from_workers(make_benchmark("tomi", 7), "train", STORIES, 2)
    next(blocks)
    blocks.close()  # type: ignore[attr-defined]
    assert active_children() == []
