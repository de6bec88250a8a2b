"""What one sentence says about kinship: constructions as patterns on word classes.

Every kin word of a sentence must belong to a construction that plainly states a relation between two people. There are
two sorts. A *naming* uses the relation to say who is meant ("Omar's niece Freya", "Freya, who is his niece,"); it holds
whatever the sentence goes on to say, unless the sentence is about what somebody believes, dreams or says. A *statement*
says nothing else ("Freya is Omar's niece", "Omar has a niece called Freya"); it is understood only as a plain clause of
its own. Whatever could be read in two ways is refused: lists, two possible heads, shared possessors.

The grammar sees classes, not words, so that it interprets each distinct skeleton of a sentence once; `lexicon` lists
the letters of the classes. Who is meant by a pronoun depends on the sentence before and is decided by the reader.
"""

from __future__ import annotations

import re
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

_POSSESSED = r"(?:N'|[hrt])M*K"  # Omar's elder niece, his niece
_SUBJECT = (
    rf"(?:(?P<n1>N)|{_POSSESSED}(?P<n2>N)|{_POSSESSED},(?P<n3>N),|(?P<n4>N),{_POSSESSED},|[dD]w?u,(?P<n5>N),"
    r"|(?P<p>[es]))"
)
_CLAUSE = r"(?:^|;|,[&b])"  # where a plain statement may begin
_AT_CLAUSE = re.compile(_CLAUSE + "$")
_END = re.compile(r"$|;(?=[Nhrtes])|,[&b](?=[Nhrtes])")  # where a plain statement may end
_LEFT = re.compile(r"(?:N'|[hrtSdD])?M*$")
_SUBJECT_IS = re.compile(_CLAUSE + _SUBJECT + "i$")
_IT_IS = re.compile("^wi(?P<n1>N)Wi$")
_SUBJECT_HAS = re.compile(_CLAUSE + _SUBJECT + "x$")
_ONE_OF = re.compile(_CLAUSE + "no$")
_IS_ONE_OF = re.compile(_CLAUSE + _SUBJECT + "ino$")
_WHO_IS = re.compile("(N),Wi$")
_WHO_HAS = re.compile("(N),Wx$")
_OF_WHOM = re.compile("(N),oY(N)i$")
_OF = re.compile("o(?:(?P<n>N)(?P<s>')?|(?P<p>[hH]))")
_AND_OF = re.compile("&(N)(?=;|$)")
_TO = re.compile("2(N)")
_IS_NAME = re.compile("ic*(N)")
_ARE_NAMES = re.compile("ac*(N)&(N)")
_IS_PRONOUN = re.compile("([es])i")
_NAMED = re.compile("(?:c+|,)(N)")
_NAMED_AFTER_COMMA = re.compile(",c*(N)")
_TWO_NAMED = re.compile("(?:c+|,)(N)&(N)")
_TWO_NAMES = re.compile(",?(N)&(N)")
_OWNS_RELATIVE = re.compile("'(?:[MOw]*[KL]|[N'iavxX,;]|$)")
_AND_POSSESSED = re.compile(r"&(?P<start>(?:N'|[hr]))M*K")
# "Mum, it is late," Ann told Betty.
_ADDRESS = re.compile('"K,w*"(?:(?P<a>[Nes])(?:E2|V)|E(?P<b>[Nes])2)(?P<n>N)(?=$|[,;])')
_MUTUAL = "(?P<kin>L|K&K)"
_ARE = re.compile(_CLAUSE + "(?P<a>[Nes])&(?P<b>N)a" + _MUTUAL)
_WHO_ARE = re.compile("(?P<a>N)&(?P<b>N),Wa" + _MUTUAL)
_PAIR = re.compile("(?P<a>N)&(?P<b>N),(?P<kin>L|K&K)(?=[,;]|$)")
_THE_PAIR = re.compile("D(?P<kin>L)(?P<a>N)&(?P<b>N)(?![&'N])")
_LONGEST = 400  # classes of a sentence, so that no text takes more than linear time
_OPENS = "pJ~<2AI"  # begins a phrase or clause that stands before the main clause

_place = attrgetter("place")

_NO_VERB = r"[N'hrtKLM,&dDo()]"  # "Omar, Freya's uncle."


