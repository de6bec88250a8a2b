"""Stories of the narrator with what they state, for tests of the reader."""

from __future__ import annotations

from typing import Any, NamedTuple

from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.language.reading import Reading
from storyproof.families.kinship.people import parse_people
from storyproof.families.kinship.relations import inverse, predicate_of

Canonical = tuple[str, str, str]


class Narrated(NamedTuple):
    """A story, its people, their genders, its facts and the person asked about."""

    text: str
    names: tuple[str, ...]
    genders: dict[str, str]
    facts: frozenset[Canonical]
    asked: str


def canonical(first: str, predicate: str, second: str) -> Canonical:
    """Return a fact or its inverse, whichever comes first."""
    return min((first, predicate, second), (second, inverse(predicate), first))


def facts_of(reading: Reading) -> frozenset[Canonical]:
    return frozenset(canonical(fact.first, fact.predicate, fact.second) for fact in reading.facts)


def narrate(
    count: int,
    lengths: tuple[int, ...],
    task: str,
    *,
    split: str = "train",
    seed: int = 1,
    block: int = 0,
    **options: Any,
) -> list[Narrated]:
    """Return stories of a split as `generate clutrr` makes them."""
    config = ClutrrConfig(train_k=lengths, test_k=lengths, holdout=False, task=task, **options)
    benchmark = Clutrr(config, seed)
    benchmark.block_stories = count
    columns = ["story", "genders", "edges", "edge_types", "query"]
    found = []
    for row in benchmark.block(split, block).select(columns).to_pylist():
        names, genders = parse_people(row["genders"])
        facts = frozenset(
            canonical(names[first], predicate_of(word), names[second])
            for (first, second), word in zip(row["edges"], row["edge_types"], strict=True)
        )
        found.append(Narrated(row["story"], names, dict(zip(names, genders, strict=True)), facts, row["query"][1]))
    return found


def check(story: Narrated, reading: Reading) -> str | None:
    """Return what a reading gets wrong."""
    if facts_of(reading) != story.facts:
        return f"facts: {facts_of(reading) ^ story.facts}"
    if any(story.genders[name] != gender for name, gender in reading.genders.items()):
        return f"genders: {reading.genders}"
    if story.asked not in reading.genders:
        return f"the gender of {story.asked} is not shown"
    return None
