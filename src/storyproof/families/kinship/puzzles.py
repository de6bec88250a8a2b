"""Puzzles: a chain of facts with what is asked of it, noise around it, and the proof.

A puzzle is made by candidates and rejection: a pattern gets genders and noise at random, the oracle must derive exactly
one answer, from no fewer than k facts, and the checker must find the answer entailed (or, under other rules than the
strict ones, the story possible). Each kind of puzzle is drawn from a stream of its own, so it does not matter which are
made first, or together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from storyproof.errors import ConfigError, ProofError
from storyproof.families.kinship.checker import ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.oracle import Derived, Step, derive
from storyproof.families.kinship.patterns import Pattern, Patterns
from storyproof.families.kinship.relations import GENDERS, MALE, Fact
from storyproof.families.kinship.relations import NAMES as DEFINED
from storyproof.families.kinship.rules import PUBLISHED, READINGS, STRICT, Rules, published_rules, strict_rules
from storyproof.seeds import Draws

CLEAN, SUPPORTING, IRRELEVANT, DISCONNECTED, ALL, MEMORY, MIXED = TASKS = (
    "clean",
    "supporting",
    "irrelevant",
    "disconnected",
    "all",
    "memory",
    "mixed",
)
NOISE = (SUPPORTING, IRRELEVANT, DISCONNECTED)
_ATTEMPTS = 64


class Kind(NamedTuple):
    """Which puzzle: the n-th of a task, length, answer and pattern."""

    task: str
    k: int
    target: str
    gender: str
    pattern: Pattern
    number: int


@dataclass(frozen=True, slots=True)
class Puzzle:
    """People by number, those of the chain first and in order.

    Attributes:
        task: One of TASKS but mixed.
        k: How many facts the chain has.
        pattern: The chain without genders.
        facts: The chain, then noise.
        noise: The type of each noise fact.
        query: What is asked, with its answer.
        genders: Of all people.
        proof: The steps from the facts to the answer, from the top down; none if the answer is stated.
        status: The answer's status under strict kinship; None if that has no such relations.
        readings: Under which readings the answer is derived (and, for the strict one, entailed).
    """

    task: str
    k: int
    pattern: Pattern
    facts: tuple[Fact, ...]
    noise: tuple[str, ...]
    query: Fact
    genders: tuple[str, ...] = ()
    proof: tuple[Step, ...] = ()
    status: str | None = None
    readings: tuple[str, ...] = ()

    @property
    def chain(self) -> tuple[Fact, ...]:
        """The facts that the answer rests on."""
        return self.facts[: self.k]


class Thought(NamedTuple):
    """What the oracle makes of facts of which the answer follows.

    Attributes:
        married: Who must be married, and so of different genders.
        published: Whether the published rules give the same answer, and no other.
        derived: All that follows, to read the proof from when it is wanted.
        number: Which of its stories this is.
    """

    married: tuple[tuple[int, int], ...]
    published: bool
    derived: Derived
    number: int


class Maker:
    """Makes puzzles by their kind, and keeps them."""

    def __init__(self, rules: Rules, *purpose: object) -> None:
        self.rules = rules
        self._purpose = purpose
        self._made: dict[Kind, Puzzle] = {}
        self._thoughts: dict[tuple[tuple[Fact, ...], Fact], Thought | None] = {}
        self._proofs: dict[tuple[tuple[Fact, ...], Fact], tuple[Step, ...]] = {}
        self._statuses: dict[tuple[tuple[str, ...], tuple[Fact, ...], Fact], str | None] = {}
        self._patterns = Patterns(rules, self._admit, *purpose)

    def patterns(self, k: int, target: str) -> list[Pattern]:
        """Give the patterns of a target that some family fits, in random order, at most MOST of them."""
        return self._patterns.of(k, target)

    def _admit(self, tried: Sequence[tuple[str, Pattern]]) -> list[bool]:
        """Say which patterns make a clean puzzle; genders are drawn to fit, so one attempt tells."""
        kinds = [Kind(CLEAN, len(pattern), target, MALE, pattern, 0) for target, pattern in tried]
        made = self._try(kinds, attempts=1)
        self._made |= made
        return [kind in made for kind in kinds]

    def make(self, kinds: Iterable[Kind]) -> list[Puzzle]:
        """Make puzzles.

        Raises:
            ConfigError: If one cannot be made; noise can leave no room.
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

    def _try(self, kinds: Sequence[Kind], attempts: int) -> dict[Kind, Puzzle]:
        """Draw candidates for all kinds at once until each has one that holds."""
        made: dict[Kind, Puzzle] = {}
        draws = {kind: Draws(*self._purpose, "puzzle", *kind) for kind in kinds}
        for _ in range(attempts):
            open_ = [kind for kind in kinds if kind not in made]
            if not open_:
                break
            drawn = [draw_facts(self.rules, kind, draws[kind]) for kind in open_]
            for kind, puzzle, thought in zip(open_, drawn, self._think(drawn), strict=True):
                if thought is not None and _noisy(puzzle):
                    puzzle = replace(puzzle, genders=_genders(puzzle, kind.gender, thought.married, draws[kind]))
                    found = self._judge(puzzle, thought.published)
                    if found is not None:
                        made[kind] = replace(found, proof=self._proof(puzzle, thought))
        return made

    def _think(self, puzzles: Sequence[Puzzle]) -> list[Thought | None]:
        """Have the oracle look at candidates, each different one once: genders do not matter to it."""
        new = {(each.facts, each.query): each for each in puzzles if (each.facts, each.query) not in self._thoughts}
        if new:
            people = 1 + max(max(fact.first, fact.second) for each in new.values() for fact in each.facts)
            stories = [each.facts for each in new.values()]
            ours, published = derive(self.rules, stories, people), derive(published_rules(), stories, people)
            strict = ours if self.rules.name == STRICT else derive(strict_rules(), stories, people)
            married = [one + other for one, other in zip(ours.pairs("SO"), strict.pairs("SO"), strict=True)]
            for number, (key, each) in enumerate(new.items()):
                thought = None
                if _derivable(each, ours, number):
                    pair = each.query.first, each.query.second
                    also = published.relations(number, *pair) == [each.query.predicate]
                    thought = Thought(tuple(married[number]), also, ours, number)
                self._thoughts[key] = thought
        return [self._thoughts[each.facts, each.query] for each in puzzles]

    def _proof(self, puzzle: Puzzle, thought: Thought) -> tuple[Step, ...]:
        """Read a proof off, of the same facts once."""
        key = puzzle.facts, puzzle.query
        if key not in self._proofs:
            self._proofs[key] = tuple(thought.derived.proof(thought.number, puzzle.query))
        return self._proofs[key]

    def _judge(self, puzzle: Puzzle, published: bool) -> Puzzle | None:
        """Have the checker look at a candidate, each different one once; None if no family fits it."""
        key = puzzle.genders, puzzle.facts, puzzle.query
        if key not in self._statuses:
            self._statuses[key] = judge_status(puzzle)
        judged = self._statuses[key]
        if judged == IMPOSSIBLE:
            return None
        if self.rules.name == STRICT and judged != ENTAILED:
            raise ProofError(f"the rules derive what families do not bear out ({judged}): {puzzle}")
        readings = [*([STRICT] if judged == ENTAILED else []), *([PUBLISHED] if published else [])]
        if self.rules.name not in READINGS:
            readings.append(self.rules.name)
        return replace(puzzle, status=judged, readings=tuple(readings))


