"""Checks of the columns of CLUTRR's CSV that repeat what the rest of a row says.

For generated rows the expected text is known word for word. For others it is known that `node_mapping` leads to
everybody, in the order of `genders`, and that `clean_story` consists of words of the story.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from storyproof.families.kinship.clutrr_csv import clean_story, node_mapping, target_texts
from storyproof.families.kinship.clutrr_records import literal
from storyproof.families.kinship.row import KinshipRow
from storyproof.families.kinship.stated_facts import Piece, remove_brackets


def check_columns(
    row: KinshipRow, pieces: Sequence[Piece] | None, *, generated: bool, is_natural: bool = False
) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is wrong in these columns: field, found, expected.

    Args:
        row: The row, whose values have the columns as they are in the file; columns that it lacks are not checked.
        pieces: The pieces of the story with the facts that they state; None if they are not known.
        generated: Whether storyproof generated the row.
        is_natural: Whether the pieces are sentences of natural text.
    """
    mapping, query, target = (row.values.get(name) for name in ("node_mapping", "text_query", "text_target"))
    everybody = tuple(range(len(row.names)))
    if mapping not in (None, right := node_mapping(row)) and (generated or _leads_to(mapping) != everybody):
        yield "node_mapping", mapping, right
    if generated and query:
        yield "text_query", query, "nothing"
    if generated and target is not None:
        texts = [repr([text]) for text in target_texts(row)]
        if target not in texts:
            yield "text_target", target, texts[0]
    if row.values.get("clean_story") is not None:
        yield from _check_clean_story(row, pieces, generated, is_natural)


@lru_cache(maxsize=4096)  # the same few values recur
def _leads_to(mapping: str) -> tuple[Any, ...]:
    """Return whom a mapping leads to, in its order; nobody if it is not a mapping."""
    found = literal(mapping)
    return tuple(found.values()) if isinstance(found, dict) else ()


def _check_clean_story(
    row: KinshipRow, pieces: Sequence[Piece] | None, generated: bool, is_natural: bool
) -> Iterator[tuple[str, Any, Any]]:
    found = row.values["clean_story"]
    if generated and pieces is not None:
        if found != (expected := clean_story(row, pieces, is_natural=is_natural)):
            yield "clean_story", found, expected
        return
    bare = remove_brackets(found)
    words, whole = Counter(bare.split()), Counter(row.values["story"].split())
    if words - whole or (generated and len(row.edges) == row.k and words != whole):
        yield "clean_story", found, "the story's own sentences about the chain"
    elif generated and any(row.names[person] not in bare for edge in row.edges[: row.k] for person in edge):
        yield "clean_story", found, "a text that mentions everybody in the chain"
