from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from storyproof.errors import ConfigError
from storyproof.solvers.neural import training_loop as trainer_module
from storyproof.solvers.neural.data.batches import Batch, ExampleTable, order_of
from storyproof.solvers.neural.models.registry import build
from storyproof.solvers.neural.stacked_models import Stack, State
from storyproof.solvers.neural.training_job import Training
from storyproof.solvers.neural.training_loop import DivergedError, Trainer, TrainingStep, predict
from storyproof.solvers.training_settings import Settings
from tests.groups import only_first
from tests.solvers.neural.fixtures import CLUTRR, CPU, TOMI, UNFELT, course, some

# Between them: dropout on long and on short tables, people drawn anew, words made unknown, a falling rate, a clip.
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("entnet", TOMI, {"clip": 0.5, "weight_decay": 0.01, "word_dropout": 0.1}),
    ("relnet", TOMI, {"recast": False, "word_dropout": 0.1}),
    ("bilstm-mean", CLUTRR, {"options": {"dropout": 0.2, "policy": "randomised"}, "decay": True}),
    ("mac", CLUTRR, {"options": {"policy": "learned"}, "word_dropout": 0.1}),
    ("gat", CLUTRR, {"options": {"policy": "randomised"}, "decay": True, "clip": 1.0}),
]
cases = pytest.mark.parametrize(("name", "family", "changes"), only_first(2, CASES), ids=[case[0] for case in CASES])


def prepared(name: str, family: str, changes: dict[str, Any], **more: Any) -> Training:
    return course(name, some(family, 48), **{"epochs": 3, "rate": 0.005, **changes, **more})


def assert_same(first: Trainer, second: Trainer) -> None:
    (tensors, plain), (others, other) = first.state(), second.state()
    assert plain == other
    assert tensors.keys() == others.keys()
    for name, value in tensors.items():
        assert torch.equal(value, others[name]), name


@cases
def test_same_seed_same_result(name: str, family: str, changes: dict[str, Any]) -> None:
    trainers = [prepared(name, family, changes, runs=2).trainer for _ in range(2)]
    epochs = [[trainer.train_epoch() for _ in range(2)] for trainer in trainers]
    assert epochs[0] == epochs[1]
    assert_same(*trainers)
    other = prepared(name, family, changes, runs=2, seed=1).trainer
    assert other.train_epoch() != epochs[0][0]


@cases
def test_run_of_a_stack_equals_the_run_alone(name: str, family: str, changes: dict[str, Any]) -> None:
    made = prepared(name, family, changes, runs=3)
    together = made.trainer
    alone = [
        Trainer(
            Stack(lambda: build(name, made.shape, made.plan.options or {}), [part.seed], CPU),
            together.table,
            [part],
            together.settings,
            together.step.permutation,
            randomised=together.randomised,
        )
        for part in together.parts
    ]
    for _ in range(2):
        done = together.train_epoch()
        for run, trainer in enumerate(alone):
            own = trainer.train_epoch()
            assert own.loss[0] == pytest.approx(done.loss[run], rel=1e-4)
            assert own.held[0] == pytest.approx(done.held[run], abs=0.06)  # one example that is near the edge
    state = together.stack.state()
    for run, trainer in enumerate(alone):
        for part, value in trainer.stack.state().items():
            if not part.endswith(UNFELT):
                torch.testing.assert_close(state[part][run], value[0], rtol=1e-3, atol=1e-3)


@cases
def test_resumed_equals_uninterrupted(name: str, family: str, changes: dict[str, Any]) -> None:
    whole, first, second = (prepared(name, family, changes, runs=2).trainer for _ in range(3))
    epochs = [whole.train_epoch() for _ in range(3)]
    first.train_epoch()
    tensors, plain = first.state()
    first.train_epoch()  # what was given is a copy
    second.load(tensors, plain)
    assert [second.train_epoch() for _ in range(2)] == epochs[1:]
    assert_same(whole, second)
    assert whole.finished
    assert second.finished


def scripted(trainer: Trainer, monkeypatch: pytest.MonkeyPatch, script: list[list[float]]) -> list[State]:
    """Let what is held back score as written; gives the state after each epoch."""
    told, states = iter(script), []

    def held() -> list[float]:
        states.append(trainer.stack.state())
        return next(told)

    monkeypatch.setattr(trainer, "held_accuracy", held)
    return states


def test_stops_early_and_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = course("gat", some(CLUTRR, 30), runs=2, epochs=50, patience=2).trainer
    script = [[0.1, 0.5], [0.4, 0.5], [0.4, 0.6], [0.2, 0.1], [0.9, 0.6], [0.4, 0.9]]
    states = scripted(trainer, monkeypatch, script)
    best = []
    while not trainer.finished:
        best = trainer.train_epoch().best
    assert trainer.epoch == 5
    assert best == trainer.best_held == [0.4, 0.6]
    for name, value in trainer.best.items():
        assert torch.equal(value[0], states[1][name][0])  # the first of equals
        assert torch.equal(value[1], states[2][name][1])


