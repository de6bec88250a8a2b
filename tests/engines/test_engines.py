import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from multiprocessing import active_children
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from storyproof.engines import in_order, make_engine, processes
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
        assert list(one.run(check, items)) == [(n - 1, n * n) for n in items]
        assert sorted(two.run(check, items)) == [(n - 1, n * n) for n in items]
        assert list(in_order(two, check, items)) == [n * n for n in items]


def wait_for_others(item: tuple[str, int]) -> int:
    """Work that is done at once, but for the first item, which waits until all others were begun."""
    folder, number = Path(item[0]), item[1]
    (folder / str(number)).touch()
    while number == 0 and len(list(folder.iterdir())) < 6:
        time.sleep(0.01)
    return number


def test_a_free_worker_gets_the_next_item_while_another_is_busy(tmp_path: Path) -> None:
    with make_engine(workers=2) as engine:
        found = [number for _, number in engine.run(wait_for_others, [(str(tmp_path), number) for number in range(6)])]
    assert sorted(found) == list(range(6))
    assert found[0] != 0


def test_a_worker_that_is_killed_is_noticed() -> None:
    with make_engine(workers=2) as engine:
        results = engine.run(check, [*range(1, 9)])
        next(results)
        active_children()[0].kill()
        with pytest.raises(ConfigError, match=r"a worker process was killed, .*; use fewer --workers\."):
            list(results)
    assert active_children() == []


def die_while_sending(item: int) -> bytes:
    """Work whose process dies in the middle of the message with its result."""

    def send(connection: Any, data: bytes) -> None:
        os.write(connection.fileno(), data[:100])
        if len(data) > 100:  # not the length alone, which is sent before
            os._exit(1)

    Connection._send = send  # type: ignore[attr-defined]
    return bytes(1 << 20)


def test_a_worker_that_is_killed_while_it_sends_is_noticed() -> None:
    with make_engine(workers=2) as engine, pytest.raises(ConfigError, match="a worker process was killed"):
        next(engine.run(die_while_sending, [1, 2]))
    assert active_children() == []


def test_workers_end_when_no_more_results_are_wanted() -> None:
    with make_engine(workers=2) as engine:
        results = engine.run(check, [*range(1, 9)])
        next(results)
        results.close()  # type: ignore[attr-defined]
    assert active_children() == []


def test_workers_can_be_ended_at_once() -> None:
    with make_engine(workers=2) as engine:
        results = engine.run(check, [*range(1, 9)])
        next(results)
        processes.end_workers()
        assert active_children() == []
        results.close()  # type: ignore[attr-defined]


def blas_threads(item: int) -> str | None:
    return os.environ.get("OPENBLAS_NUM_THREADS")


def test_a_worker_uses_one_thread_of_blas_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, expected in ((None, "1"), ("3", "3")):
        if given is None:
            monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
        with make_engine(workers=2) as engine:
            assert list(in_order(engine, blas_threads, [1, 2])) == [expected] * 2
        assert os.environ.get("OPENBLAS_NUM_THREADS") == given


_BUSY = """
import sys, time
from pathlib import Path
from storyproof.engines import make_engine

def sleep(folder):
    with open(Path(folder) / "begun", "a") as file:
        file.write("x")
    time.sleep(600)

if __name__ == "__main__":
    with make_engine(workers=2) as engine:
        list(engine.run(sleep, [sys.argv[1]] * 2))
"""


def test_workers_end_at_once_with_the_process_that_started_them(tmp_path: Path) -> None:
    """In the middle of their work, which nobody wants any more: they could still write."""
    script = tmp_path / "script.py"
    script.write_text(_BUSY)
    with subprocess.Popen([sys.executable, str(script), str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "begun").exists() or (tmp_path / "begun").read_text() != "xx":
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        assert process.stdout is not None
        assert process.stdout.read() == ""  # returns when nobody holds the pipe any more


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "max 100000"}, 8),
        ({"job/cpu.max": "250000 100000"}, 2),
        ({"cpu.max": "300000 100000", "job/cpu.max": "max 100000"}, 3),
        ({"job/cpu.max": "50000 100000"}, 1),
        ({"cpu,cpuacct/job/cpu.cfs_quota_us": "400000", "cpu,cpuacct/job/cpu.cfs_period_us": "100000"}, 4),
        ({"cpu,cpuacct/job/cpu.cfs_quota_us": "-1", "cpu,cpuacct/job/cpu.cfs_period_us": "100000"}, 8),
        ({"job/cpu.max": "nonsense"}, 8),
        ({}, 8),
    ],
)
def test_cores_that_a_control_group_allows_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    groups = "3:cpu,cpuacct:/job\n2:memory:/job\n0::/job\n"
    read_text = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda path, **more: groups if path.parts[1] == "proc" else read_text(path, **more)
    )
    monkeypatch.setattr(processes, "_CGROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert processes.available_cores() == expected


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


_COPIED = """
import sys
from storyproof.engines import make_engine
from storyproof.runtime.lean_imports import import_arrow_alone

state = []

def is_copy(item):
    return bool(state)

if __name__ == "__main__":
    import_arrow_alone()
    state.append(1)
    if sys.argv[1:]:
        import threading
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    with make_engine(workers=2) as engine:
        print(sorted(engine.run(is_copy, [1, 2])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are not copied")
@pytest.mark.parametrize("threads", [1, 2])
def test_workers_are_copies_of_a_process_with_one_thread(tmp_path: Path, threads: int) -> None:
    """Locks that other threads hold would never be released in a copy."""
    script = tmp_path / "script.py"
    script.write_text(_COPIED)
    command = [sys.executable, str(script), *["threads"] * (threads - 1)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == f"[(0, {threads == 1}), (1, {threads == 1})]\n"
    assert found.stderr == ""
