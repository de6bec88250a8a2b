from typing import Any

import pytest
from rich.console import Console, RenderableType

from storyproof.evaluation.fresh_twin import Contamination
from storyproof.evaluation.runs import Evaluation
from storyproof.evaluation.scores import Scores
from storyproof.reports.runs import contamination_view, run_view, runs_view, scores_view, sensitivity_view
from storyproof.stats import Interval

SIDE = {"accuracy": 0.5, "joint_accuracy": 0.25, "intervals": {"accuracy": [0.4, 0.6], "joint_accuracy": None}}


def run(**changes: Any) -> Evaluation:
    details = {
        "prompt": {"name": "zero-shot"},
        "matching": "careful",
        "match_types": {"exact_match": 0.5, "negated": 0.0, "no_match": 0.5},
        "matchings": dict.fromkeys(("strict", "careful", "lenient"), SIDE),
        "failures": {"failed": 0, "not_asked": 0, "of": 12, "errors": {}},
        "tokens": {"prompt": 1000, "output": 50, "cached": 250},
        "traffic": {"asked": 12, "found": 3, "shared_prefix": 0.75},
        **changes.pop("details", {}),
    }
    fields: dict[str, Any] = {
        "model": "openai/[x]",
        "data": "d",
        "split": "test",
        "labels": "given",
        "seed": 0,
        "scores": Scores(12, 2, 0.5, 0.25, {"memory": 0.5}, {"no_false_belief": 0.5}, {}),
        "predictions": (),
        "intervals": {
            "accuracy": [0.4, 0.6],
            "joint_accuracy": [0.1, 0.9],
            "by_question_type": {"memory": [0.3, 0.7]},
            "by_false_belief": {"no_false_belief": [0.2, 0.8]},
        },
        "run": {"seconds": 1.5},
    }
    return Evaluation(**{**fields, "details": details, **changes})


def shown(view: RenderableType, width: int = 80) -> str:
    console = Console(width=width, record=True, file=None, quiet=False)
    with console.capture() as captured:
        console.print(view)
    return captured.get()


def test_one_run() -> None:
    text = shown(run_view(run()))
    for words in (
        "careful *   50.0 (40.0 to 60.0)",
        "50.0 (30.0 to 70.0)",
        "no false belief   50.0 (20.0 to 80.0)",
        "95% intervals by bootstrap over stories; by Wilson's formula over stories",
        "matches: exact_match 50.0, negated 0.0, no_match 50.0",
        "openai/[x], zero-shot: 12 questions of 2 stories, given labels",
        "12 requests in 1.5 s, 3 known before; 75% of the prompts' text is shared",
        "1,000 tokens read (25% from the server's cache), 50 written",
    ):
        assert words in text
    assert "failed" not in text
    assert all(len(line) <= 80 for line in text.split("\n"))


def test_what_went_wrong_is_said() -> None:
    failures = {"failed": 2, "not_asked": 1, "of": 15, "errors": {"HTTP 500": 2}}
    text = shown(run_view(run(details={"failures": failures, "cost": 0.5}, ended="the server is gone", counts=False)))
    for words in (
        "2 failed and 1 not asked, of 15; 2 × HTTP 500; rerun to ask them again",
        "ended early: the server is gone",
        "too many answers are missing for this result to count",
        "cost 0.5000",
    ):
        assert words in text


def test_several_runs() -> None:
    text = shown(runs_view([run(), run(seed=1)]), 120)
    assert text.startswith("model openai/[x], prompt zero-shot, matching careful\n")
    assert text.count("openai/[x]") == 1
    assert "50.0 (40.0–60.0)   25.0 (10.0–90.0)     50.0      50.0" in text
    assert "failed" not in text
    failures = {"failed": 2, "not_asked": 1, "of": 15, "errors": {}}
    assert "failed" in shown(runs_view([run(), run(seed=1, details={"failures": failures})]), 120)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_several_runs_on_a_narrow_screen(width: int) -> None:
    failures = {"failed": 2, "not_asked": 1, "of": 15, "errors": {}}
    prompts = ("chain-of-thought", "multiple-choice", "zero-shot")
    runs = [run(model="openai/a-model-of-some-length", details={"prompt": {"name": name}}) for name in prompts]
    text = shown(runs_view(runs), width)
    assert "no room" not in text
    mixed = [*runs, run(seed=1, details={"failures": failures})]
    for found in (text, shown(runs_view(mixed), width)):
        assert max(map(len, found.split("\n"))) <= width
        assert "…" not in found
        for words in ("chain-of-thought", "multiple-choice", "average", "joint", "(40.0–60.0)"):
            assert words in found
    assert ("; --json has all" in shown(runs_view(mixed), width)) == (width < 120)


def test_no_whole_story_is_no_joint_accuracy() -> None:
    none = run(scores=Scores(1, 0, 0.5, 0.0, {"memory": 0.5}, {}, {}), intervals={"accuracy": [0.0, 1.0]})
    one, several = shown(run_view(none)), shown(runs_view([none, none]))
    assert "50.0 (40.0 to 60.0)       –" in one
    assert "1 question of 0 stories" in one
    assert "50.0 (0.0–100.0)       –" in several
    assert "–" in shown(contamination_view(Contamination(none, run(), Interval(0.1, 0, 1), Interval(0.1, 0, 1))), 120)


def test_sensitivity() -> None:
    found = {"m": {"lowest": 0.2, "highest": 0.8, "runs": 4, "prompts": {"a": 0.3, "b": 0.7}}}
    assert shown(sensitivity_view(found)) == "m: 20.0 to 80.0 over 4 runs; prompts alone move it by 40.0\n"


def test_contamination() -> None:
    gap = Interval(0.1, -0.05, 0.25)
    text = shown(contamination_view(Contamination(run(), run(data="twin"), gap, gap)), 120)
    assert "+10.0 (-5.0 to +25.0)" in text
    assert "no sign that it has seen the published data" in text
    sure = Interval(0.1, 0.05, 0.25)
    seen = " ".join(
        shown(contamination_view(Contamination(run(), run(), sure, gap, 0.001, {"rules": 0.02})), 120).split()
    )
    assert "10.0 points better on the published than on the twin's stories; it has seen them (p = 0.001)" in seen
    assert "solvers that saw nothing differ by +2.0 to +2.0 points" in seen
    alike = " ".join(
        shown(contamination_view(Contamination(run(), run(), sure, gap, 0.001, {"rules": 0.2})), 120).split()
    )
    assert "better on the published stories, but no more than solvers that saw nothing" in alike


def test_solvers_of_all_kinds_side_by_side() -> None:
    """Rules and a language model stand in one table; what is said of replies stands below."""
    plain = run(model="rules", details={"prompt": {}, "matching": "exact"}, free_text=False)
    asked = run(details={"failures": {"failed": 2, "not_asked": 0, "of": 14, "errors": {}}}, free_text=True)
    text = shown(scores_view([plain, asked]), 120)
    lines = [line.split() for line in text.split("\n") if "50.0" in line and "matches" not in line]
    assert [line[0] for line in lines] == ["rules", "openai/[x]"]
    assert lines[1][1:3] == ["zero-shot", "careful"]
    assert lines[1][-1] == "2"  # failed
    assert "openai/[x]: matches: exact_match 50.0, negated 0.0, no_match 50.0" in text
    assert "openai/[x]: 2 failed and 0 not asked, of 14" in text
    alone = shown(scores_view([plain]), 120)
    assert "matching" not in alone
    assert "failed" not in alone
