"""Brings runs together for a report: by the data that they answered, question by question, with the stories.

Stories are read from the data that a run names, if they are still there. Every story is checked against the hash that
the run recorded, so that a report never shows another story than the one that was answered.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from storyproof.datasets.reading import Source, find_source, find_sources, iterate_examples
from storyproof.errors import DataError, ParseError, UnknownNameError
from storyproof.evaluation.compare import JudgedRun, judge_run
from storyproof.evaluation.evaluate import GIVEN, PROVED
from storyproof.evaluation.provenance import data_identity
from storyproof.evaluation.runs import Prediction, RecordedRun, RunSource, read_runs, story_hash
from storyproof.example import Example
from storyproof.families.family import Family, family_of
from storyproof.stats import Flags, Floats, Ints

_ABOVE = 4  # folders above a run's file below which data are looked for by name
_DEEP, _MOST_FOLDERS = 4, 2_000  # how deep, and in how many folders


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question that at least one run answered.

    Attributes:
        id: The example's id.
        story_id: Its story.
        question: What was asked; empty if the run does not say.
        target: The label by which answers were scored.
        question_type: As published.
        kind: The kind of question.
        order: How many minds it goes through, if known.
        false_belief: Whether it asks for a belief that is false, if known.
        example: The row, if the data could be read.
        story_number: The place of its story in the data, counted from 0; -1 if unknown.
        proved: The answer that is proved, if it is not the label; empty if none follows. None if not known or the same.
    """

    id: str
    story_id: str
    question: str
    target: str
    question_type: str
    kind: str
    order: int | None
    false_belief: bool | None
    example: Example | None = None
    story_number: int = -1
    proved: str | None = None


@dataclass(frozen=True, slots=True)
class SolverRun:
    """One run of a board.

    Attributes:
        title: What tells it from the other runs of the board.
        judged: The run, with what counts of its answers.
        places: The question of each answer, by number; several people may have answered the same.
        right: Which of the answers are right.
        predictions: The answers, in the same order.
    """

    title: str
    judged: JudgedRun
    places: Ints
    right: Flags
    predictions: tuple[Prediction, ...]

    @property
    def about(self) -> Mapping[str, Any]:
        """What the run recorded besides its answers."""
        return self.judged.run.about

    def shares(self) -> tuple[Ints, Floats]:
        """Return the questions that were answered, each once, and the share of their answers that is right."""
        places, number = np.unique(self.places, return_inverse=True)
        return places, np.bincount(number, weights=self.right) / np.bincount(number)


@dataclass(frozen=True, slots=True)
class Board:
    """Runs on the same data.

    Attributes:
        name: The data's name in the report.
        split: Which split.
        labels: Whether labels are as `given` or as `proved`.
        benchmark: The benchmark that the data come from, if known.
        questions: All that was asked.
        stories: The story of each question, by number.
        solvers: The runs, the best first.
        notes: What a reader must know about the data, such as that they are gone.
    """

    name: str
    split: str | None
    labels: str
    benchmark: str
    questions: tuple[AskedQuestion, ...]
    stories: Ints
    solvers: tuple[SolverRun, ...]
    notes: tuple[str, ...]

    @property
    def family(self) -> Family | None:
        """The family of the questions; None if the data could not be read."""
        return next((family_of(each.example) for each in self.questions if each.example), None)


def read_all(sources: Iterable[str | Path | RunSource]) -> tuple[list[RecordedRun], list[str]]:
    """Read runs from files, folders and objects; return them and notes about files of folders that hold none.

    Raises:
        DataError: If a file cannot be read, or there is no run at all.
    """
    found: list[RecordedRun] = []
    notes: list[str] = []
    for source in sources:
        if isinstance(source, str | Path) and Path(source).is_dir():
            before = len(found)
            for file in sorted(Path(source).glob("*.json")):
                try:
                    found += read_runs(file)
                except DataError as error:
                    notes.append(f"left out {file.name}: {error}")
            if len(found) == before:
                raise DataError(f"{source} contains no runs; give files that evaluate wrote, or a folder of them.")
        else:
            found += read_runs(source)
    if not found:
        raise DataError("there are no runs; give files that evaluate wrote, or a folder of them.")
    return found, notes


def gather(runs: Sequence[RecordedRun], data: Sequence[str | Path] = ()) -> list[Board]:
    """Group runs by the data and labels that they were scored on.

    Args:
        runs: All runs.
        data: Where to look for data first, for those that have moved.

    Raises:
        DataError: If a run holds no answers.
    """
    groups: dict[tuple[Any, ...], list[RecordedRun]] = {}
    for run in (_with_targets(each, data) for each in runs):
        groups.setdefault(_identity(run), []).append(run)
    names = Counter(_name(members[0]) for members in groups.values())
    boards = []
    for members in groups.values():
        first = members[0]
        name = _name(first)
        if names[name] > 1:
            folder = Path(first.data or "").parent.name
            name += f", {first.labels} labels" if first.labels == PROVED else f" ({folder})" if folder else ""
        boards.append(_board(name, members, data))
    return boards


