"""Training models on examples: prepares the data, trains all runs together, and writes them to folders."""

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
from storyproof.seeds import digest
from storyproof.solvers.neural.batches import Table, split
from storyproof.solvers.neural.encoder_identity import encoder_identity
from storyproof.solvers.neural.encoding import Encoded, Vocabulary, encode, group_key, learn_vocabulary
from storyproof.solvers.neural.joining import join, numbers_in, union
from storyproof.solvers.neural.layers import Shape
from storyproof.solvers.neural.models import build, usual_options
from storyproof.solvers.neural.recasting import Recast, parts_of
from storyproof.solvers.neural.recipes import recipe
from storyproof.solvers.neural.runs import Run
from storyproof.solvers.neural.settings import Settings
from storyproof.solvers.neural.stack import Stack, State, number_for
from storyproof.solvers.neural.training import Part, Trainer


@dataclass(frozen=True, slots=True)
class Lesson:
    """A training set.

    Attributes:
        train: What to learn from.
        held: What to choose the best epoch by; None to hold back a share of `train`, another one in each run.
        name: What it is called in reports.

    Raises:
        ConfigError: If what is given to choose by is empty.
    """

    train: Sequence[Example]
    held: Sequence[Example] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.held is not None and not self.held:
            raise ConfigError(
                f"{self.name or 'the lesson'} has a val split without questions, so there is none to choose the best "
                "epoch by; add some, or use --held drawn."
            )


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train, but for the data.

    Attributes:
        model: Its name.
        runs: How many, on each training set.
        seed: Where the runs' own seeds come from.
        settings: How to train.
        options: How the model differs from its recipe.
        encoder: A pretrained encoder's folder or name, for models that take one.
        entities: Whether people are entities; by default in kinship only.
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
        """Give each run's seed; the first runs of more are the same as those of fewer."""
        return [number_for("run", self.seed, number) % 2**31 for number in range(self.runs)]


def identity_of(plan: Plan, lessons: Sequence[Lesson]) -> dict[str, Any]:
    """Say what makes a training what it is: equal identities train to equal runs.

    An encoder counts by what it is, not by where it lies.
    """
    return {
        "model": plan.model,
        "runs": plan.runs,
        "seed": plan.seed,
        "settings": plan.settings.as_dict(),
        "version": recipe(plan.model).version,
        "options": {**usual_options(plan.model), **(plan.options or {})},
        "encoder_identity": None if plan.encoder is None else encoder_identity(plan.encoder),
        "entities": plan.entities,
        "data": [
            {"train": _digest(each.train), "held": None if each.held is None else _digest(each.held)}
            for each in lessons
        ],
    }


def _digest(examples: Sequence[Example]) -> str:
    """Hash all that a model may see of examples, and which of them share a story."""
    found, stories = hashlib.sha256(), dict[tuple[str, str], int]()
    for each in examples:
        story = stories.setdefault(group_key(each), len(stories))
        graph = tuple(map(each.get, ("query", "genders", "edges", "edge_types")))  # None without a graph
        found.update(digest(story, each.story, each.question, each.answer, each.chain, graph))
    return found.hexdigest()


