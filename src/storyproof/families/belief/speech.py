"""How replies in German, Spanish and Chinese speak of minds, of how things are, and of how they were at first.

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
from typing import NamedTuple

from storyproof.language.answer_language import Mention

_SENTENCE_END = re.compile(r"[.!?;\n。！？；]")
_SURNAMES = (
    "王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁董余苏叶"
    "吕魏蒋田杜丁沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦"
)
_HAN_NAME = rf"[{_SURNAMES}][\u4e00-\u9fff]"

THINKER, REALLY, FIRST, LATER, LAST, NOTHING, _MENTION, _END, _FACT, _BEFORE, _TOPIC = range(11)


@dataclass(frozen=True)
class Speech:
    """How one language speaks of minds.

    Attributes:
        asked: The people whose minds a question asks about.
        common: What asks for, or says, what several people think in common.
        thinks: That somebody thinks, searches or says something: a name or pronoun in one of the groups; in none, if
            the language leaves it out.
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
            groups = _by_kind(held, (REALLY, LAST), (LATER,), (NOTHING,))
        else:
            groups = self._of_minds(held, question)
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
            elif token.kind == _BEFORE:
                held.extend(_Held(mention, LATER, "", topical) for mention in waiting)
                waiting.clear()
            elif token.kind != _FACT and (seen or kind != THINKER):  # else it is what they think to be so
                kind, who = token.kind, token.who
                if kind == THINKER:
                    who = token.who or last_thinker
                    last_thinker = who.removesuffix(_ALONE)
                close()
                seen, topical, begun = False, False, len(held)
        close()
        return held

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
        tokens += [_Token(match.start(), kind) for pattern, kind in patterns for match in pattern.finditer(said)]
        return sorted(tokens, key=lambda token: token.start)

    def _thinkers(self, said: str, starts: Collection[int]) -> Iterator[_Token]:
        for match in self.thinks.finditer(said):
            group = match.lastgroup
            who = match[group].lower() if group else ""
            if who in self.nobody or who.endswith(_ADVERB) or (group and match.start(group) in starts):
                continue
            who = "" if who in self.they else who
            if group and self.alone.match(said, match.end(group)):
                who += _ALONE  # what they do themselves is not what they think of the others
            yield _Token(match.start(), THINKER, who)


_ALONE = " alone"
_ARROW = re.compile(r"[\s\"'*_”)]{0,3}(?:→|->|=>|➜|⇒)[\s\"'*_“(]{0,3}")
_ADVERB = ("mente", "erweise")


class _Token(NamedTuple):
    start: int
    kind: int
    who: str = ""
    mention: Mention | None = None


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
        rf"\b(?:[Ll]aut|[Nn]ach\s+(?:Ansicht|Meinung)\s+von)\s+(?P<source>{_DE_NAME})|(?<![\w-])(?P<according>{_DE_NAME})\s+zufolge\b|"
        rf"\b(?:[Aa]us|[Ii]n)\s+(?P<view>{_DE_NAME}?)s\s+(?:Sicht|Augen)\b"
    ),
    they=frozenset({"er", "sie", "beide"}),
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
        r",\s*(?:(?:befindet|liegt|ist|sind|steckt)|(?:der|die|das)\s+\w+\s+(?:ist|sind|liegt|befindet))\b"
    ),
    clause_end=re.compile(
        rf"[.;!?\n]|[,–—(]\s*(?:und\s+)?(?:aber|doch|jedoch|sondern|dabei|allerdings|hingegen|dagegen|{_DE_SUBORDINATE})\b|"
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
    common=re.compile(r"\b(?:[Ee]n común|[Cc]ompartid[ao]s?|[Cc]omparten|[Aa]mbos)\b"),
    thinks=re.compile(
        rf"(?<![\w-])(?P<who>{_ES_NAME}|[Éé]l|[Ee]lla|[Aa]mbos|[Ee]llos)(?:\s*,?\s*(?:l[aeo]s?|aún|todavía|se|también|solo|"
        rf"en\s+cambio,?|sin\s+embargo,?|no|mism[oa])(?=\s)){{0,3}}\s+{_ES_THINKS}\b|"
        rf"(?<![\w-])(?P<unaware>{_ES_NAME})\s+no\s+lo\s+sabe\s+y\s+(?:l[aeo]s?\s+)?{_ES_THINKS}\b|"
        rf"\b(?i:{_ES_THINKS})\s+(?P<after>{_ES_NAME})|\b(?:[Ss]egún|[Aa]\s+juicio\s+de|[Pp]ara|[Dd]e\s+acuerdo\s+con)\s+"
        rf"(?P<source>{_ES_NAME})|"
        r"\b(?i:buscar[aá]|dir[ií]a|ir[aá]|responder[ií]a|mentir[ií]a|piensa|cree|supone)\b"
    ),
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