class _Refusals:
    """Patterns of what is refused, with the reasons, in the order in which they are looked for."""

    def __init__(self, *refusals: tuple[str, str, str]) -> None:
        """Take patterns, reasons, and classes one of which is in any match; no classes if there are none such."""
        self.patterns = tuple((re.compile(pattern), reason) for pattern, reason, _ in refusals)
        self._needed = frozenset("".join(needed for _, _, needed in refusals))
        self._others = re.compile("|".join(f"(?:{pattern})" for pattern, _, needed in refusals if not needed))

    def find(self, kinds: str) -> tuple[str, int] | None:
        """Return the first reason to refuse a sentence, and the place."""
        if self._needed.isdisjoint(kinds) and not self._others.search(kinds):
            return None  # as for almost all sentences
        for pattern, reason in self.patterns:
            if match := pattern.search(kinds):
                return reason, match.start()
        return None


# Words and combinations that are never understood.
_UNREADABLE = _Refusals(
    ("Z", "this kin word states none of the 22 relations", "Z"),
    ("%", "births, deaths, weddings and ages are not understood", "%"),
    ("#", "this mark is not understood", "#"),
    ("!", "this is about the text, or about who is real", "!"),
    ("(?<!o)N[ivB](?:,[^,;N]{1,3},)?N(?!')", "one person would have two names", ""),
    ("^nN", "two people would have one name", ""),
    ("(?:^|[;&J~])ND", "descriptions of people are not understood", ""),
    (r"\?", "a question states nothing", "?"),
    ("U", "it is not clear who these people are", "U"),
    ("NN", "two names stand side by side", ""),
    (r"\^(?=[Nc])", "this word makes the person unreal or past", "^"),
    (r"[NesW][ivX]z(?:[,;]|$)|^(?:z,|z[^N]*$|zN|\|)", "this takes back what was said before", "z|"),
    ("^N$", "a sentence without a verb", ""),
    ("^[iavxXVq]", "a sentence that begins with its verb is not understood", ""),
    (r"(?<!o)N'(?=[iavxX,;:)&|]|$)|(?<!o)H|h[iav]|^[&b]N$", "what this stands for is left out", ""),
)
# What must not stand in a sentence with kin words.
_UNCLEAR = _Refusals(
    (
        '(?<!")(?<!"[Nes])E|(?<="[Nes])E(?!2|$)|,[NesD][^,;]?[RV](?:$|,)',
        "what somebody says or believes need not be true",
        "ERV",
    ),  # …, Omar believed
    ("F", "it is not known who speaks", "F"),
    (r"\|[NKLhr]|\|[dD]?M*[KL]|[NKL],?\||\|[iazv]", "these are alternatives", "|"),
    ('"(?!K,w*")[^"]*[NKLhresmtF][^"]*"', "direct speech is not understood", '"'),
    ("I", "a condition or an indirect question", "I"),
    (f"(?:^|[:;]){_NO_VERB}+$", "a sentence without a verb", ""),
    ("N,(?:Ti|[wkfM]{1,3}),?N(?!')", "it is not clear who is meant", ""),  # Freya, sorry, Leila
)
_DESCRIBED = re.compile("N,[dDn](?!M*K)")
_PREDICATE_NOUN = re.compile("(?:N,?|[esW]|(?<=N),[^,;]*,)[iv][dDn](?!M*[KL]|o)")
_AS_PERSON = re.compile("[AB][dD][^,;]?[u01]|[u01]N|N,w?[dD][^,;]?[u01]")  # as a cook; the cook Omar; Omar, still a boy
_PERSON = re.compile("[dDn][^,;]?[u01]")  # a patient woman
_ANYBODY = re.compile("[u01]")
_DENIED = re.compile("[zE]")
_RELATIVES = re.compile("[KL]")
_UNNAMED = re.compile("[u01]|(?<!<)P")  # people whom nobody lists, and what may be people
_PRONOUNS = re.compile("[hrHesmgGt]")
_INTRODUCED = re.compile("c(N)")
_CLAUSE_MARK = re.compile("[,;:&bJ~TW]")
_RELATIVE_IN_CLAUSE = re.compile("[J~][hr]M*KN")
_TWO_POSSESSORS = re.compile("[NKL],?&$|'&$")
_LIST_GOES_ON = re.compile("&(?![es]|dM*K)")
_CLAUSE_BEGINS = re.compile("(?:^|[;&bJ~T])(?:[w2p<]{1,2},?)?$")
_THING_IN_LIST = re.compile("[dDn][^,;]?,&")
_NAMED_BEFORE = re.compile("[&'N]$|N,$")
_OPENED = re.compile("(?:^|;)[pJ~<][po2<J~dDw]*$")
_AFTER_THING = re.compile("o$|[u01][p2<]$")
_NAME_IN_LIST = re.compile("(?:(?<!,)&|N,&?)$")
_AFTER_RELATIVE = re.compile("[^'N&](?<![iavxX])|[iavxX][^z,;]")
_HAS_MORE = re.compile(",?&dM*K")
_LAST_RELATIVE = re.compile(",W[^,;]*(?:;|$)")
_UNKNOWN_MODIFIER = re.compile("(?:N'|[hrt])[^N,;]{1,3}$")
_NAMES_GO_ON = re.compile(",[N&]")
_EQUATED = re.compile("[dD]w?[u01].*v(?:N|[hr]M*KN)")
_NAMED_AS_WORD = re.compile("(?:^|,)[dD]w?N(?!')")


