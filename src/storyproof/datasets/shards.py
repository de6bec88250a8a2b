"""Writes a dataset in shards: many files per split, made anywhere and in any order, on any storage.

Until the manifest is there, the folder holds `.storyproof-unfinished`, which says what is being written, and in
`.storyproof-shards` a record of each shard that is done. So a run that was stopped resumes with the shards that are
missing. Which stories a shard has follows from the command alone: engine, number of workers, deaths of workers and
resumption change no byte.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storyproof.benchmark import Benchmark
from storyproof.datasets.content import ContentHash, DistinctStories
from storyproof.datasets.folders import MARKER, check_free, claim_target
from storyproof.datasets.manifest import MANIFEST, file_sha256, is_own_manifest, manifest_text, remove_dataset
from storyproof.datasets.writing import Progress, describe, tally_rows, writable_format, writable_formats
from storyproof.engines import Engine
from storyproof.errors import ConfigError, DataError
from storyproof.example import SPLITS
from storyproof.formats.format import Format
from storyproof.inputs import parse_json, resolved
from storyproof.storage import StoredFolder, is_url

_log = logging.getLogger(__name__)
RECORDS = ".storyproof-shards"
_USUAL_SHARDS = 64  # of a split, so that small datasets are divided as well
_MOST_BLOCKS = 160  # of a shard: 983,040 stories, some hundred megabytes


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a split: whole blocks, in one file.

    Attributes:
        split: Which split.
        number: Which of its shards, from 0.
        of: How many shards the split has.
        first: Its first block.
        blocks: How many blocks it has; the last block of a split may be shorter.
    """

    split: str
    number: int
    of: int
    first: int
    blocks: int

    @property
    def name(self) -> str:
        """The stem of its file."""
        return f"{self.split}-{self.number:05d}-of-{self.of:05d}"


