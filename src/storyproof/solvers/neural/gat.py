"""Graph attention network over the people of a story; it sees the graph and not the text.

Source: Velickovic et al. (2018), with the edge's vector beside the neighbour's in the attention (Sinha et al. 2019,
appendix 1.1 and 2.2: nodes 100, messages 100, edges 20, three rounds). A node keeps what it is by a residual, not by
an edge to itself; that is ours. A story has few people (the longest chains have 16), so its graph is a small matrix:
dense attention serves all graphs and all runs in a few products, which a layer over lists of edges (PyTorch
Geometric's) cannot do under `vmap`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.layers import Batch, Embedding, Shape, attend, mean, perceptron


class GAT(nn.Module):
    """Passes messages along the edges, and decodes the graph with the two people asked about beside it."""

    def __init__(
        self,
        shape: Shape,
        *,
        policy: str = "fixed",
        width: int = 100,
        message: int = 100,
        edge: int = 20,
        rounds: int = 3,
        decoder: int = 200,
    ) -> None:
        super().__init__()
        self.embedding = Embedding(shape, width, policy=policy)
        self.edges = nn.Parameter(torch.randn(shape.edge_types, edge))
        self.rounds = nn.ModuleList([Round(width, message, edge) for _ in range(rounds)])
        self.decoder = perceptron(3 * width, decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Give a score for every answer."""
        nodes = self.embedding(batch.nodes)
        there = batch.nodes > 0
        edges = nn.functional.embedding(batch.graph, self.edges)
        linked = batch.graph > 0
        for each in self.rounds:
            nodes = each(nodes, edges, linked)
        asked = nodes.gather(1, batch.query.unsqueeze(-1).expand(-1, -1, nodes.shape[-1])).flatten(1)
        scores: Tensor = self.decoder(torch.cat([mean(nodes, there), asked], dim=-1))
        return scores


class Round(nn.Module):
    """One round of messages: everybody attends to their neighbours and the edges to them."""

    def __init__(self, width: int, message: int, edge: int) -> None:
        super().__init__()
        self.to_score = nn.Linear(2 * width + edge, message)
        self.score = nn.Linear(message, 1)
        self.say = nn.Linear(width + edge, message)
        self.update = nn.Linear(width + message, width)

    def forward(self, nodes: Tensor, edges: Tensor, linked: Tensor) -> Tensor:
        """Give the nodes after the round; `edges[i, j]` leads from i to j, and j's message goes to i."""
        count = nodes.shape[1]
        own = nodes.unsqueeze(2).expand(-1, -1, count, -1)
        others = nodes.unsqueeze(1).expand(-1, count, -1, -1)
        scored = self.score(nn.functional.leaky_relu(self.to_score(torch.cat([own, others, edges], dim=-1)), 0.2))
        shares = attend(scored.squeeze(-1), linked)
        heard = (shares.unsqueeze(-1) * self.say(torch.cat([others, edges], dim=-1))).sum(2)
        return nodes + torch.relu(self.update(torch.cat([nodes, heard], dim=-1)))
