"""Addresses of servers: what of them may be shown and kept, and what only the server may see."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import unquote, urlsplit


def is_address(url: str) -> bool:
    """Return whether it is the address of a server; a password with a bare slash or hash makes it none."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def public(url: str) -> str:
    """Leave user name and password out of an address; of what is none, whatever may be a password."""
    if not is_address(url):
        before, at, after = url.rpartition("@")
        return f"{before.partition('://')[0]}://…@{after}" if at else url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def authorization(url: str) -> str | None:
    """Return the header's value by which user name and password of an address are sent, if it has any."""
    said, at, _ = urlsplit(url).netloc.rpartition("@")
    user, _, password = said.partition(":")
    return f"Basic {b64encode(f'{unquote(user)}:{unquote(password)}'.encode()).decode()}" if at else None
