import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from storyproof.datasets.manifest import (
    MANIFEST,
    file_sha256,
    foreign_files,
    hash_in,
    is_dataset,
    is_inside,
    manifest_problems,
    read_manifest,
    remove_dataset,
    write_manifest,
)
from storyproof.errors import DataError


def test_round_trip(tmp_path: Path) -> None:
    manifest = {"benchmark": "tomi", "files": {}, "word": "boîte"}
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    assert "boîte" in (tmp_path / "manifest.json").read_text(encoding="utf-8")


def test_none_there(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"files": []}', "\udcff"])
def test_broken(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=r"manifest\.json is not .*; remove it or generate the dataset again"):
        read_manifest(tmp_path)


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(DataError, match=r"manifest\.json cannot be read: .*; remove it or generate the dataset again"):
        read_manifest(tmp_path)


def test_hash_is_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"x" * 100_000).hexdigest()


def test_what_does_not_fit_is_listed(tmp_path: Path) -> None:
    for name in ("same", "changed"):
        (tmp_path / name).write_bytes(b"abc")
    entry = {"sha256": file_sha256(tmp_path / "same")}
    write_manifest(tmp_path, {"files": {"same": entry, "changed": entry, "missing": entry, "odd": "?"}})
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    (tmp_path / "changed").write_bytes(b"abd")
    (tmp_path / "odd").write_bytes(b"")
    assert manifest_problems(manifest, ["same", "new"], hash_in(tmp_path)) == [
        "changed differs from the manifest (sha256)",
        "missing is missing",
        "odd differs from the manifest (sha256)",
        "new is not in the manifest",
    ]


def test_a_changed_manifest_gives_itself_away(tmp_path: Path) -> None:
    write_manifest(tmp_path, {"files": {}, "seed": 7})
    (tmp_path / MANIFEST).write_text((tmp_path / MANIFEST).read_text().replace("7", "8"))
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert manifest_problems(manifest, [], hash_in(tmp_path)) == ["manifest.json itself was changed"]


# --- what may be replaced


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A dataset of two files."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("train.txt", "test.txt"):
        (folder / name).write_text(name)
    listed = {path.name: {"sha256": file_sha256(path)} for path in sorted(folder.iterdir())}
    write_manifest(folder, {"storyproof": "0", "splits": {}, "files": listed})
    return folder


def test_the_text_of_a_manifest(tmp_path: Path) -> None:
    write_manifest(tmp_path, {"word": "boîte"})
    digest = hashlib.sha256(b'{"word": "bo\\u00eete"}').hexdigest()
    expected = f'{{\n  "word": "boîte",\n  "manifest_sha256": "{digest}"\n}}\n'
    assert (tmp_path / MANIFEST).read_text(encoding="utf-8") == expected


def test_the_order_of_a_manifest_does_not_matter(dataset: Path) -> None:
    manifest = json.loads((dataset / MANIFEST).read_text())
    (dataset / MANIFEST).write_text(json.dumps(dict(reversed(manifest.items()))))
    assert is_dataset(dataset)
    assert manifest_problems(manifest, [], hash_in(dataset)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"storyproof": None},
        {"storyproof": 1},
        {"splits": None},
        {"splits": []},
        {"files": {"train.txt": "0" * 64}},
        {"files": {"train.txt": {"sha256": "0" * 63}}},
        {"files": {"train.txt": {"sha256": "g" * 64}}},
        {"files": {"train.txt": {}}},
        {"files": {"train.txt": {"sha256": "0" * 64}, "a/b": {"sha256": "0" * 64}}},
        {"files": {"train.txt": {"sha256": "0" * 64}, "..": {"sha256": "0" * 64}}},
    ],
)
def test_what_is_no_manifest_of_ours(dataset: Path, change: dict[str, Any]) -> None:
    manifest = json.loads((dataset / MANIFEST).read_text())
    assert is_dataset(dataset)
    write_manifest(dataset, {**manifest, **change})
    assert not is_dataset(dataset)


@pytest.mark.parametrize(
    ("name", "plain"), [("a" * 255, True), ("a" * 256, False), ("é" * 128, False), ("a\0b", False), ("a/b", False)]
)
def test_names_that_files_can_have(dataset: Path, name: str, plain: bool) -> None:
    manifest = json.loads((dataset / MANIFEST).read_text())
    manifest["files"][name] = {"sha256": "0" * 64}
    write_manifest(dataset, manifest)
    assert is_dataset(dataset) is plain
    (problem,) = manifest_problems(manifest, [], hash_in(dataset))
    said = "is missing" if plain else "which is not the name of a file in the folder"
    assert problem.endswith(said)


def test_a_manifest_that_is_a_link_or_a_folder_is_none_of_ours(dataset: Path, tmp_path: Path) -> None:
    (dataset / MANIFEST).rename(tmp_path / MANIFEST)
    assert not is_dataset(dataset)
    (dataset / MANIFEST).symlink_to(tmp_path / MANIFEST)
    assert not is_dataset(dataset)
    (dataset / MANIFEST).unlink()
    (dataset / MANIFEST).mkdir()
    assert not is_dataset(dataset)


@pytest.mark.parametrize(
    ("name", "inside"),
    [("a", True), ("a/b", True), ("", False), (".", False), ("/a", False), ("../a", False), ("a/../b", False)],
)
def test_paths_that_stay_inside(name: str, inside: bool) -> None:
    assert is_inside(name) is inside


def test_files_of_others_are_listed_and_nothing_is_removed(dataset: Path, tmp_path: Path) -> None:
    assert foreign_files(dataset) == []
    (dataset / "note").touch()
    (dataset / "test.txt").write_text("changed")
    (dataset / "train.txt").rename(tmp_path / "train.txt")
    (dataset / "train.txt").symlink_to(tmp_path / "train.txt")
    before = sorted(dataset.iterdir())
    assert foreign_files(dataset) == remove_dataset(dataset) == ["note", "test.txt", "train.txt"]
    assert sorted(dataset.iterdir()) == before
    (dataset / "train.txt").unlink()
    (dataset / "train.txt").mkdir()
    assert foreign_files(dataset) == ["note", "test.txt", "train.txt"]


def test_a_dataset_is_removed_with_its_folder(dataset: Path) -> None:
    (dataset / "train.txt").unlink()
    assert remove_dataset(dataset) == []
    assert not dataset.exists()


def test_a_folder_stays_to_which_something_is_added_at_the_last_moment(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rmdir = Path.rmdir

    def late(self: Path) -> None:
        (self / "note").touch()
        rmdir(self)

    monkeypatch.setattr(Path, "rmdir", late)
    assert remove_dataset(dataset) == []
    assert [path.name for path in dataset.iterdir()] == ["note"]


def test_a_folder_without_a_manifest_has_only_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "note").touch()
    assert foreign_files(tmp_path) == ["note"]
