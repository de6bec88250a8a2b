"""What is known of the mutants of each function, and the page that sums it up.

docs/mutants.toml has an entry for each function that was measured: how many of its mutants were killed, and which
survived. An entry belongs to a function by its name and by a hash of its code without comments, docstrings, layout and
the names of local variables, and not to the module that it stands in: functions that move keep their entry, and one
that changes loses only its own.
Reasons for survivors are written into the file by hand. `python -m tests.mutant_records` writes docs/mutants.md again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tests.mutation_targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "mutants.md"
RECORDS = ROOT / "docs" / "mutants.toml"
LEAST = 0.95  # of the mutants of an area that are not equivalent
EQUIVALENT = "Equivalent"  # how reasons begin of mutants that no test could notice


class Part(NamedTuple):
    """A function, a method, the other statements of a class, or those of a module.

    Attributes:
        name: Its name within the module; empty for the statements of a module.
        code: A hash of its code.
    """

    name: str
    code: str


class Survivor(NamedTuple):
    """A mutant that all tests pass.

    Attributes:
        function: The innermost function around the change.
        code, change: The line before and after.
        reason: Why it survives; empty if that is not known.
    """

    function: str
    code: str
    change: str
    reason: str = ""

    @property
    def is_equivalent(self) -> bool:
        """Return whether no test could notice it."""
        return self.reason.startswith(EQUIVALENT)


@dataclass(frozen=True)
class Record:
    """What became of the mutants of a part.

    Attributes:
        module: Where it stood when it was measured.
        part: The part.
        measured: The day.
        killed: How many mutants were noticed.
        survivors: Those that were not.
    """

    module: str
    part: Part
    measured: str
    killed: int
    survivors: tuple[Survivor, ...] = ()

    @property
    def mutants(self) -> int:
        """Return how many there are."""
        return self.killed + len(self.survivors)

    @property
    def equivalent(self) -> int:
        """Return how many survivors no test could notice."""
        return sum(each.is_equivalent for each in self.survivors)


Records = dict[tuple[str, Part], Record]  # by present module and part


def statements(tree: ast.Module | ast.ClassDef, around: str = "") -> Iterator[tuple[ast.stmt, str]]:
    """Yield each statement of a module, those of a class one by one, and the name of the part that it belongs to."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from statements(node, f"{around}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, around + node.name
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield node, around.rstrip(".")


