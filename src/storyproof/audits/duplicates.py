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
from collections.abc import Iterator, Mapping, Sequence
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

from storyproof.errors import ConfigError
from storyproof.families.family import family_of_table
from storyproof.formats.chunks import story_starts

Hashes = npt.NDArray[np.uint64]


class StorySource(Protocol):
    """Tables of whole stories with a name and, if it is known, a split, such as `datasets.reading.Source`."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def split(self) -> str | None: ...  # noqa: D102
    def tables(self) -> Iterator[pa.Table]: ...  # noqa: D102


class HashedSplit(NamedTuple):
    """What is compared of a split.

    Attributes:
        label: What to call it.
        ids: The ids of its stories.
        row_ids: The ids of its rows.
        answers: The answers of its rows; None for rows without one.
        hashes: By kind: of stories, of questions, and of stories without names.
        texts: Stories by hash, those whose hashes are lowest.
    """

    label: str
    ids: list[str]
    row_ids: list[str]
    answers: list[str | None]
    hashes: dict[str, Hashes]
    texts: dict[int, str]


def read_split(source: StorySource, label: str, most_texts: int) -> HashedSplit:
    """Read a split, and keep about as many texts as `most_texts`."""
    ids: list[str] = []
    row_ids: list[str] = []
    answers: list[str | None] = []
    labels: dict[str | None, str | None] = {}  # each once, however often it is given
    numbers: dict[str, list[int]] = {kind: [] for kind in (STORY, QUESTION, STRUCTURAL)}
    texts: dict[int, str] = {}
    seen: set[tuple[str | None, int]] = set()
    for table in source.tables():
        rows = table.num_rows
        if not rows:
            continue
        family = family_of_table(table)
        story_ids, given = (_values(table, name) for name in ("story_id", "answer"))
        facts = {name: _values(table, name) for name in family.facts}
        stories = table["story"].to_pylist()
        row_ids += table["id"].to_pylist()
        answers += [labels.setdefault(each, each) for each in given]
        hashes = {text: hash_of(text) for text in dict.fromkeys(stories)}
        questions = zip(stories, table["question"].to_pylist(), strict=True)
        numbers[QUESTION] += [hash_of(f"{hashes[text]} {question}") for text, question in questions]
        for end in [*story_starts(table)[1:].tolist(), rows]:
            last = end - 1  # where questions stand between sentences, the last row has all of them
            text, key = stories[last], hashes[stories[last]]
            if (story_ids[last], key) in seen:
                continue
            seen.add((story_ids[last], key))
            ids.append(story_ids[last] or row_ids[last - rows])
            numbers[STORY].append(key)
            numbers[STRUCTURAL].append(
                hash_of(family.fingerprint(text, {name: values[last] for name, values in facts.items()}))
            )
            texts[key] = text
        if len(texts) > 2 * most_texts:
            texts = {key: texts[key] for key in heapq.nsmallest(most_texts, texts)}
    hashed = {kind: np.array(each, np.uint64) for kind, each in numbers.items()}
    return HashedSplit(label, ids, row_ids, answers, hashed, texts)


def _values(table: pa.Table, name: str) -> list[Any]:
    values: list[Any] = table[name].to_pylist() if name in table.column_names else [None] * table.num_rows
    return values


def hash_of(text: str) -> int:
    """Return 64 bits that are the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


STORY, QUESTION, CONFLICT, STRUCTURAL, NEAR = KINDS = ("story", "question", "conflict", "structural", "near")
MEANINGS = {
    STORY: "the same story",
    QUESTION: "the same story and question",
    CONFLICT: "the same story and question with another answer",
    STRUCTURAL: "the same story apart from its names",
    NEAR: "nearly the same story",
}


@dataclass(frozen=True, slots=True)
class Twins:
    """Two stories or questions that are the same, by id, and how alike they are."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Conflict(Twins):
    """Two rows that ask the same about the same text, and what each has for the answer."""

    first_answer: str
    second_answer: str


@dataclass(frozen=True, slots=True)
class SplitOverlap:
    """What two splits share, or what a split holds twice (then first and second are the same).

    Attributes:
        kind: One of KINDS.
        first: One split.
        second: The other.
        first_total: How many stories (for `question` and `conflict`, questions) of the first were compared.
        second_total: How many of the second.
        first_affected: How many of the first have a twin in the second.
        second_affected: How many of the second have one in the first.
        pairs: How many pairs of twins there are; for near ones, of different texts.
        examples: Some of them; conflicts one per question, structural ones with different texts, near ones the nearest
            first.
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
    overlaps: list[SplitOverlap]
    near: dict[str, Any]

    def conflicts(self) -> Iterator[tuple[SplitOverlap, Conflict]]:
        """Return the examples of conflicts, each with its splits."""
        for each in self.overlaps:
            for twins in each.examples:
                if isinstance(twins, Conflict):
                    yield each, twins

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        overlaps = [{**asdict(each), "share": each.share} for each in self.overlaps]
        return {"parts": self.parts, "overlaps": overlaps, "near": self.near}


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
        near_pairs, about = find_near(library, chosen, threshold)
        overlaps += [_near(parts, place, near_pairs, chosen[: about["compared"]], examples) for place in places]
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
    hashes = np.concatenate([part.hashes[QUESTION] for part in parts])
    _, firsts = np.unique(hashes + answers * _ODD, return_index=True)  # the first of each question with each answer
    questions, counts = np.unique(hashes[firsts], return_counts=True)
    return questions[counts > 1]


def _answered(part: HashedSplit, questions: Hashes) -> dict[int, list[tuple[int, str]]]:
    """Return rows with their answers, by question, without rows that have none."""
    answered: dict[int, list[tuple[int, str]]] = {}
    hashes = part.hashes[QUESTION]
    for row in np.flatnonzero(np.isin(hashes, questions)).tolist():
        if (answer := part.answers[row]) is not None:
            answered.setdefault(int(hashes[row]), []).append((row, answer))
    return answered


def _near(
    parts: Sequence[HashedSplit], place: tuple[int, int], near: Near, compared: Sequence[Chosen], most: int
) -> SplitOverlap:
    """Summarise the near pairs of two parts, or of one."""
    first, second = parts[place[0]], parts[place[1]]
    pairs = near[place]
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
    pairs: Near = defaultdict(list)
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
                pairs[first.part, second.part].append((similarity, first.key, second.key))
    about = {"threshold": threshold, "shingle_words": _SHINGLE_WORDS, "recall_at_threshold": recall}
    return pairs, {**about, "proposals": proposals, "compared": compared, "chosen": len(chosen)}


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
        mixed = mixed * _ODD_FACTOR + words[at : at + count]
    return np.unique(mixed)


def _jaccard(first: Hashes, second: Hashes) -> float:
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)
