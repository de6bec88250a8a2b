"""What can be wrong with kinship rows."""

from __future__ import annotations

from storyproof.families.kinship.checker import AMBIGUOUS, CONTRADICTED, IMPOSSIBLE
from storyproof.findings import COLUMN, TEXT

UNDEFINED = "undefined"  # the row does not tell who is asked about, or strict kinship does not define its relations
FLAWED = (AMBIGUOUS, CONTRADICTED, IMPOSSIBLE, UNDEFINED)  # what a label may be instead of entailed
PROOF, DUPLICATE, SMALL_TEST, CONSEQUENCE = "proof", "duplicate", "small_test", "consequence"
# Kinds of findings about rows whose values are right.
UNCLAIMED = (DUPLICATE, SMALL_TEST, CONSEQUENCE, "revisit", "untyped_noise", "missing_noise")

# What matters most first: answers, then the facts that they rest on, the test as a whole, and what is not recorded.
KINDS = {
    CONTRADICTED: "The labelled relation holds in no family that fits the story.",
    IMPOSSIBLE: "No family fits the story.",
    AMBIGUOUS: "The labelled relation holds in some families that fit the story, but not in all.",
    UNDEFINED: "The row does not say which people the question is about.",
    "target": "The labelled relation follows by no rules.",
    TEXT: "Values of the row do not fit together, and cannot be fixed.",
    PROOF: "The proof does not prove the label.",
    "genders": "A word does not fit somebody's gender.",
    "names": "Story, question and row mention different people.",
    "edges": "The facts do not fit together.",
    "f_comb": "The relations of the chain are not those of its edges.",
    "clean_story": "Somebody in the chain is not mentioned.",
    "revisit": "The chain of facts passes the same person twice.",
    DUPLICATE: "An earlier row has the same story and question.",
    SMALL_TEST: "The test has too few rows, labels or patterns to be informative.",
    "status": "The column `status` is wrong.",
    COLUMN: "A value of another column does not follow from the rest of the row.",
    "missing_noise": "The story does not state a fact beside the chain.",
    CONSEQUENCE: "Right for a wrong value, so it has to change together with it.",
    "untyped_noise": "The relation of facts beside the chain is not recorded.",
}
