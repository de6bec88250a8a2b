"""Trained runs as a folder: `run.json` says what they are, `weights.safetensors` holds each run's best weights.

While training there are `training.json` and `checkpoint.safetensors` instead, and `metrics.jsonl` grows by a line an
epoch. Whatever is written is whole or not there.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from storyproof.datasets.manifest import file_sha256
from storyproof.errors import ConfigError, DataError
from storyproof.files import write_whole
from storyproof.solvers.neural.encoding import Vocabulary
from storyproof.solvers.neural.layers import Shape
from storyproof.solvers.neural.recipes import recipe
from storyproof.solvers.neural.stack import State

RUN, WEIGHTS, PLAN, CHECKPOINT, METRICS, LOCK = (
    "run.json",
    "weights.safetensors",
    "training.json",
    "checkpoint.safetensors",
    "metrics.jsonl",
    ".training.lock",
)
_AGAIN = "with --force, or to another --out"
_LARGEST = 10**6  # of a shape: no story has as many sentences, and no word as many numbers
_WRITTEN = (RUN, WEIGHTS, PLAN, CHECKPOINT, METRICS, LOCK[1:])
_DRAFT = re.compile(rf"\.({'|'.join(map(re.escape, _WRITTEN))})\.(draft-)?[0-9]+")


@dataclass(frozen=True, slots=True)
class Run:
    """What a folder of trained runs holds.

    Attributes:
        model: Its name.
        options: How it differs from its recipe.
        shape: How large its inputs and outputs are.
        vocabulary: What it can read and say.
        seeds: Each run's.
        held: Each run's accuracy on what was held back.
        about: How it was trained and on what.
        weights: Each run's, the run first.
    """

    model: str
    options: dict[str, Any]
    shape: Shape
    vocabulary: Vocabulary = field(repr=False)
    seeds: list[int]
    held: list[float]
    about: dict[str, Any] = field(repr=False)
    weights: State = field(repr=False)


def save_run(folder: Path, run: Run) -> None:
    """Write trained runs to a folder, the description last: a folder that has it is whole.

    What is needed to go on training is cleared away, unless they were interrupted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = save(run.weights)
    write_whole(folder / WEIGHTS, weights)
    about = {
        "model": run.model,
        "options": run.options,
        "shape": run.shape._asdict(),
        "vocabulary": run.vocabulary.as_dict(),
        "seeds": run.seeds,
        "held": run.held,
        "about": run.about,
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
    }
    write_json(folder / RUN, about)
    for name in () if run.about.get("interrupted") else (PLAN, CHECKPOINT):
        (folder / name).unlink(missing_ok=True)


def load_run(folder: Path) -> Run:
    """Read what `save_run` wrote.

    Raises:
        DataError: If there is no such run, or it is damaged.
    """
    plain = read_json(folder / RUN)
    try:
        vocabulary, about, seeds, held = (plain[name] for name in ("vocabulary", "about", "seeds", "held"))
        words, answers = (tuple(map(str, vocabulary[name])) for name in ("words", "answers"))
        shape = Shape(**{name: int(size) for name, size in plain["shape"].items()})
        known = Vocabulary(words, answers, bool(vocabulary["entities"]), int(vocabulary["pool"]))
        about["family"]
        fits = min(shape) >= 0 and shape.words == known.first_entity and shape.words + shape.pool == known.size
        if not fits or shape.answers != len(answers) or len(held) != len(seeds) or not seeds:
            raise ValueError("sizes that do not fit each other")
        if max(shape) > _LARGEST:
            raise ValueError(f"a size of {max(shape):,}, where {_LARGEST:,} is the most")
        if not isinstance(plain["model"], str):
            raise TypeError(f"the model {plain['model']!r}, which is no name")
        recipe(plain["model"])
        if not all(0 <= float(score) <= 1 for score in held):
            raise ValueError(f"the scores {held}, which are no shares")
        found = plain["model"], dict(plain["options"]), shape, known, list(map(int, seeds)), list(map(float, held))
    except KeyError as error:
        raise DataError(f"{folder / RUN} has no {error}; train the model again {_AGAIN}.") from error
    except (ConfigError, TypeError, ValueError, AttributeError, OverflowError) as error:
        said = f"{folder / RUN} misstates something: {str(error).rstrip('.')}; train the model again {_AGAIN}."
        raise DataError(said) from error
    weights = load_tensors(folder / WEIGHTS)[0]
    saved = plain.get("weights_sha256")  # not in those of older versions
    if saved is not None and file_sha256(folder / WEIGHTS) != saved:
        raise DataError(f"{folder / WEIGHTS} is not what {RUN} says was saved; train the model again {_AGAIN}.")
    return Run(*found, about, weights)


def save_tensors(path: Path, tensors: State, plain: dict[str, Any]) -> None:
    """Write tensors with plain values beside them."""
    write_whole(path, save(tensors, metadata={"plain": json.dumps(plain)}))


def load_tensors(path: Path) -> tuple[State, dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Raises:
        DataError: If it is not there, or damaged.
    """
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(metadata.get("plain", "{}"))  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}; train the model again {_AGAIN}.") from error


def write_json(path: Path, plain: dict[str, Any]) -> None:
    """Write plain values."""
    write_whole(path, (json.dumps(plain, indent=1, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote.

    Raises:
        DataError: If it is not there, or damaged.
    """
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(plain, dict):
            raise ValueError("it holds no names with values")
    except (OSError, ValueError) as error:
        said = f"{path} cannot be read: {error}; give the folder of a trained run, or train anew {_AGAIN}."
        raise DataError(said) from error
    return plain


def is_draft(path: Path) -> bool:
    """Return whether a file is what `write_whole` or a claim leaves behind when its process is killed."""
    return _DRAFT.fullmatch(path.name) is not None
