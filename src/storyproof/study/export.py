"""Exports: tables with a codebook, a run that reports read beside those of models, and a file of placeholders."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from sqlalchemy import Row, select

from storyproof import __version__
from storyproof.errors import ConfigError
from storyproof.evaluation.evaluate import GIVEN
from storyproof.evaluation.runs import Evaluation, Prediction, Recorder, run_name, story_hash
from storyproof.evaluation.scores import EXACTLY, Tally
from storyproof.families.family import family_of
from storyproof.families.paraphrasing import WritingTask
from storyproof.files import json_bytes, whole_file, write_whole, writing_to
from storyproof.inputs import kind_of
from storyproof.seeds import digest
from storyproof.study import schema
from storyproof.study.design import PARAPHRASE, SOLVE
from storyproof.study.folder import DESIGN, ITEMS, REPLACEMENT, SOLVING, Study
from storyproof.study.items import MAIN, find_paraphrasing
from storyproof.study.results import (
    ReviewedText,
    StudyRows,
    find_exclusions,
    fleiss_kappa,
    group_answers,
    list_payouts,
    read_rows,
    review_texts,
    seconds_of,
)

TEST_SHARE = 0.2  # of the accepted stories, by writer
_FORMULA = ("=", "+", "-", "@", "\t")  # what spreadsheets take for a formula


class ColumnInfo(NamedTuple):
    """A column of an exported table.

    Attributes:
        name: Its name.
        type: Its type.
        meaning: What it holds, for the codebook.
    """

    name: str
    type: pa.DataType
    meaning: str


_TEXT, _WHOLE, _TRUTH, _REAL = pa.string(), pa.int64(), pa.bool_(), pa.float64()
_TIMES = [
    ColumnInfo("shown_at", _TEXT, "when the page was first shown, by the server's clock (UTC)"),
    ColumnInfo("received_at", _TEXT, "when the form arrived, by the server's clock (UTC)"),
    ColumnInfo("browser_ms", _WHOLE, "milliseconds on the page by the browser's clock; empty if it sent none"),
    ColumnInfo("hidden_ms", _WHOLE, "milliseconds of these in which the page was hidden, as behind another tab"),
    ColumnInfo("server_ms", _WHOLE, "milliseconds from shown_at to received_at"),
    ColumnInfo(
        "timing",
        _TEXT,
        "ok; no-browser-time; browser-exceeds-server: the browser's time cannot be true; gap: the server's time is "
        "more than a minute longer, as after a reload or a pause",
    ),
]
_OWNER = ColumnInfo("participant", _TEXT, "the pseudonym of the participant")
_EXCLUDED = ColumnInfo(
    "excluded", _TEXT, "why the participant is excluded by the rules of the design; empty if not excluded"
)
_ROLE = ColumnInfo("role", _TEXT, "main, practice, or attention (a check that does not count as a result)")
TABLES: dict[str, list[ColumnInfo]] = {
    "participants": [
        _OWNER,
        ColumnInfo("source", _TEXT, "link, prolific or mturk"),
        ColumnInfo("condition", _TEXT, "the condition"),
        ColumnInfo("status", _TEXT, "working, or done"),
        ColumnInfo("language", _TEXT, "the language of the pages"),
        ColumnInfo("consented_at", _TEXT, "when the participant consented (UTC)"),
        ColumnInfo("finished_at", _TEXT, "when the participant finished (UTC); empty if not yet"),
        _EXCLUDED,
    ],
    "answers": [
        _OWNER,
        ColumnInfo("condition", _TEXT, "the condition"),
        _ROLE,
        ColumnInfo("item", _WHOLE, "the number of the item in items.jsonl"),
        ColumnInfo("id", _TEXT, "the id of the question in its dataset"),
        ColumnInfo("kind", _TEXT, "the kind of question, over which items are balanced"),
        ColumnInfo("answer", _TEXT, "the answer; empty if time was over"),
        ColumnInfo("target", _TEXT, "the right answer"),
        ColumnInfo("right", _TRUTH, "whether the answer is right and came in time"),
        ColumnInfo("timed_out", _TRUTH, "whether it came after the time limit, or not at all"),
        ColumnInfo("difficulty", _WHOLE, "the rating, from 1 (very easy) to 5 (very difficult); empty if not rated"),
        *_TIMES,
        _EXCLUDED,
    ],
    "texts": [
        _OWNER,
        ColumnInfo("text_id", _WHOLE, "the number of the story"),
        ColumnInfo("item", _WHOLE, "the number of the item in items.jsonl"),
        ColumnInfo("key", _TEXT, "relations and genders of the facts"),
        ColumnInfo("text", _TEXT, "the story"),
        ColumnInfo("remarks", _TEXT, "what the checks said when it was sent, as JSON"),
        ColumnInfo("good_reviews", _WHOLE, "how many reviewers who are not excluded find it good"),
        ColumnInfo("reviews", _WHOLE, "how many have reviewed it"),
        ColumnInfo("accepted", _TRUTH, "whether it has all reviews and all find it good"),
        *_TIMES,
        _EXCLUDED,
    ],
    "reviews": [
        _OWNER,
        _ROLE,
        ColumnInfo("text_id", _WHOLE, "the number of the story; empty for an attention check"),
        ColumnInfo("item", _WHOLE, "the number of the item of an attention check; empty for others"),
        ColumnInfo("good", _TRUTH, "whether the reviewer finds the story good"),
        ColumnInfo("right", _TRUTH, "of an attention check: whether the verdict is right"),
        ColumnInfo("reasons", _TEXT, "why it is bad, separated by spaces"),
        *_TIMES,
        _EXCLUDED,
    ],
    "payouts": [
        _OWNER,
        ColumnInfo("source", _TEXT, "link, prolific or mturk"),
        ColumnInfo("external_id", _TEXT, "the id at the site, for paying; in no other table"),
        ColumnInfo("status", _TEXT, "working, or done"),
        ColumnInfo("tasks", _WHOLE, "questions answered, or stories written"),
        ColumnInfo("reviews", _WHOLE, "reviews"),
        ColumnInfo("amount", _TEXT, "the pay, as a decimal number"),
        ColumnInfo("currency", _TEXT, "its currency"),
    ],
}


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
    """Write all results into a new folder.

    Raises:
        ConfigError: If the folder exists.
        DataError: If nothing can be written there.
    """
    if kind_of(out):
        raise ConfigError(f"{out} exists; choose another --out, or remove it.")
    rows = read_rows(study)
    notes: list[str] = []
    with writing_to(out):
        out.mkdir(parents=True)
        for name, content in _files(study, rows, notes).items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)
        if study.design.kind == SOLVE:
            for path in write_runs(study, rows, out / "runs"):
                notes.append(f"{path.relative_to(out)}: give it to storyproof report beside runs of models.")
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


def _files(study: Study, rows: StudyRows, notes: list[str]) -> dict[str, bytes]:
    """Return the content of all files but the runs, by name."""
    excluded = find_exclusions(study.design, rows)
    names = ["participants", "payouts"]
    names += ["texts", "reviews"] if study.design.kind == PARAPHRASE else ["answers"]
    records = _records(study, rows, excluded)
    found: dict[str, bytes] = {}
    for name in names:
        columns = TABLES[name]
        table = pa.Table.from_pylist(records[name], pa.schema([(each.name, each.type) for each in columns]))
        found[f"{name}.parquet"] = _parquet(table)
        found[f"{name}.csv"] = _csv(table)
    found["codebook.md"] = codebook(names).encode()
    found[DESIGN] = json_bytes(study.design.as_dict())
    found[ITEMS] = study.items.as_bytes()
    found["summary.json"] = json_bytes(summarise(study, rows))
    if study.design.kind == PARAPHRASE:
        found |= _placeholders(study, review_texts(study.design, rows, excluded), rows, notes)
    return found


# Tables.


def _records(study: Study, rows: StudyRows, excluded: Mapping[int, list[str]]) -> dict[str, list[dict[str, Any]]]:
    code = {number: row.code for number, row in rows.participants.items()}

    def owner(row: Row[Any]) -> dict[str, Any]:
        return {"participant": code[row.participant_id], "excluded": " ".join(excluded.get(row.participant_id, []))}

    def times(row: Row[Any]) -> dict[str, Any]:
        same = {name: getattr(row, name) for name in ("browser_ms", "hidden_ms", "server_ms", "timing")}
        return {**same, "shown_at": iso(row.shown_at), "received_at": iso(row.received_at)}

    reviewed = {each.row.id: each for each in review_texts(study.design, rows, {})}
    counted = {each.row.id: each for each in review_texts(study.design, rows, excluded)}
    people = [
        {
            "participant": row.code,
            **{name: getattr(row, name) for name in ("source", "condition", "status", "language")},
            "consented_at": iso(row.consented_at),
            "finished_at": iso(row.finished_at),
            "excluded": " ".join(excluded.get(number, [])),
        }
        for number, row in rows.participants.items()
    ]
    answers = [
        {
            **owner(row),
            **times(row),
            **{name: getattr(row, name) for name in ("condition", "role", "item", "answer", "difficulty")},
            "id": study.items[row.item].key,
            "kind": study.items[row.item].stratum,
            "target": study.items[row.item].answer,
            "right": row.is_right,
            "timed_out": row.is_timed_out,
        }
        for row in rows.answers
    ]
    texts = [
        {
            **owner(row),
            **times(row),
            **{name: getattr(row, name) for name in ("item", "text", "remarks")},
            "text_id": row.id,
            "key": study.items[row.item].key,
            "good_reviews": sum(reviewed[row.id].votes),
            "reviews": len(reviewed[row.id].votes),
            "accepted": row.id in counted and counted[row.id].is_accepted,
        }
        for row in rows.texts
    ]
    reviews = [
        {
            **owner(row),
            **times(row),
            "role": row.role,
            "text_id": row.target if row.role == MAIN else None,
            "item": None if row.role == MAIN else row.target,
            "good": row.is_good,
            "right": row.is_right,
            "reasons": " ".join(json.loads(row.reasons)),
        }
        for row in rows.reviews
    ]
    currency = study.design.currency
    payouts = [
        {**asdict(each), "participant": each.code, "amount": str(each.amount), "currency": currency}
        for each in list_payouts(study.design, rows)
    ]
    return {"participants": people, "answers": answers, "texts": texts, "reviews": reviews, "payouts": payouts}


def iso(time: float | None) -> str | None:
    """Return a time as text, to the millisecond, in UTC."""
    return None if time is None else datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")


def _parquet(table: pa.Table) -> bytes:
    held = io.BytesIO()
    pyarrow.parquet.write_table(table, held)
    return held.getvalue()


def _csv(table: pa.Table) -> bytes:
    """Return a table as CSV; an apostrophe in front of text keeps spreadsheets from running it as a formula."""
    for place, field in enumerate(table.schema):
        if field.type == _TEXT:
            values = [f"'{each}" if each and each.startswith(_FORMULA) else each for each in table[place].to_pylist()]
            table = table.set_column(place, field, pa.array(values, _TEXT))
    held = io.BytesIO()
    pyarrow.csv.write_csv(table, held)
    return held.getvalue()


def codebook(names: Sequence[str]) -> str:
    """Return what the columns of tables mean, as Markdown."""
    parts = [
        "# Codebook\n",
        "Each table is there as CSV and as Parquet. In CSV, text that a spreadsheet would run as a formula has an "
        "apostrophe in front; Parquet has the text as it was sent. Times are in UTC.\n",
    ]
    for name in names:
        parts += [f"## {name}\n", "| column | type | meaning |", "|---|---|---|"]
        parts += [f"| {each.name} | {each.type} | {each.meaning} |" for each in TABLES[name]]
        parts.append("")
    return "\n".join(parts)


def summarise(study: Study, rows: StudyRows) -> dict[str, Any]:
    """Return the main figures, as plain values for JSON."""
    excluded = find_exclusions(study.design, rows)
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


# Runs.


def write_runs(study: Study, rows: StudyRows, folder: Path) -> list[Path]:
    """Write the answers of each condition as a run; where an item has several answers, one run for each of them."""
    excluded = find_exclusions(study.design, rows)
    table = schema.slot
    with study.database.reading() as connection:
        numbers = {
            row.id: row.number % REPLACEMENT
            for row in connection.execute(select(table.c.id, table.c.number).where(table.c.kind == SOLVING))
        }
    groups: dict[tuple[str, int], list[Row[Any]]] = {}
    for row in rows.answers:
        if row.role == MAIN and row.participant_id not in excluded:
            groups.setdefault((row.condition, numbers[row.slot_id]), []).append(row)
    return [_write_run(study, folder, *key, groups[key]) for key in sorted(groups)]


def _write_run(study: Study, folder: Path, condition: str, number: int, answers: Sequence[Row[Any]]) -> Path:
    design = study.design
    model = f"people-{condition}"
    more = [f"answer{number + 1}"] if design.answers_per_item > 1 else []
    split = design.source.get("split")
    path = folder / run_name(model, split, *more)
    recorder, tally = Recorder(path), Tally()
    for row in sorted(answers, key=lambda row: int(row.item)):
        item = study.items[row.item]
        example = item.example()
        given = "" if row.is_timed_out else row.answer
        tally.add_exact(example, given)
        recorder.add(
            Prediction(
                id=example.id,
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
    found = Evaluation(
        model,
        str(design.source.get("path", "")),
        split,
        GIVEN,
        number,
        scores=tally.scores(),
        predictions=(),
        intervals=tally.intervals(),
        details={"matching": EXACTLY, "study": {"name": design.name, "design_sha256": design.sha256}},
        run={"storyproof": __version__, "data": design.source.get("data", {})},
        path=path,
    )
    recorder.finish(found.about())
    return path


# Placeholders.


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


def _placeholders(study: Study, texts: Sequence[ReviewedText], rows: StudyRows, notes: list[str]) -> dict[str, bytes]:
    asked = find_paraphrasing(study.items[0].family)
    found: dict[str, bytes] = {}
    accepted = [(study.items[each.row.item].writing_task(), each.row.text) for each in texts if each.is_accepted]
    openers = asked.contexts(accepted)
    if openers:
        found["scene-openers.yaml"] = b"openers:\n" + b"".join(f"  - {json.dumps(each)}\n".encode() for each in openers)
        notes.append(
            f"scene-openers.yaml: {len(openers)} sentences that give context only; with moments, places, alone and "
            "together added, it is a scene for generate clutrr --scenes."
        )
    for name, side in zip(("train", "test"), split_writers(study, texts, rows), strict=True):
        pairs: list[tuple[WritingTask, str]] = [(study.items[row.item].writing_task(), row.text) for row in side]
        collected = asked.collect(pairs, fill=True)
        found[f"placeholders-{name}.json"] = json_bytes(collected.document)
        notes.append(
            f"placeholders-{name}.json: {collected.used} accepted stories, {len(collected.left_out)} left out because "
            f"generate would refuse them, {collected.added} of ours added for facts that nobody wrote about."
        )
    notes.append(
        "Use them: storyproof generate clutrr --text placeholders --placeholders placeholders-train.json "
        "--test-placeholders placeholders-test.json --out DATA"
    )
    return found


# Preregistration.


def preregistration(study: Study) -> dict[str, Any]:
    """Return all that was decided before the first participant, with hashes, as plain values for JSON."""
    strata: dict[str, int] = {}
    for item in study.items.of(MAIN):
        strata[item.stratum] = strata.get(item.stratum, 0) + 1
    return {
        "storyproof": __version__,
        "design": study.design.as_dict(),
        "design_sha256": study.design.sha256,
        "items": {"count": len(study.items), "sha256": study.items.sha256, "by_kind": strata},
        "item_keys": [item.key for item in study.items.of(MAIN)],
        "assignment": (
            "Participants are assigned to the condition with the fewest participants that has items left; ties are "
            "broken by a hash of the seed. An item is given to as many participants of each condition as "
            "answers_per_item says. Each participant gets the kind of item that they have had least; within it items "
            "with the fewest answers, in a random order that depends on seed and participant."
        ),
        "exclusion_rules": asdict(study.design.exclusions),
        "analysis": (
            "Accuracy by condition and kind of item with 95% intervals over participants. An answer after the time "
            "limit counts as wrong. A story is accepted if all reviewers find it good; agreement is Fleiss' kappa."
        ),
    }


def write_preregistration(study: Study, out: Path) -> None:
    """Write the preregistration as JSON.

    Raises:
        DataError: If it cannot be written.
    """
    with writing_to(out), whole_file(out) as file:
        file.write(json_bytes(preregistration(study)))
