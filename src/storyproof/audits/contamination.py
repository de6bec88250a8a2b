"""Contamination: stories that occur twice, within a split, between splits, or in another dataset too.

Four kinds: `story`, the very same text; `question`, the same question about it; `structural`, the same text once
people are numbered in the order in which they appear, and case and spaces are folded (which holds all of `story`);
`near`, other texts with nearly the same words, names kept, in nearly the same order.

The first three are found by hashing, some hundred bytes a row. For near ones MinHash and LSH (datasketch) propose
pairs, and their true Jaccard similarity decides. That is bounded: at most `near_texts` texts are compared, and the
search ends after so many proposals. Texts come in the order of their hashes, so what was compared is a fair sample.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.datasets.chunks import story_starts
from storyproof.errors import ConfigError
from storyproof.tom.events import FEELINGS

STORY, QUESTION, STRUCTURAL, NEAR = KINDS = ("story", "question", "structural", "near")
NEAR_TEXTS = 50_000

_SHINGLE_WORDS = 3  # in a row, compared as one
_PERMUTATIONS = 128
_RECALL = 0.97  # of pairs just at the threshold, at least so many are proposed
_MOST_PROPOSALS = 1_000_000
_ODD = np.uint64(0x9E3779B97F4A7C15)
_TOKEN = re.compile(r"@?\w(?:[\w-]*\w)?")
_WORD = re.compile(r"\w+")
_ACTS = re.compile(rf"(?:^|[.\n])\s*([^\s.?]+)\s+(?:entered|exited|moved|is\s+in|{'|'.join(FEELINGS)})\s+the\s")
Hashes = npt.NDArray[np.uint64]
_Near = defaultdict[tuple[int, int], list[tuple[float, int, int]]]  # similarity and hashes, by the two parts


class Stories(Protocol):
    """Tables of whole stories with a name and, if that can be told, a split, such as `datasets.reading.Source`."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def split(self) -> str | None: ...  # noqa: D102
    def tables(self) -> Iterator[pa.Table]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Twins:
    """Two stories or questions that are the same, by id, and how alike they are."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two splits share, or what a split holds twice (then first and second are the same).

    Attributes:
        kind: story, question, structural or near.
        first: One split.
        second: The other.
        first_total: How many stories (for `question`, questions) of the first were compared.
        second_total: How many of the second.
        first_affected: How many of the first have a twin in the second.
        second_affected: How many of the second have one in the first.
        pairs: How many pairs of twins there are; for near ones, of different texts.
        examples: Some of them; structural ones with different texts, near ones the nearest first.
    """

    kind: str
    first: str
    second: str
    first_total: int
    second_total: int
    first_affected: int
    second_affected: int
    pairs: int
    examples: list[Twins]

    @property
    def share(self) -> float:
        """How much of the second, such as the test split, is affected."""
        return self.second_affected / self.second_total if self.second_total else 0.0


@dataclass(frozen=True, slots=True)
class OverlapReport:
    """What was found.

    Attributes:
        parts: How many stories and questions each split has.
        overlaps: By kind, each split with itself and each two with one another, the earlier first.
        near: How near ones were looked for, and how many texts were compared; empty if they were not. Twins of stories
            that were not compared (see the totals) are not found, which makes shares lower bounds.
    """

    parts: dict[str, dict[str, int]]
    overlaps: list[Overlap]
    near: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        found = [{**asdict(each), "share": each.share} for each in self.overlaps]
        return {"parts": self.parts, "overlaps": found, "near": self.near}


