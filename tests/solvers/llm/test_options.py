from typing import Any

import pytest

from storyproof.errors import ConfigError
from storyproof.solvers.llm.options import ModelOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"api": "chta"}, "unknown kind of API 'chta'. Did you mean 'chat'"),
        ({"concurrency": 0}, "--concurrency is 0; use 1 or more"),
        ({"retries": -1}, "--option retries is -1; use 0 or more"),
        ({"timeout_s": 0}, "--option timeout is 0; use a number above 0"),
        ({"batch_size": 0}, "--batch-size is 0"),
        ({"temperature": -1}, "--temperature is -1"),
        ({"temperature": float("nan")}, "--temperature is nan"),
        ({"top_p": 0}, "--option top-p is 0"),
        ({"base_urls": ("localhost:8000",)}, "--base-url is 'localhost:8000'; expected http"),
        ({"base_urls": ("ftp://me:secret@host/v1",)}, "--base-url is 'ftp://…@host/v1'; expected http"),
        ({"base_urls": ("http://me:sec#ret@host/v1",)}, "--base-url is 'http://…@host/v1'; expected http"),
        (
            {"base_urls": ("http://host/v1?api_key=secret",)},
            r"--base-url is 'http://host/v1\?…'; expected an address without",
        ),
        (
            {"base_urls": ("http://host/v1#secret",)},
            "--base-url is 'http://host/v1'; expected an address without a query",
        ),
        ({"base_urls": ("host/v1?api_key=secret",)}, r"--base-url is 'host/v1\?…'; expected http"),
        ({"base_urls": ("http://",)}, "--base-url is 'http://'; expected http"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelOptions(**options)


def test_identity_has_what_may_change_a_reply() -> None:
    same = [ModelOptions(), ModelOptions(concurrency=3, timeout_s=1, base_urls=("http://x",), seed=4, batch_size=2)]
    assert same[0].identity() == same[1].identity()
    drawing = [ModelOptions(temperature=1, seed=seed).identity() for seed in (0, 1)]
    assert drawing[0] != drawing[1]
    for changed in ({"top_p": 0.5}, {"api": "completion"}, {"lora": "x"}, {"extra": {"a": 1}}):
        assert ModelOptions(**changed).identity() != same[0].identity()  # type: ignore[arg-type]
