"""Files that ship are read without the checks that files of users go through; here they go through them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from storyproof.errors import DataError
from storyproof.families.kinship.language.frames import make_frame, our_frames
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.language.reader import read
from storyproof.families.kinship.language.scenes import load_scenes, our_scenes
from storyproof.families.kinship.placeholders.files import ours, read_collection
from storyproof.families.kinship.relations import NAMES
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
    others = ("joiners", "connectives", "lasting connectives", "closers", "dates")
    groups = [texts for group, texts in data.items() if group not in others]
    situations.pop("words")
    assert [frame.text for frame in our_frames().frames] == [
        text for texts in [*groups, *situations.values()] for text in texts
    ]


def test_choices_are_equally_frequent_however_many_words_their_lists_have() -> None:
    lists = {"treat": ("a bun", "a pie", "a tart"), "day": ("Monday", "Tuesday")}
    frame = make_frame(
        "situation", "{A} [ate {treat}|slept] on {day}. {A.His} {kin} {B} [was late|].", frozenset(NAMES), lists
    )
    assert frame.body == "{A} {word 0} on {word 1}. {A.His} {kin} {B} {word 2}."
    assert frame.words == (
        ("ate a bun", "ate a pie", "ate a tart", "slept", "slept", "slept"),
        ("Monday", "Tuesday"),
        ("was late", ""),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{A} [saw {B}|slept].", "only lists of words can stand there"),
        ("{A} {day} {day} {day} {day} {day} {day} {day}.", "has 7 choices of words; leave 6 at most"),
    ],
)
def test_choices_that_cannot_be_made_are_refused(text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        make_frame("situation", text, frozenset(NAMES), {"day": ("Monday", "Tuesday")})


@pytest.mark.parametrize("date", [each for variants in our_frames().dates for each in variants])
def test_a_date_states_nothing(date: str) -> None:
    assert len(read(f"{date}a gong sounded.\nOmar's niece Freya sang.", ["Omar", "Freya"]).facts) == 1


@pytest.mark.parametrize("closers", our_frames().closers, ids=lambda closers: closers[0])
def test_a_closing_sentence_states_nothing(closers: tuple[str, ...]) -> None:
    for closer in closers:
        assert len(read(f"The sun shone.\nOmar's niece Freya sang.\n{closer}", ["Omar", "Freya"]).facts) == 1


def test_without_the_loader_in_c_the_other_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped_loader() in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", None))
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert shipped_loader() is yaml.SafeLoader
