"""Puzzles: a chain of facts, the question about it, noise around it, and the proof.

Puzzles are made by rejection sampling: a pattern gets random genders and noise, the oracle must derive exactly one
answer, from no fewer than k facts, and the checker must find the answer entailed (or, under rules other than the strict
ones, the story possible). Each kind of puzzle has a random stream of its own, so the order in which puzzles are made
does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from storyproof.errors import ConfigError, ProofError
from storyproof.families.kinship.checker import ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.generation.pattern_search import Patterns
from storyproof.families.kinship.generation.patterns import Pattern, PuzzleKind
from storyproof.families.kinship.generation.proof_file import LENGTHS, Proofs, strict_proofs
from storyproof.families.kinship.oracle import Derived, ProofStep, derive
from storyproof.families.kinship.relations import GENDERS, MALE, Fact
from storyproof.families.kinship.relations import NAMES as DEFINED
from storyproof.families.kinship.rules import PUBLISHED, READINGS, STRICT, RuleSet, published_rules, strict_rules
from storyproof.families.kinship.tasks import ALL, CLEAN, DISCONNECTED, IRRELEVANT, MEMORY, NOISE, SUPPORTING
from storyproof.generation.seeds import Draws

_ATTEMPTS = 64


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A generated puzzle. People are numbers, those of the chain first and in order.

    Attributes:
        task: One of TASKS except mixed.
        k: The number of facts in the chain.
        pattern: The chain without genders.
        facts: The chain, then noise.
        noise: The type of each noise fact.
        query: What is asked, with the answer.
        genders: The genders of all people.
        proof: The steps from the facts to the answer, the conclusion first; none if the answer is stated.
        status: The answer's status under strict kinship; None if that does not define all relations.
        readings: The readings under which the answer is derived (and, for the strict one, entailed).
    """

    task: str
    k: int
    pattern: Pattern
    facts: tuple[Fact, ...]
    noise: tuple[str, ...]
    query: Fact
    genders: tuple[str, ...] = ()
    proof: tuple[ProofStep, ...] = ()
    status: str | None = None
    readings: tuple[str, ...] = ()

    @property
    def chain(self) -> tuple[Fact, ...]:
        """The facts from which the answer follows."""
        return self.facts[: self.k]


class Derivation(NamedTuple):
    """What the oracle derives from facts from which the answer follows.

    Attributes:
        married: The pairs who must be married, and so have different genders.
        published: Whether the published rules derive the same answer, and no other.
        derived: Everything that follows, from which the proof is read.
        number: The number of this story in it.
    """

    married: tuple[tuple[int, int], ...]
    published: bool
    derived: Derived
    number: int


