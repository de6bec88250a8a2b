"""Stories in ExploreToM's sentences: what they say in our words, and what is left unjudged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.audits.errata import errata_of
from storyproof.formats.columns import row_hash
from storyproof.formats.explore_tom import restate
from storyproof.formats.restated import Restated

ATTENTION = (
    "got distracted and did not realize what happened, without anyone noticing the brief lack of attention, and going "
    "back to paying attention immediately after the action was finished."
)
SECRET = "witnessed this action in secret (and only this action)"
IN_THE_DEN = "which is also located in the reading den"
STORY = (
    "Ada entered the reading den. Bo entered the reading den. "
    f"Ada moved the small, red kite to the oak chest, {IN_THE_DEN}. "
    f"Ada moved the small, red kite to the tin box, {IN_THE_DEN}. "
    f"While this action was happening, Cleo {SECRET}; also, Bo {ATTENTION} "
    "Ada told privately to Bo about the weather. Ada left the reading den."
)


def record(question: str, answer: str, story: str = STORY) -> dict[str, Any]:
    about = {
        "prompt": [{"role": "user", "content": "…"}],
        "data_source": "explore_tom",
        "reward_model": {"style": "rule"},
    }
    return {**about, "story": story, "question": question, "answer": answer}


def audit(path: Path, rows: list[dict[str, Any]]) -> storyproof.findings.AuditReport:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return storyproof.audit(path)


def restated(row: dict[str, Any]) -> Restated:
    (found,) = restate(row)
    return found


def test_events_are_restated_one_by_one() -> None:
    found = restated(record("In which container will Cleo search for the small, red kite?", "tin box")).record
    assert found["question"] == "Where will Cleo look for the small_red_kite?"
    assert found["story"].split("\n") == [
        "Ada entered the reading_den.",
        "Bo entered the reading_den.",
        "The small_red_kite is in the oak_chest in the reading_den.",
        "Cleo is in the Cleo's_place.",
        "Cleo secretly began to watch the reading_den.",
        "Bo got distracted.",
        "Ada moved the small_red_kite to the tin_box.",
        "Cleo stopped watching.",
        "Bo paid attention again.",
        "Ada exited the reading_den.",
    ]


def test_labels_are_judged(tmp_path: Path) -> None:
    where = "In which container"
    told = STORY + " Cleo told privately to Ada that the small, red kite is in the tin box."
    right = [
        record(f"{where} was the small, red kite at the beginning?", "oak chest"),
        record(f"{where} is the small, red kite now?", "tin box"),
        record(f"{where} was the small, red kite before Ada moved the small, red kite to the tin box?", "oak chest"),
        record(f"{where} will Cleo search for the small, red kite?", "tin box"),
        record(f"{where} does Cleo think that Ada will search for the small, red kite?", "tin box"),
        record("In which room is the small, red kite now?", "reading den"),
        record("In which room does Bo think that Ada will search for the oak chest?", "reading den"),
        record(f"{where} does Ada think that Cleo will search for the small, red kite?", "tin box", told),
    ]
    # Ada knows nothing of Cleo, whose words come from elsewhere; and Cleo has never seen the kite in the chest.
    wrong = [
        record(f"{where} will Ada search for the small, red kite?", "oak chest", told),
        record(f"{where} does Cleo think that Ada will search for the small, red kite?", "oak chest"),
    ]
    report = audit(tmp_path / "rows.jsonl", [*right, *wrong])
    assert (report.totals["judged"], report.unread.total()) == (len(right) + len(wrong), 0)
    assert sorted(each.row for each in report.disagreements if each.asked) == [len(right), len(right) + 1]
    assert sum(report.totals["wrong_answers"].values()) == len(wrong)


def test_what_people_miss_depends_on_what_containers_show(tmp_path: Path) -> None:
    """Bo did not pay attention to the move; whether he sees it afterwards, the prompt does not say: both are right."""
    question = "In which container will Bo search for the small, red kite?"
    report = audit(tmp_path / "rows.jsonl", [record(question, "tin box"), record(question, "oak chest")])
    assert report.totals["own_rules"] == {"first_order": {"right": 2}}


@pytest.mark.parametrize(
    ("sentence", "cause"),
    [
        ("Bo painted the small, red kite with stripes.", "a state of an object"),
        ("Bo moved the small, red kite to the attic, leaving the tin box in its original location.", "another room"),
        (
            "Bo told privately to Ada that the small, red kite is in the tin box. "
            f"While this action was happening, Cleo {SECRET}.",
            "overhears",
        ),
        ("Bo told out loud that the small, red kite is in the tin box.", "nobody who is there listens"),
        ("Bo told privately to Ada that the small, red kite is in the attic.", "names a room"),
    ],
)
def test_what_is_not_judged_says_why(tmp_path: Path, sentence: str, cause: str) -> None:
    question = "In which container is the small, red kite now?"
    assert cause in restated(record(question, "tin box", f"{STORY} {sentence}")).problem
    report = audit(
        tmp_path / "rows.jsonl", [record(question, "tin box", f"{STORY} {sentence}"), record(question, "oak chest")]
    )
    assert (report.totals["judged"], report.totals["unread"]) == (1, {"story": 1})
    assert cause in next(each.found for each in report.findings if each.kind == "unread")


def test_a_container_is_known_by_who_stands_beside_it() -> None:
    """Words that name a container say in which room it is to those who see it, and to others nothing."""
    question = "In which room will Bo search for the small, red kite?"
    there = (
        STORY.removesuffix("Ada left the reading den.")
        + "Ada told out loud that the small, red kite is in the tin box."
    )
    assert restated(record(question, "reading den", there)).record["story"].endswith("kite is in the reading_den.")
    dan = " Ada told privately to Dan that the small, red kite is in the tin box."
    assert "may not know in which room" in restated(record(question, "reading den", there + dan)).problem


def test_the_time_before_an_event_must_be_clear() -> None:
    question = "In which container was the small, red kite before Ada moved the small, red kite to the tin box?"
    twice = f"{STORY} Ada entered the reading den. Ada moved the small, red kite to the tin box, {IN_THE_DEN}."
    assert "several times" in restated(record(question, "oak chest", twice)).problem
    action = f"While this action was happening, Cleo {SECRET}; also, Bo {ATTENTION.rstrip('.')}"
    beside = f"In which container was the small, red kite before {action}?"
    assert "beside another action" in restated(record(beside, "oak chest")).problem


def test_other_records_stay_as_they_are() -> None:
    other = {**record("Where is the kite really?", "box"), "data_source": "hi_tom"}
    assert restated(other).record is other
    assert "not a question about places" in restated(record("Does Ada know about the weather?", "yes")).problem


def test_a_wrong_label_is_corrected_in_place_and_named_by_the_published_text(tmp_path: Path) -> None:
    row = record("In which container is the small, red kite now?", "oak chest")
    report = audit(tmp_path / "rows.jsonl", [row])
    found = errata_of(tmp_path / "rows.jsonl", report.files[0], "set", "1")
    assert [each.row for each in found.entries] == [row_hash(row["story"], row["question"])]
    storyproof.audit(tmp_path / "rows.jsonl", fix=tmp_path / "fixed")
    fixed = json.loads((tmp_path / "fixed" / "rows.jsonl").read_text())
    assert fixed == {**row, "answer": "tin box"}
