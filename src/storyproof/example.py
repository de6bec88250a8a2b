"""The one shape that all stages share: a row is an example.

Words that recur are dictionary-encoded in memory; on disk they are plain strings, so that every reader takes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
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
KINSHIP_SCHEMA = pa.schema(
    [
        *SCHEMA,
        ("k", pa.int8()),
        ("task", WORD),
        ("query", pa.list_(pa.string())),
        ("genders", pa.list_(pa.string())),
        ("edges", pa.list_(pa.list_(pa.int16()))),
        ("edge_types", pa.list_(pa.string())),
        ("noise_types", pa.list_(pa.string())),
        ("pattern", WORD),
        ("placeholders", pa.list_(pa.string())),
        ("status", WORD),
        ("proof_steps", pa.list_(pa.list_(pa.int16()))),
        ("proof_relations", pa.list_(pa.string())),
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
        candidates: What could be answered, sorted; for theory of mind the containers in which the object was.
        question_type: In the published form, such as `first_order_0_tom` or `task_1.3`.
        order: How many minds the question goes through; 0 for memory, reality and kinship.
        chain: Whose minds, outermost first.
        story_type: true_belief, false_belief or second_order_false_belief; for kinship what noise there is.
        false_belief: Whether a belief is asked for that differs from where the object really is.
        readings: All readings under which the answer holds.
        proof: The numbers of the sentences (lines) on which the answer rests, counted from 1.
        k: Kinship only, as are all that follow: how many facts the chain has.
        task: Which kind of noise the benchmark was asked for.
        query: The two people asked about: what is the second to the first?
        genders: Everybody with their gender, `Ann:female`, in the order by which edges and steps count them.
        edges: The facts as pairs of people, those of the chain first.
        edge_types: What the second of each pair is to the first.
        noise_types: The type of each fact after the chain.
        pattern: The chain without genders.
        placeholders: How each line of the story was worded.
        status: Whether the answer is entailed, ambiguous, contradicted or impossible under strict kinship.
        proof_steps: The proof tree from the top down: first, through whom, second.
        proof_relations: What the second is to the first in each step.
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
    k: int | None = None
    task: str | None = None
    query: list[str] | None = None
    genders: list[str] | None = None
    edges: list[list[int]] | None = None
    edge_types: list[str] | None = None
    noise_types: list[str] | None = None
    pattern: str | None = None
    placeholders: list[str] | None = None
    status: str | None = None
    proof_steps: list[list[int]] | None = None
    proof_relations: list[str] | None = None

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Example:
        """Make an example from a row of a table, leaving out columns it has no place for."""
        return cls(**{field.name: row[field.name] for field in fields(cls) if field.name in row})


_OUR_ID = re.compile(rf"((?:{'|'.join(SPLITS)})-\d{{9}})-\d")


def story_of_id(row_id: str) -> str | None:
    """Give the story that a row's id belongs to, if storyproof made the id (`train-000000012-3`)."""
    match = _OUR_ID.fullmatch(row_id)
    return match[1] if match else None


def plain(kind: pa.DataType) -> pa.DataType:
    """Give the type of a column as it stands on disk."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_kinship(columns: Iterable[str]) -> bool:
    """Tell from the columns of a table what it is about: kinship has edges, theory of mind has not."""
    return "edges" in set(columns)


def schema_of(columns: Iterable[str]) -> pa.Schema:
    """Tell from the columns of a table which schema it follows."""
    return KINSHIP_SCHEMA if is_kinship(columns) else SCHEMA


def plain_schema(schema: pa.Schema = SCHEMA) -> pa.Schema:
    """Give the schema with all words spelt out, as it stands on disk."""
    return pa.schema([(field.name, plain(field.type)) for field in schema])
