"""Stories with secrets and messages as plain English sentences, and back.

The style is that of ToMi: one short sentence per event. A placing says in which room the container stands; a move
happens in the mover's room. `wording` has other styles and languages.
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.belief.questions import BeliefQuestion
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import PlotEvent


def narrate_plot(events: Sequence[PlotEvent]) -> str:
    """Return the text of a story, one sentence per line."""
    return "\n".join(find_wording().narrate(events))


def parse_plot(story: str | Sequence[str]) -> list[PlotEvent]:
    """Read an English story with one sentence per line, in any style; see `StoryReader.read`."""
    return find_wording().read(story)


def ask_plot(question: BeliefQuestion) -> str:
    """Return a question in words."""
    return find_wording().ask(question)


def parse_plot_question(text: str) -> BeliefQuestion:
    """Read a question; see `StoryReader.read_question`."""
    return find_wording().read_question(text)
