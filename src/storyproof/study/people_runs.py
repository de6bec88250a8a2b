"""People as solvers: the answers of a condition as one run, which reports put beside those of models.

A run of people may hold several answers to a question, each with the pseudonym of who gave it. Reports take every
answer as one: an accuracy is the share of right answers, and the intervals of reports are over stories, as for all
solvers. Those over participants are in the note of the run, in the summary of the export and on the dashboard. Joint
accuracy is not computed, since nobody answers all questions of a story.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from storyproof import __version__
from storyproof.evaluation.evaluate import GIVEN
from storyproof.evaluation.runs import Evaluation, Prediction, Recorder, run_name, story_hash
from storyproof.evaluation.scores import EXACTLY, Tally
from storyproof.families.family import family_of
from storyproof.stats import mean_interval
from storyproof.study.folder import Study
from storyproof.study.items import MAIN
from storyproof.study.results import StudyRows, seconds_of


def write_runs(study: Study, rows: StudyRows, excluded: Mapping[int, object], folder: Path) -> list[Path]:
    """Write the answers of each condition as a run, without those of excluded participants; return the files."""
    found = []
    for condition in study.design.conditions:
        answers = [
            row
            for row in rows.answers
            if row.role == MAIN and row.condition == condition.name and row.participant_id not in excluded
        ]
        if answers:
            found.append(_write_run(study, rows, folder, condition.name, answers))
    return found


def _write_run(study: Study, rows: StudyRows, folder: Path, condition: str, answers: Sequence[Row[Any]]) -> Path:
    design, model = study.design, f"people-{condition}"
    split = design.source.get("split")
    path = folder / run_name(model, split)
    recorder, tally = Recorder(path), Tally()
    for row in sorted(answers, key=lambda row: (int(row.item), int(row.id))):
        example = study.items[row.item].example()
        given = "" if row.is_timed_out else row.answer
        tally.add_exact(example, given)
        recorder.add(
            Prediction(
                id=example.id,
                answerer=rows.participants[row.participant_id].code,
                story_id=example.story_id,
                story_hash=story_hash(example.story),
                question_type=example.question_type,
                kind=family_of(example).kind(example),
                order=example.order,
                false_belief=example.false_belief,
                question=example.question,
                answer=given,
                target=example.answer,
                right=row.is_right,
                effort={"seconds": round(seconds_of(row), 3)},
            )
        )
    people = len({row.participant_id for row in answers})
    found = Evaluation(
        model,
        str(design.source.get("path", "")),
        split,
        GIVEN,
        design.seed,
        scores=replace(tally.scores(), stories=0, joint_accuracy=0.0),
        predictions=(),
        intervals={name: each for name, each in tally.intervals().items() if name != "joint_accuracy"},
        details={
            "matching": EXACTLY,
            "note": _describe(answers, people),
            "study": {"name": design.name, "design_sha256": design.sha256, "participants": people},
        },
        run={"storyproof": __version__, "data": design.source.get("data", {})},
        path=path,
    )
    recorder.finish(found.about())
    return path


def _describe(answers: Sequence[Row[Any]], people: int) -> str:
    share = mean_interval([float(row.is_right) for row in answers], [row.participant_id for row in answers])
    who = f"{people:,} participants" if people > 1 else "one participant"
    return (
        f"{who} gave {len(answers):,} answers, {share.value:.1%} of them right. The 95% interval over participants is "
        f"{share.low:.1%} to {share.high:.1%}; intervals in reports are over stories."
    )
