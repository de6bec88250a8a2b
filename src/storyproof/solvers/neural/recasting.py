"""Retells stories with other words in the same parts, as often as one likes.

Who is called what, and which box is a box and which a basket, changes nothing: a story with its people, objects,
containers and rooms exchanged among themselves has the same answer with the same exchange. Every step of training so
sees its stories with another cast, drawn by the step's number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.seeds import Indices
from storyproof.solvers.neural.encoding import Vocabulary
from storyproof.solvers.neural.layers import mixed


class Recast:
    """Draws exchanges of words.

    Args:
        parts: The part that each number of a vocabulary plays; numbers of one part may be exchanged.
        vocabulary: Whose numbers they are.
        device: Where to draw.
    """

    def __init__(self, parts: Indices, vocabulary: Vocabulary, device: torch.device) -> None:
        self.parts = torch.from_numpy(parts).to(device)
        self.by_part = torch.argsort(self.parts, stable=True)
        said = [vocabulary.numbers.get(answer.lower(), 0) for answer in vocabulary.answers]
        self.answer_words = torch.tensor(said, device=device)
        answer_of = np.zeros(vocabulary.size, np.int64)
        answer_of[said] = np.arange(len(said))
        self.answer_of = torch.from_numpy(answer_of).to(device)

    def draw(self, noise: Tensor) -> Tensor:
        """Draw an exchange for each number given: where each number of the vocabulary goes."""
        place = torch.arange(len(self.parts), device=noise.device)
        keys = mixed(place + noise.unsqueeze(-1) * 0x9E3779B9)
        order = torch.argsort(self.parts * 2**31 + (keys & 0x7FFFFFFF), dim=-1)
        return torch.empty_like(order).scatter_(-1, self.by_part.expand_as(order), order)

    def answers(self, exchange: Tensor, answers: Tensor) -> Tensor:
        """Exchange answers too; those that are no words of the vocabulary, such as rare ones, stay."""
        words = self.answer_words[answers]
        return torch.where(words > 0, self.answer_of[exchange.gather(-1, words)], answers)


def parts_of(examples: Sequence[Example], vocabulary: Vocabulary) -> Indices:
    """Tell which words may be exchanged: those that play one part only in all stories.

    Entities are one part. Of theory-of-mind stories whose text can be read so are agents, objects, containers and
    rooms. Whatever else there is, is a part of its own.
    """
    parts = np.arange(vocabulary.size)
    parts[vocabulary.first_entity :] = vocabulary.first_entity
    roles = family_of(examples[0]).roles(examples)
    answers = {answer.lower() for answer in vocabulary.answers}
    first: dict[tuple[str, bool], int] = {}
    for word, number in vocabulary.numbers.items():
        if word in roles:
            role = (roles[word], word in answers)  # a container that is never an answer stays apart
            parts[number] = first.setdefault(role, number)
    return parts
