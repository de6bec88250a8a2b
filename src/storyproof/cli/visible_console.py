"""A console of rich that makes control characters visible before it lays text out, so that columns stay aligned."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Span, Text

from storyproof.cli.safe_terminal import make_visible


class VisibleConsole(Console):
    """A console whose escapes are its own styles only."""

    def render_str(self, text: str, **settings: Any) -> Text:
        """Return a text for a string."""
        return super().render_str(make_visible(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of anything that can be printed."""
        if isinstance(renderable, Text):
            renderable = _visible_text(renderable)
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else make_visible(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)


def _visible_text(text: Text) -> Text:
    """Return a text with its hidden characters made visible, in the styles that they had."""
    shown = make_visible(text.plain)
    if shown == text.plain:
        return text
    places = [0, *accumulate(len(make_visible(each)) for each in text.plain)]
    copy = text.blank_copy(shown)
    last = len(text.plain)
    copy.spans = [Span(places[min(each.start, last)], places[min(each.end, last)], each.style) for each in text.spans]
    return copy
