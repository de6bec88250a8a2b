"""Small prompts and models for tests of what lies between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from storyproof.example import Example
from storyproof.solvers.llm import client
from storyproof.solvers.llm.messages import Message, Reply, Request
from tests.samples import example


class OneStep:
    """Asks the question as it stands."""

    name, version = "one-step", "1"

    def request(self, example: Example, replies: Sequence[str]) -> Request | None:
        return None if replies else Request((Message("user", f"{example.story}\n{example.question}"),), 10)

    def answer(self, replies: Sequence[str], example: Example | None = None) -> str:
        return replies[-1]


class TwoSteps:
    """Asks twice, the second time with the first reply."""

    name, version = "two-steps", "1"

    def request(self, example: Example, replies: Sequence[str]) -> Request | None:
        if len(replies) == 2:
            return None
        return Request((Message("user", " ".join([example.question, *replies])),), 10)

    def answer(self, replies: Sequence[str], example: Example | None = None) -> str:
        return " | ".join(replies)


class Scripted:
    """A model that replies by a function, and remembers what it was asked and how much it held at most."""

    name = "scripted"

    def __init__(self, reply: Callable[[str], str | Reply], held: int = 4) -> None:
        self._reply, self._held = reply, held
        self.asked: list[str] = []
        self.options: dict[str, Any] = {}

    def identity(self) -> dict[str, Any]:
        return {"model": self.name, **self.options}

    def about(self) -> dict[str, Any]:
        return {}

    def complete(self, requests: Iterable[tuple[str, Request]]) -> Iterator[tuple[str, Reply]]:
        waiting: list[tuple[str, Request]] = []
        for each in requests:
            waiting.append(each)
            if len(waiting) == self._held:
                yield self._one(waiting.pop())  # in any order
        while waiting:
            yield self._one(waiting.pop())

    def close(self) -> None:
        pass

    def _one(self, asked: tuple[str, Request]) -> tuple[str, Reply]:
        name, request = asked
        self.asked.append(request.text)
        reply = self._reply(request.text)
        return name, reply if isinstance(reply, Reply) else Reply(reply)


def questions(count: int) -> list[Example]:
    """Make so many questions, three to a story."""
    return [
        example(id=f"q{n}", story_id=f"s{n // 3}", story=f"Story {n // 3}.", question=f"Question {n}?")
        for n in range(count)
    ]


def note_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list to which the client's waits before another attempt are added, in seconds."""
    waits, wait_s = list[float](), client._wait_s

    def wait(*arguments: Any, **more: Any) -> float:
        waits.append(wait_s(*arguments, **more))
        return waits[-1]

    monkeypatch.setattr(client, "_wait_s", wait)
    return waits
