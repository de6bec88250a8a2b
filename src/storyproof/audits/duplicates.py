"""Contamination: stories that occur more than once, within a split, between splits, or in another dataset.

Five kinds: `story`, the same text; `question`, the same question about it; `conflict`, the same question about it
with another answer; `structural`, the same text once people are numbered in the order in which they appear, and case
and spaces are folded (which includes all of `story`); `near`, other texts with nearly the same words, names kept, in
nearly the same order.

The first four are found by hashing, with some hundred bytes per row. For the last, MinHash and LSH (datasketch) propose
pairs, and their exact Jaccard similarity decides. The numbers of texts and of proposals are bounded. Texts are compared
in the order of their hashes, so those that were compared are a fair sample.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from storyproof.audits.fingerprints import HashedSplit, Hashes, StorySource, hash_of, read_split
from storyproof.audits.overlaps import (
    CONFLICT,
    NEAR,
    QUESTION,
    STORY,
    STRUCTURAL,
    Conflict,
    OverlapReport,
    SplitOverlap,
    Twins,
)
from storyproof.errors import ConfigError

NEAR_TEXTS = 50_000
_ODD = np.uint64(0x9E3779B97F4A7C15)


def find_overlaps(
    sources: Sequence[StorySource],
    against: Sequence[StorySource] | None = None,
    *,
    near: bool = True,
    threshold: float = 0.8,
    near_texts: int = NEAR_TEXTS,
    examples: int = 5,
) -> OverlapReport:
    """Find duplicates within and between splits, and what they share with another dataset.

    Args:
        sources: The splits, training first; a story with several questions is one story.
        against: The splits of another dataset; they are compared with the sources only.
        near: Whether to look for near duplicates as well.
        threshold: The Jaccard similarity from which on two stories are near.
        near_texts: How many texts are compared for that, at most; all of small splits, and samples of large ones.
        examples: How many twins are listed for each kind and each two splits.

    Raises:
        ConfigError: If near ones are asked for but cannot be looked for.
        DataError: If the data cannot be read.
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold is {threshold}; use a similarity above 0, up to 1.")
    if near_texts < 1:
        raise ConfigError(f"near_texts is {near_texts}; use 1 or more.")
    library = load_datasketch() if near else None
    everything = [*sources, *(against or ())]
    labels = _labels(everything, len(sources))
    parts = [read_split(each, label, near_texts * near) for each, label in zip(everything, labels, strict=True)]
    places = [(first, second) for first in range(len(sources)) for second in range(first, len(parts))]
    overlaps = [
        _conflicts(parts[first], parts[second], examples)
        if kind == CONFLICT
        else _exact(kind, parts[first], parts[second], examples)
        for kind in (STORY, QUESTION, CONFLICT, STRUCTURAL)
        for first, second in places
    ]
    about: dict[str, Any] = {}
    if near:
        chosen = sample([each.texts for each in parts], near_texts)
        found, about = find_near(library, chosen, threshold)
        overlaps += [_near(parts, place, found, chosen[: about["compared"]], examples) for place in places]
    sizes = {each.label: {"stories": len(each.ids), "questions": len(each.row_ids)} for each in parts}
    return OverlapReport(sizes, overlaps, about)


def _labels(parts: Sequence[StorySource], ours: int) -> list[str]:
    """Return labels of parts: their splits, or their paths where splits are not unique."""
    short = ["against " * (place >= ours) + (each.split or Path(each.name).name) for place, each in enumerate(parts)]
    return [
        label if short.count(label) == 1 else f"{label} ({each.name})" for label, each in zip(short, parts, strict=True)
    ]


def _exact(kind: str, first: HashedSplit, second: HashedSplit, most: int) -> SplitOverlap:
    """Find what has the same hash."""
    ours, theirs = first.hashes[kind], second.hashes[kind]
    values, starts, counts = np.unique(ours, return_index=True, return_counts=True)
    if first is second:
        shared, pairs = values[counts > 1], counts * (counts - 1) // 2
    else:
        others, other_counts = np.unique(theirs, return_counts=True)
        shared, at, other_at = np.intersect1d(values, others, assume_unique=True, return_indices=True)
        pairs = counts[at] * other_counts[other_at]
    affected, other_affected = (np.flatnonzero(np.isin(each, shared)) for each in (ours, theirs))
    ids, other_ids = (part.row_ids if kind == QUESTION else part.ids for part in (first, second))
    examples = (
        Twins(ids[twin], other_ids[place], 1.0)
        for place, twin in zip(other_affected, starts[np.searchsorted(values, theirs[other_affected])], strict=True)
        if not (first is second and twin == place)
        if kind != STRUCTURAL or first.hashes[STORY][twin] != second.hashes[STORY][place]
    )
    totals = len(ours), len(theirs), len(affected), len(other_affected), int(pairs.sum())
    return SplitOverlap(kind, first.label, second.label, *totals, list(islice(examples, most)))


