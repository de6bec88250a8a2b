"""Damaged files of every binary format: no reader aborts its process, and each case is read or refused in a sentence.

`STORYPROOF_TORTURE_CASES=20000 make torture` tries so many of each format.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.torture.binary_readers import READERS
from tests.torture.trial import Trial

CASES = {"parquet": 4_000, "zip": 600, "sqlite of a study": 600, "sqlite of replies": 1_000, "safetensors": 1_500}
_GIVEN = os.environ.get("STORYPROOF_TORTURE_CASES")


@pytest.mark.parametrize("reader", READERS)
def test_binary_readers(reader: str, trial: Trial, tmp_path: Path) -> None:
    count, first = int(_GIVEN) if _GIVEN else CASES[reader], 0
    while first < count:
        command = [sys.executable, "-m", "tests.torture.binary_readers", reader, str(first), str(count), str(tmp_path)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line.partition(" ") for line in run.stdout.splitlines()]
        for number, _, found in lines:
            if found:
                with trial.case(f"{reader} {number}"):
                    assert found in ("read", "refused"), found
        if run.returncode == 0:
            return
        begun = [int(number) for number, _, _ in lines]
        assert begun, run.stderr
        with trial.case(f"{reader} {begun[-1]}"):
            raise AssertionError(f"the process ended with {run.returncode}: {run.stderr[-500:]}")
        first = begun[-1] + 1
