"""Files of kinship in the columns of examples: Parquet, JSON lines and JSON lists, held against their facts and text.

They are judged as CLUTRR's own files are (`clutrr_files`), and by all that `verify` looks at. Relations are those that
the text tells, where it can be read. Two kinds of errata come on top: `column`, a value that follows from others and
is wrong, and `text`, what does not fit together and cannot be mended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from storyproof.errata import COLUMN, FileReport
from storyproof.errors import ParseError
from storyproof.families.kinship.audit.cases import Puzzle, Verdict, proof_steps, understand
from storyproof.families.kinship.audit.checks import Flaw, find_flaws
from storyproof.families.kinship.audit.clutrr_files import CHUNK, JUDGE, Audit
from storyproof.families.kinship.audit.labels import check_row
from storyproof.families.kinship.audit.records import COLUMNS, Told, read_told, tells_of_kinship
from storyproof.families.kinship.judgement import judge
from storyproof.families.kinship.relations import word
from storyproof.families.kinship.rows import Case, read_case
from storyproof.formats.format import Format, format_of, load_format
from storyproof.formats.patches import is_text

TEXT, CONSEQUENCE = "text", "consequence"
_TOTALS = {COLUMN: "wrong_columns", TEXT: "wrong_texts"}
_FACTS = ("answer", "edge_types", "genders")  # what others follow from
_FOLLOWING = (
    *("candidates", "question_type", "order", "chain", "story_type", "false_belief", "readings", "proof"),
    *("noise_types", "pattern", "status"),
)
_PROOF = ("proof_steps", "proof_relations")
_NO_PROOF = dict.fromkeys(_PROOF)


def holds_kinship(path: Path, form: Format) -> bool:
    """Return whether a file is of this kind: rows of kinship in a format that can hold those of all families."""
    return not form.family and tells_of_kinship(path, form)


def is_kinship_report(report: FileReport) -> bool:
    """Return whether a report is about kinship."""
    return "rows" in report.totals


def audit_file(path: Path, format: str = "") -> FileReport:
    """Find what is wrong in a file.

    Args:
        path: The file.
        format: The name of its format; by default its suffix says.

    Raises:
        DataError: If it cannot be read; the message says what was found where, and what was expected.
    """
    form = load_format(format) if format else format_of(path)
    audit = _Audit(path, form.name, _TOTALS)
    rows = read_told(path, form)
    while part := list(islice(rows, CHUNK)):
        audit.take_told(part)
    return audit.report()


class _Audit(Audit):
    """What is found in a file, while it is read."""

    def take_told(self, rows: list[Told]) -> None:
        """Look at some rows, first at what is wrong in them, then at what is left once that is put right."""
        puzzles = [understand(each.row) for each in rows]
        verdicts = JUDGE.verdicts(puzzles)
        found = [list(_flaws(*each)) for each in zip(rows, puzzles, verdicts, strict=True)]
        mended = [_mended(each.values, flaws) for each, flaws in zip(rows, found, strict=True)]
        for values, flaws in zip(mended, found, strict=True):
            flaws += _senseless_proof(values)
        cases = [_case(each) for each in mended]
        judged = iter(judge([each for each in cases if isinstance(each, Case)]))
        for place, (told, case) in enumerate(zip(rows, cases, strict=True)):
            flaws = found[place]
            if isinstance(case, Case):
                left = check_row(mended[place], case, next(judged))
                flaws += _left(flaws, list(left), mended[place])
            elif not flaws:
                flaws.append(Flaw(TEXT, "edges", "", str(case)))
            self.add(puzzles[place], verdicts[place], [_shown(told.values, flaw) for flaw in flaws])


def _case(values: Mapping[str, Any]) -> Case | ParseError:
    try:
        return read_case(values)
    except ParseError as error:
        return error


def _senseless_proof(values: dict[str, Any]) -> Iterator[Flaw]:
    """Take a proof away that cannot be read, though the rest of the row can, and say what is to stand there."""
    case = _case(values)
    if isinstance(case, ParseError) and isinstance(_case({**values, **_NO_PROOF}), Case):
        yield from _proof_flaws(values, "proof", str(case))
        values |= _NO_PROOF


def _flaws(told: Told, puzzle: Puzzle, verdict: Verdict | None) -> Iterator[Flaw]:
    """Find what is wrong in a row, in the names and forms of our columns."""
    given = told.values["edge_types"]
    if list(puzzle.words) != given:
        yield Flaw("edges", "edge_types", _written(list(puzzle.words)), "the text tells other relations")
    for flaw in find_flaws(puzzle, verdict, proofs=False):
        name = COLUMNS.get(flaw.field, flaw.field)
        expected = flaw.expected
        if expected and name == "genders":
            expected = _written(expected.split(","))
        yield flaw._replace(field=name, expected=expected)


def _mended(values: Mapping[str, Any], flaws: list[Flaw]) -> dict[str, Any]:
    """Give a row with what is known to be right in place of what is wrong."""
    right = {flaw.field: read_value(flaw.field, flaw.expected) for flaw in flaws if flaw.expected}
    return {**values, **right}


def _left(flaws: list[Flaw], left: list[tuple[str, Any, Any]], mended: Mapping[str, Any]) -> Iterator[Flaw]:
    """Say what is wrong still, once what was found is put right."""
    known = {flaw.field for flaw in flaws}
    changed = any(flaw.expected and flaw.field in _FACTS for flaw in flaws)
    for name, found, expected in left:
        if name in _PROOF:
            yield from _proof_flaws(mended, CONSEQUENCE if changed else "proof", str(found))
        elif name in known or (name == "answer" and known & {"query", "edges"}):
            continue
        elif name in _FOLLOWING and type(expected) is type(mended.get(name)):
            reason = "it does not follow from the rest of the row" + ", once that is put right" * changed
            yield Flaw(CONSEQUENCE if changed else COLUMN, name, _written(expected), reason)
        else:
            yield Flaw(TEXT, name, "", f"expected {expected}", str(found))


def _proof_flaws(mended: Mapping[str, Any], kind: str, why: str) -> Iterator[Flaw]:
    """Give another proof of what is to be proved, if there is one."""
    case = _case({**mended, **_NO_PROOF})
    steps = proof_steps(case.facts, case.query, len(case.names)) if isinstance(case, Case) else None
    if steps is None or not isinstance(case, Case):
        yield Flaw(kind, "proof_steps", "", why)
        return
    found = [[head.first, left.second, head.second] for head, left, _ in steps]
    words = [word(head.predicate, case.genders[head.second]) for head, _, _ in steps]
    for name, value in zip(_PROOF, (found, words), strict=True):
        if mended[name] != value:
            yield Flaw(kind, name, _written(value), why)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_value(name: str, text: str) -> Any:
    """Give the value that a text stands for in a column."""
    return text if is_text(name) else json.loads(text)


def _shown(values: Mapping[str, Any], flaw: Flaw) -> Flaw:
    return flaw if flaw.found is not None else flaw._replace(found=_written(values.get(flaw.field)))
