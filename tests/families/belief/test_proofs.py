from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from storyproof.families.belief import oracle
from storyproof.families.belief.arrays import NOBODY, encode
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.derivation import prove
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.readings import OPEN
from storyproof.families.belief.text import Question, ask, narrate, parse
from tests.families.belief.stories import CHAINS, THING, any_events, possible_stories
from tests.groups import try_examples

CROSSED = """Ada entered the attic.
Cy likes the box.
Bo entered the attic.
The key is in the box.
Bo exited the attic.
Phone rang.
Ada moved the key to the jar.
Ada exited the attic.
Bo entered the attic."""


def proof(story: str, *chain: str, memory: bool = False) -> list[int]:
    question = ask(Question(THING, chain, memory))
    found = prove(pa.array([story]), np.zeros(1, np.intp), pa.array([question]))
    assert not found.problems
    return found.columns["proof"].to_pylist()[0]


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (("Ada",), [1, 7]),  # came in, moved it
        (("Bo",), [7, 9]),  # the move, and the coming back that showed it
        (("Ada", "Bo"), [1, 3, 4, 5, 7]),  # both came, it was placed; Bo's exit broke them up, the move was missed
        (("Bo", "Ada"), [1, 3, 4, 5, 7]),
    ],
)
def test_a_belief_rests_on_what_design_says(chain: tuple[str, ...], expected: list[int]) -> None:
    assert proof(CROSSED, *chain) == expected


def test_controls_rest_on_one_sentence() -> None:
    assert proof(CROSSED, memory=True) == [4]
    assert proof(CROSSED) == [7]


def test_leaving_by_going_elsewhere_breaks_a_chain_up() -> None:
    story = "Ada entered the attic.\nBo entered the attic.\nThe key is in the box.\nBo entered the barn.\n"
    assert proof(story + "Ada moved the key to the jar.", "Ada", "Bo") == [1, 2, 3, 4, 5]


def test_being_told_again_is_no_move() -> None:
    story = "Ada entered the attic.\nBo entered the attic.\nThe key is in the box.\nBo exited the attic.\n"
    assert proof(story + "The key is in the box.", "Ada", "Bo") == [1, 2, 3]


# --- the same in plain words


def plain_proof(events: list[Event], chain: tuple[str, ...]) -> list[int]:
    """Return the events that a belief rests on, by the definition."""
    where: dict[str, str | None] = {}
    places: list[dict[str, str | None]] = []  # of everybody, after each event
    rooms, boxes = [], []  # of the object, after each event
    room = box = None
    decided = -1
    for time, event in enumerate(events):
        comes = event.kind in (Kind.ENTER, Kind.IS_IN)
        put = event.kind in (Kind.PLACE, Kind.MOVE) and event.thing == THING
        if comes or event.kind is Kind.EXIT:
            where[event.agent or ""] = event.room if comes else None
        if put:
            room, box = event.room, event.container
        places.append(dict(where))
        rooms.append(room)
        boxes.append(box)
        there = {agent for agent, place in where.items() if place is not None and place == room}
        noticing = there if event.observers is None else event.observers
        others = list(chain)
        while others and others[0] == chain[0]:
            del others[0]
        if (put or (comes and room is not None and event.room == room)) and chain[0] in noticing and there >= {*others}:
            decided = time
    if decided < 0:
        return []

    def inside(agent: str, time: int) -> bool:
        return rooms[time] is not None and places[time].get(agent) == rooms[time]

    def moved(time: int) -> bool:
        return boxes[time] != (boxes[time - 1] if time else None)

    puts = [n for n, event in enumerate(events) if event.kind in (Kind.PLACE, Kind.MOVE) and event.thing == THING]
    found = {max(put for put in puts if put <= decided)}
    for agent in chain:
        if inside(agent, decided):
            changes = [
                time
                for time in range(decided + 1)
                if places[time].get(agent) != (places[time - 1].get(agent) if time else None)
            ]
            found.add(changes[-1])
    missed = {time for time in range(decided + 1, len(events)) if moved(time)}
    apart = [time for time in range(decided, len(events)) if not all(inside(agent, time) for agent in chain)]
    if missed and apart and apart[0] > decided:
        found.add(apart[0])
    return sorted(found | missed)


@given(any_events(private=False).filter(bool) | any_events(private=True).filter(bool) | possible_stories(private=True))
@try_examples(150)
def test_a_proof_is_what_the_definition_says(events: list[Event]) -> None:
    assert_proofs_are_as_defined(events)


def test_no_belief_has_no_proof() -> None:
    rooms = ("attic", "barn", "cellar", "den", "yard")
    for room in rooms:  # whatever the number of Ada's room is
        assert_proofs_are_as_defined(
            [
                *(Event(Kind.ENTER, "Bo", other) for other in rooms),
                Event(Kind.ENTER, "Ada", room),
                Event(Kind.EXIT, "Ada", room),
                Event(Kind.PLACE, None, "barn", THING, "jar"),
            ]
        )


def assert_proofs_are_as_defined(events: list[Event]) -> None:
    chains = CHAINS[:20]
    stories, (names,) = encode([events])
    asked = np.full((2, len(chains)), NOBODY, np.int8)
    for column, chain in enumerate(chains):
        asked[: len(chain), column] = [names.agents.get(agent, oracle.STRANGER) for agent in chain]
    thing = np.full(1, names.things.get(THING, 99), np.int8)
    seen = oracle.view(stories, thing).pick(np.zeros(len(chains), np.intp))
    found = oracle.belief_proof(seen, asked, oracle.belief(seen, asked, OPEN))
    assert [np.flatnonzero(column).tolist() for column in found.T] == [plain_proof(events, chain) for chain in chains]


@given(possible_stories(asides=True))
@try_examples(100)
def test_the_sentences_of_a_proof_are_enough(events: list[Event]) -> None:
    """Telling only the proof gives the same answer, once everybody's being there is told."""
    story = narrate(events)
    for chain in [("Ada",), ("Bo",), ("Ada", "Bo")]:
        before = Worlds(events, THING).belief(chain, OPEN)
        needed = set(proof(story, *chain))
        kept = [event for number, event in enumerate(events, start=1) if number in needed]
        # A move in the proof is made by somebody whose coming the proof need not mention.
        movers = {event.agent for event in kept if event.kind is Kind.MOVE} - set(chain)
        present = [Event(Kind.ENTER, agent, "attic") for agent in sorted(filter(None, movers))]
        assert Worlds([*present, *kept], THING).belief(chain, OPEN) == before


def test_proofs_count_sentences_of_the_text() -> None:
    assert [event.kind for event in parse(CROSSED)][6] is Kind.MOVE
