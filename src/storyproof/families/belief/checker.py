"""Beliefs as sets of possible worlds: a second, independent derivation of every answer.

What all agents think of one object is a Kripke model: worlds, each with the object's location; for every agent and
world the worlds held possible there; and an actual world. At first the object is nowhere, and all hold every location
possible. An event that shows the object is an action model: points, which may assign a location, and for every agent
and point the one the agent takes to be happening. It turns the model into the product of the two, restricted to what
the actual world leads to and contracted by bisimulation. What a thinks that b believes is the location in all the
worlds reached by a step of a and then one of b, if it is the same in all.

A story is first reduced to the showings of the object, with agents and containers numbered in order of appearance.
Stories that differ only in names then share their models, and a story seen before costs dictionary look-ups only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.readings import CLOSED, INFER_MOVER, OPEN, READINGS

NOWHERE = 0  # the location of an object not placed yet; containers are numbered from 1
_CACHE, _MEMO = 1 << 16, 1 << 10  # entries in each cache, chains remembered for one model
_REAL, _SKIP, _SHARED = range(3)  # points: what happens, nothing happening, and what those in the know take to happen
_ENTER, _EXIT, _COMINGS, _PUTTINGS = Kind.ENTER, Kind.EXIT, (Kind.ENTER, Kind.IS_IN), (Kind.PLACE, Kind.MOVE)
_SLOT = {reading: slot for slot, reading in enumerate(READINGS)}

# (Is it by an arrival?, location, who is present, who notices, finder, suspects). Sets of agents are bit masks. The
# finder comes back to the room where it last saw the suspects; without suspects it is 0.
Showing = tuple[bool, int, int, int, int, int]


@dataclass(frozen=True)
class Model:
    """A Kripke model with an actual world, in canonical form: bisimilar models are equal.

    Attributes:
        locations: The object's location in each world.
        cells: The sets of worlds that somebody somewhere holds possible.
        access: For each world and agent, the index of the cell of worlds held possible.
        actual: The actual world.
    """

    locations: tuple[int, ...]
    cells: tuple[tuple[int, ...], ...]
    access: tuple[tuple[int, ...], ...]
    actual: int

    def possible(self, agent: int, world: int) -> tuple[int, ...]:
        """Return the worlds that an agent holds possible in a world."""
        return self.cells[self.access[world][agent]]

    def considered(self, chain: Iterable[int]) -> set[int]:
        """Return the locations in the worlds reached from the actual one by a step of each agent in turn."""
        reached = {self.actual}
        for agent in chain:
            reached = {seen for world in reached for seen in self.possible(agent, world)}
        return {self.locations[world] for world in reached}


class Action(NamedTuple):
    """An action model: the location each point assigns, if any, and the point each agent takes each point for."""

    assigns: tuple[int | None, ...]
    takes: tuple[tuple[int, ...], ...]


def _contracted(locations: list[int], cells: list[list[int]], access: list[list[int]]) -> Model:
    """Merge bisimilar worlds and number the rest canonically; world 0 is the actual one.

    Worlds are coloured by location, then ever finer by the sets of colours the agents hold possible. Colours are ranks
    of sorted signatures, so as not to depend on how the worlds were numbered.
    """
    palette = sorted(set(locations))
    colours = [palette.index(location) for location in locations]
    count, found = 0, len(palette)
    while found != count:
        count = found
        views = [tuple(sorted({colours[world] for world in cell})) for cell in cells]
        kinds = {view: rank for rank, view in enumerate(sorted(set(views)))}
        shades = [kinds[view] for view in views]
        signs = [(colour, *[shades[cell] for cell in row]) for colour, row in zip(colours, access, strict=True)]
        ranks = {sign: rank for rank, sign in enumerate(sorted(set(signs)))}
        colours = [ranks[sign] for sign in signs]
        found = len(ranks)
    # The last round split nothing, so it kept the colours, and its kinds and signs hold for them.
    placed = dict(zip(colours, locations, strict=True))
    return Model(tuple(placed[i] for i in range(count)), tuple(kinds), tuple(sign[1:] for sign in ranks), colours[0])


@lru_cache(maxsize=_CACHE)
def _product(model: Model, action: Action) -> Model:
    """Apply an action: pair worlds with points as far as the actual world and the real point lead."""
    pairs = [(model.actual, _REAL)]
    numbers = {pairs[0]: 0}
    cell_numbers = dict[tuple[int, int], int]()
    cells, access = list[list[int]](), list[list[int]]()
    for world, point in pairs:  # grows on the way
        row = []
        for step in zip(model.access[world], action.takes[point], strict=True):
            if step not in cell_numbers:
                cell_numbers[step] = len(cells)
                reached = [(seen, step[1]) for seen in model.cells[step[0]]]
                for pair in reached:
                    if pair not in numbers:
                        numbers[pair] = len(pairs)
                        pairs.append(pair)
                cells.append([numbers[pair] for pair in reached])
            row.append(cell_numbers[step])
        access.append(row)
    assigned = [(model.locations[world], action.assigns[point]) for world, point in pairs]
    return _contracted([old if new is None else new for old, new in assigned], cells, access)


@lru_cache(maxsize=_CACHE)
def _sight(agents: int, location: int, present: int, noticing: int) -> Action:
    """Show the object: those present take it that those present notice; a peeker, that it alone peeks as well."""
    public = tuple(_SHARED if present >> agent & 1 else _SKIP for agent in range(agents))
    real = [point if noticing >> agent & 1 else _SKIP for agent, point in enumerate(public)]
    takes = [(), (_SKIP,) * agents, public]
    for peeker in range(agents):
        if noticing & ~present & 1 << peeker:
            real[peeker] = len(takes)
            takes.append((*public[:peeker], len(takes), *public[peeker + 1 :]))
    takes[_REAL] = tuple(real)
    return Action(tuple(None if point == _SKIP else location for point in range(len(takes))), tuple(takes))


@lru_cache(maxsize=_CACHE)
def _blame(agents: int, location: int, finder: int, suspects: int) -> Action:
    """Let the finder think, unnoticed, that each suspect knows the location."""
    nobody = (_SKIP,) * agents
    real = (*nobody[:finder], _SHARED, *nobody[finder + 1 :])
    think, takes = list(real), [real, nobody, ()]
    for suspect in range(agents):
        if suspects >> suspect & 1:
            think[suspect] = len(takes)
            takes.append((*nobody[:suspect], len(takes), *nobody[suspect + 1 :]))
    takes[_SHARED] = tuple(think)
    return Action(tuple(location if point > _SHARED else None for point in range(len(takes))), tuple(takes))


class BelievedPlaces(dict[tuple[int, ...], int]):
    """The location believed in at the end of each chain of agents in one model, NOWHERE if none is definite."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __missing__(self, chain: tuple[int, ...]) -> int:
        # An agent without a number (-1) never learns anything, and nobody takes it to have learnt anything.
        considered = {NOWHERE} if -1 in chain else self.model.considered(chain)
        found = considered.pop() if len(considered) == 1 else NOWHERE
        if len(self) < _MEMO:
            self[chain] = found
        return found


