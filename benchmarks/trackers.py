"""Train `tracker` and score it on held-out seeds: `python -m benchmarks.trackers --out DIR --minutes 2 --runs 3`.

Writes the trained runs to DIR/run, and to DIR/figures.json the accuracy of every run on every set by kind of question.
The sets are drawn here; `--data` adds files, such as published ToMi with proved labels.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.small_models import command_line, trained
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.reading import find_source, read_examples
from storyproof.example import Example
from storyproof.solvers.neural.tracker import TrackerSolver
from storyproof.solvers.neural.tracker_training import TrackerPlan

SETS: dict[str, tuple[str, dict[str, Any]]] = {
    "tomi": ("tomi", {}),
    "tomi-matched": ("tomi-matched", {}),
    "tom-k plain": ("tom-k", {"preset": "plain"}),
    "tom-k medium": ("tom-k", {"preset": "medium"}),
    "tom-k hard": ("tom-k", {"preset": "hard"}),
    "tom-k hard, restated": ("tom-k", {"preset": "hard", "restatements": 3}),
    "tom-k hard, twice as long": ("tom-k", {"preset": "hard", "length": 76}),
    "tom-k extreme to order 4": ("tom-k", {"preset": "extreme", "order": 4}),
    "tom-k extreme to order 4, twice as long": ("tom-k", {"preset": "extreme", "order": 4, "length": 108}),
}
SEED = 71  # of the sets


def rows_of(name: str, stories: int) -> list[Example]:
    """Return the questions of a set that is drawn here."""
    benchmark, settings = SETS[name]
    made = make_benchmark(benchmark, SEED, **settings)
    count = -(-stories // made.round) * made.round
    return [Example.from_row(row) for table in made.blocks("test", count) for row in table.to_pylist()]


def read_hi_tom(path: str) -> list[Example]:
    """Return the first of each two rows of a file of Hi-ToM's form; of its stories, the numbered sentences.

    Labels that its rules support: `storyproof audit Hi-ToM_data.json --reading open+hi-tom --fix DIR`.
    """
    records = json.loads(Path(path).read_text(encoding="utf-8"))["data"]
    rows = []
    for number, record in enumerate(records):
        if record["prompting_type"] == "CoTP":
            lines = [line.strip() for line in record["story"].split("\n") if line.strip()[:1].isdigit()]
            told = "tells" if record["deception"] else "no tells"
            row = {"story": "\n".join(lines), "question": record["question"], "answer": record["answer"]}
            kind = f"order {record['question_order']}, {told}, {record['story_length']} chapters"
            labels = {
                "id": str(number),
                "story_id": row["story"],
                "question_type": kind,
                "order": record["question_order"],
            }
            empty = {"benchmark": "", "split": "", "story_type": "", "false_belief": False}
            lists: dict[str, list[Any]] = {"candidates": [], "chain": [], "readings": [], "proof": []}
            rows.append(Example.from_row(row | labels | empty | lists))
    return rows


def score(examples: Sequence[Example], answers: Sequence[str]) -> dict[str, Any]:
    """Return the accuracy on average, of whole stories, and by kind of question."""
    stories: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, list[bool]] = defaultdict(list)
    for example, answer in zip(examples, answers, strict=True):
        right = answer == example.answer
        stories[example.story_id].append(right)
        kinds[example.question_type].append(right)
    every = [right for rights in stories.values() for right in rights]
    return {
        "questions": len(every),
        "average": sum(every) / len(every),
        "joint": sum(map(all, stories.values())) / len(stories),
        "kinds": {kind: [sum(rights) / len(rights), len(rights)] for kind, rights in sorted(kinds.items())},
    }


def score_runs(folder: Path, stories: int, data: Sequence[str], device: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield how each run answers each set."""
    examples = {name: rows_of(name, stories) for name in SETS if stories}
    asked = dict.fromkeys(examples, "")
    for each in data:
        if Path(each).suffix == ".json":
            examples[each], asked[each] = read_hi_tom(each), "hi-tom:"
        else:
            examples[each], asked[each] = read_examples(find_source(each, None), proved=True), ""
    runs = len(json.loads((folder / "run.json").read_text(encoding="utf-8"))["scores"])
    for number in range(runs):
        solvers = {words: TrackerSolver(folder, run=number, device=device, prefix=words) for words in {*asked.values()}}
        for name, rows in examples.items():
            started = time.process_time()
            answers = solvers[asked[name]].predict(rows)
            seconds = time.process_time() - started
            found = score(rows, answers) | {"run": number, "questions_per_cpu_second": round(len(rows) / seconds)}
            print(number, name, f"{100 * found['average']:.2f} average, {100 * found['joint']:.2f} joint", flush=True)
            yield name, found


def main() -> None:
    """Train and score."""
    parser = command_line(__doc__, stories=1_500_000, steps=40_000, test_stories=999)
    parser.add_argument(
        "--data", action="append", default=[], help="a file or folder to score besides; .json: in Hi-ToM's form"
    )
    arguments = parser.parse_args()
    folder = trained(arguments, TrackerPlan)
    figures: dict[str, list[Any]] = defaultdict(list)
    for name, found in score_runs(folder, arguments.test_stories, arguments.data, arguments.device):
        figures[name].append(found)
        (arguments.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if torch.cuda.is_available():
        print(f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB of GPU memory at most")


if __name__ == "__main__":
    main()
