"""The pictures of the docs, drawn by storyproof from stories that a seed determines."""

from __future__ import annotations

from functools import cache

import storyproof
from storyproof.example import Example
from storyproof.families import family_of
from storyproof.pictures.svg import standalone
from storyproof.reports.animation import animated_svg

_STORY, _QUESTION = "test-000000006", 4  # where will Rosa, who is wrong, look for the rope?


def false_belief() -> str:
    """Draw the story that the README and the tutorial show: `tomi`, seed 7, index 7."""
    return f"{standalone(_drawn()[1])}\n"


def playing_story() -> str:
    """Draw the same story so that it plays."""
    return f"{animated_svg(_drawn()[1], _drawn()[0])}\n"


@cache
def _drawn() -> tuple[str, str]:
    """Return the question and the picture."""
    rows = storyproof.generate("tomi", test=999, seed=7).to_pylist()
    story = [Example.from_row(row) for row in rows if row["story_id"] == _STORY]
    asked = story.pop(_QUESTION)
    drawn = family_of(asked).pictures([*story, asked], asked.proof)[0]
    return asked.question, drawn.svg
