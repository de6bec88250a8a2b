"""Events to sentences and back.

The dialect is that of the published files, so that whatever reads those reads ours. The parser takes both dialects:
in the published ToMi files a sentence of liking has no full stop, in ours every sentence has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from storyproof.errors import ParseError
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.world import EventKind, PlotEvent

FEELINGS = ("likes", "dislikes", "loves", "hates")
NOISE = "Phone rang."

_NAME = r"([^\s.?]+)"
_SENTENCES: tuple[tuple[EventKind, re.Pattern[str]], ...] = (
    (EventKind.ENTER, re.compile(rf"{_NAME} entered the {_NAME}\.")),
    (EventKind.EXIT, re.compile(rf"{_NAME} exited the {_NAME}\.")),
    (EventKind.PLACE, re.compile(rf"The {_NAME} is in the {_NAME}\.")),
    (EventKind.MOVE, re.compile(rf"{_NAME} moved the {_NAME} to the {_NAME}\.")),
    (EventKind.IS_IN, re.compile(rf"{_NAME} is in the {_NAME}\.")),
    (EventKind.FEEL, re.compile(rf"{_NAME} ({'|'.join(FEELINGS)}) the {_NAME}\.?")),
)
_ENTER, _EXIT, _IS_IN, _PLACE, _MOVE = EventKind.ENTER, EventKind.EXIT, EventKind.IS_IN, EventKind.PLACE, EventKind.MOVE
_QUESTIONS = {
    "Where was": re.compile(rf"Where was the {_NAME} at the beginning\?"),
    "Where is ": re.compile(rf"Where is the {_NAME} really\?"),
    "Where wil": re.compile(rf"Where will {_NAME} look for the {_NAME}\?"),
    "Where doe": re.compile(
        rf"Where does {_NAME} think that ((?:{_NAME} thinks that )*){_NAME} searches for the {_NAME}\?"
    ),
}

SENTENCE_FORMS = (
    "A entered the R. / A exited the R. / A is in the R. / The O is in the C. / A moved the O to the C. / "
    f"A {'|'.join(FEELINGS)} the T. / {NOISE}"
)
QUESTION_FORMS = (
    "Where was the O at the beginning? / Where is the O really? / Where will A look for the O? / "
    "Where does A think that (B thinks that)* C searches for the O?"
)


def narrate_sentence(event: PlotEvent, *, published: bool = False) -> str:
    """Return the sentence of an event; with `published`, likes have no full stop, as in the published ToMi files."""
    match event.kind:
        case EventKind.ENTER:
            return f"{event.agent} entered the {event.room}."
        case EventKind.EXIT:
            return f"{event.agent} exited the {event.room}."
        case EventKind.IS_IN:
            return f"{event.agent} is in the {event.room}."
        case EventKind.PLACE:
            return f"The {event.thing} is in the {event.container}."
        case EventKind.MOVE:
            return f"{event.agent} moved the {event.thing} to the {event.container}."
        case EventKind.FEEL:
            return f"{event.agent} {event.feeling} the {event.thing}" + ("" if published else ".")
    return NOISE


def narrate(events: Iterable[PlotEvent], *, published: bool = False) -> str:
    """Return the text of a story, one sentence per line."""
    return "\n".join(narrate_sentence(event, published=published) for event in events)


@lru_cache(maxsize=200_000)
def parse_sentence(sentence: str) -> PlotEvent:
    """Read one sentence; the room of a placing or move is left open (see `parse`).

    Raises:
        ParseError: If the sentence has none of the known forms.
    """
    if sentence == NOISE:
        return PlotEvent(EventKind.NOISE)
    for kind, pattern in _SENTENCES:
        match = pattern.fullmatch(sentence)
        if match is None:
            continue
        first, second = match[1], match[2]
        match kind:
            case EventKind.PLACE:
                return PlotEvent(kind, thing=first, container=second)
            case EventKind.MOVE:
                return PlotEvent(kind, agent=first, thing=second, container=match[3])
            case EventKind.FEEL:
                return PlotEvent(kind, agent=first, feeling=second, thing=match[3])
            case _:
                return PlotEvent(kind, agent=first, room=second)
    raise ParseError(f"not a sentence of a story: '{sentence}'; expected one of: {SENTENCE_FORMS}.")


def parse(story: str | Sequence[str]) -> list[PlotEvent]:
    """Parse a story with one sentence per line, and infer in which room each placing and move happens.

    The text seldom says where a container stands ("The box is in the attic."). Where it does not, that shows only
    through who moves things there: a placing takes the room of the agent who next moves the object, if somebody was in
    that room to see it placed; failing that, the object's or the container's earlier room; failing that, the room last
    entered.

    Raises:
        ParseError: Naming the sentence by number, if one has no known form.
    """
    sentences = story.split("\n") if isinstance(story, str) else story
    events: list[PlotEvent] = []
    try:
        for sentence in sentences:
            events.append(parse_sentence(sentence))
    except ParseError as error:
        raise ParseError(f"sentence {len(events) + 1}: {error}") from None
    return resolve_rooms(_with_stated_rooms(events))


def _with_stated_rooms(events: list[PlotEvent]) -> list[PlotEvent]:
    """Return events with the rooms of containers of which a sentence says where they are.

    Such a sentence reads as if it placed the container as an object. What people enter is a room, and so is what holds
    nothing but containers.
    """
    holding = {event.container for event in events if event.container}
    placings = [event for event in events if event.kind == _PLACE and event.thing in holding]
    if not placings:
        return events
    others = {event.container for event in events if event.container and event.thing not in holding}
    others -= {event.room for event in events}
    stated = {event.thing: event.container for event in placings if event.container not in others}
    return [
        event
        if event.kind not in (_PLACE, _MOVE)
        else event._replace(room=stated.get(event.container, stated.get(event.thing)))
        for event in events
    ]


def resolve_rooms(events: list[PlotEvent]) -> list[PlotEvent]:
    """Infer in which room each placing and move happens, where it is not known; see `parse`."""
    where: dict[str | None, str | None] = {}
    waiting: dict[str | None, list[tuple[int, set[str | None]]]] = {}  # placings without a mover yet, rooms then in use
    object_room: dict[str | None, str | None] = {}
    container_room: dict[str | None, str | None] = {}
    last_entered: str | None = None
    rooms: dict[int, str | None] = {}
    for index, event in enumerate(events):
        kind = event.kind
        if kind == _ENTER or kind == _IS_IN:
            where[event.agent] = last_entered = event.room
        elif kind == _EXIT:
            where.pop(event.agent, None)
        elif kind == _PLACE:
            thing = event.thing
            if event.room:
                rooms[index] = object_room[thing] = container_room[event.container] = event.room
                waiting.pop(thing, None)
                continue
            rooms[index] = object_room.get(thing) or container_room.get(event.container) or last_entered
            waiting.setdefault(thing, []).append((index, set(where.values())))
        elif kind == _MOVE:
            thing = event.thing
            room = where.get(event.agent) or object_room.get(thing)
            for placing, in_use in waiting.pop(thing, ()):
                if room in in_use:
                    rooms[placing] = room
                container_room[events[placing].container] = rooms[placing]
                room = room or rooms[placing]
            room = event.room or room
            object_room[thing] = container_room[event.container] = rooms[index] = room
    for index, room in rooms.items():
        event = events[index]
        events[index] = event._replace(room=room)
    return events


def ask(question: BeliefQuestion) -> str:
    """Word a question about memory, reality or a belief."""
    thing, chain = question.thing, question.chain
    if question.ask == Ask.MEMORY:
        return f"Where was the {thing} at the beginning?"
    if question.ask == Ask.REALITY:
        return f"Where is the {thing} really?"
    if len(chain) == 1:
        return f"Where will {chain[0]} look for the {thing}?"
    middle = "".join(f"{agent} thinks that " for agent in chain[1:-1])
    return f"Where does {chain[0]} think that {middle}{chain[-1]} searches for the {thing}?"


def parse_question(question: str) -> BeliefQuestion:
    """Read a question.

    Raises:
        ParseError: If it has none of the known forms.
    """
    start = question[:9]
    pattern = _QUESTIONS.get(start)
    match = pattern.fullmatch(question) if pattern else None
    if match is None:
        raise ParseError(f"not a question about a story: '{question}'; expected one of: {QUESTION_FORMS}.")
    if start == "Where doe":
        middle = match[2].split(" thinks that ")[:-1] if match[2] else ()
        return BeliefQuestion(Ask.BELIEF, match[5], (match[1], *middle, match[4]))
    if start == "Where wil":
        return BeliefQuestion(Ask.BELIEF, match[2], (match[1],))
    return BeliefQuestion(Ask.MEMORY if start == "Where was" else Ask.REALITY, match[1])
