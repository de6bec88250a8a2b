"""Rooms and possibility of many stories at once against what is stated for one story."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import storyproof
from storyproof.families.belief.arrays import decode_plot, encode_plots
from storyproof.families.belief.rooms import infer_rooms, occurrences, place_moves
from storyproof.families.belief.tomi_text import resolve_rooms
from storyproof.families.belief.world import NOTHING, EventKind, PlotEvent, plot_problems
from tests.families.belief.plots import PEOPLE, any_event, any_plot, possible_plot
from tests.families.belief.stories import any_events, possible_stories, returns
from tests.groups import try_examples


def untold(events: list[PlotEvent]) -> list[PlotEvent]:
    """Leave out the rooms that a text does not name."""
    return [event._replace(room=None) if event.kind in (EventKind.PLACE, EventKind.MOVE) else event for event in events]


@try_examples(200)
@given(st.lists(st.one_of(any_events(), returns(), possible_stories(asides=True)), min_size=1, max_size=5))
def test_arrays_say_what_single_stories_say(stories: list[list[PlotEvent]]) -> None:
    told = [untold(events) for events in stories]
    arrays, names = encode_plots(told)
    inferred = infer_rooms(arrays)
    found = occurrences(inferred)
    for column, events in enumerate(told):
        right = resolve_rooms([event._replace(feeling=None) for event in events])  # arrays have no feelings
        decoded = decode_plot(inferred, column, names[column])
        assert decoded == [*right, *[NOTHING] * (len(decoded) - len(right))]
        assert bool(found.possible[column]) == (not plot_problems(right, tells_rooms=False))
        assert bool(found.announced[column]) == _announced(right)


@try_examples(200)
@given(st.lists(possible_stories(), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_rooms_that_are_known_stay(stories: list[list[PlotEvent]], draw: random.Random) -> None:
    told = [
        [one if draw.random() < 0.5 else other for one, other in zip(events, untold(events), strict=True)]
        for events in stories
    ]
    arrays, names = encode_plots(told)
    inferred = infer_rooms(arrays)
    for column, events in enumerate(told):
        right = resolve_rooms([event._replace(feeling=None) for event in events])
        decoded = decode_plot(inferred, column, names[column])
        assert decoded == [*right, *[NOTHING] * (len(decoded) - len(right))]
        assert all(event.room in (None, found.room) for event, found in zip(events, right, strict=True))


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("The key is in the pot.", "The pot is in the den."), "pot"),
        (("The pot is in the den.", "The key is in the pot."), "pot"),
        (("The key is in the pot.", "The jar is in the den.", "The pot is in the den."), "pot"),
        (("The key is in the pot.", "The pot is in the attic."), ""),
        (("The key is in the pot.",), ""),  # nothing says where: it is in the room that was entered last
    ],
)
def test_a_text_may_say_where_containers_are(lines: tuple[str, ...], answer: str) -> None:
    """Those who were in that room know what is in them, whichever room was entered last."""
    text = "\n".join(("Dan entered the den.", "Ben entered the attic.", *lines))
    question = "Where will Dan look for the key?"
    assert (storyproof.story(text).ask(question).answer == "pot") == (answer == "pot")
    report = storyproof.audit([{"story": text, "question": question, "answer": "pot"}])
    assert (report.totals["judged"], report.ok) == (1, answer == "pot")


def _announced(events: list[PlotEvent]) -> bool:
    where: dict[str | None, str | None] = {}
    for event in events:
        if event.kind is EventKind.IS_IN and where.get(event.agent) != event.room:
            return False
        if event.kind is EventKind.ENTER:
            where[event.agent] = event.room
        elif event.kind is EventKind.EXIT:
            where.pop(event.agent, None)
    return True


def test_an_object_that_waits_in_two_places_for_its_mover() -> None:
    events = [
        PlotEvent(EventKind.ENTER, "Ada", "attic"),
        PlotEvent(EventKind.PLACE, None, None, "key", "box"),
        PlotEvent(EventKind.ENTER, "Bo", "barn"),
        PlotEvent(EventKind.PLACE, None, None, "key", "jar"),
        PlotEvent(EventKind.MOVE, "Ada", None, "key", "tin"),
    ]
    arrays, (names,) = encode_plots([events])
    assert [event.room for event in decode_plot(infer_rooms(arrays), 0, names)] == [
        "attic",
        "attic",
        "barn",
        "attic",
        "attic",
    ]


@pytest.mark.parametrize("seed", range(4))
def test_arrays_say_which_stories_with_secrets_and_messages_can_happen(seed: int) -> None:
    rng, people = random.Random(seed), PEOPLE[:3]
    stories = []
    for number in range(600):
        plot = possible_plot(rng, people, rng.randrange(1, 25)) if number % 3 else any_plot(rng, people, 4)
        if number % 3 == 1:
            plot[rng.randrange(len(plot))] = any_event(rng, people)
        stories.append(plot)
    arrays, names = encode_plots(
        [[each._replace(room=None) if each.kind is EventKind.MOVE else each for each in plot] for plot in stories]
    )
    placed = place_moves(arrays)
    found = occurrences(placed, tells_rooms=True).possible.tolist()
    right = [
        not plot_problems(decode_plot(placed, column, known)[: len(plot)])
        for column, (plot, known) in enumerate(zip(stories, names, strict=True))
    ]
    assert found == right
    assert 150 < sum(right) < 500
    kinds = {event.kind for plot, can_happen in zip(stories, right, strict=True) if can_happen for event in plot}
    assert kinds == set(EventKind)


@pytest.mark.parametrize("count", range(1, 8))
def test_an_object_that_waits_in_many_places_for_its_mover(count: int) -> None:
    events = [PlotEvent(EventKind.ENTER, "Ada", "attic"), PlotEvent(EventKind.ENTER, "Bo", "barn")]
    for number in range(count):
        events.append(PlotEvent(EventKind.PLACE, None, None, "key", f"box{number % 3}"))
        events.append(PlotEvent(EventKind.EXIT if number % 2 else EventKind.ENTER, "Cy", "cellar"))
    events += [PlotEvent(EventKind.MOVE, agent, None, "key", "tin") for agent in ("Ada", "Bo", "Cy")]
    stories = [events, events[1:], events[2:], events[:-1]]
    arrays, names = encode_plots(stories)
    inferred = infer_rooms(arrays)
    for column, story in enumerate(stories):
        assert decode_plot(inferred, column, names[column])[: len(story)] == resolve_rooms(story)
