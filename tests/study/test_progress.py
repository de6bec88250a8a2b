from pathlib import Path

import pytest

from storyproof.errors import DataError
from storyproof.study import progress
from storyproof.study.database import StudyDatabase, sqlite_url
from storyproof.study.folder import Study
from storyproof.study.progress import DESIGN, FILE, read_progress
from tests.study.samples import make_study, solve_design


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_study(tmp_path, solve_design())


class Odd:
    """What SQLite says of a damaged file may quote its bytes."""

    def execute(self, query: str) -> None:
        raise UnicodeDecodeError("utf-8", b"\xb6", 0, 1, "invalid start byte")

    def close(self) -> None:
        pass


def test_a_damaged_database_or_design_does_not_end_the_list(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.close()
    found = read_progress(study.folder)
    assert found is not None
    assert found.participants == 0
    monkeypatch.setattr(progress.sqlite3, "connect", lambda *given, **settings: Odd())
    found = read_progress(study.folder)
    assert found is not None
    assert found.participants is None
    (study.folder / FILE).write_bytes(b"x" * 5_000)
    assert read_progress(study.folder) is not None
    (study.folder / DESIGN).write_text("[" * 200_000)
    assert read_progress(study.folder) is None


def test_a_message_that_is_no_text_names_the_database(tmp_path: Path) -> None:
    base = StudyDatabase(sqlite_url(tmp_path))
    with pytest.raises(DataError, match="cannot be used: it has text that is not UTF-8"), base.reading():
        raise UnicodeDecodeError("utf-8", b"\xb6", 0, 1, "invalid start byte")
    base.close()
