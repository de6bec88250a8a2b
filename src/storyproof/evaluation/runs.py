"""A run: a solver's predictions on a dataset with their scores, and the file that contains it.

A run's file (`<model>_<split>.json`) is one JSON object: `schema`, the fields of `Evaluation`, and `predictions`, each
on a line of its own (`Prediction`). What `evaluate --json` writes is a list of the same objects. This module
is the only one that writes and reads them. Files from before schema 1 have no `schema` and fewer fields per prediction;
they are still read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol, overload

from storyproof import __version__
from storyproof.errors import DataError, quoted
from storyproof.evaluation.scores import Scores
from storyproof.io.atomic_files import whole_file
from storyproof.io.bounded_input import LARGEST_RUN, DocumentError, parse_json, read_text
from storyproof.runtime.notebook import NotebookView
from storyproof.solvers.llm.language_model import INTERRUPTED

SCHEMA = 1
_ODD = re.compile(r"[^\w.+=-]+")
_BEGIN, _END = '"predictions": [\n', "]}\n"
_TEXTS = (
    "answer",
    "target",
    "story_id",
    "question_type",
    "question",
    "kind",
    "story_hash",
    "reply",
    "match",
    "answerer",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One answer of a run. All fields but `id` may be missing in files; a field that is None is not written.

    Attributes:
        id: The example's id.
        answerer: Who gave the answer, in runs of several people; these may answer the same question.
        story_id: Its story.
        story_hash: The first 16 hex digits of the SHA-256 of the story's text.
        question_type: As published.
        kind: The kind of question, such as `first_order` or `k=3`.
        order: How many minds the question goes through.
        false_belief: Whether it asks for a belief that differs from reality.
        question: What was asked.
        answer: The answer; of a free-text reply the candidate that it amounts to, else the reply.
        target: The label that it was scored against.
        reply: The free-text reply that was judged.
        match: The kind of match, by the run's matching.
        right: Whether it counts as right.
        steps: The replies to all steps, where they are more than `reply`.
        choice_scores: The log-likelihood of each choice.
        cut_off: Whether the reply was cut off before its answer.
        failed: Whether there is no answer; such a prediction is neither right nor wrong.
        effort: What the answer took, as far as the backend says: `prompt_tokens`, `output_tokens`, `cached_tokens`,
            `seconds`, `retries`. It differs from run to run.
    """

    id: str
    answerer: str | None = None
    story_id: str | None = None
    story_hash: str | None = None
    question_type: str | None = None
    kind: str | None = None
    order: int | None = None
    false_belief: bool | None = None
    question: str | None = None
    answer: str | None = None
    target: str | None = None
    reply: str | None = None
    match: str | None = None
    right: bool | None = None
    steps: list[str] | None = None
    choice_scores: list[float] | None = None
    cut_off: bool | None = None
    failed: bool | None = None
    effort: dict[str, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without fields that are None."""
        return {name: value for name in _FIELDS if (value := getattr(self, name)) is not None}

    @classmethod
    def from_dict(cls, row: Any, where: str) -> Prediction:
        """Read a prediction; fields that this version does not know are ignored.

        Raises:
            DataError: If it is not a prediction.
        """
        if not isinstance(row, Mapping) or not isinstance(row.get("id"), str):
            raise DataError(f"{where}: found {quoted(row)}; expected an object with 'id'.")
        for name in _TEXTS:
            if not isinstance(row.get(name), str | None):
                raise DataError(f"{where}: '{name}' is {quoted(row[name])}; expected text.")
        return cls(**{name: row[name] for name in _FIELDS if name in row})


_FIELDS = tuple(each.name for each in fields(Prediction))


@lru_cache(maxsize=64)  # the questions of a story are neighbours
def story_hash(story: str) -> str:
    """Return the hash by which predictions name the text of a story."""
    return hashlib.sha256(story.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Evaluation(NotebookView):
    """A solver's scores on a dataset, with what is needed to repeat them, and every answer with its label.

    Attributes:
        model: The solver's name.
        data: The data that it answered.
        split: Which split.
        labels: Whether labels are as `given` or as `proved`.
        seed: For whatever draws.
        scores: By the chosen matching.
        predictions: Every answer with its label, as `Prediction.as_dict` returns it.
        intervals: 95% intervals of the scores.
        details: The matching; of a language model also prompt, matchings side by side, failures, tokens, traffic.
        run: When, on what and with what it ran, and the hashes of the data.
        path: The file it was written to.
        kept: Where the run of other data or settings is now that was in this file.
        ended: Why it ended before all was asked, if it did.
        counts: Whether enough was answered for the scores to mean something.
        free_text: Whether answers are free-text replies, which were judged by several matchers side by side.
    """

    model: str
    data: str
    split: str | None
    labels: str
    seed: int
    scores: Scores
    predictions: Sequence[dict[str, Any]]
    intervals: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    kept: Path | None = None
    ended: str | None = None
    counts: bool = True
    free_text: bool = False

    @property
    def interrupted(self) -> bool:
        """Whether a user stopped it before all was asked."""
        return self.ended == INTERRUPTED

    def about(self) -> dict[str, Any]:
        """Return plain values for JSON, without the predictions."""
        about = {name: getattr(self, name) for name in ("model", "data", "split", "labels", "seed")}
        ended = {} if self.ended is None else {"ended": self.ended}
        return {
            "schema": SCHEMA,
            "storyproof": __version__,
            **about,
            **ended,
            **self.scores.as_dict(),
            "intervals": self.intervals,
            **self.details,
            "run": self.run,
        }

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**self.about(), "predictions": list(self.predictions)}


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run as it was recorded, for verbs that look at runs again.

    Attributes:
        where: The file, or what messages call the run.
        path: The file; None if the run did not come from one.
        model: Whose answers they are.
        data: The data that it answered, if it says.
        split: Which split.
        labels: Whether labels were as `given` or as `proved`.
        seed: For whatever drew.
        matching: How replies were judged; empty if it does not say.
        prompt: The name of the prompt; empty if there was none.
        stories: How many stories were answered as a whole, if it says.
        predictions: All answers; no id twice, unless several people have answered it.
        schema: The version of the form that it was written in; 0 before there were versions.
        about: All else that was recorded: scores, intervals, failures, tokens, provenance.
    """

    where: str
    path: Path | None
    model: str
    data: str | None
    split: str | None
    labels: str | None
    seed: str | None
    matching: str
    prompt: str
    stories: int | None
    predictions: tuple[Prediction, ...]
    schema: int
    about: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """The model, with the prompt if there is one."""
        return f"{self.model} ({self.prompt})" if self.prompt else self.model


RunSource = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | Evaluation


def read_runs(source: RunSource) -> list[RecordedRun]:
    """Read runs: from a file of `evaluate`, from JSON lines with `id` and `answer`, or from objects in memory.

    Raises:
        DataError: If there is no run; the message says what was found.
    """
    if isinstance(source, Evaluation):
        return [_run({**source.about(), "predictions": source.predictions}, source.path, source.model)]
    if isinstance(source, Mapping):
        return [_run(source, None, "the run")]
    if not isinstance(source, str | Path):
        return [_run(each, None, "the run") for each in source]
    path = Path(source)
    try:
        text = read_text(path, LARGEST_RUN)
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {path}: {error}; give a file that evaluate wrote.") from error
    read = _parse(text, path)
    if isinstance(read, dict):
        read = [{"predictions": [read]} if {"id", "answer"} <= set(read) else read]
    objects = [each for each in read if isinstance(each, Mapping)] if isinstance(read, list) else []
    objects = [each for each in objects if "predictions" in each or "model" in each]
    if not objects:
        raise DataError(f"{path} contains no run; expected an object with 'predictions', as evaluate writes it.")
    return [_run(each, path, path.stem) for each in objects]


def _parse(text: str, path: Path) -> Any:
    """Parse a file: one JSON value, or JSON lines."""
    expected = "expected a run that evaluate wrote, or one object with id and answer per line"
    try:
        return parse_json(text)
    except DocumentError as whole:
        rows: list[Any] = []
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                rows += [parse_json(line)] if line.strip() else []
            except DocumentError as error:
                if not rows:  # these are no lines, so what is wrong with the whole tells more
                    raise DataError(f"{path}: not valid JSON ({whole}); {expected}.") from whole
                raise DataError(f"{path}, line {number}: not valid JSON ({error}); {expected}.") from error
        return {"predictions": rows}


def _run(read: Mapping[str, Any], path: Path | None, name: str) -> RecordedRun:
    model, prompt = str(read.get("model") or name), read.get("prompt")
    where = str(path) if path is not None else "the run"
    schema = read.get("schema", 0)
    if not isinstance(schema, int) or schema > SCHEMA:
        raise DataError(
            f"{where} has schema {quoted(schema)}; this version of storyproof reads schemas up to {SCHEMA}; update it."
        )
    rows = read.get("predictions")
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not len(rows):
        raise DataError(f"{where} contains no predictions; run evaluate again with --output-dir, which records them.")
    predictions: dict[tuple[str, str | None], Prediction] = {}
    for number, row in enumerate(rows):
        prediction = Prediction.from_dict(row, f"{where}, prediction {number}")
        if predictions.setdefault((prediction.id, prediction.answerer), prediction) is not prediction:
            by = f" of {quoted(prediction.answerer)}" if prediction.answerer else ""
            raise DataError(f"{where} answers {prediction.id} more than once; keep one answer{by} for each id.")
    data, split, labels, seed = (
        None if read.get(key) is None else str(read[key]) for key in ("data", "split", "labels", "seed")
    )
    return RecordedRun(
        where=where,
        path=path,
        model=model,
        data=data,
        split=split,
        labels=labels,
        seed=seed,
        matching=str(read.get("matching") or ""),
        prompt=str(prompt.get("name") or "") if isinstance(prompt, Mapping) else "",
        stories=read["stories"] if isinstance(read.get("stories"), int) else None,
        predictions=tuple(predictions.values()),
        schema=schema,
        about={name: value for name, value in read.items() if name != "predictions"},
    )


def run_name(model: str, split: str | None, *more: str) -> str:
    """Return the name of a run's file; slashes and other special characters become dashes."""
    parts = [model, split or "all", *more]
    return "_".join(_ODD.sub("-", part).strip("-") for part in parts) + ".json"


class RecordedRows(Sequence[dict[str, Any]]):
    """Predictions in a run's file, read when they are needed."""

    def __init__(self, path: Path, count: int) -> None:
        self._path, self._count = path, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with self._path.open(encoding="utf-8") as file:
            for line in file:
                if line == _BEGIN:
                    break
            for line in file:
                if line == _END:
                    return
                yield json.loads(line.rstrip(",\n"))

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return list(self)[place]


class PredictionSink(Protocol):
    """Takes predictions one by one."""

    def add(self, prediction: Prediction) -> None:
        """Add the next prediction."""


class Recorder:
    """Collects predictions one by one, and writes them to a run's file when all is known.

    Until then they are in a file without a name, so that memory stays flat and nobody reads half a run. A run replaces
    the same run only (see `_identity`); another one that is in its file gets a name of its own.

    Args:
        path: The run's file; None keeps predictions in memory.

    Attributes:
        kept: Where another run is now that was in the file.

    Raises:
        DataError: If nothing can be written there.
    """

    def __init__(self, path: Path | None) -> None:
        self._path, self._count = path, 0
        self.kept: Path | None = None
        self._rows: list[dict[str, Any]] = []
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._draft = TemporaryFile("w+", encoding="utf-8", newline="\n", dir=path.parent)  # noqa: SIM115
            except OSError as error:
                raise _unwritable(path, error) from error

    def add(self, prediction: Prediction) -> None:
        """Add the next prediction."""
        row = prediction.as_dict()
        self._count += 1
        if self._path is None:
            self._rows.append(row)
        else:
            self._draft.write(json.dumps(row, ensure_ascii=False) + "\n")

    def finish(self, about: dict[str, Any]) -> Sequence[dict[str, Any]]:
        """Write the file, first what is known about the run; return the predictions."""
        if self._path is None:
            return self._rows
        try:
            with self._draft as rows, whole_file(self._path) as file:
                rows.seek(0)
                head = json.dumps(about, indent=2, ensure_ascii=False)[:-2] + ",\n" + _BEGIN
                file.write(head.encode("utf-8", "backslashreplace"))  # JSON writes surrogates so, too
                before = ""
                for line in rows:
                    file.write((before + line.rstrip("\n")).encode())
                    before = ",\n"
                file.write(("\n" * bool(before) + _END).encode())
                file.flush()  # whatever does not fit on the disk shows before another run is renamed
                self.kept = _keep_other_run(self._path, about)
        except OSError as error:
            raise _unwritable(self._path, error) from error
        return RecordedRows(self._path, self._count)

    def drop(self) -> None:
        """Discard all predictions."""
        if self._path is not None:
            self._draft.close()


def _identity(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked of whom, and how: a run of the same is the same one, repeated or resumed."""
    data = about.get("run", {}).get("data", {})
    asked = ("storyproof", "model", "split", "labels", "seed", "matching", "prompt", "options", "limits")
    return {"files": data.get("files"), **{name: about.get(name) for name in asked}}


def _keep_other_run(path: Path, about: Mapping[str, Any]) -> Path | None:
    """Rename the file of a run, unless it is the same run as a new one; return its name, if it has another now.

    Raises:
        OSError: If it cannot be renamed.
    """
    if not path.is_file():
        return None
    before = read_about(path)
    # JSON has no tuples, and text for other keys.
    if before is not None and _identity(before) == json.loads(json.dumps(_identity(about))):
        return None
    data = Path(str((before or {}).get("data") or "earlier")).name
    stem = f"{path.stem}_{_ODD.sub('-', data).strip('-') or 'earlier'}"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    kept = next(place for name in names if not (place := path.with_name(f"{name}.json")).exists())
    path.rename(kept)
    return kept


def read_about(path: Path) -> dict[str, Any] | None:
    """Read what a run's file says before its predictions; None if it is not a run, or not written like one."""
    lines: list[str] = []
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                if line == _BEGIN:
                    about = json.loads("".join([*lines, _BEGIN, _END]))
                    return about if isinstance(about, dict) and isinstance(about.get("run"), dict) else None
                lines.append(line)
    except (OSError, ValueError, RecursionError):
        pass
    return None


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot write {path}: {error.strerror}; choose another --output-dir.")
