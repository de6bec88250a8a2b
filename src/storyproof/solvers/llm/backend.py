"""The one protocol that every way to reach a language model follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from storyproof.solvers.llm.requests import Reply, Request

KeyedRequest = tuple[str, Request]
KeyedReply = tuple[str, Reply]


class Backend(Protocol):
    """Completes requests.

    Attributes:
        name: The model, as a user names it.
    """

    name: str

    def identity(self) -> dict[str, Any]:
        """Return the model and all options that may change its replies; replies are stored under this."""

    def about(self) -> dict[str, Any]:
        """Return what else is needed to repeat a run: revision, precision, address."""

    def complete(self, requests: Iterable[KeyedRequest]) -> Iterator[KeyedReply]:
        """Yield the reply to each request, in any order, under the name it came with.

        Requests are taken only as there is room for them, so that a million of them are never held at once.

        Raises:
            ModelError: If no further request can succeed.
        """

    def close(self) -> None:
        """Release the model."""