class PuzzleMaker:
    """Makes puzzles of given kinds, and caches them.

    Args:
        rules: The rules.
        *purpose: What all draws depend on.
        proofs: What has been proved about these rules; without it, oracle and checker are asked about each pattern.
    """

    def __init__(self, rules: RuleSet, *purpose: object, proofs: Proofs | None = None) -> None:
        self.rules = rules
        self._proved = proofs
        self._purpose = purpose
        self._made: dict[PuzzleKind, Puzzle] = {}
        self._derivations: dict[tuple[tuple[Fact, ...], Fact], Derivation | None] = {}
        self._proofs: dict[tuple[tuple[Fact, ...], Fact], tuple[ProofStep, ...]] = {}
        self._statuses: dict[tuple[tuple[str, ...], tuple[Fact, ...], Fact], str | None] = {}
        self.search = Patterns(rules, self._admit, *purpose)

    def patterns(self, k: int, target: str) -> list[Pattern]:
        """Return the patterns of a target that some family fits, in random order, at most MOST of them."""
        return self.search.of(k, target)

    def _admit(self, tried: Sequence[tuple[str, Pattern]]) -> list[bool]:
        """Return which patterns allow a clean puzzle; genders are drawn to fit, so one attempt decides."""
        if self._proved is not None and all(len(pattern) in LENGTHS for _, pattern in tried):
            number = self.rules.number
            return [
                bytes((number[target], *(number[each] for each in pattern))) in _admitted(self._proved, len(pattern))
                for target, pattern in tried
            ]
        kinds = [PuzzleKind(CLEAN, len(pattern), target, MALE, pattern, 0) for target, pattern in tried]
        made = self._try(kinds, attempts=1)
        self._made |= made
        return [kind in made for kind in kinds]

    def make(self, kinds: Iterable[PuzzleKind]) -> list[Puzzle]:
        """Make puzzles.

        Raises:
            ConfigError: If one cannot be made, for instance because no noise fits.
        """
        wanted = list(kinds)
        missing = [kind for kind in dict.fromkeys(wanted) if kind not in self._made]
        self._made |= self._try(missing, _ATTEMPTS)
        for kind in missing:
            if kind not in self._made:
                raise ConfigError(
                    f"no {kind.task} story of {kind.k} facts could be made from the pattern {' '.join(kind.pattern)} "
                    f"in {_ATTEMPTS} attempts; choose another task or length."
                )
        return [self._made[kind] for kind in wanted]

    def _try(self, kinds: Sequence[PuzzleKind], attempts: int) -> dict[PuzzleKind, Puzzle]:
        """Draw candidates for all kinds at once until each has one that is accepted."""
        made: dict[PuzzleKind, Puzzle] = {}
        draws = {kind: Draws(*self._purpose, "puzzle", *kind) for kind in kinds}
        for _ in range(attempts):
            open_ = [kind for kind in kinds if kind not in made]
            if not open_:
                break
            drawn = [draw_facts(self.rules, kind, draws[kind]) for kind in open_]
            for kind, puzzle, derivation in zip(open_, drawn, self._derive(drawn), strict=True):
                if derivation is not None and _noisy(puzzle):
                    puzzle = replace(puzzle, genders=_genders(puzzle, kind.gender, derivation.married, draws[kind]))
                    judgement = self._judge(puzzle, derivation.published)
                    if judgement is not None:
                        made[kind] = replace(judgement, proof=self._proof(puzzle, derivation))
        return made

    def _derive(self, puzzles: Sequence[Puzzle]) -> list[Derivation | None]:
        """Ask the oracle about candidates, each distinct one once; genders do not matter to it."""
        new = {(each.facts, each.query): each for each in puzzles if (each.facts, each.query) not in self._derivations}
        if new:
            people = 1 + max(max(fact.first, fact.second) for each in new.values() for fact in each.facts)
            stories = [each.facts for each in new.values()]
            ours, published = derive(self.rules, stories, people), derive(published_rules(), stories, people)
            strict = ours if self.rules.name == STRICT else derive(strict_rules(), stories, people)
            married = [one + other for one, other in zip(ours.pairs("SO"), strict.pairs("SO"), strict=True)]
            for number, (key, each) in enumerate(new.items()):
                derivation = None
                if _derivable(each, ours, number):
                    pair = each.query.first, each.query.second
                    also = published.relations(number, *pair) == [each.query.predicate]
                    derivation = Derivation(tuple(married[number]), also, ours, number)
                self._derivations[key] = derivation
        return [self._derivations[each.facts, each.query] for each in puzzles]

    def _proof(self, puzzle: Puzzle, derivation: Derivation) -> tuple[ProofStep, ...]:
        """Return the proof, read once for the same facts."""
        key = puzzle.facts, puzzle.query
        if key not in self._proofs:
            self._proofs[key] = tuple(derivation.derived.proof(derivation.number, puzzle.query))
        return self._proofs[key]

    def _judge(self, puzzle: Puzzle, published: bool) -> Puzzle | None:
        """Ask the checker about a candidate, each distinct one once; None if no family fits it."""
        key = puzzle.genders, puzzle.facts, puzzle.query
        if key not in self._statuses:
            self._statuses[key] = judge_status(puzzle)
        judged = self._statuses[key]
        if judged == IMPOSSIBLE:
            return None
        if self.rules.name == STRICT and judged != ENTAILED:
            raise ProofError(f"the rules derive an answer that the checker does not confirm ({judged}): {puzzle}")
        readings = [*([STRICT] if judged == ENTAILED else []), *([PUBLISHED] if published else [])]
        if self.rules.name not in READINGS:
            readings.append(self.rules.name)
        return replace(puzzle, status=judged, readings=tuple(readings))


@lru_cache(maxsize=len(LENGTHS))
def _admitted(proofs: Proofs, k: int) -> set[bytes]:
    """Return the patterns of k facts that oracle and checker have admitted: a byte for the target, then the facts."""
    proved = proofs.of(k)
    rows = np.column_stack([proved.target, proved.relations]).tobytes()
    return {rows[start : start + k + 1] for start in range(0, len(rows), k + 1)}


