"""Generate stories of tom-k, read them back from their text, and count disagreements.

`python benchmarks/tom_k.py easy 100000` generates by oracle and checker, block by block, then verifies every row from
its text alone, and prints counts and CPU seconds.
"""

from __future__ import annotations

import argparse
import sys
import time

from storyproof.audits.examination import examine_table
from storyproof.datasets.generate import make_benchmark


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset")
    parser.add_argument("stories", type=int, nargs="?", default=99_999)
    parser.add_argument("--seed", type=int, default=11)
    given = parser.parse_args()
    benchmark = make_benchmark("tom-k", given.seed, preset=given.preset)
    stories = given.stories - given.stories % benchmark.round
    made = verified = questions = done = found = 0.0
    for index in range(benchmark.block_count(stories)):
        start = time.process_time()
        table = benchmark.part("train", stories, index)
        middle = time.process_time()
        found += len(examine_table(table).findings)
        made, verified = made + middle - start, verified + time.process_time() - middle
        questions += table.num_rows
        done += table.num_rows // benchmark.rows_per_story("train")
        if index % 8 == 7 or done == stories:
            sys.stdout.write(
                f"{given.preset}: {done:,.0f} stories, {questions:,.0f} questions, {found:.0f} disagreements; "
                f"generated {done / made:,.0f}, verified {done / verified:,.0f} stories per CPU second\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
