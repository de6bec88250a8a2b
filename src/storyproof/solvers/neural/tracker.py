"""`tracker`: a small transformer that reads a story sentence by sentence and knows the answer after each of them.

It has its own encoder of text. A `Blanker` replaces names by blanks; each name has a number, that of its first
occurrence in question and story, so names carry no information. A form (the known words of a sentence, with blanks) is
read by a small transformer over its words, once for all sentences that have it; what stands in each blank is added in
its place.
The question comes first, then the sentences; after each of them the model points at a name, or answers "unknown",
"yes" or "no". A set of people is one decision for each name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.language.blanks import BLANK, BlankedSentence, Blanker
from storyproof.solvers.neural.training_job import choose_device

SLOTS = 48  # names in a story and its question at most
BLANKS = 6  # of a sentence at most
SPECIAL = ("unknown", "yes", "no")  # answers that are no names
_POSITIONS = 256  # among which those of the sentences are drawn in training, in order
_FORM_WORDS = 24
_BATCH = 256
RUN, WEIGHTS = "run.json", "weights.safetensors"


@dataclass(frozen=True)
class TrackerSize:
    """How large a tracker is."""

    width: int = 128
    layers: int = 6
    heads: int = 4
    hidden: int = 256


class _Block(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
        self.mix, self.join = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.widen, self.narrow = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, states: Tensor, turn: tuple[Tensor, Tensor] | None) -> Tensor:
        batch, length, width = states.shape
        parts = self.mix(self.before(states)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        if turn is not None:
            query, key = turn_by(query, *turn), turn_by(key, *turn)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=turn is not None)
        states = states + self.join(mixed.transpose(1, 2).reshape(batch, length, width))
        result: Tensor = states + self.narrow(functional.gelu(self.widen(self.between(states))))
        return result


def turn_by(values: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn pairs of values by angles that grow with their positions."""
    one, other = values.chunk(2, dim=-1)
    return torch.cat([one * cosine - other * sine, one * sine + other * cosine], dim=-1).to(values.dtype)


