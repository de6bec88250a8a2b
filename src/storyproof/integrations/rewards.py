"""Reward functions for reinforcement learning, in TRL's signature.

A reward function takes prompts, completions and the columns of a dataset, and returns a number for each completion:
`GRPOTrainer(reward_funcs=storyproof.rewards.exact, …)`. `exact` looks at the final answer; `stepwise` also at what the
chain of thought states on the way. `prompt_rows` turns stories into rows that have all the columns they need.

Example:
    >>> from storyproof import rewards, stream
    >>> row = next(rewards.prompt_rows(stream("tomi", seed=7)))
    >>> columns = {name: [value] * 2 for name, value in row.items() if name != "prompt"}
    >>> rewards.exact([row["prompt"]] * 2, ["Answer: tub", "Answer: hamper"], **columns)
    [1.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from storyproof.datasets.reading import as_example
from storyproof.errors import ConfigError, DataError, quoted
from storyproof.evaluation.cot_steps import ReasoningStep, StepReport, check_steps
from storyproof.evaluation.judge import judge
from storyproof.example import Example
from storyproof.solvers.llm.prompt import prompt_of
from storyproof.stories import StoryText

__all__ = [
    "ReasoningStep",
    "RewardFunction",
    "StepReport",
    "check_steps",
    "exact",
    "make_exact",
    "make_stepwise",
    "prompt_rows",
    "score_steps",
    "stepwise",
]

RewardFunction = Callable[..., list[float]]

THINKING = "chain-of-thought"  # the prompt after whose "Answer:" the final answer stands
_OTHERS = frozenset(("completion_ids", "prompt", "prompts", "completions"))  # columns that trainers add


def make_exact(*, matching: str = "careful", prompt: str = THINKING) -> RewardFunction:
    """Return a reward function: 1 if the final answer is right, else 0, by the matching that `evaluate` uses.

    Args:
        matching: How replies are read, see `storyproof.judge`.
        prompt: What was asked; that of a chain of thought also suits plain answers.

    Raises:
        ConfigError: If there is no such prompt.
    """
    if prompt != THINKING:
        prompt_of(prompt)

    def exact(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float]:
        """Return 1 for each completion whose final answer is right, else 0."""
        rows = _rows(len(completions), columns)
        return [
            float(judge(_text(completion), row, matching=matching, prompt=prompt).right)
            for completion, row in zip(completions, rows, strict=True)
        ]

    return exact


def make_stepwise(
    *, answer: float = 0.5, steps: float = 0.5, least: int = 1, matching: str = "careful", prompt: str = THINKING
) -> RewardFunction:
    """Return a reward function for the final answer and the steps that lead to it.

    The reward is `answer` if the final answer is right, plus `steps` times the share of right steps: those before the
    first wrong one, divided by all that are right or wrong, or by `least` if there are fewer. Denials that hold earn
    nothing, a statement counts once, and what is not understood does not count.

    Trainers that offer `log_extra` (TRL) also log the first wrong step of each completion.

    Args:
        answer: What a right answer is worth.
        steps: What steps without a mistake are worth.
        least: How many right steps are needed for all of it; 0 to give it also where nothing is stated.
        matching: How the final answer is read, see `storyproof.judge`.
        prompt: What was asked.

    Raises:
        ConfigError: If a weight is negative, or there is no such prompt.
    """
    if min(answer, steps, least) < 0 or not isinstance(least, int):
        raise ConfigError(f"the weights are {answer}, {steps} and {least}; expected numbers from 0 on, `least` whole.")
    find_exact = make_exact(matching=matching, prompt=prompt)

    def stepwise(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float]:
        """Return what the answer and the steps of each completion are worth."""
        right = find_exact(prompts, completions, **columns)
        reports = [
            check_steps(_text(completion), row)
            for completion, row in zip(completions, _rows(len(completions), columns), strict=True)
        ]
        log = columns.get("log_extra")
        if callable(log):
            log("first_wrong_step", [_describe(report.first_wrong) for report in reports])
        return [
            answer * is_right + steps * score_steps(report, least)
            for is_right, report in zip(right, reports, strict=True)
        ]

    return stepwise


def score_steps(report: StepReport, least: int = 1) -> float:
    """Return the share of right steps before the first wrong one, from 0 to 1.

    Args:
        report: The steps of a chain of thought.
        least: How many right steps are needed for 1.
    """
    return report.right_before / max(report.counted, least) if max(report.counted, least) else 1.0


def prompt_rows(
    stories: Iterable[StoryText], *, prompt: str = THINKING, conventions: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield rows for training: what is asked as `prompt` (messages), and the columns that the rewards need.

    Args:
        stories: Such as `storyproof.stream("tomi", seed=7)`, which has no end.
        prompt: The name of a prompt.
        conventions: Whether the prompt begins with the rules that its answer rests on.

    Raises:
        ConfigError: If there is no such prompt.
    """
    asking = prompt_of(prompt, conventions=conventions)
    for story in stories:
        for row in story.rows:
            request = asking.request(row, [])
            if request is not None:
                yield {"prompt": [dict(message) for message in request.chat], **row.as_row()}


def _rows(count: int, columns: Mapping[str, Any]) -> list[Example]:
    """Return the example of each completion; consecutive completions of one prompt share it."""
    for name in ("story", "question"):
        if not _is_column(columns.get(name), count):
            raise ConfigError(
                f"the reward needs the column '{name}' with one value per completion, and found "
                f"{quoted(columns.get(name))}; build the dataset with storyproof.rewards.prompt_rows."
            )
    given = {name: values for name, values in columns.items() if name not in _OTHERS and _is_column(values, count)}
    examples: list[Example] = []
    last: dict[str, Any] = {}
    for place in range(count):
        row = {name: values[place] for name, values in given.items()}
        examples.append(examples[-1] if examples and row == last else as_example(row))
        last = row
    return examples


def _is_column(values: Any, count: int) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and len(values) == count


def _text(completion: Any) -> str:
    """Return a completion as text: of a conversation what the model said last."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence) and completion and isinstance(completion[-1], Mapping):
        said = completion[-1].get("content")
        if isinstance(said, str) or said is None:
            return said or ""
        if isinstance(said, Sequence):  # parts of a message
            return "".join(str(part.get("text", "")) for part in said if isinstance(part, Mapping))
    raise DataError(f"a completion is {quoted(completion)}; expected a text, or messages with role and content.")


def _describe(step: ReasoningStep | None) -> str:
    return "" if step is None else f"{step.index}: {step.stated} (proved: {step.holds or 'nothing'})"


exact = make_exact()
stepwise = make_stepwise()
