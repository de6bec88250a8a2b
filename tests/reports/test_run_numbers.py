"""The numbers of reports, against what evaluate and compare say and against counts by hand."""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import storyproof
from storyproof.benchmark import Benchmark
from storyproof.errors import DataError
from storyproof.evaluation.answer_judge import MistakeFinder
from storyproof.evaluation.runs import Evaluation, read_runs
from storyproof.reports.run_data import Board, gather, read_all
from storyproof.reports.run_mistakes import explain_answers
from storyproof.reports.run_numbers import BoardNumbers, count_board, headline
from storyproof.reports.run_scores import adjust_p
from tests.reports.run_samples import chat_name, data_folder, evaluate, hand_made

MODELS = ("random", "rules", "oracle")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Evaluation]:
    return evaluate(data_folder(folder), *MODELS, chat_name(), folder=folder / "runs")


@pytest.fixture(scope="module")
def kin(folder: Path) -> list[Evaluation]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Benchmark, "block_stories", 512)
        data = data_folder(folder, "clutrr", test=40, test_k=(2, 3, 4))
    return evaluate(data, *MODELS, folder=folder / "kin")


def board_of(found: Sequence[Evaluation | Path]) -> Board:
    [board] = gather(read_all(found)[0])
    return board


def numbers_of(found: Sequence[Evaluation | Path]) -> BoardNumbers:
    board = board_of(found)
    return count_board(board, explain_answers(board))


def test_scores_are_those_of_evaluate(runs: list[Evaluation], kin: list[Evaluation]) -> None:
    for evaluations in (runs, kin):
        rows = {row.solver: row for row in numbers_of(evaluations).rows}
        for each in evaluations:
            row = rows[each.model]
            assert row.accuracy.value == pytest.approx(each.scores.accuracy)
            assert [row.accuracy.low, row.accuracy.high] == pytest.approx(each.intervals["accuracy"])
            assert row.accuracy.of == each.scores.questions
            assert row.joint is not None
            assert row.joint.value == pytest.approx(each.scores.joint_accuracy)
            assert [row.joint.low, row.joint.high] == pytest.approx(each.intervals["joint_accuracy"])


def test_the_best_come_first(runs: list[Evaluation]) -> None:
    found = numbers_of(runs)
    values = [row.accuracy.value for row in found.rows]
    assert values == sorted(values, reverse=True)
    assert [row.solver for row in found.rows if row.is_end] == ["oracle", "random"]


def test_joint_without_what_the_run_recorded(runs: list[Evaluation]) -> None:
    """Older runs record fewer scores; their joint accuracy comes from their answers."""
    bare = {"model": "rules", "data": runs[1].data, "split": "test", "predictions": list(runs[1].predictions)}
    [board] = gather(read_runs(bare))
    [row] = count_board(board, explain_answers(board)).rows
    assert row.joint is not None
    assert row.joint.value == pytest.approx(runs[1].scores.joint_accuracy)


def test_groups_are_those_of_evaluate(runs: list[Evaluation]) -> None:
    types = next(each for each in numbers_of(runs).breakdowns if each.facet == "question type")
    for each in runs:
        found = {group: score.value for group, score in types.scores[each.model].items()}
        assert found == pytest.approx(each.scores.by_question_type)
        intervals = each.intervals["by_question_type"]
        for group, score in types.scores[each.model].items():
            assert [score.low, score.high] == pytest.approx(intervals[group])
    assert types.groups[:2] == ("memory", "reality")
    assert set(types.chance.values()) == {0.5}


def test_false_beliefs(runs: list[Evaluation], kin: list[Evaluation]) -> None:
    for row in numbers_of(runs).rows:
        assert row.gap is not None
        assert row.true_belief is not None
        assert row.false_belief is not None
        assert row.gap.value == pytest.approx(row.true_belief.value - row.false_belief.value)
        assert row.gap.low <= row.gap.value <= row.gap.high
        assert row.true_belief.of + row.false_belief.of == 4 * 24  # of six questions two are about memory and reality
    assert all(row.gap is None for row in numbers_of(kin).rows)


