"""The careful matcher: which candidates does a reply name, which of them does it deny, and what does it conclude?

A reply is right if it names the answer and nothing else that counts. What does not count:

- what is denied: "not in the box", "no longer in", "the basket, not the box", "anywhere but the box", "the box is
  empty", and what would be, if things had gone otherwise;
- what only gives a reason: "the box, because he did not see her move it to the jar";
- what stands before a conclusion ("so …", "The answer is …", "Answer: …") that names a candidate, before a final or
  revised one, or before a correction ("wait, …");
- whatever else is said, once the reply states just what was asked, such as where the person asked about will look;
- what follows an answer that stands alone in the first line or sentence, and what precedes one alone in the last;
- if the question is known, what is said of other people: "Ada will look in the box" when it is asked where Ben will;
- whatever a model writes after it begins to ask further questions, and what it thinks between `<think>` and `</think>`.

What is particular to one kind of question (other names for an answer, whom a sentence is about) comes from the family
(`storyproof.replies.Talk`).

If several candidates remain the reply is ambiguous; if it denies all that it names, it is negated. Neither is right.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from storyproof.evaluation.matching.kinds import (
    AMBIGUOUS,
    CONTAINED,
    EXACT,
    NEGATED,
    NO_MATCH,
    NORMALIZED,
    PREFIX,
    SUFFIX,
    Match,
)
from storyproof.evaluation.matching.mentions import name_finder
from storyproof.replies import PLAIN_TALK, Mention, Talk

_NOTHING = re.compile(r"(?:[\W\d_]|(?<!\w)(?:a|an|the)(?!\w))*")  # what stands beside an answer and adds nothing
_DASH = re.compile(r"(?<=\w)[‐‑–—](?=\w)")  # as a hyphen
_MOST = 50_000  # characters that are looked at; nobody's answer is further on

_VERBS = (
    *("ai", "are", "ca", "could", "did", "do", "does", "had", "has", "have", "is", "should", "was", "were", "wo"),
    "would",
)
_DENIAL = (
    r"\bnot\b(?!\s+(?:only|just|merely|simply)\b)|\b(?:"
    + "|".join(_VERBS)
    + r")n'?t\b|\bcannot\b|\bnever\b|\bneither\b|\bnor\b|\bno\b(?!\s+(?:doubt|question|matter|wonder)\b)|"
    r"(?<!no\s)\bdoubt(?:s|ed|ful)?\b|\b(?:any|every)(?:where|thing)\s+but\b|\bnobody\b|\bwithout\b|\binstead\s+of\b|\brather\s+than\b|\bother\s+than\b|\bunlike\b|\bexcept\b|\bunaware\b|"
    r"\bfail(?:s|ed)?\s+to\b"
)
_REASON = r"\b(?:because|since|although|though|whereas|as(?!\s+(?:well|a|the|it\s+is|he\s+thinks)\b))\b"
_END = r"[.;:!?\n—–]|--|\b(?:but|however|instead(?!\s+of)|while|when|after|so)\b"
_STOPS = (".", "\n", ";", "?", "!")
_COMMA = r",(?!\s*(?:or|nor)\b)"
_AGAIN = r"\b(?:it|he|she|they|its|it's|and\s+(?:is|was|will|in))\b"  # a new statement, if the last one is complete
# Who does not know of something still thinks and does something, of which it is no denial.
_UNKNOWING = (
    rf"(?:{_DENIAL})\s+(?:(?:having|been|actually|really)\s+)*(?:know|see|seen|saw|notice|realize|realise|witness)\w*"
)
_THEN = (
    r"\band\s+(?:so\s+|thus\s+)?(?:will|would|still|he|she|they)\b|\bstill\s+(?:thinks|believes)\b|"
    r"\b(?:will|would)\s+(?:still\s+)?(?:look|search|go|check|think)\b"
)
_SIGNS = re.compile(
    f"(?P<unknowing>{_UNKNOWING})|(?P<deny>{_DENIAL})|(?P<reason>{_REASON})|(?P<end>{_END})|(?P<comma>{_COMMA})|"
    f"(?P<then>{_THEN})|(?P<again>{_AGAIN})"
)
_UNREAL = re.compile(r"\bif\s(?:\S+\s){1,3}had\b[^.!?\n]*")  # what would be, if somebody had done something
_EMPTY = r"\b(?:empty|wrong|incorrect|false)\b"
_DENIED_AFTER = re.compile(
    r"(?:'s\s+\w+)?\s+(?:(?:is|was|are|were|does|did|has|had|can|could|would|will|should)(?:\s+(?:not|never|no\s+longer)\b"
    r"(?!\s+(?:only|just))|n't\b)|(?:is|was)\s+(?:now\s+)?(?:" + _EMPTY + r"))"
)

_FURTHER = re.compile(r"\n\W{0,8}(?:question|story|q|user|human|passage)\s*\d*\s*:")
_ANSWER = re.compile(
    r"\b(?:answer|conclusion)\b[\"'*_)\s]*(?:(?::|=|\bis\b|\bwould\s+be\b|\bshould\s+be\b)[\s*_\"'`({\[:]*)+|\\boxed\s*\{|<answer>"
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$|[\"'*)])|\n|</answer>")
_HENCE = re.compile(
    r"(?:^|[,.;\n])\s{0,4}(?:and\s)?(?:so|therefore|thus|hence|consequently|(?:this|which)\s+(?:means|makes)|i\.e)\b"
    r"(?!\s+(?:far|that))"
)
_REVISED = re.compile(r"\b(?:final|finally|no|wait|actually|instead|correction|sorry)\b")
_CORRECTION = re.compile(r"(?:^|[.,!?…\n])[\s\W]{0,8}(?:no,?\s+)?(?:wait|correction|scratch\s+that|actually,)")
# What makes a reply worth reading clause by clause; without it a single name is what it means.
_WORD = re.compile(r"[a-z']+")
_TELLING = frozenset(
    (
        *("answer", "answers", "boxed", "conclusion", "empty", "false", "incorrect", "wrong"),
        *("cannot", "except", "fail", "failed", "fails", "instead", "neither", "never", "no", "nobody", "nor", "not"),
        *("anything", "anywhere", "doubt", "doubtful", "doubts", "everything", "everywhere", "if"),
        *("other", "rather", "unaware", "unlike", "without"),
        *(f"{verb}{ending}" for verb in _VERBS for ending in ("n't", "nt")),
    )
)


def judge_carefully(
    reply: str, answer: str, candidates: Sequence[str], question: str = "", talk: Talk = PLAIN_TALK
) -> Match:
    """Judge a reply by reading it.

    Args:
        reply: What the model said.
        answer: The right answer.
        candidates: What could be answered.
        question: What was asked; it tells whom statements must be about.
        talk: How replies of the question's family are read.
    """
    said = reply.strip()[:_MOST]
    if said and said.lower() == answer.strip().lower():
        return EXACT
    said = _plain(said)
    if not said or not answer.strip():
        return NO_MATCH
    text = said.lower()
    names = name_finder(tuple(candidates) if answer in candidates else (*candidates, answer), talk)
    found = names.find(text)
    if not found:
        return NO_MATCH
    if question and (others := talk.set_aside_first(said, found, question)):
        found = [mention for mention in found if mention not in others]
        if not found:
            return NO_MATCH
    counted = found
    if (
        len({mention.name for mention in found}) > 1
        or (talk.reads_always and question)
        or not _TELLING.isdisjoint(_WORD.findall(text))
    ):
        counted, denied = _read(said, text, found, question, talk)
        if not counted:
            return NEGATED if denied else NO_MATCH
    named = {mention.name for mention in counted}
    if len(named) > 1:
        return AMBIGUOUS
    return _kind(text, counted) if named == {answer} else NO_MATCH


def _read(said: str, text: str, found: list[Mention], question: str, talk: Talk) -> tuple[list[Mention], bool]:
    """Return the mentions that count, and whether any was denied."""
    further = _FURTHER.search(text, found[0].end)
    if further is not None:
        found = [mention for mention in found if mention.start < further.start()]
        text = text[: further.start()]
    found = _corrected(text, found)
    spans = _answers(text, found)
    if question and not spans and (decisive := talk.decisive(said, found, question)):
        stated, _, denied = _weigh(text, decisive)
        if len({mention.name for mention in stated}) == 1:
            return stated, denied
    spans = spans or _alone(text, found)
    if spans:
        starts = [start for start, _ in spans]
        within = [max(0, bisect_right(starts, mention.start) - 1) for mention in found]
        found = [
            each for each, span in zip(found, within, strict=True) if spans[span][0] <= each.start < spans[span][1]
        ]
    if question and (others := talk.set_aside_last(said, text, found, question)):
        found = [mention for mention in found if mention not in others]
    stated, reasons, denied = _weigh(text, found)
    stated = stated or reasons
    hence = [match.end() for match in _HENCE.finditer(text)]
    for place in reversed(hence):
        concluded = [mention for mention in stated if mention.start >= place]
        if concluded:
            return concluded, denied
    return stated, denied


def _plain(said: str) -> str:
    """Remove what a model only thinks, and escapes and dashes of typesetting."""
    thought, ended, after = said.rpartition("</think>")
    said = after if ended else thought or after
    said = said.partition("<think>")[0]
    return _DASH.sub("-", said.replace("\\_", "_").replace("’", "'")).strip()


def _corrected(text: str, found: list[Mention]) -> list[Mention]:
    """Drop what was named before a correction, if something is named after it."""
    for match in reversed(list(_CORRECTION.finditer(text))):
        after = [mention for mention in found if mention.start >= match.end()]
        if after:
            return after
    return found


def _answers(text: str, found: Sequence[Mention]) -> list[tuple[int, int]]:
    """Return the spans that are said to be the answer, up to the end of the sentence; a revised one stands alone."""
    spans = []
    for match in _ANSWER.finditer(text):
        end = _SENTENCE_END.search(text, match.end())
        span = match.end(), len(text) if end is None else end.start()
        if re.search(r"[^\W_]", text[slice(*span)]):
            spans.append(span)
    naming = [span for span in spans if any(span[0] <= mention.start < span[1] for mention in found)]
    if len(naming) > 1 and _REVISED.search(text, naming[-2][1], naming[-1][0]):
        return naming[-1:]
    return naming or spans


def _alone(text: str, found: Sequence[Mention]) -> list[tuple[int, int]]:
    """Return the sentences that are a mention and no more, if the first or the last is one; the rest explains it."""
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    spans = [(start, end) for start, end in pairwise([0, *ends, len(text)]) if _left(text[start:end])]
    starts = [start for start, _ in spans]
    alone = []
    for mention in found:
        start, end = spans[bisect_right(starts, mention.start) - 1]
        if not _left(text[start : mention.start]) and not _left(text[mention.end : end]):
            alone.append((start, end))
    return alone if alone and (alone[0] == spans[0] or alone[-1] == spans[-1]) else []


def _weigh(text: str, found: Sequence[Mention]) -> tuple[list[Mention], list[Mention], bool]:
    """Divide mentions into those that are stated and those that only give a reason; return also if any was denied."""
    stated: list[Mention] = []
    reasons: list[Mention] = []
    denying = complete = reason = denied = unknowing = False
    unreal = [match.span() for match in _UNREAL.finditer(text)] if " had " in text else []
    read = 0
    for mention in found:
        for stop in _STOPS:  # nothing reaches beyond the sentence
            end = text.rfind(stop, read, mention.start)
            if end >= 0:
                read, denying, reason = end, False, False
        for sign in _SIGNS.finditer(text, read, mention.start):
            kind = sign.lastgroup
            if kind in ("deny", "unknowing"):
                denying, complete, unknowing = True, False, kind == "unknowing"
            elif kind == "then":
                denying = denying and not unknowing
            elif kind == "reason":
                denying, reason = False, True
            elif kind != "again":
                denying = reason = False
            elif complete:
                denying = False
        read = mention.end
        complete = denying
        if denying or _DENIED_AFTER.match(text, mention.end) or any(a <= mention.start < z for a, z in unreal):
            denied = True
        else:
            (reasons if reason else stated).append(mention)
    return stated, reasons, denied


def _kind(text: str, counted: Sequence[Mention]) -> Match:
    """Return the kind of match: where in the reply the answer stands."""
    begins, ends = not _left(text[: counted[0].start]), not _left(text[counted[-1].end :])
    if begins and ends and len(counted) == 1:
        return NORMALIZED
    return PREFIX if begins else SUFFIX if ends else CONTAINED


def _left(text: str) -> bool:
    """Return whether a text has anything but articles, digits and punctuation."""
    return _NOTHING.fullmatch(text) is None
