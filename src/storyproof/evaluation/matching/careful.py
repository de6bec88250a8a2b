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
(`storyproof.language.answer_language.Talk`).

If several candidates remain the reply is ambiguous; if it denies all that it names, it is negated. Neither is right.

Time is linear in the length of the reply, whatever it says: models that loop write megabytes of "the answer is". So no
pattern may start anywhere within a word and run to its end, none has neighbouring repetitions of the same characters,
and sorted places are walked or bisected, never searched once per mention.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from storyproof.evaluation.matching.denials import CONTRACTED, DENIED_AFTER, SIGNS, UNREAL, weigh
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
from storyproof.evaluation.matching.languages import CHINESE, GERMAN, SPANISH, Language
from storyproof.evaluation.matching.mentions import name_finder, within
from storyproof.evaluation.matching.people import read_people
from storyproof.evaluation.matching.polarity import read_polarity, yes_and_no
from storyproof.language.answer_language import PLAIN_TALK, Mention, Talk, language_of, people_sets

# What adds something to an answer beside it: a letter, unless it is within a word or begins an article.
_SOMETHING = re.compile(r"(?<![^\W\d_])(?!(?<!\w)(?:an?|the)(?!\w))[^\W\d_]")
_DASH = re.compile(r"(?<=\w)[‐‑–—](?=\w)")  # as a hyphen
_FURTHER = re.compile(r"\n\W{0,8}(?:question|story|q|user|human|passage)\s*(?:\d+\s*)?:")
_ANSWER = re.compile(
    r"\b(?:answer|conclusion)\b[\"'*_)\s]*(?:(?::|=|\bis\b|\bwould\s+be\b|\bshould\s+be\b)[\s*_\"'`({\[:]*)+|\\boxed\s*\{|<answer>"
)
_HAN_SPACE = re.compile(r"(?<=[\u4e00-\u9fff])[ \u3000]+(?=[\u4e00-\u9fff])")
_ASIDE = re.compile(r"[(（][^()（）]*[)）](?=\W{0,8}(?:\n|$))")  # an explanation at the end of a line
_HEADING = re.compile(
    r"^[ \t>-]{0,8}\*\*[^*\n]{1,80}(?:[:：]\*\*|\*\*[ \t]?[:：])", re.MULTILINE
)  # "**Box**: Ben saw it"
_WORD_LIKE = re.compile(r"[^\W_]")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$|[\"'*)])|\n|</answer>")
_HENCE = re.compile(
    r"[,.;\n]\s{0,4}(?:and\s)?(?:so|therefore|thus|hence|consequently|(?:this|which)\s+(?:means|makes)|i\.e)\b"
    r"(?!\s+(?:far|that|do|does|did)\b)"
)
_REVISED = re.compile(r"\b(?:final|finally|no|wait|actually|instead|correction|sorry)\b")
_CORRECTION = re.compile(r"[.,!?…\n]\W{0,8}(?:no,?\s+)?(?:wait|correction|scratch\s+that|actually,)")
# What makes a reply worth reading clause by clause; without it a single name is what it means.
_WORD = re.compile(r"[a-z']+")
_TELLING = frozenset(
    (
        *("answer", "answers", "boxed", "conclusion", "empty", "false", "incorrect", "wrong"),
        *("cannot", "except", "fail", "failed", "fails", "instead", "neither", "never", "no", "nobody", "nor", "not"),
        *("anything", "anywhere", "doubt", "doubted", "doubtful", "doubts", "everything", "everywhere", "if"),
        *("other", "rather", "unaware", "unlike", "without"),
        *(f"{verb}{ending}" for verb in CONTRACTED for ending in ("n't", "nt")),
    )
)
ENGLISH = Language(
    something=_SOMETHING,
    further=_FURTHER,
    answer=_ANSWER,
    sentence_end=_SENTENCE_END,
    hence=_HENCE,
    revised=_REVISED,
    correction=_CORRECTION,
    signs=SIGNS,
    denied_after=DENIED_AFTER,
    unreal=UNREAL,
    yes=re.compile(
        r"yes|yeah|yep|yup|correct|true|right|indeed|certainly|definitely|absolutely|undoubtedly|"
        r"of course|(?:yes\W+)?(?:he|she) does|affirmative"
    ),
    no=re.compile(
        r"i (?:do not|don't) (?:think|believe) (?:so|s?he does)|"
        r"no|nope|nah|false|incorrect|not really|no way|"
        r"(?:unfortunately|sadly|probably|certainly|definitely|apparently|clearly|absolutely|of course) not|"
        r"(?:he|she) (?:does not|doesn't)|negative"
    ),
    unsure=re.compile(
        r"\b(?:yes (?:and|or) no|maybe|perhaps|unclear|possibly|not (?:clear|sure|certain|possible|stated|specified)|"
        r"(?:i|we) (?:do not|don't|cannot|can't)|cannot be (?:determined|known|said)|impossible to|depends|no way to)\b"
    ),
    knows=re.compile(r"\b(?:know(?:s|ing)?|aware|unaware|idea|clue|realises|realizes)\b"),
    wrong=re.compile(r"\b(?:(?:wrong|mistaken|incorrect|false|erroneous)(?:ly)?)\b"),
    negation=re.compile(r"\b(?:not(?!\s+only\b)|no|never|unaware|cannot|without|neither)\b|n't\b"),
    nobody=re.compile(r"\b(?:nobody|no one|no-one|none(?: of them)?)\b"),
    everybody=re.compile(r"\b(?:everybody|everyone|all(?:\s+(?:of\s+)?(?:them|the people|three|four|five|six))*)\b"),
    save=re.compile(r"\b(?:except|but|save|apart from|other than)\b"),
    joints=re.compile(r"\b(?:and|both|only|just|as well as|also|plus)\b"),
    also=re.compile(r"\b(?:too|also|as well|likewise|so (?:do|does))\b"),
    thinks=re.compile(r"\b(?:think|thinks|believe|believes|do|does)\b"),
    others=re.compile(r"\b(?:the (?:other|others|rest)|everybody else|everyone else)\b"),
    only=re.compile(r"\b(?:only|just|merely)\b"),
    sole=re.compile(r"\bonly (?:one|person)\b"),
    contrast=re.compile(r"\b(?:but|however|whereas|while)\b"),
    conjunction=re.compile(r"\band\b"),
    place=re.compile(
        r"\b(?:in|inside|on|under|behind|beside)\s+(?:the|a|an)\s+([\w-]+(?:\s+(?:chest|box|case|basket|bag))?)"
    ),
)
LANGUAGES = {"en": ENGLISH, "de": GERMAN, "es": SPANISH, "zh": CHINESE}

