import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from storyproof.errors import DataError
from storyproof.solvers.llm.messages import Reply
from storyproof.solvers.llm.store import Store

REPLY = Reply("the box", 200, 3, 128, 0.5, (-1.5, -2.25))


def test_gives_back_what_was_put(tmp_path: Path) -> None:
    with Store(tmp_path / "new" / "replies.sqlite") as store:
        assert store.get(b"a") is None
        store.put(b"a", REPLY)
        assert store.get(b"a") == REPLY
    with Store(tmp_path / "new" / "replies.sqlite") as store:
        assert store.get(b"a") == REPLY
        assert len(store) == 1
        store.put(b"b", Reply("bo", cut_off=True))
        assert store.get(b"b") == Reply("bo", cut_off=True)


def test_in_memory() -> None:
    with Store(None) as store:
        store.put(b"a", Reply("x"))
        assert store.get(b"a") == Reply("x")


def test_failure_is_no_reply() -> None:
    with Store(None) as store:
        store.put(b"a", Reply("", error="HTTP 500"))
        assert (store.get(b"a"), store.error(b"a"), len(store)) == (None, "HTTP 500", 0)
        assert store.error(b"b") is None


def test_text_that_no_file_can_hold() -> None:
    with Store(None) as store:
        store.put(b"a", Reply("box \ud83d"))
        assert store.get(b"a") == Reply("box ?")


def test_killed_without_warning_keeps_every_reply(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from storyproof.solvers.llm.store import Store\n"
        "from storyproof.solvers.llm.messages import Reply\n"
        "store = Store(sys.argv[1])\n"
        "for n in range(50): store.put(bytes([n]), Reply(str(n)))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    path = tmp_path / "replies.sqlite"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -9
    with Store(path) as store:
        assert [store.get(bytes([n])) for n in range(50)] == [Reply(str(n)) for n in range(50)]


def test_two_at_once(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    with Store(path) as first, Store(path) as second:
        first.put(b"a", Reply("x"))
        second.put(b"b", Reply("y"))
        assert (first.get(b"b"), second.get(b"a")) == (Reply("y"), Reply("x"))


def test_file_that_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_text("something else entirely, and long enough to be looked at " * 20)
    with pytest.raises(DataError, match=r"cannot store replies in .*replies\.sqlite: file is not a database"):
        Store(path)
    path.unlink()
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(DataError, match="another version of storyproof"):
        Store(path)


FIRST_FORM = """
CREATE TABLE replies (
    key BLOB PRIMARY KEY, text TEXT NOT NULL, prompt_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER,
    seconds REAL NOT NULL, choice_scores TEXT) WITHOUT ROWID;
CREATE TABLE failures (key BLOB PRIMARY KEY, error TEXT NOT NULL, times INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO replies VALUES (x'61', 'the box', 200, 3, 128, 0.5, '[-1.5, -2.25]');
INSERT INTO failures VALUES (x'62', 'HTTP 500', 1);
PRAGMA user_version = 1;
"""


def test_file_of_the_version_before(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    base = sqlite3.connect(path)
    base.executescript(FIRST_FORM)
    base.close()
    for cut_off in (False, True):
        with Store(path) as store:
            assert store.get(b"a") == replace(REPLY, cut_off=cut_off)  # nobody knows how the old one ended
            assert store.error(b"b") == "HTTP 500"
            store.put(b"a", replace(REPLY, cut_off=True))


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot store replies in"):
        Store(tmp_path / "file" / "replies.sqlite")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("text", b"\xff"),
        ("choice_scores", "oops"),
        ("choice_scores", "[null]"),
        ("choice_scores", "[" * 2_000),
        ("choice_scores", 5),
        ("prompt_tokens", "many"),
        ("output_tokens", 1.5),
        ("seconds", "long"),
        ("retries", b"x"),
    ],
)
def test_a_value_of_another_type_is_damage(tmp_path: Path, column: str, value: object) -> None:
    path = tmp_path / "replies.sqlite"
    with Store(path) as store:
        store.put(b"key", Reply("box"))
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f"UPDATE replies SET {column} = ?", (value,))
    with (
        Store(path) as store,
        pytest.raises(DataError, match=r"replies\.sqlite is damaged; remove it, or choose another"),
    ):
        store.get(b"key")


def test_what_sqlite_says_of_a_damaged_file_may_be_no_text(tmp_path: Path) -> None:
    with Store(tmp_path / "replies.sqlite") as store, pytest.raises(DataError, match="is damaged"), store._named():
        raise UnicodeDecodeError("utf-8", b"\xb6", 0, 1, "invalid start byte")
