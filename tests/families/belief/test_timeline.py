import json
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError
from storyproof.families.belief.timeline import lay_out
from tests.samples import BELIEF, REALITY, SEARCH, STORY, example

ASKED = [
    example(question=SEARCH),
    example(question=BELIEF, question_type="second_order_0_tom", order=2, chain=["Ada", "Ben"]),
]


def put(folder: Path, *rows: object, name: str = "x.jsonl") -> Path:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / name


def test_rooms_and_beliefs_after_each_sentence() -> None:
    timeline = lay_out(ASKED)
    assert (timeline.story_id, timeline.story_type, timeline.thing) == ("s", "false_belief", "key")
    assert timeline.examples == ASKED
    assert [step.sentence for step in timeline.steps] == STORY.split("\n")
    assert [step.rooms for step in timeline.steps] == [
        {"attic": ["Ada"]},
        {"attic": ["Ada", "Ben"]},
        {"attic": ["Ada", "Ben"]},
        {"attic": ["Ada"]},
        {"attic": ["Ada"]},
    ]
    assert [step.place for step in timeline.steps] == [None, None, "box", "box", "jar"]
    believed = {chain: [step.believed[chain] for step in timeline.steps] for chain in timeline.steps[0].believed}
    missed = [None, None, "box", "box", "box"]
    assert believed == {
        ("Ada",): [None, None, "box", "box", "jar"],
        ("Ben",): missed,
        ("Ada", "Ben"): missed,
    }


def test_who_only_likes_something_has_no_belief() -> None:
    timeline = lay_out([example(story=STORY + "\nZoe likes the jar.")])
    assert ("Zoe",) not in timeline.steps[-1].believed
    assert timeline.steps[-1].rooms == {"attic": ["Ada"]}


def test_object_of_the_last_question() -> None:
    story = STORY + "\nThe map is in the tin."
    timeline = lay_out([example(story=story), example(story=story, question=REALITY.replace("key", "map"))])
    assert timeline.thing == "map"
    assert [step.place for step in timeline.steps] == [None] * 5 + ["tin"]


def test_stories_are_counted_from_0(tmp_path: Path) -> None:
    path = put(tmp_path, *(example(id=f"{s}{n}", story_id=s).as_row() for s in "abc" for n in (1, 2)))
    assert storyproof.show(path, conventions=False).story_id == "a"
    found = storyproof.show(path, 2, conventions=False)
    assert (found.story_id, [each.id for each in found.examples]) == ("c", ["c1", "c2"])


@pytest.mark.parametrize(
    ("index", "message"), [(-1, "--index is -1; stories are counted from 0"), (1, "there are only 1 stories")]
)
def test_no_such_story(tmp_path: Path, index: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        storyproof.show(put(tmp_path, example().as_row()), index)


def test_the_only_split_there_is(tmp_path: Path) -> None:
    put(tmp_path, example(story_id="only", split="val").as_row(), name="val.jsonl")
    assert storyproof.show(tmp_path, conventions=False).story_id == "only"
    with pytest.raises(DataError, match="has no train split, only: val"):
        storyproof.show(tmp_path, split="train")


def test_sentence_that_cannot_be_read(tmp_path: Path) -> None:
    path = put(tmp_path, example(story=STORY.replace("exited", "left")).as_row())
    with pytest.raises(DataError, match=r"x\.jsonl, story 0: sentence 4: not a sentence of a story"):
        storyproof.show(path)