_START = attrgetter("start")


class ReplyReading(NamedTuple):
    """What a reply says, whatever the right answer is.

    Attributes:
        match: How it matches what it names; why it does not, if it names nothing or several things.
        name: What it names, if that is one thing.
    """

    match: Match
    name: str | None = None


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
    if not answer.strip():
        return NO_MATCH
    if reply.strip().lower() == answer.strip().lower():
        return EXACT
    reading = read_reply(reply, _with(candidates, answer), question, talk)
    return reading.match if reading.name in (None, answer) else NO_MATCH


def meant_carefully(
    reply: str, answer: str, candidates: Sequence[str], question: str = "", talk: Talk = PLAIN_TALK
) -> str | None:
    """Return the candidate that a reply means, if any; arguments are those of `judge_carefully`."""
    bare = reply.strip().lower()
    for candidate in candidates:
        if bare and candidate.strip().lower() == bare:
            return candidate
    name = read_reply(reply, _with(candidates, answer), question, talk).name
    return name if name in candidates else None


def _with(candidates: Sequence[str], answer: str) -> tuple[str, ...]:
    return tuple(candidates) if answer in candidates else (*candidates, answer)


@lru_cache(maxsize=1)  # of a reply that is not right, it is asked next what it means
def read_reply(reply: str, names: tuple[str, ...], question: str, talk: Talk) -> ReplyReading:
    """Read a reply.

    Args:
        reply: What the model said.
        names: What it may name.
        question: What was asked; may be empty.
        talk: How replies of the question's family are read.
    """
    language = LANGUAGES[language_of(question, names)]
    said = _plain(reply)
    if not language.spaced:
        said = _HAN_SPACE.sub("", said)
    text = said.lower()
    folded = language.fold(text)
    if (polar := yes_and_no(names)) is not None:
        return ReplyReading(*read_polarity(_first_part(folded, language), question, polar, language))
    if (sets := people_sets(names)) is not None:
        return ReplyReading(*read_people(_first_part(folded, language), question, sets, language))
    text = folded
    found = name_finder(names, talk, language).find(text)
    if question:
        found = _without(found, talk.set_aside_first(said, found, question))
    if not found:
        return ReplyReading(NO_MATCH)
    counted = found
    if (
        len({mention.name for mention in found}) > 1
        or (talk.reads_always and question)
        or language is not ENGLISH
        or not _TELLING.isdisjoint(_WORD.findall(text))
    ):
        counted, denied = _select(said, text, found, question, talk, language)
        if not counted:
            return ReplyReading(NEGATED if denied else NO_MATCH)
    named = {mention.name for mention in counted}
    return ReplyReading(AMBIGUOUS) if len(named) > 1 else ReplyReading(_kind(text, counted, language), named.pop())


