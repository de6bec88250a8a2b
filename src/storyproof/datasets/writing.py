"""Writes a dataset in shards, with its manifest: whole, or not at all.

On this machine everything is written to a draft that takes its place when all is done (`folders`). A bucket cannot
replace a folder in one step: there the manifest comes last, and until then the folder holds `.storyproof-unfinished`,
which says what is being written. The record of each finished shard is in `.storyproof-shards`, so a run that was
stopped resumes with the shards that are missing.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from storyproof import __version__
from storyproof.benchmark import Benchmark
from storyproof.datasets.folders import MARKER, RECORDS, unfinished_job, whole_folder
from storyproof.datasets.manifest import MANIFEST, file_sha256, is_own_manifest, manifest_text
from storyproof.datasets.shards import (
    Counts,
    Progress,
    Shard,
    ShardRecord,
    WriteShard,
    plan_shards,
    record_name,
    writable_format,
)
from storyproof.engines import Engine
from storyproof.engines.processes import Processes, available_cores
from storyproof.errors import ConfigError, DataError
from storyproof.example import SPLITS
from storyproof.formats.format import split_of
from storyproof.io.bounded_input import parse_json
from storyproof.io.storage import Folder, LocalFolder, RemoteFolder, as_place

_log = logging.getLogger(__name__)
_WORKER_BLOCKS = 4  # for which a worker process pays: starting one takes as long as making some blocks


def write_dataset(
    benchmark: Benchmark,
    counts: Mapping[str, int],
    out: str | Path,
    *,
    engine: Engine | None = None,
    format_name: str = "parquet",
    shard_stories: int | None = None,
    force: bool = False,
    progress: Progress = lambda stories: None,
) -> dict[str, Any]:
    """Write a dataset folder with its manifest, or finish one that was begun by the same command.

    Args:
        benchmark: What to make.
        counts: Stories for each split; 0 leaves a split out.
        out: A folder on this machine, or a URL such as `s3://bucket/folder`.
        engine: Where shards are made; one that was entered. By default here.
        format_name: parquet, jsonl, one of another package, or an original format of the benchmark, babi or csv.
        shard_stories: How many stories a shard has, see `plan_shards`.
        force: Replace a dataset that storyproof wrote, if nothing was added to it or changed, or an unfinished one.
        progress: Called with the number of stories done since the last call.

    Returns:
        The manifest.

    Raises:
        ConfigError: If the counts or the format cannot be made.
        DataError: If the folder cannot be written, or holds something else.
    """
    form = writable_format(type(benchmark), format_name)
    if shard_stories is not None and shard_stories < 1:
        raise ConfigError(f"--shard-stories is {shard_stories}; use 1 or more.")
    counts = benchmark.check_counts(counts)
    shards = plan_shards(benchmark, counts, shard_stories)
    about = describe(benchmark, format_name)
    firsts = [shard.name for shard in shards if shard.number == 0]
    job = json.loads(json.dumps({**about, "stories": dict(counts), "shards": firsts}))  # as it is read again
    with _target(out, job, force, is_divided=any(shard.of > 1 for shard in shards)) as folder:
        records = _finished(folder, shards)
        if records:
            _log.warning("storyproof: resuming %s: %d of %d shards were done.", out, len(records), len(shards))
            progress(sum(record.stories for record in records.values()))
        missing = [shard for shard in shards if shard.name not in records]
        stories_reported = 0  # stories of which this process has heard while it made them

        def tell(stories: int) -> None:
            nonlocal stories_reported
            stories_reported += stories
            progress(stories)

        work = WriteShard(benchmark, counts, format_name, folder, tell)
        items = [None, *missing]  # first the benchmark's notes, since it may draw stories for them
        with closing((engine or Processes()).run(work, items)) as results:  # type: ignore[type-var]
            for place, result in results:
                if isinstance(result, ShardRecord):
                    records[missing[place - 1].name] = result
                    if not stories_reported:
                        progress(result.stories)
                    stories_reported = 0
                else:
                    about |= result
        manifest = {**about, **_summed(benchmark, counts, shards, records)}
        with folder.scratch() as scratch:
            for document in form.write_documents(scratch, manifest):
                entry = {"bytes": document.stat().st_size, "sha256": file_sha256(document)}
                manifest["files"][document.name] = entry
                folder.put(document, document.name)
        manifest["files"] = dict(sorted(manifest["files"].items()))
        folder.write(MANIFEST, manifest_text(manifest).encode())
    return manifest


def usual_workers(benchmark: Benchmark, counts: Mapping[str, int]) -> int:
    """Return how many worker processes a dataset is worth, at most one for each core."""
    blocks = sum(benchmark.block_count(max(0, count)) for count in counts.values())
    return max(1, min(available_cores(), blocks // _WORKER_BLOCKS))


def describe(benchmark: Benchmark, format_name: str) -> dict[str, Any]:
    """Return what a manifest says about a dataset besides its splits and files, and the benchmark's notes."""
    return {
        "storyproof": __version__,
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "seed": benchmark.seed,
        "config": benchmark.config.as_dict(),
        "readings": list(benchmark.readings),
        "format": format_name,
    }


