"""How to train; read without PyTorch, because an experiment's plan needs it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from storyproof.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Settings:
    """How to train.

    Attributes:
        epochs: At most so many times through the data.
        batch: Examples a step.
        rate: Adam's learning rate.
        decay: Whether the rate falls to nothing over the epochs, along a cosine.
        clip: The longest gradient; 0 for any.
        patience: A run stops after so many epochs in which it has come out no better on what is held back; 0 for
            never.
        held_back: The share of the stories to choose the best epoch by, drawn for each run.
        weight_decay: How strongly weights are drawn to zero each step (AdamW).
        word_dropout: The share of words that are made unknown in every step.
        recast: Whether every step retells its stories with other words in the same parts (see `recasting`).
        castings: How often a pretrained encoder reads each story of kinship, people written as other numbers each
            time; every step draws one of them. Its vectors cannot be recast.
    """

    epochs: int = 100
    batch: int = 100
    rate: float = 0.001
    decay: bool = False
    clip: float = 0.0
    patience: int = 20
    held_back: float = 0.2
    weight_decay: float = 0.0
    word_dropout: float = 0.0
    recast: bool = True
    castings: int = 1

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not _fits(value, type(each.default)):
                kind = {int: "a whole number", float: "a number", bool: "true or false"}[type(each.default)]
                raise ConfigError(f"{each.name} is {value!r}; use {kind}.")
        for name, least in (("epochs", 1), ("batch", 1), ("patience", 0), ("castings", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; use {least} or more.")
        if not 0 < self.held_back < 1:
            raise ConfigError(f"held_back is {self.held_back}; use a share between 0 and 1.")
        if not 0 <= self.word_dropout < 1:
            raise ConfigError(f"word_dropout is {self.word_dropout}; use a share of at least 0 and below 1.")
        for name in ("clip", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name} is {getattr(self, name)}; use 0 or more.")
        if not 0 < self.rate < math.inf:
            raise ConfigError(f"rate is {self.rate}; use a number above 0.")

    def unusual(self) -> dict[str, Any]:
        """Give what differs from the defaults: a setting that is added later changes nothing about it."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return asdict(self)


def _fits(value: object, kind: type) -> bool:
    """Say whether a value is of a kind; Python counts True among the whole numbers, and we do not."""
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    return isinstance(value, int) or (kind is float and isinstance(value, float))
