"""The benchmark `orderings`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from storyproof.benchmark import Benchmark, Config, option
from storyproof.errors import ProofError
from storyproof.example import SPLITS
from storyproof.generation.seeds import Draws, Permutation, combination
from storyproof_orderings import checker, oracle
from storyproof_orderings.family import FAMILY
from storyproof_orderings.orders import COMPARE, NO, SHORTEST, TALLEST, UNKNOWN, YES, Fact, Question

NAMES = (
    *("Ada", "Ann", "Ben", "Bea", "Cal", "Cleo", "Dan", "Dora", "Eli", "Eva", "Finn", "Flo"),
    *("Gus", "Gwen", "Hal", "Ida", "Ivo", "Jan", "Jill", "Kai", "Kim", "Leo", "Lia", "Max"),
    *("Mia", "Ned", "Nia", "Oli", "Ora", "Pam", "Pia", "Ray", "Ria", "Sam", "Sue", "Tim"),
    *("Tea", "Una", "Uri", "Val", "Vic", "Wes", "Wren", "Yan", "Zoe", "Zac"),
)
_ASKED = 3
_KINDS = (YES, NO, UNKNOWN)
_ALONE = 4  # one person in this number is not said to be shorter than anybody

Structure = tuple[Fact, ...]  # with numbers for names


@dataclass(frozen=True)
class OrderingsConfig(Config):
    """Settings.

    Attributes:
        people: How many people a story has.
    """

    people: int = field(
        default=5, metadata=option("How many people a story has.", read=int, default="5", least=4, most=7)
    )


class Orderings(Benchmark):
    """Orderings: three questions about a few people, of whom some are compared.

    World: people of different heights. A story compares pairs of them, in random order and in either direction
    ("taller", "shorter"), such that some pairs follow only by chaining sentences and some do not follow at all.

    Questions: one comparison whose answers `yes`, `no` and `not known` come in equal numbers, one about any two people,
    and one about the tallest or the shortest.

    Splits: differ in their stories; no set of names occurs twice.

    Known artefacts: names carry no information; `not known` is more frequent among questions about the tallest and the
    shortest.

    Source: written as an example of a family in another package.
    """

    name = "orderings"
    version = 1
    family = FAMILY.name
    usual_counts: ClassVar[dict[str, int]] = dict.fromkeys(SPLITS, 999)
    block_stories = 768  # plain Python: small data should not wait for a large block
    round = 3
    config_type = OrderingsConfig
    readings = ("strict",)
    schema = FAMILY.schema
    counted: ClassVar[dict[str, tuple[str, ...]]] = {**Benchmark.counted, "answers": ("question_type", "answer")}

    config: OrderingsConfig

    def rows_per_story(self, split: str) -> int:
        """Every story has the same number of questions."""
        return _ASKED

    def capacity(self, split: str) -> int:
        """No set of names is used twice, and each split has a third of them."""
        return comb(len(NAMES), self.config.people) // len(SPLITS)

    def block(self, split: str, index: int) -> pa.Table:
        """Generate one block."""
        return self.beginning(split, index, self.block_stories)

    def beginning(self, split: str, index: int, stories: int) -> pa.Table:
        """Generate the first stories of a block."""
        start = index * self.block_stories
        rows = [row for place in range(start, start + stories) for row in self._story(split, place)]
        return pa.Table.from_pylist(rows, schema=self.schema)

    def _story(self, split: str, place: int) -> list[dict[str, Any]]:
        """Generate the questions of one story, from its place in the split alone."""
        draws = Draws(*self.identity, split, place)
        wanted = _KINDS[place % len(_KINDS)]
        structure, pair = _draw(self.config.people, wanted, draws)
        names = [NAMES[number] for number in self._cast(split, place, draws)]
        turned = draws.below(2, len(structure)).tolist()
        told = [_sentence(names[int(a)], names[int(b)], turn) for (a, b), turn in zip(structure, turned, strict=True)]
        others = [each for each in combinations(range(self.config.people), 2) if set(each) != set(pair)]
        other = others[int(draws.below(len(others), 1)[0])][:: 1 - 2 * int(draws.below(2, 1)[0])]
        extreme = (TALLEST, SHORTEST)[int(draws.below(2, 1)[0])]
        asked = [Question(COMPARE, *map(str, pair)), Question(COMPARE, *map(str, other)), Question(extreme)]
        return [
            self._row(split, place, number, "\n".join(told), question, structure, names)
            for number, question in enumerate(asked)
        ]

    def _cast(self, split: str, place: int, draws: Draws) -> list[int]:
        """Choose who is in a story: a set of names that no other story has, in random order."""
        number = SPLITS.index(split) * self.capacity(split) + place
        chosen = combination(int(self._sets(np.array([number]))[0]), len(NAMES), self.config.people)
        return [chosen[at] for at in draws.order(len(chosen)).tolist()]

    @cached_property
    def _sets(self) -> Permutation:
        """A random order of all sets of names."""
        return Permutation(comb(len(NAMES), self.config.people), *self.identity, "names")

    def _row(
        self, split: str, place: int, number: int, story: str, asked: Question, structure: Structure, names: list[str]
    ) -> dict[str, Any]:
        found = _proved(structure, asked)
        answer = names[int(found.value)] if found.value.isdecimal() else found.value
        if asked.kind == COMPARE:
            question = f"Is {names[int(asked.taller)]} taller than {names[int(asked.shorter)]}?"
        else:
            question = f"Who is the {asked.kind}?"
        return {
            "id": f"{split}-{place:09}-{number}",
            "story_id": f"{split}-{place:09}",
            "benchmark": self.name,
            "split": split,
            "story": story,
            "question": question,
            "answer": answer,
            "candidates": sorted(_KINDS if asked.kind == COMPARE else (*names, UNKNOWN)),
            "question_type": asked.kind,
            "order": 0,
            "chain": [],
            "story_type": f"{len(names)} people",
            "false_belief": False,
            "readings": list(self.readings),
            "proof": found.proof,
            "determined": found.value != UNKNOWN,
        }


def _sentence(taller: str, shorter: str, turned: int) -> str:
    return f"{shorter} is shorter than {taller}." if turned else f"{taller} is taller than {shorter}."


def _draw(people: int, wanted: str, draws: Draws) -> tuple[Structure, tuple[int, int]]:
    """Draw facts about numbered people, and two of them about whom the wanted answer follows."""
    while True:
        pairs = [(int(draws.below(person, 1)[0]), person) for person in range(1, people) if draws.below(_ALONE, 1)[0]]
        if draws.below(2, 1)[0]:  # trees grow from the tallest down, or from the shortest up
            pairs = [(people - 1 - shorter, people - 1 - taller) for taller, shorter in pairs]
        facts = [Fact(*map(str, pairs[at])) for at in draws.order(len(pairs)).tolist()]
        if {int(name) for fact in facts for name in fact} != set(range(people)):
            continue
        fitting = [pair for pair in combinations(range(people), 2) if _fits(tuple(facts), pair, wanted)]
        if fitting:
            pair = fitting[int(draws.below(len(fitting), 1)[0])]
            return tuple(facts), pair[::-1] if wanted == NO else pair


def _fits(facts: Structure, pair: tuple[int, int], wanted: str) -> bool:
    """Return whether the facts settle a pair only by chaining; or, if that is wanted, do not settle it."""
    found = _proved(facts, Question(COMPARE, *map(str, pair)))
    return found.value == UNKNOWN if wanted == UNKNOWN else found.value == YES and len(found.proof) > 1


@cache
def _proved(facts: Structure, question: Question) -> oracle.Answer:
    """Answer by oracle and checker, once for each structure.

    Raises:
        ProofError: If they differ.
    """
    found = oracle.answer(list(facts), question)
    second = checker.answer(list(facts), question)
    if found.value != second:
        raise ProofError(f"oracle and checker differ on {question} of {facts}: {found.value} and {second}")
    return found