def _conflicts(first: HashedSplit, second: HashedSplit, most: int) -> SplitOverlap:
    """Find equal questions with different answers; one example per question."""
    disputed = _disputed([first] if first is second else [first, second])
    ours, theirs = _answered(first, disputed), _answered(second, disputed)
    affected = other_affected = pairs = 0
    examples: list[Twins] = []
    for key in [key for key in ours if key in theirs]:
        rows, twins = ours[key], theirs[key]
        given, other_given = (Counter(answer for _, answer in each) for each in (rows, twins))
        unlike = len(rows) * len(twins) - sum(count * other_given[answer] for answer, count in given.items())
        if not unlike:
            continue
        pairs += unlike // 2 if first is second else unlike
        affected += sum(count for answer, count in given.items() if other_given.keys() - {answer})
        other_affected += sum(count for answer, count in other_given.items() if given.keys() - {answer})
        (row, answer), (twin, other) = next((one, two) for one in rows for two in twins if one[1] != two[1])
        examples.append(Conflict(first.row_ids[row], second.row_ids[twin], 1.0, answer, other))
    totals = len(first.row_ids), len(second.row_ids), affected, other_affected, pairs
    return SplitOverlap(CONFLICT, first.label, second.label, *totals, examples[:most])


def _disputed(parts: Sequence[HashedSplit]) -> Hashes:
    """Return the questions that have several answers."""
    numbers: dict[str | None, int] = {}
    answers = np.array([numbers.setdefault(each, len(numbers)) for part in parts for each in part.answers], np.uint64)
    asked = np.concatenate([part.hashes[QUESTION] for part in parts])
    _, firsts = np.unique(asked + answers * _ODD, return_index=True)  # the first of each question with each answer
    questions, counts = np.unique(asked[firsts], return_counts=True)
    return questions[counts > 1]


def _answered(part: HashedSplit, questions: Hashes) -> dict[int, list[tuple[int, str]]]:
    """Return rows with their answers, by question, without rows that have none."""
    found: dict[int, list[tuple[int, str]]] = {}
    asked = part.hashes[QUESTION]
    for row in np.flatnonzero(np.isin(asked, questions)).tolist():
        if (answer := part.answers[row]) is not None:
            found.setdefault(int(asked[row]), []).append((row, answer))
    return found


def _near(
    parts: Sequence[HashedSplit], place: tuple[int, int], found: Near, compared: Sequence[Chosen], most: int
) -> SplitOverlap:
    """Summarise the near pairs of two parts, or of one."""
    first, second = parts[place[0]], parts[place[1]]
    pairs = found[place]
    keys, other_keys = {pair[1] for pair in pairs}, {pair[2] for pair in pairs}
    if first is second:
        keys = other_keys = keys | other_keys
    totals = [_count(parts[number], {each.key for each in compared if each.part == number}) for number in place]
    nearest = heapq.nsmallest(most, pairs, key=lambda pair: (-pair[0], pair[1], pair[2]))
    examples = [Twins(_id_of(first, key), _id_of(second, other), alike) for alike, key, other in nearest]
    affected = _count(first, keys), _count(second, other_keys)
    return SplitOverlap(NEAR, first.label, second.label, totals[0], totals[1], *affected, len(pairs), examples)


def _count(part: HashedSplit, keys: set[int]) -> int:
    """Count the stories with one of these texts."""
    return int(np.isin(part.hashes[STORY], np.array(sorted(keys), np.uint64)).sum())


def _id_of(part: HashedSplit, key: int) -> str:
    """Return the id of the first story with this text."""
    return part.ids[int(np.flatnonzero(part.hashes[STORY] == np.uint64(key))[0])]


_SHINGLE_WORDS = 3  # in a row, compared as one
_PERMUTATIONS = 128
_RECALL = 0.97  # the share of pairs just at the threshold that is proposed, at least
_MOST_PROPOSALS = 1_000_000
_ODD_FACTOR = np.uint64(0x9E3779B97F4A7C15)
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
    """Choose how many bands of how many rows: rows as many as recall allows, for few idle proposals."""
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
        mixed = mixed * _ODD_FACTOR + words[at : at + count]
    return np.unique(mixed)


def _jaccard(first: Hashes, second: Hashes) -> float:
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)