def test_differences_are_those_of_compare(runs: list[Evaluation]) -> None:
    found = {(pair.first, pair.second): pair for pair in numbers_of(runs).pairs}
    assert len(found) == 6
    by_name = {each.model: each for each in runs}
    for (better, worse), pair in found.items():
        compared = storyproof.compare(by_name[worse], by_name[better]).accuracy
        assert pair.difference.value == pytest.approx(compared.difference.value)
        assert pair.difference.value >= 0
        assert pair.difference.low == pytest.approx(compared.difference.low, abs=0.02)  # mirrored where it was swapped
        assert pair.p == pytest.approx(compared.p)
        assert pair.adjusted_p >= pair.p


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm(values: list[float]) -> None:
    """Adjusted p-values reject exactly what Holm's procedure rejects, step by step."""
    adjusted = adjust_p(values)
    for level in (0.01, 0.05, 0.3):
        left, rejected = sorted(range(len(values)), key=values.__getitem__), set()
        while left and values[left[0]] * len(left) < level:
            rejected.add(left.pop(0))
        assert {place for place, p in enumerate(adjusted) if p < level} == rejected


def test_chance_and_floor(runs: list[Evaluation], kin: list[Evaluation]) -> None:
    found = numbers_of(runs)
    assert found.chance is not None
    assert (found.chance.accuracy, found.chance.joint) == (0.5, 0.5**6)
    assert found.floor is not None
    assert found.floor.accuracy >= found.chance.accuracy
    kinship = numbers_of(kin)
    assert kinship.chance is not None
    assert kinship.chance.accuracy == pytest.approx(1 / 22)


def test_curve(kin: list[Evaluation], runs: list[Evaluation]) -> None:
    """Length is a curve with people's figures, and then no table of groups shows the same; so are two orders."""
    found = numbers_of(kin)
    assert found.curve is not None
    assert found.curve.points == (2, 3, 4)
    assert [each.title for each in found.curve.references] == ["people, limited time", "people, unlimited time"]
    assert found.curve.references[0].values[4] == 0.477  # CLUTRR, Table 3
    for each in kin:
        for point, score in found.curve.scores[each.model].items():
            assert score.value == pytest.approx(each.scores.by_order["no_false_belief"][f"k={point}"])
    assert [each.facet for each in found.breakdowns] == []
    orders = numbers_of(runs).curve
    assert orders is not None
    assert (orders.scale, orders.points) == ("order", (1, 2))


def test_mistakes_add_up(runs: list[Evaluation]) -> None:
    board = board_of(runs)
    found = count_board(board, explain_answers(board)).mistakes
    assert found is not None
    for solver in board.solvers:
        wrong = int((~solver.right).sum())
        assert found.wrong[solver.title] == wrong
        assert sum(found.first[solver.title].values()) == wrong
        by_hand: Counter[str] = Counter()
        for place, right, each in zip(solver.places, solver.right, solver.predictions, strict=True):
            example = board.questions[place].example
            assert example is not None
            if not right:
                by_hand[MistakeFinder(example).explain(each.answer or "")[0]] += 1
        assert found.first[solver.title] == by_hand
        for name, count in found.first[solver.title].items():
            assert found.fitting[solver.title][name] >= count


def test_replies_and_effort(runs: list[Evaluation]) -> None:
    found = numbers_of(runs)
    [replies] = found.replies
    assert replies.matching == "careful"
    assert sum(replies.matches.values()) == pytest.approx(1)
    assert replies.of == 144
    assert {each.solver for each in found.efforts} == {*MODELS, chat_name()}
    assert all(each.seconds is not None and each.answers == 144 for each in found.efforts)


def test_failures_latency_and_cost(tmp_path: Path) -> None:
    rows = {f"q{number}": ("a", "a") for number in range(20)}
    failures = {"failed": 3, "not_asked": 2, "of": 25, "errors": {"HTTP 500": 3}}
    about = {
        "matching": "careful",
        "match_types": {"exact_match": 1.0},
        "failures": failures,
        "cut_off": 1,
        "cost": 0.5,
    }
    about |= {"tokens": {"prompt": 100, "output": 7}, "traffic": {"asked": 20, "found": 4}, "run": {"seconds": 9.0}}
    path = hand_made(tmp_path / "r.json", "m", rows, **about)
    run = read_runs(path)[0]
    timed = [replace(each, effort={"seconds": n / 10, "retries": n % 2}) for n, each in enumerate(run.predictions)]
    [board] = gather([replace(run, predictions=tuple(timed))])
    found = count_board(board, explain_answers(board))
    [replies], [effort] = found.replies, found.efforts
    assert (replies.failed, replies.not_asked, replies.cut_off, replies.causes) == (3, 2, 1, {"HTTP 500": 3})
    assert found.rows[0].missing == 5
    assert (effort.requests, effort.known_before, effort.retries, effort.cost) == (20, 4, 10, 0.5)
    assert effort.latency == pytest.approx(0.95)
    assert effort.slow_latency == pytest.approx(np.quantile(np.arange(20) / 10, 0.95))


