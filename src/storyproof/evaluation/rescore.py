"""The verb `rescore`: a model's recorded answers on published and on corrected labels, without running it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from storyproof.datasets.frames import Data, data_name, takes_rows
from storyproof.datasets.reading import Source, find_source, read_examples
from storyproof.errors import DataError
from storyproof.evaluation.evaluate import PROVED
from storyproof.evaluation.judge import judge_text
from storyproof.evaluation.other_logs import Log, LoggedAnswer, describe, read_log
from storyproof.evaluation.runs import RecordedRun, RunSource, read_runs
from storyproof.example import WRITTEN, Example
from storyproof.families.family import family_of, own_example
from storyproof.formats.columns import find_columns, folded, row_hash, rows_of
from storyproof.formats.format import expect_format
from storyproof.formats.records import RECORD, RecordFile
from storyproof.stats import LEVEL, Interval, difference_interval, mean_interval


@dataclass(frozen=True, slots=True)
class Compared:
    """The same answers under two sets of labels.

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
        """Return plain values for JSON."""
        values: dict[str, Any] = {name: getattr(self, name) for name in ("questions", "stories", "changed_labels")}
        for name in ("published", "corrected", "difference"):
            scores: dict[str, Interval] = getattr(self, name)
            intervals = {score: [each.low, each.high] for score, each in scores.items()}
            values[name] = {**{score: each.value for score, each in scores.items()}, "intervals": intervals}
        return values


@dataclass(frozen=True, slots=True)
class Rescored:
    """What a run scores on published and on corrected labels.

    Attributes:
        model: Whose answers they are.
        fixed: Where the corrected labels are.
        split: Which split.
        scores: All that was answered and has a label on both sides.
        by_kind: The same by kind of question (`Family.kind`): memory, reality, first_order, …, or k=3.
        dropped: Answers to questions that the corrected data left out, or from whose facts no answer follows (marked as
            ambiguous or impossible); they count on neither side.
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
        """Return plain values for JSON."""
        names = ("model", "fixed", "split", "dropped", "dropped_accuracy", "unanswered_stories")
        kinds = {kind: each.as_dict() for kind, each in self.by_kind.items()}
        about = {name: getattr(self, name) for name in names}
        return {**about, "level": LEVEL, **self.scores.as_dict(), "by_kind": kinds}


@dataclass(frozen=True, slots=True)
class _RunAnswers:
    """A run's answers by id, with the labels (targets) that it was scored on, if it says."""

    run: RecordedRun
    answers: dict[str, str]
    targets: dict[str, str]

    @property
    def where(self) -> str:
        """What messages call the run."""
        return self.run.where


@takes_rows("fixed")
def rescore(
    run: RunSource,
    fixed: Data,
    *,
    split: str | None = None,
    published: str | Path | None = None,
) -> Rescored:
    """Score one model's recorded answers on published and on corrected labels.

    Args:
        run: What `evaluate --json` wrote, as a file or read already; or a file of JSON lines with `id` and `answer`.
        fixed: The corrected data, a folder, a file or rows in memory; its rows have the ids that they had.
        split: Which split of it; by default that of the run.
        published: The data as published; by default labels come from the run's targets, or from the data it names.

    Raises:
        DataError: If run and data cannot be read or do not belong together.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data")
        >>> run = storyproof.evaluate("rules", "data")
        >>> found = storyproof.rescore(run, "data")
        >>> found.scores.questions, found.scores.changed_labels
        (180, 0)
    """
    results = rescore_all(run, fixed, split=split, published=published)
    if len(results) > 1:
        raise DataError(f"{run} contains {len(results)} runs; use rescore_all for several.")
    return results[0]


def rescore_all(
    runs: RunSource, fixed: str | Path, *, split: str | None = None, published: str | Path | None = None
) -> list[Rescored]:
    """Score the recorded answers of several models, as `rescore` does those of one."""
    log = read_log(Path(runs)) if isinstance(runs, str | Path) else None
    if log is not None:
        return [_rescore_log(log, Path(fixed), split, published)]
    by_id = cache(_by_id)
    results = []
    for run in map(_answers, read_runs(runs)):
        source = _fixed_source(run.run, Path(fixed), split)
        results.append(_rescore(run, source, by_id(source), _published_labels(run, source, published)))
    return results


