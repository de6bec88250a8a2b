"""Vectors of texts by a frozen pretrained encoder, computed once.

The encoder is any BERT-like model that `transformers` can load from a folder (or, with a network, from the hub). People
are written as the numbers of their entities, so that names carry no information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from storyproof.errors import ConfigError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.neural.data.encoder_identity import check_encoder
from storyproof.solvers.neural.data.encoding import Encoded, draw_entities, number_of, pad_rows
from storyproof.solvers.neural.data.vocabulary import (
    TokenVocabulary,
    one_per_story,
    question_words,
    split_sentences,
)

POOLED, PIECES = "pooled", "pieces"
_ROWS = 64


class FrozenEncoder:
    """An encoder and its tokenizer.

    Raises:
        ConfigError: If transformers is not installed, or the model or its tokenizer cannot be loaded.
    """

    def __init__(self, name: str | Path, device: torch.device) -> None:
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise ConfigError(
                "BERT models need the package 'transformers'; install it with: pip install 'storyproof[models]'."
            ) from error
        check_encoder(str(name))
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(str(name))
            model: Any = AutoModel.from_pretrained(
                str(name),
                dtype=torch.float32,
                use_safetensors=True,  # other weights may run code
            )
            self.width = int(model.config.hidden_size)
        except MemoryError:
            raise
        except Exception as error:  # each kind of damaged file raises an error of its own, tokenizers a bare Exception
            reason = " ".join(str(error).split()).rstrip(".")
            raise ConfigError(
                f"no pretrained encoder could be loaded from '{name}': {reason}; give --encoder a folder with a "
                "model in Hugging Face format, such as one that bert-base-uncased was saved to."
            ) from error
        pieces, wanted = len(self.tokenizer), getattr(model.config, "vocab_size", 0)
        if pieces < wanted / 2:  # without its files transformers builds a tokenizer that knows no words
            raise ConfigError(
                f"the tokenizer of the encoder '{name}' knows {pieces} word pieces, but its model has vectors for "
                f"{wanted}; put the tokenizer's files, such as tokenizer.json or vocab.txt, beside the model's."
            )
        self.device, self.model = device, model.to(device).eval()

    @torch.no_grad()
    def read(self, texts: Sequence[Sequence[str]]) -> list[tuple[Tensor, list[int]]]:
        """Return for each text, given as words, the vectors of its pieces and the word that each piece belongs to."""
        encodings = []
        for start in range(0, len(texts), _ROWS):
            batch = [list(words) for words in texts[start : start + _ROWS]]
            pieces = self.tokenizer(
                batch, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt"
            ).to(self.device)
            vectors = self.model(**pieces).last_hidden_state.half().cpu()
            for row in range(len(batch)):
                words = pieces.word_ids(row)
                kept = [place for place, word in enumerate(words) if word is not None]
                encodings.append((vectors[row, kept], [words[place] for place in kept]))
        return encodings


def add_vectors(
    examples: Sequence[Example],
    encoded: Encoded,
    vocabulary: TokenVocabulary,
    encoder: FrozenEncoder,
    kind: str,
    seed: int = 0,
) -> tuple[Encoded, Tensor]:
    """Compute what a model on top of a pretrained encoder reads.

    Returns:
        The encoded examples, whose `flat` has the word or person of each piece, and the vectors of every story
        (`pieces`) or of every example (`pooled`: first that of the text, then that of each asked person or of the
        question).
    """
    distinct = one_per_story(examples)
    texts = [split_sentences(example.story) for example in distinct]
    entities = [draw_entities(example, vocabulary, seed) for example in distinct]
    spelt = [
        [_spell(word, people, vocabulary) for words in sentences for word in words]
        for sentences, people in zip(texts, entities, strict=True)
    ]
    read = encoder.read(spelt)
    owners = []
    for (_, words), sentences, people in zip(read, texts, entities, strict=True):
        numbers = [number_of(word, people, vocabulary) for sentence in sentences for word in sentence]
        owners.append([numbers[word] for word in words])
    if kind == PIECES:
        flat = pad_rows(owners, 1)
        vectors = torch.zeros(*flat.shape, encoder.width, dtype=torch.float16)
        for row, (pieces, _) in enumerate(read):
            vectors[row, : len(pieces)] = pieces
        return replace(encoded, flat=flat), vectors
    queries = _asked(examples, encoded, read, owners, encoder)
    whole = torch.stack([_mean(pieces) for pieces, _ in read])[encoded.story_of]
    return encoded, torch.cat([whole.unsqueeze(1), queries], dim=1)


def add_all_vectors(
    sets: Sequence[tuple[Sequence[Example], TokenVocabulary, int]],
    encoded: Sequence[Encoded],
    encoder: FrozenEncoder,
    kind: str,
) -> tuple[list[Encoded], Tensor]:
    """Compute the same for several sets of examples, each with its vocabulary and the seed for its entities."""
    encodings = [
        add_vectors(examples, each, words, encoder, kind, seed)
        for (examples, words, seed), each in zip(sets, encoded, strict=True)
    ]
    longest = max(vectors.shape[1] for _, vectors in encodings)
    padded = [torch.nn.functional.pad(each, (0, 0, 0, longest - each.shape[1])) for _, each in encodings]
    return [each for each, _ in encodings], torch.cat(padded)


def _mean(vectors: Tensor) -> Tensor:
    """Return the mean vector of a text's pieces; zeros for a text without words."""
    return vectors.float().mean(0).half() if len(vectors) else vectors.new_zeros(vectors.shape[1:])


def _spell(word: str, people: dict[str, int], vocabulary: TokenVocabulary) -> str:
    return str(people[word] - vocabulary.first_entity) if word in people else word


def _asked(
    examples: Sequence[Example],
    encoded: Encoded,
    read: Sequence[tuple[Tensor, list[int]]],
    owners: Sequence[Sequence[int]],
    encoder: FrozenEncoder,
) -> Tensor:
    """Return the vectors of what each example asks about: of the asked people, or of the text of the question."""
    if family_of(examples[0]).question_words(examples[0]) is None:
        return torch.stack([_mean(pieces) for pieces, _ in encoder.read([*map(question_words, examples)])])[:, None]
    rows = []
    for place, story in enumerate(encoded.story_of):
        vectors, owner = read[story][0].float(), np.asarray(owners[story])
        mentions = [np.flatnonzero(owner == person) for person in encoded.questions[place]]
        rows.append(torch.stack([vectors[each].sum(0) / max(len(each), 1) for each in mentions]).half())
    return torch.stack(rows)
