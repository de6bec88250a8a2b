"""Stories with secrets and messages as plain English sentences, and back.

The style is that of ToMi: one short sentence per event. A placing says in which room the container stands; a move
happens in the mover's room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from storyproof.errors import ParseError, quoted
from storyproof.families.belief.events import NOISE
from storyproof.families.belief.nested.questions import Ask, NestedQuestion
from storyproof.families.belief.nested.world import EventKind, PlotEvent
from storyproof.families.belief.text import QUESTION_FORMS, Question, ask, parse_question

_WHAT = "the {thing} is in the {container}"
# The forms of sentence, by kind and whether it is a lie.
_FORMS: dict[tuple[EventKind, bool], str] = {
    (EventKind.ENTER, False): "{agent} entered the {room}.",
    (EventKind.EXIT, False): "{agent} exited the {room}.",
    (EventKind.PLACE, False): "The {thing} is in the {container} in the {room}.",
    (EventKind.MOVE, False): "{agent} moved the {thing} to the {container}.",
    (EventKind.PEEK, False): "{agent} secretly began to watch the {room}.",
    (EventKind.UNPEEK, False): "{agent} stopped watching.",
    (EventKind.DISTRACT, False): "{agent} got distracted.",
    (EventKind.ATTEND, False): "{agent} paid attention again.",
    (EventKind.TELL, False): f"{{agent}} told everybody in the room that {_WHAT}.",
    (EventKind.TELL, True): f"{{agent}} lied to everybody in the room and said that {_WHAT}.",
    (EventKind.WHISPER, False): f"{{agent}} told {{hearer}} in private that {_WHAT}.",
    (EventKind.WHISPER, True): f"{{agent}} lied to {{hearer}} in private and said that {_WHAT}.",
    (EventKind.ANNOUNCE, False): f"{{agent}} announced everywhere that {_WHAT}.",
    (EventKind.ANNOUNCE, True): f"{{agent}} lied to everybody everywhere and said that {_WHAT}.",
    (EventKind.NOISE, False): "{agent} likes the {thing}.",
}
_NAME = r"[^\s.,?]+"
_PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")  # as re.escape leaves them
_PATTERNS = [
    (*key, re.compile(_PLACEHOLDER.sub(lambda found: f"(?P<{found[1]}>{_NAME})", re.escape(form))))
    for key, form in _FORMS.items()
]
_MORE_QUESTIONS: dict[Ask, re.Pattern[str]] = {
    Ask.SAYS: re.compile(rf"What would (?P<a>{_NAME}) say if asked where the (?P<thing>{_NAME}) is\?"),
    Ask.KNOWS_WHERE: re.compile(rf"Does (?P<a>{_NAME}) know where the (?P<thing>{_NAME}) is\?"),
    Ask.KNOWS_WRONG: re.compile(
        rf"Does (?P<a>{_NAME}) know that (?P<b>{_NAME}) is wrong about where the (?P<thing>{_NAME}) is\?"
    ),
    Ask.BELIEVERS: re.compile(
        rf"Who (?:believes|thinks that (?P<middle>(?:{_NAME} thinks that )*)(?P<b>{_NAME}) believes) that "
        rf"the (?P<thing>{_NAME}) is in the (?P<place>{_NAME})\?"
    ),
    Ask.COMMON: re.compile(
        rf"Where do (?P<middle>{_NAME}(?:, {_NAME})*) and (?P<b>{_NAME}) "
        rf"commonly believe the (?P<thing>{_NAME}) to be\?"
    ),
}
_LETTERS = {"agent": "A", "hearer": "B", "room": "R", "thing": "O", "container": "C"}
PLOT_FORMS = " / ".join([*(form.format_map(_LETTERS) for form in _FORMS.values()), NOISE])
MORE_QUESTION_FORMS = (
    "What would A say if asked where the O is? / Does A know where the O is? / Does A know that B is wrong about where "
    "the O is? / Who believes that the O is in the C? / Who thinks that (A thinks that)* B believes that the O is in "
    "the C? / Where do A, B and C commonly believe the O to be?"
)


def narrate_plot(events: Iterable[PlotEvent]) -> str:
    """Return the text of a story, one sentence per line."""
    return "\n".join(_narrate(event) for event in events)


def _narrate(event: PlotEvent) -> str:
    if event.kind == EventKind.NOISE and None in (event.agent, event.thing):
        return NOISE
    return _FORMS[event.kind, event.lie].format_map(event._asdict())


def parse_plot(story: str | Sequence[str]) -> list[PlotEvent]:
    """Parse a story with one sentence per line.

    Raises:
        ParseError: Naming the sentence by number, if one has no known form, or if nobody can tell where it happens.
    """
    sentences = story.split("\n") if isinstance(story, str) else story
    where: dict[str | None, str | None] = {}
    homes: dict[str | None, str | None] = {}
    events: list[PlotEvent] = []
    for number, sentence in enumerate(sentences, start=1):
        event = _parse(sentence)
        if event is None:
            raise ParseError(
                f"sentence {number}: not a sentence of a story: {quoted(sentence)}; expected: {PLOT_FORMS}"
            )
        if event.kind == EventKind.ENTER:
            where[event.agent] = event.room
        elif event.kind == EventKind.EXIT:
            where.pop(event.agent, None)
        elif event.kind == EventKind.MOVE:
            room = where.get(event.agent) or homes.get(event.container)
            if room is None:
                raise ParseError(f"sentence {number}: {event.agent} moves the {event.thing} but is in no room.")
            event = event._replace(room=room)
        if event.kind in (EventKind.PLACE, EventKind.MOVE):
            homes.setdefault(event.container, event.room)
        events.append(event)
    return events


def _parse(sentence: str) -> PlotEvent | None:
    if sentence == NOISE:
        return PlotEvent(EventKind.NOISE)
    for kind, lie, pattern in _PATTERNS:
        match = pattern.fullmatch(sentence)
        if match is not None:
            return PlotEvent(kind, lie=lie, **match.groupdict())
    return None


def ask_nested(question: NestedQuestion) -> str:
    """Word a question."""
    thing, chain, what = question.thing, question.chain, question.ask
    if what == Ask.SAYS:
        return f"What would {chain[0]} say if asked where the {thing} is?"
    if what == Ask.KNOWS_WHERE:
        return f"Does {chain[0]} know where the {thing} is?"
    if what == Ask.KNOWS_WRONG:
        return f"Does {chain[0]} know that {chain[1]} is wrong about where the {thing} is?"
    if what == Ask.BELIEVERS:
        middle = "".join(f"{agent} thinks that " for agent in chain[:-1])
        start = f"thinks that {middle}{chain[-1]} believes" if chain else "believes"
        return f"Who {start} that the {thing} is in the {question.place}?"
    if what == Ask.COMMON:
        return f"Where do {', '.join(chain[:-1])} and {chain[-1]} commonly believe the {thing} to be?"
    return ask(Question(thing, chain, what == Ask.MEMORY))


def parse_nested_question(text: str) -> NestedQuestion:
    """Read a question.

    Raises:
        ParseError: If it has none of the known forms.
    """
    for what, pattern in _MORE_QUESTIONS.items():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        found = match.groupdict()
        middle = re.findall(_NAME, (found.get("middle") or "").replace(" thinks that ", " "))
        chain = tuple(name for name in (found.get("a"), *middle, found.get("b")) if name is not None)
        return NestedQuestion(what, found["thing"], chain, found.get("place"))
    try:
        plain = parse_question(text)
    except ParseError:
        forms = f"{QUESTION_FORMS} / {MORE_QUESTION_FORMS}"
        raise ParseError(f"not a question about a story: {quoted(text)}; expected one of: {forms}") from None
    what = Ask.BELIEF if plain.chain else Ask.MEMORY if plain.memory else Ask.REALITY
    return NestedQuestion(what, plain.thing, plain.chain)