def plan_shards(benchmark: Benchmark, counts: Mapping[str, int], stories: int | None = None) -> list[Shard]:
    """Return the shards of a dataset, in order.

    Args:
        benchmark: What is made.
        counts: Stories for each split.
        stories: How many a shard has, rounded up to whole blocks; by default a 64th of the split, at most 983,040.
    """
    found = []
    for split in SPLITS:
        blocks = benchmark.block_count(counts.get(split, 0))
        if not blocks:
            continue
        size = min(_MOST_BLOCKS, -(-blocks // _USUAL_SHARDS)) if stories is None else benchmark.block_count(stories)
        of = -(-blocks // size)
        found += [Shard(split, number, of, number * size, min(size, blocks - number * size)) for number in range(of)]
    return found


@dataclass(frozen=True, slots=True)
class _Write:
    """Makes and stores shards; called where an engine likes.

    Attributes:
        benchmark: What is made.
        counts: Stories for each split.
        format: The name of the format.
        folder: Where shards are stored.
    """

    benchmark: Benchmark
    counts: Mapping[str, int]
    format: str
    folder: StoredFolder

    def __call__(self, shard: Shard) -> dict[str, Any]:
        """Make a shard, store it, and store and return its record."""
        benchmark, count = self.benchmark, self.counts[shard.split]
        content, distinct = ContentHash(), DistinctStories(benchmark, shard.split)
        counted: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in benchmark.counted}
        questions = 0
        with self.folder.scratch() as scratch:
            writer = writable_format(type(benchmark), self.format).writer(scratch, shard.name)
            try:
                for index in range(shard.first, shard.first + shard.blocks):
                    table = benchmark.part(shard.split, count, index)
                    writer.write(table)
                    content.add(table)
                    distinct.add(table)
                    tally_rows(table, benchmark.counted, counted)
                    questions += table.num_rows
            finally:
                files = writer.close()
            distinct.check()
            [file] = files
            stories = questions // benchmark.rows_per_story(shard.split)
            record = {
                "file": file.name,
                "bytes": file.stat().st_size,
                "sha256": file_sha256(file),
                "stories": stories,
                "questions": questions,
                "content_sha256": content.hexdigest(),
                "counted": {name: [[list(key), size] for key, size in each.items()] for name, each in counted.items()},
            }
            self.folder.put(file, file.name)
        self.folder.write(_record_name(shard), json.dumps(record).encode())
        return record


def _record_name(shard: Shard) -> str:
    return f"{RECORDS}/{shard.name}.json"


def write_shards(
    benchmark: Benchmark,
    counts: Mapping[str, int],
    out: str | Path,
    engine: Engine,
    *,
    format_name: str = "parquet",
    shard_stories: int | None = None,
    force: bool = False,
    progress: Progress = lambda stories: None,
) -> dict[str, Any]:
    """Write a dataset in shards with its manifest, or finish one that was begun by the same command.

    Args:
        benchmark: What to make.
        counts: Stories for each split; 0 leaves a split out.
        out: A folder on this machine, or a URL such as `s3://bucket/folder`.
        engine: Where shards are made; one that was entered.
        format_name: parquet, jsonl, or another format that holds all columns in one file.
        shard_stories: How many stories a shard has, see `plan_shards`.
        force: Replace a dataset that storyproof wrote, if nothing was added to it or changed, or an unfinished one.
        progress: Called with how many stories are done since the last call.

    Returns:
        The manifest.

    Raises:
        ConfigError: If the counts or the format cannot be made.
        DataError: If the folder cannot be written, or holds something else.
    """
    kind = _shardable(type(benchmark), format_name)
    if shard_stories is not None and shard_stories < 1:
        raise ConfigError(f"--shard-stories is {shard_stories}; use 1 or more.")
    counts = benchmark.check_counts(counts)
    shards = plan_shards(benchmark, counts, shard_stories)
    about = describe(benchmark, counts, format_name)
    job = {**about, "stories": dict(counts), "shards": [shard.name for shard in shards if shard.number == 0]}
    job = json.loads(json.dumps(job))  # as it is read again
    with _claimed(out):
        folder = StoredFolder(out, RECORDS)
        records = _begin(folder, out, job, shards, force)
        if records:
            _log.warning("storyproof: resuming %s: %d of %d shards were done.", folder, len(records), len(shards))
        progress(sum(each["stories"] for each in records.values()))
        missing = [shard for shard in shards if shard.name not in records]
        for place, record in engine.run(_Write(benchmark, counts, format_name, folder), missing):
            records[missing[place].name] = record
            progress(record["stories"])
        manifest = {**about, **_summed(benchmark, counts, shards, records)}
        with folder.scratch() as scratch:
            for document in kind.write_documents(scratch, manifest):
                entry = {"bytes": document.stat().st_size, "sha256": file_sha256(document)}
                manifest["files"][document.name] = entry
                folder.put(document, document.name)
        folder.write(MANIFEST, manifest_text(manifest).encode())
        _end(folder)
    return manifest


def _shardable(benchmark: type[Benchmark], name: str) -> Format:
    """Return a format by name, if it can be written in shards: one file per shard, and nothing that lists them."""
    found = writable_format(benchmark, name)
    if not _in_shards(found):
        known = sorted(each for each, kind in writable_formats(benchmark).items() if _in_shards(kind))
        raise ConfigError(f"--format is '{name}', which is not written in shards; use {' or '.join(known)}.")
    return found


def _in_shards(kind: Format) -> bool:
    return kind.keeps_all and type(kind).write_documents is Format.write_documents


@contextmanager
def _claimed(out: str | Path) -> Iterator[None]:
    """Claim a folder on this machine. In a bucket two runs of one command only do the same twice."""
    if is_url(out):
        yield
        return
    try:
        claim = claim_target(resolved(Path(out)), "--out")
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error.strerror}; choose another folder for --out.") from error
    try:
        yield
    finally:
        claim.release()


def _begin(
    folder: StoredFolder, out: str | Path, job: Mapping[str, Any], shards: Sequence[Shard], force: bool
) -> dict[str, dict[str, Any]]:
    """Make a folder ready, and return the records of the shards that it has already, by their names."""
    sizes = folder.sizes()
    begun = _read_object(folder, MARKER) if MARKER in sizes else None
    if begun is None:
        _make_room(folder, out, sizes, force)
    elif begun == job:
        found = {}
        for shard in shards:
            record = _read_object(folder, _record_name(shard)) if _record_name(shard) in sizes else None
            if record is not None and sizes.get(record.get("file", "")) == record.get("bytes"):
                found[shard.name] = record
        return found
    elif force:
        _end(folder, [name for name in sizes if "/" not in name and _is_shard(name, begun)])
    else:
        differ = sorted(name for name in {*begun, *job} if begun.get(name) != job.get(name))
        name = differ[0]
        raise DataError(
            f"{folder} holds an unfinished dataset of another command: its {name} is {begun.get(name)}, and now "
            f"{job.get(name)}; run that command again to finish it, replace it with --force, or choose another folder."
        )
    folder.write(MARKER, json.dumps(job).encode())
    return {}


def _is_shard(name: str, job: Mapping[str, Any]) -> bool:
    """Return whether a file has the name of a shard of a job."""
    stem, _, suffix = name.partition(".")
    return bool(suffix) and stem.count("-of-") == 1 and stem.split("-")[0] in job.get("stories", {})


def _make_room(folder: StoredFolder, out: str | Path, sizes: Mapping[str, int], force: bool) -> None:
    """Raise DataError unless a folder is empty, or holds a dataset that may be replaced, which is then removed."""
    if folder.is_local and not is_url(out):
        place = resolved(Path(out))
        check_free(place, force, "--out")
        if place.is_dir() and any(place.iterdir()):
            remove_dataset(place)
        return
    if not sizes:
        return
    if not force:
        raise DataError(f"{folder} is not empty; choose another folder or replace it with --force.")
    manifest = _read_object(folder, MANIFEST) if MANIFEST in sizes else None
    if manifest is None or not is_own_manifest(manifest):
        raise DataError(
            f"{folder} is not a dataset that storyproof wrote, so --force does not replace it; choose another folder."
        )
    listed = {MANIFEST: sizes[MANIFEST], **{name: each.get("bytes") for name, each in manifest["files"].items()}}
    if others := sorted(name for name, size in sizes.items() if listed.get(name) != size):
        raise DataError(
            f"{folder} has files that storyproof did not write, or that were changed since, such as {others[0]}; "
            "--force does not remove them, so move them away or choose another folder."
        )
    folder.remove([MANIFEST, *manifest["files"]])  # the manifest first: what is left is then no dataset


def _end(folder: StoredFolder, more: Sequence[str] = ()) -> None:
    """Remove what belongs to unfinished datasets only, and some files."""
    folder.remove(more)
    folder.remove_folder(RECORDS)
    folder.remove([MARKER])


def _read_object(folder: StoredFolder, name: str) -> dict[str, Any] | None:
    """Read a JSON object; None if it is damaged or gone."""
    try:
        found = parse_json(folder.read(name) or b"")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _summed(
    benchmark: Benchmark,
    counts: Mapping[str, int],
    shards: Sequence[Shard],
    records: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what a manifest says about splits and files."""
    splits: dict[str, Any] = {}
    files: dict[str, Any] = {}
    for split in SPLITS:
        own = [records[shard.name] for shard in shards if shard.split == split]
        if not own:
            continue
        counted: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in benchmark.counted}
        for record in own:
            for name, found in record["counted"].items():
                for key, size in found:
                    counted[name][tuple(key)] += size
            listed = ("bytes", "sha256", "stories", "questions", "content_sha256")
            files[record["file"]] = {name: record[name] for name in listed}
        splits[split] = {
            "stories": counts[split],
            "questions": sum(record["questions"] for record in own),
            **benchmark.summary(counted),
            "shards": len(own),
        }
    return {"splits": splits, "files": dict(sorted(files.items()))}
