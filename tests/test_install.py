"""Wheel and sdist build, and install into an environment that has nothing else: `make test-integrations`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from storyproof import __version__
from storyproof.reports.doctor import read_needs

pytestmark = pytest.mark.integrations

ROOT = Path(__file__).parents[1]
EXTRAS = sorted(set(read_needs(metadata.requires("storyproof") or ())) - {"", "dev"})
# The builder changes sys.argv.
_BUILD = "import sys; from setuptools import build_meta as b; o = sys.argv[1]; b.build_wheel(o); b.build_sdist(o)"
PLAIN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist, built from a copy of what git knows."""
    folder = tmp_path_factory.mktemp("package")
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, files):
        target = folder / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    command = [sys.executable, "-c", _BUILD, str(folder / "dist")]
    (folder / "dist").mkdir()
    subprocess.run(command, cwd=folder / "source", capture_output=True, check=True, env=PLAIN)
    return folder / "dist"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Path:
    """The programs of an environment into which the wheel was installed."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    [wheel] = built.glob("*.whl")
    subprocess.run(
        [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
        check=True,
        env=PLAIN,
    )
    return programs


def test_the_wheel_is_for_every_platform(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    assert wheel.name == f"storyproof-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [about] = [name for name in names if name.endswith("/WHEEL")]
        assert "Root-Is-Purelib: true" in archive.read(about).decode()
    assert not [name for name in names if name.endswith((".so", ".pyd", ".dylib"))]
    assert not [name for name in names if name.startswith(("tests", "docs", "examples"))]
    for needed in ("py.typed", "web/explorer.html", "solvers/llm/prompts/zero-shot.yaml", "experiments/quick.toml"):
        assert f"storyproof/{needed}" in names


def test_the_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    [source] = tmp_path.iterdir()
    (tmp_path / "dist").mkdir()
    build = "import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])"
    command = [sys.executable, "-c", build, str(tmp_path / "dist")]
    subprocess.run(command, cwd=source, capture_output=True, check=True, env=PLAIN)
    [first], [second] = built.glob("*.whl"), (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_a_clean_installation_works(clean: Path, tmp_path: Path) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            [clean / "storyproof", *words], cwd=tmp_path, capture_output=True, text=True, check=False, env=PLAIN
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version") == f"storyproof {__version__}\n"
    run("generate", "tomi", "--out", "data", "--train", "0", "--val", "0", "--test", "30", "--seed", "7")
    run("generate", "clutrr", "--out", "kin", "--train", "0", "--test", "2", "--seed", "7")
    assert "0 disagreements" in run("verify", "data")
    assert "0 disagreements" in run("verify", "kin")
    run("evaluate", "--model", "oracle,rules", "--data", "data")
    run("show", "data")
    code = (
        "import storyproof; row = storyproof.stream('tomi', seed=7)[0].rows[0]\n"
        "print(storyproof.judge(row.answer, row).reason)"
    )
    done = subprocess.run(
        [clean / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, env=PLAIN
    )
    assert done.stdout == "right: the reply is the answer and nothing else.\n"
    found = json.loads(run("doctor", "--json", "-"))
    assert found["ok"]
    assert found["core"]["state"] == "works"
    assert {extra["state"] for extra in found["extras"]} == {"missing"}


def test_what_an_extra_needs_is_named(clean: Path, tmp_path: Path) -> None:
    command = [clean / "storyproof", "train", "memnn", "--benchmark", "tomi", "--stories", "30", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=PLAIN)
    assert done.returncode == 2
    assert "pip install 'storyproof[models]'" in done.stderr


@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_resolve(extra: str, clean: Path, built: Path, tmp_path: Path) -> None:
    [wheel] = built.glob("*.whl")
    report = tmp_path / "report.json"
    command = [clean / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
    command += ["--report", report, f"{wheel}[{extra}]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=PLAIN)
    assert done.returncode == 0, done.stderr
    planned = {normalize(each["metadata"]["name"]) for each in json.loads(report.read_text())["install"]}
    needed = read_needs(metadata.requires("storyproof") or ())[extra]
    assert set(map(normalize, needed)) <= planned | {"storyproof"}


def normalize(name: str) -> str:
    """Return the name of a package as indexes compare it: `lm_eval` and `lm-eval` are one package."""
    return re.sub(r"[-_.]+", "-", name).lower()
