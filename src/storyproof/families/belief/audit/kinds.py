"""What can be wrong with rows of theory of mind."""

from __future__ import annotations

from storyproof.findings import COLUMN, TEXT

# The three classes of flaws in ToMi, and what else can be wrong with a row.
STRUCTURAL, SEMANTIC, PRAGMATIC = "structural", "semantic", "pragmatic"
QUESTION_TYPE, IMPOSSIBLE_STORY, PROVERS = "question_type", "impossible_story", "provers"

# What matters most first: answers, then whether the story is one, then labels beside the answer.
KINDS = {
    STRUCTURAL: "The labelled answer is wrong.",
    IMPOSSIBLE_STORY: "Something impossible happens: an exit by somebody absent, a move from another room.",
    TEXT: "The story is not one of its benchmark.",
    QUESTION_TYPE: "The question is not of the labelled type.",
    SEMANTIC: "The story is not of the labelled type.",
    PRAGMATIC: "The question type names the wrong agent.",
    COLUMN: "A value of another column does not follow from the text.",
    "observers": "The numbers after a sentence are not those of the agents who saw it.",
    "trace": "The actions of the trace are not those of the text.",
    PROVERS: "Oracle and checker derive different answers.",
}
