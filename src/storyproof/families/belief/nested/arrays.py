"""Stories with messages as arrays: one row per time step, one column per story, names as local numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.families.belief.arrays import MOST_NAMES, MOST_SENTENCES, NOBODY, LocalNames, Small
from storyproof.families.belief.nested.world import EventKind, PlotEvent

MOST_PEOPLE = 32  # sets of agents are bit masks

_ROLES = ("agents", "rooms", "things", "containers")


def set_type(agents: int) -> type[np.unsignedinteger]:
    """Return the smallest type of integer that holds a set of so many agents."""
    return np.uint8 if agents <= 8 else np.uint16 if agents <= 16 else np.uint32


@dataclass(frozen=True, slots=True)
class PlotArrays:
    """Many stories as [time, story] arrays of local numbers; NOBODY where a field does not apply.

    Attributes:
        kind: `EventKind`; NOISE after the end, which changes nothing.
        agent: Who acts or speaks.
        room: Where it happens.
        thing: The object placed, moved or spoken of.
        container: Where it ends up, or is said to be.
        hearer: Whom a private message is for.
        agents: How many agents a story has at most; an announcement is heard by all.
    """

    kind: npt.NDArray[np.uint8]
    agent: Small
    room: Small
    thing: Small
    container: Small
    hearer: Small
    agents: int

    @property
    def mask_type(self) -> type[np.unsignedinteger]:
        """The smallest type of integer that holds a set of agents."""
        return set_type(self.agents)

    def pick(self, columns: npt.NDArray[np.intp]) -> PlotArrays:
        """Return the stories in the given columns, in that order."""
        arrays = {item.name: getattr(self, item.name)[:, columns] for item in fields(self) if item.name != "agents"}
        return replace(self, **arrays)

    def at(self, time: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> PlotArrays:
        """Return stories of some sentences only, whose times are given as [new time, new column]."""
        arrays = {item.name: getattr(self, item.name)[time, columns] for item in fields(self) if item.name != "agents"}
        return replace(self, **arrays)

    def without(self, deleted: npt.NDArray[np.bool_]) -> PlotArrays:
        """Return the stories without the sentences that are marked in a [time, story] array."""
        return replace(self, kind=np.where(deleted, np.uint8(EventKind.NOISE), self.kind))


def join_plots(parts: Sequence[PlotArrays]) -> PlotArrays:
    """Return several sets of stories of equal length as one."""
    if len(parts) == 1:
        return parts[0]
    names = [item.name for item in fields(PlotArrays) if item.name != "agents"]
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names}
    return PlotArrays(**arrays, agents=max(part.agents for part in parts))


def encode_plots(stories: Sequence[Sequence[PlotEvent]]) -> tuple[PlotArrays, list[LocalNames]]:
    """Return stories as arrays, and what their local numbers stand for, in order of appearance.

    Raises:
        DataError: If a story is too long or names too many people or things.
    """
    longest = max([1, *map(len, stories)])  # one sentence of noise where there is none
    if longest > MOST_SENTENCES:
        raise DataError(f"a story has {longest} sentences; at most {MOST_SENTENCES} are handled.")
    cells = np.full((6, longest, len(stories)), NOBODY, np.int64)
    cells[0] = EventKind.NOISE
    found = []
    for column, events in enumerate(stories):
        known: dict[str, dict[str, int]] = {role: {} for role in _ROLES}
        for time, event in enumerate(events):
            named = zip(_ROLES, (event.agent, event.room, event.thing, event.container), strict=True)
            numbers = [_number(known[role], name) for role, name in named]
            cells[:, time, column] = event.kind, *numbers, _number(known["agents"], event.hearer)
        found.append(LocalNames(**known))
    if any(len(names.agents) > MOST_PEOPLE for names in found) or cells.max(initial=0) >= MOST_NAMES:
        raise DataError(
            f"a story names too many people or things; at most {MOST_PEOPLE} agents and {MOST_NAMES} rooms, objects or "
            "containers are handled."
        )
    kind, agent, room, thing, container, hearer = cells.astype(np.int8)
    agents = max([1, *(len(names.agents) for names in found)])  # one where there is none
    return PlotArrays(kind.view(np.uint8), agent, room, thing, container, hearer, agents), found


def _number(known: dict[str, int], name: str | None) -> int:
    return NOBODY if name is None else known.setdefault(name, len(known))


def decode_plot(stories: PlotArrays, column: int, names: LocalNames) -> list[PlotEvent]:
    """Return one story as events; noise after its end is noise."""
    # A number of NOBODY picks the last of each, which is None.
    agents, rooms, things, containers = (
        (*known, None) for known in (names.agents, names.rooms, names.things, names.containers)
    )
    arrays = (stories.kind, stories.agent, stories.room, stories.thing, stories.container, stories.hearer)
    return [
        PlotEvent(EventKind(kind), agents[agent], rooms[room], things[thing], containers[container], agents[hearer])
        for kind, agent, room, thing, container, hearer in zip(
            *(array[:, column].tolist() for array in arrays), strict=True
        )
    ]
