"""Rows of kinship data, read into people, facts and the question: one type for everything that works on rows.

`read_row` is strict: it refuses columns that do not fit together. `build_row` is lenient: audits and pictures use it to
work with whatever part of a row makes sense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from storyproof.errors import ParseError, quoted
from storyproof.families.kinship.oracle import ProofStep
from storyproof.families.kinship.people import parse_people
from storyproof.families.kinship.relations import WORDS, Fact, predicate_of, word
from storyproof.families.kinship.rules import RuleSet, strict_rules

Structure = tuple[tuple[str, ...], tuple[Fact, ...], Fact]  # genders, facts and query: all that decides an answer
MOST_EDGES, MOST_PEOPLE = 50, 64  # far beyond any story, and within the limits of oracle and checker
Vocabulary = Mapping[str, tuple[str, str]]  # predicate and gender of each word


@dataclass(frozen=True, slots=True)
class KinshipRow:
    """A row of kinship data. People are known by their numbers.

    Attributes:
        names: Everybody's name.
        genders: Everybody's gender.
        edges: The facts as pairs of people, the chain first.
        words: What the second of each pair is to the first; shorter than `edges` if noise has no recorded relation.
        facts: The edges whose relation is known, the chain first.
        k: The number of facts in the chain.
        asked_names: The names of the two people asked about.
        asked: Their numbers; None if the row does not tell.
        answer: The predicate of the label; None if the label is not a kinship term or was not read.
        steps: The proof; None if there is none.
        values: The columns of the row as they were given.
    """

    names: tuple[str, ...]
    genders: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    words: tuple[str, ...]
    facts: tuple[Fact, ...]
    k: int
    asked_names: tuple[str, str]
    asked: tuple[int, int] | None
    answer: str | None
    steps: tuple[ProofStep, ...] | None
    values: Mapping[str, Any] = field(compare=False, repr=False)

    @property
    def pair(self) -> tuple[int, int]:
        """The numbers of the two people asked about, where they are known."""
        assert self.asked is not None
        return self.asked

    @property
    def query(self) -> Fact:
        """What is asked, with the label as its answer."""
        assert self.asked is not None
        assert self.answer is not None
        return Fact(self.asked[0], self.answer, self.asked[1])

    @property
    def structure(self) -> Structure:
        """All that decides whether the label is right."""
        return self.genders, self.facts, self.query

    @property
    def chain(self) -> tuple[Fact, ...]:
        """The facts of the chain."""
        return self.facts[: self.k]

    @property
    def untyped(self) -> int:
        """The number of edges without a known relation."""
        return len(self.edges) - len(self.facts)

    def asking(self, answer: str) -> Fact:
        """Return what is asked, with some answer."""
        first, second = self.pair
        return Fact(first, answer, second)

    def word(self, fact: Fact) -> str:
        """Return the word for a fact's relation."""
        return word(fact.predicate, self.genders[fact.second])

    def sentence(self, fact: Fact) -> str:
        """Return a fact in words."""
        return f"{self.names[fact.second]} is {self.names[fact.first]}'s {self.word(fact)}"


def read_row(values: Mapping[str, Any], rules: RuleSet | None = None, *, labelled: bool = True) -> KinshipRow:
    """Read a row whose columns must fit together.

    Args:
        values: Its columns.
        rules: The rules that define its relations, if they are not all relations of strict kinship.
        labelled: Whether to read the label, which must then be a relation of the right gender.

    Raises:
        ParseError: If its columns do not fit together; the message says which and how.
    """
    for name in ("genders", "edges", "edge_types", *(("answer",) if labelled else ())):
        if values.get(name) is None:
            raise ParseError(f"there is no value for '{name}', which is required.")
    vocabulary = (rules or strict_rules()).by_word
    names, genders = parse_people(values["genders"])
    number = {name: place for place, name in enumerate(names)}
    check_references(values, len(names))
    edges, types = values["edges"], list(values["edge_types"])
    if len(types) > len(edges):
        raise ParseError(f"edge_types has {len(types)} relations, but edges only {len(edges)} pairs.")
    types += [None] * (len(edges) - len(types))
    facts = []
    for place, (edge, relation) in enumerate(zip(edges, types, strict=True)):
        if relation is not None:
            facts.append(read_fact(edge, relation, genders, vocabulary, f"edge {place}"))
    query = values.get("query")
    if not query or len(query) != 2 or not set(query) <= set(names):
        raise ParseError(f"query is {quoted(query)}; expected two of {', '.join(names)}.")
    first, second = pair = number[query[0]], number[query[1]]
    answer = read_fact([first, second], values["answer"], genders, vocabulary, "answer").predicate if labelled else None
    k = values["k"] if values.get("k") is not None else len(edges) - len(values.get("noise_types") or ())
    if not 0 < k <= len(facts):
        raise ParseError(f"k is {k}, but {len(facts)} facts have a relation.")
    steps = _read_steps(values, genders, vocabulary) if values.get("proof_steps") is not None else None
    pairs = tuple((edge[0], edge[1]) for edge in edges)
    words = tuple(relation or "" for relation in values["edge_types"])
    return KinshipRow(names, genders, pairs, words, tuple(facts), k, (query[0], query[1]), pair, answer, steps, values)


