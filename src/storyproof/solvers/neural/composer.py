"""`composer`: a small network that reads who is what to whom, and a learned table that composes such relations.

It has its own encoder of text. Names are words with a capital letter that are not among the words of its training; each
has a number, drawn anew for every story in training, so names carry no information. A transformer whose layers look at
neighbouring words only reads the text, and a score of each pair of mentions says what the one is to the other. The
relations on the most certain way between the two people in question are then composed, two at a time and in every order
(as in the parsing of a sentence), by a table that says what the relation of a relation is.
"""

from __future__ import annotations

import heapq
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.solvers.neural.tracker import RUN, WEIGHTS, expect_family, run_model, turn_by
from storyproof.solvers.neural.training_job import choose_device

NAMES = 32  # in a story at most
MENTIONS = 48  # of names in a story at most
UNKNOWN, LINE, FIRST_NAME = 1, 2, 3  # numbers of tokens; 0 is padding, and words follow the names
FIRST_WORD = FIRST_NAME + NAMES
_TOKEN = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|\d+|\n|[^\w\s]")
_BATCH = 32
_LEAST = 1e-4  # the probability of a relation that is not there


@dataclass(frozen=True)
class ComposerSize:
    """How large a composer is; `window` is how many words a word sees to each side in a layer."""

    width: int = 128
    layers: int = 4
    heads: int = 4
    window: int = 40
    rank: int = 24


