"""Labels made wrong are found, explained and put right, and nothing else of a file changes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.audits import row_pass
from storyproof.errors import DataError, StoryproofError, UnknownNameError
from storyproof.families.belief.audit import rows as tom_rows
from storyproof.families.belief.audit.causes import MECHANISMS
from storyproof.families.belief.audit.rows import right_marks
from storyproof.families.belief.babi_format import TomBabiSplit, TomiSplit
from storyproof.families.belief.tomi_labels import QUESTION_TYPES, STORY_TYPES
from storyproof.families.belief.tomi_rows import BeliefProofs, RowProblem, prove
from storyproof.families.belief.tomi_text import parse
from storyproof.findings import FileReport, Finding, tally
from storyproof.formats.jsonl import JsonlSplit
from tests.auditing import audit_file, fixed_files
from tests.samples import table

Files = dict[str, bytes]
ORDERS = ("memory", "reality", "first_order", "second_order")
NONE = dict.fromkeys(ORDERS, 0)
FORMATS = ("auto", "tomi", "tom-babi", "jsonl", "inspect", "parquet", "json")

START = ["Ada entered the attic.", "Ben entered the attic.", "The key is in the box."]
AWAY = [*START, "Ben exited the attic.", "Ada moved the key to the jar."]
UNSEEN = [*AWAY, "Ada exited the attic.", "Ben entered the attic."]
MEMORY, REALITY = "Where was the key at the beginning?", "Where is the key really?"
ADA, BEN = "Where will Ada look for the key?", "Where will Ben look for the key?"
ADA_BEN = "Where does Ada think that Ben searches for the key?"
BEN_ADA = "Where does Ben think that Ada searches for the key?"


GOING_ON = """\
1 Ada entered the attic.\t3
2 Phone rang.\t
3 Ben entered the attic.\t3 1
4 The key is in the box.\t3 1
5 Ben exited the attic.\t3 1
6 Ada moved the key to the jar.\t3
7 Where will Ben look for the key?\tbox\t1
8 Ada is in the attic.\t3
9 Cleo entered the hall.\t4
10 Ben entered the hall.\t4 1
11 The ring is in the tin.\t4 1
12 Cleo moved the ring to the sack.\t4 1
13 Where does Ben think that Cleo searches for the ring?\tsack\t1
14 Where was the key at the beginning?\tbox\t1
"""  # with an agent who has a number but is not in the story, as in the original


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name in ("tomi", "jsonl", "tom-babi"):
        (folder / name).mkdir()
    for kind, name, benchmark, split, stories in (
        (TomiSplit, "tomi", "tomi", "test", 30),
        (JsonlSplit, "jsonl", "tomi", "test", 30),
        (TomBabiSplit, "tom-babi", "tom-babi", "test", 24),
    ):
        writer: Any = kind(folder / name, split)
        writer.write(table(benchmark, split, stories))
        writer.close()
    (folder / "tom-babi" / "mixed_train.txt").write_text(GOING_ON)
    return folder


def files_of(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".txt", ".trace", ".jsonl")}


def put(folder: Path, files: Files) -> Path:
    """Write files; gives the one to audit."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / next(name for name in files if not name.endswith(".trace"))


def telling(sentences: list[str], *asked: tuple[str, str]) -> str:
    """Tell a story again for each question, as ToMi does."""
    text = ""
    for question, answer in asked:
        text += "".join(f"{number} {line}\n" for number, line in enumerate(sentences, 1))
        text += f"{len(sentences) + 1} {question}\t{answer}\t1\n"
    return text


def told(folder: Path, text: str, trace: str | None = None) -> Path:
    files = {"val.txt": text.encode()}
    return put(folder, files | ({} if trace is None else {"val.trace": trace.encode()}))


def as_inspect(content: bytes, **how: Any) -> bytes:
    """Tell rows of ours as evaluation frameworks do."""
    lines = []
    for number, row in enumerate(map(json.loads, content.splitlines())):
        text = f"Read the story. {row['story'].replace(chr(10), ' ')} {row['question']} Answer with one word."
        lines.append(
            {
                "input": [{"role": "user", "content": text}] if number % 2 else text,
                "target": [row["answer"]] if number % 3 else row["answer"],
                "metadata": {"story_type": row["story_type"], "question_type": row["question_type"], "n": number},
            }
        )
    return "".join(json.dumps(line, **how) + "\n" for line in lines).encode()


def clean(folder: Path, files: Files) -> FileReport:
    """Audit files that should be in order."""
    folder.mkdir(exist_ok=True)
    report = audit_file(put(folder, files))
    assert report.findings == []
    assert report.totals["wrong_answers"] == NONE
    return report


# What was generated is right.


