"""Mutation test of both oracles and both checkers: change one thing in the code, and see whether a test fails.

Run by `make mutants`. The changes are made with operators of cosmic-ray, and with one of our own (`DropOperand`). Each
worker has a copy of the tree, so the working tree is never changed. The result is written to docs/mutants.md. Reasons
that stand there for survivors are kept; a survivor without a reason makes the run fail.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "mutants.md"
COPIED = ("src", "tests", "pyproject.toml")

# What is mutated, and the tests that should notice.
_FAMILIES, _TESTS = "src/storyproof/families", "tests/families"
_MATCHING, _MATCHED = "src/storyproof/evaluation/matching", "tests/evaluation/matching"
TARGETS: dict[str, tuple[str, ...]] = {
    f"{_FAMILIES}/belief/oracle.py": (f"{_TESTS}/belief/test_oracle.py", f"{_TESTS}/belief/test_proofs.py"),
    f"{_FAMILIES}/belief/checker.py": (f"{_TESTS}/belief/test_checker.py", f"{_TESTS}/belief/test_oracle.py"),
    f"{_FAMILIES}/kinship/oracle.py": (f"{_TESTS}/kinship/test_oracle.py",),
    f"{_FAMILIES}/kinship/checker.py": (f"{_TESTS}/kinship/test_checker.py",),
    f"{_MATCHING}/careful.py": tuple(f"{_MATCHED}/test_{each}.py" for each in ("reading", "careful", "matchers")),
    f"{_MATCHING}/denials.py": tuple(f"{_MATCHED}/test_{each}.py" for each in ("denials", "careful")),
    f"{_MATCHING}/kinds.py": (f"{_MATCHED}/test_matchers.py",),
    f"{_MATCHING}/matchers.py": (f"{_MATCHED}/test_matchers.py",),
    f"{_MATCHING}/mentions.py": (f"{_MATCHED}/test_mentions.py",),
    "src/storyproof/evaluation/judge.py": ("tests/evaluation/test_judge.py",),
    "src/storyproof/replies.py": ("tests/test_replies.py",),
    f"{_FAMILIES}/belief/talk.py": (f"{_TESTS}/belief/test_talk.py",),
    f"{_FAMILIES}/kinship/talk.py": (f"{_TESTS}/kinship/test_talk.py",),
}

# One or two replacements for each operator: all that cosmic-ray knows would be four times as many mutants, most of
# which fail at once. Removing decorators is left out: those here only cache results or generate methods.
OPERATORS = (
    *(
        f"core/ReplaceBinaryOperator_{pair}"
        for pair in (
            "Add_Sub",
            "Sub_Add",
            "Mul_Add",
            "BitAnd_BitOr",
            "BitOr_BitAnd",
            "BitXor_BitOr",
            "LShift_RShift",
            "RShift_LShift",
        )
    ),
    *(
        f"core/ReplaceComparisonOperator_{pair}"
        for pair in ("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Is_IsNot", "IsNot_Is")
    ),
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
UNEXPLAINED = "**unexplained**"


class DropOperand(Operator):  # type: ignore[misc]
    """Leave out one operand of `and`, `or`, `&` or `|`: is each condition of a conjunction tested?"""

    TYPES = ("and_test", "or_test", "and_expr", "expr")

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if getattr(node, "type", None) in self.TYPES and {
            child.get_code().strip() for child in node.children[1::2]
        } <= {
            "and",
            "or",
            "&",
            "|",
        }:
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


@dataclass(frozen=True)
class Mutant:
    """One changed module.

    Attributes:
        module: Its path from the root.
        line: The changed line, counted from 1.
        function: The function around it; empty at the top of the module.
        before, after: The changed line, without indentation.
        code: The whole changed module.
        tests: The tests that should fail.
    """

    module: str
    line: int
    function: str
    before: str
    after: str
    code: str
    tests: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a reason is kept under: line numbers change with every edit."""
        return Path(self.module).parent.name + "/" + Path(self.module).name, self.function, self.before, self.after


@dataclass(frozen=True)
class Site:
    """One change that can be made: an operator, and at which of its places in a module."""

    module: str
    tests: tuple[str, ...]
    operator: Any
    occurrence: int
    line: int


