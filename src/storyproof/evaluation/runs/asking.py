"""Puts a language model through a dataset: asks, judges, counts and records."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from storyproof.errors import DataError, ModelError, NoAnswersError
from storyproof.evaluation.runs.files import Recorder
from storyproof.evaluation.runs.judging import Judged
from storyproof.evaluation.runs.outcome import INTERRUPTED, Evaluation
from storyproof.evaluation.runs.questioning import Progress, Questioning, Quiet
from storyproof.evaluation.runs.selection import Selection
from storyproof.locks import Claim
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.running import Run
from storyproof.solvers.llm.store import Store
from storyproof.solvers.solver import load_backend

STORE = "replies.sqlite"


def ask_model(
    about: tuple[str, str, str | None, str, int],
    chosen: Selection,
    asked: Questioning,
    options: ModelOptions,
    run_about: dict[str, Any],
    path: Path | None,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask a language model whatever is not known yet, and score all of it.

    Raises:
        DataError: If another process is asking the same.
        ModelError: If nothing could be asked, or nothing was answered.
    """
    if path is None:
        return _ask_and_record(about, chosen, asked, options, run_about, None, progress)
    with Claim(path.with_name(f".{path.name}.lock"), "--output-dir") as ours:
        if not ours:
            raise DataError(
                f"another process is asking for {path}; wait until it ends and run the same command again, which "
                "takes its replies, or choose another --output-dir."
            )
        return _ask_and_record(about, chosen, asked, options, run_about, path, progress)


def _ask_and_record(
    about: tuple[str, str, str | None, str, int],
    chosen: Selection,
    asked: Questioning,
    options: ModelOptions,
    run_about: dict[str, Any],
    path: Path | None,
    progress: Progress | None,
) -> Evaluation:
    start, progress = time.monotonic(), progress or Quiet()
    backend, prompt, recorder = load_backend(about[0], options), asked.load(), Recorder(path)
    judged = Judged(asked)
    try:
        with Store(None if path is None else path.parent / STORE) as store:
            watch = judged.watch(prompt, progress)
            run = Run(chosen.examples, prompt, backend, store, watch=watch, choose=asked.likelihood)
            judged.stop = run.stop
            progress.begin(about[0], prompt.name, lambda: sum(1 for _ in chosen.examples()))
            ended = _ask(run, progress)
            judged.count(run.answers(), recorder)
            model_about = backend.about()
        _refuse_nothing(about[0], judged, ended)
    except BaseException:
        recorder.drop()
        raise
    finally:
        progress.end()
        backend.close()
    found = Evaluation(
        *about,
        scores=judged.tally.scores(asked.matching),
        predictions=(),
        intervals=judged.tally.intervals(asked.matching),
        details={
            "prompt": {name: getattr(prompt, name, None) for name in ("name", "version", "sha256")},
            **judged.details(),
            "traffic": run.traffic.as_dict(),
            "options": {**options.identity(), "max_tokens": asked.max_tokens, "likelihood": asked.likelihood},
            "backend": model_about,
        },
        run={**run_about, "seconds": time.monotonic() - start},
        path=path,
        ended=ended,
        counts=judged.missing <= asked.max_failed,
    )
    return replace(found, predictions=recorder.finish(found.about()))


def _refuse_nothing(model: str, judged: Judged, ended: str | None) -> None:
    """Raise NoAnswersError if there is nothing to score."""
    if not len(judged.tally):
        why = ended or next(iter(judged.tally.errors), "nothing was asked")
        raise NoAnswersError(f"{model} gave no answer at all, so there is nothing to score: {why.rstrip('.')}.")


def _ask(run: Run, progress: Progress) -> str | None:
    """Ask; say why it ended early if it did and there is something to score."""
    try:
        run.ask()
    except KeyboardInterrupt:
        return INTERRUPTED
    except ModelError as error:
        if run.traffic.asked - run.traffic.failed <= 1 and not run.traffic.found:
            raise
        return str(error)
    return INTERRUPTED if progress.stopping() else None