@pytest.mark.parametrize("value", [[[0.1], [0.9]], ["a", "b"], [None, None], "ab", {"a": 1, "b": 2}, 7, [{}, 1.0]])
def test_values_of_wrong_types_are_left_out(tmp_path: Path, value: object) -> None:
    rows = {f"q{number}": ("a", "a") for number in range(4)}
    about = {"joint_accuracy": 0.5, "stories": 4, "intervals": {"joint_accuracy": value}, "cut_off": value}
    about |= {"failures": {"failed": value, "not_asked": value, "of": value, "errors": {"x": value}}}
    path = hand_made(tmp_path / "r.json", "m", rows, **{**about, "match_types": {"exact_match": value}})
    [board] = gather(read_runs(path))
    found = count_board(board, explain_answers(board))
    assert found.rows[0].joint is not None
    storyproof.report(path).render()


def test_missed_by_all(tmp_path: Path) -> None:
    """Both right, one right, none right, and one question that only one answered; a perfect run is ignored."""
    right = {"1": ("a", "a"), "2": ("a", "a"), "3": ("b", "a"), "4": ("b", "a")}
    other = {"1": ("a", "a"), "2": ("b", "a"), "3": ("c", "a")}
    perfect = dict.fromkeys(right, ("a", "a"))
    sources = [hand_made(tmp_path / f"{n}.json", f"m{n}", rows) for n, rows in enumerate((right, other, perfect))]
    found = numbers_of(sources)
    assert found.missed is not None
    assert found.missed.solvers == ("m0", "m1")
    assert found.missed.questions == (2,)
    assert (found.missed.of_questions, found.missed.stories, found.missed.of_stories) == (3, (2,), 3)
    assert numbers_of(sources[:1]).missed is None


def test_labels_that_are_not_proved(folder: Path, tmp_path: Path) -> None:
    """Two labels are swapped for wrong ones: the oracle loses them as given and has them all as proved."""
    table = storyproof.generate("tomi", test=9, seed=5)
    rows = table.to_pylist()
    for row in rows[:2]:
        row["answer"] = next(each for each in row["candidates"] if each != row["answer"])
    keep = ("id", "story_id", "story", "question", "answer", "candidates", "question_type", "split", "benchmark")
    lines = [{name: row[name] for name in keep} for row in rows]
    data = tmp_path / "test.jsonl"
    data.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    found = numbers_of(evaluate(data, "oracle", "rules")).label_change
    assert found is not None
    assert (found.changed, found.unsettled, found.of) == (2, 0, 54)
    oracle = next(row for row in found.rows if row.solver == "oracle")
    assert oracle.published.value == pytest.approx(52 / 54)
    assert oracle.corrected.value == 1.0
    assert oracle.difference.value == pytest.approx(2 / 54)
    rescored = storyproof.rescore(evaluate(data, "rules")[0], data)
    rules = next(row for row in found.rows if row.solver == "rules")
    assert rules.published.value == pytest.approx(rescored.scores.published["accuracy"].value)
    assert "(2 of its 54 labels are not proved)" in headline([numbers_of(evaluate(data, "oracle"))])
    mistakes = numbers_of(evaluate(data, "oracle")).mistakes
    assert mistakes is not None
    assert mistakes.first["oracle"] == {"label": 2}


def test_no_labels_differ_in_generated_data(runs: list[Evaluation]) -> None:
    assert numbers_of(runs).label_change is None


def test_headline(runs: list[Evaluation], kin: list[Evaluation]) -> None:
    """It is about models; baselines are what they are compared with, and stand there only where no model is."""
    name = chat_name().rpartition("/")[2]
    assert headline([numbers_of(runs)]).startswith(f"{name} answers ")
    both = headline([numbers_of(runs), numbers_of(kin)])
    assert f"{name} answers" in both
    assert "rules answers" in both  # the kinship runs have no model
    assert "of tomi test" in both
    assert "of clutrr test" in both
    assert "oracle" not in both
    assert both.endswith(".")
    assert headline([numbers_of(runs[2:3])]).startswith("oracle answers 100.0% of tomi test")


