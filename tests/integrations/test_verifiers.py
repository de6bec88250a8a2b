"""The environment for verifiers: real rollouts of the real package against a server on loopback."""

import asyncio
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from storyproof.errors import ConfigError
from storyproof.evaluation.cot_steps import check_steps
from storyproof.evaluation.judge import judge
from tests.solvers.llm.serving import FakeServer

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]


def roll_out(environment: Any, url: str, tasks: int) -> list[Any]:
    """Run one episode of each of the first tasks, all at once."""
    import verifiers.v1 as vf

    context = vf.ModelContext(
        client=vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY"), model="fake", sampling=vf.SamplingConfig()
    )

    async def run() -> list[Any]:
        async with environment.serving():
            slots = [slot for task in islice(environment.taskset, tasks) for slot in environment.slots(task)]
            return list(await asyncio.gather(*(environment.run_slot(slot, context) for slot in slots)))

    return asyncio.run(run())


@pytest.mark.parametrize("benchmark", ["tomi", "clutrr"])
def test_rollouts_are_rewarded_as_evaluate_would(benchmark: str) -> None:
    pytest.importorskip("verifiers")
    from storyproof_verifiers import load_environment

    with FakeServer() as server:
        episodes = roll_out(load_environment(benchmark, seed=7, steps=0.5), server.url, 12)
    assert [episode.ok for episode in episodes] == [True] * 12, [episode.errors for episode in episodes]
    seen = set()
    for episode in episodes:
        [trace] = episode.traces
        row, reply = trace.task.data.row, trace.last_reply
        assert reply
        rewards = {name: reward.score for name, reward in trace.rewards.items()}
        assert rewards["exact"] == float(judge(reply, row, prompt="chain-of-thought").right)
        assert trace.metrics["steps_stated"] == len(check_steps(reply, row).steps)
        seen.add(rewards["exact"])
    if benchmark == "tomi":
        assert seen == {0.0, 1.0}  # the server guesses a place


def test_a_server_that_fails_is_an_error_and_no_reward() -> None:
    pytest.importorskip("verifiers")
    from storyproof_verifiers import load_environment

    with FakeServer(context=10) as server:
        [episode] = roll_out(load_environment("tomi", num_tasks=1), server.url, 1)
    assert not episode.ok


def test_the_command_line_of_verifiers_finds_the_environment(tmp_path: Path) -> None:
    pytest.importorskip("verifiers")
    with FakeServer() as server:
        code = "from verifiers.v1.cli.eval.main import main; main()"
        command = [sys.executable, "-c", code, "storyproof-verifiers", "-n", "4", "--no-rich"]
        command += ["--no-push", "--model", "fake", "--client.base-url", server.url, "--client.api-key-var", "NO_KEY"]
        command += ["--env.taskset.benchmark", "tomi", "--env.taskset.seed", "7", "--output-dir", str(tmp_path)]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "NO_KEY": "none"}, check=False
        )
    assert done.returncode == 0, done.stderr[-2000:]
    [traces] = tmp_path.rglob("traces.jsonl")
    found = [json.loads(line) for line in traces.read_text().splitlines()]
    assert len(found) == 4


def test_mistakes_are_refused_before_anything_runs() -> None:
    pytest.importorskip("verifiers")
    from storyproof_verifiers import load_environment

    with pytest.raises(ConfigError, match="dial of tomi"):
        load_environment("tomi", no_such_dial=3)
    with pytest.raises(ConfigError, match="benchmark"):
        load_environment("tomy")
    with pytest.raises(ConfigError, match="prompt"):
        load_environment("tomi", prompt="no-such-prompt")