def judge_status(puzzle: Puzzle) -> str | None:
    """Ask the checker for the answer's status; None if strict kinship does not define a relation in it."""
    if any(fact.predicate not in DEFINED for fact in (*puzzle.facts, puzzle.query)):
        return None
    return status(puzzle.genders, puzzle.facts, puzzle.query)


def _noisy(puzzle: Puzzle) -> bool:
    """Say whether a puzzle has all the noise of its task; it lacks some if no fact of the chain can be told in two."""
    wanted = NOISE if puzzle.task == ALL else (puzzle.task,) if puzzle.task in NOISE else ()
    return set(puzzle.noise) == set(wanted)


def _derivable(puzzle: Puzzle, derived: Derived, number: int) -> bool:
    """Say whether exactly the answer is derived, and from no fewer facts than the chain has."""
    query = puzzle.query
    return derived.relations(number, query.first, query.second) == [query.predicate] and derived.size(
        number, query
    ) == (1 if puzzle.task == MEMORY else puzzle.k)


def draw_facts(rules: Rules, kind: Kind, draws: Draws) -> Puzzle:
    """Draw noise, and for a memory puzzle what is asked; genders come later."""
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


def _noise(rules: Rules, kind: Kind, chain: Sequence[Fact], draws: Draws) -> list[tuple[Fact, str]]:
    """Draw noise facts with their types; new people are numbered on from those of the chain."""
    new = kind.k + 1
    found: list[tuple[Fact, str]] = []

    def choose(count: int) -> int:
        return int(draws.below(count, 1)[0])

    if kind.task in (SUPPORTING, ALL):  # a second path between two neighbours, told in two facts through somebody new
        places = [fact for fact in chain if fact.predicate in rules.bodies]
        if places:
            around = places[choose(len(places))]
            bodies = rules.bodies[around.predicate]
            one, other = bodies[choose(len(bodies))]
            found += [(Fact(around.first, one, new), SUPPORTING), (Fact(new, other, around.second), SUPPORTING)]
            new += 1
    if kind.task in (IRRELEVANT, ALL):  # somebody of the chain has a relative of whom nothing more is said
        found.append((Fact(choose(kind.k + 1), rules.told[choose(len(rules.told))], new), IRRELEVANT))
        new += 1
    if kind.task in (DISCONNECTED, ALL):  # two others
        found.append((Fact(new, rules.told[choose(len(rules.told))], new + 1), DISCONNECTED))
    return found


def _genders(puzzle: Puzzle, gender: str, married: Sequence[tuple[int, int]], draws: Draws) -> tuple[str, ...]:
    """Draw genders such that spouses differ and the asked person has the one that the answer needs."""
    people = 1 + max(max(fact.first, fact.second) for fact in puzzle.facts)
    drawn = draws.below(2, people).tolist()
    found = [-1] * people
    for start in (puzzle.query.second, *range(people)):
        if found[start] < 0:
            found[start] = GENDERS.index(gender) if start == puzzle.query.second else drawn[start]
            ahead = [start]
            while ahead:
                here = ahead.pop()
                spouses = {sum(pair) - here for pair in married if here in pair}
                for spouse in spouses:
                    if found[spouse] < 0:
                        found[spouse] = 1 - found[here]
                        ahead.append(spouse)
    return tuple(GENDERS[each] for each in found)
