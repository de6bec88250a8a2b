from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storyproof.families.belief.checker import Worlds, _contracted, belief, memory, reality, story_type
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.readings import CLOSED, INFER_MOVER, OPEN, READINGS
from tests.groups import try_examples

AGENTS = ("Sally", "Anne", "Max", "Zoe")
ROOMS = ("den", "attic", "yard")
BOXES = ("box", "jar", "pot")
MARBLE = "marble"
Story = list[Event]


def enter(agent: str, room: str = "den", observers: frozenset[str] | None = None) -> Event:
    return Event(Kind.ENTER, agent, room, observers=observers)


def leave(agent: str, room: str = "den") -> Event:
    return Event(Kind.EXIT, agent, room)


def is_in(agent: str, room: str = "den") -> Event:
    return Event(Kind.IS_IN, agent, room)


def place(container: str, room: str = "den", observers: frozenset[str] | None = None) -> Event:
    return Event(Kind.PLACE, None, room, MARBLE, container, observers=observers)


def move(agent: str, container: str, observers: frozenset[str] | None = None, room: str = "den") -> Event:
    return Event(Kind.MOVE, agent, room, MARBLE, container, observers=observers)


def ask(events: Sequence[Event], *chain: str, reading: str = OPEN) -> str | None:
    return belief(events, MARBLE, chain, reading)


SALLY_ANNE = [enter("Sally"), enter("Anne"), place("box"), leave("Sally"), move("Anne", "jar")]
CROSSED = [*SALLY_ANNE, leave("Anne"), enter("Sally")]


# --- hand-made stories


@pytest.mark.parametrize("reading", READINGS)
def test_sally_anne(reading: str) -> None:
    worlds = Worlds(SALLY_ANNE, MARBLE)
    assert worlds.belief(("Sally",), reading) == "box"
    assert worlds.belief(("Anne",), reading) == "jar"
    assert worlds.belief(("Anne", "Sally"), reading) == "box"
    assert worlds.belief(("Sally", "Anne"), reading) == "box"
    assert worlds.belief(("Anne", "Sally", "Anne"), reading) == "box"
    assert worlds.belief((), reading) == worlds.reality == "jar"
    assert worlds.memory == "box"
    assert worlds.story_type("Anne", "Sally") == "false_belief"


def test_module_functions_agree_with_the_class() -> None:
    assert reality(SALLY_ANNE, MARBLE) == "jar"
    assert memory(SALLY_ANNE, MARBLE) == "box"
    assert story_type(SALLY_ANNE, MARBLE, "Anne", "Sally") == "false_belief"
    believed = [ask(CROSSED, "Sally", "Anne", reading=reading) for reading in (OPEN, CLOSED, INFER_MOVER)]
    assert believed == ["box", "box", "jar"]


def test_unknown_reading_is_refused() -> None:
    with pytest.raises(KeyError):
        ask(SALLY_ANNE, "Sally", reading="shut")


def test_entering_shows_the_object_unless_containers_are_closed() -> None:
    back = [*SALLY_ANNE, enter("Sally")]
    assert ask(back, "Sally") == "jar"
    assert ask(back, "Sally", reading=CLOSED) == "box"
    assert ask(back, "Anne", "Sally") == "jar"
    assert ask(back, "Anne", "Sally", reading=CLOSED) == "box"
    assert story_type(back, MARBLE, "Anne", "Sally") == "true_belief"


def test_being_said_to_be_in_the_room_shows_the_object() -> None:
    back = [*SALLY_ANNE, is_in("Sally")]
    assert ask(back, "Sally") == "jar"
    assert ask(back, "Sally", reading=CLOSED) == "box"


def test_arrivals_show_the_object_to_all_present() -> None:
    start = [enter("Max"), place("box", observers=frozenset())]
    assert ask(start, "Max") is None
    assert ask([*start, enter("Zoe")], "Max") == "box"
    assert ask([*start, enter("Zoe")], "Max", reading=CLOSED) is None
    assert ask([*start, enter("Zoe", "attic")], "Max") is None


