import pytest

from storyproof.errors import UnknownNameError
from storyproof.solvers.baselines import Random
from storyproof.solvers.solver import load_solver
from tests.samples import examples


def test_seed_is_passed_on() -> None:
    rows = examples("tomi", "test")
    assert load_solver("random", 4).predict(rows) == Random(4).predict(rows) != Random(0).predict(rows)


def test_unknown() -> None:
    with pytest.raises(UnknownNameError, match="unknown solver 'orakle'"):
        load_solver("orakle")
