"""What can be wrong with rows of theory of mind, and why: the events that decide, and the mechanism behind a label.

A mechanism is named only if the row fits it: the label is what the mechanism would produce, and the story has the
events that trigger it. Otherwise the reason only says what decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from storyproof.families.belief.readings import CLOSED, INFER_MOVER
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.findings import COLUMN, TEXT

# The three classes of flaws in ToMi, and what else can be wrong with a row.
STRUCTURAL, SEMANTIC, PRAGMATIC = "structural", "semantic", "pragmatic"
QUESTION_TYPE, IMPOSSIBLE_STORY, PROVERS = "question_type", "impossible_story", "provers"

# What matters most first: answers, then whether the story is one, then labels beside the answer.
KINDS = {
    STRUCTURAL: "The labelled answer is wrong.",
    IMPOSSIBLE_STORY: "Something impossible happens: an exit by somebody absent, a move from another room.",
    TEXT: "The story is not one of its benchmark.",
    QUESTION_TYPE: "The question is not of the labelled type.",
    SEMANTIC: "The story is not of the labelled type.",
    PRAGMATIC: "The question type names the wrong agent.",
    COLUMN: "A value of another column does not follow from the text.",
    "observers": "The numbers after a sentence are not those of the agents who saw it.",
    "trace": "The actions of the trace are not those of the text.",
    PROVERS: "Oracle and checker derive different answers.",
}


MECHANISMS: Mapping[str, str] = {
    "third_agent": "second-order label is reality; a third agent entered the object's room",
    "third_agent_or_return": "as third_agent and unseen_return; either alone explains the label",
    "third_agent_elsewhere": "second-order label is reality; a third agent entered, but another room",
    "unseen_return": "second-order label is reality; somebody returned after the move, unseen by the other",
    "blamed_mover": "rule-dependent: right under infer-mover",
    "closed_containers": "rule-dependent: right under closed",
    "reality": "label is where the object is at the end; no cause is shown",
    "first_place": "label is where the object was first; no cause is shown",
    "another_place": "label is another place in which the object was",
    "no_place": "label is no place in which the object was",
    "no_answer": "the question has no answer: its people never saw the object together, or there is no such object",
    "position_of_move": "story type is false_belief exactly where the move is the second action",
    "mover_leaves": "story type is second_order_false_belief exactly where the mover leaves",
    "other_story_type": "story type is wrong; no cause is shown",
    "order_of_entry": "agent numbers follow the order in which the two entered",
    "other_number": "agent number is wrong; no cause is shown",
    "follows_label": "tom or no_tom fits the wrong answer",
    "other_mark": "tom or no_tom is wrong, and does not fit the given answer",
    "other_question": "question type is that of another question",
    "third_agent_misplaced": "trace lists an entry or exit of the third agent at another place than the text",
    "swapped_numbers": "trace has the numbers of the two agents swapped",
    "other_actions": "trace lists other actions than the text",
    "observers": "the numbers after a sentence are not those of the people who saw it",
    "impossible_story": "something impossible happens",
    "column": "another column has a value that does not follow from the text",
}
_TYPE = re.compile(r"(?:(memory|reality)|([a-z]+_order)_(\d+)_(tom|no_tom))")


class Cause(NamedTuple):
    """A mechanism's name, one of MECHANISMS, and the reason in words."""

    name: str
    reason: str


class Stay(NamedTuple):
    """The sentences in which somebody came into the object's room and left it; 0 for who stayed."""

    came: int
    left: int


@dataclass(frozen=True, slots=True)
class Stage:
    """A story with one object in view; sentences are counted from 1.

    Attributes:
        thing: The object.
        puts: Where it was put, in order: sentence and container.
        move: The last move's sentence; 0 if nobody moves it.
        mover: Who moves it last.
        stays: When everybody was in its room.
        elsewhere: When those came who were never in its room.
        actions: Who comes, goes and moves the object: sentence, agent, kind.
    """

    thing: str
    puts: tuple[tuple[int, str], ...]
    move: int
    mover: str | None
    stays: Mapping[str, Sequence[Stay]]
    elsewhere: Mapping[str, int]
    actions: tuple[tuple[int, str, EventKind], ...]

    @property
    def places(self) -> list[str]:
        """Where the object was, in order."""
        return [container for _, container in self.puts]

    def absent(self, agent: str, sentence: int) -> int:
        """Return the sentence in which somebody had left before a sentence; 0 for who is there or never was."""
        before = [stay for stay in self.stays.get(agent, ()) if stay.came < sentence]
        return before[-1].left if before and before[-1].left < sentence else 0

    def whereabouts(self, agent: str) -> str:
        """Return in words where somebody was when the object was moved."""
        stays, move = self.stays.get(agent, ()), self.move
        if not stays:
            return f"{agent} was never in the room of the {self.thing}"
        if agent == self.mover:
            left = stays[-1].left
            return f"{agent} moved it in sentence {move}" + (f" and left in {left}" if left > move else "")
        if not move:
            return f"{agent} came in sentence {stays[0].came}"
        back = next((stay.came for stay in stays if stay.came > move), 0)
        if left := self.absent(agent, move):
            again = f", and came back in {back}" if back else ""
            return f"{agent} left in sentence {left}, before the move in {move}{again}"
        if back == stays[0].came:
            return f"{agent} came in sentence {back}, after the move in {move}"
        return f"{agent} saw the move in sentence {move}"


