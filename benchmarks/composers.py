"""Train `composer` and score it by the number of facts: `python -m benchmarks.composers --out DIR --runs 3`.

Writes the trained runs to DIR/run, and to DIR/composer.json the accuracy of every run for k = 2 … 10 over several seeds
of `clutrr`: from text, and from the stated facts alone (the learned table by itself).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

from storyproof.datasets.generate import make_benchmark
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.neural.composer import NAMES, ComposerSolver
from storyproof.solvers.neural.composer_training import train_composer

SEEDS = range(101, 111)  # of the tests
TEST_K = tuple(range(2, 11))


def rows_of(seed: int, stories: int) -> list[Example]:
    """Return the test rows of one seed, equally many of each k."""
    made = make_benchmark("clutrr", seed, test_k=TEST_K)
    tables = made.blocks("test", stories * len(TEST_K))
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
        answers.append(solver.answer(scores.to(solver.device), *graph.asked))
    return answers


def main() -> None:
    """Train and score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stories", type=int, default=600_000)
    parser.add_argument("--steps", type=int, default=12_000)
    parser.add_argument("--minutes", type=float, default=0.0, help="the most that one run may train")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE: of the plan of the training")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--test-stories", type=int, default=50, help="for each k and seed")
    parser.add_argument("--score-only", type=Path, help="score the runs of this folder instead of training")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    folder = arguments.score_only
    if folder is None:
        given = dict(text.split("=", 1) for text in arguments.option)
        options = {name: float(value) if "." in value else int(value) for name, value in given.items()}
        names = ("stories", "steps", "minutes", "runs", "seed")
        folder = arguments.out / "run"
        about = train_composer(
            folder,
            {name: getattr(arguments, name) for name in names} | options,
            device=arguments.device,
            progress=lambda run, step, loss: print(run, step, f"{loss:.4f}", flush=True),
        )
        print(json.dumps({name: about[name] for name in ("scores", "steps", "seconds", "stories")}), flush=True)
    examples = [row for seed in SEEDS for row in rows_of(seed, arguments.test_stories)]
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
