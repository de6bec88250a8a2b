"""Solvers that have certainly not seen a file: with what they score on it, others are compared.

Besides simple guesses there is a small net over words. It learns from one half of a twin and answers the other half, of
the file and of the twin, so it has seen neither the file nor the stories that it is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from storyproof.errors import StoryproofError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.baselines import Random, Rules

Answers = dict[str, bool]
_BITS, _EPOCHS, _RATE = 12, 5, 0.5
_SEEDS = 3


def unseen_answers(
    published: Sequence[Example], twin: Sequence[Example], seed: int = 0
) -> Iterator[tuple[str, tuple[Answers, Answers]]]:
    """Yield solvers that have seen neither of two sets of questions, and what they answer rightly in each, by id.

    Args:
        published: Questions.
        twin: Questions about the same in other words, or about other stories.
        seed: For the solvers that draw.
    """
    sides = published, twin
    for name, solve in SOLVERS.items():
        for number in range(_SEEDS if name in _DRAWING else 1):
            try:
                first, second = (_rights(each, solve(each, seed + number, twin)) for each in sides)
            except StoryproofError:
                continue  # there are no rules for such data
            yield (f"{name} {number + 1}" if name in _DRAWING else name), (first, second)


def _rights(examples: Sequence[Example], answers: Sequence[str]) -> Answers:
    return {each.id: answer == each.answer for each, answer in zip(examples, answers, strict=True)}


def guess(examples: Sequence[Example], seed: int, twin: Sequence[Example]) -> list[str]:
    """Pick a candidate at random."""
    return Random(seed).predict(examples)


def follow_rules(examples: Sequence[Example], seed: int, twin: Sequence[Example]) -> list[str]:
    """Answer by the simple rules of the paper."""
    return Rules(seed).predict(examples)


def last_named(examples: Sequence[Example], seed: int, twin: Sequence[Example]) -> list[str]:
    """Pick the candidate that the story names last."""
    return [max(_candidates(each), key=lambda word: each.story.rfind(word), default="") for each in examples]


def first_named(examples: Sequence[Example], seed: int, twin: Sequence[Example]) -> list[str]:
    """Pick the candidate that the story names first."""
    return [
        min(_candidates(each), key=lambda word: (each.story.find(word) < 0, each.story.find(word)), default="")
        for each in examples
    ]


def favourite_word(examples: Sequence[Example], seed: int, twin: Sequence[Example]) -> list[str]:
    """Pick the candidate whose word is liked best; which words are liked is drawn once."""

    def liking(word: str) -> bytes:
        return blake2b(f"{seed} {word}".encode(), digest_size=8).digest()

    return [max(_candidates(each), key=liking, default="") for each in examples]


def learn_words(examples: Sequence[Example], seed: int, twin: Sequence[Example]) -> list[str]:
    """Score candidates by a logistic net over words, learned from one half of the twin for the other half."""
    weights = []
    learned = [(each, half) for each, half in zip(twin, _halves(twin, seed), strict=True)]
    for side in (0, 1):
        rows = [(each, list(_candidates(each))) for each, half in learned if half == side]
        known = [(each, words) for each, words in rows if each.answer in words]
        weights.append(_learn([(_all_features(each, words), words.index(each.answer)) for each, words in known], seed))
    answers = []
    for each, half in zip(examples, _halves(examples, seed), strict=True):
        words = list(_candidates(each))
        scores = [float(weights[1 - half][numbers].sum()) for numbers in _all_features(each, words)]
        answers.append(words[int(np.argmax(scores))] if scores else "")
    return answers


def _halves(examples: Sequence[Example], seed: int) -> list[int]:
    """Return the half of each question; those of one story are in one half."""
    stories = {story: number for number, story in enumerate(dict.fromkeys(each.story_id for each in examples))}
    return [(stories[each.story_id] + seed) % 2 for each in examples]


def _all_features(example: Example, words: Sequence[str]) -> list[npt.NDArray[np.intp]]:
    return [_features(example, word, place) for place, word in enumerate(words)]


def _candidates(example: Example) -> Sequence[str]:
    return family_of(example).candidates(example)


def _features(example: Example, word: str, place: int) -> npt.NDArray[np.intp]:
    """Return the numbers of what is known of a candidate: its word, its neighbours and where it stands."""
    tokens = example.story.split()
    spots = [spot for spot, token in enumerate(tokens) if token.strip(".,'").lower() == word.lower()]
    about = [
        f"word {word}",
        f"place {place}",
        f"times {min(len(spots), 4)}",
        *(f"beside {tokens[max(0, s - 2)]}" for s in spots),
    ]
    if spots:
        later = sum(
            max(0, example.story.rfind(other)) > max(0, example.story.rfind(word)) for other in _candidates(example)
        )
        about.append(f"later {later}")
    kind = example.question_type
    named = [*about, *(f"{kind} {each}" for each in about), *(f"{word} {each}" for each in example.question.split())]
    digests = [int.from_bytes(blake2b(each.encode(), digest_size=4).digest()) for each in named]
    return np.array([digest % (1 << _BITS) for digest in digests], np.intp)


def _learn(rows: Sequence[tuple[list[npt.NDArray[np.intp]], int]], seed: int) -> npt.NDArray[np.float64]:
    """Return weights by gradient steps on the likelihood of the right candidates."""
    weights = np.zeros(1 << _BITS)
    order = np.random.Generator(np.random.Philox(seed))
    for _ in range(_EPOCHS):
        for row in order.permutation(len(rows)).tolist():
            features, right = rows[row]
            scores = np.array([weights[each].sum() for each in features])
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            for place, each in enumerate(features):
                np.add.at(weights, each, _RATE / len(each) * ((place == right) - chances[place]))
    return weights


SOLVERS: dict[str, Callable[[Sequence[Example], int, Sequence[Example]], list[str]]] = {
    "guess": guess,
    "rules": follow_rules,
    "last named": last_named,
    "first named": first_named,
    "favourite word": favourite_word,
    "words": learn_words,
}
_DRAWING = frozenset({"guess", "favourite word", "words"})