def test_second_order_false_belief() -> None:
    assert ask(CROSSED, "Sally") == ask(CROSSED, "Anne") == "jar"
    assert ask(CROSSED, "Anne", "Sally") == "box"
    assert ask(CROSSED, "Anne", "Sally", reading=INFER_MOVER) == "box"
    assert ask(CROSSED, "Sally", "Anne") == "box"
    assert ask(CROSSED, "Sally", "Anne", reading=INFER_MOVER) == "jar"
    assert ask(CROSSED, "Sally", "Sally", "Anne", "Anne", reading=INFER_MOVER) == "jar"
    # Only what Sally thinks Anne believes is inferred; what she thinks Anne thinks of others is not.
    assert ask(CROSSED, "Sally", "Anne", "Sally", reading=INFER_MOVER) == "box"
    assert ask(CROSSED, "Anne", "Sally", "Anne", reading=INFER_MOVER) == "box"
    assert story_type(CROSSED, MARBLE, "Anne", "Sally") == "second_order_false_belief"


NO_BLAME: dict[str, Story] = {
    "Anne left first": [
        *(enter("Sally"), enter("Anne"), enter("Max"), place("box"), leave("Anne"), leave("Sally")),
        *(move("Max", "jar"), leave("Max"), enter("Sally")),
    ],
    "Anne left first, the second time": [
        *(enter("Sally"), enter("Anne"), place("box"), leave("Sally"), enter("Sally"), leave("Anne"), leave("Sally")),
        *(move("Max", "jar"), enter("Sally")),
    ],
    "met again elsewhere": [*SALLY_ANNE, leave("Anne"), enter("Anne", "yard"), enter("Sally", "yard"), enter("Sally")],
    "not moved": [enter("Sally"), enter("Anne"), place("box"), leave("Sally"), leave("Anne"), enter("Sally")],
    "moved back": [*SALLY_ANNE, move("Anne", "box"), leave("Anne"), enter("Sally")],
    "said to be in": [*SALLY_ANNE, leave("Anne"), is_in("Sally")],
    "does not look": [*SALLY_ANNE, leave("Anne"), enter("Sally", observers=frozenset())],
    "Sally had peeked": [
        *(enter("Sally"), enter("Anne"), place("box"), leave("Sally"), leave("Anne")),
        *(move("Max", "jar", frozenset({"Sally"})), enter("Sally")),
    ],
    "Sally had no idea": [enter("Sally"), enter("Anne"), leave("Sally"), leave("Anne"), place("box"), enter("Sally")],
    "Sally was there, not looking": [
        *(enter("Sally"), enter("Anne"), place("box"), leave("Sally"), leave("Anne"), enter("Sally")),
        *(move("Max", "jar", frozenset()), enter("Sally")),
    ],
}


@pytest.mark.parametrize("name", NO_BLAME)
def test_who_is_not_blamed(name: str) -> None:
    story = NO_BLAME[name]
    assert ask(story, "Sally", "Anne", reading=INFER_MOVER) == ask(story, "Sally", "Anne", reading=OPEN)


def test_all_last_seen_are_blamed() -> None:
    story = [
        *(enter("Sally"), enter("Anne"), enter("Max"), enter("Zoe"), place("box"), leave("Zoe")),
        *(enter("Sally", "attic"), move("Anne", "jar"), leave("Anne"), leave("Max"), enter("Sally")),
    ]
    told = {other: ask(story, "Sally", other, reading=INFER_MOVER) for other in AGENTS}
    assert told == {"Sally": "jar", "Anne": "jar", "Max": "jar", "Zoe": "box"}
    assert ask(story, "Sally", "Anne", "Max", reading=INFER_MOVER) == "box"


def test_a_blamed_agent_that_never_saw_the_object() -> None:
    story = [
        *(enter("Sally"), enter("Anne"), leave("Sally"), leave("Anne")),
        *(place("box", observers=frozenset({"Sally"})), move("Max", "jar"), enter("Sally")),
    ]
    assert ask(story, "Sally", "Anne", reading=INFER_MOVER) == "jar"
    assert ask(story, "Sally", "Anne") is None
    assert ask(story, "Anne", reading=INFER_MOVER) is None


@pytest.mark.parametrize("reading", READINGS)
def test_a_peeker_knows_and_nobody_knows_that(reading: str) -> None:
    story = [*SALLY_ANNE[:-1], move("Anne", "jar", observers=frozenset({"Anne", "Sally"}))]
    assert ask(story, "Sally", reading=reading) == "jar"
    assert ask(story, "Sally", "Anne", reading=reading) == "jar"
    assert ask(story, "Anne", "Sally", reading=reading) == "box"
    assert ask(story, "Sally", "Anne", "Sally", reading=reading) == "box"


