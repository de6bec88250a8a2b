"""Tasks for Inspect: `inspect eval storyproof/tomi --model …`, found by the entry point group `inspect_ai`.

There is one task for every benchmark in the catalog, and `storyproof/data` for data at a path. Prompts and matching are
those of `evaluate`, so that scores agree.
"""

from __future__ import annotations

from math import nan
from typing import Any

from storyproof.catalog import names
from storyproof.datasets.load import GIVEN
from storyproof.datasets.reading import as_example
from storyproof.errors import StoryproofError
from storyproof.evaluation.judge import judge_text
from storyproof.evaluation.matching import load_matcher
from storyproof.example import Example
from storyproof.integrations.harness_questions import (
    STORIES,
    Questionnaire,
    StoryAnswer,
    from_benchmark,
    from_data,
    joint_accuracy,
    reader_of,
    story_key,
)
from storyproof.reports.doctor import need_peer
from storyproof.solvers.llm.messages import Reply, Request
from storyproof.solvers.llm.prompt import Prompt, ends_before_answer
from storyproof.solvers.solver import DEFAULT_PROMPT

need_peer("inspect-ai", "inspect", "inspect eval storyproof/…")

from inspect_ai import Epochs, Task, task  # noqa: E402
from inspect_ai._util.error import PrerequisiteError  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import (  # noqa: E402
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    ScoreReducer,
    Target,
    accuracy,
    mean_score,
    metric,
    score_reducer,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver  # noqa: E402

STORY, QUESTIONS = "story_key", "story_questions"  # what metrics need to know of a sample
_REPLIES, _EPOCHS = "storyproof:replies", "storyproof:epochs"
_ROLES: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


def _messages(request: Request) -> list[ChatMessage]:
    return [_ROLES[message.role](content=message.content) for message in request.messages]


def _ask_in_steps(prompt: Prompt) -> Solver:
    """Return what asks a prompt of several steps: each request contains the reply to the one before."""

    @solver
    def ask_in_steps() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            example = _example(state.metadata)
            replies: list[str] = []
            while (request := prompt.request(example, replies)) is not None:
                state.messages = _messages(request)
                state = await generate(state)
                replies.append(state.output.completion)
            state.store.set(_REPLIES, replies)
            return state

        return solve

    return ask_in_steps()


@metric
def joint() -> Metric:
    """The share of stories all of whose questions were answered rightly."""

    def share(scores: list[SampleScore]) -> float:
        return joint_accuracy(map(_answer, scores))[0]

    return share


@metric
def joint_stderr() -> Metric:
    """The standard error of the joint accuracy."""

    def error(scores: list[SampleScore]) -> float:
        return joint_accuracy(map(_answer, scores))[1]

    return error


@metric
def unparsed() -> Metric:
    """The share of replies that name no candidate, or several."""

    def share(scores: list[SampleScore]) -> float:
        unclear = [unclear for each in scores for unclear in _tries(each, "unparsed")]
        return sum(unclear) / len(unclear) if unclear else nan

    return share


_to_float = value_to_float()


def _answer(score: SampleScore) -> StoryAnswer:
    metadata = score.sample_metadata or {}
    right = _to_float(score.score.value)
    return StoryAnswer(str(metadata.get(STORY)), int(metadata.get(QUESTIONS, 1)), right, _tries(score, "right"))


def _tries(score: SampleScore, name: str) -> tuple[float, ...]:
    """Return a value of each epoch of a sample."""
    about = score.score.metadata or {}
    return tuple(float(each.get(name, 0.0)) for each in about.get(_EPOCHS, [about]))


@score_reducer(name="storyproof_mean")
def mean_of_epochs() -> ScoreReducer:
    """Return the mean over epochs, which keeps what each epoch gave: joint accuracy is that of an epoch, averaged."""
    mean = mean_score()

    def reduce(scores: list[Score]) -> Score:
        reduced = mean(scores)
        return reduced.model_copy(
            update={"metadata": {**(reduced.metadata or {}), _EPOCHS: [each.metadata or {} for each in scores]}}
        )

    return reduce


@scorer(metrics=[accuracy(), stderr(cluster=STORY), joint(), joint_stderr(), unparsed()])
def proved_answer(matching: str = "careful", prompt: str = DEFAULT_PROMPT, seed: int = 0) -> Scorer:
    """Judge replies as `storyproof evaluate` does.

    Args:
        matching: `careful`, `strict` or `lenient`, or a matcher of your own by `module:function`.
        prompt: What was asked, so that letters of choices and markers such as "Answer:" are understood.
        seed: That of the prompt.
    """
    load_matcher(matching)

    async def score(state: TaskState, target: Target) -> Score:
        example = _example(state.metadata)
        reader = reader_of(prompt, seed, example)
        replies = state.store.get(_REPLIES) or [state.output.completion]
        if ends_before_answer(reader, Reply(replies[-1], cut_off=state.output.stop_reason == "max_tokens")):
            return Score(
                value=INCORRECT,
                answer="",
                explanation="wrong: the reply was cut off before its answer; raise --max-tokens.",
                metadata={"kind": "cut_off", "meant": None, "mistake": "", "right": 0.0, "unparsed": 1.0},
            )
        verdict = judge_text(reader.answer(replies, example), example, matching)
        return Score(
            value=CORRECT if verdict.right else INCORRECT,
            answer=verdict.meant or replies[-1],
            explanation=verdict.reason,
            metadata={
                "kind": verdict.kind,
                "meant": verdict.meant,
                "mistake": verdict.mistake,
                "right": float(verdict.right),
                "unparsed": float(verdict.unparsed),
            },
        )

    return score


def _example(metadata: dict[str, Any]) -> Example:
    return as_example({name: value for name, value in metadata.items() if name not in (STORY, QUESTIONS)})


def _make_task(
    questions: Questionnaire, name: str, prompt: str, matching: str, seed: int, about: dict[str, Any]
) -> Task:
    """Build a task from questions."""
    steps = questions.requests
    return Task(
        dataset=MemoryDataset([_sample(each, questions) for each in questions.examples], name=name),
        solver=generate() if len(steps) == 1 else _ask_in_steps(questions.prompt),
        scorer=proved_answer(matching, prompt, seed),
        epochs=Epochs(1, mean_of_epochs()),
        config=GenerateConfig(
            temperature=0.0,
            max_tokens=max(request.max_tokens for request in steps),
            stop_seqs=list(steps[0].stop) or None,
        ),
        metadata={"storyproof": about},
    )


def _sample(example: Example, questions: Questionnaire) -> Sample:
    key = story_key(example)
    return Sample(
        id=example.id,
        input=_messages(questions.request(example)),
        target=example.answer,
        metadata={**example.as_row(), STORY: key, QUESTIONS: questions.sizes[key]},
    )


def _register(benchmark: str) -> Any:
    """Register the task of a benchmark."""

    @task(name=benchmark)
    def fresh_stories(
        stories: int = STORIES,
        seed: int = 0,
        split: str = "test",
        preset: str | None = None,
        prompt: str = DEFAULT_PROMPT,
        conventions: bool = True,
        matching: str = "careful",
        **dials: Any,
    ) -> Task:
        """Ask about fresh stories of a benchmark.

        The arguments are those of `from_benchmark`, with its dials by name; `matching` is that of `proved_answer`.
        """
        try:
            questions = from_benchmark(
                benchmark,
                stories=stories,
                seed=seed,
                split=split,
                preset=preset,
                prompt=prompt,
                conventions=conventions,
                dials=dials,
            )
            about = {"benchmark": benchmark, "stories": stories, "seed": seed, "split": split, "dials": dials}
            return _make_task(questions, benchmark, prompt, matching, seed, about)
        except StoryproofError as error:
            raise PrerequisiteError(str(error)) from error

    return fresh_stories


TASKS = {name: _register(name) for name in names("benchmark")}


@task(name="data")
def data(
    path: str,
    split: str | None = None,
    labels: str = GIVEN,
    stories: int | None = None,
    prompt: str = DEFAULT_PROMPT,
    conventions: bool = True,
    matching: str = "careful",
    seed: int = 0,
) -> Task:
    """Ask the questions of a dataset folder or a file, of any format that storyproof reads.

    The arguments are those of `from_data`; `matching` is that of `proved_answer`.
    """
    try:
        questions = from_data(
            path, split=split, labels=labels, stories=stories, prompt=prompt, conventions=conventions, seed=seed
        )
        about = {"data": path, "split": split, "labels": labels, "stories": stories}
        return _make_task(questions, "data", prompt, matching, seed, about)
    except StoryproofError as error:
        raise PrerequisiteError(str(error)) from error
