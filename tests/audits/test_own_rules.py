"""Labels of published sets under the rules that their own prompts state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.audits.audit import by_own_rules
from storyproof.formats.published import PUBLISHED, find_published
from tests.cli.invocation import run

# Bo leaves the hall first, then Ada, then Cleo; so Bo trusts Ada, and Cleo does not.
STORY = (
    "1 Ada, Bo and Cleo entered the hall.\n2 The plum is in the red_box.\n3 Bo exited the hall.\n"
    "4 Ada moved the plum to the blue_jar.\n5 Ada exited the hall.\n6 Cleo moved the plum to the tin_can.\n"
    "7 Cleo exited the hall.\n8 Ada, Bo and Cleo entered the waiting_room.\n"
    "9 Ada publicly claimed that plum is in the old_sack.\n"
)
PLACES = ["red_box", "blue_jar", "tin_can", "old_sack"]
BO, CLEO = "Where does Bo really think the plum is?", "Where does Cleo really think the plum is?"
ADA_CLEO = "Where does Ada think Cleo thinks the plum is?"
CLEO_BO = "Where does Cleo think Bo thinks the plum is?"


def record(question: str, answer: str, order: int) -> dict[str, Any]:
    choices = ", ".join(f"{letter}. {place}" for letter, place in zip("ABCD", PLACES, strict=True))
    about = {"prompting_type": "CoTP", "deception": True, "story_length": 1, "question_order": order, "sample_id": 1}
    return {**about, "story": STORY, "question": question, "choices": choices, "answer": answer}


def audit(path: Path, records: list[dict[str, Any]], **options: Any) -> storyproof.findings.AuditReport:
    path.write_text(json.dumps({"data": records}))
    return storyproof.audit(path, **options)


ROWS = [
    record(BO, "old_sack", 1),  # right under its own rules, and under most others
    record(CLEO, "tin_can", 1),  # right under its own rules: Ada left before Cleo
    record(CLEO, "old_sack", 1),  # right only for people who trust everybody
    record(ADA_CLEO, "old_sack", 2),  # under the rules Ada knows that Cleo saw more
    record(CLEO_BO, "red_box", 2),  # the public claim is left out of what Cleo thinks of Bo
    record(BO, "blue_jar", 1),  # right under nothing
]


def test_labels_are_counted_under_the_rules_of_the_prompt(tmp_path: Path) -> None:
    report = audit(tmp_path / "Hi-ToM_data.json", ROWS)
    assert report.totals["own_rules"] == {
        "first_order": {"right": 2, "open+always": 1, "none": 1},
        "second_order": {"right": 0, "open+always": 1, "open+flat": 1},
    }
    assert by_own_rules(report) == (
        "2 of 6 labels are right under the set's own rules, 2 right only under open+always, 1 right only under "
        "open+flat, 1 right under none"
    )
    assert "recognised as Hi-ToM; its own rules" in report.files[0].notes[0]
    # What is expected, and written by --fix, is what these rules give.
    assert {each.row: (each.expected, each.reading) for each in report.findings if each.asked} == {
        2: ("tin_can", "open+always"),
        3: ("blue_jar", "open+always"),
        4: ("old_sack", "open+flat"),
        5: ("old_sack", ""),
    }


def test_an_audit_leads_with_these_counts(tmp_path: Path) -> None:
    (tmp_path / "hitom.json").write_text(json.dumps({"data": ROWS}))
    found = run("audit", str(tmp_path / "hitom.json"), "--html", str(tmp_path / "page.html"))
    assert found.exit_code == 1
    assert found.stdout.splitlines()[0].startswith("2 of 6 labels are right under the set's own rules")
    assert "2 of 6 labels are right under the set" in (tmp_path / "page.html").read_text()


def test_a_prompt_may_leave_open_whom_people_believe(tmp_path: Path) -> None:
    """Then each reading that fits it makes a label right, and only what none of them gives is counted otherwise."""
    path = tmp_path / "rl.jsonl"
    rows = [
        {
            **{
                "prompt": [{"role": "user", "content": "…"}],
                "data_source": "hi_tom",
                "reward_model": {"style": "rule"},
            },
            **{"story": row["story"], "question": row["question"], "answer": row["answer"]},
        }
        for row in ROWS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = storyproof.audit(path)
    assert report.totals["own_rules"] == {
        "first_order": {"right": 3, "none": 1},
        "second_order": {"right": 1, "open+flat": 1},
    }


def test_other_files_have_no_rules_of_their_own(tmp_path: Path) -> None:
    rows = [{"story": row["story"], "question": row["question"], "answer": row["answer"]} for row in ROWS]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = storyproof.audit(path)
    assert "own_rules" not in report.totals
    assert by_own_rules(report) == ""


@pytest.mark.parametrize(("reading", "dependent"), [("open+flat", {"open+flat": 2}), ("closed", {"closed+always": 2})])
def test_readings_that_are_named_are_the_only_ones(tmp_path: Path, reading: str, dependent: dict[str, int]) -> None:
    report = audit(tmp_path / "hitom.json", ROWS, readings=[reading])
    assert report.totals["rule_dependent"] == dependent
    assert sum(report.totals["wrong_answers"].values()) == 4 - sum(dependent.values())


def test_a_line_of_stars_is_no_sentence(tmp_path: Path) -> None:
    report = audit(tmp_path / "hitom.json", [{**row, "story": f"{row['story']}\n***"} for row in ROWS])
    assert (report.totals["judged"], report.unread.total()) == (6, 0)


def test_a_question_about_a_stranger_is_not_judged(tmp_path: Path) -> None:
    """Somebody else's file may write a name in two ways; then the story says nothing about who is asked about."""
    rows = [record("Where does Clea really think the plum is?", "tin_can", 1), record(CLEO, "tin_can", 1)]
    report = audit(tmp_path / "hitom.json", rows)
    assert (report.totals["judged"], report.unread.total()) == (1, 1)
    assert report.totals["own_rules"] == {"first_order": {"right": 1}}
    assert not report.disagreements


