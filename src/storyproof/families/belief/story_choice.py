"""The choice between plain stories and nested ones: the only place that looks which of the two a text is.

What a kind needs is imported when a text of that kind is met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeVar

import numpy as np
import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import Example
from storyproof.families.belief.nested.reading import is_nested, is_question, reads_further
from storyproof.families.belief.nested.readings import COMPARED_DESCRIPTIONS
from storyproof.families.belief.readings import DESCRIPTIONS
from storyproof.families.belief.story_kind import StoryKind
from storyproof.families.belief.text import parse_question
from storyproof.seeds import Indices

Found = TypeVar("Found")

READING_DESCRIPTIONS = {**DESCRIPTIONS, **COMPARED_DESCRIPTIONS}  # of both kinds


@cache
def _plain() -> StoryKind:
    from storyproof.families.belief.plain_stories import PlainStories

    return PlainStories()


@cache
def _nested() -> StoryKind:
    from storyproof.families.belief.nested.nested_stories import NestedStories

    return NestedStories()


def story_kinds() -> Iterator[StoryKind]:
    """Yield the kinds of story, the plain one first."""
    yield _plain()
    yield _nested()


def is_belief_question(question: str) -> bool:
    """Return whether a question is in a form that either kind has."""
    try:
        parse_question(question)
    except ParseError:
        return is_question(question)
    return True


def story_kind_of_text(story: str, question: str = "") -> StoryKind:
    """Return the kind of a story; what can be read neither way is taken for plain.

    Args:
        story: One sentence per line.
        question: What is asked, which may make a plain story nested; empty if only the story counts.
    """
    return _nested() if is_nested(story, question) else _plain()


def story_kind_of(example: Example) -> StoryKind:
    """Return the kind of an example."""
    return story_kind_of_text(example.story, example.question)


def story_kind_of_all(examples: Iterable[Example]) -> StoryKind:
    """Return the kind by which examples can be judged together: nested if one of them is."""
    return _nested() if any(is_nested(each.story, each.question) for each in examples) else _plain()


def nearest_kind(story: str, question: str) -> StoryKind:
    """Return the kind of a text that may have mistakes: the one that understands more of it."""
    return _nested() if is_nested(story, question) or reads_further(story) else _plain()


def read_by_either(read: Callable[[StoryKind], Found]) -> Found:
    """Return what the first kind finds that can read a text; for texts that are not divided into sentences yet.

    Raises:
        ParseError: If none can, with what the plain kind says.
    """
    try:
        return read(_plain())
    except ParseError as error:
        try:
            return read(_nested())
        except ParseError:
            raise error from None


def work_by_kind(table: pa.Table, work: Callable[[StoryKind, pa.Table, bool], Found]) -> list[tuple[Indices, Found]]:
    """Divide a table by kind, and have the rows of each kind worked on.

    Most tables have one kind only, and looking at every row takes longer than proving plain ones. So if the first row
    is plain, all are taken for plain until one cannot be read.

    Args:
        table: Rows with story and question.
        work: What to do with a kind and its rows. It is also told whether it is certain that they are of that kind, as
            far as they can be read at all. If it is not, and one cannot be read, `work` must raise DataError before it
            changes anything.

    Returns:
        For each kind that occurs, the places of its rows in the table, and what came of the work.
    """
    texts = table.select(["story", "question"])
    if not any(is_nested(**row) for row in texts.slice(0, 1).to_pylist()):
        try:
            return [(np.arange(table.num_rows), work(_plain(), table, False))]
        except DataError:  # perhaps of a later row that is nested
            pass
    nested = np.array([is_nested(**row) for row in texts.to_pylist()], np.bool_)
    parts = ((kind, rows) for kind, rows in ((_nested(), nested), (_plain(), ~nested)) if rows.any())
    return [(np.flatnonzero(rows), work(kind, table.filter(pa.array(rows)), True)) for kind, rows in parts]