@lru_cache(maxsize=4)
def shared_maker(rules: RuleSet, *purpose: object) -> PuzzleMaker:
    """Return the maker of a purpose, the same one in the whole process: proving long puzzles takes seconds."""
    return PuzzleMaker(rules, *purpose, proofs=strict_proofs() if rules.name == STRICT else None)


def judge_status(puzzle: Puzzle) -> str | None:
    """Return the answer's status by the checker; None if strict kinship does not define all relations."""
    if any(fact.predicate not in DEFINED for fact in (*puzzle.facts, puzzle.query)):
        return None
    return status(puzzle.genders, puzzle.facts, puzzle.query)


def _noisy(puzzle: Puzzle) -> bool:
    """Return whether a puzzle has all noise of its task; some is missing if no fact of the chain splits into two."""
    wanted = NOISE if puzzle.task == ALL else (puzzle.task,) if puzzle.task in NOISE else ()
    return set(puzzle.noise) == set(wanted)


def _derivable(puzzle: Puzzle, derived: Derived, number: int) -> bool:
    """Return whether exactly the answer is derived, and from no fewer facts than the chain has."""
    query = puzzle.query
    return derived.relations(number, query.first, query.second) == [query.predicate] and derived.size(
        number, query
    ) == (1 if puzzle.task == MEMORY else puzzle.k)


def draw_facts(rules: RuleSet, kind: PuzzleKind, draws: Draws) -> Puzzle:
    """Draw noise, and for a memory puzzle the fact that is asked for; genders are drawn later."""
    chain = [Fact(place, relation, place + 1) for place, relation in enumerate(kind.pattern)]
    first, second = 0, kind.k
    if kind.task == MEMORY:
        places = [place for place, relation in enumerate(kind.pattern) if relation == kind.target]
        first = places[int(draws.below(len(places), 1)[0])]
        second = first + 1
    noise = _noise(rules, kind, chain, draws)
    facts = (*chain, *(fact for fact, _ in noise))
    types = tuple(name for _, name in noise)
    return Puzzle(kind.task, kind.k, kind.pattern, facts, types, Fact(first, kind.target, second))


def _noise(rules: RuleSet, kind: PuzzleKind, chain: Sequence[Fact], draws: Draws) -> list[tuple[Fact, str]]:
    """Draw noise facts with their types; new people are numbered after those of the chain."""
    new = kind.k + 1
    noise: list[tuple[Fact, str]] = []

    def choose(count: int) -> int:
        return int(draws.below(count, 1)[0])

    if kind.task in (SUPPORTING, ALL):  # a second path between two neighbours: two facts through somebody new
        places = [fact for fact in chain if fact.predicate in rules.bodies]
        if places:
            around = places[choose(len(places))]
            bodies = rules.bodies[around.predicate]
            one, other = bodies[choose(len(bodies))]
            noise += [(Fact(around.first, one, new), SUPPORTING), (Fact(new, other, around.second), SUPPORTING)]
            new += 1
    if kind.task in (IRRELEVANT, ALL):  # a relative of somebody in the chain, of whom nothing else is stated
        noise.append((Fact(choose(kind.k + 1), rules.stated[choose(len(rules.stated))], new), IRRELEVANT))
        new += 1
    if kind.task in (DISCONNECTED, ALL):  # two unconnected people
        noise.append((Fact(new, rules.stated[choose(len(rules.stated))], new + 1), DISCONNECTED))
    return noise


def _genders(puzzle: Puzzle, gender: str, married: Sequence[tuple[int, int]], draws: Draws) -> tuple[str, ...]:
    """Draw genders such that spouses differ and the asked person has the gender of the answer."""
    people = 1 + max(max(fact.first, fact.second) for fact in puzzle.facts)
    drawn = draws.below(2, people).tolist()
    genders = [-1] * people
    for start in (puzzle.query.second, *range(people)):
        if genders[start] < 0:
            genders[start] = GENDERS.index(gender) if start == puzzle.query.second else drawn[start]
            ahead = [start]
            while ahead:
                here = ahead.pop()
                spouses = {sum(pair) - here for pair in married if here in pair}
                for spouse in spouses:
                    if genders[spouse] < 0:
                        genders[spouse] = 1 - genders[here]
                        ahead.append(spouse)
    return tuple(GENDERS[each] for each in genders)