_answers = lru_cache(maxsize=_CACHE)(BelievedPlaces)


def _final(model: Model, agents: int, showings: tuple[Showing, ...], reading: str) -> Model:
    """Apply the showings that count under a reading."""
    for arrival, location, present, noticing, finder, suspects in showings:
        if arrival and reading == CLOSED:
            continue
        before, model = model, _product(model, _sight(agents, location, present, noticing))
        if suspects and reading == INFER_MOVER and _answers(before)[(finder,)] not in (NOWHERE, location):
            model = _product(model, _blame(agents, location, finder, suspects))
    return model


@lru_cache(maxsize=_CACHE)
def possible_worlds(showings: tuple[Showing, ...]) -> tuple[BelievedPlaces, ...]:
    """Return the answers under each of READINGS; at the start the object is nowhere and nobody knows anything."""
    agents = max((max(showing[2], showing[3], showing[5]) for showing in showings), default=0).bit_length()
    locations = list(range(1 + max((showing[1] for showing in showings), default=NOWHERE)))
    start = _contracted(locations, [locations], [[0] * agents for _ in locations])  # all hold all possible, commonly
    return tuple(_answers(_final(start, agents, showings, reading)) for reading in READINGS)


class _Scene:
    """Who is where and who last saw whom, while a story is read for the showings of one object."""

    def __init__(self, events: Sequence[Event], thing: str) -> None:
        self.where: dict[str, str] = {}
        self.left: dict[str, dict[str, str]] = {}  # left[x][y]: the room where x last saw y, if x walked out on y
        self.home: str | None = None  # the object's room, once it has one
        self.location = NOWHERE
        self.containers: dict[str, int] = {}
        self.numbers: dict[str, int] = {}  # of the agents that matter
        self.showings: list[Showing] = []
        for event in events:
            kind, agent, room = event.kind, event.agent, event.room
            if kind in _COMINGS and agent is not None and room is not None:
                before = self.where.get(agent)
                self.where[agent] = room
                if before != room:
                    self._part(agent, before)
                if room == self.home:
                    self._show(event, agent if before != room and kind == _ENTER else None)
            elif kind == _EXIT and agent is not None:
                self._part(agent, self.where.pop(agent, None))
            elif kind in _PUTTINGS and event.thing == thing and event.container is not None:
                self.home = room
                self.location = self.containers.setdefault(event.container, len(self.containers) + 1)
                self._show(event, None)

    def _part(self, agent: str, room: str | None) -> None:
        """Note whom an agent leaves behind in a room, and that they did not walk out on the agent."""
        for other, there in self.where.items():
            if there == room:
                self.left.setdefault(agent, {})[other] = there
                self.left.setdefault(other, {}).pop(agent, None)

    def _show(self, event: Event, finder: str | None) -> None:
        """Note a showing; the finder is who entered the room from elsewhere, if anybody did."""
        present = self._mask([agent for agent, room in self.where.items() if room == self.home])
        observers = event.observers
        noticing = present if observers is None else self._mask(sorted(observers))  # sorted: the same in every run
        number = suspects = 0
        if finder in self.left and (observers is None or finder in observers):
            suspects = self._mask([other for other, room in self.left[finder].items() if room == self.home])
            number = self.numbers[finder] if suspects else 0
        self.showings.append((event.kind in _COMINGS, self.location, present, noticing, number, suspects))

    def _mask(self, agents: list[str]) -> int:
        """Return the bit mask of some agents; those not seen before are numbered."""
        mask, numbers = 0, self.numbers
        for agent in agents:
            mask |= 1 << numbers.setdefault(agent, len(numbers))
        return mask


