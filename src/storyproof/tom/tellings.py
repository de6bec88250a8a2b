"""Stories as rows tell them, reduced to what happens.

Sentences that tell of nothing that happens (likes, noise) are left out and names are numbered in order of appearance;
what remains is a story's plot, and alike stories have equal plots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storyproof.errors import ParseError
from storyproof.tom.arrays import MOST_AGENTS, MOST_NAMES, Names, Numbers, number
from storyproof.tom.events import Event, Kind, impossibilities
from storyproof.tom.labels import MOST_ORDER
from storyproof.tom.text import Question, parse, parse_question

_FEEL = Kind.FEEL


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a row that cannot be right, whatever its labels say."""

    row: int
    what: str
    found: str
    expected: str


@dataclass(frozen=True, slots=True)
class Telling:
    """A story as told.

    Attributes:
        events: What happens.
        plot: The same in local numbers.
        names: What the numbers stand for.
        sentences: Where each event stands in the text, counted from 1.
    """

    events: list[Event]
    plot: tuple[Numbers, ...]
    names: Names
    sentences: list[int]


def read_stories(stories: Sequence[str], story_of: Sequence[int], problems: list[Problem]) -> list[Telling | None]:
    """Read distinct stories; one that cannot be read or cannot happen is a problem of its first row."""
    first: dict[int, int] = {}
    for row, story in enumerate(story_of):
        first.setdefault(story, row)
    tellings: list[Telling | None] = []
    for story, text in enumerate(stories):
        telling = None
        try:
            events = parse(text)
            for sentence, what in impossibilities(events):
                found = f"sentence {sentence}: {what}"
                problems.append(Problem(first.get(story, 0), "story", found, "a story that can happen"))
            telling = reduce(events)
        except ParseError as error:
            problems.append(Problem(first.get(story, 0), "story", str(error).rstrip("."), "a story that can be read"))
        tellings.append(telling)
    return tellings


def reduce(events: Sequence[Event]) -> Telling:
    """Leave out what does not happen, and number the names.

    Raises:
        ParseError: If there are more names than can be numbered.
    """
    happening, sentences = [], []
    for sentence, event in enumerate(events, start=1):
        if event.kind < _FEEL:
            happening.append(event)
            sentences.append(sentence)
    plot, names = number(happening)
    if len(names.agents) > MOST_AGENTS or max(map(len, (names.rooms, names.things, names.containers))) > MOST_NAMES:
        raise ParseError(f"more than {MOST_AGENTS} agents or {MOST_NAMES} rooms, objects or containers in one story")
    return Telling(happening, plot, names, sentences)


def read_question(text: str, telling: Telling, row: int, problems: list[Problem]) -> Question | None:
    """Read a row's question; None, and a problem, if it cannot be read or answered."""
    try:
        question = parse_question(text)
    except ParseError as error:
        problems.append(Problem(row, "question", str(error).rstrip("."), "a question that can be read"))
        return None
    if question.thing not in telling.names.things:
        problems.append(Problem(row, "question", f"the {question.thing} is nowhere in the story", "an object of it"))
        return None
    if question.order > MOST_ORDER:
        problems.append(Problem(row, "question", f"order {question.order}", f"at most order {MOST_ORDER}"))
        return None
    return question
