"""Every label of a kinship row held against its facts, and its facts against its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.example import story_of_id
from storyproof.families.belief.audit.labels import LABELS as SHARED_LABELS
from storyproof.families.kinship.audit.clutrr_columns import check_columns
from storyproof.families.kinship.checker import ENTAILED, IMPOSSIBLE
from storyproof.families.kinship.config import TASK_NUMBERS
from storyproof.families.kinship.judgement import Judged, judge
from storyproof.families.kinship.oracle import replay
from storyproof.families.kinship.placeholder_checks import FATAL, check
from storyproof.families.kinship.placeholder_files import our_names
from storyproof.families.kinship.puzzles import CLEAN, MEMORY, MIXED, TASKS
from storyproof.families.kinship.relations import GENDERS, NAMES, word
from storyproof.families.kinship.rows import Case, noise_types, read_case, story_type, tellings, told_facts
from storyproof.families.kinship.rules import PUBLISHED, STRICT, Rules, published_rules, strict_rules
from storyproof.families.kinship.text import parse_question, placeholder_of
from storyproof.findings import Finding, TableReport

LABELS = (*SHARED_LABELS, "k", "task", "noise_types", "pattern", "status", "proof_steps")
UNDEFINED = "undefined"  # families have no such relations
_OWN_RULES = re.compile(r"rules-[0-9a-f]{16}")
_CHUNK = 2048  # cases that the oracle looks at together


def verify_kinship(table: pa.Table, where: str, rules: Rules | None = None) -> TableReport:
    """Hold the rows of a table against what follows from their facts and their text.

    Args:
        table: The rows.
        where: What to call it in findings.
        rules: What they were derived by, if neither by strict nor by published rules.
    """
    report = TableReport()
    rows = table.to_pylist()
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        cases: list[tuple[dict[str, Any], Case]] = []
        for row in part:
            try:
                cases.append((row, read_case(row, rules)))
            except ParseError as error:
                report.findings.append(Finding(where, row["id"], "facts", str(error), "facts that fit together"))
        judged = judge([case for _, case in cases], rules)
        for (row, case), verdict in zip(cases, judged, strict=True):
            report.statuses[verdict.status or UNDEFINED] += 1
            for name, found, expected in check_row(row, case, verdict, report, rules):
                report.findings.append(Finding(where, row["id"], name, _shown(found), _shown(expected)))
    return report


def check_row(
    row: Mapping[str, Any], case: Case, judged: Judged, report: TableReport | None = None, rules: Rules | None = None
) -> Iterator[tuple[str, Any, Any]]:
    """Find what is wrong in a row: field, found, expected."""
    report = report or TableReport()
    for name in LABELS:
        if row.get(name) is None and not (name == "status" and judged.status is None):
            report.unchecked[name] += 1
    yield from _check_question(row, case)
    for problem in row.get("problems") or ():
        field, _, what = problem.partition(": ")
        yield field, what, "what fits the rest of the row"
    used = (rules,) if rules else (strict_rules(), published_rules())
    yield from _check_answer(row, case, judged)
    yield from _check_candidates(row, used)
    yield from _check_proof(row, case, judged, used)
    yield from _check_kind(row, case)
    if case.untyped:
        report.unchecked["edge_types"] += 1
        yield from check_columns(row, case, None, ours=_ours(row))
    else:
        yield from _check_text(row, case, report, rules)


def _check_question(row: Mapping[str, Any], case: Case) -> Iterator[tuple[str, Any, Any]]:
    try:
        asked = parse_question(row["question"])
    except ParseError as error:
        yield "question", str(error), "a question of kinship"
        return
    if asked != (case.names[case.asked[0]], case.names[case.asked[1]]):
        yield "question", row["question"], f"a question about {' and '.join(row['query'])}"


def _check_answer(row: Mapping[str, Any], case: Case, judged: Judged) -> Iterator[tuple[str, Any, Any]]:
    holds, given = judged.readings(case.answer), row.get("readings")
    known = [name for name in given or () if name in (STRICT, *judged.derived)]
    if judged.status == IMPOSSIBLE and given is not None:
        yield "story", "a story that fits no family", "a story that can happen"
    elif given is not None and len(known) == len(given) and not holds:
        yield "answer", row["answer"], _right(case, judged)
    elif given is not None and known != holds:
        yield "readings", given, holds
    elif given is None and case.steps is None and not holds and row.get("status") in (None, ENTAILED):
        yield "answer", row["answer"], _right(case, judged)
    if row.get("status") is not None and row["status"] != judged.status:
        yield "status", row["status"], judged.status
    strange = [name for name in given or () if name not in (STRICT, PUBLISHED) and not _OWN_RULES.fullmatch(name)]
    if strange:
        yield "readings", given, "readings that there are"


def _check_candidates(row: Mapping[str, Any], rules: Sequence[Rules]) -> Iterator[tuple[str, Any, Any]]:
    """All words of what is asked for by some rules; where facts are asked for, also of what is told."""
    if row.get("candidates") is None:
        return
    asked = [each.targets for each in rules]
    if row.get("task") in (MEMORY, MIXED):
        asked = [(*each.targets, *each.told) for each in rules]
    lists = [
        sorted({each.word(target, gender) for target in targets for gender in GENDERS})
        for each, targets in zip(rules, asked, strict=True)
    ]
    if row["candidates"] not in lists or row["answer"] not in row["candidates"]:
        yield "candidates", row["candidates"], lists[0]


def _right(case: Case, judged: Judged) -> str:
    """Say what the facts make of the asked pair, by the first reading that makes anything of it."""
    found = next((each for each in judged.derived.values() if each), [])
    return (
        " or ".join(word(each, case.genders[case.asked[1]]) for each in found if each in NAMES)
        or "no answer that follows"
    )


def _check_proof(
    row: Mapping[str, Any], case: Case, judged: Judged, rules: Sequence[Rules]
) -> Iterator[tuple[str, Any, Any]]:
    if case.steps is None:
        return
    wrong = [replay(each, case.facts, case.query, case.steps) for each in rules]
    if all(wrong):
        yield "proof_steps", wrong[-1], f"a proof of {row['answer']}"
    elif _ours(row):
        memory = story_type((), case.asked, case.edges) == MEMORY
        if len(case.steps) != (0 if memory else case.k - 1):
            yield "proof_steps", f"{len(case.steps)} steps", f"{case.k - 1} steps, one fact after another"
        if judged.size is not None and judged.size < (1 if memory else case.k):
            yield "k", case.k, f"{judged.size}, because the answer follows from so many facts"


def _ours(row: Mapping[str, Any]) -> bool:
    return story_of_id(row["id"] or "") is not None


def _check_kind(row: Mapping[str, Any], case: Case) -> Iterator[tuple[str, Any, Any]]:
    """Hold what kind of story a row says it is against its facts."""
    noise = noise_types(case.edges, case.k)
    kind = story_type(noise, case.asked, case.edges)
    if row.get("noise_types") is not None and row["noise_types"] != noise:
        yield "noise_types", row["noise_types"], noise
    if row.get("story_type") is not None and row["story_type"] != kind:
        yield "story_type", row["story_type"], kind
    pattern = " ".join(fact.predicate for fact in case.chain)
    if row.get("pattern") is not None and row["pattern"] != pattern:
        yield "pattern", row["pattern"], pattern
    task = row.get("task")
    if task is not None and task not in TASKS:
        yield "task", task, " or ".join(TASKS)
        return
    if task is not None and task != kind and not (task == MIXED and kind in (CLEAN, MEMORY)):
        yield "task", task, kind
    name = f"task_{TASK_NUMBERS[task or kind]}.{case.k}"
    if row.get("question_type") is not None and row["question_type"] != name:
        yield "question_type", row["question_type"], name
    for field, expected in (("order", 0), ("chain", []), ("false_belief", False)):
        if row.get(field) is not None and row[field] != expected:
            yield field, row[field], expected
    if _ours(row) and not _is_chain(case, kind):
        yield "edges", case.edges, "a chain of facts from the first asked person to the second"
    if _ours(row) and {person for edge in case.edges for person in edge} != set(range(len(case.names))):
        yield "genders", row["genders"], "everybody of whom something is told, and nobody else"
    if _ours(row):
        for name, gender in zip(case.names, case.genders, strict=True):
            shown = _genders_of_names().get(name, gender)
            if shown != gender:
                yield "genders", f"{name}:{gender}", f"{name}:{shown}"


@cache
def _genders_of_names() -> dict[str, str]:
    """Give the gender that each of our names shows."""
    return {name: gender for gender, names in our_names().items() for name in names}


def _is_chain(case: Case, kind: str) -> bool:
    """Say whether the first k facts go from person 0 to person k, and the question is about its ends."""
    steps = [(place, place + 1) for place in range(case.k)]
    return list(case.edges[: case.k]) == steps and (kind == MEMORY or case.asked == (0, case.k))


def _check_text(
    row: Mapping[str, Any], case: Case, report: TableReport, rules: Rules | None
) -> Iterator[tuple[str, Any, Any]]:
    """Hold the facts against what the story tells, and the proof's lines against where it tells them."""
    if row.get("placeholders") is None:
        yield from _check_running_text(row, case, report)
        return
    for recorded in row["placeholders"]:
        for flaw in _fatal(recorded):
            yield "placeholders", recorded, f"a placeholder without this: {flaw}"
    lines = row["story"].split("\n")
    try:
        facts = told_facts(case, lines, row["placeholders"], rules)
    except ParseError as error:
        yield "story", str(error), "each fact once"
        return
    if sorted(fact for line in facts for fact in line) != sorted(case.facts):
        yield "story", "other facts than the edges say", "each fact once"
        return
    used = {case.query} if case.query in case.facts else set(case.chain)
    proof = [number for number, line in enumerate(facts, start=1) if used & set(line)]
    if row.get("proof") is not None and row["proof"] != proof:
        yield "proof", row["proof"], proof


@cache
def _fatal(recorded: str) -> tuple[str, ...]:
    """Say what is badly wrong with a recorded placeholder that is not ours."""
    try:
        (words, genders), template = placeholder_of(recorded)
        return tuple(each.what for each in check(words, genders, template) if each.kind in FATAL)
    except (ParseError, KeyError):
        return ()  # said when the line is read


def _check_running_text(row: Mapping[str, Any], case: Case, report: TableReport) -> Iterator[tuple[str, Any, Any]]:
    """Hold the facts against a CSV's story; where it also tells them in synthetic sentences, it is in our own words."""
    plain = row.get("syn_story")
    if not plain:
        report.unchecked["story"] += 1
        lacking = [name for name in case.names if name not in row["story"]]
        if _ours(row) and lacking:
            yield "story", f"a text without {', '.join(lacking)}", "a text that mentions everybody"
        yield from check_columns(row, case, None, ours=_ours(row))
        return
    told = tellings(case, row["story"])
    for field, pieces in (("story", told), ("syn_story", tellings(case, plain))):
        if pieces is None:
            yield field, "a text that does not tell the facts in known words", "each fact once"
    yield from check_columns(row, case, told, ours=_ours(row))


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list | tuple) else str(value)
