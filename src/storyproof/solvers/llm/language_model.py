"""Language models as solvers: no question is asked twice, no reply is lost, and memory use is constant.

Requests are sent in waves, one for each step of a prompt, and in the order of the data, so that the questions of one
story follow each other and a server can reuse their common prefix. Replies are kept in the store only. At the end the
answers are read from there in order, whether they came in this run or in an earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from storyproof.errors import ModelError
from storyproof.example import Example
from storyproof.solvers.llm.backend import Backend, KeyedRequest
from storyproof.solvers.llm.messages import Reply, Request, key_of
from storyproof.solvers.llm.prompt import Prompt, ends_before_answer, load_prompt
from storyproof.solvers.llm.store import Store
from storyproof.solvers.llm.streamed_reply import Hear
from storyproof.solvers.solver import DEFAULT_PROMPT, Answer, Examples

INTERRUPTED = "interrupted"  # why a run ended that a user stopped
# Called for every reply with its example, all replies to that so far, the reply, and whether it is the prompt's last.
Watch = Callable[[Example, list[str], Reply, bool], None]


@dataclass(slots=True)
class Traffic:
    """Counts of requests, and of the text that they share.

    Attributes:
        requests: The requests for the examples so far.
        asked: Those that were sent to the model in this run.
        found: Those whose reply was known from an earlier run.
        failed: Those that were sent and failed.
        retries: How often requests were sent again, because of troubles that may pass.
        characters: The total length of the prompts.
        shared: The total length of the prefixes that prompts share with the prompt before, which a server may reuse.
    """

    requests: int = 0
    asked: int = 0
    found: int = 0
    failed: int = 0
    retries: int = 0
    characters: int = 0
    shared: int = 0
    _before: str = field(default="", repr=False)

    def meet(self, request: Request) -> None:
        """Count a request."""
        text = request.text
        self.requests += 1
        self.characters += len(text)
        self.shared += _common(self._before, text)
        self._before = text

    def as_dict(self) -> dict[str, object]:
        """Return plain values, for JSON."""
        share = self.shared / self.characters if self.characters else 0.0
        counts = {name: getattr(self, name) for name in ("requests", "asked", "found", "failed", "retries")}
        return {**counts, "shared_prefix": share}


class Session:
    """One model with one prompt on some examples.

    Args:
        examples: Returns an iterator over the examples; it is called several times, and they are never held at once.
        prompt: Turns examples into requests and replies into answers.
        backend: The model.
        store: Where replies are kept.
        watch: Called for replies as they come.
        likelihood: Whether choices are scored by likelihood where the backend can; else they are generated.
    """

    def __init__(
        self,
        examples: Examples,
        prompt: Prompt,
        backend: Backend,
        store: Store,
        *,
        watch: Watch | None = None,
        likelihood: bool = True,
    ) -> None:
        self._examples, self._prompt, self._backend, self._store = examples, prompt, backend, store
        self._watch, self._likelihood = watch, likelihood
        self._identity = json.dumps(backend.identity(), sort_keys=True)
        self._waiting: dict[str, tuple[Example, list[str]]] = {}
        self._more = False
        self._stopped = False
        self.traffic = Traffic()

    def ask(self) -> None:
        """Send all requests without a reply in the store, among them those that failed in earlier runs.

        Raises:
            ModelError: If no further request can succeed; replies so far are kept.
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
        """Ask nothing more; requests in flight are waited for."""
        self._stopped = True

    def answers(self) -> Iterator[Answer]:
        """Yield an answer for every example, in the order of the data."""
        for example in self._examples():
            replies: list[Reply] = []
            texts: list[str] = []
            at_limit = False
            while True:
                request = self._request(example, texts)
                if request is None:
                    cut_off = bool(replies) and ends_before_answer(self._prompt, replies[-1])
                    answer = "" if cut_off else self._prompt.answer(texts, example)
                    yield Answer(example, answer, tuple(replies), cut_off=cut_off, at_limit=at_limit)
                    break
                key = key_of(self._identity, request)
                reply = self._store.get(key)
                if reply is None:
                    error = self._store.error(key)
                    yield Answer(example, "", tuple(replies), error, asked=error is not None)
                    break
                replies.append(reply)
                texts.append(reply.text)
                spent = reply.choice_scores is None and (reply.output_tokens or 0) >= request.max_tokens
                at_limit = reply.cut_off or spent  # not every server says why a reply ended

    def _wave(self, step: int) -> Iterator[KeyedRequest]:
        """Yield the requests of one step whose replies are not known yet."""
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
        """Return the replies to the first steps; None if some are missing or the prompt has no further step."""
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
        del self._waiting[name]  # only after it is stored, or the same request would be sent again
        self.traffic.failed += reply.error is not None
        self.traffic.retries += reply.retries
        self._tell(example, texts if reply.error is not None else [*texts, reply.text], reply)

    def _tell(self, example: Example, texts: list[str], reply: Reply) -> None:
        done = reply.error is not None or self._prompt.request(example, texts) is None
        self._more |= not done
        if self._watch is not None:
            self._watch(example, texts, reply, done)

    def _request(self, example: Example, texts: list[str]) -> Request | None:
        request = self._prompt.request(example, texts)
        if request is None or self._likelihood or not request.choices:
            return request
        return replace(request, choices=())


