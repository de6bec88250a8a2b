import torch
from torch import Tensor

from storyproof.solvers.neural.counter_rng import seed_for
from storyproof.solvers.neural.models.registry import build
from storyproof.solvers.neural.stacked_models import Stack
from tests.solvers.neural.fixtures import CLUTRR, CPU, SHAPE, SMALL, course, make_batch, some, stacked


def make(name: str = "memnn", **options: object) -> Stack:
    return Stack(lambda: build(name, SHAPE, {**SMALL[name], **options}), [1, 2, 3], CPU)


def test_weights_depend_on_a_runs_own_seed() -> None:
    torch.manual_seed(0)
    state = torch.get_rng_state()
    stack = make()
    assert torch.equal(torch.get_rng_state(), state)  # and leave everybody else's draws alone
    alone = Stack(lambda: build("memnn", SHAPE, SMALL["memnn"]), [2], CPU)
    for name, value in alone.weights.items():
        assert torch.equal(value[0], stack.weights[name][1])
        if value.std() > 0:
            assert not torch.equal(stack.weights[name][0], stack.weights[name][1])


def test_state_comes_back() -> None:
    first, second = make(), make()
    with torch.no_grad():
        for value in first.weights.values():
            value.add_(1)
    second.load(first.state())
    for name, value in first.state().items():
        assert torch.equal(second.state()[name], value)
    kept = first.state()
    with torch.no_grad():
        next(iter(first.weights.values())).zero_()
    assert next(iter(kept.values())).abs().sum() > 0  # a copy


def test_people_are_drawn_anew_as_widely_as_before() -> None:
    stack = make("memnn", policy="randomised")
    before = stack.state()
    stack.redraw_people([7, 8, 7])
    people = [name for name in stack.fixed if name.endswith("people")]
    assert len(people) == SMALL["memnn"]["hops"] + 1
    for name, value in stack.state().items():
        assert torch.equal(value, before[name]) == (name not in people)
    for name in people:
        table = stack.fixed[name]
        assert torch.equal(table[0], table[2])
        assert not torch.equal(table[0], table[1])
        assert 0.7 < table.std() / before[name].std() < 1.4


def test_randomised_people_are_others_in_every_epoch() -> None:
    trainers = {
        policy: course("gat", some(CLUTRR, 30), runs=2, options={"policy": policy}).trainer
        for policy in ("fixed", "randomised")
    }
    drawn: dict[str, list[Tensor]] = {}
    for policy, trainer in trainers.items():
        people = drawn.setdefault(policy, [])
        for _ in range(4):
            people += trainer.stack.state()["embedding.people"].unbind()  # of each run its own
            if not trainer.finished:
                trainer.train_epoch()
    assert len({tuple(each.flatten().tolist()) for each in drawn["fixed"]}) == 2
    assert len({tuple(each.flatten().tolist()) for each in drawn["randomised"]}) == 2 * 4


def test_learned_people_are_not_drawn() -> None:
    stack = make("gat", policy="learned")
    before = stack.state()
    stack.redraw_people([7, 8, 9])
    assert all(torch.equal(value, before[name]) for name, value in stack.state().items())
    assert "embedding.people" in stack.weights


def test_runs_do_not_see_each_other() -> None:
    stack = make("gat")
    scores = stack(stacked([make_batch("gat", seed=seed) for seed in range(3)]))
    scores[1].sum().backward()
    for value in stack.weights.values():
        assert value.grad is not None
        assert not value.grad[[0, 2]].any()


def test_numbers() -> None:
    assert seed_for("a", 1) == seed_for("a", 1) != seed_for("a", 2)
    assert 0 <= seed_for("a") < 2**56
