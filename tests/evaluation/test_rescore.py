import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import storyproof
from storyproof.cli.compare import compare as command
from storyproof.errors import DataError
from storyproof.evaluation.rescore import rescore, rescore_all
from storyproof.evaluation.runs import read_runs
from storyproof.example import Example
from storyproof.stats import Interval
from tests.groups import try_examples
from tests.samples import MEMORY, REALITY, SEARCH, changed, example, table
from tests.scoring import score

# What is right, and what was published: the second label of the first story and the only one of the third differ.
FIXED = [
    example(id="a1", story_id="a", question=MEMORY, question_type="memory", order=0, chain=[], false_belief=False),
    example(id="a2", story_id="a", question=SEARCH, answer="box"),
    example(id="b1", story_id="b", question=MEMORY, question_type="memory", order=0, chain=[], false_belief=False),
    example(id="b2", story_id="b", question=SEARCH, answer="box"),
    example(id="c1", story_id="c", question=REALITY, answer="jar", question_type="reality", order=0, chain=[]),
]
PUBLISHED = ["box", "jar", "box", "box", "box"]
ANSWERS = ["box", "box", "box", "jar", "box"]


def write(path: Path, rows: Sequence[Example]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ({name: value for name, value in row.as_row().items() if value is not None} for row in rows)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def predictions(rows: Sequence[Example], answers: Sequence[str], targets: Sequence[str] | None) -> list[dict[str, Any]]:
    return [
        {"id": row.id, "answer": answer} | ({} if targets is None else {"target": targets[place]})
        for place, (row, answer) in enumerate(zip(rows, answers, strict=True))
    ]


def run_of(
    rows: Sequence[Example] = FIXED,
    answers: Sequence[str] = ANSWERS,
    targets: Sequence[str] | None = PUBLISHED,
    **about: Any,
) -> dict[str, Any]:
    return {"model": "m", "labels": "given", "predictions": predictions(rows, answers, targets), **about}


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    return write(tmp_path / "fixed" / "test.jsonl", FIXED).parent


def values(found: dict[str, Interval]) -> dict[str, float]:
    return {name: each.value for name, each in found.items()}


def test_by_hand(fixed: Path) -> None:
    found = rescore(run_of(), fixed)
    assert (found.scores.questions, found.scores.stories, found.scores.changed_labels) == (5, 3, 2)
    assert values(found.scores.published) == {"accuracy": 3 / 5, "joint": 1 / 3}
    assert values(found.scores.corrected) == {"accuracy": 3 / 5, "joint": 1 / 3}
    assert values(found.scores.difference) == {"accuracy": 0, "joint": 0}
    assert (found.dropped, found.dropped_accuracy, found.unanswered_stories) == (0, None, 0)
    assert list(found.by_kind) == ["memory", "reality", "first_order"]
    search = found.by_kind["first_order"]
    assert (search.questions, search.stories, search.changed_labels) == (2, 2, 1)
    assert values(search.difference) == {"accuracy": 1 / 2}
    assert found.by_kind["memory"].difference["accuracy"] == Interval(0, 0, 0)  # no score changed: that is certain
    assert found.scores.difference["accuracy"].low < 0 < found.scores.difference["accuracy"].high


def test_as_dict(fixed: Path) -> None:
    found = rescore(run_of(), fixed).as_dict()
    assert json.loads(json.dumps(found)) == found
    expected = {"model", "fixed", "split", "level", "questions", "stories", "changed_labels", "published", "corrected"}
    assert set(found) == expected | {"difference", "dropped", "dropped_accuracy", "unanswered_stories", "by_kind"}
    assert set(found["published"]) == {"accuracy", "joint", "intervals"}
    assert found["published"]["intervals"]["joint"][0] < found["published"]["joint"]
    assert set(found["by_kind"]["memory"]["difference"]) == {"accuracy", "intervals"}


@cache
def stories() -> tuple[Example, ...]:
    return tuple(Example.from_row(row) for row in table("tomi", "test", 12).to_pylist())


@cache
def puzzles() -> list[Example]:
    return [Example.from_row(row) for row in storyproof.generate("clutrr", test=6, test_k=(2, 3)).to_pylist()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("made") / "test.jsonl", stories())


@try_examples(25)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=72, max_size=72))
def test_both_sides_are_what_score_says(made: Path, marks: list[tuple[bool, bool]]) -> None:
    rows = stories()
    published = [row.answer if kept else f"not {row.answer}" for row, (kept, _) in zip(rows, marks, strict=True)]
    answers = [row.answer if right else f"not {row.answer}" for row, (_, right) in zip(rows, marks, strict=True)]
    found = rescore(run_of(rows, answers, published), made)
    given_rows = [replace(row, answer=label) for row, label in zip(rows, published, strict=True)]
    for scores, side in ((score(given_rows, answers), "published"), (score(rows, answers), "corrected")):
        compared = values(getattr(found.scores, side))
        assert compared == pytest.approx({"accuracy": scores.accuracy, "joint": scores.joint_accuracy})
    assert found.scores.changed_labels == sum(not kept for kept, _ in marks)
    assert sum(each.questions for each in found.by_kind.values()) == len(rows)


