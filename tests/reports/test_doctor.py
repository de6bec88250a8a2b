from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import storyproof
from storyproof.reports import doctor
from storyproof.reports.doctor import BROKEN, MISSING, OLD, WORKS, ExtraState, PackageState, read_needs, satisfies
from tests.cli.invocation import run

LINES = [
    "numpy>=2.0",
    "pyyaml>=6",
    'datasketch>=2.0; extra == "audit"',
    "aiohttp>=3.10,<4; extra == 'llm'",
    'storyproof[llm,audit]; extra == "serve"',
    "uvicorn>=0.40 ; extra == 'serve'",
    "reasoning_gym>=0.1.20; extra == 'reasoning-gym'",
]


def test_requirements_are_read_by_extra() -> None:
    assert read_needs(LINES) == {
        "": {"numpy": ">=2.0", "pyyaml": ">=6"},
        "audit": {"datasketch": ">=2.0"},
        "llm": {"aiohttp": ">=3.10,<4"},
        "serve": {"datasketch": ">=2.0", "aiohttp": ">=3.10,<4", "uvicorn": ">=0.40"},
        "reasoning-gym": {"reasoning-gym": ">=0.1.20"},
    }


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [
        ("2.1.0", ">=2.0", True),
        ("1.26.4", ">=2.0", False),
        ("2.0", ">=2.0.0", True),
        ("3.10.1", ">=3.9,<4", True),
        ("4.0", ">=3.9,<4", False),
        ("1.4.5", "~=1.4.2", True),
        ("1.5", "~=1.4.2", False),
        ("2.4.0+cpu", ">=2.4", True),
        ("2.0rc1", "!=2.0", False),
        ("7", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, bounds: str, expected: bool) -> None:
    assert satisfies(version, bounds) is expected


def test_every_extra_has_a_purpose() -> None:
    extras = set(read_needs(metadata.requires("storyproof") or ())) - {"", "dev", "docs"}
    assert extras <= set(doctor.PURPOSES), "say in PURPOSES what the extra is for"


@pytest.mark.parametrize(
    ("states", "state", "remedy"),
    [
        ((WORKS, WORKS), WORKS, ""),
        ((WORKS, MISSING), MISSING, "pip install --upgrade 'storyproof[x]'"),
        ((OLD, MISSING), OLD, "pip install --upgrade 'storyproof[x]'"),
        ((OLD, BROKEN), BROKEN, "pip install --force-reinstall p1"),
    ],
)
def test_the_worst_package_decides(states: tuple[str, ...], state: str, remedy: str) -> None:
    packages = tuple(PackageState(f"p{number}", "", "1", each) for number, each in enumerate(states))
    extra = ExtraState("x", "nothing", packages)
    assert (extra.state, extra.remedy) == (state, remedy)


def test_modules_are_imported_elsewhere_and_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good_one.py").write_text("print('hello')")
    (tmp_path / "bad_one.py").write_text("raise RuntimeError('no driver')")
    (tmp_path / "crashing_one.py").write_text("import os; os._exit(11)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    tried: list[int] = []
    modules = {"a": "good_one", "b": "bad_one", "c": "crashing_one", "d": "json"}
    found = doctor._try_imports(modules, tried.append)
    assert found == {"b": "RuntimeError: no driver", "c": "the interpreter crashes when it is imported"}
    assert tried == [1] * 4


@pytest.mark.parametrize(
    ("package", "module"), [("pyyaml", "yaml"), ("scikit-learn", "sklearn"), ("numpy", "numpy"), ("rich", "rich")]
)
def test_packages_are_imported_by_their_modules(package: str, module: str) -> None:
    assert doctor._module_of(package) == module


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import nothing: that takes seconds."""
    monkeypatch.setattr(doctor, "_try_imports", lambda modules, progress: {})


@pytest.mark.usefixtures("quick")
def test_the_command_lists_extras_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*(metadata.requires("storyproof") or ()), 'no-such-package>=1; extra == "vllm"']
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    done = run("doctor")
    assert f"storyproof {storyproof.__version__} in " in done.stdout
    assert re.search(r"^  core +works", done.stdout, re.MULTILINE)
    assert "pip install --upgrade 'storyproof[vllm]'" in done.stdout
    assert done.exit_code == 0
    found = json.loads(run("doctor", "--json", "-").stdout)
    assert found["ok"] is True
    assert found["core"]["state"] == WORKS
    [vllm] = [extra for extra in found["extras"] if extra["name"] == "vllm"]
    assert vllm["state"] == MISSING


@pytest.mark.usefixtures("quick")
def test_what_is_broken_gives_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_try_imports", lambda modules, progress: {"numpy": "ImportError: no"})
    done = run("doctor")
    assert done.exit_code == 1
    assert "numpy" in done.stdout
    assert "pip install --force-reinstall numpy" in done.stdout


def test_an_entry_point_that_cannot_be_loaded_is_a_problem(tmp_path: Path) -> None:
    info = tmp_path / "broken_family-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-family\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[storyproof.families]\nbroken = no_such_module:FAMILY\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from storyproof.reports.doctor import _problems\nprint(*_problems(), sep='|')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "family 'broken' needs the package 'no_such_module', which is not installed." in done.stdout
    assert "storyproof.families" in done.stdout
