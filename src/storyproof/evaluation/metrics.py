"""Average and joint accuracy, by question type and by false belief (source: the ToMi paper, Tables 1 to 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from storyproof.example import Example
from storyproof.families.family import family_of

_ORDERS = ("first_order", "second_order", "third_order", "fourth_order")


@dataclass(frozen=True, slots=True)
class Scores:
    """Fractions of right answers.

    Attributes:
        questions: How many questions were asked.
        stories: Of how many stories.
        accuracy: Right answers.
        joint_accuracy: Stories all of whose questions were answered rightly; 0 without meaning if there are no stories.
        by_question_type: Right answers by question type.
        by_false_belief: Right answers where the asked belief is false (`false_belief`) or not (`no_false_belief`); of
            data without beliefs, nothing.
        by_order: The same by kind of question (memory, reality, first_order, …) within each.
    """

    questions: int
    stories: int
    accuracy: float
    joint_accuracy: float
    by_question_type: dict[str, float]
    by_false_belief: dict[str, float]
    by_order: dict[str, dict[str, float]]

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON; of no story there is no joint accuracy."""
        return {**asdict(self), "joint_accuracy": self.joint_accuracy if self.stories else None}


def kind_of(example: Example) -> str:
    """Return the group of an example by which accuracy is reported, such as `first_order` or `k=3`."""
    return family_of(example).kind(example)


def is_belief(kind: str) -> bool:
    """Say whether a kind of question, as `kind_of` names it, asks for a belief."""
    return kind in _ORDERS or kind.startswith("order_")


def score(examples: Sequence[Example], answers: Sequence[str]) -> Scores:
    """Score answers against labels."""
    right = [answer == example.answer for example, answer in zip(examples, answers, strict=True)]
    stories: dict[Hashable, bool] = defaultdict(lambda: True)
    for example, correct in zip(examples, right, strict=True):
        stories[example.split, example.story_id] &= correct
    belief = ["false_belief" if example.false_belief else "no_false_belief" for example in examples]
    kinds = [kind_of(example) for example in examples]
    return Scores(
        questions=len(examples),
        stories=len(stories),
        accuracy=_mean(right),
        joint_accuracy=_mean(stories.values()),
        by_question_type=_means([example.question_type for example in examples], right),
        by_false_belief=_means(belief, right) if any(map(is_belief, kinds)) else {},
        by_order={
            group: _means(
                [kind for kind, member in zip(kinds, belief, strict=True) if member == group],
                [correct for correct, member in zip(right, belief, strict=True) if member == group],
            )
            for group in sorted(set(belief))
        },
    )


def _mean(values: Iterable[bool]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def _means(groups: Sequence[str], right: Sequence[bool]) -> dict[str, float]:
    members: dict[str, list[bool]] = defaultdict(list)
    for group, correct in zip(groups, right, strict=True):
        members[group].append(correct)
    return {group: _mean(members[group]) for group in sorted(members)}