@try_examples(10)
@given(st.lists(st.booleans(), min_size=72, max_size=72))
def test_who_answers_the_corrected_labels_is_right(made: Path, kept: list[bool]) -> None:
    rows = stories()
    published = [row.answer if same else "elsewhere" for row, same in zip(rows, kept, strict=True)]
    found = rescore(run_of(rows, [row.answer for row in rows], published), made)
    assert values(found.scores.corrected) == {"accuracy": 1, "joint": 1}
    assert found.scores.published["accuracy"].value == pytest.approx(sum(kept) / 72)
    assert found.scores.difference["accuracy"].value == pytest.approx(1 - sum(kept) / 72)


def test_swapping_the_labels_turns_the_difference_around(made: Path, tmp_path: Path) -> None:
    rows = stories()
    published = [row.answer if place % 5 else "elsewhere" for place, row in enumerate(rows)]
    answers = [row.answer if place % 3 else "elsewhere" for place, row in enumerate(rows)]
    turned_rows = [replace(row, answer=label) for row, label in zip(rows, published, strict=True)]
    other = write(tmp_path / "test.jsonl", turned_rows)
    there = rescore(run_of(rows, answers, published), made).scores
    back = rescore(run_of(rows, answers, [row.answer for row in rows]), other).scores
    assert (there.published, there.corrected) == (back.corrected, back.published)
    for name, each in there.difference.items():
        turned = back.difference[name]
        assert (each.value, each.low, each.high) == pytest.approx((-turned.value, -turned.high, -turned.low))


def put(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in values))
    return path


def test_files(fixed: Path, tmp_path: Path) -> None:
    expected = rescore(run_of(), fixed)
    assert rescore(put(tmp_path / "run.json", run_of()), fixed) == expected
    assert rescore(put(tmp_path / "list.json", [run_of()]), fixed) == expected
    assert rescore_all([run_of(), run_of(model="n")], fixed) == [expected, replace(expected, model="n")]
    lines = put(tmp_path / "lines.jsonl", *predictions(FIXED, ANSWERS, PUBLISHED))
    assert rescore(lines, fixed) == replace(expected, model="lines")
    (one,) = read_runs(put(tmp_path / "one.jsonl", {"id": "a1", "answer": "box"}))
    assert [(each.id, each.answer, each.target) for each in one.predictions] == [("a1", "box", None)]
    with pytest.raises(DataError, match=r"two\.json contains 2 runs; use rescore_all"):
        rescore(put(tmp_path / "two.json", [run_of(), run_of()]), fixed)


