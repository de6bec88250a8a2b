"""Whatever a request holds, the answer is a result or a message, never a failure."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from storyproof.web.app import create_app
from tests.groups import try_examples
from tests.web.client import PATIENT_S, Client
from tests.web.test_stories import FAMILY, QUESTION, STORY

POSTS = ("/api/story", "/api/read", "/api/steps", "/api/ask", "/api/dataset")
KEYS = ("benchmark", "preset", "settings", "split", "place", "number", "asked", "order", "story", "question", "people")
MORE_KEYS = ("family", "model", "prompt", "conventions", "train", "val", "test", "seed", "format")
WORDS = (
    "tomi",
    "clutrr",
    "orderings",
    "test",
    "belief",
    "kinship",
    "oracle",
    "zero-shot",
    "jsonl",
    STORY,
    FAMILY,
    QUESTION,
)
VALUES = st.one_of(
    st.sampled_from(WORDS),
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=30),
    st.lists(st.text(max_size=8), max_size=3),
    st.dictionaries(
        st.sampled_from(("noise", "test_k", "task", "text", "cloze", "people")), st.text(max_size=6) | st.booleans()
    ),
)
LINES = st.lists(
    st.sampled_from([*STORY.split("\n"), *FAMILY.split("\n"), "", "Ada sat.", "<b>", "\u202e"]), max_size=12
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder: Path = tmp_path_factory.mktemp("fuzz")
    return Client(create_app(folder, seed=1, quick_s=PATIENT_S))


def check(client: Client, path: str, body: Any) -> None:
    found = client.request("POST", path, json.dumps(body).encode("utf-8", "replace"))
    assert found.status in (200, 400), found.text
    assert found.status == 200 or found.error
    assert "object at 0x" not in found.text


@try_examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(path=st.sampled_from(POSTS), body=st.dictionaries(st.sampled_from((*KEYS, *MORE_KEYS)), VALUES))
def test_any_values(client: Client, path: str, body: dict[str, Any]) -> None:
    body = {
        **body,
        **{name: min(body[name], 12) for name in ("train", "val", "test") if isinstance(body.get(name), int)},
    }
    check(client, path, body)


@try_examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    lines=LINES,
    question=st.sampled_from([QUESTION, "What is Dan to Ann?", "Where is the key really?", "Who is the tallest?"]),
)
def test_any_story(client: Client, lines: list[str], question: str) -> None:
    body = {"story": "\n".join(lines), "question": question, "order": 3, "model": "oracle"}
    for path in ("/api/read", "/api/steps", "/api/ask"):
        check(client, path, body)
