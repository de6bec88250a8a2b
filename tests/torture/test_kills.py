"""Kills of every command that writes: the old output stays whole or the new one is, and the next run repairs the rest.

Commands are killed before each of their operations on the file system, and before calls that are drawn from all the
calls that they make; those that wait for other processes are killed when something has happened there.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from tests.torture.program import CALLS, OPERATIONS, Halt, Tree, run, tree
from tests.torture.trial import Trial

NEIGHBOURS = {".out.notes": "mine", ".out.unfinished-plan": "mine", "out.old": "mine", "thesis.txt": "mine"}
EMPTY = "an empty folder"
TOMI = "generate tomi --train 3 --val 0 --test 3"
OLD = "generate tomi --train 0 --val 3 --test 6 --seed 8 --format jsonl"
RAW = "generate tomi --train 0 --val 0 --test 3 --format babi"
DRAWN = 3  # calls of each command


@dataclass(frozen=True, slots=True)
class Work:
    """A command that writes a folder `out`.

    Attributes:
        command: The command.
        before: What writes the folder that it finds there; None if there is none.
        given: What writes the folder `given` that it reads; None if it reads none.
        inside: Whether it runs in the folder that it writes.
        ends: Its exit code.
        operations: Before how many of its operations it is killed, if not before all.
    """

    command: str
    before: str | None = None
    given: str | None = None
    inside: bool = False
    ends: int = 0
    operations: int = 99

    def prepare(self, place: Path) -> None:
        """Make a folder with all that is there before the command runs."""
        place.mkdir()
        for name, text in NEIGHBOURS.items():
            (place / name).write_text(text)
        for name, command in (("out", self.before), ("given", self.given)):
            if command == EMPTY:
                (place / name).mkdir()
            elif command is not None:
                assert run(f"{command} --out {name}", place).code == 0
        if self.ends == 1:  # something to find
            path = place / "given" / "test.txt"
            path.write_text(path.read_text().replace("\t1\n", "_too\t1\n", 1))

    def folder(self, place: Path) -> Path:
        """Return the folder that it runs in."""
        return place / "out" if self.inside else place


GENERATE = {
    "parquet": Work(f"{TOMI} --out out"),
    "jsonl into an empty folder": Work(f"{TOMI} --out out --format jsonl", before=EMPTY),
    "babi by force": Work(f"{TOMI} --out out --format babi --force", before=OLD),
    "tom-babi into the current folder": Work(
        "generate tom-babi --train 0 --val 0 --test 12 --out . --format babi", before=EMPTY, inside=True, operations=14
    ),
    "clutrr csv by force": Work(
        "generate clutrr --train 0 --val 0 --test 1 --test-k 2 --out out --format csv --force", before=OLD, operations=8
    ),
}
PROCESS = {
    "process": Work("process given --out out", given=RAW, operations=12),
    "process by force": Work("process given --out out --force", before=OLD, given=RAW, operations=12),
}
AUDIT = {
    "audit": Work("audit given --fix out", given=RAW, ends=1, operations=12),
    "audit into an empty folder": Work("audit given --fix out", before=EMPTY, given=RAW, ends=1, operations=12),
}


class Undisturbed:
    """What is there before a command and after it, and how many steps it takes."""

    def __init__(self, work: Work, place: Path) -> None:
        self.work, self._template = work, place / "template"
        work.prepare(self._template)
        self.before, self._counts = tree(self._template), {}
        for kind in (OPERATIONS, CALLS):
            copy = self.copy(place / kind)
            ended = run(work.command, work.folder(copy), Halt(0, kind))
            assert ended.code == work.ends, ended
            self._counts[kind], self.after = ended.steps, tree(copy)

    def copy(self, place: Path) -> Path:
        shutil.copytree(self._template, place)
        return place

    def halts(self, drawn: int = DRAWN) -> Iterator[Halt]:
        """Yield operations, the first and the last among them, and some of the calls."""
        operations, wanted = self._counts[OPERATIONS], min(self.work.operations, self._counts[OPERATIONS])
        yield from (Halt(1 + number * (operations - 1) // (wanted - 1)) for number in range(wanted))
        draws, calls = random.Random(self.work.command), self._counts[CALLS]
        yield from (Halt(draws.randint(1, calls - calls // 50), CALLS) for _ in range(drawn))


def output(found: Tree) -> Tree:
    """Return the part of a tree that is the output."""
    return {name: content for name, content in found.items() if name.split("/")[0] == "out"}


def others(found: Tree) -> Tree:
    """Return the part of a tree that no command may change."""
    return {name: content for name, content in found.items() if name.split("/")[0] in (*NEIGHBOURS, "given")}


def kill(usual: Undisturbed, halt: Halt, place: Path) -> None:
    """Kill a command, look at what it left, and run it again."""
    work = usual.work
    usual.copy(place)
    ended = run(work.command, work.folder(place), halt)
    assert ended.killed, ended
    left = tree(place)
    assert others(left) == others(usual.before)
    known = {*usual.before, *usual.after}
    leftovers = [PurePath(name) for name in left if name not in known and str(PurePath(name).parent) in {".", *known}]
    assert all(path.name.startswith(".out.") for path in leftovers), leftovers
    found = {name: content for name, content in output(left).items() if name in known}
    complete = found == output(usual.after)
    if not complete and found != output(usual.before):
        assert work.inside, f"a mixture of old and new: {sorted(found)}"
        assert run("verify .", place / "out").code == 1, "verify calls unfinished data clean"
    again = run(work.command, work.folder(place))
    refused = complete and "--force" not in work.command
    assert again.code == (2 if refused else work.ends), again
    assert tree(place) == usual.after
    for path in leftovers:
        assert ".lock" in path.name or path.name in again.err, f"{path} is not named: {again.err}"


def kill_all(trial: Trial, works: dict[str, Work], place: Path) -> None:
    for name, work in works.items():
        (place / name).mkdir()
        usual = Undisturbed(work, place / name)
        for halt in usual.halts():
            where = f"{halt.kind} {halt.step}"
            with trial.case(f"{name}, {where}"):
                kill(usual, halt, place / name / where)


def test_kills_of_generate(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, GENERATE, tmp_path)


def test_kills_of_process(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, PROCESS, tmp_path)


def test_kills_of_audit_with_fixes(trial: Trial, tmp_path: Path) -> None:
    kill_all(trial, AUDIT, tmp_path)
