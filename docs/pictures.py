"""The pictures of the docs, drawn by storyproof from stories that a seed determines."""

from __future__ import annotations

import storyproof
from storyproof.example import Example
from storyproof.families import family_of
from storyproof.svg import standalone

# A page shows a picture as an image, which inherits no colours from the page, so it needs a background of its own.
_COLOURS = (
    "<style>svg.picture{color:#1f2328}.picture .paper{fill:#ffffff}"
    "@media(prefers-color-scheme:dark){svg.picture{color:#e6edf3}.picture .paper{fill:#0d1117}}</style>"
    '<rect class="paper" width="100%" height="100%"/>'
)
_STORY, _QUESTION = "test-000000007", 4  # where will Selma, who is wrong, look for the scarf?


def false_belief() -> str:
    """Draw the story that the README and the tutorial show: `tomi`, seed 7, index 7."""
    rows = storyproof.generate("tomi", test=999, seed=7).to_pylist()
    story = [Example.from_row(row) for row in rows if row["story_id"] == _STORY]
    asked = story.pop(_QUESTION)
    drawn = family_of(asked).pictures([*story, asked], asked.proof)[0]
    head, end, rest = standalone(drawn.svg).partition("</style>")
    return f"{head}{end}{_COLOURS}{rest}\n"
