"""`tracker`: what it reads is what was drawn, its laws, and its training in miniature."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import storyproof
from storyproof.catalog import load
from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.families.belief.curriculum import (
    BLANKS,
    FIELD,
    SLOTS,
    UNKNOWN,
    YES,
    BeliefCurriculum,
    Lessons,
    candidate_form,
)
from storyproof.generation.seeds import Draws
from storyproof.language.blanks import BLANK, Blanker
from storyproof.solvers.neural import drawn_training, tracker, tracker_training
from storyproof.solvers.neural.drawn_training import Noise, train_drawn
from storyproof.solvers.neural.tracker import (
    TrackerNetwork,
    TrackerSize,
    TrackerSolver,
    encode_forms,
    number_words,
    pick_rows,
)
from storyproof.solvers.neural.tracker_training import (
    TrackerPlan,
    TrackerRun,
    batch_loss,
    draw_batch,
    draw_stories,
)
from storyproof.solvers.solver import load_solver

TINY = {"stories": 60, "steps": 6, "batch": 8, "width": 16, "layers": 2, "workers": 1}
CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def _few_held_back() -> Iterator[None]:
    """Score on two blocks instead of twelve: otherwise that takes most of the time of a tiny training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracker_training, "_HELD_BLOCKS", 2)
        yield


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tracker") / "run"
    train_drawn(TrackerPlan, folder, {**TINY, "runs": 2}, device="cpu")
    return folder


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    blocks = storyproof.stream("tom-k", seed=5, split="test", preset="hard")
    return [row for number in range(3) for row in blocks[number].rows]


def text_of(words: tuple[str, ...], names: np.ndarray[Any, Any]) -> str:
    """Return a sentence with made-up names in its blanks."""
    made = iter(names.tolist())
    return " ".join(f"Name{next(made)}x" if word == BLANK else word for word in words)


def lines(curriculum: BeliefCurriculum, lessons: Lessons, story: int) -> Iterator[str]:
    for form, names in zip(lessons.form[story], lessons.names[story], strict=True):
        if form:
            yield text_of(curriculum.forms[form], names).replace("pad", "")


@pytest.mark.parametrize("block", range(6))
def test_lessons_have_the_answers_that_are_proved_from_their_text(block: int) -> None:
    curriculum = BeliefCurriculum(3, hi_tom=False)
    _, lessons = curriculum.block(block, 40)
    assert len(lessons.form)
    blanker = Blanker(curriculum.words)
    for story in range(min(3, len(lessons.form))):
        text = [f"{line[0].upper()}{line[1:]}." for line in lines(curriculum, lessons, story)]
        sentences = blanker.story(text)
        assert [each.words for each in sentences] == [curriculum.forms[form] for form in lessons.form[story] if form]
        length = len(text)
        for number in range(lessons.question.shape[1]):
            form, asked = lessons.question[story, number], lessons.asked[story, number]
            words, is_set = curriculum.forms[form], curriculum.forms[form][0] == "who"
            candidate = 0
            if is_set:  # the last blank has the person of whom it is asked
                candidate, words = asked[words.count(BLANK) - 1], words[:-1]
                asked = asked[: words.count(BLANK)]
            question = text_of(words, asked)
            assert blanker.question(question).words == words
            if len({name for name in asked.tolist() if 0 <= name < 8}) < sum(0 <= name < 8 for name in asked):
                continue
            question = f"{question[0].upper()}{question[1:]}?"
            if words[:2] == ("where", "do"):
                names = [f"Name{name}x" for name in asked.tolist() if 0 <= name < 8]
                question = question.replace(" ".join(names[:-1]), ", ".join(names[:-1]))
            proved = (
                load("family", "belief").prove_text("\n".join(text).replace(" are in ", " is in "), question).answer
                or "unknown"
            )
            code = int(lessons.answer[story, number, length - 1])
            if is_set:
                proved = "yes" if f"Name{candidate}x" in proved.split(", ") else "no"
            expected = f"Name{code}x" if code < SLOTS else {UNKNOWN: "unknown", YES: "yes"}.get(code, "no")
            assert proved.lower() == expected.lower(), (text, question)


def test_blocks_of_every_wording_have_sentences_that_the_tracker_of_text_knows() -> None:
    curriculum = BeliefCurriculum(0)
    wordings = {curriculum._draw_dials(Draws("w", number))[0] for number in range(60)}
    assert wordings == {0, 1, FIELD}
    known = {*curriculum.forms}
    blanker = Blanker(curriculum.words)
    for benchmark, settings in (("tomi", {}), ("tomi-matched", {}), ("tom-k", {"preset": "hard"})):
        for story in range(5):
            for row in storyproof.stream(benchmark, seed=9, split="test", **settings)[story].rows:
                assert {each.words for each in blanker.story(row.story.splitlines())} <= known
                words = blanker.question(row.question).words
                assert (candidate_form(words) if words[0] == "who" else words) in known


