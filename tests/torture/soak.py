"""Everything together for a long time: `make soak`, or `python -m tests.torture.soak --minutes 30 --seed 1`.

Eight threads keep the machine busy with what the torture tests do one by one: commands that are killed, workers that
are killed, damaged files, a hostile server, the explorer with good and broken requests, and studies with and without
kills. Three servers live from the first to the last minute; their memory and open files are measured. At the end it
prints what was tried and what failed, and what is left over; anything that failed or is left over gives exit code 1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import forkserver, util
from pathlib import Path
from threading import Event, Lock, Thread

import storyproof
from storyproof.study.folder import open_study
from storyproof.study.results import read_rows
from tests.solvers.llm.serving import wait_for
from tests.study.crowd import Acknowledged, Server, Visitor, play_with_kills
from tests.study.postgres import free_port
from tests.study.samples import UNLIMITED, kinship_data, make_study, solve_design
from tests.torture.hostile_server import MODES, Mode
from tests.torture.program import CALLS, Halt
from tests.torture.test_explorer import REQUESTS, break_up, post, send_broken, server
from tests.torture.test_hostile_server import QUESTIONS, Servers, check_printed, evaluate, hostile_servers
from tests.torture.test_kills import AUDIT, EVALUATE, GENERATE, PROCESS, WORKERS, kill_worker
from tests.torture.test_mutated_inputs import COMMANDS, DATA_PARTS, attempt_command
from tests.torture.trial import Trial
from tests.torture.works import Undisturbed

MOST = 5_000  # cases of a thread, so that a run is bounded by more than time
MARK = "STORYPROOF_SOAK"  # in the environment of all processes, to find those that stay
ONCE = ("429-once-", "mix")  # modes that differ the second time, or by chance
HALF_WRITTEN = ("unfinished", ".draft", ".lock", ".making", ".tmp", "-wal", "-journal")


@dataclass
class Component:
    """A server that lives as long as the run: its resident memory in MB, and its open files."""

    name: str
    pid: int
    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def measure(self) -> None:
        """Read both; a process that is gone raises."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        self.memory.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
        self.files.append(sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir()))


@dataclass
class Soak:
    """One run: where it works, when it ends, and what its threads tried."""

    place: Path
    seed: int
    over: Event = field(default_factory=Event)
    trials: list[Trial] = field(default_factory=list)
    half_written: list[str] = field(default_factory=list)

    def start(self, part: str, attempt: Callable[[random.Random, Path], None]) -> Thread:
        """Attempt cases of a part in a thread until time is up, each in a folder of its own."""
        trial, draws = Trial(part), random.Random(f"{self.seed} {part}")
        self.trials.append(trial)
        thread = Thread(target=self._attempt_all, args=[trial, draws, attempt])
        thread.start()
        return thread

    def _attempt_all(self, trial: Trial, draws: random.Random, attempt: Callable[[random.Random, Path], None]) -> None:
        while not self.over.is_set() and trial.tried < MOST:
            place = self.place / trial.part.replace(" ", "-") / str(trial.tried)
            place.parent.mkdir(exist_ok=True)
            with trial.case(f"{trial.part} {trial.tried}"):
                attempt(draws, place)
                self.half_written += find_half_written(place)
            shutil.rmtree(place, ignore_errors=True)


def find_half_written(place: Path) -> list[str]:
    """Return the drafts and locks below a folder."""
    found = [str(path) for path in place.rglob("*") if any(part in path.name for part in HALF_WRITTEN)]
    return [path for path in found if ".out.unfinished-plan" not in path]  # a neighbour that the kills put there


