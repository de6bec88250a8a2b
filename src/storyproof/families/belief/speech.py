"""How replies speak of minds, of how things are, and of how they were at first, in each language.

A reply often says several of these: "It is really in the box, but Julia thinks it is in the bag." A text is divided
into clauses. Each place that it names is held by what comes first in its clause: a person who thinks, searches or says
something, or a word such as "really", "at first", "now". What a person thinks that others think is held by that person.
A question then prefers the places that are held by what it asks about.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from storyproof.language.answer_language import NO_NAMES, Mention

_SENTENCE_END = re.compile(r"[.!?;\n。！？；]")
_SURNAMES = (
    "王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁董余苏叶"
    "吕魏蒋田杜丁沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦"
)
_HAN_NAME = rf"[{_SURNAMES}][\u4e00-\u9fff]"

THINKER, REALLY, FIRST, LATER, LAST, NOTHING, _MENTION, _END, _FACT, _BEFORE, _TOPIC, _KNOWER = range(12)


@dataclass(frozen=True)
class Speech:
    """How one language speaks of minds.

    Attributes:
        asked: The people whose minds a question asks about.
        common: What asks for, or says, what several people think in common.
        thinks: That somebody thinks, searches or says something: a name or pronoun in one of the groups; in none, if
            the language leaves it out.
        knower: That somebody knows something or does not: whom a pronoun after it means.
        they: Pronouns.
        alone: What follows a person who does something, whatever others think of it.
        nobody: Words with a capital letter that stand where a name may, and name nobody.
        says: What asks, or says, what somebody says.
        really: What asks, or says, how things really are.
        first: What asks, or says, how things were at first.
        later: What says how things were later.
        last: What says how things are now.
        before: What says that the place before it came later.
        source: What stands before the place that something was moved from.
        fact: Where a main clause about things begins.
        clause_end: Where a clause ends.
    """

    asked: re.Pattern[str]
    common: re.Pattern[str]
    thinks: re.Pattern[str]
    knower: re.Pattern[str]
    they: frozenset[str]
    alone: re.Pattern[str]
    nobody: frozenset[str]
    says: re.Pattern[str]
    really: re.Pattern[str]
    first: re.Pattern[str]
    later: re.Pattern[str]
    last: re.Pattern[str]
    before: re.Pattern[str]
    source: re.Pattern[str]
    fact: re.Pattern[str]
    clause_end: re.Pattern[str]

    def outsiders(self, said: str, found: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions in what others think or do, in sentences that name nobody who was asked about."""
        asked = {match["who"].lower() for match in self.asked.finditer(question)}
        if not asked:
            return ()
        ends = [match.start() for match in _SENTENCE_END.finditer(said)]
        edges = [0, *ends, len(said)]
        lowered, others = said.lower(), []
        for held in self._held(said, found, question):
            if held.who not in question.lower():
                place = bisect_right(ends, held.mention.start)
                sentence = lowered[edges[place] : edges[place + 1]]
                if not any(each in sentence for each in asked):
                    others.append(held.mention)
        return others

    def decisive(self, said: str, found: Sequence[Mention], question: str) -> Sequence[Mention]:
        """Return the mentions that are held by just what was asked about; else those that are held by nothing else."""
        held = self._held(said, found, question)
        if self.first.search(question):
            groups: Iterable[Sequence[_Held]] = _by_kind(held, (FIRST,), (NOTHING,))
        elif self.really.search(question):
            really, *others = _by_kind(held, (REALLY, LAST), (LATER,), (NOTHING,))
            groups = [_with_later(really, self._stated(said, held)), *others]
        else:
            groups = chain([self._labelled(said, held, question)], self._of_minds(held, question))
        return [each.mention for each in next(filter(None, groups), ())]

    def _of_minds(self, held: Sequence[_Held], question: str) -> Iterator[Sequence[_Held]]:
        """Yield mentions, the best first: of the topic of the question, in the minds of those asked about, others."""
        people = [match["who"].lower() for match in self.asked.finditer(question)]
        if not people:
            return
        asked = people if self.common.search(question) else people[:1]
        minds = [each for each in held if each.kind != THINKER or each.who in asked]
        if self._topic(question) is not None:
            yield [each for each in minds if each.topical]
        yield [each for each in minds if each.kind == THINKER]
        yield [each for each in minds if each.kind != REALLY]

    def _held(self, said: str, found: Sequence[Mention], question: str) -> list[_Held]:
        """Return by what each mention is held."""
        topic = self._topic(question)
        held: list[_Held] = []
        waiting: list[Mention] = []  # in this clause, before anything that may hold them
        kind, who, seen, topical, last_thinker = NOTHING, "", False, False, self._first_asked(question)
        begun = 0  # mentions of this clause begin here in `held`
        arrows = [match.span() for match in _ARROW.finditer(said)]
        from_arrow, to_arrow = {start for start, _ in arrows}, {end for _, end in arrows}
        sources = {match.end() for match in self.source.finditer(said)}

        def close() -> None:
            held.extend(_Held(mention, NOTHING, "", topical) for mention in waiting)
            waiting.clear()
            if topical:
                held[begun:] = [each._replace(topical=True) for each in held[begun:]]

        for token in self._tokens(said, found, topic):
            if token.mention is not None:
                seen = True
                if token.mention.start in to_arrow:
                    held.append(_Held(token.mention, LATER if token.mention.end in from_arrow else LAST, "", topical))
                elif token.mention.start in sources:
                    held.append(_Held(token.mention, FIRST, "", topical))
                elif kind == NOTHING:
                    waiting.append(token.mention)
                else:
                    held.append(_Held(token.mention, kind, who, topical))
            elif token.kind == _END or (token.kind == _FACT and seen):
                close()
                kind, who, seen, topical, begun = NOTHING, "", False, False, len(held)
            elif token.kind == _TOPIC:
                topical = True
            elif token.kind == _KNOWER:
                last_thinker = token.who
            elif token.kind == _BEFORE:
                held.extend(_Held(mention, LATER, "", topical) for mention in waiting)
                waiting.clear()
            elif token.closes and waiting and _is_blank(said, waiting[-1].end, token.start):
                held.append(_Held(waiting.pop(), token.kind, "", topical))  # "the vase at first, the drawer later"
            elif token.kind != _FACT and (seen or kind != THINKER):  # else it is what they think to be so
                kind, who = token.kind, token.who
                if kind == THINKER:
                    who = token.who or last_thinker
                    last_thinker = who.removesuffix(_ALONE)
                    if waiting and _WHERE.fullmatch(said, waiting[-1].end, token.start):
                        held.extend(_Held(mention, THINKER, who, topical) for mention in waiting)
                        waiting.clear()
                close()
                seen, topical, begun = False, False, len(held)
        close()
        return held

    def _labelled(self, said: str, held: Sequence[_Held], question: str) -> Sequence[_Held]:
        """Return the mentions after a label that names all who were asked about: "Ann about Bo about Cy: box"."""
        asked = [match["who"].lower() for match in self.asked.finditer(question)]
        labelled = []
        begin = 0
        for each in held if len(asked) > 1 else ():
            label = _LABEL_START.split(said[begin : each.mention.start].lower())[-1]
            if _LABEL.search(label) and _in_order(asked, label):
                labelled.append(each)
            begin = each.mention.end
        return labelled

    def _stated(self, said: str, held: Sequence[_Held]) -> list[_Held]:
        """Return the mentions that nothing holds, in sentences in which nobody thinks."""
        plain = [each for each in held if each.kind == NOTHING]
        edges = [0, *(match.start() for match in _SENTENCE_END.finditer(said)), len(said)]
        spans = {bisect_right(edges, each.mention.start): each for each in plain}
        minded = {place for place in spans if self.thinks.search(said, edges[place - 1], edges[place])}
        return [each for each in plain if bisect_right(edges, each.mention.start) not in minded]

    def _topic(self, question: str) -> re.Pattern[str] | None:
        """Return what a clause must contain if the question asks for more than what one person thinks."""
        return next((topic for topic in (self.says, self.common) if topic.search(question)), None)

    def _first_asked(self, question: str) -> str:
        match = self.asked.search(question)
        return match["who"].lower() if match is not None else ""

    def _tokens(self, said: str, found: Sequence[Mention], topic: re.Pattern[str] | None) -> list[_Token]:
        """Return mentions, and what holds them, in order."""
        patterns = (
            *((self.before, _BEFORE), (self.really, REALLY), (self.first, FIRST), (self.later, LATER)),
            *((self.last, LAST), (self.fact, _FACT), *([(topic, _TOPIC)] if topic else [])),
        )
        tokens = [_Token(match.start(), _END) for match in self.clause_end.finditer(said)]
        tokens += [_Token(mention.start, _MENTION, "", mention) for mention in found]
        tokens += self._thinkers(said, {mention.start for mention in found})
        tokens += [_Token(match.start(), _KNOWER, match["who"].lower()) for match in self.knower.finditer(said)]
        tokens += [
            _Token(match.start(), kind, closes=_PHRASE_END.match(said, match.end()) is not None)
            for pattern, kind in patterns
            for match in pattern.finditer(said)
        ]
        return sorted(tokens, key=lambda token: token.start)

    def _thinkers(self, said: str, starts: Collection[int]) -> Iterator[_Token]:
        for match in self.thinks.finditer(said):
            group = match.lastgroup
            who = match[group].lower() if group else ""
            if (
                (who in self.nobody and who not in self.they)
                or who.endswith(_ADVERB)
                or (group and match.start(group) in starts)
            ):
                continue
            who = "" if who in self.they else who
            if group and self.alone.match(said, match.end(group)):
                who += _ALONE  # what they do themselves is not what they think of the others
            yield _Token(match.start(), THINKER, who)


