"""What can be wrong in a CLUTRR row, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from storyproof.families.kinship.audit.cases import Puzzle, Verdict, first_misfit, proof_flaw, proof_text, strangers
from storyproof.families.kinship.audit.clutrr_fixes import FLAWED, UNDEFINED
from storyproof.families.kinship.checker import AMBIGUOUS, ENTAILED, IMPOSSIBLE
from storyproof.families.kinship.clutrr_records import STATUS, Row
from storyproof.families.kinship.relations import WORDS, gender_of, predicate_of, word
from storyproof.families.kinship.rules import PUBLISHED

_SETTLED = {*FLAWED, "target", "proof"}  # no errata of a row that says so itself, unless they can be mended
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


class Flaw(NamedTuple):
    """Something wrong in a row; what is found is the whole field unless told otherwise."""

    kind: str
    field: str
    expected: str
    reason: str
    found: str | None = None
    reading: str = ""


def find_flaws(puzzle: Puzzle, verdict: Verdict | None, *, proofs: bool = True) -> Iterator[Flaw]:
    """Find what is wrong in a row; `proofs` says whether to look at its proof."""
    row = puzzle.row
    status = UNDEFINED if verdict is None else verdict.status
    marked = row.fields.get(STATUS, "")
    found = [*_names(puzzle), *_genders(puzzle), *_edges(puzzle), *_texts(puzzle)]
    if verdict is None:
        found.append(Flaw(UNDEFINED, "target", "", "neither query nor query_edge tells who is asked about"))
    else:
        found += [*_target(puzzle, verdict), *(_proof(puzzle, verdict) if proofs else ())]
    for flaw in found:
        if flaw.expected or flaw.kind not in _SETTLED or marked != status:
            yield flaw
    after = ENTAILED if verdict is not None and verdict.right else status
    if marked not in ("", status):
        yield Flaw("status", STATUS, after, f"the target is {status}")
    elif marked and after != status:
        yield Flaw("consequence", STATUS, after, "the target should be another, which is entailed")


def _target(puzzle: Puzzle, verdict: Verdict) -> Iterator[Flaw]:
    """Hold the target against the families that fit, and against the rules."""
    target, (first, second) = puzzle.row.fields["target"], puzzle.pair
    right = word(verdict.right, puzzle.genders[second]) if verdict.right else ""
    derived = list(dict.fromkeys(chain.from_iterable(verdict.derived.values())))
    if verdict.status != ENTAILED:
        reading = PUBLISHED if puzzle.answer in verdict.derived[PUBLISHED] else ""
        yield Flaw(verdict.status, "target", right, _why(puzzle, verdict), reading=reading)
    if puzzle.answer is None:
        yield Flaw("target", "target", right, f"'{target}' is no word of kinship")
    elif verdict.status != ENTAILED and puzzle.answer not in derived:
        words = " or ".join(word(each, puzzle.genders[second]) for each in derived)
        yield Flaw("target", "target", right, f"no rules make '{target}' of the facts, but {words or 'nothing'}")
    if puzzle.answer is not None and gender_of(target) != puzzle.genders[second]:
        name = puzzle.row.names[second]
        fitting = right or word(puzzle.answer, puzzle.genders[second])
        yield Flaw("genders", "target", fitting, f"{name}, who is {puzzle.genders[second]}, is called '{target}'")
    text = puzzle.row.fields.get("text_target", "")
    if right not in ("", target) and text and not re.search(rf"(?<![\w-]){right}(?![\w-])", text):
        names = puzzle.row.names
        yield Flaw(
            "consequence",
            "text_target",
            repr([f"[{names[second]}] is the {right} of [{names[first]}]."]),
            f"it words the target, which should be '{right}'",
        )


def _why(puzzle: Puzzle, verdict: Verdict) -> str:
    """Say why a target is not entailed."""
    first, second = puzzle.pair
    names = puzzle.row.names[first], puzzle.row.names[second]
    if verdict.status == IMPOSSIBLE:
        fact = first_misfit(puzzle)
        return f"no family fits in which {puzzle.say(fact)}, given what is told before" if fact else "no family fits"
    words = " and ".join(word(each, puzzle.genders[second]) for each in verdict.instead)
    instead = f"{names[1]} is {names[0]}'s {words}" if words else f"{names[1]} is nothing to {names[0]} that has a word"
    if verdict.right:
        return f"in every family that fits, {puzzle.say(puzzle.query(verdict.right))}"
    target = f"{names[0]}'s {puzzle.row.fields['target']}"
    if verdict.status == AMBIGUOUS:
        return f"in a family that fits, {instead}; in others, {names[1]} is {target}"
    return f"in a family that fits, {instead}; in none is {names[1]} {target}"


def _proof(puzzle: Puzzle, verdict: Verdict) -> Iterator[Flaw]:
    """Hold the proof against the rules, and against what is to be proved."""
    kind, flaw = "proof", None
    if unknown := strangers(puzzle):
        kind, flaw = "names", f"the proof speaks of {', '.join(unknown)}, of whom genders says nothing"
    elif puzzle.answer is None:
        flaw = "no proof ends in a target that is no word of kinship"
    else:
        flaw = proof_flaw(puzzle, verdict, puzzle.answer)
    final, expected = verdict.right or puzzle.answer, ""
    if flaw is None and final == puzzle.answer:
        return
    # A proof of what the target should be is right, and stays.
    if final is not None and (unknown or proof_flaw(puzzle, verdict, final) is not None):
        expected = proof_text(puzzle, final) or ("[]" if verdict.right else "")
    if flaw is not None:
        yield Flaw(kind, "proof_state", expected, flaw)
    elif expected:
        yield Flaw("consequence", "proof_state", expected, "it proves the wrong target")


def _names(puzzle: Puzzle) -> Iterator[Flaw]:
    """Hold the names of the story and the question against those of the row's people."""
    row = puzzle.row
    told = set(_BRACKETS.findall(row.fields["story"]))
    in_chain = {person for edge in row.edges[: row.k] for person in edge}
    noise = {person for edge in row.edges[row.k :] for person in edge} - in_chain
    missing = [name for person, name in enumerate(row.names) if name not in told and person not in noise]
    if missing:
        yield Flaw("names", "story", "", f"the story does not mention {', '.join(missing)}", _none_of(missing))
    silent = [name for person, name in enumerate(row.names) if name not in told and person in noise]
    if silent:
        reason = f"the story does not tell the noise about {' and '.join(silent)}"
        yield Flaw("missing_noise", "story", "", reason, _none_of(silent))
    if stray := sorted(told - set(row.names)):
        found = ", ".join(f"[{name}]" for name in stray)
        yield Flaw("names", "story", "", f"the story mentions {', '.join(stray)}, of whom genders says nothing", found)
    if unknown := [name for name in row.query if name not in row.names]:
        asked = puzzle.asked
        expected = repr((row.names[asked[0]], row.names[asked[1]])) if asked else ""
        yield Flaw("names", "query", expected, f"genders says nothing of {' and '.join(unknown)}")


