import hashlib
from pathlib import Path

import pytest

from storyproof.datasets.manifest import MANIFEST, file_sha256, manifest_problems, read_manifest, write_manifest
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
    assert manifest_problems(tmp_path, manifest, [tmp_path / "same", tmp_path / "new"]) == [
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
    assert manifest_problems(tmp_path, manifest, []) == ["manifest.json itself was changed"]
