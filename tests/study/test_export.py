"""Exports: tables with a codebook, runs that reports read, placeholders that generate takes; backups that restore."""

import csv
import io
import json
import os
import random
import sqlite3
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import pyarrow.parquet as pq
import pytest
from sqlalchemy import select, update

import storyproof
from storyproof.datasets.reading import find_source
from storyproof.errors import ConfigError, DataError
from storyproof.evaluation.runs import read_runs
from storyproof.study import backup, schema
from storyproof.study.backup import back_up, restore
from storyproof.study.database import FILE, StudyDatabase, parse_url
from storyproof.study.design import PARAPHRASE, SOLVE, ExclusionRules, StudyDesign
from storyproof.study.export import export_study
from storyproof.study.folder import DESIGN, REVIEWING, Study, open_study
from storyproof.study.items import ATTENTION, MAIN
from storyproof.study.new import new_study
from storyproof.study.participant_flow import ANSWER, FINISHED, RATE, REVIEW, WRITE, find_step
from storyproof.study.participants import Participant, StudyFullError, delete_participant
from storyproof.study.planning import preregistration
from storyproof.study.recruitment import replace_excluded
from storyproof.study.results import find_exclusions, fleiss_kappa, list_payouts, read_rows, review_texts
from storyproof.study.submissions import submit_answer, submit_rating, submit_review, submit_text
from storyproof.study.tables import TABLES
from tests.study.samples import LIMITED, UNLIMITED, Clock, join, kinship_data, make_study, solve_design, writing_design

ERRORS = {"k=2": 0.15, "k=3": 0.4}  # of simulated participants


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kinship_data(tmp_path_factory.mktemp("data"))


def simulate(study: Study, me: Participant, draws: random.Random, fails_checks: bool = False) -> Counter[str]:
    """Do all steps as somebody who errs at known rates; return how many main questions of each kind were right."""
    right: Counter[str] = Counter()
    while (step := find_step(study, me)).kind != FINISHED:
        item = study.items[step.item]
        if step.kind == ANSWER:
            wrong = draws.random() < ERRORS[item.stratum] if step.role == MAIN else fails_checks
            right[item.stratum] += step.role == MAIN and not wrong
            others = [each for each in item.choices if each != item.answer]
            submit_answer(study, me, step.slot, draws.choice(others) if wrong else item.answer, 900)
        elif step.kind == RATE:
            submit_rating(study, me, step.slot, draws.randint(1, 5))
        elif step.kind == WRITE:
            text = f"A bell rang far off. Bell {step.slot} was next. " + " ".join(item.writing_task().facts)
            submit_text(study, me, step.slot, text, text, [], 900)
        elif step.kind == REVIEW:
            good = item.is_good if step.role != MAIN else step.text % 4 != 0
            submit_review(study, me, step.slot, good, () if good else ("nonsense",), 900)
    return right


