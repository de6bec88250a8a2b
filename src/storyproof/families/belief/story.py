"""A story that is built sentence by sentence, and asked anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from storyproof.errors import DataError, ProofError, UnknownNameError
from storyproof.families.belief.answers import oracle_answer, oracle_proof
from storyproof.families.belief.provers import CheckedStory
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.readings import ALL_READINGS, DEFAULT_READING, BeliefReading, parse_reading
from storyproof.families.belief.world import EventKind, PlotEvent, PlotState, cast_of


@dataclass(frozen=True, slots=True)
class BeliefAnswer:
    """An answer that oracle and checker agree on.

    Attributes:
        value: A container (None: nowhere or unknown), "yes" or "no", or the names of some agents.
        proof: The 1-based numbers of the sentences that it rests on.
        readings: All readings under which the answer is right.
        by_reading: The answer under each reading.
    """

    value: Reply
    proof: tuple[int, ...]
    readings: tuple[str, ...]
    by_reading: Mapping[str, Reply]

    @property
    def place(self) -> str | None:
        """The container that is the answer, None if it is unknown.

        Raises:
            DataError: If the answer is not a place.
        """
        if isinstance(self.value, tuple) or self.value in ("yes", "no"):
            raise DataError(f"the answer is {self.value!r}, not a place; use `value`.")
        return self.value


class Story:
    """A story built by hand.

    Every method that adds a sentence returns the story, and raises a DataError if that cannot happen. Every question is
    answered by oracle and checker, which must agree.
    """

    def __init__(self, reading: str | BeliefReading = DEFAULT_READING) -> None:
        """Begin an empty story.

        Args:
            reading: The reading under which questions are answered and lies are recognised.
        """
        self.reading = reading if isinstance(reading, BeliefReading) else parse_reading(reading)
        self._events: list[PlotEvent] = []
        self._state = PlotState()
        self._room: str | None = None  # the room entered last

    @property
    def events(self) -> tuple[PlotEvent, ...]:
        """The sentences so far."""
        return tuple(self._events)

    def add(self, event: PlotEvent) -> Story:
        """Add a sentence.

        Raises:
            DataError: If it cannot happen.
        """
        number = len(self._events) + 1
        for name in (event.agent, event.room, event.thing, event.container, event.hearer):
            if name is not None and not name.strip():
                raise DataError(f"sentence {number}: a name is empty.")
        problem = self._state.problem(event)
        if problem is not None:
            raise DataError(f"sentence {number}: {problem}.")
        self._state.advance(event)
        self._events.append(event)
        return self

    def enter(self, agent: str, room: str) -> Story:
        """Let an agent enter a room."""
        self.add(PlotEvent(EventKind.ENTER, agent, room))
        self._room = room
        return self

    def exit(self, agent: str, room: str | None = None) -> Story:
        """Let an agent leave a room, by default the one that they are in."""
        return self.add(PlotEvent(EventKind.EXIT, agent, room or self._room_of(agent, "exits")))

    def place(self, thing: str, container: str, room: str | None = None) -> Story:
        """Say where an object is at first.

        Args:
            thing: The object.
            container: What it is in.
            room: Where the container stands; by default where it is known to stand, else the room entered last.
        """
        home = room or self._state.homes.get(container) or self._room
        if home is None:
            raise DataError(f"sentence {len(self._events) + 1}: the room of the {container} is unknown; name it.")
        return self.add(PlotEvent(EventKind.PLACE, None, home, thing, container))

    def move(self, agent: str, thing: str, container: str) -> Story:
        """Let an agent move an object into another container of its room."""
        room = self._room_of(agent, "moves something")
        return self.add(PlotEvent(EventKind.MOVE, agent, room, thing, container))

    def peek(self, agent: str, room: str) -> Story:
        """Let an agent secretly watch another room than theirs, until `stop_peeking`."""
        return self.add(PlotEvent(EventKind.PEEK, agent, room))

    def stop_peeking(self, agent: str) -> Story:
        """Let an agent stop watching."""
        return self.add(PlotEvent(EventKind.UNPEEK, agent))

    def distract(self, agent: str) -> Story:
        """Let an agent notice nothing and do nothing, until `attend`."""
        return self.add(PlotEvent(EventKind.DISTRACT, agent))

    def attend(self, agent: str) -> Story:
        """Let an agent pay attention again."""
        return self.add(PlotEvent(EventKind.ATTEND, agent))

    def noise(self) -> Story:
        """Add a sentence that changes nothing."""
        return self.add(PlotEvent(EventKind.NOISE))

    def tell(self, agent: str, thing: str, container: str, to: str | None = None) -> Story:
        """Let an agent say, honestly, where an object is: to all in their room, or in private to one of them."""
        return self._say(EventKind.WHISPER if to else EventKind.TELL, agent, thing, container, to, lie=False)

    def announce(self, agent: str, thing: str, container: str) -> Story:
        """Let an agent tell everybody who is in any room where they believe an object to be."""
        return self._say(EventKind.ANNOUNCE, agent, thing, container, None, lie=False)

    def lie(self, agent: str, thing: str, container: str, to: str | None = None) -> Story:
        """Let an agent say what they do not believe: to all in their room, or in private to one of them."""
        return self._say(EventKind.WHISPER if to else EventKind.TELL, agent, thing, container, to, lie=True)

    def announce_lie(self, agent: str, thing: str, container: str) -> Story:
        """Let an agent tell everybody who is in any room what they do not believe."""
        return self._say(EventKind.ANNOUNCE, agent, thing, container, None, lie=True)

    def _say(self, kind: EventKind, agent: str, thing: str, container: str, hearer: str | None, *, lie: bool) -> Story:
        event = PlotEvent(kind, agent, None, thing, container, hearer, lie)
        if self._state.problem(event) is None:
            believed = CheckedStory(self._events).belief((agent,), thing, self.reading)
            if (believed == container) == lie:
                thinks = (
                    f"believes that the {thing} is in the {believed}"
                    if believed
                    else f"has no belief about the {thing}"
                )
                hint = "say something else, or do not call it a lie" if lie else "tell that, or call it a lie"
                raise DataError(f"sentence {len(self._events) + 1}: {agent} {thinks}; {hint}.")
        return self.add(event)

    def _room_of(self, agent: str, does: str) -> str:
        room = self._state.where.get(agent)
        if room is None:
            raise DataError(f"sentence {len(self._events) + 1}: {agent} {does} but is in no room.")
        return room

    def believes(self, *names: str) -> BeliefAnswer:
        """Return where the first agent thinks that the next … thinks that the last believes an object to be.

        Args:
            names: One or more agents, outermost first, and then the object.
        """
        if len(names) < 2:
            raise DataError("name at least one agent, and then the object.")
        return self.answer(BeliefQuestion(Ask.BELIEF, names[-1], names[:-1]))

    def says(self, agent: str, thing: str) -> BeliefAnswer:
        """Return what an agent would say if asked where an object is: what they believe."""
        return self.answer(BeliefQuestion(Ask.SAYS, thing, (agent,)))

    def reality(self, thing: str) -> BeliefAnswer:
        """Return where an object really is."""
        return self.answer(BeliefQuestion(Ask.REALITY, thing))

    def memory(self, thing: str) -> BeliefAnswer:
        """Return where an object was at first."""
        return self.answer(BeliefQuestion(Ask.MEMORY, thing))

    def knows_where(self, agent: str, thing: str) -> BeliefAnswer:
        """Return whether an agent knows where an object is: they have a belief, and it is right."""
        return self.answer(BeliefQuestion(Ask.KNOWS_WHERE, thing, (agent,)))

    def knows_wrong(self, agent: str, other: str, thing: str) -> BeliefAnswer:
        """Return whether an agent is right about an object, and about a wrong belief of another."""
        return self.answer(BeliefQuestion(Ask.KNOWS_WRONG, thing, (agent, other)))

    def believers(self, thing: str, container: str, chain: Iterable[str] = ()) -> BeliefAnswer:
        """Return who believes that an object is in a container, or who else thinks that a chain believes so."""
        return self.answer(BeliefQuestion(Ask.BELIEVERS, thing, tuple(chain), container))

    def common_belief(self, group: Iterable[str], thing: str) -> BeliefAnswer:
        """Return where a group commonly believes an object to be."""
        return self.answer(BeliefQuestion(Ask.COMMON, thing, tuple(group)))

    def answer(self, question: BeliefQuestion) -> BeliefAnswer:
        """Answer a question by the oracle, and confirm the answer under every reading by the checker.

        Raises:
            UnknownNameError: If an agent, object or container is not in the story.
            ProofError: If oracle and checker differ, which is a bug of storyproof's.
        """
        self._check_names(question)
        replies = {reading: oracle_answer(self._events, question, reading) for reading in ALL_READINGS}
        confirmed = CheckedStory(self._events).answers([question], ALL_READINGS)
        for reading, reply in replies.items():
            [checked] = confirmed[reading]
            if checked != reply:
                raise ProofError(
                    f"oracle and checker differ under {reading}: {reply} against {checked}, in {self.events}"
                )
        value = replies[self.reading]
        by_reading = {str(reading): reply for reading, reply in replies.items()}
        holds = tuple(name for name, reply in by_reading.items() if reply == value)
        return BeliefAnswer(value, oracle_proof(self._events, question, self.reading), holds, by_reading)

    def _check_names(self, question: BeliefQuestion) -> None:
        cast = cast_of(self._events)
        for agent in question.chain:
            if agent not in cast:
                raise UnknownNameError("agent", agent, cast)
        things = {event.thing for event in self._events if event.thing is not None}
        if question.thing not in things:
            raise UnknownNameError("object", question.thing, things)
        places = {event.container for event in self._events if event.container is not None}
        if question.place is not None and question.place not in places:
            raise UnknownNameError("container", question.place, places)
