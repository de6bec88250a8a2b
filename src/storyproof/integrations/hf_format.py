"""The format `hf`: a folder that `datasets.load_dataset` opens, with a dataset card and Croissant metadata.

The data are the Parquet files of the format `parquet`, so that all commands read the folder.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid5

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.catalog import load_version
from storyproof.example import plain
from storyproof.families.family import load_family
from storyproof.formats.parquet import Parquet

LICENCE = "apache-2.0"
LICENCE_URL = "https://www.apache.org/licenses/LICENSE-2.0"
CANARY = UUID("c2fac4af-27bb-4b0a-885e-3265dd935c51")  # the same in all datasets of storyproof
COLUMNS = {
    "id": "unique in the dataset",
    "story_id": "the same for all questions of a story",
    "benchmark": "the benchmark",
    "split": "train, val or test",
    "story": "one sentence per line",
    "question": "what is asked",
    "answer": "the answer that is proved",
    "candidates": "the possible answers",
    "question_type": "the type of the question",
    "order": "through how many minds the question goes",
    "chain": "whose minds, outermost first",
    "story_type": "the type of the story",
    "false_belief": "whether the belief that is asked for is false",
    "readings": "all readings under which the answer is right",
    "proof": "the numbers of the sentences that prove the answer, counted from 1",
}
_HEADS = ("World", "Questions", "Readings", "Splits", "Known artefacts", "Sources", "Source")
_ARTEFACTS = "Known artefacts"
_LONGEST = 120  # characters of a setting that a card shows


class CardColumn(NamedTuple):
    """A column of a dataset."""

    name: str
    type: pa.DataType
    about: str


class DatasetFacts:
    """What is known about a dataset.

    Args:
        manifest: Its manifest.
    """

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.manifest = manifest
        self.benchmark: type[Benchmark] = load_version(manifest["benchmark"], manifest["version"])
        self.family = load_family(self.benchmark.family)
        self.name = f"storyproof-{manifest['benchmark']}-v{manifest['version']}-seed{manifest['seed']}"
        self.title = f"{manifest['benchmark']} by storyproof, version {manifest['version']}, seed {manifest['seed']}"
        paragraphs = (inspect.getdoc(self.benchmark) or "").split("\n\n")
        self.summary, *self.paragraphs = [" ".join(each.split()) for each in paragraphs]

    @property
    def artefacts(self) -> str:
        """What is known to be peculiar about the data."""
        return next((each for each in self.paragraphs if each.startswith(_ARTEFACTS)), "")

    @property
    def source(self) -> str:
        """What the benchmark is after, such as a paper."""
        return next((each.partition(": ")[2] for each in self.paragraphs if each.startswith("Source")), "")

    @property
    def questions(self) -> int:
        """How many questions there are in all."""
        return sum(entry["questions"] for entry in self.manifest["splits"].values())

    @property
    def columns(self) -> list[CardColumn]:
        """The columns of the data files."""
        return [
            CardColumn(field.name, plain(field.type), COLUMNS.get(field.name, f"a column of {self.family.title}"))
            for field in self.benchmark.schema
        ]

    @property
    def canary(self) -> str:
        """A text by which the data can be found in a corpus: a GUID of storyproof, and one of this dataset."""
        hashes = [entry["content_sha256"] for entry in self.manifest["splits"].values()]
        own = uuid5(CANARY, json.dumps([self.manifest["benchmark"], *hashes]))
        return (
            "Benchmark data. Test splits should never appear in training corpora. "
            f"storyproof canary GUID {CANARY}, dataset GUID {own}"
        )

    def settings(self) -> Iterator[tuple[str, str]]:
        """Yield the settings, as far as they are short."""
        for name, value in self.manifest["config"].items():
            text = json.dumps(value, ensure_ascii=False)
            yield name, text if len(text) <= _LONGEST else "see `manifest.json`"


def _share(facts: DatasetFacts, reading: str) -> str:
    """Return how many of the answers hold under a reading, if the manifest counts them."""
    holds = sum(entry.get("readings", {}).get(reading, 0) for entry in facts.manifest["splits"].values())
    return f" Right for {holds / facts.questions:.1%} of the answers." if holds and facts.questions else ""


def dataset_card(facts: DatasetFacts, header: str) -> str:
    """Return the card of a dataset as Markdown.

    Args:
        facts: What is known about it.
        header: The YAML between the dashes.
    """
    manifest = facts.manifest
    splits = [
        f"| `{split}` | {entry['stories']:,} | {entry['questions']:,} | `{entry['content_sha256'][:16]}…` |"
        for split, entry in manifest["splits"].items()
    ]
    types = [
        f"| `{split}` | {what.replace('_', ' ')} | {', '.join(f'{name} {count:,}' for name, count in counts.items())} |"
        for split, entry in manifest["splits"].items()
        for what, counts in entry.items()
        if isinstance(counts, Mapping) and all(isinstance(count, int) for count in counts.values())
    ]
    readings = [
        f"- `{name}`: {facts.family.readings.get(name, 'see the documentation')}{_share(facts, name)}"
        for name in manifest["readings"]
    ]
    return "\n".join(
        [
            f"---\n{header}---\n",
            f"# {facts.title}\n",
            f"{facts.summary} Every answer was derived by an oracle and confirmed by an independent checker.\n",
            "| split | stories | questions | content (sha256) |",
            "|---|---|---|---|",
            *splits,
            "",
            "| split | what is counted | counts |",
            "|---|---|---|",
            *types,
            "",
            "## About the data\n",
            *(f"{_bold(each)}\n" for each in facts.paragraphs),
            "## Readings\n",
            "Answers are judged under these readings; `readings` lists those under which an answer is right.\n",
            *readings,
            "",
            "## Settings\n",
            f"storyproof {manifest['storyproof']}, benchmark `{manifest['benchmark']}` version {manifest['version']}, "
            f"seed {manifest['seed']}. The same settings and seed give the same content on every machine.\n",
            *(f"- `{name}`: {value}" for name, value in facts.settings()),
            "",
            "## Columns\n",
            "| column | type | content |",
            "|---|---|---|",
            *(f"| `{each.name}` | {_type_name(each.type)} | {each.about} |" for each in facts.columns),
            "",
            "## Verify\n",
            "`verify` compares files with the manifest, reads every story, and derives every answer again by oracle "
            "and checker:\n",
            "```\npip install storyproof\nstoryproof verify PATH_OF_THIS_FOLDER\n```\n",
            "## Licence\n",
            f"[Apache-2.0]({LICENCE_URL}). The data are synthetic: people and events are invented.\n",
            "## Canary\n",
            f"{facts.canary}\n",
        ]
    )


def _type_name(kind: pa.DataType) -> str:
    return f"list of {_type_name(kind.value_type)}" if pa.types.is_list(kind) else str(kind)


def _bold(paragraph: str) -> str:
    """Return a paragraph with its heading in bold."""
    return re.sub(rf"^({'|'.join(_HEADS)})\b", r"**\1**", paragraph)


_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(facts: DatasetFacts) -> dict[str, Any]:
    """Return the metadata as JSON-LD: files with their hashes, and one record set per split."""
    manifest = facts.manifest
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts.name,
        "description": " ".join([facts.summary, *facts.paragraphs, facts.canary]),
        "license": LICENCE_URL,
        "version": f"{manifest['version']}.0.0",
        "keywords": ["storyproof", manifest["benchmark"], facts.family.title, "synthetic", "reasoning"],
        "inLanguage": "en",
        "creator": {"@type": "sc:Organization", "name": "The storyproof contributors"},
        **({"citeAs": facts.source} if facts.source else {}),
        "identifier": facts.canary.rsplit(" ", 1)[-1],
        "rai:dataLimitations": facts.artefacts,
        "rai:dataCollection": (
            f"Generated by storyproof {manifest['storyproof']} (benchmark {manifest['benchmark']}, version "
            f"{manifest['version']}, seed {manifest['seed']}; all settings in manifest.json)."
        ),
        "rai:dataAnnotationProtocol": (
            f"Answers are derived by an oracle and confirmed by an independent checker under the readings "
            f"{', '.join(map(str, manifest['readings']))}; `storyproof verify` repeats both from the text."
        ),
        "rai:personalSensitiveInformation": "None: people and events are invented.",
        "distribution": [
            *(_file(name, entry) for name, entry in manifest["files"].items()),
            *(_shards(split) for split, entry in manifest["splits"].items() if "shards" in entry),
        ],
        "recordSet": [_records(split, entry, facts.columns) for split, entry in manifest["splits"].items()],
    }


def _file(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": "application/x-parquet",
        "sha256": entry["sha256"],
    }


def _shards(split: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{split}-shards",
        "name": f"{split}-shards",
        "description": f"the shards of the split {split}",
        "encodingFormat": "application/x-parquet",
        "includes": f"{split}-*.parquet",
    }


def _records(split: str, entry: dict[str, Any], columns: list[CardColumn]) -> dict[str, Any]:
    place = (
        {"fileSet": {"@id": f"{split}-shards"}} if "shards" in entry else {"fileObject": {"@id": f"{split}.parquet"}}
    )
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": f"{entry['stories']:,} stories, {entry['questions']:,} questions",
        "key": {"@id": f"{split}/id"},
        "field": [_field(split, each, place) for each in columns],
    }


def _field(split: str, column: CardColumn, place: dict[str, Any]) -> dict[str, Any]:
    kind, depth = column.type, 0
    while pa.types.is_list(kind):
        kind, depth = kind.value_type, depth + 1
    name = "sc:Boolean" if pa.types.is_boolean(kind) else "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{column.name}",
        "name": column.name,
        "description": column.about,
        "dataType": name,
        **({"repeated": True} if depth else {}),
        "source": {**place, "extract": {"column": column.name}},
    }


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

        facts = DatasetFacts(manifest)
        card, metadata = folder / CARD, folder / CROISSANT
        card.write_text(dataset_card(facts, _header(facts)), encoding="utf-8", newline="\n")
        text = json.dumps(croissant(facts), indent=2, ensure_ascii=False) + "\n"
        metadata.write_text(text, encoding="utf-8", newline="\n")
        return [card, metadata]


def _header(facts: DatasetFacts) -> str:
    """Return the YAML that the hub and `load_dataset` read."""
    import yaml

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
