"""Stories and tables that several tests share."""

from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa

import storyproof
from storyproof.example import SCHEMA, Example, plain_schema

STORY = "\n".join(
    [
        "Ada entered the attic.",
        "Ben entered the attic.",
        "The key is in the box.",
        "Ben exited the attic.",
        "Ada moved the key to the jar.",
    ]
)
MEMORY = "Where was the key at the beginning?"
REALITY = "Where is the key really?"
SEARCH = "Where will Ben look for the key?"
BELIEF = "Where does Ada think that Ben searches for the key?"


def example(**changes: Any) -> Example:
    fields: dict[str, Any] = {
        "id": "1",
        "story_id": "s",
        "benchmark": "tomi",
        "split": "test",
        "story": STORY,
        "question": SEARCH,
        "answer": "box",
        "candidates": ["box", "jar"],
        "question_type": "first_order_1_tom",
        "order": 1,
        "chain": ["Ben"],
        "story_type": "false_belief",
        "false_belief": True,
        "readings": ["open", "closed", "infer-mover"],
        "proof": [2, 3, 4],
    }
    return changed(Example(**fields), **changes)


def changed(each: Example, **columns: Any) -> Example:
    """The same example with other values in some columns, shared or of its family."""
    shared = {name: columns.pop(name) for name in list(columns) if name in SCHEMA.names}
    return replace(each, **shared, extra={**each.extra, **columns})


def row(each: Example) -> dict[str, Any]:
    """An example's columns, as far as they have values."""
    return {name: value for name, value in each.as_row().items() if value is not None}


def plain_table(*examples: Example) -> pa.Table:
    return pa.Table.from_pylist([each.as_row() for each in examples], schema=plain_schema())


@cache
def table(benchmark: str, split: str, stories: int = 96, seed: int = 0) -> pa.Table:
    """A benchmark's own table; kept, because a whole block is made behind it."""
    return storyproof.generate(benchmark, **{split: stories}, seed=seed)


@cache
def examples(benchmark: str, split: str, stories: int = 96) -> tuple[Example, ...]:
    return tuple(Example.from_row(row) for row in table(benchmark, split, stories).to_pylist())
