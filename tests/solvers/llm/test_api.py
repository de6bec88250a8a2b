import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from storyproof.solvers.llm.api import (
    Fate,
    Trouble,
    body_of,
    list_names,
    model_names,
    read_error,
    read_reply,
    retry_after,
)
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.options import ModelOptions

REQUEST = Request((Message("system", "Be brief."), Message("user", "Where?")), 10, stop=("\n",))


def test_chat_body() -> None:
    assert body_of("m", ModelOptions(), REQUEST) == {
        "model": "m",
        "max_tokens": 10,
        "temperature": 0.0,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}],
        "stop": ["\n"],
    }


def test_completion_body_with_draws_and_what_else_is_wanted() -> None:
    options = ModelOptions(
        api="completion", temperature=0.7, top_p=0.9, seed=3, extra={"max_tokens": None, "max_completion_tokens": 5}
    )
    assert body_of("m", options, REQUEST) == {
        "model": "m",
        "temperature": 0.7,
        "prompt": "Be brief.\n\nWhere?",
        "stop": ["\n"],
        "top_p": 0.9,
        "seed": 3,
        "max_completion_tokens": 5,
    }


def test_replies() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    chat = {"choices": [{"message": {"content": "box"}}], "usage": usage}
    assert read_reply(json.dumps(chat).encode(), 0.5) == Reply("box", 7, 2, 4, 0.5)
    assert read_reply(b'{"choices": [{"text": " box"}]}', 0.5) == Reply(" box", seconds=0.5)
    assert read_reply(b'{"choices": [{"text": "", "finish_reason": "stop"}]}', 0.5) == Reply("", seconds=0.5)


@pytest.mark.parametrize("said", [{"message": {"content": "bo"}}, {"text": "bo"}])
def test_end_of_a_reply(said: dict[str, Any]) -> None:
    for ended, cut_off in (("length", True), ("stop", False), (None, False)):
        body = {"choices": [{**said, "finish_reason": ended}]}
        assert read_reply(json.dumps(body).encode(), 0.0) == Reply("bo", cut_off=cut_off)
    assert read_reply(json.dumps({"choices": [said]}).encode(), 0.0) == Reply("bo")


@pytest.mark.parametrize(
    ("text", "ended", "usage", "what"),
    [
        (
            None,
            "length",
            {"completion_tokens": 10},
            "it was cut off at 10 tokens, perhaps while the model was still thinking;",
        ),
        (" \n", "length", {}, "it was cut off, perhaps while the model was still thinking; raise --max-tokens"),
        (None, "tool_calls", {}, "the server sent no text (finish_reason 'tool_calls')"),
    ],
)
def test_empty_reply_is_a_failure(text: str | None, ended: str, usage: dict[str, int], what: str) -> None:
    body = {"choices": [{"message": {"content": text}, "finish_reason": ended}], "usage": usage}
    found = read_reply(json.dumps(body).encode(), 0.5)
    assert isinstance(found, Trouble)
    assert found.fate is Fate.FAILED
    assert found.what.startswith(f"the reply is empty: {what}")


NESTED = b"[" * 10**6


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"text": 3}]}', b"<html>", b"\xff" * 200, NESTED],
    ids=range(9),
)
def test_no_reply(content: bytes) -> None:
    found = read_reply(content, 0.5)
    assert isinstance(found, Trouble)
    assert found.fate is Fate.AGAIN
    assert found.what.startswith("a web page, not a reply: " if content == b"<html>" else "not a valid reply: ")
    assert found.malformed
    assert len(found.what) < 120


@pytest.mark.parametrize(
    ("status", "body", "what", "fate"),
    [
        (429, {"error": {"message": "slow down"}}, "HTTP 429: slow down", Fate.AGAIN),
        (500, {"detail": "oops"}, "HTTP 500: oops", Fate.AGAIN),
        (503, None, "HTTP 503", Fate.AGAIN),
        (401, {"error": "key"}, "HTTP 401: key", Fate.FATAL),
        (404, {"message": "no such model"}, "HTTP 404: no such model", Fate.FATAL),
        (400, {"error": {"message": "bad stop"}}, "HTTP 400: bad stop", Fate.FAILED),
        (
            400,
            {"error": {"message": "This model's maximum context length is 1024 tokens."}},
            "context too long: This model's maximum context length is 1024 tokens.",
            Fate.FAILED,
        ),
        (
            400,
            {"error": {"message": "the request exceeds the available context size, try increasing it"}},
            "context too long: the request exceeds the available context size, try increasing it",
            Fate.FAILED,
        ),
    ],
)
def test_errors(status: int, body: Any, what: str, fate: Fate) -> None:
    found = read_error(status, {}, b"" if body is None else json.dumps(body).encode())
    assert (found.what, found.fate) == (what, fate)
    assert found.alone == what.startswith("context")


def test_overload() -> None:
    said = {status for status in range(400, 600) if read_error(status, {}, b"").overload}
    assert {429, 502, 503, 504} < said
    assert said.isdisjoint({400, 401, 404, 500})