_ALONE = " alone"
_ARROW = re.compile(r"[\s\"'*_”)]{0,3}(?:→|->|=>|➜|⇒)[\s\"'*_“(]{0,3}")
_WHERE = re.compile(  # "the box is where Ben will look", "the box: Ben will look there"
    r"\s*:\s*|[\s\"'*_”)]*(?:(?:is|was|would\s+be|will\s+be|ist|war|wäre|es|era|sería)\s+)?(?:where|wo|donde)\s+"
)
_PHRASE_END = re.compile(r"[,.;!?)]|\s*$")
_LABEL_START = re.compile(r"[.;!?\n。；！？]")
_LABEL = re.compile(r"(?:[:：=]|→|->|⇒)[\s\"'*_”“(]*$")
_ADVERB = ("mente", "erweise")


class _Token(NamedTuple):
    start: int
    kind: int
    who: str = ""
    mention: Mention | None = None
    closes: bool = False  # whether it ends a phrase


class _Held(NamedTuple):
    """A mention, by what it is held, by whom, and whether its clause has the topic of the question."""

    mention: Mention
    kind: int
    who: str
    topical: bool


def _by_kind(held: Sequence[_Held], *kinds: Sequence[int]) -> Iterator[Sequence[_Held]]:
    """Yield the mentions that are held by each of some groups of kinds."""
    for group in kinds:
        yield [each for each in held if each.kind in group]