class Refused(Exception):  # noqa: N818  # not an error of the program: the verdict on a sentence
    """A sentence is not understood: why, and the place in its classes."""

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


class Pronoun(NamedTuple):
    """A pronoun and who may be meant by it.

    Attributes:
        kind: Its class.
        place: Where it stands.
        near: People of the sentence who can be meant: named before it, or later if it stands in a phrase before them.
        barred: People who cannot be meant.
        unnamed: Classes of people without a name who are mentioned before it.
        inside: Whether it means somebody of this sentence in any case, as "himself" does.
        used: Whether a fact depends on it.
    """

    kind: str
    place: int
    near: tuple[int, ...]
    barred: tuple[int, ...]
    unnamed: str
    inside: bool
    used: bool


class Stated(NamedTuple):
    """A fact: the second person is what the kin word says to the first.

    Attributes:
        first: Number of a name of the sentence; from -1 down, number of a pronoun.
        kin: Number of the kin word in the sentence.
        second: As first.
        place: Where it is known.
    """

    first: int
    kin: int
    second: int
    place: int


class Meaning(NamedTuple):
    """What a sentence says. People are numbers of names, of several equal names the first.

    Attributes:
        steps: Pronouns and facts in the order in which a reader meets them.
        people: Everybody who is named.
        doing: The same without people who are only named as somebody's.
        unnamed: Classes of people without a name.
        mutual: Pairs of kin words of which each must be the inverse of the other, or one twice if it is plural.
        bare: People whose name could be a word of the sentence where it stands.
        definite: Kin words after "the".
        addressed: Kin words with which people are addressed.
        checked: Whether one of the last four has to be checked.
    """

    steps: tuple[Pronoun | Stated, ...]
    people: tuple[int, ...]
    doing: frozenset[int]
    unnamed: str
    mutual: tuple[tuple[int, int], ...]
    bare: tuple[int, ...]
    definite: tuple[int, ...]
    addressed: tuple[int, ...]
    checked: bool


def interpret(kinds: str, who: tuple[int, ...]) -> Meaning:
    """Return what a sentence says.

    Args:
        kinds: The reduced classes of the sentence, without the mark that ends it.
        who: For each name in it, the number of the first name that is the same.

    Raises:
        Refused: If it is not understood.
    """
    if len(kinds) > _LONGEST:
        raise Refused("the sentence is too long", _LONGEST)
    return _Sentence(kinds, who).read()