@pytest.mark.parametrize("reading", READINGS)
def test_two_peekers_do_not_see_each_other(reading: str) -> None:
    start = [enter("Sally"), enter("Max"), enter("Anne"), place("box"), leave("Sally"), leave("Max")]
    story = [*start, move("Anne", "jar", observers=frozenset({"Anne", "Sally", "Max"}))]
    assert ask(story, "Sally", reading=reading) == ask(story, "Max", reading=reading) == "jar"
    assert ask(story, "Sally", "Max", reading=reading) == ask(story, "Max", "Sally", reading=reading) == "box"


@pytest.mark.parametrize("reading", READINGS)
def test_an_inattentive_one_is_thought_to_know(reading: str) -> None:
    story = [enter("Sally"), enter("Anne"), place("box"), move("Anne", "jar", observers=frozenset({"Anne"}))]
    assert ask(story, "Sally", reading=reading) == "box"
    assert ask(story, "Anne", "Sally", reading=reading) == "jar"
    assert ask(story, "Sally", "Anne", reading=reading) == "box"
    assert ask(story, "Anne", "Sally", "Anne", reading=reading) == "jar"


def test_third_and_fourth_order() -> None:
    story = [
        *(enter("Sally"), enter("Anne"), enter("Max"), place("box"), leave("Sally")),
        *(move("Anne", "jar"), leave("Anne"), move("Max", "pot")),
    ]
    expected = {"Sally": "box", "Anne": "jar", "Max": "pot"}
    for order in (1, 2, 3, 4):
        for chain in product(expected, repeat=order):
            # Under plain sight a nested belief is what all the chain saw together.
            first = next(agent for agent in expected if agent in chain)
            assert ask(story, *chain) == expected[first], chain


def test_story_types_whoever_of_the_two_is_wrong() -> None:
    peeked = [*SALLY_ANNE[:-1], move("Anne", "jar", observers=frozenset({"Anne", "Sally"}))]
    for story, kind in (
        (SALLY_ANNE, "false_belief"),  # only Sally is wrong
        (peeked, "second_order_false_belief"),  # only Anne is wrong about Sally
        (CROSSED, "second_order_false_belief"),
        ([*SALLY_ANNE, enter("Sally")], "true_belief"),
    ):
        for pair in (("Anne", "Sally"), ("Sally", "Anne")):
            assert story_type(story, MARBLE, *pair) == kind


def test_who_was_never_there_believes_nothing() -> None:
    for reading in READINGS:
        assert ask(CROSSED, "Zoe", reading=reading) is None
        assert ask(CROSSED, "Zoe", "Anne", reading=reading) is None
        assert ask(CROSSED, "Anne", "Zoe", "Anne", reading=reading) is None
    elsewhere = [enter("Zoe", "attic"), *CROSSED]
    assert ask(elsewhere, "Zoe") is None
    assert ask(elsewhere, "Anne", "Zoe") is None


def test_nothing_placed() -> None:
    worlds = Worlds([enter("Sally"), leave("Sally"), Event(Kind.NOISE)], MARBLE)
    assert (worlds.reality, worlds.memory, worlds.belief(("Sally",), OPEN)) == (None, None, None)
    assert Worlds([], MARBLE).belief((), CLOSED) is None


def test_the_objects_room_may_change() -> None:
    story = [enter("Sally"), enter("Anne", "attic"), place("box"), place("jar", "attic"), enter("Max")]
    assert [ask(story, agent) for agent in ("Sally", "Anne", "Max")] == ["box", "jar", None]


def test_names_and_containers_share_models() -> None:
    other = [enter("Max", "yard"), enter("Zoe", "yard"), place("pot", "yard"), leave("Max"), move("Zoe", "box")]
    other[-1] = other[-1]._replace(room="yard")
    assert Worlds(other, MARBLE).model(OPEN) is Worlds(SALLY_ANNE, MARBLE).model(OPEN)


# --- the same by brute force: no numbering, no reduction, no contraction, no memory

World = tuple[object, ...]


def rooms_after(events: Sequence[Event]) -> dict[str, str]:
    where: dict[str, str] = {}
    for event in events:
        if event.kind in (Kind.ENTER, Kind.IS_IN):
            where[event.agent] = event.room
        elif event.kind is Kind.EXIT:
            where.pop(event.agent, None)
    return where


def last_seen(events: Sequence[Event], x: str, room: str) -> set[str]:
    """Those whom x last saw in the room before the last event, where x was the one to go."""
    found = set()
    for y in set(AGENTS) - {x}:
        for instant in range(len(events) - 1, 0, -1):  # the state after so many events
            where = rooms_after(events[:instant])
            if x in where and where[x] == where.get(y):
                if where[x] == room and events[instant].agent == x:
                    found.add(y)
                break
    return found


