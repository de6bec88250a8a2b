"""Runs for the tests of reports: built-in solvers on small data, and a function that chats."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import storyproof
from storyproof.evaluation.runs import Evaluation

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J&amp;\u202e"


def chat(prompt: str) -> str:
    """Reply as a model may: with an answer, with two, with none, or with something nasty."""
    place = sum(map(ord, prompt)) % 4
    words = [word.strip(".") for word in prompt.replace("\n", " ").split() if word.endswith(".")]
    return (f"It is in the {words[0]}.", f"The {words[0]} or the {words[-1]}.", f"I cannot say. {HOSTILE}", words[-1])[
        place
    ]


def data_folder(folder: Path, benchmark: str = "tomi", **settings: Any) -> Path:
    path = folder / benchmark
    storyproof.generate(benchmark, out=path, seed=3, **(settings or {"test": 24}))
    return path


def evaluate(data: Path, *models: str, folder: Path | None = None, **options: Any) -> list[Evaluation]:
    return [storyproof.evaluate(model, data, output_dir=folder, **options) for model in models]


@cache
def chat_name() -> str:
    return f"{__name__}:chat"


def hand_made(path: Path, model: str, answers: dict[str, tuple[str, str]], **fields: Any) -> Path:
    """Write a run by hand: (answer, target) by id, one question per story."""
    rows = [
        {"id": row, "answer": answer, "target": target, "right": answer == target, "question_type": "a"}
        for row, (answer, target) in answers.items()
    ]
    path.write_text(json.dumps({"model": model, **fields, "predictions": rows}))
    return path
