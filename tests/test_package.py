import ast
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import storyproof


def test_verbs_are_functions() -> None:
    for verb in ("generate", "verify", "evaluate", "show"):
        assert callable(getattr(storyproof, verb))
        assert verb in dir(storyproof)


def test_no_other_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = storyproof.nonsense


@pytest.mark.parametrize("module", ["storyproof", "storyproof.cli"])
def test_import_is_light(module: str) -> None:
    heavy = {"numpy", "pyarrow", "torch", "rich", "yaml"}
    code = f"import sys, {module}, storyproof; dir(storyproof); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_version_is_stated_once() -> None:
    root = Path(__file__).parents[1]
    assert "version" in tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["dynamic"]
    assert version("storyproof") == storyproof.__version__


SYSTEM_MODULES = {"fcntl", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "winreg"}


def test_modules_can_be_imported_on_every_system() -> None:
    """What exists on some systems only is imported where it is used, with something else to do elsewhere."""
    package = Path(storyproof.__file__).parent
    for path in package.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert SYSTEM_MODULES.isdisjoint(names), path


def test_no_class_name_is_used_twice() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(Path(storyproof.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_all_integration_tests_are_in_the_group() -> None:
    """The environment of the group lacks packages that other tests need, so make names the places to look in."""
    root = Path(__file__).parents[1]
    recipe = (root / "Makefile").read_text("utf-8").partition("\ntest-integrations:")[2].partition("\n\n")[0]
    named = [root / word for word in recipe.split() if word.startswith("tests/")]
    others = [path for path in root.glob("tests/**/test_*.py") if path != Path(__file__)]
    marked = [path for path in others if "mark.integrations" in path.read_text("utf-8")]
    assert marked
    assert [path for path in marked if not any(path.is_relative_to(place) for place in named)] == []