class Naive:
    """Worlds are histories of points; relations are sets of pairs of worlds."""

    def __init__(self, locations: Sequence[str | None]) -> None:
        self.location: dict[World, str | None] = {(place,): place for place in locations}
        self.relation = {a: set(product(self.location, repeat=2)) for a in AGENTS}
        self.actual: World = (None,)

    def update(self, assigns: dict[str, str | None], takes: dict[str, dict[str, str]]) -> None:
        """Takes are takes[point][agent] -> point."""
        pairs = {(*world, point): (world, point) for world in self.location for point in assigns}
        location = {new: assigns[point] or self.location[world] for new, (world, point) in pairs.items()}
        relation = {
            agent: {((*v, point), (*w, takes[point][agent])) for v, w in self.relation[agent] for point in assigns}
            for agent in AGENTS
        }
        self.actual = (*self.actual, "real")
        reached, todo = {self.actual}, [self.actual]
        steps: dict[World, set[World]] = {}
        for pairs_of_agent in relation.values():
            for v, w in pairs_of_agent:
                steps.setdefault(v, set()).add(w)
        while todo:
            fresh = steps[todo.pop()] - reached
            reached |= fresh
            todo += fresh
        self.location = {world: location[world] for world in reached}
        self.relation = {a: {pair for pair in relation[a] if pair[0] in reached} for a in AGENTS}

    def belief(self, chain: Sequence[str]) -> str | None:
        reached = {self.actual}
        for agent in chain:
            reached = {w for v, w in self.relation[agent] if v in reached}
        places = {self.location[world] for world in reached}
        return places.pop() if len(places) == 1 else None


def show(model: Naive, container: str, present: set[str], seeing: set[str]) -> None:
    takes = {"skip": dict.fromkeys(AGENTS, "skip")}
    takes["public"] = {a: "public" if a in present else "skip" for a in AGENTS}
    takes["real"] = {a: "skip" if a not in seeing else "public" if a in present else "peek " + a for a in AGENTS}
    for x in seeing - present:
        takes["peek " + x] = {**takes["public"], x: "peek " + x}
    model.update({point: None if point == "skip" else container for point in takes}, takes)


def blame(model: Naive, container: str, x: str, suspects: set[str]) -> None:
    skip = dict.fromkeys(AGENTS, "skip")
    takes = {"skip": skip, "real": {**skip, x: "think"}}
    takes["think"] = {**skip, x: "think", **{y: "told " + y for y in suspects}}
    for y in suspects:
        takes["told " + y] = {**skip, y: "told " + y}
    model.update({point: container if point.startswith("told") else None for point in takes}, takes)


def naive_model(events: Sequence[Event], reading: str) -> Naive:
    puts = [e for e in events if e.kind in (Kind.PLACE, Kind.MOVE) and e.thing == MARBLE]
    model = Naive([None, *{put.container for put in puts}])
    home, container = None, None
    for number, event in enumerate(events, start=1):
        arrival = event.kind in (Kind.ENTER, Kind.IS_IN)
        if event.kind in (Kind.PLACE, Kind.MOVE) and event.thing == MARBLE:
            home, container = event.room, event.container
        elif not (arrival and reading != CLOSED and home is not None and event.room == home):
            continue
        present = {agent for agent, room in rooms_after(events[:number]).items() if room == home}
        seeing = present if event.observers is None else set(event.observers)
        x = event.agent
        had = model.belief((x,)) if arrival else None
        show(model, container, present, seeing)
        out = rooms_after(events[: number - 1]).get(x) != home
        if reading == INFER_MOVER and event.kind is Kind.ENTER and out and x in seeing and had not in (None, container):
            blame(model, container, x, last_seen(events[:number], x, home))
    return model


# --- random stories, possible or not


def make_event(
    kind: Kind,
    agent: str | None = None,
    room: str | None = None,
    thing: str | None = None,
    container: str | None = None,
    observers: frozenset[str] | None = None,
) -> Event:
    """Fill in nothing by itself, as Hypothesis would for the tuple's own fields."""
    return Event(kind, agent, room, thing, container, observers=observers)