def _none_of(names: list[str]) -> str:
    return ", ".join(f"no [{name}]" for name in names)


def _genders(puzzle: Puzzle) -> Iterator[Flaw]:
    """Hold the genders against the relations."""
    row = puzzle.row
    wrong = [person for person, gender in enumerate(puzzle.genders) if gender != row.genders[person]]
    if wrong:
        told = ", ".join(f"{row.names[person]} {puzzle.genders[person]}" for person in wrong)
        expected = ",".join(f"{name}:{gender}" for name, gender in zip(row.names, puzzle.genders, strict=True))
        yield Flaw("genders", "genders", expected, f"the relations make {told}")
    for (_, second), told in zip(row.edges, puzzle.words, strict=False):
        if told in WORDS and 0 <= second < len(row.names) and gender_of(told) != puzzle.genders[second]:
            reason = f"{row.names[second]} is called '{told}' and the opposite"
            yield Flaw("genders", "edge_types", "", reason)


def _edges(puzzle: Puzzle) -> Iterator[Flaw]:
    """Hold the edges against the people, the task and the question."""
    row, people = puzzle.row, range(len(puzzle.row.names))
    if strays := [edge for edge in row.edges if not set(edge) <= set(people)]:
        reason = f"{strays[0]} is about somebody else than people 0 to {len(people) - 1}"
        yield Flaw("edges", "story_edges", "", reason)
    if foreign := [each for each in puzzle.words if each not in WORDS]:
        yield Flaw("edges", "edge_types", "", f"'{foreign[0]}' is no word of kinship")
    if other := [pair for pair in zip(row.types, puzzle.words, strict=True) if pair[0] != pair[1]]:
        same = all(told in WORDS and predicate_of(told) == predicate_of(better) for told, better in other)
        reason = f"it says '{other[0][0]}' where f_comb and the proof say '{other[0][1]}'"
        yield Flaw("genders" if same else "edges", "edge_types", repr(list(puzzle.words)), reason)
    if not row.k <= len(row.types) <= len(row.edges):
        reason = f"{len(row.edges)} edges have {len(row.types)} types, but {row.fields['task_name']} needs {row.k}"
        yield Flaw("edges", "edge_types", "", reason)
    if puzzle.asked is not None and row.query_edge != puzzle.asked:
        reason = f"{row.query[0]} and {row.query[1]} are people {puzzle.asked[0]} and {puzzle.asked[1]}"
        yield Flaw("edges", "query_edge", repr(puzzle.asked), reason)
    steps = row.edges[: row.k]
    joined = bool(steps) and all(one[1] == other[0] for one, other in pairwise(steps))
    if not joined:
        yield Flaw("edges", "story_edges", "", f"the first {row.k} edges are no chain")
    elif not strays:
        if puzzle.asked not in (None, (steps[0][0], steps[-1][1]), *row.edges):  # memory asks for what is stated
            yield Flaw("edges", "story_edges", "", f"the chain does not lead from {' to '.join(row.query)}")
        yield from _revisits(row)
    if len(row.edges) > len(row.types) >= row.k and not strays:
        first, second = (row.names[person] for person in row.edges[len(row.types)])
        reason = f"what {second} is to {first} is not told; {len(row.edges) - len(row.types)} noise edges lack a type"
        yield Flaw("untyped_noise", "edge_types", "", reason)


def _revisits(row: Row) -> Iterator[Flaw]:
    steps = row.edges[: row.k]
    passed = Counter([steps[0][0], *(second for _, second in steps)])
    if twice := [row.names[person] for person, times in passed.items() if times > 1]:
        yield Flaw("revisit", "story_edges", "", f"the chain passes {' and '.join(twice)} more than once")


def _texts(puzzle: Puzzle) -> Iterator[Flaw]:
    """Hold what is worked out from the chain against it."""
    row = puzzle.row
    words = puzzle.words[: row.k]
    combined = "-".join(words)
    if row.fields["f_comb"] != combined and len(words) == row.k and set(words) <= set(WORDS):
        yield Flaw("f_comb", "f_comb", combined, "the edges of the chain have other relations")
    told = set(_BRACKETS.findall(row.fields["clean_story"]))
    people = {person for edge in row.edges[: row.k] for person in edge if 0 <= person < len(row.names)}
    if missing := [row.names[person] for person in sorted(people) if row.names[person] not in told]:
        reason = f"{' and '.join(missing)} of the chain {'is' if len(missing) == 1 else 'are'} not in it"
        yield Flaw("clean_story", "clean_story", "", reason, _none_of(missing))