def check_references(values: Mapping[str, Any], people: int) -> None:
    """Check that a row's edges are pairs of its people and the steps of its proof are triples, and not too many.

    Raises:
        ParseError: If one is not.
    """
    if people > MOST_PEOPLE:
        raise ParseError(f"genders has {people} people; expected at most {MOST_PEOPLE}.")
    edges, steps = values.get("edges") or (), values.get("proof_steps") or ()
    for what, count in (("edges", len(edges)), ("steps of the proof", len(steps))):
        if count > MOST_EDGES:
            raise ParseError(f"there are {count} {what}; expected at most {MOST_EDGES}.")
    for place, edge in enumerate(edges):
        if len(edge) != 2 or not all(0 <= person < people for person in edge):
            raise ParseError(f"edge {place} is {quoted(edge)}; expected two of {people} people, counted from 0.")
    for place, step in enumerate(steps):
        if len(step) != 3 or not all(0 <= person < people for person in step):
            raise ParseError(f"step {place} of the proof is {quoted(step)}; expected three people.")


def build_row(
    values: Mapping[str, Any],
    people: tuple[tuple[str, ...], tuple[str, ...]],
    edges: tuple[tuple[int, int], ...],
    words: tuple[str, ...],
    k: int,
    asked_names: tuple[str, str],
    answer: str,
) -> KinshipRow:
    """Build a row from columns that need not fit together; `facts`, `asked` and `answer` hold what makes sense.

    Args:
        values: The columns as they were given.
        people: Names and genders.
        edges: Pairs of numbers, which may be out of range.
        words: What the second of each pair is to the first; these may be any words.
        k: The number of facts in the chain.
        asked_names: Who is asked about.
        answer: The label, which may be any word.
    """
    names, genders = people
    facts = known_facts(edges, words, len(names))
    are_people = set(asked_names) <= set(names)
    pair = (names.index(asked_names[0]), names.index(asked_names[1])) if are_people else None
    label = predicate_of(answer) if answer in WORDS else None
    return KinshipRow(names, genders, edges, words, facts, k, asked_names, pair, label, None, values)


def known_facts(edges: Sequence[tuple[int, int]], words: Sequence[str], people: int) -> tuple[Fact, ...]:
    """Return the facts of edges between known people whose relation is a kinship term."""
    return tuple(
        Fact(first, predicate_of(relation), second)
        for (first, second), relation in zip(edges, words, strict=False)
        if relation in WORDS and 0 <= first < people and 0 <= second < people
    )


def read_fact(edge: Sequence[int], relation: str, genders: Sequence[str], vocabulary: Vocabulary, where: str) -> Fact:
    """Read a relation between two people.

    Raises:
        ParseError: If the relation is unknown or does not fit the second person's gender; it begins with `where`.
    """
    if relation not in vocabulary:
        raise ParseError(
            f"{where}: {quoted(relation)} is not a known relation; expected one of {', '.join(vocabulary)} "
            "(pass your own rules with --rules)."
        )
    predicate, gender = vocabulary[relation]
    if gender != genders[edge[1]]:
        raise ParseError(f"{where}: {quoted(relation)} does not fit a person who is {genders[edge[1]]}.")
    return Fact(edge[0], predicate, edge[1])


def _read_steps(values: Mapping[str, Any], genders: Sequence[str], vocabulary: Vocabulary) -> tuple[ProofStep, ...]:
    steps, words = values["proof_steps"], values.get("proof_relations") or []
    if len(steps) != len(words):
        raise ParseError(f"the proof has {len(steps)} steps, but {len(words)} relations.")
    proof_steps = []
    for place, (step, relation) in enumerate(zip(steps, words, strict=True)):
        first, via, second = step
        proof_steps.append(
            ProofStep(read_fact([first, second], relation, genders, vocabulary, f"step {place} of the proof"), via)
        )
    return tuple(proof_steps)
