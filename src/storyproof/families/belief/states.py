"""What holds in a story: after each sentence, under each reading, and in the worlds that somebody holds possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.belief.arrays import number, stack
from storyproof.families.belief.baselines import events_of
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.events import presence
from storyproof.families.belief.own_text import chains_of, check_order
from storyproof.families.belief.readings import DEFAULT, READINGS
from storyproof.families.belief.text import parse_question
from storyproof.families.belief.timeline import places_over_time
from storyproof.families.family import StateEntry, Step, StoryModel

MOST_CHAINS = 400  # each is a row of the page

Chain = tuple[str, ...]


def steps_of(example: Example, order: int) -> list[Step]:
    """Return who is where, where the asked object is, and who believes what after each sentence.

    Raises:
        DataError: If the story cannot be read, or the order is too high for so many agents.
    """
    check_order(order)
    events, thing = list(events_of(example.story)), parse_question(example.question).thing
    numbers, names = number(events)
    if thing not in names.things:
        raise DataError(f"the {thing} is nowhere in the story.")
    agents = list(dict.fromkeys(event.agent for event in events if event.agent and event.room))
    chains, stories = chains_up_to(agents, order), stack([numbers])
    real = places_over_time(stories, names, thing, ())
    held = {chain: places_over_time(stories, names, thing, chain) for chain in chains}
    rooms = list(dict.fromkeys(event.room for event in events if event.room and event.agent))
    here = [
        {room: [agent for agent, place in where.items() if place == room] for room in rooms}
        for where in presence(events)
    ]
    return describe_steps(example.story, thing, real, held, here)


def chains_up_to(agents: Sequence[str], order: int) -> list[Chain]:
    """Return all chains of up to so many minds; raise DataError if they are too many to be shown."""
    chains = list(islice((c for depth in range(1, order + 1) for c in chains_of(agents, depth)), MOST_CHAINS + 1))
    if len(chains) > MOST_CHAINS:
        raise DataError(
            f"{len(agents)} people have more than {MOST_CHAINS} beliefs up to order {order}; choose a lower order."
        )
    return chains


def describe_steps(
    story: str,
    thing: str,
    real: Sequence[str | None],
    held: Mapping[Chain, Sequence[str | None]],
    rooms: Sequence[Mapping[str, Sequence[str]]],
) -> list[Step]:
    """Return the state after each sentence.

    Args:
        story: One sentence per line.
        thing: The object that is followed.
        real: Where it is after each sentence.
        held: Where each chain of minds believes it to be, chains before those that they are part of.
        rooms: Who is in which room; all rooms in all steps.
    """
    found = []
    for time, (sentence, here) in enumerate(zip(story.split("\n"), rooms, strict=True)):
        entries = [StateEntry(f"where the {thing} is", "really", real[time] or "")]
        for chain, places in held.items():
            about = held[chain[1:]][time] if len(chain) > 1 else real[time]
            is_wrong = places[time] is not None and places[time] != about
            name = " ".join(f"{agent} thinks" for agent in chain)
            entries.append(StateEntry(_group(len(chain)), name, places[time] or "", is_wrong))
        entries += [StateEntry("who is where", room, ", ".join(agents)) for room, agents in here.items()]
        found.append(Step(sentence, tuple(entries)))
    return found


def _group(order: int) -> str:
    return {1: "beliefs about the object", 2: "beliefs about beliefs"}.get(order, f"beliefs of order {order}")


def answers_by_reading(example: Example) -> dict[str, str]:
    """Return the answer under each reading, by the checker."""
    question = parse_question(example.question)
    worlds = Worlds(events_of(example.story), question.thing)
    if not question.chain:
        return dict.fromkeys(READINGS, (worlds.memory if question.memory else worlds.reality) or "")
    return {reading: worlds.belief(question.chain, reading) or "" for reading in READINGS}


def models_of(example: Example) -> list[StoryModel]:
    """Return a world for each place that the last of a chain may hold possible, by the checker."""
    question = parse_question(example.question)
    if not question.chain:
        return []
    worlds = Worlds(events_of(example.story), question.thing)
    thinks = " ".join(f"{agent} thinks that" for agent in question.chain[:-1])
    holds = f"{question.chain[-1]} holds this world possible"
    found = []
    for place in worlds.considered(question.chain, DEFAULT):
        where = f"the {question.thing} is in the {place}" if place else f"the {question.thing} is nowhere yet"
        found.append(StoryModel(place or "", f"{thinks} {holds}: {where}.".strip()))
    return found
