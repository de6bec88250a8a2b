"""What a CLUTRR row comes to: its facts, what strict kinship says of its target, and whether its proof holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from storyproof.families.kinship import checker as models_of
from storyproof.families.kinship.checker import AMBIGUOUS, CONTRADICTED, ENTAILED, IMPOSSIBLE, families
from storyproof.families.kinship.clutrr_records import ProofStep, Row, Triple
from storyproof.families.kinship.judgement import judge
from storyproof.families.kinship.oracle import Step, derive, replay
from storyproof.families.kinship.relations import NAMES, WORDS, Fact, gender_of, inverse, predicate_of, word
from storyproof.families.kinship.rows import Case
from storyproof.families.kinship.rules import PUBLISHED, STRICT, Rules, published_rules, rules_of, strict_rules

_ANY_WORD = re.compile("(?:" + "|".join(sorted(WORDS, key=len, reverse=True)) + ")(?=-|$)")
_ANY = "child"  # asked for where the target is no word of kinship
_MOST_KEPT = 20_000  # structures whose verdict is remembered

Key = tuple[tuple[str, ...], tuple[Fact, ...], tuple[int, int], str | None]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A row's people and facts, put right where its own columns outvote each other.

    Attributes:
        row: The row.
        words: Its relations. Where `f_comb` and the proof agree on another word than `edge_types`, or `edge_types` has
            none, it is theirs.
        genders: As the relations tell; as the row says where they do not, or differ.
        asked: The numbers of the two people asked about; None if nothing in the row tells who they are.
        facts: All facts whose relation is told.
        answer: The target's predicate; None if it is no word of kinship.
    """

    row: Row
    words: tuple[str, ...]
    genders: tuple[str, ...]
    asked: tuple[int, int] | None
    facts: tuple[Fact, ...]
    answer: str | None

    @property
    def doubtful(self) -> bool:
        """Whether the chain has gaps, so that its facts cannot be what the story tells."""
        steps, people = self.row.edges[: self.row.k], range(len(self.row.names))
        return (
            min(len(steps), len(self.words)) < self.row.k
            or any(told not in WORDS for told in self.words)
            or any(person not in people for step in steps for person in step)
            or any(one[1] != other[0] for one, other in pairwise(steps))
        )

    @property
    def pair(self) -> tuple[int, int]:
        """The two people asked about, where it is known that there are some."""
        assert self.asked is not None
        return self.asked

    def query(self, answer: str) -> Fact:
        """Give what is asked, with some answer."""
        return Fact(self.pair[0], answer, self.pair[1])

    def say(self, fact: Fact) -> str:
        """Say a fact in words."""
        names = self.row.names
        return f"{names[fact.second]} is {names[fact.first]}'s {self.word(fact)}"

    def word(self, fact: Fact) -> str:
        """Give a fact's word."""
        return word(fact.predicate, self.genders[fact.second])

    def triple(self, fact: Fact) -> Triple:
        """Give a fact as proofs have it."""
        return self.row.names[fact.first], self.word(fact), self.row.names[fact.second]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the families that fit a puzzle, and the rules, say to its target.

    Attributes:
        status: One of STATUSES.
        derived: What each reading's rules make of the asked pair.
        right: What holds in every family that fits; None if nothing does, or if the facts are doubtful.
        instead: What the second is to the first in a family in which the target fails.
    """

    status: str
    derived: dict[str, list[str]]
    right: str | None
    instead: tuple[str, ...]


def understand(row: Row) -> Puzzle:
    """Read a row's facts."""
    people = range(len(row.names))
    words = _words(row)
    said: list[set[str]] = [set() for _ in people]
    facts = []
    for (first, second), told in zip(row.edges, words, strict=False):
        if first in people and second in people and told in WORDS:
            said[second].add(gender_of(told))
            facts.append(Fact(first, predicate_of(told), second))
    genders = tuple(min(each) if len(each) == 1 else given for each, given in zip(said, row.genders, strict=True))
    asked: tuple[int, int] | None = None
    if set(row.query) <= set(row.names):
        asked = row.names.index(row.query[0]), row.names.index(row.query[1])
    elif set(row.query_edge) <= set(people):
        asked = row.query_edge
    target = row.fields["target"]
    return Puzzle(row, words, genders, asked, tuple(facts), predicate_of(target) if target in WORDS else None)


