"""What holds in a story about nested beliefs: after each sentence, under each reading, and in possible worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.belief.baselines import checked_answer, checked_answers, checked_story
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.read_text import is_nested, read_question, read_story
from storyproof.families.belief.readings import READINGS as SIGHTS
from storyproof.families.belief.readings import parse_reading
from storyproof.families.belief.rows import READINGS, reading_of
from storyproof.families.belief.timeline import ObjectFollower
from storyproof.families.belief.user_text import chains_of, check_order
from storyproof.families.family import StateEntry, Step, StoryModel

MOST_CHAINS = 400  # each is a row of the page

Chain = tuple[str, ...]


def chains_up_to(agents: Sequence[str], order: int) -> list[Chain]:
    """Return all chains of up to `order` minds; raise DataError if they are too many to be shown."""
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
    states = []
    for time, (sentence, here) in enumerate(zip(story.split("\n"), rooms, strict=True)):
        entries = [StateEntry(f"where the {thing} is", "really", real[time] or "")]
        for chain, places in held.items():
            about = held[chain[1:]][time] if len(chain) > 1 else real[time]
            is_wrong = places[time] is not None and places[time] != about
            name = " ".join(f"{agent} thinks" for agent in chain)
            entries.append(StateEntry(_group(len(chain)), name, places[time] or "", is_wrong, chain))
        entries += [StateEntry("who is where", room, ", ".join(agents)) for room, agents in here.items()]
        states.append(Step(sentence, tuple(entries)))
    return states


def _group(order: int) -> str:
    return {1: "beliefs about the object", 2: "beliefs about beliefs"}.get(order, f"beliefs of order {order}")


def steps_of(example: Example, order: int) -> list[Step]:
    """Return who is where, where the asked object is, and who believes what after each sentence.

    Raises:
        DataError: If the story cannot be read, or the order is too high for the number of agents.
    """
    check_order(order)
    text, question = read_story(example.story), read_question(example.question)
    follower = ObjectFollower(text.events, question.thing, reading_of(example.readings))
    chains = chains_up_to(text.cast, order)
    held = dict(zip(chains, follower.believed(*chains), strict=True))
    rooms = follower.rooms
    rooms_named = list(dict.fromkeys(room for here in rooms for room in here))
    here = [{room: each.get(room, []) for room in rooms_named} for each in rooms]
    return describe_steps(example.story, question.thing, follower.really, held, here)


def answers_by_reading(example: Example) -> dict[str, str]:
    """Return the answer under each reading of trust, by the checker."""
    names = READINGS if is_nested(example.story, example.question) else SIGHTS
    return dict(zip(names, checked_answers(example, [parse_reading(name) for name in names]), strict=True))


def models_of(example: Example) -> list[StoryModel]:
    """Return the world that the last of a chain holds possible; agents hold one world possible at a time."""
    question = read_question(example.question)
    if question.ask != Ask.BELIEF:
        return []
    place = checked_story(example.story).belief(question.chain, question.thing, reading_of(example.readings))
    thinks = " ".join(f"{agent} thinks that" for agent in question.chain[:-1])
    where = f"the {question.thing} is in the {place}" if place else f"the {question.thing} may be anywhere"
    caption = f"{thinks} {question.chain[-1]} considers this world possible: {where}.".strip()
    return [StoryModel(checked_answer(example), caption)]
