import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

PANDAS = """
import os
open(os.environ["IMPORTED"], "a").close()
__version__ = "99.0.0"
"""


def run(*arguments: str | Path, **variables: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run([sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("workers", [1, 2])
def test_commands_do_not_import_pandas(workers: int, tmp_path: Path) -> None:
    """It is imported in a third of a second, more than all else, and no command makes frames."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "pandas.py").write_text(PANDAS)
    path = os.pathsep.join([str(tmp_path / "modules"), os.environ.get("PYTHONPATH", "")])
    variables: dict[str, str | Path] = {"PYTHONPATH": path, "IMPORTED": tmp_path / "imported"}
    assert run("-c", "import pyarrow as pa; pa.array([0])", **variables).returncode != 2  # as Arrow does by itself
    assert (tmp_path / "imported").exists()
    (tmp_path / "imported").unlink()
    data = tmp_path / "data"
    for command in (("generate", "tomi", "--train", "3", "--test", "3", "--out", data), ("verify", data)):
        done = run("-m", "storyproof", *command, "--workers", str(workers), **variables)
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "imported").exists()


def test_frames_can_be_made_after_all() -> None:
    pytest.importorskip("pandas")
    code = """
import sys
from storyproof.runtime.lean_imports import import_arrow_alone
import_arrow_alone()
import pyarrow as pa
table = pa.table({"column": [1, 2]})
print("pandas" in sys.modules, table.to_pandas().to_dict("list"), pa.Table.from_pandas(table.to_pandas()).equals(table))
"""
    done = run("-c", code)
    assert done.stdout == "False {'column': [1, 2]} True\n", done.stderr


def test_numpy_starts_no_threads_unless_told_to() -> None:
    code = """
import os
from storyproof.runtime.lean_imports import import_arrow_alone, one_blas_thread
with one_blas_thread():
    print(os.environ["OPENBLAS_NUM_THREADS"])
import_arrow_alone()
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    without = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    for given, expected in (({}, "1\nNone\n"), ({"OPENBLAS_NUM_THREADS": "3"}, "3\n3\n")):
        done = subprocess.run([sys.executable, "-c", code], env={**without, **given}, capture_output=True, text=True)
        assert done.stdout == expected, done.stderr


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such setting")
def test_memory_that_is_freed_is_used_again() -> None:
    code = """
import resource, sys
from storyproof.runtime.lean_imports import import_arrow_alone
if sys.argv[1] == "kept":
    import_arrow_alone()
import numpy as np
import pyarrow as pa
for _ in range(30):
    arrays = [np.ones(12 << 20, np.uint8) for _ in range(4)]
    tables = [pa.array(each).take(pa.array([0] * 1000)) for each in arrays]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""
    kept, given_back = (int(run("-c", code, each).stdout) for each in ("kept", "given back"))
    assert kept < given_back / 2


def test_worker_processes_do_not_import_the_command_line(tmp_path: Path) -> None:
    """Python imports the program again in each worker, such as the script that installing storyproof makes."""
    script = tmp_path / "storyproof"
    script.write_text("from storyproof.cli import main\nif __name__ == '__main__':\n    main()\n")
    arguments = ("generate", "tomi", "--train", "3", "--test", "3", "--workers", "2", "--out", tmp_path / "data")
    done = run("-X", "importtime", script, *arguments)  # which workers inherit
    assert done.returncode == 0, done.stderr
    imported = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert imported.count("pyarrow.lib") == 3
    assert imported.count("typer") == 1


def test_plain_questions_need_no_language_pack() -> None:
    code = """
from storyproof.families.belief.language.pack import load_pack
from storyproof.families.belief.read_text import is_question
print(is_question("Where is the box really?"), load_pack.cache_info().currsize)
"""
    assert run("-c", code).stdout == "True 0\n"
