"""Solvers that mark the ends of the scale."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from storyproof.example import Example
from storyproof.seeds import Draws
from storyproof.solvers import kinship
from storyproof.tom.possible_worlds import Worlds
from storyproof.tom.readings import DEFAULT
from storyproof.tom.text import parse, parse_question


def places_of(example: Example) -> list[str]:
    """Give the containers in which the asked object was, in the order of the story."""
    thing = parse_question(example.question).thing
    places = [event.container for event in parse(example.story) if event.thing == thing and event.container]
    return list(dict.fromkeys(places))


class Oracle:
    """Answers by the checkers, from the text: whatever is labelled otherwise is labelled wrongly."""

    def __init__(self, seed: int = 0) -> None:
        del seed  # there is nothing to draw

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one answer an example, in order; an empty one where there is no belief."""
        answers = []
        for example in examples:
            if kinship.is_kinship(example):
                answers.append(kinship.oracle_answer(example))
                continue
            question = parse_question(example.question)
            worlds = Worlds(parse(example.story), question.thing)
            if question.chain:
                answer = worlds.belief(question.chain, DEFAULT)
            else:
                answer = worlds.memory if question.memory else worlds.reality
            answers.append(answer or "")
        return answers


class Random:
    """Picks one of the containers in which the object was; of kinship, one of the candidates."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one answer an example, in order."""
        answers = []
        for example in examples:
            places = sorted(example.candidates if kinship.is_kinship(example) else places_of(example))
            if not places:
                answers.append("")
                continue
            choice = int(Draws("random solver", self._seed, example.story, example.question).below(len(places), 1)[0])
            answers.append(places[choice])
        return answers


class Majority:
    """Says for each kind of question whichever of first, last or other place is most often right in these examples.

    Of kinship it says the most frequent answer for each task and length.

    It looks at the labels that it is scored on, so its score is the most that a constant answer can reach.
    """

    def __init__(self, seed: int = 0) -> None:
        del seed  # there is nothing to draw

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one answer an example, in order."""
        places = [example.candidates if kinship.is_kinship(example) else places_of(example) for example in examples]
        kinds = [self._kind(example) for example in examples]
        right: dict[str, Counter[int]] = defaultdict(Counter)
        for example, known, kind in zip(examples, places, kinds, strict=True):
            if example.answer in known:
                right[kind][known.index(example.answer)] += 1
        best = {kind: counts.most_common(1)[0][0] for kind, counts in right.items()}
        return [
            known[min(best.get(kind, 0), len(known) - 1)] if known else ""
            for known, kind in zip(places, kinds, strict=True)
        ]

    def _kind(self, example: Example) -> str:
        if kinship.is_kinship(example):
            return example.question_type
        question = parse_question(example.question)
        return "memory" if question.memory else f"order {question.order}"
