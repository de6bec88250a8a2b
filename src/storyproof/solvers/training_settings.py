"""Settings of training; importing this module does not load PyTorch."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from storyproof.errors import ConfigError
from storyproof.runtime.options import Declared, option


@dataclass(frozen=True)
class Settings(Declared):
    """How to train.

    Attributes:
        epochs: The most passes through the data.
        batch: Examples per step.
        rate: Adam's learning rate.
        decay: Whether the rate decays to zero over the epochs, along a cosine.
        clip: The largest norm of a gradient; 0 for no limit.
        patience: A run stops after this many epochs without improvement on the held-back stories; 0 for never.
        held_back: The share of the stories that is held back to choose the best epoch, drawn for each run.
        weight_decay: That of AdamW.
        word_dropout: The share of words that every step replaces by the unknown word.
        recast: Whether every step permutes names and objects within their roles (see `data.permutation`).
        castings: How often a pretrained encoder reads each story, with people written as other numbers each time;
            every step draws one of these readings, since vectors cannot be permuted.
    """

    epochs: int = field(default=100, metadata=option("The most passes through the data.", read=int))
    batch: int = field(default=100, metadata=option("Examples per step.", read=int, flag="--batch-size"))
    rate: float = field(default=0.001, metadata=option("Adam's learning rate.", read=float, flag="--learning-rate"))
    decay: bool = False
    clip: float = field(default=0.0, metadata=option("The largest norm of a gradient.", read=float, is_rare=True))
    patience: int = field(
        default=20, metadata=option("Stop after this many epochs without improvement; 0 for never.", read=int)
    )
    held_back: float = field(
        default=0.2, metadata=option("The share of stories that is held back.", read=float, is_rare=True)
    )
    weight_decay: float = field(default=0.0, metadata=option("That of AdamW.", read=float, is_rare=True))
    word_dropout: float = field(
        default=0.0, metadata=option("The share of words that are unknown in a step.", read=float, is_rare=True)
    )
    recast: bool = field(
        default=True, metadata=option("Permute names and objects within their roles in every step.", read=bool)
    )
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
        """Return the settings that differ from the defaults; settings that are added later do not change the result."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


def _fits(value: object, kind: type) -> bool:
    """Return whether a value is of a type; unlike in Python, True is not a whole number."""
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    return isinstance(value, int) or (kind is float and isinstance(value, float))
