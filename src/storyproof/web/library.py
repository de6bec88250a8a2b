"""The data folder of the explorer: datasets to download, and the runs and data in it that can be opened.

Nothing is written outside the folder, and no file outside it can be named.
"""

from __future__ import annotations

import re
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import Any

from storyproof.datasets.manifest import is_dataset, read_manifest
from storyproof.datasets.reading import is_data
from storyproof.datasets.writing import write_dataset
from storyproof.engines.processes import WorkerDiedError, run_apart
from storyproof.errors import ConfigError, DataError, StoryproofError
from storyproof.evaluation.runs import read_about
from storyproof.example import SPLITS
from storyproof.formats.format import formats
from storyproof.generation.seeds import digest
from storyproof.io.atomic_files import whole_file, writing_to
from storyproof.io.bounded_input import FILE, FOLDER, kind_of, name_of, open_file, resolved
from storyproof.io.locks import Claim
from storyproof.study.progress import is_study, read_progress
from storyproof.web.dials import DialSettings

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
DROPPED = "dropped"  # where files are kept that are dropped on a page
LARGEST_DROPPED = 50 << 20  # bytes
_ODD = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 80
_Built = tuple[str, dict[str, Any]]  # a page, and what it found in a few words


class Library:
    """What is in the data folder.

    Args:
        folder: The folder; it is created when something is first written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pages: OrderedDict[object, _Built] = OrderedDict()
        self._results: dict[object, dict[str, Any]] = {}
        self._lock, self._making = Lock(), Lock()

    # Datasets to download.

    def make_dataset(
        self, dials: DialSettings, counts: Mapping[str, int], seed: int, format_name: str
    ) -> dict[str, Any]:
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
        """Return the runs, data and studies in the folder, by their paths in it."""
        runs, data, studies = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
        for path in self._walk(self.folder, _DEEPEST):
            if len(runs) + len(data) + len(studies) >= _MOST_LISTED:
                break
            name = name_of(path.relative_to(self.folder))
            if kind_of(path) == FOLDER and is_study(path):
                studies.append({"path": name, **_describe_study(path)})
            elif kind_of(path) == FOLDER:
                data.append({"path": name, **_describe_dataset(path), "audit": self._result_of_audit(path)})
            elif _is_run(path):
                runs.append({"path": name, **_describe_run(path)})
            elif is_data(path):
                data.append({"path": name, "bytes": path.stat().st_size, "audit": self._result_of_audit(path)})
        return {"folder": name_of(self.folder), "runs": runs, "data": data, "studies": studies}

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        """Yield datasets and files in a folder; links, and what begins with a dot, are left out."""
        try:
            paths = sorted(folder.iterdir())
        except OSError:
            return
        for path in paths:
            if path.name.startswith(".") or path.is_symlink():
                continue
            kind = kind_of(path)
            if kind == FILE or (kind == FOLDER and (is_dataset(path) or is_study(path))):
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
        title = "Report" if len(paths) == 1 else f"Report on {len(paths)} runs"
        return self._page("report", paths, partial(_report, title=title))[0]

    def audit_page(self, data: str) -> str:
        """Return the audit of data in the folder as a page.

        Raises:
            StoryproofError: If they cannot be read.
        """
        return self._page("audit", [self.find(data)], _audit)[0]

    def _result_of_audit(self, path: Path) -> dict[str, Any] | None:
        """Return the result of the audit of data as they are now; None if the server has not audited them."""
        try:
            key = "audit", ((str(path.resolve()), *_stamps(path)),)
        except OSError:
            return None
        with self._lock:
            return self._results.get(key)

    def keep_file(self, name: str, content: bytes) -> str:
        """Write a file that somebody dropped on a page into the folder; return its path there.

        Raises:
            DataError: If it is not data by its name, or cannot be written.
        """
        plain = _ODD.sub("_", Path(name).name).strip("._")[-_LONGEST_NAME:]
        path = self.folder / DROPPED / plain
        known = sorted({suffix for each in formats() for suffix in each.suffixes})
        if path.suffix not in known:
            raise DataError(f"'{name[:200]}' is not a file of data by its name; it should end in {', '.join(known)}.")
        with writing_to(path.parent, "--data"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() or kind_of(path) not in ("", FILE):
                raise DataError(f"'{plain}' in the folder {DROPPED} is not a file; remove it.")
            with whole_file(path) as file:
                file.write(content)
        return f"{DROPPED}/{plain}"

    def _page(self, kind: str, paths: Sequence[Path], build: Callable[[Sequence[Path]], _Built]) -> _Built:
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
            page = run_apart(build, paths, LONGEST_S)
        except WorkerDiedError as error:
            names = ", ".join(path.name for path in paths)[:200]
            raise DataError(
                f"the process that read {names} died: a file may be damaged, or memory ran out; "
                f"run storyproof {kind} on it to see more."
            ) from error
        with self._lock:
            self._pages[key] = page
            while len(self._pages) > _KEPT:
                self._pages.popitem(last=False)
            self._results[key] = page[1]
        return page


def _report(paths: Sequence[Path], title: str) -> _Built:
    from storyproof.reports.report import report

    return report(paths, title=title).render(), {}


def _audit(paths: Sequence[Path]) -> _Built:
    from storyproof.audits.audit import audit
    from storyproof.reports.audit_page import describe_result
    from storyproof.reports.audit_sections import page_of

    report = audit(paths)
    unread = sum(report.unread.values())
    result = {
        "ok": report.ok,
        "result": describe_result(report)[0],
        "questions": report.questions,
        "understood": 1 - unread / report.questions if report.questions else 1.0,
    }
    return page_of(report, paths, {}), result


def _describe_run(path: Path) -> dict[str, Any]:
    """Return what a card says about a run; without what its file does not say."""
    about = read_about(path) or {}
    run, intervals = about.get("run") or {}, about.get("intervals") or {}
    manifest = (run.get("data") or {}).get("manifest") or {}
    data = Path(str(about.get("data") or "")).name
    values = {
        "model": about.get("model"),
        "data": data,
        "split": about.get("split"),
        "benchmark": manifest.get("benchmark"),
        "questions": about.get("questions"),
        "accuracy": about.get("accuracy"),
        "interval": intervals.get("accuracy"),
        "started": run.get("started"),
    }
    return {name: value for name, value in values.items() if value is not None}


def _describe_dataset(folder: Path) -> dict[str, Any]:
    """Return what a card says about a dataset; without what its manifest does not say."""
    try:
        manifest = read_manifest(folder) or {}
        splits = {name: each.get("questions") for name, each in manifest["splits"].items()}
        return {"benchmark": manifest.get("benchmark"), "splits": splits, "seed": manifest.get("seed")}
    except (StoryproofError, KeyError, AttributeError):
        return {}


def _describe_study(folder: Path) -> dict[str, Any]:
    progress = read_progress(folder)
    return {} if progress is None else asdict(progress)


def _stamps(path: Path) -> Iterator[tuple[str, int, int]]:
    files = [path] if kind_of(path) == FILE else sorted(each for each in path.rglob("*") if kind_of(each) == FILE)
    for each in files:
        state = each.stat()
        yield str(each), state.st_size, state.st_mtime_ns


def _is_run(path: Path) -> bool:
    """Return whether a file begins as those of evaluate do."""
    if path.suffix != ".json":
        return False
    try:
        with open_file(path) as file:
            return _RUN.match(file.read(200)) is not None
    except OSError:
        return False
