"""Which cases of a test run by default."""

from collections.abc import Iterable
from typing import Any

import pytest


def only_first(count: int, values: Iterable[Any]) -> list[Any]:
    """Return values for `parametrize`: the first of them run by default, and the others in the slow group.

    For cases that take the same path with other data. Tuples are the values of several arguments.
    """
    return [
        value if place < count else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=SLOW)
        for place, value in enumerate(values)
    ]


SLOW = pytest.mark.slow
