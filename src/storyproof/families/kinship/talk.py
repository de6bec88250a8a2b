"""Whose kin a reply speaks of: "Ada is Ben's mother" says nothing about what Cid is to Ben."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from storyproof.evaluation.matching.mentions import Mention
from storyproof.evaluation.matching.people import people_in

_ASKED = re.compile(r"what is (?P<who>[^?]+?) to (?P<whom>[^?]+?)\s*\?", re.IGNORECASE)
_LINK = r"(?:is|was|are|must\s+be|would\s+be|will\s+be|becomes|=)"
_FILLER = r"(?:(?:also|therefore|thus|hence|actually|really|probably|not|the|a|an|his|her|their)\s+)*"
_OWNER_BEFORE = re.compile(r"(?P<owner>[\w-]+)(?:'s|s'|')\s+(?:(?!is\b|was\b|and\b)\w+\s+){0,2}$")
_OWNER_AFTER = re.compile(r"\s+(?:of|to|for)\s+(?P<owner>[\w-]+)")
_SUBJECT_BEFORE = re.compile(rf"(?P<who>[\w-]+),?\s+{_LINK}\s+{_FILLER}(?:[\w-]+(?:'s|s'|')\s+)?(?:\w+\s+)?$")
_SUBJECT_AFTER = re.compile(rf"(?:,?\s+|\s+{_LINK}\s+)(?:(?:named|called)\s+)?(?P<who>[\w-]+)")
_REACH = 90  # characters before a mention in which its subject is looked for


class Asked(NamedTuple):
    """The two people of a question of kinship, in lower case: what is `who` to `whom`?"""

    who: str
    whom: str


@lru_cache(maxsize=1024)
def asked_of(question: str) -> Asked | None:
    """Read a question; None if it is of another kind."""
    match = _ASKED.search(question)
    return None if match is None else Asked(match["who"].lower(), match["whom"].lower())


def about_others(said: str, text: str, found: list[Mention], asked: Asked) -> set[Mention]:
    """Give the mentions that say what somebody is to somebody, but of another pair than was asked about.

    Args:
        said: The reply, as it was written.
        text: The same in lower case, in which the mentions were found.
        found: The mentions.
        asked: Who was asked about.
    """
    people = people_in(said) | {asked.who, asked.whom}
    return {mention for mention in found if _of_another_pair(text, mention, people, asked)}


def _of_another_pair(text: str, mention: Mention, people: set[str], asked: Asked) -> bool:
    before, after = text[max(0, mention.start - _REACH) : mention.start], text[mention.end : mention.end + _REACH]
    owner = _person(_OWNER_BEFORE.search(before), "owner", people) or _person(
        _OWNER_AFTER.match(after), "owner", people
    )
    if owner is not None and owner != asked.whom:
        return True
    who = _person(_SUBJECT_BEFORE.search(before), "who", people) or _person(_SUBJECT_AFTER.match(after), "who", people)
    return who is not None and who != asked.who


def _person(match: re.Match[str] | None, group: str, people: set[str]) -> str | None:
    return match[group] if match is not None and match[group] in people else None