def test_letters_by_likelihood() -> None:
    request = replace(REQUEST, choices=("A", "B"))
    assert body_of("m", ModelOptions(), request, likelihood=True)["top_logprobs"] == 20
    assert body_of("m", ModelOptions(api="completion"), request, likelihood=True)["logprobs"] == 20
    assert "logprobs" not in body_of("m", ModelOptions(), replace(REQUEST, choices=("box",)), likelihood=True)
    assert "logprobs" not in body_of("m", ModelOptions(), request)
    tops = [{"token": "A", "logprob": -1.0}, {"token": " B", "logprob": -0.5}]
    chat = {"choices": [{"message": {"content": "Ah"}, "logprobs": {"content": [{"top_logprobs": tops}]}}]}
    completion = {"choices": [{"text": "Ah", "logprobs": {"top_logprobs": [{"A": -1.0, " B": -0.5}]}}]}
    for body in (chat, completion):
        found = read_reply(json.dumps(body).encode(), 0.1, ("A", "B"))
        assert isinstance(found, Reply)
        assert (found.text, found.choice_scores) == ("B", (-1.0, -0.5))
    for odd in (None, {}, {"content": []}, {"top_logprobs": [None]}, {"content": [{"top_logprobs": [3]}]}):
        body = {"choices": [{"text": "Ah", "logprobs": odd}], "usage": "none", "id": 3}
        assert read_reply(json.dumps(body).encode(), 0.1, ("A", "B")) == Reply("Ah", seconds=0.1)


@pytest.mark.parametrize("count", [2**63, 10**30, -5, True, 1.5, "7", None, [1]])
def test_absurd_counts_of_tokens_are_unknown(count: Any) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    body = {"choices": [{"text": "box"}], "usage": usage}
    assert read_reply(json.dumps(body).encode(), 0.1) == Reply("box", seconds=0.1)


@pytest.mark.parametrize(("read", "cached"), [(0, 7), (6, 7), (None, 7)])
def test_no_more_tokens_are_cached_than_read(read: int | None, cached: int) -> None:
    usage = {"prompt_tokens": read, "prompt_tokens_details": {"cached_tokens": cached}}
    body = {"choices": [{"text": "box"}], "usage": usage}
    assert read_reply(json.dumps(body).encode(), 0.1) == Reply("box", read, seconds=0.1)


@pytest.mark.parametrize("score", ["NaN", "1e999", "-1e999", "1" + "0" * 400, "900", "true", "{}"])
def test_absurd_likelihoods(score: str) -> None:
    tops = f'[{{"token": "B", "logprob": {score}}}, {{"token": "A", "logprob": -1.5}}]'
    logprobs = f'{{"content": [{{"top_logprobs": {tops}}}]}}'
    chat = f'{{"choices": [{{"message": {{"content": "A"}}, "logprobs": {logprobs}}}]}}'
    found = read_reply(chat.encode(), 0.1, ("A", "B"))
    assert isinstance(found, Reply)
    assert found.text in ("A", "B")
    assert all(-100 <= each <= 0 for each in found.choice_scores or ())


def test_messages_of_servers_are_cut_and_encodable() -> None:
    for message in ("bad \ud800 thing", "x" * 10**6, [["a"] * 10**5], {"a": "b" * 10**6}):
        what = read_error(500, {}, json.dumps({"error": {"message": message}}).encode()).what
        assert what.startswith("HTTP 500: ")
        assert what.encode()
        assert len(what) < 320
    assert read_error(500, {}, b'{"error":' * 10**5).what.startswith('HTTP 500: \'{"error":{')


def test_error_page_is_cut() -> None:
    assert read_error(502, {}, b"<html>" * 1000).what.startswith("HTTP 502: '<html>")


def test_retry_after() -> None:
    assert retry_after(None) is None
    assert retry_after("soon") is None
    assert retry_after("2.5") == 2.5
    assert retry_after("-3") == retry_after("-inf") == retry_after("Mon, 01 Jan 2001 00:00:00 GMT") == 0.0
    assert retry_after("inf") == retry_after("1e999") == float("inf")
    assert retry_after("nan") is None
    assert retry_after("Fri, 31 Dec 99999 23:59:59 GMT") is None
    assert (retry_after("Fri, 31 Dec 9999 23:59:59 GMT") or 0) > 1e11
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < (retry_after(date) or 0) < 61
    assert read_error(429, {"Retry-After": "7"}, b"").wait_s == 7.0


def test_lists_of_models() -> None:
    assert model_names(b'{"data": [{"id": "a"}, {"id": "b"}]}') == (["a", "b"], False)
    assert model_names(b'{"data": [{"id": "a.gguf", "owned_by": "llamacpp"}]}') == (["a.gguf"], True)
    for content in (b"", b"{}", b'{"data": [1]}', b'{"data": [{"id": 3}]}', NESTED):
        assert model_names(content) is None
    assert list_names("b", []) == "none"
    assert list_names("model-1", [f"model-{n}" for n in range(20)]).startswith("model-1, ")
    assert list_names("model-1", [f"model-{n}" for n in range(20)]).endswith(" and 8 more")
    assert len(list_names("m", ["m" * 10**6] * 10**5)) < 1000
