"""Where models drop what, and that they do so in training only."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import vmap

from storyproof.solvers.neural.models.layers import Dropout
from storyproof.solvers.neural.models.registry import build, default_options
from storyproof.solvers.neural.training_loop import predict
from tests.solvers.neural.fixtures import CLUTRR, SHAPE, SMALL, course, make_batch, some

RATE = 0.4
DROPPING = [name for name in SMALL if "dropout" in default_options(name)]


def noted(kept: list[Tensor]) -> Callable[[nn.Module, Any, Tensor], None]:
    def note(module: nn.Module, given: Any, found: Tensor) -> None:
        kept.append((found == 0) & (given[0] != 0))

    return note


def dropped(name: str) -> dict[str, list[Tensor]]:
    """Say what each dropout of a model leaves out of a batch, time after time."""
    torch.manual_seed(0)
    inputs = {"input_dropout": RATE} if name == "mac" else {}
    model = build(name, SHAPE, {**SMALL[name], "dropout": RATE, **inputs})
    found: dict[str, list[Tensor]] = {}
    for part, module in model.named_modules():
        if isinstance(module, Dropout):
            module.register_forward_hook(noted(found.setdefault(part, [])))
    model(make_batch(name, 40))
    return found


@pytest.mark.parametrize("name", DROPPING)
def test_every_dropout_drops(name: str) -> None:
    for part, times in dropped(name).items():
        assert times, part
        for each in times:
            assert 0.05 < each.float().mean() < RATE + 0.05, part


def test_mac_drops_other_things_in_every_step() -> None:
    found = dropped("mac")
    steps = SMALL["mac"]["steps"]
    assert {part: len(times) for part, times in found.items() if part != "drop_words"} == {
        "drop_memory": steps,
        "drop_read": steps,
        "drop_write": steps,
    }
    every = [each for part, times in found.items() if part != "drop_words" for each in times]
    for place, one in enumerate(every):
        for other in every[:place]:
            assert abs((one & other).float().mean() - RATE**2) < 0.1  # nothing in common


def test_nothing_is_dropped_in_prediction() -> None:
    trainer = course("bilstm-mean", some(CLUTRR, 60), options={"dropout": 0.8}, epochs=2).trainer
    stack, table, rows = trainer.stack, trainer.table, np.arange(60)[None]
    picked, noise = torch.from_numpy(rows), torch.zeros(1, dtype=torch.int64)
    batch = table.batch(picked, noise)
    stack.model.eval()
    whole = stack(batch).argmax(-1)
    stack.model.train()
    assert not torch.equal(stack(batch).argmax(-1), whole)
    assert torch.equal(predict(stack, table, rows), whole)


def test_every_epoch_of_training_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though each ends in a prediction."""
    trainer = course("bilstm-mean", some(CLUTRR, 30), options={"dropout": 0.5}, epochs=2).trainer
    step, training = trainer.step, []

    def noted_step(*given: Any) -> Tensor:
        training.append(trainer.stack.model.training)
        return step(*given)

    monkeypatch.setattr(trainer, "step", noted_step)
    for _ in range(2):
        trainer.train_epoch()
        assert training
        assert all(training)


def test_dropout_is_drawn_by_its_number_alone() -> None:
    drop = Dropout(0.3, salt=5)
    values, noise = torch.ones(50, 40, 6), torch.tensor([7, 8, 7])
    first, second, again = vmap(drop, in_dims=(None, 0))(values, noise)
    assert torch.equal(first, again)
    assert torch.equal(first, drop(values, torch.tensor(7)))
    assert not torch.equal(first, second)
    for each in (first, second):
        assert abs((each == 0).float().mean() - 0.3) < 0.02
        assert abs(each.mean() - 1) < 0.03
    both = ((first == 0) & (second == 0)).float().mean()
    assert abs(both - 0.09) < 0.02  # nothing in common
    assert torch.equal(drop(torch.ones(50, 70, 6), torch.tensor(7))[:, :40], first)  # padding changes no draw
    assert not torch.equal(Dropout(0.3, salt=6)(values, torch.tensor(7)), first)
    assert torch.equal(drop.eval()(values, torch.tensor(7)), values)
