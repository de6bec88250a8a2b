"""What is to be trained: a plan, training sets, and the identity by which a training is recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from storyproof.errors import ConfigError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.seeds import digest
from storyproof.solvers.neural.data.encoder_identity import encoder_identity
from storyproof.solvers.neural.data.vocabulary import group_key
from storyproof.solvers.neural.models.registry import default_options, recipe
from storyproof.solvers.neural.noise import seed_for
from storyproof.solvers.neural.settings import Settings

_NOTHING = (None,) * 4  # how the digest of rows without facts has always been computed


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Examples to train on.

    Attributes:
        train: The training examples.
        held: The examples to choose the best epoch by; None to hold back a share of `train`, another one in each run.
        name: Its name in reports.

    Raises:
        ConfigError: If the examples to choose by are given, but empty.
    """

    train: Sequence[Example]
    held: Sequence[Example] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.held is not None and not self.held:
            raise ConfigError(
                f"{self.name or 'the training set'} has a val split without questions, so there are none to choose the "
                "best epoch by; add some, or use --held drawn."
            )


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What to train, except the data.

    Attributes:
        model: Its name.
        runs: How many runs, on each training set.
        seed: Determines the seeds of the runs.
        settings: How to train.
        options: The model's options that differ from its recipe.
        encoder: A pretrained encoder's folder or name, for models that need one.
        entities: Whether people are entities; by default as the family says.
        device: cpu, cuda, or auto.
    """

    model: str
    runs: int = 1
    seed: int = 0
    settings: Settings = field(default_factory=Settings)
    options: Mapping[str, Any] | None = None
    encoder: str | None = None
    entities: bool | None = None
    device: str = "auto"

    def seeds(self) -> list[int]:
        """Return the seed of each run; the first runs of a larger plan are those of a smaller one."""
        return [seed_for("run", self.seed, number) % 2**31 for number in range(self.runs)]


def identity_of(plan: TrainingPlan, sets: Sequence[TrainingSet]) -> dict[str, Any]:
    """Return what identifies a training: equal identities train to equal runs.

    An encoder is identified by its files, not by its path.
    """
    return {
        "model": plan.model,
        "runs": plan.runs,
        "seed": plan.seed,
        "settings": plan.settings.as_dict(),
        "version": recipe(plan.model).version,
        "options": {**default_options(plan.model), **(plan.options or {})},
        "encoder_identity": None if plan.encoder is None else encoder_identity(plan.encoder),
        "entities": plan.entities,
        "data": [
            {"train": _digest(each.train), "held": None if each.held is None else _digest(each.held)} for each in sets
        ],
    }


def _digest(examples: Sequence[Example]) -> str:
    """Hash all that a model may see of examples, and which of them share a story."""
    found, stories = hashlib.sha256(), dict[tuple[str, str], int]()
    for each in examples:
        story = stories.setdefault(group_key(each), len(stories))
        facts = family_of(each).model_facts(each) or _NOTHING
        found.update(digest(story, each.story, each.question, each.answer, each.chain, facts))
    return found.hexdigest()