def stories(max_size: int, rooms: Sequence[str] = ROOMS[:2], private: bool = True) -> st.SearchStrategy[Story]:
    agent, room, box = st.sampled_from(AGENTS), st.sampled_from(rooms), st.sampled_from(BOXES)
    watchers = st.none() | st.frozensets(agent) if private else st.none()
    thing = st.sampled_from((MARBLE, MARBLE, MARBLE, "coin"))
    event = st.one_of(
        st.builds(make_event, st.just(Kind.ENTER), agent, room, observers=watchers),
        st.builds(make_event, st.just(Kind.EXIT), agent, room),
        st.builds(make_event, st.just(Kind.IS_IN), agent, room, observers=watchers),
        st.builds(make_event, st.just(Kind.PLACE), st.none(), room, thing, box, observers=watchers),
        st.builds(make_event, st.just(Kind.MOVE), agent, st.just(rooms[0]), thing, box, observers=watchers),
    )
    return st.lists(event, max_size=max_size)


@st.composite
def comings_and_goings(draw: st.DrawFn, max_size: int) -> Story:
    """Possible stories in which agents leave, miss a move and come back, as blaming needs."""
    story = [enter("Sally"), enter("Anne"), place("box")]
    where: dict[str, str | None] = {"Sally": "den", "Anne": "den", "Max": "yard"}
    for _ in range(draw(st.integers(2, max_size))):
        agent, deed = draw(st.sampled_from(tuple(where))), draw(st.sampled_from(("go", "go", "move", "move", "look")))
        watchers = draw(st.sampled_from((None, None, None, frozenset({"Sally"}), frozenset({"Anne", "Zoe"}))))
        old = where[agent]
        if deed == "move" and "den" in where.values():
            mover = next(who for who, room in where.items() if room == "den")
            story.append(move(mover, draw(st.sampled_from(BOXES)), watchers))
        elif deed == "look" and old == "den":
            story.append(is_in(agent))
        elif old is None:
            where[agent] = draw(st.sampled_from(("den", "den", "yard")))
            story.append(enter(agent, where[agent], watchers))
        elif old == "yard":
            where[agent] = "den"
            story.append(enter(agent, "den", watchers))
        else:
            where[agent] = draw(st.sampled_from((None, "yard")))
            story.append(leave(agent, old) if where[agent] is None else enter(agent, where[agent]))
    ending = draw(st.permutations([who for who in where if where[who] == "den"]))
    comers = draw(st.permutations([who for who in where if where[who] != "den"]))
    return [*story, *map(leave, ending), *map(enter, comers)]


CHAINS = [chain for order in (1, 2, 3) for chain in product(AGENTS, repeat=order)]


def assert_as_by_brute_force(story: Story) -> None:
    worlds = Worlds(story, MARBLE)
    for reading in READINGS:
        model = naive_model(story, reading)
        assert worlds.reality == model.location[model.actual]
        for chain in CHAINS:
            assert worlds.belief(chain, reading) == model.belief(chain), (reading, chain)


@try_examples(100)
@given(stories(7))
def test_brute_force_agrees_on_any_story(story: Story) -> None:
    assert_as_by_brute_force(story)


@try_examples(100)
@given(comings_and_goings(6))
def test_brute_force_agrees_on_comings_and_goings(story: Story) -> None:
    assert_as_by_brute_force(story)


def all_beliefs(story: Story, chains: Sequence[tuple[str, ...]] = CHAINS) -> list[str | None]:
    worlds = Worlds(story, MARBLE)
    return [worlds.belief(chain, reading) for reading in READINGS for chain in chains]


@settings(deadline=None)
@given(stories(14, ROOMS), st.permutations(AGENTS), st.permutations(BOXES), st.permutations(ROOMS))
def test_names_do_not_matter(story: Story, agents: list[str], boxes: list[str], rooms: list[str]) -> None:
    names = dict(zip((*AGENTS, *BOXES, *ROOMS), (*agents, *boxes, *rooms), strict=True))
    renamed = [
        event._replace(
            agent=names.get(event.agent),
            room=names.get(event.room),
            container=names.get(event.container),
            observers=None if event.observers is None else frozenset(names[who] for who in event.observers),
        )
        for event in story
    ]
    chains = [tuple(names[agent] for agent in chain) for chain in CHAINS]
    assert all_beliefs(renamed, chains) == [names.get(found) for found in all_beliefs(story)]


@settings(deadline=None)
@given(stories(12, ROOMS), st.data())
def test_feelings_noise_and_other_objects_change_nothing(story: Story, data: st.DataObject) -> None:
    idle = st.sampled_from(
        (
            Event(Kind.NOISE),
            Event(Kind.FEEL, "Anne", None, "jar", feeling="likes"),
            Event(Kind.MOVE, "Anne", "den", "coin", "jar"),
            Event(Kind.FEEL, "Zoe", None, MARBLE, feeling="hates", observers=frozenset({"Max"})),
        )
    )
    longer = list(story)
    for _ in range(data.draw(st.integers(1, 4))):
        longer.insert(data.draw(st.integers(0, len(longer))), data.draw(idle))
    assert all_beliefs(longer) == all_beliefs(story)


