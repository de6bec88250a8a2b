"""Replies that come word by word: put together whatever their division, and judged as if they had come at once."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.solvers.llm.messages import Message, Request
from storyproof.solvers.llm.openai import OpenAI
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.streamed_reply import StreamedReply
from tests.solvers.llm.serving import FakeServer

WORDS = ["In ", "the ", "größte ", "柜子", ".\n"]


def said(word: str) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": word}}]}


ENDED: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": "length"}], "usage": {"completion_tokens": 5}}
STREAM = b"".join(f"data: {json.dumps(each, ensure_ascii=False)}\n\n".encode() for each in [*map(said, WORDS), ENDED])


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_bytes_divided_anywhere(places: list[int]) -> None:
    heard: list[str] = []
    streamed = StreamedReply(heard.append)
    cuts = sorted({0, *places, len(STREAM)})
    for first, last in pairwise(cuts):
        streamed.add_bytes(STREAM[first:last])
    assert heard == ["".join(WORDS[: number + 1]) for number in range(len(WORDS))]
    choice = {"message": {"content": "".join(WORDS)}, "finish_reason": "length"}
    assert streamed.body() == {"usage": {"completion_tokens": 5}, "choices": [choice]}


@pytest.mark.parametrize(
    ("chunks", "body"),
    [
        ([said("a")], None),
        ([], None),
        ([{"choices": []}, {"choices": 3}, {"choices": [None]}, {"choices": [{"delta": 3}]}], None),
        ([said("a"), {"error": {"message": "overloaded"}}], {"error": {"message": "overloaded"}}),
        (
            [{"choices": [{"text": "a", "finish_reason": "stop"}]}],
            {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]},
        ),
    ],
)
def test_what_is_no_whole_reply(chunks: list[dict[str, Any]], body: object) -> None:
    streamed = StreamedReply(lambda text: None)
    for chunk in chunks:
        streamed.add(chunk)
    assert streamed.body() == body


def test_lines_that_are_no_chunks() -> None:
    heard: list[str] = []
    streamed = StreamedReply(heard.append)
    for line in (": wait", "event: x", "data: {", "data: 3", f"data: {json.dumps(said('a'))}", "data: [DONE]", ""):
        streamed.add_bytes(f"{line}\r\n".encode())
    assert heard == ["a"]
    assert streamed.body() == {"choices": [{"message": {"content": "a"}, "finish_reason": None}]}


def ask(server: FakeServer, hear: Callable[[str], None] | None, **settings: Any) -> Any:
    choices = settings.pop("choices", ())
    backend = OpenAI("fake", ModelOptions(base_urls=(server.url,), retries=1, **settings))
    backend.hear = hear
    [(_, reply)] = backend.complete([("x", Request((Message("user", "Where?"),), 10, choices=choices))])
    return reply


@pytest.mark.parametrize("api", ["chat", "completion"])
def test_a_server_streams(api: str) -> None:
    with FakeServer(reply="In the box.") as server:
        heard: list[str] = []
        streamed = ask(server, heard.append, api=api)
        assert heard == ["In ", "In the ", "In the box."]
        plain = ask(server, None, api=api)
    assert streamed.text == plain.text == "In the box."
    assert (streamed.prompt_tokens, streamed.cut_off) == (plain.prompt_tokens, plain.cut_off) == (1, False)


def test_a_reply_that_ends_in_the_middle_is_asked_for_again() -> None:
    with FakeServer(reply="In the box.", ends_in_the_middle=True) as server:
        reply = ask(server, lambda text: None)
        assert "ends in the middle" in reply.error
        assert server.counts()["asked"] == {"Where?": 2}


def test_choices_by_likelihood_are_not_streamed() -> None:
    with FakeServer(reply="A") as server:
        heard: list[str] = []
        assert ask(server, heard.append, choices=("A", "B")).text == "B"
    assert heard == []


def test_a_key_that_a_server_repeats_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    heard: list[str] = []
    with FakeServer(reply=f"Your key is {key} and the box") as server:
        reply = ask(server, heard.append)
    assert heard[-1] == reply.text == "Your key is … and the box"
    assert not any("0123456789" in each for each in heard)
