"""What other harnesses ask: the questions of a benchmark or of data, with storyproof's prompts, and joint scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple

from storyproof.datasets.dials import turn
from storyproof.datasets.reading import find_source, read_examples
from storyproof.datasets.stream import Stream
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.evaluation.evaluate import GIVEN, PROVED, read_shots
from storyproof.example import Example
from storyproof.solvers.llm.messages import Request
from storyproof.solvers.llm.prompt import Prompt, load_prompt, needs_shots, prompt_of
from storyproof.solvers.solver import DEFAULT_PROMPT

STORIES = 100  # that are asked about unless told otherwise
_SHOT_STORIES = 300  # that solved examples are drawn from


@dataclass(frozen=True)
class Questionnaire:
    """Questions, and the prompt that asks them.

    Attributes:
        examples: The questions, story by story.
        prompt: The prompt.
    """

    examples: tuple[Example, ...]
    prompt: Prompt

    @cached_property
    def sizes(self) -> Counter[str]:
        """How many questions each story has."""
        return Counter(story_key(example) for example in self.examples)

    def request(self, example: Example) -> Request:
        """Return what is asked first."""
        request = self.prompt.request(example, [])
        if request is None:
            raise ConfigError(f"the prompt '{self.prompt.name}' asks nothing; choose another one.")
        return request

    @cached_property
    def requests(self) -> list[Request]:
        """What is asked about the question with the most steps, if every reply is the same word."""
        return max(map(self._steps, self.examples), key=len)

    def _steps(self, example: Example) -> list[Request]:
        requests: list[Request] = []
        while (request := self.prompt.request(example, ["so"] * len(requests))) is not None:
            requests.append(request)
        return requests


def from_benchmark(
    benchmark: str,
    *,
    stories: int = STORIES,
    seed: int = 0,
    split: str = "test",
    preset: str | None = None,
    prompt: str = DEFAULT_PROMPT,
    conventions: bool = True,
    dials: Mapping[str, Any] | None = None,
) -> Questionnaire:
    """Return questions about fresh stories, the first ones of `storyproof.stream`.

    Args:
        benchmark: Its name.
        stories: How many.
        seed: Same seed, same stories.
        split: Which split.
        preset: Named settings of the benchmark.
        prompt: A prompt's name or file, or `module:function`; solved examples come from the train split.
        conventions: Whether the prompt begins with the rules that its answer rests on.
        dials: Settings of the benchmark.

    Raises:
        ConfigError: If there is no such benchmark, split, prompt or dial, or a value is out of range.
    """
    _check_number("stories", stories, 1)
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in (dials or {}).items()}
    made = turn(benchmark, seed, settings, preset)
    questions = Stream(made, split)
    examples = [row for story in questions[: min(stories, questions.capacity)] for row in story.rows]
    shots: Sequence[Example] = ()
    if needs_shots(prompt):
        shown = Stream(made, "train" if split != "train" else "val")
        shots = [row for story in shown[: min(_SHOT_STORIES, shown.capacity)] for row in story.rows]
    return Questionnaire(tuple(examples), prompt_of(prompt, conventions=conventions, shots=shots, seed=seed))


def from_data(
    path: str | Path,
    *,
    split: str | None = None,
    labels: str = GIVEN,
    stories: int | None = None,
    prompt: str = DEFAULT_PROMPT,
    conventions: bool = True,
    seed: int = 0,
) -> Questionnaire:
    """Return the questions of a dataset folder or a file.

    Args:
        path: The data.
        split: Which split of a folder; by default test, or the only one.
        labels: `given`, or `proved` from the text.
        stories: Only the first stories, this number of them.
        prompt: A prompt's name or file, or `module:function`.
        conventions: Whether the prompt begins with the rules that its answer rests on.
        seed: For prompts that draw.

    Raises:
        ConfigError: If there is no such prompt or kind of labels, or a number is out of range.
        DataError: If there are no such data, or they cannot be read.
    """
    if labels not in (GIVEN, PROVED):
        raise UnknownNameError("kind of labels", labels, (GIVEN, PROVED))
    if stories is not None:
        _check_number("stories", stories, 1)
    _check_number("the seed", seed, 0)
    source = find_source(path, split)
    examples = read_examples(source, proved=labels == PROVED, max_stories=stories)
    if not examples:
        raise DataError(f"{source.name} contains no questions; choose other data.")
    shots = read_shots(path) if needs_shots(prompt) else ()
    return Questionnaire(tuple(examples), prompt_of(prompt, conventions=conventions, shots=shots, seed=seed))


def _check_number(name: str, value: object, least: int) -> None:
    """Raise ConfigError unless a value is a whole number that is large enough; other tools pass on what users type."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} is {value!r}; use a whole number from {least} on.")


_readers: dict[tuple[str, int], Prompt] = {}


def reader_of(prompt: str, seed: int, example: Example) -> Prompt:
    """Return a prompt that reads replies.

    Args:
        prompt: Its name or file, or `module:function`.
        seed: For prompts that draw.
        example: Stands for the solved examples that some prompts show; they do not matter for what a reply says.
    """
    key = (prompt, seed)
    if key not in _readers:
        _readers[key] = load_prompt(prompt, seed=seed, shots=[example])
    return _readers[key]


def story_key(example: Example) -> str:
    """Return what tells a story from others of the same data."""
    return f"{example.split}/{example.story_id}"


class StoryAnswer(NamedTuple):
    """Whether a question was answered rightly.

    Attributes:
        story: The story, see `story_key`.
        size: How many questions the story has.
        right: How right the answer is: 1 or 0, or in between for the mean of several tries.
        tries: How right each try is, if there are several.
    """

    story: str
    size: int
    right: float
    tries: tuple[float, ...] = ()


def joint_accuracy(answers: Iterable[StoryAnswer]) -> tuple[float, float]:
    """Return the share of stories all of whose questions were answered rightly, and its standard error.

    A story with a question that was not answered, because a request failed or a limit was set, does not count; if none
    counts, both are NaN. Of several tries (epochs) each is a run of its own, and the shares are averaged.
    """
    by_story: dict[str, list[StoryAnswer]] = {}
    for answer in answers:
        by_story.setdefault(answer.story, []).append(answer)
    shares = [_share_of_tries(tries) for tries in by_story.values() if len(tries) >= tries[0].size]
    if not shares:
        return nan, nan
    mean = sum(shares) / len(shares)
    if len(shares) == 1:
        return mean, 0.0
    return mean, sqrt(sum((share - mean) ** 2 for share in shares) / (len(shares) - 1) / len(shares))


def _share_of_tries(answers: Sequence[StoryAnswer]) -> float:
    """Return in which share of the tries all answers are right; a try that some questions lack does not count."""
    whole = [
        all(right == 1 for right in each)
        for each in zip(*(each.tries or (each.right,) for each in answers), strict=False)
    ]
    return sum(whole) / len(whole)


def clustered_error(answers: Iterable[StoryAnswer]) -> float:
    """Return the standard error of the average over stories, whose questions hang together.

    Source: Miller, "Adding Error Bars to Evals" (2024), appendix A, with the correction for few clusters.
    """
    listed = list(answers)
    if not listed:
        return 0.0
    mean = sum(each.right for each in listed) / len(listed)
    deviations: dict[str, float] = {}
    for each in listed:
        deviations[each.story] = deviations.get(each.story, 0.0) + each.right - mean
    count = len(deviations)
    if count < 2:
        return 0.0
    return sqrt(sum(each**2 for each in deviations.values()) * count / (count - 1)) / len(listed)
