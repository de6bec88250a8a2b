import json
import re
import resource
from dataclasses import replace
from pathlib import Path

import pytest

import storyproof
from storyproof.datasets.reading import find_source, read_examples
from storyproof.errors import DataError
from storyproof.evaluation.fresh_twin import compare_answers, contamination, difference, make_twin
from storyproof.evaluation.runs import INTERRUPTED, Evaluation
from storyproof.solvers.unseen import unseen_answers
from storyproof.stats import Interval

OTHER_KINDS = ("says", "knows", "believers", "common")


@pytest.mark.parametrize(("benchmark", "count"), [("tomi", 9), ("tom-babi-easy", 12), ("tom-babi", 12)])
def test_twin_has_the_same_shape_and_other_stories(tmp_path: Path, benchmark: str, count: int) -> None:
    storyproof.generate(benchmark, test=count, seed=7, out=tmp_path / "x")
    source = find_source(tmp_path / "x")
    path = make_twin(source, tmp_path / "twins", seed=8)
    first, second = read_examples(source), read_examples(find_source(path))
    assert len({each.story_id for each in first}) == len({each.story_id for each in second}) == count
    assert len(first) == len(second)
    assert {each.benchmark for each in second} == {benchmark}
    assert not {each.story for each in first} & {each.story for each in second}
    assert not storyproof.verify(path).disagreements


@pytest.mark.parametrize(
    "dials",
    [
        {"preset": "easy"},
        {"preset": "medium"},
        {"preset": "plain"},
        {"order": 4, "agents": 5, "questions": ("memory", "says"), "trust": "fresher", "language": "de"},
        {"preset": "easy", "order": 1, "unknown": True},
    ],
)
def test_twin_of_nested_beliefs_has_the_dials_of_the_manifest(tmp_path: Path, dials: dict[str, object]) -> None:
    storyproof.generate("tom-k", test=12, seed=7, out=tmp_path / "x", **dials)
    source = find_source(tmp_path / "x")
    path = make_twin(source, tmp_path / "twins", seed=8)
    assert not storyproof.verify(path).disagreements
    first, second = read_examples(source), read_examples(find_source(path))
    shapes = [
        [(each.order, each.readings[0], each.question_type.partition("_")[0]) for each in some if each.order]
        for some in (first, second)
    ]
    beliefs = [[each for each in shape if each[2] not in OTHER_KINDS] for shape in shapes]
    assert len(first) == len(second)
    assert beliefs[0] == beliefs[1]
    assert not {each.story for each in first} & {each.story for each in second}
    expected = storyproof.generate("tom-k", test=12, seed=8, **dials)
    assert [each.story for each in second] == expected.column("story").to_pylist()


@pytest.mark.parametrize("benchmark", ["tomi", "clutrr"])
def test_a_file_without_manifest_has_a_twin_in_other_words(tmp_path: Path, benchmark: str) -> None:
    dials: dict[str, object] = {"test_k": (2, 3)} if benchmark == "clutrr" else {}
    storyproof.generate(benchmark, test=12, seed=7, out=tmp_path / "x", format="jsonl", **dials)
    alone = (tmp_path / "x" / "test.jsonl").rename(tmp_path / "test.jsonl")
    path = make_twin(find_source(alone), tmp_path / "twins", seed=8)
    first, second = (read_examples(find_source(each)) for each in (alone, path))
    kept = ("id", "story_id", "question_type", "story_type", "false_belief", "order", "readings", "proof")
    for one, other in zip(first, second, strict=True):
        assert [getattr(one, name) for name in kept] == [getattr(other, name) for name in kept]
        assert one.get("k") == other.get("k")
        assert len(one.candidates) == len(other.candidates)
        assert other.answer in other.candidates
        assert len(one.story.split()) == len(other.story.split())
    changed = sum(one.story != other.story for one, other in zip(first, second, strict=True))
    assert changed > 0.9 * len(first)
    assert not storyproof.verify(path).disagreements
    words = [{word for each in rows for word in re.findall(r"\w+", each.story)} for rows in (first, second)]
    assert words[1] <= words[0]  # people and places are those of the file


def test_published_labels_stay_as_wrong_as_they_are(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=7, out=tmp_path / "x", format="jsonl")
    rows = [json.loads(line) for line in (tmp_path / "x" / "test.jsonl").read_text().splitlines()]
    for row in rows:
        row["answer"] = next(each for each in row["candidates"] if each != row["answer"])
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = make_twin(find_source(tmp_path / "test.jsonl"), tmp_path / "twins", seed=8)
    answers = {each.field for each in storyproof.verify(path).disagreements}
    assert answers == {"answer"}
    assert sum(each.field == "answer" for each in storyproof.verify(path).disagreements) == len(rows)


