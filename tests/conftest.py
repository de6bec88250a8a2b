import gc
import os
from collections.abc import Iterator
from functools import cache

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, Phase, settings

from storyproof.benchmark import Benchmark
from storyproof.errors import name_options

pytest.register_assert_rewrite("storyproof.families.conformance")

# Two workers with as many threads each as there are cores would wait for each other; tiny models need one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Machines that run tests are shared, so how long an example takes says nothing. `make test-slow` tries all examples.
settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100)
settings.register_profile("storyproof", settings.get_profile("thorough"), max_examples=50)
# A mutant need only be found, the same way in every run, not be explained by a smallest example.
settings.register_profile(
    "mutants",
    settings.get_profile("thorough"),
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("storyproof")


def pytest_sessionstart() -> None:
    """Keep the garbage collector from looking through modules and tests while they are collected: there is none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through modules and collected tests again and again."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _commands_are_built_once() -> Iterator[None]:
    """Let Typer build the command line once: it does for every call, which takes longer than most commands here."""
    built = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", built)
        patch.setattr(typer.testing, "_get_command", built)
        yield


@pytest.fixture(autouse=True)
def _messages_name_options() -> Iterator[None]:
    """Let messages be as they are written; `tests/test_errors.py` tests what Python programs read instead."""
    name_options()
    yield
    name_options()


@pytest.fixture
def in_python() -> Iterator[None]:
    """Let messages name arguments, as in a Python program."""
    name_options(False)
    yield
    name_options()


@pytest.fixture(scope="module")
def small_blocks() -> Iterator[None]:
    """Generate blocks of 512 stories, for tests that do not depend on their size: blocks take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Benchmark, "block_stories", 512)
        yield
