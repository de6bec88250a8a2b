"""Studies for tests: small, with a clock that tests turn."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import storyproof
from storyproof.datasets.reading import find_source
from storyproof.study.design import PARAPHRASE, SOLVE, StudyCondition, StudyDesign
from storyproof.study.folder import Study, create_study
from storyproof.study.items import StudyItems, draw_questions, draw_tasks
from storyproof.study.participants import Arrival, Participant, enter, find

LIMITED = StudyCondition(name="limited", time_limit_s=30.0)
UNLIMITED = StudyCondition(name="unlimited")


class Clock:
    """A clock that stands still until a test turns it."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time

    def turn(self, seconds: float) -> None:
        self.time += seconds


def attention_question(answer: str) -> str:
    return f"To show that you read this, choose {answer}."


def kinship_data(folder: Path, stories: int = 40) -> Path:
    path = folder / "data"
    if not path.exists():
        storyproof.generate("clutrr", train=0, val=0, test=stories, seed=3, out=path, test_k=(2, 3))
    return path


def solve_design(**changes: Any) -> StudyDesign:
    usual: dict[str, Any] = {
        "name": "demo",
        "kind": SOLVE,
        "conditions": (LIMITED, UNLIMITED),
        "items": 6,
        "answers_per_item": 2,
        "tasks_per_participant": 3,
        "practice": 1,
        "attention_checks": 1,
        "seed": 5,
        "pay_per_task": "0.50",
    }
    return StudyDesign(**(usual | changes))


def writing_design(**changes: Any) -> StudyDesign:
    usual: dict[str, Any] = {
        "name": "words",
        "kind": PARAPHRASE,
        "items": 6,
        "tasks_per_participant": 1,
        "reviews_per_participant": 2,
        "reviewers": 2,
        "attention_checks": 1,
        "seed": 5,
        "pay_per_task": "0.50",
        "pay_per_review": "0.07",
    }
    return StudyDesign(**(usual | changes))


_DRAWN: dict[tuple[str, Path], StudyItems] = {}  # proving the questions takes most of the time


def _draw(design: StudyDesign, data: Path) -> StudyItems:
    key = design.sha256, data
    if key not in _DRAWN:
        _DRAWN[key] = StudyItems(draw_questions(design, find_source(data), attention_question))
    return _DRAWN[key]


def make_study(folder: Path, design: StudyDesign, *, data: Path | None = None, database: str = "", **how: Any) -> Study:
    if design.kind == SOLVE:
        items = _draw(design, data or kinship_data(folder))
    else:
        items = StudyItems(draw_tasks(design, "kinship"))
    return create_study(folder / design.name, design, items, database=database, **how)


def join(study: Study, nonce: str, **more: Any) -> Participant:
    arrival = replace(Arrival(nonce), **more)
    found = find(study, enter(study, arrival, "0" * 64))
    assert found is not None
    return found
