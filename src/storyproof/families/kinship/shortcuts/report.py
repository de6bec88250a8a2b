"""The shortcut audit of kinship data."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError, ParseError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.people import person_names, split_person
from storyproof.families.kinship.relations import GENDERS, PREDICATES, WORDS
from storyproof.families.kinship.row import check_references
from storyproof.families.kinship.stated_facts import Text, parse_story, read_texts
from storyproof.shortcuts import word_probes
from storyproof.shortcuts.bounds import force
from storyproof.shortcuts.results import (
    ABLATION,
    HEURISTIC,
    SOLVED,
    Forced,
    ShortcutReport,
    ShortcutScore,
    best_score,
    percent,
)
from storyproof.shortcuts.split_setup import Fold, Trial, set_up
from storyproof.stats import Flags, Ints, Share, share

Counts = npt.NDArray[np.float32]

_ANY_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PLURALS = frozenset(f"{word}s" for word in WORDS)
_PRONOUNS = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself", "whose"})
_TELLING = frozenset(WORDS) | _PLURALS | _PRONOUNS | {"married"}
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_UP = {"inv-child": 1, "inv-grand": 2, "inv-un": 1, "inv-in-law": 1}
_GENERATIONS = {
    word: _UP.get(predicate.name, -_UP.get(predicate.inverse, 0))
    for predicate in PREDICATES
    for word in (predicate.male, predicate.female)
}
_FREQUENT = 250  # words that are counted; rarer ones are too rare to learn from
_UNREACHED = 99  # the distance of people who are not connected


class PuzzleFeatures(NamedTuple):
    """What shortcuts use of an example.

    Attributes:
        label: The answer.
        first: Whose relative is asked for.
        second: Who is asked about.
        gender: The gender of the second.
        length: The number of facts on the shortest path between the two.
        last_relation: The last relation that is stated of the second; empty if nothing is stated of them.
        facts: All relations that are stated; of a running text only those that are recorded, which in published data
            leaves out the relations of noise.
        generations: The number of generations that they go up, minus those that they go down.
    """

    label: str
    first: str
    second: str
    gender: str
    length: int
    last_relation: str
    facts: tuple[str, ...]
    generations: int


def extract_features(examples: Sequence[Example]) -> list[PuzzleFeatures]:
    """Return what shortcuts use of examples.

    Raises:
        DataError: If the facts of one are about somebody else.
    """
    texts = [_text(example) for example in examples]
    every = zip(examples, texts, read_texts(texts), strict=True)
    return [_features(example, text, reading) for example, text, reading in every]


def _text(example: Example) -> Text | None:
    """Return the text of an example, from which its facts are read; None for a running text, as others write it."""
    placeholders = example.get("placeholders")
    if placeholders is None or (not placeholders and "\n" not in example.story):
        return None
    return Text(example.story, placeholders, person_names(example.get("genders")))


def _features(example: Example, text: Text | None, reading: Reading | NotUnderstood | None) -> PuzzleFeatures:
    try:
        check_references(example.extra, len(set(person_names(example.get("genders")))))
    except ParseError as error:
        raise DataError(f"{example.id}: {error}") from error
    genders = dict(split_person(each) for each in example.get("genders") or ())
    query: Sequence[str] = example.get("query") or ()
    first, second = query if len(query) == 2 else ("", "")
    stated = _stated(example, list(genders), text, reading)
    return PuzzleFeatures(
        label=example.answer,
        first=first,
        second=second,
        gender=genders.get(second, ""),
        length=_distance(example.get("edges") or (), list(genders), first, second),
        last_relation=next((word for _, word, whom in reversed(stated) if whom == second), ""),
        facts=tuple(word for _, word, _ in stated),
        generations=sum(_GENERATIONS.get(word, 0) for _, word, _ in stated),
    )


def count_words(examples: Sequence[Example]) -> Counts:
    """Count the kinship terms in each text, [example, word]."""
    return _count([_WORD.findall(each.story.lower()) for each in examples], WORDS)


def count_frequent_words(examples: Sequence[Example], *, context: bool = False) -> Counts:
    """Count the most frequent words in each text but names; of the context alone, no words for relations or genders."""
    texts = []
    for example in examples:
        names = set(person_names(example.get("genders")))
        words = [word.lower() for word in _ANY_WORD.findall(example.story) if word not in names]
        texts.append([word for word in words if not context or word not in _TELLING])
    totals = Counter(word for text in texts for word in text)
    frequent = sorted(totals, key=lambda word: (-totals[word], word))[:_FREQUENT]
    return _count(texts, frequent)


def count_facts(puzzles: Sequence[PuzzleFeatures]) -> Counts:
    """Count the relations that each puzzle states, [puzzle, relation]."""
    return _count([puzzle.facts for puzzle in puzzles], sorted({word for puzzle in puzzles for word in puzzle.facts}))


def _count(texts: Sequence[Sequence[str]], words: Sequence[str]) -> Counts:
    column = {word: place for place, word in enumerate(words)}
    counts = np.zeros((len(texts), len(words)), np.float32)
    for row, text in enumerate(texts):
        for word in text:
            if word in column:
                counts[row, column[word]] += 1
    return counts


def _stated(
    example: Example, names: Sequence[str], text: Text | None, reading: Reading | NotUnderstood | None
) -> list[tuple[str, str, str]]:
    """Return the facts in the order in which the text states them, if it can be parsed; else as they are recorded."""
    try:
        stated = [] if text is None else [each for line in parse_story(text, reading) for each in line]
    except ParseError:
        stated = []
    if stated:
        return [(each.first, each.word, each.second) for each in stated]
    return [
        (names[edge[0]], word, names[edge[1]])
        for edge, word in zip(example.get("edges") or (), example.get("edge_types") or (), strict=False)
    ]


def _distance(edges: Sequence[Sequence[int]], names: Sequence[str], first: str, second: str) -> int:
    """Count the facts on the shortest path from one person to the other, in either direction of each fact."""
    near: dict[str, set[str]] = {name: set() for name in (*names, first, second)}
    for edge in edges:
        one, other = (names[person] for person in edge)
        near[one].add(other)
        near[other].add(one)
    distance = {first: 0}
    waiting = deque([first])
    while waiting:
        name = waiting.popleft()
        for neighbour in near[name] - distance.keys():
            distance[neighbour] = distance[name] + 1
            waiting.append(neighbour)
    return distance.get(second, _UNREACHED)


Cell = tuple[Any, ...]  # a number, and possibly what else

_FEW = 0.5  # where one answer for each gender scores more, few answers occur
ABOUT = "the gender of the asked person; always the same answer for each"

_READERS = {
    "majority": "always gives the most frequent answer",
    "last_relation": "gives the last relation told of the asked person",
    "gender_only": "knows only the asked person's gender",
    "length_only": "knows only how many steps lie between the two",
    "length_and_gender": "knows only how many steps lie between the two and the asked person's gender",
    "generations_and_gender": "counts only generations up and down and knows the asked person's gender",
    "question_only": "knows only which answers go with the two names",
    "relation_words": "counts the words for relations in the text but not who they are about",
    "all_words": "counts all words of the text but not who they are about",
    "context_words": "counts the words of the text that say nothing about relations or genders",
    "facts_unordered": "counts the relations that are told but not who they are about",
}


def find_kinship_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer kinship data without composing relations; see `find_shortcuts`."""
    trial = set_up(train, test, seed)
    puzzles = extract_features(trial.examples)
    labels = sorted({puzzle.label for puzzle in puzzles})
    number = {label: place for place, label in enumerate(labels)}
    answers = np.array([number[puzzle.label] for puzzle in puzzles], np.int64)
    asked = puzzles[trial.first :]
    right = np.arange(len(labels))[:, None] == answers[trial.asked]
    forced = force(right, [puzzle.gender for puzzle in asked], trial.cluster, trial.kinds, labels, ABOUT)
    rows = list(_guess(trial, puzzles, answers, forced))
    if learned:
        rows += _probe(trial, puzzles, answers, forced, seed)
    overlap = find_overlap(train, test) if train else Overlap({}, {})
    return trial.report("kinship", forced, rows, verdict_on(rows, forced, overlap), overlap.shares, overlap.by_kind)


