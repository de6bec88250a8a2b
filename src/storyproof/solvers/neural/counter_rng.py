"""Random numbers that depend on numbers alone, not on the state of a generator.

A run therefore draws the same alone, among other runs, and after it is resumed.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from storyproof.generation.seeds import digest

_MOST = 4096  # no array is larger in any dimension but the first


def seed_for(*purpose: object) -> int:
    """Return a seed for a generator, determined by what it is for."""
    return int.from_bytes(digest(*purpose)[:7], "little")


def mix(numbers: Tensor) -> Tensor:
    """Mix the bits of integers, so that neighbours have nothing in common; the lowest 31 bits are random."""
    numbers = numbers * 0x2545F4914F6CDD1D
    numbers = (numbers ^ (numbers >> 29)) * 0x369DEA0F31A53F85
    return (numbers ^ (numbers >> 32)) * 0x2545F4914F6CDD1D >> 33


def number_places(shape: Sequence[int], device: torch.device) -> Tensor:
    """Number the places of an array; padding does not change the number of a place."""
    numbers = torch.zeros((), dtype=torch.int64, device=device)
    for size in shape:
        numbers = numbers.unsqueeze(-1) * _MOST + torch.arange(size, device=device)
    return numbers
