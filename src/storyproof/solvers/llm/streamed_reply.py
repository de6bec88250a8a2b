"""A reply that comes word by word: server-sent events, or the chunks of an engine in this process."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Mapping
from typing import Any

EVENTS = "text/event-stream"
Hear = Callable[[str], None]  # called with all that a model has said so far
_DATA, _END = "data:", "[DONE]"


class StreamedReply:
    """Puts a streamed reply together.

    Args:
        hear: Called with the text so far, whenever there is more of it.
    """

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line = ""  # that has not ended yet
        self._text = ""
        self._ended: str | None = None  # why, as the model says
        self._is_over = False
        self._rest: dict[str, Any] = {}  # of the reply: how many tokens it has, or an error

    def add_bytes(self, piece: bytes) -> None:
        """Take a piece of a stream of events, divided anywhere."""
        *lines, self._line = (self._line + self._decoder.decode(piece)).split("\n")
        for line in lines:
            said = line.strip().removeprefix(_DATA).strip()
            if not line.startswith(_DATA):
                continue  # a comment, such as one that keeps the connection open, or the end of an event
            if said == _END:
                self._is_over = True
                continue
            try:
                chunk = json.loads(said)
            except (ValueError, RecursionError):
                continue  # the reply then has no end, or lacks words: it is asked for again
            if isinstance(chunk, Mapping):
                self.add(chunk)

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take the next chunk of a reply."""
        self._rest |= {name: chunk[name] for name in ("usage", "error") if chunk.get(name)}
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return
        delta = choice.get("delta")
        said = delta.get("content") if isinstance(delta, Mapping) else choice.get("text")
        if isinstance(choice.get("finish_reason"), str):
            self._ended = choice["finish_reason"]
        if isinstance(said, str) and said:
            self._text += said
            self._hear(self._text)

    def body(self) -> dict[str, Any] | None:
        """Return the body that the reply would have had at once; None if it ended in the middle."""
        if "error" in self._rest:
            return {"error": self._rest["error"]}
        if self._ended is None and not self._is_over:
            return None
        return {**self._rest, "choices": [{"message": {"content": self._text}, "finish_reason": self._ended}]}
