"""How often each matcher differs from a person, and how fast it is: `python -m benchmarks.matching`."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import Record
from storyproof.evaluation.matching import MATCHERS, judge
from storyproof.example import Example

JUDGED = Path(__file__).parents[1] / "tests" / "evaluation" / "matching" / "judged_replies.jsonl"
SHORT = 60  # characters, about what ten tokens make
SECONDS = 1.0


def example_of(row: dict[str, Any]) -> Example:
    empty: dict[str, Any] = dict.fromkeys(("id", "story_id", "benchmark", "split", "story", "story_type"), "")
    lists: dict[str, Any] = {"chain": [], "readings": [], "proof": []}
    asked = {name: row[name] for name in ("question", "answer", "candidates")}
    return Example(**empty, **lists, **asked, question_type="", order=0, false_belief=False)


def rate(name: str, pairs: list[tuple[Example, str]]) -> float:
    """Replies a CPU second."""
    matcher, done, start = MATCHERS[name], 0, time.process_time()
    while time.process_time() - start < SECONDS:
        for example, reply in pairs:
            judge(matcher, example, reply)
        done += len(pairs)
    return done / (time.process_time() - start)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()
    rows = [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    pairs = [(example_of(row), row["reply"]) for row in rows]
    right = sum(row["verdict"] == "right" for row in rows)
    print(f"{len(rows)} replies, {right} of them right")
    print(f"{'matcher':<10}{'says right':>12}{'wrongly':>10}{'missed':>8}{'short/s':>12}{'all/s':>12}")
    for name in MATCHERS:
        said = [judge(MATCHERS[name], example, reply).right for example, reply in pairs]
        wrongly = sum(each and row["verdict"] != "right" for each, row in zip(said, rows, strict=True))
        missed = sum(not each and row["verdict"] == "right" for each, row in zip(said, rows, strict=True))
        short = rate(name, [(example, reply) for example, reply in pairs if len(reply) <= SHORT])
        long = rate(name, pairs)
        for what, value in (("short", short), ("all", long)):
            record.note(f"{name}_{what}", value)
        print(f"{name:<10}{sum(said):>12}{wrongly:>10}{missed:>8}{short:>12,.0f}{long:>12,.0f}")
    record.write(chosen.json)


if __name__ == "__main__":
    main()
