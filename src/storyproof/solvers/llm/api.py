"""The OpenAI-compatible API: bodies of requests, replies, and the meaning of errors."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from time import time
from typing import Any

from storyproof.errors import quoted, shorten
from storyproof.solvers.llm.choices import are_letters, choose, first_token_scores
from storyproof.solvers.llm.messages import Reply, Request
from storyproof.solvers.llm.options import CHAT, ModelOptions

_TOO_LONG = re.compile(
    r"context.{0,20}(length|size|window)|maximum context|too (long|large|many tokens)|exceeds? .{0,40}(context|tokens)",
    re.I,
)
_LISTED = 12  # models that a message names
_NAME = 60  # characters of a model's name in a message
_COMPARED = 1000  # models that a misspelt name is compared with
_MOST_TOKENS = 1 << 40  # more cannot be true, and sums of it would not fit a file of replies
_TOP = 20  # likeliest tokens among which letters are looked for; by default servers return no more
_OVERLOAD = (408, 429, 502, 503, 504, 529)  # also those of gateways whose server does not answer
_CUT_OFF = "length"  # the finish_reason of a reply that reached its maximum length
NO_LIKELIHOOD = "no likelihoods"


class Fate(Enum):
    """What an error means for this and further requests."""

    AGAIN = "may pass; send it again"
    FAILED = "this request cannot succeed"
    FATAL = "no request can succeed"


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error and what it means.

    Attributes:
        what: What happened.
        fate: What it means for this and further requests.
        wait_s: The pause that the server asks for, if it does.
        alone: Whether it concerns this request only, and says nothing about the server.
        overload: Whether it is a sign of overload; other errors may concern a single request.
        malformed: Whether the server sent something with status 200 that is not a reply.
    """

    what: str
    fate: Fate
    wait_s: float | None = None
    alone: bool = False
    overload: bool = False
    malformed: bool = False


def body_of(model: str, options: ModelOptions, request: Request, *, likelihood: bool = False) -> dict[str, Any]:
    """Return the body of a request; with `likelihood` it asks for the likeliest first tokens if choices are letters."""
    body: dict[str, Any] = {"model": model, "max_tokens": request.max_tokens, "temperature": options.temperature}
    if options.api == CHAT:
        body["messages"] = [{"role": each.role, "content": each.content} for each in request.messages]
    else:
        body["prompt"] = request.text
    if request.stop:
        body["stop"] = list(request.stop)
    if options.top_p is not None:
        body["top_p"] = options.top_p
    if options.temperature > 0:
        body["seed"] = options.seed
    if likelihood and are_letters(request.choices):
        body |= {"logprobs": True, "top_logprobs": _TOP} if options.api == CHAT else {"logprobs": _TOP}
    for name, value in options.extra.items():
        body[name] = value
    return {name: value for name, value in body.items() if value is not None} if options.extra else body


