import pytest

from storyproof.evaluation.compare import prompt_of, sensitivity
from storyproof.evaluation.runs import Evaluation
from storyproof.evaluation.scores import Scores


def run(model: str, prompt: str, seed: int, accuracy: float) -> Evaluation:
    scores = Scores(10, 5, accuracy, 0.0, {}, {}, {})
    details = {"prompt": {"name": prompt}} if prompt else {}
    return Evaluation(model, "x", "test", "given", seed, scores, (), details=details)


def test_spread_over_prompts_and_seeds() -> None:
    runs = [run("m", "a", 0, 0.2), run("m", "a", 1, 0.4), run("m", "b", 0, 0.6), run("m", "b", 1, 0.8)]
    found = sensitivity(runs)["m"]
    assert (found["runs"], found["lowest"], found["highest"]) == (4, 0.2, 0.8)
    assert found["mean"] == pytest.approx(0.5)
    assert found["prompts"] == pytest.approx({"a": 0.3, "b": 0.7})
    assert found["seeds"] == pytest.approx({"0": 0.4, "1": 0.6})


def test_one_run_has_no_spread() -> None:
    assert sensitivity([run("m", "a", 0, 0.2), run("n", "", 0, 0.4)]) == {}
    assert prompt_of(run("n", "", 0, 0.4)) == ""
    asked = run("n", "a", 0, 0.4)
    asked.details["prompt"]["conventions"] = False
    assert prompt_of(asked) == "a without conventions"


def test_only_what_differs_is_told() -> None:
    found = sensitivity([run("m", "a", 0, 0.2), run("m", "a", 1, 0.4)])["m"]
    assert "prompts" not in found
    assert set(found["seeds"]) == {"0", "1"}
