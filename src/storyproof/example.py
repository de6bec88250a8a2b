"""Examples: the columns that rows of all families share, open for a family's own.

Words that recur are dictionary-encoded in memory; on disk they are plain strings, so that every reader accepts them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa

from storyproof.runtime.notebook import NotebookView

SPLITS = ("train", "val", "test")
WRITTEN = "written"  # a column beside the others: the story as somebody wrote it, where it is read in other words
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
_SHARED = frozenset(SCHEMA.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(NotebookView):
    """One row.

    Attributes:
        id: Unique in its dataset.
        story_id: Shared by the questions of one story.
        benchmark: The benchmark that it comes from.
        split: train, val or test.
        story: One sentence per line.
        question: What is asked.
        answer: The correct answer.
        candidates: The possible answers, sorted.
        question_type: In the published form, such as `first_order_0_tom` or `task_1.3`.
        order: How many minds the question goes through; 0 if it asks about no mind.
        chain: Whose minds, outermost first.
        story_type: What kind of story it is; the values depend on the family.
        false_belief: Whether the question asks for a belief that differs from reality.
        readings: All readings under which the answer is right.
        proof: The numbers of the sentences (lines) on which the answer rests, counted from 1.
        family: The name of its family; empty if nobody said, and then its columns or its question tell.
        extra: All other columns: those of its family, and those that storyproof does not know.

    Example:
        >>> import storyproof
        >>> row = storyproof.generate("clutrr", test=1, test_k=(2,), seed=7).to_pylist()[0]
        >>> example = storyproof.Example.from_row(row)
        >>> example.id, example.get("k")
        ('test-000000000-0', 2)
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
    family: str = field(default="", compare=False)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Mapping[str, Any], family: str = "") -> Example:
        """Build an example from a row of a table; columns that are not shared by all families go into `extra`."""
        shared: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for name, value in row.items():
            (shared if name in _SHARED else extra)[name] = value
        return cls(**shared, family=family, extra=extra)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]], family: str = "") -> list[Self]:
        """Build the examples of many rows from their columns, as `from_row` does one by one."""
        others = [name for name in columns if name not in _SHARED]
        shared = zip(*(columns[name] for name in SCHEMA.names), strict=True)
        # In the order of SCHEMA, and written out, which takes half as long as a dictionary of arguments.
        examples = [
            cls(
                id=id,
                story_id=story_id,
                benchmark=benchmark,
                split=split,
                story=story,
                question=question,
                answer=answer,
                candidates=candidates,
                question_type=question_type,
                order=order,
                chain=chain,
                story_type=story_type,
                false_belief=false_belief,
                readings=readings,
                proof=proof,
                family=family,
            )
            for (
                id,
                story_id,
                benchmark,
                split,
                story,
                question,
                answer,
                candidates,
                question_type,
                order,
                chain,
                story_type,
                false_belief,
                readings,
                proof,
            ) in shared
        ]
        if others:
            extra = zip(*(columns[name] for name in others), strict=True)
            for example, values in zip(examples, extra, strict=True):
                object.__setattr__(example, "extra", dict(zip(others, values, strict=True)))
        return examples

    def get(self, column: str) -> Any:
        """Return the value of a column that not all families have; None if the row lacks it."""
        return self.extra.get(column)

    def as_row(self) -> dict[str, Any]:
        """Return the columns as one dictionary."""
        return {**{name: getattr(self, name) for name in SCHEMA.names}, **self.extra}


_OUR_ID = re.compile(rf"((?:{'|'.join(SPLITS)})-\d{{9}})-\d")


def story_of_id(row_id: str) -> str | None:
    """Return the story that a row's id belongs to, if storyproof made the id (`train-000000012-3`)."""
    match = _OUR_ID.fullmatch(row_id)
    return match[1] if match else None


def plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column has on disk."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def plain_schema(schema: pa.Schema = SCHEMA) -> pa.Schema:
    """Return a schema as it is on disk, without dictionaries."""
    return pa.schema([(field.name, plain(field.type)) for field in schema])
