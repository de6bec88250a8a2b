"""A dataset with the interface of Reasoning Gym: `dataset[i]` has question, answer and metadata, `score_answer` judges.

`StoryDataset` needs no other package. `register` makes each benchmark available to Reasoning Gym itself, as
`reasoning_gym.create_dataset("storyproof_tomi", seed=7, size=100)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from storyproof.catalog import names
from storyproof.datasets.stream import stream
from storyproof.errors import ConfigError, DataError, quoted
from storyproof.evaluation.judge import judge
from storyproof.integrations.rewards import THINKING
from storyproof.reports.doctor import need_peer
from storyproof.runtime.optional_packages import need
from storyproof.solvers.llm.prompt import prompt_of
from storyproof.solvers.solver import DEFAULT_PROMPT


@dataclass
class StoryDatasetConfig:
    """What a dataset is made of, as Reasoning Gym keeps it.

    Attributes:
        benchmark: Its name.
        seed: Same seed, same questions.
        size: How many questions.
        split: `train`, `val` or `test`.
        prompt: The name of the prompt that words the question; the chain-of-thought prompt asks for "Answer:".
        conventions: Whether the prompt begins with the rules that its answer rests on.
        dials: Settings of the benchmark.
    """

    benchmark: str = "tomi"
    seed: int | None = 0
    size: int = 500
    split: str = "train"
    prompt: str = DEFAULT_PROMPT
    conventions: bool = True
    dials: dict[str, Any] = field(default_factory=dict)

    def validate(self) -> None:
        """Raise ConfigError if something is missing or wrong."""
        if not isinstance(self.size, int) or self.size < 1:
            raise ConfigError(f"the size is {self.size!r}; expected a whole number from 1 on.")
        prompt_of(self.prompt)


class StoryDataset:
    """Questions of a benchmark by number, each with one answer that is proved.

    Items are numbered question by question, story after story, so that seeds do not overlap: the questions of seed 8
    are not those of seed 7 shifted by one.

    Args:
        config: What it is made of; None for the defaults.
        **settings: The same by name, such as `benchmark="clutrr"`.

    Raises:
        ConfigError: If a setting is unknown or wrong.

    Example:
        >>> from storyproof.integrations.reasoning_gym import StoryDataset
        >>> dataset = StoryDataset(benchmark="tomi", seed=7, size=60)
        >>> entry = dataset[2]
        >>> entry["answer"], entry["metadata"]["question_type"]
        ('tub', 'second_order_0_tom')
        >>> dataset.score_answer("the tub", entry), dataset.score_answer("the hamper", entry)
        (1.0, 0.0)
    """

    def __init__(self, config: StoryDatasetConfig | None = None, **settings: Any) -> None:
        try:
            self.config = config or StoryDatasetConfig(**settings)
        except TypeError as error:
            known = ", ".join(StoryDatasetConfig.__dataclass_fields__)
            raise ConfigError(f"{error}; the settings are: {known}.") from error
        self.config.validate()
        self.size, self.seed = self.config.size, self.config.seed or 0
        self._stream = stream(self.config.benchmark, seed=self.seed, split=self.config.split, **self.config.dials)
        self._per_story = len(self._stream[0].rows)
        most = self._stream.capacity * self._per_story
        if self.size > most:
            raise ConfigError(
                f"the size is {self.size:,}; {self.config.benchmark} has {most:,} questions of this kind."
            )
        self._prompt = prompt_of(self.config.prompt, conventions=self.config.conventions)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[place] for place in range(self.size))

    def __getitem__(self, idx: int) -> dict[str, Any]:
        if not 0 <= idx < self.size:
            raise IndexError(f"the dataset has {self.size} questions; there is no number {idx}.")
        story, place = divmod(idx, self._per_story)
        row = self._stream[story].rows[place]
        request = self._prompt.request(row, [])
        if request is None:
            raise ConfigError(f"the prompt '{self.config.prompt}' asks nothing.")
        facts = {
            "source_dataset": f"storyproof_{self.config.benchmark}",
            "source_index": idx,
            "difficulty": dict(self.config.dials),
        }
        return {"question": request.text, "answer": row.answer, "metadata": {**facts, **_plain(row.as_row())}}

    def score_answer(self, answer: str | None, entry: Mapping[str, Any]) -> float:
        """Return 1 if an answer to an entry is right, else 0; there is no partial credit for parts of words.

        Raises:
            DataError: If the entry is not one of these datasets.
        """
        if not isinstance(answer, str) or not answer.strip():
            return 0.0
        row = entry.get("metadata") if isinstance(entry, Mapping) else None
        if not isinstance(row, Mapping) or "story" not in row or "question" not in row:
            raise DataError(f"the entry is {quoted(entry)}; expected an item of the dataset, with its metadata.")
        prompt = THINKING if self.config.prompt == DEFAULT_PROMPT else self.config.prompt
        return float(judge(answer, {**_columns(row), "answer": entry["answer"]}, prompt=prompt).right)


_ADDED = frozenset(("source_dataset", "source_index", "difficulty"))


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _ADDED}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def register() -> list[str]:
    """Register every benchmark with Reasoning Gym, and return the names; those that are registered already stay.

    Raises:
        ConfigError: If the package is not installed, or in a version that does not fit.
    """
    need_peer("reasoning-gym", "reasoning-gym", "Reasoning Gym")
    gym = need("reasoning_gym.factory", "reasoning-gym", "Reasoning Gym")
    base = need("reasoning_gym.dataset", "reasoning-gym", "Reasoning Gym").ProceduralDataset
    registered = []
    for benchmark in names("benchmark"):
        if "@" in benchmark:
            continue
        name = f"storyproof_{benchmark.replace('-', '_')}"
        if name not in gym.DATASETS:
            gym.register_dataset(name, _dataset_class(base, benchmark), _config_class(benchmark))
        registered.append(name)
    return registered


def _config_class(benchmark: str) -> type[StoryDatasetConfig]:
    """Return a config whose benchmark is given."""
    return dataclass(
        type("NamedStoryConfig", (StoryDatasetConfig,), {"__annotations__": {"benchmark": str}, "benchmark": benchmark})
    )


def _dataset_class(base: type[Any], benchmark: str) -> type[Any]:
    """Return a subclass of Reasoning Gym's own base class."""

    class GymStoryDataset(StoryDataset, base):  # type: ignore[misc]
        """A dataset that Reasoning Gym can create and combine with others."""

        def __init__(self, config: StoryDatasetConfig) -> None:
            StoryDataset.__init__(self, config)
            base.__init__(self, config=config, seed=config.seed, size=config.size)

    GymStoryDataset.__name__ = f"{benchmark.replace('-', ' ').title().replace(' ', '')}Dataset"
    return GymStoryDataset


__all__ = ["StoryDataset", "StoryDatasetConfig", "register"]