class TrackerNetwork(nn.Module):
    """The network; see the module.

    Args:
        words: How many known words there are, with the blank and the one that stands for nothing.
        size: How large it is.
    """

    def __init__(self, words: int, size: TrackerSize = TrackerSize()) -> None:  # noqa: B008
        super().__init__()
        width = size.width
        self.size = size
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(0.02 * torch.randn(_FORM_WORDS, width))
        self.reader = nn.ModuleList(_Block(width, size.heads, size.hidden) for _ in range(2))
        self.whole = nn.Linear(width, width)
        self.names = nn.Parameter(torch.randn(SLOTS, width))
        self.role, self.scale, self.name = (nn.Linear(width, width) for _ in range(3))
        self.fill = nn.Linear(width, width)
        self.blocks = nn.ModuleList(_Block(width, size.heads, size.hidden) for _ in range(size.layers))
        self.norm = nn.RMSNorm(width)
        self.point, self.choose = nn.Linear(width, width), nn.Linear(width, width)
        self.special = nn.Linear(width, len(SPECIAL))
        self.bias = nn.Parameter(torch.zeros(()))

    def read_forms(self, forms: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors of forms, and of every name in each of their blanks.

        Args:
            forms: Word numbers, [form, place]; 0 for none and 1 for a blank.

        Returns:
            [form, width], and [form x blank x name + 1, width], the last one zero for an absent blank.
        """
        states = self.words(forms) + self.places[: forms.shape[1]]
        used = (forms > 0).unsqueeze(-1)
        for block in self.reader:
            states = block(states * used, None)
        mean = (states * used).sum(1) / used.sum(1).clamp(min=1)
        order = torch.argsort((forms != 1).to(torch.int8), dim=1, stable=True)[:, :BLANKS]
        blanks = states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
        names = self.name(self.names)
        filled = functional.gelu(self.role(blanks).unsqueeze(2) + names) + self.scale(blanks).unsqueeze(2) * names
        table = self.fill(filled).reshape(-1, states.shape[-1])
        return self.whole(mean), torch.cat([table, torch.zeros_like(table[:1])])

    def embed(self, forms: Tensor, form: Tensor, names: Tensor) -> Tensor:
        """Return the vectors of sentences.

        Args:
            forms: The word numbers of all forms.
            form: The form of each sentence, [story, sentence].
            names: The number of the name in each blank, [story, sentence, blank]; -1 for none.
        """
        return self.fill_forms(*self.read_forms(forms), form, names)

    def fill_forms(self, whole: Tensor, table: Tensor, form: Tensor, names: Tensor) -> Tensor:
        """Return the vectors of sentences, given what `read_forms` returned; see `embed`."""
        blank = torch.arange(names.shape[-1], device=names.device)
        at = (form.unsqueeze(-1) * BLANKS + blank) * SLOTS + names
        at = torch.where(names < 0, len(table) - 1, at)
        filled = functional.embedding(at, table, padding_idx=len(table) - 1).sum(2, dtype=torch.float32)
        return functional.embedding(form, whole) + filled

    def follow(self, states: Tensor, positions: Tensor) -> Tensor:
        """Return states after each sentence, given the vectors of question and sentences and their positions."""
        half = self.size.width // self.size.heads // 2
        rates = 10_000.0 ** (-torch.arange(half, device=states.device, dtype=torch.float32) / half)
        angles = (positions.float().unsqueeze(-1) * rates).unsqueeze(1)
        turn = angles.cos(), angles.sin()
        for block in self.blocks:
            states = block(states, turn)
        followed: Tensor = self.norm(states)
        return followed

    def answer(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of names and special answers, and of every name to be one of a set."""
        scale = self.size.width**-0.5
        pointed = self.point(states) @ self.names.T * scale
        chosen = self.choose(states) @ self.names.T * scale + self.bias
        return torch.cat([pointed, self.special(states)], dim=-1), chosen

    def forward(self, states: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the answers after each sentence, given the vectors of question and sentences."""
        return self.answer(self.follow(states, positions))


def number_words(words: Sequence[str]) -> dict[str, int]:
    """Return the numbers of known words; 0 stands for nothing, 1 for a blank."""
    return {BLANK: 1} | {word: number for number, word in enumerate(words, start=2)}


def encode_forms(forms: Sequence[Sequence[str]], words: Mapping[str, int]) -> Tensor:
    """Return forms as word numbers, cut off after as many words as a form may have."""
    encoded = np.zeros((len(forms), _FORM_WORDS), np.int64)
    for row, form in zip(encoded, forms, strict=True):
        row[: len(form)] = [words[word] for word in form[:_FORM_WORDS]]
    return torch.from_numpy(encoded)


def model_of(path: Path) -> str:
    """Return the model of the run in a folder; empty if that cannot be read."""
    try:
        return str(json.loads((path / RUN).read_text(encoding="utf-8")).get("model"))
    except (OSError, ValueError, AttributeError):
        return ""


def run_model(path: Path, scores: Sequence[float], run: int | None = None) -> dict[str, Tensor]:
    """Return the weights of one of several runs, by default of the one with the best score."""
    from safetensors.torch import load_file

    start = f"{int(np.argmax(scores)) if run is None else run}."
    return {name[len(start) :]: value.float() for name, value in load_file(path).items() if name.startswith(start)}


class TrackerSolver:
    """Answers by a trained tracker, from story and question alone.

    Args:
        path: The folder of the run.
        device: cpu, cuda or auto.
        run: Which of several runs; by default the one with the best score.
        prefix: Words that are put before every question; "hi-tom:" for Hi-ToM's rule of trust.

    Raises:
        DataError: If there is no tracker at the path, or its files are damaged.
    """

    answers_apart = True

    def __init__(self, path: str | Path, *, device: str = "auto", run: int | None = None, prefix: str = "") -> None:
        path, self.device, self.prefix = Path(path), choose_device(device), prefix
        try:
            about = json.loads((path / RUN).read_text(encoding="utf-8"))
            names = [word for word in about["words"] if isinstance(word, str)]
            self.network = TrackerNetwork(len(names) + 2, TrackerSize(**about["size"]))
            self.network.load_state_dict(run_model(path / WEIGHTS, about["scores"], run))
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise DataError(f"{path} has no readable tracker: {error}; train it again.") from error
        self.about = about
        self.network.to(self.device).eval()
        self._words, self._blanker = number_words(names), Blanker(names)

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""
        stories: dict[str, list[BlankedSentence]] = {}
        rows: list[tuple[int, list[BlankedSentence]]] = []
        for number, example in enumerate(examples):
            if example.story not in stories:
                stories[example.story] = self._blanker.story(example.story.splitlines())
            text = example.question
            question = self._blanker.question(f"{self.prefix} {text[:1].lower()}{text[1:]}" if self.prefix else text)
            rows.append((number, [question, *stories[example.story]]))
        rows.sort(key=lambda row: len(row[1]))  # short ones need no padding
        answers = [""] * len(examples)
        for start in range(0, len(rows), _BATCH):
            some = rows[start : start + _BATCH]
            for (number, _), answer in zip(some, self._answer([row for _, row in some]), strict=True):
                answers[number] = answer
        return [_as_written(answer, each) for answer, each in zip(answers, examples, strict=True)]

    @torch.inference_mode()
    def _answer(self, texts: Sequence[Sequence[BlankedSentence]]) -> list[str]:
        length = max(map(len, texts))
        forms: dict[tuple[str, ...], int] = {(): 0}
        form, filled = np.zeros((len(texts), length), np.int64), np.full((len(texts), length, BLANKS), -1, np.int64)
        known: list[dict[str, int]] = []
        for row, text in enumerate(texts):
            numbers: dict[str, int] = {}
            for place, sentence in enumerate(text):
                form[row, place] = forms.setdefault(sentence.words, len(forms))
                # Of more names than there are numbers, the further ones share the last.
                own = [min(numbers.setdefault(name, len(numbers)), SLOTS - 1) for name in sentence.names[:BLANKS]]
                filled[row, place, : len(own)] = own
            known.append(numbers)
        encoded = encode_forms(list(forms), self._words).to(self.device)
        states = self.network.embed(
            encoded, torch.from_numpy(form).to(self.device), torch.from_numpy(filled).to(self.device)
        )
        positions = torch.arange(length, device=self.device).expand(len(texts), -1)
        states = self.network.follow(states, positions)
        ends = torch.tensor([len(text) - 1 for text in texts], device=self.device)
        scores, chosen = self.network.answer(states[torch.arange(len(texts), device=self.device), ends])
        best, members = scores.argmax(1).tolist(), (chosen > 0).tolist()
        answers = []
        for row, (text, numbers) in enumerate(zip(texts, known, strict=True)):
            names = list(numbers)
            if text[0].words[:1] == ("who",):
                answers.append(
                    ", ".join(sorted(name for name, one in zip(names, members[row], strict=False) if one)) or "nobody"
                )
            elif best[row] >= SLOTS:
                answers.append(SPECIAL[best[row] - SLOTS])
            else:
                answers.append(names[best[row]] if best[row] < len(names) else SPECIAL[0])
        return answers


def _as_written(answer: str, example: Example) -> str:
    """Return an answer with its words as the story writes them."""
    if not answer or answer in SPECIAL:
        return answer
    words = {
        word.lower(): word
        for word in f"{example.story} {example.question}".replace(".", " ").replace("?", " ").replace(",", " ").split()
    }
    return ", ".join(words.get(name, name) for name in answer.split(", "))
