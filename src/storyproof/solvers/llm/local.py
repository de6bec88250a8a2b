"""`local/NAME` and `.gguf` files: a model in this process on any CPU, run by llama.cpp (xllamacpp)."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from storyproof.errors import ConfigError, ModelError, shorten
from storyproof.runtime.optional_packages import need
from storyproof.solvers.llm.api import body_of, read_error, read_reply
from storyproof.solvers.llm.backend import KeyedReply, KeyedRequest
from storyproof.solvers.llm.messages import Reply, Request
from storyproof.solvers.llm.options import CHAT, ModelOptions
from storyproof.solvers.llm.pull import WEIGHTS, pull, weights_path
from storyproof.solvers.llm.streamed_reply import Hear, StreamedReply

_log = logging.getLogger(__name__)
_CONTEXT = 4096  # tokens; --option n_ctx=… changes it
_ENDS = 16 << 20  # bytes at each end of a file that its fingerprint is made of


class Local:
    """A model in a GGUF file. It is loaded for the first request.

    By default one request is sent at a time. Consecutive questions about one story then share the cached prefix, and a
    reply does not depend on what else is asked. `--option n_parallel=4` sends four at a time.

    Args:
        name: The name of a model (`smollm2`), downloaded for its first use, or a `.gguf` file.
        options: How the model is run; `extra` is passed to the engine (`n_ctx`, `n_parallel`, `n_gpu_layers`, …).
    """

    options: ClassVar[frozenset[str]] = frozenset({"api", "extra", "seed", "temperature", "top_p"})

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name = f"local/{name}"
        self._engine = need("xllamacpp", "local", f"the model '{self.name}'")
        self._options = options
        self._path = Path(name) if name.endswith(".gguf") else self._pulled(name)
        if not self._path.is_file():
            raise ConfigError(f"the weights of '{self.name}' are not at {self._path}; give another path.")
        self._settings = {"n_ctx": _CONTEXT, "n_parallel": 1, "n_threads": _threads(), **options.extra}
        self._fingerprint = _fingerprint(self._path)
        self._server: Any = None
        self.hear: Hear | None = None

    @staticmethod
    def _pulled(name: str) -> Path:
        """Return the path of weights in the cache; they are downloaded for the first use."""
        path = weights_path(name)
        if not path.is_file():
            _log.warning("downloading %s, to %s.", WEIGHTS[name].about, path)
            pull(name)
        return path

    def identity(self) -> dict[str, Any]:
        """Return the weights, wherever their file is, and the options that may change a reply."""
        return {"model": "local", "weights": self._fingerprint, **self._options.identity()}

    def about(self) -> dict[str, Any]:
        """Return the engine's version, its settings and the weights."""
        return {
            "backend": "xllamacpp",
            "engine_version": self._engine.__version__,
            "weights": self._path.name,
            "fingerprint": self._fingerprint,
            "settings": self._settings,
        }

    def complete(self, requests: Iterable[KeyedRequest]) -> Iterator[KeyedReply]:
        """Yield the replies, in order or, with several at a time, as they are ready."""
        most = int(self._settings["n_parallel"])
        if most <= 1:
            for name, request in requests:
                yield name, self._ask(request)
            return
        running: dict[Future[Reply], str] = {}
        source = iter(requests)
        with ThreadPoolExecutor(most) as pool:
            while True:
                while len(running) < most and (asked := next(source, None)) is not None:
                    self._load()
                    running[pool.submit(self._ask, asked[1])] = asked[0]
                if not running:
                    return
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(done), done.result()

    def close(self) -> None:
        """Release the weights."""
        self._server = None

    def _ask(self, request: Request) -> Reply:
        self._load()
        body = body_of(self.name, replace(self._options, extra={}), request, likelihood=True)
        if "logprobs" in body:
            body["max_tokens"] = 1  # the first token decides
        start = time.monotonic()
        answer = self._complete(body)
        seconds = time.monotonic() - start
        content = json.dumps(answer).encode()
        if "error" in answer:
            code = answer["error"].get("code", 500) if isinstance(answer["error"], dict) else 500
            return Reply("", error=read_error(int(code), {}, content).what, seconds=seconds)
        reply = read_reply(content, seconds, request.choices)
        if "logprobs" in body and not (isinstance(reply, Reply) and reply.choice_scores is not None):
            return self._ask(replace(request, choices=()))  # none of the likeliest tokens is a letter
        return reply if isinstance(reply, Reply) else Reply("", error=reply.what, seconds=seconds)

    def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a reply; what is not chosen by likelihood is heard word by word, if somebody listens."""
        ask = self._server.handle_chat_completions if self._options.api == CHAT else self._server.handle_completions
        if self.hear is None or "logprobs" in body:
            return ask(body)  # type: ignore[no-any-return]
        streamed = StreamedReply(self.hear)
        ask({**body, "stream": True}, streamed.add)
        return streamed.body() or {"error": {"message": "the engine ended its reply in the middle", "code": 500}}

    def _load(self) -> None:
        if self._server is not None:
            return
        params = self._engine.CommonParams()
        params.model.path = str(self._path)
        params.verbosity = -1
        params.warmup = False
        for name, value in self._settings.items():
            place = params.cpuparams if name == "n_threads" else params
            if not hasattr(place, name):
                raise ConfigError(f"--option {name}: the engine has no such option.")
            setattr(place, name, value)
        try:
            self._server = self._engine.Server(params)
        except Exception as error:
            raise ModelError(f"cannot load {self._path}: {shorten(str(error))}.") from error


def _threads() -> int:
    """Return one less than the number of cores: if one of the engine's threads gets no core, all wait for it."""
    return max(1, (os.cpu_count() or 2) - 1)


def _fingerprint(path: Path) -> str:
    """Return a hash of the size of a file and of its ends; to hash gigabytes for each run would take too long."""
    size = path.stat().st_size
    with path.open("rb") as file:
        digest = hashlib.sha256(f"{size}\n".encode() + file.read(_ENDS))
        if size > _ENDS:
            file.seek(max(_ENDS, size - _ENDS))
            digest.update(file.read())
    return digest.hexdigest()
