from pathlib import Path

import pytest

from storyproof.datasets.path_conflicts import refuse_overlap, refuse_overwriting, refuse_same_folder
from storyproof.errors import DataError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "raw").mkdir(parents=True)
    for name in ("train.txt", "train.trace", "report.json", "manifest.json"):
        (folder / name).write_text("{}")
    (folder / "questions.json").write_text('[{"story": "x", "question": "y", "answer": "z"}]')
    (tmp_path / "link").symlink_to(folder)
    return folder


@pytest.mark.parametrize(
    ("read", "out", "how"),
    [
        ("data", "data", "is"),
        ("data", "link", "is"),
        ("link", "data", "is"),
        ("data/train.txt", "data", "contains"),
        ("data/raw", "data", "contains"),
        ("link/raw", "data", "contains"),
        ("data", "data/new", "lies inside"),
        ("data", "link/new/below", "lies inside"),
        ("data", ".", "contains"),
    ],
)
def test_overlaps(tmp_path: Path, data: Path, read: str, out: str, how: str) -> None:
    with pytest.raises(DataError, match=rf"--out is .*, which {how} the input .*; choose another folder for --out\."):
        refuse_overlap([tmp_path / read], tmp_path / out)


def test_what_does_not_overlap(tmp_path: Path, data: Path) -> None:
    for read, out in (
        ([data, None, tmp_path / "none", "x" * 5000, "a\0b"], tmp_path / "data2"),
        ([data / "train.txt"], data / "new"),
        ([data], None),
    ):
        refuse_overlap(read, out)  # raises nothing
        assert out is None or not out.exists()


def test_same_folder(tmp_path: Path, data: Path) -> None:
    with pytest.raises(DataError, match="is also the input; choose another folder for --out"):
        refuse_same_folder([data], tmp_path / "link")
    refuse_same_folder([data], data / "run")


@pytest.mark.parametrize(
    "name", ["train.txt", "train.trace", "new.txt", "new.parquet", "test.json", "manifest.json", "questions.json"]
)
def test_overwriting(tmp_path: Path, data: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"--json is .*, which would be read as a part of the input"):
        refuse_overwriting([data], tmp_path / "link" / name)


def test_overwriting_a_file(tmp_path: Path, data: Path) -> None:
    (tmp_path / "hard").hardlink_to(data / "report.json")
    for name in ("data/report.json", "link/report.json", "hard"):
        with pytest.raises(DataError, match=r"which is an input; choose another file for --html\."):
            refuse_overwriting([data / "report.json"], tmp_path / name, "--html")


@pytest.mark.parametrize("name", ["data/report.json", "data/new.json", "data/page.html", "data/raw/x.txt", "x.json"])
def test_what_overwrites_nothing(tmp_path: Path, data: Path, name: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    refuse_overwriting([data], tmp_path / name)  # raises nothing
    assert sorted(tmp_path.rglob("*")) == before