def _words(row: Row) -> tuple[str, ...]:
    """Give the relations of the edges, as two of three columns have them."""
    combined = _ANY_WORD.findall(row.fields["f_comb"])
    if "-".join(row.types[: row.k]) == row.fields["f_comb"] or "-".join(combined) != row.fields["f_comb"]:
        return row.types
    concluded = {(step.head[0], step.head[2]) for step in row.proof}
    used = {(part[0], part[2]): part[1] for step in row.proof for part in (step.left, step.right)}
    words = list(row.types)
    for place, (first, second) in enumerate(row.edges[: min(row.k, len(words), len(combined))]):
        if max(first, second) < len(row.names) and min(first, second) >= 0:
            pair = row.names[first], row.names[second]
            backed = pair not in concluded and used.get(pair) == combined[place]
            if backed or words[place] not in WORDS:
                words[place] = combined[place]
    return tuple(words)


class Judge:
    """Asks oracle and checker about puzzles, each different one once."""

    def __init__(self) -> None:
        self._known: dict[Key, Verdict] = {}

    def verdicts(self, puzzles: Sequence[Puzzle]) -> list[Verdict | None]:
        """Give the verdict on each puzzle; None if nobody is asked about."""
        keys = [None if each.asked is None else (each.genders, each.facts, each.asked, each.answer) for each in puzzles]
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        new = {key for key in keys if key is not None and key not in self._known}
        for people in {len(key[0]) for key in new}:  # the oracle's tables have room for as many in every story
            self._look_at([key for key in new if len(key[0]) == people])
        found = [None if key is None else self._known[key] for key in keys]
        return [
            replace(verdict, right=None) if verdict and verdict.status != ENTAILED and puzzle.doubtful else verdict
            for puzzle, verdict in zip(puzzles, found, strict=True)
        ]

    def _look_at(self, keys: Sequence[Key]) -> None:
        cases = [_case(key) for key in keys]
        for key, case, judged in zip(keys, cases, judge(cases), strict=True):
            status = judged.status or IMPOSSIBLE
            if key[3] is None and status != IMPOSSIBLE:
                status = CONTRADICTED  # what is no word of kinship holds in no family
            self._known[key] = Verdict(status, judged.derived, *_truth(case, key[3], status))


def _case(key: Key) -> Case:
    genders, facts, asked, answer = key
    return Case(tuple(map(str, range(len(genders)))), genders, facts, (), len(facts), asked, answer or _ANY, None)


def _truth(case: Case, answer: str | None, status: str) -> tuple[str | None, tuple[str, ...]]:
    """Give what is right, and what the second is to the first where the target fails."""
    if status not in (AMBIGUOUS, CONTRADICTED):
        return (answer if status == ENTAILED else None), ()
    verdict = models_of.judge(case.genders, case.facts, case.query)
    family = verdict.against or verdict.fits
    relations = family.relations(*case.asked) if family else frozenset()
    instead = tuple(name for name in NAMES if name in relations)
    first, second = case.asked
    for name in instead:  # what holds in every family that fits holds in this one
        if models_of.status(case.genders, case.facts, Fact(first, name, second)) == ENTAILED:
            return name, instead
    return None, instead


def first_misfit(puzzle: Puzzle) -> Fact | None:
    """Find the first fact of an impossible story that no family fits together with those before it."""
    for count, fact in enumerate(puzzle.facts, start=1):
        if next(families(puzzle.genders, puzzle.facts[:count]), None) is None:
            return fact
    return None


def proof_flaw(puzzle: Puzzle, verdict: Verdict, answer: str) -> str | None:
    """Say why a row's proof does not prove an answer, by published or by strict rules; None if it does."""
    query, row = puzzle.query(answer), puzzle.row
    if not row.proof:
        provable = any(answer in each for each in verdict.derived.values())
        stated = {query, Fact(query.second, inverse(answer), query.first)} & set(puzzle.facts)
        lacking = not stated and (provable or answer != verdict.right)  # else nobody has one
        return f"there is no proof that {puzzle.say(query)}" if lacking else None
    steps: list[tuple[Fact, Fact, Fact]] = []
    for step in row.proof:
        facts = [_fact(puzzle, part) for part in step]
        if None in facts:
            told = step[facts.index(None)]
            return f"the proof says that {told[2]} is {told[0]}'s {told[1]}, which fits neither words nor genders"
        head, left, right = (fact for fact in facts if fact is not None)
        steps.append((head, left, right))
    if steps[0][0] != query:
        return f"the proof ends in that {puzzle.say(steps[0][0])}, not in that {puzzle.say(query)}"
    flaw = _misstep(puzzle, published_rules(), query, steps)
    return flaw if flaw and _misstep(puzzle, strict_rules(), query, steps) else None


