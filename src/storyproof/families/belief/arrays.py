"""Stories as arrays: one row per time step, one column per story.

Names are numbers local to a story: agent 0, room 0, object 0 and container 0 are the first of each in it. Arrays
are time-major, so that one step of all stories is one contiguous row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.families.belief.events import FEELINGS, Event, Kind

Small = npt.NDArray[np.int8]
Mask = npt.NDArray[np.unsignedinteger]
Flags = npt.NDArray[np.bool_]

PAD = 7  # the kind of padding after the end
NOBODY = -1
MOST_NAMES = 120  # of one role in one story: local numbers are int8
MOST_SENTENCES = 30_000  # in one story: times are int16
MOST_AGENTS = 64  # sets of agents are bit masks


@dataclass(frozen=True, slots=True)
class Stories:
    """Many stories as [time, story] arrays of local numbers; NOBODY where a field does not apply.

    Attributes:
        kind: `Kind`, or PAD after the end.
        agent: Who acts.
        room: Where it happens.
        thing: The object of a placing or move; for FEEL in the numbering of whoever built the arrays.
        container: Where the object ends up.
        feeling: Index into FEELINGS.
        agents: How many agents a story has at most.
        private: Where `observers` counts instead of presence; None if nowhere.
        observers: Bit masks of agents; None if `private` is.
    """

    kind: npt.NDArray[np.uint8]
    agent: Small
    room: Small
    thing: Small
    container: Small
    feeling: Small
    agents: int
    private: Flags | None = None
    observers: Mask | None = None

    @property
    def count(self) -> int:
        """The number of stories."""
        return int(self.kind.shape[1])

    @property
    def mask_type(self) -> type[np.unsignedinteger]:
        """The smallest type of integer that holds a set of agents."""
        for kind in (np.uint8, np.uint16, np.uint32):
            if self.agents <= np.iinfo(kind).bits:
                return kind
        return np.uint64

    def change(self, how: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Stories:
        """Apply a function to every array."""
        arrays = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "agents"}
        changed: dict[str, Any] = {name: how(array) for name, array in arrays.items() if array is not None}
        return replace(self, **changed)

    def pick(self, columns: npt.NDArray[np.intp]) -> Stories:
        """Return the stories in the given columns, in that order."""
        return self.change(lambda array: array[:, columns])


@dataclass(frozen=True, slots=True)
class LocalNames:
    """What a story's local numbers stand for; each dict maps names to numbers, in order."""

    agents: dict[str, int]
    rooms: dict[str, int]
    things: dict[str, int]
    containers: dict[str, int]

    @classmethod
    def generic(cls, most: int) -> LocalNames:
        """Return made-up names, `most` of each role."""
        return cls(*({f"{role}{number}": number for number in range(most)} for role in ("a", "r", "o", "c")))


Numbers = tuple[int, int, int, int, int, int, int]  # kind, agent, room, thing, container, feeling, observers


def number(events: Sequence[Event]) -> tuple[tuple[Numbers, ...], LocalNames]:
    """Replace names by local numbers in order of appearance; stories that differ only in names become equal."""
    agents: dict[str, int] = {}
    rooms: dict[str, int] = {}
    things: dict[str, int] = {}
    containers: dict[str, int] = {}
    found = []
    for event in events:
        agent, room, thing, container = event.agent, event.room, event.thing, event.container
        found.append(
            (
                int(event.kind),
                NOBODY if agent is None else agents.setdefault(agent, len(agents)),
                NOBODY if room is None else rooms.setdefault(room, len(rooms)),
                NOBODY if thing is None else things.setdefault(thing, len(things)),
                NOBODY if container is None else containers.setdefault(container, len(containers)),
                NOBODY if event.feeling is None else FEELINGS.index(event.feeling),
                NOBODY
                if event.observers is None
                else sum(1 << agents.setdefault(name, len(agents)) for name in sorted(event.observers)),
            )
        )
    return tuple(found), LocalNames(agents, rooms, things, containers)


def stack(stories: Sequence[Sequence[Numbers]]) -> Stories:
    """Return numbered stories as arrays.

    Raises:
        DataError: If a story has more names of one role than an array can number.
    """
    longest = max(map(len, stories), default=0)
    if longest > MOST_SENTENCES:
        raise DataError(f"a story has {longest} sentences; at most {MOST_SENTENCES} are handled.")
    nothing: Numbers = (PAD, *(NOBODY,) * 6)
    rows = [[*story, *(nothing,) * (longest - len(story))] for story in stories]
    cells = np.array(rows, object if _watched(stories) else np.int64).reshape(len(stories), longest, 7)
    named = cells[:, :, 1:5].astype(np.int64)
    if named.size and (named.max() >= MOST_NAMES or named[:, :, 0].max() >= MOST_AGENTS):
        raise DataError(
            f"a story names too many people or things; at most {MOST_AGENTS} agents and {MOST_NAMES} rooms, objects or "
            "containers are handled."
        )
    kind, agent, room, thing, container, feeling = (
        np.ascontiguousarray(cells[:, :, index].T.astype(np.int8)) for index in range(6)
    )
    observers = cells[:, :, 6].T
    private = observers != NOBODY
    agents = 1 + max(int(agent.max(initial=NOBODY)), int(observers.max(initial=0)).bit_length() - 1)
    made = Stories(kind.view(np.uint8), agent, room, thing, container, feeling, agents)
    if not private.any():
        return made
    masks = np.where(private, observers, 0).astype(made.mask_type)
    return replace(made, private=private.astype(np.bool_), observers=masks)


def _watched(stories: Sequence[Sequence[Numbers]]) -> bool:
    """Return whether any event has observers of its own; their masks may need more than 63 bits."""
    return any(event[6] != NOBODY for story in stories for event in story)


def encode(stories: Sequence[Sequence[Event]]) -> tuple[Stories, list[LocalNames]]:
    """Return stories as arrays, and what their local numbers stand for."""
    numbered = [number(events) for events in stories]
    return stack([numbers for numbers, _ in numbered]), [names for _, names in numbered]


KINDS = tuple(Kind)


def decode(stories: Stories, column: int, names: LocalNames) -> list[Event]:
    """Return one story as events."""
    # A number of NOBODY picks the last of each, which is None.
    agents, rooms, things, containers = (
        (*known, None) for known in (names.agents, names.rooms, names.things, names.containers)
    )
    feelings = (*FEELINGS, None)
    arrays = (stories.kind, stories.agent, stories.room, stories.thing, stories.container, stories.feeling)
    events = []
    for numbers in zip(*(array[:, column].tolist() for array in arrays), strict=True):
        kind, agent, room, thing, container, feeling = numbers
        if kind == PAD:
            break
        event = Event(KINDS[kind], agents[agent], rooms[room], things[thing], containers[container], feelings[feeling])
        events.append(event)
    if stories.private is not None and stories.observers is not None:
        for time in np.flatnonzero(stories.private[: len(events), column]).tolist():
            mask = int(stories.observers[time, column])
            seen = frozenset(name for number, name in enumerate(names.agents) if mask >> number & 1)
            events[time] = events[time]._replace(observers=seen)
    return events
