"""Solve studies take any dataset: every benchmark of the catalog is played, exported and reported."""

import random
from html import unescape
from pathlib import Path

import pytest

import storyproof
from storyproof.catalog import names
from storyproof.evaluation.runs import read_runs
from storyproof.language.display_names import spaced
from storyproof.study.design import SOLVE
from storyproof.study.export import export_study
from storyproof.study.items import ATTENTION, MAIN, PRACTICE
from storyproof.study.new import new_study
from storyproof.study.pages import feedback_page, step_page
from storyproof.study.participant_flow import ANSWER, FINISHED, RATE, find_step
from storyproof.study.submissions import submit_answer, submit_rating
from tests.study.samples import join

pytestmark = pytest.mark.study


@pytest.mark.parametrize("benchmark", names("benchmark"))
def test_any_benchmark(benchmark: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    storyproof.generate(benchmark, train=0, val=0, test=60, seed=2, out=data)
    settings = {
        "kind": SOLVE, "items": 8, "tasks_per_participant": 4, "practice": 2, "attention_checks": 1, "seed": 1,
    }  # fmt: skip
    study, _ = new_study(tmp_path / "study", settings, data=data)
    items = {role: study.items.of(role) for role in (MAIN, PRACTICE, ATTENTION)}
    stories = {role: {"\n".join(each.story) for each in members} for role, members in items.items()}
    assert len(stories[MAIN]) == 8  # each of another story
    assert not stories[MAIN] & (stories[PRACTICE] | stories[ATTENTION])
    draws = random.Random(1)
    for number in range(2):
        me = join(study, str(number))
        while (step := find_step(study, me)).kind != FINISHED:
            page = step_page(study, me, "token", step, "https://example.org/s/token")
            item = study.items[step.item]
            if step.kind == ANSWER:
                assert all(choice in page.html for choice in item.choices[:1])
                assert all(spaced(line) in unescape(page.html) for line in item.story)
                submit_answer(study, me, step.slot, item.answer, 900)
                if step.role == PRACTICE:
                    assert "<ol" in feedback_page(study, "token", find_step(study, me), item, item.answer).html
            else:
                assert step.kind == RATE
                submit_rating(study, me, step.slot, draws.randint(1, 5))
    export_study(study, tmp_path / "out")
    study.close()
    [path] = (tmp_path / "out" / "runs").glob("*.json")
    [run] = read_runs(path)
    assert all(each.right for each in run.predictions)
    storyproof.evaluate("oracle", data, output_dir=tmp_path / "models")
    [board] = storyproof.report([path, *(tmp_path / "models").glob("*.json")]).boards
    assert {row.solver: row.accuracy.value for row in board.rows} == {"people-unlimited": 1.0, "oracle": 1.0}