def test_people_who_do_something_together_do_it_one_by_one() -> None:
    blanker = Blanker(["and", "entered", "the", "told", "everybody"])
    watch = Blanker(["the", "to", "watch", "room", "the room", "in"]).question("To watch the watch in the room In")
    assert watch == (("to", "watch", "the", BLANK, "in", "the", "room", BLANK), ("watch", "in"))
    sentences = blanker.story(["1 Ada, Bo and Cy entered the attic.", "Ada told Bo."])
    assert [each.names for each in sentences] == [("ada", "attic"), ("bo", "attic"), ("cy", "attic"), ("ada", "bo")]
    assert sentences[0].words == (BLANK, "entered", "the", BLANK)


def test_names_carry_nothing(trained: Path, examples: list[Example]) -> None:
    solver = TrackerSolver(trained, device="cpu")
    words = sorted({word.strip(".,?") for each in examples for word in f"{each.story} {each.question}".split()})
    names = [word for word in words if word.lower() not in solver.about["words"]]
    new = {name: f"Q{number}z" for number, name in enumerate(reversed(names))}

    def renamed(text: str) -> str:
        return " ".join("\n".join(_renamed(part, new) for part in word.split("\n")) for word in text.split(" "))

    others = [replace(each, story=renamed(each.story), question=renamed(each.question)) for each in examples]
    answers, again = solver.predict(examples), solver.predict(others)
    assert [sorted(new.get(name, name) for name in answer.split(", ")) for answer in answers] == [
        sorted(answer.split(", ")) for answer in again
    ]


def _renamed(word: str, new: dict[str, str]) -> str:
    bare = word.strip(".,?")
    return word.replace(bare, new[bare]) if bare in new else word


def test_padding_and_other_questions_change_nothing(trained: Path, examples: list[Example]) -> None:
    solver = TrackerSolver(trained, device="cpu")
    together = solver.predict([*examples, *storyproof.stream("tomi", seed=1, split="test")[0].rows])
    assert [solver.predict([each])[0] for each in examples[:6]] == together[:6]
    network, form = solver.network, torch.randint(1, 5, (1, 9))
    forms = encode_forms([(), (BLANK,), (BLANK, "the"), ("the", BLANK), (BLANK, BLANK)], solver._words)
    names = torch.randint(-1, SLOTS, (1, 9, BLANKS))
    form[:, 6:], names[:, 6:] = 0, -1
    positions = torch.arange(9)[None]
    short = network.follow(network.read(forms, form[:, :6], names[:, :6]), positions[:, :6])
    long = network.follow(network.read(forms, form, names), positions)
    for one, other in zip(short, long, strict=True):
        assert torch.allclose(one, other[:, :6], atol=1e-5)


def test_reading_for_training_and_for_answers_gives_the_same_numbers(trained: Path) -> None:
    table, rows = torch.randn(7, 3, requires_grad=True), torch.tensor([[2, -1], [6, 0]])
    picked = pick_rows(table, rows)
    with torch.no_grad():
        assert torch.equal(picked, pick_rows(table, rows))
    picked.sum().backward()  # type: ignore[no-untyped-call]
    assert table.grad is not None
    assert table.grad[:, 0].tolist() == [1, 0, 1, 0, 0, 0, 1]


def test_names_are_read_alike_whatever_their_numbers() -> None:
    run = new_run({})
    batch = draw_batch(run.stories[0], 5, Noise(torch.tensor(4)))
    shift = (torch.arange(SLOTS) + 7) % SLOTS
    moved = batch._replace(
        names=torch.where(batch.names < 0, batch.names, shift[batch.names.clamp(min=0)]),
        numbers=torch.empty_like(batch.numbers).scatter_(1, shift.expand(5, -1), batch.numbers),
    )
    one, two = (run.network.read(run.forms, each.form, each.names, each.numbers) for each in (batch, moved))
    assert torch.allclose(one.states, two.states, atol=1e-5)
    assert torch.allclose(one.names, two.names[:, shift], atol=1e-5)


