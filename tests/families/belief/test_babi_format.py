from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.families.belief.babi_format import MIXED_NAME, TomBabiSplit, TomiSplit, read_babi
from tests.samples import table

TOMI = """\
1 Mary-Jane entered the garage.
2 Avery is in the garage.
3 The t-shirt is in the green_crate.
4 Avery loves the tangerine
5 Avery exited the garage.
6 Mary-Jane moved the t-shirt to the blue_box.
7 Where was the t-shirt at the beginning?\tgreen_crate\t1
1 Mary-Jane entered the garage.
2 Avery is in the garage.
3 The t-shirt is in the green_crate.
4 Avery loves the tangerine
5 Avery exited the garage.
6 Mary-Jane moved the t-shirt to the blue_box.
7 Where does Mary-Jane think that Avery searches for the t-shirt?\tgreen_crate\t1
"""
TRACE = """\
enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,memory,false_belief
enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,second_order_0_tom,false_belief
"""
TOM_BABI = """\
1 Liam entered the garden.\t1
2 Phone rang.\t
3 Noah entered the garden.\t1 3
4 The pear is in the tub.\t1 3
5 Liam moved the pear to the bag.\t1 3
6 Where is the pear really?\tbag\t1
7 Noah is in the garden.\t1 3
8 The plum is in the bag.\t1 3
9 Noah moved the plum to the tub.\t1 3
10 Where will Liam look for the plum?\ttub\t1
"""


def read(path: Path, rows: int = 1000) -> list[dict[str, Any]]:
    return [row for each in read_babi(path, rows) for row in each.to_pylist()]


def put(folder: Path, name: str, text: str, trace: str | None = None) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    if trace is not None:
        path.with_suffix(".trace").write_bytes(trace.encode())
    return path


