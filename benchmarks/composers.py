"""Train `composer` and score it by the number of facts: `python -m benchmarks.composers --out DIR --runs 3`.

Writes the trained runs to DIR/run, and to DIR/composer.json the accuracy of every run for k = 2 … 10 over several
seeds of `clutrr`: from text, and from the stated facts alone (the learned table by itself). `--templates TRAIN TEST`
scores on text of templates in the published form instead; `--option templates=TRAIN` trains on them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch

from benchmarks.small_models import command_line, trained
from storyproof.datasets.generate import make_benchmark
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.families.kinship.placeholders import load_placeholders
from storyproof.solvers.neural.composer import NAMES, ComposerSolver
from storyproof.solvers.neural.composer_training import ComposerPlan

SEEDS = range(101, 111)  # of the tests
TEST_K = tuple(range(2, 11))


def rows_of(seed: int, stories: int, templates: Sequence[str]) -> list[Example]:
    """Return the test rows of one seed, equally many of each k, of natural text or of templates."""
    settings: dict[str, Any] = {"test_k": TEST_K}
    if templates:
        train, test = map(load_placeholders, templates)
        settings |= {"placeholders": train, "test_placeholders": test, "bad_placeholders": "drop"}
    made = make_benchmark("clutrr", seed, **settings)
    count = stories * len(TEST_K)
    tables = made.with_blocks_of(count).blocks("test", count)
    return [Example.from_row(row) for table in tables for row in table.to_pylist()]


def answer_graphs(solver: ComposerSolver, examples: list[Example]) -> list[str]:
    """Return the answers if all stated facts are read rightly, in the direction of the chain."""
    answers = []
    for example in examples:
        graph = family_of(example).graph(example)
        assert graph is not None
        scores = torch.full((NAMES, NAMES, len(solver.relations)), -30.0)
        for (first, second), relation in zip(graph.edges, graph.edge_types, strict=True):
            scores[first, second, solver.relations.index(relation)] = 30.0
        answers += solver.answer(scores[None].to(solver.device), [graph.asked])
    return answers


def main() -> None:
    """Train and score."""
    parser = command_line(__doc__, stories=600_000, steps=12_000, test_stories=50)
    parser.add_argument("--templates", nargs=2, default=(), metavar="FILE", help="of training and of the tests")
    arguments = parser.parse_args()
    folder = trained(arguments, ComposerPlan)
    examples = [row for seed in SEEDS for row in rows_of(seed, arguments.test_stories, arguments.templates)]
    figures: list[dict[str, Any]] = []
    for number in range(len(json.loads((folder / "run.json").read_text(encoding="utf-8"))["scores"])):
        solver = ComposerSolver(folder, run=number, device=arguments.device)
        figure: dict[str, Any] = {"run": number}
        for name, answers in (("text", solver.predict(examples)), ("facts", answer_graphs(solver, examples))):
            rights: dict[str, list[bool]] = defaultdict(list)
            for example, answer in zip(examples, answers, strict=True):
                rights[example.question_type].append(answer == example.answer)
            figure[name] = {kind: [sum(some) / len(some), len(some)] for kind, some in sorted(rights.items())}
            print(number, name, {kind: round(100 * share, 1) for kind, (share, _) in figure[name].items()}, flush=True)
        figures.append(figure)
        (arguments.out / "composer.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
