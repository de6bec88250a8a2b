"""Prepare a release; it needs no packages.

`python -m docs.release v0.9.0` checks that a tag, the version and the release notes agree.
`python -m docs.release https://HOST/OWNER/NAME REVISION` makes the links of README.md absolute, because PyPI shows it
without the files beside it.
"""

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


def with_absolute_links(page: str, repository: str, revision: str) -> str:
    """Return a page whose links to files and pictures of the repository lead to them from anywhere.

    Args:
        page: In Markdown; its links are relative to the repository's root.
        repository: The address of the repository, on a host whose addresses are like GitHub's.
        revision: Which files are meant: a tag or a commit.
    """

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({repository}/{kind}/{revision}/{link['target']})"

    return re.sub(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>(?!\w+:|#)[^)]+)\)", absolute, page)


def main() -> None:
    """Check the tag of the command line, or write absolute links."""
    if len(sys.argv) == 3:
        readme = ROOT / "README.md"
        readme.write_text(with_absolute_links(readme.read_text(encoding="utf-8"), *sys.argv[1:]), encoding="utf-8")
        return
    source = (ROOT / "src" / "storyproof" / "__init__.py").read_text(encoding="utf-8")
    [version] = re.findall(r'^__version__ = "(.*)"$', source, flags=re.MULTILINE)
    [tag] = sys.argv[1:]
    if why := problem(tag, version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        raise SystemExit(why)


if __name__ == "__main__":
    main()
