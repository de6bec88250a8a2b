"""Changes made at random must be caught: any label, any sentence that a proof rests on, any byte."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.example import SCHEMA
from tests.groups import SLOW

Row = dict[str, Any]

STORIES = {"tomi": 99, "tomi-matched": 99, "tom-babi-easy": 96, "tom-babi": 96}


@pytest.fixture(scope="module", params=STORIES)
def dataset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / request.param
    counts = {"train": STORIES[request.param], "test": STORIES[request.param]}
    storyproof.generate(request.param, **counts, seed=4, out=folder, format="jsonl")
    return folder


@pytest.fixture
def copy(dataset: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(dataset, tmp_path / "copy"))


@cache  # each dataset is read hundreds of times
def parsed(folder: Path, split: str) -> tuple[Row, ...]:
    return tuple(json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines())


def rows_of(folder: Path, split: str) -> list[Row]:
    """Return the rows of a split, in a list that may be changed; its rows may be replaced but not changed."""
    return list(parsed(folder, split))


def write(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_what_was_generated_verifies(dataset: Path) -> None:
    result = storyproof.verify(dataset)
    assert result.findings == []
    assert result.questions == sum(len(rows_of(dataset, split)) for split in ("train", "test"))
    assert not result.unchecked


@pytest.mark.parametrize("tried", [8, pytest.param(40, marks=SLOW)])
def test_with_the_manifest_any_changed_byte_is_caught(copy: Path, tried: int) -> None:
    dice = random.Random(1)
    for _ in range(tried):
        path = copy / f"{dice.choice(['train', 'test'])}.jsonl"
        before = path.read_bytes()
        place = dice.randrange(len(before))
        changed = bytearray(before)
        changed[place] ^= 1 << dice.randrange(7)
        path.write_bytes(bytes(changed))
        try:
            findings = [str(finding) for finding in storyproof.verify(copy).findings]
        except storyproof.errors.DataError as error:
            findings = [str(error)]
        assert findings, place
        path.write_bytes(before)


def other_value(row: Row, name: str, rows: list[Row], dice: random.Random) -> Any:
    """Find another value for a label: one that occurs elsewhere, or a list with something gone or added."""
    value = row[name]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + dice.choice([-1, 1])
    if isinstance(value, list):
        changed = list(value)
        if changed and dice.random() < 0.5:
            changed.pop(dice.randrange(len(changed)))
        else:
            changed.insert(
                dice.randrange(len(changed) + 1), 1 if name == "proof" else dice.choice(["open", "Ada", "box"])
            )
        return changed if changed != value else [*changed, changed[-1]]
    known = sorted({other[name] for other in rows} - {value}) or ["something else"]
    return dice.choice(known)


def change_label(rows: list[Row], number: int, dice: random.Random) -> str:
    name = dice.choice([name for name in SCHEMA.names if name not in ("story", "question")])
    rows[number] = {**rows[number], name: other_value(rows[number], name, rows, dice)}
    return name


def change_sentence(rows: list[Row], number: int, dice: random.Random) -> str:
    """Change a sentence that the row's proof rests on, in this row alone."""
    row = rows[number]
    sentences = row["story"].split("\n")
    place = dice.choice(row["proof"]) - 1
    rows[number] = {**row, "story": "\n".join(changed_sentences(sentences, place, dice))}
    return sentences[place]


def change_story(rows: list[Row], number: int, dice: random.Random) -> str:
    """Change a sentence that the row's proof rests on, in all rows that tell it."""
    row = rows[number]
    sentences = row["story"].split("\n")
    place = dice.choice(row["proof"]) - 1
    after = changed_sentences(sentences, place, dice)
    tail = len(sentences) - len(after)
    for other, each in enumerate(rows):
        if each["story_id"] == row["story_id"]:
            told = each["story"].split("\n")
            if len(told) > place:
                same = after + told[len(sentences) :] if len(told) >= len(sentences) else after[: len(told) - tail]
                rows[other] = {**each, "story": "\n".join(same)}
    return sentences[place]