def _with_targets(run: RecordedRun, data: Sequence[str | Path]) -> RecordedRun:
    """Return a run whose answers have targets: if it has none, as answers from elsewhere, those of the data.

    Raises:
        DataError: If no data have all of its questions.
    """
    if all(each.failed or each.right is not None or each.target is not None for each in run.predictions):
        return run
    for place in data:
        for source in find_sources(place):
            known = {each.id: each for each in iterate_examples(source)}
            if all(each.id in known for each in run.predictions):
                scored = tuple(_scored(each, known[each.id]) for each in run.predictions)
                about = {
                    **run.about,
                    "run": {"data": data_identity(source)},
                }  # by which runs on the same data are known
                return replace(run, predictions=scored, data=str(place), split=source.split, labels=GIVEN, about=about)
    raise DataError(
        f"{run.where} contains answers without targets, and "
        + ("none of the data has all of its ids." if data else "no data; say with --data which data it answers.")
    )


def _scored(each: Prediction, example: Example) -> Prediction:
    return replace(
        each,
        story_id=example.story_id,
        story_hash=story_hash(example.story),
        question_type=example.question_type,
        question=example.question,
        target=example.answer,
        right=(each.answer or "").strip().casefold() == example.answer.casefold(),
    )


def _identity(run: RecordedRun) -> tuple[Any, ...]:
    """Return what is the same for runs on the same questions and labels."""
    hashes = _hashes(run)
    return (tuple(sorted(hashes.values())) if hashes else run.data, run.split, run.labels or "given")


def _hashes(run: RecordedRun) -> dict[str, str]:
    recorded = run.about.get("run")
    data = recorded.get("data") if isinstance(recorded, Mapping) else None
    files = data.get("files") if isinstance(data, Mapping) else None
    return {str(name): str(value) for name, value in files.items()} if isinstance(files, Mapping) else {}


def _benchmark(run: RecordedRun) -> str:
    recorded = run.about.get("run")
    data = recorded.get("data") if isinstance(recorded, Mapping) else None
    manifest = data.get("manifest") if isinstance(data, Mapping) else None
    return str(manifest.get("benchmark") or "") if isinstance(manifest, Mapping) else ""


def _name(run: RecordedRun) -> str:
    place = Path(run.data).name if run.data else "unnamed data"
    return f"{place} {run.split}" if run.split and run.split not in place else place


# --- the data


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows of a run's data by id, the places of their stories, and what is to be said about them."""

    examples: dict[str, Example]
    numbers: dict[str, int]
    proved: dict[str, str] | None
    notes: tuple[str, ...]


def _find(run: RecordedRun, data: Sequence[str | Path]) -> _Found:
    hashes, changed = _hashes(run), False
    if run.data is None and not data:
        return _Found({}, {}, None, ("The runs do not say which data they answered, so stories are not shown.",))
    for place in _places(run, hashes, data):
        try:
            source = find_source(place, None if Path(place).is_file() else run.split)
            if hashes and {file.sha256() for file in source.files} != set(hashes.values()):
                changed = True
                continue
        except (DataError, UnknownNameError, OSError):
            continue
        return _read(run, source)
    name = Path(run.data).name if run.data else "the data"  # a page is shared, so it names no folder of this machine
    if changed:
        text = f"{name} has changed since it was answered, so stories are not shown."
    else:
        text = f"{name} is missing, so stories are not shown; say with --data where it is."
    return _Found({}, {}, None, (text,))


def _places(run: RecordedRun, hashes: Mapping[str, str], data: Sequence[str | Path]) -> Iterator[str | Path]:
    """Yield where the data of a run may be: as given, as recorded, and wherever files of their names are.

    The path that a run recorded may start from any folder above the run's file. Files are looked for by name below the
    given folders, then below the run's own folder and those above it.
    """
    yield from data
    above: list[Path] = []
    for folder in [] if run.path is None else run.path.resolve().parents:
        above.append(folder)
        if (folder / ".git").exists():
            break
    if run.data is not None:
        yield run.data
        yield from (folder / run.data for folder in above)
    left = _MOST_FOLDERS
    seen: set[Path] = set()
    for top in [*map(Path, data), *above[:_ABOVE]]:
        for folder, files in _walk(top):
            left -= 1
            if left < 0:
                return
            if folder not in seen and not hashes.keys().isdisjoint(files):
                seen.add(folder)
                yield folder
                yield from (folder / name for name in hashes if name in files)


