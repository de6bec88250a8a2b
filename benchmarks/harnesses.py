"""What a request costs in other harnesses: `python -m benchmarks.harnesses --python .venv-integrations/bin/python`.

The same questions, with the same prompts, to the same fake server (20 ms, 64 in flight): by `storyproof evaluate`, and
by our own tasks in lm-evaluation-harness and in Inspect, each by its own command and with every reply written down.
What a request costs is the difference between a long and a short run, so that starting up does not count. `make
test-integrations` makes the environment of the other two.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.llm import say
from benchmarks.measure import Record
from storyproof.datasets.generate import generate
from storyproof.integrations.where import where
from tests.solvers.llm.serving import FakeServer

_IN_FLIGHT = 64
_PER_STORY = 6
_FEW = 60  # questions of the short run


def spend(command: list[str], folder: Path, **environment: str) -> tuple[float, float]:
    """Run a command; returns wall and CPU seconds, its children included."""
    before = os.times()
    start = time.perf_counter()
    done = os.spawnvpe(os.P_NOWAIT, "env", ["env", "-C", str(folder), *command], {**os.environ, **environment})
    _, status = os.waitpid(done, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, cpu


def evaluate(python: str, server: FakeServer, folder: Path, data: Path) -> tuple[float, float]:
    """Ask by `storyproof evaluate`."""
    command = [sys.executable, "-m", "storyproof", "evaluate", "--model", "openai/fake", "--base-url", server.url]
    command += ["--data", str(data), "--concurrency", str(_IN_FLIGHT), "--output-dir", str(folder / f"out-{data.name}")]
    return spend(command, folder)


def lm_eval(python: str, server: FakeServer, folder: Path, data: Path) -> tuple[float, float]:
    """Ask by our task in lm-evaluation-harness."""
    own = folder / f"lm-{data.name}"
    settings = f"model=fake,base_url={server.url}/chat/completions,num_concurrent={_IN_FLIGHT},max_retries=3"
    command = [python, "-m", "lm_eval", "run", "--model", "local-chat-completions", "--model_args", settings]
    command += ["--include_path", str(where("lm-eval")), "--tasks", "storyproof_data", "--apply_chat_template"]
    command += ["--metadata", json.dumps({"storyproof": {"path": str(data)}})]
    command += ["--output_path", str(own / "out"), "--log_samples"]
    return spend(command, folder, HF_HOME=str(own), HF_HUB_OFFLINE="1", OPENAI_API_KEY="none")


def inspect(python: str, server: FakeServer, folder: Path, data: Path) -> tuple[float, float]:
    """Ask by our task in Inspect."""
    own = folder / f"inspect-{data.name}"
    own.mkdir()
    command = [python, "-m", "inspect_ai", "eval", "storyproof/data", "-T", f"path={data}"]
    command += ["--model", "openai-api/fake/fake", "--max-connections", str(_IN_FLIGHT), "--max-samples"]
    command += [str(_IN_FLIGHT), "--log-dir", str(own / "logs"), "--display", "none"]
    return spend(command, own, FAKE_BASE_URL=server.url, FAKE_API_KEY="none")


def write_data(folder: Path, questions: int) -> Path:
    """Write a folder with so many questions."""
    data = folder / f"data-{questions}"
    generate("tomi", test=questions // _PER_STORY, seed=1, out=data)
    return data


def main() -> None:
    """Print what each of them needs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="of an environment with lm_eval and inspect-ai")
    parser.add_argument("--prompts", type=int, default=3000, help="a multiple of 18")
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    ways: dict[str, Callable[[str, FakeServer, Path, Path], tuple[float, float]]] = {"storyproof": evaluate}
    if chosen.python:
        ways |= {"lm-evaluation-harness": lm_eval, "Inspect": inspect}
    record = Record()
    few, many = (round(each / 18) * 18 for each in (_FEW, chosen.prompts))  # stories come in threes
    for name, way in ways.items():
        with tempfile.TemporaryDirectory() as folder, FakeServer(latency_s=0.02) as server:
            short, long = (
                way(chosen.python or "", server, Path(folder), write_data(Path(folder), each)) for each in (few, many)
            )
            answered = sum(server.counts()["answered"].values())
        if answered != few + many:
            raise SystemExit(f"{name} got {answered:,} answers instead of {few + many:,}")
        wall, cpu = (1000 * (after - before) / (many - few) for before, after in zip(short, long, strict=True))
        key = name.partition("-")[0].lower()
        record.note(f"{key}_cpu_ms", cpu)
        record.note(f"{key}_wall_ms", wall)
        record.note(f"{key}_start_s", short[0])
        say(
            f"{name}, {many:,} prompts, {_IN_FLIGHT} in flight",
            f"{cpu:,.2f} ms CPU",
            f"{wall:,.2f} ms wall a request; start-up {short[0]:.1f} s",
        )
    record.write(chosen.json)


if __name__ == "__main__":
    main()
