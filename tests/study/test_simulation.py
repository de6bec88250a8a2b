"""Studies of 300 simulated participants who err at known rates: results recover the rates, and exports can be used."""

import json
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

import storyproof
from storyproof.evaluation.runs import read_runs
from storyproof.families.kinship.placeholders import load_placeholders
from storyproof.stats import wilson_interval
from storyproof.study.design import PARAPHRASE, SOLVE
from storyproof.study.export import export_study
from storyproof.study.folder import Study
from storyproof.study.items import MAIN, find_paraphrasing
from storyproof.study.new import new_study
from storyproof.study.participant_flow import FINISHED, REVIEW, WRITE, find_step
from storyproof.study.participants import Participant, StudyFullError
from storyproof.study.recruitment import replace_excluded
from storyproof.study.results import find_exclusions, group_answers, read_rows
from storyproof.study.submissions import submit_review, submit_text
from storyproof.study.text_checks import check_story
from tests.study.crowd import opening
from tests.study.samples import UNLIMITED, join
from tests.study.test_export import ERRORS, simulate

pytestmark = pytest.mark.study
PEOPLE = 300
BAD_STORIES = 0.25  # of the writers
MISSED, REFUSED = 0.1, 0.05  # how often a reviewer finds a bad story good, and a good one bad
NONSENSE = "Seven quickly banana because upwards of the."


def test_three_hundred_people_solve(tmp_path: Path, database: str) -> None:
    """Dashboard, summary and report recover the rates at which participants err, within their intervals."""
    settings = {
        "kind": SOLVE,
        "conditions": (UNLIMITED,),
        "items": 600,
        "answers_per_item": 5,
        "tasks_per_participant": 10,
        "practice": 1,
        "attention_checks": 1,
        "seed": 4,
    }
    source = tmp_path / "many"
    storyproof.generate("clutrr", train=0, val=0, test=400, seed=9, out=source, test_k=(2, 3))
    study, _ = new_study(tmp_path / "large", settings, data=source, database=database)
    study.secret = "0" * 64  # codes, and so the orders of items, are the same in every run of this test
    draws, right = random.Random(7), Counter[str]()
    for number in range(PEOPLE):
        fails = number % 50 == 0
        found = simulate(study, join(study, str(number)), draws, fails_checks=fails)
        right += Counter() if fails else found
    with pytest.raises(StudyFullError):
        join(study, "one more")
    rows = read_rows(study)
    excluded = find_exclusions(study.design, rows)
    assert len(excluded) == 6
    groups = {each.stratum: each for each in group_answers(study, rows, excluded)}
    for kind, rate in ERRORS.items():
        assert groups[kind].accuracy.value == right[kind] / groups[kind].answers
        assert groups[kind].accuracy.low <= 1 - rate <= groups[kind].accuracy.high
        assert groups[kind].accuracy.high - groups[kind].accuracy.low < 0.06
    export_study(study, tmp_path / "out")
    study.close()
    [path] = (tmp_path / "out" / "runs").glob("*.json")
    [run] = read_runs(path)
    assert len(run.predictions) == (PEOPLE - 6) * 10
    storyproof.evaluate("rules", source, output_dir=tmp_path / "models")
    report = storyproof.report([path, *(tmp_path / "models").glob("*.json")])
    [board] = report.boards
    assert board.curve is not None
    scores = {f"k={k}": each for k, each in board.curve.scores["people-unlimited"].items()}
    assert set(scores) == set(ERRORS)
    for kind, rate in ERRORS.items():
        assert scores[kind].value == pytest.approx(right[kind] / groups[kind].answers)
        assert scores[kind].low <= 1 - rate <= scores[kind].high
    assert "people-unlimited" in report.render()


