"""What becomes of accepted stories: placeholders for `generate` and scenes of their context, both divided by writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from storyproof.families.paraphrasing import WritingTask
from storyproof.generation.seeds import digest
from storyproof.io.atomic_files import json_bytes
from storyproof.study.folder import Study
from storyproof.study.items import find_paraphrasing
from storyproof.study.results import ReviewedText, StudyRows

TEST_SHARE = 0.2  # of the accepted stories, by writer
SCENES = ("scenes-train", "scenes-test")


def split_writers(
    study: Study, texts: Sequence[ReviewedText], rows: StudyRows
) -> tuple[list[Row[Any]], list[Row[Any]]]:
    """Divide accepted stories into train and test by writer; about a fifth goes to test, never all of them."""
    by_writer: dict[str, list[Row[Any]]] = {}
    for each in texts:
        if each.is_accepted:
            by_writer.setdefault(rows.participants[each.row.participant_id].code, []).append(each.row)
    order = sorted(by_writer, key=lambda code: digest("study-writers", study.design.seed, code))
    total = sum(map(len, by_writer.values()))
    train: list[Row[Any]] = []
    test: list[Row[Any]] = []
    for place, code in enumerate(order):
        room = len(test) < TEST_SHARE * total and place < len(order) - 1
        (test if room else train).extend(by_writer[code])
    return train, test


def collect_placeholders(study: Study, sides: Sequence[Sequence[Row[Any]]], notes: list[str]) -> dict[str, bytes]:
    """Return the files of placeholders for train and test; add to the notes what a user should know."""
    asked = find_paraphrasing(study.items[0].family)
    found: dict[str, bytes] = {}
    for name, side in zip(("train", "test"), sides, strict=True):
        collected = asked.collect([(_task(study, row), row.text) for row in side], fill=name)
        found[f"placeholders-{name}.json"] = json_bytes(collected.document)
        notes.append(
            f"placeholders-{name}.json: {collected.used} accepted stories, {len(collected.left_out)} left out because "
            f"generate would refuse them, {collected.added} of ours added for facts that nobody wrote about."
        )
    notes.append("Use them: " + asked.use_texts.format(train="placeholders-train.json", test="placeholders-test.json"))
    return found


def collect_scenes(study: Study, sides: Sequence[Sequence[Row[Any]]], notes: list[str]) -> dict[str, bytes]:
    """Return a scene for each accepted story that says what is going on, in a folder for train and one for test.

    What a user should know is added to the notes.
    """
    asked = find_paraphrasing(study.items[0].family)
    found: dict[str, bytes] = {}
    counts: dict[str, int] = {}
    for folder, side in zip(SCENES, sides, strict=True):
        scenes = {row.id: asked.scene(_task(study, row), row.text) for row in side}
        files = {f"{folder}/story-{number}.yaml": scene for number, scene in scenes.items() if scene is not None}
        found |= {name: scene.content.encode() for name, scene in files.items()}
        counts[folder] = len(files)
        if files:
            phrases = sum(scene.phrases for scene in files.values())
            notes.append(f"{folder}: {len(files)} with {phrases} phrases of writers, filled up with ours.")
    if all(counts.values()):
        notes.append("Use them: " + asked.use_scenes.format(train=SCENES[0], test=SCENES[1]))
    elif found:
        [missing] = [folder for folder, count in counts.items() if not count]
        notes.append(
            f"There is no {missing}: scenes of train and test must be by different writers. More accepted stories of "
            "other writers are needed."
        )
    return found


def _task(study: Study, row: Row[Any]) -> WritingTask:
    return study.items[row.item].writing_task()
