"""The one shape that all stages share: a row is an example.

Words that recur are dictionary-encoded in memory; on disk they are plain strings, so that every reader takes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

SPLITS = ("train", "val", "test")
REQUIRED = ("story", "question", "answer")  # what data must have; the rest can be worked out

WORD = pa.dictionary(pa.int32(), pa.string())

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("story_id", WORD),
        ("benchmark", WORD),
        ("split", WORD),
        ("story", WORD),
        ("question", pa.string()),
        ("answer", WORD),
        ("candidates", pa.list_(pa.string())),
        ("question_type", WORD),
        ("order", pa.int8()),
        ("chain", pa.list_(pa.string())),
        ("story_type", WORD),
        ("false_belief", pa.bool_()),
        ("readings", pa.list_(pa.string())),
        ("proof", pa.list_(pa.int16())),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One row.

    Attributes:
        id: Unique in its dataset.
        story_id: Shared by the questions of one story.
        benchmark: The recipe it comes from.
        split: train, val or test.
        story: One sentence a line.
        question: What is asked.
        answer: The right answer.
        candidates: What could be answered; for theory of mind the containers in which the object was, sorted.
        question_type: In the published form, such as `first_order_0_tom`.
        order: How many minds the question goes through; 0 for memory and reality.
        chain: Whose minds, outermost first.
        story_type: true_belief, false_belief or second_order_false_belief.
        false_belief: Whether a belief is asked for that differs from where the object really is.
        readings: All readings under which the answer holds.
        proof: The numbers of the sentences on which the answer rests, counted from 1.
    """

    id: str
    story_id: str
    benchmark: str
    split: str
    story: str
    question: str
    answer: str
    candidates: list[str]
    question_type: str
    order: int
    chain: list[str]
    story_type: str
    false_belief: bool
    readings: list[str]
    proof: list[int]

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Example:
        """Make an example from a row of a table, leaving out columns it has no place for."""
        return cls(**{field.name: row[field.name] for field in fields(cls)})


_OUR_ID = re.compile(rf"((?:{'|'.join(SPLITS)})-\d{{9}})-\d")


def story_of_id(row_id: str) -> str | None:
    """Give the story that a row's id belongs to, if storyproof made the id (`train-000000012-3`)."""
    match = _OUR_ID.fullmatch(row_id)
    return match[1] if match else None


def plain(kind: pa.DataType) -> pa.DataType:
    """Give the type of a column as it stands on disk."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def plain_schema(schema: pa.Schema = SCHEMA) -> pa.Schema:
    """Give the schema with all words spelt out, as it stands on disk."""
    return pa.schema([(field.name, plain(field.type)) for field in schema])
