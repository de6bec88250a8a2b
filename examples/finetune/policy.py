"""A causal language model that is asked, trained and scored in batches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from lora import merged
from torch import Tensor


class Policy:
    """A model with its tokenizer.

    Args:
        path: A folder in Hugging Face's form, or a .gguf file (needs the package gguf).
        device: Such as `cuda`; by default what there is.
    """

    def __init__(self, path: str, device: str | None = None) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        place = Path(path)
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        folder, extra = (str(place.parent), {"gguf_file": place.name}) if place.suffix == ".gguf" else (path, {})
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, padding_side="left", **extra)
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=self.dtype, **extra).to(self.device)
        self.model.eval()
        self.model.generation_config.pad_token_id = self.tokenizer.pad_token_id

    def autocast(self) -> AbstractContextManager[Any]:
        """Return a context in which matrices are multiplied in 16 bits on a GPU."""
        return torch.autocast("cuda", torch.bfloat16) if self.device.type == "cuda" else nullcontext()

    @property
    def ends(self) -> set[int]:
        """The tokens that end a reply."""
        given = self.model.generation_config.eos_token_id
        found = set(given if isinstance(given, list) else [given]) | {self.tokenizer.eos_token_id, self.end_token()}
        return {token for token in found if token is not None}

    def words(self, chat: Sequence[dict[str, str]]) -> list[int]:
        """Return the tokens of a prompt."""
        if self.tokenizer.chat_template:
            text = self.tokenizer.apply_chat_template(list(chat), tokenize=False, add_generation_prompt=True)
        else:
            text = "\n\n".join(message["content"] for message in chat) + "\n\n"
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def end_token(self) -> int:
        """Return the token with which a reply is taught to end: what the chat template writes behind a reply.

        It is not always the tokenizer's end of text: versions of transformers read that differently from .gguf files.
        """
        if not self.tokenizer.chat_template:
            return int(self.tokenizer.eos_token_id)
        chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "REPLY"}]
        behind = self.tokenizer.apply_chat_template(chat, tokenize=False).rpartition("REPLY")[2]
        return int(self.tokenizer(behind, add_special_tokens=False)["input_ids"][0])

    @torch.no_grad()
    def sample(self, prompts: Sequence[Sequence[int]], *, tokens: int, temperature: float) -> list[list[int]]:
        """Return a reply to each prompt, with the token that ends it; greedy at temperature 0."""
        ids, mask = self.pad(prompts)
        ends = self.ends
        how = {"do_sample": True, "temperature": temperature, "top_k": 0} if temperature else {"do_sample": False}
        with merged(self.model):
            made = self.model.generate(
                input_ids=ids, attention_mask=mask, max_new_tokens=tokens, eos_token_id=sorted(ends), **how
            )
        found = []
        for reply in made[:, ids.shape[1] :].tolist():
            stop = next((place for place, token in enumerate(reply) if token in ends), len(reply) - 1)
            found.append(reply[: stop + 1])
        return found

    def text(self, reply: Sequence[int]) -> str:
        """Return a reply as text."""
        return str(self.tokenizer.decode(reply, skip_special_tokens=True)).strip()

    def log_probabilities(
        self, prompts: Sequence[Sequence[int]], replies: Sequence[Sequence[int]]
    ) -> tuple[Tensor, Tensor]:
        """Return the log-probability of each token of each reply, padded on the left, and a mask of what counts."""
        ids, mask = self.pad([[*prompt, *reply] for prompt, reply in zip(prompts, replies, strict=True)])
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        longest = max(map(len, replies))
        with self.autocast():
            made = self.model(
                input_ids=ids, attention_mask=mask, position_ids=positions, logits_to_keep=longest + 1, use_cache=False
            ).logits
        scores = torch.log_softmax(made[:, :-1].float(), dim=-1)
        found = scores.gather(-1, ids[:, -longest:, None]).squeeze(-1)
        lengths = torch.tensor([len(reply) for reply in replies], device=self.device)
        counts = torch.arange(longest, device=self.device)[None] >= longest - lengths[:, None]
        return found, counts

    def pad(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return rows of tokens as one tensor, padded on the left, and its mask."""
        longest = max(map(len, rows))
        fill = self.tokenizer.pad_token_id
        ids = torch.tensor([[fill] * (longest - len(row)) + list(row) for row in rows], device=self.device)
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=self.device)
        return ids, mask
