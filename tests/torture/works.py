"""Commands that write, and what is there before them and after them: what the torture tests share."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from tests.solvers.llm.serving import FakeServer
from tests.torture.program import OPERATIONS, Ended, Halt, Tree, run, tree

NEIGHBOURS = {".out.notes": "mine", ".out.unfinished-plan": "mine", "out.old": "mine", "thesis.txt": "mine"}
EMPTY = "an empty folder"
TOMI = "generate tomi --train 3 --val 0 --test 3"
OLD = "generate tomi --train 0 --val 3 --test 6 --seed 8 --format jsonl --out out"
RAW = "generate tomi --train 0 --val 0 --test 3 --format babi --out given"
LESSON = "generate tomi --train 12 --val 0 --test 3 --out given"
RULES = "evaluate --model rules --data given --output-dir out"
MEMNN = "train memnn --data given --device cpu --epochs 3 --option width=8 --option hops=1 --out out"
OTHER = "train memnn --benchmark tomi --stories 3 --device cpu --epochs 1 --option width=4 --out out"
QUESTIONS = 18  # of the data that RAW makes


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
    path = PurePath(name)
    if content is None or path.parts[0] in ("given", *NEIGHBOURS):
        return content
    if path.name in ("replies.sqlite", "about.json", "spent.json") or "/twin-" in name:
        return b"as in every run"
    if path.suffix != ".json":
        return content
    try:
        plain = json.loads(content)
    except ValueError:
        return content  # half a file
    for each in plain if isinstance(plain, list) else [plain]:
        for key in ("run", "traffic", "backend"):
            each.pop(key, None)
        for row in each.get("predictions", ()):
            row.pop("effort", None)
        each.get("about", {}).pop("finished", None)
    return json.dumps(plain).encode()


@dataclass(frozen=True, slots=True)
class Work:
    """A command that writes `out`, a folder unless it says otherwise.

    Attributes:
        command: The command.
        given: The commands that make what it finds, one after the other.
        ends: Its exit code.
        inside: Whether it runs in the folder that it writes.
    """

    command: str
    given: tuple[str, ...] = ()
    ends: int = 0
    inside: bool = False

    def prepare(self, place: Path) -> None:
        """Make a folder with all that is there before the command runs."""
        place.mkdir(parents=True)
        for name, text in NEIGHBOURS.items():
            (place / name).write_text(text)
        for command in self.given:
            if command == EMPTY:
                (place / "out").mkdir()
            else:
                ended = run(command, place)
                assert ended.code == 0, ended
        if self.ends == 1:  # something to find
            path = place / "given" / "test.txt"
            path.write_text(path.read_text().replace("\t1\n", "_too\t1\n", 1))

    def folder(self, place: Path) -> Path:
        """Return the folder that it runs in."""
        return place / "out" if self.inside else place


class Undisturbed:
    """What is there before a command and after it."""

    def __init__(self, work: Work, place: Path) -> None:
        self.work, self.template, self._place = work, place / "template", place
        work.prepare(self.template)
        self.before = lasting(tree(self.template))
        self.operations = self.count(OPERATIONS)
        self.after = lasting(tree(place / OPERATIONS))
        self.known = {*self.before, *self.after}

    def count(self, kind: str) -> int:
        """Run the command, and return how many steps it takes."""
        copy = self.copy(self._place / kind)
        ended = run(self.work.command, self.work.folder(copy), Halt(0, kind))
        assert ended.code == self.work.ends, ended
        return ended.steps

    def copy(self, place: Path) -> Path:
        """Copy what is there before the command."""
        shutil.copytree(self.template, place)
        return place


def assert_one_sentence(ended: Ended) -> None:
    """Check that a command failed as promised: exit code 2, and one sentence, perhaps after lines of progress."""
    assert ended.code == 2, ended
    *progress, sentence = ended.err.splitlines() or [""]
    assert sentence.startswith("storyproof: "), ended
    assert sentence.endswith("."), ended
    assert all(line.startswith(("storyproof: ", "memnn on ")) for line in progress), ended


def is_held(server: FakeServer, answers: int) -> bool:
    """Return whether a server has given so many answers, and holds what else it is asked."""
    counts = server.counts()
    return bool(counts["in_flight"]) and counts["answered_in_all"] >= answers


@contextmanager
def asked_once(server: FakeServer, in_flight: int = 0) -> Iterator[None]:
    """Check that all questions are asked, and that none is asked twice but so many that were in flight."""
    before = Counter(server.counts()["asked"])
    yield
    asked = Counter(server.counts()["asked"]) - before
    assert len(asked) == QUESTIONS, len(asked)
    assert asked.total() - QUESTIONS <= in_flight, asked.total()
