"""The verb `study export`: tables with a codebook, runs for reports, and what becomes of accepted stories."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from storyproof import __version__
from storyproof.errors import ConfigError
from storyproof.io.atomic_files import json_bytes, make_private, write_whole, writing_to
from storyproof.io.bounded_input import kind_of
from storyproof.io.locks import Claim
from storyproof.study.accepted_texts import collect_placeholders, collect_scenes, split_writers
from storyproof.study.design import PARAPHRASE, SOLVE
from storyproof.study.folder import Study
from storyproof.study.people_runs import write_runs
from storyproof.study.progress import DESIGN, ITEMS
from storyproof.study.results import (
    StudyRows,
    find_exclusions,
    fleiss_kappa,
    group_answers,
    read_rows,
    review_texts,
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
        found = export_study(study, Path(place) / "results")
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in found.files:
                archive.write(found.folder / name, f"{study.design.name}/{name}")
        return held.getvalue()


def _files(study: Study, rows: StudyRows, excluded: Mapping[int, list[str]], notes: list[str]) -> dict[str, bytes]:
    """Return the content of all files but the runs, by name."""
    names = ["participants", "payouts"]
    names += ["texts", "reviews"] if study.design.kind == PARAPHRASE else ["answers"]
    source = TableSource(study, rows, excluded)
    found: dict[str, bytes] = {}
    for name in names:
        table = build_exported(name, source)
        found[f"{name}.parquet"] = parquet_bytes(table)
        found[f"{name}.csv"] = csv_bytes(table)
    found["codebook.md"] = codebook(names).encode()
    found[DESIGN] = json_bytes(study.design.as_dict())
    found[ITEMS] = study.items.as_bytes()
    found["summary.json"] = json_bytes(summarise(study, rows, excluded))
    if study.design.kind == PARAPHRASE:
        sides = split_writers(study, review_texts(study.design, rows, excluded), rows)
        found |= collect_placeholders(study, sides, notes) | collect_scenes(study, sides, notes)
    return found


def summarise(study: Study, rows: StudyRows, excluded: Mapping[int, list[str]]) -> dict[str, Any]:
    """Return the main figures, as plain values for JSON."""
    found: dict[str, Any] = {
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
        found["texts"] = {
            "written": len(texts),
            "reviewed": len(complete),
            "accepted": accepted,
            "acceptance_rate": accepted / len(complete) if complete else None,
            "fleiss_kappa": fleiss_kappa(texts, study.design.reviewers),
        }
    else:
        found["answers"] = [asdict(each) for each in group_answers(study, rows, excluded)]
    return found