# A name reaches to the end of its word. Before it stands what its word has before the first part with a capital letter,
# so that a word is read once: a pattern that may start at each hyphen takes minutes for a long row of them.
_EN_NAME = r"[A-Z][\w-]*\w(?![\w-])"
_EN_BEFORE = r"(?<![\w-])(?:(?![A-Z])\w*-)*"
_EN_MAY = (
    r"(?:'ll|'d|'s\s+going\s+to|\s+(?:will|would|should|must|might|may|could|can|is\s+(?:going|likely)\s+to|has\s+to))"
)
_EN_STILL = (
    r"(?:still|probably|likely|first|then|therefore|thus|also|wrongly|mistakenly|incorrectly|falsely|now|always|only|"
    r"simply|most|both|actually|naturally|logically|instead|not)"
)
_EN_THINKS = (
    r"(?:looks?|looking|search(?:es|ing)?|checks?|checking|go(?:es|ing)?|heads?|thinks?|thinking|thought|believes?|"
    r"believed|expects?|assumes?|supposes?|figures?|reckons?|imagines?|guess(?:es)?|says?|saying|answers?|claims?|"
    r"repl(?:y|ies)|responds?|lies?|knows|opens?|tr(?:y|ies))"
)
ENGLISH = Speech(
    asked=re.compile(rf"\b(?:will|would|does|do|might|should|that|and)\s+(?P<who>{_EN_NAME})", re.ASCII),
    common=re.compile(r"\b(?:common(?:ly)?|[Bb]oth|shared?|jointly|mutual(?:ly)?|collective(?:ly)?|agree)\b"),
    thinks=re.compile(
        rf"{_EN_BEFORE}(?P<who>{_EN_NAME}|(?:[Hh]e|[Ss]he|[Tt]hey|[Bb]oth|[Ee]ach)(?![\w-]))(?:\s+(?:(?:him|her)self|themselves))?"
        rf"(?:,?\s+(?:however|therefore|too|though),?)?(?:{_EN_MAY}(?:\s+{_EN_STILL}){{0,3}}\s+[a-z]|"
        rf"(?:\s+(?:does|{_EN_STILL})){{0,3}}\s+{_EN_THINKS}\b)|"
        rf"\b[Aa]ccording\s+to\s+(?P<source>{_EN_NAME})|\b(?:[Ff]or|[Tt]o)\s+(?P<for>{_EN_NAME}|him|her|them)(?=,)|"
        rf"\b(?:[Ii]n|[Ff]rom|[Tt]o)\s+(?P<view>{_EN_NAME})'s?\s+(?:mind|view|eyes|opinion|head|perspective|point\s+of\s+view|"
        rf"viewpoint|knowledge)\b|(?<![\w-])(?P<belief>{_EN_NAME})'s?\s+(?:\w+\s+)?(?:belief|answer|reply|guess|assumption|expectation)\b|"
        rf"\b(?:and|but|so|yet|therefore)\s+(?:(?:will|would|{_EN_STILL})\s+){{0,3}}{_EN_THINKS}\b"
    ),
    knower=re.compile(
        rf"{_EN_BEFORE}(?P<who>{_EN_NAME})(?:,\s+however,|,\s+though,)?\s+(?:(?:does|did)(?:n't|\s+not)\s+(?:know|see|realize|notice)|"
        r"(?:is\s+unaware|has\s+no\s+idea|never\s+(?:saw|learned)|knows))\b"
    ),
    they=frozenset({"he", "she", "they", "both", "each", "him", "her", "them"}),
    alone=re.compile(r"\s+(?:himself|herself|themselves)\b"),
    nobody=NO_NAMES
    | {
        *(
            "my",
            "our",
            "your",
            "although",
            "though",
            "while",
            "when",
            "because",
            "after",
            "before",
            "once",
            "where",
            "now",
            "first",
            "next",
        ),
        *("finally", "later", "actually", "really", "also", "only", "just", "hence", "based", "reality", "step", "nor"),
        *("everybody", "neither", "none", "one", "some", "probably", "maybe", "perhaps", "clearly", "here", "likely"),
    },
    says=re.compile(r"\b(?:say(?:s|ing)?|said|answer(?:s|ed)?|claims?|repl(?:y|ies)|responds?|tells?|states?|lies?)\b"),
    really=re.compile(
        r"\b(?:really|actually|in\s+(?:reality|fact|truth|actuality)|the\s+(?:truth|reality|fact)\s+is|true\s+location|"
        r"(?:actual|real)\s+(?:location|place))\b",
        re.IGNORECASE,
    ),
    first=re.compile(
        r"\b(?:(?:at|in)\s+(?:the\s+)?(?:(?:very\s+)?(?:beginning|start)|first)|initial(?:ly)?|original(?:ly)?|"
        r"(?:starts?|started|begins?|began)(?:\s+(?:out|off))?|first|beginning)\b",
        re.IGNORECASE,
    ),
    later=re.compile(
        r"\b(?:then|later|after(?:wards?|\s+that)|subsequently|next|before\s+(?:being|it\s+was))\b", re.IGNORECASE
    ),
    last=re.compile(
        r"\b(?:now|current(?:ly)?|finally|lastly|eventually|(?:in|at)\s+the\s+end|end(?:s|ed)\s+up|presently|final|last)\b",
        re.IGNORECASE,
    ),
    before=re.compile(r"(?!)"),
    source=re.compile(r"\b(?:from|out\s+of)\s+(?:(?:the|a|an)\s+)?"),
    fact=re.compile(r",\s*(?:it(?:'s|\s+is|\s+was)|the\s+\w+\s+(?:is|was))\b"),
    clause_end=re.compile(
        r"[.;!?\n]|\b(?:although|because|before|after|but|even|instead|since|though|unaware|when|whereas|while)\b|"
        r",\s*(?:and|so|which)\b"
    ),
)


