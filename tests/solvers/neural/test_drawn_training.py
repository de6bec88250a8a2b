"""Steps of models that draw their own stories: what is drawn, and that a GPU comes to the same as a CPU."""

from __future__ import annotations

import pytest
import torch

from storyproof.families.belief.curriculum import BeliefCurriculum
from storyproof.solvers.neural.drawn_training import Noise, OrthogonalMomentum
from storyproof.solvers.neural.tracker_training import TrackerPlan, TrackerRun, batch_loss, draw_batch, draw_stories

CPU = torch.device("cpu")
PLAN = {"stories": 400, "steps": 12, "batch": 32, "width": 32, "layers": 2, "workers": 1}


def new_run(device: torch.device, **options: float) -> TrackerRun:
    plan, curriculum = TrackerPlan.of({**PLAN, **options}), BeliefCurriculum(0)
    stories = draw_stories(plan, device)
    return TrackerRun(plan, 0, curriculum.forms, curriculum.words, stories, stories, device)


def test_noise_depends_on_its_number_and_on_what_was_drawn_before() -> None:
    one, again, other = (Noise(torch.tensor(number)) for number in (5, 5, 6))
    first = one.below(1000, 40, 5)
    assert torch.equal(first, again.below(1000, 40, 5))
    assert not torch.equal(first, one.below(1000, 40, 5))
    assert not torch.equal(first, other.below(1000, 40, 5))
    assert first.min() >= 0
    assert first.max() < 1000
    assert abs(float(Noise(torch.tensor(1)).uniform(100_000).mean()) - 0.5) < 0.01
    orders = Noise(torch.tensor(2)).orders(50, 9)
    assert torch.equal(orders.sort(1).values, torch.arange(9).expand(50, -1))
    assert len(orders.unique(dim=0)) > 45


def test_a_step_with_orthogonal_momentum_turns_all_directions_alike() -> None:
    matrix = torch.nn.Parameter(torch.zeros(6, 4))
    matrix.grad = torch.diag(torch.tensor([100.0, 10.0, 1.0, 0.1]))[:, [2, 0, 3, 1]].repeat(2, 1)[:6].clone()
    OrthogonalMomentum([matrix]).step(torch.tensor(0.1))
    sizes = torch.linalg.svdvals(matrix.detach()) / (0.1 * 0.2 * 6**0.5)
    assert sizes.max() < 1.3
    assert sizes.max() < 4 * sizes.min()  # a thousand times before


def test_training_lowers_the_loss() -> None:
    run = new_run(CPU, steps=80, rate=0.02)
    losses = [float(run.learn()) for _ in range(40)]
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])
    assert run.step == 40


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:Mismatch dtype")  # of what is compiled outside tests
def test_a_gpu_draws_the_same_and_its_recorded_steps_learn_the_same() -> None:
    gpu = torch.device("cuda")
    there, here = new_run(gpu, compiled=0), new_run(CPU)
    for kind in range(len(here.stories)):
        batches = [
            draw_batch(run.stories[kind], 32, Noise(torch.tensor(9, device=run.device))) for run in (there, here)
        ]
        for one, other in zip(*batches, strict=True):
            assert torch.equal(one.cpu(), other)
        with torch.no_grad():
            losses = [
                float(batch_loss(run.network, run.forms, batch))
                for run, batch in zip((there, here), batches, strict=True)
            ]
        assert abs(losses[0] - losses[1]) < 1e-3
    # The fourth step with stories of a length is recorded, and those after it are replays; in half precision.
    for _ in range(12):
        assert abs(float(there.learn()) - float(here.learn())) < 0.2
    for one, other in zip(there.network.parameters(), here.network.parameters(), strict=True):
        assert torch.allclose(one.cpu(), other, atol=0.02)
