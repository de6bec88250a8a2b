"""A study that an older version created opens in this one, with all that was in it."""

import random
import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

import storyproof
from storyproof.errors import DataError
from storyproof.study import database, schema
from storyproof.study.backup import back_up, restore
from storyproof.study.database import StudyDatabase, sqlite_url
from storyproof.study.folder import open_study
from storyproof.study.items import StudyItem, StudyItems
from storyproof.study.participant_flow import FINISHED, find_step
from storyproof.study.results import read_rows
from tests.study.samples import join, kinship_data, make_study, solve_design
from tests.study.test_export import everything, simulate

LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "0002", "0001", None, None


def upgrade():
    op.add_column("answer", sa.Column("later", sa.Integer(), nullable=True))
    op.create_table("further", sa.Column("id", sa.Integer(), primary_key=True))
"""


def update(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let the program be a later version, which has another column and another table."""
    with as_file(files("storyproof.study").joinpath("migrations")) as present:
        shutil.copytree(present, folder / "migrations")
    (folder / "migrations" / "versions" / "r0002.py").write_text(LATER, encoding="utf-8")
    patch.setattr(database, "files", lambda _: folder)


@pytest.mark.study
def test_an_old_study_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(tmp_path, solve_design(), data=kinship_data(tmp_path))
    for number in range(3):
        simulate(study, join(study, str(number)), random.Random(number))
    me = join(study, "halfway")
    step = find_step(study, me)
    before = everything(study)
    assert study.database.revision() == "0001"
    study.close()
    update(tmp_path / "later", monkeypatch)
    again = open_study(study.folder)
    assert again.database.revision() == "0002"
    assert everything(again) == before
    assert find_step(again, me) == step
    simulate(again, me, random.Random(9))
    assert find_step(again, me).kind == FINISHED
    again.close()


@pytest.mark.study
def test_an_old_backup_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(tmp_path, solve_design(), data=kinship_data(tmp_path))
    simulate(study, join(study, "a"), random.Random(1))
    counts = back_up(study, tmp_path / "old.zip")
    study.close()
    update(tmp_path / "later", monkeypatch)
    again, restored = restore(tmp_path / "old.zip", tmp_path / "again")
    assert restored == counts
    assert again.database.revision() == "0002"
    assert len(read_rows(again).answers) == 5
    again.close()


def test_designs_and_items_of_older_versions_keep_their_hashes() -> None:
    """A study opens only if they do; from the first release on, what a study does not use must be left out."""
    item = StudyItem(
        number=0, role="main", key="a", stratum="k=2", story=("Ann met her son Bo.",), question="Who?",
        choices=("son",), answer="son", proof=(1,),
    )  # fmt: skip
    assert solve_design().sha256 == "07ee76d457a0814f6a32e9618de568a6e83a775783d636b6b830aa381ef52916"
    assert StudyItems([item]).sha256 == "e14772f31efbaadf177ad307fb505c8da185201fbedad6c61199e06109ae9d57"


def test_migrations_lead_to_the_tables_of_the_program(tmp_path: Path) -> None:
    base = StudyDatabase(sqlite_url(tmp_path))
    base.migrate()
    with base.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.METADATA) == []
    base.close()


def test_released_tables_are_written_out() -> None:
    """Once there are studies of a release, their tables must not change with the schema."""
    source = files("storyproof.study").joinpath("migrations", "versions", "r0001.py").read_text(encoding="utf-8")
    assert storyproof.__version__ < "1" or "create_all" not in source


def test_a_newer_study_is_refused(tmp_path: Path) -> None:
    study = make_study(tmp_path, solve_design(), data=kinship_data(tmp_path))
    with study.database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    study.close()
    with pytest.raises(DataError, match="newer version of storyproof"):
        open_study(study.folder)
