import torch

from storyproof.solvers.neural.counter_rng import mix, number_places


def test_places_are_distinct_and_the_same_in_larger_tables() -> None:
    small, large = (number_places((3, size, 5), torch.device("cpu")) for size in (4, 9))
    assert torch.equal(small, large[:, :4])
    assert len(large.unique()) == large.numel()


def test_mixed_numbers_are_evenly_spread() -> None:
    found = mix(torch.arange(40_000))
    assert found.min() >= -(2**30)
    assert len(found.unique()) > 39_990
    for bit in range(31):
        assert abs(((found >> bit) & 1).float().mean() - 0.5) < 0.02
    assert abs((((found[1:] ^ found[:-1]) >> 3) & 1).float().mean() - 0.5) < 0.02
