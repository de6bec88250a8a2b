import json
from pathlib import Path

import pytest

from storyproof import prompt
from storyproof.datasets.process import process
from storyproof.datasets.reading import find_source, find_sources, read_examples
from storyproof.errors import DataError, UnknownNameError
from storyproof.example import WRITTEN
from storyproof.families.belief.babi_format import MIXED_NAME
from tests.samples import REALITY, STORY

LINE = json.dumps({"story": STORY, "question": REALITY, "answer": "jar"}) + "\n"


def folder_with(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_text(LINE)
    return folder


def test_folder_has_a_source_for_each_split(tmp_path: Path) -> None:
    folder_with(tmp_path, "val.jsonl", "test.jsonl", "train.jsonl", "manifest.json", "test.trace")
    assert [(source.split, len(source.files)) for source in find_sources(tmp_path)] == [
        ("train", 1),
        ("val", 1),
        ("test", 1),
    ]


def test_files_of_one_split_belong_together(tmp_path: Path) -> None:
    folder_with(tmp_path, "tb_memory_test_test.txt", "fb_memory_test_test.txt", "tb_memory_val_test.txt", MIXED_NAME)
    found = {source.split: [path.name for path in source.files] for source in find_sources(tmp_path)}
    assert found == {
        "train": [MIXED_NAME],
        "val": ["tb_memory_val_test.txt"],
        "test": ["fb_memory_test_test.txt", "tb_memory_test_test.txt"],
    }


@pytest.mark.parametrize("name", ["fb_all_val.jsonl", "data-val.jsonl", "x.val.jsonl", "val.jsonl"])
def test_split_is_told_from_the_name(tmp_path: Path, name: str) -> None:
    assert find_source(folder_with(tmp_path, name) / name).split == "val"


def test_a_word_is_no_split_because_it_begins_like_one(tmp_path: Path) -> None:
    assert find_source(folder_with(tmp_path, "testing.jsonl") / "testing.jsonl").split is None


def test_file(tmp_path: Path) -> None:
    path = folder_with(tmp_path, "mine.jsonl") / "mine.jsonl"
    (source,) = find_sources(path)
    assert (source.paths, source.split, source.name) == ((path,), None, str(path))
    assert next(source.tables()).num_rows == 1


def test_test_split_unless_another_is_named(tmp_path: Path) -> None:
    folder_with(tmp_path, "train.jsonl", "test.jsonl")
    assert find_source(tmp_path).split == "test"
    assert find_source(tmp_path, "train").paths == (tmp_path / "train.jsonl",)


def test_missing_split_names_those_there_are(tmp_path: Path) -> None:
    folder_with(tmp_path, "train.jsonl", "mine.jsonl")
    with pytest.raises(DataError, match="has no test split, only: train, unnamed; choose one with --split"):
        find_source(tmp_path)
    with pytest.raises(DataError, match="has no val split, only: train"):
        find_source(tmp_path / "train.jsonl", "val")


def test_unknown_split(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown split 'tets'"):
        find_source(folder_with(tmp_path, "test.jsonl"), "tets")


def test_wrong_paths(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere does not exist; give a dataset folder or a file"):
        find_sources(tmp_path / "nowhere")
    with pytest.raises(
        DataError, match=r"contains no data; expected files ending in .arrow, .csv, .feather, .json, .jsonl, .parquet"
    ):
        find_sources(tmp_path)
    (tmp_path / "data.docx").write_text("")
    with pytest.raises(DataError, match=r"data.docx has an unknown form; expected a file ending in"):
        find_sources(tmp_path / "data.docx")


@pytest.mark.parametrize(
    "story",
    [
        STORY.replace("\n", " "),
        "\n".join(f"{number} {line}" for number, line in enumerate(STORY.split("\n"), start=1)),
        "\n".join(f"{number}. {line}" for number, line in enumerate(STORY.split("\n"), start=1)),
    ],
    ids=["running text", "numbered", "listed"],
)
def test_stories_are_divided_as_audits_do(tmp_path: Path, story: str) -> None:
    """Every command reads what `audit` reads, in the words of the story."""
    row = {"story": story, "question": REALITY, "answer": "jar"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n")
    [example] = read_examples(find_source(tmp_path / "own.jsonl"))
    assert (example.story, example.answer, example.question_type) == (STORY, "jar", "reality")
    process(tmp_path / "own.jsonl", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "own.json").read_text())[0]["story"] == STORY


def test_stories_in_other_words_are_asked_as_they_are_written(tmp_path: Path) -> None:
    """Labels follow from the sentences that are understood; models read what the data say."""
    story = STORY.replace("Ada entered the attic.\nBen entered", "Ada and Ben entered")
    row = {"story": story, "question": REALITY, "answer": "jar"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n")
    [example] = read_examples(find_source(tmp_path / "own.jsonl"))
    assert (example.story, example.question_type, example.get(WRITTEN)) == (STORY, "reality", story)
    assert story in prompt(example).text
    process(tmp_path / "own.jsonl", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "own.json").read_text())[0]["story"] == story


def test_rows_of_several_families_in_one_file(tmp_path: Path) -> None:
    """As audits do, every command judges the family of a row by its question."""
    kin = {"story": "1. Kim saw her brother Lee.\n2. Lee has a daughter, Mia.", "question": "What is Mia to Kim?"}
    rows = [{**kin, "answer": "niece"}, {"story": STORY, "question": REALITY, "answer": "jar"}]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = read_examples(find_source(tmp_path / "own.jsonl"))
    assert (first.family, first.get("k"), first.get("genders")) == (
        "kinship",
        2,
        ["Kim:female", "Lee:male", "Mia:female"],
    )
    assert (second.family, second.question_type) == ("belief", "reality")


def test_stories_that_nobody_understands_are_refused(tmp_path: Path) -> None:
    row = {"story": f"{STORY}\nThe box blorked.", "question": REALITY, "answer": "jar"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match="The box blorked"):
        read_examples(find_source(tmp_path / "own.jsonl"))