@contextmanager
def _target(out: str | Path, job: Mapping[str, Any], force: bool, *, is_divided: bool) -> Iterator[Folder]:
    """Open the folder that shards are written to; it becomes the dataset if all goes well."""
    place = as_place(out)
    if isinstance(place, Path):
        with whole_folder(place, force, job=job if is_divided else None) as draft:
            yield LocalFolder(draft, RECORDS)
        return
    folder = RemoteFolder(place)
    _begin(folder, job, force)
    yield folder
    _clear(folder)


def _begin(folder: RemoteFolder, job: Mapping[str, Any], force: bool) -> None:
    """Make a folder at a URL ready, unless the same job has begun there. Two runs of one job only do the same twice."""
    sizes = folder.sizes()
    begun = _read_object(folder, MARKER) if MARKER in sizes else None
    if begun == job:
        return
    if begun is None:
        _make_room(folder, sizes, force)
    elif force:
        records = [_read_object(folder, name) or {} for name in sizes if name.startswith(f"{RECORDS}/")]
        written = {name for record in records for name in record.get("files", ())}
        splits = begun.get("stories", {})
        folder.remove(sorted(name for name in sizes if name in written or _is_shard(name, splits)))
        _clear(folder)
    else:
        raise DataError(unfinished_job(folder, begun, job))
    folder.write(MARKER, json.dumps(job).encode())


def _is_shard(name: str, splits: Mapping[str, int]) -> bool:
    """Return whether a file has the name of a shard of some splits: one may be there without its record."""
    path = PurePosixPath(name)
    if len(path.parts) > 1 or not path.suffix:
        return False
    return path.stem in splits or ("-of-" in path.stem and split_of(Path(name)) in splits)


def _make_room(folder: RemoteFolder, sizes: Mapping[str, int], force: bool) -> None:
    """Raise DataError unless a folder is empty, or holds a dataset that may be replaced, which is then removed."""
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


def _clear(folder: RemoteFolder) -> None:
    """Remove what belongs to unfinished datasets only."""
    folder.remove_folder(RECORDS)
    folder.remove([MARKER])


def _read_object(folder: Folder, name: str) -> dict[str, Any] | None:
    """Read a JSON object; None if it is damaged or gone."""
    try:
        value = parse_json(folder.read(name) or b"")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _finished(folder: Folder, shards: Sequence[Shard]) -> dict[str, ShardRecord]:
    """Return the records of the shards that a folder has already, by their names."""
    sizes = folder.sizes()
    records = {}
    for shard in shards:
        content = folder.read(record_name(shard)) if record_name(shard) in sizes else None
        record = ShardRecord.from_json(content, sizes) if content is not None else None
        if record is not None:
            records[shard.name] = record
    return records


def _summed(
    benchmark: Benchmark, counts: Mapping[str, int], shards: Sequence[Shard], records: Mapping[str, ShardRecord]
) -> dict[str, Any]:
    """Return what a manifest says about splits and files."""
    splits: dict[str, Any] = {}
    files: dict[str, Any] = {}
    for split in SPLITS:
        own = [records[shard.name] for shard in shards if shard.split == split]
        if not own:
            continue
        counted: Counts = {name: Counter() for name in benchmark.counted}
        for record in own:
            for name, amount in record.counted.items():
                counted[name].update(amount)
            numbers = {"stories": record.stories, "questions": record.questions}
            of_shard = {**numbers, "content_sha256": record.content_sha256} if len(own) > 1 else {}
            if doubled := files.keys() & record.files.keys():
                raise ConfigError(
                    f"the format gives two shards of '{split}' the same file, {min(doubled)}; give a larger "
                    "--shard-stories, so that there is one, or choose another --format."
                )
            files |= {name: {**entry, **of_shard} for name, entry in record.files.items()}
        splits[split] = {
            "stories": counts[split],
            "questions": sum(record.questions for record in own),
            **benchmark.summary(counted),
            "content_sha256": _hash_of([record.content_sha256 for record in own]),
            **({"shards": len(own)} if len(own) > 1 else {}),
        }
    return {"splits": splits, "files": files}


def _hash_of(shards: Sequence[str]) -> str:
    """Return the hash of the content of a split: that of its only shard, or one over those of all shards in order."""
    return shards[0] if len(shards) == 1 else hashlib.sha256("".join(shards).encode()).hexdigest()