@pytest.fixture(scope="module")
def solved_folder(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    settings = {
        "kind": SOLVE, "conditions": (LIMITED, UNLIMITED), "items": 12, "tasks_per_participant": 4, "practice": 1,
        "attention_checks": 1, "seed": 2, "pay_per_task": "0.25",
    }  # fmt: skip
    study, _ = new_study(tmp_path_factory.mktemp("solved") / "solved", settings, data=data)
    draws = random.Random(1)
    for number in range(6):
        simulate(study, join(study, str(number)), draws, fails_checks=number == 5)
    study.close()
    return study.folder


@pytest.fixture(scope="module")
def written_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = make_study(tmp_path_factory.mktemp("written"), writing_design(items=8, reviews_per_participant=4))
    draws = random.Random(1)
    with suppress(StudyFullError):
        for number in range(20):
            simulate(study, join(study, str(number)), draws)
    study.close()
    return study.folder


@pytest.fixture
def solved(solved_folder: Path, tmp_path: Path) -> Iterator[Study]:
    study = open_study(copytree(solved_folder, tmp_path / solved_folder.name))
    yield study
    study.close()


@pytest.fixture
def written(written_folder: Path, tmp_path: Path) -> Iterator[Study]:
    study = open_study(copytree(written_folder, tmp_path / written_folder.name))
    yield study
    study.close()


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_and_codebook(solved: Study, tmp_path: Path) -> None:
    found = export_study(solved, tmp_path / "out")
    book = (tmp_path / "out" / "codebook.md").read_text("utf-8")
    for name in ("participants", "answers", "payouts"):
        table = pq.read_table(tmp_path / "out" / f"{name}.parquet")
        assert table.column_names == [each.name for each in TABLES[name].columns]
        assert len(read_csv(tmp_path / "out" / f"{name}.csv")) == table.num_rows
        assert all(f"| {column} |" in book for column in table.column_names)
    answers = read_csv(tmp_path / "out" / "answers.csv")
    assert sum(row["role"] == MAIN for row in answers) == 24
    assert len({row["participant"] for row in answers}) == 6
    assert {row["excluded"] for row in answers} == {"", "failed-attention-checks"}
    assert not any("external" in column for column in answers[0])  # ids of sites are for paying only
    assert "answers.csv" in found.files
    with pytest.raises(ConfigError, match="exists"):
        export_study(solved, tmp_path / "out")


@pytest.mark.study
def test_runs_stand_beside_models(solved: Study, data: Path, tmp_path: Path) -> None:
    export_study(solved, tmp_path / "out")
    runs = sorted((tmp_path / "out" / "runs").glob("*.json"))
    assert [path.name for path in runs] == ["people-limited_test.json", "people-unlimited_test.json"]
    [run] = read_runs(runs[0])
    rows = [row for row in read_rows(solved).answers if row.role == MAIN and row.condition == "limited"]
    excluded = find_exclusions(solved.design, read_rows(solved))
    counted = [row for row in rows if row.participant_id not in excluded]
    assert len(run.predictions) == len(counted)
    assert sum(each.right or False for each in run.predictions) == sum(row.is_right for row in counted)
    storyproof.evaluate("oracle", data, output_dir=tmp_path / "models")
    page = storyproof.report([*runs, *(tmp_path / "models").glob("*.json")]).render()
    assert "people-limited" in page
    assert "oracle" in page
    assert "not there any more" not in page


@pytest.mark.study
def test_several_answers_per_item_are_one_run(tmp_path: Path, data: Path) -> None:
    """A report shows people once: every answer counts, and the browser lists what they answered."""
    settings = {
        "kind": SOLVE, "conditions": (UNLIMITED,), "items": 6, "answers_per_item": 4, "tasks_per_participant": 3,
        "practice": 0, "attention_checks": 0, "seed": 2,
    }  # fmt: skip
    study, _ = new_study(tmp_path / "several", settings, data=data)
    for number in range(8):
        simulate(study, join(study, str(number)), random.Random(number))
    export_study(study, tmp_path / "out")
    [path] = (tmp_path / "out" / "runs").glob("*.json")
    assert path.name == "people-unlimited_test.json"
    [run] = read_runs(path)
    rows = [row for row in read_rows(study).answers if row.role == MAIN]
    right = sum(row.is_right for row in rows)
    assert len(run.predictions) == len(rows) == 24
    assert {Counter(each.id for each in run.predictions)[key] for key in {each.id for each in run.predictions}} == {4}
    storyproof.evaluate("oracle", data, output_dir=tmp_path / "models")
    report = storyproof.report([path, *(tmp_path / "models").glob("*.json")])
    [board] = report.boards
    people = next(row for row in board.rows if row.solver == "people-unlimited")
    assert people.accuracy.value == pytest.approx(right / 24)
    assert people.accuracy.of == 24
    assert people.joint is None
    [pair] = board.pairs
    assert pair.questions == 6
    assert pair.difference.value == pytest.approx(1 - right / 24)
    assert any("8 participants gave 24 answers" in note for note in board.notes)
    page = report.render()
    assert page.count("people-unlimited") > 0
    study.close()


def test_exclusion_rules(solved: Study) -> None:
    rows = read_rows(solved)
    for rules, count in (
        (ExclusionRules(failed_checks=1), 1),
        (ExclusionRules(failed_checks=0), 0),
        (ExclusionRules(failed_checks=2), 0),
        (ExclusionRules(failed_checks=0, fastest_median_s=0.9), 0),
        (ExclusionRules(failed_checks=0, fastest_median_s=0.91), 6),
        (ExclusionRules(failed_checks=0, needs_completion=True), 0),
    ):
        assert len(find_exclusions(replace(solved.design, exclusions=rules), rows)) == count


@pytest.mark.study
def test_excluded_participants_are_replaced(solved: Study, written: Study, tmp_path: Path) -> None:
    """Until every item has its answers, and every story its reviews, by participants who count."""
    with pytest.raises(StudyFullError):
        join(solved, "too early")
    assert replace_excluded(solved) == {"solve": 4}
    assert replace_excluded(solved) == {}  # once
    simulate(solved, join(solved, "replacement"), random.Random(5))
    rows = read_rows(solved)
    excluded = find_exclusions(solved.design, rows)
    counted = [row for row in rows.answers if row.role == MAIN and row.participant_id not in excluded]
    assert Counter((row.item, row.condition) for row in counted) == {
        (item, condition): 1 for item in range(12) for condition in ("limited", "unlimited")
    }
    export_study(solved, tmp_path / "replaced")
    assert sum(len(read_runs(path)[0].predictions) for path in (tmp_path / "replaced" / "runs").iterdir()) == 24
    reviewer = next(row.participant_id for row in read_rows(written).reviews if row.role == MAIN)
    with written.database.writing() as connection:  # somebody failed an attention check
        table = schema.review
        connection.execute(
            update(table).where(table.c.participant_id == reviewer, table.c.role == ATTENTION).values(is_right=False)
        )
    lost = sum(row.participant_id == reviewer and row.role == MAIN for row in read_rows(written).reviews)
    opened = replace_excluded(written)
    assert opened[REVIEWING] == lost
    with suppress(StudyFullError):
        for number in range(20):
            simulate(written, join(written, f"more-{number}"), random.Random(number))
    rows = read_rows(written)
    texts = review_texts(written.design, rows, find_exclusions(written.design, rows))
    assert len(texts) == 8
    assert all(each.is_complete for each in texts)


def test_pay(solved: Study, written: Study) -> None:
    payouts = list_payouts(solved.design, read_rows(solved))
    assert [str(each.amount) for each in payouts] == ["1.00"] * 6  # who is excluded is paid, too
    rows = read_rows(written)
    for each in list_payouts(written.design, rows):
        assert str(each.amount) == f"{0.5 * each.tasks + 0.07 * each.reviews:.2f}"
    assert sum(each.tasks for each in list_payouts(written.design, rows)) == 8


@pytest.mark.study
def test_stories_become_placeholders(written: Study, tmp_path: Path) -> None:
    """Accepted stories make data that verify; no writer is in train and test."""
    found = export_study(written, tmp_path / "out")
    texts = read_csv(tmp_path / "out" / "texts.csv")
    accepted = [row for row in texts if row["accepted"] == "true"]
    assert accepted
    assert len(accepted) < len(texts)
    sides = {}
    for side in ("train", "test"):
        document = json.loads((tmp_path / "out" / f"placeholders-{side}.json").read_text("utf-8"))
        sides[side] = [text for group in document.values() for each in group.values() for text in each]
        assert all("ENT_" in text for text in sides[side])
    bells = {side: [text for text in each if text.startswith("A bell")] for side, each in sides.items()}
    assert len(bells["train"]) + len(bells["test"]) == len(accepted)
    assert bells["train"]
    assert bells["test"]
    assert any("placeholders-train.json: " in note for note in found.notes)
    from storyproof.families.kinship.placeholders import load_placeholders

    settings = {
        "text": "placeholders",
        "placeholders": load_placeholders(tmp_path / "out" / "placeholders-train.json"),
        "test_placeholders": load_placeholders(tmp_path / "out" / "placeholders-test.json"),
    }
    storyproof.generate("clutrr", train=20, val=0, test=20, seed=1, out=tmp_path / "new", **settings)
    assert not storyproof.verify(tmp_path / "new").findings


WRITERS = ("abacus", "sextant", "zeppelin", "gargoyle", "metronome")  # each writes about a thing that our phrases lack


def write_about_things(study: Study, writers: Sequence[str]) -> None:
    """Let participants write their stories and find all those of others good."""
    people = {thing: join(study, thing) for thing in writers}
    for rounds in (WRITE, REVIEW):
        for thing, me in people.items():
            while (step := find_step(study, me)).kind == rounds:
                facts = " ".join(study.items[step.item].writing_task().facts)
                if rounds == WRITE:
                    text = f"The {thing} number {'abcdefgh'[step.slot % 8]} stood ready. {facts}"
                    submit_text(study, me, step.slot, text, text, [], 900)
                else:
                    submit_review(study, me, step.slot, True, (), 900)


def test_no_writers_words_are_in_train_and_test(tmp_path: Path) -> None:
    design = writing_design(
        items=15, tasks_per_participant=3, reviews_per_participant=12, reviewers=1, attention_checks=0
    )
    study = make_study(tmp_path, design)
    write_about_things(study, WRITERS)
    export_study(study, tmp_path / "out")
    study.close()
    sides: dict[str, set[str]] = {}
    for side in ("train", "test"):
        placeholders = (tmp_path / "out" / f"placeholders-{side}.json").read_text("utf-8")
        sides[side] = {thing for thing in WRITERS if thing in placeholders}
    assert sides["train"] | sides["test"] == set(WRITERS)
    assert not sides["train"] & sides["test"]
    assert sides["test"]


def test_one_writer_is_in_train_only(tmp_path: Path) -> None:
    design = writing_design(
        items=3, tasks_per_participant=3, reviews_per_participant=3, reviewers=1, attention_checks=0
    )
    study = make_study(tmp_path, design)
    write_about_things(study, WRITERS[:1])
    simulate(study, join(study, "reader"), random.Random(1))
    export_study(study, tmp_path / "out")
    study.close()
    assert WRITERS[0] in (tmp_path / "out" / "placeholders-train.json").read_text("utf-8")
    assert WRITERS[0] not in (tmp_path / "out" / "placeholders-test.json").read_text("utf-8")


def test_agreement(written: Study) -> None:
    rows = read_rows(written)
    texts = review_texts(written.design, rows, {})
    kappa = fleiss_kappa(texts, 2)
    assert kappa == 1.0  # simulated reviewers agree
    votes = [(True, True), (False, False), (True, False), (True, True)]
    some = [replace(texts[0], votes=each, is_complete=True) for each in votes]
    # By hand: P = (1 + 1 + 0 + 1) / 4, of good 5/8, of bad 3/8: (0.75 − 0.53125) / (1 − 0.53125)
    assert fleiss_kappa(some, 2) == pytest.approx(0.21875 / 0.46875)
    assert fleiss_kappa(some[:1], 2) is None
    assert fleiss_kappa([], 2) is None


def test_preregistration(solved: Study) -> None:
    found = preregistration(solved)
    assert found["design_sha256"] == solved.design.sha256
    assert StudyDesign.from_dict(json.loads(json.dumps(found["design"]))).sha256 == solved.design.sha256
    assert found["items"]["by_kind"] == {"k=2": 6, "k=3": 6}
    assert len(found["item_keys"]) == 12


def everything(study: Study) -> dict[str, list[tuple[Any, ...]]]:
    with study.database.reading() as connection:
        return {table.name: sorted(map(tuple, connection.execute(select(table)))) for table in schema.KEPT}


def test_backup_and_restore(solved: Study, tmp_path: Path) -> None:
    before = everything(solved)
    counts = back_up(solved, tmp_path / "backup.zip")
    assert counts["answer"] == 36
    again, restored = restore(tmp_path / "backup.zip", tmp_path / "again")
    assert restored == counts
    assert everything(again) == before
    me = join(again, "0")  # links go on
    assert find_step(again, me).kind == FINISHED
    again.close()
    with pytest.raises(ConfigError, match="exists"):
        restore(tmp_path / "backup.zip", tmp_path / "again")


def test_damaged_backups(solved: Study, tmp_path: Path) -> None:
    back_up(solved, tmp_path / "backup.zip")
    content = (tmp_path / "backup.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.zip").write_text("no archive")
    for name in ("cut.zip", "text.zip", "missing.zip"):
        with pytest.raises(DataError, match="not a backup"):
            restore(tmp_path / name, tmp_path / "elsewhere")
        assert not (tmp_path / "elsewhere").exists()


def _repacked(backup: Path, out: Path, parts: dict[str, bytes | None], **about: Any) -> Path:
    """Write a backup with other parts and a manifest with their hashes, or with other values."""
    with zipfile.ZipFile(backup) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(held["backup.json"])
    held = {name: content for name, content in {**held, **parts}.items() if content is not None}
    manifest["sha256"] = {name: sha256(held[f"{name}.jsonl"]).hexdigest() for name in manifest["sha256"]}
    manifest = {name: value for name, value in {**manifest, **about}.items() if value != "gone"}
    held["backup.json"] = parts.get("backup.json") or json.dumps(manifest).encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return out


BAD_PARTS: dict[str, dict[str, Any]] = {
    "not UTF-8": {"event.jsonl": b"\xff\xfe\n"},
    "not JSON": {"event.jsonl": b"{oops\n"},
    "an unknown column": {"event.jsonl": b'{"nope": 1}\n'},
    "a list": {"event.jsonl": b"[1]\n"},
    "a number": {"event.jsonl": b"1\n"},
    "a value of another type": {"study.jsonl": b'{"id": {"a": 1}}\n'},
    "a huge number": {"event.jsonl": b'{"id": 1e400}\n'},
    "no design": {"design.json": None},
    "a design that is a list": {"design.json": b"[]"},
    "a design that is not JSON": {"design.json": b"{nope"},
    "items that are not UTF-8": {"items.jsonl": b"\xff"},
    "items that are not items": {"items.jsonl": b"[]\n"},
    "a manifest that is a list": {"backup.json": b"[]"},
    "a manifest that is not JSON": {"backup.json": b"{"},
    "no rows": {"rows": "gone"},
    "rows that are a number": {"rows": 3},
    "no hashes": {"sha256": "gone"},
    "hashes that are a list": {"sha256": []},
    "no revision": {"revision": "gone"},
    "a revision that is a number": {"revision": 7},
    "a newer revision": {"revision": "r9999"},
    "an unknown table": {"rows": {"x": 0}, "sha256": {"x": ""}},
}


@pytest.mark.parametrize("what", BAD_PARTS)
def test_a_backup_with_bad_parts_is_refused_and_leaves_nothing(solved: Study, tmp_path: Path, what: str) -> None:
    back_up(solved, tmp_path / "backup.zip")
    files = {name: value for name, value in BAD_PARTS[what].items() if "." in name}
    about = {name: value for name, value in BAD_PARTS[what].items() if "." not in name}
    bad = _repacked(tmp_path / "backup.zip", tmp_path / "bad.zip", files, **about)
    with pytest.raises(DataError):
        restore(bad, tmp_path / "again")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(("again", "."))) == []