def test_headlines_of_models_and_people(tmp_path: Path) -> None:
    """The better model is named by its short name, people beside it; how few answers there are is said."""
    rows = {str(number): ("a" if number < 15 else "b", "a") for number in range(20)}
    worse = dict.fromkeys(rows, ("b", "a"))
    sources = [
        hand_made(tmp_path / "1.json", "openai/meta-llama/Llama-3.1-70B-Instruct", rows),
        hand_made(tmp_path / "2.json", "hf/a/small", worse),
        hand_made(tmp_path / "3.json", "people-unlimited", dict.fromkeys(rows, ("a", "a"))),
        hand_made(tmp_path / "4.json", "oracle", dict.fromkeys(rows, ("a", "a"))),
    ]
    found = numbers_of(sources)
    assert headline([found]) == (
        "Llama-3.1-70B-Instruct answers 75.0% of unnamed data, 75.0 points more than small; people-unlimited 100.0%."
    )
    kinds = {row.solver: row.kind for row in found.rows}
    assert list(kinds.values()).count("model") == 2
    assert (kinds["people-unlimited"], kinds["oracle"]) == ("people", "baseline")
    few = hand_made(tmp_path / "few.json", "m", {"1": ("a", "a")})
    assert "only 1 answer" in headline([numbers_of([few])])


def test_headlines_over_datasets(tmp_path: Path) -> None:
    """Who is best on several datasets is named once, and which leads are significant is said."""
    rows = {str(number): ("a", "a") for number in range(20)}
    worse = dict.fromkeys(rows, ("b", "a"))
    boards = []
    for name in ("one", "two"):
        sources = [
            hand_made(tmp_path / f"{name}-{model}.json", f"openai/x/{model}", answers, data=name)
            for model, answers in (("good", rows), ("bad", worse if name == "one" else rows))
        ]
        boards.append(numbers_of(sources))
    assert headline(boards) == (
        "Best of 2 models: good with 100.0% of one and 100.0% of two. "
        "The lead over the next is significant on one only."
    )


def test_no_lead_is_claimed_without_significance(tmp_path: Path) -> None:
    rows = {str(number): ("a" if number < 6 else "b", "a") for number in range(10)}
    other = {**rows, "9": ("a", "a")}
    sources = [hand_made(tmp_path / f"{n}.json", f"m{n}", each) for n, each in enumerate((rows, other))]
    assert "with no significant lead over m0" in headline([numbers_of(sources)])


def test_runs_on_other_labels_are_not_mixed(runs: list[Evaluation], folder: Path) -> None:
    proved = evaluate(folder / "tomi", "rules", labels="proved")
    boards = gather(read_all([*runs, *proved])[0])
    assert [board.labels for board in boards] == ["given", "proved"]
    assert len({board.name for board in boards}) == 2


def test_judged_differently(runs: list[Evaluation], folder: Path) -> None:
    """Pairs that cannot be compared are named, and the rest is shown."""
    strict = evaluate(folder / "tomi", chat_name(), matching="strict")
    found = numbers_of([*runs, *strict])
    assert any("strict matching" in note for note in found.notes)
    assert len(found.pairs) == 9
    assert {row.solver for row in found.rows} >= {f"{chat_name()}, careful", f"{chat_name()}, strict"}


# --- the data


def test_data_that_have_moved(runs: list[Evaluation], folder: Path, tmp_path: Path) -> None:
    moved = replace(runs[1], data=str(tmp_path / "gone"), path=None)
    [gone] = gather(read_all([moved])[0])
    assert "is missing, so" in gone.notes[0]
    assert gone.questions[0].example is None
    found = count_board(gone, explain_answers(gone))
    assert found.rows[0].accuracy.value == pytest.approx(runs[1].scores.accuracy)
    assert found.rows[0].gap is not None  # predictions hold what this needs
    assert found.mistakes is None
    [again] = gather(read_all([moved])[0], [folder / "tomi"])
    assert again.notes == ()
    assert again.questions[0].example is not None


