"""Files that ship are read without the checks that files of users go through; here they go through them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from storyproof.families.kinship.editions import EDITIONS, file_of
from storyproof.families.kinship.language.frames import our_frames
from storyproof.families.kinship.language.names import our_names, read_names
from storyproof.families.kinship.language.scenes import load_scenes, our_scenes
from storyproof.families.kinship.placeholders.files import ours, read_collection
from storyproof.yaml_loader import shipped_loader

FOLDER = Path(str(files("storyproof.families.kinship")))


def test_scenes() -> None:
    checked = load_scenes(FOLDER / "language" / "scenes")
    assert checked.scenes == our_scenes().scenes
    assert len(checked.scenes) > 1


@pytest.mark.parametrize("edition", EDITIONS)
def test_names(edition: int) -> None:
    name = file_of("names", edition)
    assert read_names((FOLDER / "language" / name).read_text(encoding="utf-8"), name) == our_names(edition)


@pytest.mark.parametrize("edition", EDITIONS)
def test_placeholders(edition: int) -> None:
    name = file_of("placeholders", edition)
    text = (FOLDER / "placeholders" / name).read_text(encoding="utf-8")
    assert read_collection(text, name) == ours(edition)


def test_frames() -> None:
    data = yaml.safe_load((FOLDER / "language" / "frames.yaml").read_text(encoding="utf-8"))
    assert [frame.text for frame in our_frames().frames] == [
        text
        for group, texts in data.items()
        if group not in ("joiners", "connectives", "lasting connectives")
        for text in texts
    ]


def test_without_the_loader_in_c_the_other_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped_loader() in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", None))
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert shipped_loader() is yaml.SafeLoader
