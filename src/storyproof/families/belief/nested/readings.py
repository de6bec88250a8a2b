"""The named rules of interpretation of stories with messages: what is seen, and who is believed.

A reading has two parts. Its *sight* is one of the readings of plain stories (`open`, `closed`, `infer-mover`). Its
*trust* says which hearers believe a message. The two are combined freely: `open+always`, `closed+fresher` …
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from storyproof.errors import UnknownNameError
from storyproof.families.belief.readings import CONVENTIONS, OPEN
from storyproof.families.belief.readings import READINGS as SIGHTS

ALWAYS = "always"  # hearers believe what they hear
FRESHER = "fresher"  # … unless they have seen the object since the speaker did, as far as they know
NEVER_LIARS = "never-liars"  # … unless they know that the speaker is a liar
HI_TOM = "hi-tom"  # … only from who was with the object later than they were, as everybody knows

TRUSTS = (ALWAYS, FRESHER, NEVER_LIARS, HI_TOM)

TRUST_DESCRIPTIONS = {
    ALWAYS: "hearers believe what they hear.",
    FRESHER: "who has seen the object without the speaker, after seeing it with the speaker, is not convinced.",
    NEVER_LIARS: "who has caught the speaker saying what the speaker does not believe is never convinced again.",
    HI_TOM: "a hearer believes only a speaker who left the object's room later; everybody knows who left when.",
}


class NestedReading(NamedTuple):
    """What people see, and whom they believe.

    Attributes:
        sight: One of SIGHTS.
        trust: One of TRUSTS.
    """

    sight: str = OPEN
    trust: str = ALWAYS

    def __str__(self) -> str:
        return f"{self.sight}+{self.trust}"


NESTED_READINGS = tuple(NestedReading(sight, trust) for sight in SIGHTS for trust in TRUSTS)
NESTED_DEFAULT = NestedReading()


@lru_cache(maxsize=64)
def parse_reading(name: str) -> NestedReading:
    """Return the reading of a name such as `open+fresher`; `fresher` alone means `open+fresher`.

    Raises:
        UnknownNameError: If there is no such reading.
    """
    known = {str(reading): reading for reading in NESTED_READINGS}
    known |= {trust: NestedReading(trust=trust) for trust in TRUSTS}
    known |= {sight: NestedReading(sight) for sight in SIGHTS}
    if name not in known:
        raise UnknownNameError("reading", name, known)
    return known[name]


# The readings that rows with messages are compared under.
COMPARED = tuple(NestedReading(trust=trust) for trust in TRUSTS)
COMPARED_DESCRIPTIONS = {str(reading): TRUST_DESCRIPTIONS[reading.trust] for reading in COMPARED}

# What rows take for granted, for people and prompts: what everybody notices, and whom hearers believe.
SIGHT_CONVENTIONS = (
    *CONVENTIONS[:2],
    "What Ada thinks that Bo believes is what the two last saw together, or heard together and believed.",
    "Who secretly watches a room also notices what happens in it, and nobody else knows that.",
    "Who is distracted notices nothing until paying attention again, and the others do not notice that.",
    "What is said to everybody in a room, all there hear; what is said in private, only the two; what is announced "
    "everywhere, everybody.",
)
TRUST_CONVENTIONS = {
    ALWAYS: "Hearers believe what they are told unless they see the object; nobody is convinced by its own words.",
    FRESHER: "Hearers believe what they are told unless, as far as they know, they have seen the object later.",
    NEVER_LIARS: "Hearers believe what they are told unless they know that the speaker has lied.",
    HI_TOM: "Hearers believe only who left the object's room later than they did; everybody knows who left when.",
}
