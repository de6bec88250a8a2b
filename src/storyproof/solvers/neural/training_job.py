"""A training: its plan and training sets, the identity that they have, and all that a trainer needs to run it."""

from __future__ import annotations

import hashlib
import platform
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from storyproof import __version__
from storyproof.errors import ConfigError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.generation.seeds import digest
from storyproof.solvers.neural.counter_rng import seed_for
from storyproof.solvers.neural.data.batches import ExampleTable, WordPermutation, shape_of, split, word_roles
from storyproof.solvers.neural.data.encoder_identity import encoder_identity
from storyproof.solvers.neural.data.encoding import Encoded, encode, join
from storyproof.solvers.neural.data.vocabulary import (
    TokenVocabulary,
    group_key,
    learn_vocabulary,
    merge_vocabularies,
    translate_numbers,
)
from storyproof.solvers.neural.models.registry import build, default_options, recipe
from storyproof.solvers.neural.saved_runs import TrainedRuns
from storyproof.solvers.neural.stacked_models import Stack, State
from storyproof.solvers.neural.training_loop import RunSplit, Trainer
from storyproof.solvers.training_settings import Settings

_NOTHING = (None,) * 4  # how the digest of rows without facts has always been computed


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Examples to train on.

    Attributes:
        train: The training examples.
        held: The examples to choose the best epoch by; None to hold back a share of `train`, another one in each run.
        name: Its name in reports.

    Raises:
        ConfigError: If the examples to choose by are given, but empty.
    """

    train: Sequence[Example]
    held: Sequence[Example] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.held is not None and not self.held:
            raise ConfigError(
                f"{self.name or 'the training set'} has a val split without questions, so there are none to choose the "
                "best epoch by; add some, or use --held drawn."
            )


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What to train, except the data.

    Attributes:
        model: Its name.
        runs: How many runs, on each training set.
        seed: Determines the seeds of the runs.
        settings: How to train.
        options: The model's options that differ from its recipe.
        encoder: A pretrained encoder's folder or name, for models that need one.
        entities: Whether people are entities; by default as the family says.
        device: cpu, cuda, or auto.
    """

    model: str
    runs: int = 1
    seed: int = 0
    settings: Settings = field(default_factory=Settings)
    options: Mapping[str, Any] | None = None
    encoder: str | None = None
    entities: bool | None = None
    device: str = "auto"

    def seeds(self) -> list[int]:
        """Return the seed of each run; the first runs of a larger plan are those of a smaller one."""
        return [seed_for("run", self.seed, number) % 2**31 for number in range(self.runs)]


def identity_of(plan: TrainingPlan, sets: Sequence[TrainingSet]) -> dict[str, Any]:
    """Return what identifies a training: equal identities train to equal runs.

    An encoder is identified by its files, not by its path.
    """
    return {
        "model": plan.model,
        "runs": plan.runs,
        "seed": plan.seed,
        "settings": plan.settings.as_dict(),
        "version": recipe(plan.model).version,
        "options": {**default_options(plan.model), **(plan.options or {})},
        "encoder_identity": None if plan.encoder is None else encoder_identity(plan.encoder),
        "entities": plan.entities,
        "data": [
            {"train": _digest(each.train), "held": None if each.held is None else _digest(each.held)} for each in sets
        ],
    }


def _digest(examples: Sequence[Example]) -> str:
    """Hash all that a model may see of examples, and which of them share a story."""
    content_hash, stories = hashlib.sha256(), dict[tuple[str, str], int]()
    for each in examples:
        story = stories.setdefault(group_key(each), len(stories))
        facts = family_of(each).model_facts(each) or _NOTHING
        content_hash.update(digest(story, each.story, each.question, each.answer, each.chain, facts))
    return content_hash.hexdigest()


