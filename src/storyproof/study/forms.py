"""Forms: signed, so that only forms that the server has made are taken, and read within bounds."""

from __future__ import annotations

import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from storyproof.study.participants import Arrival

_MOST_FIELDS = 40
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONGEST_MS = 2**31 - 1


class FormError(Exception):
    """A form that is not complete, has been changed, or was not made here."""


class Form:
    """What was sent.

    Args:
        fields: Names and values, in order.
    """

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    def get(self, name: str) -> str:
        """Return the value of a field; empty if there is none.

        Raises:
            FormError: If there are several.
        """
        values = self.all(name)
        if len(values) > 1:
            raise FormError
        return values[0] if values else ""

    def all(self, name: str) -> list[str]:
        """Return the values of a field."""
        return [value for key, value in self._fields if key == name]

    def milliseconds(self, name: str) -> int | None:
        """Return a time that the browser measured; None if there is none that can be."""
        text = self.get(name)
        if not re.fullmatch(r"\d{1,10}", text, re.ASCII):
            return None
        return min(int(text), _LONGEST_MS)

    def measured(self) -> tuple[int | None, int | None]:
        """Return how long the page was open, and for how long of that it was hidden."""
        return self.milliseconds("browser_ms"), self.milliseconds("hidden_ms")


def read_form(body: bytes) -> Form:
    """Read a form from the body of a request.

    Raises:
        FormError: If it is not UTF-8, holds control characters, or has too many fields.
    """
    try:
        fields = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError as error:  # UnicodeError is one
        raise FormError from error
    pairs = [(name, value.replace("\r\n", "\n").replace("\r", "\n")) for name, value in fields]
    if any(_CONTROLS.search(value) or _CONTROLS.search(name) for name, value in pairs):
        raise FormError
    return Form(pairs)


def sign(secret: str, *parts: object) -> str:
    """Return the signature of some values."""
    text = json.dumps(parts)
    return hmac.new(secret.encode(), text.encode(), "sha256").hexdigest()


def check_signature(secret: str, given: str, *parts: object) -> None:
    """Raise FormError unless a signature is that of the values."""
    if not hmac.compare_digest(sign(secret, *parts).encode(), given.encode("utf-8", "replace")):
        raise FormError


def seal_arrival(secret: str, arrival: Arrival) -> str:
    """Return an arrival as a text that the consent form carries."""
    plain = [arrival.nonce, arrival.source, arrival.external_id, dict(arrival.visit)]
    text = urlsafe_b64encode(json.dumps(plain).encode()).decode()
    return f"{text}.{sign(secret, 'arrival', text)}"


def open_arrival(secret: str, sealed: str) -> Arrival:
    """Return the arrival that a consent form carries.

    Raises:
        FormError: If it was not sealed here.
    """
    text, _, signature = sealed.partition(".")
    check_signature(secret, signature, "arrival", text)
    try:
        nonce, source, external_id, visit = json.loads(urlsafe_b64decode(text))
    except (ValueError, Base64Error) as error:
        raise FormError from error
    return Arrival(nonce, source, external_id, visit)


def read_json_text(body: Mapping[str, Any], name: str, most: int) -> str:
    """Return a text of a JSON object.

    Raises:
        FormError: If it is not one, or too long.
    """
    value = body.get(name)
    if not isinstance(value, str) or len(value) > most or _CONTROLS.search(value):
        raise FormError
    return value
