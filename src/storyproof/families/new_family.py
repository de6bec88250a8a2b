"""The verb `new-family`: write a package with a family and a benchmark that work, to be changed."""

from __future__ import annotations

import re
from pathlib import Path

from storyproof.catalog import names
from storyproof.errors import ConfigError, DataError
from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.io.bounded_input import read_text

_SKELETON = Path(__file__).with_name("skeleton")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new_family(name: str, out: str | Path | None = None) -> Path:
    """Write a package with a small family that passes the conformance suite: who sits left of whom.

    Args:
        name: What users will call family and benchmark, such as `seating`.
        out: A new folder for the package; by default `storyproof-NAME`.

    Returns:
        The folder.

    Raises:
        ConfigError: If the name is taken, or cannot be one.
        DataError: If the folder exists, or cannot be written.

    Example:
        >>> import storyproof
        >>> folder = storyproof.new_family("seating")
        >>> sorted(path.name for path in folder.iterdir())
        ['README.md', 'pyproject.toml', 'src', 'tests']
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"the name is '{name}'; use lower-case letters, digits and dashes, such as who-sits-where.")
    for kind in ("family", "benchmark"):
        if name in names(kind):
            raise ConfigError(f"there is a {kind} '{name}' already; choose another name.")
    folder = Path(out) if out is not None else Path(f"storyproof-{name}")
    if folder.exists():
        raise DataError(f"{folder} exists already; choose another --out, or remove it.")
    package = f"storyproof_{name.replace('-', '_')}"
    files = {
        "README.md": "README.md.txt",
        "pyproject.toml": "pyproject.toml.txt",
        f"src/{package}/family.py": "family.py.txt",
        "tests/test_family.py": "test_family.py.txt",
    }
    values = {"{name}": name, "{package}": package, "{class_name}": "".join(map(str.title, name.split("-")))}
    with writing_to(folder):
        for place, template in files.items():
            text = read_text(_SKELETON / template)
            for placeholder, value in values.items():
                text = text.replace(placeholder, value)
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / place, text.encode())
        write_whole(folder / f"src/{package}/__init__.py", f'"""The family {name}."""\n'.encode())
    return folder
