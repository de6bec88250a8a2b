"""Options of language models, the same for all backends."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.runtime.options import Declared, option


def is_address(url: str) -> bool:
    """Return whether a text is the address of a server; a slash or hash in a password must be percent-encoded."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def public(url: str) -> str:
    """Return an address without user name and password; of a text that is no address, without what may be one."""
    if not is_address(url):
        before, at, after = url.rpartition("@")
        return f"{before.partition('://')[0]}://…@{after}" if at else url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def check_address(url: str, name: str) -> None:
    """Check the address of a server that an option or a variable gives; what may be a key in it is not shown.

    Raises:
        ConfigError: If it is not one, or has a query or a fragment, to which no path can be added.
    """
    shown, mark, _ = public(url).partition("?")
    shown = f"{shown}?…" if mark else shown
    if not is_address(url):
        raise ConfigError(f"{name} is '{shown}'; expected http://… or https://…, such as http://localhost:8000/v1.")
    if mark or urlsplit(url).fragment:
        raise ConfigError(f"{name} is '{shown.partition('#')[0]}'; expected an address without a query, such as …/v1.")


def authorization(url: str) -> str | None:
    """Return the value of the header `Authorization` for the user name and password of an address, if it has any."""
    said, at, _ = urlsplit(url).netloc.rpartition("@")
    user, _, password = said.partition(":")
    return f"Basic {b64encode(f'{unquote(user)}:{unquote(password)}'.encode()).decode()}" if at else None


CHAT, COMPLETION = "chat", "completion"
_AT_LEAST = {"concurrency": 1, "retries": 0, "batch_size": 1, "tensor_parallel_size": 1, "max_wait_s": 0}
_ABOVE_0 = ("timeout_s", "max_reply_mb")


@dataclass(frozen=True)
class ModelOptions(Declared):
    """Options of a language model; each backend uses those that apply to it.

    Attributes:
        base_urls: OpenAI-compatible servers that share the load; a user name and password in them are sent, not stored.
        api: The API of a server, `chat` or `completion`; with `completion` other backends use no chat template.
        api_key_env: The environment variable with the key of a server.
        concurrency: The most requests in flight.
        timeout_s: How long a server may take for one request.
        retries: How often a request is sent again that failed for a reason that may pass.
        patience_s: How long there may be no reply from any server before the run ends with the replies so far.
        max_wait_s: The longest pause that a server may ask for by `Retry-After`; a longer one is not waited for, and a
            request that gets it twice has failed.
        max_reply_mb: The longest reply in megabytes, after unpacking; a request with a longer one has failed.
        temperature: The temperature; 0 always takes the likeliest token.
        top_p: Sample from the likeliest tokens that make up this share.
        seed: The seed for sampling.
        batch_size: How many prompts a model in this process reads at once; None for 8 (transformers) or the number
            that fits (vLLM).
        lora: A folder with a LoRA adapter (vLLM).
        tensor_parallel_size: The number of devices for one model (vLLM).
        extra: Further options, passed unchanged to the request (servers) or to the engine (vLLM, transformers).
    """

    base_urls: tuple[str, ...] = field(
        default=(),
        repr=False,
        metadata=option(
            "openai: a server (http://localhost:8000/v1); repeatable.",
            flag="--base-url",
            is_repeated=True,
        ),
    )
    api: str = field(default=CHAT, metadata=option("Use the 'chat' or the 'completion' interface.", default=CHAT))
    api_key_env: str = field(
        default="OPENAI_API_KEY",
        metadata=option("openai: environment variable of the key.", default="OPENAI_API_KEY"),
    )
    concurrency: int = field(
        default=256, metadata=option("openai: the most requests in flight.", read=int, default="256")
    )
    timeout_s: float = field(
        default=300.0, metadata=option("openai: seconds per request.", read=float, flag="--timeout", is_rare=True)
    )
    retries: int = field(
        default=8, metadata=option("openai: how often a request is sent again.", read=int, is_rare=True)
    )
    patience_s: float = field(
        default=180.0,
        metadata=option(
            "openai: seconds without a reply until the run ends.", read=float, flag="--patience", is_rare=True
        ),
    )
    max_wait_s: float = field(
        default=300.0,
        metadata=option("openai: the longest pause of a server.", read=float, flag="--max-wait", is_rare=True),
    )
    max_reply_mb: float = field(
        default=4.0, metadata=option("openai: the longest reply in megabytes.", read=float, is_rare=True)
    )
    temperature: float = field(
        default=0.0, metadata=option("0 always takes the likeliest token.", read=float, default="0.0")
    )
    top_p: float | None = field(
        default=None, metadata=option("Draw from the likeliest tokens of this share.", read=float, is_rare=True)
    )
    seed: int = 0
    batch_size: int | None = field(
        default=None,
        metadata=option("hf, vllm: prompts read at once.", read=int, default="8; vllm chooses"),
    )
    lora: str | None = field(default=None, metadata=option("vllm: a folder with a LoRA adapter.", is_rare=True))
    tensor_parallel_size: int = field(
        default=1, metadata=option("vllm: devices over which the model is spread.", read=int, is_rare=True)
    )
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.api not in (CHAT, COMPLETION):
            raise UnknownNameError("kind of API", self.api, (CHAT, COMPLETION))
        for name, least in _AT_LEAST.items():
            if getattr(self, name) is not None and not getattr(self, name) >= least:
                raise self._error(name, f"{least} or more")
        for name in _ABOVE_0:
            if not getattr(self, name) > 0:
                raise self._error(name, "a number above 0")
        if not 0 <= self.temperature <= 100:
            raise ConfigError(f"--temperature is {self.temperature}; use 0 (the likeliest token) or more.")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise self._error("top_p", "a share above 0 and up to 1")
        for url in self.base_urls:
            check_address(url, "--base-url")

    def _error(self, name: str, expected: str) -> ConfigError:
        return ConfigError(f"{self.options()[name].spoken} is {getattr(self, name)}; use {expected}.")

    def identity(self) -> dict[str, Any]:
        """Return the options that may change a reply; the seed is one only if tokens are sampled."""
        identity: dict[str, Any] = {"api": self.api, "temperature": self.temperature, "top_p": self.top_p}
        if self.temperature > 0:
            identity["seed"] = self.seed
        return {**identity, "lora": self.lora, "extra": dict(self.extra)}
