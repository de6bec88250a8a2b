"""Kinship claims in running text: who is said to be what to whom.

The reader does not parse grammar; it matches the ways in which plain English connects kin words with people: "ENT_0's
son, ENT_1", "his wife is called ENT_1", "ENT_1, the son of ENT_0". A pronoun as owner may mean anybody of that gender.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

from storyproof.families.kinship.placeholders.kin_words import PRONOUNS, Kin, encode

Way = tuple[int, tuple[str, ...]]  # from whom, and by which predicates: her brother's is (her, ("sibling",))


class KinClaim(NamedTuple):
    """A relation that a text states between two people.

    Attributes:
        owners: Who may be meant by the owner, most likely first.
        word: The kin word as in the text.
        predicate: The predicate of the word.
        gender: The second person's gender according to the word, if it shows one.
        second: Who is said to be that.
        pronoun: The pronoun that stands for the owner, if one does.
        nearest: The last person named before that pronoun.
    """

    owners: tuple[Way, ...]
    word: str
    predicate: str
    gender: str | None
    second: int
    pronoun: str | None = None
    nearest: int | None = None


STOP = (
    "a an the of to and or but with for in on at by from as is was were are be been has had have that this who whom "
    "which while when because so if then than his her their my your our its he she him they them it i you we not where "
    "how what"
)
ADJ = rf"(?:(?!(?:{'|'.join(STOP.split())}) )[a-zé~][a-zé-]* ){{0,3}}"
_ONE = r"(?:(?:an?|the|one|two|three|four|another|several|\d+) )?"
_NAMES = r"(?P<names>@\d+(?:(?: , @\d+)*(?: ,)? (?:and|&) @\d+)?)"
_OWNER = re.compile(
    rf" (?:(?P<slots>(?:@\d+ 's (?:and|or) )?@\d+) 's|(?P<pronoun>his|her|their|whose)|#(?P<kin>\d+)(?: ~\w+)? 's)"
    rf" {ADJ}$"
)
UNCLEAR = re.compile(rf"#\d+ of @\d+ (?:and|or) @\d+ |(?<!#\d)(?<!#\d ,) @(\d+) (?:and|or) @(?!\1 )\d+ 's {ADJ}#\d+ ")
_HAS = re.compile(
    rf" (?:@(?P<slot>\d+)|(?P<pronoun>he|she)) (?:(?:,|who|also|now|only|already|still) )*"
    rf"(?:has|had|have|gave birth to|adopted) {_ONE}{ADJ}$"
)
_SAME = re.compile(
    rf" #(?P<kin>\d+)(?: 's)?(?:(?: ,)?(?: and)? [@~]\w+)*(?: ,)? (?:and|,|&|or|as well as|along with) {ADJ}$"
)
_OF = re.compile(r" (?:of|to) (?:both @\d+ and @\d+|@\d+ and @\d+(?= [.,;!?])|@\d+)(?! 's)")
_WITH = re.compile(rf" @(\d+) 's {ADJ}#\d+ (?:, )?@(\d+) (?:, )?and $")
_PAIR = rf" @(\d+)(?: ,)? (?:and|&) (?:(?:his|her|@\d+ 's) {ADJ}#\d+ (?:, )?)?@(\d+)(?! 's)"
_NAMED = re.compile(
    rf"(?:(?: 's)?"
    rf"|(?: ,)?(?: (?:who|whose|that|is|was|are|were|'s|also|now))* (?:named|called|known as|by the name of)(?: ,)?"
    rf"|(?: ,)?(?:(?: [.;])? (?:his|her|their|whose)| 's)? names? (?:is|was|are|were)) {_NAMES}"
)
_COMMA = re.compile(rf"(?: 's)? [,(:–—-] {_NAMES}(?! 's {ADJ}#)")
_IS = re.compile(rf"(?: ,)?(?: who)? (?:is|was|are|were) {_NAMES}(?! 's)")
_BEFORE = re.compile(
    rf" {_NAMES} (?P<link>(?:(?:,|\(|–|—|-|who|is|was|are|were|being|as|also|now|really|truly|still|both|became|one of)"
    rf" )+){_ONE}$"
)
_LINKED = re.compile(r"who|is|was|are|were|being|became|as ")
_MUTUAL = re.compile(rf" {_NAMES} (?:, )?(?:who )?(?:are|were|have been|as) (?:[a-z]+ ){{0,3}}$")
_COUPLE = re.compile(
    rf"#(?P<one>\d+) (?:and|&) {ADJ}#(?P<other>\d+)(?: [,:])? @(?P<first>\d+) (?:and|&) @(?P<second>\d+)"
)
_COUPLE_IS = re.compile(
    r" @(?P<first>\d+) (?:and|&) @(?P<second>\d+) (?:, )?(?:are|were|as) (?:[a-z]+ ){0,2}"
    r"#(?P<one>\d+) (?:and|&) #(?P<other>\d+)(?!(?: ,)? @)"
)
_MARRIED = re.compile(
    r" @(\d+) (?:(?:,|who|is|was|has|had|been|got|just|[a-z]+ly) )*(?:marri(?:ed|es)|wed) (?:to )?@(\d+)(?! 's)"
    rf"|{_PAIR} (?:[a-z0-9]+ ){{0,4}}(?:married|marry|wed) (?!to )"
)
_INTRO = re.compile(
    r" ?(?:when|while|after|before|as|because|if|since|for|at|to|on|in|during|although|with|every|without|once) [^,]+$"
)


class Owner(NamedTuple):
    """The owner of a kin word: one of these people, or each of them."""

    ways: tuple[Way, ...]
    pronoun: str | None = None
    each: bool = False
    nearest: int | None = None


def numbers(names: str) -> tuple[int, ...]:
    """Return the people in a piece of encoded text, where person 1 is @1."""
    return tuple(int(name) for name in re.findall(r"@(\d+)", names))


class ClaimReader:
    """Reads a text from left to right, one kin word after another."""

    def __init__(self, text: str, genders: Sequence[str]) -> None:
        self.genders = genders
        self.code, self.kins = encode(text, len(genders))
        self.owners: list[Owner | None] = []
        self.seconds: list[tuple[int, ...]] = []
        self.heads: list[int] = []  # where the phrase of a kin word begins
        self.through: dict[int, int] = {}  # "her brother's son": from son to brother
        self.claims: list[tuple[KinClaim, int]] = []  # each with the number of its kin word; -1 for "married"
        self._couples()
        for number, kin in enumerate(self.kins):
            self._read(number, kin)
        for match in _MARRIED.finditer(self.code):
            first, second = (int(name) for name in match.groups() if name)
            self._claim(-1, Kin("married", "SO", None, False), Owner(((first, ()),)), (second,))

    def _couples(self) -> None:
        """Read "brother and sister, ENT_0 and ENT_1", in the order that the genders require."""
        self.couples: dict[int, tuple[int, int]] = {}  # for a kin word, of whom who is it
        for match in (*_COUPLE.finditer(self.code), *_COUPLE_IS.finditer(self.code)):
            one, other, first, second = (int(match[name]) for name in ("one", "other", "first", "second"))
            if self.kins[one].gender == self.genders[second] != self.genders[first]:
                first, second = second, first
            self.couples |= {one: (second, first), other: (first, second)}

    def _read(self, number: int, kin: Kin) -> None:
        left, right = self.code[: kin.start], self.code[kin.end :]
        owner, head, rest = self._owner(number, left, right)
        self.owners.append(owner)
        self.heads.append(head)
        self.seconds.append(() if owner is None else self._seconds(left[:head], rest, kin))
        if number in self.couples:
            first, second = self.couples[number]
            self.seconds[number] = (second,) if owner else ()
            owner = owner or Owner(((first, ()),))
            self._claim(number, kin, owner, (second,))
        elif owner:
            self._claim(number, kin, owner, self.seconds[number])
        elif kin.predicate in ("sibling", "SO", "sibling-in-law"):
            for first, second in permutations(self._together(kin, left, right), 2):
                self._claim(number, kin, Owner(((first, ()),)), (second,))

    def _claim(self, number: int, kin: Kin, owner: Owner, seconds: Sequence[int]) -> None:
        for second in seconds:
            ways = tuple(way for way in owner.ways if way != (second, ()))
            for some in [(way,) for way in ways] if owner.each else [ways]:
                claim = KinClaim(some, kin.word, kin.predicate, kin.gender, second, owner.pronoun, owner.nearest)
                self.claims.append((claim, number))

    def _owner(self, number: int, left: str, right: str) -> tuple[Owner | None, int, str]:
        """Return the owner, where the phrase begins, and what follows it."""
        found = _OWNER.search(left)
        if found:
            head = self.heads[int(found["kin"])] if found["kin"] else found.start() + 1
            return self._named_owner(number, found, left), head, right
        start = re.search(rf"{_ONE}{ADJ}$", left).start()  # type: ignore[union-attr]  # it always matches
        found = _OF.match(right)
        if found:
            ways = tuple((person, ()) for person in numbers(found[0]))
            return Owner(ways, each=True), start, right[found.end() :]
        found = _HAS.search(left)
        if found and found["slot"]:
            return Owner(((int(found["slot"]), ()),)), start, right
        if found:
            return self._pronoun(found["pronoun"], left[: found.start() + 1]), start, right
        found = _SAME.search(left)
        return self.owners[int(found["kin"])] if found else None, len(left), right

    def _named_owner(self, number: int, found: re.Match[str], left: str) -> Owner | None:
        if found["slots"]:
            return Owner(tuple((person, ()) for person in numbers(found["slots"])), each=True)
        if found["pronoun"]:
            return self._pronoun(found["pronoun"], left[: found.start() + 1])
        kin = int(found["kin"])
        if self.seconds[kin]:
            return Owner(tuple((second, ()) for second in self.seconds[kin]), each=True)
        self.through[number] = kin
        owner = self.owners[kin]
        return owner and owner._replace(ways=self._onward(kin, owner))

    def _onward(self, kin: int, owner: Owner) -> tuple[Way, ...]:
        return tuple((first, (*path, self.kins[kin].predicate)) for first, path in owner.ways)

    def _pronoun(self, pronoun: str, left: str) -> Owner | None:
        before = list(dict.fromkeys(reversed(numbers(left))))
        if pronoun == "whose":
            found = re.search(r" @(\d+) (?:, )?$", left)
            return Owner(((int(found[1]), ()),)) if found else None
        if pronoun == "their":
            pairs = _WITH.findall(left) or re.findall(_PAIR, left)  # "ENT_0's wife ENT_1 and their"
            people = [int(name) for name in pairs[-1]] if pairs else before
            return Owner(tuple((person, ()) for person in people), "their", each=len(people) == 2)
        gender = PRONOUNS[pronoun]
        people = [*before, *(person for person in range(len(self.genders)) if person not in before)]
        ways: list[Way] = [(person, ()) for person in people if self.genders[person] == gender]
        for kin, (owner, seconds) in enumerate(zip(self.owners, self.seconds, strict=True)):
            if owner and not seconds and self.kins[kin].gender in (gender, None):  # "his wife … her father"
                ways += self._onward(kin, owner)
        return Owner(tuple(ways), pronoun, nearest=before[0] if before else None)

    def _seconds(self, left: str, rest: str, kin: Kin) -> tuple[int, ...]:
        """Return who is said to be the kin: those named after it, or before it."""
        before = _BEFORE.search(left) if not rest.startswith(" 's ") else None
        linked = before if before and _LINKED.search(before["link"]) else None
        comma = _COMMA.match(rest)
        if comma and not re.match(r" [,.;)!?]| and", rest[comma.end() :]):  # "To see her father, ENT_0 took a train."
            comma = None if _INTRO.match(re.split(r" [.!?] ", left)[-1]) else comma
        closed = before if re.match(r" [,.;)!?]| $", rest) else None
        found = _NAMED.match(rest) or linked or comma or closed or _IS.match(rest)
        if not found:
            return ()
        names = numbers(found["names"])
        if found is before:
            return names if kin.plural and "one of" not in found["link"] else names[-1:]
        return names if kin.plural else names[:1]

    def _together(self, kin: Kin, left: str, right: str) -> tuple[int, ...]:
        """Return the people in "ENT_0 and ENT_1 are sisters" or "the sisters ENT_0 and ENT_1"."""
        after = _NAMED.match(right) or _COMMA.match(right)
        found = _MUTUAL.search(left) or (after if kin.plural else None)
        return numbers(found["names"]) if found else ()


def stated(text: str, genders: Sequence[str]) -> list[KinClaim]:
    """Return every relation between two people that a text states in a recognised form."""
    return [claim for claim, _ in ClaimReader(text, genders).claims]