def _is_blank(text: str, start: int, end: int) -> bool:
    """Return whether nothing but a space or two stands between two places."""
    return end - start <= 2 and not text[start:end].strip()


def _in_order(names: Sequence[str], text: str) -> bool:
    """Return whether a text has names in this order, each once."""
    places = [text.find(name) for name in names]
    return places[0] >= 0 and places == sorted(places) and all(text.count(name) == 1 for name in names)


def _with_later(group: Sequence[_Held], stated: Sequence[_Held]) -> Sequence[_Held]:
    """Return a group with what is stated after it: it says the same, or contradicts it."""
    return [*group, *(each for each in stated if group and each.mention > group[-1].mention)]


_DE_THINKS = (
    r"(?:wird|würde|werde|such(?:t|e|te)|glaub(?:t|e|te)|denk(?:t|e)|dachte|mein(?:t|e|te)|vermute(?:t|te)?|schau(?:t|e)|"
    r"sag(?:t|e|te)|behaupte(?:t|te)?|geh(?:t|e)|ging|nimmt|nahm|antworte(?:t|te)?|hält|hielt|wähnt|nennt|tippt|"
    r"erwartet|rechnet|würden|glauben|denken|meinen|vermuten|suchen|sagen|annimmt)"
)
_DE_NAME = r"[A-ZÄÖÜ][\w-]*\w"
_DE_SUBORDINATE = (
    r"obwohl|obgleich|wenngleich|weil|da|denn|bevor|nachdem|während|als|wenn|auch\s+wenn|selbst\s+wenn|ehe|sodass|indem"
)
GERMAN = Speech(
    asked=re.compile(r"(?:wird|glaubt|denkt|dass|wo|würde|vermuten|von|und)\s+(?P<who>[A-ZÄÖÜ][\w-]+)"),
    common=re.compile(r"\b(?:gemeinsam\w*|übereinstimmend\w*|[Bb]eide)\b"),
    thinks=re.compile(
        rf"(?<![\w-])(?P<who>{_DE_NAME}|[Ee]r|[Ss]ie|[Bb]eide)(?:\s+[a-zäöüß]+){{0,2}}?\s+{_DE_THINKS}\b|"
        rf"\b(?i:{_DE_THINKS})\s+(?:(?:aber|jedoch|hingegen|dagegen|daher|also|deshalb|nun)\s+)?(?P<after>{_DE_NAME}|er|sie|beide)\b"
        rf"(?!\s+{_DE_THINKS})|"
        rf"(?<=, )(?:(?:und|aber|doch)\s+)?(?:glaubt|denkt|meint|vermutet|erwartet|sagt|würde)\b|"
        rf"(?<![\w-])(?P<unaware>{_DE_NAME})\s+weiß\s+(?:\w+\s+){{0,2}}nichts?\s+(?:davon\s+)?und\s+{_DE_THINKS}\b|"
        rf"\b[Ff]ür\s+(?P<for>{_DE_NAME}|ihn|sie)\s+(?:ist|sind|liegt|steckt|befindet)\b|"
        rf"\b(?:[Ll]aut|[Nn]ach\s+(?:Ansicht|Meinung)\s+von)\s+(?P<source>{_DE_NAME})|(?<![\w-])(?P<according>{_DE_NAME})\s+zufolge\b|"
        rf"\b(?:[Aa]us|[Ii]n)\s+(?P<view>{_DE_NAME}?)s\s+(?:Sicht|Augen|Vorstellung)\b|"
        rf"(?<![\w-])(?P<belief>{_DE_NAME}?)s\s+(?:Überzeugung|Meinung|Annahme|Vermutung|Glaube|Antwort)\b"
    ),
    knower=re.compile(rf"(?<![\w-])(?P<who>{_DE_NAME})\s+(?:weiß|ahnt)\b"),
    they=frozenset({"er", "sie", "beide", "ihn"}),
    alone=re.compile(r"\s+(?:selbst|selber)\b"),
    nobody=frozenset(
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
                "dies",
                "es",
            ),
            *(
                "man",
                "wer",
                "was",
                "wo",
                "vermutlich",
                "wahrscheinlich",
                "zuerst",
                "niemand",
                "antwort",
            ),
            *(
                "jetzt",
                "nun",
                "trotzdem",
                "ihm",
                "ich",
                "aber",
                "so",
                "hier",
                "nur",
                "vielleicht",
                "sicher",
            ),
            *(
                "natürlich",
                "allerdings",
                "jedoch",
                "der",
                "die",
                "am",
                "im",
                "in",
                "geschichte",
                "frage",
                "ort",
            ),
            *(
                "zunächst",
                "danach",
                "hingegen",
                "dagegen",
                "tatsächlich",
                "satz",
                "laut",
                "obwohl",
                "weil",
            ),
            *(
                "da",
                "denn",
                "während",
                "wenn",
                "moment",
            ),
        )
    ),
    says=re.compile(r"\b(?:sag(?:t|en)|antwort(?:et|en)|nenn(?:t|en)|verweis(?:t|en)|Antwort)\b"),
    really=re.compile(
        r"\b(?:wirklich|tatsächlich\w*|in\s+(?:Wirklichkeit|Wahrheit)|real(?=\s*[:=])|Realität)\b", re.IGNORECASE
    ),
    first=re.compile(
        r"\b(?:am\s+Anfang|zu\s+(?:Beginn|Anfang)|anfangs|anfänglich|ursprünglich\w*|zuerst|zunächst|früher|Anfang(?=\W)|"
        r"erst(?!\s+(?:danach|dann|als|später|nach)\b)|(?:erste[rns]?|der\s+erste)\s+(?:Satz|Erwähnung|Ort)|Satz\s+[12]|beginnt)\b",
        re.IGNORECASE,
    ),
    later=re.compile(r"\b(?:dann|danach|später|anschließend|daraufhin|hinterher)\b", re.IGNORECASE),
    last=re.compile(
        r"\b(?:zuletzt|zum\s+Schluss|schließlich|am\s+Ende|jetzt|nun|inzwischen|mittlerweile|aktuell|derzeit|endet|"
        r"letzte[rns]?\s+(?:Ort|Satz)|Ende(?=\W))\b",
        re.IGNORECASE,
    ),
    source=re.compile(r"\b(?:aus|vo[mn])\s+(?:(?:der|dem)\s+)?"),
    before=re.compile(r"(?!)"),
    fact=re.compile(
        r",\s*(?:(?:befindet|liegt|ist|sind|steckt)|(?:er|sie|es)\s+(?:ist|sind|liegt|wurden?)|(?:der|die|das)\s+\w+\s+(?:ist|sind|liegt|befindet))\b"
    ),
    clause_end=re.compile(
        rf"[.;!?\n]|,\s*(?=(?:gemeinsam|übereinstimmend|beide)\b)|[,–—(]\s*(?:und\s+)?(?:aber|doch|jedoch|sondern|dabei|allerdings|hingegen|dagegen|{_DE_SUBORDINATE})\b|"
        r"\b(?:aber|doch)(?=\s+„)"
    ),
)

