import hashlib
import json
from pathlib import Path

import pytest

from storyproof.datasets.manifest import changed_files, file_sha256, read_manifest, write_manifest
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
    with pytest.raises(DataError, match=r"manifest\.json is no .*; remove it or make the dataset again"):
        read_manifest(tmp_path)


def test_hash_is_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"x" * 100_000).hexdigest()


def test_changed_files(tmp_path: Path) -> None:
    for name in ("same", "changed"):
        (tmp_path / name).write_bytes(b"abc")
    entry = {"sha256": file_sha256(tmp_path / "same")}
    manifest = {"files": {"same": entry, "changed": entry, "missing": entry, "odd": "?"}}
    (tmp_path / "changed").write_bytes(b"abd")
    (tmp_path / "odd").write_bytes(b"")
    assert changed_files(tmp_path, json.loads(json.dumps(manifest))) == [
        "changed differs from the manifest (sha256)",
        "missing is missing",
        "odd differs from the manifest (sha256)",
    ]
