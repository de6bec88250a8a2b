"""Archives unpacked for as long as they are read: `.zip`, and single files that end in `.gz`.

What is unpacked is bounded, whatever the archive says about its sizes, and nothing is written outside its own folder.
"""

from __future__ import annotations

import gzip
import lzma
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from struct import error as StructError  # noqa: N812
from tempfile import TemporaryDirectory
from typing import IO

from storyproof.errors import DataError, StoryproofError
from storyproof.io.bounded_input import FILE, kind_of, name_of, open_file, size

SUFFIXES = (".zip", ".gz")
LARGEST_ARCHIVE = 8 << 30  # bytes of all files in an archive, unpacked
MOST_MEMBERS = 10_000
_PIECE = 1 << 20
_SCRATCH = "storyproof-archive-"
_BROKEN = (
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile),
    *(ValueError, OSError, LookupError, OverflowError, StructError),
)


def is_archive(path: str | Path) -> bool:
    """Return whether a path is that of an archive on this machine."""
    return Path(path).suffix in SUFFIXES and kind_of(Path(path)) == FILE


@contextmanager
def unpacked(paths: Sequence[str | Path]) -> Iterator[list[str | Path]]:
    """Yield paths with a folder of its files, or the single file, in place of each archive; messages name the archive.

    Raises:
        DataError: If an archive cannot be unpacked.
    """
    if not any(map(is_archive, paths)):
        yield list(paths)
        return
    with TemporaryDirectory(prefix=_SCRATCH) as scratch:
        found: list[str | Path] = []
        for number, path in enumerate(paths):
            if not is_archive(path):
                found.append(path)
                continue
            folder = Path(scratch, str(number), name_of(Path(path).stem))
            folder.parent.mkdir()
            _unpack(Path(path), folder)
            found.append(folder)
        try:
            yield found
        except StoryproofError as error:
            for each, path in zip(found, paths, strict=True):
                error.args = tuple(str(part).replace(str(each), str(path)) for part in error.args)
            raise


def _unpack(path: Path, target: Path) -> None:
    try:
        with open_file(path) as file:
            if path.suffix == ".gz":
                with gzip.open(file) as stream:
                    _copy(path, stream, target, LARGEST_ARCHIVE)
                return
            with zipfile.ZipFile(file) as archive:
                _unpack_members(path, archive, target)
    except DataError:
        raise
    except _BROKEN as error:
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        raise DataError(f"{path} cannot be unpacked ({reason}); copy it again.") from error


def _unpack_members(path: Path, archive: zipfile.ZipFile, target: Path) -> None:
    members = [each for each in archive.infolist() if each.filename and not each.is_dir()]
    if len(members) > MOST_MEMBERS:
        raise DataError(f"{path} holds {len(members):,} files; at most {MOST_MEMBERS:,} are unpacked.")
    left = LARGEST_ARCHIVE
    target.mkdir()
    for each in members:
        parts = PurePosixPath(each.filename.replace("\\", "/")).parts
        if not parts or any(part in ("..", "/", "__MACOSX") or "\0" in part for part in parts):
            continue
        place = target.joinpath(*parts)
        if not place.resolve().is_relative_to(target.resolve()):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(each) as stream:
            left -= _copy(path, stream, place, left)


def _copy(path: Path, stream: IO[bytes] | gzip.GzipFile, target: Path, most: int) -> int:
    """Copy a stream to a new file; return how many bytes it has."""
    done = 0
    free = shutil.disk_usage(target.parent).free
    with target.open("xb") as out:
        while piece := stream.read(_PIECE):
            done += len(piece)
            if done > min(most, free // 2):
                raise DataError(
                    f"{path} is larger than {size(min(most, free // 2))} once it is unpacked, the most that "
                    "is unpacked here; unpack it yourself, and give the folder."
                )
            out.write(piece)
    return done
