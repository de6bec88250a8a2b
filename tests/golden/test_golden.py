"""Same seed, same content: a change here is a new version of the benchmark, and the old version keeps its hashes.

Every version of every benchmark of the catalog has a file of hashes beside this one, `NAME@VERSION.toml`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof import catalog

FOLDER = Path(__file__).parent
VERSIONS = [f"{name}@{version}" for name in catalog.BENCHMARKS if "@" not in name for version in catalog.versions(name)]


def golden(benchmark: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{benchmark}.toml").read_text(encoding="utf-8"))


def cases(kind: str) -> Iterator[Any]:
    for benchmark in VERSIONS:
        if not (FOLDER / f"{benchmark}.toml").is_file():
            continue  # `test_every_version_has_hashes` fails
        if kind == "content":
            for case in golden(benchmark)["content"]:
                yield pytest.param(benchmark, case["settings"], case["sha256"], id=f"{benchmark}, {case['name']}")
        else:
            for format_name, sha256 in golden(benchmark)["text"].items():
                yield pytest.param(benchmark, format_name, sha256, id=f"{benchmark} {format_name}")


def test_every_version_has_hashes() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(VERSIONS)


@pytest.mark.parametrize(("benchmark", "settings", "expected"), [*cases("content")])
def test_content_is_what_it_was(benchmark: str, settings: dict[str, Any], expected: str, tmp_path: Path) -> None:
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    manifest = storyproof.generate(benchmark, **settings, out=tmp_path / "data")
    assert f"{manifest['benchmark']}@{manifest['version']}" == benchmark
    found = {split: entry["content_sha256"] for split, entry in manifest["splits"].items()}
    assert hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest() == expected


@pytest.mark.parametrize(("benchmark", "format_name", "expected"), [*cases("text")])
def test_text_files_are_the_same_bytes(benchmark: str, format_name: str, expected: str, tmp_path: Path) -> None:
    storyproof.generate(benchmark, train=24, test=24, seed=7, format=format_name, out=tmp_path / "data")
    files = sorted(path for path in (tmp_path / "data").iterdir() if path.name != "manifest.json")
    total = hashlib.sha256(b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in files))
    assert total.hexdigest() == expected
