"""The plain way must do the same, or there is nothing to compare."""

import copy

import pytest
import torch

from benchmarks.plain_training import PlainLSTM, PlainTraining, plain
from storyproof.solvers.neural.models.registry import MODELS, build
from tests.solvers.neural.fixtures import CLUTRR, SHAPE, SMALL, course, make_batch, some


@pytest.mark.parametrize("name", list(MODELS))
def test_plain_models_score_the_same(name: str) -> None:
    torch.manual_seed(0)
    model = build(name, SHAPE, SMALL[name]).eval()
    other = plain(copy.deepcopy(model)).eval()
    assert any(isinstance(part, PlainLSTM) for part in other.modules()) == hasattr(model, "lstm") * (name != "relnet")
    torch.testing.assert_close(other(make_batch(name)), model(make_batch(name)), rtol=1e-4, atol=1e-5)


def test_plain_steps_are_the_same() -> None:
    made = course("bilstm-mean", some(CLUTRR, 30), recast=False)
    stack, table = made.trainer.stack, made.trainer.table
    model = build("bilstm-mean", made.shape, made.plan.options or {})
    model.load_state_dict({name: value[0] for name, value in stack.state().items()})
    training = PlainTraining(model, table, made.plan.settings.rate)
    for number in range(5):
        picked, noise = torch.arange(6) + number, torch.tensor([number])
        ours = made.trainer.step(picked[None], noise, len(table.caps) - 1)
        assert training.step(picked, noise[0], len(table.caps) - 1).item() == pytest.approx(ours.item(), rel=1e-4)
