import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from storyproof.solvers.neural.data.batches import ExampleTable, order_of, split
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.data.vocabulary import learn_vocabulary
from tests.samples import examples
from tests.solvers.neural.fixtures import CLUTRR, CPU, TOMI, some


def table_of(family: str, count: int = 60) -> ExampleTable:
    rows = some(family, count)
    return ExampleTable(encode(rows, learn_vocabulary(rows)), CPU)


@pytest.mark.parametrize("family", [TOMI, CLUTRR])
def test_batch_cuts_padding_only(family: str) -> None:
    table = table_of(family)
    noise = torch.tensor(0)
    for number in range(len(table)):
        short = table.batch(torch.tensor([number]), noise, int(table.size_of[number]))
        whole = table.batch(torch.tensor([number]), noise)
        for name in ("story", "flat"):
            part, all_of_it = getattr(short, name), getattr(whole, name)
            assert (part > 0).sum() == (all_of_it > 0).sum()
            assert torch.equal(part, all_of_it[tuple(slice(size) for size in part.shape)])
    assert short.vectors.shape == (1, 0, 0)


def test_batches_of_many_runs() -> None:
    table = table_of(CLUTRR)
    picked = torch.tensor([[0, 5, 7], [5, 5, 1]])
    batch = table.batch(picked, torch.tensor([1, 2]))
    assert batch.story.shape[:2] == batch.graph.shape[:2] == batch.query.shape[:2] == (2, 3)
    assert torch.equal(batch.flat[0, 1], batch.flat[1, 0])


def test_vectors_of_stories_and_of_examples() -> None:
    rows = some(TOMI, 12)
    encoded = encode(rows, learn_vocabulary(rows))
    pieces = torch.randn(2, encoded.flat.shape[1], 4)
    found = ExampleTable(encoded, CPU, pieces).batch(torch.tensor([1, 7]), torch.tensor(0))
    assert torch.equal(found.vectors, pieces[[0, 1], : found.flat.shape[1]])
    pooled = torch.randn(12, 3, 4).half()
    found = ExampleTable(encoded, CPU, pooled).batch(torch.tensor([1, 7]), torch.tensor(0))
    assert torch.equal(found.vectors, pooled[[1, 7]].float())


def test_split_keeps_the_questions_of_a_growing_story_together() -> None:
    rows = examples("tom-babi", "train", 60)
    encoded = encode(rows, learn_vocabulary(rows))
    assert len(set(encoded.story_of)) > len(set(encoded.group_of)) == 60
    train, held = split(encoded, np.arange(len(rows)), 0.2, seed=3)
    assert len(held) == len(rows) // 5
    assert not {rows[row].story_id for row in train} & {rows[row].story_id for row in held}


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_split_keeps_stories_together(share: float) -> None:
    rows = some(TOMI, 300)
    encoded = encode(rows, learn_vocabulary(rows))
    asked = np.arange(60, 300)
    train, held = split(encoded, asked, share, seed=3)
    assert sorted([*train, *held]) == asked.tolist()
    assert not set(encoded.story_of[train]) & set(encoded.story_of[held])
    assert len(held) == 6 * round(share * 40)
    assert np.array_equal(split(encoded, asked, share, seed=3)[1], held)
    assert not np.array_equal(split(encoded, asked, share, seed=4)[1], held)


@given(
    sizes=st.lists(st.integers(1, 70), min_size=1, max_size=4),
    batch=st.integers(1, 9),
    epoch=st.integers(0, 3),
)
def test_order(sizes: list[int], batch: int, epoch: int) -> None:
    """Every run sees each of its examples once, the missing ones filled up from its own; no batch repeats one."""
    starts = np.cumsum([0, *sizes])
    parts = [np.arange(start, start + size) for start, size in zip(starts, sizes, strict=False)]
    seeds = list(range(len(parts)))
    lengths = np.arange(sum(sizes)) % 5
    orders = order_of(parts, batch, epoch, seeds, lengths)
    largest = min(batch, *sizes)
    assert orders.shape == (-(-max(sizes) // largest), len(parts), largest)
    for run, part in enumerate(parts):
        seen, counts = np.unique(orders[:, run], return_counts=True)
        assert np.array_equal(seen, part)
        assert counts.max() - counts.min() <= 1
    assert np.array_equal(order_of(parts, batch, epoch, seeds, lengths), orders)
    if max(sizes) > 8:
        assert not np.array_equal(order_of(parts, batch, epoch + 1, seeds, lengths), orders)


def test_order_is_the_same_alone_or_among_others() -> None:
    parts = [np.arange(57), np.arange(20, 77), np.arange(57)]
    lengths = np.arange(100) % 4
    together = order_of(parts, 8, 2, [5, 6, 7], lengths)
    for run, seed in enumerate([5, 6, 7]):
        assert np.array_equal(order_of([parts[run]], 8, 2, [seed], lengths)[:, 0], together[:, run])


def test_batches_hold_examples_of_a_length() -> None:
    lengths = np.random.default_rng(0).integers(1, 9, 400)
    orders = order_of([np.arange(400)], 20, 0, [0], lengths)
    assert np.ptp(lengths[orders], axis=2).mean() < 1
    assert not np.all(np.diff(lengths[orders].mean((1, 2))) >= 0)  # but batches come in any order
