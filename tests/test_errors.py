import pytest

from storyproof import errors
from storyproof.errors import (
    ConfigError,
    DataError,
    ParseError,
    ProofError,
    StoryproofError,
    UnknownNameError,
    VocabularyError,
    quoted,
)


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