def _first_part(text: str, language: Language) -> str:
    """Return a reply up to where the model begins to ask questions of its own."""
    further = language.further.search(text)
    return text if further is None else text[: further.start()]


def _select(
    said: str, text: str, found: list[Mention], question: str, talk: Talk, language: Language
) -> tuple[list[Mention], bool]:
    """Return the mentions that count, and whether any was denied."""
    further = language.further.search(text, found[0].end)
    if further is not None:
        found = found[: bisect_left(found, further.start(), key=_START)]
        text = text[: further.start()]
    found = _after_last(language.correction, text, found)
    said_again = [match.end() for match in language.correction.finditer(text, 0, found[0].start)] if found else []
    spans = _answers(text, found, language, said_again[-1] if said_again else 0) or _alone(text, found, language)
    if spans:
        found = within(found, spans)
    if question and (decisive := talk.decisive(said, found, question)):
        stated, _, denied = weigh(text, decisive, language)
        stated = _after_last(language.hence, text, stated)
        if len({mention.name for mention in stated}) == 1:
            return stated, denied
    if question:
        found = _without(found, talk.set_aside_last(said, text, found, question))
    stated, reasons, denied = weigh(text, found, language)
    return _after_last(language.hence, text, stated or reasons), denied


def _without(found: list[Mention], others: Iterable[Mention]) -> list[Mention]:
    """Return the mentions that are not among others."""
    left_out = frozenset(others)
    return [mention for mention in found if mention not in left_out] if left_out else found


def _after_last(pattern: re.Pattern[str], text: str, found: list[Mention]) -> list[Mention]:
    """Return the mentions after the last place with a pattern that has one after it; all without such a place."""
    ends = [match.end() for match in pattern.finditer(text[: found[-1].start])] if found else []
    return found[bisect_left(found, ends[-1], key=_START) :] if ends else found


def _plain(reply: str) -> str:
    """Remove what a model only thinks, and escapes and dashes of typesetting."""
    said = reply.rpartition("</think>")[2].partition("<think>")[0].replace("\\_", "_").replace("’", "'")
    said = said.replace("İ", "I\N{COMBINING DOT ABOVE}")  # the one letter that is longer in lower case
    return _DASH.sub("-", said).strip()


def _answers(text: str, found: Sequence[Mention], language: Language, start: int) -> list[tuple[int, int]]:
    """Return the spans from a place on that are said to be the answer, up to the end of the sentence.

    A revised one stands alone.
    """
    begins = [match.end() for match in language.answer.finditer(text, start)]
    if not begins:
        return []
    ends = [*(match.start() for match in language.sentence_end.finditer(text, begins[0])), len(text)]
    ends = sorted([*ends, *(match.start() for match in _ASIDE.finditer(text, begins[0]))])
    spans = [(begin, ends[bisect_left(ends, begin)]) for begin in begins]
    spans = [span for span in spans if _WORD_LIKE.search(text, *span)]
    starts = [mention.start for mention in found]
    naming = [(begin, end) for begin, end in spans if bisect_left(starts, begin) < bisect_left(starts, end)]
    if len(naming) > 1 and language.revised.search(text, naming[-2][1], naming[-1][0]):
        return naming[-1:]
    return spans


def _alone(text: str, found: Sequence[Mention], language: Language) -> list[tuple[int, int]]:
    """Return the sentences that are a mention and no more, if the first or the last is one; the rest explains it."""
    words = sorted(
        {match.start() for match in language.something.finditer(text)}.union(mention.start for mention in found)
    )

    def words_before(place: int) -> int:
        return bisect_left(words, place)

    ends = [match.start() for match in language.sentence_end.finditer(text)]
    headings = list(_HEADING.finditer(text))
    ends += [match.end() for match in headings if len(headings) == 1 and not match.start()]
    ends = sorted({*ends, *(match.start() for match in _ASIDE.finditer(text))})
    spans = [(start, end) for start, end in pairwise([0, *ends, len(text)]) if words_before(start) < words_before(end)]
    starts = [start for start, _ in spans]
    alone = []
    for mention in found:
        start, end = spans[bisect_right(starts, mention.start) - 1]
        if words_before(start) == words_before(mention.start) and words_before(mention.end) >= words_before(end):
            alone.append((start, end))
    return alone if alone and (alone[0] == spans[0] or alone[-1] == spans[-1]) else []


def _kind(text: str, counted: Sequence[Mention], language: Language) -> Match:
    """Return the kind of match: where in the reply the answer stands."""
    begins = language.something.search(text[: counted[0].start]) is None
    ends = language.something.search(text, counted[-1].end) is None
    if begins and ends and len(counted) == 1:
        return NORMALIZED
    return PREFIX if begins else SUFFIX if ends else CONTAINED
