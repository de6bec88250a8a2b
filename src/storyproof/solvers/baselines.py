"""Solvers that mark the ends of the scale, and the papers' rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.generation.seeds import Draws
from storyproof.runtime.progress import counting

ENDS_OF_SCALE = frozenset({"random", "majority", "oracle"})  # in the catalog; no reader is measured by these

QUESTIONS = "questions"  # what solvers count


class Oracle:
    """Answers by the checkers, from the text: a different label is a wrong label."""

    answers_apart = True

    def __init__(self, seed: int = 0) -> None:
        del seed  # there is nothing to draw

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order; empty where no answer follows."""
        return [family_of(example).checked_answer(example) for example in counting(examples, QUESTIONS)]


class Rules:
    """Answers by the simple rules of a paper: ToMi's Algorithm 1, or CLUTRR's sixteen compositions."""

    answers_apart = True

    def __init__(self, seed: int = 0) -> None:
        del seed  # there is nothing to draw

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""
        return [family_of(example).rules_answer(example) for example in counting(examples, QUESTIONS)]


class Random:
    """Picks one of the possible answers."""

    answers_apart = True

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""
        answers = []
        for example in counting(examples, QUESTIONS):
            possible = sorted(family_of(example).positions(example))
            if not possible:
                answers.append("")
                continue
            draws = Draws("random solver", self._seed, example.story, example.question)
            answers.append(possible[int(draws.below(len(possible), 1)[0])])
        return answers


class Majority:
    """Answers each kind of question by the candidate whose position is most often right in these examples.

    It looks at the labels that it is scored on, so its score is the most that a constant answer can reach.
    """

    def __init__(self, seed: int = 0) -> None:
        del seed  # there is nothing to draw

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""
        positions = [family_of(example).positions(example) for example in counting(examples, QUESTIONS)]
        kinds = [family_of(example).structure(example) for example in examples]
        right: dict[str, Counter[int]] = defaultdict(Counter)
        for example, known, kind in zip(examples, positions, kinds, strict=True):
            if example.answer in known:
                right[kind][known.index(example.answer)] += 1
        best = {kind: counts.most_common(1)[0][0] for kind, counts in right.items()}
        return [
            known[min(best.get(kind, 0), len(known) - 1)] if known else ""
            for known, kind in zip(positions, kinds, strict=True)
        ]
