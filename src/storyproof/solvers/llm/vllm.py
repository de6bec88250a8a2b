"""`vllm/MODEL`: a model that vLLM runs in this process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from storyproof.errors import ConfigError, ModelError, shorten
from storyproof.runtime.optional_packages import need
from storyproof.solvers.llm.backend import KeyedReply, KeyedRequest
from storyproof.solvers.llm.choices import choose
from storyproof.solvers.llm.messages import Reply, Request, spell, tokens_of
from storyproof.solvers.llm.options import CHAT, ModelOptions

_QUEUE = 4096  # prompts in vLLM's queue, from which it forms batches; more would only take memory


@dataclass(slots=True)
class _Waiting:
    """A request in vLLM's queue: one sequence, or one for each choice."""

    request: Request
    start: float
    scores: dict[int, float] = field(default_factory=dict)


class Vllm:
    """A model that vLLM runs. It is loaded for the first request.

    Requests are added to the engine's queue while it has room, and replies are taken after each step of the engine, so
    that every reply is stored as soon as it is ready. Prefix caching is on.

    Args:
        model: The name on the hub, or a folder.
        options: How the model is run; `extra` is passed to the engine (`dtype`, `max_model_len`,
            `gpu_memory_utilization`, …).
    """

    options: ClassVar[frozenset[str]] = frozenset(
        {"api", "batch_size", "extra", "lora", "seed", "temperature", "tensor_parallel_size", "top_p"}
    )

    def __init__(self, model: str, options: ModelOptions) -> None:
        if model.endswith("/") and not Path(model).exists():
            raise ConfigError(f"the model's name is missing after '{model}'; give {model}NAME.")
        self.name = f"vllm/{model}"
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")  # must be set before vLLM is imported
        self._library = need("vllm", "vllm", f"the model '{model}'")
        self._model, self._options = model, options
        self._engine: Any = None
        self._tokenizer: Any = None
        self._lora: Any = None

    def identity(self) -> dict[str, Any]:
        """Return the model and the options that may change a reply."""
        return {"model": self.name, **self._options.identity()}

    def about(self) -> dict[str, Any]:
        """Return the engine's version and its settings for the model."""
        versions: dict[str, Any] = {"backend": "vllm", "engine_version": self._library.__version__}
        if self._engine is not None:
            config = self._engine.model_config
            versions |= {
                "dtype": str(config.dtype),
                "revision": config.revision,
                "max_model_len": config.max_model_len,
                "chat_template": self._templated,
            }
        return {**versions, "tensor_parallel_size": self._options.tensor_parallel_size, "lora": self._options.lora}

    def complete(self, requests: Iterable[KeyedRequest]) -> Iterator[KeyedReply]:
        """Yield replies as they are ready, and keep the engine's queue filled."""
        source, waiting = iter(requests), dict[str, _Waiting]()
        try:
            while True:
                while len(waiting) < _QUEUE and (asked := next(source, None)) is not None:
                    self._load()
                    name, request = asked
                    waiting[name] = _Waiting(request, time.monotonic())
                    problem = self._submit(name, request)
                    if problem is not None:
                        del waiting[name]
                        yield name, Reply("", error=problem)
                if not waiting:
                    return
                for output in self._step():
                    replied = self._take(output, waiting)
                    if replied is not None:
                        yield replied
        finally:
            if waiting and self._engine is not None:
                self._engine.abort_request([f"{name}#{number}" for name in waiting for number in range(64)])

    def close(self) -> None:
        """Release the model, and end the process in which vLLM may run it."""
        core = getattr(self._engine, "engine_core", None)
        if core is not None and hasattr(core, "shutdown"):
            core.shutdown()
        self._engine = self._tokenizer = None

    @property
    def _templated(self) -> bool:
        return self._options.api == CHAT and bool(getattr(self._tokenizer, "chat_template", None))

    def _load(self) -> None:
        if self._engine is not None:
            return
        settings = {
            "enable_prefix_caching": True,
            "enable_lora": self._options.lora is not None,
            "tensor_parallel_size": self._options.tensor_parallel_size,
            "seed": self._options.seed,
            "disable_log_stats": True,
            "use_tqdm_on_load": sys.stderr.isatty(),
            **self._options.extra,
        }
        if self._options.batch_size is not None:
            settings.setdefault("max_num_seqs", self._options.batch_size)
        try:
            llm = self._library.LLM(model=self._model, **settings)
        except Exception as error:
            lines = [line for line in str(error).split("\n") if line.strip()] or [type(error).__name__]
            raise ModelError(f"vLLM cannot load {self._model}: {shorten(lines[0])}") from error
        self._engine, self._tokenizer = llm.llm_engine, llm.get_tokenizer()
        if self._options.lora is not None:
            if not Path(self._options.lora).is_dir():
                raise ConfigError(f"--option lora is {self._options.lora}; expected a folder with an adapter.")
            lora = need("vllm.lora.request", "vllm", "--option lora")
            self._lora = lora.LoRARequest("adapter", 1, self._options.lora)

    def _submit(self, name: str, request: Request) -> str | None:
        """Add a request to the engine's queue; return why the engine refuses it, if it does."""
        options, text = self._options, self._text(request)
        prompt = self._tokens(text)
        drawn = {"seed": options.seed} if options.temperature > 0 else {}
        if options.top_p is not None:
            drawn["top_p"] = options.top_p  # type: ignore[assignment]
        sampling = self._library.SamplingParams
        try:
            if not request.choices:
                params = sampling(
                    max_tokens=request.max_tokens,
                    temperature=options.temperature,
                    stop=list(request.stop) or None,
                    **drawn,
                )
                self._add(f"{name}#0", prompt, params)
            for number, full in enumerate(self._with_choices(request, text)):
                self._add(f"{name}#{number}", full, sampling(max_tokens=1, temperature=0.0, prompt_logprobs=0))
        except Exception as error:  # vLLM raises several kinds for requests that it refuses
            said = shorten(str(error))
            return f"context too long: {said}" if "long" in said or "context" in said else said
        return None

    def _add(self, name: str, tokens: list[int], params: Any) -> None:
        self._engine.add_request(name, {"prompt_token_ids": tokens}, params, lora_request=self._lora)

    def _step(self) -> list[Any]:
        outputs: list[Any] = self._engine.step()
        return [output for output in outputs if output.finished]

    def _take(self, output: Any, waiting: dict[str, _Waiting]) -> KeyedReply | None:
        """Take a finished sequence; return the reply if it was the last sequence of its request."""
        name, _, number = output.request_id.rpartition("#")
        if name not in waiting:
            return None
        each = waiting[name]
        seconds, read = time.monotonic() - each.start, len(output.prompt_token_ids)
        if not each.request.choices:
            del waiting[name]
            best = output.outputs[0]
            counts = read, len(best.token_ids), output.num_cached_tokens
            return name, Reply(best.text, *counts, seconds, cut_off=best.finish_reason == "length")
        known = len(self._tokens(self._text(each.request)))
        listed = zip(output.prompt_token_ids, output.prompt_logprobs, strict=True)
        scores = [
            likelihoods[token].logprob
            for place, (token, likelihoods) in enumerate(listed)
            if place >= known and likelihoods
        ]
        each.scores[int(number)] = sum(scores)
        if len(each.scores) < len(each.request.choices):
            return None
        del waiting[name]
        ordered = [each.scores[place] for place in range(len(each.scores))]
        return name, choose(each.request.choices, ordered, read=known, seconds=seconds)

    def _with_choices(self, request: Request, text: str) -> list[list[int]]:
        """Return, for each choice, the tokens of the prompt followed by the choice."""
        space = "" if self._templated else " "
        return [self._tokens(text) + self._continuation(text, space + choice) for choice in request.choices]

    def _continuation(self, text: str, choice: str) -> list[int]:
        """Return the tokens of a choice after the prompt, whose last characters may change how it is tokenized."""
        prompt, full = self._tokens(text), self._tokens(text + choice)
        if full[: len(prompt)] == prompt and len(full) > len(prompt):
            return full[len(prompt) :]
        alone: list[int] = self._tokenizer(choice, add_special_tokens=False)["input_ids"]
        return alone

    def _text(self, request: Request) -> str:
        return spell(request, self._tokenizer, self._templated)

    def _tokens(self, text: str) -> list[int]:
        return tokens_of(text, self._tokenizer, self._templated)