class _Sentence:
    """A sentence while it is interpreted; places are places in its classes."""

    def __init__(self, kinds: str, who: tuple[int, ...]) -> None:
        self.s = kinds
        self.person = dict(zip(_places(kinds, "N"), who, strict=True))
        self.kin = {place: number for number, place in enumerate(match.start() for match in _RELATIVES.finditer(kinds))}
        self.facts: list[Stated] = []  # with ~place instead of the number of a pronoun
        self.covered: set[int] = set()  # kin words
        self.introduced: set[int] = set()  # names after "called"
        self.closing: set[int] = set()  # commas that close a construction
        self.inner: set[int] = set()  # other commas of constructions
        self.statements: list[int] = []
        self.having: tuple[int, int] | None = None  # who has a brother, and where that ends
        self.mutual: list[tuple[int, int]] = []
        self.bare: list[int] = []
        self.definite: list[int] = []
        self.addressed: list[int] = []

    def read(self) -> Meaning:
        """Interpret the sentence."""
        self._refuse_all(_UNREADABLE)
        if self.kin:
            self._read_pairs()
            self._read_address()
            for place in self.kin:
                if place not in self.covered:
                    self._read_kin(place)
            self._check_context()
        for match in _INTRODUCED.finditer(self.s):
            if match.start(1) not in self.introduced:
                raise self._refusal("names are introduced with a kin word only", match.start())
        self._check_descriptions()
        self._check_time()
        return self._meaning()

    # ------------------------------------------------------------------------------------------------------ small steps

    def _is(self, place: int, kinds: str) -> bool:
        """Return whether one of these classes stands at a place."""
        return 0 <= place < len(self.s) and self.s[place] in kinds

    def _refusal(self, reason: str, place: int) -> Refused:
        return Refused(reason, min(max(place, 0), max(len(self.s) - 1, 0)))

    def _refuse_all(self, refusals: _Refusals) -> None:
        if refusal := refusals.find(self.s):
            raise self._refusal(*refusal)

    def _add(self, first: int, kin: int, second: int, end: int) -> None:
        """Add a fact that a construction states, which ends before `end`."""
        self.covered.add(kin)
        self.facts.append(Stated(first, self.kin[kin], second, end - 1))

    def _owner(self, start: int) -> int:
        """Return whose relative a phrase that starts here names: a person, or ~place of a pronoun."""
        return self.person[start] if self.s[start] == "N" else ~start

    def _subject(self, match: re.Match[str]) -> int:
        """Return the subject that a pattern found: a person, or ~place of a pronoun."""
        groups = {group: match.start(group) for group, text in match.groupdict().items() if text}
        return ~groups["p"] if "p" in groups else self.person[next(iter(groups.values()))]

    def _state(self, kin: int, end: int) -> None:
        """Note a statement, and check that its clause ends here."""
        self.statements.append(kin)
        if not _END.match(self.s, end):
            raise self._refusal("a statement must end here", end)

    # --------------------------------------------------------------------------------------------------- what is around

    def _check_context(self) -> None:
        """Refuse kin words inside of beliefs, reports, conditions and comparisons."""
        s, last = self.s, max(self.kin)
        for place in _places(s, "T", last):
            # "After that, …", "That is Omar, Freya's uncle."
            demonstrative = self._is(place + 1, ",;") or (place == 0 and self._is(1, "iv"))
            if not self._is(place - 1, "f") and not demonstrative:
                raise self._refusal("what follows 'that' need not be true", place)
        for place in _places(s, ":", last):
            raise self._refusal("what follows a colon may be somebody's words", place)
        for place in _places(s, "("):
            if place not in self.inner:
                raise self._refusal("what stands in brackets is not understood", place)
        for place in _places(s, "R", len(s) if self.statements else last):
            raise self._refusal("what somebody says or believes need not be true", place)
        if self.statements and (match := _DENIED.search(s)):
            raise self._refusal("a negation or a report", match.start())
        self._refuse_all(_UNCLEAR)
        if s[0] in "J~" and "," not in s and not _RELATIVE_IN_CLAUSE.search(s, 1):
            raise self._refusal("the first clause has no clear end", 0)

    def _check_descriptions(self) -> None:
        """Refuse what is said about who somebody is, other than kinship: jobs, ages, offices."""
        for described in _DESCRIBED.finditer(self.s):
            comma = described.start() + 1
            if comma not in self.closing or _PERSON.match(self.s, comma + 1):
                raise self._refusal("descriptions of people are not understood", comma + 1)
        if match := (_PREDICATE_NOUN.search(self.s) or (_ANYBODY.search(self.s) and _AS_PERSON.search(self.s))):
            raise self._refusal("descriptions of people are not understood", match.end() - 1)

    def _check_time(self) -> None:
        """Refuse "while Samir sat in a train, Leila's brother Samir sat in a kitchen" and "Freya saw Freya"."""
        if len(set(self.person.values())) == len(self.person):
            return
        doing = [(place, person) for place, person in self.person.items() if not self._is(place + 1, "'")]
        if "~" in self.s and len({person for _, person in doing}) < len(doing):
            raise self._refusal("one person would do two things at a time", self.s.index("~"))
        for (one, person), (other, same) in pairwise(doing):
            if person == same and not _CLAUSE_MARK.search(self.s, one, other):
                raise self._refusal("two people would have one name", other)

    def _check_possessor(self, start: int) -> None:
        """Check that a phrase is not about two possessors, negated or compared."""
        if self.s[start] == "N":
            if _TWO_POSSESSORS.search(self.s[:start]):
                raise self._refusal("it is not clear whether both are possessors", start)
            if self._is(start - 1, "KL"):
                raise self._refusal("it is not clear whose relative this is", start)
        if self._is(start - 1, "zAl^|c"):
            raise self._refusal("a negation, a comparison or alternatives", start - 1)

    def _check_head(self, name: int) -> None:
        """Check that what follows a name can belong to this name only."""
        if self._is(name - 1, "o'"):
            raise self._refusal("it is not clear who is described", name)
        if self._is(name - 1, "zl|A"):
            raise self._refusal("a negation, a comparison or alternatives", name - 1)
        if not self._is(name - 1, "vi") and _ANYBODY.search(self.s, 0, name):
            raise self._refusal("it is not clear who is described", name)

    def _close(self, end: int) -> None:
        """Check that a relative clause ends here."""
        if end < len(self.s) and not self._is(end, ",;:)_"):
            raise self._refusal("a comma or the end of the sentence must follow", end)
        if self._is(end, ","):
            self.closing.add(end)

    def _close_apposition(self, start: int, end: int) -> None:
        """Check that an apposition ends here, is not part of a list, and does not hide the begin of the main clause."""
        self._close(end)
        s = self.s
        head = s[:start].rpartition(";")[2]
        if head[:1] and head[0] in _OPENS and "," not in head and "," in s[end + 1 :]:
            raise self._refusal("it is not clear where the main clause begins", start)
        if not self._is(end, ","):
            return
        rest = s[end + 1 :]
        doubt = self._is(end + 1, "NhrtKLu01|") or bool(_LIST_GOES_ON.match(rest))
        if self._is(end + 1, "dDn"):  # "served his niece, Freya, a slab of cake" is clear
            begins = _CLAUSE_BEGINS.search(s[:start])
            doubt = bool(begins or _PERSON.match(rest) or _THING_IN_LIST.match(rest))
        if doubt:
            raise self._refusal("it is not clear whether this is a list", end + 1)

    # --------------------------------------------------------------------------------------------- constructions: pairs

    def _read_pairs(self) -> None:
        """Read "A and B are sisters", "she and B are sisters", "A and B, sisters," and "the sisters A and B"."""
        if "&N" not in self.s or not ("L" in self.s or "K&K" in self.s):
            return
        for pattern in (_ARE, _WHO_ARE, _PAIR, _THE_PAIR):
            for match in pattern.finditer(self.s):
                start, end = match.start("a"), match.end()
                kin, other_kin = match.start("kin"), match.end("kin") - 1
                if pattern is _ARE:
                    self._state(kin, end)
                elif _NAMED_BEFORE.search(self.s[:start]):
                    raise self._refusal("it is not clear who is meant", start)
                elif pattern is _PAIR:
                    self._close_apposition(start, end)
                elif pattern is _WHO_ARE:
                    self._close(end)
                self.inner.update(place for place in range(start, end) if self.s[place] == ",")
                one, two = self._owner(start), self.person[match.start("b")]
                self._add(two, kin, one, end)
                self._add(one, other_kin, two, end)
                self.mutual.append((self.kin[kin], self.kin[other_kin]))

    def _read_address(self) -> None:
        """Read a form of address, with which a sentence begins."""
        if not (match := _ADDRESS.match(self.s)):
            return
        speaker = match.start("a" if match["a"] else "b")
        self.inner.add(2)
        self.addressed.append(self.kin[1])
        owner = self.person[speaker] if self.s[speaker] == "N" else ~speaker
        self._add(owner, 1, self.person[match.start("n")], match.end())

    # -------------------------------------------------------------------------------------- constructions: one kin word

    def _read_kin(self, kin: int) -> None:
        """Read the construction of a kin word."""
        start = _LEFT.search(self.s, 0, kin).start()  # type: ignore[union-attr]  # it always matches
        opener = self.s[start]
        if opener == "S":
            self._read_whose(start, kin)
        elif opener in "Nhrt":
            self._check_possessor(start)
            if self.s[kin] == "L":
                self._read_plural(start, kin)
            else:
                self._read_possessed(start, kin)
        elif self.s[kin] == "K":
            self._read_unpossessed(start, kin)
        else:
            self._read_plural_had(start, kin)

    def _read_possessed(self, start: int, kin: int) -> None:
        """Read a kin word with a possessor before it."""
        s, before, after = self.s, self.s[:start], kin + 1
        if match := (_SUBJECT_IS.search(before) or _IT_IS.search(before)):
            self._read_predicate(self._subject(match), start, kin, statement=True)
        elif match := _WHO_IS.search(before):
            self._check_head(match.start(1))
            self.inner.add(match.start(1) + 1)
            self._read_predicate(self.person[match.start(1)], start, kin, statement=False)
        elif _AT_CLAUSE.search(before) and (match := _IS_NAME.match(s, after)):
            self._state(kin, match.end())
            self.introduced.add(match.start(1))
            self._add(self._owner(start), kin, self.person[match.start(1)], match.end())
        elif self._is(after, "N"):
            self._read_name_after(start, kin)
        elif before.endswith(("N,", "N(")):
            if s.startswith(",N", after):
                raise self._refusal("it is not clear who the relative is", kin)
            self._read_name_before(start, after)
            self._add(self._owner(start), kin, self.person[start - 2], after)
        elif match := _NAMED_AFTER_COMMA.match(s, after):
            self._read_name_after_comma(start, kin, match.start(1))
        else:
            raise self._refusal("it is not stated who this is", kin)

    def _read_predicate(self, who: int, start: int, kin: int, *, statement: bool) -> None:
        """Read "Freya is Omar's niece" and "Freya, who is Omar's niece and Yuki's sister,"."""
        more = _AND_POSSESSED.match(self.s, kin + 1)
        for begin, each in ((start, kin), (more.start("start"), more.end() - 1)) if more else ((start, kin),):
            self._add(self._owner(begin), each, who, each + 1)
            kin = each
        if statement:
            self._state(kin, kin + 1)
        else:
            self._close(kin + 1)

    def _read_name_after(self, start: int, kin: int) -> None:
        """Read "Omar's niece Freya"."""
        name, end = kin + 1, kin + 2
        doubt = self._is(end, "N")
        if self._is(end, "'"):  # "to his niece Freya's house", but not "gave his niece Freya's umbrella"
            doubt = not self._is(start - 1, "2<") or _OWNS_RELATIVE.match(self.s, end) is not None
        doubt |= self._is(start - 1, "V") and end < len(self.s) and not self._is(end, ",;dDp2<oA")
        doubt |= self._is(start - 1, "fqVR") and self._is(end, "&")
        # "Without his sister Anna left": the name may begin the main clause.
        if self._is(start - 1, "po2<J~") and _OPENED.search(self.s[:start]):
            doubt |= not (self._is(end, ",p<o") or self._is(start - 1, "J~")) or "," not in self.s[end:]
        if doubt:
            raise self._refusal("it is not clear whether this is the relative's name", name)
        if self._is(start - 1, "qfw") and self._is(end, "wdD"):
            self.bare.append(self.person[name])
        self._add(self._owner(start), kin, self.person[name], end)

    def _read_name_after_comma(self, start: int, kin: int, name: int) -> None:
        """Read "Omar's niece, Freya," and "Omar's niece, whose name is Freya,"."""
        if _AFTER_THING.search(self.s[:start]):
            raise self._refusal("it is not clear whose name this is", name)
        self.inner.add(kin + 1)
        self.introduced.add(name)
        self._close_apposition(start, name + 1)
        self._add(self._owner(start), kin, self.person[name], name + 1)

    def _read_name_before(self, start: int, end: int) -> None:
        """Check "Freya, Omar's niece," and "Freya (Omar's niece)"."""
        name = start - 2
        self._check_head(name)
        if self.s[:name].endswith("N,"):
            raise self._refusal("it is not clear whether this is a list", name)
        if self._is(start - 1, "("):
            if not self._is(end, ")"):
                raise self._refusal("a bracket is missing", end)
            self.inner.add(start - 1)
            return
        self.inner.add(start - 1)
        self._close_apposition(name, end)

    def _read_whose(self, start: int, kin: int) -> None:
        """Read "Omar, whose niece Freya …", "…, whose niece is called Freya," and "…, whose niece she is,"."""
        s, after, name = self.s, kin + 1, start - 2
        if not s[:start].endswith("N,") or _NAME_IN_LIST.search(s[:name]):
            raise self._refusal("it is not clear whose relative this is", start)
        self._check_head(name)
        self.inner.add(start - 1)
        owner = self.person[name]
        if match := (_ARE_NAMES if s[kin] == "L" else _IS_NAME).match(s, after):
            self._close(match.end())
            for group in range(1, len(match.groups()) + 1):
                self.introduced.add(match.start(group))
                self._add(owner, kin, self.person[match.start(group)], match.end())
        elif s[kin] == "L":
            raise self._refusal("it is not stated who these are", kin)
        elif match := _IS_PRONOUN.match(s, after):
            self._close(match.end())
            self._add(owner, kin, ~match.start(1), match.end())
        elif self._is(after, "N"):
            if not _AFTER_RELATIVE.match(s[after + 1 :]):
                raise self._refusal("it is not clear whether this is the relative's name", after)
            self._add(owner, kin, self.person[after], after + 1)
        elif s.startswith(",N,", after):
            self.inner.add(after)
            self._close_apposition(after + 1, after + 2)
            self._add(owner, kin, self.person[after + 1], after + 2)
        else:
            raise self._refusal("it is not stated who this is", kin)

    def _read_unpossessed(self, start: int, kin: int) -> None:
        """Read a kin word without a possessor before it: "a niece of Omar", "has a niece called Freya"."""
        s, before, after = self.s, self.s[:start], kin + 1
        if s[start] == "d":
            if match := _SUBJECT_HAS.search(before):
                self._read_had(self._subject(match), kin, statement=True)
                return
            if match := _WHO_HAS.search(before):
                self._check_head(match.start(1))
                self.inner.add(match.start(1) + 1)
                self._read_had(self.person[match.start(1)], kin, statement=False)
                return
            if self.having and before[self.having[1] :] in (",&", "&"):
                self._read_had(self.having[0], kin, statement=True)
                return
        if match := _OF_WHOM.search(before):
            self._check_head(match.start(1))
            self._close(after)
            self._add(self.person[match.start(1)], kin, self.person[match.start(2)], after)
        elif (match := _TO.match(s, after)) and start == kin and (subject := _SUBJECT_IS.search(before)):
            self._state(kin, match.end())
            self._add(self.person[match.start(1)], kin, self._subject(subject), match.end())
        else:
            self._read_of(start, kin)

    def _read_had(self, owner: int, kin: int, *, statement: bool) -> None:
        """Read "Omar has a niece called Freya" and "Omar, who has a niece called Freya,"."""
        match = _NAMED.match(self.s, kin + 1)
        if not match:
            raise self._refusal("it is not stated who this is", kin)
        name, end = match.start(1), match.end()
        self.introduced.add(name)
        self.inner.add(kin + 1)
        self._add(owner, kin, self.person[name], end)
        self.having = owner, end
        if not statement:
            self._close(end)
        elif _HAS_MORE.match(self.s, end) or (self._is(kin + 1, ",") and _LAST_RELATIVE.match(self.s, end)):
            self.statements.append(kin)
            self.closing.add(end)
        else:
            self._state(kin, end)

    def _read_of(self, start: int, kin: int) -> None:
        """Read "a niece of Omar"."""
        s, before = self.s, self.s[:start]
        match = _OF.match(s, kin + 1)
        if not match:
            unknown = _UNKNOWN_MODIFIER.search(before)
            reason = (
                "what stands before this word may change it" if unknown else "it is not stated whose relative this is"
            )
            raise self._refusal(reason, kin)
        owner, end = (self.person[match.start("n")] if match["n"] else ~match.start("p")), match.end()
        if s[start] == "D":
            self.definite.append(self.kin[kin])
        subject = _SUBJECT_IS.search(before)
        if subject and match["n"] and (other := _AND_OF.match(s, end)):  # "an uncle of Alice and Florence"
            self._add(self.person[other.start(1)], kin, self._subject(subject), other.end())
            end = other.end()
        if self._is(end, "&N|'"):
            raise self._refusal("it is not clear whose relative this is", kin + 2)
        if subject:
            self._state(kin, end)
            self._add(owner, kin, self._subject(subject), end)
        elif found := _WHO_IS.search(before):
            self._check_head(found.start(1))
            self.inner.add(found.start(1) + 1)
            self._close(end)
            self._add(owner, kin, self.person[found.start(1)], end)
        elif _AT_CLAUSE.search(before) and (found := _IS_NAME.match(s, end)):
            self._state(kin, found.end())
            self.introduced.add(found.start(1))
            self._add(owner, kin, self.person[found.start(1)], found.end())
        elif before.endswith(("N,", "N(")):
            if s.startswith(",W", end):
                raise self._refusal("it is not clear who is described", end + 1)
            self._read_name_before(start, end)
            self._add(owner, kin, self.person[start - 2], end)
        else:
            raise self._refusal("it is not stated who this is", kin)

    # -------------------------------------------------------------------------------------------- constructions: plural

    def _read_plural(self, start: int, kin: int) -> None:
        """Read "Omar's sons, Samir and Ali," and "Ama is one of Kofi's aunts"."""
        s, after, owner = self.s, kin + 1, self._owner(start)
        if match := _IS_ONE_OF.search(s[:start]):
            self._state(kin, after)
            self._add(owner, kin, self._subject(match), after)
            return
        if _ONE_OF.search(s[:start]) and (match := _IS_NAME.match(s, after)):
            self._state(kin, match.end())
            self.introduced.add(match.start(1))
            self._add(owner, kin, self.person[match.start(1)], match.end())
            return
        if _AT_CLAUSE.search(s[:start]) and (match := _ARE_NAMES.match(s, after)):
            self._state(kin, match.end())
            for group in (1, 2):
                self.introduced.add(match.start(group))
                self._add(owner, kin, self.person[match.start(group)], match.end())
            return
        match = _TWO_NAMES.match(s, after)
        if not match or s[start] == "t" or s[:start].endswith("N,") or self._is(match.end(), "&'N"):
            raise self._refusal("it is not stated who these are", kin)
        if s[after] == ",":
            self.inner.add(after)
            self._close_apposition(start, match.end())
        elif _NAMES_GO_ON.match(s, match.end()):
            raise self._refusal("it is not clear whether this is a list", match.end())
        for group in (1, 2):
            self._add(owner, kin, self.person[match.start(group)], match.end())

    def _read_plural_had(self, start: int, kin: int) -> None:
        """Read "Astrid has two brothers, Nils and Lars"."""
        subject = _SUBJECT_HAS.search(self.s[: start - 1]) if self._is(start - 1, "n") else None
        match = _TWO_NAMED.match(self.s, kin + 1)
        if not subject or not match:
            raise self._refusal("it is not stated who these are, or whose relatives", kin)
        self._state(kin, match.end())
        self.inner.add(kin + 1)
        for group in (1, 2):
            self.introduced.add(match.start(group))
            self._add(self._subject(subject), kin, self.person[match.start(group)], match.end())

    # ------------------------------------------------------------------------------------------------------- the result

    def _meaning(self) -> Meaning:
        s = self.s
        owned = {place for place in self.person if self._is(place + 1, "'")}
        used = {ref for fact in self.facts for ref in (fact.first, fact.second) if ref < 0}
        pronouns = [match.start() for match in _PRONOUNS.finditer(s)]
        if "t" in s:
            pronouns = [place for place in pronouns if s[place] != "t" or ~place in used]
        number = {~place: -1 - each for each, place in enumerate(pronouns)}
        # "The man on the roof was Nils." Otherwise somebody without a name may be meant by a pronoun.
        equated = _EQUATED.match(s) is not None
        unnamed = "" if equated else _unnamed(s)
        if not equated and _NAMED_AS_WORD.search(s):  # "The acrobat met Omar."
            unnamed += "u"
        steps: list[Pronoun | Stated] = [
            self._pronoun(place, owned, "" if equated else s[:place]) for place in pronouns
        ]
        steps += [
            Stated(number.get(first, first), kin, number.get(second, second), place)
            for first, kin, second, place in self.facts
        ]
        return Meaning(
            tuple(sorted(steps, key=_place) if len(steps) > 1 else steps),
            tuple(dict.fromkeys(self.person.values())),
            frozenset(person for place, person in self.person.items() if place not in owned),
            unnamed,
            tuple(self.mutual),
            tuple(self.bare),
            tuple(self.definite),
            tuple(self.addressed),
            bool(self.mutual or self.bare or self.definite or self.addressed),
        )

    def _pronoun(self, place: int, owned: set[int], left: str) -> Pronoun:
        """Return who may be meant by the pronoun at a place."""
        s, ref = self.s, ~place
        kind = s[place]
        barred = {fact.second for fact in self.facts if fact.first == ref and fact.second >= 0}
        barred |= {fact.first for fact in self.facts if fact.second == ref and fact.first >= 0}
        used = any(ref in (fact.first, fact.second) for fact in self.facts)
        inside = kind in "gG" or (kind in "hr" and self._is(place + 1, "O"))
        near = [each for each in self.person if each < place]
        if inside:
            near = [each for each in near if each not in owned]
        elif kind == "m" or (kind == "r" and (place + 1 == len(s) or self._is(place + 1, ",;p2&<"))):
            # "Omar saw him": not Omar.
            begin = max(s.rfind(mark, 0, place) for mark in ",;:&J~TWb|")
            barred |= {self.person[each] for each in near if each > begin and each not in owned}
        if not near and s[0] in _OPENS:
            commas = [each for each in _places(s, ",") if each > place and each not in self.inner | self.closing]
            near = [each for each in self.person if commas and each > commas[0]]
        return Pronoun(
            kind,
            place,
            tuple(dict.fromkeys(self.person[each] for each in near if self.person[each] not in barred)),
            tuple(barred),
            _unnamed(left),
            inside,
            used,
        )


def _unnamed(kinds: str) -> str:
    """Return the classes of people whom nobody lists, or who may be people."""
    return "".join(_UNNAMED.findall(kinds))


def _places(kinds: str, wanted: str, end: int | None = None) -> list[int]:
    """Return where a class stands, before `end`."""
    places = []
    place = kinds.find(wanted, 0, end)
    while place >= 0:
        places.append(place)
        place = kinds.find(wanted, place + 1, end)
    return places
