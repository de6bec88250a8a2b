"""Checks of kinship rows under audit: what can be wrong in a row, and why.

Flaws name columns as CLUTRR's CSV files do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from storyproof.families.kinship.audit.audit_verdicts import Verdict, first_misfit
from storyproof.families.kinship.audit.audited_row import AuditedRow
from storyproof.families.kinship.audit.kinds import FLAWED, UNDEFINED
from storyproof.families.kinship.audit.proof_text import proof_flaw, proof_text, unknown_names
from storyproof.families.kinship.checker import AMBIGUOUS, ENTAILED, IMPOSSIBLE
from storyproof.families.kinship.clutrr_records import STATUS
from storyproof.families.kinship.relations import WORDS, gender_of, predicate_of, word
from storyproof.families.kinship.row import KinshipRow
from storyproof.families.kinship.rules import PUBLISHED
from storyproof.families.kinship.stated_facts import find_mentions

# Flaws of these kinds are not reported for a row that states the right status itself, unless they can be fixed.
_SETTLED = {*FLAWED, "target", "proof"}


class Flaw(NamedTuple):
    """Something wrong in a row; `found` is None if it is the whole field.

    `expected` becomes the value of the field in a corrected copy, unless it is no value but a description.
    """

    kind: str
    field: str
    expected: str
    reason: str
    found: str | None = None
    reading: str = ""
    is_fixable: bool = True


def find_flaws(audited: AuditedRow, verdict: Verdict | None, *, proofs: bool = True) -> Iterator[Flaw]:
    """Yield what is wrong in a row; `proofs` says whether to check its proof."""
    status = UNDEFINED if verdict is None else verdict.status
    marked = audited.status
    flaws = [*_names(audited), *_genders(audited), *_edges(audited), *_texts(audited)]
    if verdict is None:
        flaws.append(Flaw(UNDEFINED, "target", "", "neither query nor query_edge tells who is asked about"))
    else:
        flaws += [*_target(audited, verdict), *(_proof(audited, verdict) if proofs else ())]
    for flaw in flaws:
        if flaw.expected or flaw.kind not in _SETTLED or marked != status:
            yield flaw
    after = ENTAILED if verdict is not None and verdict.right else status
    if marked not in ("", status, after):
        yield Flaw("status", STATUS, after, f"the target is {status}")
    elif marked and after != status:
        yield Flaw("consequence", STATUS, after, "the target should be another, which is entailed")


def _target(audited: AuditedRow, verdict: Verdict) -> Iterator[Flaw]:
    """Compare the target with the families that fit, and with the rules."""
    row, target = audited.row, audited.label
    first, second = row.pair
    gender = row.genders[second]
    right = word(verdict.right, gender) if verdict.right else ""
    derived = list(dict.fromkeys(chain.from_iterable(verdict.derived.values())))
    if verdict.status != ENTAILED:
        reading = PUBLISHED if row.answer in verdict.derived[PUBLISHED] else ""
        yield Flaw(verdict.status, "target", right, _why(audited, verdict), reading=reading)
    if row.answer is None:
        yield Flaw("target", "target", right, f"'{target}' is not a kinship term")
    elif verdict.status != ENTAILED and row.answer not in derived:
        words = " or ".join(word(each, gender) for each in derived)
        yield Flaw("target", "target", right, f"no rules derive '{target}' from the facts, but {words or 'nothing'}")
    if row.answer is not None and gender_of(target) != gender:
        fitting = right or word(row.answer, gender)
        yield Flaw("genders", "target", fitting, f"{row.names[second]}, who is {gender}, is called '{target}'")
    text = audited.published.get("text_target", "")
    if right not in ("", target) and text and not re.search(rf"(?<![\w-]){right}(?![\w-])", text):
        yield Flaw(
            "consequence",
            "text_target",
            repr([f"[{row.names[second]}] is the {right} of [{row.names[first]}]."]),
            f"it states the target, which should be '{right}'",
        )


def _why(audited: AuditedRow, verdict: Verdict) -> str:
    """Return why a target is not entailed."""
    row = audited.row
    first, second = (row.names[person] for person in row.pair)
    if verdict.status == IMPOSSIBLE:
        fact = first_misfit(audited)
        return f"no family fits in which {row.sentence(fact)}, given the facts before" if fact else "no family fits"
    words = " and ".join(row.word(row.asking(each)) for each in verdict.instead)
    instead = f"{second} is {first}'s {words}" if words else f"{second} has no named relation to {first}"
    if verdict.right:
        return f"in every family that fits, {row.sentence(row.asking(verdict.right))}"
    target = f"{first}'s {audited.label}"
    if verdict.status == AMBIGUOUS:
        return f"in a family that fits, {instead}; in others, {second} is {target}"
    return f"in a family that fits, {instead}; in none is {second} {target}"


def _proof(audited: AuditedRow, verdict: Verdict) -> Iterator[Flaw]:
    """Compare the proof with the rules, and with what is to be proved."""
    answer = audited.row.answer
    kind, flaw = "proof", None
    if unknown := unknown_names(audited):
        kind, flaw = "names", f"the proof mentions {', '.join(unknown)}, who are not in genders"
    elif answer is None:
        flaw = "there is no proof of a target that is not a kinship term"
    else:
        flaw = proof_flaw(audited, verdict, answer)
    final, expected = verdict.right or answer, ""
    if flaw is None and final == answer:
        return
    # A proof of what the target should be is right, and is kept.
    if final is not None and (unknown or proof_flaw(audited, verdict, final) is not None):
        expected = proof_text(audited.row, final) or ("[]" if verdict.right else "")
    if flaw is not None:
        yield Flaw(kind, "proof_state", expected, flaw)
    elif expected:
        yield Flaw("consequence", "proof_state", expected, "it proves the wrong target")


def _names(audited: AuditedRow) -> Iterator[Flaw]:
    """Compare the names in story and question with those of the row's people."""
    row, mentions = audited.given, audited.mentions
    in_chain = {person for edge in row.edges[: row.k] for person in edge}
    noise = {person for edge in row.edges[row.k :] for person in edge} - in_chain
    missing = [name for person, name in enumerate(row.names) if name not in mentions and person not in noise]
    if missing:
        yield Flaw("names", "story", "", f"the story does not mention {', '.join(missing)}", _none_of(missing))
    silent = [name for person, name in enumerate(row.names) if name not in mentions and person in noise]
    if silent:
        reason = f"the story does not state the noise about {' and '.join(silent)}"
        yield Flaw("missing_noise", "story", "", reason, _none_of(silent))
    if stray := sorted(mentions - set(row.names)):
        stray_names = ", ".join(f"[{name}]" for name in stray)
        yield Flaw("names", "story", "", f"the story mentions {', '.join(stray)}, who are not in genders", stray_names)
    if unknown := [name for name in row.asked_names if name not in row.names]:
        pair = audited.row.asked
        expected = repr((row.names[pair[0]], row.names[pair[1]])) if pair else ""
        yield Flaw("names", "query", expected, f"{' and '.join(unknown)} is not in genders")


