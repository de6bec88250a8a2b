"""What holds in a story: after each sentence, under each reading, and in the families that fit it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product

from storyproof.errors import ParseError, listed
from storyproof.example import Example
from storyproof.families.family import OWN, Picture, StateEntry, Step, StoryModel, own_example
from storyproof.families.kinship.baselines import checked_answer, common_answer, possible_rows, read_rows
from storyproof.families.kinship.checker import (
    AMBIGUOUS,
    IMPOSSIBLE,
    find_witnesses,
    fitting_families,
    status,
)
from storyproof.families.kinship.deletion import GenderLines, ProofTest, entails
from storyproof.families.kinship.genealogy import Genealogy
from storyproof.families.kinship.oracle import Derived, ProofStep, derive
from storyproof.families.kinship.people import UNKNOWN, split_person
from storyproof.families.kinship.pictures.picture import family_picture
from storyproof.families.kinship.prove_labels import entailed_relation, judge
from storyproof.families.kinship.relations import NAMES, WORDS, Fact, inverse, predicate_of
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.rules import PUBLISHED, STRICT, published_rules, strict_rules
from storyproof.families.kinship.stated_facts import Text, stated_facts
from storyproof.families.kinship.user_text import rows_of_text

MOST_DERIVED = 240  # relations that follow; more would hide the others
_FAMILY = "kinship"
_ANY = "child"  # whether any family fits does not depend on what is asked


def prove_text(story: str, question: str, people: Collection[str] = ()) -> Example:
    """Read facts and genders from a text, and derive the answer and its proof.

    Args:
        story: The text.
        question: What is asked.
        people: The names of everybody in it, see `rows_of_text`.

    Raises:
        ParseError: If story or question is not understood.
    """
    choices = rows_of_text(story, question, people)
    rows = possible_rows([read_row(values, labelled=False) for values in choices])
    answer, row = common_answer(rows), rows[0]
    genders = [set(each) for each in zip(*(each.genders for each in rows), strict=True)]
    if not answer and all(entailed_relation(each) for each in rows):
        unknown = [name for name, found in zip(row.names, genders, strict=True) if len(found) > 1]
        raise ParseError(f"the story does not show the gender of {listed(unknown)}; the answer depends on it.")
    shared = {
        **row.values,
        "genders": [
            f"{name}:{min(found) if len(found) == 1 else UNKNOWN}"
            for name, found in zip(row.names, genders, strict=True)
        ],
        "story": story,
        "question": question,
        "answer": answer,
        "candidates": sorted(WORDS),
        "noise_types": [],
        "placeholders": [],
        "proof_steps": [],
        "proof_relations": [],
    }
    if not answer:
        fits = status(row.genders, row.facts, row.asking(_ANY)) != IMPOSSIBLE
        return own_example({**shared, "status": AMBIGUOUS if fits else IMPOSSIBLE}, _FAMILY)
    query = row.asking(predicate_of(answer))
    [judged] = judge([(row.genders, row.facts, query)])
    shared |= {"readings": judged.readings(query.predicate), "status": judged.status}
    lines = _read_lines(story, row)
    steps = _derive_steps(row, row.facts, query)
    used = None if steps is None else _stated_pairs(query, steps)  # None if it holds though no rules lead to it
    gives = [entails(each.genders, query) for each in rows]
    gender = GenderLines(story, row.names, row.asked_names[1])
    test = ProofTest(lines, lambda facts: all(each(facts) for each in gives), gender)
    proof = [
        number
        for number, facts in enumerate(lines, start=1)
        if any(used is None or {fact.first, fact.second} in used for fact in facts)
    ]
    proof = test.leave_out(test.add_gender(proof))
    named = [fact for number in proof for fact in lines[number - 1]]
    steps = _derive_steps(row, named, query) or steps or []
    shared |= {
        "proof": proof,
        "proof_steps": [[step.fact.first, step.via, step.fact.second] for step in steps],
        "proof_relations": [row.word(step.fact) for step in steps],
    }
    return own_example(shared, _FAMILY)


def _derive_steps(row: KinshipRow, facts: Sequence[Fact], query: Fact) -> list[ProofStep] | None:
    """Return the shortest proof of an answer by strict rules; None if they give none."""
    derived = derive(strict_rules(), [facts], len(row.genders))
    return None if derived.size(0, query) is None else derived.proof(0, query)


def _stated_pairs(query: Fact, steps: Sequence[ProofStep]) -> list[set[int]]:
    """Return the pairs of people whose stated relations a proof uses."""
    concluded = [(step.fact.first, step.fact.second) for step in steps]
    halves = [pair for step in steps for pair in ((step.fact.first, step.via), (step.via, step.fact.second))] or [
        (query.first, query.second)
    ]
    return [set(pair) for pair in halves if pair not in concluded]


def _facts_by_line(example: Example, row: KinshipRow) -> list[list[Fact]]:
    """Return the facts that each line of a story states."""
    if example.id == OWN:
        return _read_lines(example.story, row)
    return stated_facts(row, Text(example.story, example.get("placeholders") or (), row.names))


def _read_lines(story: str, row: KinshipRow) -> list[list[Fact]]:
    """Read a text of a user's own, which may have sentences of all kinds."""
    from storyproof.families.kinship.language.reader import read  # takes a while to import

    number = {name: place for place, name in enumerate(row.names)}
    stated = set(row.facts)
    facts: list[list[Fact]] = [[] for _ in story.split("\n")]
    for each in read(story, row.names).facts:
        fact = Fact(number[each.first], each.predicate, number[each.second])
        if fact not in stated:
            fact = Fact(fact.second, inverse(fact.predicate), fact.first)
        if fact not in facts[each.line - 1]:  # "brothers" states one fact in both directions
            facts[each.line - 1].append(fact)
    return facts


