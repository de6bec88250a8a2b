"""Preregistrations: all that is decided before the first participant, with hashes."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.io.atomic_files import json_bytes, whole_file, writing_to
from storyproof.study.folder import Study
from storyproof.study.items import MAIN

_ASSIGNMENT = (
    "Participants are assigned to the condition with the fewest participants that has items left; ties are broken by a "
    "hash of the seed. An item is given to as many participants of each condition as answers_per_item says. Each "
    "participant gets the kind of item that they have had least; within it items with the fewest answers, in a random "
    "order that depends on seed and participant."
)
_ANALYSIS = (
    "Accuracy by condition and kind of item with 95% intervals over participants. An answer after the time limit "
    "counts as wrong. A story is accepted if all reviewers find it good; agreement is Fleiss' kappa."
)


def preregistration(study: Study) -> dict[str, Any]:
    """Return all that was decided before the first participant, with hashes, as plain values for JSON."""
    return {
        "storyproof": __version__,
        "design": study.design.as_dict(),
        "design_sha256": study.design.sha256,
        "items": {
            "count": len(study.items),
            "sha256": study.items.sha256,
            "by_kind": dict(Counter(item.stratum for item in study.items.of(MAIN))),
        },
        "item_keys": [item.key for item in study.items.of(MAIN)],
        "assignment": _ASSIGNMENT,
        "exclusion_rules": asdict(study.design.exclusions),
        "analysis": _ANALYSIS,
    }


def write_preregistration(study: Study, out: Path) -> None:
    """Write the preregistration as JSON.

    Raises:
        DataError: If it cannot be written.
    """
    with writing_to(out), whole_file(out) as file:
        file.write(json_bytes(preregistration(study)))
