"""The engine `ray`: work on a cluster of Ray, a running one or one that is started on this machine.

Every item is a task. Ray runs a task again, elsewhere, if its worker or its machine dies.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from storyproof import __version__
from storyproof.engines.engine import Item, Result, portable
from storyproof.engines.processes import available_cores
from storyproof.errors import ConfigError, name_options, names_options, shorten
from storyproof.reports.doctor import need_peer
from storyproof.runtime.lean_imports import import_arrow_alone

LOCAL = "local"  # what Ray calls a cluster that it starts
_RETRIES = 10  # times that an item is tried again if its worker dies: machines that are rented cheaply come and go
_STARTS = 5  # times that a cluster on this machine is started before it is given up
_REACHED_S = 10.0
_CONNECTED_S = 120.0
_FEW_TASKS = 1_000  # that are handed to a cluster at a time, at least: a cluster that grows by demand must see some
_OBJECT_STORE = 512 << 20  # bytes of memory for results of a cluster on this machine
_RESUME = "what is finished is kept, and the same command resumes"


class RayEngine:
    """Works on a cluster of Ray.

    Args:
        workers: How many items are worked on at a time; by default one for each available core.
        address: Where a running cluster is: `HOST:PORT`, `auto` (the one that this machine belongs to) or `ray://…`.
            By default that of the environment variable RAY_ADDRESS, or else a cluster is started on this machine.

    Raises:
        ConfigError: If Ray is not installed, or in a version that does not fit.
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._workers = workers
        self._address = address or os.environ.get("RAY_ADDRESS") or LOCAL
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
        if self._address == LOCAL:
            # Ray's switch for "no clusters, only this machine": all of its traffic is then on the loopback device.
            os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        self._ray = need_peer("ray", "ray", "--engine ray")

    def __enter__(self) -> Self:
        """Connect to the cluster, or start one.

        Raises:
            ConfigError: If it cannot be reached, or has other versions of Ray or Python.
        """
        logging.getLogger("ray").setLevel(logging.ERROR)
        settings: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "address": self._address}
        if self._address == LOCAL:
            settings |= {"include_dashboard": False, "object_store_memory": _OBJECT_STORE}
            settings |= {"num_cpus": self._workers or available_cores()}
        else:
            _check_reached(self._address)
        with _signals_kept():
            self._connect(settings)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster; one that was started here ends."""
        with _signals_kept():
            self._ray.shutdown()

    @property
    def workers(self) -> int:
        """How many tasks are run at a time: one for each core of the cluster, unless users say otherwise."""
        return self._workers or int(self._ray.cluster_resources().get("CPU", 1))

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Yield the place of each item and what `work` returns for it, as they finish.

        Raises:
            ConfigError: If workers die again and again, or cannot run storyproof.
            Exception: Whatever `work` raises.
        """
        ray = self._ray
        if not items:
            return
        task = ray.remote(num_cpus=1, max_retries=_RETRIES, retry_exceptions=False)(_attempt)
        shared = ray.put(work)
        cores = int(ray.cluster_resources().get("CPU", 1))
        most = max(_FEW_TASKS, 2 * cores) if self._workers is None or self._address == LOCAL else self._workers
        pending: dict[Any, int] = {}
        todo = iter(enumerate(items))
        try:
            while True:
                while len(pending) < most and (following := next(todo, None)) is not None:
                    place, item = following
                    pending[task.remote(__version__, names_options(), shared, item)] = place
                if not pending:
                    return
                ready, _ = ray.wait(list(pending), num_returns=1)
                place = pending.pop(ready[0])
                yield place, self._result(ready[0])
        finally:
            for each in pending:
                ray.cancel(each, force=True)

    def _connect(self, settings: dict[str, Any]) -> None:
        where = "on this machine" if self._address == LOCAL else f"at {self._address}"
        done = threading.Event()
        failed: list[BaseException] = []

        def connect() -> None:
            try:
                self._ray.init(**settings)
            except BaseException as error:  # Ray also exits
                failed.append(error)
            done.set()

        if self._address == LOCAL:
            connect()
            for _ in range(_STARTS - 1):
                if not failed or "timed out during startup" not in str(failed[-1]):
                    break
                self._ray.shutdown()  # the machine is busy: Ray waits for 30 s, and nothing can change that
                failed.clear()
                connect()
        else:  # what is not a cluster is waited for without end
            threading.Thread(target=connect, daemon=True).start()
            if not done.wait(_CONNECTED_S):
                raise ConfigError(
                    f"what is {where} does not answer as a cluster of Ray does within {_CONNECTED_S:.0f} s; check "
                    "--address, or leave it out to start one on this machine."
                )
        if not failed:
            return
        reason = shorten(str(failed[0])).rstrip(".")
        if "Version mismatch" in reason:
            raise ConfigError(
                f"the cluster {where} has other versions than this machine ({reason}); install the same versions of "
                "Ray and Python on both."
            ) from failed[0]
        remedy = "check --address, or leave it out to start one on this machine"
        if self._address == LOCAL:
            remedy = "leave out --engine ray to use processes"
        raise ConfigError(f"cannot use a cluster of Ray {where}: {reason}; {remedy}.") from failed[0]

    def _result(self, ready: Any) -> Any:
        """Return the result of a task; raise what it raised."""
        errors = self._ray.exceptions
        try:
            kind, result = self._ray.get(ready)
        except errors.RayTaskError as error:  # the task did not get as far as to the work
            reason = shorten(str(error.cause or error)).rstrip(".")
            raise ConfigError(
                f"the workers of Ray cannot run storyproof ({reason}); install storyproof {__version__} with its "
                "dependencies on every machine of the cluster."
            ) from error
        except errors.RayError as error:
            reason = shorten(str(error).strip().splitlines()[0]).rstrip(".")
            raise ConfigError(
                f"a worker of Ray died {_RETRIES + 1} times over the same work, perhaps because memory ran out "
                f"({reason}); use smaller shards or fewer --workers; {_RESUME}."
            ) from error
        if kind == _OTHER_VERSION:
            raise ConfigError(
                f"a worker of Ray has storyproof {result}, and this machine {__version__}; install the same version on "
                "every machine of the cluster."
            )
        if kind == _ERROR:
            raise result
        return result


_DONE, _ERROR, _OTHER_VERSION = "done", "error", "other version"


def _attempt(version: str, is_command_line: bool, work: Callable[[Any], Any], item: Any) -> tuple[str, Any]:
    """Work on an item, on a machine of the cluster; errors are returned, for Ray would wrap them."""
    if version != __version__:
        return _OTHER_VERSION, __version__
    name_options(is_command_line)
    import_arrow_alone()
    try:
        return _DONE, work(item)
    except Exception as error:
        return _ERROR, portable(error)


def _check_reached(address: str) -> None:
    """Raise ConfigError if nothing listens at an address: Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or int(port) >= 1 << 16:
        raise ConfigError(f"--address is '{address}'; expected HOST:PORT, such as 10.0.0.1:6379, or auto.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACHED_S).close()
    except OSError as error:
        raise ConfigError(
            f"no cluster of Ray can be reached at {address} ({error.strerror or error}); check that it runs "
            "(`ray start --head`) and --address, or leave it out to start one on this machine."
        ) from error


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep the signal handlers of the command, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
