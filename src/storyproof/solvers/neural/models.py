"""Makes a model by name and options, if they make sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any

import torch
from torch import nn

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.solvers.neural.layers import POLICIES, Shape
from storyproof.solvers.neural.recipes import recipe

_HERE = "storyproof.solvers.neural."


_LARGEST_OPTION = 10_000
_MOST_WEIGHTS = 10**9  # of one run: the papers' models have some millions
_CHOICES = {"policy": POLICIES, "pooling": ("mean", "attention"), "sentences": ("lstm", "bag")}


def usual_options(name: str) -> dict[str, Any]:
    """Give a model's options with what they are if nothing is said.

    Raises:
        UnknownNameError: If there is no such model.
    """
    own = recipe(name).options
    parameters = signature(_maker(name)).parameters.items()
    return {option: own.get(option, each.default) for option, each in parameters if option != "shape"}


def build(name: str, shape: Shape, options: Mapping[str, Any]) -> nn.Module:
    """Make a model with fresh weights.

    Args:
        name: As in the table.
        shape: How large its inputs and outputs are.
        options: What differs from its recipe, such as `width` or `policy`.

    Raises:
        ConfigError: If it has no such option, or would be too large.
    """
    known = usual_options(name)
    for option, value in options.items():
        if option not in known:
            raise ConfigError(f"model '{name}' has no option '{option}'; it has {', '.join(sorted(known))}.")
        _check(option, value, known[option])
    given = {**recipe(name).options, **options}
    maker = _maker(name)
    if (count := _weights(maker, shape, given)) > _MOST_WEIGHTS:
        raise ConfigError(
            f"model '{name}' would have {count:.3g} weights with options {given} and sizes {tuple(shape)}, where "
            f"{_MOST_WEIGHTS:,} is the most; give smaller options."
        )
    model: nn.Module = maker(shape, **given)
    return model


def _maker(name: str) -> Callable[..., nn.Module]:
    module, _, kind = recipe(name).made_by.partition(":")
    maker: Callable[..., nn.Module] = getattr(import_module(_HERE + module), kind)
    return maker


def _weights(maker: Callable[..., nn.Module], shape: Shape, options: Mapping[str, Any]) -> float:
    """Count the weights of a model without making room for them."""
    with torch.device("meta"):
        return sum(weight.numel() for weight in maker(shape, **options).parameters())


def _check(option: str, value: Any, usual: Any) -> None:
    """Refuse a value that an option cannot take; it is told by the usual one."""
    if option in _CHOICES:
        if value not in _CHOICES[option]:
            raise UnknownNameError(option, str(value), _CHOICES[option])
    elif isinstance(value, bool):
        raise ConfigError(f"option {option} is {value!r}; give a number, as {usual} is.")
    elif isinstance(usual, tuple):
        if (
            not isinstance(value, list | tuple)
            or not value
            or not all(isinstance(each, int) and each > 0 for each in value)
        ):
            raise ConfigError(f"option {option} is {value!r}; give a list of whole numbers above 0.")
        _check_size(option, max(value))
    elif isinstance(usual, int):
        if not isinstance(value, int) or value < 1:
            raise ConfigError(f"option {option} is {value!r}; give a whole number above 0.")
        _check_size(option, value)
    elif not isinstance(value, int | float) or not 0 <= value < 1:
        raise ConfigError(f"option {option} is {value!r}; give a share of at least 0 and below 1.")


def _check_size(option: str, size: int) -> None:
    """Refuse what no memory holds, before anything is made of it."""
    if size > _LARGEST_OPTION:
        raise ConfigError(f"option {option} is {size}; give at most {_LARGEST_OPTION:,}.")