def _rescore_log(log: Log, fixed: Path, split: str | None, published: str | Path | None) -> Rescored:
    """Score the answers of somebody else's log; rows are found by their texts, their ids or their numbers."""
    source = find_source(fixed, None if fixed.is_file() else split)
    examples = _any_examples(source)
    named = match_rows(log, examples)
    labels: dict[str, str] = {}
    if published is not None:
        path = Path(published)
        given = _any_examples(find_source(path, None if path.is_file() else source.split))
        by_hash = {_hash_of(each): each.answer for each in given}
        labels = {each.id: by_hash[_hash_of(each)] for each in examples if _hash_of(each) in by_hash}
    answers: dict[str, str] = {}
    for logged, example in named:
        if example.id in answers:
            raise DataError(f"{log.where} answers {example.id} more than once; keep one answer for each row.")
        answers[example.id] = meant_answer(logged.reply, example)
        if published is None:
            if logged.target is None:
                raise DataError(
                    f"{log.where} does not say on which labels it was scored; name their data with --published."
                )
            labels[example.id] = meant_answer(logged.target, example)
    run = RecordedRun(
        where=log.where,
        path=Path(log.where),
        model=log.model,
        data=str(fixed),
        split=split,
        labels=None,
        seed=None,
        matching="",
        prompt="",
        stories=None,
        predictions=(),
        schema=0,
    )
    return _rescore(_RunAnswers(run, answers, labels), source, {each.id: each for each in examples}, labels)


def _any_examples(source: Source) -> list[Example]:
    """Return the rows of data; somebody else's in other words than ours with their own texts, answers and choices."""
    with suppress(DataError):
        examples = read_examples(source)
        if not any(WRITTEN in each.extra for each in examples):
            return examples
    rows: list[Example] = []
    for path in source.paths:
        for table in RecordFile(path, expect_format(path)).tables():
            for row in table.to_pylist():
                about = row[RECORD]
                story_id = row_hash(row["story"], "")
                known = {name: row[name] for name in ("id", "story", "question", "answer")}
                kind = row.get("question_type") or ""
                digest = {"digest": about.get("digest") or row_hash(row["story"], row["question"])}
                choices = about.get("choices") or []
                rows.append(
                    own_example({**known, **digest, "story_id": story_id, "candidates": choices, "question_type": kind})
                )
    return rows


def _hash_of(example: Example) -> str:
    return str(example.get("digest") or row_hash(example.story, example.question))


def match_rows(
    log: Log, examples: Sequence[Example], *, form: str = "corrected "
) -> list[tuple[LoggedAnswer, Example]]:
    """Return which row each answer of a log is about: rows are found by their texts, their ids or their numbers.

    Args:
        log: The log.
        examples: The rows.
        form: What messages call the form that the rows should have, with a space; empty for the data as answered.

    Raises:
        DataError: If a row is not found.
    """
    by_id = {each.id: each for each in examples}
    counts = Counter(map(_hash_of, examples))
    by_hash = {key: each for each in examples if counts[key := _hash_of(each)] == 1}
    rows = [dict(each.row) for each in log.answers]
    columns = []
    if any(rows):
        with suppress(DataError):
            columns = find_columns(rows, {}, log.where)
    found = []
    for each in log.answers:
        texts = [row for one in columns for row in rows_of(each.row, one) if row.story and row.question]
        example = next((by_hash[key] for row in texts if (key := row_hash(row.story, row.question)) in by_hash), None)
        example = example or by_id.get(each.id)
        if example is None and 0 <= each.number < len(examples):
            example = examples[each.number]
        if example is None:
            needed = f"the {form}form of the data" if form else "the data"
            raise DataError(
                f"{log.where}: {describe(each)} is not among the rows of the {form}data; give {needed} that were "
                "answered."
            )
        found.append((each, example))
    return found


