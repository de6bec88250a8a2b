"""Small data with shortcuts of known kind."""

import random
from collections.abc import Callable
from functools import cache
from typing import Any

from storyproof.example import Example
from tests.samples import STORY, example, table

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
PLACES = ("bag", "box", "case", "chest", "jar", "pot", "sack", "tin")
FIRST, LAST = 0, 1


def belief(story_id: str, leak: Callable[[list[str], int], list[str]], side: int, dice: random.Random) -> Example:
    """A question of first order whose right place is given; `leak` may change the story so that it shows."""
    mover, other = dice.sample(NAMES, 2)
    places = dice.sample(PLACES, 2)
    lines = STORY.replace("Ada", "@").replace("Ben", other).replace("@", mover).split("\n")
    lines = [line.replace("box", "#").replace("jar", places[1]).replace("#", places[0]) for line in lines]
    return example(
        id=f"{story_id}-0",
        story_id=story_id,
        story="\n".join(leak(lines, side)),
        question=f"Where will {other} look for the key?",
        answer=places[side],
        candidates=sorted(places),
        chain=[other],
        false_belief=side == FIRST,
    )


def toy(count: int, leak: Callable[[list[str], int], list[str]], seed: int = 0) -> list[Example]:
    dice = random.Random(seed)
    return [belief(f"s{number}", leak, dice.randrange(2), dice) for number in range(count)]


def no_leak(lines: list[str], side: int) -> list[str]:
    del side
    return lines


def ringing(lines: list[str], side: int) -> list[str]:
    """The phone rings if the first place is right."""
    return ["Phone rang.", *lines] if side == FIRST else lines


@cache
def made(benchmark: str, split: str, stories: int, seed: int = 0) -> list[Example]:
    return [Example.from_row(row) for row in table(benchmark, split, stories, seed).to_pylist()]


def kin(story_id: str, people: list[str], types: list[str], answer: str, **changes: Any) -> Example:
    """A chain of facts about people given as `Ann:female`, told in plain sentences; asks about the two ends."""
    names = [each.split(":")[0] for each in people]
    edges = [[place, place + 1] for place in range(len(types))]
    lines = [f"{names[place + 1]} is the {word} of {names[place]}." for place, word in enumerate(types)]
    fields: dict[str, Any] = {
        "id": story_id,
        "story_id": story_id,
        "benchmark": "clutrr",
        "story": "\n".join(lines),
        "question": f"What is {names[-1]} to {names[0]}?",
        "answer": answer,
        "candidates": ["aunt", "brother", "father", "mother", "sister", "son"],
        "question_type": f"task_1.{len(types)}",
        "order": 0,
        "chain": [],
        "false_belief": False,
        "k": len(types),
        "query": [names[0], names[-1]],
        "genders": people,
        "edges": edges,
        "edge_types": types,
        "noise_types": [],
        "placeholders": [],
    }
    return example(**{**fields, **changes})
