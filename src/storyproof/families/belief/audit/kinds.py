"""What can be wrong with rows of theory of mind."""

from __future__ import annotations

from storyproof.findings import COLUMN, TEXT

# The three classes of flaws in ToMi, and what else can be wrong with a row.
STRUCTURAL, SEMANTIC, PRAGMATIC = "structural", "semantic", "pragmatic"
QUESTION_TYPE, IMPOSSIBLE_STORY = "question_type", "impossible_story"

KINDS = {
    STRUCTURAL: "The labelled answer is wrong.",
    SEMANTIC: "The story is not of the labelled type.",
    PRAGMATIC: "The question type names the wrong agent.",
    QUESTION_TYPE: "The question is not of the labelled type.",
    IMPOSSIBLE_STORY: "Something happens that cannot: an exit by somebody absent, a move from another room.",
    "trace": "The actions of the trace are not those of the text.",
    "observers": "The numbers after a sentence are not those of the agents who saw it.",
    TEXT: "A text cannot be parsed, or is not one of its benchmark.",
    COLUMN: "A value of another column does not follow from the text.",
}
