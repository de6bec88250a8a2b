"""A trained run as a solver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.solvers.neural.batches import Table
from storyproof.solvers.neural.encoding import encode
from storyproof.solvers.neural.fitting import choose_device, family_of
from storyproof.solvers.neural.models import build, recipe
from storyproof.solvers.neural.runs import load_run
from storyproof.solvers.neural.stack import Stack
from storyproof.solvers.neural.steps import predict


class Trained:
    """Answers by the run that was best on what was held back; `predict_all` by each.

    Raises:
        DataError: If there is no trained run at the path.
    """

    def __init__(self, path: str | Path, *, device: str = "auto", encoder: str | None = None, seed: int = 0) -> None:
        del seed  # all is learnt
        self.path = Path(path)
        self.run = load_run(self.path)
        self.device = choose_device(device)
        self.encoder = encoder or self.run.about.get("encoder")
        run = self.run
        self.stack = Stack(lambda: build(run.model, run.shape, run.options), run.seeds, self.device)
        wanted = {name: tuple(value.shape) for name, value in {**self.stack.weights, **self.stack.fixed}.items()}
        found = {name: tuple(value.shape) for name, value in run.weights.items()}
        if wanted != found:
            wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
            raise DataError(
                f"{self.path}: the weights do not fit model '{run.model}': {wrong[0]} is {found.get(wrong[0])}, "
                f"expected {wanted.get(wrong[0])}; train it again with this version."
            )
        self.stack.load(run.weights)

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one answer an example, in order."""
        best = int(np.argmax(self.run.held))
        return self.predict_all(examples)[best]

    def predict_all(self, examples: Sequence[Example]) -> list[list[str]]:
        """Give every run's answers, in order."""
        if not examples:
            return [[] for _ in self.run.seeds]
        self._check(examples)
        encoded, vectors = encode(examples, self.run.vocabulary, question=self.run.shape.question), None
        kind = recipe(self.run.model).vectors
        if kind:
            from storyproof.solvers.neural.pretrained import Frozen, add_vectors

            frozen = Frozen(str(self.encoder), self.device)
            encoded, vectors = add_vectors(examples, encoded, self.run.vocabulary, frozen, kind)
        table = Table(encoded, self.device, vectors)
        rows = np.tile(np.arange(len(examples)), (self.stack.runs, 1))
        answers = self.run.vocabulary.answers
        return [[answers[place] for place in row] for row in predict(self.stack, table, rows).tolist()]

    def _check(self, examples: Sequence[Example]) -> None:
        given = family_of(examples)
        if given != self.run.about["family"]:
            raise ConfigError(
                f"{self.path} was trained on {self.run.about['family']}, and these data are about {given}; "
                "choose data or a run that fit."
            )