class LanguageModel:
    """A language model as a solver like any other.

    Args:
        backend: The model.
        prompt: How it is asked.
        store: Where replies are kept; by default in memory only.
        seed: The seed for prompts that draw.
        likelihood: Whether choices are scored by likelihood where the backend can.

    Attributes:
        prompt: The prompt.
        backend: The model.
        traffic: The requests of the last stream.
        ended: Why the last stream ended early, if it did.
    """

    def __init__(
        self,
        backend: Backend,
        prompt: str | Prompt = DEFAULT_PROMPT,
        store: Store | None = None,
        *,
        seed: int = 0,
        likelihood: bool = True,
    ) -> None:
        self.backend, self._likelihood = backend, likelihood
        self._store, self._in_memory = Store(None) if store is None else store, store is None
        self.prompt: Prompt = load_prompt(prompt, seed=seed) if isinstance(prompt, str) else prompt
        self.traffic = Traffic()
        self.ended: str | None = None

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one reply per example, in order.

        Raises:
            ModelError: If a request failed; a failed request is not a wrong answer.
        """
        session = self._session(lambda: examples)
        session.ask()
        answers = []
        for each in session.answers():
            if not each.complete:
                raise ModelError(f"{self.backend.name} gave no reply for {each.example.id}: {each.error}.")
            answers.append(each.text)
        return answers

    def stream(
        self,
        examples: Examples,
        watch: Callable[[Answer], None] | None = None,
        stopping: Callable[[], bool] | None = None,
    ) -> Iterator[Answer]:
        """Send the requests without a reply, then yield an answer for every example, in order.

        Args:
            examples: The examples.
            watch: Called with each answer as it comes, in any order.
            stopping: Returns whether to send no more requests; those in flight are waited for.

        Raises:
            ModelError: If there was no reply at all.
        """

        def look(example: Example, texts: list[str], reply: Reply, done: bool) -> None:
            if stopping is not None and stopping():
                session.stop()
            if watch is not None and done:
                cut_off = reply.error is None and ends_before_answer(self.prompt, reply)
                text = "" if cut_off or reply.error is not None else self.prompt.answer(texts, example)
                watch(Answer(example, text, (reply,), reply.error, cut_off=cut_off))

        session = self._session(examples, look)
        self.ended = None
        try:
            session.ask()
        except KeyboardInterrupt:
            self.ended = INTERRUPTED
        except ModelError as error:
            if self.traffic.asked - self.traffic.failed <= 1 and not self.traffic.found:
                raise
            self.ended = str(error)
        else:
            if stopping is not None and stopping():
                self.ended = INTERRUPTED
        yield from session.answers()

    def listen(self, hear: Hear | None) -> None:
        """Let what the model has said so far be heard, as far as its backend can tell; None ends this."""
        if hasattr(self.backend, "hear"):
            self.backend.hear = hear

    def forget(self) -> None:
        """Delete replies that are kept in memory, so that the same question is asked again."""
        if self._in_memory:
            self._store.close()
            self._store = Store(None)

    def close(self) -> None:
        """Release the model."""
        self.backend.close()
        if self._in_memory:
            self._store.close()

    def _session(self, examples: Examples, watch: Watch | None = None) -> Session:
        session = Session(examples, self.prompt, self.backend, self._store, watch=watch, likelihood=self._likelihood)
        self.traffic = session.traffic
        return session


def _common(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if second.startswith(first[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low