def test_stories_without_known_words_have_no_twin(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=7, out=tmp_path / "x", format="jsonl")
    rows = [json.loads(line) for line in (tmp_path / "x" / "test.jsonl").read_text().splitlines()]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps({**row, "story": "Nothing."}) + "\n" for row in rows))
    with pytest.raises(DataError, match="no people or places are found"):
        make_twin(find_source(tmp_path / "test.jsonl"), tmp_path / "twins")


def test_solvers_that_saw_nothing_are_not_flagged(tmp_path: Path) -> None:
    """Neither rules, which a twin by another recipe had accused, nor a program that names the last place."""
    storyproof.generate("tomi", test=40, seed=7, out=tmp_path / "x", format="jsonl")
    alone = (tmp_path / "x" / "test.jsonl").rename(tmp_path / "test.jsonl")
    first = read_examples(find_source(alone))
    second = read_examples(find_source(make_twin(find_source(alone), tmp_path / "twins", seed=8)))
    found = {name: compare_answers(first, second, *answers) for name, answers in unseen_answers(first, second)}
    assert {"rules", "last named", "first named", "guess 1", "words 1", "favourite word 3"} <= set(found)
    for name in ("rules", "last named", "first named"):
        assert (found[name][0].value, found[name][1]) == (0.0, 1.0)
    assert sum(p < 0.05 for _, p in found.values()) <= 2


def test_what_is_memorised_is_seen(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=60, seed=7, out=tmp_path / "x", format="jsonl")
    alone = (tmp_path / "x" / "test.jsonl").rename(tmp_path / "test.jsonl")
    first = read_examples(find_source(alone))
    second = read_examples(find_source(make_twin(find_source(alone), tmp_path / "twins", seed=8)))
    (_, (right, again)), *_ = unseen_answers(first, second)
    known = {each.story_id for each in first[: len(first) // 2]}
    interval, p = compare_answers(first, second, {**right, **{e.id: True for e in first if e.story_id in known}}, again)
    assert p < 1e-4
    assert 0.1 < interval.low < interval.value < 0.35


def test_no_answers_say_nothing() -> None:
    assert compare_answers([], [], {}, {}) == (Interval(0.0, -1.0, 1.0), 1.0)


def test_twin_is_made_once_of_a_seed_that_nobody_knows(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=7, out=tmp_path / "x")
    source = find_source(tmp_path / "x")
    path = make_twin(source, tmp_path / "twins")
    text = path.read_text()
    assert make_twin(source, tmp_path / "twins") == path
    assert path.read_text() == text
    assert make_twin(source, tmp_path / "others").read_text() != text
    assert make_twin(source, tmp_path / "twins", max_stories=3) != path


def test_a_twin_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=7, out=tmp_path / "data")
    source = find_source(tmp_path / "data")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(DataError, match="File too large; choose another --output-dir"):
            make_twin(source, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_difference_of_independent_scores() -> None:
    found = difference(Interval(0.8, 0.7, 0.9), Interval(0.5, 0.4, 0.6))
    assert found.value == pytest.approx(0.3)
    assert (found.low, found.high) == (pytest.approx(0.3 - 0.02**0.5), pytest.approx(0.3 + 0.02**0.5))
    assert difference(Interval(1.0, 0.9, 1.0), Interval(0.0, 0.0, 0.1)).high == 1.0


def test_model_that_learnt_the_labels_by_heart(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=60, seed=7, out=tmp_path / "x")
    known = {(each.story, each.question): each.answer for each in read_examples(find_source(tmp_path / "x"))}
    code = f"known = {known!r}\n\ndef answer(text):\n    asked = text.split('Story:\\n')[1]\n"
    code += "    story, question = asked.split('\\n\\nQuestion: ')\n"
    code += "    return known.get((story, question.split('\\n')[0]), 'no idea')\n"
    (tmp_path / "parrot.py").write_text(code)

    def evaluate(data: Path | str, split: str | None, folder: Path) -> Evaluation:
        return storyproof.evaluate(f"{tmp_path / 'parrot.py'}:answer", data, split=split, output_dir=folder)

    found = contamination(evaluate, tmp_path / "x", None, tmp_path / "twins")
    assert found.published.scores.accuracy == 1.0
    assert found.twin.scores.accuracy == 0.0
    assert found.accuracy.low > 0.8
    assert found.has_seen
    assert found.p < 1e-6
    assert found.as_dict()["has_seen"] is True
    assert found.as_dict()["accuracy"]["value"] == 1.0
    assert found.published.path != found.twin.path
    for run in (found.published, found.twin):
        assert run.path is not None
        assert json.loads(run.path.read_text())["data"] == str(run.data)


def test_an_interrupted_run_is_compared_with_nothing(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=7, out=tmp_path / "x")
    asked: list[object] = []

    def evaluate(data: Path | str, split: str | None, folder: Path) -> Evaluation:
        asked.append(data)
        return replace(storyproof.evaluate("rules", data, split=split), ended=INTERRUPTED)

    with pytest.raises(KeyboardInterrupt):
        contamination(evaluate, tmp_path / "x", None, tmp_path / "twins")
    assert asked == [tmp_path / "x"]
