"""Elements of SVG pictures: escaped and measured text, shapes, and the frame around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from html import escape
from importlib.resources import files

from storyproof.pictures.colours import Mode, colour, resolve

STYLE = files(__package__).joinpath("svg.css").read_text("utf-8")
SIZE = 13  # pixels of the letters

_LEAST_WIDTH = 320.0  # pixels of a picture with lines of text above it
_SIZE_OF = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
_VIEW_BOX = re.compile(r'viewBox="[^"]*"')
_NAMES = re.compile(r"(?:<title>.*?</title>)?(?:<desc>.*?</desc>)?", re.DOTALL)
_SHAPES = ("path", "rect")  # have nothing in them
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _BROAD = frozenset("fijlrtI.,:;'!|()[]- "), frozenset("mwMW@%")


def safe(text: str) -> str:
    """Escape a text for XML or HTML, between tags or in an attribute."""
    return escape(text if text.isprintable() and text.isascii() else _NOT_XML.sub("\ufffd", text))


def element(name: str, content: str = "", **attributes: str | float) -> str:
    """Return an element.

    Args:
        name: Its name.
        content: Its content, already escaped.
        attributes: A trailing underscore is dropped (`class_`), others become hyphens; empty texts are left out.
    """
    written = ""
    for key, value in attributes.items():
        if value != "":
            written += f' {_attribute(key)}="{safe(value) if isinstance(value, str) else number(value)}"'
    return f"<{name}{written}/>" if name in _SHAPES else f"<{name}{written}>{content}</{name}>"


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def number(value: float) -> str:
    """Return a length to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


@lru_cache(maxsize=20_000)
def text_width(text: str) -> float:
    """Return an upper estimate of the width of a text in pixels: the reader's font may be wide, and bold."""
    return SIZE * sum(map(_letter_width, text))


@lru_cache(maxsize=1000)
def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if unicodedata.combining(letter):
        return 0.0
    if letter in _BROAD:
        return 1.0
    return 0.42 if letter in _NARROW else 0.78 if letter.isupper() else 0.67


def shorten(text: str, width: float) -> str:
    """Return a text in one line, cut to a width in pixels."""
    line = " ".join(text.split())
    if text_width(line) <= width:
        return line
    used, kept = text_width("…"), 0
    for letter in line:
        used += SIZE * _letter_width(letter)
        if used > width:
            break
        kept += 1
    return line[:kept].rstrip() + "…"


def wrap(text: str, width: float) -> list[str]:
    """Break a text into lines of a width in pixels; longer words are cut."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(shorten(word, width))
    return lines or [""]


def label(text: str, x: float, y: float, width: float, class_: str = "") -> str:
    """Return a text element in one line, cut to a width; the full text is its tooltip."""
    shown = shorten(text, width)
    full = "" if shown == text else element("title", safe(text))
    return element("text", full + safe(shown), x=x, y=y, class_=class_)


def frame(kind: str, title: str, description: str, size: tuple[float, float], content: Iterable[str]) -> str:
    """Return a picture: a title and a description for screen readers, then its content."""
    width, height = (number(round(each)) for each in size)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture {kind}" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{element("title", safe(title))}{element("desc", safe(description))}'
        f"{''.join(content)}</svg>"
    )


def captioned(picture: str, lines: Sequence[str]) -> str:
    """Return a picture below some lines of text, which are broken to its width."""
    size = _SIZE_OF.search(picture)
    if size is None or not lines:
        return picture
    width, height = max(float(size[1]), _LEAST_WIDTH), float(size[2])
    texts, y = [], 6.0
    for place, line in enumerate(lines):
        for part in wrap(line, width - 20):
            y += 18
            texts.append(element("text", safe(part), x=10, y=y, class_="head" if place == 0 else ""))
    top = y + 8
    head, end, rest = picture.partition(">")
    head = head.replace(size[0], f'width="{number(width)}" height="{number(height + top)}"')
    head = _VIEW_BOX.sub(f'viewBox="0 0 {number(width)} {number(height + top)}"', head)
    inner = rest.removesuffix("</svg>")
    caption, names = "", _NAMES.match(inner)
    if names is not None:  # title and description stay in front, where screen readers look for them
        caption, inner = names[0], inner[names.end() :]
    return f'{head}{end}{caption}{"".join(texts)}<g transform="translate(0 {number(top)})">{inner}</g></svg>'


def standalone(picture: str, *, dark: bool = True) -> str:
    """Return a picture with its style sheet and background, for a file of its own.

    Args:
        picture: The picture.
        dark: Whether it has other colours where the reader prefers dark; programs for print do not know these.
    """
    sheet = _file_style("light")
    if dark:
        sheet += f"@media (prefers-color-scheme: dark) {{\n{_file_style('dark')}}}\n"
    head, end, rest = picture.partition(">")
    return f'{head}{end}<style>{sheet}</style><rect class="paper" width="100%" height="100%"/>{rest}'


@cache
def _file_style(mode: Mode) -> str:
    """Return the style sheet with the values of its colours: few programs besides browsers know variables."""
    own = f"svg.picture {{ color: {colour('ink', mode)}; }}\n.picture .paper {{ fill: {colour('paper', mode)}; }}\n"
    return resolve(STYLE.replace("  color: inherit;\n", ""), mode) + own
