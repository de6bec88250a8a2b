"""Whatever is sent, the server answers with a page or a message, never with a failure (schemathesis)."""

from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from storyproof.study.admin import hash_password
from storyproof.study.folder import Study
from storyproof.study.openapi import describe_api
from storyproof.study.participants import Arrival, enter
from storyproof.study.serve import serve_study
from tests.study.samples import kinship_data, make_study, solve_design, writing_design

schemathesis = pytest.importorskip("schemathesis")
pytestmark = pytest.mark.study
API = schemathesis.openapi.from_dict(describe_api())


def start(study: Study) -> tuple[str, str]:
    """Serve a study in a thread; return its address and the token of a participant."""
    study.set_password(hash_password("a long password"))
    token = enter(study, Arrival("somebody"), "0" * 64)
    study.close()
    addresses: Queue[str] = Queue()
    how = {"port": 0, "ready": addresses.put}
    Thread(target=serve_study, args=[study.folder], kwargs=how, daemon=True).start()
    return addresses.get(timeout=120), token


@pytest.fixture(scope="module", params=["solve", "paraphrase"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder: Path = tmp_path_factory.mktemp("fuzz")
    if request.param == "solve":
        yield start(make_study(folder, solve_design(), data=kinship_data(folder)))
    else:
        yield start(make_study(folder, writing_design()))


@API.parametrize()
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_no_server_error(case: Any, served: tuple[str, str]) -> None:
    address, token = served
    for known in (False, True):
        if known:
            if "token" not in (case.path_parameters or {}):
                return
            case.path_parameters["token"] = token
        found = case.call(base_url=address, timeout=120, allow_redirects=False)
        assert found.status_code < 500, found.text
        assert "Traceback" not in found.text
