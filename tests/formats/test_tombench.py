"""False beliefs in ToMBench's words, in both languages; the stories are ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.audits.errata import errata_of
from storyproof.formats.format import expect_format
from storyproof.formats.records import RecordFile
from storyproof.formats.tombench import restate
from tests.cli.invocation import run

PLACES_ZH = (
    "安安和博文在阁楼闲逛，他们看到了木桶和纸袋，他们在木桶里面发现了风筝，安安离开了阁楼，博文把风筝移动到了纸袋。"
)
PLACES_EN = (
    "Lin Lin and Bo Wen are wandering in the attic, they see a barrel and a bag, they find a kite in the barrel, "
    "Lin Lin leaves the attic, Bo Wen moves the kite to the bag."
)
CONTENTS_ZH = (
    "安安在阁楼找到了木桶，木桶上面的标签是雨伞，安安不能看到木桶里面是什么，安安打开了木桶并且找到风筝，在木桶里面没有雨伞，"
    "安安关上了木桶并且把它放回原处，博文进入了阁楼并且看到了木桶。"
)
CONTENTS_EN = (
    "Lin Lin finds a barrel in the attic, the label on the barrel is umbrellas, Lin Lin cannot see what is inside the "
    "barrel, Lin Lin opens the barrel and finds a kite, there are no umbrellas in the barrel, Lin Lin closes the "
    "barrel and puts it back in its place, Bo Wen enters the attic and sees the barrel."
)


def record(zh: tuple[str, str], en: tuple[str, str], answer: str, *, contents: bool = False) -> dict[str, Any]:
    options = ["风筝", "雨伞", "茶壶", "手套"] if contents else ["木桶", "纸袋", "抽屉", "柜子"]
    words = ["Kite", "Umbrella", "Teapot", "Glove"] if contents else ["Barrel", "Bag", "Drawer", "Cabinet"]
    return {
        **{
            "能力\nABILITY": "Belief",
            "序号\nINDEX": 1,
            "故事": zh[0],
            "问题": zh[1],
            "STORY": en[0],
            "QUESTION": en[1],
        },
        **{f"选项{letter}": option for letter, option in zip("ABCD", options, strict=True)},
        **{f"OPTION-{letter}": option for letter, option in zip("ABCD", words, strict=True)},
        "答案\nANSWER": answer,
    }


def audit(path: Path, *rows: dict[str, Any]) -> storyproof.findings.AuditReport:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return storyproof.audit(path)


NOW = (PLACES_ZH, "现在风筝在哪里？"), (PLACES_EN, "Where is the kite now?")
MOVER = (
    (PLACES_ZH, "在安安返回阁楼之后, 博文会在哪里寻找风筝？"),
    (PLACES_EN, "After Lin Lin returns to the attic, where does Bo Wen look for the kite?"),
)
SECOND = (
    (PLACES_ZH, "在安安返回阁楼之后, 博文认为安安会在哪里寻找风筝？"),
    (PLACES_EN, "After Lin Lin returns to the attic, where does Bo Wen think Lin Lin looks for the kite?"),
)
INSIDE = (CONTENTS_ZH, "木桶里面有什么？"), (CONTENTS_EN, "What is in the barrel?")
FINDER = (
    (CONTENTS_ZH, "博文打开木桶之后，安安期望在木桶里面找到什么？"),
    (CONTENTS_EN, "After Bo Wen opens the barrel, what does Lin Lin expect to find in the barrel?"),
)
OPENER = (
    (CONTENTS_ZH, "博文打开木桶之后，安安认为博文会期望在木桶里面找到什么？"),
    (CONTENTS_EN, "After Bo Wen opens the barrel, what does Lin Lin think Bo Wen expects to find in the barrel?"),
)


def test_both_languages_of_a_record_are_judged(tmp_path: Path) -> None:
    right = [record(*NOW, "B"), record(*MOVER, "B"), record(*INSIDE, "A", contents=True)]
    report = audit(tmp_path / "right.jsonl", *right, record(*FINDER, "A", contents=True))
    assert (report.totals["rows"], report.totals["judged"], report.totals["records"]) == (8, 8, 4)
    assert not report.disagreements
    wrong = [record(*NOW, "A"), record(*MOVER, "A"), record(*INSIDE, "B", contents=True)]
    report = audit(tmp_path / "wrong.jsonl", *wrong, record(*FINDER, "B", contents=True))
    assert sorted(each.row for each in report.disagreements) == list(range(8))
    assert sum(report.totals["wrong_answers"].values()) == 8


def test_what_returning_shows_depends_on_the_reading(tmp_path: Path) -> None:
    report = audit(tmp_path / "second.jsonl", record(*SECOND, "A"))
    assert report.totals["rule_dependent"] == {"closed+always": 2}


def test_what_a_person_expects_who_opens_it_has_two_answers(tmp_path: Path) -> None:
    report = audit(tmp_path / "opener.jsonl", record(*OPENER, "B", contents=True))
    assert (report.totals["judged"], report.totals["unread"]) == (0, {"story": 2})
    assert all("whether they have looked inside" in each.found for each in report.findings)


def test_an_answer_is_never_corrected_in_one_language_only(tmp_path: Path) -> None:
    """One letter answers in both languages; where only the translation is wrong, another letter would be wrong too."""
    row = record(*NOW, "A")
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert json.loads((tmp_path / "fixed" / "rows.jsonl").read_text(encoding="utf-8")) == row
    errata_of(path, report.files[0]).write(tmp_path / "errata.jsonl")
    errata = str(tmp_path / "errata.jsonl")
    found = run("errata", "apply", str(path), "--errata", errata, "--out", str(tmp_path / "again"))
    assert "2 rows, 2 known errata" in found.stdout
    assert json.loads((tmp_path / "again" / "rows.jsonl").read_text(encoding="utf-8")) == row


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            record((CONTENTS_ZH.replace("找到风筝", "找到钥匙"), INSIDE[0][1]), INSIDE[1], "A", contents=True),
            "none of the choices",
        ),
        (record((PLACES_ZH, "现在茶壶在哪里？"), NOW[1], "A"), "about something else"),
        (record((PLACES_ZH, "在博文返回阁楼之后, 博文会在哪里寻找风筝？"), NOW[1], "A"), "does not return"),
        (
            record((CONTENTS_ZH, "博文打开木桶之后，博文期望在木桶里面找到什么？"), FINDER[1], "A", contents=True),
            "has looked inside",
        ),
        (record(("安安在阁楼睡觉。", INSIDE[0][1]), INSIDE[1], "A", contents=True), "not one of the stories"),
    ],
)
def test_other_texts_are_not_judged(row: dict[str, Any], problem: str) -> None:
    english, chinese = restate(row)
    assert problem in chinese.problem
    assert not english.problem


def test_people_with_one_name_are_not_told_apart() -> None:
    story, question = CONTENTS_EN.replace("Bo Wen", "Linlin"), FINDER[1][1].replace("Bo Wen", "Linlin")
    english, _ = restate(record(FINDER[0], (story, question), "A", contents=True))
    assert "two people have one name" in english.problem


def test_only_audits_restate(tmp_path: Path) -> None:
    """Models are asked what was published."""
    path = tmp_path / "rows.jsonl"
    row = record(*INSIDE, "A", contents=True)
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    for rewords, questions in ((False, [INSIDE[1][1]]), (True, ["Where is the content really?"] * 2)):
        file = RecordFile(path, expect_format(path), rewords=rewords)
        assert [row["question"] for table in file.tables() for row in table.to_pylist()] == questions
