"""Memory, attention and composition network (`mac`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Dropout, Embedding, attend, lengths, mentions, perceptron
from storyproof.solvers.neural.models.lstm import LSTM


class MAC(nn.Module):
    """Reads the story in several steps, each controlled by another attention over the question.

    Source: Hudson and Manning (2018), sections 3.2.1 to 3.2.3, as used by Sinha et al. (2019), appendix 1.1 and 2.2:
    six steps after a bidirectional LSTM; control attends to the asked words; dropout 0.2 on memory, read and write.

    Equation: per step c ← Σ softmax(w·(W[c; q] ∘ asked)) asked; r = Σ softmax(v·elu(c ∘ W'[m ∘ k; k])) k;
    m ← W''[r; m]; scores MLP[m; asked].

    Shapes: flat [rows, words], question [rows, words] to scores [rows, answers].

    Deviations: the question is the same vector in every step, as in Sinha et al.; `input_dropout`, on the words, is an
    addition.

    Args:
        shape: The sizes of inputs and outputs.
        policy: How people are embedded.
        width: That of the vectors.
        hidden: The width of the LSTM's state, in each direction.
        layers: How many layers the LSTM has.
        steps: How many steps of reasoning there are.
        dropout: The share of memory, read and write that training drops.
        input_dropout: The share of the words' vectors that training drops.
        decoder: The width of the decoder's hidden layer.
    """

    def __init__(
        self,
        shape: Shape,
        *,
        policy: str = "fixed",
        width: int = 100,
        hidden: int = 100,
        layers: int = 2,
        steps: int = 6,
        dropout: float = 0.2,
        input_dropout: float = 0.0,
        decoder: int = 200,
    ) -> None:
        super().__init__()
        self.steps = steps
        self.embedding = Embedding(shape, width, policy=policy)
        self.lstm = LSTM(width, hidden, layers=layers, bidirectional=True)
        self.knowledge = nn.Linear(self.lstm.width, width)
        self.first_control = nn.Parameter(torch.randn(width) * 0.1)
        self.first_memory = nn.Parameter(torch.randn(width) * 0.1)
        self.mentioned = nn.Linear(self.lstm.width, width)
        self.asked = nn.Linear(shape.question * width, width)
        self.control = nn.Linear(2 * width, width)
        self.control_score = nn.Linear(width, 1)
        self.from_memory = nn.Linear(width, width)
        self.from_knowledge = nn.Linear(width, width)
        self.read = nn.Linear(2 * width, width)
        self.read_score = nn.Linear(width, 1)
        self.write = nn.Linear(2 * width, width)
        self.drop_words = Dropout(input_dropout, 4000)
        self.drop_memory, self.drop_read, self.drop_write = (Dropout(dropout, 1000 * salt) for salt in (1, 2, 3))
        self.decoder = perceptron(width + shape.question * width, decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        embedded = self.drop_words(self.embedding(batch.flat), batch.noise)
        outputs = self.lstm(embedded, lengths(batch.flat))
        knowledge, there = self.knowledge(outputs), batch.flat > 0
        asking = batch.question > 0
        words = self.embedding(batch.question) + self.mentioned(mentions(outputs, batch.flat, batch.question))
        question = self.asked(words.flatten(1))
        rows = len(question)
        control, memory = self.first_control.expand(rows, -1), self.first_memory.expand(rows, -1)
        facts = self.from_knowledge(knowledge)
        with_known, with_knowledge = self.read.weight.chunk(2, dim=1)
        read = nn.functional.linear(knowledge, with_knowledge, self.read.bias)  # the same in every step
        for step in range(self.steps):
            wanted = self.control(torch.cat([control, question], dim=-1))
            shares = attend(self.control_score(wanted.unsqueeze(1) * words).squeeze(-1), asking)
            control = (shares.unsqueeze(-1) * words).sum(1)
            last = self.from_memory(self.drop_memory(memory, batch.noise + step)).unsqueeze(1)
            met = nn.functional.linear(last * facts, with_known) + read
            scored = self.read_score(nn.functional.elu(control.unsqueeze(1) * met)).squeeze(-1)
            retrieved = (attend(scored, there).unsqueeze(-1) * knowledge).sum(1)
            retrieved = self.drop_read(retrieved, batch.noise + step)
            memory = self.write(torch.cat([retrieved, self.drop_write(memory, batch.noise + step)], dim=-1))
        scores: Tensor = self.decoder(torch.cat([memory, words.flatten(1)], dim=-1))
        return scores