def set_stage(events: Sequence[PlotEvent], thing: str) -> Stage:
    """Read a story with one object in view."""
    puts = [
        (n, event)
        for n, event in enumerate(events, 1)
        if event.kind in (EventKind.PLACE, EventKind.MOVE) and event.thing == thing
    ]
    moves = [(n, event) for n, event in puts if event.kind is EventKind.MOVE]
    room = puts[-1][1].room if puts else None
    stays: dict[str, list[Stay]] = {}
    elsewhere: dict[str, int] = {}
    actions: list[tuple[int, str, EventKind]] = []
    for number, event in enumerate(events, start=1):
        agent, kind = event.agent, event.kind
        if agent is None or kind is EventKind.FEEL or (kind is EventKind.MOVE and event.thing != thing):
            continue
        actions.append((number, agent, EventKind.ENTER if kind is EventKind.IS_IN else kind))
        mine = stays.setdefault(agent, [])
        inside = bool(mine) and not mine[-1].left
        comes = kind in (EventKind.ENTER, EventKind.IS_IN)
        if comes and event.room == room and not inside:
            mine.append(Stay(number, 0))
        elif inside and (kind is EventKind.EXIT or (comes and event.room != room)):
            mine[-1] = Stay(mine[-1].came, number)
        elif comes and event.room != room:
            elsewhere.setdefault(agent, number)
    return Stage(
        thing,
        tuple((n, event.container or "") for n, event in puts),
        moves[-1][0] if moves else 0,
        moves[-1][1].agent if moves else None,
        {agent: mine for agent, mine in stays.items() if mine},
        {agent: number for agent, number in elsewhere.items() if not stays[agent]},
        tuple(actions),
    )


def explain_answer(stage: Stage, chain: Sequence[str], found: str, expected: str | None, reading: str) -> Cause:
    """Return why an answer is wrong.

    Args:
        stage: The story.
        chain: Whose minds the question goes through; empty for memory and reality.
        found: The answer given.
        expected: The right one; None if there is none.
        reading: A reading under which the given one is right, if there is one.
    """
    agents = list(dict.fromkeys(chain))
    facts = "; ".join(map(stage.whereabouts, agents)) or _control_facts(stage)
    places = stage.places
    if not places:
        return Cause("no_answer", f"the {stage.thing} is nowhere in the story")
    if expected is None:
        return Cause("no_answer", f"no answer follows: {facts}")
    if reading == INFER_MOVER:
        return Cause(
            "blamed_mover", f"under infer-mover {agents[0]} finds it moved and infers that {agents[-1]} knows: {facts}"
        )
    if reading == CLOSED:
        return Cause("closed_containers", f"right only if entering a room shows nothing: {facts}")
    if found not in places:
        return Cause("no_place", f"the {stage.thing} was never in the {found}: {facts}")
    if found == places[-1]:
        return _explain_reality(stage, agents, facts)
    if found == places[0]:
        return Cause("first_place", f"the label is where the {stage.thing} was first: {facts}")
    return Cause("another_place", f"the label is another place in which the {stage.thing} was: {facts}")


def _control_facts(stage: Stage) -> str:
    if not stage.puts:
        return ""
    return f"it was first mentioned in sentence {stage.puts[0][0]} and last placed in {stage.puts[-1][0]}"


def _explain_reality(stage: Stage, agents: Sequence[str], facts: str) -> Cause:
    """Return why a label may be where the object really is: what could have shown it to all."""
    label = f"the label is the real place of the {stage.thing}"
    if len(agents) < 2:
        return Cause("reality", f"{label}: {facts}")
    involved = {*agents, stage.mover}
    third = [f"{agent} (sentence {stays[0].came})" for agent, stays in stage.stays.items() if agent not in involved]
    stale = f"the third agent, {', '.join(third)}, was inserted later with an outdated list of observers"
    back = _unseen_returns(stage, agents)
    if third and back:
        return Cause("third_agent_or_return", f"{label}, probably because {stale}, or because {back}; {facts}")
    if third:
        return Cause("third_agent", f"{label}, probably because {stale}; {facts}")
    if back:
        return Cause("unseen_return", f"{label}, but {back}; {facts}")
    away = [f"{agent} (sentence {came})" for agent, came in stage.elsewhere.items() if agent not in involved]
    if away:
        return Cause("third_agent_elsewhere", f"{label}, although {', '.join(away)} entered another room; {facts}")
    return Cause("reality", f"{label}: {facts}")


