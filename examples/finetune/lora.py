"""Low-rank adapters (Hu et al. 2021, LoRA) for the linear layers of a causal language model, in plain torch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class LoRALinear(nn.Module):
    """A frozen linear layer W with a trained update of low rank: W x + (alpha / rank) B A x; B begins at zero."""

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base
        self.is_merged = False
        self.scale = alpha / rank
        device = base.weight.device
        self.down = nn.Parameter(torch.empty(rank, base.in_features, device=device, dtype=torch.float32))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, device=device, dtype=torch.float32))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        """Return the output of the layer with the update."""
        if self.is_merged:
            return self.base(x)
        update = (x.to(self.down.dtype) @ self.down.T) @ self.up.T
        return self.base(x) + (self.scale * update).to(x.dtype)


def add_lora(model: nn.Module, rank: int = 16, alpha: float = 32.0) -> int:
    """Freeze a model and add an adapter to each of its target layers.

    Returns:
        How many parameters are trained.
    """
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in TARGETS and isinstance(child, nn.Linear):
                setattr(module, name, LoRALinear(child, rank, alpha))
    trained = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    if not trained:
        raise SystemExit(f"the model has none of the layers {', '.join(TARGETS)}; adapters need some.")
    return trained


@contextmanager
def merged(model: nn.Module) -> Iterator[None]:
    """Add the updates to the frozen weights for a while, so that replies are sampled faster.

    The frozen weights are put back from a copy, since subtracting the update would leave rounding errors behind.
    """
    layers = [module for module in model.modules() if isinstance(module, LoRALinear)]
    kept = [layer.base.weight.detach().clone() for layer in layers]
    try:
        with torch.no_grad():
            for layer in layers:
                layer.base.weight += (layer.scale * (layer.up @ layer.down)).to(layer.base.weight.dtype)
                layer.is_merged = True
        yield
    finally:
        with torch.no_grad():
            for layer, weight in zip(layers, kept, strict=True):
                layer.base.weight.copy_(weight)
                layer.is_merged = False


def adapter_of(model: nn.Module) -> dict[str, Tensor]:
    """Return the trained parameters by name."""
    return {name: value.detach().cpu() for name, value in model.named_parameters() if value.requires_grad}


def save_adapter(model: nn.Module, path: Path) -> None:
    """Write the trained parameters; a file appears whole or not at all."""
    part = path.with_suffix(".part")
    torch.save(adapter_of(model), part)
    part.replace(path)


def load_adapter(model: nn.Module, path: Path) -> None:
    """Read trained parameters into a model with adapters of the same shape."""
    found = torch.load(path, weights_only=True)
    own = {name: value for name, value in model.named_parameters() if value.requires_grad}
    if {name: value.shape for name, value in found.items()} != {name: value.shape for name, value in own.items()}:
        raise SystemExit(f"{path} has adapters of another model or rank.")
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(found[name])
