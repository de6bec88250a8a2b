"""What the task files call. lm-evaluation-harness imports this file by its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storyproof.datasets.reading import as_example
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.evaluation.judge import judge_text
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.integrations.harness_questions import (
    Questionnaire,
    StoryAnswer,
    clustered_error,
    from_benchmark,
    from_data,
    joint_accuracy,
    reader_of,
    story_key,
)
from storyproof.reports.doctor import need_peer
from storyproof.solvers.solver import DEFAULT_PROMPT

_WHAT = "lm_eval with tasks of storyproof"
_OWN = ("asked", "choices", "gold", "matching", "asked_by", "draw", "stop", "story_key", "story_questions")
_SHARED = ("stories", "seed", "split", "prompt", "conventions", "matching")
_OF_BENCHMARKS = (*_SHARED, "preset")
_OF_DATA = ("path", "labels", *_SHARED)


def load(benchmark: str = "", storyproof: Mapping[str, Any] | None = None, **others: Any) -> dict[str, Any]:
    """Return the questions of a task.

    Args:
        benchmark: The benchmark; empty for data at a path.
        storyproof: What users set by `--metadata '{"storyproof": {…}}'`: `stories`, `seed`, `split`, `prompt`,
            `conventions`, `matching`, `preset` and the dials of the benchmark; for data `path` and `labels`.
        **others: What lm-evaluation-harness adds, such as the arguments of the model; not used.

    Raises:
        ConfigError: If a setting is not known, or its value is not valid.
        DataError: If data cannot be read.
    """
    del others
    need_peer("lm-eval", "lm-eval", _WHAT)
    peer = need_peer("datasets", "datasets", _WHAT)
    settings = _settings(storyproof)
    matching = str(settings.pop("matching", "careful"))
    prompt, seed = str(settings.get("prompt", DEFAULT_PROMPT)), settings.get("seed", 0)
    if benchmark:
        dials = {name: settings.pop(name) for name in list(settings) if name not in _OF_BENCHMARKS}
        questions = from_benchmark(benchmark, dials=dials, **settings)
    else:
        for name in settings:
            if name not in _OF_DATA:
                raise UnknownNameError("setting of storyproof_data", name, _OF_DATA)
        if "path" not in settings:
            raise ConfigError(
                """no data were named; add `--metadata '{"storyproof": {"path": "FOLDER_OR_FILE"}}'` to the command."""
            )
        questions = from_data(**settings)
    if len(questions.requests) > 1:
        raise ConfigError(
            f"the prompt '{prompt}' asks in {len(questions.requests)} steps, which lm-evaluation-harness cannot; use "
            "another prompt, or storyproof evaluate, or Inspect."
        )
    own = {"matching": matching, "asked_by": prompt, "draw": seed}
    return {"test": peer.Dataset.from_list([{**_document(each, questions), **own} for each in questions.examples])}


def _settings(given: Mapping[str, Any] | None) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise ConfigError(
            f"""the metadata 'storyproof' is {given!r}; expected an object such as {{"seed": 7, "stories": 100}}."""
        )
    return dict(given or {})


def _document(example: Example, questions: Questionnaire) -> dict[str, Any]:
    candidates = sorted(family_of(example).candidates(example))
    key, request = story_key(example), questions.request(example)
    return {
        **example.as_row(),
        "asked": request.text,
        "stop": list(request.stop),
        "choices": candidates,
        "gold": candidates.index(example.answer) if example.answer in candidates else -1,
        "story_key": key,
        "story_questions": questions.sizes[key],
    }


def judge_reply(document: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Judge a reply as `storyproof evaluate` does."""
    example = as_example({name: value for name, value in document.items() if name not in _OWN})
    prompt = reader_of(document["asked_by"], document["draw"], example)
    reply = _cut(results[0], document["stop"])
    verdict = judge_text(prompt.answer([reply], example), example, document["matching"])
    return {**_values(document, verdict.right), "unparsed": float(verdict.unparsed)}


def _cut(reply: str, stops: Sequence[str]) -> str:
    """Return a reply up to where it would have stopped; a task file has the same stops for all prompts, so none."""
    return reply[: min((place for stop in stops if (place := reply.find(stop)) >= 0), default=len(reply))]


def judge_choice(document: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Judge the likeliest of the candidates; if several are, the first."""
    scores = [each[0] if isinstance(each, tuple | list) else each for each in results]
    best = max(range(len(scores)), key=lambda place: scores[place])
    return _values(document, best == document["gold"])


def _values(document: Mapping[str, Any], right: bool) -> dict[str, Any]:
    answer = [document["story_key"], document["story_questions"], float(right)]
    return {"acc": float(right), "acc_clustered_se": answer, "joint_acc": answer, "joint_acc_se": answer}


def average(values: Sequence[float]) -> float:
    """Return the mean; its error is that of `clustered`, as questions of one story hang together."""
    return sum(values) / len(values) if values else 0.0


def clustered(answers: Sequence[Sequence[Any]]) -> float:
    """Return the standard error of the average over stories."""
    return clustered_error(StoryAnswer(*each) for each in answers)


def joint(answers: Sequence[Sequence[Any]]) -> float:
    """Return the share of stories all of whose questions were answered rightly."""
    return joint_accuracy(StoryAnswer(*each) for each in answers)[0]


def joint_se(answers: Sequence[Sequence[Any]]) -> float:
    """Return the standard error of the joint accuracy."""
    return joint_accuracy(StoryAnswer(*each) for each in answers)[1]
