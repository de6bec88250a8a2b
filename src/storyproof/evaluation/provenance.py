"""What is needed to repeat a run: versions, data, time and hardware. Nothing that names the machine or its user."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.datasets.manifest import MANIFEST, file_sha256, parse_manifest, read_manifest
from storyproof.datasets.reading import Source
from storyproof.datasets.stored import StoredSource
from storyproof.errors import DataError
from storyproof.inputs import name_of
from storyproof.storage import StoredFolder, is_url


def provenance() -> dict[str, Any]:
    """Return when, with what and on what this process runs."""
    return {
        "storyproof": __version__,
        "python": platform.python_version(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "hardware": hardware(),
    }


def hardware() -> dict[str, Any]:
    """Return what the machine is: system, processor, cores, and GPUs if something in this process uses them."""
    found: dict[str, Any] = {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        found["gpus"] = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return found


def data_identity(source: Source) -> dict[str, Any]:
    """Return the hashes of the files that were read, and what their manifest says they are."""
    hashes = {name_of(path.name): file_sha256(path) for path in source.files}
    return _identity(hashes, lambda: read_manifest(source.files[0].parent))


def stored_identity(source: StoredSource, hashes: Mapping[str, str]) -> dict[str, Any]:
    """Return the same for files that were read apart, whose hashes are known."""
    first = source.files[0].place

    def read() -> dict[str, Any] | None:
        if not is_url(first):
            return read_manifest(Path(first).parent)
        folder = first.rpartition("/")[0]
        content = StoredFolder(folder).read(MANIFEST)
        return None if content is None else parse_manifest(content, f"{folder}/{MANIFEST}")

    return _identity(hashes, read)


def _identity(hashes: Mapping[str, str], read: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
    """Return hashes, and what a manifest says, if it can be read."""
    found: dict[str, Any] = {"files": dict(hashes)}
    try:
        manifest = read()
    except DataError:
        manifest = None
    if manifest is not None:
        found["manifest"] = {name: manifest[name] for name in ("benchmark", "version", "seed") if name in manifest}
    return found


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
