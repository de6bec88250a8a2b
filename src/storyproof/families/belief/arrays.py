"""Stories as arrays: one row per time step, one column per story, names as local numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.families.belief.questions import ASKS, MISSING, BeliefQuestion, QuestionArrays
from storyproof.families.belief.world import IDLE, EventKind, PlotEvent

Small = npt.NDArray[np.int8]
Mask = npt.NDArray[np.unsignedinteger]
Flags = npt.NDArray[np.bool_]
_Number = TypeVar("_Number", bound=np.integer[Any])

NOBODY = -1
STRANGER = -2  # an agent who is asked about but not in the story
_KINDS = tuple(EventKind)
MOST_NAMES = 120  # of one role in one story: local numbers are int8
MOST_SENTENCES = 30_000  # in one story: times are int16
MOST_AGENTS = 64  # sets of agents are bit masks


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


def set_type(agents: int) -> type[np.unsignedinteger]:
    """Return the smallest type of integer that holds a set of this number of agents."""
    return np.uint8 if agents <= 8 else np.uint16 if agents <= 16 else np.uint32 if agents <= 32 else np.uint64


def ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return how many values of the same column are less, [row, column]; for a few rows much faster than sorting."""
    ranks_of_values: npt.NDArray[np.intp] = (values[:, None] > values).sum(axis=1, dtype=np.int16).astype(np.intp)
    return ranks_of_values


