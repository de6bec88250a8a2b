"""Rows of kinship data, read into people and facts, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from storyproof.errors import ParseError
from storyproof.families.kinship.config import TASK_NUMBERS
from storyproof.families.kinship.oracle import Step
from storyproof.families.kinship.placeholder_files import ours
from storyproof.families.kinship.puzzles import ALL, CLEAN, DISCONNECTED, IRRELEVANT, MEMORY, NOISE, SUPPORTING
from storyproof.families.kinship.relations import GENDERS, Fact, word
from storyproof.families.kinship.rules import Rules, strict_rules
from storyproof.families.kinship.text import parse_line, synthetic_line

Words = Mapping[str, tuple[str, str]]  # predicate and gender of each word
Telling = tuple[str, frozenset[int]]  # a piece of text, and the numbers of the facts that it tells
TASKS_BY_NUMBER = {number: task for task, number in TASK_NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Case:
    """A row's people and facts.

    Attributes:
        names: Everybody, by number.
        genders: Their genders.
        facts: Those whose relation is told, the chain first.
        edges: All pairs, also those whose relation is not told.
        k: How many facts the chain has.
        asked: The numbers of the two people asked about.
        answer: The label's predicate.
        steps: The proof; None if there is none.
    """

    names: tuple[str, ...]
    genders: tuple[str, ...]
    facts: tuple[Fact, ...]
    edges: tuple[tuple[int, int], ...]
    k: int
    asked: tuple[int, int]
    answer: str
    steps: tuple[Step, ...] | None

    @property
    def query(self) -> Fact:
        """What is asked, with the label as its answer."""
        return Fact(self.asked[0], self.answer, self.asked[1])

    @property
    def chain(self) -> tuple[Fact, ...]:
        """The facts of the chain."""
        return self.facts[: self.k]

    @property
    def untyped(self) -> int:
        """How many pairs have no relation told."""
        return len(self.edges) - len(self.facts)


def read_case(row: Mapping[str, Any], rules: Rules | None = None) -> Case:
    """Read a row.

    Args:
        row: Its columns.
        rules: Where its relations come from, if they are not all of strict kinship.

    Raises:
        ParseError: If its columns do not fit together; the message says which and how.
    """
    for name in ("genders", "edges", "edge_types", "answer"):
        if row.get(name) is None:
            raise ParseError(f"there is no value for '{name}', without which nothing can be said.")
    known = (rules or strict_rules()).by_word
    names, genders = _people(row["genders"])
    number = {name: place for place, name in enumerate(names)}
    edges, types = row["edges"], list(row["edge_types"])
    if len(types) > len(edges):
        raise ParseError(f"edge_types has {len(types)} relations, but edges only {len(edges)} pairs.")
    types += [None] * (len(edges) - len(types))
    facts = []
    for place, (edge, told) in enumerate(zip(edges, types, strict=True)):
        if len(edge) != 2 or not all(0 <= person < len(names) for person in edge):
            raise ParseError(f"edge {place} is {edge}; expected two of {len(names)} people, counted from 0.")
        if told is not None:
            facts.append(_fact(edge, told, genders, known, f"edge {place}"))
    if not row.get("query") or len(row["query"]) != 2 or not set(row["query"]) <= set(names):
        raise ParseError(f"query is {row.get('query')}; expected two of {', '.join(names)}.")
    first, second = (number[name] for name in row["query"])
    answer = _fact([first, second], row["answer"], genders, known, "answer")
    k = row["k"] if row.get("k") is not None else len(edges) - len(row.get("noise_types") or ())
    if not 0 < k <= len(facts):
        raise ParseError(f"k is {k}, but {len(facts)} facts have a relation.")
    steps = _steps(row, genders, known) if row.get("proof_steps") is not None else None
    pairs = tuple((edge[0], edge[1]) for edge in edges)
    return Case(names, genders, tuple(facts), pairs, k, (first, second), answer.predicate, steps)


def without_label(row: Mapping[str, Any]) -> dict[str, Any]:
    """Put some relation of the right gender in place of the label, for those who must not look at it."""
    genders = dict(each.rsplit(":", 1) for each in row.get("genders") or () if ":" in each)
    asked = (row.get("query") or [""])[-1]
    return {**row, "answer": word("child", genders.get(asked, GENDERS[0]))}


def _people(given: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pairs = [each.rsplit(":", 1) for each in given]
    for pair in pairs:
        if len(pair) != 2 or pair[1] not in GENDERS or not pair[0]:
            raise ParseError(f"genders has '{':'.join(pair)}'; expected 'Name:male' or 'Name:female'.")
    names = tuple(name for name, _ in pairs)
    if len(set(names)) < len(names):
        raise ParseError(f"genders names somebody twice: {', '.join(names)}.")
    return names, tuple(gender for _, gender in pairs)


def _fact(edge: Sequence[int], told: str, genders: Sequence[str], known: Words, where: str) -> Fact:
    if told not in known:
        raise ParseError(
            f"{where}: '{told}' is no relation; expected one of {', '.join(known)} (rules of your own go with --rules)."
        )
    predicate, gender = known[told]
    if gender != genders[edge[1]]:
        raise ParseError(f"{where}: '{told}' is said of somebody {genders[edge[1]]}.")
    return Fact(edge[0], predicate, edge[1])


def _steps(row: Mapping[str, Any], genders: Sequence[str], known: Words) -> tuple[Step, ...]:
    steps, words = row["proof_steps"], row["proof_relations"] or []
    if len(steps) != len(words):
        raise ParseError(f"the proof has {len(steps)} steps, but {len(words)} relations.")
    found = []
    for place, (step, told) in enumerate(zip(steps, words, strict=True)):
        if len(step) != 3 or not all(0 <= person < len(genders) for person in step):
            raise ParseError(f"step {place} of the proof is {step}; expected three people.")
        first, via, second = step
        found.append(Step(_fact([first, second], told, genders, known, f"step {place} of the proof"), via))
    return tuple(found)


def told_facts(
    case: Case, lines: Sequence[str], placeholders: Sequence[str], rules: Rules | None = None
) -> list[list[Fact]]:
    """Read the facts that each line of a story tells.

    Args:
        case: Who is who.
        lines: The story.
        placeholders: How each line was worded; none for synthetic text.
        rules: Where its relations come from, if they are not all of strict kinship.

    Raises:
        ParseError: If a line is not understood, or speaks of somebody else, or of somebody as of the other gender.
    """
    if placeholders and len(placeholders) != len(lines):
        raise ParseError(f"the story has {len(lines)} lines, but {len(placeholders)} placeholders are recorded.")
    known = (rules or strict_rules()).by_word
    number = {name: place for place, name in enumerate(case.names)}
    found = []
    for place, line in enumerate(lines):
        facts = []
        for told in parse_line(line, placeholders[place] if placeholders else None):
            for name in (told.first, told.second):
                if name not in number:
                    raise ParseError(f"line {place + 1} speaks of '{name}', who is not in genders.")
            first, second = number[told.first], number[told.second]
            if told.first_gender not in (None, case.genders[first]):
                raise ParseError(f"line {place + 1} speaks of {told.first} as {told.first_gender}.")
            facts.append(_fact([first, second], told.word, case.genders, known, f"line {place + 1}"))
        found.append(facts)
    return found


def tellings(case: Case, story: str) -> list[Telling] | None:
    """Take a running text apart that tells exactly a row's facts, each once, in the words of our placeholders.

    Returns:
        Its pieces in order, each with the numbers of the facts that it tells; None if the text is not such a one.
    """
    ways = _wordings(case)
    text = " ".join(story.split())
    reached: dict[tuple[int, frozenset[int]], tuple[Telling, ...]] = {(0, frozenset()): ()}
    while reached:
        at, done = max(reached, key=lambda each: each[0])
        before = reached.pop((at, done))
        if at >= len(text):
            if len(done) == len(case.facts):
                return list(before)
            continue
        for wording, facts in ways:
            end = at + len(wording)
            if not facts & done and text.startswith(wording, at) and text[end : end + 1] in " ":
                reached[end + 1, done | facts] = (*before, (wording, facts))
    return None


def _wordings(case: Case) -> list[Telling]:
    """Word all facts in all ways: each alone, and two or three in a row together."""
    found = []
    known = ours().templates
    for place, fact in enumerate(case.facts):
        for length in (1, 2, 3):
            run = case.facts[place : place + length]
            if len(run) < length or any(one.second != other.first for one, other in pairwise(run)):
                break
            people = [fact.first, *(each.second for each in run)]
            key = tuple(_word(case, each) for each in run), tuple(case.genders[person] for person in people)
            texts = [*known.get(key, ()), *([synthetic_line(key)] if length == 1 else [])]
            for text in texts:
                for slot, person in enumerate(people):
                    text = text.replace(f"ENT_{slot}_{case.genders[person]}", case.names[person])
                found.append((text, frozenset(range(place, place + length))))
    return found


def _word(case: Case, fact: Fact) -> str:
    return word(fact.predicate, case.genders[fact.second])


def noise_types(edges: Sequence[tuple[int, int]], k: int) -> list[str]:
    """Tell the type of each noise fact from how it hangs together with the chain."""
    chain = {person for edge in edges[:k] for person in edge}
    noise = list(edges[k:])
    types = []
    for edge in noise:
        part, size = set(edge), 0
        while len(part) > size:  # all that hangs together outside of the chain
            size = len(part)
            for other in noise:
                if (part - chain) & set(other):
                    part |= set(other)
        touched = len(part & chain)
        types.append(SUPPORTING if touched > 1 else IRRELEVANT if touched else DISCONNECTED)
    return types


def story_type(noise: Sequence[str], asked: tuple[int, int], edges: Sequence[tuple[int, int]]) -> str:
    """Name what a story is: memory if what is asked is stated, else what noise it has."""
    if asked in edges:
        return MEMORY
    kinds = [name for name in NOISE if name in noise]
    return CLEAN if not kinds else kinds[0] if len(kinds) == 1 else ALL
