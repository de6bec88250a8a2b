"""What one sentence says about kinship: constructions as patterns on word classes.

Every kin word of a sentence must belong to a construction that plainly states a relation between two people. There are
two sorts. A *naming* uses the relation to say who is meant ("Omar's niece Freya", "Freya, who is his niece,"); it holds
whatever the sentence goes on to say, unless the sentence is about what somebody believes, dreams or says. A *statement*
says nothing else ("Freya is Omar's niece", "Omar has a niece called Freya"); it is understood only as a plain clause of
its own. Whatever could be read in two ways is refused: lists, two possible heads, shared possessors.

The grammar sees classes, not words, so that it interprets each distinct skeleton of a sentence once. Who is meant by a
pronoun depends on the sentence before and is decided by the reader.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SUBJECT = (
    r"(?:(?P<n1>N)|(?:N'|[hrt])M*K(?P<n2>N)|(?:N'|[hrt])M*K,(?P<n3>N),|(?P<n4>N),(?:N'|[hrt])M*K,"
    r"|[dD]w?u,(?P<n5>N),|(?P<p>[es]))"
)
_CLAUSE = r"(?:^|[;.]|,[&b])"  # where a plain statement may begin
_LEFT = re.compile(r"(?:N'|[hrtSdD])?M*$")
_SUBJECT_IS = re.compile(_CLAUSE + _SUBJECT + "i$")
_SUBJECT_HAS = re.compile(_CLAUSE + _SUBJECT + "x$")
_ONE_OF = re.compile(_CLAUSE + _SUBJECT + "ino$")
_WHO_IS = re.compile(r"(N),Wi$")
_IT_IS = re.compile(r"^wi(?P<n1>N)Wi$")
_WHO_HAS = re.compile(r"(N),Wx$")
_OF_WHOM = re.compile(r"(N),oY(N)i$")
_AT_CLAUSE = re.compile(_CLAUSE + "$")
_END = re.compile(r"$|[;](?=[Nhrtes])|,[&b](?=[Nhrtes])")  # where a plain statement may end
_OF = re.compile(r"o(?:(?P<n>N)(?P<s>')?|(?P<p>[hHr]))")
_TO = re.compile(r"2(N)")
_IS_NAME = re.compile(r"ic*(N)")
_NAMED = re.compile(r"c+(N)|,(N)")
_MUTUAL = r"(?P<kin>L|K&K)"
_ARE = re.compile(_CLAUSE + r"(?P<a>N)&(?P<b>N)a" + _MUTUAL)
_WHO_ARE = re.compile(r"(?P<a>N)&(?P<b>N),Wa" + _MUTUAL)
_PAIR = re.compile(r"(?P<a>N)&(?P<b>N)[,(]" + _MUTUAL + r"(?=[,.;)]|$)")
_THE_PAIR = re.compile(r"D(?P<kin>L)(?P<a>N)&(?P<b>N)(?![&'N])")
_TWO_NAMES = re.compile(r",?(N)&(N)")
_BARE_NOUN = re.compile(r"N,[dDn](?!M*K)")
_PREDICATE_NOUN = re.compile(r"(?:N,?|[esW]|(?<=N),[^,;.]*,)[iv][dDn](?!M*[KL]|o)")
_OPENS = "pJ~<2AI"


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
    """What a sentence says.

    Attributes:
        steps: Pronouns and facts in the order in which a reader meets them.
        people: Numbers of the names of different people.
        doing: The same without people who are only named as somebody's.
        unnamed: Classes of people without a name.
        mutual: Pairs of kin words of which each must be the inverse of the other, or one twice if it is plural.
        bare: People whose name could be a word of the sentence where it stands.
        definite: Kin words after "the".
        checked: Whether one of the last three has to be checked.
    """

    steps: tuple[Pronoun | Stated, ...]
    people: tuple[int, ...]
    doing: frozenset[int]
    unnamed: str
    mutual: tuple[tuple[int, int], ...]
    bare: tuple[int, ...]
    definite: tuple[int, ...]
    checked: bool


def interpret(kinds: str, who: tuple[int, ...]) -> Meaning:
    """Return what a sentence says.

    Args:
        kinds: The reduced classes of the sentence, without the mark that ends it.
        who: For each name in it, the number of the first name that is the same.

    Raises:
        Refused: If it is not understood.
    """
    return _Sentence(kinds, who).read()


class _Sentence:
    def __init__(self, kinds: str, who: tuple[int, ...]) -> None:
        self.s = kinds
        names = [place for place, kind in enumerate(kinds) if kind == "N"]
        self.person = dict(zip(names, who, strict=True))
        self.kin = {place: number for number, place in enumerate(p for p, kind in enumerate(kinds) if kind in "KL")}
        self.facts: list[tuple[int, int, int, int]] = []  # as Stated, but pronouns by ~place
        self.covered: set[int] = set()
        self.closing: set[int] = set()  # commas that close a construction
        self.inner: set[int] = set()  # other commas of constructions
        self.statements: list[int] = []
        self.having: tuple[int, int] | None = None  # owner and end of "has a brother, …"
        self.mutual: list[tuple[int, int]] = []
        self.bare: list[int] = []
        self.definite: list[int] = []

    def at(self, place: int) -> str:
        return self.s[place] if 0 <= place < len(self.s) else ""

    def refuse(self, reason: str, place: int) -> Refused:
        return Refused(reason, min(max(place, 0), max(len(self.s) - 1, 0)))

    # ------------------------------------------------------------------------------------------------------ the sentence

    def read(self) -> Meaning:
        """Interpret the sentence."""
        self._check_words()
        if self.kin:
            self._read_pairs()
            for place in self.kin:
                if place not in self.covered:
                    self._read_kin(place)
            self._check_context()
        self._check_descriptions()
        self._check_time()
        return self._meaning()

    def _check_words(self) -> None:
        reasons = {
            "Z": "this kin word states none of the 22 relations",
            "%": "births, deaths, weddings and ages are not understood",
            "#": "this mark is not understood",
            "?": "a question states nothing",
            "U": "it is not clear who these people are",
        }
        for place, kind in enumerate(self.s):
            if kind in reasons:
                raise self.refuse(reasons[kind], place)
        if match := re.search("NN", self.s):
            raise self.refuse("two names stand side by side", match.start())
        if match := re.search(r"\^(?=[Nc])", self.s):
            raise self.refuse("this word makes the person unreal or past", match.start())
        if match := re.search("[NesW][ivX]z(?:[,;.]|$)", self.s):
            raise self.refuse("this takes back what was said before", match.start())
        if re.match("z,|z[^N]*$|[|]", self.s):
            raise self.refuse("this takes back what was said before", 0)
        if re.match("[iavxXVq]", self.s):
            raise self.refuse("a sentence that begins with its verb is not understood", 0)

    def _check_context(self) -> None:
        """Refuse kin words inside of beliefs, reports, conditions and comparisons."""
        last = max(self.kin)
        s = self.s
        for match in re.finditer("T", s[:last]):
            after = self.at(match.start() + 1)
            demonstrative = after in (",", ";") or (match.start() == 0 and after in ("i", "v"))  # after that, …
            if self.at(match.start() - 1) != "f" and not demonstrative:
                raise self.refuse("what follows 'that' need not be true", match.start())
        for match in re.finditer("I", s[:last]):
            raise self.refuse("a condition or an indirect question", match.start())
        if self.statements and (match := re.search("z", s)):
            raise self.refuse("a negation", match.start())
        end = len(s) if self.statements else last
        for match in re.finditer("[RE]", s[:end]):
            if s[match.start()] == "E" and s[: match.start()].endswith('"') and not self.statements:
                continue
            raise self.refuse("what somebody says or believes need not be true", match.start())
        if match := re.search("F", s):
            raise self.refuse("it is not known who speaks", match.start())
        if match := re.search(r"\|[NKLhr]|\|[dD]?M*[KL]|[NKL],?\||\|[iazv]", s):
            raise self.refuse("alternatives", match.start())
        if match := re.search(r'"[^"]*[NKLhresmtF][^"]*"', s):
            raise self.refuse("direct speech is not understood", match.start())
        if s[0] in "J~" and "," not in s and not re.search("[J~][hr]M*KN", s[1:]):
            raise self.refuse("the first clause has no clear end", 0)

    def _check_descriptions(self) -> None:
        """Refuse what is said about who somebody is, other than kinship: jobs, ages, offices."""
        for match in _BARE_NOUN.finditer(self.s):
            comma = match.start() + 1
            if comma not in self.closing:
                raise self.refuse("descriptions of people are not understood", comma + 1)
            if re.match(r"[dDn][^,;.]?[u01]", self.s[comma + 1 :]):
                raise self.refuse("descriptions of people are not understood", comma + 1)
        if match := _PREDICATE_NOUN.search(self.s):
            raise self.refuse("descriptions of people are not understood", match.end() - 1)

    def _check_time(self) -> None:
        """Refuse "while Samir sat in a train, Leila's brother Samir sat in a kitchen"."""
        doing = [person for place, person in self.person.items() if self.at(place + 1) != "'"]
        if "~" in self.s and len(set(doing)) < len(doing):
            raise self.refuse("one person would do two things at a time", self.s.index("~"))

    # ---------------------------------------------------------------------------------------------- constructions: pairs

    def _read_pairs(self) -> None:
        """Read "A and B are sisters", "A and B, brother and sister," and "the brothers A and B"."""
        for pattern, plain in ((_ARE, True), (_WHO_ARE, False), (_PAIR, False), (_THE_PAIR, False)):
            for match in pattern.finditer(self.s):
                kin, start, end = match.start("kin"), match.start("a"), match.end()
                if plain and not _END.match(self.s, end):
                    raise self.refuse("a statement must end here", end)
                if not plain:
                    if self.at(start - 1) and self.at(start - 1) in "&'N" or self.s[max(start - 2, 0) : start] == "N,":
                        raise self.refuse("it is not clear who is meant", start)
                    if pattern is _PAIR:
                        self._check_close(end, start)
                    elif pattern is _WHO_ARE:
                        self._close(end)
                if plain:
                    self.statements.append(kin)
                one, two = self.person[match.start("a")], self.person[match.start("b")]
                first_kin, second_kin = kin, match.end("kin") - 1
                self.covered |= {first_kin, second_kin}
                self.inner |= {place for place in range(start, end) if self.s[place] == ","}
                self._add(two, first_kin, one, end)
                self._add(one, second_kin, two, end)
                self.mutual.append((self.kin[first_kin], self.kin[second_kin]))

    # --------------------------------------------------------------------------------------------- constructions: one kin

    def _add(self, first: int, kin: int, second: int, place: int) -> None:
        self.covered.add(kin)
        self.facts.append((first, self.kin[kin], second, place - 1))

    def _owner(self, start: int) -> int:
        """Return who owns the kin phrase that starts here: a person, or ~place of a pronoun."""
        return self.person[start] if self.s[start] == "N" else ~start

    def _check_possessor(self, start: int) -> None:
        before, further = self.at(start - 1), self.at(start - 2)
        if self.s[start] == "N":
            if before == "&" and (further in "NKL'" or (further == "," and self.at(start - 3) in "NKL")):
                raise self.refuse("it is not clear whether both are possessors", start)
            if before and before in "KLN":
                raise self.refuse("it is not clear whose relative this is", start)
        if before in ("z", "A", "l", "^"):
            raise self.refuse("a negation or a comparison", start - 1)
        if before and before in "|":
            raise self.refuse("alternatives", start - 1)

    def _read_kin(self, kin: int) -> None:
        s = self.s
        start = _LEFT.search(s, 0, kin).start()  # type: ignore[union-attr]  # it always matches
        opener = s[start] if start < kin else ""
        if opener == "S":
            self._read_whose(start, kin)
        elif opener in ("N", "h", "r", "t"):
            self._check_possessor(start)
            if s[kin] == "L":
                self._read_plural(start, kin)
            else:
                self._read_owned(start, kin)
        elif s[kin] == "K":
            self._read_with_article(start if opener in ("d", "D") else kin - len(self._modifiers(kin)), kin)
        elif s[start - 1 : start] == "n" and (match := _SUBJECT_HAS.search(s[: start - 1])):
            self._read_two(self._subject(match), kin)
        else:
            raise self.refuse("it is not stated whose relatives these are", kin)

    def _read_two(self, owner: int, kin: int) -> None:
        """Read "Astrid has two brothers, Nils and Lars"."""
        match = re.compile(r"(?:,|c+)(N)&(N)").match(self.s, kin + 1)
        if not match:
            raise self.refuse("it is not stated who these are", kin)
        self._state(kin, match.end())
        self.inner.add(kin + 1)
        self._add(owner, kin, self.person[match.start(1)], match.end())
        self._add(owner, kin, self.person[match.start(2)], match.end())

    def _modifiers(self, kin: int) -> str:
        return re.search("M*$", self.s[:kin])[0]  # type: ignore[index]  # it always matches

    def _read_owned(self, start: int, kin: int) -> None:
        """Read a kin word with a possessor before it."""
        s, before, after = self.s, self.s[:start], kin + 1
        if (match := _SUBJECT_IS.search(before)) or (match := _IT_IS.search(before)):
            self._read_predicate(match, start, kin, after)
        elif match := _WHO_IS.search(before):
            self._check_head(match.start(1))
            self._add(self._owner(start), kin, self.person[match.start(1)], after)
            self.inner.add(match.start(1) + 1)
            if self.at(after) == "&" and re.match(r"&(?:N'|[hr])M*K", s[after:]):
                self._read_second(after + 1, self.person[match.start(1)])
            else:
                self._close(after)
        elif _AT_CLAUSE.search(before) and (match := _IS_NAME.match(s, after)):
            self._state(kin, match.end())
            self._add(self._owner(start), kin, self.person[match.start(1)], match.end())
        elif self.at(after) == "N":
            self._read_name_after(start, kin)
        elif s[after : after + 2] == ",N" and before.endswith(("N,", "N(")):
            raise self.refuse("it is not clear who the relative is", kin)
        elif before.endswith(("N,", "N(")):
            self._read_name_before(start, kin, after)
        elif s[after : after + 2] == ",N":
            self._read_name_after_comma(start, kin)
        else:
            raise self.refuse("it is not stated who this is", kin)

    def _read_second(self, start: int, who: int) -> None:
        """Read the second half of "who is Aiko's son and Yuki's brother"."""
        kin = self.s.index("K", start)
        self._add(self._owner(start), kin, who, kin + 1)
        if not _END.match(self.s, kin + 1):
            self._close(kin + 1)

    def _read_predicate(self, match: re.Match[str], start: int, kin: int, end: int) -> None:
        """Read "Freya is Omar's niece"."""
        who = self._subject(match)
        owner = self._owner(start)
        self.statements.append(kin)
        self._add(owner, kin, who, end)
        if self.at(end) == "&" and re.match(r"&(?:N'|[hr])M*K", self.s[end:]):
            self._read_second(end + 1, who)
        elif not _END.match(self.s, end):
            raise self.refuse("a statement must end here", end)

    def _subject(self, match: re.Match[str]) -> int:
        found = {group: match.start(group) for group, text in match.groupdict().items() if text}
        return ~found["p"] if "p" in found else self.person[next(iter(found.values()))]

    def _state(self, kin: int, end: int) -> None:
        self.statements.append(kin)
        if not _END.match(self.s, end):
            raise self.refuse("a statement must end here", end)

    def _read_name_after(self, start: int, kin: int) -> None:
        """Read "Omar's niece Freya"."""
        s, end = self.s, kin + 2
        after, before = self.at(end), self.at(start - 1)
        if after and after in "'N":
            raise self.refuse("it is not clear whether this is the relative's name", kin + 1)
        if before == "V" and (not after or after not in ".,;dDp2<oA"):
            raise self.refuse("it is not clear whether this is the relative's name", kin + 1)
        if before and before in "fqVR" and after == "&":
            raise self.refuse("it is not clear whether this is the relative's name", kin + 1)
        if before and before in "qfw" and after and after in "wdD":
            self.bare.append(self.person[kin + 1])
        lead = re.search(r"(?:^|[.;])[pJ~<][^,;.]*$", s[:start])
        if lead and before and before in "po2<J~" and re.fullmatch(r"[po2<J~dDw]*", lead[0].lstrip(".;")):
            # "Without his sister Anna left": the name may begin the main clause.
            if after != "," and not (after in ("p", "<", "o") or before in "J~") or "," not in s[end:]:
                raise self.refuse("it is not clear whether this is the relative's name", kin + 1)
        self._add(self._owner(start), kin, self.person[kin + 1], end)

    def _read_name_after_comma(self, start: int, kin: int) -> None:
        """Read "Omar's niece, Freya,"."""
        end = kin + 3
        self.inner.add(kin + 1)
        if self.at(start - 1) == "o" or re.search("[u01][po2<]$", self.s[:start]):
            raise self.refuse("it is not clear who the name belongs to", kin + 2)
        self._check_close(end, start)
        self._check_front(start, end)
        self._add(self._owner(start), kin, self.person[kin + 2], end)

    def _read_name_before(self, start: int, kin: int, end: int) -> None:
        """Read "Freya, Omar's niece," and "Freya (Omar's niece)"."""
        name = start - 2
        bracket = self.at(start - 1) == "("
        if bracket != (self.at(end) == ")"):
            raise self.refuse("a bracket is missing", end)
        self._check_head(name)
        if self.at(name - 1) == "," and self.at(name - 2) == "N":
            raise self.refuse("it is not clear whether this is a list", name)
        self.inner.add(start - 1)
        if not bracket:
            self._check_close(end, name)
            self._check_front(name, end)
        owner = self._owner(start) if start < kin and self.s[start] in "Nhrt" else None
        if owner is not None:
            self._add(owner, kin, self.person[name], end)

    def _check_head(self, name: int) -> None:
        """Check that what follows a name can belong to this name only."""
        before = self.at(name - 1)
        if before and before in "o'":
            raise self.refuse("it is not clear who is described", name)
        if before and before in "zl|A":
            raise self.refuse("a negation, a comparison or alternatives", name - 1)
        if before != "v" and re.search("[u01]", self.s[:name]):
            raise self.refuse("it is not clear who is described", name)

    def _check_close(self, end: int, start: int) -> None:
        """Check that an apposition ends here and is not part of a list."""
        s = self.s
        if end >= len(s) or s[end] in ".;:)_":
            return
        if s[end] != ",":
            raise self.refuse("a comma or the end of the sentence must follow", end)
        self.closing.add(end)
        after = self.at(end + 1)
        doubt = after and after in "NhrtKLu01|"
        doubt = doubt or (after == "&" and not re.match("&[es]|&dM*K", s[end + 1 :]))
        if after and after in "dDn":
            begins = start == 0 or bool(re.search(r"(?:^|[;.&bJ~T])(?:[w2p<]{1,2},?)?$", s[:start]))
            doubt = begins or bool(re.match("[dDn][^,;.]?[u01]", s[end + 1 :]))
            doubt = doubt or bool(re.match("[dDn][^,;.]?,&", s[end + 1 :]))
        if doubt:
            raise self.refuse("it is not clear whether this is a list", end + 1)

    def _close(self, end: int) -> None:
        """Check that a relative clause ends here."""
        if end < len(self.s) and self.s[end] not in ",.;:)_":
            raise self.refuse("a comma or the end of the sentence must follow", end)
        if self.at(end) == ",":
            self.closing.add(end)

    def _check_front(self, start: int, end: int) -> None:
        """Refuse an apposition in a phrase at the beginning, if the main clause could begin inside of it."""
        head = re.split("[;.]", self.s[:start])[-1]
        if head[:1] and head[0] in _OPENS and "," not in head and "," in self.s[end + 1 :]:
            raise self.refuse("it is not clear where the main clause begins", start)

    def _read_whose(self, start: int, kin: int) -> None:
        """Read "Omar, whose niece Freya …", "…, whose niece is called Freya," and "…, whose niece she is,"."""
        s, after = self.s, kin + 1
        name = start - 2
        if s[max(name, 0) : start] != "N,":
            raise self.refuse("it is not clear whose relative this is", start)
        if re.search(r"(?:(?<!,)&|N,&?)$", s[:name]):
            raise self.refuse("it is not clear whose relative this is", start)
        self._check_head(name)
        self.inner.add(start - 1)
        owner = self.person[name]
        if s[kin] == "L":
            match = re.compile("ac*(N)&(N)").match(s, after)
            if not match:
                raise self.refuse("it is not stated who these are", kin)
            self._close(match.end())
            self._add(owner, kin, self.person[match.start(1)], match.end())
            self._add(owner, kin, self.person[match.start(2)], match.end())
        elif match := re.compile(r"ic*(N)").match(s, after):
            self._close(match.end())
            self._add(owner, kin, self.person[match.start(1)], match.end())
        elif match := re.compile(r"([es])i").match(s, after):
            self._close(match.end())
            self._add(owner, kin, ~match.start(1), match.end())
        elif self.at(after) == "N":
            if self.at(after + 1) in ("'", "N", "&", "") or re.match("[iavxX][z,.;]", s[after + 1 :]):
                raise self.refuse("it is not clear whether this is the relative's name", after)
            self._add(owner, kin, self.person[after], after + 1)
        elif s[after : after + 2] == ",N" and self.at(after + 2) == ",":
            self.inner.add(after)
            self._check_close(after + 2, after + 1)
            self._add(owner, kin, self.person[after + 1], after + 2)
        else:
            raise self.refuse("it is not stated who this is", kin)

    def _read_with_article(self, start: int, kin: int) -> None:
        """Read a kin word without a possessor before it: "a niece of Omar", "has a niece called Freya"."""
        s, before, after = self.s, self.s[:start], kin + 1
        if s[start : start + 1] == "d":
            if (match := _SUBJECT_HAS.search(before)) or (match := _WHO_HAS.search(before)):
                return self._read_has(match, kin)
            if self.having and before[self.having[1] :] in (",&", "&"):
                return self._read_had(self.having[0], kin, statement=True)
        if match := _OF_WHOM.search(before):
            self._check_head(match.start(1))
            self._close(after)
            self._add(self.person[match.start(1)], kin, self.person[match.start(2)], after)
            return None
        if match := _TO.match(s, after):
            subject = _SUBJECT_IS.search(before)
            if not subject or start != kin:
                raise self.refuse("it is not clear whose relative this is", kin)
            self._state(kin, match.end())
            self._add(self.person[match.start(1)], kin, self._subject(subject), match.end())
            return None
        return self._read_of(start, kin)

    def _read_of(self, start: int, kin: int) -> None:
        """Read "a niece of Omar"."""
        s, before = self.s, self.s[:start]
        match = _OF.match(s, kin + 1)
        if not match:
            raise self.refuse("it is not stated whose relative this is", kin)
        owner, end = (self.person[match.start("n")] if match["n"] else ~match.start("p")), match.end()
        if s[start] == "D":
            self.definite.append(self.kin[kin])
        both = re.compile(r"&(N)(?=[;]|$)").match(s, end)
        if both and match["n"] and (found := _SUBJECT_IS.search(before)):
            self._state(kin, both.end())
            self._add(owner, kin, self._subject(found), end)
            self._add(self.person[both.start(1)], kin, self._subject(found), both.end())
            return
        if match["p"] == "r" or self.at(end) in ("&", "N", "|") or (self.at(end) == "'" and not match["s"]):
            raise self.refuse("it is not clear whose relative this is", kin + 2)
        if found := _SUBJECT_IS.search(before):
            self._state(kin, end)
            self._add(owner, kin, self._subject(found), end)
        elif found := _WHO_IS.search(before):
            self._check_head(found.start(1))
            self._close(end)
            self.inner.add(found.start(1) + 1)
            self._add(owner, kin, self.person[found.start(1)], end)
        elif _AT_CLAUSE.search(before) and (found := _IS_NAME.match(s, end)):
            self._state(kin, found.end())
            self._add(owner, kin, self.person[found.start(1)], found.end())
        elif before.endswith(("N,", "N(")):
            if self.at(end) == "," and self.at(end + 1) == "W":
                raise self.refuse("it is not clear who is described", end + 1)
            self._read_name_before(start, kin, end)
            self._add(owner, kin, self.person[start - 2], end)
        else:
            raise self.refuse("it is not stated who this is", kin)

    def _read_has(self, match: re.Match[str], kin: int) -> None:
        """Read "Omar has a niece called Freya" and "Omar, who has a niece called Freya,"."""
        if match.re is _WHO_HAS:
            self._check_head(match.start(1))
            self.inner.add(match.start(1) + 1)
            self._read_had(self.person[match.start(1)], kin, statement=False)
        else:
            self._read_had(self._subject(match), kin, statement=True)

    def _read_had(self, owner: int, kin: int, *, statement: bool) -> None:
        match = _NAMED.match(self.s, kin + 1)
        if not match:
            raise self.refuse("it is not stated who this is", kin)
        name = match.start(1) if match[1] else match.start(2)
        end = match.end()
        if match[2]:
            self.inner.add(kin + 1)
        if not statement:
            self._close(end)
        else:
            self.statements.append(kin)
            more = re.match(",?&dM*K", self.s[end:])
            described = re.match(",W[^,;.]*(?:[.;]|$)", self.s[end:]) if match[2] else None
            if described:
                self.closing.add(end)
            elif not more and not _END.match(self.s, end):
                raise self.refuse("a statement must end here", end)
            elif more and self.at(end) == ",":
                self.closing.add(end)
        self.having = owner, end
        self._add(owner, kin, self.person[name], end)

    def _read_plural(self, start: int, kin: int) -> None:
        """Read "Omar's sons, Samir and Ali," and "Ama is one of Kofi's aunts"."""
        s, after = self.s, kin + 1
        if match := _ONE_OF.search(s[:start]):
            self._state(kin, after)
            self._add(self._owner(start), kin, self._subject(match), after)
            return
        if re.search(_CLAUSE + "no$", s[:start]) and (match := _IS_NAME.match(s, after)):
            self._state(kin, match.end())
            self._add(self._owner(start), kin, self.person[match.start(1)], match.end())
            return
        if s[start] == "t":
            raise self.refuse("it is not clear who is whose relative", kin)
        match = _TWO_NAMES.match(s, after)
        if not match or s[:start].endswith("N,") or self.at(match.end()) in ("&", "'", "N"):
            raise self.refuse("it is not stated who these are", kin)
        if s[after] == ",":
            self.inner.add(after)
            self._check_close(match.end(), start)
            self._check_front(start, match.end())
        elif self.at(match.end()) == "," and self.at(match.end() + 1) in ("N", "&"):
            raise self.refuse("it is not clear whether this is a list", match.end())
        for group in (1, 2):
            self._add(self._owner(start), kin, self.person[match.start(group)], match.end())

    # ----------------------------------------------------------------------------------------------------- pronouns

    def _meaning(self) -> Meaning:
        s = self.s
        owned = {place for place in self.person if self.at(place + 1) == "'"}
        equated = re.match(r"[dD]w?[u01].*v(?:N|[hr]M*KN)", s)
        unnamed = "" if equated else "".join(kind for kind in s if kind in "u01")
        pronouns = [place for place, kind in enumerate(s) if kind in "hrHesmgG" or (kind == "t" and ~place in self._used())]
        number = {~place: -1 - each for each, place in enumerate(pronouns)}
        facts = [
            Stated(number.get(first, first), kin, number.get(second, second), place)
            for first, kin, second, place in self.facts
        ]
        people = tuple(dict.fromkeys(self.person.values()))
        doing = frozenset(person for place, person in self.person.items() if place not in owned)
        steps = [self._pronoun(place, owned, "" if equated else s[:place]) for place in pronouns]
        mutual, bare, definite = tuple(self.mutual), tuple(self.bare), tuple(self.definite)
        return Meaning(
            tuple(sorted([*steps, *facts], key=lambda step: step.place)),
            people,
            doing,
            unnamed,
            mutual,
            bare,
            definite,
            bool(mutual or bare or definite),
        )

    def _used(self) -> set[int]:
        return {ref for first, _, second, _ in self.facts for ref in (first, second) if ref < 0}

    def _pronoun(self, place: int, owned: set[int], left: str) -> Pronoun:
        s, ref = self.s, ~place
        kind = s[place]
        barred = {second for first, _, second, _ in self.facts if first == ref and second >= 0}
        barred |= {first for first, _, second, _ in self.facts if second == ref and first >= 0}
        inside = kind in "gG" or (kind in "hr" and self.at(place + 1) == "O")
        before = [each for each in self.person if each < place]
        if inside:
            before = [each for each in before if each not in owned]
        elif kind == "m" or (kind == "r" and self.at(place + 1) in ("", ".", ",", ";", "p", "2", "&", "<")):
            # "Omar saw him": not Omar.
            begin = max((s.rfind(mark, 0, place) for mark in ",;:&J~TWb|."), default=-1)
            barred |= {self.person[each] for each in before if each > begin and each not in owned}
        if not before and s[0] in _OPENS:
            commas = [each for each in range(place, len(s)) if s[each] == "," and each not in self.inner | self.closing]
            before = [each for each in self.person if commas and each > commas[0]]
        return Pronoun(
            kind,
            place,
            tuple(dict.fromkeys(self.person[each] for each in before if self.person[each] not in barred)),
            tuple(barred),
            "".join(each for each in left if each in "u01"),
            inside,
            ref in self._used(),
        )
