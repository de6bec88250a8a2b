"""Blocks of random stories without words, with the questions that they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from storyproof.errors import ConfigError
from storyproof.families.belief.arrays import Flags, PlotArrays, join_plots
from storyproof.families.belief.benchmarks.plot_sampler import CONTAINERS, DrawnPlots, PlotDials, draw_some
from storyproof.families.belief.benchmarks.question_sampler import (
    DrawnQuestions,
    ObjectPlaces,
    OrderChoice,
    choose_beliefs,
    choose_controls,
    choose_others,
    choose_stories,
    draw_questions,
    find_places,
    join_places,
    join_questions,
    tells_truly,
)
from storyproof.families.belief.questions import Ask, QuestionArrays, join_questions_by_story
from storyproof.families.belief.readings import ALWAYS, BeliefReading
from storyproof.families.belief.world import EventKind
from storyproof.generation.seeds import Draws

_POOL = 6.0  # stories drawn for each that is kept: the more, the better shorter chains can be told apart
_SPARE = 48  # stories drawn besides: of few, many may not be complete
_ROUNDS = 50  # draws after which too few usable stories are given up


@dataclass(frozen=True, slots=True)
class BlockDials:
    """What stories and questions are like.

    Attributes:
        plot: How much happens.
        order: The highest order of the questions about beliefs.
        reading: The reading that decides the answers.
        unknown: Whether questions are asked to which the answer is "unknown".
        robust: Whether only questions are asked whose answer is the same under all readings.
        controls: Kinds of question about the world, of which each story is asked one.
        others: Kinds of question besides those about the beliefs of a chain, of which each story is asked one.
    """

    plot: PlotDials
    order: int
    reading: BeliefReading
    unknown: bool
    robust: bool
    controls: Sequence[Ask]
    others: Sequence[Ask]


@dataclass(frozen=True, slots=True)
class PlotBlock:
    """Stories of a block without words, with the questions that they are asked.

    Attributes:
        stories: The plots.
        lie: Which messages the text calls lies.
        beliefs: The question of each order.
        asked: All questions, story by story: one about memory or reality, one of each order, one of another kind.
    """

    stories: PlotArrays
    lie: Flags
    beliefs: list[OrderChoice]
    asked: QuestionArrays


def draw_block(dials: BlockDials, draws: Draws, count: int) -> PlotBlock:
    """Draw stories, and choose the questions that they are asked.

    Raises:
        ConfigError: If hardly any story has a question of every order.
    """
    plot, reading, unknown = dials.plot, dials.reading, dials.unknown
    parts: list[tuple[DrawnPlots, ObjectPlaces, DrawnQuestions]] = []
    missing = count
    for _ in range(_ROUNDS):
        drawn = draw_some(plot, draws, _SPARE + int(_POOL * missing))
        places = find_places(drawn.stories, plot.objects, CONTAINERS * plot.rooms)
        questions = draw_questions(
            drawn.stories, places, draws, dials.order, plot.agents, reading, unknown=unknown, robust=dials.robust
        )
        usable = np.asarray((places.count > 1).any(axis=0))
        if reading.trust != ALWAYS:  # stories are drawn as if everybody were always believed
            usable &= tells_truly(drawn.stories, drawn.lie, reading)
        kept = choose_stories(questions.orders, usable, missing)
        parts.append((drawn.pick(kept), places.pick(kept), questions.pick(kept)))
        missing -= len(kept)
        if not missing:
            break
    else:
        raise ConfigError("hardly any story has a question of every order; ask for a lower order or more moves.")
    stories = join_plots([each.stories for each, _, _ in parts])
    lie = np.concatenate([each.lie for each, _, _ in parts], axis=1)
    places = join_places([each for _, each, _ in parts])
    questions = join_questions([each for _, _, each in parts])
    if len(parts) > 1:  # later draws leave more choice, but the first stories shall be like the last
        order = draws.order(count)
        stories, lie = stories.pick(order), lie.take(order, axis=1)
        places, questions = places.pick(order), questions.pick(order)
    beliefs = choose_beliefs(questions.orders)
    asked = [QuestionArrays.of_beliefs(each.thing, each.chain) for each in beliefs]
    if dials.controls:
        asked.insert(0, choose_controls(places, draws, dials.controls))
    if dials.others:
        others = choose_others(
            stories,
            places,
            questions.known,
            draws,
            dials.others,
            dials.order,
            reading,
            beliefs[0],
            unknown=unknown,
            robust=dials.robust,
        )
        asked.append(others)
    return PlotBlock(fill_noise(stories, plot.objects, draws), lie, beliefs, join_questions_by_story(asked))


def fill_noise(stories: PlotArrays, objects: int, draws: Draws) -> PlotArrays:
    """Let sentences that change nothing be about somebody and something."""
    time, column = np.nonzero(stories.kind == EventKind.NOISE)
    kind, agent, thing = stories.kind.copy(), stories.agent.copy(), stories.thing.copy()
    kind[time, column] = EventKind.FEEL
    agent[time, column] = draws.below(stories.agents, len(time))
    thing[time, column] = draws.below(objects, len(time))
    return replace(stories, kind=kind, agent=agent, thing=thing)
