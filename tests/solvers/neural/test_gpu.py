"""A GPU takes other ways than a CPU: fused kernels, recorded steps, a fused optimiser. They must come to the same."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from storyproof.solvers.neural.data.batches import ExampleTable, WordPermutation, order_of, shape_of, word_roles
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.data.vocabulary import learn_vocabulary
from storyproof.solvers.neural.models.registry import MODELS, build
from storyproof.solvers.neural.stacked_models import Stack
from storyproof.solvers.neural.training_loop import TrainingStep, predict
from storyproof.solvers.training_settings import Settings
from tests.solvers.neural.fixtures import CLUTRR, CPU, SMALL, TOMI, some

pytestmark = pytest.mark.gpu
GPU = torch.device("cuda")
TOM = ("memnn", "relnet", "entnet")
RUNS, BATCH, STEPS, VECTOR = 3, 8, 9, 12  # the fourth step is recorded, and those after it are replays
RATE = 2**-7  # exact in single precision, in which a GPU keeps it


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    """Rounding is far below what a mistake makes."""
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(usual)


def train(model: str, family: str, device: torch.device) -> tuple[Tensor, Tensor]:
    """Give the losses [steps, runs] and the answers after them [runs, examples]."""
    rows = some(family, 48)
    vocabulary = learn_vocabulary(rows)
    encoded = encode(rows, vocabulary)
    kind = MODELS[model].vectors
    size = {"pooled": (len(rows), 3), "pieces": encoded.flat.shape}.get(kind)
    draw = torch.Generator().manual_seed(5)
    vectors = torch.randn(*size, VECTOR, generator=draw).half() if size else None
    table = ExampleTable(encoded, device, vectors)
    shape = shape_of(encoded, vocabulary, *(vectors.shape[1:] if vectors is not None else ()))
    stack = Stack(lambda: build(model, shape, SMALL[model]), list(range(RUNS)), device)
    stack.model.train()
    permutation = None if kind else WordPermutation(word_roles(rows, vocabulary), vocabulary, device)
    settings = Settings(rate=RATE, clip=1.0, weight_decay=0.01, word_dropout=0.1)
    step = TrainingStep(stack, table, settings, permutation)
    all_rows = [np.arange(len(table))] * RUNS
    orders = np.concatenate([order_of(all_rows, BATCH, epoch, list(range(RUNS)), table.size_of) for epoch in range(2)])
    losses = []
    for at, picked in enumerate(torch.from_numpy(np.ascontiguousarray(orders)).to(device)[:STEPS]):
        noise = torch.arange(RUNS, device=device) * 1_000_003 + 64 * at
        longest = int(table.size_of[orders[at]].max())
        losses.append(step(picked, noise, longest).clone().cpu())
    return torch.stack(losses), predict(stack, table, np.stack(all_rows)).cpu()


@pytest.mark.parametrize(("model", "family"), [(model, CLUTRR) for model in MODELS] + [(model, TOMI) for model in TOM])
def test_a_gpu_trains_as_a_cpu_does(model: str, family: str) -> None:
    losses, answers = train(model, family, CPU)
    theirs, their_answers = train(model, family, GPU)
    torch.testing.assert_close(theirs, losses, rtol=1e-7, atol=0)
    assert torch.equal(their_answers, answers)
    assert len(set(losses.flatten().tolist())) == STEPS * RUNS  # every run learns from batches of its own