def test_data_are_found_beside_the_run(runs: list[Evaluation], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that was relative to the folder above the run's file."""
    monkeypatch.chdir(folder.parent)
    relative = replace(runs[1], data="tomi")
    [board] = gather(read_all([relative])[0])
    assert board.notes == ()


def test_data_are_found_by_their_hashes(runs: list[Evaluation], folder: Path, tmp_path: Path) -> None:
    """Wherever they lie: below the run, beside a folder above it, or below a folder that is given."""
    gone = replace(runs[1], data="/nowhere/else", path=None)
    for place, path in (("a/data/tomi", "a/run.json"), ("b/data/tomi", "b/runs/1/2/run.json")):
        shutil.copytree(folder / "tomi", tmp_path / place)
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        [board] = gather(read_all([replace(gone, path=tmp_path / path)])[0])
        assert board.notes == ()
        assert all(each.example is not None for each in board.questions)
    [board] = gather(read_all([gone])[0], [tmp_path])
    assert board.notes == ()
    storyproof.generate("tomi", out=tmp_path / "c" / "tomi", test=24, seed=4)
    [board] = gather(read_all([gone])[0], [tmp_path / "c"])
    assert "else has changed" in board.notes[0]  # other stories under the same names of files are not taken for them
    assert "/nowhere" not in board.notes[0]


def test_data_that_have_changed(tmp_path: Path) -> None:
    data = data_folder(tmp_path)
    runs = evaluate(data, "rules")
    storyproof.generate("tomi", out=data, test=24, seed=4, force=True)
    [board] = gather(read_all(runs)[0])
    assert "has changed since it was answered" in board.notes[0]
    assert all(each.example is None for each in board.questions)


def test_a_story_is_shown_only_if_it_is_the_one_that_was_answered(runs: list[Evaluation], folder: Path) -> None:
    """Without hashes of files the hash of each story decides."""
    rows = [dict(each) for each in runs[1].predictions]
    rows[0]["story_hash"] = "0" * 16
    rows[7]["question"] = "Where is the moon really?"
    about = {"model": "m", "data": str(folder / "tomi"), "split": "test", "predictions": rows}
    [board] = gather(read_runs(about))
    assert sum(each.example is None for each in board.questions) == 2
    assert "2 questions have another text" in board.notes[0]


def test_folders_of_runs(runs: list[Evaluation], folder: Path, tmp_path: Path) -> None:
    found, notes = read_all([folder / "runs"])
    assert len(found) == 4
    assert notes == []
    for file in (folder / "runs").glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "audit.json").write_text("{}")
    found, [note] = read_all([tmp_path])
    assert len(found) == 4
    assert "left out audit.json" in note
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="contains no runs"):
        read_all([tmp_path / "empty"])
    with pytest.raises(DataError, match="there are no runs"):
        read_all([])


def test_answers_from_elsewhere(runs: list[Evaluation], folder: Path, tmp_path: Path) -> None:
    """People's answers, one object with id and answer per line, are scored on the labels of the data."""
    lines = [json.dumps({"id": row["id"], "answer": f"{row['answer']} ".upper()}) for row in runs[1].predictions]
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match="say with --data"):
        gather(read_all([path])[0])
    with pytest.raises(DataError, match="none of the data"):
        gather(read_all([path])[0], [folder / "clutrr"])
    [board] = gather(read_all([path])[0], [folder / "tomi"])
    found = count_board(board, explain_answers(board))
    assert [row.solver for row in found.rows] == ["people"]
    assert len(gather(read_all([path, *runs])[0], [folder / "tomi"])) == 1  # beside the solvers
    assert found.rows[0].accuracy.value == pytest.approx(runs[1].scores.accuracy)
    assert found.rows[0].gap is not None
    assert found.notes == ()


def test_titles_tell_runs_apart(tmp_path: Path) -> None:
    rows = {"1": ("a", "a"), "2": ("b", "a")}
    sources = [
        hand_made(tmp_path / "1.json", "m", rows, prompt={"name": "cot"}),
        hand_made(tmp_path / "2.json", "m", rows, prompt={"name": "zero"}),
        hand_made(tmp_path / "3.json", "m", rows, prompt={"name": "zero"}, seed=1),
        hand_made(tmp_path / "4.json", "n", rows),
        hand_made(tmp_path / "5.json", "n", rows),
    ]
    titles = sorted(solver.title for solver in board_of(sources).solvers)
    assert titles == ["m, cot", "m, zero", "m, zero, seed 1", "n, 4.json", "n, 5.json"]
    twice = board_of([sources[0], sources[0]])
    assert [solver.title for solver in twice.solvers] == ["m", "m (2)"]
