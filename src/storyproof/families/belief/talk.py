"""How replies speak of minds: "Milo will look in the drawer" says nothing about where Julia will."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from storyproof.replies import NO_NAMES, Mention, Talk, language_of, people_in

_ASKED = re.compile(r"where (?:will|would|does|do|might|should) (?P<rest>[^?]+)\?", re.IGNORECASE)
# A name reaches to the end of its word. Before it stands what its word has before the first part with a capital letter,
# so that a word is read once: a pattern that may start at each hyphen takes minutes for a long row of them.
_BEFORE = r"(?<![\w-])(?:(?![A-Z])\w*-)*"
_NAME = r"[A-Z][\w-]*\w(?![\w-])"
_MINDED = re.compile(
    rf"{_BEFORE}(?P<who>{_NAME})(?:'ll\b|\s+(?:also\s+|still\s+|probably\s+|first\s+|now\s+)?(?:will|would|might|may|must|"
    r"should|could|can|looks|searches|thinks|believes|knows|goes|is\s+(?:going|looking|searching))\b)"
)
_THINKS = re.compile(
    rf"{_BEFORE}(?P<who>{_NAME}|she|he|they)(?:'ll|\s+(?:will|would|should|must|might|is\s+going\s+to))?\s+"
    r"(?:(?:still|probably|likely|first|then|therefore|also|wrongly|mistakenly)\s+)*"
    r"(?:look|search|check|go|think|believe|expect|assume)(?:s|es)?\b"
)
_CLAUSE_END = re.compile(
    r"[.;!?\n]|\b(?:although|because|before|after|but|even|instead|since|though|unaware|when|whereas|while)\b"
)
_SENTENCE = re.compile(r"[^.!?;\n。！？；]+")
_SURNAMES = (
    "王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁董余苏叶"
    "吕魏蒋田杜丁沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦"
)
_HAN_NAME = rf"[{_SURNAMES}][\u4e00-\u9fff]"


class Speech(NamedTuple):
    """How one language speaks of minds.

    Attributes:
        asked: The people whose minds a question asks about.
        minded: That somebody does, thinks or says something.
        thinks: The same of anybody who may be meant, before what they think.
        clause_end: Where such a clause ends.
        first: What asks, or says, how things were at the beginning.
        really: What asks, or says, how things really are.
    """

    asked: re.Pattern[str]
    minded: re.Pattern[str]
    thinks: re.Pattern[str]
    clause_end: re.Pattern[str]
    first: re.Pattern[str]
    really: re.Pattern[str]


_DE_VERB = r"(?:wird|würde|sucht|glaubt|denkt|meint|vermutet|schaut|sieht|sagt|geht|nimmt|antwortet|hält)"
_DE_BUT = r"(?:\s+(?:aber|jedoch|hingegen|dagegen|daher|also|deshalb)\b)?"
_ES_VERB = (
    r"(?:buscar[aá]|ir[aá]|mirar[aá]|busca|piensa|cree|dir[ií]a|responder[ií]a|contestar[ií]a|supone|creer[aá]|"
    r"pensar[aá])"
)
_ZH_VERB = r"(?:应该|还|仍然|一定|肯定|可能|就|都|也|仍|共同)*(?:会|认为|觉得|以为|相信|要去|将)"
_SPEECH = {
    "de": Speech(
        asked=re.compile(r"(?:wird|glaubt|denkt|dass|würde|von|und)\s+(?P<who>[A-ZÄÖÜ][\w-]+)"),
        minded=re.compile(rf"(?P<who>(?<![\w-])[A-ZÄÖÜ][\w-]*\w)\s+(?:aber\s+|jedoch\s+)?{_DE_VERB}\b"),
        thinks=re.compile(
            rf"(?<![\w-])(?P<who>[A-ZÄÖÜ][\w-]*\w|[Ee]r|[Ss]ie|[Bb]eide)\s+(?:aber\s+|jedoch\s+)?{_DE_VERB}\b{_DE_BUT}|"
            rf"\b(?:{_DE_VERB}|glauben|denken)\s+(?P<who_after>[A-ZÄÖÜ][\w-]*\w|er|sie|beide)\b{_DE_BUT}"
        ),
        clause_end=re.compile(
            r"[.;!?\n]|\b(?:obwohl|weil|da|denn|bevor|nachdem|aber|sondern|während|als|wenn|obgleich|jedoch)\b(?!\s+das\b)"
        ),
        first=re.compile(r"\b(?:am Anfang|zu Beginn|anfangs|anfänglich|ursprünglich|zuerst|zunächst)\b", re.IGNORECASE),
        really=re.compile(r"\b(?:wirklich|tatsächlich|in (?:Wirklichkeit|Wahrheit))\b", re.IGNORECASE),
    ),
    "es": Speech(
        asked=re.compile(rf"(?:{_ES_VERB}|creen en común|que|y|e)\s+(?P<who>[A-ZÁÉÍÓÚÑ][\w-]+)"),
        minded=re.compile(
            rf"(?P<who>(?<![\w-])[A-ZÁÉÍÓÚÑ][\w-]*\w)\s+(?:(?:l[aeo]s?|también|aún|todavía|se)\s+)*{_ES_VERB}\b"
        ),
        thinks=re.compile(
            rf"(?<![\w-])(?P<who>[A-ZÁÉÍÓÚÑ][\w-]*\w|[Éé]l|[Ee]lla|[Aa]mbos|[Ee]llos)\s+(?:(?:l[aeo]s?|aún|todavía|se)\s+)*"
            rf"(?:{_ES_VERB}|creen|piensan)\b|\b(?P<who_after>(?:[Bb]uscar[aá]|[Dd]ir[ií]a|[Ii]r[aá]))\b"
        ),
        clause_end=re.compile(
            r"[.;!?\n]|\b(?:aunque|porque|ya que|pues|pero|sino|cuando|antes|después|mientras|como|dado|puesto)\b"
        ),
        first=re.compile(
            r"\b(?:al principio|al inicio|inicialmente|originalmente|primero|al comienzo)\b", re.IGNORECASE
        ),
        really=re.compile(r"\b(?:realmente|en realidad|de hecho)\b", re.IGNORECASE),
    ),
    "zh": Speech(
        asked=re.compile(rf"(?P<who>{_HAN_NAME})(?=会|认为|共同|和)"),
        minded=re.compile(rf"(?P<who>{_HAN_NAME}){_ZH_VERB}"),
        thinks=re.compile(rf"(?P<who>{_HAN_NAME}|他们?|她们?){_ZH_VERB}"),
        clause_end=re.compile(r"[。；！？\n]|但|因为|虽然|由于|所以|而不是|尽管|不过|即使|，(?:后来|然后|而|可|实)"),
        first=re.compile(r"一开始|最初|最开始|起初|开始时|最先|原来|起先"),
        really=re.compile(r"实际上?|其实|事实上"),
    ),
}
_FIRST_ENDS = re.compile(
    r"[.;!?\n。；！？]|\b(?:später|dann|danach|aber|und|bevor|doch|jetzt|anschließend)\b|"
    r"\b(?:luego|despu[eé]s|pero|y|antes|ahora|más tarde)\b|后来|然后|之后|接着|但|最后|再|现在|随后"
)
_THEY = frozenset({"er", "sie", "beide", "él", "ella", "ambos", "ellos", "他", "她", "他们", "她们"})
_NOBODY = frozenset(  # words with a capital letter that stand before a verb and name nobody
    (
        *(
            "daher",
            "deshalb",
            "deswegen",
            "also",
            "somit",
            "folglich",
            "dann",
            "dort",
            "das",
            "es",
            "man",
            "wer",
            "was",
        ),
        *("vermutlich", "wahrscheinlich", "zuerst", "niemand", "antwort", "jetzt", "nun", "trotzdem", "ihm", "ich"),
        *(
            "entonces",
            "ahora",
            "probablemente",
            "primero",
            "eso",
            "que",
            "quien",
            "luego",
            "así",
            "nadie",
            "lo",
            "la",
            "pero",
            "yo",
        ),
        *(
            "aber",
            "so",
            "hier",
            "nur",
            "vielleicht",
            "sicher",
            "natürlich",
            "allerdings",
            "jedoch",
            "la",
            "no",
            "quizás",
        ),
    )
)


class AskedMinds(NamedTuple):
    """The people whose minds a question asks about, and all its words, in lower case."""

    people: frozenset[str]
    words: frozenset[str]


class BeliefTalk(Talk):
    """Replies that say where things are, and where people think they are or look for them."""

    def set_aside_first(self, said: str, found: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions in sentences about what others do or think that name nobody who was asked about."""
        speech = _SPEECH.get(language_of(question))
        if speech is not None:
            return _set_aside(said, found, question, speech)
        asked = asked_minds(question)
        if asked is None or _MINDED.search(said) is None:
            return ()
        others: list[Mention] = []
        starts = [mention.start for mention in found]
        names = frozenset(starts)  # "Drawer will be where she looks" is about nobody
        for sentence in _SENTENCE.finditer(said):
            start, end = sentence.span()
            who = {
                match["who"].lower() for match in _MINDED.finditer(said, start, end) if match.start("who") not in names
            } - NO_NAMES
            if who - asked.words and asked.people.isdisjoint(people_in(sentence[0])):
                others += found[bisect_left(starts, start) : bisect_left(starts, end)]
        return others

    def decisive(self, said: str, found: Sequence[Mention], question: str) -> Sequence[Mention]:
        """Return mentions in clauses that say where somebody who was asked about looks, or what they think."""
        speech = _SPEECH.get(language_of(question))
        if speech is not None:
            return _decide(said, found, question, speech)
        asked = asked_minds(question)
        if asked is None:
            return ()
        begins = [
            match.end()
            for match in _THINKS.finditer(said)
            if match["who"].lower() in asked.people or match["who"].lower() in ("she", "he", "they")
        ]
        return _in_clauses(said, found, begins, _CLAUSE_END)


