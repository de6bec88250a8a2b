import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storyproof.datasets import reading
from storyproof.datasets.reading import Source, complete, find_source, read_examples
from storyproof.errors import DataError
from storyproof.example import Example
from tests.samples import BELIEF, MEMORY, REALITY, SEARCH, STORY, example, plain_table, table


def source_of(folder: Path, *rows: dict[str, Any]) -> Source:
    path = folder / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return find_source(path)


def bare(question: str, answer: str, story: str = STORY) -> dict[str, str]:
    return {"story": story, "question": question, "answer": answer}


def test_whole_rows_pass_unchanged() -> None:
    made = table("tomi", "test")
    assert complete(made) is made


def test_what_is_lacking_follows_from_the_text(tmp_path: Path) -> None:
    rows = [bare(MEMORY, "box"), bare(REALITY, "jar"), bare(SEARCH, "box"), bare(BELIEF, "box")]
    memory, reality, search, belief = read_examples(source_of(tmp_path, *rows))
    expected = example(id="x-3", story_id=search.story_id, benchmark=None, split=None)
    assert search == expected
    assert replace(memory, id="", proof=[]) == replace(
        expected, id="", question=MEMORY, proof=[], question_type="memory", order=0, chain=[], false_belief=False
    )
    assert (reality.question_type, reality.answer, reality.proof) == ("reality", "jar", [5])
    assert (belief.question_type, belief.chain) == ("second_order_0_tom", ["Ada", "Ben"])
    assert len({each.story_id for each in (memory, reality, search, belief)}) == 1


def test_labels_of_a_benchmark_can_be_worked_out_again() -> None:
    made = table("tomi", "test")
    labels = ["answer", "candidates", "question_type", "order", "chain", "story_type", "false_belief", "readings"]
    assert complete(made.drop_columns([*labels[1:], "proof"])).to_pylist() == made.to_pylist()


def test_given_labels_stay_unless_proved_ones_are_asked_for(tmp_path: Path) -> None:
    source = source_of(tmp_path, example(answer="jar", proof=[1]).as_row())
    (given,), (proved,) = read_examples(source), read_examples(source, proved=True)
    assert (given.answer, given.proof) == ("jar", [1])
    assert (proved.answer, proved.proof) == ("box", [2, 3, 4])


def test_max_stories_keeps_stories_whole(tmp_path: Path) -> None:
    rows = [example(id=f"{story}{row}", story_id=str(story)).as_row() for story in range(5) for row in range(3)]
    found = read_examples(source_of(tmp_path, *rows), max_stories=2)
    assert [each.id for each in found] == ["00", "01", "02", "10", "11", "12"]


def test_stories_without_ids_stay_apart_across_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Numbers that start anew with every table would make one story of two.
    monkeypatch.setattr(reading.Source.tables, "__defaults__", (1,))
    stories = [STORY, STORY.replace("key", "map")]
    rows = [bare(REALITY, "jar"), bare(REALITY.replace("key", "map"), "jar", stories[1]), bare(MEMORY, "box")]
    ids = [each.story_id for each in read_examples(source_of(tmp_path, *rows))]
    assert ids[0] == ids[2] != ids[1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (bare(REALITY, "jar", STORY.replace("moved", "took")), "row x-2: story: sentence 5: not a sentence"),
        (bare("Where is it?", "jar"), "row x-2: question: not a question"),
        (bare(REALITY.replace("key", "map"), "jar"), "row x-2: question: the map is nowhere in the story"),
    ],
)
def test_unreadable_row_is_named(tmp_path: Path, row: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=rf"x\.jsonl: {message}"):
        read_examples(source_of(tmp_path, bare(MEMORY, "box"), row))


def test_example_keeps_other_columns_apart() -> None:
    row = {**plain_table(example()).to_pylist()[0], "trace": "x"}
    assert Example.from_row(row) == example(trace="x")
    assert Example.from_row(row).as_row() == row
