"""Ways in which a folder of trained runs can be damaged, and what is said of each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

import storyproof
from storyproof.datasets.manifest import file_sha256
from storyproof.solvers.neural.saved_runs import RUN, WEIGHTS
from tests.solvers.neural.fixtures import SMALL

Spoil = Callable[[Path], Any]


def make_run(out: Path, model: str = "gat", benchmark: str = "clutrr", stories: int = 24) -> Path:
    settings = {"runs": 2, "epochs": 1, "device": "cpu", "options": SMALL[model]}
    storyproof.train(model, out, benchmark=benchmark, stories=stories, **settings)
    return out


def told(change: Callable[[dict[str, Any]], Any]) -> Spoil:
    """Change the description."""

    def spoil(out: Path) -> None:
        plain = json.loads((out / RUN).read_text())
        change(plain)
        (out / RUN).write_text(json.dumps(plain))

    return spoil


def weights(change: Callable[[dict[str, torch.Tensor]], Any]) -> Spoil:
    def spoil(out: Path) -> None:
        tensors = load_file(out / WEIGHTS)
        change(tensors)
        save_file(tensors, out / WEIGHTS)
        told(lambda plain: plain.update(weights_sha256=file_sha256(out / WEIGHTS)))(out)

    return spoil


def flip(name: str) -> Spoil:
    """Change a bit in the middle."""

    def spoil(out: Path) -> None:
        content = bytearray((out / name).read_bytes())
        content[len(content) // 2] ^= 1
        (out / name).write_bytes(content)

    return spoil


def cut(name: str, share: float) -> Spoil:
    def spoil(out: Path) -> None:
        content = (out / name).read_bytes()
        (out / name).write_bytes(content[: int(share * len(content))])

    return spoil


MISSTATES = r"run\.json is not valid: .*; train the model again"
UNREADABLE = r"weights\.safetensors cannot be read: .*; train the model again"
SPOILT: dict[str, tuple[Spoil, str]] = {
    "no weights": (lambda out: (out / WEIGHTS).unlink(), UNREADABLE),
    "weights cut": (cut(WEIGHTS, 0.7), UNREADABLE),
    "weights cut in their header": (cut(WEIGHTS, 0.001), UNREADABLE),
    "weights with a bit flipped": (
        flip(WEIGHTS),
        r"weights\.safetensors has another hash than run\.json records; train the",
    ),
    "weights empty": (cut(WEIGHTS, 0), UNREADABLE),
    "description cut": (cut(RUN, 0.5), r"run\.json cannot be read: .*; give the folder of a trained run"),
    "description empty": (cut(RUN, 0), r"run\.json cannot be read"),
    "description a list": (
        lambda out: (out / RUN).write_text("[1]"),
        r"run\.json cannot be read: expected a JSON ob",
    ),
    "description not text": (lambda out: (out / RUN).write_bytes(b"\xff\xfe\x00"), r"run\.json cannot be read"),
    "no vocabulary": (
        told(lambda plain: plain.pop("vocabulary")),
        r"run\.json has no 'vocabulary'; train the model again",
    ),
    "no pool": (told(lambda plain: plain["vocabulary"].pop("pool")), "has no 'pool'"),
    "no shape": (told(lambda plain: plain.pop("shape")), "has no 'shape'"),
    "no family": (told(lambda plain: plain["about"].pop("family")), "has no 'family'"),
    "unknown size": (told(lambda plain: plain["shape"].update(depth=3)), MISSTATES),
    "a size that is none": (told(lambda plain: plain["shape"].update(length="long")), MISSTATES),
    "a size below nothing": (told(lambda plain: plain["shape"].update(edge_types=-1)), MISSTATES),
    "a size without end": (told(lambda plain: plain["shape"].update(sentences=float("inf"))), MISSTATES),
    "a size beyond all memory": (
        told(lambda plain: plain["shape"].update(sentences=10**13)),
        "is not valid: a size of 10,000,000,000,000, expected at most 1,000,000; train the model again with --force",
    ),
    "a list of models": (
        told(lambda plain: plain.update(model=["gat"])),
        r"the model \['gat'\], expected a name; train",
    ),
    "an untrained run": (
        told(lambda plain: plain.update(held=[-1.0, 0.5])),
        r"the scores \[-1.0, 0.5\], expected num",
    ),
    "a width beyond all memory": (
        told(lambda plain: plain["options"].update(width=10**12)),
        "option width is 1000000000000; use at most 10,000",
    ),
    "a word more": (told(lambda plain: plain["vocabulary"]["words"].append("zebra")), MISSTATES),
    "an answer less": (told(lambda plain: plain["vocabulary"]["answers"].pop()), MISSTATES),
    "a larger pool": (told(lambda plain: plain["vocabulary"].update(pool=60)), MISSTATES),
    "a seed less": (told(lambda plain: plain["seeds"].pop()), MISSTATES),
    "no runs": (told(lambda plain: plain.update(seeds=[], held=[])), MISSTATES),
    "unknown model": (
        told(lambda plain: plain.update(model="gut")),
        r"run\.json is not valid: unknown model 'gut'. Did you mean 'gat'",
    ),
    "unknown option": (told(lambda plain: plain["options"].update(depth=3)), "model 'gat' has no option 'depth'"),
    "other width": (
        told(lambda plain: plain["options"].update(width=9)),
        r"the weights do not fit model 'gat': .* is \(2, .*, expected \(2, .*train it again with this version",
    ),
    "other model": (told(lambda plain: plain.update(model="rmc", options={})), "the weights do not fit model 'rmc'"),
    "a weight less": (weights(lambda tensors: tensors.pop("edges")), r"edges is None, expected \(2, 46, 8\)"),
    "a weight more": (
        weights(lambda tensors: tensors.update(more=torch.zeros(3))),
        r"more is \(3,\), expected None",
    ),
    "weights that are no numbers": (
        weights(lambda tensors: tensors["edges"].fill_(torch.nan)),
        r"weights\.safetensors is damaged: edges has numbers that are not finite, .*; train the model again with --for",
    ),
    "weights of whole numbers": (
        weights(lambda tensors: tensors.update(edges=tensors["edges"].long())),
        r"weights\.safetensors is damaged: edges has values of torch\.int64, expected finite floating-point numbers",
    ),
    "a weight transposed": (
        weights(lambda tensors: tensors.update(edges=tensors["edges"].transpose(1, 2).contiguous())),
        r"edges is \(2, 8, 46\), expected \(2, 46, 8\)",
    ),
}
