"""The pictures that go with a row: a timeline of beliefs, or families in which its label holds and does not hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from storyproof.errors import DataError, StoryproofError
from storyproof.example import Example
from storyproof.kinship.families import Family
from storyproof.kinship.relations import NAMES, word
from storyproof.report import family_tree, timeline
from storyproof.report.pictures.belief_timeline import belief_timeline
from storyproof.report.pictures.family_tree import family_picture


class Picture(NamedTuple):
    """A picture and what there is to say of it, as plain text."""

    caption: str
    svg: str


def story_pictures(
    examples: Sequence[Example], marked: Collection[int] = (), *, answers: tuple[str, str] | None = None
) -> list[Picture]:
    """Draw the story of a row.

    Args:
        examples: The questions of one story, that of the row last; its answer is the label that is looked at.
        marked: The deciding sentences, from 1.
        answers: The label and the right answer, where they differ.

    Raises:
        DataError: If there is nothing to draw, with the reason.
    """
    row = examples[-1]
    try:
        if row.edges is not None:
            return _family_pictures(row)
        drawn = belief_timeline(timeline.lay_out(list(examples)), marked, asked=row.chain, answers=answers)
    except (StoryproofError, LookupError, ValueError) as error:  # rows may name people and things that are not there
        reason = str(error) if isinstance(error, StoryproofError) else f"its text does not fit its question ({error})"
        raise DataError(reason) from error
    return [Picture("Who is where and who believes what after each sentence, under the default readings", drawn)]


def proof_path(example: Example) -> list[int]:
    """Give the people through whom a proof of kinship goes; without a proof, those of the chain."""
    names = [each.rpartition(":")[0] for each in example.genders or ()]
    if not example.proof_steps or not example.query:
        return [] if example.k is None else list(range(min(example.k + 1, len(names))))
    steps = list(example.proof_steps)
    first, second = map(names.index, example.query)
    path, ahead = [first], [(first, second)]
    while ahead:
        one, other = ahead.pop()
        step = next((step for step in steps if (step[0], step[2]) == (one, other)), None)
        if step is None:
            path.append(other)
        else:
            steps.remove(step)  # so that a proof that goes in circles comes to an end
            ahead += [(step[1], other), (one, step[1])]
    return path


def _family_pictures(row: Example) -> list[Picture]:
    """Draw families that fit a story: one in which the label holds, and one in which it does not."""
    told = len(row.edge_types or ())  # published rows do not say what the people of their noise are to each other
    row = replace(row, edges=(row.edges or [])[:told], edge_types=(row.edge_types or [])[: len(row.edges or [])])
    verdict = family_tree.lay_out(row).verdict
    if verdict is None or row.query is None:
        raise DataError("strict kinship does not know all words of the row, or the row lacks its facts.")
    names = [each.rpartition(":")[0] for each in row.genders or ()]
    asked = names.index(row.query[0]), names.index(row.query[1])
    label = f"{row.query[1]} is {row.query[0]}'s {row.answer}"
    held = [] if verdict.fits is None else [(f"A family that fits the story; the label holds: {label}.", verdict.fits)]
    if verdict.against is not None:
        truth = _say(verdict.against, asked, row.answer)
        held.append((f"A family that fits the story; the label does not hold: {truth}.", verdict.against))
    if not held:
        raise DataError("no family fits the story.")
    return [Picture(caption, family_picture(family, asked, proof_path(row))) for caption, family in held]


def _say(family: Family, asked: tuple[int, int], label: str) -> str:
    """Say what the second of two people is to the first in a family, rather than what is labelled."""
    first, second = (family.people[person].name for person in asked)
    found = family.relations(*asked)
    words = [word(each, family.people[asked[1]].gender) for each in NAMES if each in found]
    if not words:
        return f"{second} is not {first}'s {label}, nor anything else that has a word"
    return f"{second} is {first}'s {' and '.join(words)}, not {label}"
