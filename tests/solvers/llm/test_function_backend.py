import os
import sys
from pathlib import Path

import pytest

from storyproof.errors import ConfigError
from storyproof.solvers.llm.function_backend import Function, load_function
from storyproof.solvers.llm.messages import Message, Reply, Request


def ask(model: Function, text: str) -> Reply:
    [(name, reply)] = model.complete([("a", Request((Message("user", text),), 10))])
    assert name == "a"
    return reply


def test_function_of_a_module() -> None:
    assert ask(Function("textwrap:dedent"), "  box").text == "box"


def test_function_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def answer(text):\n    return text.split()[-1]\n")
    model = Function(f"{path}:answer")
    assert ask(model, "in the box").text == "box"
    before = model.identity()
    path.write_text("def answer(text):\n    return 'jar'\n")
    assert Function(f"{path}:answer").identity() != before  # replies of another state are not reused


def test_a_file_is_taken_as_it_is_now_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "models.py"
    for answer in ("box", "jar"):  # as long, and written within the second that the time of a file is noted in
        path.write_text(f"def answer(prompt):\n    return {answer!r}\n")
        os.utime(path, (1, 1))
        assert load_function(f"{path}:answer")("") == answer
    assert [each.name for each in tmp_path.iterdir()] == ["models.py"]


def test_what_is_raised_is_a_failure() -> None:
    assert ask(Function("json:loads"), "{").error == (
        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    )


@pytest.mark.parametrize(
    ("code", "shown"),
    [("None", "None"), ("3", "3 (int)"), ("['box']", "['box'] (list)"), ("b'x' * 99", f"b'{'x' * 79}… (bytes)")],
)
def test_what_is_no_text_is_a_failure(tmp_path: Path, code: str, shown: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"def answer(text):\n    return {code}\n")
    assert ask(Function(f"{path}:answer"), "x").error == f"the function returned {shown}; expected text"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:f", "cannot import the model 'no_such_module:f': No module named 'no_such_module'"),
        ("no_such_file.py:f", "cannot import the model 'no_such_file.py:f'"),
        ("json:nothing", "json has no function 'nothing'"),
    ],
)
def test_function_that_is_not_there(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_function(name)