def answers_by_reading(example: Example) -> dict[str, str]:
    """Return what holds in all families that fit, and what the published rules derive."""
    row = read_rows(example)[0]
    first, second = row.pair
    rules = published_rules()
    derived = derive(rules, [row.facts], len(row.genders)).relations(0, first, second)
    if not derived:  # the paper's graphs have every fact from both sides; a text says it from one
        inverses = (Fact(fact.second, inverse(fact.predicate), fact.first) for fact in row.facts)
        names = {predicate.name for predicate in rules.predicates}
        facts = [fact for fact in (*row.facts, *inverses) if fact.predicate in names]
        derived = derive(rules, [facts], len(row.genders)).relations(0, first, second)
    words = [row.word(row.asking(relation)) for relation in derived]
    return {STRICT: checked_answer(example), PUBLISHED: " or ".join(words)}


def models_of(example: Example) -> list[StoryModel]:
    """Return a family for each relation in which the asked people may stand, by the checker.

    Raises:
        DataError: If the story is not understood.
    """
    rows = read_rows(example)
    row = rows[0]
    shown = _without_guesses(example, row)
    first, second = row.asked_names
    fitting: list[tuple[str, str, Genealogy]] = []
    other: Genealogy | None = None
    for predicate, each in product(NAMES, rows):
        witnesses = find_witnesses(each.genders, each.facts, each.asking(predicate), each.names)
        answer = row.word(row.asking(predicate))
        if witnesses.fits is not None and all(answer != found for found, _, _ in fitting):
            fitting.append((answer, f"{second} is {first}'s {answer}", witnesses.fits))
        if witnesses.against is not None and not witnesses.against.relations(*row.pair):
            other = other or witnesses.against
    if other is not None:
        fitting.append(("", f"{second} has no named relation to {first}", other))
    moved = _differing([family for _, _, family in fitting], row)
    models = []
    for answer, holds, family in fitting:
        caption = f"A family that fits the story, in which {holds}."
        if moved is not None:
            caption += f" Only {row.names[moved]} has another place."
        models.append(StoryModel(answer, caption, _drawn(family, shown, caption, moved)))
    return models


def _differing(families: Sequence[Genealogy], row: KinshipRow) -> int | None:
    """Return the person without whom the named people stand in the same relations in all families; None if unclear."""
    people = range(len(row.names))
    apart = {
        (one, two)
        for one in people
        for two in people
        if one != two and len({frozenset(family.relations(one, two)) for family in families}) > 1
    }
    alone = [person for person in people if apart and all(person in pair for pair in apart)]
    return max(alone, key=lambda person: person == row.pair[1], default=None)


def _drawn(family: Genealogy, row: KinshipRow, caption: str, moved: int | None = None) -> Picture:
    named = (replace(one, gender=gender) for one, gender in zip(family.people, row.genders, strict=False))
    people = (*named, *family.people[len(row.genders) :])
    return Picture(caption, family_picture(replace(family, people=people), row.pair, (), moved))


def _without_guesses(example: Example, row: KinshipRow) -> KinshipRow:
    """Return a row without the genders that its text leaves open, of which any were taken to find its families."""
    given = [split_person(each)[1] for each in example.get("genders") or ()]
    unknown = [gender == UNKNOWN for gender in given] or [False] * len(row.genders)
    genders = zip(row.genders, unknown, strict=True)
    return replace(row, genders=tuple("" if is_unknown else gender for gender, is_unknown in genders))


def steps_of(example: Example) -> list[Step]:
    """Return what is stated, what follows, and a family that fits after each line of a story.

    Raises:
        DataError: If its lines cannot be read one by one.
    """
    row = read_rows(example)[0]
    shown = _without_guesses(example, row)
    lines = _facts_by_line(example, row)
    facts_so_far = [[fact for line in lines[: number + 1] for fact in line] for number in range(len(lines))]
    known = derive(strict_rules(), facts_so_far, len(row.genders))
    stated = list(dict.fromkeys(fact for line in lines for fact in line))
    derived = list(_derived_pairs(known, len(facts_so_far) - 1, row, stated))[:MOST_DERIVED]
    steps = []
    for number, (sentence, facts) in enumerate(zip(example.story.split("\n"), facts_so_far, strict=True)):
        entries = [
            _entry("the question", shown, row.pair, known.relations(number, *row.pair)),
            *(
                _entry("what is stated", shown, (fact.first, fact.second), [fact.predicate] * (fact in facts))
                for fact in stated
            ),
            *(
                _entry("what follows", shown, pair, known.relations(number, *pair))
                for pair in derived
                if pair != row.pair
            ),
        ]
        family = next(fitting_families(row.genders, facts, row.names), None)
        caption = (
            f"A family that fits the first {number + 1} lines." if number else "A family that fits the first line."
        )
        picture = None if family is None else _drawn(family, shown, caption)
        steps.append(Step(sentence, tuple(entries), picture))
    return steps


def _derived_pairs(derived: Derived, story: int, row: KinshipRow, stated: Sequence[Fact]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of people between whom something follows that is not stated."""
    said = {(fact.first, fact.second) for fact in stated}
    for first in range(len(row.names)):
        for second in range(len(row.names)):
            if (first, second) not in said and derived.relations(story, first, second):
                yield first, second


def _entry(group: str, row: KinshipRow, pair: tuple[int, int], relations: Sequence[str]) -> StateEntry:
    """Return what the second of two people is to the first."""
    first, second = (row.names[place] for place in pair)
    value = " and ".join(row.word(Fact(pair[0], relation, pair[1])) for relation in relations)
    return StateEntry(group, f"{second} is {first}'s", value, pair=(first, second))
