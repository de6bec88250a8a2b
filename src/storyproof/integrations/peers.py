"""Packages that storyproof works with but does not need: are they there, in a version that fits?"""

from __future__ import annotations

from importlib import metadata
from typing import Any

from storyproof.errors import ConfigError
from storyproof.reports.doctor import read_needs, satisfies
from storyproof.runtime.optional_packages import need


def need_peer(package: str, extra: str, what: str) -> Any:
    """Import a package, if its version is one that the extra of storyproof asks for.

    Args:
        package: Its name for pip.
        extra: The extra that installs it; its bounds are those of storyproof's own metadata.
        what: What needs it, for the message.

    Raises:
        ConfigError: If it is missing, broken, or of a version that does not fit; the message has the command that
            installs one that does.
    """
    bounds = read_needs(metadata.requires("storyproof") or ()).get(extra, {}).get(package, "")
    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError:
        version = ""
    if version and not satisfies(version, bounds):
        raise ConfigError(
            f"{what} needs {package} {bounds}, but {version} is installed: pip install --upgrade 'storyproof[{extra}]'."
        )
    return need(package.replace("-", "_"), extra, what)
