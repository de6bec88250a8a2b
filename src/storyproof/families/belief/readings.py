"""The named rules of interpretation: what is seen, and who is believed (docs/readings.md).

A reading has two parts. Its *sight* is `open`, `closed` or `infer-mover`. Its *trust* says which hearers believe a
message. The two are combined freely: `open+always`, `closed+fresher` … Without messages trust does not matter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from storyproof.errors import UnknownNameError

OPEN = "open"  # the default: open containers, co-presence
CLOSED = "closed"  # entering shows nothing
INFER_MOVER = "infer-mover"  # open, and people who find the object moved infer that those last seen there know

READINGS = (OPEN, CLOSED, INFER_MOVER)
DEFAULT = OPEN

DESCRIPTIONS = {
    OPEN: "everyone who is in a room, or enters it, sees where the objects there are.",
    CLOSED: "entering a room shows nothing; only placings and moves that are witnessed count.",
    INFER_MOVER: "as open; someone who returns and finds the object moved concludes that the people left there know.",
}


ALWAYS = "always"  # hearers believe what they hear
FRESHER = "fresher"  # … unless they have seen the object since the speaker did, as far as they know
NEVER_LIARS = "never-liars"  # … unless they know that the speaker is a liar
HI_TOM = "hi-tom"  # … only from people who were with the object later, as everybody knows

TRUSTS = (ALWAYS, FRESHER, NEVER_LIARS, HI_TOM)
FLAT = "flat"  # as Hi-ToM's generator labels messages; explains labels of others, and is used for none of ours

TRUST_DESCRIPTIONS = {
    ALWAYS: "hearers believe what they hear.",
    FRESHER: "hearers do not believe a speaker if, as far as they know, they have seen the object more recently.",
    NEVER_LIARS: "hearers who have caught a speaker lying never believe that speaker again.",
    HI_TOM: "hearers believe only a speaker who was with the object later; everybody knows who was there when.",
    FLAT: "as hi-tom, but words change only what hearers believe, what these think that the speaker believes, and what "
    "the speaker thinks that they believe, trusted or not.",
}


class BeliefReading(NamedTuple):
    """What people see, and whom they believe.

    Attributes:
        sight: One of READINGS.
        trust: One of TRUSTS, or FLAT.
    """

    sight: str = OPEN
    trust: str = ALWAYS

    def __str__(self) -> str:
        return f"{self.sight}+{self.trust}"


ALL_READINGS = tuple(BeliefReading(sight, trust) for sight in READINGS for trust in TRUSTS)
AUDIT_READINGS = (*ALL_READINGS, BeliefReading(OPEN, FLAT), BeliefReading(CLOSED, FLAT))
DEFAULT_READING = BeliefReading()


@lru_cache(maxsize=64)
def parse_reading(name: str) -> BeliefReading:
    """Return the reading of a name such as `open+fresher`; `fresher` alone means `open+fresher`.

    Raises:
        UnknownNameError: If there is no such reading.
    """
    by_name = {str(reading): reading for reading in ALL_READINGS}
    by_name |= {trust: BeliefReading(trust=trust) for trust in TRUSTS}
    by_name |= {sight: BeliefReading(sight) for sight in READINGS}
    if name not in by_name:
        raise UnknownNameError("reading", name, by_name)
    return by_name[name]


READING_DESCRIPTIONS = {
    str(reading): f"{DESCRIPTIONS[reading.sight].rstrip('.')}; {TRUST_DESCRIPTIONS[reading.trust]}"
    for reading in AUDIT_READINGS
}
