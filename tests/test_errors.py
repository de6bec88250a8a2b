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
    assert len(kinds) == 9
    assert all(name in (errors.__doc__ or "") for name in kinds)


def test_unknown_name_lists_what_is_known() -> None:
    error = UnknownNameError("benchmark", "tomy", ["tomi", "clutrr"])
    assert str(error) == "unknown benchmark 'tomy'. Did you mean 'tomi'? Known: clutrr, tomi."


def test_unknown_name_does_not_guess_wildly() -> None:
    assert "Did you mean" not in str(UnknownNameError("benchmark", "xyzzy", ["tomi"]))
