"""Speed and memory, measured side by side: `make bench`."""

from __future__ import annotations

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Record, cpu_seconds, run_command
from benchmarks.plain_clutrr import PlainClutrr
from benchmarks.plain_tom_babi import PlainTomBabi, verify_beliefs_plainly
from benchmarks.plain_tomi import PlainTomi
from benchmarks.plain_verify import verify_plainly
from storyproof.benchmark import BLOCK_STORIES
from storyproof.families.belief.benchmarks.tom_babi import TomBabi
from storyproof.families.belief.benchmarks.tomi import Tomi
from storyproof.families.belief.benchmarks.tomi_matched import TomiMatched
from storyproof.families.belief.vocabulary import default_vocabulary
from storyproof.families.kinship.checker import status
from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.generation.make_proof_file import prove
from storyproof.families.kinship.generation.proof_file import LENGTHS, Proofs, Proved
from storyproof.families.kinship.relations import BASIC, GENDERS, Fact
from storyproof.families.kinship.rules import strict_rules

RECORD = Record()
say = RECORD.say


def generation() -> None:
    """Stories to Arrow, in blocks and one by one."""
    once = cpu_seconds(lambda: Tomi(seed=1).block("train", 0))
    say("tomi, the first block: all plots proved, once a process", f"{once:.2f} CPU s", tomi_first=once)
    rates = {}
    for blocks in (10, 40, 160):
        benchmark = Tomi(seed=1)

        def make(benchmark: Tomi = benchmark, blocks: int = blocks) -> None:
            for index in range(blocks):
                benchmark.block("train", index)

        rates[blocks] = blocks * BLOCK_STORIES / min(cpu_seconds(make) for _ in range(3))  # the clock wanders
        say(
            f"tomi to Arrow, {blocks * BLOCK_STORIES:,} stories, best of 3",
            f"{rates[blocks]:,.0f} /CPU s",
            "goal 200,000",
            **{f"tomi_{blocks}_blocks": rates[blocks]},
        )
    matched = TomiMatched(seed=1)
    once = cpu_seconds(lambda: matched.block("train", 0))
    say("tomi-matched, the first block: all plots proved, once a process", f"{once:.2f} CPU s")
    rate = (
        40
        * BLOCK_STORIES
        / min(cpu_seconds(lambda: [matched.block("train", index) for index in range(40)]) for _ in range(3))
    )
    say(
        f"tomi-matched to Arrow, {40 * BLOCK_STORIES:,} stories, best of 3",
        f"{rate:,.0f} /CPU s",
        "goal 50,000",
        matched=rate,
    )
    plain = 3000
    maker = PlainTomi(default_vocabulary(), seed=1)
    slow = plain / min(cpu_seconds(lambda: pa.Table.from_pylist(maker.balanced(plain))) for _ in range(3))
    say(
        f"the plain way, {plain:,} stories, best of 3",
        f"{slow:,.0f} /CPU s",
        f"ratio {rates[160]:,.0f} : {slow:,.0f} = {rates[160] / slow:,.0f}",
        tomi_plain=slow,
        tomi_ratio=rates[160] / slow,
    )


def tom_babi() -> None:
    """The long stories of `tom-babi` to Arrow, each confirmed by the checker; in blocks and one by one."""
    benchmark, blocks = TomBabi(seed=1), 8
    rates = {}
    for split, what in (("test", "one question each"), ("train", "five questions each")):
        once = cpu_seconds(lambda split=split: benchmark.block(split, 0))
        say(f"tom-babi {split}, the first block: most structures are new", f"{once:.2f} CPU s")
        make = lambda split=split: [benchmark.block(split, index) for index in range(blocks)]  # noqa: E731
        rates[split] = blocks * BLOCK_STORIES / min(cpu_seconds(make) for _ in range(3))
        goal = "goal 50,000" if split == "test" else ""
        say(
            f"tom-babi {split} to Arrow, {blocks * BLOCK_STORIES:,} stories, {what}",
            f"{rates[split]:,.0f} /CPU s",
            goal,
        )
    plain, maker = 2000, PlainTomBabi(default_vocabulary(), seed=1)
    slow = plain / min(
        cpu_seconds(lambda: pa.Table.from_pylist([maker.story() for _ in range(plain)])) for _ in range(3)
    )
    ratio = f"ratio {rates['test']:,.0f} : {slow:,.0f} = {rates['test'] / slow:,.0f}"
    say(f"the plain way, {plain:,} stories without proofs, best of 3", f"{slow:,.0f} /CPU s", ratio)


