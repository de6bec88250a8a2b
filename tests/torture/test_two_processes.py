"""Two processes at once on one output: one wins or both share the work; nothing is lost, and nothing is asked twice.

The first is paused before each of its operations on the file system in turn; the second runs to its end meanwhile, or
until it waits for the first, and then the first goes on. So whatever one looks at may have changed by the time it acts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from tests.solvers.llm.serving import FakeServer, wait_for
from tests.torture.program import WAITS, Halt, Tree, start, tree
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
)

REFUSALS = (
    "another process is writing",
    "another process is training",
    "another process is asking",
    "is not empty",
    "contains another training",
    "has files that storyproof did not write",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two commands that write the same output.

    Attributes:
        first: The one that is paused.
        second: What runs meanwhile.
        one_wins: Whether only one of them may succeed.
        operations: Before how many of its operations the first is paused, if not before all.
    """

    first: Work
    second: Work
    one_wins: bool = False
    operations: int = 99

    def carry_out(
        self, trial: Trial, place: Path, around: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        """Pause the first at each of its steps in turn, and look at what comes of both."""
        usual = Undisturbed(self.first, place / "first")
        results = [usual.after, Undisturbed(self.second, place / "second").after]
        wanted = min(self.operations, usual.operations)
        for step in sorted({1 + number * (usual.operations - 1) // (wanted - 1) for number in range(wanted)}):
            with trial.case(f"{self.first.command}, paused before operation {step}"), around():
                self._meet(usual, results, step, usual.copy(place / str(step)))

    def _meet(self, usual: Undisturbed, results: list[Tree], step: int, place: Path) -> None:
        first = start(self.first.command, self.first.folder(place), Halt(step, kills=False))
        assert first.wait_until_paused(), "it ended before it was paused"
        second = start(self.second.command, self.second.folder(place), Halt(1, kills=False, on=WAITS))
        waits = second.wait_until_paused()
        first.resume()
        ended = first.wait()
        if waits:
            second.resume()
        ends = [second.wait(), ended]
        won = [ended for ended, work in zip(ends, (self.second, self.first), strict=True) if ended.code == work.ends]
        for ended in ends:
            if ended not in won:
                assert_one_sentence(ended)
                assert any(refusal in ended.err for refusal in REFUSALS), ended
        assert won, ends
        assert not self.one_wins or len(won) == 1, ends
        assert lasting(tree(place)) in results, sorted(tree(place))


def same(command: str, *given: str, ends: int = 0) -> Pair:
    """Return two equal commands, which may share the work."""
    work = Work(command, given, ends)
    return Pair(work, work)


def rivals(command: str, *given: str, ends: int = 0) -> Pair:
    """Return two commands with other seeds, of which only one may succeed."""
    return Pair(Work(command, given, ends), Work(f"{command} --seed 1", given, ends), one_wins="--force" not in command)


def test_two_processes_that_generate(trial: Trial, tmp_path: Path) -> None:
    rivals(f"{TOMI} --out out").carry_out(trial, tmp_path / "absent")
    rivals(f"{TOMI} --out out", EMPTY).carry_out(trial, tmp_path / "empty")
    rivals(f"{TOMI} --out out --force", OLD).carry_out(trial, tmp_path / "force")


def test_two_processes_that_process(trial: Trial, tmp_path: Path) -> None:
    replace(same("process given --out out", RAW), one_wins=True).carry_out(trial, tmp_path / "absent")
    same("process given --out out --force", RAW, OLD).carry_out(trial, tmp_path / "force")


def test_two_processes_that_fix(trial: Trial, tmp_path: Path) -> None:
    replace(same("audit given --fix out", RAW, ends=1), one_wins=True).carry_out(trial, tmp_path)


def test_two_processes_that_evaluate(trial: Trial, tmp_path: Path) -> None:
    same(RULES, RAW).carry_out(trial, tmp_path / "runs")
    same("audit given --json out --html out.html", RAW, ends=1).carry_out(trial, tmp_path / "pages")


def test_two_processes_that_train(trial: Trial, tmp_path: Path) -> None:
    same(MEMNN, LESSON).carry_out(trial, tmp_path / "same")
    given = (LESSON,)
    other = Pair(Work(MEMNN, given), Work(f"{MEMNN} --seed 1", given), one_wins=True, operations=8)
    other.carry_out(trial, tmp_path / "other")
    force = Pair(Work(f"{MEMNN} --force", (*given, OTHER)), Work(f"{MEMNN} --force --seed 1", (*given, OTHER)))
    replace(force, operations=12).carry_out(trial, tmp_path / "force")


def test_two_processes_that_experiment(trial: Trial, tmp_path: Path) -> None:
    command = "experiment tomi-table3 --quick --out out --models memnn --device cpu --runs 1"
    replace(same(command), operations=24).carry_out(trial, tmp_path / "pairs")
    usual = Undisturbed(Work(command), tmp_path / "table")
    for paused_at in (".table.lock", "results.json"):
        with trial.case(f"a table with fewer figures, paused at {paused_at}"):
            place = usual.copy(tmp_path / paused_at)
            busy = start(command, place, Halt(1, kills=False, on="/training/"))
            assert busy.wait_until_paused()
            early = start(command, place, Halt(1, kills=False, on=paused_at))
            assert early.wait_until_paused()
            busy.resume()
            if paused_at == ".table.lock":
                assert busy.wait().code == 0
                early.resume()
                assert early.wait().code == 0
            else:  # the other has to wait for it
                early.resume()
                assert (early.wait().code, busy.wait().code) == (0, 0)
            assert lasting(tree(place)) == usual.after


def test_two_processes_that_ask(trial: Trial, tmp_path: Path) -> None:
    """Nothing is asked twice, whatever labels the runs are scored against."""
    with FakeServer() as server:
        command = f"evaluate --model openai/fake --base-url {server.url} --concurrency 2 --data given --output-dir out"
        same(command, RAW).carry_out(trial, tmp_path / "same", lambda: asked_once(server))
        usual = Undisturbed(Work(command, (RAW,)), tmp_path / "held")
        for answers in (0, 7, 16):
            for other in (command, f"{command} --labels proved", f"{command} --matching strict"):
                name = f"{answers} {other[len(command) :]}"
                with trial.case(name), asked_once(server):
                    place, enough = usual.copy(tmp_path / name), server.counts()["answered_in_all"] + answers
                    server.behave(hold_after=enough)
                    first = start(command, place)
                    wait_for(lambda: is_held(server, enough), "a request that is held")  # noqa: B023
                    second = start(other, place)
                    assert_one_sentence(second.wait())
                    server.behave()
                    assert first.wait().code == 0
                    assert lasting(tree(place)) == usual.after