def _patched(content: bytes, signature: bytes, at: int, value: bytes) -> bytes:
    """Return an archive with other bytes after each signature of one kind."""
    found = bytearray(content)
    place = found.find(signature)
    while place >= 0:
        found[place + at : place + at + len(value)] = value
        place = found.find(signature, place + 4)
    return bytes(found)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "encrypted": lambda content: _patched(content, b"PK\1\2", 8, b"\1"),
    "unknown compression": lambda content: _patched(_patched(content, b"PK\1\2", 10, b"\x63"), b"PK\3\4", 8, b"\x63"),
    "corrupt": lambda content: content[:60] + b"\xff" * 30 + content[90:],
    "cut at the start": lambda content: content[100:],
    "claims gigabytes": lambda content: _patched(content, b"PK\1\2", 24, b"\xff\xff\xff\x7f"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_archive_is_refused_and_leaves_nothing(solved: Study, tmp_path: Path, what: str) -> None:
    back_up(solved, tmp_path / "backup.zip")
    (tmp_path / "bad.zip").write_bytes(DAMAGES[what]((tmp_path / "backup.zip").read_bytes()))
    with pytest.raises(DataError, match=r"bad\.zip is not a backup of a study, or damaged: .+; choose another\."):
        restore(tmp_path / "bad.zip", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_bomb_takes_no_memory(solved: Study, tmp_path: Path) -> None:
    back_up(solved, tmp_path / "backup.zip")
    bad = _repacked(tmp_path / "backup.zip", tmp_path / "bad.zip", {"event.jsonl": b"[" * (80 << 20)})
    tracemalloc.start()
    with pytest.raises(DataError, match="longer than 16,777,216 characters"):
        restore(bad, tmp_path / "again")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 70 << 20  # a line of the longest length, not the whole
    assert not (tmp_path / "again").exists()


def test_a_damaged_database_is_named(solved: Study, tmp_path: Path) -> None:
    solved.close()
    path = solved.folder / FILE
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    content = path.read_bytes()
    half = len(content) // 2
    damages = {
        "no database": b"no database at all" * 100,
        "cut": content[:half],
        "zeros": content[:half] + b"\0" * 8192 + content[half + 8192 :],
        "empty": b"",
    }
    for damaged in damages.values():
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="restore the study from a backup"):
            open_study(solved.folder).close()
    path.write_bytes(content)
    for change in ("UPDATE participant SET created_at = 'x'", "UPDATE participant SET external_visit = '{'"):
        path.write_bytes(content)
        with sqlite3.connect(path) as connection:
            connection.execute(change)
        connection.close()
        with pytest.raises(DataError, match="rows of participant have values of another type"):
            open_study(solved.folder)


def test_an_export_is_whole_or_not_at_all(solved: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> list[Path]:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("storyproof.study.export.write_runs", fail)
        with pytest.raises(DataError, match="No space left"):
            export_study(solved, tmp_path / "out")
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]
    assert export_study(solved, tmp_path / "out").files


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_nobody_else_can_read_a_study(solved: Study, tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        back_up(solved, tmp_path / "backup.zip")
        again, _ = restore(tmp_path / "backup.zip", tmp_path / "again")
        join(again, "0")
        export_study(again, tmp_path / "out")
        held = [tmp_path / "backup.zip", *(tmp_path / "again").rglob("*"), *(tmp_path / "out").rglob("*")]
        held += [tmp_path / "again", tmp_path / "out", solved.folder, *solved.folder.rglob("*")]
        assert {path: oct(path.stat().st_mode) for path in held if path.stat().st_mode & 0o077} == {}
        again.close()
    finally:
        os.umask(umask)


def test_long_rows_of_a_backup_are_read_a_few_at_a_time() -> None:
    lines = [json.dumps({"text": "x" * 1_500_000}), *["{}"] * 2_500]
    rows = [json.loads(line) for line in [lines[0]] * 7 + lines[1:]]
    batches = list(backup._batches(io.BytesIO("".join(f"{json.dumps(row)}\n" for row in rows).encode())))
    assert [len(each) for each in batches] == [3, 3, 1_000, 1_000, 501]
    assert [row for each in batches for row in each] == rows


def test_a_password_in_the_query_of_an_address_is_not_shown() -> None:
    url = parse_url("postgresql://127.0.0.1:1/none?user=me&password=S3cretPw")
    with pytest.raises(DataError, match="cannot be used") as raised, StudyDatabase(url).reading():
        pass
    assert "S3cret" not in str(raised.value)


def test_a_backup_without_a_deleted_participant(solved: Study, tmp_path: Path) -> None:
    code = read_rows(solved).participants[1].code
    delete_participant(solved, code)
    back_up(solved, tmp_path / "backup.zip")
    again, _ = restore(tmp_path / "backup.zip", tmp_path / "again")
    assert code not in {row.code for row in read_rows(again).participants.values()}
    again.close()


# Creating and opening.


def test_the_design_is_frozen(solved: Study) -> None:
    path = solved.folder / DESIGN
    text = path.read_text("utf-8")
    path.write_text(text.replace('"pay_per_task": "0.25"', '"pay_per_task": "9.99"'), "utf-8")
    with pytest.raises(DataError, match="frozen"):
        open_study(solved.folder)
    path.write_text("{}", "utf-8")
    with pytest.raises(DataError, match="not the design"):
        open_study(solved.folder)


def test_nothing_is_left_of_a_study_that_cannot_be_created(tmp_path: Path, data: Path) -> None:
    nowhere = "postgresql://lab@127.0.0.1:1/study"
    with pytest.raises(DataError, match="cannot be used"):
        make_study(tmp_path, solve_design(), data=data, database=nowhere)
    assert not (tmp_path / "demo").exists()


def test_settings_that_cannot_be(tmp_path: Path, data: Path) -> None:
    with pytest.raises(ConfigError, match="--data"):
        new_study(tmp_path / "a", {"kind": SOLVE})
    with pytest.raises(ConfigError, match="use fewer --items"):
        new_study(tmp_path / "a", {"kind": SOLVE, "items": 10_000}, data=data)
    with pytest.raises(ConfigError, match="unknown kind of study 'solv'"):
        new_study(tmp_path / "a", {"kind": "solv"}, data=data)
    with pytest.raises(ConfigError, match="cannot be paraphrased"):
        new_study(tmp_path / "a", {"kind": PARAPHRASE, "practice": 0}, family="belief")
    with pytest.raises(ConfigError, match="use 10 to"):
        new_study(tmp_path / "a", {"kind": SOLVE, "items": 3}, data=data, password="short")
    with pytest.raises(ConfigError, match="postgresql://"):
        new_study(tmp_path / "a", {"kind": SOLVE, "items": 3}, data=data, database="mysql://x/y")
    assert not (tmp_path / "a").exists()
    for wrong in (
        {"currency": "dollars"},
        {"pay_per_task": "much"},
        {"pay_per_task": "NaN"},
        {"items": 0},
        {"recruitment": PARAPHRASE},
        {"recruitment": "prolific"},
        {"lease_minutes": 0.1},
        {"name": "../x"},
        {"conditions": ()},
        {"conditions": (LIMITED, LIMITED)},
        {"completion_code": "<b>"},
        {"seed": True},
    ):
        with pytest.raises(ConfigError):
            solve_design(**wrong)


def test_items_come_with_proved_answers_and_kinds_in_balance(tmp_path: Path, data: Path) -> None:
    study = make_study(tmp_path, solve_design(items=20), data=data, now=Clock())
    kinds = [item.stratum for item in study.items.of(MAIN)]
    assert sorted(kinds) == ["k=2"] * 10 + ["k=3"] * 10
    rows = {each["id"]: each for each in find_source(data).tables().__next__().to_pylist()}
    for item in study.items.of(MAIN):
        assert rows[item.key]["answer"] == item.answer
        assert item.answer in item.choices
    study.close()
