"""Which cases of a test run by default, and how many examples of a law."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def only_first(count: int, values: Iterable[Any]) -> list[Any]:
    """Return values for `parametrize`: the first of them run by default, and the others in the slow group.

    For cases that take the same path with other data. Tuples are the values of several arguments.
    """
    return [
        value if place < count else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=SLOW)
        for place, value in enumerate(values)
    ]


def try_examples(count: int, **others: Any) -> settings:
    """Return settings of Hypothesis that try so many examples where the profile tries 100, and its share elsewhere.

    The profiles are in `conftest.py`: the default run tries half as many, the slow group all.
    """
    return settings(max_examples=max(1, count * settings.default.max_examples // 100), **others)


SLOW = pytest.mark.slow
