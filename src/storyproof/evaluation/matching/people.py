"""Replies that list people: "Bruno, Elena and Malik", in any order, "nobody", "everybody except Malik".

Where the candidates are sets of people, a reply names one by naming its members, in one list or one after the other:
"Bruno thinks so, and so does Elena; Malik does not", "Bruno: yes". A sentence is read clause by clause. What a clause
says of its people is that they think so, that they do not, or nothing; names that stand alone share what the next
clause says, or else count as a list.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from storyproof.evaluation.matching.kinds import CONTAINED, NEGATED, NO_MATCH, NORMALIZED, PREFIX, Match
from storyproof.evaluation.matching.languages import Language
from storyproof.language.answer_language import Mention, PeopleSets

_LONGEST = 2000  # characters of a list
_LETTER = re.compile(r"[^\W\d_]")
_THAT = re.compile(r"\b(?:that|dass|daß|que)\b|(?<=认为)")
_SUBORDINATE = re.compile(r"\W*(?:that|dass|daß|ob|wo|wie|que|donde|whether|where)\b")
_RELATIVE = re.compile(r"\W*(?:who|whose|quien)\b")
_WORD = re.compile(r"[^\W\d_]+")
_BREAK = re.compile(r"[,;，；()（）\n–—]|--")
_BREAK_OR_END = re.compile(r"(?<=\w)[;；()（）\n.!?。！？]|--")
_OBJECT = "…"  # stands for what they were asked to think


def is_bare_list(text: str, sets: PeopleSets, wanted: str, language: Language) -> bool:
    """Return whether a reply is the wanted list of people and nothing else, in any order."""
    text = language.fold(text.lower())
    found = _find(text, sets, language)
    named = frozenset(mention.name for mention in found)
    return bool(found) and sets.names.get(named) == wanted and not _left_over(text, found, language)


def read_people(text: str, question: str, sets: PeopleSets, language: Language) -> tuple[Match, str | None]:
    """Read a reply in lower case, with folded letters, to a question for people.

    What counts is, in this order: what is said to be the answer; a line or sentence that is a list and nothing else,
    the last or else the first; the conclusion; else all sentences. Of a sentence those who think count, not what they
    think about others, and neither denials nor reasons do.
    """
    corrections = [match.end() for match in language.correction.finditer(text)]
    text = text[corrections[-1] :] if corrections else text
    question = language.fold(question.lower())
    asked = _THAT.search(question)
    if asked is not None:  # what they all are asked to think is no list
        text = text.replace(question[asked.start() :].strip(" ?？"), f" {_OBJECT} ")
    places = language.place.findall(question)
    reader = _Reader(sets, language, places[-1] if places else "")
    for part in (
        *_said_to_be_answers(text, language),
        *_lists(text, sets, language),
        *_conclusions(text, sets, language),
    ):
        _, name = reader.read(part)
        if name is not None:
            return (NORMALIZED if part is text else CONTAINED), name
    return reader.read(text)


def _said_to_be_answers(text: str, language: Language) -> list[str]:
    places = [match.end() for match in language.answer.finditer(text)]
    return [text[place : place + _LONGEST].lstrip().split("\n\n")[0] for place in reversed(places[-3:])]


def _lists(text: str, sets: PeopleSets, language: Language) -> list[str]:
    """Return the whole text, the last and the first sentence, where they are nothing but a list."""
    ends = [0, *(match.end() for match in language.sentence_end.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    parts = [part for part in parts if _LETTER.search(part)]
    alone = [*parts[-1:], *parts[:1]]
    if any(map(language.also.search, parts[1:])):  # "Bruno. Malik, too."
        alone = []
    found = []
    for part in (text, *alone):
        mentions = _find(part, sets, language)
        if (mentions or language.nobody.search(part)) and not _left_over(part, mentions, language):
            found.append(part)
    return found


def _conclusions(text: str, sets: PeopleSets, language: Language) -> list[str]:
    """Return what follows the last "so", if it says who, rather than "so he does, too"."""
    conclusions = [text[match.end() :] for match in list(language.hence.finditer(text))[-1:]]
    return [each for each in conclusions if _says_who(_BREAK_OR_END.split(each, 1)[0], sets, language)]


def _says_who(text: str, sets: PeopleSets, language: Language) -> bool:
    return bool(_find(text, sets, language) or language.nobody.search(text) or language.everybody.search(text))


class _Clause(NamedTuple):
    """A part of a sentence.

    Attributes:
        text: Its words.
        mentions: The people in it; places are those in its text.
        joined: Whether it goes on from the clause before without a comma.
        apart: Whether more than a comma divides it from the clause before.
    """

    text: str
    mentions: list[Mention]
    joined: bool
    apart: bool


@dataclass
class _Claims:
    """What a reply says of people.

    Attributes:
        thought: Whether a person thinks what was asked, where a clause says so.
        listed: People in lists.
        named: People that are named beside something else.
        nobody: Whether nobody thinks so.
        mentioned: All people that were spoken of so far.
    """

    thought: dict[str, bool] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    nobody: bool = False
    mentioned: set[str] = field(default_factory=set)

    def add(self, people: Iterable[str], think: bool) -> None:
        for each in people:
            self.thought[each] = think

    def people(self) -> set[str]:
        """Return who thinks so; people who are merely named count only where nothing else is said."""
        thinking = {each for each, think in self.thought.items() if think}
        denied = self.thought.keys() - thinking
        return (thinking | self.listed) - denied or self.named - denied


class _Reader:
    """Reads what a reply says of people.

    Args:
        sets: The candidates.
        language: The language of the reply.
        place: Where they are asked to think that something is; may be empty.
    """

    def __init__(self, sets: PeopleSets, language: Language, place: str) -> None:
        self._sets = sets
        self._language = language
        self._place = place

    def read(self, text: str) -> tuple[Match, str | None]:
        """Read some sentences."""
        claims = _Claims()
        subjects: list[str] = []
        for sentence in _sentences(text, self._language):
            if _LETTER.search(sentence):
                subjects = self._read_sentence(sentence, claims, subjects)
        people = claims.people()
        nobody = self._sets.names.get(frozenset())
        if people:
            name = self._sets.names.get(frozenset(people))
            return (PREFIX if text.startswith(min(people).lower()) else CONTAINED) if name else NO_MATCH, name
        all_denied = claims.thought.keys() == set(self._sets.people)
        if (claims.nobody or all_denied) and nobody is not None:
            return CONTAINED, nobody
        return (NEGATED if claims.thought else NO_MATCH), None

    def _read_sentence(self, sentence: str, claims: _Claims, subjects: list[str]) -> list[str]:
        """Read a sentence; subjects are whom a pronoun at its beginning means. Return those of the next one."""
        clauses = self._clauses(sentence)
        if self._read_quantity(sentence, clauses, claims):
            return []
        waiting: list[str] = []  # named alone, and nothing said of them yet
        think: bool | None = None  # what the clause before said
        for place, clause in enumerate(clauses):
            if clause.apart:
                claims.listed.update(waiting)
                waiting = []
            said = self._said(clauses, place)
            names = self._subjects(clause)
            if self._is_aside(clause, said):
                continue
            if not names and self._read_others(clause, said, claims):
                continue
            claims.mentioned.update(names)
            if said is None:
                if not names:
                    continue
                subjects = self._first_group(clause)
                if clause.joined and think is not None:
                    claims.add(names, think)
                elif self._is_list(clause):
                    waiting += names
                else:  # "Bruno, Elena and Malik saw it"
                    claims.named.update([*waiting, *names])
                    waiting = []
                continue
            if think is False and said and not self._has_verb(clause) and self._agrees(clause):
                said = False  # "Bruno is out of the question, Malik, too"
            if names and (self._contrasts(clause) or not self._has_verb(clause)) and not self._agrees(clause):
                claims.listed.update(waiting)
                waiting = []
            subjects = [*waiting, *names] or subjects
            claims.add(subjects, said)
            waiting, think = [], said
        claims.listed.update(waiting)
        return subjects

    def _clauses(self, sentence: str) -> list[_Clause]:
        """Divide a sentence at commas, and before "and" where a clause is complete and another has people."""
        mentions = _find(sentence, self._sets, self._language)
        starts = [mention.start for mention in mentions]
        breaks = [(match.start(), match.end(), match[0] not in ",，") for match in _BREAK.finditer(sentence)]
        breaks.append((len(sentence), len(sentence), False))
        signs = [match.start() for match in self._language.thinks.finditer(sentence)]
        signs += [match.start() for match in self._language.negation.finditer(sentence)]
        signs.sort()
        ands = [match.start() for match in self._language.conjunction.finditer(sentence)]
        clauses: list[_Clause] = []
        begin, joined, apart = 0, False, False

        def close(end: int) -> None:
            own = mentions[bisect_left(starts, begin) : bisect_left(starts, end)]
            moved = [Mention(each.start - begin, each.end - begin, each.name) for each in own]
            if _LETTER.search(sentence, begin, end):
                clauses.append(_Clause(sentence[begin:end], moved, joined, apart))

        for at, end, wide in breaks:
            for conjunction in ands[bisect_left(ands, begin) : bisect_left(ands, at)]:
                complete = bisect_left(signs, begin) < bisect_left(signs, conjunction)
                if complete and bisect_left(starts, conjunction) < bisect_left(starts, at):
                    close(conjunction)
                    begin, joined, apart = conjunction, True, False
            close(at)
            begin, joined, apart = end, False, wide
        return clauses

    def _said(self, clauses: Sequence[_Clause], place: int) -> bool | None:
        """Return whether a clause says that people think so, or not; None if it says neither."""
        clause, language = clauses[place], self._language
        rest = clause.text
        for mention in reversed(clause.mentions):
            rest = rest[: mention.start] + " " * (mention.end - mention.start) + rest[mention.end :]
        if language.negation.search(rest):
            return False
        verb = language.thinks.search(rest)
        if verb is not None:
            return not self._thinks_otherwise(clauses, place, verb.end())
        if language.also.search(rest) or any(map(language.yes.fullmatch, _WORD.findall(rest))):
            return True
        return None

    def _thinks_otherwise(self, clauses: Sequence[_Clause], place: int, begin: int) -> bool:
        """Return whether what somebody thinks, after a verb, names another place than the one asked about."""
        if not self._place:
            return False
        thought = [clauses[place].text[begin:]]
        follows = not _LETTER.search(thought[0])  # "they think, it is in the box"
        for clause in clauses[place + 1 :]:
            if not (_SUBORDINATE.match(clause.text) or (follows and not clause.mentions)):
                break
            thought.append(clause.text)
            follows = False
        text = " ".join(thought)
        return self._language.place.search(text) is not None and self._place not in text and _OBJECT not in text

    def _is_aside(self, clause: _Clause, said: bool | None) -> bool:
        """Return whether a clause is a reason, or what somebody thinks, sees or hears."""
        if _SUBORDINATE.match(clause.text) or (_RELATIVE.match(clause.text) and not self._has_verb(clause)):
            return True
        first = _LETTER.search(clause.text)
        sign = self._language.signs.match(clause.text, first.start()) if first is not None else None
        return sign is not None and sign.lastgroup == "reason" and (bool(clause.mentions) or said is not True)

    def _read_quantity(self, sentence: str, clauses: Sequence[_Clause], claims: _Claims) -> bool:
        """Read "everybody", "nobody", with exceptions, and "the only one"; return whether that is all it says."""
        language = self._language
        named = [
            (clause, {mention.name for mention in clause.mentions})
            for clause in clauses
            if not self._is_aside(clause, None)
        ]
        names = set().union(*(people for _, people in named))
        save = language.save.search(sentence)
        everybody, nobody = language.everybody.search(sentence), language.nobody.search(sentence)
        others = language.others.search(sentence) if save is not None else None  # "except Malik, the others do"
        if save is not None and names and (everybody or others or nobody):
            after = {each.name for each in _find(sentence[save.end() :], self._sets, language)} & names
            excepted = after or names
            claims.add(set(self._sets.people) - excepted if everybody or others else excepted, True)
            claims.mentioned.update(names)
            return True
        if names and language.sole.search(sentence) and any(language.negation.search(part.text) for part, _ in named):
            if sum(bool(people) for _, people in named) == 1:
                claims.add(set(self._sets.people) - names, True)
                return True
            return False
        if nobody is not None and not names:
            claims.nobody = True
            return True
        for clause, people in named:
            if not people and language.everybody.search(clause.text) and not language.others.search(clause.text):
                if names and not any(language.negation.search(part.text) for part, own in named if own):
                    return False  # "Bruno and Elena, all of them"
                claims.add(self._sets.people, language.negation.search(clause.text) is None)
        return False

    def _read_others(self, clause: _Clause, said: bool | None, claims: _Claims) -> bool:
        """Read "the others do", or do not."""
        if self._language.others.search(clause.text) is None:
            return False
        if said is not None:
            claims.add(set(self._sets.people) - claims.mentioned, said)
        return True

    def _subjects(self, clause: _Clause) -> list[str]:
        """Return who thinks: the people before the verb, else those after it."""
        verb = self._language.thinks.search(clause.text)
        before = [each.name for each in clause.mentions if verb is not None and each.start < verb.start()]
        return before or [each.name for each in clause.mentions]

    def _first_group(self, clause: _Clause) -> list[str]:
        """Return the first names with nothing but joints between them."""
        names = clause.mentions
        for place, (before, after) in enumerate(pairwise(names), 1):
            if not self._is_joint(clause.text[before.end : after.start]):
                return [each.name for each in names[:place]]
        return [each.name for each in names]

    def _is_list(self, clause: _Clause) -> bool:
        """Return whether names follow each other, and nothing follows them."""
        names = clause.mentions
        return len(self._first_group(clause)) == len(names) and self._is_joint(clause.text[names[-1].end :])

    def _is_joint(self, text: str) -> bool:
        return _LETTER.search(self._language.joints.sub(" ", text)) is None

    def _contrasts(self, clause: _Clause) -> bool:
        return self._language.contrast.search(clause.text) is not None

    def _has_verb(self, clause: _Clause) -> bool:
        return self._language.thinks.search(clause.text) is not None

    def _agrees(self, clause: _Clause) -> bool:
        return self._language.also.search(clause.text) is not None and self._said([clause], 0) is True


def _sentences(text: str, language: Language) -> list[str]:
    """Return sentences; a line of a list is none of its own."""
    joined = re.sub(r"\n\s*(?:[-*•]|\d+[.)])\s*", ", ", "\n" + text)
    ends = [0, *(match.end() for match in language.sentence_end.finditer(joined)), len(joined)]
    return [joined[start:end] for start, end in pairwise(ends)]


def _find(text: str, sets: PeopleSets, language: Language) -> list[Mention]:
    forms = {language.fold(name.lower()): name for name in sets.people}
    pattern = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    edge = r"(?![^\W_])" if language.spaced else ""
    start = r"(?<![^\W_])" if language.spaced else ""
    return [Mention(*match.span(), forms[match[0]]) for match in re.finditer(f"{start}(?:{pattern}){edge}", text)]


def _left_over(text: str, mentions: list[Mention], language: Language) -> bool:
    """Return whether a text has words besides names and what joins them."""
    edges = [0, *(edge for mention in mentions for edge in (mention.start, mention.end)), len(text)]
    text = ",".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    text = language.joints.sub(" ", language.nobody.sub(" ", text) if not mentions else text)
    return _LETTER.search(text) is not None