def test_scenes_are_those_of_the_sentences() -> None:
    _, lessons = BeliefCurriculum(3).block(1, 40)
    curriculum = BeliefCurriculum(3)
    entered = exited = 0
    for story in range(len(lessons.form)):
        where: dict[int, int] = {}
        for form, names, room, present in zip(
            lessons.form[story], lessons.names[story], lessons.room[story], lessons.present[story], strict=True
        ):
            words = curriculum.forms[form]
            if words[1:2] == ("entered",) or words == (BLANK, "is", "in", "the", BLANK):
                where[int(names[0])] = int(names[1])
                entered += 1
            elif words[1:2] == ("exited",):
                assert where.pop(int(names[0])) == names[1]
                exited += 1
            if words[1:2] in (("entered",), ("exited",)):
                assert room == names[1]
                assert present == sum(1 << agent for agent, place in where.items() if place == room)
            elif words[1:2] == ("moved",):
                assert room == where[int(names[0])]
    assert entered > 100 < exited


def new_run(options: dict[str, Any]) -> TrackerRun:
    plan, curriculum = TrackerPlan.of({**TINY, **options}), BeliefCurriculum(0)
    stories = draw_stories(plan, CPU)
    return TrackerRun(plan, 0, curriculum.forms, curriculum.words, stories, stories, CPU)


def test_a_batch_is_learnt_by_heart() -> None:
    run = new_run({"width": 32})
    batch = draw_batch(run.stories[0], 4, Noise(torch.tensor(3)))
    optimizer = torch.optim.Adam(run.network.parameters(), 0.01)
    losses = []
    for _ in range(100):
        loss = batch_loss(run.network, run.forms, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.05 < losses[0]


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = TrackerRun.learn

    def stop(self: TrackerRun) -> Any:
        if self.step == 4:
            drawn_training._save(tmp_path / "run", self.plan, {}, {"scores": [], "steps": [], "seconds": []}, self)
            raise KeyboardInterrupt
        return learn(self)

    monkeypatch.setattr(TrackerRun, "learn", stop)
    with pytest.raises(KeyboardInterrupt):
        train_drawn(TrackerPlan, tmp_path / "run", {**TINY, "runs": 2}, device="cpu")
    monkeypatch.setattr(TrackerRun, "learn", learn)
    train_drawn(TrackerPlan, tmp_path / "run", {**TINY, "runs": 2}, device="cpu")
    name = "weights.safetensors"
    assert (tmp_path / "run" / name).read_bytes() == (trained / name).read_bytes()
    assert not (tmp_path / "run" / "checkpoint.pt").exists()


def test_a_finished_training_is_not_repeated_and_another_not_overwritten(trained: Path) -> None:
    before = (trained / "run.json").stat().st_mtime_ns
    assert len(train_drawn(TrackerPlan, trained, {**TINY, "runs": 2}, device="cpu")["scores"]) == 2
    assert (trained / "run.json").stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match="another training"):
        train_drawn(TrackerPlan, trained, {**TINY, "runs": 1}, device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stepss": 3}, "tracker has no option 'stepss'"),
        ({"order": 5}, "order 4 at most"),
        ({"steps": 0}, "steps is 0; use a number from 1 on"),
        ({"width": 12}, "multiple of 8"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrackerPlan.of(options)


def test_a_folder_without_a_tracker_is_refused(tmp_path: Path, trained: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"model": "tracker"}))
    with pytest.raises(DataError, match="no readable tracker"):
        TrackerSolver(tmp_path)
    with pytest.raises(ConfigError, match="does not use an encoder"):
        load_solver(str(trained), encoder="somewhere")


def test_the_network_has_at_most_five_megabytes() -> None:
    network = TrackerNetwork(len(number_words(BeliefCurriculum().words)) + 1, TrackerSize())
    assert 2 * sum(value.numel() for value in network.parameters()) < 5_000_000


@pytest.mark.parametrize(
    ("name", "benchmark", "settings", "least"),
    [
        ("tracker", "tomi", {}, 0.98),
        ("tracker", "tomi-matched", {}, 0.98),
        ("tracker", "tom-k", {"preset": "hard"}, 0.98),
        ("composer", "clutrr", {"test_k": (2, 3)}, 0.9),
    ],
)
def test_the_models_that_are_part_of_the_package_answer_what_they_are_for(
    name: str, benchmark: str, settings: dict[str, Any], least: float
) -> None:
    blocks = storyproof.stream(benchmark, seed=23, split="test", **settings)
    rows = [row for number in range(20) for row in blocks[number].rows]
    solver = load_solver(name)
    answers = solver.predict(rows)
    assert sum(answer == row.answer for answer, row in zip(answers, rows, strict=True)) >= least * len(rows)
    folder = Path(tracker.__file__).parent / "checkpoints" / name
    assert sum(file.stat().st_size for file in folder.iterdir()) < 5_000_000