class Worlds:
    """What everybody believes about one object at the end of a story.

    Its `reality` is the container the object really is in, its `memory` the one it was first placed in.
    """

    __slots__ = ("_answers", "_names", "_numbers", "memory", "reality")

    def __init__(self, events: Sequence[Event], thing: str) -> None:
        scene = _Scene(events, thing)
        self._numbers = scene.numbers
        self._names: tuple[str | None, ...] = (None, *scene.containers)
        self._answers = possible_worlds(tuple(scene.showings))
        self.reality = self._names[scene.location]
        self.memory = next(iter(scene.containers), None)

    def belief(self, chain: Sequence[str], reading: str) -> str | None:
        """Return where the first agent thinks that the next thinks … the last believes the object is; None if unknown.

        Args:
            chain: The agents, outermost first; the empty chain asks for reality.
            reading: One of READINGS; another name is a KeyError.
        """
        numbers = self._numbers
        return self._names[self._answers[_SLOT[reading]][tuple([numbers.get(agent, -1) for agent in chain])]]

    def considered(self, chain: Sequence[str], reading: str) -> list[str | None]:
        """Return all places that the end of a chain holds possible, None for nowhere; one if there is a belief.

        Args:
            chain: The agents, outermost first.
            reading: One of READINGS; another name is a KeyError.
        """
        numbers = [self._numbers.get(agent, -1) for agent in chain]
        if -1 in numbers:  # who has seen nothing can exclude nothing
            return list(self._names)
        return [self._names[place] for place in sorted(self.model(reading).considered(numbers))]

    def model(self, reading: str) -> Model:
        """Return the final Kripke model, in which agents are numbered in order of relevance."""
        return self._answers[_SLOT[reading]].model

    def story_type(self, mover: str, other: str) -> str:
        """Return 'false_belief', 'second_order_false_belief' or 'true_belief', judged by two agents' `open` beliefs."""
        first, second = self.belief((mover,), OPEN), self.belief((other,), OPEN)
        if first != self.reality or second != self.reality:
            return "false_belief"
        if self.belief((mover, other), OPEN) != second or self.belief((other, mover), OPEN) != first:
            return "second_order_false_belief"
        return "true_belief"


def belief(events: Sequence[Event], thing: str, chain: Sequence[str], reading: str) -> str | None:
    """Return where a chain of agents believes the object to be at the end of a story (see Worlds.belief)."""
    return Worlds(events, thing).belief(chain, reading)


def reality(events: Sequence[Event], thing: str) -> str | None:
    """Return the container that the object is in after all events."""
    return Worlds(events, thing).reality


def memory(events: Sequence[Event], thing: str) -> str | None:
    """Return the container that the object was first placed in."""
    return Worlds(events, thing).memory


def story_type(events: Sequence[Event], thing: str, mover: str, other: str) -> str:
    """Return the type of a story for two agents (see Worlds.story_type)."""
    return Worlds(events, thing).story_type(mover, other)