def changed_sentences(sentences: list[str], place: int, dice: random.Random) -> list[str]:
    """Leave a sentence out, replace a word of it by another of the story or a new one, or change its verb."""
    sentence = sentences[place]
    how = dice.choice(["drop", "word", "word", "word", "verb"])
    if how == "drop":
        return sentences[:place] + sentences[place + 1 :]
    words = sentence.removesuffix(".").split()
    if how == "verb" and (" entered " in sentence or " exited " in sentence):
        swapped = sentence.replace("entered", "exi_ted").replace("exited", "entered").replace("exi_ted", "exited")
        return [*sentences[:place], swapped, *sentences[place + 1 :]]
    known = {word.strip(".") for line in sentences for word in line.split()} | {"Zora", "treehouse", "thimble"}
    names = [
        index
        for index, word in enumerate(words)
        if word not in ("the", "The", "is", "in", "to", "entered", "exited", "moved")
    ]
    index = dice.choice(names)
    words[index] = dice.choice(
        sorted(known - {words[index], "the", "The", "is", "in", "to", "entered", "exited", "moved"})
    )
    return [*sentences[:place], " ".join(words) + ".", *sentences[place + 1 :]]


@pytest.mark.parametrize("tried", [10, pytest.param(120, marks=SLOW)])
@pytest.mark.parametrize("change", [change_label, change_sentence, change_story])
def test_without_the_manifest_a_change_is_caught_by_the_oracles(
    dataset: Path, tmp_path: Path, change: Callable[[list[Row], int, random.Random], str], tried: int
) -> None:
    dice = random.Random(change.__name__)
    missed = []
    for _ in range(tried):
        split = dice.choice(["train", "test"])
        path, rows = tmp_path / f"{split}.jsonl", rows_of(dataset, split)
        number = dice.randrange(len(rows))
        before = dict(rows[number])
        what = change(rows, number, dice)
        near = rows[max(0, number - 18) : number + 18]  # enough to see it, and quick to read
        write(path, near)
        if storyproof.verify(path).ok:
            missed.append((what, before, rows[number]))
    assert missed == [], f"{len(missed)} of {tried} missed"


def test_the_published_kind_of_error_is_found(tmp_path: Path) -> None:
    path = tmp_path / "test.txt"
    path.write_text(
        "1 Ada entered the attic.\n2 Bo entered the attic.\n3 The key is in the box.\n4 Cy entered the attic.\n"
        "5 Bo exited the attic.\n6 Ada moved the key to the jar.\n"
        "7 Where does Ada think that Bo searches for the key?\tjar\t1\n"
    )
    findings = storyproof.verify(path).findings
    assert [(finding.field, finding.found, finding.expected) for finding in findings] == [("answer", "jar", "box")]


def test_wrong_observers_are_found(tmp_path: Path) -> None:
    path = tmp_path / "fb_search_test_test.txt"
    text = (
        "1 Ada entered the attic.\t3\n2 Bo entered the attic.\t3 1\n3 The key is in the box.\t3 1\n"
        "4 Bo exited the attic.\t3 1\n5 Ada moved the key to the jar.\t3\n6 Where will Bo look for the key?\tbox\t1\n"
    )
    path.write_text(text)
    assert storyproof.verify(path).ok
    for wrong in (
        text.replace("jar.\t3", "jar.\t3 1"),
        text.replace("box.\t3 1", "box.\t3 2"),
        text.replace("\t3 1", "\t3 3"),
    ):
        path.write_text(wrong)
        found = storyproof.verify(path).findings
        assert {(each.kind, each.field) for each in found} == {("observers", "observers")}


def test_a_wrong_task_in_a_file_name_is_found(tmp_path: Path) -> None:
    path = tmp_path / "sofb_search_test_test.txt"
    path.write_text(
        "1 Ada entered the attic.\t1\n2 Bo entered the attic.\t1 2\n3 The key is in the box.\t1 2\n"
        "4 Bo exited the attic.\t1 2\n5 Ada moved the key to the jar.\t1\n6 Where will Bo look for the key?\tbox\t1\n"
    )
    assert [finding.field for finding in storyproof.verify(path).findings] == ["story_type"]


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(storyproof.errors.DataError, match="contains no data"):
        storyproof.verify(tmp_path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text("")
    with pytest.raises(storyproof.errors.DataError, match=r"test\.jsonl, line 1: found nothing; expected"):
        storyproof.verify(tmp_path / "test.jsonl")


def test_a_hand_made_text_is_held_to_no_recipe(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("1 Ada entered the attic.\n2 The key is in the box.\n3 Where will Ada look for the key?\tbox\t1\n")
    assert storyproof.verify(path).ok


def test_a_story_longer_than_can_be_handled_is_said_to_be(tmp_path: Path) -> None:
    story = "The key is in the box.\n" + "\n".join(f"A{number} entered the hall." for number in range(70))
    row = {"story": story, "question": "Where is the key really?", "answer": "box"}
    (tmp_path / "test.jsonl").write_text(json.dumps(row) + "\n")
    report = storyproof.verify(tmp_path / "test.jsonl")
    assert report.unread == {"story": 1}
    assert "at most" in report.findings[0].found