def test_generated_files_are_clean(made: Path, tmp_path: Path) -> None:
    tomi = clean(tmp_path / "a", files_of(made / "tomi"))
    assert (tomi.file, tomi.format, tomi.totals["rows"], tomi.totals["stories"]) == ("test.txt", "tomi", 180, 30)
    assert list(tomi.totals) == [
        "rows",
        "stories",
        "judged",
        "unread",
        "conflicts",
        "wrong_answers",
        "rule_dependent",
        "wrong_question_types",
        "wrong_story_types",
        "wrong_agent_numbers",
        "impossible_stories",
        "wrong_traces",
        "wrong_columns",
        "by_mechanism",
    ]
    plain = files_of(made / "jsonl")
    assert clean(tmp_path / "b", plain).format == "jsonl"
    inspect = clean(tmp_path / "c", {"test.jsonl": as_inspect(plain["test.jsonl"])})
    assert (inspect.format, inspect.totals["rows"], inspect.totals["stories"]) == ("inspect", 180, 30)
    for number, (name, content) in enumerate(files_of(made / "tom-babi").items()):
        assert clean(tmp_path / f"d{number}", {name: content}).format == "tom-babi"


# Labels made wrong come out, and the fixed files are what was generated.


def another(dice: random.Random, value: str, choices: list[str]) -> str:
    return dice.choice([each for each in choices if each != value])


def spoil_tomi(files: Files, dice: random.Random) -> tuple[Files, set[tuple[str, int, str]]]:
    """Make one label in about ten wrong."""
    text, trace = (files[f"test.{suffix}"].decode().split("\n") for suffix in ("txt", "trace"))
    answers = sorted({line.split("\t")[1] for line in text if "?" in line})
    wrong = set()
    for number, line in enumerate(text):
        cells = line.split("\t")
        if "?" in line and dice.random() < 0.1:
            text[number] = "\t".join([cells[0], another(dice, cells[1], answers), *cells[2:]])
            wrong.add(("test.txt", number + 1, "answer"))
    for number, line in enumerate(trace[:-1]):
        *actions, question, story = line.split(",")
        if dice.random() < 0.1:
            question = another(dice, question, list(QUESTION_TYPES[:10]))
            wrong.add(("test.trace", number + 1, "question_type"))
        if dice.random() < 0.1:
            story = another(dice, story, list(STORY_TYPES))
            wrong.add(("test.trace", number + 1, "story_type"))
        if dice.random() < 0.1:
            actions = [*actions[:-2], actions[-1], actions[-2]] if dice.random() < 0.5 else actions[1:]
            wrong.add(("test.trace", number + 1, "trace"))
        trace[number] = ",".join([*actions, question, story])
    return {"test.txt": "\n".join(text).encode(), "test.trace": "\n".join(trace).encode()}, wrong


def keep(content: bytes) -> bytes:
    return content


DIALECTS: list[Callable[[bytes], bytes]] = [
    keep,
    lambda content: content.replace(b"\n", b"\r\n"),
    lambda content: content.replace(b"\n", b"\r"),
    lambda content: content.rstrip(b"\n"),
    lambda content: b"\xef\xbb\xbf\n" + content.replace(b"\n1 ", b"\n\n1 ") + b"\n\n",
    lambda content: content.replace(b"\t1\n", b"\t1 \t more\n"),
    lambda content: content.replace(b"\t1\n", b"\n"),
]