def read_reply(content: bytes, seconds: float, choices: Sequence[str] = ()) -> Reply | Trouble:
    """Read a body with status 200; of choices, return the likeliest if the server returns likelihoods."""
    try:
        body = json.loads(content)
        choice = body["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return _not_a_reply(content)
    if not isinstance(text, str) and text is not None:
        return _not_a_reply(content)
    ended = choice.get("finish_reason")
    usage = _object(body, "usage")
    details = _object(usage, "prompt_tokens_details")
    read, written, cached = map(
        _tokens, (usage.get("prompt_tokens"), usage.get("completion_tokens"), details.get("cached_tokens"))
    )
    if cached is not None and (read is None or cached > read):
        cached = None  # a part cannot be more than the whole
    scores = first_token_scores(choices, _listed(choice)) if choices else None
    if scores is not None:
        return Reply(choose(choices, scores).text, read, written, cached, seconds, scores)
    if text is None or (ended == _CUT_OFF and not text.strip()):
        return Trouble(_emptiness(ended, written), Fate.FAILED)
    return Reply(text, read, written, cached, seconds, cut_off=ended == _CUT_OFF)


def _not_a_reply(content: bytes) -> Trouble:
    """Return what is wrong with a body that is not a reply; a web page is mostly a sign of a wrong address."""
    kind = "a web page, not a reply" if content[:100].lstrip()[:1] == b"<" else "not a valid reply"
    return Trouble(f"{kind}: {_shown(content)}", Fate.AGAIN, malformed=True)


def _tokens(count: object) -> int | None:
    """Return a count of tokens; None for what cannot be one."""
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS
    return count if is_count else None  # type: ignore[return-value]


def _emptiness(ended: object, written: int | None) -> str:
    """Return why a reply contains no text."""
    if ended != _CUT_OFF:
        return f"the reply is empty: the server sent no text (finish_reason {quoted(ended)})"
    length = "" if written is None else f" at {written} tokens"
    return f"the reply is empty: it was cut off{length}, perhaps while the model was still thinking; raise --max-tokens"


def _object(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    return value if isinstance(value, dict) else {}


def _listed(choice: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the likeliest first tokens with their log-likelihoods, as either API returns them."""
    try:
        logprobs = choice["logprobs"]
        if "content" in logprobs:
            listed = [(str(each["token"]), float(each["logprob"])) for each in logprobs["content"][0]["top_logprobs"]]
        else:
            listed = [(str(token), float(score)) for token, score in logprobs["top_logprobs"][0].items()]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        return []
    return [(token, min(score, 0.0)) for token, score in listed if not math.isnan(score)]


def read_error(status: int, headers: Mapping[str, str], content: bytes) -> Trouble:
    """Return what a status other than 200 means."""
    said = _message(content)
    what = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    if status in (401, 403):
        return Trouble(what, Fate.FATAL)
    if status == 404:
        return Trouble(what, Fate.FATAL)
    if status in (400, 413, 422) and _TOO_LONG.search(said):
        return Trouble(f"context too long: {said}", Fate.FAILED, alone=True)
    if status in (400, 422) and "logprobs" in said:
        return Trouble(f"{NO_LIKELIHOOD}: {said}", Fate.FAILED, alone=True)
    if status in (408, 409, 425, 429) or status >= 500:
        return Trouble(what, Fate.AGAIN, retry_after(headers.get("Retry-After")), overload=status in _OVERLOAD)
    return Trouble(what, Fate.FAILED)


def retry_after(value: str | None) -> float | None:
    """Read for how many seconds a server wants no requests, possibly infinitely many; a date counts from now."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time()
        except (TypeError, ValueError, OverflowError, OSError):
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)


def model_names(content: bytes) -> tuple[list[str], bool] | None:
    """Read a server's list of models, and whether it takes any name (llama.cpp does); None if it is not a list."""
    try:
        rows = json.loads(content)["data"]
        names = [row["id"] for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not all(isinstance(name, str) for name in names):
        return None
    return names, any(row.get("owned_by") == "llamacpp" for row in rows)


def list_names(wanted: str, names: Sequence[str]) -> str:
    """Return the models of a server for a message, those with similar names first."""
    close = difflib.get_close_matches(wanted, names[:_COMPARED], n=3)
    shown = [*close, *(name for name in names[:_COMPARED] if name not in close)][:_LISTED]
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(shorten(name, _NAME) for name in shown) + more if shown else "none"


def _message(content: bytes) -> str:
    """Return the message in the body of an error, whatever its form."""
    try:
        error = json.loads(content)
        for key in ("error", "detail", "message"):
            if isinstance(error, dict) and key in error:
                error = error[key]
        return shorten(str(error))
    except (ValueError, RecursionError):
        return _shown(content) if content else ""


def _shown(content: bytes) -> str:
    """Return the beginning of a body that is not JSON, for a message."""
    return quoted(" ".join(content[:1000].decode("utf-8", "replace").split()))
