from __future__ import annotations

from pathlib import Path

import pytest

import storyproof
from storyproof.catalog import names
from storyproof.errors import ConfigError, DataError
from storyproof.solvers.llm.prompt import load_prompt, needs_shots, prompt_names

ROW = {"story": "Ann entered the den.\nThe key is in the box.", "question": "Where is the key really?"}


@pytest.mark.parametrize("benchmark", [*names("benchmark")])
@pytest.mark.parametrize("name", prompt_names())
def test_prompts_are_those_of_evaluate(name: str, benchmark: str) -> None:
    stream = storyproof.stream(benchmark, seed=8)
    example = stream[0].rows[-1]
    shots = [row for story in stream[1:40] for row in story.rows] if needs_shots(name) else []
    asked = storyproof.prompt(example, name, shots=shots)
    assert asked == load_prompt(name, shots=shots).request(example, [])
    assert asked == storyproof.prompt(example.as_row(), name, shots=shots)
    assert str(asked) == asked.text
    assert [message["role"] for message in asked.chat][-1] == "user"
    assert "\n\n".join(message["content"] for message in asked.chat) == asked.text
    assert example.question in asked.text or name == "perspective"


def test_story_and_question_are_enough() -> None:
    assert ROW["story"] in storyproof.prompt(ROW).text
    assert storyproof.prompt(ROW, "multiple-choice").choices == ("A",)
    unreadable = {"story": "Es regnet.", "question": "Wo ist der Schlüssel?", "answer": "Kiste"}
    assert "Es regnet." in storyproof.prompt(unreadable).text


def test_several_steps() -> None:
    example = next(row for story in storyproof.stream("tomi", seed=1) for row in story.rows if row.chain)
    first = storyproof.prompt(example, "perspective")
    second = storyproof.prompt(example, "perspective", replies=["Ann entered the den."])
    assert first != second
    assert "Ann entered the den." in second.text
    with pytest.raises(ConfigError, match="asks nothing after 1 replies"):
        storyproof.prompt(example, replies=["box"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "Where?"}, "the row has story None; expected a text"),
        ({"story": "Ann entered the den.", "question": "  "}, "the row has question '  '; expected a text"),
        ("Ann", "the row is 'Ann'; expected an example, or a dictionary"),
    ],
)
def test_a_row_needs_story_and_question(row: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        storyproof.prompt(row)  # type: ignore[arg-type]


def test_unknown_prompts_and_files_that_change(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="zero-shat"):
        storyproof.prompt(ROW, "zero-shat")
    with pytest.raises(ConfigError, match="shows solved examples"):
        storyproof.prompt(ROW, "few-shot")
    file = tmp_path / "own.yaml"
    steps = '  steps:\n    - user: "{story} {question} %s"\n      max_tokens: 5\n'
    text = f'name: own\nversion: "1"\nabout: Short.\nany:\n{steps}'
    for word in ("One.", "Two."):
        file.write_text(text % word)
        assert storyproof.prompt(ROW, str(file)).text.endswith(word)
