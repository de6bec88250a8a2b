from collections.abc import Iterator

import pytest
import torch

from storyproof.solvers.neural.data import pretrained
from tests.solvers.neural.fixtures import FakeEncoder


@pytest.fixture(autouse=True)
def _fake_encoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test load a pretrained encoder, but those that are there for it."""
    if request.node.get_closest_marker("llm") is None:
        monkeypatch.setattr(pretrained, "FrozenEncoder", FakeEncoder)


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> Iterator[None]:
    """Tiny models are slower on many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
