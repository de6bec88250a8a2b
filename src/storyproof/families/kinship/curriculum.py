"""What a small model learns to read and compose relations from: stories of `clutrr`, with facts in both directions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.placeholders import load_placeholders
from storyproof.families.kinship.relations import WORDS, inverse, predicate_of, word

__all__ = ["WORDS", "KinshipCurriculum", "KinshipLesson"]


@dataclass(frozen=True, slots=True)
class KinshipLesson:
    """A story.

    Attributes:
        story: Its text.
        facts: (first, word, second): what the second person is to the first, as stated and the other way round.
        chain: The words of the facts on the way from the first person in question to the second.
        asked: The two people in question: what is the second to the first?
        answer: The answer.
    """

    story: str
    facts: tuple[tuple[str, str, str], ...]
    chain: tuple[str, ...]
    asked: tuple[str, str]
    answer: str


class KinshipCurriculum:
    """Stories of `clutrr` with few facts.

    Args:
        seed: Determines all stories.
        text: Their text, `natural` or `plain`.
        k: How many facts they have.
        templates: A file of templates in the published form, which their text is then made of; those that fail the
            checks are left out.
    """

    family = "kinship"
    words = WORDS

    def __init__(
        self, seed: int = 0, *, text: str = "natural", k: tuple[int, ...] = (2, 3), templates: str = ""
    ) -> None:
        config = ClutrrConfig(train_k=k, text=text)
        if templates:
            config = replace(config, placeholders=load_placeholders(templates), bad_placeholders="drop")
        self._benchmark = Clutrr(config, seed)

    def block(self, index: int) -> list[KinshipLesson]:
        """Return the stories of a block."""
        columns = ["story", "edges", "edge_types", "genders", "query", "answer"]
        return [_lesson(*row.values()) for row in self._benchmark.block("train", index).select(columns).to_pylist()]


def _lesson(
    story: str, edges: list[list[int]], types: list[str], genders: list[str], query: list[str], answer: str
) -> KinshipLesson:
    people = [each.rpartition(":")[::2] for each in genders]
    facts = []
    for (first, second), relation in zip(edges, types, strict=True):
        (one, gender), (other, _) = people[first], people[second]
        facts += [(one, relation, other), (other, word(inverse(predicate_of(relation)), gender), one)]
    return KinshipLesson(story, tuple(facts), tuple(types), (query[0], query[1]), answer)
