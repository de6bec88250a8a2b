"""What the benchmarks of small models that draw their own stories share: their command line and the training."""

from __future__ import annotations

import argparse
from pathlib import Path

from storyproof.cli.train import read_option
from storyproof.solvers.neural.drawn_training import DrawnPlan, train_drawn

SETTINGS = ("stories", "steps", "minutes", "runs", "seed")


def command_line(description: str | None, *, stories: int, steps: int, test_stories: int) -> argparse.ArgumentParser:
    """Return the options of a training and of what is scored after it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stories", type=int, default=stories)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--minutes", type=float, default=0.0, help="the most that one run may train")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE: of the plan of the training")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--test-stories", type=int, default=test_stories, help="in each set that is scored")
    parser.add_argument("--score-only", type=Path, help="score the runs of this folder instead of training")
    return parser


def trained(arguments: argparse.Namespace, kind: type[DrawnPlan]) -> Path:
    """Train unless only scoring was asked for, and return the folder of the runs."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.score_only is not None:
        return Path(arguments.score_only)
    options = dict(read_option(text, {}) for text in arguments.option)
    folder = Path(arguments.out / "run")
    about = train_drawn(
        kind,
        folder,
        {name: getattr(arguments, name) for name in SETTINGS} | options,
        device=arguments.device,
        progress=lambda run, step, loss: print(run, step, f"{loss:.4f}", flush=True),
    )
    print({name: about[name] for name in ("scores", "steps", "seconds", "stories")}, flush=True)
    return folder
