from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from storyproof.errors import ConfigError
from storyproof.families.belief.arrays import NOBODY, LocalNames, decode_plot, encode_plots
from storyproof.families.belief.benchmarks.plot_sampler import DrawnPlots, PlotDials, draw_plots
from storyproof.families.belief.oracle import beliefs
from storyproof.families.belief.readings import ALL_READINGS, DEFAULT_READING
from storyproof.families.belief.trajectories import Course
from storyproof.families.belief.world import MESSAGES, EventKind, PlotEvent, cast_of, plot_problems
from storyproof.generation.seeds import Draws
from tests.families.belief.plots import describe
from tests.families.belief.possible_worlds import MindWorlds

RICH = PlotDials(
    agents=5, rooms=3, objects=2, moves=3, tells=3, lies=2, peeks=2, distractions=1, noise=1, walks=10
)  # fmt: skip
DIALS = {
    "plain": PlotDials(),
    "two people": PlotDials(agents=2, rooms=1, moves=1, walks=4),
    "rich": RICH,
    "much talk": PlotDials(agents=3, objects=2, moves=1, tells=8, lies=4, walks=6),
    "many secrets": PlotDials(agents=4, rooms=2, moves=4, peeks=5, distractions=4, walks=12),
}
NAMES = LocalNames.generic(20)


def events_of(drawn: DrawnPlots) -> list[list[PlotEvent]]:
    return [decode_plot(drawn.stories, column, NAMES) for column in range(drawn.stories.kind.shape[1])]


@pytest.mark.parametrize("name", DIALS)
def test_drawn_stories_can_happen_and_have_what_is_asked_for(name: str) -> None:
    dials = DIALS[name]
    drawn = draw_plots(dials, Draws("test", name), 60)
    for story in events_of(drawn):
        assert plot_problems(story) == [], describe(story)
        assert len(story) == dials.sentences
        assert len(cast_of(story)) == dials.agents  # or announcements would be heard by people who are not there
        kinds = Counter(event.kind for event in story)
        assert kinds[EventKind.PLACE] == dials.objects
        assert kinds[EventKind.MOVE] == dials.moves
        assert kinds[EventKind.PEEK] == dials.peeks
        assert kinds[EventKind.DISTRACT] == dials.distractions
        assert kinds[EventKind.NOISE] == dials.noise
        assert sum(kinds[kind] for kind in MESSAGES) == dials.tells + dials.lies
    assert (drawn.lie.sum(axis=0) == dials.lies).all()


@pytest.mark.parametrize("name", ["rich", "much talk"])
def test_honest_speakers_say_what_they_believe_and_liars_do_not(name: str) -> None:
    drawn = draw_plots(DIALS[name], Draws("test", name), 60)
    tried = Counter[bool]()
    for column, story in enumerate(events_of(drawn)):
        for time, event in enumerate(story):
            if event.kind in MESSAGES:
                believed = MindWorlds(story[:time], DEFAULT_READING).belief((str(event.agent),), str(event.thing))
                is_lie = bool(drawn.lie[time, column])
                assert (believed != event.container) == is_lie, describe(story[: time + 1])
                tried[is_lie] += 1
    assert tried[True] > 100
    assert tried[False] > 100


def test_all_kinds_of_message_are_drawn_and_few_stories_twice() -> None:
    drawn = draw_plots(RICH, Draws("test"), 400)
    kinds = Counter(drawn.stories.kind.ravel().tolist())
    assert min(kinds[kind] for kind in MESSAGES) > 200
    assert kinds[EventKind.ANNOUNCE] < kinds[EventKind.WHISPER] < kinds[EventKind.TELL]
    assert min(kinds[kind] for kind in (EventKind.UNPEEK, EventKind.ATTEND)) > 30
    plots = {tuple(map(tuple, story)) for story in events_of(draw_plots(PlotDials(), Draws("test"), 400))}
    assert len(plots) > 390


