"""The verb `study export`: tables with a codebook, runs for reports, and what becomes of accepted stories.

The answers of a condition are one run, which reports put beside those of models. It may hold several answers to a
question, each with the pseudonym of who gave it. Reports take every answer as one: an accuracy is the share of right
answers, and the intervals of reports are over stories, as for all solvers. Those over participants are in the note of
the run, in the summary of the export and on the dashboard. Joint accuracy is not computed, since nobody answers all
questions of a story.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from sqlalchemy import Row

from storyproof import __version__
from storyproof.errors import ConfigError
from storyproof.evaluation.evaluate import GIVEN
from storyproof.evaluation.runs import Evaluation, Prediction, Recorder, run_name, story_hash
from storyproof.evaluation.scores import EXACTLY, Tally
from storyproof.families.family import family_of
from storyproof.generation.seeds import digest
from storyproof.io.atomic_files import json_bytes, make_private, write_whole, writing_to
from storyproof.io.bounded_input import kind_of
from storyproof.io.locks import Claim
from storyproof.stats import mean_interval
from storyproof.study.design import PARAPHRASE, SOLVE
from storyproof.study.folder import Study
from storyproof.study.items import MAIN, find_paraphrasing
from storyproof.study.progress import DESIGN, ITEMS
from storyproof.study.results import (
    ReviewedText,
    StudyRows,
    find_exclusions,
    fleiss_kappa,
    group_answers,
    read_rows,
    review_texts,
    seconds_of,
)
from storyproof.study.tables import TableSource, build_exported, codebook, csv_bytes, parquet_bytes


class ExportedFiles(NamedTuple):
    """What an export has written.

    Attributes:
        folder: Where.
        files: The names of the files.
        notes: What a user should know.
    """

    folder: Path
    files: list[str]
    notes: list[str]


def export_study(study: Study, out: Path) -> ExportedFiles:
    """Write all results into a new folder, whole or not at all, which nobody but its owner may read.

    Raises:
        ConfigError: If the folder exists.
        DataError: If nothing can be written there.
    """
    if kind_of(out):
        raise ConfigError(f"{out} exists; choose another --out, or remove it.")
    rows = read_rows(study)
    excluded = find_exclusions(study.design, rows)
    notes: list[str] = []
    draft = out.parent / f".{out.name}.unfinished"
    with writing_to(out), Claim(out.parent / f".{out.name}.lock").when_free():
        rmtree(draft, ignore_errors=True)  # what a process left that was killed
        try:
            draft.mkdir(mode=0o700)
            for name, content in _files(study, rows, excluded, notes).items():
                path = draft / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
            if study.design.kind == SOLVE:
                for path in write_runs(study, rows, excluded, draft / "runs"):
                    notes.append(f"{path.relative_to(draft)}: give it to storyproof report beside runs of models.")
            make_private(draft)
            if kind_of(out):
                raise ConfigError(f"{out} exists; choose another --out, or remove it.")
            draft.rename(out)
        finally:
            rmtree(draft, ignore_errors=True)
    return ExportedFiles(out, sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()), notes)


def export_archive(study: Study) -> bytes:
    """Return all results as a ZIP file."""
    with tempfile.TemporaryDirectory() as place:
        exported = export_study(study, Path(place) / "results")
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in exported.files:
                archive.write(exported.folder / name, f"{study.design.name}/{name}")
        return held.getvalue()


def _files(study: Study, rows: StudyRows, excluded: Mapping[int, list[str]], notes: list[str]) -> dict[str, bytes]:
    """Return the content of all files but the runs, by name."""
    names = ["participants", "payouts"]
    names += ["texts", "reviews"] if study.design.kind == PARAPHRASE else ["answers"]
    source = TableSource(study, rows, excluded)
    contents: dict[str, bytes] = {}
    for name in names:
        table = build_exported(name, source)
        contents[f"{name}.parquet"] = parquet_bytes(table)
        contents[f"{name}.csv"] = csv_bytes(table)
    contents["codebook.md"] = codebook(names).encode()
    contents[DESIGN] = json_bytes(study.design.as_dict())
    contents[ITEMS] = study.items.as_bytes()
    contents["summary.json"] = json_bytes(summarise(study, rows, excluded))
    if study.design.kind == PARAPHRASE:
        sides = split_writers(study, review_texts(study.design, rows, excluded), rows)
        contents |= collect_placeholders(study, sides, notes)
    return contents


def summarise(study: Study, rows: StudyRows, excluded: Mapping[int, list[str]]) -> dict[str, Any]:
    """Return the main figures, as plain values for JSON."""
    summary: dict[str, Any] = {
        "storyproof": __version__,
        "study": study.design.name,
        "participants": len(rows.participants),
        "excluded": {rows.participants[number].code: why for number, why in excluded.items()},
        "slots": {
            kind: dict(zip(("total", "done", "held"), counts, strict=True)) for kind, counts in rows.slots.items()
        },
    }
    if study.design.kind == PARAPHRASE:
        texts = review_texts(study.design, rows, excluded)
        complete = [each for each in texts if each.is_complete]
        accepted = sum(each.is_accepted for each in complete)
        summary["texts"] = {
            "written": len(texts),
            "reviewed": len(complete),
            "accepted": accepted,
            "acceptance_rate": accepted / len(complete) if complete else None,
            "fleiss_kappa": fleiss_kappa(texts, study.design.reviewers),
        }
    else:
        summary["answers"] = [asdict(each) for each in group_answers(study, rows, excluded)]
    return summary


TEST_SHARE = 0.2  # of the accepted stories, by writer


def split_writers(
    study: Study, texts: Sequence[ReviewedText], rows: StudyRows
) -> tuple[list[Row[Any]], list[Row[Any]]]:
    """Divide accepted stories into train and test by writer; about a fifth goes to test, never all of them."""
    by_writer: dict[str, list[Row[Any]]] = {}
    for each in texts:
        if each.is_accepted:
            by_writer.setdefault(rows.participants[each.row.participant_id].code, []).append(each.row)
    order = sorted(by_writer, key=lambda code: digest("study-writers", study.design.seed, code))
    total = sum(map(len, by_writer.values()))
    train: list[Row[Any]] = []
    test: list[Row[Any]] = []
    for place, code in enumerate(order):
        room = len(test) < TEST_SHARE * total and place < len(order) - 1
        (test if room else train).extend(by_writer[code])
    return train, test


def collect_placeholders(study: Study, sides: Sequence[Sequence[Row[Any]]], notes: list[str]) -> dict[str, bytes]:
    """Return the files of placeholders for train and test; add to the notes what a user should know."""
    asked = find_paraphrasing(study.items[0].family)
    contents: dict[str, bytes] = {}
    for name, side in zip(("train", "test"), sides, strict=True):
        collected = asked.collect([(study.items[row.item].writing_task(), row.text) for row in side], fill=name)
        contents[f"placeholders-{name}.json"] = json_bytes(collected.document)
        notes.append(
            f"placeholders-{name}.json: {collected.used} accepted stories, {len(collected.left_out)} left out because "
            f"generate would refuse them, {collected.added} of ours added for facts that nobody wrote about."
        )
    notes.append("Use them: " + asked.use_texts.format(train="placeholders-train.json", test="placeholders-test.json"))
    return contents


def write_runs(study: Study, rows: StudyRows, excluded: Mapping[int, object], folder: Path) -> list[Path]:
    """Write the answers of each condition as a run, without those of excluded participants; return the files."""
    written = []
    for condition in study.design.conditions:
        answers = [
            row
            for row in rows.answers
            if row.role == MAIN and row.condition == condition.name and row.participant_id not in excluded
        ]
        if answers:
            written.append(_write_run(study, rows, folder, condition.name, answers))
    return written


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
    evaluation = Evaluation(
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
    recorder.finish(evaluation.about())
    return path


def _describe(answers: Sequence[Row[Any]], people: int) -> str:
    share = mean_interval([float(row.is_right) for row in answers], [row.participant_id for row in answers])
    who = f"{people:,} participants" if people > 1 else "one participant"
    return (
        f"{who} gave {len(answers):,} answers, {share.value:.1%} of them right. The 95% interval over participants is "
        f"{share.low:.1%} to {share.high:.1%}; intervals in reports are over stories."
    )
