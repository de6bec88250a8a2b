"""The training of `composer`: reading from stated facts, and composing from answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from storyproof.catalog import load
from storyproof.errors import ConfigError
from storyproof.solvers.neural.composer import (
    FIRST_NAME,
    FIRST_WORD,
    LINE,
    NAMES,
    UNKNOWN,
    ComposerNetwork,
    ComposerSize,
    number_tokens,
    tokens_of,
)
from storyproof.solvers.neural.drawn_training import DrawnPlan, DrawnRun, Noise, draw_blocks

_NAMES = 10  # of a story of three facts, and as many mentions of them
_FACTS = 6  # of a story, in both directions
_LEAST_COUNT, _MOST_WORDS = 4, 6000
_WORD_BLOCKS = 6  # blocks whose words are known
_HELD = 1 << 20
_SPARSE = 0.02  # the price of a fact that is read, where nothing says which facts there are


@dataclass(frozen=True)
class ComposerPlan(DrawnPlan):
    """How composers are trained; see also `DrawnPlan`.

    Attributes:
        tokens: Longer stories are left out.
        joined: Stories that are read one after the other, as one text, at most: only then are there as many people who
            are nothing to each other as in long stories.
        dropout: The share of words that are hidden.
        answers: 1 to learn from answers alone: of the stories' own questions, and of questions about what they state.
        templates: A file of templates in the published form, which the stories are then told with.
    """

    model: ClassVar[str] = "composer"
    least: ClassVar[dict[str, int]] = {**DrawnPlan.least, "tokens": 16, "joined": 1}

    stories: int = 200_000
    steps: int = 10_000
    batch: int = 192
    rate: float = 1e-3
    layers: int = 4
    tokens: int = 63
    joined: int = 3
    dropout: float = 0.05
    answers: int = 0
    templates: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.joined * _NAMES > NAMES:
            raise ConfigError(f"joined is {self.joined}; use {NAMES // _NAMES} at most.")

    @property
    def size(self) -> ComposerSize:
        """How large the networks are."""
        return ComposerSize(self.width, self.layers)

    def prepare(self, device: torch.device) -> tuple[Callable[[int], ComposerRun], dict[str, Any]]:
        """Draw stories; see `DrawnPlan`."""
        relations, words = list(_curriculum(self).words), learn_words(self)
        stories, held = _draw(self, words, device), _draw(self, words, device, held=True)
        about = {
            "family": load("family", _curriculum(self).family).title,
            "relations": relations,
            "words": words,
            "size": asdict(self.size),
            "stories": len(stories["answers"]),
        }
        sizes = len(words), len(relations)
        return lambda number: ComposerRun(self, number, *sizes, stories, held, device), about


Arrays = dict[str, np.ndarray[Any, Any]]


@lru_cache(maxsize=1)
def _curriculum(plan: ComposerPlan) -> Any:
    return load("curriculum", "composer")(plan.seed, templates=plan.templates)


def learn_words(plan: ComposerPlan) -> list[str]:
    """Return the words that occur without a capital letter often enough, and marks."""
    counts: Counter[str] = Counter()
    for index in range(min(_WORD_BLOCKS, 1 + plan.stories // 6000)):
        for lesson in _curriculum(plan).block(index)[: plan.stories]:
            counts.update(token for token in tokens_of(lesson.story) if not token[:1].isupper() and token != "\n")
    return sorted(word for word, count in counts.most_common(_MOST_WORDS) if count >= min(_LEAST_COUNT, plan.stories))


def _encode(plan: ComposerPlan, words: Mapping[str, int], index: int) -> Arrays:
    """Return the stories of a block as arrays, but long ones and those with people whose names are known words."""
    curriculum = _curriculum(plan)
    relations = {relation: number for number, relation in enumerate(curriculum.words)}
    tokens, facts, chains, answers = (
        list[list[int]](),
        list[list[tuple[int, int, int]]](),
        list[list[int]](),
        list[int](),
    )
    for lesson in curriculum.block(index)[: plan.stories]:
        names: dict[str, int] = {}
        for name in lesson.asked:
            names.setdefault(name, len(names))
        numbers = number_tokens(tokens_of(lesson.story), words, names)
        is_long = len(numbers) > plan.tokens or sum(FIRST_NAME <= each < FIRST_WORD for each in numbers) > _NAMES
        if is_long or len(names) > _NAMES or any(one not in names or two not in names for one, _, two in lesson.facts):
            continue
        tokens.append(numbers + [0] * (plan.tokens - len(numbers)))
        stated = [(names[one], names[two], relations[relation]) for one, relation, two in lesson.facts]
        facts.append(stated + [(-1, -1, -1)] * (_FACTS - len(stated)))
        chains.append(
            [relations[relation] for relation in (*lesson.chain, *[lesson.chain[0]] * 3)[:3]] + [len(lesson.chain)]
        )
        answers.append(relations[lesson.answer])
    return {
        "tokens": np.array(tokens, np.int16),
        "facts": np.array(facts, np.int8),
        "chains": np.array(chains, np.int8),
        "answers": np.array(answers, np.int8),
    }


def _draw(plan: ComposerPlan, words: list[str], device: torch.device, *, held: bool = False) -> dict[str, Tensor]:
    numbers = {word: FIRST_WORD + number for number, word in enumerate(words)}
    count = 1 if held else max(1, plan.stories // 6144)
    indices = range(_HELD, _HELD + 1) if held else range(count)
    parts = draw_blocks(partial(_encode, plan, numbers), indices, plan.workers)
    return {name: torch.from_numpy(np.concatenate([each[name] for each in parts])).to(device) for name in parts[0]}


def join_stories(tokens: Tensor, facts: Tensor, noise: Noise) -> tuple[Tensor, Tensor]:
    """Return the texts of one or more stories with names of their own, and their facts.

    Args:
        tokens: Of each story, [text, story, place]; 0 after its end.
        facts: Two people and their relation, [text, story, fact, 3]; -1 for none.
        noise: Draws how many stories each text has.
    """
    texts, count, _ = tokens.shape
    shift = torch.arange(count, device=tokens.device)[:, None] * _NAMES
    is_name = (tokens >= FIRST_NAME) & (tokens < FIRST_WORD)
    tokens = functional.pad(torch.where(is_name, tokens + shift, tokens), (0, 1), value=LINE)
    people = torch.where(facts < 0, facts, facts + shift[..., None])
    facts = torch.cat([people[..., :2], facts[..., 2:]], dim=-1)
    is_there = torch.arange(count, device=tokens.device) <= noise.below(count, texts, 1)
    tokens = torch.where(is_there[..., None], tokens, 0).flatten(1)
    facts = torch.where(is_there[..., None, None], facts, -1).flatten(1, 2)
    return tokens.gather(1, (tokens == 0).to(torch.int8).argsort(dim=1, stable=True)), facts


class ComposerRun(DrawnRun):
    """One run.

    Args:
        plan: How it is trained.
        number: Which run it is.
        words: How many words are known.
        relations: How many relations there are.
        stories: What it learns from.
        held: What it is scored on.
        device: Where it is trained.
    """

    network: ComposerNetwork

    def __init__(
        self,
        plan: ComposerPlan,
        number: int,
        words: int,
        relations: int,
        stories: Mapping[str, Tensor],
        held: Mapping[str, Tensor],
        device: torch.device,
    ) -> None:
        super().__init__(plan, number, device)
        self.dropout, self.joined, self.answers = plan.dropout, plan.joined, plan.answers
        self.stories, self.held = stories, held
        self.network = ComposerNetwork(words, relations, plan.size).to(device)
        self.optimize({"table": 20})
        self._read: Any = self.network.read
        if self.on_gpu and plan.compiled:
            self._read = torch.compile(self.network.read, dynamic=False)

    def kind_of(self, step: int) -> int:
        """Return the only kind of batch."""
        return 0

    def loss(self, kind: int, noise: Noise) -> Tensor:
        """Return the loss of reading and of composing."""
        rows = noise.below(len(self.stories["answers"]), self.plan.batch, self.joined)
        if self.answers:
            return self.answering_loss(self.stories, rows, noise)
        return self.reading_loss(self.stories, rows, noise) + self.composing_loss(self.stories, rows.flatten())

    def read_texts(
        self, stories: Mapping[str, Tensor], rows: Tensor, noise: Noise
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Read several stories as one text, with names numbered anew and some words hidden.

        Args:
            stories: The stories.
            rows: Which of them are in each text, [text, story]; some texts end earlier.
            noise: Draws the numbers of names, how many stories a text has, and which words are hidden.

        Returns:
            The score of each relation between names, and that there is none first; their facts, [text, fact, 3]; the
            numbers of the names, [text, name]; which pairs of names are in the text.
        """
        tokens, facts = join_stories(stories["tokens"][rows].long(), stories["facts"][rows].long(), noise)
        numbers = noise.orders(len(rows), NAMES)
        is_name = (tokens >= FIRST_NAME) & (tokens < FIRST_WORD)
        renamed = FIRST_NAME + numbers.gather(1, (tokens - FIRST_NAME).clamp(0, NAMES - 1))
        hidden = noise.uniform(*tokens.shape) < self.dropout
        tokens = torch.where(is_name, renamed, torch.where(hidden & (tokens >= FIRST_WORD), UNKNOWN, tokens))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.on_gpu, cache_enabled=False):
            scores = self._read(tokens, _NAMES * rows.shape[1])
        present = torch.zeros(len(rows), NAMES, dtype=torch.bool, device=self.device)
        present.scatter_(1, torch.where(is_name, renamed - FIRST_NAME, 0), is_name)
        pairs = present[:, :, None] & present[:, None] & ~torch.eye(NAMES, dtype=torch.bool, device=self.device)
        return torch.cat([torch.zeros_like(scores[..., :1]), scores], dim=-1), facts, numbers, pairs

    def reading_loss(self, stories: Mapping[str, Tensor], rows: Tensor, noise: Noise) -> Tensor:
        """Return how badly the stated facts are read; for the arguments see `read_texts`."""
        scores, facts, numbers, pairs = self.read_texts(stories, rows, noise)
        target = torch.zeros(len(rows), NAMES * NAMES + 1, dtype=torch.long, device=self.device)
        one, two = (numbers.gather(1, facts[..., side].clamp(min=0)) for side in (0, 1))
        spot = torch.where(facts[..., 0] < 0, NAMES * NAMES, one * NAMES + two)
        target.scatter_(1, spot, facts[..., 2] + 1)
        target = target[:, :-1]
        each = functional.cross_entropy(scores.flatten(1, 2).transpose(1, 2), target, reduction="none")
        weight = pairs.flatten(1).float() * torch.where(target > 0, 3.0, 1.0)
        return (each * weight).sum() / weight.sum()

    def answering_loss(self, stories: Mapping[str, Tensor], rows: Tensor, noise: Noise) -> Tensor:
        """Return how badly one question about each story is answered, without being told what the story states.

        An answer comes from all ways of at most three facts between the two people. Nothing says which facts there are:
        reading fewer is better, as long as they lead to the answers. For the arguments see `read_texts`.
        """
        scores, facts, numbers, pairs = self.read_texts(stories, rows, noise)
        read = scores.softmax(-1)[..., 1:] * pairs[..., None]
        texts, count = rows.shape
        facts = facts.view(texts, count, _FACTS, 3)[:, :, ::2]  # as they are stated, not the other way round
        is_there = facts[:, :, 0, 0] >= 0
        which = noise.below(1 << 20, texts, count) % (facts[..., 0] >= 0).sum(-1).clamp(min=1)
        stated = facts.gather(2, which[..., None, None].expand(-1, -1, 1, 3)).squeeze(2)
        asked = torch.arange(count, device=self.device)[:, None] * _NAMES + torch.arange(2, device=self.device)
        is_chain = noise.below(2, texts, count) == 0
        people = torch.where(is_chain[..., None], asked, stated[..., :2]).clamp(min=0)
        first, second = (numbers.gather(1, people[..., side]) for side in (0, 1))
        answers = torch.where(is_chain, stories["answers"][rows].long(), stated[..., 2].clamp(min=0))
        total = self.compose_ways(read, first, second)
        right = total.gather(-1, answers[..., None]).squeeze(-1)
        loss = -torch.log((right + 1e-6) / (total.sum(-1) + 0.1))
        facts_read = read.sum(dim=(1, 2, 3)).mean()
        return (loss * is_there).sum() / is_there.sum() + _SPARSE * facts_read

    def compose_ways(self, read: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Return the weight of each answer over all ways of at most three facts, [text, question, relation].

        Args:
            read: Probabilities of relations between names, [text, name, name, relation].
            first: The first person of each question, [text, question].
            second: The second.
        """
        table = self.network.table.softmax(-1)[..., :-1]
        places = torch.arange(len(read), device=read.device)[:, None]
        from_first, to_second = read[places, first], read[places, :, second]  # [text, question, name, relation]
        others = torch.arange(NAMES, device=read.device)
        is_between = ((others != first[..., None]) & (others != second[..., None]))[..., None]
        start, end = from_first * is_between, to_second * is_between
        two = torch.einsum("tqma,tqmb,abc->tqc", start, end, table)
        onward = torch.einsum("tqmbc,tmjb->tqjc", torch.einsum("tqma,abc->tqmbc", start, table), read)
        back = torch.einsum("tqjac,tmja->tqmc", torch.einsum("tqjb,abc->tqjac", end, table), read)
        left = torch.einsum("tqma,tqmb,abc->tqc", onward * is_between, end, table)
        right = torch.einsum("tqma,tqmb,abc->tqc", start, back * is_between, table)
        direct = from_first.gather(2, second[..., None, None].expand(-1, -1, 1, read.shape[-1])).squeeze(2)
        return direct + two + (left + right) / 2

    def composing_loss(self, stories: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        """Return how badly the facts of chains are composed."""
        chains, answers = stories["chains"][rows].long(), stories["answers"][rows].long()
        known = functional.one_hot(chains[:, :3], self.network.relations).float()
        losses = []
        for length in (2, 3):
            found = self.network.compose(known[:, :length]).gather(1, answers[:, None]).squeeze(1)
            losses.append(-torch.log(found + 1e-6) * (chains[:, 3] == length))
        return torch.stack(losses).sum() / len(rows)

    @torch.inference_mode()
    def score(self) -> float:
        """Return in which share of held-back stories every fact is read rightly; of answers alone, answers."""
        stories, right = self.held, 0
        count = min(2048, len(stories["answers"]))
        people = torch.tensor([[0], [1]], device=self.device)
        for start in range(0, count, 256):
            rows = torch.arange(start, min(start + 256, count), device=self.device)
            facts = stories["facts"][rows].long()
            scores = self.network.read(stories["tokens"][rows].long())
            whole = torch.cat([torch.zeros_like(scores[..., :1]), scores], dim=-1)
            if self.answers:
                first, second = people.expand(-1, len(rows))[..., None]
                answers = self.compose_ways(whole.softmax(-1)[..., 1:], first, second).argmax(-1)[:, 0]
                right += int((answers == stories["answers"][rows]).sum())
                continue
            best = whole.argmax(-1).flatten(1).gather(1, (facts[..., 0] * NAMES + facts[..., 1]).clamp(min=0))
            right += int(((best == facts[..., 2] + 1) | (facts[..., 0] < 0)).all(1).sum())
        return right / count
