"""What is needed to repeat a run: versions, data, time and hardware. Nothing that names the machine or its user."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.datasets.reading import Source
from storyproof.errors import DataError


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
    machine: dict[str, Any] = {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        machine["gpus"] = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return machine


def data_identity(source: Source, hashes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the hashes of the files that were read, and what their manifest says they are.

    Args:
        source: The files.
        hashes: Their hashes by name, if they are known.
    """
    identity: dict[str, Any] = {"files": dict(hashes or {file.name: file.sha256() for file in source.files})}
    try:
        manifest = source.manifest()
    except DataError:
        manifest = None
    if manifest is not None:
        identity["manifest"] = {name: manifest[name] for name in ("benchmark", "version", "seed") if name in manifest}
    return identity


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
