"""Check that a tag, the version and the release notes agree: `python -m docs.release v0.9.0`. It needs no packages."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problem(tag: str, version: str, changelog: str) -> str:
    """Return why a tag must not be released; empty if it may.

    Args:
        tag: Such as `v0.9.0`.
        version: The version of the package.
        changelog: The release notes of all versions.
    """
    if tag != f"v{version}":
        return f"the tag is {tag}, but storyproof.__version__ is {version}; expected v{version}."
    [heading, *_] = re.findall(r"^## (.*)$", changelog, flags=re.MULTILINE) or [""]
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        return f"CHANGELOG.md begins with '{heading}'; expected '{version} (YEAR-MONTH-DAY)'."
    return ""


def main() -> None:
    """Check the tag of the command line."""
    source = (ROOT / "src" / "storyproof" / "__init__.py").read_text(encoding="utf-8")
    [version] = re.findall(r'^__version__ = "(.*)"$', source, flags=re.MULTILINE)
    [tag] = sys.argv[1:]
    if why := problem(tag, version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        raise SystemExit(why)


if __name__ == "__main__":
    main()
