"""Optional packages."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from storyproof.errors import ConfigError


def need(package: str, extra: str, what: str) -> Any:
    """Import a package of an extra.

    Args:
        package: The name of the package.
        extra: The extra of storyproof that installs it.
        what: What needs it, for the message.

    Raises:
        ConfigError: If it is not installed; the message contains the command that installs it.
    """
    try:
        return import_module(package)
    except ImportError as error:
        if installed(package):
            raise ConfigError(
                f"{what} needs '{package}', which is installed but cannot be imported: {error}."
            ) from error
        raise ConfigError(
            f"{what} needs the package '{package}', which is not installed: pip install 'storyproof[{extra}]'."
        ) from error


def installed(package: str) -> bool:
    """Return whether a package is installed, without importing it."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False
