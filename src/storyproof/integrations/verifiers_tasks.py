"""An environment for `verifiers`: fresh stories as tasks, our matching and our prover as rewards.

`vf-eval storyproof-verifiers -n 20` finds it by the package `storyproof_verifiers`, since ids of tasksets are names of
modules at the top. A story is asked in one turn, so the harness calls the model from this process: there is no program
to install and no container to start.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from storyproof.datasets.stream import stream
from storyproof.evaluation.cot_steps import check_steps
from storyproof.evaluation.judge import judge
from storyproof.integrations.rewards import THINKING, score_steps
from storyproof.reports.doctor import need_peer
from storyproof.solvers.llm.prompt import prompt_of

need_peer("verifiers", "verifiers", "the verifiers environment")

import httpx  # noqa: E402
import verifiers.v1 as vf  # noqa: E402

TASKSET = "storyproof-verifiers"
__all__ = ["StoryEnv", "StoryHarness", "StoryTaskset", "load_environment"]


class StoryTaskData(vf.TaskData):
    """A question: what is asked, and the row with its answer and proof, which the model does not see."""

    row: dict[str, Any] = {}  # noqa: RUF012 - a pydantic field
    asked_by: str = THINKING


class StoryTaskConfig(vf.TaskConfig):
    """What counts."""

    steps: float = 0.0
    """What steps of the chain of thought without a mistake are worth, beside 1 for the right answer."""


class StoryTask(vf.Task[StoryTaskData, vf.State, StoryTaskConfig]):
    """A question about a story, with rewards for the answer and for the steps that lead to it."""

    @property
    def key(self) -> str:
        """The id of the row; the content alone would depend on its place in the taskset."""
        return str(self.data.id)

    @vf.reward(weight=1.0)
    async def exact(self, trace: vf.Trace) -> float:
        """Return 1 if the final answer is right."""
        return float(judge(trace.last_reply, self.data.row, prompt=self.data.asked_by).right)

    @vf.reward(weight=1.0)
    async def stepwise(self, trace: vf.Trace) -> float:
        """Return the share of right steps before the first wrong one, by its weight."""
        if not self.config.steps:
            return 0.0
        return float(self.config.steps) * score_steps(check_steps(trace.last_reply, self.data.row))

    @vf.metric
    async def unparsed(self, trace: vf.Trace) -> float:
        """Return 1 if the reply names no candidate, or several."""
        return float(judge(trace.last_reply, self.data.row, prompt=self.data.asked_by).unparsed)

    @vf.metric
    async def steps_stated(self, trace: vf.Trace) -> float:
        """Return how many steps were understood."""
        return float(len(check_steps(trace.last_reply, self.data.row).steps))

    @vf.metric
    async def first_wrong_step(self, trace: vf.Trace) -> float:
        """Return the place of the first wrong step, from 0 on; -1 if none is wrong."""
        wrong = check_steps(trace.last_reply, self.data.row).first_wrong
        return -1.0 if wrong is None else float(wrong.index)


class StoryTasksetConfig(vf.TasksetConfig):
    """Which stories."""

    benchmark: str = "tomi"
    """The name of a benchmark."""
    seed: int = 0
    """Same seed, same stories."""
    split: str = "train"
    """`train`, `val` or `test`."""
    prompt: str = THINKING
    """The name of a prompt."""
    conventions: bool = True
    """Whether the prompt begins with the rules that its answer rests on."""
    num_tasks: int | None = None
    """How many questions; without it there is no end, and `-n` limits an evaluation."""
    dials: dict[str, Any] = {}  # noqa: RUF012 - a pydantic field
    """Settings of the benchmark."""
    task: StoryTaskConfig = StoryTaskConfig()


class StoryTaskset(vf.Taskset[StoryTask, StoryTasksetConfig]):
    """Fresh stories of a benchmark, question by question."""

    INFINITE = True

    @property
    def bounded(self) -> bool:
        """Whether there is an end: if a view has one, or the config."""
        return self.config.num_tasks is not None or super().bounded

    def load(self) -> Iterator[StoryTask]:
        """Yield the questions of the stream, each with its prompt."""
        config = self.config
        asking = prompt_of(config.prompt, conventions=config.conventions)
        rows = stream(config.benchmark, seed=config.seed, split=config.split, **config.dials).rows()
        for row in islice(rows, config.num_tasks):
            request = asking.request(row, [])
            if request is None:
                continue
            questions = [
                vf.UserMessage(content=message["content"]) for message in request.chat if message["role"] == "user"
            ]
            system = "\n\n".join(message["content"] for message in request.chat if message["role"] == "system")
            data = StoryTaskData(
                id=row.id,
                name=f"{row.benchmark}/{row.question_type}",
                prompt=questions,
                system_prompt=system or None,
                row={name: value for name, value in row.as_row().items() if value is not None},
                asked_by=config.prompt,
            )
            yield StoryTask(data, config.task)


class StoryHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model once, from this process."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the prompt as one chat completion; the trace records the reply."""
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [{"role": str(each.role), "content": each.content} for each in prompt or []]
        async with httpx.AsyncClient(timeout=None) as client:  # the timeouts of the agent decide
            reply = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        if reply.is_error:
            return vf.ProgramResult(1, "", f"{reply.status_code}: {reply.text[:500]}")
        return vf.ProgramResult(0, "", "")


class StoryEnvConfig(vf.EnvConfig):
    """One model that is asked; nothing runs in a container, as there is nothing to run."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class StoryEnv(vf.Env[StoryEnvConfig]):
    """Stories, and a model that is asked about them."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Ask the model."""
        await agents.agent.run(task)


def load_environment(
    benchmark: str = "tomi",
    *,
    seed: int = 0,
    split: str = "train",
    num_tasks: int | None = None,
    prompt: str = THINKING,
    conventions: bool = True,
    steps: float = 0.0,
    **dials: Any,
) -> vf.Env:
    """Return an environment of fresh stories, for `verifiers` and trainers that use it.

    Args:
        benchmark: Its name.
        seed: Same seed, same stories.
        split: `train`, `val` or `test`.
        num_tasks: How many questions; without it there is no end.
        prompt: The name of a prompt.
        conventions: Whether the prompt begins with the rules that its answer rests on.
        steps: What steps of the chain of thought without a mistake are worth, beside 1 for the right answer.
        **dials: Settings of the benchmark.

    Raises:
        ConfigError: If there is no such benchmark, prompt, split or dial.
    """
    stream(benchmark, seed=seed, split=split, **dials)  # raises where the taskset would later
    prompt_of(prompt)
    taskset = {
        "id": TASKSET,
        "benchmark": benchmark,
        "seed": seed,
        "split": split,
        "num_tasks": num_tasks,
        "prompt": prompt,
        "conventions": conventions,
        "dials": dials,
        "task": {"steps": steps},
    }
    return vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
