"""Small studies that most tests use."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from storyproof.study import admin
from storyproof.study import database as databases
from storyproof.study.folder import Study
from tests.study.postgres import create_database, find_programs, running_postgres
from tests.study.samples import Clock, kinship_data, make_study, solve_design, writing_design


@pytest.fixture(scope="session", autouse=True)
def cheap() -> Iterator[None]:
    """Spare this process what only attackers and power cuts need; servers of their own processes have it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(databases, "SYNCHRONOUS", "OFF")
        patch.setattr(admin, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


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


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    if find_programs() is None:
        pytest.skip("PostgreSQL is not installed; make test-study installs it")
    with running_postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return ""
    return create_database(request.getfixturevalue("postgres"), tmp_path.name)
