"""What is wrong in kinship rows in the columns of examples, from Parquet, JSON lines and JSON lists, and why.

They get the checks of CLUTRR's CSV files (`checks`). What `labels` finds in a row that needs no correction, or still
finds in it once it is corrected, comes after that. Relations are those that the text states, where it can be parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from storyproof.errors import ParseError
from storyproof.families.kinship.audit.audit_verdicts import Verdict
from storyproof.families.kinship.audit.audited_row import AuditedRow
from storyproof.families.kinship.audit.checks import Flaw, find_flaws
from storyproof.families.kinship.audit.kinds import CONSEQUENCE, PROOF
from storyproof.families.kinship.audit.labels import FACTS, Difference, check_row
from storyproof.families.kinship.audit.proof_text import proof_steps
from storyproof.families.kinship.prove_labels import LabelJudgement
from storyproof.families.kinship.row import KinshipRow, Structure, read_row
from storyproof.findings import COLUMN, TEXT, written
from storyproof.formats.json_edits import is_text

TOTALS = {COLUMN: "wrong_columns", TEXT: "wrong_texts"}  # counts that only these rows have
_COLUMNS = {"target": "answer", "story_edges": "edges"}  # columns that examples name differently than CLUTRR does
_FACTS = ("answer", "edge_types", "genders")  # columns that others follow from
FOLLOWING = (
    *("candidates", "question_type", "order", "chain", "story_type", "false_belief", "readings", "proof"),
    *("noise_types", "pattern", "status"),
)
_PROOF = ("proof_steps", "proof_relations")
_NO_PROOF = dict.fromkeys(_PROOF)


def find_example_flaws(
    rows: Sequence[AuditedRow],
    verdicts: Sequence[Verdict | None],
    differences: Sequence[Sequence[Difference]],
    judge: Callable[[Iterable[Structure]], Sequence[LabelJudgement]],
) -> Iterator[list[Flaw]]:
    """Yield what is wrong in each row: first what is found in it, then what is still wrong once that is corrected.

    Args:
        rows: The rows.
        verdicts: The verdict on each.
        differences: How the labels of each, as it is, differ from what follows.
        judge: Asks oracle and checker about labels.
    """
    flaws_of_rows = [list(_flaws(*each)) for each in zip(rows, verdicts, strict=True)]
    corrected = [_correct(each.given.values, flaws) for each, flaws in zip(rows, flaws_of_rows, strict=True)]
    for values, flaws in zip(corrected, flaws_of_rows, strict=True):
        flaws += _drop_unreadable_proof(values)
    read = [
        _read(each) if any(flaw.expected for flaw in flaws) else None
        for each, flaws in zip(corrected, flaws_of_rows, strict=True)
    ]
    judged = iter(judge([each.structure for each in read if isinstance(each, KinshipRow)]))
    for audited, flaws, row, left in zip(rows, flaws_of_rows, read, differences, strict=True):
        if row is None and not flaws and left and left[0][0] == FACTS:
            flaws.append(Flaw(TEXT, FACTS, "", f"expected {left[0][2]}", str(left[0][1])))
        elif row is None and (not left or left[0][0] != FACTS):
            flaws += _remaining(flaws, left, audited.given.values)
        elif isinstance(row, KinshipRow):
            flaws += _remaining(flaws, list(check_row(row, next(judged), reading=audited.reading)), row.values)
        yield [_with_given(audited.given.values, flaw) for flaw in flaws]


def _read(values: Mapping[str, Any]) -> KinshipRow | ParseError:
    try:
        return read_row(values)
    except ParseError as error:
        return error


def _drop_unreadable_proof(values: dict[str, Any]) -> Iterator[Flaw]:
    """Remove a proof that cannot be read although the rest of the row can, and yield what it should be."""
    row = _read(values)
    if isinstance(row, ParseError) and isinstance(_read({**values, **_NO_PROOF}), KinshipRow):
        yield from _proof_flaws(values, PROOF, str(row))
        values |= _NO_PROOF


def _flaws(audited: AuditedRow, verdict: Verdict | None) -> Iterator[Flaw]:
    """Yield what is wrong in a row, with the names and forms of the columns of examples."""
    words = list(audited.row.words)
    if words != audited.given.values["edge_types"]:
        yield Flaw("edges", "edge_types", written(words), "the text states other relations")
    for flaw in find_flaws(audited, verdict, proofs=False):
        name = _COLUMNS.get(flaw.field, flaw.field)
        expected = flaw.expected
        if expected and name == "genders":
            expected = written(expected.split(","))
        yield flaw._replace(field=name, expected=expected)


def _correct(values: Mapping[str, Any], flaws: list[Flaw]) -> dict[str, Any]:
    """Return a row with the expected values in place of wrong ones."""
    right = {
        flaw.field: (flaw.expected if is_text(flaw.field) else json.loads(flaw.expected))
        for flaw in flaws
        if flaw.expected
    }
    return {**values, **right}


def _remaining(flaws: list[Flaw], left: Sequence[Difference], values: Mapping[str, Any]) -> Iterator[Flaw]:
    """Yield what is still wrong once the flaws found first are corrected."""
    columns = {flaw.field for flaw in flaws}
    changed = any(flaw.expected and flaw.field in _FACTS for flaw in flaws)
    for name, value, expected in left:
        if name in _PROOF:
            yield from _proof_flaws(values, CONSEQUENCE if changed else PROOF, str(value))
        elif name in columns or (name == "answer" and columns & {"query", "edges"}):
            continue
        elif name in FOLLOWING and type(expected) is type(values.get(name)):
            reason = "it does not follow from the rest of the row" + ", once that is corrected" * changed
            if isinstance(value, str) and value != values.get(name):
                reason = value
            yield Flaw(CONSEQUENCE if changed else COLUMN, name, written(expected), reason)
        else:
            yield Flaw(TEXT, name, "", f"expected {expected}", str(value))


def _proof_flaws(values: Mapping[str, Any], kind: str, why: str) -> Iterator[Flaw]:
    """Yield the columns of another proof of the answer, if there is one."""
    row = _read({**values, **_NO_PROOF})
    steps = proof_steps(row.facts, row.query, len(row.names)) if isinstance(row, KinshipRow) else None
    if steps is None or not isinstance(row, KinshipRow):
        yield Flaw(kind, "proof_steps", "", why)
        return
    triangles = [[head.first, left.second, head.second] for head, left, _ in steps]
    words = [row.word(head) for head, _, _ in steps]
    for name, value in zip(_PROOF, (triangles, words), strict=True):
        if name in values and values[name] != value:
            yield Flaw(kind, name, written(value), why)


def _with_given(values: Mapping[str, Any], flaw: Flaw) -> Flaw:
    return flaw if flaw.found is not None else flaw._replace(found=written(values.get(flaw.field)))
