"""What is compared of a split: ids, and hashes of its stories and questions."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.audits.overlaps import QUESTION, STORY, STRUCTURAL
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
    found: dict[str, list[int]] = {kind: [] for kind in (STORY, QUESTION, STRUCTURAL)}
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
        asked = zip(stories, table["question"].to_pylist(), strict=True)
        found[QUESTION] += [hash_of(f"{hashes[text]} {question}") for text, question in asked]
        for end in [*story_starts(table)[1:].tolist(), rows]:
            last = end - 1  # where questions stand between sentences, the last row has all of them
            text, key = stories[last], hashes[stories[last]]
            if (story_ids[last], key) in seen:
                continue
            seen.add((story_ids[last], key))
            ids.append(story_ids[last] or row_ids[last - rows])
            found[STORY].append(key)
            found[STRUCTURAL].append(
                hash_of(family.fingerprint(text, {name: values[last] for name, values in facts.items()}))
            )
            texts[key] = text
        if len(texts) > 2 * most_texts:
            texts = {key: texts[key] for key in heapq.nsmallest(most_texts, texts)}
    hashed = {kind: np.array(each, np.uint64) for kind, each in found.items()}
    return HashedSplit(label, ids, row_ids, answers, hashed, texts)


def _values(table: pa.Table, name: str) -> list[Any]:
    values: list[Any] = table[name].to_pylist() if name in table.column_names else [None] * table.num_rows
    return values


def hash_of(text: str) -> int:
    """Return 64 bits that are the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
