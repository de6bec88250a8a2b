"""Kills of every command that writes: the old output stays whole or the new one is, and the next run repairs the rest.

Commands are killed before each of their operations on the file system, and before calls that are drawn from all the
calls that they make; those that wait for other processes are killed when something has happened there.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from storyproof.solvers.neural.saved_runs import load_runs
from tests.solvers.llm.serving import FakeServer, wait_for
from tests.torture.program import CALLS, Halt, Tree, run, start, tree
from tests.torture.trial import Trial
from tests.torture.works import (
    EMPTY,
    LESSON,
    MEMNN,
    OLD,
    OTHER,
    RAW,
    RULES,
    TOMI,
    Undisturbed,
    Work,
    asked_once,
    assert_one_sentence,
    is_held,
    lasting,
    others,
    output,
)

DRAWN = 3  # calls of each command


def check_folder(usual: Undisturbed, left: Tree, place: Path) -> bool:
    """Check that a folder is as it was before or as it is after; return whether it is as after."""
    found = {name: content for name, content in output(left).items() if name in usual.known}
    complete = found == output(usual.after)
    if not complete and found != output(usual.before):
        assert usual.work.inside, f"a mixture of old and new: {sorted(found)}"
        assert run("verify .", place / "out").code == 1, "verify calls unfinished data clean"
    return complete


def check_files(usual: Undisturbed, left: Tree, place: Path) -> bool:
    """Check that every file of a folder is whole, an old or a new one; return False, since the next run goes on."""
    for name, content in output(left).items():
        if name in usual.known:
            assert content in (usual.before.get(name), usual.after.get(name)), f"{name} is not whole"
    return False


def check_training(usual: Undisturbed, left: Tree, place: Path) -> bool:
    """Check that trained runs are the old or the new ones; return False, since the next run goes on."""
    if "out/run.json" not in left:
        ready = any(name.startswith("out/.run.json.draft-") for name in left)
        assert "out/run.json" not in usual.before or ready, "the old runs are gone"
        return False
    load_runs(place / "out")
    names = ("out/run.json", "out/weights.safetensors")
    found = [left[name] for name in names]
    assert found in ([each.get(name) for name in names] for each in (usual.before, usual.after)), "runs are mixed"
    return False


@dataclass(frozen=True, slots=True)
class Kills:
    """A command that is to be killed.

    Attributes:
        work: The command.
        check: Checks what it left, and returns whether it had finished.
        operations: Before how many of its operations it is killed, if not before all.
        drawn: Before how many of its calls it is killed.
    """

    work: Work
    check: Callable[[Undisturbed, Tree, Path], bool] = check_folder
    operations: int = 99
    drawn: int = DRAWN

    def carry_out(
        self,
        trial: Trial,
        usual: Undisturbed,
        place: Path,
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Kill it at each of its steps in turn, look at what it left, and run it again."""
        for halt in self._halts(usual):
            where = f"{halt.kind} {halt.step}"
            with trial.case(f"{self.work.command}, {where}"), around():
                self.kill(usual, halt, usual.copy(place / where))

    def _halts(self, usual: Undisturbed) -> Iterator[Halt]:
        """Yield operations, the first and the last among them, and some of the calls."""
        wanted = min(self.operations, usual.operations)
        yield from (Halt(1 + number * (usual.operations - 1) // (wanted - 1)) for number in range(wanted))
        draws, calls = random.Random(self.work.command), usual.count(CALLS)
        yield from (Halt(draws.randint(1, calls - calls // 50), CALLS) for _ in range(self.drawn))

    def kill(self, usual: Undisturbed, halt: Halt, place: Path) -> None:
        """Kill it at a step, look at what it left, and run it again."""
        ended = run(self.work.command, self.work.folder(place), halt)
        assert ended.killed, ended
        self.look(usual, place)

    def look(self, usual: Undisturbed, place: Path) -> None:
        """Look at what a command left that was killed, and run it again."""
        work, left = self.work, lasting(tree(place))
        assert others(left) == others(usual.before)
        known = {".", *usual.known}
        leftovers = [PurePath(name) for name in left if name not in known and str(PurePath(name).parent) in known]
        complete = self.check(usual, left, place)
        again = run(work.command, work.folder(place))
        refused = complete and "--force" not in work.command
        assert again.code == (2 if refused else work.ends), again
        assert lasting(tree(place)) == usual.after
        for path in leftovers:
            if path.name.startswith(".") and ".lock" not in path.name:
                assert path.name in again.err, f"{path} is not named: {again.err}"


def kill_all(trial: Trial, all_kills: list[Kills], place: Path) -> None:
    for number, kills in enumerate(all_kills):
        kills.carry_out(trial, Undisturbed(kills.work, place / str(number)), place / str(number))


GENERATE = [
    Kills(Work(f"{TOMI} --out out")),
    Kills(Work(f"{TOMI} --out out --format jsonl", (EMPTY,))),
    Kills(Work(f"{TOMI} --out out --format babi --force", (OLD,))),
    Kills(
        Work("generate tom-babi --train 0 --val 0 --test 12 --out . --format babi", (EMPTY,), inside=True),
        operations=14,
    ),
    Kills(
        Work("generate clutrr --train 0 --val 0 --test 1 --test-k 2 --out out --format csv --force", (OLD,)),
        operations=8,
    ),
]
PROCESS = [
    Kills(Work("process given --out out", (RAW,)), operations=12),
    Kills(Work("process given --out out --force", (RAW, OLD)), operations=12),
]
AUDIT = [
    Kills(Work("audit given --fix out", (RAW,), ends=1), operations=12),
    Kills(Work("audit given --fix out", (RAW, EMPTY), ends=1), operations=12),
]
EVALUATE = [
    Kills(Work(RULES, (RAW,)), check_files),
    Kills(Work(RULES, (RAW, RULES.replace("rules", "majority,rules"))), check_files),
]
TRAIN = [
    Kills(Work(MEMNN, (LESSON,)), check_training),
    Kills(Work(f"{MEMNN} --force", (LESSON, OTHER)), check_training, operations=16),
]


def test_kills_of_generate(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, GENERATE, tmp_path)


def test_kills_of_process(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, PROCESS, tmp_path)


def test_kills_of_audit_with_fixes(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, AUDIT, tmp_path)


def test_kills_of_evaluate(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, EVALUATE, tmp_path)


def test_kills_of_train(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, TRAIN, tmp_path)


# --- commands that wait for other processes

WORKERS = Kills(Work("generate tomi --train 9999 --val 0 --test 3 --out out --workers 2"), operations=4, drawn=2)
IN_FLIGHT = 2  # requests


def workers_of(pid: int) -> list[int]:
    """Return the worker processes that a process has started, as far as they have not ended."""
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"spawn_main" in words:
                found.append(int(child))
    return found


def test_kills_of_generate_with_workers(trial: Trial, tmp_path: Path) -> None:
    usual = Undisturbed(WORKERS.work, tmp_path)
    WORKERS.carry_out(trial, usual, tmp_path)
    for number, name in enumerate(("first", "last", "first, late", "last, late")):
        with trial.case(f"the {name} worker"):
            kill_worker(usual, -number % 2, late="late" in name, place=tmp_path / name)


def kill_worker(usual: Undisturbed, number: int, *, late: bool, place: Path) -> None:
    """Kill a worker of WORKERS as soon as there are two, or when they have written something."""
    usual.copy(place)
    started = start(WORKERS.work.command, place)
    awaited = ".out.unfinished-*/**/train.parquet" if late else ".out.unfinished-*"
    workers: list[int] = []

    def is_time() -> bool:
        if started.has_ended:  # it was done before we looked, as on a machine with much other work
            return True
        found = workers_of(started.pid)
        if len(found) == 2 and any(place.glob(awaited)):
            workers.extend(found)
        return bool(workers)

    wait_for(is_time, "two workers")
    if workers:
        with suppress(ProcessLookupError):
            os.kill(workers[number], signal.SIGKILL)
    ended = started.wait()
    assert workers or ended.code == 0, ended
    if ended.code:  # else it had done its work
        assert_one_sentence(ended)
        assert tree(place) == usual.before
    WORKERS.look(usual, place)


def test_kills_of_evaluate_with_a_language_model(trial: Trial, tmp_path: Path) -> None:
    """No reply that came back is lost, and nothing is asked again but what was in flight."""
    with FakeServer() as server:
        command = f"evaluate --model openai/fake --base-url {server.url} --concurrency {IN_FLIGHT}"
        kills = Kills(Work(f"{command} --data given --output-dir out", (RAW,)), check_files, drawn=6)
        usual = Undisturbed(kills.work, tmp_path)
        kills.carry_out(trial, usual, tmp_path, lambda: asked_once(server, IN_FLIGHT))
        for answers in (0, 1, 2, 5, 9, 11, 13, 16):
            with trial.case(f"after {answers} answers"), asked_once(server, IN_FLIGHT):
                place = usual.copy(tmp_path / f"answer {answers}")
                enough = server.counts()["answered_in_all"] + answers
                server.behave(hold_after=enough)
                started = start(kills.work.command, place)
                wait_for(lambda: is_held(server, enough), "a request that is held")  # noqa: B023
                started.kill()
                assert started.wait().killed
                server.behave()
                kills.look(usual, place)
