"""`tracker`: a small transformer that reads a story sentence by sentence and knows the answer after each of them.

It has its own encoder of text. A `Blanker` replaces names by blanks; each name has a number, that of its first
occurrence in question and story, so names carry no information. A form (the known words of a sentence, with blanks) is
read by a small transformer over its words, once for all sentences that have it; it says what becomes of the vector of
the name in each blank before they are added.
The question comes first, then the sentences; each sees all others, and at each of them the model points at a name, or
answers "unknown", "yes" or "no", as if the story ended there. A set of people is asked of each person one by one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.language.blanks import BLANK, BlankedSentence, Blanker
from storyproof.solvers.neural.training_job import choose_device

SLOTS = 48  # names in a story and its question at most
BLANKS = 5  # of a sentence at most
SPECIAL = ("unknown", "yes", "no")  # answers that are no names
_FORM_WORDS = 24
_BATCH = 64
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

    def forward(self, states: Tensor, seen: Tensor, turn: tuple[Tensor, Tensor] | None = None) -> Tensor:
        batch, length, width = states.shape
        parts = self.mix(self.before(states)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        if turn is not None:
            query, key = turn_by(query, *turn), turn_by(key, *turn)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        states = states + self.join(mixed.transpose(1, 2).reshape(batch, length, width))
        result: Tensor = states + self.narrow(functional.gelu(self.widen(self.between(states))))
        return result


def turn_by(values: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn pairs of values by angles that grow with their positions."""
    one, other = values.chunk(2, dim=-1)
    return torch.cat([one * cosine - other * sine, one * sine + other * cosine], dim=-1).to(values.dtype)


def pick_rows(table: Tensor, rows: Tensor) -> Tensor:
    """Return rows of a table; none, which is zero, for -1.

    In training by a product with ones and zeros, whose gradient is a product too: that of an index adds row by row.
    """
    if torch.is_grad_enabled():
        return (rows.unsqueeze(-1) == torch.arange(len(table), device=rows.device)).to(table.dtype) @ table
    return functional.embedding(rows.clamp(min=0), table) * (rows >= 0).unsqueeze(-1)


