"""The columns of CLUTRR's CSV that say again what the rest of a row says, held against it.

Of rows that we wrote it is known what has to stand there, word for word. Of others it is known that `node_mapping`
leads to everybody, in the order of `genders`, and that `clean_story` is told in words of the story.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from storyproof.families.kinship.clutrr_csv import clean_story, node_mapping, target_texts
from storyproof.families.kinship.rows import Case, Telling

_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


def check_columns(
    row: Mapping[str, Any], case: Case, told: Sequence[Telling] | None, *, ours: bool
) -> Iterator[tuple[str, Any, Any]]:
    """Find what is wrong in these columns: field, found, expected.

    Args:
        row: The row, with the columns as they stand in the file; those that it has not are not looked at.
        case: Its people and facts.
        told: The pieces of the story with the facts that they tell; None if that is not known.
        ours: Whether we wrote it.
    """
    mapping, query, target = (row.get(name) for name in ("node_mapping", "text_query", "text_target"))
    everybody = tuple(range(len(case.names)))
    if mapping not in (None, right := node_mapping(case)) and (ours or _leads_to(mapping) != everybody):
        yield "node_mapping", mapping, right
    if ours and query:
        yield "text_query", query, "nothing"
    if ours and target is not None:
        texts = [repr([text]) for text in target_texts(case, row["answer"])]
        if target not in texts:
            yield "text_target", target, texts[0]
    if row.get("clean_story") is not None:
        yield from _check_clean_story(row, case, told, ours)


@lru_cache(maxsize=4096)  # the same few come again and again
def _leads_to(mapping: str) -> tuple[Any, ...]:
    """Give whom a mapping leads to, in its order; nobody if it is none."""
    try:
        found = ast.literal_eval(mapping)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ()
    return tuple(found.values()) if isinstance(found, dict) else ()


def _check_clean_story(
    row: Mapping[str, Any], case: Case, told: Sequence[Telling] | None, ours: bool
) -> Iterator[tuple[str, Any, Any]]:
    found = row["clean_story"]
    if ours and told is not None:
        if found != (expected := clean_story(case, told)):
            yield "clean_story", found, expected
        return
    bare = _BRACKETS.sub(r"\1", found)
    words, whole = Counter(bare.split()), Counter(row["story"].split())
    if words - whole or (ours and len(case.edges) == case.k and words != whole):
        yield "clean_story", found, "the story's own sentences about the chain"
    elif ours and any(case.names[person] not in bare for edge in case.edges[: case.k] for person in edge):
        yield "clean_story", found, "a text that mentions everybody of the chain"