class KilledCommands:
    """Commands that are killed at a step drawn from all their steps, and `generate` whose workers are killed."""

    def __init__(self, place: Path) -> None:
        kills = [GENERATE[0], GENERATE[2], PROCESS[0], AUDIT[0], EVALUATE[0]]
        self._usual = [(each, Undisturbed(each.work, place / str(number))) for number, each in enumerate(kills)]
        self._calls = [usual.count(CALLS) for _, usual in self._usual]
        self._workers = Undisturbed(WORKERS.work, place / "workers")

    def attempt(self, draws: random.Random, place: Path) -> None:
        """Kill one of them."""
        number = draws.randrange(len(self._usual) + 1)
        if number == len(self._usual):
            kill_worker(self._workers, draws.randrange(2), late=draws.random() < 0.5, place=place)
            return
        kills, usual = self._usual[number]
        calls = self._calls[number]
        halts = Halt(draws.randint(1, usual.operations)), Halt(draws.randint(1, calls - calls // 50), CALLS)
        kills.kill(usual, draws.choice(halts), usual.copy(place))


class HostileModes:
    """Modes of the hostile server in random order, for several threads."""

    def __init__(self, servers: Servers, data: Path, seed: int) -> None:
        self._servers, self._data, self._lock = servers, data, Lock()
        self._modes = self._draw(random.Random(seed))

    @staticmethod
    def _draw(draws: random.Random) -> Iterator[tuple[str, Mode]]:
        modes = [pair for group in MODES.values() for pair in group.items()]
        while True:
            draws.shuffle(modes)
            yield from modes
            modes = [pair for pair in modes if not pair[0].startswith(ONCE)]

    def attempt(self, draws: random.Random, place: Path) -> None:
        """Evaluate against a mode, then against the good server: every question is answered."""
        with self._lock:
            name, mode = next(self._modes)
        place.mkdir()
        check_printed(evaluate(self._data, self._servers, name, mode, place), mode)
        options = tuple(each for each in mode.options if each in ("--prompt", "multiple-choice"))
        again = evaluate(self._data, self._servers, "good", Mode(mode.behave, options=options), place)
        assert again.code == 0, (name, again.out)
        assert sum(1 for _ in (place / "runs").glob("*.json")) >= 1, name


def generate_and_verify(draws: random.Random, place: Path) -> None:
    """Generate, verify and evaluate; one process and two write the same bytes."""
    place.mkdir()
    benchmark, count = draws.choice([("tomi", 999), ("tom-babi", 600), ("clutrr", 200)])
    seed = draws.randrange(1_000)
    for out, workers in (("one", 1), ("two", 2)):
        command = f"generate {benchmark} --train 0 --val 0 --test {count} --seed {seed} --out {out} --workers {workers}"
        run_well(command, place)
    one, two = ((place / name / "test.parquet").read_bytes() for name in ("one", "two"))
    assert one == two, (benchmark, seed)
    run_well("verify one", place)
    run_well("evaluate --model rules --data two --output-dir runs", place)


def run_well(command: str, place: Path) -> None:
    """Run a command of the program in a process of its own, which must succeed."""
    words = [sys.executable, "-m", "storyproof", *command.split()]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, (command, done.stderr)


def damage(draws: random.Random, place: Path) -> None:
    """Give a damaged file to a command."""
    attempt_command(draws.choice(DATA_PARTS), draws.randrange(10**6), place, draws.choice(COMMANDS))


def explore(port: int) -> Callable[[random.Random, Path], None]:
    """Return a case: broken requests, then a good one."""

    def attempt(draws: random.Random, place: Path) -> None:
        for _ in range(draws.randrange(4)):
            with suppress(ConnectionError):
                send_broken(port, break_up(draws))
        path, body = draws.choice(REQUESTS)
        status, reply = post(port, path, **body)
        assert status == 200, (path, reply)

    return attempt


class LongStudy:
    """A study whose server is not killed; participants come one after the other."""

    def __init__(self, place: Path, data: Path) -> None:
        design = solve_design(items=100, answers_per_item=200, tasks_per_participant=4, conditions=(UNLIMITED,))
        study = make_study(place, design, data=data)
        study.close()
        self._folder = study.folder
        self.server, self._done, self._count = Server(study.folder, free_port()), Acknowledged(), 0

    def attempt(self, draws: random.Random, place: Path) -> None:
        """Let one more participant take part."""
        visitor = Visitor(self.server, draws.randrange(10**9), self._done)
        visitor.take_part()
        assert visitor.finished
        self._count += 1

    def check(self, trial: Trial) -> None:
        """Check that everything that was acknowledged is there, once."""
        with trial.case("all answers of the long study"):
            study = open_study(self._folder)
            rows = read_rows(study)
            sent = sum(path.endswith("/answer") for path, _ in self._done.forms)
            assert sent == len(rows.answers), (sent, len(rows.answers))
            assert len(rows.participants) == self._count
            study.close()


def killed_study(data: Path) -> Callable[[random.Random, Path], None]:
    """Return a case: a study of a few participants whose server is killed again and again."""

    def attempt(draws: random.Random, place: Path) -> None:
        place.mkdir()
        design = solve_design(items=6, answers_per_item=4, tasks_per_participant=3, conditions=(UNLIMITED,))
        study = make_study(place, design, data=data)
        study.close()
        done, visitors, kills = play_with_kills(Server(study.folder, free_port()), 4, draws.randint(6, 20))
        assert kills
        assert all(visitor.finished for visitor in visitors)
        study = open_study(study.folder)
        answers = read_rows(study).answers
        study.close()
        assert len(answers) == sum(path.endswith("/answer") for path, _ in done.forms)

    return attempt


@contextmanager
def study_server(study: LongStudy) -> Iterator[int]:
    """Start the server of the long study."""
    study.server.start()
    try:
        yield study.server.pid
    finally:
        study.server.kill()


def marked_processes(mark: str) -> list[str]:
    """Return the processes, other than this one, whose environment has the mark of this run."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(path.name) != os.getpid() and f"{MARK}={mark}".encode() in (path / "environ").read_bytes():
                found.append(f"{path.name} {(path / 'cmdline').read_bytes().replace(bytes(1), b' ').decode()}")
    return found


def soak(place: Path, minutes: float, seed: int) -> int:
    """Run everything, print the tables, and return the exit code."""
    scratch = place / "tmp"
    scratch.mkdir()
    mark = uuid.uuid4().hex
    util.get_temp_dir()  # what Python itself and torch keep while they run goes elsewhere
    os.environ |= {"TMPDIR": str(scratch), "TORCHINDUCTOR_CACHE_DIR": str(place / "torch"), MARK: mark}
    tempfile.tempdir = None
    state, loads = Soak(place, seed), list[float]()
    data, kinship = place / "tomi", kinship_data(place, stories=120)
    storyproof.generate("tomi", test=6, seed=7, out=data)
    assert QUESTIONS == 36
    for folder in ("kills", "long", "explorer"):
        (place / folder).mkdir()
    killed, long_study = KilledCommands(place / "kills"), LongStudy(place / "long", kinship)
    with ExitStack() as servers:
        hostile = servers.enter_context(hostile_servers())
        explorer, port = servers.enter_context(server(place / "explorer"))
        study_pid = servers.enter_context(study_server(long_study))
        components = [
            Component("hostile server", hostile.pid),
            Component("explorer", explorer.pid),
            Component("study server", study_pid),
            Component("soak itself", os.getpid()),
        ]
        for path, body in REQUESTS:  # until everything is loaded
            assert post(port, path, **body)[0] == 200
        long_study.attempt(random.Random(0), place)
        modes = HostileModes(hostile, data, seed)
        parts: list[tuple[str, Callable[[random.Random, Path], None]]] = [
            ("killed commands", killed.attempt),
            ("hostile server one", modes.attempt),
            ("hostile server two", modes.attempt),
            ("generate verify evaluate", generate_and_verify),
            ("damaged files", damage),
            ("explorer", explore(port)),
            ("study", long_study.attempt),
            ("study with kills", killed_study(kinship)),
        ]
        for component in components:
            component.measure()
        end = time.monotonic() + 60 * minutes
        threads = [state.start(part, attempt) for part, attempt in parts]
        while time.monotonic() < end and any(thread.is_alive() for thread in threads):
            state.over.wait(min(2.0, max(0.0, end - time.monotonic())))
            for component in components:
                component.measure()
            loads.append(os.getloadavg()[0])
        state.over.set()
        for thread in threads:
            thread.join()
        for component in components:
            component.measure()
    long_study.check(state.trials[6])
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    with suppress(AssertionError):  # what stays is reported
        wait_for(lambda: not stray(mark), "all processes to end")
    leftovers = {
        "temporary files": [path.name for path in scratch.iterdir()],
        "half-written files or folders": state.half_written + find_half_written(place / "explorer"),
        "processes": stray(mark),
    }
    return print_tables(state.trials, components, leftovers, loads, minutes, seed)


def stray(mark: str) -> list[str]:
    """Return the processes that stay, except for the tracker that Python ends with this process."""
    return [each for each in marked_processes(mark) if "resource_tracker" not in each]


def print_tables(
    trials: list[Trial],
    components: list[Component],
    leftovers: dict[str, list[str]],
    loads: list[float],
    minutes: float,
    seed: int,
) -> int:
    """Print what was tried, what it took and what is left; return the exit code."""
    for trial in trials:
        for failure in trial.failures[:5]:
            print(f"FAILED {failure}", file=sys.stderr)
    tried, failed = sum(trial.tried for trial in trials), sum(len(trial.failures) for trial in trials)
    mean = sum(loads) / max(1, len(loads))
    print(f"soak of {minutes:g} minutes, seed {seed}, load average {mean:.1f} (at most {max(loads, default=0):.1f})\n")
    print("| part | tried | failed |\n|---|---|---|")
    for trial in trials:
        print(f"| {trial.part} | {trial.tried:,} | {len(trial.failures)} |")
    print(f"| all | {tried:,} | {failed} |\n")
    print("| component | MB at start | at end | at most | open files at start | at end |\n|---|---|---|---|---|---|")
    for each in components:
        sizes = f"{each.memory[0]:.0f} | {each.memory[-1]:.0f} | {max(each.memory):.0f}"
        print(f"| {each.name} | {sizes} | {each.files[0]} | {each.files[-1]} |")
    print("\n| left over | |\n|---|---|")
    for kind, found in leftovers.items():
        print(f"| {kind} | {len(found)} |")
        for name in found[:10]:
            print(f"LEFT OVER {kind}: {name}", file=sys.stderr)
    untried = [trial.part for trial in trials if not trial.tried]
    return 1 if failed or untried or any(leftovers.values()) else 0


def main() -> None:
    """Read the arguments, and run in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="storyproof-soak-") as place:
        code = soak(Path(place), given.minutes, given.seed)
    sys.exit(code)


if __name__ == "__main__":
    main()
