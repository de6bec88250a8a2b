"""Whatever is sent, the server answers with a page or a message, never with a failure (schemathesis)."""

from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck

from storyproof.study.admin import hash_password
from storyproof.study.folder import Study
from storyproof.study.forms import sign
from storyproof.study.participant_flow import find_step
from storyproof.study.participants import Arrival, enter, find
from storyproof.study.serve import serve_study
from tests.groups import try_examples
from tests.study.openapi import describe_api
from tests.study.samples import kinship_data, make_study, solve_design, writing_design

schemathesis = pytest.importorskip("schemathesis")
pytestmark = pytest.mark.study
API = schemathesis.openapi.from_dict(describe_api())


class Served(NamedTuple):
    """A study that is served in a thread, and the token of a participant."""

    study: Study
    address: str
    token: str


def start(study: Study) -> Served:
    study.set_password(hash_password("a long password"))
    token = enter(study, Arrival("somebody"), "0" * 64)
    addresses: Queue[str] = Queue()
    how = {"port": 0, "ready": addresses.put}
    Thread(target=serve_study, args=[study.folder], kwargs=how, daemon=True).start()
    return Served(study, addresses.get(timeout=120), token)


@pytest.fixture(scope="module", params=["solve", "paraphrase"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("fuzz")
    if request.param == "solve":
        yield start(make_study(folder, solve_design(), data=kinship_data(folder)))
    else:
        yield start(make_study(folder, writing_design()))


@API.parametrize()
@try_examples(100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_server_error(case: Any, served: Served) -> None:
    call(case, served)
    if "token" in (case.path_parameters or {}):  # as somebody who takes part
        case.path_parameters["token"] = served.token
        call(case, served)
        if isinstance(case.body, dict) and "signature" in case.body:  # with a form that was made for them
            me = find(served.study, served.token)
            assert me is not None
            kind, slot = case.path.rsplit("/", 1)[1], find_step(served.study, me).slot
            case.body |= {"slot": slot, "signature": sign(served.study.secret, me.id, kind, slot)}
            call(case, served)


def call(case: Any, served: Served) -> None:
    found = case.call(base_url=served.address, timeout=120, allow_redirects=False)
    assert found.status_code < 500, found.text
    assert "Traceback" not in found.text
