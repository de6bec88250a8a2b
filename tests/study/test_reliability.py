"""Nothing is lost, doubled or given out too often: fifty participants, a server that is killed, and both databases."""

import random
import zipfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import inspect, select

from storyproof.errors import DataError
from storyproof.study import schema
from storyproof.study.backup import back_up, restore
from storyproof.study.database import StudyDatabase, parse_url
from storyproof.study.folder import open_study
from storyproof.study.items import MAIN
from storyproof.study.participant_flow import FINISHED, find_step
from storyproof.study.results import read_rows
from tests.study.crowd import Server, play_with_kills, token_of
from tests.study.postgres import create_database, free_port
from tests.study.samples import LIMITED, UNLIMITED, join, kinship_data, make_study, solve_design, writing_design
from tests.study.test_export import everything, simulate

pytestmark = pytest.mark.study
PEOPLE, KILL_EVERY = 50, 90
WRITERS = 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kinship_data(tmp_path_factory.mktemp("data"), stories=400)


def test_kills_while_fifty_take_part(tmp_path: Path, data: Path, database: str) -> None:
    design = solve_design(items=50, answers_per_item=2, tasks_per_participant=4, conditions=(LIMITED, UNLIMITED))
    study = make_study(tmp_path, design, data=data, database=database)
    study.close()
    server = Server(study.folder, free_port(), database)
    done, visitors, kills = play_with_kills(server, PEOPLE, KILL_EVERY)
    assert kills >= 3
    study = open_study(study.folder, database=database)
    rows = read_rows(study)
    tokens = {row.token_sha256: number for number, row in rows.participants.items()}
    with study.database.reading() as connection:
        tokens |= {row.token_sha256: row.participant_id for row in connection.execute(select(schema.link))}
    # Nothing is lost: whatever was acknowledged is there, with what was sent.
    answers = {(row.participant_id, row.slot_id): row for row in rows.answers}
    sent = Counter[str]()
    for (path, slot), fields in done.forms.items():
        kind = path.rsplit("/", 1)[1]
        sent[kind] += 1
        if kind in ("consent", "start"):  # neither stores an answer
            continue
        row = answers[tokens[sha256(token_of(path).encode()).hexdigest()], int(slot)]
        if kind == "answer":
            assert row.answer == fields["answer"] or row.is_timed_out
        else:
            assert row.difficulty == int(fields["difficulty"])
    # Nothing is doubled: one participant per consent, one answer per form.
    assert all(visitor.finished for visitor in visitors)
    assert len(rows.participants) == PEOPLE
    assert sent["answer"] == len(rows.answers) == PEOPLE * 6
    assert sent["rate"] == PEOPLE * 4
    with study.database.reading() as connection:
        keys = connection.execute(select(schema.submission.c.key)).scalars().all()
    assert len(keys) == PEOPLE * (1 + 6 + 4)
    # Nothing is given out too often.
    main = [row for row in rows.answers if row.role == MAIN]
    assert max(Counter((row.item, row.condition) for row in main).values()) <= 2
    assert len({(row.item, row.participant_id) for row in main}) == len(main)
    assert abs(Counter(row.condition for row in rows.participants.values())["limited"] - PEOPLE / 2) <= 1
    study.close()


def test_kills_while_people_write_and_review(tmp_path: Path, database: str) -> None:
    design = writing_design(items=WRITERS, reviewers=2, reviews_per_participant=3, shortest_text=20)
    study = make_study(tmp_path, design, database=database)
    study.close()
    done, visitors, kills = play_with_kills(Server(study.folder, free_port(), database), WRITERS, 20)
    assert kills >= 2
    study = open_study(study.folder, database=database)
    rows = read_rows(study)
    texts, reviews = {row.slot_id: row for row in rows.texts}, {row.slot_id: row for row in rows.reviews}
    sent = Counter[str]()
    for (path, slot), fields in done.forms.items():
        kind = path.rsplit("/", 1)[1]
        sent[kind] += 1
        if kind == "write":
            assert texts[int(slot)].text == fields["text"].strip()
        elif kind == "review":
            assert reviews[int(slot)].is_good == (fields["verdict"] == "good")
    assert all(visitor.finished for visitor in visitors)
    assert len(rows.participants) == sent["write"] == len(texts) == WRITERS
    assert sent["review"] == len(reviews)
    owners = {row.id: row.participant_id for row in rows.texts}
    main = [row for row in rows.reviews if row.role == MAIN]
    assert max(Counter(row.target for row in main).values()) <= 2
    assert all(owners[row.target] != row.participant_id for row in main)
    study.close()


def test_backup_while_it_runs_and_move_to_the_other_database(
    tmp_path: Path, data: Path, database: str, postgres: str
) -> None:
    study = make_study(tmp_path, solve_design(items=30), data=data, database=database)
    draws = random.Random(1)
    for number in range(5):
        simulate(study, join(study, str(number)), draws)
    before = everything(study)
    with study.database.writing() as connection:  # a participant sends a form meanwhile
        connection.execute(select(schema.study))
        back_up(study, tmp_path / "backup.zip")
    other = "" if database else create_database(postgres, f"{tmp_path.name}-other")
    moved, _ = restore(tmp_path / "backup.zip", tmp_path / "moved", database=other)
    assert everything(moved) == before
    for number in range(7):  # the old ones find back, and new ones get new numbers
        simulate(moved, join(moved, str(number)), draws)
    assert len(read_rows(moved).participants) == 7
    assert all(find_step(moved, join(moved, str(number))).kind == FINISHED for number in range(7))
    study.close()
    moved.close()


def test_a_restore_that_fails_leaves_no_tables(tmp_path: Path, data: Path, postgres: str) -> None:
    study = make_study(tmp_path, solve_design(), data=data)
    join(study, "a")
    back_up(study, tmp_path / "backup.zip")
    study.close()
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["items.jsonl"] = b"[]\n"  # is read last
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    other = create_database(postgres, f"{tmp_path.name}-bad")
    with pytest.raises(DataError):
        restore(tmp_path / "bad.zip", tmp_path / "again", database=other)
    assert not (tmp_path / "again").exists()
    base = StudyDatabase(parse_url(other))
    with base.reading() as connection:
        assert inspect(connection).get_table_names() == []
    base.close()
    again, _ = restore(tmp_path / "backup.zip", tmp_path / "again", database=other)
    again.close()
