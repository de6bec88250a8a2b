"""What holds in a story about nested beliefs: after each sentence, under each reading, and in possible worlds."""

from __future__ import annotations

from storyproof.example import Example
from storyproof.families.belief.nested.baselines import checked_answer, worlds_of
from storyproof.families.belief.nested.questions import Ask
from storyproof.families.belief.nested.reading import read_question, read_story
from storyproof.families.belief.nested.readings import parse_reading
from storyproof.families.belief.nested.rows import READINGS, reading_of
from storyproof.families.belief.nested.timeline import ObjectFollower
from storyproof.families.belief.own_text import check_order
from storyproof.families.belief.states import chains_up_to, describe_steps
from storyproof.families.family import Step, StoryModel


def steps_of(example: Example, order: int) -> list[Step]:
    """Return who is where, where the asked object is, and who believes what after each sentence.

    Raises:
        DataError: If the story cannot be read, or the order is too high for so many agents.
    """
    check_order(order)
    text, question = read_story(example.story), read_question(example.question)
    follower = ObjectFollower(text.events, question.thing, reading_of(example.readings))
    held = {chain: follower.believed(chain) for chain in chains_up_to(text.cast, order)}
    rooms = follower.rooms()
    known = list(dict.fromkeys(room for here in rooms for room in here))
    here = [{room: each.get(room, []) for room in known} for each in rooms]
    return describe_steps(example.story, question.thing, follower.really(), held, here)


def answers_by_reading(example: Example) -> dict[str, str]:
    """Return the answer under each reading of trust, by the checker."""
    return {name: checked_answer(example, parse_reading(name)) for name in READINGS}


def models_of(example: Example) -> list[StoryModel]:
    """Return the world that the last of a chain holds possible; agents hold one world possible at a time."""
    question = read_question(example.question)
    if question.ask != Ask.BELIEF:
        return []
    place = worlds_of(example.story, reading_of(example.readings)).belief(question.chain, question.thing)
    thinks = " ".join(f"{agent} thinks that" for agent in question.chain[:-1])
    where = f"the {question.thing} is in the {place}" if place else f"the {question.thing} may be anywhere"
    caption = f"{thinks} {question.chain[-1]} holds this world possible: {where}.".strip()
    return [StoryModel(checked_answer(example), caption)]
