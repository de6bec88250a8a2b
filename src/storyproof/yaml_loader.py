"""The loader for YAML files that ship with storyproof."""

from __future__ import annotations

from typing import Any


def shipped_loader() -> Any:
    """Return the fastest loader of PyYAML: the one in C, if it was built with it.

    It is for files that ship with storyproof only. In files of users the other one, `yaml.SafeLoader`, finds the same
    mistakes with better messages, and survives any depth of nesting.
    """
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_shipped(text: str) -> Any:
    """Parse the text of a shipped file, quickly."""
    import yaml

    return yaml.load(text, Loader=shipped_loader())
