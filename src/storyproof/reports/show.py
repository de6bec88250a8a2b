"""The verb `show`: one story of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from storyproof.datasets.frames import Data, takes_rows
from storyproof.datasets.reading import find_source, read_examples
from storyproof.errors import ConfigError, DataError, ParseError, quoted
from storyproof.example import Example
from storyproof.families.family import convention_text, family_of


@takes_rows("path")
def show(path: Data, index: int = 0, *, split: str | None = None, conventions: bool = True) -> RenderableType:
    """Lay out a story with its questions and proofs; print the result with Rich.

    Args:
        path: A dataset folder or a file; or rows in memory: a frame of pandas or polars, an Arrow table, or a list of
            rows.
        index: Which story, counted from 0.
        split: Which split of a folder; by default test, or the only one there is.
        conventions: Whether to begin with the rules that the answers rest on.

    Raises:
        ConfigError: If there is no such story.
        DataError: If the data cannot be read.

    Example:
        >>> import rich, storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data")
        >>> rich.print(storyproof.show("data", 3, conventions=False))
        story test-000000003  type second-order false belief...
    """
    story, where = read_story(path, index, split=split)
    family = family_of(story[0])
    try:
        layout = family.lay_out(story)
    except ParseError as error:
        raise DataError(f"{where}: {error}") from error
    rules = convention_text(*story) if conventions else ""
    return Group(Text(rules + "\n"), layout) if rules else layout


def read_story(path: str | Path, index: int, *, split: str | None = None) -> tuple[list[Example], str]:
    """Read the questions of a story; return them, and how messages call the story.

    Raises:
        ConfigError: If there is no such story.
        DataError: If the data cannot be read.
    """
    if index < 0:
        raise ConfigError(f"--index is {index}; stories are counted from 0.")
    source = find_source(path, split)
    examples = read_examples(source, max_stories=index + 1)
    stories = [list(rows) for _, rows in groupby(examples, key=lambda example: example.story_id)]
    if index >= len(stories):
        raise ConfigError(f"--index is {index}, but there are only {len(stories)} stories; they are counted from 0.")
    where = f"{source.name}, story {index}"
    _check_text(stories[index], where)
    return stories[index], where


def _check_text(story: Sequence[Example], where: str) -> None:
    """Raise DataError unless rows of one story have one text; questions may stand between its sentences."""
    whole = story[-1].story
    for example in story:
        if example.story != whole and not whole.startswith(example.story + "\n"):
            raise DataError(
                f"{where}: {quoted(example.id)} and {quoted(story[-1].id)} have the story_id "
                f"{quoted(example.story_id)}, but different texts; give each story an id of its own."
            )
