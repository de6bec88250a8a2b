"""Speed and memory, measured side by side: `make bench`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from benchmarks.measure import cpu_seconds, run_command
from benchmarks.plain_tomi import PlainTomi
from storyproof.benchmark import BLOCK_STORIES
from storyproof.tom.tomi import Tomi
from storyproof.tom.vocabulary import default_vocabulary


def say(what: str, figure: str, goal: str = "") -> None:
    print(f"{what:<62}{figure:>18}   {goal}", flush=True)


def generation() -> None:
    """Stories to Arrow, in blocks and one by one."""
    once = cpu_seconds(lambda: Tomi(seed=1).block("train", 0))
    say("tomi, the first block: all plots proved, once a process", f"{once:.2f} CPU s")
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
        )
    plain = 3000
    maker = PlainTomi(default_vocabulary(), seed=1)
    slow = plain / min(cpu_seconds(lambda: pa.Table.from_pylist(maker.balanced(plain))) for _ in range(3))
    say(
        f"the plain way, {plain:,} stories, best of 3",
        f"{slow:,.0f} /CPU s",
        f"ratio {rates[160]:,.0f} : {slow:,.0f} = {rates[160] / slow:,.0f}",
    )


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
    )
    say("  peak memory", f"{memory:,.0f} MiB", "goal 1,024")


def verification(folder: Path) -> None:
    """Reading, parsing and double-checking, start-up included."""
    for name, stories, unit in (("tomi", 120_000, "questions"), ("tom-babi", 24_000, "stories")):
        out = str(folder / name)
        counts = ("--train", "0", "--val", "0", "--test", str(stories))
        cpu, _, _ = run_command(command("generate", name, "--out", out, *counts, "--seed", "1"))
        say(f"generate {name}, {stories:,} stories", f"{stories / cpu:,.0f} /CPU s")
        cpu, _, memory = run_command(command("verify", out))
        count = stories * (6 if name == "tomi" else 1)
        goal = "goal 50,000" if name == "tomi" else "goal 2,000"
        say(f"verify {name}, {count:,} {unit}", f"{count / cpu:,.0f} /CPU s", f"{goal}; {memory:,.0f} MiB")


def start_up() -> None:
    for what, arguments, goal in (
        ("import storyproof", [sys.executable, "-c", "import storyproof"], "goal 0.4 s"),
        ("storyproof --help", command("--help"), "goal 0.7 s"),
    ):
        walls = sorted(run_command(arguments)[1] for _ in range(5))
        say(what, f"{walls[2]:.2f} s", goal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="write 300,000 stories instead of 3,000,000")
    quick = parser.parse_args().quick
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores\n")
    start_up()
    generation()
    with tempfile.TemporaryDirectory() as folder:
        writing(Path(folder), 300_000 if quick else 3_000_000)
        verification(Path(folder))


if __name__ == "__main__":
    main()
