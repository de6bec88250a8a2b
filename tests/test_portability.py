"""Commands work where there are no file locks, as on Windows, and where neither the screen nor files are UTF-8.

A `sitecustomize` takes away what other systems lack before anything else is imported, and turns every file that
storyproof opens without saying its encoding into an error.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import console, visible_output

ABSENT = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
CUSTOMIZE = f"""
import sys, warnings
for name in {ABSENT!r}:
    sys.modules[name] = None
warnings.filterwarnings("error", category=EncodingWarning, module=r"storyproof(\\..*)?$")
"""
TRAIN = "train memnn --benchmark tomi --stories 9 --epochs 1 --device cpu --option width=8 --out run"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and what makes this system another one."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(CUSTOMIZE, encoding="utf-8")
    for command in (
        "generate tomi --train 0 --val 0 --test 6 --seed 7 --out data",
        "generate clutrr --train 0 --val 0 --test 1 --test-k 2-4 --seed 7 --out kin --format csv",
    ):
        run(folder, command)
    return folder


def run(folder: Path, command: str, code: int = 0) -> subprocess.CompletedProcess[bytes]:
    package = str(Path(__file__).parents[1] / "src")
    settings = {
        "PYTHONPATH": os.pathsep.join([str(folder / "site"), package]),
        "PYTHONIOENCODING": "cp1252:strict",
        "PYTHONUTF8": "0",
        "PYTHONWARNDEFAULTENCODING": "1",
        "OMP_NUM_THREADS": "1",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "storyproof", *command.split()],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        check=False,
    )
    assert done.returncode == code, done.stderr.decode("cp1252")
    assert b"Traceback" not in done.stderr
    return done


@pytest.mark.parametrize(
    "command",
    [
        "show data --index 3",
        pytest.param("show kin", marks=pytest.mark.slow),
        pytest.param("show data --out story.svg", marks=pytest.mark.slow),
        pytest.param("verify data", marks=pytest.mark.slow),
        pytest.param("audit data", marks=pytest.mark.slow),
        pytest.param("process kin --out processed", marks=pytest.mark.slow),
        "evaluate --model oracle --data data --output-dir runs",
        pytest.param("ask --model oracle --data data", marks=pytest.mark.slow),
        pytest.param(TRAIN, marks=pytest.mark.slow),
        pytest.param(
            "experiment tomi-table3 --quick --runs 1 --models memnn --minutes 0.001 --out tables",
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda command: command.split()[0],
)
def test_commands_work_on_another_system(elsewhere: Path, command: str) -> None:
    done = run(elsewhere, command)
    assert done.stdout.decode("cp1252").strip()


def test_the_system_is_another_one(elsewhere: Path) -> None:
    """The fixture takes away what it says; else the tests above would mean nothing."""
    code = "import storyproof.io.locks, io; print(storyproof.io.locks.try_lock(open('data/manifest.json', 'rb')))"
    settings = {"PYTHONPATH": os.pathsep.join([str(elsewhere / "site"), str(Path(__file__).parents[1] / "src")])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=elsewhere, env={**os.environ, **settings}, capture_output=True, check=True
    )
    assert done.stdout == b"None\n"


def test_two_processes_do_not_write_one_folder_without_locks(elsewhere: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom storyproof.io.locks import Claim\n"
        "with Claim(Path('x.lock')) as ours:\n"
        "    print(ours, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    package = str(Path(__file__).parents[1] / "src")
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(elsewhere / "site"), package])}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=elsewhere, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"True\n"
        second = subprocess.run(
            command, cwd=elsewhere, env=settings, stdin=subprocess.DEVNULL, capture_output=True, check=True
        )
        assert second.stdout == b"False\n"
        first.communicate(b"")
    third = subprocess.run(
        command, cwd=elsewhere, env=settings, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    assert third.stdout == b"True\n"


class Terminal(io.TextIOWrapper):
    """A terminal that knows western characters only."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="cp1252", errors="strict", write_through=True)

    def isatty(self) -> bool:
        return True


def test_bars_and_tables_can_be_shown_on_a_western_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Terminal(), Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with visible_output():
        with progress_bar("épochs – Ωmega", 2) as advance:
            advance(1)
            advance(1)
        console().print("│ naïve → Ω …")
    assert "épochs" in err.bytes.getvalue().decode("cp1252")
    assert "| naïve > \\u03a9 …" in out.bytes.getvalue().decode("cp1252")