def _none_of(names: Sequence[str]) -> str:
    return ", ".join(f"no [{name}]" for name in names)


def _genders(audited: AuditedRow) -> Iterator[Flaw]:
    """Compare the genders with the relations."""
    given, row = audited.given, audited.row
    wrong = [person for person, gender in enumerate(row.genders) if gender != given.genders[person]]
    if wrong:
        implied = ", ".join(f"{row.names[person]} is {row.genders[person]}" for person in wrong)
        expected = ",".join(f"{name}:{gender}" for name, gender in zip(row.names, row.genders, strict=True))
        yield Flaw("genders", "genders", expected, f"according to the relations {implied}")
    for (_, second), relation in zip(row.edges, row.words, strict=False):
        if relation in WORDS and 0 <= second < len(row.names) and gender_of(relation) != row.genders[second]:
            reason = f"{row.names[second]} is called '{relation}', and a word of the other gender elsewhere"
            yield Flaw("genders", "edge_types", "", reason)


def _edges(audited: AuditedRow) -> Iterator[Flaw]:
    """Compare the edges with the people, the task and the question."""
    given, row = audited.given, audited.row
    people = range(len(row.names))
    if strays := [edge for edge in row.edges if not set(edge) <= set(people)]:
        reason = f"{strays[0]} is about somebody other than people 0 to {len(people) - 1}"
        yield Flaw("edges", "story_edges", "", reason)
    if foreign := [each for each in row.words if each not in WORDS]:
        yield Flaw("edges", "edge_types", "", f"'{foreign[0]}' is not a kinship term")
    if other := [pair for pair in zip(given.words, row.words, strict=True) if pair[0] != pair[1]]:
        same = all(relation in WORDS and predicate_of(relation) == predicate_of(better) for relation, better in other)
        reason = f"it says '{other[0][0]}' where f_comb and the proof say '{other[0][1]}'"
        yield Flaw("genders" if same else "edges", "edge_types", repr(list(row.words)), reason)
    if not row.k <= len(row.words) <= len(row.edges):
        reason = f"{len(row.edges)} edges have {len(row.words)} types, but {audited.task_name} needs {row.k}"
        yield Flaw("edges", "edge_types", "", reason)
    if row.asked is not None and audited.query_edge not in (None, row.asked):
        first, second = row.asked_names
        reason = f"{first} and {second} are people {row.asked[0]} and {row.asked[1]}"
        yield Flaw("edges", "query_edge", repr(row.asked), reason)
    steps = row.edges[: row.k]
    joined = bool(steps) and all(one[1] == other[0] for one, other in pairwise(steps))
    if not joined:
        yield Flaw("edges", "story_edges", "", f"the first {row.k} edges do not form a chain")
    elif not strays:
        if row.asked not in (None, (steps[0][0], steps[-1][1]), *row.edges):  # memory tasks ask for a stated fact
            yield Flaw("edges", "story_edges", "", f"the chain does not lead from {' to '.join(row.asked_names)}")
        yield from _revisits(row)
    if len(row.edges) > len(row.words) >= row.k and not strays:
        first, second = (row.names[person] for person in row.edges[len(row.words)])
        lacking = len(row.edges) - len(row.words)
        reason = f"what {second} is to {first} is not recorded; {lacking} noise edges lack a type"
        yield Flaw("untyped_noise", "edge_types", "", reason)


def _revisits(row: KinshipRow) -> Iterator[Flaw]:
    steps = row.edges[: row.k]
    passed = Counter([steps[0][0], *(second for _, second in steps)])
    if twice := [row.names[person] for person, times in passed.items() if times > 1]:
        yield Flaw("revisit", "story_edges", "", f"the chain passes {' and '.join(twice)} more than once")


def _texts(audited: AuditedRow) -> Iterator[Flaw]:
    """Compare the columns of CLUTRR's CSV files that repeat the chain with its edges."""
    row, published = audited.row, audited.published
    words = row.words[: row.k]
    combined = "-".join(words)
    if published.get("f_comb", combined) != combined and len(words) == row.k and set(words) <= set(WORDS):
        yield Flaw("f_comb", "f_comb", combined, "the edges of the chain have other relations")
    if not published.get("clean_story"):
        return
    mentions = find_mentions(published["clean_story"], row.names, bracketed=True)
    people = {person for edge in row.edges[: row.k] for person in edge if 0 <= person < len(row.names)}
    if missing := [row.names[person] for person in sorted(people) if row.names[person] not in mentions]:
        reason = f"it does not mention {' and '.join(missing)} of the chain"
        yield Flaw("clean_story", "clean_story", "", reason, _none_of(missing))