def _fact(puzzle: Puzzle, told: Triple) -> Fact | None:
    """Read a part of a proof; None if it says something that has no sense, or is said of the wrong gender."""
    first, what, second = told
    names = puzzle.row.names
    if what not in WORDS or gender_of(what) != puzzle.genders[names.index(second)]:
        return None
    return Fact(names.index(first), predicate_of(what), names.index(second))


def _misstep(puzzle: Puzzle, rules: Rules, query: Fact, steps: Sequence[tuple[Fact, Fact, Fact]]) -> str | None:
    """Say where a proof goes wrong by some rules."""
    known = {*puzzle.facts, *(head for head, _, _ in steps)}
    if rules.inverses:
        known |= {Fact(fact.second, inverse(fact.predicate), fact.first) for fact in puzzle.facts}
    for head, left, right in steps:
        joined = (left.first, left.second, right.second) == (head.first, right.first, head.second)
        if not joined or rules.heads.get((left.predicate, right.predicate)) != head.predicate:
            return (
                f"by the {rules.name} rules it does not follow that {puzzle.say(head)}, because {puzzle.say(left)} and "
                f"{puzzle.say(right)}"
            )
        for part in (left, right):
            if part not in known:
                return f"the proof rests on that {puzzle.say(part)}, which is neither stated nor concluded"
    if replay(rules, puzzle.facts, query, [Step(head, left.second) for head, left, _ in steps]):
        return "the proof has a step that is not used, or that rests on what is concluded only above it"
    return None


def proof_text(puzzle: Puzzle, answer: str) -> str | None:
    """Write the shortest proof of an answer, as published; by strict rules if they give one, else by the published."""
    steps = proof_steps(puzzle.facts, puzzle.query(answer), len(puzzle.genders))
    if steps is None:
        return None
    return repr([{puzzle.triple(head): [puzzle.triple(part) for part in body]} for head, *body in steps])


def proof_steps(facts: tuple[Fact, ...], query: Fact, people: int) -> tuple[tuple[Fact, Fact, Fact], ...] | None:
    """Give the shortest proof by strict rules if there is one, else by the published: conclusions with their halves."""
    found = (_proof(reading, facts, query, people) for reading in (STRICT, PUBLISHED))
    return next((steps for steps in found if steps is not None), None)


@lru_cache(maxsize=4096)
def _proof(
    reading: str, facts: tuple[Fact, ...], query: Fact, people: int
) -> tuple[tuple[Fact, Fact, Fact], ...] | None:
    """Give a proof's steps, each with the two facts that it rests on; None if the rules give no proof."""
    rules = rules_of(reading)
    derived = derive(rules, [facts], people)
    if derived.size(0, query) is None:
        return None
    steps = derived.proof(0, query)
    known = {*facts, *(step.fact for step in steps)}
    if rules.inverses:
        known |= {Fact(fact.second, inverse(fact.predicate), fact.first) for fact in facts}
    return tuple((step.fact, *_premises(rules, known, step)) for step in steps)


def _premises(rules: Rules, known: Iterable[Fact], step: Step) -> tuple[Fact, Fact]:
    head, via = step
    lefts = [fact for fact in known if (fact.first, fact.second) == (head.first, via)]
    rights = [fact for fact in known if (fact.first, fact.second) == (via, head.second)]
    return min(
        (left, right)
        for left in lefts
        for right in rights
        if rules.heads.get((left.predicate, right.predicate)) == head.predicate
    )


def strangers(puzzle: Puzzle) -> list[str]:
    """List the names in a proof that are nobody's."""
    parts: Iterable[Triple] = (part for step in puzzle.row.proof for part in ProofStep(*step))
    known = set(puzzle.row.names)
    return sorted({name for part in parts for name in (part[0], part[2])} - known)