_ES_THINKS = (
    r"(?:buscar[aá]|ir[aá]|ir[ií]a|mirar[aá]|mirar[ií]a|busca(?:r[ií]a)?|busque|piensa|piense|cre[ea]|creen|piensan|crean|dir[aá]|"
    r"dir[ií]a|dice|respond(?:e|er[aá]|er[ií]a)|contest(?:a|ar[aá]|ar[ií]a)|supone|suponga|imagina|imagine|"
    r"asume|afirma|creer[aá]|pensar[aá]|espera|da\s+por\s+hecho|mentir[ií]a)"
)
_ES_NAME = r"[A-ZÁÉÍÓÚÑ][\w-]*\w"
SPANISH = Speech(
    asked=re.compile(
        rf"(?:{_ES_THINKS}|compartida de|que|y|e)\s+(?P<who>[A-ZÁÉÍÓÚÑ][\w-]+)",
    ),
    common=re.compile(r"\b(?:[Cc]om(?:ún|unes)|[Cc]ompartid[ao]s?|[Cc]omparten|[Aa]mbos)\b"),
    thinks=re.compile(
        rf"(?<![\w-])(?P<who>{_ES_NAME}|[Éé]l|[Ee]lla|[Aa]mbos|[Ee]llos)(?:\s*,?\s*(?:l[aeo]s?|aún|todavía|se|también|solo|"
        rf"en\s+(?:cambio|realidad),?|sin\s+embargo,?|no|mism[oa])(?=\s)){{0,3}}\s+{_ES_THINKS}\b|"
        rf"(?<![\w-])(?P<unaware>{_ES_NAME})\s+no\s+lo\s+sabe\s+y\s+(?:l[aeo]s?\s+)?{_ES_THINKS}\b|"
        rf"\b(?i:{_ES_THINKS})\s+(?P<after>{_ES_NAME})|\b(?:[Ss]egún|[Aa]\s+juicio\s+de|[Pp]ara|[Dd]e\s+acuerdo\s+con)\s+"
        rf"(?P<source>{_ES_NAME}|él|ella)|"
        rf"\b(?i:creencia|respuesta|opini[oó]n|idea)\s+de\s+(?P<belief>{_ES_NAME})|"
        r"\b(?i:buscar[aá]|dir[ií]a|ir[aá]|responder[ií]a|mentir[ií]a|piensa|cree|supone)\b"
    ),
    knower=re.compile(rf"(?<![\w-])(?P<who>{_ES_NAME})(?:\s+(?:todavía|aún|ya))?(?:\s+no)?(?:\s+lo)?\s+sabe\b"),
    they=frozenset({"él", "ella", "ambos", "ellos"}),
    alone=re.compile(r"\s+mism[oa]\b"),
    nobody=frozenset(
        (
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
            ),
            *(
                "lo",
                "la",
                "el",
                "los",
                "las",
                "pero",
                "yo",
                "no",
                "quizás",
                "respuesta",
                "según",
                "aunque",
            ),
            *(
                "como",
                "si",
                "cuando",
                "antes",
                "después",
                "donde",
                "sin",
                "en",
                "se",
            ),
        )
    ),
    says=re.compile(r"\b(?:dir[ií]a|dir[aá]|dice|respond\w+|contest\w+|respuesta)\b", re.IGNORECASE),
    really=re.compile(r"\b(?:realmente|en (?:realidad|verdad)|de (?:hecho|verdad)|realidad|real)\b", re.IGNORECASE),
    first=re.compile(
        r"\b(?:al (?:principio|inicio|comienzo)|inicialmente|originalmente|primero|antes(?!\s+de)|inicio|empieza|"
        r"primer(?:a|o)?\s+(?:frase|oraci[oó]n|lugar|menci[oó]n)|(?:frase|oraci[oó]n)\s+[12])\b",
        re.IGNORECASE,
    ),
    later=re.compile(r"\b(?:luego|despu[eé]s(?!\s+de)|más tarde|posteriormente|a continuación)\b", re.IGNORECASE),
    last=re.compile(
        r"\b(?:ahora|por último|finalmente|al final|actualmente|en este momento|"
        r"termina|[uú]ltim[oa]\s+(?:lugar|frase))\b",
        re.IGNORECASE,
    ),
    source=re.compile(r"(?<!dentro )\b(?:del|de (?:la|los|las))\s+"),
    before=re.compile(r"(?!)"),
    fact=re.compile(r",\s*(?:(?:el|la|los|las)\s+\w+\s+)?(?:está|están|se\s+encuentran?)\b"),
    clause_end=re.compile(
        r"[.;!?\n]|\b(?:aunque|porque|ya que|pues|pero|sino|cuando|antes de|después de|mientras|como|dado|"
        r"puesto|por más)\b|"
        r",\s*(?:y|e)\s+(?:luego|después|por último)\b"
    ),
)

