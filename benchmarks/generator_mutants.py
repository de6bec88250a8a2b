"""How many mutants of two small generators `audit --generator` finds, and how far it shrinks what they get wrong.

Every change of one thing (with the operators of `tests/mutants.py`) is made to the generators in
`tests/audits/sample_generators`. A mutant is *non-equivalent* if its tracker differs from the original on any of some
thousand small stories, or if its own samples have a label that the original would not give, cannot happen, or end in an
error. It is *found* if the audit of at most 10,000 samples has a disagreement. Disagreements in the first 1,000
samples (of kinship 200; or as many as it takes to find one) are shrunk. The *exhaustive minimum* is the size of the
smallest of all those small stories, and of all parts of its own shortest wrong stories, that the audit calls wrong with
one of the same causes.

    PYTHONPATH=src:. .venv-tools/bin/python -m benchmarks.generator_mutants --python .venv/bin/python
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import signal
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, islice, permutations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
GENERATORS = {
    "beliefs": {"people": [2, 3, 4, 5], "moves": [0, 1, 2, 3, 4, 5, 6]},
    "kinship": {"children": [1, 2, 3], "grandchildren": [0, 1, 2]},
}
# Samples whose disagreements are shrunk; those of kinship take ten times as long.
SHRUNK = {"beliefs": 1000, "kinship": 200}
SMALL = {"beliefs": {"people": 2, "moves": 3}, "kinship": {"children": 2, "grandchildren": 1}}
SAMPLES, STORIES, PARTS = 10_000, 60, 6  # draws; stories of which all parts up to so many sentences are looked at
CALL_S = 0.2  # CPU time of one call; a mutant may not come to an end
Row = tuple[str, str, str]


def source_of(name: str) -> Path:
    return ROOT / "tests" / "audits" / "sample_generators" / f"{name}.py"


def load(name: str, code: str) -> types.ModuleType:
    """Run the code of a generator; its functions end with an error when they take too long."""
    module = types.ModuleType(name)
    exec(compile(code, name, "exec"), module.__dict__)
    return module


def limited(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let calls end after some time; those inside another one are part of it."""

    def limit(*args: Any, **settings: Any) -> Any:
        signal.setitimer(signal.ITIMER_VIRTUAL, CALL_S)
        try:
            return call(*args, **settings)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    return limit


def too_long(*_: object) -> None:
    raise TimeoutError("takes too long")


