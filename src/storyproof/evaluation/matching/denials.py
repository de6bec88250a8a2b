"""Denials: which mentions does a text state, and which does it deny?

A text is read from one mention to the next for signs: words that deny what follows, that begin a reason, or that begin
another statement, which ends the denial. "It is not in the bag and she will look in the jar" denies the bag only; "She
will not look in the bag and the jar" denies both.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from storyproof.evaluation.matching.languages import Language
from storyproof.evaluation.matching.mentions import within
from storyproof.language.answer_language import Mention

CONTRACTED = (
    *("ai", "are", "ca", "could", "did", "do", "does", "had", "has", "have", "is", "should", "was", "were", "wo"),
    "would",
)
# In this and the next patterns a word boundary comes first; it stands once, in `SIGNS`.
_DENIAL = (
    r"(?:not\b(?!\s+(?:only|just|merely|simply)\b)|(?:"
    + "|".join(CONTRACTED)
    + r")n'?t\b|cannot\b|never\b|neither\b|nor\b|no\b(?!\s+(?:doubt|question|matter|wonder|it|he|she|they)\b)|"
    r"(?<!no\s)doubt(?:s|ed|ful)?\b|(?:any|every)(?:where|thing)\s+but\b|nobody\b|without\b|instead\s+of\b|"
    r"rather\s+than\b|other\s+than\b|unlike\b|except\b|unaware\b|fail(?:s|ed)?\s+to\b)"
)
_REASON = (
    r"(?:because|being\s+(?:the|an?|his|her)\b|since|although|though|whereas|"
    r"as(?!\s+(?:well|a|the|it\s+is|he\s+thinks)\b))\b"
)
_STOP = r"[.;:!?\n—–]|--"
_END = r"(?:but|however|instead(?!\s+of)|rather(?!\s+than)|while|when|after|so)\b"
_SENTENCE_END = re.compile(r"[.\n;?!。；？！]")
_COMMA = r",(?!\s*(?:or|nor)\b)"
_AGAIN = r"(?:it|he|she|they|its|and\s+in)\b"  # a new statement, if the last one is complete
# Who does not know of something still thinks and does something, of which it is no denial.
_UNKNOWING = (
    rf"(?:{_DENIAL}\s+(?:(?:having|been|actually|really)\s+)*"
    r"(?:know|see|saw|notice|realize|realise|witness|aware|idea|told)\w*|unaware\b)"
)
_THEN = r"still\s+(?:thinks|believes)\b|(?:will|would)\s+(?:still\s+)?(?:look|search|go|check|think)\b"
# What is not thought or not true may be several things: "I do not think that it was moved and is in the jar", "that Ada
# and Ben will look there".
_DOUBTING = (
    rf"(?:{_DENIAL}\s+(?:\w+\s+)?(?:think|believe|expect|assume|say|mean|true|sure|certain|clear|likely|case|evidence|"
    r"reason|sign)\b|(?<!no\s)doubt(?:s|ed|ful)?\b)(?:\s+(?:that\s+)?(?!(?:that|this|it|so)\b)\w+\s+and\b)?"
)
# A statement that follows what is denied: its verb, with or without a subject. Only "and" is passed over, so that what
# denies this statement as well is seen.
_LEAD = r"(?:and|yet)(?=\s+(?:(?:thus|then|therefore|hence|still|now)\s+){0,2}(?:(?:the\s+)?[\w-]+\s+)?(?:still\s+)?"
_DOES = rf"{_LEAD}(?:will|would|looks|searches|checks|goes|thinks|believes|expects|assumes|\w+'ll)\b)"
_IS = (
    rf"{_LEAD}(?:is|was|are|were|must|should|remains|remained|stays|stayed|(?:it|he|she|there)'s)\b)|"
    r"and(?=\s+(?:it|therefore|thus|hence|now|still|always)\b)"
)
_THEY = r"and\s+(?:thus\s+)?(?:he|she|they)\b"
SIGNS = re.compile(
    f"(?P<stop>{_STOP})|(?P<comma>{_COMMA})|\\b(?:(?P<unknowing>{_UNKNOWING})|(?P<doubting>{_DOUBTING})|"
    f"(?P<denial>{_DENIAL})|(?P<reason>{_REASON})|(?P<end>{_END})|(?P<does>{_DOES})|(?P<they>{_THEY})|(?P<is>{_IS})|"
    f"(?P<then>{_THEN})|(?P<again>{_AGAIN}))"
)
_DENIALS = ("unknowing", "doubting", "denial")
_LIFTED_BY = {  # the denials that a statement ends; all but "then" also end one that has named what it denies
    "does": _DENIALS,
    "is": ("denial",),
    "they": ("unknowing", "denial"),
    "then": ("unknowing",),
    "again": (),
}
# What would be, if somebody had done something, and where they may look if they do not find it where they look first.
UNREAL = re.compile(
    r"\bif\s(?:\S+\s){1,3}had\b[^.!?\n]*|\bfirst\b[^.!?\n]{0,80}?"
    r"(?P<second>\b(?:if|then|and)\b[^.!?\n]{0,40}\b(?:maybe|perhaps|possibly)\b[^.!?\n]*)"
)
_EMPTY = r"\b(?:empty|wrong|incorrect|false)\b"
DENIED_AFTER = re.compile(
    r"(?:'s\s+\w+)?\s+(?:(?:is|was|are|were|does|did|has|had|can|could|would|will|should)(?:\s+(?:not|never|no\s+longer)\b"
    r"(?!\s+(?:only|just))|n't\b)|(?:is|was)\s+(?:now\s+)?(?:" + _EMPTY + r"))"
)


def weigh(text: str, found: Sequence[Mention], language: Language) -> tuple[list[Mention], list[Mention], bool]:
    """Divide mentions into those that are stated and those that only give a reason; return also if any was denied."""
    stated: list[Mention] = []
    reasons: list[Mention] = []
    denying = ""  # the kind of denial
    complete = reason = denied = False
    imagined = [match.span(match.lastgroup or 0) for match in language.unreal.finditer(text)]
    unreal = {mention.start for mention in within(found, imagined)}
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    read = 0
    for mention in found:
        ended = bisect_left(ends, mention.start)
        if ended:  # nothing reaches beyond the sentence, not even "not", a new line, "seen"
            read = max(read, ends[ended - 1])
        for sign in language.signs.finditer(text, read, mention.start):
            kind = str(sign.lastgroup)
            if kind in _DENIALS:
                denying, complete = kind, False
            elif kind in _LIFTED_BY:
                if denying in _LIFTED_BY[kind] or (complete and kind != "then"):
                    denying = ""
            else:
                denying, reason = "", kind == "reason"
        read = mention.end
        complete = bool(denying)
        if denying or language.denied_after.match(text, mention.end) or mention.start in unreal:
            denied = True
        else:
            (reasons if reason else stated).append(mention)
    return stated, reasons, denied
