"""What a request costs in other harnesses: `python -m benchmarks.harnesses --python VENV/bin/python`.

The same prompts to the same fake server (20 ms, 64 in flight) by storyproof, by lm-evaluation-harness and by Inspect,
each by its own command, with every reply written down. What a request costs is the difference between a long and a
short run, so that starting up does not count. The other two live in an environment of their own: `pip install lm_eval
inspect-ai openai tenacity`.
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

from benchmarks.llm import examples, say
from storyproof.datasets.generate import generate
from storyproof.formats.jsonl import JsonlSplit
from storyproof.solvers.llm.prompt import load_prompt
from tests.solvers.llm.serving import FakeServer

_IN_FLIGHT = 64
_LM_EVAL = """
task: stories
dataset_path: json
dataset_kwargs: {{data_files: {{test: {path}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs: {{until: ["\\n\\n"], max_gen_toks: 10, temperature: 0.0}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""
_INSPECT = """
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def stories():
    rows = json_dataset({path!r}, FieldSpec(input="prompt", target="target"))
    return Task(dataset=rows, solver=generate(), scorer=includes())
"""


def spend(command: list[str], folder: Path, **environment: str) -> tuple[float, float]:
    """Run a command; gives wall and CPU seconds, its children included."""
    before = os.times()
    start = time.perf_counter()
    done = os.spawnvpe(os.P_NOWAIT, "env", ["env", "-C", str(folder), *command], {**os.environ, **environment})
    _, status = os.waitpid(done, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, cpu


def storyproof(python: str, server: FakeServer, folder: Path, count: int) -> tuple[float, float]:
    data = folder / f"data-{count}"
    data.mkdir()
    split = JsonlSplit(data, "test")
    split.write(generate("tomi", test=-(-count // 18) * 3, seed=1))
    split.close()
    command = [sys.executable, "-m", "storyproof", "evaluate", "--model", "openai/fake", "--base-url", server.url]
    command += ["--data", str(data), "--max-samples", str(count), "--concurrency", str(_IN_FLIGHT)]
    return spend([*command, "--output-dir", str(folder / f"out-{count}")], folder)


def prompts(folder: Path, count: int) -> Path:
    """Write the same prompts for the others."""
    path, prompt = folder / f"prompts-{count}.jsonl", load_prompt("zero-shot")
    lines = []
    for each in examples(count):
        request = prompt.request(each, [])
        assert request is not None
        lines.append(json.dumps({"prompt": request.text, "target": each.answer}) + "\n")
    path.write_text("".join(lines))
    return path


def lm_eval(python: str, server: FakeServer, folder: Path, count: int) -> tuple[float, float]:
    own = folder / f"lm-{count}"
    own.mkdir()
    (own / "stories.yaml").write_text(_LM_EVAL.format(path=prompts(folder, count)))
    settings = f"model=fake,base_url={server.url}/completions,num_concurrent={_IN_FLIGHT},tokenized_requests=False"
    command = [python, "-m", "lm_eval", "run", "--model", "local-completions", "--tasks", "stories"]
    command += ["--model_args", f"{settings},tokenizer_backend=None,max_retries=3", "--include_path", str(own)]
    command += ["--output_path", str(own / "out"), "--log_samples"]
    return spend(command, folder, HF_HOME=str(own), HF_HUB_OFFLINE="1", OPENAI_API_KEY="none")


def inspect(python: str, server: FakeServer, folder: Path, count: int) -> tuple[float, float]:
    own = folder / f"inspect-{count}"
    own.mkdir()
    (own / "stories.py").write_text(_INSPECT.format(path=str(prompts(folder, count))))
    command = [python, "-m", "inspect_ai", "eval", "stories.py", "--model", "openai-api/fake/fake"]
    command += ["--max-connections", str(_IN_FLIGHT), "--max-samples", str(_IN_FLIGHT), "--max-tokens", "10"]
    command += ["--log-dir", str(own / "logs"), "--display", "none"]
    return spend(command, own, FAKE_BASE_URL=server.url, FAKE_API_KEY="none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="of an environment with lm_eval and inspect-ai")
    parser.add_argument("--prompts", type=int, default=3000)
    chosen = parser.parse_args()
    ways: dict[str, Callable[[str, FakeServer, Path, int], tuple[float, float]]] = {"storyproof": storyproof}
    if chosen.python:
        ways |= {"lm-evaluation-harness": lm_eval, "Inspect": inspect}
    few = 60
    for name, way in ways.items():
        with tempfile.TemporaryDirectory() as folder, FakeServer(latency_s=0.02) as server:
            short = way(chosen.python or "", server, Path(folder), few)
            long = way(chosen.python or "", server, Path(folder), chosen.prompts)
            answered = sum(server.counts()["answered"].values())
        if answered != few + chosen.prompts:
            raise SystemExit(f"{name} got {answered:,} answers instead of {few + chosen.prompts:,}")
        wall, cpu = ((after - before) / (chosen.prompts - few) for before, after in zip(short, long, strict=True))
        say(
            f"{name}, {chosen.prompts:,} prompts, {_IN_FLIGHT} in flight",
            f"{1e6 * cpu:,.0f} µs CPU",
            f"{1e6 * wall:,.0f} µs wall a request; start-up {short[0]:.1f} s",
        )


if __name__ == "__main__":
    main()