@pytest.mark.parametrize("seed", range(3))
def test_spoilt_tomi(made: Path, tmp_path: Path, seed: int) -> None:
    files = files_of(made / "tomi")
    spoilt, wrong = spoil_tomi(files, random.Random(seed))
    path = put(tmp_path, spoilt)
    report = audit_file(path)
    assert {(each.file, each.line, each.field) for each in report.findings} == wrong
    assert [each.row for each in report.findings] == sorted(each.row for each in report.findings)
    assert fixed_files(path, report) == files
    counts, totals = tally(report.findings), report.totals
    assert sum(totals["wrong_answers"].values()) + sum(totals["rule_dependent"].values()) == counts["structural"]
    assert (totals["wrong_question_types"], totals["wrong_agent_numbers"]) == (
        counts["question_type"],
        counts["pragmatic"],
    )
    assert totals["wrong_story_types"] == len({each.row // 6 for each in report.findings if each.kind == "semantic"})
    assert totals["wrong_traces"] == counts["trace"]
    assert set(totals["by_mechanism"]) <= set(MECHANISMS)
    assert all(each.reason for each in report.findings)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_everything_else_stays_byte_by_byte(made: Path, tmp_path: Path, dialect: Callable[[bytes], bytes]) -> None:
    files = files_of(made / "tomi")
    spoilt, wrong = spoil_tomi(files, random.Random(9))
    path = put(tmp_path, {name: dialect(content) for name, content in spoilt.items()})
    report = audit_file(path)
    assert len({(each.file, each.line, each.field) for each in report.findings}) == len(wrong)
    fixed = fixed_files(path, report)
    assert fixed == {name: dialect(content) for name, content in files.items()}
    again = put(tmp_path, fixed)
    assert audit_file(again).findings == []
    assert storyproof.verify(again).ok


def test_without_a_trace_only_answers_are_judged(made: Path, tmp_path: Path) -> None:
    files = files_of(made / "tomi")
    spoilt, wrong = spoil_tomi(files, random.Random(2))
    path = put(tmp_path, {"test.txt": spoilt["test.txt"]})
    report = audit_file(path)
    assert {(each.file, each.line, each.field) for each in report.findings} == {
        each for each in wrong if each[0] == "test.txt"
    }
    assert fixed_files(path, report) == {"test.txt": files["test.txt"]}


def test_chunks_do_not_show(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, spoil_tomi(files_of(made / "tomi"), random.Random(3))[0])
    whole = audit_file(path)
    monkeypatch.setattr(row_pass, "CHUNK_ROWS", 7)
    assert audit_file(path) == whole


@pytest.mark.parametrize("seed", range(3))
def test_spoilt_tom_babi(made: Path, tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    for number, (name, content) in enumerate(files_of(made / "tom-babi").items()):
        lines = content.decode().split("\n")
        answers = sorted({line.split("\t")[1] for line in lines if "?" in line} | {"nowhere"})
        wrong, marked = set(), False
        for place, line in enumerate(lines):
            marked = marked and not line.startswith("1 ")
            cells = line.split("\t")
            if "?" in line and dice.random() < 0.2:
                lines[place] = "\t".join([cells[0], another(dice, cells[1], answers), "1"])
                wrong.add((place + 1, "answer"))
            elif "?" not in line and line and not marked and dice.random() < 0.1:
                mark = dice.choice(["\t" + another(dice, cells[1], ["", "1", "2 1", "9", "1 2 3 4 5"]), ""])
                lines[place] = cells[0] + mark
                wrong.add((place + 1, "observers"))
                marked = True  # the numbering is told from the others
        folder = tmp_path / str(number)
        folder.mkdir()
        path = put(folder, {name: "\n".join(lines).encode()})
        report = audit_file(path)
        assert {(each.line, each.field) for each in report.findings} == wrong
        assert report.totals["wrong_observers"] == sum(field == "observers" for _, field in wrong)
        assert fixed_files(path, report) == {name: content}


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_spoilt_json_lines(made: Path, tmp_path: Path, separators: tuple[str, str]) -> None:
    source = files_of(made / "jsonl")["test.jsonl"]
    for dialect in ("jsonl", "inspect"):
        dice = random.Random(4)
        plain = "".join(
            json.dumps(json.loads(line), separators=separators) + "\n" for line in source.splitlines()
        ).encode()
        content = plain if dialect == "jsonl" else as_inspect(source, separators=separators)
        lines, wrong = content.decode().split("\n"), set()
        for place, line in enumerate(lines):
            row = json.loads(line) if line else {}
            for field in ("answer", "question_type", "story_type") if line and dice.random() < 0.2 else ():
                holder, name = row, field
                if dialect == "inspect":
                    holder, name = (row, "target") if field == "answer" else (row["metadata"], field)
                kinds = {"question_type": QUESTION_TYPES[:10], "story_type": STORY_TYPES}.get(
                    field, ("nowhere", "sack")
                )
                listed = isinstance(holder[name], list)
                value = another(dice, holder[name][0] if listed else holder[name], list(kinds))
                holder[name] = [value] if listed else value
                wrong.add((place + 1, name if holder is row else f"metadata.{name}"))
            lines[place] = json.dumps(row, separators=separators) if line else ""
        path = put(tmp_path, {"test.jsonl": "\n".join(lines).encode()})
        report = audit_file(path)
        assert report.format == dialect
        assert {(each.line, each.field) for each in report.findings} == wrong
        assert fixed_files(path, report) == {"test.jsonl": content}


# Single stories.


def only(path: Path, **how: Any) -> Finding:
    (found,) = audit_file(path, **how).findings
    return found


def test_a_wrong_answer(tmp_path: Path) -> None:
    path = told(tmp_path, telling(AWAY, (MEMORY, "box"), (ADA_BEN, "jar")))
    assert only(path) == Finding(
        file="val.txt",
        row=1,
        line=12,
        id="val-12",
        kind="structural",
        field="answer",
        found="jar",
        expected="box",
        reason="the label is the real place of the key: Ada moved it in sentence 5; "
        "Ben left in sentence 4, before the move in 5",
        sentences=(1, 2, 3, 4),
        asked="second_order",
        fix="answer",
    )
    assert audit_file(path).totals["wrong_answers"] == {**NONE, "second_order": 1}


@pytest.mark.parametrize(("question", "answer", "reading"), [(BEN_ADA, "jar", "infer-mover"), (BEN, "box", "closed")])
def test_rule_dependent_answers(tmp_path: Path, question: str, answer: str, reading: str) -> None:
    path = told(tmp_path, telling(UNSEEN, (question, answer)))
    found = only(path)
    assert (found.kind, found.reading, found.expected) == ("structural", reading, "box" if answer == "jar" else "jar")
    totals = audit_file(path).totals
    assert (totals["wrong_answers"], totals["rule_dependent"]) == (NONE, {reading: 1})
    assert only(path, readings=[reading]).reading == reading
    for others in ["open"], [{"infer-mover": "closed", "closed": "infer-mover"}[reading]]:
        assert only(path, readings=others).reading == ""
        assert audit_file(path, readings=others).totals["wrong_answers"] == {**NONE, found.asked: 1}
    fixed = fixed_files(path, audit_file(path))["val.txt"].decode()
    assert fixed == telling(UNSEEN, (question, found.expected))


def test_a_rule_dependent_question_type(tmp_path: Path) -> None:
    trace = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,agent_0_exits,agent_1_reenters_loc"
    types = "second_order_1_no_tom,second_order_false_belief"
    path = told(tmp_path, telling(UNSEEN, (BEN_ADA, "jar")), f"{trace},{types}\n")
    answer, kind = audit_file(path).findings
    assert (answer.file, answer.field, answer.reading) == ("val.txt", "answer", "infer-mover")
    assert (kind.file, kind.line, kind.kind, kind.reading) == ("val.trace", 1, "question_type", "infer-mover")
    assert audit_file(path).totals["wrong_question_types"] == 1


def test_number_and_mark_are_counted_apart(tmp_path: Path) -> None:
    late = ["Ben entered the attic.", "Ada entered the attic.", *AWAY[2:]]
    trace = "enter_agent_1,enter_agent_0,agent_1_exits,agent_0_moves_obj"
    kinds = ["first_order_0_tom", "first_order_1_tom", "second_order_0_no_tom", "first_order_0_no_tom"]
    asked = [(BEN, "box"), (BEN, "box"), (BEN_ADA, "jar"), (ADA_BEN, "box")]
    path = told(tmp_path, telling(late, *asked), "".join(f"{trace},{kind},false_belief\n" for kind in kinds))
    report = audit_file(path)
    assert [(each.row, each.kind) for each in report.findings] == [
        (0, "pragmatic"),
        (2, "structural"),
        (2, "pragmatic"),
        (2, "question_type"),
        (3, "question_type"),
    ]
    assert (report.totals["wrong_agent_numbers"], report.totals["wrong_question_types"]) == (2, 2)
    assert report.totals["by_mechanism"] == {"order_of_entry": 2, "reality": 1, "follows_label": 1, "other_question": 1}
    assert audit_file(put(tmp_path, fixed_files(path, report))).findings == []


def test_wrong_story_types_are_counted_by_story(tmp_path: Path) -> None:
    story = [*START, "Ben exited the attic.", "Ben entered the hall.", "Ada moved the key to the jar."]
    trace = "enter_agent_0,enter_agent_1,agent_1_exits,agent_1_reenters_alt_loc,agent_0_moves_obj"
    text = telling(story, (REALITY, "jar"), (BEN, "box")) + telling(AWAY, (BEN, "box"))
    lines = [f"{trace},reality,true_belief", f"{trace},first_order_1_tom,true_belief"]
    lines.append("enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,first_order_1_tom,false_belief")
    report = audit_file(told(tmp_path, text, "\n".join(lines)))
    assert [(each.row, each.line, each.kind, each.sentences) for each in report.findings] == [
        (0, 1, "semantic", (1, 2, 4, 6)),
        (1, 2, "semantic", (1, 2, 4, 6)),
    ]
    assert report.findings[0].reason.startswith("the type was derived from the position of the move, action 3: Ben")
    assert (report.totals["wrong_story_types"], report.totals["by_mechanism"]) == (1, {"position_of_move": 1})


def test_a_story_type_may_be_in_the_files_name(tmp_path: Path) -> None:
    lines = ["1 Ada entered the attic.\t1", "2 Ben entered the attic.\t1 2", "3 The key is in the box.\t1 2"]
    lines += ["4 Ada moved the key to the jar.\t1 2", f"5 {BEN}\tjar\t1"]
    path = put(tmp_path, {"fb_search_test_test.txt": "\n".join(lines).encode()})
    found = only(path)
    assert (found.kind, found.line, found.found, found.expected) == ("semantic", 0, "false_belief", "true_belief")
    assert fixed_files(path, audit_file(path)) == {path.name: path.read_bytes()}


def test_higher_orders_are_counted_if_they_occur(tmp_path: Path) -> None:
    third = "Where does Ada think that Ben thinks that Ada searches for the key?"
    totals = audit_file(told(tmp_path, telling(AWAY, (third, "jar")))).totals
    assert totals["wrong_answers"] == {**NONE, "third_order": 1}
    assert totals["rule_dependent"] == {}
    assert "third_order" in audit_file(told(tmp_path, telling(AWAY, (third, "box")))).totals["wrong_answers"]


@pytest.mark.parametrize("target", ["Jar", "the jar", " jar. ", ["sack", "jar"]])
def test_evaluation_frameworks_are_not_strict_about_answers(tmp_path: Path, target: Any) -> None:
    line = json.dumps({"input": f"{' '.join(AWAY)} {ADA}", "target": target})
    assert audit_file(put(tmp_path, {"t.jsonl": line.encode()})).findings == []
    line = json.dumps({"input": f"{' '.join(AWAY)} {BEN}", "target": target})
    path = put(tmp_path, {"t.jsonl": line.encode()})
    assert only(path).expected == "box"
    fixed = json.loads(fixed_files(path, audit_file(path))["t.jsonl"])["target"]
    assert fixed == (["box"] if isinstance(target, list) else "box")


# Where nothing is right, the question goes.


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Cleo exited the attic.", "Cleo exits the attic but is in no room"),
        ("Ada entered the attic.", "Ada is in the attic already"),
        ("Ben moved the key to the tin.", "Ben moves the key from another room"),
        ("Ada moved the ring to the tin.", "Ada moves the ring, which is nowhere yet"),
        ("Ada is in the hall.", "Ada is said to be in the hall but is in the attic"),
        ("The key is in the tin.", "the key is said to be in the tin but was left elsewhere"),
    ],
)
def test_impossible_stories(tmp_path: Path, sentence: str, reason: str) -> None:
    actions = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj"
    good = telling(AWAY, (BEN, "box"))
    text = good + telling([*AWAY, sentence], (MEMORY, "jar"), (BEN, "jar")) + good
    lines = [f"{actions},first_order_1_tom,false_belief\n", *["x,memory,true_belief\n"] * 2]
    path = told(tmp_path, text, "".join([*lines, lines[0]]))
    report = audit_file(path)
    (found,) = report.findings
    assert (found.row, found.line, found.kind, found.field) == (1, 12, "impossible_story", "story")
    assert (found.found, found.expected, found.sentences) == (sentence, "", (6,))
    assert reason in found.reason
    assert (report.totals["stories"], report.totals["impossible_stories"]) == (3, 1)
    assert fixed_files(path, report) == {"val.txt": (good + good).encode(), "val.trace": (lines[0] * 2).encode()}


MIXED = """\
1 Ada entered the attic.\t1
2 Ben entered the attic.\t1 2
3 The key is in the box.\t1 2
4 Where is the key really?\tbox\t1
5 Where will Cleo look for the key?\tbox\t1
6 Ada moved the key to the jar.\t1 2
7 Where will Ben look for the key?\tjar\t1
8 Cleo exited the attic.\t1 2
9 Where will Ben look for the key?\tbox\t1
1 Ada entered the attic.\t1
2 The key is in the box.\t1
3 Where is the key really?\tbox\t1
"""


def test_lines_after_a_dropped_question_are_numbered_anew(tmp_path: Path) -> None:
    path = put(tmp_path, {"t.txt": MIXED.encode()})
    report = audit_file(path)
    assert [(each.row, each.line, each.kind, each.expected) for each in report.findings] == [
        (0, 4, "text", "a story of tom-babi"),
        (1, 5, "structural", ""),
        (3, 8, "impossible_story", ""),
    ]
    assert report.findings[1].reason == "no answer follows: Cleo was never in the room of the key"
    kept = [line for line in MIXED.splitlines(keepends=True) if line[0] not in "589"]
    fixed = "".join(kept).replace("6 Ada", "5 Ada").replace("7 Where", "6 Where").encode()
    assert fixed_files(path, report) == {"t.txt": fixed}
    assert {each.kind for each in audit_file(put(tmp_path, {"t.txt": fixed})).findings} == {"text"}


def test_a_dropped_question_no_longer_says_whom_a_story_is_about(tmp_path: Path) -> None:
    """Asked about besides Ben, Cleo hides that he is agent 1; without that question he is."""
    story = ["Dan entered the attic.", *AWAY]
    rows = [{"story": "\n".join(story), "question": BEN, "answer": "box", "story_type": "false_belief"}]
    rows.append({**rows[0], "question": "Where will Cleo look for the key?"})
    path = put(tmp_path, {"t.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode()})
    report = audit_file(path)
    assert [(each.row, each.kind) for each in report.findings] == [(1, "structural")]
    assert fixed_files(path, report)["t.jsonl"].decode() == json.dumps(rows[0]) + "\n"


# What cannot be read.


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.txt", b"", "line 1: found nothing; expected a numbered sentence"),
        ("t.txt", b"\nhello\n", "line 2: found 'hello'; expected a numbered sentence"),
        ("t.txt", b"1 Ada danced.\n", "line 1: not a sentence of a story: 'Ada danced.'"),
        ("t.txt", b"1 Ada entered the hall.\n", "line 2: the story before it ends without a question"),
        ("t.txt", b"1 Ada entered the hall.\n2 \xff\n", "line 2: found the byte 0xff; expected text in UTF-8"),
        ("t.jsonl", b"{\n", "line 1: not valid JSON"),
    ],
)
def test_errors_say_where(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = put(tmp_path, {name: content})
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        audit_file(path)
    assert str(caught.value).startswith(f"{path}, line ")


@pytest.mark.parametrize(
    ("content", "line", "field", "message"),
    [
        (b"1 The key is in the box.\n\n2 Where is the ring really?\tbox\t1\n", 3, "question", "ring"),
        (
            telling(AWAY, (f"Where does A think that {'B thinks that ' * 8}C searches for the key?", "box")).encode(),
            6,
            "question",
            "minds",
        ),
        (
            telling(
                ["The key is in the box.", *(f"A{n} entered the hall." for n in range(70))], (REALITY, "box")
            ).encode(),
            72,
            "story",
            "at most",
        ),
    ],
)
def test_rows_that_are_not_understood_do_not_end_an_audit(
    tmp_path: Path, content: bytes, line: int, field: str, message: str
) -> None:
    path = put(tmp_path, {"t.txt": content + telling(AWAY, (BEN, "jar")).encode()})
    report = audit_file(path)
    unread, wrong = report.findings
    assert (unread.kind, unread.row, unread.line, unread.field, unread.fix) == ("unread", 0, line, field, "")
    assert message in unread.found
    assert (wrong.kind, wrong.row, wrong.expected) == ("structural", 1, "box")
    assert (report.totals["rows"], report.totals["judged"], report.totals["unread"]) == (2, 1, {field: 1})
    assert fixed_files(path, report)["t.txt"] == content + telling(AWAY, (BEN, "box")).encode()


@pytest.mark.parametrize(
    ("spoil", "rows", "line", "message"),
    [
        ((b"3 The key is in the box.\n", b"The key is in the box.\n"), {1}, 9, "expected a sentence number"),
        ((b"3 The key is in the box.\n", b""), {1}, 9, "found number 4 after 2; expected the next number"),
        ((b"3 The key is in the box.\n", b"3 The key is in the b\xffx.\n"), {1}, 9, "found the byte 0xff"),
        ((b"3 The key is in the box.\n", b"3 The key\tis in\tthe box.\n"), {1}, 9, "found 3 columns"),
        ((b"?\tjar\t1\n", b"?\n"), {1}, 12, "has no answer"),
        ((b"key?\tjar\t1\n", b"key\n"), {1}, 13, "ends without a question"),
        ((b"3 The key is in the box.\n", b"3 The key is hovering over the box.\n"), {1}, 9, "hovering"),
        ((b"6 Where will Ben look", b"6 Where has Ben lost"), {1}, 12, "not understood"),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_a_damaged_line_is_an_unread_row(
    tmp_path: Path, spoil: tuple[bytes, bytes], rows: set[int], line: int, message: str, traced: bool
) -> None:
    good, other = telling(AWAY, (BEN, "box")).encode(), telling(AWAY, (ADA_BEN, "jar")).encode()
    files = {"val.txt": good + telling(AWAY, (BEN, "jar")).encode().replace(*spoil) + other}
    actions = b"enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj"
    if traced:
        kinds = (b"first_order_1_tom", b"first_order_1_tom", b"second_order_0_tom")
        files["val.trace"] = b"".join(b"%b,%b,false_belief\n" % (actions, kind) for kind in kinds)
    path = put(tmp_path, files)
    report = audit_file(path)
    unread = [each for each in report.findings if each.kind == "unread"]
    assert ({each.row for each in unread}, [each.line for each in unread]) == (rows, [line])
    assert message in unread[0].found
    assert (report.totals["rows"], report.totals["judged"]) == (3, 2)
    wrong = [each for each in report.findings if each.kind == "structural"]
    assert [(each.row, each.found, each.expected) for each in wrong] == [(2, "jar", "box")]
    assert {each.kind for each in report.findings} == {"unread", "structural"}
    assert fixed_files(path, report)["val.txt"] == files["val.txt"].replace(other, other.replace(b"jar\t", b"box\t"))


def test_a_damaged_line_of_a_trace_is_an_unread_row(tmp_path: Path) -> None:
    line = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,first_order_1_tom,"
    path = told(tmp_path, telling(AWAY, (BEN, "jar")) * 2, f"{line}false_belief\n{line}half_belief\n")
    report = audit_file(path)
    assert [(each.kind, each.row, each.line) for each in report.findings] == [("structural", 0, 6), ("unread", 1, 12)]
    assert "val.trace, line 2: found" in report.findings[1].found
    assert report.totals["unread"] == {"record": 1}


def test_a_trace_with_other_rows_is_refused(tmp_path: Path) -> None:
    line = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,first_order_1_tom,false_belief\n"
    split = telling(AWAY, (BEN, "jar")).replace("4 Ben", "1 Ben")  # two stories, one without a question
    with pytest.raises(DataError, match="one line per question"):
        audit_file(told(tmp_path, telling(AWAY, (BEN, "jar")) + split, line * 3 + line))
    report = audit_file(told(tmp_path, telling(AWAY, (BEN, "jar")) + split, line * 2))
    assert [(each.kind, each.row) for each in report.findings if each.kind != "text"] == [
        ("structural", 0),
        ("unread", 1),
        ("unread", 2),
    ]


def test_what_was_out_of_order_does_not_come_into_order(tmp_path: Path) -> None:
    """A question that is left out changes the numbers of the lines after it, also of damaged ones."""
    lines = ["1 Ada entered the attic.", "2 The key is in the box.", "3 Where will Cleo look for the key?\tbox\t1"]
    lines += ["3 Ben entered the attic.", "x", "4 Where is the key really?\tjar\t1", ""]
    path = put(tmp_path, {"t.txt": "\n".join(lines).encode()})
    report = audit_file(path)
    assert report.gone == {0}
    fixed = fixed_files(path, report)["t.txt"].decode().split("\n")
    assert fixed == [*lines[:2], "2 Ben entered the attic.", "x", "3 Where is the key really?\tjar\t1", ""]


def test_a_list_that_is_damaged_from_some_place_on_is_fixed_before_it(tmp_path: Path) -> None:
    row = {"story": "\n".join(AWAY), "question": BEN, "answer": "jar"}
    content = f"[{json.dumps(row)},\n{json.dumps(row)}".encode()
    for rest in (b", {", b"] more", b""):
        path = put(tmp_path, {"t.json": content + rest})
        report = audit_file(path)
        assert [each.row for each in report.findings if each.kind == "unread"] == [2]
        assert fixed_files(path, report)["t.json"] == content.replace(b'"jar"', b'"box"') + rest


def test_bad_bytes_in_a_trace_are_found(tmp_path: Path) -> None:
    path = told(tmp_path, telling(AWAY, (BEN, "box")))
    (tmp_path / "val.trace").write_bytes(b"\xfe")
    with pytest.raises(DataError, match=r"val\.trace, line 1: found the byte 0xfe"):
        audit_file(path)


def test_empty_json_and_missing_files(tmp_path: Path) -> None:
    for form in ("jsonl", "inspect"):
        with pytest.raises(DataError, match="contains no questions"):
            storyproof.audit(put(tmp_path, {"t.jsonl": b"\n"}), format=form)
    for form in FORMATS:
        with pytest.raises(DataError):
            audit_file(tmp_path / "none.txt", form)


def test_unknown_names(tmp_path: Path) -> None:
    path = told(tmp_path, telling(AWAY, (BEN, "box")))
    with pytest.raises(UnknownNameError, match="format 'csv'"):
        audit_file(path, "csv")
    with pytest.raises(UnknownNameError, match=r"reading 'opne'\. Did you mean 'open'"):
        audit_file(path, readings=["opne"])


def test_it_is_said_where_oracle_and_checker_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def doubtful(*args: Any) -> BeliefProofs:
        found = prove(*args)
        found.problems.append(RowProblem(0, "answer under open (oracle and checker)", "box", "jar"))
        return found

    monkeypatch.setattr(tom_rows, "prove", doubtful)
    doubt, *_ = audit_file(told(tmp_path, telling(AWAY, (BEN, "jar")))).findings
    assert (doubt.kind, doubt.row, doubt.line, doubt.found, doubt.expected) == ("provers", 0, 6, "box", "jar")
    assert doubt.field == "answer under open (oracle and checker)"


def test_a_file_that_has_changed_is_not_fixed(tmp_path: Path) -> None:
    trace = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj,first_order_1_tom,true_belief\n"
    path = told(tmp_path, telling(AWAY, (BEN, "jar")), trace)
    report = audit_file(path)
    for content in (telling(AWAY, (BEN, "tin")), telling(AWAY, (BEN, "tin"))[:20], "\xff" * 40):
        path.write_text(content)
        with pytest.raises(DataError, match=r"(as|than when) it was audited"):
            fixed_files(path, report)
    told(tmp_path, telling(AWAY, (BEN, "jar")), "x\n")
    with pytest.raises(DataError, match=r"(as|than when) it was audited"):
        fixed_files(path, report)
    dropping = audit_file(put(tmp_path, {"t.txt": MIXED.encode()}))
    for content in ("1 Ada entered the attic.\n", "x\n"):
        with pytest.raises(DataError):
            fixed_files(put(tmp_path, {"t.txt": content.encode()}), dropping)


def test_observers_who_have_no_number_get_one() -> None:
    events = parse(AWAY)
    assert right_marks(events, ["-"] * 5) == ["1", "1 2", "1 2", "1 2", "1"]
    assert right_marks(events, ["7", "7 1", "1", "", "3"]) == ["7", "7 1", "7 1", "7 1", "7"]


# Files mutated at random give a report or say what is wrong.


def small_files() -> list[Files]:
    actions = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj"
    tomi = telling(AWAY, (MEMORY, "box"), (BEN, "box"), (ADA_BEN, "jar"))
    trace = "".join(
        f"{actions},{kind},false_belief\n" for kind in ("memory", "first_order_1_tom", "second_order_0_no_tom")
    )
    row = {"story": "\n".join(UNSEEN), "question": BEN_ADA, "answer": "box", "story_type": "second_order_false_belief"}
    line = {"input": [{"role": "user", "content": f"{' '.join(AWAY)} {BEN}"}], "target": ["box"], "metadata": {"n": 1}}
    return [
        {"val.txt": tomi.encode(), "val.trace": trace.encode()},
        {"t.txt": MIXED.encode()},
        {"t.jsonl": (json.dumps(row) + "\n" + json.dumps({**row, "question": ADA_BEN}) + "\n").encode()},
        {"t.jsonl": (json.dumps(line) + "\n" + json.dumps({**line, "target": "jar"}) + "\n").encode()},
    ]


BYTES = [
    b"\xff\xfe",
    b"\xe9",
    b"\x00",
    b"\r",
    b"\n",
    b'"',
    b"{",
    b"]",
    b",",
    b"?",
    b".",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"1e999",
]
WORDS = [
    b"entered",
    b"exited",
    b"moved",
    b"Ada",
    b"Ben",
    b"box",
    b"jar",
    b"key",
    b"tom",
    b"1",
    b"true",
    b"{}",
    b"\t",
    b" ",
    b"",
]


def mutate(content: bytes, dice: random.Random) -> bytes:
    place, lines = dice.randrange(len(content) + 1), content.splitlines(keepends=True) or [b""]
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(8):
        case 0:
            return content[:place] + content[place + dice.randrange(1, 5) :]
        case 1:
            return content[:place] + dice.choice(BYTES) + content[place:]
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            lines[one : one + 1] = dice.choice([[], [lines[one]] * 2])
        case 4:
            return content.replace(dice.choice(WORDS[:-1]), dice.choice(WORDS), dice.choice([1, 1, -1]))
        case 5:
            found = [match.start() for match in re.finditer(re.escape(dice.choice(WORDS[:8])), content)] or [0]
            start = dice.choice(found)
            return content[:start] + dice.choice(WORDS) + content[start:].lstrip(b"abcdefghijklmnopqrstuvwxyzAB")
        case 6:
            return content.decode("latin-1").encode(dice.choice(["utf-16", "utf-8", "latin-1"]))
        case 7:
            return content.replace(b"\n", dice.choice([b"\r\n", b"\r", b"\n\n", b" "]))
    return b"".join(lines)


def mutants(which: int, count: int) -> Iterator[tuple[Files, str]]:
    dice = random.Random(which)
    for _ in range(count):
        files = dict(small_files()[which])
        for _ in range(dice.choice([1, 1, 2, 3])):
            name = dice.choice(list(files))
            files[name] = mutate(files[name], dice)
        yield files, dice.choice(["auto", "auto", "auto", *FORMATS])


@pytest.mark.parametrize(
    ("which", "count"), [(0, 200), *(pytest.param(seed, 500, marks=pytest.mark.slow) for seed in (0, 1, 2, 3))]
)
def test_mutated_files_give_a_report_or_an_error_of_ours(tmp_path: Path, which: int, count: int) -> None:
    reports, said = 0, []
    for files, form in mutants(which, count):
        path = put(tmp_path, files)
        try:
            report = audit_file(path, form)
        except StoryproofError as error:
            said.append(str(error))
            continue
        reports += bool(report.findings)
        fixed = fixed_files(path, report)
        unread = {each.row for each in report.findings if each.kind == "unread"}
        if not fixed[path.name].strip() or len(unread | report.gone) == report.totals["rows"]:
            continue  # nothing is left in it that could be judged again
        left = audit_file(put(tmp_path, fixed), form).findings
        assert [each for each in left if each.kind not in ("unread", "text", "conflict")] == [], files
    assert reports > 25
    assert all(message.startswith(("cannot read ", str(tmp_path))) for message in said)