def _walk(top: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield the folders below a folder with the names of their files, without hidden ones and not too deep."""
    for folder, folders, files in os.walk(top):
        depth = len(Path(folder).relative_to(top).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _DEEP else []
        yield Path(folder), files


def _read(run: RecordedRun, source: Source) -> _Found:
    """Read the rows, with labels as the run had them; if it had those given, also the proved ones."""
    examples: dict[str, Example] = {}
    numbers: dict[tuple[str, str], int] = {}
    try:
        for each in iterate_examples(source, proved=run.labels == PROVED):
            examples[each.id] = each
            numbers.setdefault((each.split, each.story_id), len(numbers))
    except (DataError, ParseError) as error:
        reason = str(error).replace(str(source.name), Path(str(source.name)).name)
        return _Found({}, {}, None, (f"The stories are not shown: {reason}",))
    proved: dict[str, str] | None = None
    if run.labels != PROVED:
        try:
            proved = {each.id: each.answer for each in iterate_examples(source, proved=True)}
        except (DataError, ParseError):
            proved = None  # the labels cannot be proved, so there is nothing to compare
    places = {row: numbers[each.split, each.story_id] for row, each in examples.items()}
    return _Found(examples, places, proved, ())


# --- the questions


def _board(name: str, runs: Sequence[RecordedRun], data: Sequence[str | Path]) -> Board:
    first = runs[0]
    found = _find(first, data)
    judged = [judge_run(run) for run in runs]
    asked: dict[str, AskedQuestion] = {}
    unlike = 0
    for run in runs:
        for each in run.predictions:
            if each.id not in asked and not each.failed:
                asked[each.id] = _question(each, found)
                unlike += each.id in found.examples and asked[each.id].example is None
    order = {row: number for number, row in enumerate(found.examples)}
    questions = tuple(sorted(asked.values(), key=lambda each: order.get(each.id, len(order))))
    number = {each.id: place for place, each in enumerate(questions)}
    names = {story: place for place, story in enumerate(dict.fromkeys(each.story_id for each in questions))}
    notes = list(found.notes)
    if unlike:
        place = Path(first.data or "the data").name
        notes.append(f"{unlike:,} questions have another text in {place} than was answered; these are not shown.")
    titles = _titles(runs)
    notes += [f"{title}: {run.about['note']}" for title, run in zip(titles, runs, strict=True) if run.about.get("note")]
    solvers = [_solver(title, each, number) for title, each in zip(titles, judged, strict=True)]
    solvers.sort(key=lambda each: -float(each.right.mean()))
    benchmark = _benchmark(first) or next((each.example.benchmark for each in questions if each.example), "")
    return Board(
        name=name,
        split=first.split,
        labels=first.labels or "given",
        benchmark=benchmark,
        questions=questions,
        stories=np.array([names[each.story_id] for each in questions], np.int64),
        solvers=tuple(solvers),
        notes=tuple(notes),
    )


def _question(each: Prediction, found: _Found) -> AskedQuestion:
    example = found.examples.get(each.id)
    if example is not None and (
        (each.story_hash is not None and story_hash(example.story) != each.story_hash)
        or (each.question is not None and example.question != each.question)
    ):
        example = None
    proved = None
    if example is not None and found.proved is not None:
        answer = found.proved.get(each.id, "")
        proved = answer if answer != example.answer else None
    return AskedQuestion(
        id=each.id,
        story_id=each.story_id or each.id,
        question=example.question if example else each.question or "",
        target=each.target if each.target is not None else example.answer if example else "",
        question_type=each.question_type or (example.question_type if example else ""),
        kind=each.kind or (family_of(example).kind(example) if example else ""),
        order=example.order if example else each.order,
        false_belief=example.false_belief if example else each.false_belief,
        example=example,
        story_number=found.numbers.get(each.id, -1) if example else -1,
        proved=proved,
    )


def _solver(title: str, judged: JudgedRun, number: Mapping[str, int]) -> SolverRun:
    answered = sorted(judged.judged, key=lambda each: number[each[0].id])
    return SolverRun(
        title=title,
        judged=judged,
        places=np.array([number[each.id] for each, _ in answered], np.int64),
        right=np.array([right for _, right in answered], np.bool_),
        predictions=tuple(each for each, _ in answered),
    )


def _titles(runs: Sequence[RecordedRun]) -> list[str]:
    """Name runs by model, and where that is not enough by prompt, seed, matching and file, as far as these differ."""
    titles = [run.model for run in runs]
    for key, label in (("prompt", ""), ("seed", "seed "), ("matching", ""), ("path", "")):
        double = {title for title, count in Counter(titles).items() if count > 1}
        if not double:
            break
        values = [getattr(run, key) for run in runs]
        for title in double:
            members = [place for place, each in enumerate(titles) if each == title]
            if len({values[place] for place in members}) > 1:
                for place in members:
                    value = values[place].name if isinstance(values[place], Path) else values[place]
                    titles[place] = f"{title}, {label}{value}" if value else title
    seen: Counter[str] = Counter()
    for place, title in enumerate(titles):
        seen[title] += 1
        if seen[title] > 1:
            titles[place] = f"{title} ({seen[title]})"
    return titles
