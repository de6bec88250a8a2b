"""What is counted of a run's answers: all, whole stories, and every kind of question by itself.

Measures by name: `average`; `joint` (stories all of whose questions are right); `memory`, `reality`, `first_order` …
and these where the asked belief is false or not (`first_order/false_belief`, `first_order/no_false_belief`), as the
question's type says, which in published ToMi goes with the label, right or wrong; of kinship `k=3`, `task=clean` and
`task=clean/k=3`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from storyproof.example import Example
from storyproof.families.family import family_of

Counts = dict[str, list[int]]  # of every measure how many are right, and of how many


def count(examples: Sequence[Example], answers: Sequence[str]) -> Counts:
    """Count right answers under every measure."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    stories: dict[Hashable, bool] = defaultdict(lambda: True)
    for example, answer in zip(examples, answers, strict=True):
        right = answer == example.answer
        stories[example.split, example.story_id] &= right
        for name in ("average", *family_of(example).measures(example)):
            counts[name][0] += right
            counts[name][1] += 1
    counts["joint"] = [sum(stories.values()), len(stories)]
    return dict(sorted(counts.items()))
