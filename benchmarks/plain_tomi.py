"""ToMi made the plain way: one story at a time, in ordinary Python.

The same algorithms, questions and columns as `storyproof.families.belief.benchmarks.tomi`, with neither arrays nor
tables of fragments. It is what the block generator is measured against, and a third opinion on its labels
(tests/benchmarks).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from storyproof.families.belief.vocabulary import Vocabulary

Event = tuple[str, str, str]  # what, who, where or whereto
Row = dict[str, Any]

FEELINGS = ("likes", "dislikes", "loves", "hates")
READINGS = ("open", "closed", "infer-mover")


class PlainTomi:
    """Makes ToMi stories one by one."""

    def __init__(self, words: Vocabulary, seed: int) -> None:
        self.words = words
        self.dice = random.Random(seed)

    def balanced(self, stories: int) -> list[Row]:
        """Make so many stories, a third of each type, by rejection (Algorithm 1)."""
        quota = dict.fromkeys(("true_belief", "false_belief", "second_order_false_belief"), stories // 3)
        rows: list[Row] = []
        while any(quota.values()):
            made = self.story()
            if quota[made[0]["story_type"]]:
                quota[made[0]["story_type"]] -= 1
                rows += made
        return rows

    def story(self) -> list[Row]:
        """Make one story with its six questions (Algorithms 2 and 3)."""
        dice, words = self.dice, self.words
        home, elsewhere = dice.sample(words.rooms, 2)
        thing, (before, after) = dice.choice(words.objects), dice.sample(words.containers, 2)
        sally, anne, third = dice.sample(words.agents, 3)
        first, second = dice.sample([sally, anne], 2)
        events = [("enter", first, home), ("enter", second, home), ("place", "", before)]
        move, leave = ("move", anne, after), ("exit", sally, home)
        if dice.choice((1, 2)) == 1:
            events += dice.sample([move, leave], 2)
        else:
            rest: list[Event] = [leave]
            move_at = dice.randrange(3)
            if move_at < 2 and dice.random() < 0.5:
                rest.append(("exit", anne, home))
            rest.append(("enter", sally, dice.choice((home, elsewhere))))
            rest.insert(move_at, move)
            events += rest
        self._distract(events, third, (sally, anne, third), (home, elsewhere))
        return label(events, thing, anne, sally, home, before, after)

    def _distract(self, events: list[Event], third: str, agents: tuple[str, ...], rooms: tuple[str, str]) -> None:
        dice, words = self.dice, self.words
        count = dice.randrange(3)
        places = sorted(dice.sample(range(len(events)), count))
        if count:
            room = dice.choice(rooms)
            events.insert(places[0], ("enter", third, room))
            if count > 1:
                events.insert(places[1], ("exit", third, room))
        for place in dice.sample(range(len(events)), dice.randrange(3)):
            thing = dice.choice(words.containers + words.objects)
            events.insert(place, (dice.choice(FEELINGS), dice.choice(agents), thing))


def label(events: list[Event], thing: str, anne: str, sally: str, home: str, before: str, after: str) -> list[Row]:
    """Follow everybody through the story, and answer the six questions with their proofs."""
    chains = [(anne,), (anne, sally), (sally,), (sally, anne)]
    answers = {chain: follow(events, chain, home) for chain in chains}
    believed = {chain: found["open"] for chain, found in answers.items()}
    if believed[anne,] != after or believed[sally,] != after:
        kind = "false_belief"
    elif believed[anne, sally] != believed[sally,] or believed[sally, anne] != believed[anne,]:
        kind = "second_order_false_belief"
    else:
        kind = "true_belief"
    text = "\n".join(sentence(event, thing) for event in events)
    placed = next(number for number, event in enumerate(events, 1) if event[0] == "place")
    moved = next(number for number, event in enumerate(events, 1) if event[0] == "move")
    rows = []
    for question, chain in (
        (f"Where was the {thing} at the beginning?", ()),
        (f"Where will {anne} look for the {thing}?", (anne,)),
        (f"Where does {anne} think that {sally} searches for the {thing}?", (anne, sally)),
        (f"Where is the {thing} really?", ()),
        (f"Where will {sally} look for the {thing}?", (sally,)),
        (f"Where does {sally} think that {anne} searches for the {thing}?", (sally, anne)),
    ):
        memory = "beginning" in question
        answer = believed[chain] if chain else before if memory else after
        false = bool(chain) and answer != after
        order = ("first", "second")[len(chain) - 1] if chain else ""
        number = 0 if chain and chain[0] == anne else 1
        rows.append(
            {
                "benchmark": "tomi",
                "story": text,
                "question": question,
                "answer": answer,
                "candidates": sorted([before, after]),
                "question_type": f"{order}_order_{number}_{'tom' if false else 'no_tom'}"
                if chain
                else ("memory" if memory else "reality"),
                "order": len(chain),
                "chain": list(chain),
                "story_type": kind,
                "false_belief": false,
                "readings": [name for name in READINGS if not chain or answers[chain][name] == answer],
                "proof": prove(events, chain, home, answer) if chain else [placed if memory else moved],
            }
        )
    return rows


def prove(events: list[Event], chain: tuple[str, ...], home: str, answer: str) -> list[int]:
    """Return the sentences that an answer rests on, by deleting every other one in turn."""
    numbers = range(1, len(events) + 1)

    def gives(kept: Iterable[int]) -> bool:
        return follow([events[number - 1] for number in kept], chain, home)["open"] == answer

    needed = [number for number in numbers if not gives(each for each in numbers if each != number)]
    if gives(needed):
        return needed
    kept = list(numbers)
    for number in numbers:  # what is left out early stays out: in these stories one pass is enough
        if number not in needed and gives(each for each in kept if each != number):
            kept.remove(number)
    return kept


def follow(events: list[Event], chain: tuple[str, ...], home: str) -> dict[str, str]:
    """Answer one chain under each reading."""
    where: dict[str, str] = {}
    place, blamed, seen = "", "", {"open": "", "closed": ""}
    left_behind: dict[str, set[str]] = {}
    known: dict[str, str] = {}
    for what, who, target in events:
        if what == "exit":
            left = where.pop(who, "")
            left_behind[who] = {agent for agent, room in where.items() if room == left} if left == home else set()
        elif what == "enter":
            where[who] = target
        elif what in ("place", "move"):
            place = target
        inside = {agent for agent, room in where.items() if room == home}
        if what == "enter" and target == home and place and chain[0] == who and len(chain) == 2:
            surprised = known.get(who, place) != place
            if surprised and chain[1] in left_behind.get(who, set()):
                blamed = place
        for agent in inside if place else ():
            known[agent] = place
        if place and all(agent in inside for agent in chain):
            seen["open"], blamed = place, ""
            if what in ("place", "move"):
                seen["closed"] = place
    return {**seen, "infer-mover": blamed or seen["open"]}


def sentence(event: Event, thing: str) -> str:
    """Tell one event."""
    what, who, target = event
    match what:
        case "enter":
            return f"{who} entered the {target}."
        case "exit":
            return f"{who} exited the {target}."
        case "place":
            return f"The {thing} is in the {target}."
        case "move":
            return f"{who} moved the {thing} to the {target}."
        case _:
            return f"{who} {what} the {target}."
