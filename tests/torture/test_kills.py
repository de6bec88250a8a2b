"""Kills of every command that writes: the old output stays whole or the new one is, and the next run repairs the rest.

Commands are killed before each of their operations on the file system, and before calls that are drawn from all the
calls that they make; those that wait for other processes are killed when something has happened there.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from storyproof.solvers.neural.trained_runs import load_runs
from tests.solvers.llm.serving import FakeServer, wait_for
from tests.torture.program import CALLS, OPERATIONS, Ended, Halt, Tree, run, start, tree
from tests.torture.trial import Trial

NEIGHBOURS = {".out.notes": "mine", ".out.unfinished-plan": "mine", "out.old": "mine", "thesis.txt": "mine"}
DRAWN = 3  # calls of each command


def output(found: Tree) -> Tree:
    """Return the part of a tree that is the output."""
    return {name: content for name, content in found.items() if name.split("/")[0] == "out"}


def others(found: Tree) -> Tree:
    """Return the part of a tree that no command may change."""
    return {name: content for name, content in found.items() if name.split("/")[0] in (*NEIGHBOURS, "given")}


def lasting(found: Tree) -> Tree:
    """Leave out of runs what differs from one run to the next."""
    return {name: _lasting(name, content) for name, content in found.items()}


def _lasting(name: str, content: bytes | None) -> bytes | None:
    if content is None or not name.startswith("out/"):
        return content
    if name.endswith("replies.sqlite"):
        return b"replies"
    if name.endswith("/run.json"):
        plain = json.loads(content)
        plain["about"].pop("finished")
    elif name.endswith("_test.json"):
        plain = json.loads(content)
        for key in ("run", "traffic", "backend"):
            plain.pop(key, None)
        for row in plain["predictions"]:
            row.pop("effort", None)
    else:
        return content
    return json.dumps(plain).encode()


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
class Work:
    """A command that writes a folder `out`.

    Attributes:
        command: The command.
        given: The commands that make what it finds, one after the other.
        check: Checks what it left, and returns whether it had finished.
        inside: Whether it runs in the folder that it writes.
        ends: Its exit code.
        operations: Before how many of its operations it is killed, if not before all.
    """

    command: str
    given: tuple[str, ...] = ()
    check: Callable[[Undisturbed, Tree, Path], bool] = check_folder
    inside: bool = False
    ends: int = 0
    operations: int = 99

    def prepare(self, place: Path) -> None:
        """Make a folder with all that is there before the command runs."""
        place.mkdir()
        for name, text in NEIGHBOURS.items():
            (place / name).write_text(text)
        for command in self.given:
            if command == EMPTY:
                (place / "out").mkdir()
            else:
                assert run(command, place).code == 0, command
        if self.ends == 1:  # something to find
            path = place / "given" / "test.txt"
            path.write_text(path.read_text().replace("\t1\n", "_too\t1\n", 1))

    def folder(self, place: Path) -> Path:
        """Return the folder that it runs in."""
        return place / "out" if self.inside else place


class Undisturbed:
    """What is there before a command and after it, and how many steps it takes."""

    def __init__(self, work: Work, place: Path) -> None:
        self.work, self._template = work, place / "template"
        work.prepare(self._template)
        self.before, self._counts = lasting(tree(self._template)), {}
        for kind in (OPERATIONS, CALLS):
            copy = self.copy(place / kind)
            ended = run(work.command, work.folder(copy), Halt(0, kind))
            assert ended.code == work.ends, ended
            self._counts[kind], self.after = ended.steps, lasting(tree(copy))
        self.known = {*self.before, *self.after}

    def copy(self, place: Path) -> Path:
        shutil.copytree(self._template, place)
        return place

    def halts(self, drawn: int = DRAWN) -> Iterator[Halt]:
        """Yield operations, the first and the last among them, and some of the calls."""
        operations, wanted = self._counts[OPERATIONS], min(self.work.operations, self._counts[OPERATIONS])
        yield from (Halt(1 + number * (operations - 1) // (wanted - 1)) for number in range(wanted))
        draws, calls = random.Random(self.work.command), self._counts[CALLS]
        yield from (Halt(draws.randint(1, calls - calls // 50), CALLS) for _ in range(drawn))

    def kill(self, halt: Halt, place: Path) -> None:
        """Kill the command at a step, look at what it left, and run it again."""
        self.copy(place)
        ended = run(self.work.command, self.work.folder(place), halt)
        assert ended.killed, ended
        self.look(place)

    def look(self, place: Path) -> Ended:
        """Look at what a command left that was killed, and run it again."""
        work, left = self.work, lasting(tree(place))
        assert others(left) == others(self.before)
        known = {".", *self.known}
        leftovers = [PurePath(name) for name in left if name not in known and str(PurePath(name).parent) in known]
        complete = work.check(self, left, place)
        again = run(work.command, work.folder(place))
        refused = complete and "--force" not in work.command
        assert again.code == (2 if refused else work.ends), again
        assert lasting(tree(place)) == self.after
        for path in leftovers:
            if path.name.startswith(".") and ".lock" not in path.name:
                assert path.name in again.err, f"{path} is not named: {again.err}"
        return again


def kill_all(trial: Trial, works: dict[str, Work], place: Path) -> None:
    for name, work in works.items():
        (place / name).mkdir()
        usual = Undisturbed(work, place / name)
        for halt in usual.halts():
            where = f"{halt.kind} {halt.step}"
            with trial.case(f"{name}, {where}"):
                usual.kill(halt, place / name / where)


EMPTY = "an empty folder"
TOMI = "generate tomi --train 3 --val 0 --test 3"
OLD = "generate tomi --train 0 --val 3 --test 6 --seed 8 --format jsonl --out out"
RAW = "generate tomi --train 0 --val 0 --test 3 --format babi --out given"
LESSON = "generate tomi --train 12 --val 0 --test 3 --out given"
GENERATE = {
    "parquet": Work(f"{TOMI} --out out"),
    "jsonl into an empty folder": Work(f"{TOMI} --out out --format jsonl", (EMPTY,)),
    "babi by force": Work(f"{TOMI} --out out --format babi --force", (OLD,)),
    "tom-babi into the current folder": Work(
        "generate tom-babi --train 0 --val 0 --test 12 --out . --format babi", (EMPTY,), inside=True, operations=14
    ),
    "clutrr csv by force": Work(
        "generate clutrr --train 0 --val 0 --test 1 --test-k 2 --out out --format csv --force", (OLD,), operations=8
    ),
}
PROCESS = {
    "process": Work("process given --out out", (RAW,), operations=12),
    "process by force": Work("process given --out out --force", (RAW, OLD), operations=12),
}
AUDIT = {
    "audit": Work("audit given --fix out", (RAW,), ends=1, operations=12),
    "audit into an empty folder": Work("audit given --fix out", (RAW, EMPTY), ends=1, operations=12),
}
RULES = "evaluate --model rules --data given --output-dir out"
EVALUATE = {
    "rules": Work(RULES, (RAW,), check_files),
    "rules again": Work(RULES, (RAW, RULES.replace("rules", "majority,rules")), check_files),
}
MEMNN = "train memnn --data given --device cpu --epochs 3 --option width=8 --option hops=1 --out out"
OTHER = "train memnn --benchmark tomi --stories 3 --device cpu --epochs 1 --option width=4 --out out"
TRAIN = {
    "train": Work(MEMNN, (LESSON,), check_training),
    "train by force": Work(f"{MEMNN} --force", (LESSON, OTHER), check_training, operations=16),
}


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

WORKERS = Work("generate tomi --train 9999 --val 0 --test 3 --out out --workers 2", operations=4)
IN_FLIGHT = 2
QUESTIONS = 18


def workers_of(pid: int) -> list[int]:
    """Return the worker processes that a process has started."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        words = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"spawn_main" in words:
            found.append(int(child))
    return found


