import getpass
import json
import platform
from pathlib import Path

import storyproof
from storyproof.datasets.reading import find_source
from storyproof.evaluation.provenance import data_identity, provenance


def test_says_what_is_needed_and_names_nobody() -> None:
    found = provenance()
    assert found["storyproof"] == storyproof.__version__
    assert found["started"].endswith("+00:00")
    assert found["hardware"]["cores"] >= 1
    text = json.dumps(found["hardware"])
    assert platform.node() not in text or not platform.node()
    assert f'"{getpass.getuser()}"' not in text


def test_data_by_their_hashes(tmp_path: Path) -> None:
    made = storyproof.generate("tomi", test=3, seed=7, out=tmp_path / "x")
    found = data_identity(find_source(tmp_path / "x"))
    assert found["files"] == {"test.parquet": made["files"]["test.parquet"]["sha256"]}
    assert found["manifest"]["benchmark"] == "tomi"
    assert found["manifest"]["seed"] == 7
    (tmp_path / "x" / "manifest.json").write_text("{")
    assert "manifest" not in data_identity(find_source(tmp_path / "x"))
