"""Named pipes, sockets, devices, folders and links in every place that is read, and names that are not UTF-8.

Each verb works, or raises an error of storyproof's own; none waits for a pipe that nobody writes to.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

import pytest

import storyproof
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import StoryproofError
from storyproof.evaluation.runs import read_runs
from storyproof.families.belief.vocabulary import load_vocabulary
from storyproof.families.kinship.language.scenes import load_scenes
from storyproof.io.atomic_files import writing_to
from storyproof.solvers.neural.checkpoint import CHECKPOINT, METRICS, PLAN, check_replaceable, start
from storyproof.solvers.neural.saved_runs import RUN, WEIGHTS
from storyproof.solvers.neural.solver import NeuralSolver
from tests.samples import examples
from tests.torture import test_mutated_inputs as mutated
from tests.torture.trial import Trial

LONGEST_S = 300  # much more than any case takes, for one that waits would wait for ever


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    short = Path("s")  # the names of sockets must be short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(short))
    short.rename(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _nowhere(path: Path) -> None:
    path.symlink_to(path.with_name("not there"))


def _pipe_behind_a_link(path: Path) -> None:
    target = path.with_name(f"behind-{path.name}")
    os.mkfifo(target)
    path.symlink_to(target)


def _empty(path: Path) -> None:
    path.touch()


def _endless(path: Path) -> None:
    path.symlink_to("/dev/urandom")


KINDS: tuple[Callable[[Path], None], ...] = (
    _pipe, _socket, _device, _terminal, _folder, _loop, _nowhere, _pipe_behind_a_link, _empty, _endless,
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Files, which of them becomes something else, and what is done then."""

    files: Callable[[], mutated.Files]
    name: str
    verbs: tuple[mutated.Verb, ...]


def _rows() -> mutated.Files:
    return {"test.jsonl": mutated.write_rows("tomi")}


def _with(**more: bytes) -> Callable[[], mutated.Files]:
    return lambda: {**_rows(), **{name.replace("_", "."): content for name, content in more.items()}}


def _written(benchmark: str, form: str) -> Callable[[], mutated.Files]:
    return lambda: dict(mutated.written(benchmark, form))


def _first(benchmark: str, form: str, suffix: str) -> Place:
    name = next(name for name, _ in mutated.written(benchmark, form) if name.endswith(suffix))
    return Place(_written(benchmark, form), name, (_verify_it(name), _verify_folder, *DATA))


def _verify_it(name: str) -> mutated.Verb:
    return lambda folder, out, random: storyproof.verify(folder / name)


def _verify_folder(folder: Path, out: Path, random: Random) -> object:
    return storyproof.verify(folder)


DATA: tuple[mutated.Verb, ...] = (
    lambda folder, out, random: storyproof.audit(folder, fix=out / "fixed"),
    lambda folder, out, random: storyproof.process(folder, out / "processed"),
    lambda folder, out, random: storyproof.show(folder),
    lambda folder, out, random: storyproof.evaluate("rules", folder),
)


def _trained(folder: Path, out: Path, random: Random) -> object:
    return NeuralSolver(folder / "runs", device="cpu").predict(list(examples("clutrr", "test", 1))[:2])


def _resumed(folder: Path, out: Path, random: Random) -> object:
    return start(folder / "training", mutated.a_training()[1])


def _forced(folder: Path, out: Path, random: Random) -> object:
    check_replaceable(folder / "training")
    with writing_to(folder / "training"):
        return start(folder / "training", mutated.a_training()[1], force=True)


def _training_files() -> mutated.Files:
    out, _ = mutated.a_training()
    return {
        f"{part}/{path.name}": path.read_bytes()
        for part in ("runs", "training")
        for path in (out / part).iterdir()
        if path.is_file()
    }


def _asked(folder: Path, out: Path, random: Random) -> object:
    model = f"{folder / 'models.py'}:answer"
    prompt = str(folder / "prompt.yaml") if os.path.lexists(folder / "prompt.yaml") else "zero-shot"
    return storyproof.evaluate(model, folder / "test.jsonl", prompt=prompt, output_dir=folder / "runs")


def _asking_files() -> mutated.Files:
    prompt = (mutated.PROMPTS / "zero-shot.yaml").read_bytes()
    return {**_rows(), "models.py": mutated.MODEL, "prompt.yaml": prompt, "runs/replies.sqlite": mutated.a_store()}


def _replaced(folder: Path, out: Path, random: Random) -> object:
    source = out / "source.jsonl"
    source.write_bytes(mutated.write_rows("tomi"))
    return storyproof.process(source, folder, force=True)


def _manifest_files() -> mutated.Files:
    content = mutated.write_rows("tomi")
    manifest = {"files": {"test.jsonl": {"sha256": "0" * 64}}}
    return {"test.jsonl": content, "manifest.json": json.dumps(manifest).encode()}


def _run_files() -> mutated.Files:
    return {
        **_rows(),
        "run.json": mutated.write_json(mutated.a_run()),
        "other.json": mutated.write_json(mutated.a_run()),
    }


def _placed(folder: Path, out: Path, random: Random) -> object:
    return storyproof.verify(folder / "placeholders.json")


def _set(folder: Path, out: Path, random: Random) -> object:
    return make_benchmark("clutrr", scenes=load_scenes(folder / "scene.yaml"))


