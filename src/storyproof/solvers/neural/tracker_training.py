"""The training of `tracker`, on stories that its family draws without words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from storyproof.catalog import load
from storyproof.errors import ConfigError
from storyproof.solvers.neural.counter_rng import seed_for
from storyproof.solvers.neural.drawn_training import DrawnPlan, DrawnRun, Noise, draw_blocks
from storyproof.solvers.neural.tracker import (
    SLOTS,
    TrackerNetwork,
    TrackerSize,
    encode_forms,
    number_words,
)

_BLOCK = 4096  # stories that are drawn at once
_HELD = 1 << 20  # the number of the first block of held-back stories
_HELD_BLOCKS, _HELD_STORIES = 12, 2048
_AGENTS = 8  # the first numbers are those of people
_POSITIONS = 128  # among which the first sentence stands
_GAP = 3  # the most that is left out between sentences
_SCENE, _END = 0.5, 4.0  # weights of rooms and people there, and of the answer at the end of a story


@dataclass(frozen=True)
class TrackerPlan(DrawnPlan):
    """How trackers are trained; see also `DrawnPlan`.

    Attributes:
        restatements: Whether stories say again where objects are (1 or 0).
        order: The highest order of the questions.
        hi_tom: Whether a part of the stories has the words and the rule of Hi-ToM (1 or 0).
    """

    model: ClassVar[str] = "tracker"
    least: ClassVar[dict[str, int]] = {**DrawnPlan.least, "order": 1}

    stories: int = 600_000
    steps: int = 19_000
    batch: int = 1536
    restatements: int = 1
    order: int = 4
    hi_tom: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order > 4:
            raise ConfigError(f"order is {self.order}; a tracker learns questions of order 4 at most.")

    @property
    def size(self) -> TrackerSize:
        """How large the networks are."""
        return TrackerSize(self.width, self.layers, hidden=2 * self.width)

    def prepare(self, device: torch.device) -> tuple[Callable[[int], TrackerRun], dict[str, Any]]:
        """Draw stories; see `DrawnPlan`."""
        curriculum = _curriculum(self)
        stories, held = draw_stories(self, device), draw_stories(self, device, held=True)
        about = {
            "family": load("family", curriculum.family).title,
            "words": curriculum.words,
            "size": asdict(self.size),
            "stories": sum(len(each.form) for each in stories),
            "questions": sum(each.questions() for each in stories),
        }
        forms, words = curriculum.forms, curriculum.words
        return lambda number: TrackerRun(self, number, forms, words, stories, held, device), about


@dataclass(frozen=True)
class Stories:
    """Stories of one length on a device: the fields of the family's lessons as tensors."""

    form: Tensor
    names: Tensor
    question: Tensor
    asked: Tensor
    answer: Tensor
    room: Tensor
    present: Tensor

    def questions(self) -> int:
        """Return how many questions there are."""
        return int(self.question.numel())


@lru_cache(maxsize=1)  # its tables take longer than a small block
def _curriculum(plan: TrackerPlan) -> Any:
    make = load("curriculum", "tracker")
    return make(plan.seed, restatements=bool(plan.restatements), order=plan.order, hi_tom=bool(plan.hi_tom))


def _draw(plan: TrackerPlan, count: int, index: int) -> tuple[int, dict[str, np.ndarray[Any, Any]]]:
    length, lessons = _curriculum(plan).block(index, count)
    return length, {item.name: getattr(lessons, item.name) for item in fields(Stories)}