def undotted(story: str) -> list[str]:
    return [sentence.removesuffix(".") for sentence in story.split("\n")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_published_tomi(tmp_path: Path, newline: str) -> None:
    path = put(tmp_path, "fb_all_val.txt", TOMI.replace("\n", newline), TRACE.replace("\n", newline))
    memory, belief = read(path)
    assert memory["story_id"] == belief["story_id"]
    assert memory["id"] != belief["id"]
    assert memory["split"] == "val"
    assert memory["story"] == belief["story"]
    assert memory["story"].split("\n")[3:5] == ["Avery loves the tangerine", "Avery exited the garage."]
    assert [row["question_type"] for row in (memory, belief)] == ["memory", "second_order_0_tom"]
    assert [row["story_type"] for row in (memory, belief)] == ["false_belief"] * 2
    assert belief["trace"] == "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj"
    assert (belief["answer"], belief["order"], belief["chain"]) == ("green_crate", 2, ["Mary-Jane", "Avery"])
    assert (memory["order"], memory["chain"]) == (0, [])
    assert memory["observers"] is None
    assert storyproof.verify(path).ok


def test_without_a_trace_nothing_is_made_up(tmp_path: Path) -> None:
    row = read(put(tmp_path, "fb_all_val.txt", TOMI))[0]
    assert row["story_type"] is row["question_type"] is row["trace"] is None


def test_published_tom_babi(tmp_path: Path) -> None:
    path = put(tmp_path, MIXED_NAME, TOM_BABI)
    first, second = read(path)
    assert first["story"].split("\n") == [line.split("\t")[0][2:] for line in TOM_BABI.split("\n")[:5]]
    assert second["story"].startswith(first["story"] + "\nNoah is in the garden.\n")
    assert first["story_id"] == second["story_id"]
    assert first["observers"].split("\n") == ["1", "", "1 3", "1 3", "1 3"]
    assert (second["question"], second["answer"]) == ("Where will Liam look for the plum?", "tub")
    assert storyproof.verify(path).ok


@pytest.mark.parametrize(
    ("name", "story_type", "split"),
    [
        ("tb_memory_test_test.txt", "true_belief", "test"),
        ("sofb_belief_train_test.txt", "second_order_false_belief", "train"),
        ("fb_all_val.txt", None, "val"),  # of ToMi, where fb says nothing about the story
    ],
)
def test_names_tell(tmp_path: Path, name: str, story_type: str | None, split: str) -> None:
    row = read(put(tmp_path, name, TOM_BABI))[0]
    assert (row["story_type"], row["split"]) == (story_type, split)


def test_tomi_round_trip(tmp_path: Path) -> None:
    made = table("tomi", "test")
    split = TomiSplit(tmp_path, "test")
    split.write(made.slice(0, 300))
    split.write(made.slice(300))
    assert split.close() == [tmp_path / "test.txt", tmp_path / "test.trace"]
    found, rows = read(tmp_path / "test.txt"), made.to_pylist()
    for name in ("question", "answer", "question_type", "story_type", "order", "chain", "split"):
        assert [row[name] for row in found] == [row[name] for row in rows], name
    # The published files leave the full stop out after likes and dislikes.
    assert [undotted(row["story"]) for row in found] == [undotted(row["story"]) for row in rows]
    assert len({row["story_id"] for row in found}) == 96
    assert not any(line.endswith(".") for row in found for line in row["story"].split("\n") if "likes" in line)


def test_mixed_round_trip(tmp_path: Path) -> None:
    made = table("tom-babi", "train")
    split = TomBabiSplit(tmp_path, "train")
    split.write(made)
    assert split.close() == [tmp_path / MIXED_NAME]
    found, rows = read(tmp_path / MIXED_NAME), made.to_pylist()
    for name in ("story", "question", "answer", "order", "chain", "split"):
        assert [row[name] for row in found] == [row[name] for row in rows], name
    assert len({row["story_id"] for row in found}) == 96
    assert storyproof.verify(tmp_path / MIXED_NAME).ok


def test_one_file_for_each_task_and_question(tmp_path: Path) -> None:
    made = table("tom-babi-easy", "val")
    split = TomBabiSplit(tmp_path, "val")
    split.write(made)
    files = split.close()
    assert [path.name for path in files] == sorted(
        f"{task}_{question}_val_test.txt"
        for task in ("tb", "fb", "sofb")
        for question in ("memory", "reality", "search", "belief")
    )
    found = [row for path in files for row in read(path)]
    names = ("story", "question", "answer", "order", "story_type", "split")
    assert sorted(tuple(row[name] for name in names) for row in found) == sorted(
        tuple(row[name] for name in names) for row in made.to_pylist()
    )
    assert all(len(read(path)) == 8 for path in files)
    assert len({row["story_id"] for row in found}) == 96


def test_tables_hold_whole_stories(tmp_path: Path) -> None:
    split = TomiSplit(tmp_path, "test")
    split.write(table("tomi", "test"))
    split.close()
    tables = [each.to_pylist() for each in read_babi(tmp_path / "test.txt", 10)]
    assert [len(rows) for rows in tables] == [12] * 48
    assert not {row["story_id"] for row in tables[0]} & {row["story_id"] for row in tables[1]}


def replaced(number: int, line: str) -> str:
    lines = TOMI.split("\n")
    lines[number - 1] = line
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Avery is in the garage.", "found 'Avery is in the garage.'; expected a sentence number, a space"),
        ("two Avery is in the garage.", "expected a sentence number"),
        ("", "found number 3 after 1; expected the next number"),  # the line before is lost
        ("5 Avery is in the garage.", "found number 5 after 1; expected the next number"),
        ("2 Avery was in the garage.", "not a sentence of a story: 'Avery was in the garage.'; expected one of"),
        ("2 Avery is in the garage.\t1\t2", "found 3 columns; expected a sentence"),
        ("2 Where is it?\tbox\t1", "not a question about a story: 'Where is it\\?'; expected one of"),
        ("2 Where is the t-shirt really?", "the question 'Where is the t-shirt really\\?' has no answer"),
        ("2 Where is the t-shirt really?\t\t1", "has no answer; expected question, tab, answer"),
        ("1 Where is the t-shirt really?\tbox\t1", "the story before it ends without a question"),
    ],
)
def test_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = put(tmp_path, "x.txt", replaced(2, line))
    number = 3 if not line else 2
    with pytest.raises(DataError, match=rf"x\.txt, line {number}: .*{message}"):
        read(path)


def test_question_without_a_story(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x\.txt, line 1: a question without a story; expected sentences before it"):
        read(put(tmp_path, "x.txt", "1 Where is the t-shirt really?\tbox\t1\n"))


@pytest.mark.parametrize("lines", [1, 3, 6, 8, 13])
def test_truncated(tmp_path: Path, lines: int) -> None:
    path = put(tmp_path, "x.txt", "\n".join(TOMI.split("\n")[:lines]) + "\n")
    with pytest.raises(DataError, match=rf"x\.txt, line {lines + 1}: the story before it ends without a question"):
        read(path)


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_empty(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"x\.txt has no question; expected numbered sentences"):
        read(put(tmp_path, "x.txt", text))


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"1 \xff\xfe\n")
    with pytest.raises(DataError, match=r"x\.txt, line 1: found the byte 0xff"):
        read(path)


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (TRACE.split("\n")[0], r"x\.trace ends before line 14 of x\.txt"),
        (
            TRACE + "enter_agent_0,memory,false_belief\n",
            r"x\.trace, line \d+: found 1 more lines than x\.txt has questions; expected one line per question",
        ),
        (
            TRACE.replace("false_belief", "no_belief"),
            r"x\.trace, line 1: found 'enter_agent_0,.*; expected it to end in",
        ),
        (TRACE.split("\n")[0] + "\nmemory,false_belief\n", r"x\.trace, line 2: found 'memory,false_belief'"),
    ],
)
def test_broken_trace(tmp_path: Path, trace: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(put(tmp_path, "x.txt", TOMI, trace))
