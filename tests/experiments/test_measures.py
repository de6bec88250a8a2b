from dataclasses import replace

import storyproof
from storyproof.example import Example
from storyproof.experiments.jobs import count
from storyproof.solvers.solver import load_solver
from tests.scoring import score


def test_counts_are_those_of_the_scores() -> None:
    examples = [Example.from_row(row) for row in storyproof.generate("tomi", test=60, seed=3).to_pylist()]
    answers = load_solver("rules").predict(examples)
    counts, scores = count(examples, answers), score(examples, answers)
    shares = {name: right / of for name, (right, of) in counts.items()}
    assert shares["average"] == scores.accuracy
    assert shares["joint"] == scores.joint_accuracy
    assert counts["joint"][1] == 60
    for belief, kinds in scores.by_order.items():
        for kind, share in kinds.items():
            assert shares[f"{kind}/{belief}"] == share
    parts = [counts[f"first_order/{belief}"] for belief in ("false_belief", "no_false_belief")]
    assert counts["first_order"] == [sum(column) for column in zip(*parts, strict=True)]


def test_kinship_is_counted_by_task_and_length() -> None:
    table = storyproof.generate("clutrr", test=4, seed=3, test_k=(2, 3), test_tasks=("clean", "irrelevant"))
    examples = [Example.from_row(row) for row in table.to_pylist()]
    counts = count(examples, [example.answer for example in examples])
    assert counts["task=clean"] == [8, 8]
    assert counts["k=3"] == [8, 8]
    assert counts["task=irrelevant/k=2"] == [4, 4]
    assert counts["average"] == counts["joint"] == [16, 16]


def test_false_beliefs_are_those_of_the_labels() -> None:
    """Published labels of false beliefs that say where the object is count as no false beliefs, as in the paper."""
    rows = storyproof.generate("tomi", test=3, seed=3).to_pylist()
    example = next(each for each in map(Example.from_row, rows) if each.order == 2 and each.false_belief)
    wrong = replace(example, question_type=example.question_type.replace("_tom", "_no_tom"))
    assert "second_order/false_belief" in count([example], [""])
    assert "second_order/no_false_belief" in count([wrong], [""])
