"""MemNN against its equations."""

import pytest
import torch
from torch import Tensor

from storyproof.solvers.neural.data.batches import Batch
from storyproof.solvers.neural.models.registry import build
from tests.solvers.neural.fixtures import SHAPE, SMALL, make_batch
from tests.solvers.neural.models.by_hand import Weights, check_equations, shared, told


def memnn(weights: Weights, row: Batch) -> Tensor:
    """Sukhbaatar et al. (2015), 2.2 and 4.1: u ← u + Σ p c, with p = softmax(u · m), and C of a hop is the next's A."""
    hops, width = weights.options["hops"], weights.options["width"]

    def bag(words: Tensor, of: int, most: int) -> Tensor:
        total, part = torch.zeros(width), torch.arange(1, width + 1) / width
        for place, word in enumerate(words, start=1):
            share = place / most  # of the longest sentence there is, so that padding changes nothing
            total = total + weights.word(word, f"embeddings.{of}") * ((1 - share) - part * (1 - 2 * share))
        return total

    state, sentences = bag(row.question, 0, SHAPE.question), told(row)[-weights.options["memory"] :]
    for hop in range(hops):
        seen, given = (
            [
                bag(sentence, of, SHAPE.length) + weights[f"times.{of}"][len(sentences) - 1 - place]  # the last is 0
                for place, sentence in enumerate(sentences)
            ]
            for of in (hop, hop + 1)
        )
        state = state + shared([state @ each for each in seen], given)
    return weights.line("decoder", state)


@pytest.mark.parametrize("memory", [1, 2, SHAPE.sentences, 50])
def test_equals_its_equations(memory: int) -> None:
    check_equations("memnn", memnn, {"hops": 3, "memory": memory})


def test_forgets_what_is_older_than_its_memory() -> None:
    """Another first sentence changes nothing, unless the memory reaches back to it."""
    batch = make_batch("memnn", rows=8)
    counts = (batch.story[..., 0] > 0).sum(-1)
    longest, count = int(counts.argmax()), int(counts.max())
    assert count > 1
    other = batch.story.clone()
    other[longest, 0, 0] = batch.story[longest, 0, 0] % (SHAPE.words - 1) + 1
    for memory, is_same in ((count - 1, True), (count, False)):
        torch.manual_seed(1)
        model = build("memnn", SHAPE, {**SMALL["memnn"], "memory": memory}).eval()
        assert torch.equal(model(batch)[longest], model(batch._replace(story=other))[longest]) == is_same
