"""What a language model is asked, and what it replies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One turn: who speaks (system, user or assistant) and what is said."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Attributes:
        messages: The turns so far.
        max_tokens: How long the reply may become.
        stop: Where a reply ends, if the model gets there.
        choices: If any, the continuations to choose from by log-likelihood, where the backend can; else it generates.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    stop: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The turns as plain text, for models that know no turns."""
        return "\n\n".join(message.content for message in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        text: The reply; of choices, the likeliest.
        prompt_tokens: How many tokens were read, if the backend says.
        output_tokens: How many were written.
        cached_tokens: How many of those read were known from an earlier request.
        seconds: How long it took.
        choice_scores: The log-likelihood of each choice.
        error: Why there is no reply; a request that failed is failed, never wrong.
        cut_off: Whether it ended only because it may not become longer; False where that is not known.
        retries: How often the request was sent again before the reply came.
    """

    text: str
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    seconds: float = 0.0
    choice_scores: tuple[float, ...] | None = None
    error: str | None = None
    cut_off: bool = False
    retries: int = 0


@lru_cache(maxsize=64)
def _begun(identity: str) -> hashlib._Hash:
    return hashlib.sha256(identity.encode() + b"\n")


def key_of(identity: str, request: Request) -> bytes:
    """Return the key under which a reply is kept: one model with one set of options, asked one thing.

    Args:
        identity: The model and all options that may change its replies, as text.
        request: What it is asked.
    """
    parts = [part for message in request.messages for part in (message.role, message.content)]
    found = _begun(identity).copy()
    found.update(json.dumps([parts, request.max_tokens, request.stop, request.choices]).encode())
    return found.digest()


def spell(request: Request, tokenizer: Any, templated: bool) -> str:
    """Return the text of a request: in the model's chat template, or plain."""
    if not templated:
        return request.text
    turns = [{"role": message.role, "content": message.content} for message in request.messages]
    return str(tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False))


def tokens_of(text: str, tokenizer: Any, templated: bool) -> list[int]:
    """Return the tokens of a text; a template has its own special tokens in it."""
    tokens: list[int] = tokenizer(text, add_special_tokens=not templated)["input_ids"]
    return tokens
