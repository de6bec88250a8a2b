"""A package written by `storyproof new-family` passes the conformance suite, without a change to storyproof."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError
from tests.cli.invocation import run

ENTRY_POINTS = """\
[storyproof.families]
seating = storyproof_seating.family:FAMILY
[storyproof.benchmarks]
seating = storyproof_seating.family:Seating
"""


def installed(folder: Path) -> dict[str, str]:
    """An environment in which a package is found as if it were installed."""
    about = folder / "src/storyproof_seating-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: storyproof-seating\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    places = [str(folder / "src"), str(Path(storyproof.__file__).parents[1])]
    without_plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # those of our tests take longer than the suite
    return {**os.environ, **without_plugins, "PYTHONPATH": os.pathsep.join(places)}


def execute(environment: dict[str, str], folder: Path, *arguments: object) -> str:
    command = [sys.executable, "-m", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_family_passes_the_conformance_suite(tmp_path: Path) -> None:
    folder = tmp_path / "storyproof-seating"
    done = run("new-family", "seating", "--out", folder)
    assert done.exit_code == 0, done.output
    code = (folder / "src/storyproof_seating/family.py").read_text()
    assert len(code.splitlines()) < 170
    assert "{name}" not in code
    environment = installed(folder)
    said = execute(
        environment, folder, "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-c", "pyproject.toml", "tests"
    )
    assert "47 passed" in said
    assert "seating has no pictures of its own" in said  # what it leaves out is skipped
    data = folder / "data"
    execute(
        environment, folder, "storyproof", "generate", "seating", "--test", 30, "--train", 0, "--val", 0, "--out", data
    )
    assert "0 disagreements" in execute(environment, folder, "storyproof", "verify", data)
    assert "proved by" in execute(environment, folder, "storyproof", "show", data)
    scores = execute(environment, folder, "storyproof", "evaluate", "--model", "random,rules,oracle", "--data", data)
    assert "oracle" in scores  # rules is left out, and the others are shown


@pytest.mark.parametrize("name", ["Seating", "who sits", "../x", "", "1st", "a--b"])
def test_a_name_that_cannot_be_a_package_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lower-case letters"):
        storyproof.new_family(name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "kind"), [("belief", "family"), ("tomi", "benchmark")])
def test_a_name_that_is_taken_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"there is a {kind} '{name}' already"):
        storyproof.new_family(name, tmp_path / "out")


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="exists already"):
        storyproof.new_family("seating", tmp_path)
    assert not list(tmp_path.iterdir())
