"""The data folder of the explorer: datasets to download, and the runs and data in it that can be opened.

Nothing is written outside the folder, and no file outside it can be named.
"""

from __future__ import annotations

import re
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import Any

from storyproof.datasets.manifest import is_dataset
from storyproof.datasets.reading import is_data
from storyproof.datasets.writing import write_dataset
from storyproof.engines.processes import WorkerDiedError, run_apart
from storyproof.errors import ConfigError, DataError
from storyproof.example import SPLITS
from storyproof.generation.seeds import digest
from storyproof.io.atomic_files import whole_file, writing_to
from storyproof.io.bounded_input import FILE, FOLDER, kind_of, name_of, open_file, resolved
from storyproof.io.locks import Claim
from storyproof.web.dials import Dials

DOWNLOADS = "downloads"
_DRAFT, _LOCK = ".making", ".making.lock"  # a dataset until it is packed, and who may write it
MOST_STORIES = 20_000  # of a dataset that is made for a page
MOST_DOWNLOADS = 20  # the oldest ones are removed
LARGEST_OPENED = 100 << 20  # bytes of a file that is audited or reported for a page
LONGEST_S = 180.0  # until a page must be built
_DEEPEST, _MOST_LISTED = 3, 200
_RUN = re.compile(rb'\s*\[?\s*\{\s*"(?:schema|model)"')
_NAME = re.compile(r"[a-z0-9][a-z0-9@.-]{0,80}\.zip")
_KEPT = 8  # pages


