"""Theory-of-mind stories: who was where, who saw what, who believes what."""

from storyproof.families.belief.questions import BeliefQuestion
from storyproof.families.belief.readings import DEFAULT, READINGS
from storyproof.families.belief.story import Story
from storyproof.families.belief.tomi_text import narrate, parse, parse_question
from storyproof.families.belief.world import EventKind, PlotEvent

__all__ = [
    "DEFAULT",
    "READINGS",
    "BeliefQuestion",
    "EventKind",
    "PlotEvent",
    "Story",
    "narrate",
    "parse",
    "parse_question",
]
