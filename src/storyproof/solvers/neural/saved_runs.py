"""Trained runs as a folder: `run.json` describes them, `weights.safetensors` has the best weights of each run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from storyproof.datasets.manifest import file_sha256
from storyproof.errors import ConfigError, DataError, quoted
from storyproof.io.atomic_files import json_bytes, read_json, whole_file, write_whole
from storyproof.io.bounded_input import open_file, parse_json
from storyproof.solvers.neural.data.batches import Shape
from storyproof.solvers.neural.data.vocabulary import TokenVocabulary
from storyproof.solvers.neural.models.registry import recipe
from storyproof.solvers.neural.stacked_models import State

RUN, WEIGHTS = "run.json", "weights.safetensors"
REMEDY = "train the model again with --force, or to another --out"
_LARGEST = 10**6  # of a shape: no story has as many sentences, and no vocabulary as many words


@dataclass(frozen=True, slots=True)
class TrainedRuns:
    """The runs of one training.

    Attributes:
        model: The name of the model.
        options: Its options that differ from the recipe.
        shape: The sizes of its inputs and outputs.
        vocabulary: The words that it can read and the answers that it can give.
        seeds: Those of the runs.
        held: The accuracy of each run on its held-back stories.
        about: How it was trained and on what.
        weights: Those of all runs; the first dimension is the run.
    """

    model: str
    options: dict[str, Any]
    shape: Shape
    vocabulary: TokenVocabulary = field(repr=False)
    seeds: list[int]
    held: list[float]
    about: dict[str, Any] = field(repr=False)
    weights: State = field(repr=False)


def save_runs(folder: Path, run: TrainedRuns) -> None:
    """Write trained runs to a folder, the description last: a folder that has one is complete.

    Runs that were there stay until the new ones are written, and are never mixed with them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = save(run.weights)
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
    with whole_file(folder / RUN) as description, whole_file(folder / WEIGHTS) as tensors:
        for file, content in ((tensors, weights), (description, json_bytes(about))):
            file.write(content)
            file.flush()
        (folder / RUN).unlink(missing_ok=True)  # the weights take their place first


def load_runs(folder: Path) -> TrainedRuns:
    """Read what `save_runs` wrote.

    Raises:
        DataError: If there are no trained runs, or they are damaged.
    """
    plain = read_json(folder / RUN, f"give the folder of a trained run, or {REMEDY}")
    try:
        vocabulary, about, seeds, held = (plain[name] for name in ("vocabulary", "about", "seeds", "held"))
        words, answers = (tuple(map(str, vocabulary[name])) for name in ("words", "answers"))
        shape = Shape(**{name: int(size) for name, size in plain["shape"].items()})
        tokens = TokenVocabulary(words, answers, bool(vocabulary["entities"]), int(vocabulary["pool"]))
        if not isinstance(about["family"], str) or not isinstance(about.get("encoder"), str | None):
            raise TypeError("a family or an encoder that is not a name")
        fits = min(shape) >= 0 and shape.words == tokens.first_entity and shape.words + shape.pool == tokens.size
        if not fits or shape.answers != len(answers) or len(held) != len(seeds) or not seeds:
            raise ValueError("sizes that contradict each other")
        if max(shape) > _LARGEST:
            raise ValueError(f"a size of {max(shape):,}, expected at most {_LARGEST:,}")
        if not isinstance(plain["model"], str):
            raise TypeError(f"the model {quoted(plain['model'])}, expected a name")
        recipe(plain["model"])
        saved = plain["weights_sha256"]
        if not all(0 <= float(score) <= 1 for score in held):
            raise ValueError(f"the scores {quoted(held)}, expected numbers from 0 to 1")
        fields = plain["model"], dict(plain["options"]), shape, tokens, list(map(int, seeds)), list(map(float, held))
    except KeyError as error:
        raise DataError(f"{folder / RUN} has no {error}; {REMEDY}.") from error
    except (ConfigError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{folder / RUN} is not valid: {str(error).rstrip('.')}; {REMEDY}.") from error
    weights = load_tensors(folder / WEIGHTS)[0]
    runs = {value.shape[0] for value in weights.values() if value.dim()}
    if runs and len(seeds) not in runs:  # before as many models are built
        raise DataError(f"{folder / RUN} is not valid: {len(seeds):,} seeds for weights of {max(runs)}; {REMEDY}.")
    if file_sha256(folder / WEIGHTS) != saved:
        raise DataError(f"{folder / WEIGHTS} has another hash than {RUN} records; {REMEDY}.")
    return TrainedRuns(*fields, about, weights)


def save_tensors(path: Path, tensors: State, plain: dict[str, Any]) -> None:
    """Write tensors, with plain values as metadata."""
    write_whole(path, save(tensors, metadata={"plain": json.dumps(plain)}))


def load_tensors(path: Path) -> tuple[State, dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Raises:
        DataError: If it is missing or damaged.
    """
    try:
        open_file(path).close()
        with safe_open(path, framework="pt") as file:
            plain = parse_json((file.metadata() or {}).get("plain", "{}"))
            if not isinstance(plain, dict):
                raise ValueError(f"its metadata are {quoted(plain)}, expected an object")
            return {name: file.get_tensor(name) for name in file.keys()}, plain  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}; {REMEDY}.") from error