def test_published_sets_are_told_apart() -> None:
    assert len({each.name for each in PUBLISHED}) == len(PUBLISHED)
    official = record(BO, "old_sack", 1)
    again = {**official, "story": f"The following story happens in chronological order.\n{STORY}"}
    names = [found.name for rows in ([official], [again]) if (found := find_published(rows))]
    assert names == ["Hi-ToM", "Hi-ToM, regenerated by AutoToM"]
    assert find_published([{"story": STORY, "question": BO, "answer": "old_sack"}]) is None


GENERATED = "\n".join(
    (
        "# min_relation_length 3",
        "# output gen_m3",
        "story,summary",
        "[Ann] is [Bea]'s daughter. [Bea] is an employee of [Acme]. [Cora] is [Ann]'s sister.,"
        "[Cora] is [Bea]'s daughter.",
        "[Dan] has a wife who is [Eve]. [Dan] loves to play [cricket]. [Finn] is a son of [Eve].,"
        "[Dan] has a son called [Finn].",
        "[Dan] has a wife who is [Eve]. [Finn] is a son of [Eve]. [Oslo] is the place where [Finn] was born.,"
        "[Finn] is the brother of [Dan].",
        "[Dan] has a wife who is [Eve]. [Eve] was seen in [Oslo].,[Dan] and [Eve] are happy.",
        "",
    )
)


def test_a_summary_is_judged_like_a_question(tmp_path: Path) -> None:
    """The form of CLUTRR's early generator: comment lines, facts among sentences about work and hobbies, a summary."""
    path = tmp_path / "gen_m3.csv"
    path.write_text(GENERATED)
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert report.files[0].published == "CLUTRR, an early generator (gen_m*)"
    assert report.questions == 4
    assert dict(report.unread) == {"question": 1}
    wrong = [each for each in report.disagreements if each.row == 2]
    assert {(each.found, each.expected, each.fix) for each in wrong} == {("brother", "son", "")}
    assert {each.row for each in report.disagreements} == {2}
    # The summary is a sentence: nothing is written into it.
    assert (tmp_path / "fixed" / "gen_m3.csv").read_text() == GENERATED