def test_published_labels_from_the_data(fixed: Path, tmp_path: Path) -> None:
    expected = rescore(run_of(), fixed)
    rows = [replace(row, answer=label) for row, label in zip(FIXED, PUBLISHED, strict=True)]
    data = write(tmp_path / "data" / "test.jsonl", rows).parent
    assert rescore(run_of(targets=None, data=str(data)), fixed) == expected
    assert rescore(run_of(targets=None, data=str(data / "test.jsonl")), fixed) == expected
    assert rescore(run_of(targets=None), fixed, published=data) == expected
    assert rescore(run_of(targets=["x"] * 5), fixed, published=data) == expected
    # Targets that were proved are not what was published.
    assert rescore(run_of(targets=ANSWERS, labels="proved", data=str(data)), fixed) == expected
    with pytest.raises(DataError, match=r"the run does not say on which labels it was scored; .* --published"):
        rescore(run_of(targets=None), fixed)
    with pytest.raises(DataError, match=r"no published labels: gone does not exist; .* Name their data with --pub"):
        rescore(run_of(targets=None, data="gone"), fixed)


def test_split_of_the_run(fixed: Path) -> None:
    write(fixed / "val.jsonl", [replace(row, split="val", id=f"v{row.id}") for row in FIXED])
    assert rescore(run_of(), fixed).split == "test"
    rows = [replace(row, id=f"v{row.id}") for row in FIXED]
    assert rescore(run_of(rows, split="val"), fixed).split == "val"
    assert rescore(run_of(rows, data="elsewhere/val.jsonl"), fixed).split == "val"  # the file of that name
    assert rescore(run_of(rows, split="test"), fixed, split="val").split == "val"
    with pytest.raises(DataError, match=r"none of its ids, such as va1 \(and 4 more\), is in .*; .* --split"):
        rescore(run_of(rows), fixed)


def test_whole_stories_may_be_missing(fixed: Path) -> None:
    found = rescore(run_of(FIXED[:2], ANSWERS[:2], PUBLISHED[:2]), fixed)
    assert (found.scores.questions, found.scores.stories, found.unanswered_stories) == (2, 1, 2)
    with pytest.raises(DataError, match="no answer for a2, but for other questions of the same story; joint"):
        rescore(run_of(FIXED[:1], ANSWERS[:1], PUBLISHED[:1]), fixed)


def test_dropped_rows_count_on_neither_side(tmp_path: Path) -> None:
    rows = puzzles()
    fixed = write(tmp_path / "test.jsonl", rows[4:])
    answers = [row.answer if place else "nobody" for place, row in enumerate(rows)]
    found = rescore(run_of(rows, answers, [row.answer for row in rows]), fixed)
    assert (found.dropped, found.dropped_accuracy) == (4, 3 / 4)
    assert found.scores.questions == len(rows) - 4
    assert values(found.scores.published) == values(found.scores.corrected) == {"accuracy": 1, "joint": 1}
    lengths = [int(kind.removeprefix("k=")) for kind in found.by_kind]
    assert lengths == sorted(lengths)


def test_rows_that_are_marked_count_like_dropped_ones(tmp_path: Path) -> None:
    rows = puzzles()
    marked = [changed(row, status="ambiguous" if place < 4 else "entailed") for place, row in enumerate(rows)]
    run = run_of(rows, [row.answer for row in rows], ["nobody"] * len(rows))
    left_out = rescore(run, write(tmp_path / "dropped" / "test.jsonl", rows[4:]))
    found = rescore(run, write(tmp_path / "marked" / "test.jsonl", marked))
    assert found.dropped == 4
    assert found == replace(left_out, fixed=found.fixed)
    nothing = write(tmp_path / "nothing.jsonl", [changed(row, status="impossible") for row in rows])
    with pytest.raises(DataError, match=r"nothing\.jsonl: from none of the rows that the run answers does an answer"):
        rescore(run, nothing)