def _guess(trial: Trial, puzzles: Sequence[PuzzleFeatures], answers: Ints, forced: Forced) -> Iterator[ShortcutScore]:
    """Answer by heuristics."""
    number = {puzzle.label: answer for puzzle, answer in zip(puzzles, answers.tolist(), strict=True)}
    last = np.array([number.get(puzzle.last_relation, -1) for puzzle in puzzles], np.int64)
    ways: dict[str, Callable[[Fold], Ints]] = {
        "majority": lambda fold: say_most_frequent(fold, [(0,)] * len(puzzles), answers),
        "last_relation": lambda fold: last[fold.ask],
        "gender_only": lambda fold: say_most_frequent(fold, [(0, each.gender) for each in puzzles], answers),
        "length_only": lambda fold: say_most_frequent(fold, [(each.length,) for each in puzzles], answers),
        "length_and_gender": lambda fold: say_most_frequent(
            fold, [(each.length, each.gender) for each in puzzles], answers
        ),
        "generations_and_gender": lambda fold: say_most_frequent(
            fold, [(each.generations, each.gender) for each in puzzles], answers
        ),
        "question_only": lambda fold: say_usual_of_names(fold, puzzles, answers),
    }
    for name, way in ways.items():
        right = trial.by_fold(way) == answers[trial.asked]
        yield trial.score(name, HEURISTIC, _READERS[name], True, right, forced)


def say_most_frequent(fold: Fold, cells: Sequence[Cell], answers: Ints) -> Ints:
    """Return for each cell the answer that is most frequent among the rows to learn from.

    A cell is a number, and possibly something more. For a number that is not learned from, the nearest one stands in.
    """
    learned: dict[Cell, Counter[int]] = defaultdict(Counter)
    for row in fold.fit.tolist():
        learned[cells[row]][int(answers[row])] += 1
    best = {cell: min(counts, key=lambda answer: (-counts[answer], answer)) for cell, counts in learned.items()}
    for cell in {cells[row] for row in fold.ask.tolist()} - best.keys():
        alike = [cell_learned for cell_learned in learned if cell_learned[1:] == cell[1:]] or list(learned)
        best[cell] = (
            best[min(alike, key=lambda cell_learned: (abs(cell_learned[0] - cell[0]), cell_learned[0]))] if alike else 0
        )
    return np.array([best[cells[row]] for row in fold.ask.tolist()], np.int64)


