"""Requests to language models, and their replies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation: the role (system, user or assistant) and the text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Attributes:
        messages: The turns so far.
        max_tokens: The maximum length of the reply.
        stop: Texts at which a reply ends.
        choices: Continuations of which the likeliest is chosen, if the backend can score them; else it generates.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    stop: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The turns as plain text, for models without a chat template."""
        return "\n\n".join(message.content for message in self.messages)

    @property
    def chat(self) -> list[dict[str, str]]:
        """The turns as most libraries take them: dictionaries with `role` and `content`."""
        return [{"role": message.role, "content": message.content} for message in self.messages]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request, or why there is none.

    Attributes:
        text: The text; of choices, the likeliest.
        prompt_tokens: The number of tokens in the prompt, if the backend reports it.
        output_tokens: The number of tokens in the reply.
        cached_tokens: The number of prompt tokens that were in a cache.
        seconds: How long the request took.
        choice_scores: The log-likelihood of each choice.
        error: Why there is no reply; a failed request is not a wrong answer.
        cut_off: Whether the reply reached its maximum length; False if that is not known.
        retries: How often the request was sent again.
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
    """Return the key under which a reply is stored.

    Args:
        identity: The model and all options that may change its replies, as text.
        request: The request.
    """
    parts = [part for message in request.messages for part in (message.role, message.content)]
    digest = _begun(identity).copy()
    digest.update(json.dumps([parts, request.max_tokens, request.stop, request.choices]).encode())
    return digest.digest()


def spell(request: Request, tokenizer: Any, templated: bool) -> str:
    """Return the text of a request, in the model's chat template if that is used."""
    if not templated:
        return request.text
    return str(tokenizer.apply_chat_template(request.chat, add_generation_prompt=True, tokenize=False))


def tokens_of(text: str, tokenizer: Any, templated: bool) -> list[int]:
    """Return the tokens of a text; text in a chat template contains its special tokens already."""
    tokens: list[int] = tokenizer(text, add_special_tokens=not templated)["input_ids"]
    return tokens
