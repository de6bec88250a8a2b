from pathlib import Path

import pytest

from tests.cli.invocation import run
from tests.solvers.llm.serving import FakeServer
from tests.solvers.llm.stand_ins import note_waits

KNOWN = "Ada entered the attic.\nThe key is in the box.\n"
ODD = "Once upon a time there was a key.\n"
QUESTION = "Where is the key really?\nbox\n"


def test_talk_goes_on_after_a_story_that_cannot_be_read() -> None:
    ended = run("ask", "--model", "rules", typed=f"{ODD}\n{QUESTION}\n{KNOWN}\n{QUESTION}\n")
    assert ended.exit_code == 0
    assert ended.stderr.count("storyproof: ") == 1
    assert ended.stdout.startswith("rules: box\nexpected: box (right")


def test_talk_goes_on_after_a_story_without_candidates(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def answer(text):\n    return 'A'\n")
    model = f"{tmp_path / 'model.py'}:answer"
    typed = f"{ODD}\n{QUESTION}\n{KNOWN}\n{QUESTION}"
    ended = run("ask", "--model", model, "--prompt", "multiple-choice", typed=typed)
    assert ended.exit_code == 0
    assert "storyproof: the prompt 'multiple-choice' offers possible answers, and none can be read" in ended.stderr
    assert "column" not in ended.stderr
    assert f"{model}: box" in ended.stdout


def test_broken_server_is_soon_heard_of(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = note_waits(monkeypatch)
    with FakeServer(broken=1.0) as server:
        ended = run(
            "ask", "--model", "openai/fake", "--base-url", server.url, "--story", KNOWN, "--question", "Where is it?"
        )
        assert server.counts()["kinds"] == {"broken": 3}
    assert len(waits) == 2
    assert sum(waits) < 5
    assert "gave no reply: HTTP 500: out of memory." in str(ended.exception)


def test_says_that_a_reply_was_cut_off() -> None:
    with FakeServer(reply="First I think", finish_reason="length") as server:
        ended = run(
            *("ask", "--model", "openai/fake", "--base-url", server.url, "--prompt", "chain-of-thought"),
            *("--story", KNOWN, "--question", "Where is it?"),
        )
    assert ended.stdout == (
        "reply: First I think\nopenai/fake: no answer: the reply was cut off before it; raise --max-tokens\n"
    )
