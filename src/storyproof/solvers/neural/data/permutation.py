"""Permute names and objects within their roles, with another permutation in every training step.

Which name a person has, and which container is the box and which the basket, does not matter: if people, objects,
containers and rooms are permuted among themselves, the answer is permuted with them. A permutation is drawn by the
number of the step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.generation.seeds import Indices
from storyproof.solvers.neural.counter_rng import mix
from storyproof.solvers.neural.data.batches import Batch
from storyproof.solvers.neural.data.vocabulary import TokenVocabulary, split_words

_WORDS = ("story", "flat", "question", "nodes")  # of a batch


class WordPermutation:
    """Draws permutations of words.

    Args:
        roles: The role of each number of a vocabulary; numbers of one role may be permuted.
        vocabulary: The vocabulary.
        device: Where to draw.
    """

    def __init__(self, roles: Indices, vocabulary: TokenVocabulary, device: torch.device) -> None:
        self.roles = torch.from_numpy(roles).to(device)
        self.by_role = torch.argsort(self.roles, stable=True)
        spelt = [vocabulary.numbers.get(answer.lower(), 0) for answer in vocabulary.answers]
        self.answer_words = torch.tensor(spelt, device=device)
        answer_of = np.zeros(vocabulary.size, np.int64)
        answer_of[spelt] = np.arange(len(spelt))
        self.answer_of = torch.from_numpy(answer_of).to(device)

    def draw(self, noise: Tensor) -> Tensor:
        """Draw one permutation per number given: where each number of the vocabulary goes."""
        place = torch.arange(len(self.roles), device=noise.device)
        keys = mix(place + noise.unsqueeze(-1) * 0x9E3779B9)
        order = torch.argsort(self.roles * 2**31 + (keys & 0x7FFFFFFF), dim=-1)
        return torch.empty_like(order).scatter_(-1, self.by_role.expand_as(order), order)

    def permute_answers(self, permutation: Tensor, answers: Tensor) -> Tensor:
        """Permute answers; those that are not words of the vocabulary, such as rare ones, stay."""
        words = self.answer_words[answers]
        return torch.where(words > 0, self.answer_of[permutation.gather(-1, words)], answers)

    def __call__(self, batch: Batch, answers: Tensor) -> tuple[Batch, Tensor]:
        """Permute the words and answers of all runs' batches, by the noise of each run."""
        permutation = self.draw(batch.noise)

        def permute(numbers: Tensor) -> Tensor:
            return permutation.gather(1, numbers.flatten(1).long()).view(numbers.shape)

        permuted = batch._replace(**{name: permute(getattr(batch, name)) for name in _WORDS})
        return permuted, self.permute_answers(permutation, answers)


def word_roles(examples: Sequence[Example], vocabulary: TokenVocabulary) -> Indices:
    """Return a number for the role of each word; words that must not be permuted have a role of their own.

    Entities have one role. Other words have the role that the family gives them (`Family.roles`), except those of
    answers that consist of several words, such as the people who believe something: such an answer stays as it is, so
    its words must stay too.
    """
    numbers = np.arange(vocabulary.size)
    numbers[vocabulary.first_entity :] = vocabulary.first_entity
    roles = family_of(examples[0]).roles(examples)
    answers = {answer.lower() for answer in vocabulary.answers}
    kept = {word for answer in answers if len(words := split_words(answer)) > 1 for word in words}
    first: dict[tuple[str, bool], int] = {}
    for word, number in vocabulary.numbers.items():
        if word in roles and word not in kept:
            role = (roles[word], word in answers)  # words that are never answers are not exchanged for answers
            numbers[number] = first.setdefault(role, number)
    return numbers
