"""Texts with nearly the same words in nearly the same order.

MinHash and LSH (datasketch) propose pairs, and their exact Jaccard similarity decides. The numbers of texts and of
proposals are bounded. Texts are compared in the order of their hashes, so those that were compared are a fair sample.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from storyproof.audits.fingerprints import Hashes, hash_of
from storyproof.errors import ConfigError

_SHINGLE_WORDS = 3  # in a row, compared as one
_PERMUTATIONS = 128
_RECALL = 0.97  # the share of pairs just at the threshold that is proposed, at least
_MOST_PROPOSALS = 1_000_000
_ODD = np.uint64(0x9E3779B97F4A7C15)
_WORD = re.compile(r"\w+")
Near = defaultdict[tuple[int, int], list[tuple[float, int, int]]]  # similarity and hashes, by the two parts

_word_hash = lru_cache(maxsize=1 << 17)(hash_of)


class Chosen(NamedTuple):
    """A text that is compared, and the part that it is from."""

    key: int
    part: int
    text: str


def load_datasketch() -> Any:
    """Load the library, which is an optional dependency.

    Raises:
        ConfigError: If it is not installed.
    """
    try:
        return import_module("datasketch")
    except ImportError as error:
        raise ConfigError(
            "near duplicates are found with datasketch, which is not installed; run pip install 'storyproof[audit]', "
            "or leave near duplicates out."
        ) from error


def sample(parts: Sequence[Mapping[int, str]], most: int) -> list[Chosen]:
    """Choose texts to compare, of texts by hash: those of small parts first, in the order of their hashes."""
    chosen: list[Chosen] = []
    for rank, number in enumerate(sorted(range(len(parts)), key=lambda place: len(parts[place]))):
        quota = (most - len(chosen)) // (len(parts) - rank)
        texts = parts[number]
        chosen += [Chosen(key, number, texts[key]) for key in heapq.nsmallest(quota, texts)]
    return sorted(chosen)


def find_near(library: Any, chosen: Sequence[Chosen], threshold: float) -> tuple[Near, dict[str, Any]]:
    """Find all near pairs, and return them with the method used."""
    bands, rows, recall = _bands(threshold)
    storage = {"type": "dict", "basename": b"near"}  # named, or it would draw a name
    index = library.MinHashLSH(num_perm=_PERMUTATIONS, params=(bands, rows), storage_config=storage)
    shingles = [_shingles(each.text) for each in chosen]
    low_halves = (each.astype(np.uint32).tolist() for each in shingles)
    found: Near = defaultdict(list)
    proposals = compared = 0
    for number, sketch in enumerate(library.MinHash.generator(low_halves, num_perm=_PERMUTATIONS, hashfunc=int)):
        if proposals > _MOST_PROPOSALS:
            break
        proposed = sorted(index.query(sketch))
        index.insert(number, sketch, check_duplication=False)
        proposals, compared = proposals + len(proposed), number + 1
        for other in proposed:
            similarity = _jaccard(shingles[other], shingles[number])
            if similarity >= threshold and chosen[other].key != chosen[number].key:
                first, second = sorted((chosen[other], chosen[number]), key=lambda each: each.part)
                found[first.part, second.part].append((similarity, first.key, second.key))
    about = {"threshold": threshold, "shingle_words": _SHINGLE_WORDS, "recall_at_threshold": recall}
    return found, {**about, "proposals": proposals, "compared": compared, "chosen": len(chosen)}


def _bands(threshold: float) -> tuple[int, int, float]:
    """Choose how many bands of how many rows: the most rows that recall allows, for few idle proposals."""
    for rows in range(_PERMUTATIONS // 2, 0, -1):
        recall = 1 - (1 - threshold**rows) ** (_PERMUTATIONS // rows)
        if recall >= _RECALL:
            break
    return _PERMUTATIONS // rows, rows, recall


def _shingles(text: str) -> Hashes:
    """Return the hashes of all runs of a few words."""
    words = np.array([_word_hash(word) for word in _WORD.findall(text.casefold()) or [text]], np.uint64)
    count = max(1, len(words) - _SHINGLE_WORDS + 1)
    mixed = np.zeros(count, np.uint64)
    for at in range(min(_SHINGLE_WORDS, len(words))):
        mixed = mixed * _ODD + words[at : at + count]
    return np.unique(mixed)


def _jaccard(first: Hashes, second: Hashes) -> float:
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)