class Training:
    """Training sets prepared for a model: its runs on all of them, ready to be trained together.

    Args:
        plan: What to train.
        sets: What to train it on.
        identity: The result of `identity_of`, if it is known already.

    Raises:
        ConfigError: If the model cannot read this kind of data, or something is missing.
    """

    def __init__(self, plan: TrainingPlan, sets: Sequence[TrainingSet], identity: dict[str, Any] | None = None) -> None:
        self.plan, self.sets = plan, list(sets)
        self.device = choose_device(plan.device)
        made = recipe(plan.model)
        if made.graph and sets[0].train and not (family := family_of(sets[0].train[0])).edge_types:
            raise ConfigError(
                f"model '{plan.model}' reads graphs, but stories of {family.title} have none; choose another model."
            )
        if not isinstance(plan.runs, int) or plan.runs < 1:
            raise ConfigError(f"runs is {plan.runs!r}; use 1 or more.")
        if plan.settings.word_dropout and (made.vectors or made.graph):
            raise ConfigError(f"model '{plan.model}' does not read words, so word_dropout has no effect; leave it 0.")
        self.vocabularies = [learn_vocabulary(each.train, entities=plan.entities) for each in sets]
        self.vocabulary = merge_vocabularies(self.vocabularies)
        joined, vectors = self._encode()
        pieces = vectors.shape[1:] if vectors is not None else ()
        self.shape = shape_of(joined, self.vocabulary, *pieces)
        options = dict(plan.options or {})
        build(plan.model, self.shape, options)  # raises at once if an option is wrong
        if "policy" in options and not self.vocabulary.entities:
            raise ConfigError(
                "option policy is for people as entities, but in these data people are words; leave it out."
            )
        seeds = plan.seeds()
        stack = Stack(lambda: build(plan.model, self.shape, options), seeds * len(sets), self.device)
        permutes = plan.settings.recast and (not made.vectors or self.vocabulary.entities)  # vectors stay as they are
        if permutes and len(sets) > 1 and not self.vocabulary.entities:
            raise ConfigError(
                "recast would mix the words of several training sets; train on them separately, or set recast to false."
            )
        permutation = None
        if permutes:
            roles = word_roles([example for each in sets for example in each.train], self.vocabulary)
            permutation = WordPermutation(roles, self.vocabulary, self.device)
        self.trainer = Trainer(
            stack,
            ExampleTable(joined, self.device, vectors),
            self._parts(joined, seeds),
            plan.settings,
            permutation,
            randomised=options.get("policy") == "randomised",
        )
        self.identity = identity or identity_of(plan, sets)

    def _encode(self) -> tuple[Encoded, Tensor | None]:
        """Return all examples as arrays, once for every casting, and their vectors by an encoder if there is one."""
        made, castings = recipe(self.plan.model), self.plan.settings.castings
        if castings > 1 and not (made.vectors and self.vocabulary.entities):
            raise ConfigError(
                f"castings is {castings}, but only bert and bert-lstm read people as numbers, in families whose names "
                "are entities; leave it 1."
            )
        examples = [[*each.train, *(each.held or ())] for each in self.sets]
        own = self.vocabularies * castings
        seeds = np.repeat(np.arange(castings), len(examples)).tolist()
        readings = list(zip(examples * castings, own, seeds, strict=True))
        encoded = [encode(some, words, seed=seed) for some, words, seed in readings]
        if not made.vectors:
            return join(encoded, own, self.vocabulary), None
        if self.plan.encoder is None:
            raise ConfigError(
                f"model '{self.plan.model}' needs a pretrained encoder; give --encoder a folder with one in Hugging "
                "Face format, or its name on the hub."
            )
        from storyproof.solvers.neural.data import pretrained

        encoder = pretrained.FrozenEncoder(self.plan.encoder, self.device)
        encoded, vectors = pretrained.add_all_vectors(readings, encoded, encoder, made.vectors)
        return join(encoded, own, self.vocabulary), vectors

    def _parts(self, joined: Encoded, seeds: Sequence[int]) -> list[RunSplit]:
        parts, start = [], 0
        for each in self.sets:
            rows = np.arange(start, start + len(each.train))
            after = start + len(each.train) + len(each.held or ())
            for seed in seeds:
                train, held = rows, np.arange(rows[-1] + 1, after)
                if each.held is None:
                    train, held = split(joined, rows, self.plan.settings.held_back, seed)
                if not len(train):
                    raise ConfigError(f"{each.name or 'the data'} has too few stories to hold some back; give more.")
                parts.append(RunSplit(train, held, seed))
            start = after
        return parts

    def results(self, about: Mapping[str, Any] | None = None) -> list[TrainedRuns]:
        """Return the runs of each training set, with the best weights so far."""
        runs, count = [], self.plan.runs
        for number, (each, own) in enumerate(zip(self.sets, self.vocabularies, strict=True)):
            place = slice(number * count, (number + 1) * count)
            answers_too = replace(own, answers=self.vocabulary.answers)
            shape = self.shape._replace(words=own.first_entity)
            described = {
                **self.identity,
                "encoder": self.plan.encoder,  # as it was typed
                "lesson": each.name,
                "family": family_of(each.train[0]).title,
                "epochs": self.trainer.epoch,
                "storyproof": __version__,
                "torch": torch.__version__,
                "hardware": hardware(self.device),
                "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                **(about or {}),
            }
            runs.append(
                TrainedRuns(
                    self.plan.model,
                    {**(self.plan.options or {})},
                    shape,
                    answers_too,
                    self.plan.seeds(),
                    self.trainer.best_held[place],
                    described,
                    self._weights(place, own),
                )
            )
        return runs

    def _weights(self, place: slice, own: TokenVocabulary) -> State:
        """Return the weights of the runs of one training set, with the words that it knows."""
        own_vectors = torch.from_numpy(translate_numbers(own, self.vocabulary)[: own.first_entity])
        return {
            name: (value[place].cpu()[:, own_vectors] if name.endswith("words") else value[place].cpu()).contiguous()
            for name, value in self.trainer.best.items()
        }


def choose_device(name: str) -> torch.device:
    """Return a device by name; auto is a GPU if there is one.

    Raises:
        ConfigError: If there is no such device.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if not re.fullmatch("cpu|cuda(:(0|[1-9][0-9]*))?", name):  # PyTorch knows others, which were never tested
        raise ConfigError(f"unknown device '{name}'; use cpu, cuda or auto, or cuda:N for one of several GPUs.")
    if name != "cpu" and int(name.partition(":")[2] or 0) >= (there := torch.cuda.device_count()):
        seen = f"cuda:0 to cuda:{there - 1} only" if there else "no GPU"
        raise ConfigError(
            f"device '{name}' is not available: PyTorch {torch.__version__} finds {seen}; use cpu or auto."
        )
    device = torch.device(name)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    return device


def hardware(device: torch.device) -> str:
    """Return the name of the hardware."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
