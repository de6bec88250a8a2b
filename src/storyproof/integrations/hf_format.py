"""The format `hf`: a folder that `datasets.load_dataset` opens, with a dataset card and Croissant metadata.

The data are the Parquet files of the format `parquet`, so that all commands read the folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storyproof.formats.parquet import Parquet

if TYPE_CHECKING:
    from storyproof.integrations.dataset_card import DatasetFacts

CARD, CROISSANT = "README.md", "croissant.json"
SPLIT_NAMES = {"train": "train", "val": "validation", "test": "test"}  # as the hub calls them
_POWERS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")  # how the hub counts rows


class HuggingFace(Parquet):
    """A folder for Hugging Face's `datasets`."""

    name = "hf"
    suffixes = ()
    stored_as = Parquet.name

    def write_documents(self, folder: Path, manifest: Mapping[str, Any]) -> list[Path]:
        """Write the card and the Croissant metadata."""
        # All commands import formats; few write in this one.
        from storyproof.integrations.croissant import croissant
        from storyproof.integrations.dataset_card import DatasetFacts, dataset_card

        facts = DatasetFacts(manifest)
        card, metadata = folder / CARD, folder / CROISSANT
        card.write_text(dataset_card(facts, _header(facts)), encoding="utf-8", newline="\n")
        text = json.dumps(croissant(facts), indent=2, ensure_ascii=False) + "\n"
        metadata.write_text(text, encoding="utf-8", newline="\n")
        return [card, metadata]


def _header(facts: DatasetFacts) -> str:
    """Return the YAML that the hub and `load_dataset` read."""
    import yaml

    from storyproof.integrations.dataset_card import LICENCE

    splits = facts.manifest["splits"]
    header = {
        "pretty_name": facts.title,
        "license": LICENCE,
        "language": ["en"],
        "task_categories": ["question-answering"],
        "size_categories": [_size(facts.questions)],
        "tags": [
            "storyproof",
            facts.manifest["benchmark"],
            facts.family.title.replace(" ", "-"),
            "synthetic",
            "croissant",
        ],
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {
                        "split": SPLIT_NAMES[split],
                        "path": f"{split}-*.parquet" if "shards" in entry else f"{split}.parquet",
                    }
                    for split, entry in splits.items()
                ],
            }
        ],
    }
    return yaml.safe_dump(header, sort_keys=False, allow_unicode=True)


def _size(rows: int) -> str:
    """Return the size category of the hub: `n<1K`, `1K<n<10K`, and so on."""
    place = max(0, len(str(rows)) - 3)
    if place >= len(_POWERS):
        return f"n>{_POWERS[-1]}"
    return f"{_POWERS[place - 1]}<n<{_POWERS[place]}" if place else f"n<{_POWERS[0]}"


FORMAT = HuggingFace()
