"""Folders that are written whole, or not at all, and that replace nothing but what storyproof wrote.

Everything is written to a draft, a hidden folder beside the target, which takes its place in one step. One process at a
time may write a target. What a killed process left is found by the next one, named, and removed or restored. Drafts of
datasets in shards are kept with the shards that are finished, and the same command resumes with them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.datasets.manifest import MANIFEST, file_sha256, foreign_files, is_dataset, is_inside, remove_dataset
from storyproof.errors import DataError
from storyproof.io.atomic_files import exchange, write_whole
from storyproof.io.bounded_input import FOLDER, kind_of, parse_json, read_bytes, resolved
from storyproof.io.locks import Claim, remove_claims

_log = logging.getLogger(__name__)
# In a draft, until it is whole. It says what is being written, if that can be resumed; then it lists the hashes of the
# files that are being moved.
MARKER = ".storyproof-unfinished"
RECORDS = ".storyproof-shards"  # a folder in a draft: what is known of each shard that is finished
_WHOLE = ".whole"  # what the marker is called, beside a draft, while the draft is moved to its place
_NAMED = 3  # of many files in a message
_FINISHED_STAY = "the shards that are finished are kept, and the same command resumes with them"
_drafts: set[Path] = set()


@contextmanager
def whole_folder(
    out: Path, force: bool | None, option: str = "--out", job: Mapping[str, Any] | None = None
) -> Iterator[Path]:
    """Open a draft that becomes the folder `out` if all goes well and vanishes if not.

    Args:
        out: The folder; must not hold anything yet, unless it may be replaced.
        force: Replace a dataset that storyproof wrote and nobody has changed or added to; None if users cannot ask so.
        option: What users call the folder.
        job: What is written, as plain values of JSON, if it is written in shards. A draft in which a shard is finished
            is then kept if something goes wrong, and opened again by the next run of the same job.

    Raises:
        DataError: If the folder cannot be written or replaced, or another process is writing it.
    """
    if kind_of(out) not in ("", FOLDER):
        raise DataError(f"{out} is {kind_of(out)}; choose a folder for {option}.")
    try:
        out = resolved(out)
    except OSError as error:
        raise _unwritable(out, error, option) from error
    claim = claim_target(out, option)
    try:
        try:
            draft = _settle_leftovers(out, bool(force), option, job)
            check_free(out, force, option, draft)
            draft = draft or _make_draft(out, job)
        except OSError as error:
            raise _unwritable(out.parent, error, option) from error
        try:
            yield draft
            check_free(out, force and draft.parent != out, option, draft)  # what has appeared meanwhile stays
            shutil.rmtree(draft / RECORDS, ignore_errors=True)
            _put_in_place(draft, out)
        except OSError as error:
            kept = _FINISHED_STAY if draft in _drafts and _is_resumable(draft) else "nothing was kept"
            raise DataError(f"cannot write {out}: {error.strerror or error}; {kept}.") from error
        finally:
            if draft in _drafts:
                _drop(draft)
                _drafts.discard(draft)
    finally:
        claim.release()


def clear_drafts() -> None:
    """Remove whatever is being written, but no finished shards; for when the process must go at once."""
    for draft in tuple(_drafts):
        _drop(draft)
    remove_claims()


def _drop(draft: Path) -> None:
    """Remove a draft unless the same command can go on with it."""
    if _is_resumable(draft):
        _log.warning("storyproof: the shards that are finished are kept; the same command resumes with them.")
    else:
        shutil.rmtree(draft, ignore_errors=True)


def is_unfinished(folder: Path) -> bool:
    """Return whether a folder is a draft, or there is one of it that has not been moved to its place."""
    try:
        folder = resolved(folder)
        place = folder if folder.is_dir() else folder.parent
        drafts = [path for path in place.iterdir() if _is_leftover(path, folder)]
    except OSError:  # it cannot be listed, which says nothing about the file that is read
        return False
    return any((path / MARKER).is_file() for path in (folder, *drafts))


def _job_of(draft: Path) -> dict[str, Any] | None:
    """Return what is written to a draft, if that can be resumed."""
    try:
        job = parse_json(read_bytes(draft / MARKER))
    except (OSError, ValueError):
        return None
    return job if isinstance(job, dict) and "shards" in job else None


def _is_resumable(draft: Path) -> bool:
    """Return whether a draft has finished shards."""
    return _job_of(draft) is not None and any((draft / RECORDS).glob("*.json"))


def claim_target(out: Path, option: str) -> Claim:
    """Claim a target, so that no other process writes it.

    Raises:
        DataError: If another process is writing it, or nothing can be written beside it.
    """
    claim = Claim(_lock(out))
    try:
        ours = claim.take()
    except OSError as error:
        raise _unwritable(out.parent, error, option) from error
    if not ours:
        raise DataError(f"another process is writing {out}; wait until it ends, or choose another folder for {option}.")
    return claim


def _lock(out: Path) -> Path:
    return _place(out) / f".{out.name}.lock"


def _place(out: Path) -> Path:
    """Return where locks and drafts go: beside the target, or into it where that is not allowed."""
    beside = os.access(out.parent, os.W_OK | os.X_OK) or not out.is_dir()
    return out.parent if beside else out


def _unwritable(place: Path, error: OSError, option: str) -> DataError:
    return DataError(f"cannot write to {place}: {error.strerror}; choose another folder for {option}.")


def _draft_place(out: Path, draft: Path | None = None) -> Path:
    """Return the folder that drafts go to: beside the target, or into it where it must stay the same folder."""
    stays = out.is_dir() and not _held(out, draft) and (os.path.ismount(out) or _is_current(out))
    return out if stays else _place(out)


def _make_draft(out: Path, job: Mapping[str, Any] | None) -> Path:
    draft = _draft_place(out) / f".{out.name}.unfinished-{secrets.token_hex(4)}"
    _drafts.add(draft)
    try:
        draft.mkdir()
        (draft / MARKER).touch()
        if job is not None:
            write_whole(draft / MARKER, json.dumps(job).encode())
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        _drafts.discard(draft)
        raise
    return draft


def _is_current(out: Path) -> bool:
    """Return whether commands run in a folder; they would not see what takes its place."""
    with suppress(OSError):
        return Path.cwd() == out
    return False


def _held(out: Path, draft: Path | None = None) -> list[Path]:
    """List what a folder holds besides a lock and a draft."""
    return [path for path in out.iterdir() if path not in (_lock(out), draft)]


def check_free(out: Path, force: bool | None, option: str, draft: Path | None = None) -> None:
    """Raise DataError unless a folder is empty or missing, or is a dataset that may be replaced."""
    if not os.path.lexists(out) or (out.is_dir() and not _held(out, draft)):
        return
    if not out.is_dir():
        raise DataError(f"{out} is a file; choose a folder for {option}.")
    if not force:
        advice = "" if force is None else " or replace it with --force"
        raise DataError(f"{out} is not empty; choose another folder{advice}.")
    if not is_dataset(out):
        state = "changed, or not written by storyproof" if (out / MANIFEST).exists() else "missing"
        raise DataError(
            f"{out} is not a dataset that storyproof wrote ({MANIFEST} is {state}), so --force does not replace it; "
            f"choose another folder for {option}."
        )
    if os.path.ismount(out) or _place(out) == out:
        raise DataError(
            f"{out} cannot be replaced in one step (it is a mount point, or the folder that it is in is read-only); "
            f"choose a folder inside it for {option}."
        )
    if others := foreign_files(out):
        raise DataError(
            f"{out} has files that storyproof did not write, or that were changed since: {_some(others)}; --force does "
            f"not remove them, so move them away or choose another folder for {option}."
        )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _put_in_place(draft: Path, out: Path) -> None:
    _drafts.discard(draft)  # from here on a draft may hold what was there before
    if draft.parent == out:
        _move_files(draft, out)
        return
    try:
        old = out.is_dir() and bool(_held(out))
        if out.is_dir():
            draft.chmod(stat.S_IMODE(out.stat().st_mode))
        if old:
            (draft / MARKER).unlink()
            draft = _swap(draft, out)
        else:
            _move_to_free_place(draft, out)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    if old and (left := remove_dataset(draft)):
        _log.warning("storyproof: %s was changed meanwhile, so the old files are kept in %s.", _some(left), draft)


def _move_to_free_place(draft: Path, out: Path) -> None:
    """Move a draft to where nothing is, or an empty folder.

    Its marker is beside it meanwhile: not every folder has a manifest that tells whose it is.
    """
    marker = (draft / MARKER).rename(_marker_beside(draft))
    try:
        if os.name == "nt" and out.is_dir():  # elsewhere a folder may take an empty one's place, in one step
            out.rmdir()
        draft.rename(out)
    finally:
        marker.unlink()


def _marker_beside(draft: Path) -> Path:
    return draft.with_name(draft.name + _WHOLE)


def _swap(draft: Path, out: Path) -> Path:
    """Let a draft take a dataset's place; return where the old one is now."""
    if exchange(draft, out):
        return draft
    old = out.with_name(f".{out.name}.old-{secrets.token_hex(4)}")
    out.rename(old)
    try:
        draft.rename(out)
    except BaseException:
        old.rename(out)
        raise
    return old