def _in_clauses(
    said: str, found: Sequence[Mention], begins: Sequence[int], clause_end: re.Pattern[str]
) -> Sequence[Mention]:
    """Return the mentions in clauses that begin at some places."""
    if not begins:
        return ()
    ends = [match.start() for match in clause_end.finditer(said, begins[0])]
    stated = []
    for mention in found:
        begun, ended = bisect_right(begins, mention.start), bisect_right(ends, mention.start)
        if begun and not (ended and ends[ended - 1] >= begins[begun - 1]):  # no clause has ended since it began
            stated.append(mention)
    return stated


def _set_aside(said: str, found: Sequence[Mention], question: str, speech: Speech) -> Collection[Mention]:
    """Return mentions in sentences about what others do or think that name nobody who was asked about."""
    asked = {match["who"].lower() for match in speech.asked.finditer(question)}
    others: list[Mention] = []
    starts = [mention.start for mention in found]
    for sentence in _SENTENCE.finditer(said) if asked else ():
        start, end = sentence.span()
        who = {
            match["who"].lower() for match in speech.minded.finditer(said, start, end) if match.start() not in starts
        }
        words = sentence[0].lower()
        if {
            each for each in who if each not in question.lower() and not each.endswith("mente")
        } - NO_NAMES - _THEY - _NOBODY and not any(each in words for each in asked):
            others += found[bisect_left(starts, start) : bisect_left(starts, end)]
    return others


def _decide(said: str, found: Sequence[Mention], question: str, speech: Speech) -> Sequence[Mention]:
    """Return mentions in clauses that state just what was asked."""
    if speech.first.search(question):
        return _in_clauses(said, found, [match.end() for match in speech.first.finditer(said)], _FIRST_ENDS)
    if speech.really.search(question):
        return _in_clauses(said, found, [match.end() for match in speech.really.finditer(said)], speech.clause_end)
    asked = {match["who"].lower() for match in speech.asked.finditer(question)}
    begins = []
    for match in speech.thinks.finditer(said) if asked else ():
        groups = match.groupdict()
        who = groups["who"] or ""
        if who.lower() in asked or not who or who[0].islower() or who.lower() in _THEY:
            begins.append(match.end())
    return _in_clauses(said, found, begins, speech.clause_end)


@lru_cache(maxsize=1024)
def asked_minds(question: str) -> AskedMinds | None:
    """Parse a question; None if it asks how things are, or something else."""
    match = _ASKED.search(question)
    people = people_in(match["rest"]) if match is not None else None
    return AskedMinds(frozenset(people), frozenset(re.findall(r"\w+", question.lower()))) if people else None


TALK = BeliefTalk()
