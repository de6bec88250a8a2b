"""A study that an older version created opens in this one, with all that was in it."""

import random
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, insert, select

from storyproof.errors import DataError
from storyproof.study import schema
from storyproof.study.backup import back_up, restore
from storyproof.study.database import FILE, StudyDatabase, sqlite_url
from storyproof.study.folder import Study, open_study
from storyproof.study.items import StudyItem, StudyItems
from storyproof.study.participant_flow import FINISHED, find_step
from storyproof.study.results import read_rows
from tests.study.samples import join, kinship_data, make_study, solve_design
from tests.study.test_export import everything, simulate

OLDEST, NEWEST = "0001", "0003"


def age(study: Study) -> None:
    """Replace the database of a study by one as the oldest version would have it, with the same rows."""
    held = {}
    with study.database.reading() as connection:
        for table in schema.KEPT:
            held[table.name] = [dict(row._mapping) for row in connection.execute(select(table))]
    study.close()
    for name in (FILE, f"{FILE}-wal", f"{FILE}-shm"):
        (study.folder / name).unlink(missing_ok=True)
    old = StudyDatabase(sqlite_url(study.folder))
    old.migrate(OLDEST)
    with old.writing() as connection:
        known = MetaData()
        known.reflect(connection)
        for table in schema.KEPT:
            if table.name not in known.tables:
                continue
            columns = set(known.tables[table.name].c.keys())
            for row in held[table.name]:
                kept = {name: value for name, value in row.items() if name in columns}
                connection.execute(insert(known.tables[table.name]).values(kept))
    assert old.revision() == OLDEST
    old.close()


@pytest.mark.study
def test_an_old_study_opens(tmp_path: Path) -> None:
    study = make_study(tmp_path, solve_design(), data=kinship_data(tmp_path))
    for number in range(3):
        simulate(study, join(study, str(number)), random.Random(number))
    me = join(study, "halfway")
    step = find_step(study, me)
    before = everything(study)
    age(study)
    again = open_study(study.folder)
    assert again.database.revision() == NEWEST
    assert everything(again) == before
    assert find_step(again, me) == step
    simulate(again, me, random.Random(9))
    assert find_step(again, me).kind == FINISHED
    again.close()


@pytest.mark.study
def test_an_old_backup_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(tmp_path, solve_design(), data=kinship_data(tmp_path))
    simulate(study, join(study, "a"), random.Random(1))
    age(study)
    old = StudyDatabase(sqlite_url(study.folder))
    with old.reading() as connection:
        known = MetaData()
        known.reflect(connection)
    monkeypatch.setattr(schema, "KEPT", [known.tables[each.name] for each in schema.KEPT if each.name in known.tables])
    old_study = Study(study.folder, study.design, study.items, old, study.secret)
    counts = back_up(old_study, tmp_path / "old.zip")
    monkeypatch.undo()
    old.close()
    again, restored = restore(tmp_path / "old.zip", tmp_path / "again")
    assert restored == counts
    assert again.database.revision() == NEWEST
    assert len(read_rows(again).answers) == 5
    again.close()


def test_designs_and_items_of_older_versions_keep_their_hashes() -> None:
    """A study opens only if they do; what later versions added is left out where a study does not use it."""
    item = StudyItem(
        number=0, role="main", key="a", stratum="k=2", story=("Ann met her son Bo.",), question="Who?",
        choices=("son",), answer="son", proof=(1,),
    )  # fmt: skip
    assert solve_design().sha256 == "52558e6aae86d44739ceba1eb708a9d3e8cf53167abcdb629a9a8049b8967abb"
    assert StudyItems([item]).sha256 == "16866884d97aab96134914fe9b0c515fd427ffd96b0b9e738e8d443df0a46a94"


def test_migrations_lead_to_the_tables_of_the_program(tmp_path: Path) -> None:
    base = StudyDatabase(sqlite_url(tmp_path))
    base.migrate()
    with base.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.METADATA) == []
    base.close()


def test_a_newer_study_is_refused(tmp_path: Path) -> None:
    study = make_study(tmp_path, solve_design(), data=kinship_data(tmp_path))
    with study.database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    study.close()
    with pytest.raises(DataError, match="newer version of storyproof"):
        open_study(study.folder)
