"""Files that ship are read without the checks that files of users go through; here they go through them."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from storyproof.families.kinship.language.frames import our_frames
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.language.scenes import load_scenes, our_scenes
from storyproof.families.kinship.placeholders.files import ours, read_collection
from storyproof.io.bounded_input import shipped_loader

FOLDER = Path(str(files("storyproof.families.kinship")))


def test_scenes() -> None:
    checked = load_scenes(FOLDER / "language" / "scenes")
    assert checked.scenes == our_scenes().scenes
    assert len(checked.scenes) > 1


def test_names() -> None:
    data = yaml.safe_load((FOLDER / "language" / "names.yaml").read_text(encoding="utf-8"))
    assert our_names() == {
        tradition: {gender: tuple(names.split()) for gender, names in lists.items()}
        for tradition, lists in data.items()
    }


def test_placeholders() -> None:
    text = (FOLDER / "placeholders" / "placeholders.yaml").read_text(encoding="utf-8")
    assert read_collection(text, "placeholders.yaml") == ours()


def test_frames() -> None:
    data = yaml.safe_load((FOLDER / "language" / "frames.yaml").read_text(encoding="utf-8"))
    situations = yaml.safe_load((FOLDER / "language" / "situations.yaml").read_text(encoding="utf-8"))
    groups = [texts for group, texts in data.items() if group not in ("joiners", "connectives", "lasting connectives")]
    words = "|".join(situations.pop("words"))
    assert [frame.text for frame in our_frames().frames] == [
        re.sub(rf"\{{(?:{words})\}}", "{word}", text) for texts in [*groups, *situations.values()] for text in texts
    ]


def test_without_the_loader_in_c_the_other_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped_loader() in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", None))
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert shipped_loader() is yaml.SafeLoader
