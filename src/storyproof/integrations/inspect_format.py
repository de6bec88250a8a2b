"""The format `inspect`: samples that Inspect's `json_dataset` reads, written with the prompt that `evaluate` asks."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from storyproof.example import Example
from storyproof.formats.inspect_jsonl import Inspect, as_sample
from storyproof.formats.jsonl import JsonlSplit


class InspectSplit(JsonlSplit):
    """Writes one split."""

    def __init__(self, folder: Path, split: str) -> None:
        from storyproof.solvers.llm.prompt import prompt  # all commands import formats; few write in this one

        super().__init__(folder, split)
        self._prompt = prompt

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        for row in table.to_pylist():
            sample = as_sample(row, self._prompt(Example.from_row(row)).chat)
            self._file.write(json.dumps(sample, ensure_ascii=False) + "\n")


class InspectSamples(Inspect):
    """Samples of evaluation frameworks, read and written."""

    keeps_all = True

    def writer(self, folder: Path, split: str) -> InspectSplit:
        """Return what writes one file."""
        return InspectSplit(folder, split)


FORMAT = InspectSamples()