def _unseen_returns(stage: Stage, agents: Iterable[str]) -> str:
    """Return in words who came back after the move when another of them was gone."""
    agents = list(agents)
    for agent in agents:
        stays = stage.stays.get(agent, ())
        for came in (stay.came for stay in stays[1:] if stay.came > stage.move):
            for other in agents:
                if other != agent and (left := stage.absent(other, came)):
                    return f"{agent} re-entered in sentence {came} unseen by {other}, who had left in {left}"
    return ""


def explain_story_type(stage: Stage, other: str, found: str) -> Cause:
    """Return why a story type is wrong.

    Args:
        stage: The story.
        other: The one who is asked about besides the mover.
        found: The type given.
    """
    mover = stage.mover or ""
    pair = [action for action in stage.actions if action[1] in (mover, other)]
    first = {agent: number for number, agent, _ in reversed(pair)}
    actions = [(number, agent, kind) for number, agent, kind in pair if number != first[agent]]
    facts = f"{stage.whereabouts(other)}; {stage.whereabouts(mover)}"
    leaves = next((number for number, agent, kind in actions if agent == mover and kind is EventKind.EXIT), 0)
    if found == "second_order_false_belief" and leaves:
        return Cause("mover_leaves", f"the type was derived from the mover's exit in sentence {leaves}: {facts}")
    place = next((place for place, (_, _, kind) in enumerate(actions, 1) if kind is EventKind.MOVE), 0)
    if place and not leaves and found == ("false_belief" if place == 2 else "true_belief"):
        return Cause("position_of_move", f"the type was derived from the position of the move, action {place}: {facts}")
    return Cause("other_story_type", facts)


def explain_question_type(
    stage: Stage, pair: tuple[str, str | None], found: str, expected: str, answer: str
) -> dict[str, Cause]:
    """Return why a question type is wrong, by kind of finding: the agent number, the rest of it, or both.

    Args:
        stage: The story.
        pair: Who is asked about first, and the other of the two that the story is about.
        found: The type given.
        expected: The right one.
        answer: The answer that the row gives.
    """
    given, right = _TYPE.fullmatch(found), _TYPE.fullmatch(expected)
    if not given or not right or given[1] != right[1] or given[2] != right[2]:
        return {QUESTION_TYPE: Cause("other_question", f"the question is of the type {expected}")}
    causes = {}
    if given[3] != right[3]:
        causes[PRAGMATIC] = _explain_number(stage, *pair, given[3])
    if given[4] != right[4]:
        is_real = bool(stage.places) and answer == stage.places[-1]
        fits = is_real == (given[4] == "no_tom")
        what = f"'{given[4]}' follows the answer given, {answer}" if fits else f"'{given[4]}' does not fit the answer"
        causes[QUESTION_TYPE] = Cause("follows_label" if fits else "other_mark", what)
    return causes


def _explain_number(stage: Stage, agent: str, other: str | None, number: str) -> Cause:
    """Return why an agent has the wrong number: numbers may follow the order in which the two came."""
    if not stage.move:
        return Cause("other_number", f"nobody moves the {stage.thing}, so nobody is agent_0")
    facts = f"agent_0 is {stage.mover}, who moves the {stage.thing} in sentence {stage.move}"
    came = {who: sentence for sentence, who, _ in reversed(stage.actions)}
    if agent in came and other in came and number == ("0" if came[agent] < came[other] else "1"):
        order = "first" if number == "0" else "second"
        return Cause(
            "order_of_entry", f"{agent} entered {order} (sentence {came[agent]}), hence agent_{number}, but {facts}"
        )
    return Cause("other_number", facts)


def explain_trace(found: str, expected: str) -> Cause:
    """Return how the actions of a trace differ from those of the text."""
    given, right = found.split(","), expected.split(",")
    if sorted(given) == sorted(right) and _core(given) == _core(right):
        return Cause(
            "third_agent_misplaced", "the third agent enters or exits at another place in the text than in the trace"
        )
    if [_swapped(action) for action in given] == right:
        return Cause("swapped_numbers", "agent_0 and agent_1 are swapped")
    return Cause("other_actions", "the text has other actions")


def _core(actions: Iterable[str]) -> list[str]:
    return [action for action in actions if not action.startswith("agent_2_")]


def _swapped(action: str) -> str:
    return re.sub("agent_([01])", lambda match: f"agent_{1 - int(match[1])}", action)
