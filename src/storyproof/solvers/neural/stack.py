"""Many runs of one model as one: their weights lie on top of each other, and `torch.func.vmap` applies them at once.

A run's weights are drawn by its own seed, so they are the same whether it is made alone or among others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from storyproof.seeds import digest
from storyproof.solvers.neural.layers import Batch, Embedding

State = dict[str, Tensor]


def number_for(*purpose: object) -> int:
    """Give a number for a generator to start from."""
    return int.from_bytes(digest(*purpose)[:7], "little")


class Stack:
    """Runs of one model.

    Attributes:
        weights: All runs' parameters, the run first.
        fixed: All runs' buffers, the run first.
    """

    def __init__(self, make: Callable[[], nn.Module], seeds: Sequence[int], device: torch.device) -> None:
        models = [_drawn(make, seed) for seed in seeds]
        weights, fixed = stack_module_state(models)
        self.runs = len(models)
        self.weights: State = {name: value.detach().to(device).requires_grad_() for name, value in weights.items()}
        self.fixed: State = {name: value.to(device) for name, value in fixed.items()}
        self.model = copy.deepcopy(models[0]).to("meta")

    def __call__(self, batch: Batch) -> Tensor:
        """Give the scores of all answers [runs, rows, answers] for a batch whose first dimension is the run."""

        def one(weights: State, fixed: State, rows: Batch) -> Tensor:
            scores: Tensor = functional_call(self.model, (weights, fixed), (rows,))
            return scores

        if self.runs == 1:  # what follows would say the same, more slowly
            weights, fixed = ({name: value[0] for name, value in part.items()} for part in (self.weights, self.fixed))
            return one(weights, fixed, Batch(*(value[0] for value in batch))).unsqueeze(0)
        scores: Tensor = vmap(one)(self.weights, self.fixed, batch)
        return scores

    def redraw_people(self, seeds: Sequence[int]) -> None:
        """Draw the vectors of people anew, a seed a run; only where they are not learned."""
        for name, module in self.model.named_modules():
            if isinstance(module, Embedding) and (people := f"{name}.people") in self.fixed:
                table = self.fixed[people]
                fresh = [torch.randn(table.shape[1:], generator=torch.Generator().manual_seed(seed)) for seed in seeds]
                table.copy_(torch.stack(fresh) * module.scale)

    def state(self) -> State:
        """Give all that makes up the runs, on the CPU."""
        return {name: value.detach().cpu().clone() for name, value in {**self.weights, **self.fixed}.items()}

    def load(self, state: State) -> None:
        """Take over what `state` gave."""
        with torch.no_grad():
            for name, value in {**self.weights, **self.fixed}.items():
                value.copy_(state[name])


def _drawn(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number_for("weights", seed))
        return make()
