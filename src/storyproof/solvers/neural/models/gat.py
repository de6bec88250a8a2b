"""Graph attention network (`gat`).

A story's graph is a small matrix (the longest chains have 16 nodes), so dense attention handles all graphs and all runs
in a few products. A layer over lists of edges, as in PyTorch Geometric, does not work under `vmap`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Embedding, attend, mean, perceptron


class GAT(nn.Module):
    """Passes messages along the edges of a story's graph and decodes the two asked nodes; it does not read the text.

    Source: Velickovic et al. (2018), with edge vectors as in Sinha et al. (2019), appendix 1.1 and 2.2: nodes 100,
    messages 100, edges 20, three rounds.

    Equation: see `GATLayer`; scores MLP[mean of all nodes; first asked node; second asked node].

    Shapes: nodes [rows, nodes], graph [rows, nodes, nodes], query [rows, 2] to scores [rows, answers].

    Args:
        shape: The sizes of inputs and outputs.
        policy: How people are embedded.
        width: That of the nodes' vectors.
        message: That of the messages.
        edge: That of the edges' vectors.
        rounds: How many rounds of messages there are.
        decoder: The width of the decoder's hidden layer.
    """

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
        self.rounds = nn.ModuleList([GATLayer(width, message, edge) for _ in range(rounds)])
        self.decoder = perceptron(3 * width, decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        nodes = self.embedding(batch.nodes)
        there = batch.nodes > 0
        edges = nn.functional.embedding(batch.graph, self.edges)
        linked = batch.graph > 0
        for each in self.rounds:
            nodes = each(nodes, edges, linked)
        queried = nodes.gather(1, batch.query.unsqueeze(-1).expand(-1, -1, nodes.shape[-1])).flatten(1)
        scores: Tensor = self.decoder(torch.cat([mean(nodes, there), queried], dim=-1))
        return scores


class GATLayer(nn.Module):
    """One round of messages: every node attends to its neighbours and the edges to them.

    Equation: aᵢⱼ = softmaxⱼ v·leaky_relu(W[nᵢ; nⱼ; eᵢⱼ]); nᵢ ← nᵢ + relu(U[nᵢ; Σⱼ aᵢⱼ M[nⱼ; eᵢⱼ]]).

    Shapes: nodes [rows, nodes, width], edges [rows, nodes, nodes, edge], linked [rows, nodes, nodes] to nodes
    [rows, nodes, width].

    Deviations: a node keeps its state by a residual connection, not by an edge to itself.
    """

    def __init__(self, width: int, message: int, edge: int) -> None:
        super().__init__()
        self.to_score = nn.Linear(2 * width + edge, message)
        self.score = nn.Linear(message, 1)
        self.say = nn.Linear(width + edge, message)
        self.update = nn.Linear(width + message, width)

    def forward(self, nodes: Tensor, edges: Tensor, linked: Tensor) -> Tensor:
        """Return the nodes after the round; `edges[i, j]` leads from i to j, and the message of j goes to i."""
        count = nodes.shape[1]
        own = nodes.unsqueeze(2).expand(-1, -1, count, -1)
        others = nodes.unsqueeze(1).expand(-1, count, -1, -1)
        scored = self.score(nn.functional.leaky_relu(self.to_score(torch.cat([own, others, edges], dim=-1)), 0.2))
        shares = attend(scored.squeeze(-1), linked)
        heard = (shares.unsqueeze(-1) * self.say(torch.cat([others, edges], dim=-1))).sum(2)
        return nodes + torch.relu(self.update(torch.cat([nodes, heard], dim=-1)))
