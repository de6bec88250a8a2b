"""Dropout that many runs repeat exactly."""

from __future__ import annotations

from torch import Tensor, nn

from storyproof.solvers.neural.counter_rng import mix, number_places


class Dropout(nn.Module):
    """Dropout whose draws depend on a number alone, not on the state of a generator.

    A run drops the same values alone, among other runs, and after it is resumed.

    Shapes: values [...] to values [...].

    Args:
        rate: The share of values that training sets to zero.
        salt: Distinguishes several dropouts of one model.
    """

    def __init__(self, rate: float, salt: int) -> None:
        super().__init__()
        self.rate, self.salt = rate, salt

    def forward(self, values: Tensor, noise: Tensor) -> Tensor:
        """Drop values by the number `noise`."""
        if not self.training or not self.rate:
            return values
        place = number_places(values.shape, values.device)
        drawn = (mix(place + (noise + self.salt) * 0x9E3779B9) & 0xFFFFFF).to(values.dtype) / 0x1000000
        return values * (drawn >= self.rate) / (1 - self.rate)
