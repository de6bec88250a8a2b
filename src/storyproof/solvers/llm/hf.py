"""`hf/PATH`: a Hugging Face model in this process, run by transformers in batches."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any, ClassVar

from storyproof.errors import ModelError, shorten
from storyproof.runtime.optional_packages import need
from storyproof.solvers.llm.backend import KeyedReply, KeyedRequest
from storyproof.solvers.llm.choices import choose
from storyproof.solvers.llm.messages import Reply, Request, spell, tokens_of
from storyproof.solvers.llm.options import CHAT, ModelOptions

_SORTED = 16  # batches that are sorted by length together, so that little of a batch is padding


class Transformers:
    """A model from a Hugging Face folder or from the hub. It is loaded for the first request.

    Prompts use the tokenizer's chat template if it has one, and are padded on the left. Choices are scored by their
    log-likelihood after the prompt.

    Args:
        path: The folder, or the name on the hub.
        options: How the model is run; `extra` is passed to `from_pretrained` (`dtype`, `revision`, `device_map`, …).
    """

    options: ClassVar[frozenset[str]] = frozenset({"api", "batch_size", "extra", "seed", "temperature", "top_p"})

    def __init__(self, path: str, options: ModelOptions) -> None:
        self.name = f"hf/{path}"
        what = f"the model '{self.name}'"
        self._torch = need("torch", "hf", what)
        self._library = need("transformers", "hf", what)
        if not sys.stderr.isatty():
            self._library.utils.logging.disable_progress_bar()
        self._path, self._options, self._batch_size = path, options, options.batch_size or 8
        self._model: Any = None
        self._tokenizer: Any = None

    def identity(self) -> dict[str, Any]:
        """Return the weights and the options that may change a reply."""
        return {"model": self.name, "files": _files(Path(self._path)), **self._options.identity()}

    def about(self) -> dict[str, Any]:
        """Return the versions of the libraries, and the weights."""
        versions: dict[str, Any] = {"backend": "transformers", "engine_version": self._library.__version__}
        versions |= {"torch": self._torch.__version__, "files": _files(Path(self._path))}
        if self._model is not None:
            versions |= {
                "dtype": str(self._model.dtype),
                "device": str(self._model.device),
                "revision": getattr(self._model.config, "_commit_hash", None),
                "chat_template": self._templated,
            }
        return versions

    def complete(self, requests: Iterable[KeyedRequest]) -> Iterator[KeyedReply]:
        """Yield the replies, batch by batch; a batch has requests of one kind and of similar length."""
        source, size = iter(requests), self._batch_size
        while some := list(islice(source, size * _SORTED)):
            self._load()
            kinds = sorted(some, key=lambda each: (bool(each[1].choices), each[1].max_tokens, len(each[1].text)))
            for chosen, group in groupby(kinds, key=lambda each: (bool(each[1].choices), each[1].max_tokens)):
                members = list(group)
                for start in range(0, len(members), size):
                    yield from self._batch(members[start : start + size], choices=chosen[0])

    def close(self) -> None:
        """Release the model."""
        self._model = self._tokenizer = None

    @property
    def _templated(self) -> bool:
        return self._options.api == CHAT and bool(self._tokenizer.chat_template)

    def _load(self) -> None:
        if self._model is not None:
            return
        torch = self._torch
        try:
            self._tokenizer = self._library.AutoTokenizer.from_pretrained(self._path, padding_side="left")
            self._model = self._library.AutoModelForCausalLM.from_pretrained(
                self._path,
                **{"dtype": "auto", **self._options.extra, "use_safetensors": True},  # other weights may run code
            )
        except (OSError, ValueError, TypeError) as error:
            first = shorten(str(error).strip().split("\n")[0])
            raise ModelError(f"cannot load {self._path}: {first}") from error
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        if torch.cuda.is_available() and "device_map" not in self._options.extra:
            self._model.to("cuda")
        self._model.eval()

    def _batch(self, asked: Sequence[KeyedRequest], *, choices: bool) -> Iterator[KeyedReply]:
        start = time.monotonic()
        texts = [self._text(request) for _, request in asked]
        most = getattr(self._model.config, "max_position_embeddings", None) or 1 << 30
        counts = [len(self._tokens(text)) for text in texts]
        fits = []
        for each, text, count in zip(asked, texts, counts, strict=True):
            if count + each[1].max_tokens > most:
                yield (
                    each[0],
                    Reply("", error=f"context too long: {count} tokens and the reply; the model takes {most}"),
                )
            else:
                fits.append((each, text, count))
        if not fits:
            return
        try:
            with self._torch.inference_mode():
                replies = self._score(fits) if choices else self._generate(fits)
        except self._torch.OutOfMemoryError as error:
            raise ModelError(f"{self.name} ran out of memory; use a smaller --batch-size.") from error
        seconds = (time.monotonic() - start) / len(fits)
        for ((name, _), _, count), reply in zip(fits, replies, strict=True):
            yield name, replace(reply, prompt_tokens=count, seconds=seconds)

    def _generate(self, fits: Sequence[tuple[KeyedRequest, str, int]]) -> list[Reply]:
        """Return the replies to a batch of prompts."""
        requests = [each[1] for each, _, _ in fits]
        read = self._padded([self._tokens(text) for _, text, _ in fits])
        drawn: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if self._options.temperature > 0:
            names = "\n".join([str(self._options.seed), *(each[0] for each, _, _ in fits)])
            self._torch.manual_seed(int.from_bytes(hashlib.sha256(names.encode()).digest()[:7], "big"))
            drawn = {
                "do_sample": True,
                "temperature": self._options.temperature,
                "top_p": self._options.top_p,
                "top_k": 0,
            }
        written = self._model.generate(
            **read, max_new_tokens=requests[0].max_tokens, pad_token_id=self._tokenizer.pad_token_id, **drawn
        )[:, read["input_ids"].shape[1] :]
        ends = self._ends()
        replies = []
        for row, request in zip(written.tolist(), requests, strict=True):
            length = next((place for place, token in enumerate(row) if token in ends), len(row))
            text = self._tokenizer.decode(row[:length], skip_special_tokens=True)
            stopped = any(stop in text for stop in request.stop)
            for stop in request.stop:
                text = text.split(stop, 1)[0]
            replies.append(Reply(text, output_tokens=length, cut_off=length == len(row) and not stopped))
        return replies

    def _score(self, fits: Sequence[tuple[KeyedRequest, str, int]]) -> list[Reply]:
        """Return the likeliest choice for each prompt of a batch; `batch_size` choices are scored at a time."""
        torch, space = self._torch, "" if self._templated else " "
        rows = [
            (number, self._tokens(text), self._tokens(text + space + choice))
            for number, ((_, request), text, _) in enumerate(fits)
            for choice in request.choices
        ]
        scores: list[list[float]] = [[] for _ in fits]
        for start in range(0, len(rows), self._batch_size):
            batch = rows[start : start + self._batch_size]
            read = self._padded([full for _, _, full in batch])
            places = (read["attention_mask"].cumsum(-1) - 1).clamp(min=0)
            logits = torch.log_softmax(self._model(**read, position_ids=places).logits.float(), -1)
            for place, (number, prompt, full) in enumerate(batch):
                known = _common(prompt, full)
                tokens = torch.tensor(full[known:], device=logits.device)
                ahead = logits[place, -len(tokens) - 1 : -1]
                scores[number].append(float(ahead.gather(1, tokens[:, None]).sum()))
        return [
            choose(each[1].choices, choice_scores) for (each, _, _), choice_scores in zip(fits, scores, strict=True)
        ]

    def _text(self, request: Request) -> str:
        return spell(request, self._tokenizer, self._templated)

    def _tokens(self, text: str) -> list[int]:
        return tokens_of(text, self._tokenizer, self._templated)

    def _padded(self, rows: Sequence[list[int]]) -> Any:
        return self._tokenizer.pad({"input_ids": list(rows)}, return_tensors="pt").to(self._model.device)

    def _ends(self) -> set[int]:
        """Return the tokens that end a reply."""
        configured = self._model.generation_config.eos_token_id
        ends = configured if isinstance(configured, list) else [configured]
        return {
            token for token in [*ends, self._tokenizer.eos_token_id, self._tokenizer.pad_token_id] if token is not None
        }


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the length of the common prefix of two token lists, less than the length of the second."""
    known = 0
    while known < min(len(first), len(second) - 1) and first[known] == second[known]:
        known += 1
    return known


def _files(folder: Path) -> str | None:
    """Return a fingerprint of a folder: the names and sizes of its files, and the content of the small ones."""
    if not folder.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            size = path.stat().st_size
            digest.update(f"{path.name}\0{size}\n".encode())
            if size < 1 << 20:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
