"""The models by name, each with the settings under which the papers know it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import Any

import torch
from torch import nn

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.solvers.neural.layers import POLICIES, Shape

_HERE = "storyproof.solvers.neural."


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is made.

    Attributes:
        made_by: `module:class`.
        options: What the class is told.
        vectors: What it takes of a pretrained encoder: nothing, `pooled` vectors, or those of all `pieces`.
        graph: Whether it needs a story's graph, which only kinship has.
        training: How its training differs from what is usual (see `training.Settings`).
    """

    made_by: str
    options: Mapping[str, Any] = field(default_factory=dict)
    vectors: str = ""
    graph: bool = False
    training: Mapping[str, Any] = field(default_factory=dict)


_TOM = {"batch": 32, "epochs": 200, "patience": 40}

MODELS = {
    "memnn": Recipe("memnn:MemNN", training=_TOM),
    "relnet": Recipe(
        "relation_network:RelationNetwork",
        {"sentences": "bag", "relation": (256, 256, 256), "decoder": (256, 256)},
        training=_TOM,
    ),
    "entnet": Recipe("entnet:EntNet", training=_TOM),
    "bilstm-mean": Recipe("bilstm:BiLSTM", {"pooling": "mean"}),
    "bilstm-attention": Recipe("bilstm:BiLSTM", {"pooling": "attention"}),
    "rn": Recipe("relation_network:RelationNetwork"),
    "mac": Recipe("mac:MAC"),
    "bert": Recipe("bert:Bert", vectors="pooled"),
    "bert-lstm": Recipe("bert:BertLSTM", vectors="pieces"),
    "gat": Recipe("gat:GAT", graph=True),
    "rmc": Recipe("rmc:RMC"),
}


_LARGEST_OPTION = 10_000
_MOST_WEIGHTS = 10**9  # of one run: the papers' models have some millions
_CHOICES = {"policy": POLICIES, "pooling": ("mean", "attention"), "sentences": ("lstm", "bag")}


def recipe(name: str) -> Recipe:
    """Look a model up.

    Raises:
        UnknownNameError: If there is no such model.
    """
    if name not in MODELS:
        raise UnknownNameError("model", name, MODELS)
    return MODELS[name]


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