def attempt(call: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """Return what a call returns, or the error that it ends in."""
    try:
        return call(*args, **settings)
    except Exception as error:
        return error


def can_happen(name: str, story: str) -> bool:
    """Return whether a whole story of a generator can happen, apart from storyproof."""
    lines = [line.rstrip(".").split() for line in story.split("\n")]
    if name == "kinship":
        parents: dict[tuple[str, str], set[str]] = {}
        for one, _, _, word, _, two in lines:
            if word in ("father", "mother"):
                parents.setdefault((two, word), set()).add(one)
            elif word in ("husband", "wife"):
                parents.setdefault((one, "spouse"), set()).add(two)
                parents.setdefault((two, "spouse"), set()).add(one)
            elif one == two:
                return False
        return all(len(each) == 1 for each in parents.values())
    rooms: dict[str, str] = {}
    home = {words[1]: words[-1] for words in lines if words[0] == "The" and words[1] != "key"}
    place = ""
    for words in lines:
        who, room = words[0], words[-1]
        if words[1] == "entered":
            if rooms.get(who) == room:
                return False
            rooms[who] = room
        elif words[1] == "exited":
            if rooms.pop(who, None) != room:
                return False
        elif words[1] == "moved":
            if not place or not rooms.get(who) == home.get(place) == home.get(room):
                return False
            place = room
        elif words[1] == "key":
            place = room
    return True


def questions(name: str, story: str, module: types.ModuleType) -> Iterator[str]:
    """Yield all questions about a story and those whom it mentions."""
    words = story.replace(".", "").split()
    names = module.NAMES if name == "beliefs" else (*module.MEN, *module.WOMEN)
    people = [each for each in names if each in words]
    if name == "kinship":
        yield from (f"What is {one} to {two}?" for one, two in permutations(people, 2))
    elif "key" in words:
        yield from ("Where is the key really?", "Where was the key at the beginning?")
        yield from (f"Where will {one} look for the key?" for one in people)
        for one, two in permutations(people, 2):
            yield f"Where does {one} think that {two} searches for the key?"


def parts_of(stories: list[str], most: int) -> list[str]:
    """Return all parts of stories, the smallest first."""
    found: dict[str, int] = {}
    for lines in (story.split("\n") for story in stories):
        for size in range(1, min(most, len(lines)) + 1):
            found.update(("\n".join(part), size) for part in combinations(lines, size))
    return sorted(found, key=found.__getitem__)


class Original:
    """A generator as it is, with its answers to all questions about all parts of some small stories."""

    def __init__(self, name: str) -> None:
        self.name, self.module = name, load(name, source_of(name).read_text())
        stories = [self.module.sample(seed, **SMALL[name])[0] for seed in range(STORIES)]
        self.rows: list[tuple[int, str, str, Any]] = []
        for story in parts_of(stories, PARTS if name == "beliefs" else PARTS - 2):
            for question in questions(name, story, self.module):
                right = attempt(self.module.answer, story, question)
                if not isinstance(right, Exception):
                    self.rows.append((story.count("\n") + 1, story, question, right))

    def is_right(self, row: Row) -> bool:
        """Return whether a sample can happen, and has the label that the original gives."""
        story, question, label = row
        happens = attempt(can_happen, self.name, story) is True
        return happens and attempt(self.module.answer, story, question) == label

    def differences(self, mutant: types.ModuleType) -> Iterator[tuple[int, Row]]:
        """Yield where a mutant's tracker answers otherwise, the smallest stories first."""
        for size, story, question, right in self.rows:
            answer = attempt(limited(mutant.answer), story, question)
            if answer is not None and not isinstance(answer, Exception) and answer != right:
                yield size, (story, question, str(answer))

    def own(self, mutant: types.ModuleType, stories: list[str]) -> Iterator[tuple[int, Row]]:
        """Yield what a mutant's tracker answers about parts of some stories, the smallest first."""
        for story in parts_of(stories, PARTS):
            for question in questions(self.name, story, self.module):
                answer = attempt(limited(mutant.answer), story, question)
                if answer is not None and not isinstance(answer, Exception):
                    yield story.count("\n") + 1, (story, question, str(answer))


def smallest_wrong(differences: Iterator[tuple[int, Row]], causes: set[tuple[str, ...]], is_extractive: bool) -> int:
    """Return how many sentences the first story has that the audit calls wrong for one of some causes; 0 if none is."""
    from storyproof.audits.generators import Sample, cause_of, find_disagreements

    while batch := list(islice(differences, 200)):
        samples = [Sample(*row, seed) for seed, (_, row) in enumerate(batch)]
        for each in find_disagreements(samples, {})[0]:
            if cause_of(each, is_extractive) in causes:
                return batch[each.sample.seed][0]
    return 0


def measure(original: Original, code: str) -> dict[str, Any]:
    """Return whether a mutant is equivalent, found and shrunk."""
    from storyproof.audits.generators import WRONG, audit_generator, cause_of

    dials = GENERATORS[original.name]
    mutant = attempt(load, original.name, code)
    if isinstance(mutant, Exception):
        return {"status": "no module"}
    signal.signal(signal.SIGVTALRM, too_long)
    draw = limited(mutant.sample)
    wrong: list[str] = []
    failed = 0
    choose = random.Random(1)
    for seed in range(SAMPLES):
        row = attempt(draw, seed, **{name: choose.choice(values) for name, values in dials.items()})
        failed += isinstance(row, Exception)
        if isinstance(row, TimeoutError):
            break
        if not isinstance(row, Exception) and not original.is_right(row):
            wrong.append(row[0])
        if len(wrong) >= 200 or failed >= 200:
            break
    first = next(original.differences(mutant), None)
    if not wrong and not failed and first is None:
        return {"status": "equivalent"}
    generator = types.SimpleNamespace(sample=_sampler(draw), answer=limited(mutant.answer))
    report = audit_generator(generator, samples=SAMPLES, dials=dials, stop=True)
    if report.ok:
        return {"status": "missed", "wrong": len(wrong), "failed": failed, "differs": first}
    found: dict[str, Any] = {"status": "found", "samples": report.samples}
    if report.counts[WRONG]:
        report = audit_generator(generator, samples=max(SHRUNK[original.name], report.samples), dials=dials)
        smallest = [each.smallest for each in report.causes if each.smallest and each.consequence == WRONG]
        is_extractive = original.name == "beliefs"
        causes = {cause_of(each, is_extractive) for each in smallest}
        shortest = sorted(set(wrong), key=lambda story: story.count("\n"))[:5]
        rows = heapq.merge(original.differences(mutant), original.own(mutant, shortest))
        found["shrunk"] = min(len(each.sample.sentences) for each in smallest)
        found["minimum"] = smallest_wrong(rows, causes, is_extractive) or found["shrunk"]
    return found


def _sampler(draw: Callable[..., Any]) -> Callable[..., Any]:
    return lambda seed, **dials: draw(seed, **dials)


def work() -> None:
    """Measure the mutants that come in, one per line."""
    originals: dict[str, Original] = {}
    for line in sys.stdin:
        name, code = json.loads(line)
        if name not in originals:
            originals[name] = Original(name)
        found = attempt(measure, originals[name], code)
        if isinstance(found, Exception):
            found = {"status": "error", "error": repr(found)}
        print(json.dumps(found), flush=True)


def main() -> None:
    """Measure all mutants and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=".venv/bin/python", help="the interpreter that has storyproof")
    parser.add_argument("--only", choices=GENERATORS, help="one of the two generators")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, help="write what was found about each mutant")
    options = parser.parse_args()
    from tests.mutants import mutants_of
    from tests.mutation_targets import Target

    mutants = []
    for name in [options.only] if options.only else GENERATORS:
        path = source_of(name)
        target = Target("generators", str(path.relative_to(ROOT)), ())
        mutants += [(name, each) for each in mutants_of(target, path.read_text())]
    results: list[dict[str, Any]] = [{} for _ in mutants]

    def run(first: int) -> None:
        command = [options.python, "-m", "benchmarks.generator_mutants", "--work"]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for number in range(first, len(mutants), options.workers):
                name, mutant = mutants[number]
                process.stdin.write(json.dumps((name, mutant.code)) + "\n")
                process.stdin.flush()
                what = {"generator": name, "line": mutant.line, "before": mutant.before, "after": mutant.after}
                results[number] = {**what, **json.loads(process.stdout.readline() or '{"status": "error"}')}
                print(f"{number + 1} of {len(mutants)}: {results[number]}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(run, range(options.workers)))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    for name in GENERATORS:
        own = [each for each in results if each["generator"] == name]
        if own:
            report(name, own)


def report(name: str, results: list[dict[str, Any]]) -> None:
    """Print the figures of a generator."""
    counts = Counter(each["status"] for each in results)
    others = len(results) - counts["equivalent"] - counts["no module"]
    shrunk = [each["shrunk"] - each["minimum"] for each in results if each.get("minimum")]
    draws = sorted(each["samples"] for each in results if each["status"] == "found")
    print(
        f"{name}: {len(results)} mutants, {counts['no module']} cannot be imported, {counts['equivalent']} equivalent"
    )
    print(f"  found: {counts['found']} of {others} ({100 * counts['found'] / max(1, others):.1f}%)")
    if draws:
        print(
            f"  in the first {draws[0]} samples: {sum(each == draws[0] for each in draws)}; at most after {draws[-1]:,}"
        )
    if shrunk:
        near = sum(each <= 1 for each in shrunk)
        exact = sum(each <= 0 for each in shrunk)
        print(f"  shrunk: {near} of {len(shrunk)} to within one sentence of the minimum, {exact} to the minimum")
    for each in results:
        if each["status"] in ("missed", "error") or (each.get("minimum") and each["shrunk"] > each["minimum"] + 1):
            print(f"  {each}")


if __name__ == "__main__":
    work() if sys.argv[1:] == ["--work"] else main()