@pytest.mark.parametrize("name", ["rich", "much talk", "many secrets"])
def test_oracle_and_checker_agree_on_drawn_arrays(name: str) -> None:
    dials = DIALS[name]
    drawn, draws, count = draw_plots(dials, Draws("test", name), 40), Draws("chains", name), 6
    columns = np.repeat(np.arange(40), count)
    chain = draws.below(dials.agents, 8 * len(columns)).reshape(8, -1).astype(np.int8)
    chain[np.arange(8)[:, None] > draws.below(8, len(columns))] = NOBODY
    things = draws.below(dials.objects, len(columns)).astype(np.int8)
    stories, agents, objects = events_of(drawn), tuple(NAMES.agents), tuple(NAMES.things)
    for reading in ALL_READINGS:
        found = beliefs(Course.of(drawn.stories), columns, things, chain, reading).tolist()
        worlds = [MindWorlds(story, reading) for story in stories]
        for column, story in enumerate(columns.tolist()):
            asked = [agents[agent] for agent in chain[:, column].tolist() if agent != NOBODY]
            place = worlds[story].belief(asked, objects[things[column]])
            assert found[column] == (NOBODY if place is None else NAMES.containers[place])


def test_drawing_depends_on_its_purpose_alone() -> None:
    one, again, other = (draw_plots(RICH, Draws(*purpose), 50) for purpose in (("a", 1), ("a", 1), ("a", 2)))
    assert (one.stories.kind == again.stories.kind).all()
    assert (one.stories.container == again.stories.container).all()
    assert (one.lie == again.lie).all()
    assert (one.stories.kind != other.stories.kind).any()


def test_decoding_and_encoding_are_inverse() -> None:
    stories = events_of(draw_plots(RICH, Draws("test"), 20))
    arrays, names = encode_plots(stories)
    for column, story in enumerate(stories):
        assert decode_plot(arrays, column, names[column]) == story


@pytest.mark.parametrize(
    ("dials", "message"),
    [
        ({"agents": 1}, "agents is 1; use a whole number from 2 to 8."),
        ({"moves": -1}, "moves is -1; use a whole number from 0 to 40."),
        ({"lies": True}, "lies is True; use a whole number from 0 to 40."),
        ({"walks": 2.5}, "walks is 2.5; use a whole number from 0 to 120."),
    ],
)
def test_dials_have_limits(dials: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PlotDials(**dials)
    assert str(caught.value) == message


def test_what_cannot_happen_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storyproof.families.belief.benchmarks.plot_sampler._ROUNDS", 3)
    with pytest.raises(ConfigError, match="ask for less, or for more walks"):
        draw_plots(PlotDials(agents=2, rooms=1, peeks=1), Draws("test"), 5)


def test_no_stories_are_drawn_if_none_are_wanted() -> None:
    assert draw_plots(PlotDials(), Draws("test"), 0).stories.kind.shape == (PlotDials().sentences, 0)
    assert np.array_equal(draw_plots(PlotDials(), Draws("x"), 3).lie.any(), False)


def test_restatements_say_where_an_object_is_already_while_somebody_is_there() -> None:
    drawn = draw_plots(PlotDials(agents=3, restatements=3, walks=10), Draws("again"), 60).stories
    for column in range(drawn.count):
        events = decode_plot(drawn, column, LocalNames.generic(40))
        assert not plot_problems(events)
        place, inside, again = None, dict[str, str | None](), 0
        for event in events:
            if event.kind == EventKind.PLACE and place is not None:
                assert (event.room, event.container) == place
                assert place[0] in inside.values()
                again += 1
            if event.kind in (EventKind.PLACE, EventKind.MOVE):
                place = event.room, event.container
            if event.kind in (EventKind.ENTER, EventKind.EXIT):
                inside[str(event.agent)] = event.room if event.kind == EventKind.ENTER else None
        assert again == 3
