"""Addresses of servers: the part that may be shown and stored, and the password that is sent to the server only."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import unquote, urlsplit


def is_address(url: str) -> bool:
    """Return whether a text is the address of a server; a slash or hash in a password must be percent-encoded."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def public(url: str) -> str:
    """Return an address without user name and password; of a text that is no address, without what may be one."""
    if not is_address(url):
        before, at, after = url.rpartition("@")
        return f"{before.partition('://')[0]}://…@{after}" if at else url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def authorization(url: str) -> str | None:
    """Return the value of the header `Authorization` for the user name and password of an address, if it has any."""
    said, at, _ = urlsplit(url).netloc.rpartition("@")
    user, _, password = said.partition(":")
    return f"Basic {b64encode(f'{unquote(user)}:{unquote(password)}'.encode()).decode()}" if at else None
