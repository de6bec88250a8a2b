"""The verb `rescore`: a model's recorded answers on published and on corrected labels, without running it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from storyproof.datasets.examples import read_examples
from storyproof.datasets.reading import Source, find_source
from storyproof.errors import DataError
from storyproof.evaluation.evaluate import PROVED
from storyproof.evaluation.metrics import kind_of
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.intervals import LEVEL, Interval, difference_interval, mean_interval

Runs = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Compared:
    """One and the same answers under two sets of labels.

    Attributes:
        questions: How many were scored.
        stories: Of how many stories.
        changed_labels: How many of the labels differ.
        published: Right answers by the labels as published: `accuracy`, and of whole stories `joint`.
        corrected: The same by the corrected labels.
        difference: Corrected less published, paired.
    """

    questions: int
    stories: int
    changed_labels: int
    published: dict[str, Interval]
    corrected: dict[str, Interval]
    difference: dict[str, Interval]

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        found: dict[str, Any] = {name: getattr(self, name) for name in ("questions", "stories", "changed_labels")}
        for name in ("published", "corrected", "difference"):
            scores: dict[str, Interval] = getattr(self, name)
            intervals = {score: [each.low, each.high] for score, each in scores.items()}
            found[name] = {**{score: each.value for score, each in scores.items()}, "intervals": intervals}
        return found


@dataclass(frozen=True, slots=True)
class Rescored:
    """What a run scores on published and on corrected labels.

    Attributes:
        model: Whose answers they are.
        fixed: Where the corrected labels are.
        split: Which split.
        scores: All that was answered and has a label on both sides.
        by_kind: The same by kind of question: memory, reality, first_order, …; of kinship by length of the chain.
        dropped: Answers to questions that the corrected data left out, or from whose facts no answer follows (kinship
            that is marked as ambiguous or impossible); they count on neither side.
        dropped_accuracy: How many of those are right by the published labels; None if there are none.
        unanswered_stories: Stories of the corrected data of which the run answers nothing; they do not count.
    """

    model: str
    fixed: str
    split: str | None
    scores: Compared
    by_kind: dict[str, Compared]
    dropped: int
    dropped_accuracy: float | None
    unanswered_stories: int

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        names = ("model", "fixed", "split", "dropped", "dropped_accuracy", "unanswered_stories")
        kinds = {kind: each.as_dict() for kind, each in self.by_kind.items()}
        about = {name: getattr(self, name) for name in names}
        return {**about, "level": LEVEL, **self.scores.as_dict(), "by_kind": kinds}


@dataclass(frozen=True, slots=True)
class Run:
    """A model's recorded answers by the ids of the rows, with the labels (targets) that it was scored on, if it says.

    `data`, `split` and `labels` are what `evaluate` was asked for; `where` is the file, for messages.
    """

    where: str
    model: str
    data: str | None
    split: str | None
    labels: str | None
    answers: dict[str, str]
    targets: dict[str, str]


def rescore(
    run: str | Path | Mapping[str, Any],
    fixed: str | Path,
    *,
    split: str | None = None,
    published: str | Path | None = None,
) -> Rescored:
    """Score one model's recorded answers on published and on corrected labels.

    Args:
        run: What `evaluate --json` wrote, as a file or read already; or a file of JSON lines with `id` and `answer`.
        fixed: The corrected data, a folder or a file; its rows have the ids that they had.
        split: Which split of it; by default that of the run.
        published: The data as published; by default labels come from the run's targets, or from the data it names.

    Raises:
        DataError: If run and data cannot be read or do not belong together.
    """
    found = rescore_all(run, fixed, split=split, published=published)
    if len(found) > 1:
        raise DataError(f"{run} holds {len(found)} runs; use rescore_all for several.")
    return found[0]


def rescore_all(
    runs: Runs, fixed: str | Path, *, split: str | None = None, published: str | Path | None = None
) -> list[Rescored]:
    """Score the recorded answers of several models, as `rescore` does those of one."""
    by_id = cache(_by_id)
    found = []
    for run in read_runs(runs):
        source = _fixed_source(run, Path(fixed), split)
        found.append(_rescore(run, source, by_id(source), _published_labels(run, source, published)))
    return found


def read_runs(runs: Runs) -> list[Run]:
    """Read the runs of a file, or take those that are read already.

    Raises:
        DataError: If it is no run; the message says what was found.
    """
    if not isinstance(runs, str | Path):
        return [_run(each, "the run", "model") for each in ([runs] if isinstance(runs, Mapping) else runs)]
    path = Path(runs)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {path}: {error}; give a file that evaluate --json wrote.") from error
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        lines = enumerate(text.split("\n"), start=1)
        read = {"predictions": [_line(path, number, line) for number, line in lines if line.strip()]}
    if isinstance(read, dict):
        read = [{"predictions": [read]} if {"id", "answer"} <= set(read) else read]
    if not isinstance(read, list) or not read:
        raise DataError(f"{path} holds no run; expected an object with predictions, or a list of such.")
    return [_run(each, str(path), path.stem) for each in read]


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        expected = "what evaluate --json wrote, or one object with id and answer a line"
        raise DataError(f"{path}, line {number}: no valid JSON ({error}); expected {expected}.") from error


def _run(read: Any, where: str, name: str) -> Run:
    rows = read.get("predictions") if isinstance(read, Mapping) else None
    if not isinstance(rows, list) or not rows:
        raise DataError(f"{where} holds no predictions; run evaluate --json again, which records the model's answers.")
    answers: dict[str, str] = {}
    targets: dict[str, str] = {}
    for number, row in enumerate(rows):
        for key in ("id", "answer", "target"):
            found = row.get(key) if isinstance(row, Mapping) else None
            if not isinstance(found, str) and (key != "target" or found is not None):
                raise DataError(f"{where}, prediction {number}: '{key}' is {found!r}; expected text.")
        if row["id"] in answers:
            raise DataError(f"{where} answers {row['id']} more than once; keep one answer for each id.")
        answers[row["id"]] = row["answer"]
        if row.get("target") is not None:
            targets[row["id"]] = row["target"]
    data, split, labels = (None if read.get(key) is None else str(read[key]) for key in ("data", "split", "labels"))
    return Run(where, str(read.get("model") or name), data, split, labels, answers, targets)


def _fixed_source(run: Run, fixed: Path, split: str | None) -> Source:
    """Find the corrected rows: in a folder the very file that was answered, if it was one, else the split."""
    same = fixed / Path(run.data).name if run.data else fixed
    if split is None and fixed.is_dir() and same.is_file():
        return find_source(same)
    return find_source(fixed, split if split is not None or fixed.is_file() else run.split)


def _by_id(source: Source) -> dict[str, Example]:
    found: dict[str, Example] = {}
    for example in read_examples(source):
        if found.setdefault(example.id, example) is not example:
            raise DataError(f"{source.name} has {example.id} more than once; give each row an id of its own.")
    return found


def _published_labels(run: Run, fixed: Source, published: str | Path | None) -> dict[str, str]:
    """Give the labels as published: as the data say, if they are named, else as the run does."""
    if published is None and run.labels != PROVED and len(run.targets) == len(run.answers):
        return run.targets
    path = published or run.data
    if path is None:
        raise DataError(f"{run.where} does not say on which labels it was scored; name their data with --published.")
    try:
        source = find_source(path, None if Path(path).is_file() else fixed.split)
        rows = (table.select(["id", "answer"]).to_pylist() for table in source.tables())
        return {row["id"]: row["answer"] for some in rows for row in some}
    except DataError as error:
        raise DataError(f"{run.where}: no published labels: {error} Name their data with --published.") from error


def _check(run: Run, source: Source, fixed: Mapping[str, Example], labels: Mapping[str, str]) -> None:
    """Make sure that answers, published labels and corrected labels belong together."""
    gone = [row for row in run.answers if row not in fixed]
    if len(gone) == len(run.answers):
        raise DataError(
            f"{run.where}: none of its ids, such as {_some(gone)}, is in {source.name}; give the corrected form of "
            "the data that were answered, or choose another split with --split."
        )
    unlabelled = [row for row in run.answers if row not in labels]
    if unlabelled:
        raise DataError(f"{run.where}: {_some(unlabelled)} is not in the data as published; answer those data.")
    if gone and labels is run.targets and all(family_of(example).is_always_settled for example in fixed.values()):
        raise DataError(
            f"{run.where}: {_some(gone)} is not in {source.name}; if the row was left out on purpose, name the data "
            "as published with --published."
        )
    begun = {_story(fixed[row]) for row in run.answers if row in fixed}
    missing = [row for row, example in fixed.items() if row not in run.answers and _story(example) in begun]
    if missing:
        raise DataError(
            f"{run.where} has no answer for {_some(missing)}, but for other questions of the same story; joint "
            "accuracy needs all of them, so answer whole stories."
        )


def _rescore(run: Run, source: Source, fixed: Mapping[str, Example], labels: Mapping[str, str]) -> Rescored:
    _check(run, source, fixed, labels)
    settled = {row: example for row, example in fixed.items() if family_of(example).is_settled(example)}
    examples = [example for row, example in settled.items() if row in run.answers]
    if not examples:
        raise DataError(f"{source.name}: from none of the rows that {run.where} answers does an answer follow.")
    gone = [answer == labels[row] for row, answer in run.answers.items() if row not in settled]
    kinds: dict[str, list[Example]] = {}
    for example in sorted(examples, key=lambda each: family_of(each).kind_order(each)):
        kinds.setdefault(kind_of(example), []).append(example)
    return Rescored(
        model=run.model,
        fixed=source.name,
        split=source.split,
        scores=_compare(run, examples, labels, joint=True),
        by_kind={kind: _compare(run, members, labels) for kind, members in kinds.items()},
        dropped=len(gone),
        dropped_accuracy=sum(gone) / len(gone) if gone else None,
        unanswered_stories=len({_story(each) for each in settled.values()} - {_story(each) for each in examples}),
    )


def _compare(run: Run, examples: Sequence[Example], labels: Mapping[str, str], *, joint: bool = False) -> Compared:
    before = np.array([run.answers[each.id] == labels[each.id] for each in examples])
    after = np.array([run.answers[each.id] == each.answer for each in examples])
    names = {story: number for number, story in enumerate(sorted({_story(each) for each in examples}))}
    stories = np.array([names[_story(each)] for each in examples])
    scored = {"accuracy": (before, after, stories)}
    if joint:
        whole = [np.bincount(stories, weights=~right) == 0 for right in (before, after)]
        scored["joint"] = whole[0], whole[1], np.arange(len(names))
    return Compared(
        questions=len(examples),
        stories=len(names),
        changed_labels=sum(labels[each.id] != each.answer for each in examples),
        published={name: mean_interval(first, groups) for name, (first, _, groups) in scored.items()},
        corrected={name: mean_interval(second, groups) for name, (_, second, groups) in scored.items()},
        difference={name: difference_interval(*each) for name, each in scored.items()},
    )


def _story(example: Example) -> tuple[str, str]:
    return example.split or "", example.story_id


def _some(ids: Iterable[str]) -> str:
    first, *others = ids
    return f"{first} (and {len(others):,} more)" if others else first
