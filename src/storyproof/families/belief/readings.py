"""The named rules of interpretation (docs/readings.md)."""

from __future__ import annotations

OPEN = "open"  # the default: open containers, co-presence
CLOSED = "closed"  # entering shows nothing
INFER_MOVER = "infer-mover"  # open, and who finds the object moved blames those last seen there

READINGS = (OPEN, CLOSED, INFER_MOVER)
DEFAULT = OPEN
