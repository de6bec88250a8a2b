"""The models by name, each with the settings under which the papers know it; read without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from storyproof.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is made.

    Attributes:
        made_by: `module:class`.
        options: What the class is told.
        vectors: What it takes of a pretrained encoder: nothing, `pooled` vectors, or those of all `pieces`.
        graph: Whether it needs a story's graph, which only kinship has.
        training: How its training differs from what is usual (see `Settings`).
        version: Raised whenever the same options and settings come to train other runs: what was trained before is
            then not taken for it.
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
    "bilstm-mean": Recipe("bilstm:BiLSTM", {"pooling": "mean"}),
    "bilstm-attention": Recipe("bilstm:BiLSTM", {"pooling": "attention"}),
    "rn": Recipe("relation_network:RelationNetwork", version=2),
    "mac": Recipe("mac:MAC"),
    "bert": Recipe("bert:Bert", vectors="pooled"),
    "bert-lstm": Recipe("bert:BertLSTM", vectors="pieces"),
    "gat": Recipe("gat:GAT", graph=True),
    "rmc": Recipe("rmc:RMC"),
}


def recipe(name: str) -> Recipe:
    """Look a model up.

    Raises:
        UnknownNameError: If there is no such model.
    """
    if name not in MODELS:
        raise UnknownNameError("model", name, MODELS)
    return MODELS[name]