@settings(deadline=None)
@given(stories(12, ROOMS), st.sampled_from(BOXES), st.frozensets(st.sampled_from(AGENTS)))
def test_what_nobody_in_the_chain_saw_changes_none_of_its_beliefs(
    story: Story, box: str, watchers: frozenset[str]
) -> None:
    room = "cellar"  # where nobody is, so that the watchers peek
    later = [*story, place(box, room, watchers)]
    blind = [chain for chain in CHAINS if not watchers & set(chain)]
    assert all_beliefs(later, blind) == all_beliefs(story, blind)
    outer = [chain for chain in CHAINS if chain[0] not in watchers]
    assert all_beliefs(later, outer) == all_beliefs(story, outer)


@settings(deadline=None)
@given(stories(14, ROOMS))
def test_repeating_an_agent_adds_nothing(story: Story) -> None:
    worlds = Worlds(story, MARBLE)
    for reading, (a, b, c) in product(READINGS, product(AGENTS[:3], repeat=3)):
        found = worlds.belief((a, b, c), reading)
        assert worlds.belief((a, a, b, c), reading) == worlds.belief((a, b, b, b, c, c), reading) == found


@settings(deadline=None)
@given(stories(14, ROOMS, private=False))
def test_under_plain_sight_the_order_of_a_chain_does_not_matter(story: Story) -> None:
    worlds = Worlds(story, MARBLE)
    for reading, (a, b, c) in product((OPEN, CLOSED), product(AGENTS, repeat=3)):
        assert worlds.belief((a, b, c), reading) == worlds.belief((c, a, b), reading)


@settings(deadline=None)
@given(stories(14, ROOMS) | comings_and_goings(10))
def test_everybody_believes_consistently_and_knows_the_own_beliefs(story: Story) -> None:
    """Relations are serial, transitive and euclidean (KD45), private events and blaming included."""
    for reading in READINGS:
        model = Worlds(story, MARBLE).model(reading)
        worlds, agents = range(len(model.locations)), range(len(model.access[0]))
        for agent, world in product(agents, worlds):
            possible = model.possible(agent, world)
            assert possible
            assert all(model.possible(agent, seen) == possible for seen in possible)


@settings(deadline=None)
@given(stories(14, ROOMS))
def test_models_are_contracted_and_reachable(story: Story) -> None:
    for reading in READINGS:
        model = Worlds(story, MARBLE).model(reading)
        looks = set(zip(model.locations, model.access, strict=True))
        assert len(looks) == len(model.locations)  # no two worlds look alike
        reached, todo = {model.actual}, [model.actual]
        while todo:
            fresh = {seen for cell in model.access[todo.pop()] for seen in model.cells[cell]} - reached
            reached |= fresh
            todo += fresh
        assert reached == set(range(len(model.locations)))


def test_worlds_that_hold_the_same_possible_are_one_whatever_their_numbers() -> None:
    """Sets of more than eight numbers list them in an order that depends on how they were made."""
    locations = [0, 0, *range(1, 10)]
    one, other, rest = [2, 10], [10, 2], list(range(2, 11))
    access = [[0], [1], *[[2]] * 9]
    model = _contracted(locations, [one, other, rest], access)
    assert model.locations == tuple(range(10))
    assert model.cells[model.access[0][0]] == (1, 9)


def test_models_do_not_depend_on_how_worlds_were_numbered() -> None:
    dice = random.Random(3)
    for _ in range(30):
        count = dice.randint(2, 9)
        locations = [dice.randrange(3) for _ in range(count)]
        cells = [dice.sample(range(count), dice.randint(1, count)) for _ in range(4)]
        access = [[dice.randrange(4), dice.randrange(4)] for _ in range(count)]
        new = [0, *dice.sample(range(1, count), count - 1)]  # world 0 is the actual one
        old = sorted(range(count), key=new.__getitem__)
        order = dice.sample(range(4), 4)
        renamed = _contracted(
            [locations[world] for world in old],
            [[new[world] for world in cells[cell]] for cell in order],
            [[order.index(cell) for cell in access[world]] for world in old],
        )
        assert renamed == _contracted(locations, cells, access)
