"""How replies speak of kin: informal words, kin that only sounds like ours, and whose kin is meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from storyproof.families.kinship.relations import WORDS
from storyproof.replies import Mention, Talk, other_forms, parts_of, people_in

_WORDS = frozenset(WORDS)
_CALLED = {  # what people say in speech
    "mother": ("mom", "mum", "mommy", "mummy", "mama"),
    "father": ("dad", "daddy", "papa"),
    "grandmother": ("grandma", "granny"),
    "grandfather": ("grandpa", "granddad"),
}
_ASKED = re.compile(r"what is (?P<who>[^?]+?) to (?P<whom>[^?]+?)\s*\?", re.IGNORECASE)
_LINK = r"(?:is|was|are|must\s+be|would\s+be|will\s+be|becomes|=)"
_FILLER = r"(?:(?:also|therefore|thus|hence|actually|really|probably|not|the|a|an|his|her|their)\s+)*"
_OWNER_BEFORE = re.compile(r"(?P<owner>[\w-]+)(?:'s|s'|')\s+(?:(?!is\b|was\b|and\b)\w+\s+){0,2}$")
_OWNER_AFTER = re.compile(r"\s+(?:of|to|for)\s+(?P<owner>[\w-]+)")
_SUBJECT_BEFORE = re.compile(rf"(?P<who>[\w-]+),?\s+{_LINK}\s+{_FILLER}(?:[\w-]+(?:'s|s'|')\s+)?(?:\w+\s+)?$")
_SUBJECT_AFTER = re.compile(rf"(?:,?\s+|\s+{_LINK}\s+)(?:(?:named|called)\s+)?(?P<who>[\w-]+)")
_REACH = 90  # characters before a mention in which its subject is looked for


class AskedPair(NamedTuple):
    """The two people of a question of kinship, in lower case: what is `who` to `whom`?"""

    who: str
    whom: str


class KinTalk(Talk):
    """Replies that name kin.

    "Mom" is the mother, a great-aunt is not an aunt, a cousin is an answer that no question has, and "Ada is Ben's
    mother" says nothing about what Cid is to Ben.
    """

    further = (*WORDS, "cousin")
    lookalikes = (
        r"(?:great|step|half|foster|god|adoptive|adopted|ex|former)[\s_-]*(?:grand[\s_-]*)?"
        rf"(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})s?"
    )
    reads_always = True

    def claims(self, candidates: Collection[str]) -> bool:
        """Return whether a candidate is a word of kinship."""
        return any(candidate.lower() in _WORDS for candidate in candidates)

    def forms(self, name: str) -> list[str]:
        """Return other forms of a name, and what people also call such kin."""
        parts = parts_of(name)
        if parts[-2:] == ["in", "law"]:
            return [f"{parts[0]}s-in-law", f"{parts[0]}-inlaw", f"{parts[0]}-in-laws"]
        found = other_forms(name)
        if name.lower() in _WORDS and parts[0].startswith("grand"):
            found += [f"grand-{parts[0][5:]}", f"grand-{parts[0][5:]}s"]
        return [*found, *(form for word in _CALLED.get(name.lower(), ()) for form in (word, f"{word}s"))]

    def set_aside_last(self, said: str, text: str, found: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions that say what somebody is to somebody, but of another pair than was asked about."""
        asked = asked_pair(question)
        if asked is None:
            return ()
        people = people_in(said) | {asked.who, asked.whom}
        return {mention for mention in found if _of_another_pair(text, mention, people, asked)}


@lru_cache(maxsize=1024)
def asked_pair(question: str) -> AskedPair | None:
    """Parse a question; None if it asks something else."""
    match = _ASKED.search(question)
    return None if match is None else AskedPair(match["who"].lower(), match["whom"].lower())


def _of_another_pair(text: str, mention: Mention, people: set[str], asked: AskedPair) -> bool:
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


TALK = KinTalk()
