"""A run of the evidence that was stopped goes on with what it has not counted."""

from __future__ import annotations

import json
import sys
from collections import Counter
from concurrent.futures import Future
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import pytest

from benchmarks import evidence


class Here:
    """A pool of processes that works in this one."""

    def __init__(self, workers: int, context: BaseContext) -> None: ...

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *problem: object) -> None: ...

    def submit(self, work: Any) -> Future[Any]:
        future = Future[Any]()
        future.set_result(work())
        return future


def test_only_what_is_missing_is_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = list[int]()

    def work(number: int) -> Counter[str]:
        done.append(number)
        return Counter(rows=10, wrong=number)

    pieces = [("tomi, proofs", lambda number=number: work(number)) for number in range(3)]
    monkeypatch.setattr(evidence, "parts", lambda scale: [*pieces, ("clutrr, proofs", lambda: work(7))])
    monkeypatch.setattr(evidence, "ProcessPoolExecutor", Here)
    kept = tmp_path / "kept.jsonl"
    monkeypatch.setattr(sys, "argv", ["evidence", "--only", "tomi", "--keep", str(kept)])
    evidence.main()
    assert (done, len(kept.read_text("utf-8").splitlines())) == ([0, 1, 2], 3)
    assert "3 wrong of 30 rows" in capsys.readouterr().out
    lines = kept.read_text("utf-8").splitlines()
    kept.write_text("\n".join(line for line in lines if json.loads(line)["found"]["wrong"] != 1) + "\n", "utf-8")
    evidence.main()
    assert done == [0, 1, 2, 1]
    assert "3 wrong of 30 rows" in capsys.readouterr().out