class Read(NamedTuple):
    """What a tracker has read.

    Attributes:
        states: Question and sentences, [story, 1 + sentence, width].
        names: The vectors of names, [story, number, width].
        seen: Whether there is a question or sentence, for attention, [story, 1, 1, 1 + sentence].
    """

    states: Tensor
    names: Tensor
    seen: Tensor


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
        self.whole, self.gate = nn.Linear(width, width), nn.Linear(width, width)
        self.names = nn.Parameter(torch.randn(SLOTS, width))
        self.mark, self.fill, self.ask = (nn.Linear(width, width) for _ in range(3))
        self.blocks = nn.ModuleList(_Block(width, size.heads, size.hidden) for _ in range(size.layers))
        self.norm, self.middle = nn.RMSNorm(width), nn.RMSNorm(width)
        self.point, self.special = nn.Linear(width, width), nn.Linear(width, len(SPECIAL))
        self.room, self.present = nn.Linear(width, width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.zeros(()))

    def read_forms(self, forms: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors of forms, [form, width], and what each does to the name in a blank, [form, blank, width].

        Args:
            forms: Word numbers, [form, place]; 0 for none and 1 for a blank.
        """
        states = self.words(forms) + self.places[: forms.shape[1]]
        used = forms > 0
        used = used | (torch.arange(forms.shape[1], device=forms.device) == 0)  # the empty form has a place to look at
        for block in self.reader:
            states = block(states, used[:, None, None])
        mean = (states * used.unsqueeze(-1)).sum(1) / used.sum(1, keepdim=True)
        order = torch.argsort((forms != 1).to(torch.int8), dim=1, stable=True)[:, :BLANKS]
        blanks = states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
        return self.whole(mean), self.gate(blanks)

    def read(self, forms: Tensor, form: Tensor, names: Tensor, numbers: Tensor | None = None) -> Read:
        """Read question and sentences.

        Args:
            forms: The word numbers of all forms.
            form: The form of question and sentences, [story, 1 + sentence]; 0 after the end.
            names: The number of the name in each blank, [story, 1 + sentence, blank]; -1 for none.
            numbers: Which of the vectors of names each number has, [story, number]; their order by default.
        """
        whole, gates = self.read_forms(forms)
        batch, length = form.shape
        table = self.names.expand(batch, -1, -1) if numbers is None else pick_rows(self.names, numbers)
        gate = pick_rows(gates.flatten(1), form).view(batch, length, BLANKS, -1)
        # Those in the question have a mark that says in which of its blanks.
        asked = (names[:, 0, :, None] == torch.arange(SLOTS, device=names.device)).to(gate.dtype)
        table = table + asked.transpose(1, 2) @ self.mark(gate[:, 0])
        stood = (names.unsqueeze(-1) == torch.arange(SLOTS, device=names.device)).to(table.dtype)
        filled = (stood.flatten(1, 2) @ table).view(batch, length, BLANKS, -1)
        states = pick_rows(whole, form) + self.fill((filled * gate).sum(2))
        seen = form > 0
        seen = seen | (torch.arange(length, device=form.device) == 0)
        return Read(states + self.ask(states[:, :1]), table, seen[:, None, None])

    def follow(self, read: Read, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states after each sentence, after half of the layers and after all.

        Args:
            read: Question and sentences.
            positions: Where they stand, [story, 1 + sentence].
        """
        states, width = read.states, self.size.width // self.size.heads // 2
        rates = 10_000.0 ** (-torch.arange(width, device=states.device, dtype=torch.float32) / width)
        angles = (positions.float().unsqueeze(-1) * rates).unsqueeze(1)
        turn, half = (angles.cos(), angles.sin()), states
        for number, block in enumerate(self.blocks):
            half = states if number == (len(self.blocks) + 1) // 2 else half
            states = block(states, read.seen, turn)
        return half, self.norm(states)

    def answer(self, states: Tensor, read: Read) -> Tensor:
        """Return the scores of names and special answers, [story, place, answer]."""
        pointed = self.point(states) @ read.names.transpose(1, 2) * self.size.width**-0.5
        return torch.cat([pointed, self.special(states)], dim=-1)

    def scene(self, half: Tensor, read: Read) -> tuple[Tensor, Tensor]:
        """Return the scores of each name to be the room of a sentence, and to be there: only training asks for it."""
        states, scale = self.middle(half), self.size.width**-0.5
        room, present = (head(states) @ read.names.transpose(1, 2) * scale for head in (self.room, self.present))
        return room, present + self.bias


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


def expect_family(path: Path, family: str, examples: Sequence[Example]) -> None:
    """Raise ConfigError if examples are of another family than a run was trained on."""
    given = family_of(examples[0]).title if examples else family
    if given != family:
        raise ConfigError(
            f"{path} was trained on {family}, and these data are about {given}; choose data or a run that fit."
        )


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
        self.path, self.about = path, about
        self.network.to(self.device).eval()
        self._words, self._blanker = number_words(names), Blanker(names)

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""
        expect_family(self.path, self.about["family"], examples)
        stories: dict[str, list[BlankedSentence]] = {}
        texts: list[list[BlankedSentence]] = []
        sets: dict[int, list[str]] = {}
        asked: list[tuple[int, str]] = []  # of each text its example, and the person of whom a set is asked
        for number, example in enumerate(examples):
            if example.story not in stories:
                stories[example.story] = self._blanker.story(example.story.splitlines())
            text, story = example.question, stories[example.story]
            question = self._blanker.question(f"{self.prefix} {text[:1].lower()}{text[1:]}" if self.prefix else text)
            if question.words[:1] != ("who",):
                asked.append((number, ""))
                texts.append([question, *story])
                continue
            sets[number] = []
            for person in dict.fromkeys(each.names[0] for each in story if each.words[:1] == (BLANK,)):
                asked.append((number, person))
                texts.append([BlankedSentence((*question.words, BLANK), (*question.names, person)), *story])
        answers = [""] * len(examples)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # short ones need no padding
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            for place, answer in zip(batch, self._answer([texts[place] for place in batch]), strict=True):
                number, person = asked[place]
                if not person:
                    answers[number] = answer
                elif answer == "yes":
                    sets[number].append(person)
        for number, people in sets.items():
            answers[number] = ", ".join(sorted(people)) or "nobody"
        return [_as_written(answer, each) for answer, each in zip(answers, examples, strict=True)]

    @torch.inference_mode()
    def _answer(self, texts: Sequence[Sequence[BlankedSentence]]) -> list[str]:
        length = max(map(len, texts))
        forms: dict[tuple[str, ...], int] = {(): 0}
        form, filled = np.zeros((len(texts), length), np.int64), np.full((len(texts), length, BLANKS), -1, np.int64)
        known: list[list[str]] = []
        for row, text in enumerate(texts):
            numbers: dict[str, int] = {}
            for place, sentence in enumerate(text):
                form[row, place] = forms.setdefault(sentence.words, len(forms))
                # Of more names than there are numbers, the further ones share the last.
                own = [min(numbers.setdefault(name, len(numbers)), SLOTS - 1) for name in sentence.names[:BLANKS]]
                filled[row, place, : len(own)] = own
            known.append(list(numbers))
        encoded = encode_forms(list(forms), self._words).to(self.device)
        read = self.network.read(encoded, *(torch.from_numpy(each).to(self.device) for each in (form, filled)))
        positions = torch.arange(length, device=self.device).expand(len(texts), -1)
        _, states = self.network.follow(read, positions)
        ends = torch.tensor([len(text) - 1 for text in texts], device=self.device)
        states = states.gather(1, ends[:, None, None].expand(-1, -1, states.shape[-1]))
        best = self.network.answer(states, read).squeeze(1).argmax(1).tolist()
        return [
            SPECIAL[one - SLOTS] if one >= SLOTS else names[one] if one < len(names) else SPECIAL[0]
            for one, names in zip(best, known, strict=True)
        ]


def _as_written(answer: str, example: Example) -> str:
    """Return an answer with its words as the story writes them."""
    if not answer or answer in SPECIAL:
        return answer
    words = {
        word.lower(): word
        for word in f"{example.story} {example.question}".replace(".", " ").replace("?", " ").replace(",", " ").split()
    }
    return ", ".join(words.get(name, name) for name in answer.split(", "))
