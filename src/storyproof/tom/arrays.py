"""Stories as arrays: one row of time, one column a story.

Names are story-local numbers: agent 0, room 0, object 0 and container 0 are whatever that story calls so. Arrays are
time-major, so that one step of all stories is one contiguous row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.tom.events import FEELINGS, Event, Kind

Small = npt.NDArray[np.int8]
Mask = npt.NDArray[np.unsignedinteger]
Flags = npt.NDArray[np.bool_]

PAD = 7  # the kind of what comes after the end
NOBODY = -1
MOST_NAMES = 120  # of one role in one story: local numbers are int8
MOST_AGENTS = 64  # sets of agents are bit masks


@dataclass(frozen=True, slots=True)
class Stories:
    """Many stories as [time, story] arrays of local numbers; NOBODY where a field does not apply.

    Attributes:
        kind: `Kind`, or PAD after the end.
        agent: Who acts.
        room: Where it happens.
        thing: The object of a placing or move; for FEEL whatever numbering the maker uses.
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
        """How many stories these are."""
        return int(self.kind.shape[1])

    @property
    def mask_type(self) -> type[np.unsignedinteger]:
        """The smallest type of integer that holds a set of agents."""
        for kind in (np.uint8, np.uint16, np.uint32):
            if self.agents <= np.iinfo(kind).bits:
                return kind
        return np.uint64

    def pick(self, columns: npt.NDArray[np.intp]) -> Stories:
        """Give the stories in the given columns, in that order."""
        return Stories(
            *(getattr(self, name)[:, columns] for name in ("kind", "agent", "room", "thing", "container", "feeling")),
            agents=self.agents,
            private=None if self.private is None else self.private[:, columns],
            observers=None if self.observers is None else self.observers[:, columns],
        )


@dataclass(frozen=True, slots=True)
class Names:
    """What a story's local numbers stand for."""

    agents: tuple[str, ...]
    rooms: tuple[str, ...]
    things: tuple[str, ...]
    containers: tuple[str, ...]


class _Numbers(dict[str | None, int]):
    """Numbers names as they come."""

    def __init__(self) -> None:
        super().__init__({None: NOBODY})

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self) - 1
        return number

    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self if name is not None)


def encode(stories: Sequence[Sequence[Event]]) -> tuple[Stories, list[Names]]:
    """Turn stories into arrays, and say what the local numbers stand for.

    Raises:
        DataError: If a story has more names of one role than an array can number.
    """
    longest = max(map(len, stories), default=0)
    fields = np.full((len(stories), longest, 6), NOBODY, np.int8)
    fields[:, :, 0] = PAD
    names, watched = [], []
    for row, events in enumerate(stories):
        agents, rooms, things, containers = _Numbers(), _Numbers(), _Numbers(), _Numbers()
        numbers = [
            (
                event.kind,
                agents[event.agent],
                rooms[event.room],
                things[event.thing],
                containers[event.container],
                FEELINGS.index(event.feeling) if event.feeling else NOBODY,
            )
            for event in events
        ]
        for time, event in enumerate(events):
            if event.observers is not None:
                watched.append((time, row, sum(1 << agents[name] for name in sorted(event.observers))))
        most = max(len(things), len(rooms), len(containers)) - 1
        if most > MOST_NAMES or len(agents) - 1 > MOST_AGENTS:
            raise DataError(
                f"a story names {max(most, len(agents) - 1)} things of one role; at most {MOST_AGENTS} agents and "
                f"{MOST_NAMES} rooms, objects or containers are handled."
            )
        if numbers:
            fields[row, : len(numbers)] = numbers
        names.append(Names(agents.names(), rooms.names(), things.names(), containers.names()))
    columns = [np.ascontiguousarray(fields[:, :, index].T) for index in range(6)]
    agents_most = max((len(name.agents) for name in names), default=0)
    found = Stories(columns[0].view(np.uint8), *columns[1:], agents=agents_most)
    return (_with_observers(found, watched) if watched else found), names


def _with_observers(stories: Stories, watched: list[tuple[int, int, int]]) -> Stories:
    private = np.zeros(stories.kind.shape, np.bool_)
    observers = np.zeros(stories.kind.shape, stories.mask_type)
    for time, row, mask in watched:
        private[time, row] = True
        observers[time, row] = mask
    return Stories(
        stories.kind,
        stories.agent,
        stories.room,
        stories.thing,
        stories.container,
        stories.feeling,
        stories.agents,
        private,
        observers,
    )


def decode(stories: Stories, row: int, names: Names) -> list[Event]:
    """Turn one story back into events."""
    events = []
    for time in range(stories.kind.shape[0]):
        if stories.kind[time, row] == PAD:
            break
        agent, room = int(stories.agent[time, row]), int(stories.room[time, row])
        thing, container = int(stories.thing[time, row]), int(stories.container[time, row])
        feeling = int(stories.feeling[time, row])
        observers = None
        if stories.private is not None and stories.observers is not None and stories.private[time, row]:
            mask = int(stories.observers[time, row])
            observers = frozenset(name for number, name in enumerate(names.agents) if mask >> number & 1)
        events.append(
            Event(
                Kind(int(stories.kind[time, row])),
                None if agent < 0 else names.agents[agent],
                None if room < 0 else names.rooms[room],
                None if thing < 0 else names.things[thing],
                None if container < 0 else names.containers[container],
                None if feeling < 0 else FEELINGS[feeling],
                observers,
            )
        )
    return events
