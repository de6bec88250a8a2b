"""Stories of ExploreToM, restated in the words that storyproof reads.

ExploreToM says what happens in fixed sentences: people enter and leave, put an object into a container "which is also
located in" a room, tell each other something, and "while this action was happening" others watch in secret or do not
pay attention. The same events are restated, one per sentence. A question about rooms is restated as a question about
places, with each container replaced by the room that it stands in.

What does not happen to places, or may be understood in several ways, is not restated: such rows have a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from storyproof.errors import ParseError, quoted
from storyproof.formats.restated import Restated, as_word

_NAME = r"[A-Z][\w'-]*"
_LIST = rf"{_NAME}(?:(?:,| and|, and) {_NAME})*"
_WATCHED = r"witnessed this action in secret \(and only this action\)"
_INATTENTIVE = (
    r"got distracted and did not realize what happened, without anyone noticing the brief lack of attention, and going "
    r"back to paying attention immediately after the action was finished"
)
_MOVED = rf"(?P<who>{_NAME}) moved the (?P<thing>[^.]+?) to the (?P<place>[^.]+?)"
_SAID = r"that the (?P<thing>[^.]+?) is in the (?P<place>[^.]+)"
_SENTENCES: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(rf"{pattern}\.(?=\s|$)")
    for kind, pattern in {
        "enter": rf"(?P<who>{_NAME}) entered the (?P<room>[^.]+)",
        "leave": rf"(?P<who>{_NAME}) left the (?P<room>[^.]+)",
        "put": rf"{_MOVED}, which is also located in the (?P<room>[^.]+)",
        "carry": rf"{_MOVED}(?:, leaving the [^.]+ in its original location)?",
        "attention": rf"While this action was happening, (?:(?P<watching>{_LIST}) {_WATCHED})?(?:; also, )?"
        rf"(?:(?P<absent>{_LIST}) {_INATTENTIVE})?",
        "whisper": rf"(?P<who>{_NAME}) told privately to (?P<hearer>{_NAME}) {_SAID}",
        "tell": rf"(?P<who>{_NAME}) told out loud {_SAID}",
        "other": rf"{_NAME} told (?:privately to {_NAME}|out loud) (?:about the [^.]+|that {_NAME} is in the [^.]+)",
    }.items()
}
_REFUSED = {
    "carry": "an object is carried to another room; only moves within a room are judged",
    "state": "somebody changes a state of an object, which is not a matter of places",
}
_WHICH = r"In which (?P<what>container|room)"
_QUESTIONS: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(f"{_WHICH} {pattern}")
    for kind, pattern in {
        "first": rf"will (?P<one>{_NAME}) search for the (?P<thing>.+)\?",
        "second": rf"does (?P<one>{_NAME}) think that (?P<two>{_NAME}) will search for the (?P<thing>.+)\?",
        "now": r"is the (?P<thing>.+) now\?",
        "beginning": r"was the (?P<thing>.+) at the beginning\?",
        "before": r"was the (?P<thing>.+?) before (?P<event>.+)\?",
    }.items()
}
_ASKED = {
    "first": "Where will {one} look for the {thing}?",
    "second": "Where does {one} think that {two} will look for the {thing}?",
    "now": "Where is the {thing} really?",
    "beginning": "Where was the {thing} at the beginning?",
    "before": "Where is the {thing} really?",
}


class _Sentence(NamedTuple):
    kind: str
    text: str
    parts: Mapping[str, str | None]


def _sentences(story: str) -> Iterator[_Sentence]:
    place, story = 0, " ".join(story.split())
    while place < len(story):
        found = ((kind, pattern.match(story, place)) for kind, pattern in _SENTENCES.items())
        kind, match = next(((kind, match) for kind, match in found if match), ("state", None))
        if match is None:
            text = story[place:].split(". ")[0]
            raise ParseError(f"{_REFUSED['state']}: {quoted(text)}")
        yield _Sentence(kind, match[0], match.groupdict())
        place = match.end() + 1


def _names(listed: str | None) -> list[str]:
    return re.findall(_NAME, re.sub(r"\band\b", "", listed)) if listed else []


@dataclass
class _Teller:
    """Restates sentences one after the other.

    Attributes:
        thing: What is asked about.
        of_rooms: Whether rooms are asked about, so that what is in a container is said to be in its room.
        lines: The sentences so far.
    """

    thing: str
    of_rooms: bool
    lines: list[str] = field(default_factory=list)
    _where: dict[str, str] = field(default_factory=dict)
    _home: dict[str, str] = field(default_factory=dict)  # container → room
    _placed: set[str] = field(default_factory=set)

    def restate(self, sentence: _Sentence, attention: Mapping[str, str | None]) -> None:
        """Add what a sentence says, while some people watch in secret or pay no attention."""
        watching, absent = _names(attention.get("watching")), _names(attention.get("absent"))
        said = list(self._said(sentence, absent))
        room = self._where.get(sentence.parts.get("who") or "")
        if not said or room is None or sentence.kind not in ("put", "tell", "whisper"):
            watching = []  # who sees nothing but an entrance or an exit learns nothing of objects
        if watching and sentence.kind == "whisper":
            raise ParseError("somebody overhears words that are told to one person")
        if not said:
            return
        for name in watching:
            if name not in self._where:
                self._where[name] = f"{name}'s_place"
                self.lines.append(f"{name} is in the {name}'s_place.")
            self.lines.append(f"{name} secretly began to watch the {room}.")
        self.lines += [f"{name} got distracted." for name in absent]
        self.lines += said
        self.lines += [f"{name} stopped watching." for name in watching]
        self.lines += [f"{name} paid attention again." for name in absent]

    def _said(self, sentence: _Sentence, absent: Sequence[str]) -> Iterator[str]:
        kind, parts = sentence.kind, {name: as_word(value) for name, value in sentence.parts.items() if value}
        if kind in _REFUSED:
            raise ParseError(f"{_REFUSED[kind]}: {quoted(sentence.text)}")
        if kind == "enter":
            self._where[parts["who"]] = parts["room"]
            yield f"{parts['who']} entered the {parts['room']}."
        elif kind == "leave":
            self._where.pop(parts["who"], None)
            yield f"{parts['who']} exited the {parts['room']}."
        elif kind == "put":
            yield from self._put(parts)
        elif kind in ("whisper", "tell") and parts["thing"] in self._placed:
            yield from self._tell(kind, parts, absent)

    def _put(self, parts: Mapping[str, str]) -> Iterator[str]:
        room, container = parts["room"], parts["place"]
        if container not in self._home:
            self._home[container] = room
            if self.of_rooms and container == self.thing:
                self._placed.add(container)
                yield f"The {container} is in the {room} in the {room}."
        place = room if self.of_rooms else container
        if parts["thing"] in self._placed:
            yield f"{parts['who']} moved the {parts['thing']} to the {place}."
        else:
            self._placed.add(parts["thing"])
            yield f"The {parts['thing']} is in the {place} in the {room}."

    def _tell(self, kind: str, parts: Mapping[str, str], absent: Sequence[str]) -> Iterator[str]:
        place, who, here = parts["place"], parts["who"], self._where.get(parts["who"])
        if self.of_rooms and place in self._home:
            if kind == "whisper" and self._where.get(parts["hearer"]) != here:
                here = None
            if here != self._home[place]:
                raise ParseError("somebody names a container to a person who may not know in which room it is")
            place = self._home[place]  # everybody there sees it
        elif not self.of_rooms and place not in self._home:
            raise ParseError("somebody names a room, and not the container that an object is in")
        said = f"that the {parts['thing']} is in the {place}."
        if kind == "tell":
            if not {name for name, room in self._where.items() if room == here} - {who, *absent}:
                raise ParseError("somebody speaks, and nobody who is there listens")
            yield f"{who} told everybody in the room {said}"
            return
        if parts["hearer"] in absent:
            raise ParseError("somebody speaks, and nobody who is there listens")
        yield from self._apart(who, parts["hearer"], f"{who} told {parts['hearer']} in private {said}")

    def _apart(self, one: str, other: str, said: str) -> Iterator[str]:
        """Yield words between two people. If they are not in one room, they meet in a place of their own.

        Nothing else happens meanwhile, so it makes no difference to what anybody sees that they leave and come back.
        """
        rooms = {name: self._where.get(name) for name in (one, other)}
        if None not in rooms.values() and len({*rooms.values()}) == 1:
            yield said
            return
        line = f"line_of_{one}_and_{other}"
        yield from (f"{name} exited the {room}." for name, room in rooms.items() if room)
        yield from (f"{name} entered the {line}." for name in rooms)
        yield said
        yield from (f"{name} exited the {line}." for name in rooms)
        yield from (f"{name} entered the {room}." for name, room in rooms.items() if room)


def _question(question: str) -> tuple[str, Mapping[str, str]]:
    for kind, pattern in _QUESTIONS.items():
        if match := pattern.fullmatch(question.strip()):
            return kind, match.groupdict()
    raise ParseError(f"not a question about places: {quoted(question)}")


def _until(sentences: list[_Sentence], event: str) -> list[_Sentence]:
    """Return the sentences before an event."""
    ends = re.compile(rf"{re.escape(event.rstrip('.'))}(?:, which is also located in .*)?\.")
    at = [number for number, each in enumerate(sentences) if ends.fullmatch(each.text)]
    if len(at) != 1 or sentences[at[0]].kind == "attention":
        times = "several times" if len(at) > 1 else "not once" if not at else "beside another action"
        raise ParseError(f"the question asks about the time before something that happens {times}: {quoted(event)}")
    return sentences[: at[0]]


def restate(record: Mapping[str, Any]) -> Sequence[Restated]:
    """Return a record with story and question in the words that storyproof reads, if it is one of ExploreToM."""
    story, question = record.get("story"), record.get("question")
    if record.get("data_source") != "explore_tom" or not isinstance(story, str) or not isinstance(question, str):
        return [Restated(record, story, question, keeps_answer=True)]
    try:
        told, asked = _told(story, question)
    except ParseError as error:
        return [Restated(record, story, question, problem=str(error), keeps_answer=True)]
    return [Restated({**record, "story": told, "question": asked}, story, question, keeps_answer=True)]


def _told(story: str, question: str) -> tuple[str, str]:
    """Return story and question in words that are read.

    Raises:
        ParseError: If the text does not say one thing about places only.
    """
    kind, parts = _question(question)
    sentences = list(_sentences(story))
    if kind == "before":
        sentences = _until(sentences, parts["event"])
    teller = _Teller(as_word(parts["thing"]), of_rooms=parts["what"] == "room")
    for number, sentence in enumerate(sentences):
        if sentence.kind != "attention":
            after = sentences[number + 1] if number + 1 < len(sentences) else None
            teller.restate(sentence, after.parts if after is not None and after.kind == "attention" else {})
    asked = _ASKED[kind].format(**{name: as_word(value) for name, value in parts.items()})
    return "\n".join(teller.lines), asked
