"""The protocol of backends, the ways to run or reach a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from storyproof.solvers.llm.messages import Reply, Request

KeyedRequest = tuple[str, Request]
KeyedReply = tuple[str, Reply]


class Backend(Protocol):
    """Completes requests.

    Attributes:
        name: The model, as users name it.

    A class may list the fields of `ModelOptions` that it uses in `options`; the command line refuses the others, which
    would have no effect. One that can tell what a model has said before it is done has an attribute `hear`: None, or
    what is called with the text so far.
    """

    name: str

    def identity(self) -> dict[str, Any]:
        """Return the model and all options that may change its replies; it is part of the key of stored replies."""

    def about(self) -> dict[str, Any]:
        """Return what else is needed to reproduce a run, such as revision, precision and address."""

    def complete(self, requests: Iterable[KeyedRequest]) -> Iterator[KeyedReply]:
        """Yield the reply to each request, in any order, with the key of the request.

        Requests are taken from the iterator only as there is room for them, so that they are never all held at once.

        Raises:
            ModelError: If no further request can succeed.
        """

    def close(self) -> None:
        """Release the model."""
