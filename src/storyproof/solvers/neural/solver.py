"""A trained run as a solver."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.neural.batches import Table
from storyproof.solvers.neural.encoder_identity import encoder_identity
from storyproof.solvers.neural.encoding import encode
from storyproof.solvers.neural.fitting import choose_device
from storyproof.solvers.neural.models import build
from storyproof.solvers.neural.recipes import recipe
from storyproof.solvers.neural.runs import WEIGHTS, load_run
from storyproof.solvers.neural.stack import Stack
from storyproof.solvers.neural.steps import predict

if TYPE_CHECKING:
    from storyproof.solvers.neural.pretrained import Frozen


def stands_on_encoder(path: str | Path) -> bool:
    """Say whether the run in a folder needs a pretrained encoder.

    Raises:
        DataError: If there is no trained run.
    """
    return bool(recipe(load_run(Path(path)).model).vectors)


class Trained:
    """Answers by the run that was best on what was held back; `predict_all` by each.

    Args:
        path: The folder of the run.
        device: cpu, cuda or auto.
        encoder: Where the pretrained encoder it stands on lies, if not where it lay when it was trained.
        seed: Not needed, since all is learnt.

    Raises:
        ConfigError: If an encoder is given for a run that stands on none.
        DataError: If there is no trained run at the path.
    """

    def __init__(self, path: str | Path, *, device: str = "auto", encoder: str | None = None, seed: int = 0) -> None:
        del seed
        self.path = Path(path)
        self.run = load_run(self.path)
        self.device = choose_device(device)
        run = self.run
        if encoder and not recipe(run.model).vectors:
            raise ConfigError(f"{self.path} is of '{run.model}', which stands on no encoder; leave --encoder out.")
        self.encoder: str | None = encoder or run.about.get("encoder")
        self.stack = Stack(lambda: build(run.model, run.shape, run.options), run.seeds, self.device)
        self._check_weights()
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
            from storyproof.solvers.neural.pretrained import add_vectors

            encoded, vectors = add_vectors(examples, encoded, self.run.vocabulary, self._frozen, kind)
        table = Table(encoded, self.device, vectors)
        rows = np.tile(np.arange(len(examples)), (self.stack.runs, 1))
        answers = self.run.vocabulary.answers
        return [[answers[place] for place in row] for row in predict(self.stack, table, rows).tolist()]

    def cannot_say(self, examples: Sequence[Example]) -> int:
        """Count the examples whose label is none of the answers that were taught."""
        known = set(self.run.vocabulary.answers)
        return sum(each.answer not in known for each in examples)

    @cached_property
    def _frozen(self) -> Frozen:
        """The encoder, if it is the one that the run was trained with; older runs do not say which that was."""
        from storyproof.solvers.neural.pretrained import Frozen

        if self.encoder is None:
            raise ConfigError(f"{self.path} does not say where its encoder lies; give --encoder its folder.")
        was, identity = self.run.about.get("encoder"), self.run.about.get("encoder_identity")
        if self.encoder == was and identity not in (None, was) and not Path(was).is_dir():
            raise ConfigError(
                f"{self.path} was trained with an encoder in {was}, where there is none now; give --encoder its folder."
            )
        frozen, shape = Frozen(self.encoder, self.device), self.run.shape
        if frozen.width != shape.vector:
            raise ConfigError(
                f"the encoder '{self.encoder}' gives vectors of {frozen.width} numbers, but {self.path} was trained on "
                f"vectors of {shape.vector}; give --encoder the one it was trained with."
            )
        if identity is not None and encoder_identity(self.encoder) != identity:
            raise ConfigError(
                f"the encoder '{self.encoder}' is not the one that {self.path} was trained with, its files differ; "
                "give --encoder that one, or train again."
            )
        return frozen

    def _check_weights(self) -> None:
        run = self.run
        wanted = {name: tuple(value.shape) for name, value in {**self.stack.weights, **self.stack.fixed}.items()}
        found = {name: tuple(value.shape) for name, value in run.weights.items()}
        if wanted != found:
            wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
            raise DataError(
                f"{self.path}: the weights do not fit model '{run.model}': {wrong[0]} is {found.get(wrong[0])}, "
                f"expected {wanted.get(wrong[0])}; train it again with this version."
            )
        for name, value in run.weights.items():
            if not value.is_floating_point() or not value.float().isfinite().all():
                why = "numbers that are not finite" if value.is_floating_point() else f"values of {value.dtype}"
                raise DataError(
                    f"{self.path / WEIGHTS} is damaged: {name} has {why}, expected finite floating-point numbers; "
                    "train the model again with --force, or to another --out."
                )

    def _check(self, examples: Sequence[Example]) -> None:
        given = family_of(examples[0]).title
        if given != self.run.about["family"]:
            raise ConfigError(
                f"{self.path} was trained on {self.run.about['family']}, and these data are about {given}; "
                "choose data or a run that fit."
            )
        labels, answers = {each.answer for each in examples if each.answer}, self.run.vocabulary.answers
        if len(labels) > 1 and labels.isdisjoint(answers):  # a single answer may well be one that was never learnt
            raise ConfigError(
                f"{self.path} knows none of the answers of these data, such as '{min(labels)}', but answers such as "
                f"'{answers[0]}'; choose data or a run that fit."
            )
