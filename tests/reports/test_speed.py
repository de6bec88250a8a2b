"""How long a report takes, in CPU seconds: machines that run tests are shared."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import storyproof
from tests.reports.run_samples import chat_name, evaluate

SIZES = {"tomi": 100, "tomi-matched": 100, "clutrr": 20, "tom-k": 100}
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say how long children worked")
def test_seventeen_runs_take_five_seconds(tmp_path: Path) -> None:
    for name, size in SIZES.items():
        storyproof.generate(name, out=tmp_path / name, test=size, seed=1)
        evaluate(tmp_path / name, "rules", "oracle", "random", chat_name(), folder=tmp_path / "runs")
    evaluate(tmp_path / "tomi", "rules", folder=tmp_path / "again")
    assert len(list(tmp_path.glob("*/*.json"))) - len(SIZES) == 17
    command = [sys.executable, "-m", "storyproof", "report", "runs", "again", "--out", "report.html"]
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": ""}  # as it is for users
    taken = []
    while len(taken) < 6 and min(taken, default=5) >= 5:  # work of others takes a core's caches, so the best counts
        before = os.times()
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        after = os.times()
        taken.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert (tmp_path / "report.html").stat().st_size > 1_000_000
    assert min(taken) < 5, taken