@pytest.mark.parametrize("resumed", [False, True])
def test_patience_is_each_runs_own(monkeypatch: pytest.MonkeyPatch, resumed: bool) -> None:
    """A run that has stopped learns nothing more while others go on, just as when it is alone."""
    script = [[0.1, 0.5, 0.2], [0.2, 0.4, 0.3], [0.3, 0.9, 0.3], [0.2, 0.9, 0.9]]
    together = course("gat", some(CLUTRR, 30), runs=3, epochs=9, patience=1).trainer
    scripted(together, monkeypatch, script)
    for number in range(4):
        assert not together.finished
        if resumed and number == 2:
            state = together.state()
            together = course("gat", some(CLUTRR, 30), runs=3, epochs=9, patience=1).trainer
            together.load(*state)
            scripted(together, monkeypatch, script[2:])
        together.train_epoch()
    assert together.finished
    assert together.best_held == [0.3, 0.5, 0.3]
    for run, part in enumerate(together.parts):
        own = course("gat", some(CLUTRR, 30), epochs=9, patience=1)
        alone = Trainer(
            Stack(lambda own=own: build("gat", own.shape, own.plan.options or {}), [part.seed], CPU),  # type: ignore[misc]
            together.table,
            [part],
            together.settings,
            together.step.permutation,
        )
        scripted(alone, monkeypatch, [[scores[run]] for scores in script])
        while not alone.finished:
            alone.train_epoch()
        assert alone.best_held == [together.best_held[run]]
        for name, value in alone.best.items():
            torch.testing.assert_close(together.best[name][run], value[0], rtol=1e-3, atol=1e-3)


