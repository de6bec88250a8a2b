"""Many runs of one model at once: their weights are stacked, and `torch.func.vmap` applies them together.

The weights of a run are drawn by its own seed, so they are the same alone and among other runs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from storyproof.solvers.neural.counter_rng import seed_for
from storyproof.solvers.neural.data.batches import Batch
from storyproof.solvers.neural.models.layers import Embedding

State = dict[str, Tensor]


class Stack:
    """Runs of one model.

    Args:
        make: Builds the model.
        seeds: Those of the runs.
        device: Where the weights are.

    Attributes:
        weights: The parameters of all runs; the first dimension is the run.
        fixed: The buffers of all runs; the first dimension is the run.
    """

    def __init__(self, make: Callable[[], nn.Module], seeds: Sequence[int], device: torch.device) -> None:
        models = [_draw(make, seed) for seed in seeds]
        weights, fixed = stack_module_state(models)
        self.runs = len(models)
        self.weights: State = {name: value.detach().to(device).requires_grad_() for name, value in weights.items()}
        self.fixed: State = {name: value.to(device) for name, value in fixed.items()}
        self.model = copy.deepcopy(models[0]).to("meta")

    def __call__(self, batch: Batch) -> Tensor:
        """Return the scores of all answers [runs, rows, answers] for a batch whose first dimension is the run."""

        def one(weights: State, fixed: State, rows: Batch) -> Tensor:
            scores: Tensor = functional_call(self.model, (weights, fixed), (rows,))
            return scores

        if self.runs == 1:  # vmap would compute the same, more slowly
            weights, fixed = ({name: value[0] for name, value in part.items()} for part in (self.weights, self.fixed))
            return one(weights, fixed, Batch(*(value[0] for value in batch))).unsqueeze(0)
        scores: Tensor = vmap(one)(self.weights, self.fixed, batch)
        return scores

    def redraw_people(self, seeds: Sequence[int]) -> None:
        """Draw new vectors of people, with one seed per run, unless they are learned."""
        for name, module in self.model.named_modules():
            if isinstance(module, Embedding) and (people := f"{name}.people") in self.fixed:
                table = self.fixed[people]
                fresh = [torch.randn(table.shape[1:], generator=torch.Generator().manual_seed(seed)) for seed in seeds]
                table.copy_(torch.stack(fresh) * module.scale)

    def state(self) -> State:
        """Return all parameters and buffers, on the CPU."""
        return {name: value.detach().cpu().clone() for name, value in {**self.weights, **self.fixed}.items()}

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        with torch.no_grad():
            for name, value in {**self.weights, **self.fixed}.items():
                value.copy_(state[name])


def _draw(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_for("weights", seed))
        return make()
