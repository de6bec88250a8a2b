"""What is importable from the top: every public name has an example that runs."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

import storyproof

PUBLIC = [name for name in storyproof.__all__ if name != "__version__"]
HEAVY = ("numpy", "pyarrow", "torch", "transformers", "starlette", "uvicorn", "aiohttp", "altair", "sklearn", "rich")
PEERS = ("datasets", "inspect_ai", "lm_eval")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "doctor")) for name in PUBLIC])
def test_every_public_name_has_an_example_that_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder(recurse=False).find(getattr(storyproof, name), name, globs={})
    examples = [each for test in found for each in test.examples if not each.options.get(doctest.SKIP)]
    assert len(examples) > 1, f"{name} needs an example in its docstring"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    printed: list[str] = []
    for test in found:
        runner.run(test, out=printed.append)
    assert not runner.summarize(verbose=False).failed, "".join(printed)


def test_all_public_names_are_listed_and_found() -> None:
    assert sorted(storyproof.__all__) == dir(storyproof)
    assert [name for name in PUBLIC if getattr(storyproof, name).__name__ != name] == ["verify"]
    assert storyproof.verify is storyproof.audit  # the one other name


def test_import_takes_well_under_half_a_second_of_cpu() -> None:
    code = (
        "import sys, time; before = time.process_time(); import storyproof; dir(storyproof)\n"
        f"print(time.process_time() - before, *({{*{HEAVY + PEERS!r}}} & set(sys.modules)))"
    )
    taken = []
    for _ in range(3):  # the first time a file may have to be compiled
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
        )
        seconds, *loaded = done.stdout.split()
        assert loaded == []
        taken.append(float(seconds))
    assert min(taken) < 0.25
