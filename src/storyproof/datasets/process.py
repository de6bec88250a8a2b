"""The verb `process`: raw files of any format to one JSON list per split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from storyproof import __version__
from storyproof.datasets.folders import whole_folder
from storyproof.datasets.frames import Data, data_name, takes_rows
from storyproof.datasets.manifest import file_sha256, write_manifest
from storyproof.datasets.path_conflicts import refuse_overlap
from storyproof.datasets.reading import Source, complete, find_sources
from storyproof.errors import DataError
from storyproof.example import WRITTEN
from storyproof.formats.format import SplitWriter, load_format
from storyproof.formats.json_list import FIELDS


@takes_rows("raw")
def process(
    raw: Data,
    out: str | Path = "processed_data",
    *,
    force: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Turn raw data into `train.json`, `val.json` and `test.json`, as far as there are such splits.

    Labels stay as they are given; question and story types that the raw files do not give are worked out.

    Args:
        raw: A folder with `.txt` and `.trace`, any other dataset folder, or a file; or rows in memory.
        out: The folder to write, whole or not at all; must not hold anything yet unless `force` is set.
        force: Replace a folder that storyproof wrote, if nothing was added to it or changed.
        progress: Told how many questions are done since the last time.

    Returns:
        The manifest: questions and stories of each split, and the files' hashes.

    Raises:
        DataError: If the raw data cannot be read or the folder cannot be written.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="raw", format="babi")
        >>> storyproof.process("raw", "data")["splits"]
        {'test': {'stories': 30, 'questions': 180}}
    """
    sources = find_sources(raw)
    is_here = Path(raw) == Path()  # as the usual script does, which writes into the folder that it is started in
    refuse_overlap([path for source in sources for path in source.paths] if is_here else [raw], out)
    json_format = load_format("json")
    splits: dict[str, Any] = {}
    files: list[Path] = []
    with whole_folder(Path(out), force) as folder:
        for source in sources:
            name = source.split or ("all" if len(sources) > 1 else source.files[0].stem)
            splits[name], written = _process(source, json_format.writer(folder, name), progress)
            files += written
        manifest = {
            "storyproof": __version__,
            "format": json_format.name,
            "raw": data_name(raw),
            "splits": splits,
            "files": {path.name: {"bytes": path.stat().st_size, "sha256": file_sha256(path)} for path in sorted(files)},
        }
        write_manifest(folder, manifest)
    return manifest


def _process(source: Source, writer: SplitWriter, progress: Callable[[int], None]) -> tuple[dict[str, int], list[Path]]:
    questions, stories = 0, 0
    try:
        for table in source.tables():
            table = _with_fields(table, source)
            writer.write(table)
            questions += table.num_rows
            stories += len(table.column("story_id").unique())
            progress(table.num_rows)
    finally:
        files = writer.close()
    if not questions:
        raise DataError(f"{source.name} contains no questions, so there is nothing to process.")
    return {"stories": stories, "questions": questions}, files


def _with_fields(table: pa.Table, source: Source) -> pa.Table:
    """Work out what the raw files do not say, if anything of what is written is missing."""
    if all(name in table.column_names and not table.column(name).null_count for name in FIELDS):
        return table
    try:
        table = complete(table)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from error
    if WRITTEN not in table.column_names:
        return table
    stories = pc.coalesce(table.column(WRITTEN), table.column("story"))
    return table.set_column(table.column_names.index("story"), "story", stories)