def parts_of(code: str) -> list[Part]:
    """Return the parts of a module, in order, without docstrings."""
    found: dict[str, list[str]] = {}
    for node, name in statements(ast.parse(code)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        for inner in ast.walk(node):
            body = getattr(inner, "body", None)
            if isinstance(inner, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and ast.get_docstring(inner):
                assert isinstance(body, list)
                inner.body = body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            number_locals(node)
        found.setdefault(name, []).append(ast.unparse(node))
    return [Part(name, hashlib.sha256("\n".join(code).encode()).hexdigest()[:8]) for name, code in found.items()]


def number_locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Replace the names of arguments and local variables, those of inner functions too, by numbers in order."""
    numbers: dict[str, str] = {}
    outer = {name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    for node in ast.walk(function):
        name = ""
        if isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.ExceptHandler):
            name = node.name or ""
        if name and name not in outer:
            numbers.setdefault(name, f"local{len(numbers)}")
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.arg = numbers.get(node.arg, node.arg)
        elif isinstance(node, ast.Name):
            node.id = numbers.get(node.id, node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            node.name = numbers.get(node.name, node.name)


def present_parts() -> dict[str, list[Part]]:
    """Return the parts of each target as they are now."""
    return {target.module: parts_of((ROOT / target.path).read_text("utf-8")) for target in TARGETS}


def read_records(text: str) -> list[Record]:
    """Read docs/mutants.toml."""
    return [
        Record(
            each["module"],
            Part(each["name"], each["code"]),
            each["measured"],
            each["killed"],
            tuple(Survivor(**survivor) for survivor in each.get("survivors", ())),
        )
        for each in tomllib.loads(text).get("part", ())
    ]


def write_records(records: Iterable[Record]) -> str:
    """Return the text of docs/mutants.toml."""
    lines = [
        "# What became of the mutants of each function; see mutants.md. `make mutants` writes all but the reasons.",
        '# A reason begins with "Equivalent" if the changed code gives the same results.',
    ]
    for each in records:
        lines += ["", "[[part]]", f"module = {_quote(each.module)}", f"name = {_quote(each.part.name)}"]
        lines += [f'code = "{each.part.code}"', f'measured = "{each.measured}"', f"killed = {each.killed}"]
        if each.survivors:
            fields = (
                ", ".join(f"{key} = {_quote(value)}" for key, value in survivor._asdict().items())
                for survivor in each.survivors
            )
            lines += ["survivors = [", *(f"  {{ {each} }}," for each in fields), "]"]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def fitting(records: Sequence[Record], present: Mapping[str, Sequence[Part]]) -> Records:
    """Return the record of each part as it is now; one that moved is found by its name and code."""
    by_part: dict[Part, list[Record]] = {}
    for record in records:
        by_part.setdefault(record.part, []).append(record)
    found: Records = {}
    for module, parts in present.items():
        for part in parts:
            known = by_part.get(part, [])
            own = [each for each in known if each.module == module]
            if own or known:
                newest = max(own or known, key=lambda each: each.measured)
                found[module, part] = replace(newest, module=module)
    return found


def share_killed(records: Iterable[Record]) -> float:
    """Return the share of the mutants that are killed, of those that are not equivalent; 1 if there are none."""
    counted = list(records)
    all_of = sum(each.mutants - each.equivalent for each in counted)
    return sum(each.killed for each in counted) / all_of if all_of else 1.0


_HEAD = f"""\
# Mutants of the code that labels rest on

Do the tests notice wrong code? `make mutants` changes one thing at a time in the modules below and runs the tests of
the module ([decision 13](decisions/0013-mutation-testing.md)). A *mutant* is the code with one such change. It is
*killed* if a test fails, or the tests do not end; it *survives* if all pass. It is *equivalent* if it survives because
it gives the same results as the code.

The unit is the function. A figure holds for functions whose own code is as it was when they were measured, wherever
they stand now; the tests, and what a function calls, may have changed since. [mutants.toml](mutants.toml) lists each
function with its day, and each survivor with the reason.

`make mutants` measures what has changed since. It fails if fewer than {LEAST:.0%} of an area's mutants are killed, not
counting the equivalent ones, or if a survivor has no reason. `MUTANTS="--only io/atomic_files.py"` measures one module,
`--minutes 30` stops in time, `--again` measures all of it again, `--survivors` only what survived. How much is done
at once, or kept for later, changes no result and is not mutated; `TUNING` in `tests/mutation_targets.py` lists it.
"""


def write_page(records: Records, present: Mapping[str, Sequence[Part]]) -> str:
    """Return the page: figures by area and by module."""
    modules: dict[str, list[str]] = {}
    for target in TARGETS:
        modules.setdefault(target.area, []).append(target.module)
    lines = [_HEAD, "| area | functions measured | mutants | equivalent | killed of the rest |", "|---" * 5 + "|"]
    rows = []
    everything: list[Record] = []
    for area, names in modules.items():
        of_area: list[Record] = []
        for module in names:
            found = [records[module, part] for part in present[module] if (module, part) in records]
            of_area += found
            rows.append(f"| {module} | {_counts(found, len(present[module]))} | {_days(found)} |")
        lines.append(f"| {area} | {_counts(of_area, sum(len(present[each]) for each in names))} |")
        everything += of_area
    lines.append(f"| all | {_counts(everything, sum(map(len, present.values())))} |")
    lines += [
        "",
        "| module | functions measured | mutants | equivalent | killed of the rest | when |",
        "|---" * 6 + "|",
    ]
    return "\n".join((*lines, *rows)) + "\n"


def _counts(found: Sequence[Record], parts: int) -> str:
    tested, equivalent = sum(each.mutants for each in found), sum(each.equivalent for each in found)
    share = f"{share_killed(found):.1%}" if tested else "–"
    return f"{len(found)} of {parts} | {tested or '–'} | {equivalent or '–'} | {share}"


def _days(found: Sequence[Record]) -> str:
    days = sorted({each.measured for each in found})
    return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "–"


def store(records: Sequence[Record], present: Mapping[str, Sequence[Part]]) -> Records:
    """Write both files, without records of parts that are no longer there; return the others."""
    kept = fitting(records, present)
    RECORDS.write_text(write_records(kept.values()), "utf-8")
    PAGE.write_text(write_page(kept, present), "utf-8")
    return kept


if __name__ == "__main__":
    store(read_records(RECORDS.read_text("utf-8")), present_parts())
