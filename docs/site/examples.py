"""How griffe, which reads docstrings for the API reference, finds our examples."""

from __future__ import annotations

import re
from typing import Any

import griffe

_HEAD = re.compile(r"^Example:$", re.MULTILINE)


class ExampleSections(griffe.Extension):
    """Turn "Example:" into "Examples:", the only head below which griffe expects code."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of an object before it is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = _HEAD.sub("Examples:", obj.docstring.value)