def draw_stories(plan: TrackerPlan, device: torch.device, *, held: bool = False) -> list[Stories]:
    """Return stories of every length; they do not depend on the number of workers.

    Args:
        plan: How many, and which.
        device: Where to.
        held: Whether to draw those that are held back.
    """
    count = _HELD_BLOCKS if held else max(6, -(-plan.stories // _BLOCK))  # at least every wording and size
    size = min(_HELD_STORIES if held else _BLOCK, plan.stories)
    start = _HELD if held else 0
    parts: dict[int, list[dict[str, Any]]] = {}
    for length, part in draw_blocks(partial(_draw, plan, size), range(start, start + count), plan.workers):
        parts.setdefault(length, []).append(part)
    return [
        Stories(
            **{name: torch.from_numpy(np.concatenate([each[name] for each in some])).to(device) for name in some[0]}
        )
        for _, some in sorted(parts.items())
    ]


class TrackerBatch(NamedTuple):
    """Questions, one of each story, with what is to be learnt from them.

    Attributes:
        form: The forms of question and sentences, [story, 1 + sentence].
        names: The numbers in their blanks, [story, 1 + sentence, blank].
        numbers: Which vector each number has, [story, number].
        positions: Where they stand, [story, 1 + sentence].
        answer: The answer after each sentence, [story, sentence].
        room: The room of each sentence, [story, sentence]; -1 for none.
        present: Who is there, [story, sentence, agent].
    """

    form: Tensor
    names: Tensor
    numbers: Tensor
    positions: Tensor
    answer: Tensor
    room: Tensor
    present: Tensor


def draw_batch(stories: Stories, count: int, noise: Noise) -> TrackerBatch:
    """Draw questions; names get other vectors in each, and sentences other positions."""
    device = stories.form.device
    story, which = noise.below(len(stories.form), count), noise.below(stories.question.shape[1], count)
    form = torch.cat([stories.question[story, which][:, None], stories.form[story]], dim=1).long()
    names = torch.cat([stories.asked[story, which][:, None], stories.names[story]], dim=1).long()
    # Half of the batch has positions one after the other, the other half with gaps, as in longer stories.
    steps = 1 + noise.below(_GAP + 1, *form.shape) * noise.below(2, count, 1)
    positions = noise.below(_POSITIONS, count, 1) + steps.cumsum(1)
    present = stories.present[story].unsqueeze(-1) >> torch.arange(_AGENTS, device=device) & 1
    return TrackerBatch(
        form,
        names,
        noise.orders(count, SLOTS),
        positions,
        stories.answer[story, which].long(),
        stories.room[story].long(),
        present,
    )


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=1)


def batch_loss(network: TrackerNetwork, forms: Tensor, batch: TrackerBatch) -> Tensor:
    """Return the loss: of the answers after every sentence, of the rooms of sentences, and of the people there."""
    read = network.read(forms, batch.form, batch.names, batch.numbers)
    half, states = network.follow(read, batch.positions)
    read = read._replace(states=read.states[:, 1:])
    used = (batch.form[:, 1:] > 0).float()
    ends = used - functional.pad(used[:, 1:], (0, 1))
    scores = network.answer(states[:, 1:], read).float().flatten(0, 1)
    answers = functional.cross_entropy(scores, batch.answer.flatten(), reduction="none").view_as(used)
    room, present = network.scene(half[:, 1:], read)
    rooms = functional.cross_entropy(
        room.float().flatten(0, 1), batch.room.clamp(min=0).flatten(), reduction="none"
    ).view_as(used)
    people = functional.binary_cross_entropy_with_logits(
        present[..., :_AGENTS].float(), batch.present.float(), reduction="none"
    ).sum(-1)
    happens = (batch.room >= 0).float()
    return _mean(answers, used + _END * ends) + _SCENE * (_mean(rooms, happens) + _mean(people, happens))


class TrackerRun(DrawnRun):
    """One run.

    Args:
        plan: How it is trained.
        number: Which run it is.
        forms: The words of every form.
        words: The known words.
        stories: What it learns from.
        held: What it is scored on.
        device: Where it is trained.
    """

    network: TrackerNetwork

    def __init__(
        self,
        plan: TrackerPlan,
        number: int,
        forms: list[tuple[str, ...]],
        words: list[str],
        stories: Sequence[Stories],
        held: Sequence[Stories],
        device: torch.device,
    ) -> None:
        super().__init__(plan, number, device)
        numbers = number_words(words)
        self.network = TrackerNetwork(len(numbers) + 1, plan.size).to(device)
        self.forms = encode_forms(forms, numbers).to(device)
        self.stories, self.held = stories, held
        self.optimize()
        parts = np.array([each.questions() for each in stories], np.float64)
        self._shares = parts.cumsum() / parts.sum()
        self._loss: Any = batch_loss
        if self.on_gpu and plan.compiled:
            self._loss = torch.compile(batch_loss, dynamic=False)

    def kind_of(self, step: int) -> int:
        """Return which length the stories of a step have."""
        fraction = float(seed_for("length", self.seed, step) % 2**32) / 2.0**32
        return min(int(np.searchsorted(self._shares, fraction, side="right")), len(self.stories) - 1)

    def loss(self, kind: int, noise: Noise) -> Tensor:
        """Return the loss on questions about stories of one length."""
        batch = draw_batch(self.stories[kind], self.plan.batch, noise)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.on_gpu, cache_enabled=False):
            loss: Tensor = self._loss(self.network, self.forms, batch)
        return loss

    @torch.inference_mode()
    def score(self) -> float:
        """Return how many of the questions about held-back stories are answered correctly at the end."""
        right = total = 0
        for number, each in enumerate(self.held):
            batch = draw_batch(each, min(4096, each.questions()), Noise(torch.tensor(number, device=self.device)))
            read = self.network.read(self.forms, batch.form, batch.names, batch.numbers)
            _, states = self.network.follow(read, batch.positions)
            ends = (batch.form > 0).sum(1)[:, None]
            last = states.gather(1, ends.unsqueeze(-1).expand(-1, -1, states.shape[-1]) - 1)
            answers = self.network.answer(last, read).argmax(-1)
            right += int((answers == batch.answer.gather(1, ends - 2)).sum())
            total += len(ends)
        return right / total