def test_kills_of_generate_with_workers(trial: Trial, tmp_path: Path) -> None:
    usual = Undisturbed(WORKERS, tmp_path)
    for halt in usual.halts(2):
        where = f"{halt.kind} {halt.step}"
        with trial.case(where):
            usual.kill(halt, tmp_path / where)
    for number, name in enumerate(("first", "last", "first, late", "last, late")):
        with trial.case(f"the {name} worker"):
            place = usual.copy(tmp_path / name)
            started = start(WORKERS.command, place)
            awaited = ".out.unfinished-*/train.parquet" if "late" in name else ".out.unfinished-*"
            wait_for(lambda: len(workers_of(started.pid)) == 2 and any(place.glob(awaited)), "two workers")  # noqa: B023
            os.kill(workers_of(started.pid)[-number % 2], signal.SIGKILL)
            ended = started.wait()
            if ended.code:  # else it had done its work
                assert_one_sentence(ended)
                assert tree(place) == usual.before
            usual.look(place)


def assert_one_sentence(ended: Ended) -> None:
    """Check that a command was refused as promised: exit code 2, and one sentence."""
    assert ended.code == 2, ended
    assert ended.err.startswith("storyproof: "), ended
    assert ended.err.endswith(".\n"), ended
    assert ended.err.count("\n") == 1, ended


def is_held(server: FakeServer, answers: int) -> bool:
    """Return whether a server has given so many answers, and holds what else it is asked."""
    counts = server.counts()
    return bool(counts["in_flight"]) and counts["answered_in_all"] >= answers


@contextmanager
def asked_once(server: FakeServer) -> Iterator[None]:
    """Check that all questions are asked, and that none is asked again but those in flight."""
    before = Counter(server.counts()["asked"])
    yield
    asked = Counter(server.counts()["asked"]) - before
    assert len(asked) == QUESTIONS, len(asked)
    assert asked.total() - QUESTIONS <= IN_FLIGHT, asked.total()


def test_kills_of_evaluate_with_a_language_model(trial: Trial, tmp_path: Path) -> None:
    """No reply that came back is lost, and nothing is asked again but what was in flight."""
    with FakeServer() as server:
        command = f"evaluate --model openai/fake --base-url {server.url} --concurrency {IN_FLIGHT}"
        usual = Undisturbed(Work(f"{command} --data given --output-dir out", (RAW,), check_files), tmp_path)
        for halt in usual.halts(6):
            where = f"{halt.kind} {halt.step}"
            with trial.case(where), asked_once(server):
                usual.kill(halt, tmp_path / where)
        for answers in (0, 1, 2, 5, 9, 13, 16, 17):
            with trial.case(f"after {answers} answers"), asked_once(server):
                place = usual.copy(tmp_path / f"answer {answers}")
                enough = server.counts()["answered_in_all"] + answers
                server.behave(hold_after=enough)
                started = start(usual.work.command, place)
                wait_for(lambda: is_held(server, enough), "a request that is held")  # noqa: B023
                started.kill()
                assert started.wait().killed
                server.behave()
                usual.look(place)
