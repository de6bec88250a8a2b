"""Uses an installed storyproof as its users do: `python tests/installed.py`, in an environment that has nothing else.

It imports nothing from this repository, and works in a folder of its own, so that only what was installed is used.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

# Every family, and every format in which data are written.
COMMANDS = (
    "--version",
    "--help",
    "doctor",
    "generate tomi --out tomi --train 6 --test 31 --seed 7",
    "generate tom-babi --out tom-babi --test 12 --seed 7 --format babi",
    "generate tom-k --out tom-k --test 6 --seed 7 --format jsonl",
    "generate tomi-matched --out matched --test 6 --seed 7",
    "generate clutrr --out clutrr --test 2 --seed 7 --format csv",
    "verify tomi",
    "verify tom-babi",
    "verify tom-k",
    "verify matched",
    "verify clutrr",
    "audit tomi tom-babi",
    "show tomi --index 3",
    "show tomi --out story.svg",
    "process tom-babi --out processed",
    "evaluate --model random,majority,rules,oracle --data tomi --output-dir runs",
    "report runs --format markdown",
)
PROGRAM = """
import storyproof
assert storyproof.evaluate("oracle", storyproof.generate("tomi", test=4, seed=7)).scores.accuracy == 1
row = storyproof.stream("tomi", seed=7)[0].rows[0]
assert storyproof.judge(row.answer, row).right
"""


def run(arguments: Sequence[str], folder: Path) -> None:
    """Run Python with some arguments in a folder; what it prints is shown if it fails.

    Raises:
        SystemExit: If it fails.
    """
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def main() -> None:
    """Run all commands, then a program."""
    with TemporaryDirectory() as folder:
        for command in COMMANDS:
            run(["-m", "storyproof", *command.split()], Path(folder))
            print(f"storyproof {command}")
        run(["-c", PROGRAM], Path(folder))
    print(f"{len(COMMANDS)} commands and a program work")


if __name__ == "__main__":
    main()
