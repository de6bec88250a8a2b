"""Small learned models: what can be learned from words, or from a text with something removed?

They need scikit-learn, which comes with `storyproof[audit]`; it is imported when a probe is first trained.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.shortcuts.bounds import force
from storyproof.shortcuts.results import ABLATION, HEURISTIC, Forced, ShortcutReport, ShortcutScore, describe_best
from storyproof.shortcuts.split_setup import Fold, Trial, set_up
from storyproof.stats import Ints

Matrix = npt.NDArray[np.float32]

NO_ANSWER = -1
_ROUNDS = 40
_RATE = 0.2
_LEAVES = 31
_CLASS_ROUNDS = 20  # each makes a tree for every class


def one_thread() -> AbstractContextManager[object]:
    """Limit numeric libraries to one thread: on a busy machine several wait for each other."""
    limits: AbstractContextManager[object] = import_module("threadpoolctl").threadpool_limits(1)
    return limits


def load_learner(module: str, name: str) -> Any:
    """Import a class of scikit-learn.

    Raises:
        ConfigError: If it is not installed.
    """
    try:
        return getattr(import_module(f"sklearn.{module}"), name)
    except ImportError as error:
        raise ConfigError(
            "learned probes need scikit-learn, which is not installed: "
            "pip install 'storyproof[audit]', or leave --shortcuts out."
        ) from error


def classify(matrix: Matrix, answers: Ints, fold: Fold, seed: int = 0) -> Ints:
    """Train boosted trees to name the answer, and return theirs for each row to answer."""
    labels = np.unique(answers[fold.fit])
    if len(labels) < 2:
        return np.full(len(fold.ask), labels[0] if len(labels) else NO_ANSWER)
    model = boosted_trees(seed, rounds=_CLASS_ROUNDS)
    with one_thread():
        model.fit(matrix[fold.fit], answers[fold.fit])
        predictions: Ints = model.predict(matrix[fold.ask])
    return predictions


def boosted_trees(seed: int, categorical: list[int] | None = None, rounds: int = _ROUNDS) -> Any:
    """Build boosted trees: shallow, few, and without early stopping, so that a seed gives one result."""
    return load_learner("ensemble", "HistGradientBoostingClassifier")(
        max_iter=rounds,
        learning_rate=_RATE,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=20,
        l2_regularization=1.0,
        early_stopping=False,
        categorical_features=categorical,
        random_state=seed,
    )


ABOUT = "the kind of question; always the same answer for each"
_READERS = {
    "majority": "always gives the most frequent answer",
    "kind_only": "knows only the kind of question",
    "first_mentioned": "names the candidate that the story mentions first",
    "last_mentioned": "names the candidate that the story mentions last",
    "question_only": "counts the words of the question but never sees the story",
    "bag_of_words": "counts the words of story and question but not their order",
}
_WORD = re.compile(r"\w(?:[\w'-]*\w)?")
_MOST_WORDS = 300
_LEAST_COUNT = 5


def find_plain_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer examples by counting and guessing; see `audits.shortcuts.find_shortcuts`."""
    trial = set_up(train, test, seed)
    labels, number, answers = _numbered(trial)
    right = np.arange(len(labels))[:, None] == answers[trial.asked]
    slots = [family_of(each).structure(each) for each in test]
    forced = force(right, slots, trial.cluster, trial.kinds, labels, ABOUT)
    families = [family_of(each) for each in trial.examples]
    kinds = [family.structure(each) for family, each in zip(families, trial.examples, strict=True)]
    candidates = [family.candidates(each) for family, each in zip(families, trial.examples, strict=True)]
    rows = list(_guess(trial, answers, number, forced, kinds, candidates))
    if learned:
        rows += probe_words(trial, answers, forced, seed)
    return trial.report(family_of(test[0]).name, forced, rows, describe_best(rows, forced, "reasoning"))


