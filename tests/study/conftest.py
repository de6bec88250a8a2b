"""Small studies that most tests use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storyproof.study.folder import Study
from tests.study.samples import Clock, kinship_data, make_study, solve_design, writing_design


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kinship_data(tmp_path_factory.mktemp("data"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def study(tmp_path: Path, data: Path, clock: Clock) -> Iterator[Study]:
    found = make_study(tmp_path, solve_design(), data=data, now=clock)
    yield found
    found.close()


@pytest.fixture
def writing(tmp_path: Path, clock: Clock) -> Iterator[Study]:
    found = make_study(tmp_path, writing_design(), now=clock)
    yield found
    found.close()
