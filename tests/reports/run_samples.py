"""Runs for the tests of reports: built-in solvers on small data, and a function that chats."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import storyproof
from storyproof.evaluation.runs import Evaluation

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J&amp;\u202e"


LONG_NAMES = (
    "openai/meta-llama/Llama-3.1-70B-Instruct",
    "anthropic/claude-sonnet-4-20250514",
    "vllm/Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4",
    "hf/mistralai/Mixtral-8x22B-Instruct-v0.1",
    "openai/gpt-4o-mini-2024-07-18",
    "openai/deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
    "local/HuggingFaceTB/SmolLM2-1.7B-Instruct",
    "vllm/nvidia/Llama-3.1-Nemotron-70B-Instruct-HF-FP8-Dynamic",
)


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


def long_names(data: Path) -> list[Evaluation]:
    """Return runs of eight models with names as long as they are in practice, of people, and of all baselines."""
    models = [
        replace(storyproof.evaluate("random", data, seed=number), model=name) for number, name in enumerate(LONG_NAMES)
    ]
    people = replace(storyproof.evaluate("rules", data), model="people-unlimited")
    return [*models, people, *evaluate(data, "random", "majority", "rules", "oracle")]
