"""The pictures of the docs, drawn by storyproof from stories that a seed determines."""

from __future__ import annotations

import storyproof
from storyproof.example import Example
from storyproof.families import family_of
from storyproof.pictures.svg import standalone

_STORY, _QUESTION = "test-000000006", 4  # where will Rosa, who is wrong, look for the rope?


def false_belief() -> str:
    """Draw the story that the README and the tutorial show: `tomi`, seed 7, index 7."""
    rows = storyproof.generate("tomi", test=999, seed=7).to_pylist()
    story = [Example.from_row(row) for row in rows if row["story_id"] == _STORY]
    asked = story.pop(_QUESTION)
    drawn = family_of(asked).pictures([*story, asked], asked.proof)[0]
    return f"{standalone(drawn.svg)}\n"
