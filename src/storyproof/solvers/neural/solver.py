"""Trained runs as a solver, and those that are part of the package.

`checkpoints/README.md` describes how these were trained and how they score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.solvers.neural.composer import ComposerSolver
from storyproof.solvers.neural.data.batches import ExampleTable
from storyproof.solvers.neural.data.encoder_identity import encoder_identity
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.models.registry import build, recipe
from storyproof.solvers.neural.saved_runs import REMEDY, WEIGHTS, load_runs
from storyproof.solvers.neural.stacked_models import Stack
from storyproof.solvers.neural.tracker import TrackerSolver, expect_family, model_of
from storyproof.solvers.neural.training_job import choose_device
from storyproof.solvers.neural.training_loop import predict

if TYPE_CHECKING:
    from storyproof.solvers.neural.data.pretrained import FrozenEncoder
    from storyproof.solvers.solver import Solver

SMALL: dict[str, Callable[[Path], Solver]] = {"tracker": TrackerSolver, "composer": ComposerSolver}
_CHECKPOINTS = Path(__file__).parent / "checkpoints"


def entnet(seed: int = 0) -> NeuralSolver:
    """Return the entity network that was trained on `tomi`."""
    return NeuralSolver(_CHECKPOINTS / "entnet", seed=seed)


def gat(seed: int = 0) -> NeuralSolver:
    """Return the graph attention network that was trained on `clutrr`."""
    return NeuralSolver(_CHECKPOINTS / "gat", seed=seed)


def tracker(seed: int = 0) -> TrackerSolver:
    """Return the tracker of beliefs that was trained on stories without a recipe; it draws nothing."""
    return TrackerSolver(_CHECKPOINTS / "tracker")


def composer(seed: int = 0) -> ComposerSolver:
    """Return the composer of kinship that was trained on `clutrr` with two and three facts; it draws nothing."""
    return ComposerSolver(_CHECKPOINTS / "composer")


def load_trained(path: Path, *, encoder: str | None = None) -> Solver:
    """Return the solver of the trained runs in a folder, whatever they are."""
    model = model_of(path)
    if model not in SMALL:
        return NeuralSolver(path, encoder=encoder)
    if encoder:
        raise ConfigError(f"{path} is a run of '{model}', which does not use an encoder; leave --encoder out.")
    return SMALL[model](path)


def stands_on_encoder(path: str | Path) -> bool:
    """Return whether the runs in a folder need a pretrained encoder.

    Raises:
        DataError: If there is no trained run.
    """
    return model_of(Path(path)) not in SMALL and bool(recipe(load_runs(Path(path)).model).vectors)


class NeuralSolver:
    """Answers by the run with the best accuracy on held-back stories; `predict_all` answers by each run.

    Args:
        path: The folder of the trained runs.
        device: cpu, cuda or auto.
        encoder: The folder of the pretrained encoder, if it has moved since training.
        seed: Ignored; all solvers have it.

    Raises:
        ConfigError: If an encoder is given for runs that do not use one.
        DataError: If there are no trained runs at the path.
    """

    answers_apart = True

    def __init__(self, path: str | Path, *, device: str = "auto", encoder: str | None = None, seed: int = 0) -> None:
        del seed
        self.path = Path(path)
        self.run = load_runs(self.path)
        self.device = choose_device(device)
        run = self.run
        if encoder and not recipe(run.model).vectors:
            raise ConfigError(
                f"{self.path} is a run of '{run.model}', which does not use an encoder; leave --encoder out."
            )
        self.encoder: str | None = encoder or run.about.get("encoder")
        self.stack = Stack(lambda: build(run.model, run.shape, run.options), run.seeds, self.device)
        self._check_weights()
        self.stack.load(run.weights)

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""
        best = int(np.argmax(self.run.held))
        return self.predict_all(examples)[best]

    def predict_all(self, examples: Sequence[Example]) -> list[list[str]]:
        """Return the answers of every run."""
        if not examples:
            return [[] for _ in self.run.seeds]
        self._check(examples)
        encoded, vectors = encode(examples, self.run.vocabulary, question=self.run.shape.question), None
        kind = recipe(self.run.model).vectors
        if kind:
            from storyproof.solvers.neural.data.pretrained import add_vectors

            encoded, vectors = add_vectors(examples, encoded, self.run.vocabulary, self._encoder, kind)
        table = ExampleTable(encoded, self.device, vectors)
        rows = np.tile(np.arange(len(examples)), (self.stack.runs, 1))
        answers = self.run.vocabulary.answers
        return [[answers[place] for place in row] for row in predict(self.stack, table, rows).tolist()]

    def can_answer(self, example: Example) -> bool:
        """Return whether the example's label is among the answers that were trained on."""
        return example.answer in self._known_answers

    @cached_property
    def _known_answers(self) -> frozenset[str]:
        return frozenset(self.run.vocabulary.answers)

    @cached_property
    def _encoder(self) -> FrozenEncoder:
        """The encoder, checked to be the one that the runs were trained with; older runs do not record which."""
        from storyproof.solvers.neural.data import pretrained

        if self.encoder is None:
            raise ConfigError(f"{self.path} does not record where its encoder is; give --encoder its folder.")
        was, identity = self.run.about.get("encoder"), self.run.about.get("encoder_identity")
        if self.encoder == was and identity not in (None, was) and not Path(was).is_dir():
            raise ConfigError(
                f"{self.path} was trained with an encoder in {was}, which is gone; give --encoder its folder."
            )
        encoder, shape = pretrained.FrozenEncoder(self.encoder, self.device), self.run.shape
        if encoder.width != shape.vector:
            raise ConfigError(
                f"the encoder '{self.encoder}' returns vectors of {encoder.width} numbers, but {self.path} was trained "
                f"on vectors of {shape.vector}; give --encoder the one it was trained with."
            )
        if identity is not None and encoder_identity(self.encoder) != identity:
            raise ConfigError(
                f"the encoder '{self.encoder}' is not the one that {self.path} was trained with: its files differ; "
                "give --encoder that one, or train again."
            )
        return encoder

    def _check_weights(self) -> None:
        run = self.run
        wanted = {name: tuple(value.shape) for name, value in {**self.stack.weights, **self.stack.fixed}.items()}
        shapes = {name: tuple(value.shape) for name, value in run.weights.items()}
        if wanted != shapes:
            wrong = sorted(name for name in wanted.keys() | shapes.keys() if wanted.get(name) != shapes.get(name))
            raise DataError(
                f"{self.path}: the weights do not fit model '{run.model}': {wrong[0]} is {shapes.get(wrong[0])}, "
                f"expected {wanted.get(wrong[0])}; train it again with this version."
            )
        for name, value in run.weights.items():
            if not value.is_floating_point() or not value.float().isfinite().all():
                why = "numbers that are not finite" if value.is_floating_point() else f"values of {value.dtype}"
                raise DataError(
                    f"{self.path / WEIGHTS} is damaged: {name} has {why}, expected finite floating-point numbers; "
                    f"{REMEDY}."
                )

    def _check(self, examples: Sequence[Example]) -> None:
        expect_family(self.path, self.run.about["family"], examples)
        labels, answers = {each.answer for each in examples if each.answer}, self.run.vocabulary.answers
        if len(labels) > 1 and labels.isdisjoint(answers):  # a single answer may just be missing in the training data
            raise ConfigError(
                f"{self.path} cannot give any of the answers of these data, such as '{min(labels)}', but gives "
                f"answers such as '{answers[0]}'; choose data or a run that fit."
            )
