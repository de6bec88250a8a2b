"""How many completions the rewards judge per second: `python -m benchmarks.rewards`, for docs/rl.md.

Completions are chains of thought about fresh stories, which state what is proved and what is not, with the answer at
the end. A group of completions belongs to one prompt, as in GRPO.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from typing import Any

import storyproof
from benchmarks.measure import Record
from storyproof import rewards

BENCHMARKS = ("tomi", "clutrr")
PROMPTS = 200
GROUP = 8  # completions of a prompt
ROUNDS = 3


def reason(row: dict[str, Any], number: int) -> str:
    """Return a chain of thought that repeats the story and ends with one of the candidates."""
    said = row["candidates"][number % len(row["candidates"])]
    lines = [f"{place}. {sentence}" for place, sentence in enumerate(row["story"].split("\n"), 1)]
    stated = f"{row['chain'][0]} thinks it is in the {said}." if row["chain"] else f"So it is in the {said}."
    if row.get("query"):
        first, second = row["query"]
        stated = f"{second} is {first}'s {said}."
    return "\n".join(["Let me go through the story.", *lines, stated, f"Answer: {said}"])


def completions(benchmark: str) -> tuple[list[Any], list[str], dict[str, list[Any]]]:
    """Return prompts, completions and the columns of a dataset, as a trainer passes them on."""
    rows = list(islice(rewards.prompt_rows(storyproof.stream(benchmark, seed=7)), PROMPTS))
    repeated = [row for row in rows for _ in range(GROUP)]
    replies = [reason(row, number) for row in rows for number in range(GROUP)]
    columns = {name: [row[name] for row in repeated] for name in rows[0] if name != "prompt"}
    return [row["prompt"] for row in repeated], replies, columns


def rate(reward: rewards.RewardFunction, given: tuple[list[Any], list[str], dict[str, list[Any]]]) -> float:
    """Return completions per CPU second, the best of some rounds."""
    prompts, replies, columns = given
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        found = reward(prompts, replies, **columns)
        taken.append(time.process_time() - start)
        if not 0 < sum(found) < len(found):
            raise SystemExit("the completions are all right or all wrong, so nothing was measured")
    return len(replies) / min(taken)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()
    print("| reward | " + " | ".join(f"`{name}`" for name in BENCHMARKS) + " |")
    given = {name: completions(name) for name in BENCHMARKS}
    for kind, reward in (("exact", rewards.exact), ("stepwise", rewards.stepwise)):
        rates = {name: rate(reward, given[name]) for name in BENCHMARKS}
        for name, value in rates.items():
            record.note(f"{name}_{kind}", value)
        print(f"| `rewards.{kind}` | " + " | ".join(f"{value:,.0f}" for value in rates.values()) + " |")
    for name in BENCHMARKS:
        record.note(f"{name}_characters", sum(map(len, given[name][1])) / len(given[name][1]))
    record.write(chosen.json)


if __name__ == "__main__":
    main()
