"""The named rules of interpretation (docs/readings.md)."""

from __future__ import annotations

OPEN = "open"  # the default: open containers, co-presence
CLOSED = "closed"  # entering shows nothing
INFER_MOVER = "infer-mover"  # open, and who finds the object moved blames those last seen there

READINGS = (OPEN, CLOSED, INFER_MOVER)
DEFAULT = OPEN

DESCRIPTIONS = {
    OPEN: "whoever is in a room, or enters it, sees where the objects there are.",
    CLOSED: "entering a room shows nothing; only placings and moves that are witnessed count.",
    INFER_MOVER: "as open, and who returns and finds the object moved concludes that those left there know.",
}

# The default reading in words, for people and prompts.
CONVENTIONS = (
    "Everybody who is in a room, or enters it, sees where the objects in it are, also inside containers.",
    "Everybody in a room sees who else is there and what happens there, and nothing of other rooms.",
    "What Ada thinks that Bo believes is where the object was when the two were last in its room together.",
)