@lru_cache(1 << 14)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return words, marks and line breaks; the possessive ending is a word of its own."""
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        if token.endswith(("'s", "’s")) and len(token) > 2:
            tokens += [token[:-2], "'s"]
        else:
            tokens.append(token)
    return tuple(tokens)


def number_tokens(tokens: Sequence[str], words: Mapping[str, int], names: dict[str, int]) -> list[int]:
    """Return the numbers of tokens, and add the names among them to `names`, with the places of their numbers."""
    numbers = []
    for token in tokens:
        if token == "\n":
            numbers.append(LINE)
        elif (known := words.get(token.lower())) is not None and token not in names:
            numbers.append(known)
        elif token[:1].isupper() and (token in names or len(names) < NAMES):
            numbers.append(FIRST_NAME + names.setdefault(token, len(names)))
        else:
            numbers.append(UNKNOWN)
    return numbers


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
        self.mix, self.join = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.widen, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, states: Tensor, near: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        batch, length, width = states.shape
        parts = self.mix(self.before(states)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        query, key = turn_by(query, *turn), turn_by(key, *turn)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=near)
        states = states + self.join(mixed.transpose(1, 2).reshape(batch, length, width))
        result: Tensor = states + self.narrow(functional.gelu(self.widen(self.between(states))))
        return result


class ComposerNetwork(nn.Module):
    """The network; see the module.

    Args:
        words: How many known words there are.
        relations: How many relations.
        size: How large it is.
    """

    def __init__(self, words: int, relations: int, size: ComposerSize = ComposerSize()) -> None:  # noqa: B008
        super().__init__()
        self.size, self.relations = size, relations
        self.tokens = nn.Embedding(FIRST_WORD + words, size.width, padding_idx=0)
        self.layers = nn.ModuleList(_Layer(size.width, size.heads) for _ in range(size.layers))
        self.norm = nn.RMSNorm(size.width)
        self.one, self.other = (nn.Linear(size.width, relations * size.rank) for _ in range(2))
        self.bias = nn.Parameter(torch.full((relations,), -4.0))
        # What the relation of a relation is; the last is that nothing follows, which is so until it is learnt.
        start = torch.zeros(relations, relations, relations + 1)
        start[:, :, -1] = 6.0
        self.table = nn.Parameter(start)

    def read(self, tokens: Tensor, most: int = MENTIONS) -> Tensor:
        """Return the score of each relation between names, [story, first, second, relation]; 0 is that there is none.

        Args:
            tokens: Their numbers, [story, place].
            most: Mentions of names in a story at most.
        """
        length, half = tokens.shape[1], self.size.width // self.size.heads // 2
        place = torch.arange(length, device=tokens.device)
        rates = 1_000.0 ** (-torch.arange(half, device=tokens.device, dtype=torch.float32) / half)
        angles = place.float()[:, None] * rates
        near = ((place[:, None] - place).abs() <= self.size.window) & (tokens > 0)[:, None]
        near = (near | (place[:, None] == place))[:, None]
        states = self.tokens(tokens)
        for layer in self.layers:
            states = layer(states, near, (angles.cos(), angles.sin()))
        states = self.norm(states)
        is_name = (tokens >= FIRST_NAME) & (tokens < FIRST_WORD)
        at = torch.argsort((~is_name).to(torch.int8), dim=1, stable=True)[:, :most]
        name = torch.where(is_name.gather(1, at), tokens.gather(1, at) - FIRST_NAME, -1)
        mentions = states.gather(1, at.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
        batch, count = name.shape
        one, other = (
            each(mentions).view(batch, count, self.relations, self.size.rank).transpose(1, 2)
            for each in (self.one, self.other)
        )
        scores = (one @ other.transpose(2, 3)).float() * self.size.rank**-0.5 + self.bias[:, None, None]
        apart = (at[:, :, None] - at[:, None]).abs() <= 2 * self.size.window
        scores = scores.masked_fill(~apart[:, None], -30.0).clamp(-30.0, 30.0)
        which = functional.one_hot(name + 1, NAMES + 1)[..., 1:].float()
        with torch.autocast(tokens.device.type, enabled=False):
            summed = torch.einsum("bmi,brmn,bnj->bijr", which, scores.exp(), which)
        return torch.log(summed + 1e-12)

    def compose(self, chains: Tensor) -> Tensor:
        """Return the probabilities of what chains of relations amount to, [chain, relation].

        Args:
            chains: Probabilities of the relations of each chain, [chain, place, relation].
        """
        table = self.table.softmax(-1)[..., :-1]
        length = chains.shape[1]
        cells = {(place, place + 1): chains[:, place] for place in range(length)}
        for span in range(2, length + 1):
            for start in range(length - span + 1):
                end = start + span
                parts = [
                    torch.einsum("na,nb,abc->nc", cells[start, cut], cells[cut, end], table)
                    for cut in range(start + 1, end)
                ]
                whole = torch.stack(parts).sum(0)
                total = whole.sum(1, keepdim=True)
                # A part from which nothing follows stays as unlikely as it is.
                cells[start, end] = whole / total.clamp(min=1.0)
        found = cells[0, length]
        return found / found.sum(1, keepdim=True).clamp(min=1e-9)


class ComposerSolver:
    """Answers by a trained composer, from story and question alone.

    Args:
        path: The folder of the run.
        device: cpu, cuda or auto.
        run: Which of several runs; by default the one with the best score.

    Raises:
        DataError: If there is no composer at the path, or its files are damaged.
    """

    answers_apart = True

    def __init__(self, path: str | Path, *, device: str = "auto", run: int | None = None) -> None:
        path, self.device = Path(path), choose_device(device)
        try:
            about = json.loads((path / RUN).read_text(encoding="utf-8"))
            self.relations: list[str] = about["relations"]
            self._words = {word: FIRST_WORD + number for number, word in enumerate(about["words"])}
            self.network = ComposerNetwork(len(self._words), len(self.relations), ComposerSize(**about["size"]))
            self.network.load_state_dict(run_model(path / WEIGHTS, about["scores"], run))
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise DataError(f"{path} has no readable composer: {error}; train it again.") from error
        self.path, self.about = path, about
        self.network.to(self.device).eval()

    @torch.inference_mode()
    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""
        expect_family(self.path, self.about["family"], examples)
        rows = []
        for number, example in enumerate(examples):
            names: dict[str, int] = {}
            first, second = _asked(example.question)
            for name in (first, second):
                names.setdefault(name, len(names))
            tokens = number_tokens(tokens_of(example.story), self._words, names)
            rows.append((number, tokens, (names[first], names[second])))
        rows.sort(key=lambda row: len(row[1]))
        answers = [""] * len(examples)
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            length = max(len(tokens) for _, tokens, _ in batch)
            padded = torch.tensor([tokens + [0] * (length - len(tokens)) for _, tokens, _ in batch])
            found = self.answer(self.network.read(padded.to(self.device)), [people for _, _, people in batch])
            for (number, _, _), answer in zip(batch, found, strict=True):
                answers[number] = answer
        return answers

    def answer(self, scores: Tensor, asked: Sequence[tuple[int, int]]) -> list[str]:
        """Compose what is read on the most certain way from the first person to the second, for each story.

        Args:
            scores: What `ComposerNetwork.read` returned.
            asked: The numbers of the two people.
        """
        read = torch.cat([torch.zeros_like(scores[..., :1]), scores], dim=-1).softmax(-1)[..., 1:]
        # Rounded sums may be above 1, and ways with negative costs would never end.
        certain = (-torch.log(read.sum(-1).clamp(min=_LEAST, max=1.0))).tolist()
        by_length: dict[int, list[tuple[int, list[int]]]] = {}
        for story, (first, second) in enumerate(asked):
            way = _shortest_way(certain[story], first, second)
            by_length.setdefault(len(way), []).append((story, way))
        answers = [""] * len(asked)
        for some in by_length.values():
            chains = torch.stack([read[story, way[:-1], way[1:]] for story, way in some])
            best = self.network.compose(chains / chains.sum(-1, keepdim=True)).argmax(-1).tolist()
            for (story, _), one in zip(some, best, strict=True):
                answers[story] = self.relations[one]
        return answers


def _shortest_way(costs: Sequence[Sequence[float]], first: int, second: int) -> list[int]:
    """Return the people on the cheapest way from one to another."""
    best, before, queue = {first: 0.0}, dict[int, int](), [(0.0, first)]
    worst = -math.log(_LEAST)
    while queue:
        cost, here = heapq.heappop(queue)
        if here == second:
            break
        if cost > best[here]:
            continue
        for there, more in enumerate(costs[here]):
            # Where nothing is read, no way is better than the direct one.
            if more >= worst and there != second:
                continue
            if there != here and cost + more < best.get(there, math.inf) - 1e-12:
                best[there], before[there] = cost + more, here
                heapq.heappush(queue, (cost + more, there))
    way = [second]
    while way[-1] != first:
        way.append(before[way[-1]])
    return way[::-1]


def _asked(question: str) -> tuple[str, str]:
    """Return the first person in question and the second: "What is B to A?" asks for what the second, B, is."""
    words = [token for token in tokens_of(question) if token[:1].isupper() or token.startswith("@")]
    people = [word for word in words if word not in ("What", "Who", "How")]
    if len(people) < 2:
        raise DataError(f"the question {question!r} does not name two people, as in 'What is Ada to Bo?'.")
    return people[1], people[0]
