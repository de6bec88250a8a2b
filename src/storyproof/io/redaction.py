"""Secrets that must not be shown or stored, such as keys of servers: found in text also if encoded, spaced out or cut.

Letters and digits are compared, whatever stands between them, and whether they are written plainly, in full width,
percent-encoded or as escapes of JSON, HTML or C. The base64, the hexadecimal digits and the reverse of a secret are
found, too. A part of a secret is hidden as well as the whole.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from math import ceil

HIDDEN = "…"
SHORTEST = 6  # characters of a secret; shorter ones are words, too
_LONGEST = 200_000  # characters in which the places of a secret are looked for; of longer texts nothing is left
_OTHER = re.compile(r"[^0-9A-Za-z]+")
_ESCAPE = (
    r"%(?:25)*+([0-9A-Fa-f]{2})|\\++u([0-9A-Fa-f]{4})|\\++x([0-9A-Fa-f]{2})|&#x([0-9A-Fa-f]{1,6});?|&#([0-9]{1,7});?"
    r"|\\++U([0-9A-Fa-f]{8})|\\++u\{([0-9A-Fa-f]{1,6})\}|\\++([0-7]{3})|\\++[abfnrtv]"
)
_ESCAPED = re.compile(_ESCAPE)
_DECIMAL, _OCTAL = 5, 8  # groups; the others are hexadecimal
_WIDE = {place: place - 0xFEE0 for place in range(0xFF10, 0xFF5B)}  # digits and letters of full width
_CHARACTER = re.compile(rf"{_ESCAPE}|[0-9A-Za-z\uff10-\uff5a]")


class Secrets:
    """Hides secrets in texts.

    Args:
        values: The secrets; those that are shorter than six characters are not hidden.
    """

    def __init__(self, values: Iterable[str | None]) -> None:
        whole = {each for each in values if each and len(each) >= SHORTEST}
        self._whole = sorted(whole, key=len, reverse=True)
        # Each form with how many of its letters and digits stand for one of the secret.
        self._flat = [form for each in self._whole for form in _forms(each)]
        # Any six characters of a form in a row contain one of these fours.
        self._hints = {flat[at : at + 4] for flat, _ in self._flat for at in range(0, len(flat) - 3, 3)}

    def hide(self, text: str, shortest: int = SHORTEST) -> str:
        """Return a text without secrets, and without parts of them that have at least `shortest` letters and digits."""
        for each in self._whole:
            text = text.replace(each, HIDDEN)
        if not self._hints or not self._may_be_in(text):
            return text
        parts = {
            flat[at : at + size]
            for flat, each in self._flat
            for size in [min(ceil(shortest * each), len(flat))]
            for at in range(len(flat) - size + 1)
        }
        if len(text) > _LONGEST:
            plain = _flatten(text)
            return HIDDEN if any(part in plain for part in parts) else text
        return _without(text, parts)

    def _may_be_in(self, text: str) -> bool:
        plain = _flatten(text)
        return any(hint in plain for hint in self._hints)


def _forms(secret: str) -> Iterator[tuple[str, float]]:
    """Yield the letters and digits of a secret plainly, reversed, in hexadecimal digits, and in base64."""
    flat = _flatten(secret)
    if len(flat) < SHORTEST:
        return
    yield flat, 1.0
    yield flat[::-1], 1.0
    content = secret.encode("utf-8", "surrogateescape")
    yield content.hex(), 2.0
    for before in range(3):  # bytes of other text that share the first letter
        coded = b64encode(bytes(before) + content).decode()
        yield _flatten(coded[ceil(before * 8 / 6) : (before + len(content)) * 8 // 6]), 4 / 3


def _flatten(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    if not text.isascii():
        text = text.translate(_WIDE)
    if "%" in text or "\\" in text or "&#" in text:
        text = _ESCAPED.sub(_character, text)
    return _OTHER.sub("", text).lower()


def _character(match: re.Match[str]) -> str:
    """Return what an escape stands for, if that is a letter or digit."""
    group = match.lastindex
    if group is None:  # the end of a line, or another sign that is no letter
        return ""
    number = int(match[group], {_DECIMAL: 10, _OCTAL: 8}.get(group, 16))
    number = _WIDE.get(number, number)
    return chr(number) if number < 128 else ""


def _without(text: str, parts: set[str]) -> str:
    """Return a text with `HIDDEN` in place of runs of letters and digits that are parts of a secret."""
    letters, spans = list[str](), list[tuple[int, int]]()
    for match in _CHARACTER.finditer(text):
        letter = _character(match) if len(match[0]) > 1 else match[0].translate(_WIDE)
        if letter.isalnum():
            letters.append(letter.lower())
            spans.append(match.span())
    plain = "".join(letters)
    covered = bytearray(len(plain))
    for part in parts:
        at = plain.find(part)
        while at >= 0:
            covered[at : at + len(part)] = b"\1" * len(part)
            at = plain.find(part, at + 1)
    pieces, end = list[str](), 0
    for run in re.finditer(rb"\x01+", covered):
        first, last = spans[run.start()][0], spans[run.end() - 1][1]
        pieces += [text[end:first], HIDDEN]
        end = last
    return "".join([*pieces, text[end:]])
