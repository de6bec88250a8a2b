"""Puts examples through a model: nothing is asked twice, nothing is lost, and memory stays flat.

Requests go out in waves, one for each step of a prompt, always in the order of the data, so that the questions of one
story stand side by side and a server can reuse what they share. What has come back is in the store and nowhere else;
answers are read from there at the end, in order, whether they came now or in an earlier run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from storyproof.example import Example
from storyproof.solvers.llm.backend import Asked, Backend
from storyproof.solvers.llm.prompting import Prompt, ends_before_answer
from storyproof.solvers.llm.requests import Reply, Request, key_of
from storyproof.solvers.llm.store import Store

Examples = Callable[[], Iterable[Example]]  # may be gone through several times
# Told of every reply: of which example, all replies to it so far, the last one, and whether it is the prompt's last.
Watch = Callable[[Example, list[str], Reply, bool], None]


@dataclass(frozen=True, slots=True)
class Answered:
    """An example with what the model said.

    Attributes:
        example: What was asked.
        replies: The reply to each step of the prompt, as far as it got.
        answer: What is to be matched; empty if the model did not get that far.
        error: Why a step failed.
        asked: Whether it was asked at all, or the run ended before.
        cut_off: Whether the last reply was cut off before its answer, so that there is none to be matched.
    """

    example: Example
    replies: tuple[Reply, ...]
    answer: str
    error: str | None = None
    asked: bool = True
    cut_off: bool = False

    @property
    def complete(self) -> bool:
        """Whether there is an answer."""
        return self.asked and self.error is None


@dataclass(slots=True)
class Traffic:
    """What went over the wire, and what could be spared.

    Attributes:
        requests: How many requests the prompts make of the examples gone through.
        asked: How many of them were sent to the model in this run.
        found: How many were known from an earlier run.
        failed: How many of those sent failed.
        characters: How long the prompts are together.
        shared: How much of that is how the request just before begins, so that a server may reuse it.
    """

    requests: int = 0
    asked: int = 0
    found: int = 0
    failed: int = 0
    characters: int = 0
    shared: int = 0
    _before: str = field(default="", repr=False)

    def meet(self, request: Request) -> None:
        """Count a request as it comes by."""
        text = request.text
        self.requests += 1
        self.characters += len(text)
        self.shared += _common(self._before, text)
        self._before = text

    def as_dict(self) -> dict[str, object]:
        """Give plain values, for JSON."""
        share = self.shared / self.characters if self.characters else 0.0
        counts = {name: getattr(self, name) for name in ("requests", "asked", "found", "failed")}
        return {**counts, "shared_prefix": share}


class Run:
    """One model with one prompt on some examples.

    Args:
        examples: Gives the examples anew each time; all of them are never held at once.
        prompt: Makes requests of examples and answers of replies.
        backend: The model.
        store: Where replies are kept.
        watch: Told of replies as they come.
        choose: Whether choices are scored by likelihood where the backend can; else they are generated.
    """

    def __init__(
        self,
        examples: Examples,
        prompt: Prompt,
        backend: Backend,
        store: Store,
        *,
        watch: Watch | None = None,
        choose: bool = True,
    ) -> None:
        self._examples, self._prompt, self._backend, self._store = examples, prompt, backend, store
        self._watch, self._choose = watch, choose
        self._identity = json.dumps(backend.identity(), sort_keys=True)
        self._waiting: dict[str, tuple[Example, list[str]]] = {}
        self._more = False
        self._stopped = False
        self.traffic = Traffic()

    def ask(self) -> None:
        """Ask whatever is not known yet; failed requests of earlier runs are asked again.

        Raises:
            ModelError: If the model cannot be asked any further; what has come back is kept.
        """
        step, self._more = 0, True
        while self._more and not self._stopped:
            self._more = False
            self._waiting.clear()
            replies = self._backend.complete(self._wave(step))
            try:
                for name, reply in replies:
                    self._take(name, reply)
            finally:
                close = getattr(replies, "close", None)
                if close is not None:
                    close()
            step += 1

    def stop(self) -> None:
        """Ask nothing more; what is on its way is waited for."""
        self._stopped = True

    def answers(self) -> Iterator[Answered]:
        """Read what is known, in the order of the data."""
        for example in self._examples():
            replies: list[Reply] = []
            texts: list[str] = []
            while True:
                request = self._request(example, texts)
                if request is None:
                    cut_off = bool(replies) and ends_before_answer(self._prompt, replies[-1])
                    answer = "" if cut_off else self._prompt.answer(texts, example)
                    yield Answered(example, tuple(replies), answer, cut_off=cut_off)
                    break
                key = key_of(self._identity, request)
                reply = self._store.get(key)
                if reply is None:
                    error = self._store.error(key)
                    yield Answered(example, tuple(replies), "", error, asked=error is not None)
                    break
                replies.append(reply)
                texts.append(reply.text)

    def _wave(self, step: int) -> Iterator[Asked]:
        """Give the requests of one step that are not known yet."""
        for example in self._examples():
            if self._stopped:
                return
            texts = self._known(example, step)
            request = None if texts is None else self._request(example, texts)
            if texts is None or request is None:
                continue
            self.traffic.meet(request)
            key = key_of(self._identity, request)
            name = key.hex()
            if name in self._waiting:
                continue  # the same question again, while the first is on its way
            reply = self._store.get(key)
            if reply is not None:
                self.traffic.found += 1
                self._tell(example, [*texts, reply.text], reply)
                continue
            self._waiting[name] = example, texts
            self.traffic.asked += 1
            yield name, request

    def _known(self, example: Example, steps: int) -> list[str] | None:
        """Give the replies to the first steps; None if some are missing or the prompt has no further step."""
        texts: list[str] = []
        for _ in range(steps):
            request = self._request(example, texts)
            reply = None if request is None else self._store.get(key_of(self._identity, request))
            if reply is None:
                return None
            texts.append(reply.text)
        return texts

    def _take(self, name: str, reply: Reply) -> None:
        example, texts = self._waiting[name]
        self._store.put(bytes.fromhex(name), reply)
        del self._waiting[name]  # only now: until it is kept, nobody else may ask
        self.traffic.failed += reply.error is not None
        self._tell(example, texts if reply.error is not None else [*texts, reply.text], reply)

    def _tell(self, example: Example, texts: list[str], reply: Reply) -> None:
        done = reply.error is not None or self._prompt.request(example, texts) is None
        self._more |= not done
        if self._watch is not None:
            self._watch(example, texts, reply, done)

    def _request(self, example: Example, texts: list[str]) -> Request | None:
        request = self._prompt.request(example, texts)
        if request is None or self._choose or not request.choices:
            return request
        return replace(request, choices=())


def _common(first: str, second: str) -> int:
    """Say how many characters two texts begin with in common."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if second.startswith(first[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low
