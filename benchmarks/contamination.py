"""How often solvers that saw nothing are flagged, and those that memorised: `python -m benchmarks.contamination`.

Data are generated and then treated as somebody's published file: without a manifest, so that their twin is the same
stories in other words. Each pair is a solver with a seed, on one file and its twin. Solvers that memorised answer the
stories that they know by the labels, and the others as a solver that saw nothing.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

import storyproof
from benchmarks.measure import Record
from storyproof.evaluation.fresh_twin import LEVEL, compare_answers, exchange_words
from storyproof.example import Example
from storyproof.solvers.unseen import Answers, unseen_answers
from storyproof.stats import wilson_interval

BENCHMARKS: Mapping[str, Mapping[str, object]] = {"tomi": {}, "clutrr": {"test_k": (4,)}}
SHARES = (0.05, 0.1, 0.25, 0.5)
BASES = ("last named", "favourite word 1")  # what they do who memorised, where they do not remember
_DRAWS = 10  # of memorised stories, for each file


def pairs(benchmark: str, stories: int, seed: int) -> tuple[list[Example], list[Example]]:
    """Return the rows of a file that is generated, and those of its twin."""
    table = storyproof.generate(benchmark, test=stories, seed=seed, **BENCHMARKS[benchmark])  # type: ignore[arg-type]
    rows = [replace(Example.from_row(row), family="") for row in table.to_pylist()]
    return rows, exchange_words(rows, seed)


def false_alarms(most: int, stories: int) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield for each pair the benchmark, the solver, whether p is below the level, and whether it is accused."""
    done, seed = 0, 0
    while done < most:
        for benchmark in BENCHMARKS:
            rows, twin = pairs(benchmark, stories, seed)
            found = {name: compare_answers(rows, twin, *answers) for name, answers in unseen_answers(rows, twin, seed)}
            for name, (interval, p) in found.items():
                others = [each.value for other, (each, _) in found.items() if other[:5] != name[:5]]
                yield benchmark, name, p < LEVEL, p < LEVEL and interval.value > max([0.0, *others])
                done += 1
        seed += 1


def power(benchmark: str, stories: int, files: int) -> Iterator[tuple[float, bool, bool]]:
    """Yield for solvers that memorised a share: the share, whether p is below the level, and the verdict."""
    for seed in range(files):
        rows, twin = pairs(benchmark, stories, 10_000 + seed)
        answers = dict(unseen_answers(rows, twin, seed))
        others = [compare_answers(rows, twin, *each)[0].value for each in answers.values()]
        names = list(dict.fromkeys(each.story_id for each in rows))
        order = np.random.Generator(np.random.Philox(seed))
        for base in BASES:
            right, again = answers[base]
            for share in SHARES:
                for _ in range(_DRAWS):
                    known = set(order.choice(names, round(share * len(names)), replace=False).tolist())
                    interval, p = compare_answers(rows, twin, remember(rows, right, known), again)
                    yield share, p < LEVEL, p < LEVEL and interval.value > max([0.0, *others])


def remember(rows: Sequence[Example], right: Answers, known: set[str]) -> Answers:
    """Return answers that are right where a story is known."""
    return {each.id: each.story_id in known or right[each.id] for each in rows}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of a solver that saw nothing and a seed")
    parser.add_argument("--stories", type=int, default=60, help="stories of each file there")
    parser.add_argument("--files", type=int, default=4, help="files for the power")
    parser.add_argument("--sizes", type=int, nargs="*", default=[60, 300], help="stories of each file for the power")
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()
    count = accused = total = 0
    by_solver: Counter[tuple[str, str]] = Counter()
    for benchmark, name, is_flagged, is_accused in false_alarms(chosen.pairs, chosen.stories):
        total, count, accused = total + 1, count + is_flagged, accused + is_accused
        by_solver[benchmark, name.rstrip(" 123")] += is_flagged
    for what, number in (("flagged", count), ("accused", accused)):
        interval = wilson_interval(number, total)
        print(
            f"{what}: {number} of {total}, {100 * interval.value:.1f}% "
            f"({100 * interval.low:.1f} to {100 * interval.high:.1f})"
        )
        record.note(f"{what}", interval.value)
        record.note(f"{what} low", interval.low)
        record.note(f"{what} high", interval.high)
    record.note("pairs", total)
    print({" ".join(name): number for name, number in by_solver.items()})
    for benchmark in BENCHMARKS:
        for size in chosen.sizes:
            results = list(power(benchmark, size, chosen.files))
            for share in SHARES:
                some = [each[1:] for each in results if each[0] == share]
                flagged, sure = (sum(each[place] for each in some) / len(some) for place in (0, 1))
                print(
                    f"{benchmark}, {size} stories, {share:.0%} memorised: flagged {flagged:.0%}, accused {sure:.0%}",
                    flush=True,
                )
                record.note(f"power {benchmark} {size} {round(100 * share)}", sure)
    record.write(chosen.json)


if __name__ == "__main__":
    main()