def find_text_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer examples of which nothing is understood; their `question_type` tells the kind of question."""
    trial = set_up(train, test, seed, kind=lambda example: example.question_type)
    labels, number, answers = _numbered(trial)
    right = np.arange(len(labels))[:, None] == answers[trial.asked]
    forced = force(right, [each.question_type for each in test], trial.cluster, trial.kinds, labels, ABOUT)
    kinds = [each.question_type for each in trial.examples]
    rows = list(_guess(trial, answers, number, forced, kinds, [each.candidates for each in trial.examples]))
    if learned:
        rows += probe_words(trial, answers, forced, seed)
    return trial.report("text that is not understood", forced, rows, describe_best(rows, forced, "reasoning"))


def _numbered(trial: Trial) -> tuple[list[str], dict[str, int], Ints]:
    """Return all answers, their numbers, and the number of each row's answer."""
    labels = sorted({each.answer for each in trial.examples})
    number = {label: place for place, label in enumerate(labels)}
    return labels, number, np.array([number[each.answer] for each in trial.examples], np.int64)


def probe_words(trial: Trial, answers: Ints, forced: Forced, seed: int) -> Iterator[ShortcutScore]:
    """Train a probe on the words of the question, and one on all words.

    Args:
        trial: Who learns from what.
        answers: The number of each row's answer, or of a class of answers; negative where no class has one answer only.
        forced: The structural baseline.
        seed: For the probes.
    """
    question_words = [_WORD.findall(each.question.lower()) for each in trial.examples]
    words = [_WORD.findall(each.story.lower()) for each in trial.examples]
    bags = {
        "question_only": _counts(question_words),
        "bag_of_words": np.concatenate([_counts(question_words), _counts(words)], axis=1),
    }
    label = answers[trial.asked]
    for name, matrix in bags.items():
        said = trial.by_fold(lambda fold: classify(matrix, answers, fold, seed))  # noqa: B023
        yield trial.score(name, ABLATION, _READERS[name], True, (said == label) & (label >= 0), forced)


def _guess(
    trial: Trial,
    answers: Ints,
    number: dict[str, int],
    forced: Forced,
    kinds: Sequence[str],
    candidates: Sequence[Sequence[str]],
) -> Iterator[ShortcutScore]:
    """Answer by heuristics."""
    mentioned = [_mentioned(each, names) for each, names in zip(trial.examples, candidates, strict=True)]
    first, last = (
        np.array([number.get(names[place], NO_ANSWER) if names else NO_ANSWER for names in mentioned], np.int64)
        for place in (0, -1)
    )
    ways: dict[str, Callable[[Fold], Ints]] = {
        "majority": lambda fold: _most_frequent(fold, [""] * len(kinds), answers),
        "kind_only": lambda fold: _most_frequent(fold, kinds, answers),
        "first_mentioned": lambda fold: first[fold.ask],
        "last_mentioned": lambda fold: last[fold.ask],
    }
    for name, way in ways.items():
        right = trial.by_fold(way) == answers[trial.asked]
        yield trial.score(name, HEURISTIC, _READERS[name], True, right, forced)


def _mentioned(example: Example, candidates: Sequence[str]) -> list[str]:
    """Return the candidates that a story mentions, by first mention."""
    words = _WORD.findall(example.story.lower())
    place = {word: number for number, word in reversed(list(enumerate(words)))}
    names = [name for name in candidates if name.lower() in place]
    return sorted(names, key=lambda name: place[name.lower()])


def _most_frequent(fold: Fold, cells: Sequence[str], answers: Ints) -> Ints:
    """Return for each cell the answer that is most frequent among the rows to learn from."""
    learned: dict[str, Counter[int]] = defaultdict(Counter)
    for row in fold.fit.tolist():
        learned[cells[row]][int(answers[row])] += 1
    best = {cell: min(counts, key=lambda answer: (-counts[answer], answer)) for cell, counts in learned.items()}
    return np.array([best.get(cells[row], NO_ANSWER) for row in fold.ask.tolist()], np.int64)


def _counts(texts: Sequence[Sequence[str]]) -> Matrix:
    """Count the frequent words of each text, [text, word]."""
    seen = Counter(word for words in texts for word in words)
    kept = [word for word, count in seen.most_common(_MOST_WORDS) if count >= _LEAST_COUNT]
    column = {word: place for place, word in enumerate(sorted(kept))}
    counts = np.zeros((len(texts), max(1, len(column))), np.float32)
    for row, words in enumerate(texts):
        for word in words:
            if word in column:
                counts[row, column[word]] += 1
    return counts
