"""Requests as a tokenizer of Hugging Face's form spells them, for the engines that run in this process."""

from __future__ import annotations

from typing import Any

from storyproof.solvers.llm.requests import Request


def spell(request: Request, tokenizer: Any, templated: bool) -> str:
    """Give the text of a request: in the model's chat template, or plain."""
    if not templated:
        return request.text
    turns = [{"role": message.role, "content": message.content} for message in request.messages]
    return str(tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False))


def tokens_of(text: str, tokenizer: Any, templated: bool) -> list[int]:
    """Give the tokens of a text; a template has its own special tokens in it."""
    tokens: list[int] = tokenizer(text, add_special_tokens=not templated)["input_ids"]
    return tokens
