"""What an engine is: it calls a function with many items, somewhere, and returns the results as they come.

Another package adds an engine through the entry point group `storyproof.engines`; its value is a class that is called
with `workers` and `address`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from storyproof.catalog import load
from storyproof.errors import ConfigError, DataError, ProofError, StoryproofError

PROCESSES = "processes"

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Calls functions with many items; used in a `with` statement, which starts and ends what it needs."""

    @property
    def workers(self) -> int:
        """How many items are worked on at a time, once it is started; large files are divided for so many."""

    def __enter__(self) -> Self:
        """Start what is needed."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what was started."""

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Yield the place of each item and what `work` returns for it, as they finish, in any order.

        An item may be worked on twice, if a machine is lost, so `work` must be repeatable.

        Args:
            work: Called with each item, elsewhere; it and the items are pickled.
            items: What to work on.

        Raises:
            ConfigError: If the work cannot be done there.
            Exception: Whatever `work` raises.
        """


def make_engine(name: str = PROCESSES, *, workers: int | None = None, address: str | None = None) -> Engine:
    """Return an engine by name.

    Args:
        name: `processes`, `ray`, or that of another package.
        workers: How many items are worked on at a time; by default one process, or the whole cluster.
        address: Where a running cluster is.

    Raises:
        UnknownNameError: If there is no such engine.
        ConfigError: If an option does not fit it.
    """
    if workers is not None and workers < 1:
        raise ConfigError(f"--workers is {workers}; use 1 or more.")
    engine: Engine = load("engine", name)(workers=workers, address=address)
    return engine


def in_order(engine: Engine, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Yield what `work` returns for each item in the order of the items, whatever finishes first.

    Raises:
        StoryproofError: Of several items that fail, the error of the first one, as in one process.
    """
    held: dict[int, Result | _Failure] = {}
    place = 0
    with closing(_as_generator(engine.run(_Guarded(work), items))) as results:
        for number, result in results:
            held[number] = result
            while place in held:
                finished = held.pop(place)
                if isinstance(finished, _Failure):
                    raise finished.error
                yield finished
                place += 1


def _as_generator(results: Iterator[Any]) -> Any:
    """Return an iterator that can be closed."""
    return results if hasattr(results, "close") else (each for each in results)


class _Failure:
    """The error of an item."""

    def __init__(self, error: StoryproofError) -> None:
        self.error = error


class _Guarded(Generic[Item, Result]):
    """Work that returns the errors of users' data, so that they can be raised in order."""

    def __init__(self, work: Callable[[Item], Result]) -> None:
        self._work = work

    def __call__(self, item: Item) -> Result | _Failure:
        try:
            return self._work(item)
        except StoryproofError as error:
            return _Failure(portable(error))


def portable(error: Exception) -> Any:
    """Return an error that can be pickled: itself, or one of a kind that it belongs to, with the same message."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever the classes of others raise
        kinds = (ConfigError, DataError, StoryproofError, ProofError, Exception)
        return next(each for each in type(error).__mro__ if each in kinds)(str(error))
    return error