def spoilt(trainer: Trainer, monkeypatch: pytest.MonkeyPatch, run: int, value: float) -> None:
    """Let a run's losses be so from now on."""
    step = trainer.step

    def call(*given: Any) -> Tensor:
        loss = step(*given).clone()
        loss[run] = value
        return loss

    monkeypatch.setattr(trainer, "step", call)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_loss_that_is_no_number(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    trainer = course("gat", some(CLUTRR, 30), runs=3, patience=0).trainer
    trainer.train_epoch()
    best, held = {name: kept.clone() for name, kept in trainer.best.items()}, list(trainer.best_held)
    spoilt(trainer, monkeypatch, 1, value)
    with pytest.raises(
        DivergedError, match=r"run 2 of 3 failed in epoch 2.*--force and a lower --learning-rate than 0.001"
    ):
        trainer.train_epoch()
    assert trainer.epoch == 1
    assert not trainer.between_epochs
    assert trainer.best_held == held
    assert all(torch.equal(kept, best[name]) for name, kept in trainer.best.items())


def test_weights_that_are_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last step of an epoch may spoil weights whose loss nobody has seen yet."""
    trainer = course("gat", some(CLUTRR, 30), runs=2).trainer

    def held() -> list[float]:
        with torch.no_grad():
            next(iter(trainer.stack.weights.values()))[:] = float("nan")
        return [0.5, 0.5]

    monkeypatch.setattr(trainer, "held_accuracy", held)
    with pytest.raises(DivergedError, match="runs 1, 2 of 2 failed in epoch 1"):
        trainer.train_epoch()
    assert trainer.epoch == 0


def test_what_has_stopped_may_break_down(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = course("gat", some(CLUTRR, 30), runs=2, patience=1).trainer
    scripted(trainer, monkeypatch, [[0.5, 0.1], [0.5, 0.2], [0.5, 0.3]])
    trainer.train_epoch()
    trainer.train_epoch()
    spoilt(trainer, monkeypatch, 0, float("nan"))
    assert trainer.train_epoch().best == [0.5, 0.3]


def test_batch_is_no_larger_than_the_examples() -> None:
    trainers = [course("gat", some(CLUTRR, 30), batch=batch).trainer for batch in (24, 5000)]
    assert trainers[0].train_epoch() == trainers[1].train_epoch()
    assert_same(*trainers)


def test_never_stops_early_without_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = course("gat", some(CLUTRR, 30), epochs=5, patience=0).trainer
    scripted(trainer, monkeypatch, [[0.5]] * 5)
    while not trainer.finished:
        trainer.train_epoch()
    assert trainer.epoch == 5


def test_held_accuracy_is_each_runs_own() -> None:
    trainer = course("gat", some(CLUTRR, 60), runs=3).trainer
    trainer.train_epoch()
    for run, part in enumerate(trainer.parts):
        assert not set(part.train) & set(part.held)
        given = predict(trainer.stack, trainer.table, np.tile(part.held, (3, 1)))[run]
        right = (given == trainer.table.answers[torch.from_numpy(part.held)]).float().mean()
        assert trainer.held_accuracy()[run] == pytest.approx(float(right))


def test_prediction_does_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = course("bilstm-mean", some(CLUTRR, 60), runs=2).trainer
    rows = np.stack([np.arange(60), np.arange(60)[::-1]])
    found = predict(trainer.stack, trainer.table, rows)
    assert torch.equal(predict(trainer.stack, trainer.table, rows[::-1].copy())[0].flip(0), found[0])
    monkeypatch.setattr(trainer_module, "_PREDICT_PLACES", 7 * 2 * trainer.table.caps[-1][0])
    assert torch.equal(predict(trainer.stack, trainer.table, rows), found)


def test_prediction_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relation networks look at pairs of sentences, of which long stories have more than words."""
    trainer = course("relnet", some(TOMI, 60), runs=2).trainer
    taken = []

    def batch(picked: Tensor, noise: Tensor, size: int | None = None) -> Batch:
        found = ExampleTable.batch(trainer.table, picked, noise, size)
        taken.append((found.flat.numel(), found.story.shape[:3].numel() * found.story.shape[2]))
        return found

    monkeypatch.setattr(trainer.table, "batch", batch)
    monkeypatch.setattr(trainer_module, "_PREDICT_PLACES", 4000)
    predict(trainer.stack, trainer.table, np.stack([np.arange(60)] * 2))
    assert len(taken) > 2
    assert all(max(each) <= 4000 for each in taken)


@pytest.mark.parametrize("clip", [0.0, 0.01, 1e6])
def test_equals_the_plain_loop(clip: float) -> None:
    """The same steps, run by run, by plain modules and PyTorch's own optimiser and clipping."""
    made = course("memnn", some(TOMI, 90), runs=2, clip=clip, weight_decay=0.01, recast=False)
    trainer = made.trainer
    models = []
    for run, part in enumerate(trainer.parts):
        model = build("memnn", made.shape, made.plan.options or {})
        model.load_state_dict({name: value[run] for name, value in trainer.stack.state().items()})
        adam = torch.optim.AdamW(model.parameters(), lr=0.001, weight_decay=0.01)
        for rows in order_of([part.train], 16, 0, [part.seed], trainer.table.size_of)[:, 0]:
            picked = torch.from_numpy(rows)
            adam.zero_grad()
            scores = model(trainer.table.batch(picked, torch.tensor(0)))
            torch.nn.functional.cross_entropy(scores, trainer.table.answers[picked]).backward()
            if clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            adam.step()
        models.append(model)
    trainer.train_epoch()
    for run, model in enumerate(models):
        for name, value in model.state_dict().items():
            torch.testing.assert_close(trainer.stack.state()[name][run], value, rtol=1e-4, atol=1e-5)


def test_clip_shortens_each_runs_gradient_alone() -> None:
    trainer = course("memnn", some(TOMI, 30), runs=2).trainer
    step = TrainingStep(trainer.stack, trainer.table, Settings(rate=0.1, clip=1.0))
    for number, weight in enumerate(step.weights):
        weight.grad = torch.ones_like(weight) * 1e-6
        if not number:
            weight.grad[1] = 3.0
    before = [weight.grad.clone() for weight in step.weights if weight.grad is not None]
    step._clip()
    after = [weight.grad for weight in step.weights if weight.grad is not None]
    for old, new in zip(before, after, strict=True):
        assert torch.equal(old[0], new[0])
    assert sum(float(new[1].square().sum()) for new in after) == pytest.approx(1.0, rel=1e-4)


def test_words_are_forgotten_but_nobody() -> None:
    rows = some(CLUTRR, 90)
    trainer = course("rn", rows, word_dropout=0.3).trainer
    step, flat = trainer.step, trainer.table.flat[None].long()
    told = step._drop_words(flat, torch.tensor([5]))
    words = (flat > 1) & (flat < trainer.table.first_entity)
    assert torch.equal(told[~words], flat[~words])
    gone = told[words] != flat[words]
    assert (told[words][gone] == 1).all()
    assert abs(gone.float().mean() - 0.3) < 0.04
    longer = torch.nn.functional.pad(flat, (0, 9))
    assert torch.equal(step._drop_words(longer, torch.tensor([5]))[..., : flat.shape[-1]], told)


def test_rate_falls_along_a_cosine() -> None:
    trainer = course("gat", some(CLUTRR, 30), epochs=4, decay=True, rate=0.01).trainer
    rates = []
    for _ in range(4):
        trainer.train_epoch()
        rates.append(trainer.step.adam.param_groups[0]["lr"])
    assert rates == pytest.approx([0.01, 0.01 * (2 + 2**0.5) / 4, 0.005, 0.01 * (2 - 2**0.5) / 4])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epochs": 0}, "epochs is 0; use 1 or more"),
        ({"batch": 0}, "batch is 0; use 1 or more"),
        ({"patience": -1}, "patience is -1; use 0 or more"),
        ({"held_back": 1.0}, "held_back is 1.0; use a share between 0 and 1"),
        ({"rate": 0.0}, "rate is 0.0; use a number above 0"),
        ({"clip": -1.0}, "clip is -1.0; use 0 or more"),
        ({"word_dropout": 1.0}, "word_dropout is 1.0"),
        ({"weight_decay": -0.1}, "weight_decay is -0.1"),
        ({"rate": float("nan")}, "rate is nan"),
    ],
)
def test_bad_settings(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Settings(**changes)