def find_overlaps(
    sources: Sequence[Stories],
    against: Sequence[Stories] | None = None,
    *,
    near: bool = True,
    threshold: float = 0.8,
    near_texts: int = NEAR_TEXTS,
    examples: int = 5,
) -> OverlapReport:
    """Find duplicates within and between splits, and what they share with another dataset.

    Args:
        sources: The splits, training first; a story with several questions is one story.
        against: The splits of another dataset; they are held against the sources only.
        near: Whether to look for near duplicates, too.
        threshold: The Jaccard similarity from which on two stories are near.
        near_texts: How many texts are compared for that, at most; small splits go in whole, large ones as samples.
        examples: How many twins are listed for each kind and each two splits.

    Raises:
        ConfigError: If near ones are asked for but cannot be looked for.
        DataError: If the data cannot be read.
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold is {threshold}; use a similarity above 0, up to 1.")
    if near_texts < 1:
        raise ConfigError(f"near_texts is {near_texts}; use 1 or more.")
    library = _datasketch() if near else None
    everything = [*sources, *(against or ())]
    labels = _labels(everything, len(sources))
    parts = [_read(each, label, near_texts * near) for each, label in zip(everything, labels, strict=True)]
    places = [(first, second) for first in range(len(sources)) for second in range(first, len(parts))]
    overlaps = [
        _exact(kind, parts[first], parts[second], examples)
        for kind in (STORY, QUESTION, STRUCTURAL)
        for first, second in places
    ]
    about: dict[str, Any] = {}
    if near:
        chosen = _sample(parts, near_texts)
        found, about = _find_near(library, chosen, threshold)
        overlaps += [_near(parts, place, found, chosen[: about["compared"]], examples) for place in places]
    sizes = {each.label: {"stories": len(each.ids), "questions": len(each.row_ids)} for each in parts}
    return OverlapReport(sizes, overlaps, about)


class _Part(NamedTuple):
    """A split as far as it is compared: ids and hashes, and texts by hash, those whose hashes are lowest."""

    label: str
    ids: list[str]
    row_ids: list[str]
    hashes: dict[str, Hashes]
    texts: dict[int, str]


class _Chosen(NamedTuple):
    """A text that is compared, and the part that it is from."""

    key: int
    part: int
    text: str


def _labels(parts: Sequence[Stories], ours: int) -> list[str]:
    """Call parts by their splits, or by where they are if that would not tell them apart."""
    short = ["against " * (place >= ours) + (each.split or Path(each.name).name) for place, each in enumerate(parts)]
    return [
        label if short.count(label) == 1 else f"{label} ({each.name})" for label, each in zip(short, parts, strict=True)
    ]


def _read(source: Stories, label: str, most_texts: int) -> _Part:
    ids: list[str] = []
    row_ids: list[str] = []
    found: dict[str, list[int]] = {kind: [] for kind in (STORY, QUESTION, STRUCTURAL)}
    texts: dict[int, str] = {}
    told: set[tuple[str | None, int]] = set()
    for table in source.tables():
        rows = table.num_rows
        if not rows:
            continue
        story_ids, people = (
            table[name].to_pylist() if name in table.column_names else [None] * rows for name in ("story_id", "genders")
        )
        stories = table["story"].to_pylist()
        row_ids += table["id"].to_pylist()
        hashes = {text: _hash(text) for text in dict.fromkeys(stories)}
        asked = zip(stories, table["question"].to_pylist(), strict=True)
        found[QUESTION] += [_hash(f"{hashes[text]} {question}") for text, question in asked]
        for end in [*story_starts(table)[1:].tolist(), rows]:
            last = end - 1  # where questions stand between sentences, the last has heard all of them
            text, key = stories[last], hashes[stories[last]]
            if (story_ids[last], key) in told:
                continue
            told.add((story_ids[last], key))
            ids.append(story_ids[last] or row_ids[last - rows])
            found[STORY].append(key)
            found[STRUCTURAL].append(_hash(_without_names(text, people[last])))
            texts[key] = text
        if len(texts) > 2 * most_texts:
            texts = {key: texts[key] for key in heapq.nsmallest(most_texts, texts)}
    return _Part(label, ids, row_ids, {kind: np.array(each, np.uint64) for kind, each in found.items()}, texts)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


_word_hash = lru_cache(maxsize=1 << 17)(_hash)


def _without_names(text: str, genders: Sequence[str] | None) -> str:
    """Number people by their order in the text, and fold case and spaces.

    Of kinship the people are known; of theory of mind they are those who act; in any other text nobody is found.
    """
    if genders is None:
        text = text.casefold()
    names = set(_ACTS.findall(text)) if genders is None else {each.split(":")[0] for each in genders}
    numbers: dict[str, int] = {}

    def replace(match: re.Match[str]) -> str:
        return f"#{numbers.setdefault(match[0], len(numbers))}" if match[0] in names else match[0]

    return " ".join(_TOKEN.sub(replace, text).casefold().split())


def _exact(kind: str, first: _Part, second: _Part, most: int) -> Overlap:
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
    return Overlap(kind, first.label, second.label, *totals, list(islice(examples, most)))


def _datasketch() -> Any:
    try:
        return import_module("datasketch")
    except ImportError as error:
        raise ConfigError(
            "near duplicates are found with datasketch, which is not installed; run pip install 'storyproof[audit]', "
            "or leave near duplicates out."
        ) from error


def _sample(parts: Sequence[_Part], most: int) -> list[_Chosen]:
    """Choose texts to compare, those of small parts first, in the order of their hashes."""
    chosen: list[_Chosen] = []
    for rank, number in enumerate(sorted(range(len(parts)), key=lambda place: len(parts[place].texts))):
        quota = (most - len(chosen)) // (len(parts) - rank)
        texts = parts[number].texts
        chosen += [_Chosen(key, number, texts[key]) for key in heapq.nsmallest(quota, texts)]
    return sorted(chosen)


def _find_near(library: Any, chosen: Sequence[_Chosen], threshold: float) -> tuple[_Near, dict[str, Any]]:
    """Find all near pairs, and say how."""
    bands, rows, recall = _bands(threshold)
    storage = {"type": "dict", "basename": b"near"}  # named, or it would draw a name
    index = library.MinHashLSH(num_perm=_PERMUTATIONS, params=(bands, rows), storage_config=storage)
    shingles = [_shingles(each.text) for each in chosen]
    low_halves = (each.astype(np.uint32).tolist() for each in shingles)
    found: _Near = defaultdict(list)
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
    """Hash each few words in a row."""
    words = np.array([_word_hash(word) for word in _WORD.findall(text.casefold()) or [text]], np.uint64)
    count = max(1, len(words) - _SHINGLE_WORDS + 1)
    mixed = np.zeros(count, np.uint64)
    for at in range(min(_SHINGLE_WORDS, len(words))):
        mixed = mixed * _ODD + words[at : at + count]
    return np.unique(mixed)


def _jaccard(first: Hashes, second: Hashes) -> float:
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)


def _near(
    parts: Sequence[_Part], place: tuple[int, int], found: _Near, compared: Sequence[_Chosen], most: int
) -> Overlap:
    """Sum up the near pairs of two parts, or of one."""
    first, second = parts[place[0]], parts[place[1]]
    pairs = found[place]
    keys, other_keys = {pair[1] for pair in pairs}, {pair[2] for pair in pairs}
    if first is second:
        keys = other_keys = keys | other_keys
    totals = [_count(parts[number], {each.key for each in compared if each.part == number}) for number in place]
    nearest = heapq.nsmallest(most, pairs, key=lambda pair: (-pair[0], pair[1], pair[2]))
    examples = [Twins(_id_of(first, key), _id_of(second, other), alike) for alike, key, other in nearest]
    affected = _count(first, keys), _count(second, other_keys)
    return Overlap(NEAR, first.label, second.label, totals[0], totals[1], *affected, len(pairs), examples)


def _count(part: _Part, keys: set[int]) -> int:
    """Count the stories with one of these texts."""
    return int(np.isin(part.hashes[STORY], np.array(sorted(keys), np.uint64)).sum())


def _id_of(part: _Part, key: int) -> str:
    """Give the id of the first story with this text."""
    return part.ids[int(np.flatnonzero(part.hashes[STORY] == np.uint64(key))[0])]