class Writer:
    """A participant who writes nonsense at a known rate, and as a reviewer errs at known rates."""

    def __init__(self, study: Study, number: int, draws: random.Random, bad: dict[int, bool]) -> None:
        self._study, self._draws, self._bad = study, draws, bad
        self._me: Participant = join(study, str(number))
        self._fails = number % 60 == 30  # the attention check

    def take_part(self) -> None:
        while (step := find_step(self._study, self._me)).kind != FINISHED:
            if step.kind == WRITE:
                self._write(step.slot, step.item)
            else:
                assert step.kind == REVIEW
                self._review(step.slot, step.item, step.text if step.role == MAIN else 0)

    def _write(self, slot: int, number: int) -> None:
        item = self._study.items[number]
        task = item.writing_task()
        is_bad = self._draws.random() < BAD_STORIES
        people = task.people
        done = f"{people[0]} packed a basket. " if len(people) < 3 else f"{people[0]} played chess with {people[2]}. "
        text = opening(slot) + done + " ".join(task.facts) + (f" {NONSENSE}" if is_bad else "")
        remarks = check_story(self._study, item, text)
        assert all(each.is_question for each in remarks), remarks  # nothing that must be changed
        assert is_bad or not remarks  # good stories are understood; what is wrong with nonsense, reviewers must say
        fingerprint = find_paraphrasing(item.family).fingerprint(task, text)
        submit_text(self._study, self._me, slot, text, fingerprint, remarks, 30_000)

    def _review(self, slot: int, number: int, text: int) -> None:
        if not text:
            good = self._study.items[number].is_good != self._fails
        else:
            good = self._draws.random() < (MISSED if self._bad[text] else 1 - REFUSED)
        submit_review(self._study, self._me, slot, good, () if good else ("nonsense",), 9_000)


class Stories(dict[int, bool]):
    """Which stories are bad, looked up in the database when it is asked for first."""

    def __init__(self, study: Study) -> None:
        super().__init__()
        self._study = study

    def __missing__(self, number: int) -> bool:
        self.update({row.id: row.text.endswith(NONSENSE) for row in read_rows(self._study).texts})
        return self[number]


def play(study: Study, draws: random.Random, start: int) -> int:
    """Let participants come until there is nothing left to do; return how many have come in all."""
    bad, number = Stories(study), start
    with suppress(StudyFullError):
        while True:
            Writer(study, number, draws, bad).take_part()
            number += 1
    return number


def test_three_hundred_people_write_and_review(tmp_path: Path, database: str) -> None:
    """The acceptance rate is the one that follows from the rates; accepted stories make data that verify."""
    settings = {
        "kind": PARAPHRASE,
        "items": PEOPLE,
        "tasks_per_participant": 1,
        "practice": 0,
        "reviews_per_participant": 3,
        "reviewers": 3,
        "attention_checks": 1,
        "seed": 6,
    }
    study, _ = new_study(tmp_path / "words", settings, database=database)
    study.secret = "0" * 64
    draws = random.Random(3)
    people = play(study, draws, 0)
    while replace_excluded(study):
        people = play(study, draws, people)
    rows = read_rows(study)
    excluded = find_exclusions(study.design, rows)
    assert people >= PEOPLE
    assert len(excluded) >= PEOPLE // 60
    assert all(Counter(row.target for row in rows.reviews if row.role == MAIN)[row.id] >= 3 for row in rows.texts)
    export_study(study, tmp_path / "out")
    study.close()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["texts"]
    assert summary["written"] == summary["reviewed"] == PEOPLE
    expected = (1 - BAD_STORIES) * (1 - REFUSED) ** 3 + BAD_STORIES * MISSED**3
    found = wilson_interval(summary["accepted"], PEOPLE)
    assert found.low <= expected <= found.high
    # By definition: with the share q of "good" among all reviews, kappa is (P - q² - (1 - q)²) / (1 - q² - (1 - q)²).
    agree = [(1 - each) ** 2 + each**2 for each in (REFUSED, MISSED)]
    share = (1 - BAD_STORIES) * (1 - REFUSED) + BAD_STORIES * MISSED
    chance = share**2 + (1 - share) ** 2
    kappa = ((1 - BAD_STORIES) * agree[0] + BAD_STORIES * agree[1] - chance) / (1 - chance)
    assert summary["fleiss_kappa"] == pytest.approx(kappa, abs=0.1)
    written = {side: load_placeholders(tmp_path / "out" / f"placeholders-{side}.json") for side in ("train", "test")}
    settings = {"text": "placeholders", "placeholders": written["train"], "test_placeholders": written["test"]}
    storyproof.generate("clutrr", train=200, val=0, test=100, seed=1, out=tmp_path / "new", **settings)
    assert not storyproof.verify(tmp_path / "new").findings