def kinship() -> None:
    """Kinship puzzles to Arrow, natural text with proofs; in blocks and one by one."""
    for k, plain, goal in ((3, 2000, "goal 50,000"), (10, 30, "goal 20,000")):
        benchmark = Clutrr(ClutrrConfig(train_k=(k,)), seed=1)
        once = cpu_seconds(lambda benchmark=benchmark: benchmark.block("train", 0))
        say(
            f"clutrr, k={k}, the first block: reads proofs, names and scenes",
            f"{once:.2f} CPU s",
            **{f"clutrr_{k}_first": once},
        )
        rates = {}
        for blocks in (5, 20):

            def make(benchmark: Clutrr = benchmark, blocks: int = blocks) -> None:
                for index in range(blocks):
                    benchmark.block("train", index)

            stories = blocks * BLOCK_STORIES
            best = min(cpu_seconds(make) for _ in range(3))
            rates[blocks] = stories / best
            say(
                f"clutrr to Arrow, k={k}, {stories:,} puzzles, best of 3",
                f"{rates[blocks]:,.0f} /CPU s",
                f"{goal}; with the first block {stories / (best + once):,.0f}",
                **{f"clutrr_{k}_{blocks}": rates[blocks], f"clutrr_{k}_{blocks}_with_first": stories / (best + once)},
            )
        maker = PlainClutrr(k, seed=1)

        def slowly(maker: PlainClutrr = maker, plain: int = plain) -> None:
            pa.Table.from_pylist([{**maker.puzzle(), "proof": None} for _ in range(plain)])

        slow = plain / min(cpu_seconds(slowly) for _ in range(3))
        ratio = f"ratio {rates[20]:,.0f} : {slow:,.0f} = {rates[20] / slow:,.0f}"
        what = f"the plain way, k={k}, {plain:,} puzzles, best of 3"
        say(what, f"{slow:,.0f} /CPU s", ratio, **{f"clutrr_{k}_plain": slow})


def proving() -> None:
    """Proving all kinship patterns up to some length, which ships as a file, and reading them from it."""
    proved: list[Proved] = []
    cpu = cpu_seconds(lambda: [proved.append(prove(strict_rules(), proved)) for _ in range(2, 9)])
    say(f"proving all {sum(map(len, proved)):,} patterns of 2 to 8 facts", f"{cpu:.2f} CPU s", proving=cpu)
    cpu = cpu_seconds(lambda: [Proofs().of(k) for k in LENGTHS])
    count = sum(len(Proofs().of(k)) for k in LENGTHS)
    say(f"reading all {count:,} patterns of 2 to 15 facts", f"{cpu:.2f} CPU s", reading_proofs=cpu)


def checking() -> None:
    """The kinship checker on different structures, nothing remembered."""
    for k, count in ((2, 5000), (3, 5000), (4, 5000), (10, 2000)):
        cases = list(structures(k, count))
        times = sorted(cpu_seconds(lambda case=case: status(*case)) for case in cases)
        if k < 10:
            rate = len(cases) / sum(times)
            what = f"checker, k={k}, {len(cases):,} different structures"
            say(what, f"{rate:,.0f} /CPU s", "goal 2,000", **{f"checker_{k}": rate})
        else:
            late = times[int(0.99 * len(times))]
            say(
                f"checker, k={k}, 99% of {len(cases):,} within",
                f"{1000 * late:.2f} ms",
                "goal 50 ms",
                checker_ms=1000 * late,
            )


def structures(k: int, count: int) -> Iterator[tuple[tuple[str, ...], tuple[Fact, ...], Fact]]:
    """Different puzzles: half of them chains that derive their answer, half random chains and random questions."""
    draws, seen = random.Random(k), set()
    maker = PlainClutrr(k, seed=k)
    for number in range(4 * count):
        target = draws.choice(strict_rules().targets)
        chain = maker._expanded(target)[0] if number % 2 else [draws.choice(BASIC) for _ in range(k)]
        genders = tuple(draws.choice(GENDERS) for _ in range(k + 1))
        case = genders, tuple(Fact(place, each, place + 1) for place, each in enumerate(chain)), Fact(0, target, k)
        if case not in seen and len(seen) < count:
            seen.add(case)
            yield case


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "storyproof", *arguments]


def writing(folder: Path, stories: int) -> None:
    """One command that writes Parquet."""
    out = str(folder / "big")
    counts = ("--train", str(stories), "--val", "0", "--test", "0")
    cpu, wall, memory = run_command(command("generate", "tomi", "--out", out, *counts, "--seed", "1"))
    say(
        f"generate tomi, {stories:,} stories to Parquet",
        f"{stories / cpu:,.0f} /CPU s",
        f"goal 80,000; {wall:.0f} s wall",
        writing=stories / cpu,
        writing_s=wall,
    )
    say("  peak memory", f"{memory:,.0f} MiB", "goal 1,024", writing_mib=memory)


