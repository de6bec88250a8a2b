"""Solved examples to show before a question: balanced, drawn by seed, and never of the story that is asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.seeds import Draws, digest

_MOST = 20_000  # examples that are looked at; more would not make the shots any better


def draw_shots(pool: Sequence[Example], count: int, seed: int) -> list[Example]:
    """Draw examples, each of another story, as evenly as can be over question types, and over answers within them.

    Answers are balanced by their class (`Family.answer_class`): for theory of mind not by the container but by whether
    the object was there first, last, or in between, or else all shots may teach that the last place is the answer.

    Args:
        pool: Examples of the train split.
        count: How many.
        seed: Other shots for another; the order of the pool does not matter.
    """
    drawn = sorted(pool, key=lambda each: digest("shots", seed, each.story, each.question))[:_MOST]
    chosen: list[Example] = []
    types: Counter[str] = Counter()
    answers: Counter[tuple[str, str]] = Counter()
    words: Counter[str] = Counter()
    classes = {id(example): family_of(example).answer_class(example) for example in drawn}
    while drawn and len(chosen) < count:
        best = min(
            drawn,
            key=lambda each: (
                types[each.question_type],
                answers["", classes[id(each)]],
                answers[each.question_type, classes[id(each)]],
                words[each.answer],
            ),
        )
        chosen.append(best)
        types[best.question_type] += 1
        answers["", classes[id(best)]] += 1
        answers[best.question_type, classes[id(best)]] += 1
        words[best.answer] += 1
        drawn = [each for each in drawn if each.story != best.story]
    order = Draws("order of shots", seed, len(chosen)).order(len(chosen)).tolist()
    return [chosen[place] for place in order]


def shots_for(example: Example, drawn: Sequence[Example], count: int) -> list[Example]:
    """Give as many of the drawn examples as wanted, none of them of the example's own story."""
    return [shot for shot in drawn if shot.story != example.story][:count]