def starts_of_runs(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return where runs of equal values begin."""
    is_start = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)


def distinct(values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return the distinct values in order: `np.unique`, which hashes and takes fifty times as long as sorting."""
    ordered = np.sort(values)
    firsts: npt.NDArray[_Number] = ordered[starts_of_runs(ordered)]
    return firsts


def distinct_rows(keys: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where each distinct row of a matrix of integers first occurs, and which of them each row is."""
    low = keys.min(axis=0, initial=0).astype(np.int64)
    widths = [int(span).bit_length() for span in keys.max(axis=0, initial=0) - low]
    if sum(widths) < 63:  # sorting numbers is several times as fast as sorting rows
        packed: npt.NDArray[Any] = np.zeros(len(keys), np.int64)
        for column, start, width in zip(keys.T, low.tolist(), widths, strict=True):
            packed = (packed << width) | (column.astype(np.int64) - start)
    else:
        whole = np.ascontiguousarray(keys)
        packed = whole.view(np.dtype((np.void, whole.shape[1] * whole.itemsize))).reshape(-1)
    _, first, which = np.unique(packed, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


@dataclass(frozen=True, slots=True)
class PlotArrays:
    """Many stories as [time, story] arrays of local numbers; NOBODY where a field does not apply.

    Attributes:
        kind: `EventKind`; NOISE after the end, which changes nothing.
        agent: Who acts or speaks.
        room: Where it happens.
        thing: The object placed, moved or spoken of, or what is liked.
        container: Where it ends up, or is said to be.
        hearer: Whom a private message is for.
        agents: How many agents a story has at most.
    """

    kind: npt.NDArray[np.uint8]
    agent: Small
    room: Small
    thing: Small
    container: Small
    hearer: Small
    agents: int

    @classmethod
    def plain(
        cls, kind: npt.NDArray[np.uint8], agent: Small, room: Small, thing: Small, container: Small, agents: int
    ) -> PlotArrays:
        """Return stories in which nobody speaks."""
        return cls(kind, agent, room, thing, container, np.full_like(agent, NOBODY), agents)

    @property
    def count(self) -> int:
        """The number of stories."""
        return int(self.kind.shape[1])

    @property
    def mask_type(self) -> type[np.unsignedinteger]:
        """The smallest type of integer that holds a set of agents."""
        return set_type(self.agents)

    def pick(self, columns: npt.NDArray[np.intp]) -> PlotArrays:
        """Return the stories in the given columns, in that order."""
        # Unlike an index, `take` keeps the sentences of one time side by side in memory.
        arrays = {
            item.name: getattr(self, item.name).take(columns, axis=1) for item in fields(self) if item.name != "agents"
        }
        return replace(self, **arrays)

    def until(self, length: npt.NDArray[Any]) -> PlotArrays:
        """Return the stories up to some lengths, one for each; noise stands for the rest."""
        return self.without(np.arange(len(self.kind))[:, None] >= length)

    def between(self, start: int, end: int) -> PlotArrays:
        """Return the stories from one column up to another."""
        arrays = {item.name: getattr(self, item.name)[:, start:end] for item in fields(self) if item.name != "agents"}
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

    Who is only said to feel something, and what is only liked, comes after all others.

    Raises:
        DataError: If a story is too long or names too many people or things.
    """
    longest = max([1, *map(len, stories)])  # one sentence of noise where there is none
    if longest > MOST_SENTENCES:
        raise DataError(f"a story has {longest} sentences; at most {MOST_SENTENCES} are handled.")
    cells = np.full((len(stories), 6, longest), NOBODY, np.int64)
    cells[:, 0] = EventKind.NOISE
    local_names = []
    for number, events in enumerate(stories):
        if not events:
            local_names.append(LocalNames({}, {}, {}, {}))
            continue
        kinds, acting, rooms, things, containers, hearers, *_ = zip(*events, strict=True)
        is_idle = [kind in IDLE for kind in kinds]
        people, people_names = _number(
            [name for pair in zip(acting, hearers, strict=True) for name in pair],
            [each for each in is_idle for _ in range(2)],
        )
        numbered = [_number(rooms), _number(things, is_idle), _number(containers)]
        cells[number, :, : len(events)] = kinds, people[::2], *(numbers for numbers, _ in numbered), people[1::2]
        local_names.append(LocalNames(people_names, *(names for _, names in numbered)))
    if any(len(names.agents) > MOST_AGENTS for names in local_names) or cells.max(initial=0) >= MOST_NAMES:
        raise DataError(
            f"a story names too many people or things; at most {MOST_AGENTS} agents and {MOST_NAMES} rooms, objects or "
            "containers are handled."
        )
    kind, agent, room, thing, container, hearer = np.ascontiguousarray(cells.astype(np.int8).transpose(1, 2, 0))
    agents = max([1, *(len(names.agents) for names in local_names)])  # one where there is none
    return PlotArrays(kind.view(np.uint8), agent, room, thing, container, hearer, agents), local_names


def _number(names: Sequence[str | None], is_idle: Sequence[bool] = ()) -> tuple[list[int], dict[str, int]]:
    """Number names in order of appearance, those that only idle sentences have after the others; None is NOBODY."""
    known: dict[str | None, int] = {None: NOBODY}
    if any(is_idle):
        for name, idle in zip(names, is_idle, strict=True):
            if not idle:
                known.setdefault(name, len(known) - 1)
    numbers = [known.setdefault(name, len(known) - 1) for name in names]
    del known[None]
    return numbers, known  # type: ignore[return-value]


def encode_questions(
    names: Sequence[LocalNames], story: Sequence[int], questions: Sequence[BeliefQuestion]
) -> QuestionArrays:
    """Look up the names of questions.

    Args:
        names: What the local numbers of each story stand for.
        story: The story of each question.
        questions: The questions.
    """
    chain = np.full((max([1, *(len(each.chain) for each in questions)]), len(questions)), NOBODY, np.int8)
    thing, place = np.full(len(questions), MISSING, np.int8), np.full(len(questions), NOBODY, np.int8)
    for column, (number, each) in enumerate(zip(story, questions, strict=True)):
        known = names[number]
        chain[: len(each.chain), column] = [known.agents.get(agent, STRANGER) for agent in each.chain]
        thing[column] = known.things.get(each.thing, MISSING)
        if each.place is not None:
            place[column] = known.containers.get(each.place, MISSING)
    ask = np.array([ASKS.index(each.ask) for each in questions], np.uint8)
    return QuestionArrays(np.array(story, np.intp), ask, thing, chain, place)


def decode_plot(stories: PlotArrays, column: int, names: LocalNames) -> list[PlotEvent]:
    """Return one story as events; noise after its end is noise."""
    # A number of NOBODY picks the last of each, which is None.
    agents, rooms, things, containers = (
        (*known, None) for known in (names.agents, names.rooms, names.things, names.containers)
    )
    arrays = (stories.kind, stories.agent, stories.room, stories.thing, stories.container, stories.hearer)
    return [
        PlotEvent(_KINDS[kind], agents[agent], rooms[room], things[thing], containers[container], agents[hearer])
        for kind, agent, room, thing, container, hearer in zip(
            *(array[:, column].tolist() for array in arrays), strict=True
        )
    ]
