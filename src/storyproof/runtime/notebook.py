"""How notebooks show examples, runs and audits.

What is shown stands below what draws it, so the views are looked up by name when a notebook asks for one.
"""

from __future__ import annotations

from importlib import import_module

_VIEWS = "storyproof.reports.notebook"


class NotebookView:
    """Something that notebooks show as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module(_VIEWS).view(self)
        return html
