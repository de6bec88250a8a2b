"""The models by name, with the settings of the papers; importing this module does not load PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from storyproof.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from torch import nn

    from storyproof.solvers.neural.data.batches import Shape

POOLED, PIECES = "pooled", "pieces"
_MODULES = "storyproof.solvers.neural.models."
_LARGEST_OPTION = 10_000
_MOST_WEIGHTS = 10**9  # of one run; the papers' models have some millions
_CHOICES = {
    "policy": ("fixed", "randomised", "learned"),  # how people are embedded, see `Embedding`
    "pooling": ("mean", "attention", "last"),
    "asked": ("mentions", "vectors"),  # what the decoder of `BiLSTM` gets of the people in question
    "sentences": ("lstm", "bag"),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is built and trained.

    Attributes:
        made_by: Its class, as `module:class`.
        options: Arguments of the class.
        vectors: The vectors of a pretrained encoder that it reads: none, `pooled` ones, or those of all `pieces`.
        graph: Whether it reads a story's graph, which not all families have.
        training: Settings of training that differ from the defaults (see `Settings`).
        version: Increased whenever the same options and settings train to other weights, so that older runs are not
            mistaken for newer ones.
    """

    made_by: str
    options: Mapping[str, Any] = field(default_factory=dict)
    vectors: str = ""
    graph: bool = False
    training: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1


_TOM = {"batch": 32, "epochs": 200, "patience": 40}

MODELS = {
    "memnn": Recipe("memnn:MemNN", training=_TOM),
    "relnet": Recipe(
        "relation_network:RelationNetwork",
        {"sentences": "bag", "relation": (256, 256, 256), "decoder": (256, 256)},
        training=_TOM,
    ),
    "entnet": Recipe("entnet:EntNet", training=_TOM),
    "lstm": Recipe("bilstm:BiLSTM", {"pooling": "last"}),
    "bilstm-mean": Recipe("bilstm:BiLSTM", {"pooling": "mean"}),
    "bilstm-attention": Recipe("bilstm:BiLSTM", {"pooling": "attention"}),
    "rn": Recipe("relation_network:RelationNetwork", version=2),
    "mac": Recipe("mac:MAC"),
    "bert": Recipe("bert:Bert", vectors=POOLED),
    "bert-lstm": Recipe("bert_lstm:BertLSTM", vectors=PIECES),
    "gat": Recipe("gat:GAT", graph=True),
    "rmc": Recipe("rmc:RMC"),
}


def recipe(name: str) -> Recipe:
    """Return the recipe of a model.

    Raises:
        UnknownNameError: If there is no such model.
    """
    if name not in MODELS:
        raise UnknownNameError("model", name, MODELS)
    return MODELS[name]


def default_options(name: str) -> dict[str, Any]:
    """Return all options of a model with their defaults.

    Raises:
        UnknownNameError: If there is no such model.
    """
    own = recipe(name).options
    parameters = signature(_class_of(name)).parameters.items()
    return {option: own.get(option, each.default) for option, each in parameters if option != "shape"}


def build(name: str, shape: Shape, options: Mapping[str, Any]) -> nn.Module:
    """Build a model with fresh weights.

    Args:
        name: Its name.
        shape: The sizes of its inputs and outputs.
        options: Those that differ from its recipe, such as `width` or `policy`.

    Raises:
        ConfigError: If it has no such option, or would be too large.
    """
    defaults = default_options(name)
    for option, value in options.items():
        if option not in defaults:
            raise ConfigError(f"model '{name}' has no option '{option}'; it has {', '.join(sorted(defaults))}.")
        _check_option(option, value, defaults[option])
    given = {**recipe(name).options, **options}
    kind = _class_of(name)
    if (count := _count_weights(kind, shape, given)) > _MOST_WEIGHTS:
        raise ConfigError(
            f"model '{name}' would have {count:.3g} weights with options {given} and sizes {tuple(shape)}, more than "
            f"{_MOST_WEIGHTS:,}; use smaller options."
        )
    model: nn.Module = kind(shape, **given)
    return model


def _class_of(name: str) -> Callable[..., nn.Module]:
    module, _, kind = recipe(name).made_by.partition(":")
    model_class: Callable[..., nn.Module] = getattr(import_module(_MODULES + module), kind)
    return model_class


def _count_weights(kind: Callable[..., nn.Module], shape: Shape, options: Mapping[str, Any]) -> float:
    """Count the weights of a model without allocating them."""
    import torch

    with torch.device("meta"):
        return sum(weight.numel() for weight in kind(shape, **options).parameters())


def _check_option(option: str, value: Any, default: Any) -> None:
    """Check the type and range of an option; the default shows its type."""
    if option in _CHOICES:
        if value not in _CHOICES[option]:
            raise UnknownNameError(option, str(value), _CHOICES[option])
    elif isinstance(value, bool):
        raise ConfigError(f"option {option} is {value!r}; use a number, such as {default}.")
    elif isinstance(default, tuple):
        if (
            not isinstance(value, list | tuple)
            or not value
            or not all(isinstance(each, int) and each > 0 for each in value)
        ):
            raise ConfigError(f"option {option} is {value!r}; use a list of whole numbers above 0.")
        _check_size(option, max(value))
    elif isinstance(default, int):
        if not isinstance(value, int) or value < 1:
            raise ConfigError(f"option {option} is {value!r}; use a whole number above 0.")
        _check_size(option, value)
    elif not isinstance(value, int | float) or not 0 <= value < 1:
        raise ConfigError(f"option {option} is {value!r}; use a share of at least 0 and below 1.")


def _check_size(option: str, size: int) -> None:
    """Refuse sizes for which there is no memory, before anything is built."""
    if size > _LARGEST_OPTION:
        raise ConfigError(f"option {option} is {size}; use at most {_LARGEST_OPTION:,}.")
