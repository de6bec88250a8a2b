"""Rewards in TRL's signature."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError
from storyproof.evaluation import cot_steps
from storyproof.integrations import curriculum, reasoning_gym, rewards

STORY = """Sally entered the kitchen.
Anne entered the kitchen.
The ball is in the box.
Anne exited the kitchen.
Sally moved the ball to the jar."""
COLUMNS = {"story": [STORY] * 3, "question": ["Where will Anne look for the ball?"] * 3, "answer": ["box"] * 3}
THOUGHTS = [
    "Sally thinks the ball is in the jar. Anne thinks the ball is in the box.\nAnswer: box",
    "Sally thinks the ball is in the jar. Anne thinks the ball is in the jar.\nAnswer: box",
    "Answer: jar",
]


def test_rewards_are_reachable_from_the_top() -> None:
    assert storyproof.rewards is rewards


def test_exact_looks_at_the_final_answer() -> None:
    assert rewards.exact([""] * 3, THOUGHTS, **COLUMNS) == [1.0, 1.0, 0.0]
    chats = [[{"role": "assistant", "content": text}] for text in THOUGHTS]
    assert rewards.exact([[]] * 3, chats, **COLUMNS, trainer_state=object(), completion_ids=[[1]] * 3) == [
        1.0,
        1.0,
        0.0,
    ]


def test_stepwise_also_looks_at_the_steps_and_logs_the_first_wrong_one() -> None:
    logged: dict[str, list[str]] = {}
    found = rewards.stepwise([""] * 3, THOUGHTS, **COLUMNS, log_extra=logged.__setitem__)
    assert found == [1.0, 0.75, 0.0]
    assert logged["first_wrong_step"] == ["", "1: Anne thinks that the ball is in the jar (proved: box)", ""]


def test_weights_can_be_chosen() -> None:
    reward = rewards.make_stepwise(answer=1, steps=0.5, least=4)
    assert reward([""] * 3, THOUGHTS, **COLUMNS) == [1.25, 1.125, 0.0]
    assert rewards.make_stepwise(least=0)([""], ["Answer: box"], **{name: v[:1] for name, v in COLUMNS.items()}) == [
        1.0
    ]
    with pytest.raises(ConfigError, match="expected numbers from 0 on"):
        rewards.make_stepwise(answer=-1)
    with pytest.raises(ConfigError, match="prompt"):
        rewards.make_exact(prompt="no-such-prompt")


def test_rows_of_a_stream_have_all_that_rewards_need() -> None:
    for benchmark in ("tomi", "clutrr", "orderings"):
        rows = rewards.prompt_rows(storyproof.stream(benchmark, seed=7))
        taken = [next(rows) for _ in range(5)]
        assert all(row["prompt"][-1]["role"] == "user" for row in taken)
        columns = {name: [row[name] for row in taken] for name in taken[0] if name != "prompt"}
        right = [f"Answer: {row['answer']}" for row in taken]
        assert rewards.exact([row["prompt"] for row in taken], right, **columns) == [1.0] * 5
        wrong = ["Answer: nowhere"] * 5
        assert rewards.exact([row["prompt"] for row in taken], wrong, **columns) == [0.0] * 5


def test_missing_columns_and_odd_completions_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"the column 'story'.*prompt_rows"):
        rewards.exact([""], ["box"], question=["Where?"])
    with pytest.raises(DataError, match="expected a text, or messages"):
        rewards.exact([""], [3], **{name: values[:1] for name, values in COLUMNS.items()})


@pytest.mark.parametrize("module", [rewards, curriculum, reasoning_gym, cot_steps])
def test_examples_in_docstrings_run(module: object) -> None:
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)  # type: ignore[arg-type]
    assert found.attempted
    assert not found.failed


def test_importing_the_rewards_needs_no_other_package() -> None:
    peers = ("torch", "trl", "datasets", "verifiers", "reasoning_gym")
    code = f"import sys, storyproof; storyproof.rewards; print({{*{peers}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_page_shows_what_python_prints() -> None:
    page = Path(__file__).parents[2] / "docs" / "rl.md"
    text = page.read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "rl.md", "rl.md", 0)
    assert len(test.examples) > 15
    printed: list[str] = []
    assert doctest.DocTestRunner().run(test, out=printed.append).failed == 0, "".join(printed)
