"""Sockets of the servers of storyproof."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

from storyproof.errors import ConfigError


def is_open(host: str) -> bool:
    """Return whether an address stands for all addresses of this machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Open the socket, so that clients can connect as soon as they know the address.

    Raises:
        ConfigError: If that is not possible.
    """
    if not 0 <= port <= 65535:
        raise ConfigError(f"--port is {port}; use 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} is in use; stop the other program, or choose another --port.") from error
        raise ConfigError(f"cannot listen at {host}, port {port}: {error.strerror}; choose another --host.") from error
