import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pytest

import storyproof
from storyproof import errors
from storyproof.audits.generators import audit_generator
from storyproof.audits.shortcuts import find_shortcuts
from storyproof.catalog import load, names
from storyproof.engines import make_engine
from storyproof.errors import (
    ConfigError,
    DataError,
    ParseError,
    ProofError,
    StoryproofError,
    UnknownNameError,
    VocabularyError,
    as_arguments,
    quoted,
)
from storyproof.evaluation.options import AskOptions
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.training_settings import Settings


@pytest.mark.parametrize("kind", [ConfigError, DataError, ParseError, UnknownNameError, VocabularyError])
def test_users_mistakes_have_one_base(kind: type[Exception]) -> None:
    assert issubclass(kind, StoryproofError)


def test_tree() -> None:
    assert issubclass(ParseError, DataError)
    assert issubclass(UnknownNameError, ConfigError)
    # Oracle against checker is never a user's mistake, so it must come with its traceback.
    assert not issubclass(ProofError, StoryproofError)


def test_every_exception_is_in_the_drawing() -> None:
    kinds = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(kinds) == 13
    assert all(name in (errors.__doc__ or "") for name in kinds)


def test_unknown_name_lists_what_is_known() -> None:
    error = UnknownNameError("benchmark", "tomy", ["tomi", "clutrr"])
    assert str(error) == "unknown benchmark 'tomy'. Did you mean 'tomi'? Known: clutrr, tomi."


def test_unknown_name_may_be_initials() -> None:
    error = UnknownNameError("prompt", "cot", ["chain-of-thought", "zero-shot"])
    assert "Did you mean 'chain-of-thought'?" in str(error)


def test_unknown_name_does_not_guess_wildly() -> None:
    assert "Did you mean" not in str(UnknownNameError("benchmark", "xyzzy", ["tomi"]))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("box", "'box'"),
        (["a", 1], "['a', 1]"),
        ("x" * 80, f"'{'x' * 80}'"),
        ("x" * 10**7, f"'{'x' * 80}…"),
        ("\x1b[31m", "'\\x1b[31m'"),
        ([0] * 10**6, "[0, 0,"),
        pytest.param(10**5000, "a value (int) that is too long to show", id="digits"),
    ],
)
def test_data_in_messages_are_cut(value: object, shown: str) -> None:
    assert quoted(value).startswith(shown)
    assert len(quoted(value)) <= 90


def test_data_of_any_depth_can_be_quoted() -> None:
    nested: list[object] = []
    for _ in range(10**5):
        nested = [nested]
    assert quoted(nested) == "a value (list) that is too long to show"


def test_no_message_is_longer_than_a_screen() -> None:
    said = str(DataError(f"found {'x' * 10**6}; choose another file."))
    assert said.startswith("found xxx")
    assert said.endswith("xxx; choose another file.")
    assert len(said) < 2100


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("--max-stories is 0; use 1 or more.", "max_stories is 0; use 1 or more."),
        ("set --train, --val or --test to a number.", "set train, val or test to a number."),
        ("replace it with --force.", "replace it with force=True."),
        ("use --no-holdout.", "use holdout=False."),
        ("--base-url is 'x'; --max-wait is 3", "base_urls is 'x'; max_wait_s is 3"),
        ("unknown setting '--x'; see a/--y and x--z", "unknown setting '--x'; see a/--y and x--z"),
        ("that it runs (`ray start --head`) and --address", "that it runs (`ray start --head`) and address"),
        ("pip install --upgrade 'storyproof[llm]'", "pip install --upgrade 'storyproof[llm]'"),
    ],
)
def test_messages_name_arguments_for_python_programs(message: str, expected: str) -> None:
    assert as_arguments(message) == expected
    assert as_arguments(expected) == expected


@pytest.mark.usefixtures("in_python")
def test_a_python_program_reads_of_arguments(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^test is -3; the number of stories cannot be negative"):
        storyproof.generate("tomi", test=-3)
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(DataError, match=r"is not empty; choose another folder or replace it with force=True\.$"):
        storyproof.generate("tomi", test=3, out=tmp_path)
    with pytest.raises(ConfigError, match=r"^max_tokens is 0"):
        storyproof.evaluate("rules", "tomi", max_tokens=0)


def _arguments() -> set[str]:
    """Return all names by which Python programs set something."""
    known = {name for verb in storyproof.__all__ if callable(getattr(storyproof, verb)) for name in _parameters(verb)}
    known |= {
        name for each in (make_engine, find_shortcuts, audit_generator) for name in inspect.signature(each).parameters
    }
    for kind in (AskOptions, ModelOptions, Settings):
        known |= {each.name for each in fields(kind)}
    for name in names("benchmark"):
        known |= {each.name for each in fields(load("benchmark", name).config_type)} | {"preset"}
    return known


def _parameters(verb: str) -> Iterator[str]:
    try:
        yield from inspect.signature(getattr(storyproof, verb)).parameters
    except ValueError:  # a class without a signature
        return


def _messages() -> Iterator[tuple[Path, str]]:
    """Yield the constant texts of all calls that make an error, in modules that Python programs call."""
    [package] = find_spec("storyproof").submodule_search_locations  # type: ignore[union-attr, misc]
    for path in sorted(Path(package).rglob("*.py")):
        if {"cli", "study", "web"} & set(path.relative_to(package).parts):
            continue  # only the command line leads there
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                for each in ast.walk(node.exc):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield path, each.value


def test_every_option_in_a_message_is_an_argument_in_python() -> None:
    known, options = _arguments(), 0
    for path, message in _messages():
        for option in re.findall(r"(?<!`)--[a-z][a-z-]*", re.sub(r"`[^`]*`|pip install --upgrade", "", message)):
            options += 1
            name = as_arguments(option).partition("=")[0]
            assert name in known, f"{path}: {option} in {message!r} is {name} in Python, which sets nothing"
    assert options > 80