def _move_files(draft: Path, out: Path) -> None:
    """Move files into a folder that must stay the same one; the manifest comes last."""
    paths = sorted(draft.iterdir(), key=lambda path: path.name == MANIFEST)
    try:
        files = {str(path.relative_to(draft)): file_sha256(path) for path in draft.rglob("*") if path.is_file()}
        write_whole(draft / MARKER, json.dumps({"storyproof": __version__, "files": files}).encode())
        for path in paths:
            if path.name != MARKER:
                path.rename(out / path.name)
    except BaseException:
        _take_back(draft, out)
        shutil.rmtree(draft, ignore_errors=True)
        raise
    shutil.rmtree(draft)


def _take_back(draft: Path, out: Path) -> None:
    """Remove the files that were moved from a draft into its target before all of them were."""
    if not [path for path in draft.iterdir() if path.name != MARKER]:
        return  # all were
    try:
        moved = parse_json(read_bytes(draft / MARKER))["files"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    for name, sha256 in moved:
        path = out / name
        if is_inside(name) and name != MARKER and path.is_file() and file_sha256(path) == sha256:
            path.unlink()
            with suppress(OSError):
                path.parent.rmdir()  # a folder of its own, if that was its last file


def _is_leftover(path: Path, out: Path) -> bool:
    name = rf"\.{re.escape(out.name)}\.(unfinished|old)-[a-z0-9_]{{8}}"
    return re.fullmatch(name, path.name) is not None and path.is_dir() and not path.is_symlink()


def _is_marker_beside(path: Path, out: Path) -> bool:
    name = rf"\.{re.escape(out.name)}\.unfinished-[a-z0-9_]{{8}}{re.escape(_WHOLE)}"
    return re.fullmatch(name, path.name) is not None and path.is_file() and not path.stat().st_size


def _settle_leftovers(out: Path, force: bool, option: str, job: Mapping[str, Any] | None) -> Path | None:
    """Restore or remove what stopped processes left of a claimed target, and name it.

    Returns:
        A draft of the same job, to go on with.

    Raises:
        DataError: If there are finished shards of another job, and `force` is not set.
    """
    same = None
    for place in (out.parent, out):
        entries = sorted(place.iterdir()) if place.is_dir() else []
        for path in entries:
            if not _is_leftover(path, out):
                continue
            if _is_resumable(path):
                if same is None and _job_of(path) == job and path.parent == _draft_place(out, path):
                    same = path
                    continue
                if not force:
                    raise DataError(unfinished_job(out, _job_of(path) or {}, job or {}, option))
            _log.warning("storyproof: %s", _settle(path, out))
        for path in entries:  # after the folders that they belong to
            if _is_marker_beside(path, out):
                path.unlink()
                _log.warning("storyproof: removed %s, which a run that was killed had left.", path)
    if same is not None:
        _drafts.add(same)
    return same


def unfinished_job(out: object, begun: Mapping[str, Any], job: Mapping[str, Any], option: str = "--out") -> str:
    """Return what is wrong where a dataset of another job is unfinished."""
    name = next((name for name in sorted({*begun, *job}) if begun.get(name) != job.get(name)), "folder")
    replaced = ", replace it with --force," if option == "--out" else ""
    return (
        f"{out} contains an unfinished dataset of another command: its {name} is {begun.get(name)}, and now "
        f"{job.get(name)}; run that command again to finish it{replaced} or choose another folder for {option}."
    )


def _settle(path: Path, out: Path) -> str:
    """Restore or remove one leftover, and return what was done."""
    if ".old-" in path.name and not out.exists():
        path.rename(out)
        return f"restored {out} from {path.name}, where a run that was killed had left it."
    if (path / MARKER).is_file() or _marker_beside(path).is_file():
        if path.parent == out:
            _take_back(path, out)
        shutil.rmtree(path, ignore_errors=True)
    elif not any(path.iterdir()):
        path.rmdir()
    elif not is_dataset(path) or remove_dataset(path):
        return f"kept {path}, which has files that storyproof did not write or that were changed; look at them."
    return f"removed {path}, which a run that was killed had left."
