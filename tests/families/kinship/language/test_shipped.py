"""Files that ship are read without the checks that files of users go through; here they go through them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from storyproof.errors import DataError
from storyproof.families.kinship.language.frames import BEGIN, THEN, make_frames, our_frames
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.language.scenes import our_scenes
from storyproof.families.kinship.placeholders.files import ours, read_collection
from storyproof.families.kinship.relations import NAMES
from storyproof.io.bounded_input import shipped_loader

FOLDER = Path(str(files("storyproof.families.kinship")))


def test_names() -> None:
    data = yaml.safe_load((FOLDER / "language" / "names.yaml").read_text(encoding="utf-8"))
    assert our_names() == {
        tradition: {gender: tuple(names.split()) for gender, names in lists.items()}
        for tradition, lists in data.items()
    }


def test_placeholders() -> None:
    text = (FOLDER / "placeholders" / "placeholders.yaml").read_text(encoding="utf-8")
    assert read_collection(text, "placeholders.yaml") == ours()


def test_scenes_and_frames() -> None:
    data = yaml.safe_load((FOLDER / "language" / "frames.yaml").read_text(encoding="utf-8"))
    assert [frame.kind for frame in our_frames().plain] == data["plain"]
    for path in sorted((FOLDER / "language" / "scenes").glob("*.yaml")):
        lists = yaml.safe_load(path.read_text(encoding="utf-8"))
        [scene] = [each for each in our_scenes().scenes if each.name == path.stem]
        texts: dict[bool, list[str]] = {False: [], True: []}  # of frames, of passages
        for group in (BEGIN, THEN):
            for relations, each in lists[group].items():
                texts["," in relations] += each
        assert list(dict.fromkeys(frame.kind for frame in scene.frames)) == texts[False]
        assert [passage.text for passage in scene.passages] == texts[True]


def test_choices_are_equally_frequent_however_many_words_their_lists_have() -> None:
    lists = {"treat": ("a bun", "a pie", "a tart"), "day": ("Monday", "Tuesday")}
    text = "{A} [ate {treat}|slept] on {day}. {A.His} {kin} {B} [was late|]."
    [frame] = make_frames(THEN, text, frozenset(NAMES), lists)
    assert frame.body == "{A} {word 0} on {word 1}. {A.His} {kin} {B} {word 2}."
    assert frame.words == (
        ("ate a bun", "ate a pie", "ate a tart", "slept", "slept", "slept"),
        ("Monday", "Tuesday"),
        ("was late", ""),
    )


def test_a_choice_with_a_slot_gives_frames_of_one_kind() -> None:
    text = "{A} was late. {A.His} {kin} {B} [waited for {A.him}|laughed|sang]."
    frames = make_frames(THEN, text, frozenset(NAMES), {})
    assert [frame.body for frame in frames] == [
        "{A} was late. {A.His} {kin} {B} waited for {A.him}.",
        "{A} was late. {A.His} {kin} {B} {word 0}.",
    ]
    assert [frame.words for frame in frames] == [(), (("laughed", "sang"),)]
    assert {frame.kind for frame in frames} == {text}


def test_too_many_choices_are_refused() -> None:
    text = "{A} {day} {day} {day} {day} {day} {day} {day}."
    with pytest.raises(DataError, match="has 7 choices of words; leave 6 at most"):
        make_frames(THEN, text, frozenset(NAMES), {"day": ("Monday", "Tuesday")})


def test_without_the_loader_in_c_the_other_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped_loader() in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", None))
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert shipped_loader() is yaml.SafeLoader