def verification(folder: Path) -> None:
    """Reading, parsing and double-checking, start-up included."""
    for name, stories, unit in (
        ("tomi", 120_000, "questions"),
        ("tom-babi", 120_000, "stories"),
        ("clutrr", 24_000, "puzzles"),
    ):
        out = str(folder / name)
        counts = ("--train", "0", "--val", "0", "--test", str(stories))
        if name == "clutrr":
            counts = ("--train", str(stories), "--val", "0", "--test", "0", "--train-k", "2-10")
        cpu, _, _ = run_command(command("generate", name, "--out", out, *counts, "--seed", "1"))
        goal = {"clutrr": "goal 20,000; k=2 to 10", "tom-babi": "goal 50,000"}.get(name, "")
        say(
            f"generate {name}, {stories:,} stories",
            f"{stories / cpu:,.0f} /CPU s",
            goal,
            **{f"generate_{name}": stories / cpu},
        )
        if name == "clutrr":
            kinship_verification(folder / name, stories)
            continue
        cpu, _, memory = run_command(command("verify", out))
        count = stories * (6 if name == "tomi" else 1)
        goal = {"tomi": "goal 50,000", "tom-babi": "goal 20,000"}[name]
        say(
            f"verify {name}, {count:,} {unit}",
            f"{count / cpu:,.0f} /CPU s",
            f"{goal}; {memory:,.0f} MiB",
            **{f"verify_{name}": count / cpu, f"verify_{name}_mib": memory},
        )
        if name == "tom-babi":
            rows = pq.read_table(folder / name / "test.parquet").slice(0, 2000).to_pylist()
            slow = len(rows) / min(cpu_seconds(lambda rows=rows: verify_beliefs_plainly(rows)) for _ in range(3))
            ratio = f"ratio {count / cpu:,.0f} : {slow:,.0f} = {count / cpu / slow:,.0f}"
            say(f"the plain way, {len(rows):,} stories without proofs, best of 3", f"{slow:,.0f} /CPU s", ratio)


def kinship_verification(folder: Path, stories: int) -> None:
    """Verify natural text: as a command, in a process that has started already, and row by row."""
    measured = [run_command(command("verify", str(folder))) for _ in range(3)]
    cpu, memory = min(each[0] for each in measured), max(each[2] for each in measured)
    goal = f"goal 20,000; k=2 to 10; {memory:,.0f} MiB"
    say(
        f"verify clutrr, {stories:,} puzzles, best of 3",
        f"{stories / cpu:,.0f} /CPU s",
        goal,
        verify_clutrr=stories / cpu,
        verify_clutrr_mib=memory,
        verify_clutrr_s=cpu,
    )
    few = folder.with_name("few")
    run_command(command("generate", "clutrr", "--out", str(few), "--train", "9", "--val", "0", "--test", "0"))
    start = min(run_command(command("verify", str(few)))[0] for _ in range(3))
    say(
        "  without start-up, which verify of 9 puzzles takes",
        f"{stories / (cpu - start):,.0f} /CPU s",
        f"{start:.2f} s",
        verify_clutrr_warm=stories / (cpu - start),
        verify_start_s=start,
    )
    rows = pq.read_table(folder / "train.parquet").slice(0, 1000).to_pylist()
    slow = len(rows) / min(cpu_seconds(lambda: verify_plainly(rows)) for _ in range(3))
    ratio = f"ratio {stories / cpu:,.0f} : {slow:,.0f} = {stories / cpu / slow:,.0f}"
    say(f"the plain way, {len(rows):,} puzzles, best of 3", f"{slow:,.0f} /CPU s", ratio, verify_plain=slow)


def auditing(folder: Path) -> None:
    """An audit of files in the published form, start-up included."""
    for stories in (999, 20_001):
        out = str(folder / f"audited-{stories}")
        counts = ("--train", "0", "--val", "0", "--test", str(stories), "--format", "babi")
        run_command(command("generate", "tomi", "--out", out, *counts, "--seed", "1"))
        cpu, wall, memory = run_command(command("audit", out))
        questions = 6 * stories
        goal = f"goal 3 s wall: {wall:.1f} s; {memory:,.0f} MiB" if stories == 999 else f"{memory:,.0f} MiB"
        say(
            f"audit tomi, {questions:,} questions",
            f"{questions / cpu:,.0f} /CPU s",
            goal,
            **{f"audit_{stories}": questions / cpu, f"audit_{stories}_s": wall, f"audit_{stories}_mib": memory},
        )


def training() -> None:
    """The classical models; in a process of its own, so that PyTorch weighs on nothing else."""
    print(flush=True)
    subprocess.run([sys.executable, "-m", "benchmarks.neural"], check=True)


def nested() -> None:
    subprocess.run([sys.executable, "-m", "benchmarks.nested"], check=True)


def exploring() -> None:
    subprocess.run([sys.executable, "-m", "benchmarks.explorer"], check=True)


def start_up() -> None:
    for what, name, arguments, goal in (
        ("import storyproof", "import_s", [sys.executable, "-c", "import storyproof"], "goal 0.4 s"),
        ("storyproof --help", "help_s", command("--help"), "goal 0.7 s"),
    ):
        walls = sorted(run_command(arguments)[1] for _ in range(5))
        say(what, f"{walls[2]:.2f} s", goal, **{name: walls[2]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="write 300,000 stories instead of 3,000,000")
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores\n")
    start_up()
    generation()
    tom_babi()
    kinship()
    proving()
    checking()
    with tempfile.TemporaryDirectory() as folder:
        writing(Path(folder), 300_000 if chosen.quick else 3_000_000)
        verification(Path(folder))
        auditing(Path(folder))
    nested()
    RECORD.write(chosen.json)
    training()
    exploring()


if __name__ == "__main__":
    main()
