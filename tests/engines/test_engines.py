from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from storyproof.engines import in_order, make_engine
from storyproof.errors import ConfigError, DataError, UnknownNameError


class Backwards:
    """An engine that finishes the last item first."""

    def run(self, work, items) -> Iterator:  # type: ignore[no-untyped-def, type-arg]
        for place in reversed(range(len(items))):
            yield place, work(items[place])


def check(item: int) -> int:
    if item < 0:
        raise DataError(f"{item} is negative.")
    if item == 0:
        raise UnknownNameError("item", "0", ["1", "2"])
    return item * item


def test_results_come_in_the_order_of_items_whatever_finishes_first() -> None:
    assert list(in_order(Backwards(), check, [1, 2, 3])) == [1, 4, 9]  # type: ignore[arg-type]


def test_of_several_errors_the_first_one_is_raised_after_what_comes_before_it() -> None:
    found = in_order(Backwards(), check, [1, -2, -3])  # type: ignore[arg-type]
    assert next(found) == 1
    with pytest.raises(DataError, match="-2 is negative"):
        next(found)


def test_processes_give_what_one_process_gives() -> None:
    items = list(range(1, 8))
    with make_engine(workers=1) as one, make_engine(workers=2) as two:
        assert list(two.run(check, items)) == list(one.run(check, items)) == [(n - 1, n * n) for n in items]


def test_errors_that_cannot_be_pickled_keep_their_kind_and_message() -> None:
    with make_engine(workers=2) as engine, pytest.raises(ConfigError, match=r"unknown item '0'. Known: 1, 2\."):
        list(engine.run(check, [1, 0, 2]))


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown engine 'rya'\. Did you mean 'ray'"):
        make_engine("rya")
    with pytest.raises(ConfigError, match="--workers is 0; use 1 or more"):
        make_engine(workers=0)
    with pytest.raises(ConfigError, match="--address is 'here:1', but processes are on this machine; add --engine ray"):
        make_engine(address="here:1")


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_ray_that_is_not_installed_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"--engine ray needs the package 'ray', .*pip install 'storyproof\[ray\]'"):
        make_engine("ray")