_ZH_THINKS = (
    r"[^，。；！？\n,.;!?：:在会认觉以相料估说]{0,4}"
    r"(?:认为|觉得|以为|相信|估计|料想|会说|说(?!谎)|会|要去|去(?!了)|将|的想法)"
)
CHINESE = Speech(
    asked=re.compile(rf"(?P<who>{_HAN_NAME})(?=会|认为|共同|和)"),
    common=re.compile(r"共同|两人"),
    thinks=re.compile(
        rf"(?P<who>{_HAN_NAME}|他们?|她们?|两人|双方|大家|所有人|人们){_ZH_THINKS}|在(?P<view>{_HAN_NAME})(?:看来|眼里)|"
        rf"[依据按]照?(?P<source>{_HAN_NAME})之见"
    ),
    knower=re.compile(rf"(?P<who>{_HAN_NAME})(?:并|还)?不?(?:知道|清楚)"),
    they=frozenset({"他", "她", "他们", "她们", "两人", "双方"}),
    alone=re.compile(r"自己|本人"),
    nobody=frozenset(),
    says=re.compile(r"回答|会说|说"),
    really=re.compile(r"实际上?|其实|事实上|真正|真实"),
    first=re.compile(r"一开始|最初|最开始|起初|开始时?|最先|原来|起先|原本|先(?=在|放)|第一[句个]|第[12]句"),
    later=re.compile(r"后来|然后|之后|接着|随后|再(?=[被放在移])"),
    last=re.compile(r"最后|现在|目前|最终|结束时?|如今"),
    source=re.compile(r"从"),
    before=re.compile(r"之前|以前"),
    fact=re.compile(r"(?!)"),
    clause_end=re.compile(r"[。；！？\n]|但|因为|虽然|由于|所以|而不是|尽管|不过|即使|，(?:而|可)"),
)

SPEECH = {"en": ENGLISH, "de": GERMAN, "es": SPANISH, "zh": CHINESE}
