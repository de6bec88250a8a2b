"""Replies to yes-or-no questions: "Yes.", "No, she does not know", "She knows where it is", "不知道"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from storyproof.evaluation.matching.kinds import AMBIGUOUS, CONTAINED, NO_MATCH, NORMALIZED, PREFIX, SUFFIX, Match
from storyproof.evaluation.matching.languages import Language

YES = frozenset({"yes", "ja", "sí", "是", "知道"})
NO = frozenset({"no", "nein", "否", "不知道"})
_PLAINLY = YES | NO | {"si"}  # an adverb may stand before these only: "is right" says something else
_CLAUSE_END = re.compile(r"[.,;:!?\n。，；：！？—–}]|</answer>")
_SENTENCE_END = re.compile(r"[.;!?\n。；！？]")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_LONGEST = 6  # words of a clause that only says yes or no, with an adverb
_ASKED = re.compile(r"^\W*(?:Does|Weiß|Sabe)\s+(\w+)|^(\w{2,3}?)知道")
# A sentence about nobody but the person who was asked about: a pronoun, or a verb without a subject.
_THEY = re.compile(r"\W*(?:(?:he|she|er|sie|el|ella|tiene|esta|se|cree|piensa)\b|[他她])")
_LETTER = re.compile(r"[^\W\d_]")


def yes_and_no(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the candidates for yes and no, if there are no others."""
    yes, no = [name for name in names if name in YES], [name for name in names if name in NO]
    return (yes[0], no[0]) if len(yes) == len(no) == 1 and len(names) == 2 else None


def read_polarity(text: str, question: str, names: tuple[str, str], language: Language) -> tuple[Match, str | None]:
    """Read a reply in lower case to a question with the answers yes and no.

    What counts is, in this order: what is said to be the answer; a first clause that is yes or no; a conclusion or a
    last clause that is; that it cannot be told; that somebody knows, or does not; a first word that is yes or no.
    """
    corrections = [match.end() for match in language.correction.finditer(text)]
    text = text[corrections[-1] :] if corrections else text
    for match in reversed(list(language.answer.finditer(text))):
        clause = _first_clause(text[match.end() : match.end() + 80])
        said = _word(clause, language)
        if said is None:  # "the answer is a clear yes"
            plain = _PLAINLY.intersection(clause.split())
            said = plain <= YES | {"si"} if len(plain) == 1 else None
        if said is not None:
            return SUFFIX, names[not said]
    clauses = [clause for clause in _CLAUSE_END.split(text) if _LETTER.search(clause)]
    if not clauses:
        return NO_MATCH, None
    said = _word(clauses[0], language)
    if said is not None:
        return NORMALIZED if len(clauses) == 1 else PREFIX, names[not said]
    conclusions = [text[match.end() :] for match in list(language.hence.finditer(text))[-1:]]
    for last in (*conclusions, clauses[-1]):
        said = _word(last, language)
        if said is not None:
            return SUFFIX, names[not said]
    first = next(part for part in _SENTENCE_END.split(text) if _LETTER.search(part))
    opening = [clause for clause in _CLAUSE_END.split(first) if _LETTER.search(clause)]
    if len(opening) > 1 and not any(sign.lastgroup == "reason" for sign in language.signs.finditer(first)):
        said = _word(opening[-1], language)  # "In my view, no. She …"
        if said is not None:
            return PREFIX, names[not said]
    if language.unsure.search(text):
        return NO_MATCH, None
    verdicts = {_statement(sentence, question, language) for sentence in _SENTENCE_END.split(text)} - {None}
    if len(verdicts) > 1:
        return AMBIGUOUS, None
    for verdict in verdicts:
        return CONTAINED, names[not verdict]
    no, yes = (pattern.match(clauses[0].strip()) for pattern in (language.no, language.yes))
    return (PREFIX, names[no is not None]) if no or yes else (NO_MATCH, None)


def _before_reason(clauses: list[str], reasons: list[bool], language: Language) -> list[str]:
    place = reasons.index(True)
    begin = next(sign.start() for sign in language.signs.finditer(clauses[place]) if sign.lastgroup == "reason")
    return [*clauses[:place], clauses[place][:begin]]


def _first_clause(text: str) -> str:
    return next((clause for clause in _CLAUSE_END.split(text) if _LETTER.search(clause)), "")


def _word(clause: str, language: Language) -> bool | None:
    """Return whether a clause is yes or no, maybe after an adverb ("sadly no"), and nothing else; None if neither."""
    bare = language.adverbs.sub("", _EDGES.sub("", clause))
    words = bare.split()
    if (
        1 < len(words) <= _LONGEST
        and words[-1] in _PLAINLY
        and _PLAINLY.isdisjoint(words[:-1])
        and not language.knows.search(bare)
    ):
        bare = words[-1]
    if language.no.fullmatch(bare):
        return False
    return True if language.yes.fullmatch(bare) else None


def _statement(sentence: str, question: str, language: Language) -> bool | None:
    """Return whether a sentence says that somebody knows or not; a person who is not wrong is not known to be wrong."""
    concluded = [sentence[match.end() :] for match in list(language.hence.finditer(sentence))[-1:]]
    if concluded and (said := _statement(concluded[0], question, language)) is not None:
        return said
    clauses = _CLAUSE_END.split(sentence)
    reasons = [any(sign.lastgroup == "reason" for sign in language.signs.finditer(clause)) for clause in clauses]
    if True in reasons:  # a reason reaches to the end, one that begins the sentence only to the next clause
        clauses = clauses[1:] if reasons[0] and len(clauses) > 1 else _before_reason(clauses, reasons, language)
    for place, clause in enumerate(clauses):
        if language.knows.search(clause):
            if language.thinks.search(clause) and any(map(language.wrong.search, clauses[place + 1 :])):
                return False  # who thinks that they know it, but is wrong
            before = clauses[place - 1] if place else ""
            doubted = language.thinks.search(before) is not None and language.negation.search(before) is not None
            partly = language.only.search(clause) is not None and language.negation.search(sentence) is not None
            return not doubted and not partly and language.negation.search(clause) is None
    if not any(map(language.wrong.search, clauses)):
        return None
    denied = any(map(language.negation.search, clauses))
    if language.wrong.search(language.fold(question.lower())):
        return False if denied else None
    asked = _ASKED.search(question)  # who is wrong about it does not know it
    if asked is None or (
        language.fold(asked[asked.lastindex or 0].lower()) not in sentence and not _THEY.match(sentence)
    ):
        return None
    return denied
