"""How easy the held-out patterns of `clutrr` are at k = 3: `python -m benchmarks.held_out`, for docs/results.md.

Training on k = 2, 3 leaves out a fifth of the patterns of three facts, which the test asks for; a seed draws them. A
test question is easy if its answer does not change when one sibling fact is left out: what remains is a pattern of two
facts, and all of those occur in training. The draws of the experiments are those of seed 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import median

from benchmarks.measure import Record
from storyproof.datasets.dials import turn
from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.generation.patterns import SIBLING, Pattern

K = 3
PRESET = "generalization-23"
OURS = 1  # the seed of the experiments


def draw(seed: int) -> Clutrr:
    """Return a benchmark whose patterns are drawn by a seed."""
    made = turn("clutrr", seed, {}, PRESET)
    assert isinstance(made, Clutrr)
    return made


def shorten(pattern: Pattern) -> Iterator[Pattern]:
    """Yield what remains of a pattern when one sibling fact is left out."""
    for place, relation in enumerate(pattern):
        if relation == SIBLING:
            yield pattern[:place] + pattern[place + 1 :]


def find_easy_share(made: Clutrr) -> float:
    """Return the share of test questions whose answer one sibling fact less does not change.

    Answers are balanced in the test, and so are the patterns of an answer.
    """
    by_answer = []
    for target in made.rules.targets:
        patterns = made.schedule.patterns(True, K, target)
        if patterns:
            easy = [any(made.rules.heads.get(rest) == target for rest in shorten(each)) for each in patterns]
            by_answer.append(sum(easy) / len(easy))
    return sum(by_answer) / len(by_answer)


def derive(made: Clutrr, pattern: Pattern) -> Iterator[set[Pattern]]:
    """Yield the steps of each derivation of a pattern of three facts: pairs of relations that a rule composes."""
    first, second, third = pattern
    heads = made.rules.heads
    for inner, outer in (
        ((first, second), (heads.get((first, second)), third)),
        ((second, third), (first, heads.get((second, third)))),
    ):
        if outer in heads:
            yield {inner, outer}


def count_patterns(made: Clutrr) -> tuple[int, int, int]:
    """Return how many patterns the test has, how many there are, and how many of the first are known steps.

    A step is known if it is a training pattern of two facts, or part of a derivation of one of three.
    """
    targets = made.rules.targets
    test = [each for target in targets for each in made.schedule.patterns(True, K, target)]
    train = [each for target in targets for each in made.schedule.patterns(False, K, target)]
    steps = {each for target in targets for each in made.schedule.patterns(False, 2, target)}
    steps |= {step for each in train for derivation in derive(made, each) for step in derivation}
    known = sum(any(derivation <= steps for derivation in derive(made, each)) for each in test)
    return len(test), len(test) + len(train), known


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="how many other seeds are drawn")
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()
    made = draw(OURS)
    held_out, every, known = count_patterns(made)
    ours = find_easy_share(made)
    others = [find_easy_share(draw(seed)) for seed in range(OURS + 1, OURS + 1 + chosen.draws)]
    figures = {"held_out": held_out, "patterns": every, "with_known_steps": known, "easy": ours}
    figures |= {"draws": len(others), "median": median(others), "as_easy": sum(each >= ours for each in others)}
    for name, value in figures.items():
        record.note(name, value)
    print(f"{held_out} of {every} patterns are held out, {known} of them with known steps")
    print(f"{ours:.0%} of the test questions do not need one of their sibling facts")
    print(f"{len(others)} other draws: half have {median(others):.0%} or less; {figures['as_easy']} are as easy")
    record.write(chosen.json)


if __name__ == "__main__":
    main()