def places() -> dict[str, Place]:
    """Every file that storyproof reads."""
    read_run: mutated.Verb = lambda folder, out, random: read_runs(folder / "run.json")  # noqa: E731
    compared: mutated.Verb = lambda folder, out, random: storyproof.compare(  # noqa: E731
        folder / "run.json", folder / "other.json"
    )
    rescored: mutated.Verb = lambda folder, out, random: storyproof.rescore(  # noqa: E731
        folder / "run.json", fixed=folder / "test.jsonl"
    )
    ruled: mutated.Verb = lambda folder, out, random: storyproof.verify(  # noqa: E731
        folder / "test.jsonl", rules=folder / "rules.yaml"
    )
    worded: mutated.Verb = lambda folder, out, random: make_benchmark(  # noqa: E731
        "tomi", vocabulary=load_vocabulary(folder / "words.yaml")
    )
    placeholders = mutated.write_json(mutated.PLACEHOLDERS)
    return {
        "jsonl": _first("tomi", "jsonl", ".jsonl"),
        "json": _first("tomi", "json", ".json"),
        "parquet": _first("tomi", "parquet", ".parquet"),
        "csv": _first("clutrr", "clutrr", ".csv"),
        "text": _first("tomi", "tomi", ".txt"),
        "trace": _first("tomi", "tomi", ".trace"),
        "manifest": Place(_manifest_files, "manifest.json", (_verify_folder, _replaced, *DATA)),
        "file of a manifest": Place(_manifest_files, "test.jsonl", (_verify_folder, _replaced, *DATA)),
        "run": Place(_run_files, "run.json", (read_run, compared, rescored)),
        "data of a run": Place(_run_files, "test.jsonl", (rescored,)),
        "rules": Place(_with(rules_yaml=mutated.RULES), "rules.yaml", (ruled,)),
        "vocabulary": Place(_with(words_yaml=mutated.WORDS), "words.yaml", (worded,)),
        "placeholders": Place(_with(placeholders_json=placeholders), "placeholders.json", (_placed,)),
        "scenes": Place(_with(scene_yaml=mutated.SCENE), "scene.yaml", (_set,)),
        "prompt": Place(_asking_files, "prompt.yaml", (_asked,)),
        "model": Place(_asking_files, "models.py", (_asked,)),
        "replies": Place(_asking_files, "runs/replies.sqlite", (_asked,)),
        "lock of a run": Place(_asking_files, "runs/.lock", (_asked,)),
        "run.json": Place(_training_files, f"runs/{RUN}", (_trained,)),
        "weights": Place(_training_files, f"runs/{WEIGHTS}", (_trained,)),
        "plan": Place(_training_files, f"training/{PLAN}", (_resumed, _forced)),
        "checkpoint": Place(_training_files, f"training/{CHECKPOINT}", (_resumed, _forced)),
        "metrics": Place(_training_files, f"training/{METRICS}", (_resumed, _forced)),
    }


@contextmanager
def in_time() -> Iterator[None]:
    """Raise TimeoutError if something waits for ever."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def call(verb: mutated.Verb, folder: Path, out: Path) -> None:
    """Call a verb, which may refuse its input in one sentence."""
    said = "."
    with in_time():
        try:
            verb(folder, out, Random(1))
        except StoryproofError as error:
            said = str(error)
    assert said.endswith("."), said


def attempt(place: Place, kind: Callable[[Path], None], verb: mutated.Verb, work: Path) -> None:
    """Put something else in the place of a file, and call a verb."""
    folder, out = work / "in", work / "out"
    for each in (folder, out):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir(parents=True)
    mutated.lay_down(place.files(), folder)
    path = folder / place.name
    path.unlink(missing_ok=True)
    kind(path)
    call(verb, folder, out)


def test_special_files(trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, place in places().items():
        for kind in KINDS:
            for number, verb in enumerate(place.verbs):
                with trial.case(f"{name}: {kind.__name__}, verb {number}"):
                    attempt(place, kind, verb, tmp_path / "work")


NAMES = (
    b"te\xffst",
    b"\xff_test",
    b"test-\xed\xa0\x80",
    "tést \u202e".encode(),
    b"test\n",
    b"test\x1b[31m",
    b"-test",
    b"te" * 100,
)


def test_names_of_files(trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that are not UTF-8, have control characters, or are as long as names can be."""
    monkeypatch.chdir(tmp_path)
    forms = (("tomi", "jsonl"), ("tomi", "json"), ("tomi", "parquet"), ("clutrr", "clutrr"), ("tomi", "tomi"))
    for benchmark, form in forms:
        for stem in NAMES:
            for verb in mutated.DATA_VERBS[::2]:
                with trial.case(f"{form} {stem!r} {verb.__name__}"):
                    folder, out = tmp_path / os.fsdecode(b"in\xff"), tmp_path / os.fsdecode(b"out\xff")
                    for each in (folder, out):
                        shutil.rmtree(each, ignore_errors=True)
                        each.mkdir()
                    for name, content in mutated.written(benchmark, form)[:2]:
                        (folder / (os.fsdecode(stem) + Path(name).suffix)).write_bytes(content)
                    call(verb, folder, out)


def test_paths_that_cannot_be(trial: Trial, tmp_path: Path) -> None:
    """Paths that are too long, go through a file, or have a NUL."""
    (tmp_path / "file").touch()
    for path in (tmp_path / ("x" * 300), tmp_path / ("x/" * 3000), tmp_path / "file" / "below", tmp_path / "a\0b"):
        for verb in mutated.DATA_VERBS:
            with trial.case(f"{str(path)[-20:]!r} {verb.__name__}"):
                with pytest.raises(StoryproofError) as found:
                    _call(verb, path, tmp_path)
                assert str(found.value).endswith(".")


def _call(verb: mutated.Verb, path: Path, out: Path) -> None:
    """Call a verb with the path of a file that is not in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutated, "only", lambda folder: path)
        verb(path, out, Random(2))
