"""Proofs of rows under audit: whether a proof in CLUTRR's form proves a label, and which one does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from storyproof.families.kinship.audit.audit_verdicts import Verdict
from storyproof.families.kinship.audit.audited_row import AuditedRow
from storyproof.families.kinship.clutrr_records import Triple
from storyproof.families.kinship.oracle import ProofStep, derive, replay
from storyproof.families.kinship.relations import WORDS, Fact, gender_of, inverse, predicate_of
from storyproof.families.kinship.row import KinshipRow
from storyproof.families.kinship.rules import PUBLISHED, STRICT, RuleSet, published_rules, rules_of, strict_rules


def proof_flaw(audited: AuditedRow, verdict: Verdict, answer: str) -> str | None:
    """Return why a row's proof does not prove an answer, by published or strict rules; None if it does."""
    row = audited.row
    query = row.asking(answer)
    if not audited.proof:
        provable = any(answer in each for each in verdict.derived.values())
        stated = {query, Fact(query.second, inverse(answer), query.first)} & set(row.facts)
        lacking = not stated and (provable or answer != verdict.right)  # else there is no proof to be had
        return f"there is no proof that {row.sentence(query)}" if lacking else None
    steps: list[tuple[Fact, Fact, Fact]] = []
    for step in audited.proof:
        facts = [_read_part(row, part) for part in step]
        if None in facts:
            first, relation, second = step[facts.index(None)]
            return f"the proof says that {second} is {first}'s {relation}, which fits neither words nor genders"
        head, left, right = (fact for fact in facts if fact is not None)
        steps.append((head, left, right))
    if steps[0][0] != query:
        return f"the proof concludes that {row.sentence(steps[0][0])}, not that {row.sentence(query)}"
    flaw = _misstep(row, published_rules(), query, steps)
    return flaw if flaw and _misstep(row, strict_rules(), query, steps) else None


def _read_part(row: KinshipRow, part: Triple) -> Fact | None:
    """Read a part of a proof; None if its word is not a kinship term or does not fit the gender."""
    first, relation, second = part
    if relation not in WORDS or gender_of(relation) != row.genders[row.names.index(second)]:
        return None
    return Fact(row.names.index(first), predicate_of(relation), row.names.index(second))


def _misstep(row: KinshipRow, rules: RuleSet, query: Fact, steps: Sequence[tuple[Fact, Fact, Fact]]) -> str | None:
    """Return where a proof goes wrong by some rules."""
    usable = _known(rules, row.facts, [head for head, _, _ in steps])
    for head, left, right in steps:
        joined = (left.first, left.second, right.second) == (head.first, right.first, head.second)
        if not joined or rules.heads.get((left.predicate, right.predicate)) != head.predicate:
            return (
                f"by the {rules.name} rules it does not follow that {row.sentence(head)}, because {row.sentence(left)} "
                f"and {row.sentence(right)}"
            )
        for part in (left, right):
            if part not in usable:
                return f"the proof assumes that {row.sentence(part)}, which is neither stated nor concluded"
    if replay(rules, row.facts, query, [ProofStep(head, left.second) for head, left, _ in steps]):
        return "the proof has a step that is not used, or that rests on a conclusion from further up"
    return None


def _known(rules: RuleSet, facts: Sequence[Fact], concluded: Iterable[Fact]) -> set[Fact]:
    """Return all facts that steps may use: stated, in both directions if the rules allow that, or concluded."""
    usable = {*facts, *concluded}
    if rules.inverses:
        usable |= {Fact(fact.second, inverse(fact.predicate), fact.first) for fact in facts}
    return usable


def proof_text(row: KinshipRow, answer: str) -> str | None:
    """Return the shortest proof of an answer in CLUTRR's form, by strict rules if possible, else by the published."""
    steps = proof_steps(row.facts, row.asking(answer), len(row.genders))

    def triple(fact: Fact) -> Triple:
        return row.names[fact.first], row.word(fact), row.names[fact.second]

    return None if steps is None else repr([{triple(head): [triple(part) for part in body]} for head, *body in steps])


def proof_steps(facts: tuple[Fact, ...], query: Fact, people: int) -> tuple[tuple[Fact, Fact, Fact], ...] | None:
    """Return the shortest proof, by strict rules if possible, else by the published: conclusions with premises."""
    proofs = (_proof(reading, facts, query, people) for reading in (STRICT, PUBLISHED))
    return next((steps for steps in proofs if steps is not None), None)


@lru_cache(maxsize=4096)
def _proof(
    reading: str, facts: tuple[Fact, ...], query: Fact, people: int
) -> tuple[tuple[Fact, Fact, Fact], ...] | None:
    """Return a proof's steps, each with its two premises; None if the rules give no proof."""
    rules = rules_of(reading)
    derived = derive(rules, [facts], people)
    if derived.size(0, query) is None:
        return None
    steps = derived.proof(0, query)
    usable = _known(rules, facts, [step.fact for step in steps])
    return tuple((step.fact, *_premises(rules, usable, step)) for step in steps)


def _premises(rules: RuleSet, usable: Iterable[Fact], step: ProofStep) -> tuple[Fact, Fact]:
    head, via = step
    lefts = [fact for fact in usable if (fact.first, fact.second) == (head.first, via)]
    rights = [fact for fact in usable if (fact.first, fact.second) == (via, head.second)]
    return min(
        (left, right)
        for left in lefts
        for right in rights
        if rules.heads.get((left.predicate, right.predicate)) == head.predicate
    )


def unknown_names(audited: AuditedRow) -> list[str]:
    """List the names in a proof that belong to nobody in the row."""
    used = {name for step in audited.proof for first, _, second in step for name in (first, second)}
    return sorted(used - set(audited.row.names))