class Library:
    """What is in the data folder.

    Args:
        folder: The folder; it is created when something is first written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pages: OrderedDict[object, str] = OrderedDict()
        self._lock, self._making = Lock(), Lock()

    # Datasets to download.

    def make_dataset(self, dials: Dials, counts: Mapping[str, int], seed: int, format_name: str) -> dict[str, Any]:
        """Write a dataset as a ZIP file; return its name, and what is in it.

        Raises:
            ConfigError: If the counts are too large or cannot be made.
            DataError: If it cannot be written.
        """
        benchmark = dials.make(seed)
        asked = {split: counts.get(split, 0) for split in SPLITS}
        total = sum(benchmark.check_counts(asked).values())
        if total > MOST_STORIES:
            raise ConfigError(
                f"{total:,} stories are too many for a page; use at most {MOST_STORIES:,}, or storyproof generate."
            )
        key = digest([dials.key, asked, seed, format_name]).hex()[:12]
        name = f"{benchmark.name}-{key}"
        folder = self.folder / DOWNLOADS
        with self._making, Claim(folder / _LOCK, "--data").when_free(), writing_to(folder, "--data"):
            draft = folder / _DRAFT
            rmtree(draft, ignore_errors=True)  # what a server left that was killed
            try:
                manifest = write_dataset(benchmark, asked, draft / name, format_name=format_name)
                with (
                    whole_file(folder / f"{name}.zip") as file,
                    zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out,
                ):
                    for path in sorted((draft / name).iterdir()):
                        out.write(path, f"{name}/{path.name}")
            finally:
                rmtree(draft, ignore_errors=True)
            self._remove_oldest(folder)
        splits = {
            split: {"stories": e["stories"], "questions": e["questions"]} for split, e in manifest["splits"].items()
        }
        return {"file": f"{name}.zip", "splits": splits}

    def _remove_oldest(self, folder: Path) -> None:
        """Remove the oldest downloads; only files that have the names of downloads."""
        made = [path for path in folder.iterdir() if _NAME.fullmatch(path.name) and kind_of(path) == FILE]
        made.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in made[MOST_DOWNLOADS:]:
            path.unlink(missing_ok=True)

    def download(self, name: str) -> Path:
        """Return the file of a download.

        Raises:
            DataError: If there is none.
        """
        path = self.folder / DOWNLOADS / name
        if not _NAME.fullmatch(name) or path.is_symlink() or kind_of(path) != FILE:
            raise DataError("there is no such download; make the dataset again.")
        return path

    # Runs and data that can be opened.

    def listing(self) -> dict[str, Any]:
        """Return the runs and the data in the folder, by their paths in it."""
        runs, data = list[str](), list[str]()
        for path in self._walk(self.folder, _DEEPEST):
            if len(runs) + len(data) >= _MOST_LISTED:
                break
            name = name_of(path.relative_to(self.folder))
            if kind_of(path) == FOLDER:
                data.append(name)
            elif _is_run(path):
                runs.append(name)
            elif is_data(path):
                data.append(name)
        return {"folder": name_of(self.folder), "runs": runs, "data": data}

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        """Yield datasets and files in a folder; links, and what begins with a dot, are left out."""
        try:
            found = sorted(folder.iterdir())
        except OSError:
            return
        for path in found:
            if path.name.startswith(".") or path.is_symlink():
                continue
            kind = kind_of(path)
            if kind == FILE or (kind == FOLDER and is_dataset(path)):
                yield path
            elif kind == FOLDER and depth > 1 and path.name != DOWNLOADS:
                yield from self._walk(path, depth - 1)

    def find(self, name: str) -> Path:
        """Return the path of something in the folder.

        Raises:
            DataError: If it is not there, or is not in the folder.
        """
        refused = DataError(f"there is no '{name[:200]}' in the data folder.")
        try:
            inside, path = resolved(self.folder), resolved(self.folder / name)
        except OSError as error:
            raise refused from error
        if not name or path == inside or not path.is_relative_to(inside) or not kind_of(path):
            raise refused
        files = [path] if kind_of(path) == FILE else [each for each in path.rglob("*") if kind_of(each) == FILE]
        if sum(each.stat().st_size for each in files) > LARGEST_OPENED:
            raise DataError(f"'{name[:200]}' is too large for a page; use storyproof report or storyproof audit.")
        return path

    def report_page(self, runs: Sequence[str]) -> str:
        """Return the report on some runs of the folder as a page.

        Raises:
            StoryproofError: If one of them cannot be read.
        """
        paths = [self.find(name) for name in runs]
        if not paths:
            raise ConfigError("choose at least one run.")
        return self._page("report", paths, partial(_report, title=", ".join(runs)))

    def audit_page(self, data: str) -> str:
        """Return the audit of data in the folder as a page.

        Raises:
            StoryproofError: If they cannot be read.
        """
        return self._page("audit", [self.find(data)], _audit)

    def _page(self, kind: str, paths: Sequence[Path], build: Callable[[Sequence[Path]], str]) -> str:
        """Return a page that was built before, if no file has changed since; else build it in another process.

        Raises:
            DataError: If that process dies, as when a damaged file makes a native library abort.
            StoryproofError: If a file cannot be read.
        """
        key = kind, tuple((str(path), *_stamps(path)) for path in paths)
        with self._lock:
            if key in self._pages:
                self._pages.move_to_end(key)
                return self._pages[key]
        try:
            found = run_apart(build, paths, LONGEST_S)
        except WorkerDiedError as error:
            names = ", ".join(path.name for path in paths)[:200]
            raise DataError(
                f"the process that read {names} died: a file may be damaged, or memory ran out; "
                f"run storyproof {kind} on it to see more."
            ) from error
        with self._lock:
            self._pages[key] = found
            while len(self._pages) > _KEPT:
                self._pages.popitem(last=False)
        return found


def _report(paths: Sequence[Path], title: str) -> str:
    from storyproof.reports.report import report

    return report(paths, title=title).render()


def _audit(paths: Sequence[Path]) -> str:
    from storyproof.audits.audit import audit
    from storyproof.reports.audit_sections import page_of

    return page_of(audit(paths), paths, {})


def _stamps(path: Path) -> Iterator[tuple[str, int, int]]:
    files = [path] if kind_of(path) == FILE else sorted(each for each in path.rglob("*") if kind_of(each) == FILE)
    for each in files:
        found = each.stat()
        yield str(each), found.st_size, found.st_mtime_ns


def _is_run(path: Path) -> bool:
    """Return whether a file begins as those of evaluate do."""
    if path.suffix != ".json":
        return False
    try:
        with open_file(path) as file:
            return _RUN.match(file.read(200)) is not None
    except OSError:
        return False
