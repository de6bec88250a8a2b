"""Theory-of-mind stories: who was where, who saw what, who believes what."""

from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.nested.story import Story
from storyproof.families.belief.readings import DEFAULT, READINGS
from storyproof.families.belief.text import Question, narrate, parse, parse_question

__all__ = ["DEFAULT", "READINGS", "Event", "Kind", "Question", "Story", "narrate", "parse", "parse_question"]
