"""Secrets that must not be shown or stored, such as keys of servers: found in text also if encoded, spaced out or cut.

Letters and digits are compared, whatever stands between them, and whether they are written plainly, percent-encoded or
as escapes of JSON or HTML. A part of a secret is hidden as well as the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "…"
SHORTEST = 6  # characters of a secret; shorter ones are words, too
_LONGEST = 200_000  # characters in which the places of a secret are looked for; of longer texts nothing is left
_OTHER = re.compile(r"[^0-9A-Za-z]+")
_ESCAPE = (
    r"%(?:25)*+([0-9A-Fa-f]{2})|\\++u([0-9A-Fa-f]{4})|\\++x([0-9A-Fa-f]{2})|&#x([0-9A-Fa-f]{1,6});?|&#([0-9]{1,7});?"
)
_ESCAPED = re.compile(_ESCAPE)
_CHARACTER = re.compile(rf"{_ESCAPE}|[0-9A-Za-z]")


class Secrets:
    """Hides secrets in texts.

    Args:
        values: The secrets; those that are shorter than six characters are not hidden.
    """

    def __init__(self, values: Iterable[str | None]) -> None:
        whole = {each for each in values if each and len(each) >= SHORTEST}
        self._whole = sorted(whole, key=len, reverse=True)
        self._flat = [flat for each in self._whole if len(flat := _flatten(each)) >= SHORTEST]
        # Any six characters of a secret in a row contain one of these threes.
        self._hints = {flat[at : at + 3] for flat in self._flat for at in range(0, len(flat) - 2, 4)}

    def hide(self, text: str, shortest: int = SHORTEST) -> str:
        """Return a text without secrets, and without parts of them that have at least `shortest` letters and digits."""
        for each in self._whole:
            text = text.replace(each, HIDDEN)
        if not self._hints or not self._may_be_in(text):
            return text
        parts = {
            flat[at : at + size]
            for flat in self._flat
            for size in [min(shortest, len(flat))]
            for at in range(len(flat) - size + 1)
        }
        if len(text) > _LONGEST:
            plain = _flatten(text)
            return HIDDEN if any(part in plain for part in parts) else text
        return _without(text, parts)

    def _may_be_in(self, text: str) -> bool:
        plain = _flatten(text)
        return any(hint in plain for hint in self._hints)


def _flatten(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    if "%" in text or "\\" in text or "&#" in text:
        text = _ESCAPED.sub(_character, text)
    return _OTHER.sub("", text).lower()


def _character(match: re.Match[str]) -> str:
    """Return what an escape stands for, if that is a letter or digit."""
    percent, unicode, byte, hexadecimal, decimal = match.groups()
    digits = percent or unicode or byte or hexadecimal
    number = int(digits, 16) if digits else int(decimal)
    return chr(number) if number < 128 else ""


def _without(text: str, parts: set[str]) -> str:
    """Return a text with `HIDDEN` in place of runs of letters and digits that are parts of a secret."""
    letters, spans = list[str](), list[tuple[int, int]]()
    for match in _CHARACTER.finditer(text):
        letter = match[0] if match.lastindex is None else _character(match)
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