def sites_of(module: str, tests: tuple[str, ...]) -> Iterator[Site]:
    """Yield all changes that can be made in a module."""
    code = (ROOT / module).read_text("utf-8")
    nodes, skipped = list(ast_nodes(get_ast(code))), list(_idle_ranges(ast.parse(code)))
    for operator in (*(get_operator(name)() for name in OPERATORS), DropOperand()):
        positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(positions):
            if not any(first <= start < last for first, last in skipped):
                yield Site(module, tests, operator, occurrence, start[0])


def mutants_at(sites: Sequence[Site]) -> Iterator[Mutant]:
    """Yield the mutants, each once: two operators may come to the same."""
    codes = {site.module: (ROOT / site.module).read_text("utf-8") for site in sites}
    trees = {module: ast.parse(code) for module, code in codes.items()}
    seen = set(codes.values())
    for site in sites:
        code = codes[site.module]
        mutated = mutate_code(code, site.operator, site.occurrence)
        if mutated is not None and mutated not in seen:
            seen.add(mutated)
            function = _function_at(trees[site.module], site.line)
            yield Mutant(site.module, site.line, function, *_changed_lines(code, mutated), mutated, site.tests)


def _idle_ranges(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where annotations and decorators stand, which change no answer."""
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts += node.decorator_list
        if isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        for part in parts:
            if part is not None and part.end_lineno is not None and part.end_col_offset is not None:
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _changed_lines(code: str, mutated: str) -> tuple[str, str]:
    pairs = [
        (one.strip(), other.strip())
        for one, other in zip(code.split("\n"), mutated.split("\n"), strict=False)
        if one != other
    ]
    return pairs[0]


def _function_at(tree: ast.Module, line: int) -> str:
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return ".".join(node.name for node in sorted(around, key=lambda node: node.lineno))


class Bench:
    """A copy of the tree in which one mutant at a time is tested.

    Args:
        folder: Where to put the copy.
        python: The interpreter of an environment with the tests' dependencies.
    """

    def __init__(self, folder: Path, python: Path) -> None:
        self._folder, self._python = folder, python
        ignore = shutil.ignore_patterns("__pycache__", "checkpoints")
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignore)
            else:
                shutil.copy(source, folder / name)

    def passes(self, tests: Sequence[str], timeout_s: float | None = None) -> bool:
        """Return whether the tests pass; raise TimeoutExpired if they take too long."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutants"]
        environment = {**os.environ, "PYTHONPATH": str(self._folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [str(self._python), "-m", "pytest", *options, *tests],
            cwd=self._folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=False,
        )
        return done.returncode == 0

    def outcome(self, mutant: Mutant, timeout_s: float) -> str:
        """Test a mutant."""
        path = self._folder / mutant.module
        code = path.read_text("utf-8")
        path.write_text(mutant.code, "utf-8")
        try:
            return SURVIVED if self.passes(mutant.tests, timeout_s) else KILLED
        except subprocess.TimeoutExpired:
            return TIMED_OUT
        finally:
            path.write_text(code, "utf-8")


def run(mutants: Sequence[Mutant], python: Path, jobs: int, minutes: float | None) -> list[tuple[Mutant, str]]:
    """Test mutants, `jobs` at a time, until all are tested or time is up, and report as it goes."""
    end = time.monotonic() + 60 * (minutes if minutes is not None else float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        benches: queue.Queue[Bench] = queue.Queue()
        for number in range(jobs):
            benches.put(Bench(Path(folder) / str(number), python))
        limits: dict[tuple[str, ...], float] = {}
        for tests in sorted({mutant.tests for mutant in mutants}):
            bench, start = benches.get(), time.monotonic()
            if not bench.passes(tests):
                raise SystemExit(f"{' '.join(tests)} fail without any change; fix them first.")
            limits[tests] = 60 + 5 * (time.monotonic() - start)
            benches.put(bench)

        def try_mutant(mutant: Mutant) -> tuple[Mutant, str | None]:
            bench = benches.get()
            try:
                return mutant, bench.outcome(mutant, limits[mutant.tests]) if time.monotonic() < end else None
            finally:
                benches.put(bench)

        results = []
        with ThreadPoolExecutor(jobs) as pool:
            for number, (mutant, outcome) in enumerate(pool.map(try_mutant, mutants), start=1):
                if outcome is None:
                    continue
                results.append((mutant, outcome))
                if outcome == SURVIVED:
                    print(f"survived: {mutant.module}:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
                if number % 20 == 0:
                    print(f"{number} of {len(mutants)} mutants tested", flush=True)
        return results


def read_reasons(page: str) -> dict[tuple[str, ...], str]:
    """Read the reasons for survivors from the page, by `Mutant.key`."""
    reasons = {}
    for line in page.splitlines():
        cells = [_from_cell(cell) for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if len(cells) == 5 and cells[-1] and cells[-1] != UNEXPLAINED:
            reasons[tuple(cells[:-1])] = cells[-1]
    return reasons


def _to_cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _from_cell(cell: str) -> str:
    return cell.replace("\\|", "|").strip().strip("`")


def write_page(results: Sequence[tuple[Mutant, str]], reasons: dict[tuple[str, ...], str], how: str) -> str:
    """Return the page: a table of counts, and a table of survivors with their reasons."""
    counts: dict[str, Counter[str]] = {}
    for mutant, outcome in results:
        counts.setdefault(mutant.key[0], Counter())[outcome] += 1
    lines = [
        "# Mutants of the oracles and checkers",
        "",
        "Written by `make mutants` ([decision 13](decisions/0013-mutation-testing.md)), but for the last column of the",
        f"second table, which is written by hand and kept. {how}",
        "",
        "| module | mutants | killed | timed out | survived |",
        "|---|---|---|---|---|",
    ]
    for module, found in counts.items():
        lines.append(f"| {module} | {found.total()} | {found[KILLED]} | {found[TIMED_OUT]} | {found[SURVIVED]} |")
    total = sum(counts.values(), Counter[str]())
    lines.append(f"| all | {total.total()} | {total[KILLED]} | {total[TIMED_OUT]} | {total[SURVIVED]} |")
    lines += [
        "",
        "## Survivors",
        "",
        "| module | function | code | change | why it survives |",
        "|---|---|---|---|---|",
    ]
    for mutant, outcome in results:
        if outcome == SURVIVED:
            module, *code = mutant.key
            reason = reasons.get(mutant.key, UNEXPLAINED)
            lines.append(f"| {module} | {' | '.join(_to_cell(each) for each in code)} | {reason} |".replace("``", ""))
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the mutation test, write the page, and return 1 if a survivor has no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter that runs the tests")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tested at once")
    parser.add_argument("--sample", type=int, help="test this many mutants only, always the same ones")
    parser.add_argument(
        "--minutes", type=float, help="begin no further mutants after this time; a random order is tested"
    )
    parser.add_argument("--only", default="", help="mutate only modules whose path contains this")
    parser.add_argument(
        "--page", type=Path, help="where to write the result; a part goes to build/mutants.md by default"
    )
    arguments = parser.parse_args()
    sites = [site for module, tests in TARGETS.items() if arguments.only in module for site in sites_of(module, tests)]
    total = len(sites)
    if arguments.sample and arguments.sample < total:
        sites = [sites[number] for number in sorted(random.Random(0).sample(range(total), arguments.sample))]
    mutants = list(mutants_at(sites))
    total -= len(sites) - len(mutants)  # the same code twice
    if arguments.minutes is not None:
        random.Random(0).shuffle(mutants)
    print(f"{len(mutants)} mutants", flush=True)
    start = time.monotonic()
    results = run(mutants, arguments.python.absolute(), arguments.jobs, arguments.minutes)
    minutes = (time.monotonic() - start) / 60
    how = f"{len(results)} of {total} mutants were tested, {arguments.jobs} at a time, in {minutes:.0f} minutes."
    if len(results) < total:
        how += " They were chosen at random."
    page = arguments.page or (PAGE if not arguments.only and len(results) == total else ROOT / "build" / "mutants.md")
    reasons = read_reasons(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    text = write_page(sorted(results, key=lambda result: list(TARGETS).index(result[0].module)), reasons, how)
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, "utf-8")
    survived, unexplained = sum(outcome == SURVIVED for _, outcome in results), text.count(UNEXPLAINED)
    print(f"{survived} survived, {unexplained} without a reason; see {page}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