def meant_answer(text: str, example: Example) -> str:
    """Return the candidate that an answer names by its text, its letter or in a sentence; else the answer itself."""
    plain = {folded(each): each for each in (*example.candidates, example.answer)}
    if folded(text) in plain:
        return plain[folded(text)]
    letter = text.strip().strip("().:").upper()
    if len(letter) == 1 and letter >= "A" and ord(letter) - ord("A") < len(example.candidates):
        return example.candidates[ord(letter) - ord("A")]
    return judge_text(text, example).meant or text if example.answer else text


def _answers(run: RecordedRun) -> _RunAnswers:
    answers: dict[str, str] = {}
    targets: dict[str, str] = {}
    for number, each in enumerate(run.predictions):
        if each.failed:
            continue  # neither right nor wrong
        if each.answer is None:
            raise DataError(f"{run.where}, prediction {number}: 'answer' is None; expected text.")
        if each.id in answers:
            raise DataError(
                f"{run.where} contains several people's answers to {each.id}; rescore takes runs with one answer for "
                "each question."
            )
        answers[each.id] = each.answer
        if each.target is not None:
            targets[each.id] = each.target
    return _RunAnswers(run, answers, targets)


def _fixed_source(run: RecordedRun, fixed: Path, split: str | None) -> Source:
    """Find the corrected rows: in a folder the very file that was answered, if it was one, else the split."""
    same = fixed / Path(run.data).name if run.data else fixed
    if split is None and fixed.is_dir() and same.is_file():
        return find_source(same)
    return find_source(fixed, split if split is not None or fixed.is_file() else run.split)


def _by_id(source: Source) -> dict[str, Example]:
    examples: dict[str, Example] = {}
    for example in read_examples(source):
        if examples.setdefault(example.id, example) is not example:
            raise DataError(f"{source.name} has {example.id} more than once; give each row an id of its own.")
    return examples


def _published_labels(run: _RunAnswers, fixed: Source, published: str | Path | None) -> dict[str, str]:
    """Return the labels as published: from the data, if they are named, else from the run."""
    if published is None and run.run.labels != PROVED and len(run.targets) == len(run.answers):
        return run.targets
    path = published or run.run.data
    if path is None:
        raise DataError(f"{run.where} does not say on which labels it was scored; name their data with --published.")
    try:
        source = find_source(path, None if Path(path).is_file() else fixed.split)
        rows = (table.select(["id", "answer"]).to_pylist() for table in source.tables())
        return {row["id"]: row["answer"] for part in rows for row in part}
    except DataError as error:
        raise DataError(f"{run.where}: no published labels: {error} Name their data with --published.") from error


def _check(run: _RunAnswers, source: Source, fixed: Mapping[str, Example], labels: Mapping[str, str]) -> None:
    """Check that answers, published labels and corrected labels belong together."""
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


def _rescore(run: _RunAnswers, source: Source, fixed: Mapping[str, Example], labels: Mapping[str, str]) -> Rescored:
    _check(run, source, fixed, labels)
    settled = {row: example for row, example in fixed.items() if family_of(example).is_settled(example)}
    examples = [example for row, example in settled.items() if row in run.answers]
    if not examples:
        raise DataError(f"{source.name}: from none of the rows that {run.where} answers does an answer follow.")
    gone = [answer == labels[row] for row, answer in run.answers.items() if row not in settled]
    kinds: dict[str, list[Example]] = {}
    for example in sorted(examples, key=lambda each: family_of(each).kind_order(each)):
        kinds.setdefault(family_of(example).kind(example), []).append(example)
    return Rescored(
        model=run.run.model,
        fixed=data_name(source.name),
        split=source.split,
        scores=_compare(run, examples, labels, joint=True),
        by_kind={kind: _compare(run, members, labels) for kind, members in kinds.items()},
        dropped=len(gone),
        dropped_accuracy=sum(gone) / len(gone) if gone else None,
        unanswered_stories=len({_story(each) for each in settled.values()} - {_story(each) for each in examples}),
    )


def _compare(
    run: _RunAnswers, examples: Sequence[Example], labels: Mapping[str, str], *, joint: bool = False
) -> Compared:
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