def test_dropped_rows_of_theory_of_mind_must_be_known(fixed: Path, tmp_path: Path) -> None:
    more = [*FIXED, example(id="d1", story_id="d")]
    run = run_of(more, [*ANSWERS, "box"], [*PUBLISHED, "jar"])
    with pytest.raises(DataError, match=r"d1 is not in .*test\.jsonl; if the row was left out on purpose"):
        rescore(run, fixed)
    published = write(tmp_path / "published" / "test.jsonl", more)
    assert rescore(run, fixed, published=published).dropped == 1
    stranger = run_of([*more, example(id="e1")], [*ANSWERS, "box", "box"], [*PUBLISHED, "jar", "jar"])
    with pytest.raises(DataError, match="e1 is not in the data as published"):
        rescore(stranger, fixed, published=published)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no predictions; run evaluate again with --output-dir"),
        ("[]", "contains no run; expected an object with 'predictions'"),
        ("3", "contains no run"),
        ('{"model": "m", "accuracy": 1}', "contains no predictions; run evaluate again with --output-dir"),
        ('{"predictions": []}', "contains no predictions"),
        ('{"predictions": "all"}', "contains no predictions"),
        ('[{"predictions": [3]}]', "prediction 0: found 3; expected an object with 'id'"),
        ('{"predictions": [{"id": "a1"}]}', "prediction 0: 'answer' is None; expected text"),
        ('{"predictions": [{"id": "a1", "answer": "", "target": 3}]}', "prediction 0: 'target' is 3; expected text"),
        ('{"id": "a1", "answer": "x"}\n{"id": "a1", "answer": "x"}', "answers a1 more than once; keep one answer"),
        ('{"id": "a1", "answer": "x"}\n{"id', r"line 2: not valid JSON \(.*\); expected a run that evaluate wrote"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_what_is_no_run(text: str, message: str, fixed: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"run\.json.*{message}"):
        rescore(path, fixed)


def test_what_cannot_be_read(fixed: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*gone\.json: .*; give a file that evaluate wrote"):
        rescore(tmp_path / "gone.json", fixed)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"cannot read .*bytes\.json"):
        rescore(tmp_path / "bytes.json", fixed)
    with pytest.raises(DataError, match="does not exist"):
        rescore(run_of(), tmp_path / "gone")
    twice = write(tmp_path / "twice.jsonl", [FIXED[0], *FIXED])
    with pytest.raises(DataError, match=r"twice\.jsonl has a1 more than once; give each row an id of its own"):
        rescore(run_of(), twice)


def call(*arguments: object) -> str:
    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_command(fixed: Path, tmp_path: Path) -> None:
    path = put(tmp_path / "run.json", [run_of(), run_of(FIXED[:2], ANSWERS[:2], PUBLISHED[:2], model="[b]n[/b]")])
    text = call(path, "--labels", fixed, "--json", tmp_path / "out.json")
    assert "all, average" in text
    assert "2 of 5" in text
    assert "60.0 (" in text
    assert "+50.0 (" in text
    assert "[b]n[/b]" in text  # a model's name is no markup
    assert "\n5 questions of 3 stories\n" in text
    assert "\n2 questions of 1 story; 2 stories are not answered\n" in text
    assert "95% intervals by bootstrap over stories; by Wilson's formula over stories" in text
    written = json.loads((tmp_path / "out.json").read_text())
    assert written == [each.as_dict() for each in rescore_all(path, fixed)]
    assert json.loads(call(path, "--labels", fixed, "--json", "-")) == written


def test_command_shows_dropped_rows_and_needs_no_joint_for_single_questions(tmp_path: Path) -> None:
    rows = puzzles()
    fixed = write(tmp_path / "test.jsonl", rows[4:])
    path = put(tmp_path / "run.json", run_of(rows, [row.answer for row in rows], [row.answer for row in rows]))
    text = call(path, "--labels", fixed)
    assert "4 more have no answer in the corrected data (100.0 right as published)" in text
    assert "joint" not in text