def say_usual_of_names(fold: Fold, puzzles: Sequence[PuzzleFeatures], answers: Ints) -> Ints:
    """Return the answer that fits the two names best, each taken alone (naive Bayes)."""
    most = int(answers.max()) + 1
    prior = np.bincount(answers[fold.fit], minlength=most)
    seen: dict[tuple[int, str], Ints] = defaultdict(lambda: np.zeros(most, np.int64))
    names: set[str] = set()
    for row in fold.fit.tolist():
        for place, name in enumerate(puzzles[row][1:3]):
            seen[place, name][answers[row]] += 1
            names.add(name)
    blank = np.zeros(most, np.int64)
    said = []
    for row in fold.ask.tolist():
        score = np.log(prior + 1.0)
        for place, name in enumerate((puzzles[row].first, puzzles[row].second)):
            score += np.log((seen.get((place, name), blank) + 1.0) / (prior + len(names) + 1.0))
        said.append(int(score.argmax()))
    return np.array(said, np.int64)


def _probe(
    trial: Trial, puzzles: Sequence[PuzzleFeatures], answers: Ints, forced: Forced, seed: int
) -> Iterator[ShortcutScore]:
    """Train a probe on bags of words and of facts, some with the asked person's gender, and have it answer."""
    gender = np.array([[puzzle.gender == each for each in GENDERS] for puzzle in puzzles], np.float32)
    bags = {
        "relation_words": np.concatenate([count_words(trial.examples), gender], axis=1),
        "facts_unordered": np.concatenate([count_facts(puzzles), gender], axis=1),
        "all_words": count_frequent_words(trial.examples),
        "context_words": count_frequent_words(trial.examples, context=True),
    }
    for name, matrix in bags.items():
        said = trial.by_fold(lambda fold: word_probes.classify(matrix, answers, fold, seed))  # noqa: B023
        yield trial.score(name, ABLATION, _READERS[name], True, said == answers[trial.asked], forced)


def verdict_on(rows: Sequence[ShortcutScore], forced: Forced, overlap: Overlap) -> str:
    """Return in a line what the data can be answered without."""
    best = best_score([row for row in rows if row.shortcut])
    gets = f"A reader who {best.reader} gets {percent(best.accuracy.value)}"
    limit = f"{percent(forced.accuracy)} that the best answer for the asked person's gender scores"
    if best.accuracy.value >= SOLVED:
        line = f"{gets}: this data does not test kinship."
    elif best.beats_structure:
        line = f"{gets}, {100 * best.above_structure:.1f} points above the {limit}."
    else:
        line = f"{gets}, no more than the {limit}."
    if forced.accuracy > _FEW:
        line += " So few answers occur that one for men and one for women are right more than half of the time."
    if overlap.shares:
        met = overlap.shares["queries_with_answer"].value
        line += f" {percent(met)} of the questions occur in training between the same names with the same answer"
        worst, share = max(
            ((kind, shares["queries_with_answer"].value) for kind, shares in overlap.by_kind.items()),
            key=lambda each: each[1],
        )
        line += f", at {worst} {percent(share)}." if share > met else "."
    return line


class Overlap(NamedTuple):
    """What occurs in training.

    Attributes:
        shares: Of the test's distinct names, of its queries (first and second name), and of those with their answer.
        by_kind: The last two by kind of question.
    """

    shares: dict[str, Share]
    by_kind: dict[str, dict[str, Share]]


def find_overlap(train: Sequence[Example], test: Sequence[Example]) -> Overlap:
    """Find which names and queries of a test set occur in a training set.

    Who has met the very question with its answer need not reason.
    """
    known = {name for each in train for name in _names(each)}
    names = sorted({name for each in test for name in _names(each)})
    queries = {tuple(each.get("query") or ()) for each in train}
    answered = {(*(each.get("query") or ()), each.answer) for each in train}
    met = {
        "queries": np.array([tuple(each.get("query") or ()) in queries for each in test], np.bool_),
        "queries_with_answer": np.array(
            [(*(each.get("query") or ()), each.answer) in answered for each in test], np.bool_
        ),
    }
    kinds = [family_of(each).kind(each) for each in test]
    which = np.array(kinds)
    return Overlap(
        {
            "names": _share(np.array([name in known for name in names], np.bool_)),
            **{name: _share(flags) for name, flags in met.items()},
        },
        {
            kind: {name: _share(flags[which == kind]) for name, flags in met.items()}
            for kind in sorted(set(kinds), key=lambda kind: (len(kind), kind))
        },
    )


def _share(flags: Flags) -> Share:
    return share(flags, np.arange(len(flags)))


def _names(example: Example) -> list[str]:
    return person_names(example.get("genders"))