class Course:
    """Lessons prepared for a model: its runs on all of them, side by side, ready to be trained.

    Args:
        plan: What to train.
        lessons: On what.
        identity: What `identity_of` says of both, if it was asked already.

    Raises:
        ConfigError: If the model cannot take this kind of data, or misses something.
    """

    def __init__(self, plan: Plan, lessons: Sequence[Lesson], identity: dict[str, Any] | None = None) -> None:
        self.plan, self.lessons = plan, list(lessons)
        self.device = choose_device(plan.device)
        made = recipe(plan.model)
        if made.graph and lessons[0].train and not family_of(lessons[0].train[0]).edge_types:
            title = family_of(lessons[0].train[0]).title
            raise ConfigError(
                f"model '{plan.model}' reads graphs, which stories of {title} do not have; choose another."
            )
        if not isinstance(plan.runs, int) or plan.runs < 1:
            raise ConfigError(f"runs is {plan.runs!r}; use 1 or more.")
        if plan.settings.word_dropout and (made.vectors or made.graph):
            raise ConfigError(f"model '{plan.model}' reads no words that word_dropout could make unknown; leave it 0.")
        self.vocabularies = [learn_vocabulary(each.train, entities=plan.entities) for each in lessons]
        self.vocabulary = union(self.vocabularies)
        joined, vectors = self._encode()
        pieces = vectors.shape[1:] if vectors is not None else ()
        self.shape = shape_of(joined, self.vocabulary, *pieces)
        options = dict(plan.options or {})
        build(plan.model, self.shape, options)  # says at once what is wrong with the options
        if "policy" in options and not self.vocabulary.entities:
            raise ConfigError("policy says how people's vectors are made, but here people are words; leave it out.")
        seeds = plan.seeds()
        stack = Stack(lambda: build(plan.model, self.shape, options), seeds * len(lessons), self.device)
        everybody = [example for each in lessons for example in each.train]
        told_by_numbers = not made.vectors or self.vocabulary.entities  # vectors of words know nothing of an exchange
        recasts = plan.settings.recast and told_by_numbers
        if recasts and len(lessons) > 1 and not self.vocabulary.entities:
            raise ConfigError("stories of several lessons would be retold in each other's words; train them apart.")
        recast = Recast(parts_of(everybody, self.vocabulary), self.vocabulary, self.device) if recasts else None
        self.trainer = Trainer(
            stack,
            Table(joined, self.device, vectors),
            self._parts(joined, seeds),
            plan.settings,
            recast,
            randomised=options.get("policy") == "randomised",
        )
        self.identity = identity or identity_of(plan, lessons)

    def _encode(self) -> tuple[Encoded, Tensor | None]:
        """Turn all examples into arrays, once for every casting, and give what an encoder says of them."""
        made, castings = recipe(self.plan.model), self.plan.settings.castings
        if castings > 1 and not (made.vectors and self.vocabulary.entities):
            raise ConfigError(
                f"castings is {castings}, but people are written as numbers only for bert and bert-lstm on kinship; "
                "leave it 1."
            )
        examples = [[*each.train, *(each.held or ())] for each in self.lessons]
        own = self.vocabularies * castings
        seeds = np.repeat(np.arange(castings), len(examples)).tolist()
        told = list(zip(examples * castings, own, seeds, strict=True))
        encoded = [encode(some, words, seed=seed) for some, words, seed in told]
        if not made.vectors:
            return join(encoded, own, self.vocabulary), None
        if self.plan.encoder is None:
            raise ConfigError(
                f"model '{self.plan.model}' stands on a pretrained encoder; give --encoder a folder with one in "
                "Hugging Face format, or its name on the hub."
            )
        from storyproof.solvers.neural.pretrained import Frozen, add_all_vectors

        encoded, vectors = add_all_vectors(told, encoded, Frozen(self.plan.encoder, self.device), made.vectors)
        return join(encoded, own, self.vocabulary), vectors

    def _parts(self, joined: Encoded, seeds: Sequence[int]) -> list[Part]:
        parts, start = [], 0
        for lesson in self.lessons:
            rows = np.arange(start, start + len(lesson.train))
            after = start + len(lesson.train) + len(lesson.held or ())
            for seed in seeds:
                train, held = rows, np.arange(rows[-1] + 1, after)
                if lesson.held is None:
                    train, held = split(joined, rows, self.plan.settings.held_back, seed)
                if not len(train):
                    raise ConfigError(f"{lesson.name or 'the data'} has too few stories to hold some back; give more.")
                parts.append(Part(train, held, seed))
            start = after
        return parts

    def results(self, about: Mapping[str, Any] | None = None) -> list[Run]:
        """Give each lesson's runs, with the best weights so far."""
        runs, count = [], self.plan.runs
        for number, (lesson, own) in enumerate(zip(self.lessons, self.vocabularies, strict=True)):
            place = slice(number * count, (number + 1) * count)
            answers_too = replace(own, answers=self.vocabulary.answers)
            shape = self.shape._replace(words=own.first_entity)
            described = {
                **self.identity,
                "encoder": self.plan.encoder,  # where it lay, as it was typed
                "lesson": lesson.name,
                "family": family_of(lesson.train[0]).title,
                "epochs": self.trainer.epoch,
                "storyproof": __version__,
                "torch": torch.__version__,
                "hardware": hardware(self.device),
                "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                **(about or {}),
            }
            runs.append(
                Run(
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

    def _weights(self, place: slice, own: Vocabulary) -> State:
        """Pick the runs of a lesson, and of their words those it knows."""
        known = torch.from_numpy(numbers_in(self.vocabulary, own)[: own.first_entity])
        return {
            name: (value[place].cpu()[:, known] if name.endswith("words") else value[place].cpu()).contiguous()
            for name, value in self.trainer.best.items()
        }


def shape_of(encoded: Encoded, vocabulary: Vocabulary, pieces: int = 0, vector: int = 0) -> Shape:
    """Say how large a model's inputs and outputs are."""
    return Shape(
        words=vocabulary.first_entity,
        pool=vocabulary.pool if vocabulary.entities else 0,
        sentences=encoded.stories.shape[1],
        length=encoded.stories.shape[2],
        question=encoded.questions.shape[1],
        edge_types=encoded.edge_types,
        answers=len(vocabulary.answers),
        pieces=pieces,
        vector=vector,
    )


def choose_device(name: str) -> torch.device:
    """Take a device by name; auto is a GPU where there is one.

    Raises:
        ConfigError: If there is no such device.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if not re.fullmatch("cpu|cuda(:(0|[1-9][0-9]*))?", name):  # PyTorch knows more, on which nothing was ever run
        raise ConfigError(f"unknown device '{name}'; use cpu, cuda or auto, or cuda:N for one of several GPUs.")
    if name != "cpu" and int(name.partition(":")[2] or 0) >= (there := torch.cuda.device_count()):
        seen = f"cuda:0 to cuda:{there - 1} only" if there else "no GPU"
        raise ConfigError(f"device '{name}' is not there: PyTorch {torch.__version__} sees {seen}; use cpu or auto.")
    device = torch.device(name)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    return device


def hardware(device: torch.device) -> str:
    """Name what the training ran on."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
