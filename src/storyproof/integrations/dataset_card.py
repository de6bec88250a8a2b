"""What a dataset is, in words: from its manifest and from what its benchmark says about itself."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID, uuid5

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.catalog import load_version
from storyproof.example import plain
from storyproof.families.family import load_family

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
