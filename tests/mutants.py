"""Mutation test of the code that every label rests on: change one thing, and see whether a test fails.

Run by `make mutants`. The changes are made with operators of cosmic-ray and some of our own. Each worker has a copy of
the tree (`mutant_server` runs the tests there), so the working tree is never changed. What is found about a function is
stored at once (`mutant_records`), so that the whole can be measured in parts and a run can be stopped at any time. Only
functions that have changed are measured again. A survivor without a reason makes the run fail, and so does an area in
which too few mutants are killed.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator
from parso.python.tree import Keyword

from tests.mutant_records import (
    LEAST,
    PAGE,
    RECORDS,
    ROOT,
    Part,
    Record,
    Survivor,
    fitting,
    parts_of,
    present_parts,
    read_records,
    share_killed,
    statements,
    store,
)
from tests.mutation_targets import TARGETS, Target, function_at, tuning_numbers

COPIED = ("src", "tests", "pyproject.toml", "docs", "examples")

# One or two replacements for each operator: all that cosmic-ray knows would be four times as many mutants, most of
# which fail at once. Removing decorators is left out: those here only cache results or generate methods.
_BINARY = "Add_Sub Sub_Add Mul_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul BitAnd_BitOr BitOr_BitAnd BitXor_BitOr"
_COMPARISONS = "Eq_NotEq NotEq_Eq Lt_LtE LtE_Lt Gt_GtE GtE_Gt Is_IsNot IsNot_Is"
OPERATORS = (
    *(f"core/ReplaceBinaryOperator_{pair}" for pair in f"{_BINARY} LShift_RShift RShift_LShift".split()),
    *(f"core/ReplaceComparisonOperator_{pair}" for pair in _COMPARISONS.split()),
    *(f"core/ReplaceUnaryOperator_Delete_{each}" for each in ("Not", "USub", "Invert")),
    "core/AddNot",
    "core/NumberReplacer",
    "core/ReplaceAndWithOr",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceOrWithAnd",
    "core/ReplaceTrueWithFalse",
    "core/ZeroIterationForLoop",
)

KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"


class DropOperand(Operator):  # type: ignore[misc]
    """Leave out one operand of `and`, `or`, `&` or `|`: is each condition of a conjunction tested?"""

    TYPES = ("and_test", "or_test", "and_expr", "expr")
    JOINED = ("and", "or", "&", "|")

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if getattr(node, "type", None) in self.TYPES and all(
            child.get_code().strip() in self.JOINED for child in node.children[1::2]
        ):
            for child in node.children[::2]:
                yield child.start_pos, child.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        before = node.get_first_leaf().prefix
        place = 2 * index
        del node.children[place - 1 if place else 0 : place + 1 if place else 2]
        node.get_first_leaf().prefix = before
        return node

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return (Example("a and b", "b"), Example("a and b", "a", 1))


class DropStatement(Operator):  # type: ignore[misc]
    """Leave out a statement that only has an effect: a call, a `yield`, a `raise`, a change of what exists already."""

    TYPES = ("atom_expr", "yield_expr", "raise_stmt")

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if getattr(node, "type", None) == "simple_stmt" and self._has_effect(node.children[0]):
            yield node.start_pos, node.end_pos

    def _has_effect(self, statement: Any) -> bool:
        if statement.type != "expr_stmt":
            return statement.type in self.TYPES
        changed, sign = statement.children[:2]
        return sign.type != "annassign" and (sign.get_code().strip() != "=" or changed.type == "atom_expr")

    def mutate(self, node: Any, index: int) -> Any:
        before = node.get_first_leaf().prefix
        node.children[0] = Keyword("pass", node.start_pos, before)
        return node

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return (Example("f(x)\n", "pass\n"), Example("x += 1\n", "pass\n"), Example("x[0] = 1\n", "pass\n"))


class Unwrap(Operator):  # type: ignore[misc]
    """Replace a call that chooses or arranges by one of the things that it is given."""

    NAMES = ("min", "max", "sorted", "reversed", "set")

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        for _ in self._given(node):
            yield node.start_pos, node.end_pos

    def _given(self, node: Any) -> list[Any]:
        if getattr(node, "type", None) != "atom_expr" or len(node.children) != 2:
            return []
        name, trailer = node.children
        if name.get_code().strip() not in self.NAMES or trailer.children[0] != "(":
            return []
        inside = trailer.children[1]
        given = inside.children[::2] if inside.type == "arglist" else [inside]
        return [
            each
            for each in given
            if each != ")" and (each.type != "argument" or each.children[1].type == "sync_comp_for")
        ]

    def mutate(self, node: Any, index: int) -> Any:
        before, chosen = node.get_first_leaf().prefix, self._given(node)[index]
        text = chosen.get_code().strip()
        if chosen.type == "argument":  # a comprehension without brackets of its own
            text = f"[{text}]"
        node.children = [Keyword(f"({text})", node.start_pos, before)]
        return node

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return (Example("min(a, b)", "(a)"), Example("min(a, b)", "(b)", 1), Example("sorted(a, key=k)", "(a)"))


class DropSlice(Operator):  # type: ignore[misc]
    """Take the whole instead of a slice."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if getattr(node, "type", None) == "trailer" and node.children[0] == "[" and self._is_slice(node.children[1]):
            yield node.start_pos, node.end_pos

    @staticmethod
    def _is_slice(inside: Any) -> bool:
        return bool(inside == ":" or inside.type == "subscript")

    def mutate(self, node: Any, index: int) -> Any:
        node.children = []
        return node

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return (Example("a[1:]", "a"), Example("a[:]", "a"))


class FlipMembership(Operator):  # type: ignore[misc]
    """Swap `in` and `not in`."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if getattr(node, "type", None) == "comparison":
            for sign in node.children[1::2]:
                if sign.get_code().split() in (["in"], ["not", "in"]):
                    yield sign.start_pos, sign.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        places = [place for place in range(1, len(node.children), 2) if "in" in node.children[place].get_code().split()]
        sign = node.children[places[index]]
        flipped = "in" if "not" in sign.get_code().split() else "not in"
        node.children[places[index]] = Keyword(flipped, sign.start_pos, " ")
        return node

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return (Example("a in b", "a not in b"), Example("a not in b", "a in b"))


class DropElement(Operator):  # type: ignore[misc]
    """Leave out one element of a set, or of the tuple that something is looked up in."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        elements = self._elements(node)
        for element in elements if len(elements) > 1 else ():
            yield element.start_pos, element.end_pos

    @staticmethod
    def _elements(node: Any) -> list[Any]:
        if getattr(node, "type", None) != "atom" or len(node.children) != 3:
            return []
        inside = node.children[1]
        is_set = node.children[0] == "{" and inside.type == "dictorsetmaker"
        is_searched = node.children[0] == "(" and inside.type == "testlist_comp" and node.parent.type == "comparison"
        if not (is_set or is_searched) or not all(each == "," for each in inside.children[1::2]):
            return []
        return list(inside.children[::2])

    def mutate(self, node: Any, index: int) -> Any:
        kept = [each.get_code().strip() for place, each in enumerate(self._elements(node)) if place != index]
        inside = node.children[1]
        inside.children = [Keyword(", ".join(kept) + ",", inside.start_pos, "")]
        return node

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return (Example("{a, b}", "{b,}"), Example("x in (a, b)", "x in (a,)", 1))


OWN = (FlipMembership(), DropElement(), DropOperand(), DropStatement(), Unwrap(), DropSlice())


@dataclass(frozen=True)
class Mutant:
    """One changed module.

    Attributes:
        target: The module.
        part: The function or class that is measured with it.
        line: The changed line, counted from 1.
        function: The function around it; empty at the top of the module.
        before, after: The changed line, without indentation.
        code: The whole changed module.
    """

    target: Target
    part: str
    line: int
    function: str
    before: str
    after: str
    code: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What a reason is kept under: line numbers change with every edit."""
        return self.function, self.before, self.after


def mutants_of(target: Target, code: str, part: str | None = None) -> list[Mutant]:
    """Return all mutants of a module, or of a part of it, each once: two operators may come to the same."""
    tree, lines = ast.parse(code), code.splitlines(keepends=True)
    skipped = [*_idle_ranges(tree), *(where for _, where in tuning_numbers(target.module, tree))]
    found: dict[str, Mutant] = {}
    for node, name in statements(tree):
        if part not in (None, name):
            continue
        decorators = getattr(node, "decorator_list", [])
        first, last = min(each.lineno for each in (node, *decorators)) - 1, node.end_lineno or node.lineno
        # Only the statement is parsed again for each mutant, which takes far less time than the module.
        header = "class _:\n" if lines[first][:1].isspace() else ""
        statement = header + "".join(lines[first:last])
        offset = first - header.count("\n")  # what to add to line numbers
        nodes = list(ast_nodes(get_ast(statement)))
        for operator in (*(get_operator(name)() for name in OPERATORS), *OWN):
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, ((line, column), _) in enumerate(positions):
                place = line + offset, column
                if line <= header.count("\n") or any(start <= place < end for start, end in skipped):
                    continue
                changed = mutate_code(statement, operator, occurrence)
                if changed is None or changed == statement:
                    continue
                mutated = "".join((*lines[:first], changed.removeprefix(header), *lines[last:]))
                if mutated not in found and _compiles(mutated):
                    function = function_at(tree, place[0])
                    found[mutated] = Mutant(target, name, place[0], function, *_changed_lines(code, mutated), mutated)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def _compiles(code: str) -> bool:
    try:
        compile(code, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _idle_ranges(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where annotations, decorators and `strict=True` stand, which change no answer."""
    for node in ast.walk(tree):
        parts: list[ast.expr | ast.keyword | None] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts += node.decorator_list
        if isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        if isinstance(node, ast.Call):
            parts += [keyword for keyword in node.keywords if keyword.arg == "strict"]
        if isinstance(node, ast.FunctionDef) and node.args.kwonlyargs:  # the asterisk before them is no operator
            first = node.args.kwonlyargs[0]
            yield (node.lineno, 0), (node.lineno, 0) if node.args.vararg else (first.lineno, first.col_offset)
        for part in parts:
            if part is not None and part.end_lineno is not None and part.end_col_offset is not None:
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _changed_lines(code: str, mutated: str) -> tuple[str, str]:
    """Return the first line that differs, and what stands in its place, up to where the two are the same again."""
    one, other = code.split("\n"), mutated.split("\n")
    start = next(number for number, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    while len(one) > start + 1 and len(other) > start + 1 and one[-1] == other[-1]:
        one.pop()
        other.pop()
    return one[start].strip(), " ".join(line.strip() for line in other[start:])


# Make everything read-only but one folder, for one command: mutants of code that writes and removes files do so in
# the wrong places.
_CONTAIN = """
mount --bind "$0" "$0" && mount -o remount,ro,bind / && mount -o remount,ro,bind /dev && cd "$0" && exec "$@"
"""


def contained(folder: Path) -> list[str]:
    """Return what to put before a command so that it can change nothing outside a folder; nothing if not possible.

    Raises:
        SystemExit: If that is not possible for root, for whom nothing is protected.
    """
    kind = [] if os.geteuid() == 0 else ["--map-root-user"]
    start = ["unshare", "--mount", "--propagation", "private", *kind, "sh", "-c", _CONTAIN, str(folder)]
    if shutil.which("unshare") and subprocess.run([*start, "true"], capture_output=True, check=False).returncode == 0:
        return start
    if os.geteuid() == 0:
        raise SystemExit("mutants may damage the system if root runs them; run them as another user.")
    return []


@dataclass
class Baseline:
    """What is known of the tests of a module: how they do without a change, and which of them noticed mutants.

    Attributes:
        cpu_s: How much CPU time they may take.
        wall_s: How much time they may take; others may use the machine, too.
        modules: Libraries that they import.
        seconds: How long each takes.
        kills: How many mutants each noticed.
    """

    cpu_s: float
    wall_s: float
    modules: list[str]
    seconds: dict[str, float]
    kills: Counter[str]

    @property
    def order(self) -> dict[str, float]:
        """Where each test stands: those first that are likely to fail soon."""
        return {test: seconds / (self.kills[test] + 0.5) for test, seconds in self.seconds.items()}


class Bench:
    """A copy of the tree in which one mutant at a time is tested.

    Args:
        folder: Where to put the copy.
        python: The interpreter of an environment with the tests' dependencies.
    """

    def __init__(self, folder: Path, python: Path) -> None:
        self._folder = folder
        ignore = shutil.ignore_patterns("__pycache__", "checkpoints")
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignore)
            else:
                shutil.copy(source, folder / name)
        (folder / "tmp").mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(folder / "src"), os.environ.get("PYTHONPATH")))),
            "PYTHONHASHSEED": "0",  # the same order of sets in every run, so that a mutant has the same fate
            "PYTHONDONTWRITEBYTECODE": "1",  # a mutant written in the same second would be taken for what was compiled
            "TMPDIR": str(folder / "tmp"),
        }
        self._server = subprocess.Popen(
            [*contained(folder), str(python), "-m", "tests.mutant_server"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _run(self, tests: Sequence[str], baseline: Baseline | None = None) -> dict[str, Any]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        known = {} if baseline is None else {name: getattr(baseline, name) for name in ("cpu_s", "wall_s", "modules")}
        request = {"tests": tests, "order": {} if baseline is None else baseline.order, **known}
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        found: dict[str, Any] = json.loads(self._server.stdout.readline())
        return found

    def baseline(self, tests: Sequence[str]) -> Baseline | str:
        """Run tests without a change and then as mutants are run; return what is known, or the failure."""
        start = time.monotonic()
        found = self._run(tests)
        if not found["code"]:
            limits = 5 + 2 * found["cpu_s"], 120 + 10 * (time.monotonic() - start)
            baseline = Baseline(*limits, found["modules"], found["seconds"], Counter())
            found = self._run(tests, baseline)
            if not found["code"]:
                return baseline
        return f"{found['failed'] or 'the tests'} fail without any change; repair them first. {found['reason']}"

    def outcome(self, mutant: Mutant, baselines: Sequence[Baseline]) -> str:
        """Test a mutant, with slower tests if the others do not notice it."""
        path = self._folder / mutant.target.path
        code = path.read_text("utf-8")
        path.write_text(mutant.code, "utf-8")
        try:
            for tests, baseline in zip(mutant.target.tries, baselines, strict=True):
                found = self._run(tests, baseline)
                if found["timed_out"]:
                    return TIMED_OUT
                if found["code"]:
                    baseline.kills[found["failed"]] += 1
                    return KILLED
        finally:
            path.write_text(code, "utf-8")
        return SURVIVED

    def close(self) -> None:
        """End the process that runs the tests."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    outcome: str


@dataclass
class Batch:
    """The mutants of one part of a module.

    Attributes:
        target: The module.
        part: The part.
        before: What was found earlier; nothing if all its mutants are tested.
        mutants: Those to test.
        results: What became of those that have been.
    """

    target: Target
    part: Part
    before: Record | None
    mutants: list[Mutant]
    results: list[Result] = field(default_factory=list)


class Plan:
    """Hands out the work: each module's tests are first run without a change, then its mutants are tested.

    Workers take mutants of all parts and modules that are ready, so that none waits for the last mutant of a part.

    Args:
        batches: What to test, per module.
        end: When to begin no further mutants.
        finish: What to do with a part of which all mutants are tested.
    """

    def __init__(self, batches: Mapping[Target, Iterator[Batch]], end: float, finish: Callable[[Batch], None]) -> None:
        self._ready = threading.Condition()
        self._waiting, self._batches, self._end, self._finish = list(batches), dict(batches), end, finish
        self._running = 0
        self._baselines: dict[Target, list[Baseline]] = {}
        self._order = list(batches)
        self._mutants = {target: self._mutants_of(target) for target in batches}
        self.failures: list[str] = []

    def _mutants_of(self, target: Target) -> Iterator[tuple[Batch, Mutant]]:
        for batch in self._batches[target]:
            print(f"{target.module} {batch.part.name}: {len(batch.mutants)} mutants", flush=True)
            if not batch.mutants:
                self._finish(batch)
            for mutant in batch.mutants:
                yield batch, mutant

    def work(self, bench: Bench) -> None:
        """Do one piece of work after another until nothing is left or time is up."""
        while time.monotonic() < self._end:
            with self._ready:
                target = self._waiting.pop(0) if self._waiting else None
                self._running += target is not None
                chosen = None if target else self._next_mutant()
                if target is None and chosen is None:
                    if not self._running:
                        return
                    self._ready.wait(1)
                    continue
            if target is not None:
                self._measure(bench, target)
            elif chosen is not None:
                self._test(bench, *chosen)

    def _next_mutant(self) -> tuple[Batch, Mutant] | None:
        for target in sorted(self._baselines, key=self._order.index):
            if chosen := next(self._mutants[target], None):
                return chosen
        return None

    def _measure(self, bench: Bench, target: Target) -> None:
        found = [bench.baseline(tests) for tests in target.tries]
        with self._ready:
            self._running -= 1
            failures = [f"{target.module}: {each}" for each in found if isinstance(each, str)]
            if not failures:
                self._baselines[target] = [each for each in found if isinstance(each, Baseline)]
            for failure in failures:
                self.failures.append(failure)
                print(failure, flush=True)
            self._ready.notify_all()

    def _test(self, bench: Bench, batch: Batch, mutant: Mutant) -> None:
        result = Result(mutant, bench.outcome(mutant, self._baselines[batch.target]))
        with self._ready:
            if result.outcome == SURVIVED:
                print(f"survived: {mutant.target.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
            batch.results.append(result)
            if len(batch.results) == len(batch.mutants):
                self._finish(batch)


def unmeasured(
    target: Target, records: Sequence[Record], again: bool, survivors: bool
) -> Iterator[tuple[Part, Record | None]]:
    """Yield the parts of a module to measure: with what is known of them if only their survivors are tested again."""
    parts = parts_of((ROOT / target.path).read_text("utf-8"))
    known = fitting(records, {target.module: parts})
    for part in parts:
        before = known.get((target.module, part))
        if not survivors and (before is None or again):
            yield part, None
        elif survivors and before is not None and any(not each.is_equivalent for each in before.survivors):
            yield part, before


def batches_of(target: Target, parts: Iterable[tuple[Part, Record | None]], sample: int | None) -> Iterator[Batch]:
    """Yield the mutants of each part."""
    code = (ROOT / target.path).read_text("utf-8")
    for part, before in parts:
        mutants = mutants_of(target, code, part.name)
        if before is not None:
            doubtful = {each[:3] for each in before.survivors if not each.is_equivalent}
            again = [each for each in mutants if each.key in doubtful]
            if len(again) < len(doubtful):  # its variables have other names now
                before = None
            else:
                mutants = again
        if sample is not None:
            mutants = random.Random(0).sample(mutants, min(sample, len(mutants)))
        yield Batch(target, part, before, mutants)


def records_of(results: Sequence[Result], module: str, parts: Sequence[Part], known: Sequence[Record]) -> list[Record]:
    """Return what is found about some parts of a module; reasons for the same survivors are kept."""
    reasons = {
        (each.function, each.code, each.change): each.reason
        for record in known
        for each in record.survivors
        if record.module == module
    }
    found = []
    for part in parts:
        own = [each for each in results if each.mutant.part == part.name]
        survivors = tuple(
            Survivor(*each.mutant.key, reasons.get(each.mutant.key, "")) for each in own if each.outcome == SURVIVED
        )
        today = datetime.date.today().isoformat()
        found.append(Record(module, part, today, len(own) - len(survivors), survivors))
    return found


def join(before: Record, again: Record) -> Record:
    """Return what is known after the survivors that are not equivalent were tested again."""
    kept = tuple(each for each in before.survivors if each.is_equivalent)
    return replace(again, killed=before.killed + again.killed, survivors=(*kept, *again.survivors))


def main() -> int:
    """Run the mutation test, write its files, and return 1 if a survivor has no reason or too few are killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter that runs the tests")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tested at once")
    parser.add_argument("--sample", type=int, help="test this many mutants of each module, and write nothing")
    parser.add_argument("--minutes", type=float, help="begin no further mutants after this time")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[""],
        help="mutate only modules of these areas, or whose path contains this, in order",
    )
    parser.add_argument("--again", action="store_true", help="measure functions again that have not changed")
    parser.add_argument(
        "--survivors", action="store_true", help="test again only what survived without being equivalent"
    )
    arguments = parser.parse_args()
    chosen = list(
        dict.fromkeys(each for only in arguments.only for each in TARGETS if only in each.path or only == each.area)
    )
    if not chosen:
        parser.error(f"--only is {' '.join(arguments.only)}, which no area or module has")
    records = read_records(RECORDS.read_text("utf-8")) if RECORDS.exists() else []
    present = present_parts()
    start = time.monotonic()
    end = start + 60 * (arguments.minutes if arguments.minutes is not None else float("inf"))

    def finish(batch: Batch) -> None:
        nonlocal records
        if arguments.sample is not None:
            return
        [found] = records_of(batch.results, batch.target.module, [batch.part], records)
        if batch.before is not None:
            found = join(batch.before, found)
        replaced = fitting(records, {batch.target.module: [batch.part]}).get((batch.target.module, batch.part))
        records = list(store([*(each for each in records if each != replaced), found], present).values())

    batches = {target: list(unmeasured(target, records, arguments.again, arguments.survivors)) for target in chosen}
    plan = Plan(
        {target: batches_of(target, parts, arguments.sample) for target, parts in batches.items() if parts}, end, finish
    )
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        folders = [Path(folder) / str(number) for number in range(arguments.jobs)]
        benches = list(pool.map(lambda each: Bench(each, arguments.python.absolute()), folders))
        list(pool.map(plan.work, benches))
        for bench in benches:
            bench.close()
    if arguments.sample is not None:
        return 0
    known = fitting(records, present)
    unexplained = sum(not each.reason for record in known.values() for each in record.survivors)
    areas = {target.area for target in chosen}
    few = [
        area
        for area in sorted(areas)
        if share_killed(
            known[target.module, part]
            for target in TARGETS
            if target.area == area
            for part in present[target.module]
            if (target.module, part) in known
        )
        < LEAST
    ]
    print(f"{unexplained} survivors without a reason, {(time.monotonic() - start) / 60:.1f} minutes; see {PAGE}")
    for area in few:
        print(f"{area}: fewer than {LEAST:.0%} of the mutants that are not equivalent are killed")
    for failure in plan.failures:
        print(failure)
    return 1 if few or unexplained or plan.failures else 0


if __name__ == "__main__":
    sys.exit(main())
