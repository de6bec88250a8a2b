from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from storyproof.errors import ConfigError
from storyproof.families.family import family_of
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.models.registry import MODELS
from storyproof.solvers.neural.saved_runs import save_runs
from storyproof.solvers.neural.solver import NeuralSolver
from storyproof.solvers.neural.training_job import Training, TrainingPlan, TrainingSet, choose_device, identity_of
from storyproof.solvers.training_settings import Settings
from tests.groups import only_first
from tests.samples import changed
from tests.solvers.neural.fixtures import CLUTRR, SMALL, TOMI, course, some, trained


def two_lessons(name: str, family: str, **options: Any) -> Training:
    """One with stories given to hold back, one that draws them; their words differ."""
    rows = some(family, 96)
    lessons = [TrainingSet(rows[:30], rows[30:48], "first"), TrainingSet(rows[48:], name="second")]
    encoder = "fake" if MODELS[name].vectors else None
    settings = Settings(epochs=2, batch=10, rate=0.01, held_back=0.4, recast=family == CLUTRR)
    return Training(TrainingPlan(name, 2, 5, settings, {**SMALL[name], **options}, encoder, device="cpu"), lessons)


@pytest.mark.parametrize(
    ("name", "family", "options"),
    only_first(
        4,
        [
            ("entnet", TOMI, {}),
            ("memnn", CLUTRR, {"policy": "randomised"}),
            ("gat", CLUTRR, {}),
            ("bert-lstm", CLUTRR, {}),
            ("rn", CLUTRR, {"policy": "learned"}),
            ("bert", CLUTRR, {}),
            ("bert-lstm", TOMI, {}),
            ("bert", TOMI, {}),
        ],
    ),
)
def test_each_lesson_comes_out_as_runs_of_its_own(
    name: str, family: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Trained side by side over a common vocabulary, written with each one's own, read back: the same scores."""
    made = two_lessons(name, family, **options)
    trained(made)
    examples = [example for lesson in made.sets for example in [*lesson.train, *(lesson.held or ())]]
    for number, run in enumerate(made.results()):
        assert run.vocabulary.words == made.vocabularies[number].words
        assert run.about["lesson"] == made.sets[number].name
        save_runs(tmp_path / str(number), run)
        solver = NeuralSolver(tmp_path / str(number), device="cpu")
        for which in range(2):
            part = made.trainer.parts[2 * number + which]
            held = [examples[row] for row in part.held]
            given = solver.predict_all(held)[which]
            # In training, answers that the lesson does not teach count as wrong; by chance, one can be right.
            taught = made.vocabularies[number].answers
            pairs = zip(given, held, strict=True)
            right = np.mean([answer == each.answer and answer in taught for answer, each in pairs])
            assert right == pytest.approx(run.held[which])


def test_words_of_one_lesson_are_not_put_into_another() -> None:
    rows = some(TOMI, 96)
    plan = TrainingPlan("entnet", settings=Settings(epochs=1), options=SMALL["entnet"], device="cpu")
    with pytest.raises(ConfigError, match="would mix the words of several training sets; train on them separately"):
        Training(plan, [TrainingSet(rows[:48]), TrainingSet(rows[48:])])


@pytest.mark.parametrize("name", ["bert", "bert-lstm", "gat"])
def test_word_dropout_is_for_models_that_read_words(name: str) -> None:
    with pytest.raises(ConfigError, match=f"model '{name}' does not read words, so word_dropout has no effect"):
        course(name, some(CLUTRR, 30), word_dropout=0.1)


def test_first_of_many_runs_are_those_of_few() -> None:
    few, many = TrainingPlan("gat", 2, seed=3).seeds(), TrainingPlan("gat", 5, seed=3).seeds()
    assert many[:2] == few
    assert len(set(many)) == 5
    assert not set(TrainingPlan("gat", 5, seed=4).seeds()) & set(many)


def test_identity_is_of_data_and_plan_but_not_of_the_device() -> None:
    rows = some(CLUTRR, 30)
    same, other = course("gat", rows).identity, course("gat", rows).identity
    assert same == other
    changed = [
        course("gat", rows, runs=2),
        course("gat", rows, seed=1),
        course("gat", rows, epochs=9),
        course("gat", rows, options={"rounds": 1}),
        course("gat", rows[1:]),
        course("gat", rows, rows[:3]),
        course("gat", [replace(rows[0], answer=rows[1].answer), *rows[1:]]),
    ]
    seen = [str(each.identity) for each in changed]
    assert len({str(same), *seen}) == 8


def plan(model: str = "gat", encoder: str | None = None) -> TrainingPlan:
    return TrainingPlan(model, encoder=encoder, device="cpu")


def test_identity_without_the_course() -> None:
    rows = some(CLUTRR, 30)
    made = course("gat", rows, rows[:3])
    assert identity_of(made.plan, made.sets) == made.identity
    assert Training(made.plan, made.sets, {"said": "before"}).identity == {"said": "before"}


@pytest.mark.parametrize(
    "change",
    [
        {"query": ["Bea", "Ada"]},
        {"genders": ["Ada:female", "Bea:male"]},
        {"edges": [[1, 0]]},
        {"edge_types": ["mother"]},
        {"chain": ["Ada"]},
        {"story_id": "another"},
        {"split": "val"},
    ],
)
def test_identity_is_of_all_that_a_model_may_see(change: dict[str, Any]) -> None:
    """Also of which questions share a story, which are held back together."""
    graph = {"query": ["Ada", "Bea"], "genders": ["Ada:female", "Bea:female"], "edges": [[0, 1]]}
    rows = [changed(some(CLUTRR, 1)[0], edge_types=["daughter"], **graph)] * 2
    assert identity_of(plan(), [TrainingSet([rows[0], changed(rows[1], **change)])]) != identity_of(
        plan(), [TrainingSet(rows)]
    )


def test_identity_is_not_of_what_things_are_called() -> None:
    rows = some(TOMI, 12)
    other = [replace(each, id=f"my-{each.id}", story_id=f"my-{each.story_id}") for each in rows]
    assert identity_of(plan(), [TrainingSet(rows)]) == identity_of(plan(), [TrainingSet(other)])


def test_identity_tells_what_is_held_back_from_what_is_learnt() -> None:
    rows = some(CLUTRR, 30)
    lessons = [
        TrainingSet(rows),
        TrainingSet(rows[:20], rows[20:]),
        TrainingSet(rows[:21], rows[21:]),
        TrainingSet(rows[20:], rows[:20]),
    ]
    assert len({str(identity_of(plan(), [each])) for each in lessons}) == 4


def test_identity_is_of_the_encoder_not_of_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    lessons = [TrainingSet(some(TOMI, 12))]
    spelt = [identity_of(plan("bert", each), lessons) for each in ("encoder", "./encoder/", str(tmp_path / "encoder"))]
    assert spelt[0] == spelt[1] == spelt[2]
    assert str(tmp_path) not in str(spelt)
    (tmp_path / "encoder" / "config.json").write_text("[]")
    assert identity_of(plan("bert", "encoder"), lessons) != spelt[0]


def test_runs_say_where_the_encoder_lay_as_it_was_typed() -> None:
    about = course("bert", some(TOMI, 30)).results()[0].about
    assert (about["encoder"], about["encoder_identity"]) == ("fake", "fake")


def test_words_are_not_recast_where_vectors_stand_for_them() -> None:
    """An encoder's vectors of theory-of-mind stories know nothing of an exchange, so answers must stay."""
    assert course("bert", some(TOMI, 30)).trainer.step.permutation is None
    assert course("bert", some(CLUTRR, 30)).trainer.step.permutation is not None
    assert course("memnn", some(TOMI, 30)).trainer.step.permutation is not None
    assert course("memnn", some(TOMI, 30), recast=False).trainer.step.permutation is None


def test_people_of_theory_of_mind_as_entities() -> None:
    made = course("entnet", some(TOMI, 60), entities=True)
    assert made.shape.pool == 50
    assert made.trainer.train_epoch().loss[0] > 0
    assert (encode(some(TOMI, 60), made.vocabulary).flat >= made.vocabulary.first_entity).any()


def test_refusals() -> None:
    with pytest.raises(ConfigError, match="the data has too few stories to hold some back; give more"):
        course("entnet", some(TOMI, 6))
    with pytest.raises(ConfigError, match=r"has a val split without questions.*; add some, or use --held drawn"):
        course("entnet", some(TOMI, 12), [])
    with pytest.raises(ConfigError, match="runs is 0; use 1 or more"):
        course("entnet", some(TOMI, 12), runs=0)
    with pytest.raises(ConfigError, match="has no option 'slot'"):
        course("entnet", some(TOMI, 12), options={"slot": 3})
    with pytest.raises(ConfigError, match="'bert' needs a pretrained encoder; give --encoder a folder"):
        Training(TrainingPlan("bert", device="cpu"), [TrainingSet(some(TOMI, 12))])


def test_devices() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    for name in ("gpu", "mps", "xpu", "vulkan", "meta", "cpu:3", "cpu:0", "cuda:-1", "cuda:", "cuda:x", "cuda:01", ""):
        with pytest.raises(ConfigError, match=f"unknown device '{name}'; use cpu, cuda or auto"):
            choose_device(name)
    if not torch.cuda.is_available():
        assert choose_device("auto") == torch.device("cpu")
        with pytest.raises(ConfigError, match="device 'cuda' is not available"):
            choose_device("cuda")


def test_gpus_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    before = torch.get_float32_matmul_precision()
    try:
        assert choose_device("cuda:1") == torch.device("cuda:1")
        assert choose_device("auto") == choose_device("cuda") == torch.device("cuda")
    finally:
        torch.set_float32_matmul_precision(before)
    with pytest.raises(ConfigError, match=r"'cuda:2' is not available: PyTorch .* finds cuda:0 to cuda:1 only; use"):
        choose_device("cuda:2")


def test_families() -> None:
    assert family_of(some(TOMI, 1)[0]).title == "theory of mind"
    assert family_of(some(CLUTRR, 1)[0]).title == "kinship"
