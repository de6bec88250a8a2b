"""Checks of placeholders: whether a text states the facts of its key, all of them and nothing else.

Claims are found by the ways in which plain English connects kin words with people, not by grammar: "ENT_0's son,
ENT_1", "his wife is called ENT_1", "ENT_1, the son of ENT_0". If the owner is a pronoun, a claim is accepted if it is
right for anybody of that gender.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations, zip_longest
from typing import NamedTuple

from storyproof.families.kinship.placeholders.collection import Key, Placeholders
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, PREDICATES, inverse, predicate_of, word
from storyproof.families.kinship.rules import relation_along

_MOST_DIGITS = 9  # of the number of a slot that is looked at
OTHER = "other"  # kin for which there is no predicate
_INFORMAL = {
    "mother": "mom mum mommy mummy mama momma", "father": "dad daddy papa", "grandmother": "grandma granny gran nana",
    "grandfather": "grandpa granddad grandad gramps grampa", "husband": "hubby groom fiancé", "wife": "bride fiancée",
    "brother": "bro", "sister": "sis", "aunt": "auntie aunty", "niece": "neice",
    "granddaughter": "grandaughter",
}  # fmt: skip
_NEUTRAL = {
    "child": "child children kid kids baby newborn", "inv-child": "parent parents", "SO": "spouse spouses",
    "sibling": "sibling siblings twin twins triplets", "grand": "grandchild grandchildren grandkid grandkids",
    "inv-grand": "grandparent grandparents", "inv-in-law": "in-laws parents-in-law",
    OTHER: "cousin cousins relative relatives ancestor ancestors descendant stepfamily",
}  # fmt: skip
GENERIC = {"child", "children", "kid", "kids", "baby", "newborn"}  # without an owner they are nobody's kin
PRONOUNS = {
    "he": MALE, "him": MALE, "his": MALE, "himself": MALE,
    "she": FEMALE, "her": FEMALE, "hers": FEMALE, "herself": FEMALE,
}  # fmt: skip
NEAR = {"child", "inv-child", "SO", "sibling"}
TELLING = {
    "SO": r"marr[iy]|\bwed(?:ding|s)?\b|anniversary|honeymoon|divorc|newlywed|\bcouple",
    "child": r"birth to|\bborn\b|\braised\b|baby",
}  # words that imply a fact without being kin words


class Kin(NamedTuple):
    """A kin word, and its place in the encoded text."""

    word: str
    predicate: str
    gender: str | None
    plural: bool
    start: int = 0
    end: int = 0


@cache
def _kin_words() -> dict[str, Kin]:
    table: dict[str, Kin] = {}
    for predicate in PREDICATES:
        for gender in GENDERS:
            name = word(predicate.name, gender)
            head, law, _ = name.partition("-in-law")
            for form in (head, *_INFORMAL.get(name, "").split()):
                plural = ("wives" if form == "wife" else form + "s") + law
                table[form + law] = Kin(form + law, predicate.name, gender, False)
                table[plural] = Kin(plural, predicate.name, gender, True)
    for name, forms in _NEUTRAL.items():
        for form in forms.split():
            table[form] = Kin(form, name, None, form.endswith(("s", "children")))
    return table


_TOKEN = re.compile(
    r"ENT_(?P<slot>\d+)_\w+|(?P<law>(?:mother|father|son|daughter|brother|sister)s?[- ]in[- ]laws?\b)"
    r"|grand[ -](?:son|daughter|father|mother|child|parent)\w*|n't|[a-zé]+(?:-[a-zé]+)*|'s\b|\d+|\.\.+|[^\s\w]",
    re.IGNORECASE,
)
_FESTIVE = re.compile(r"'?s'? day", re.IGNORECASE)  # Mother's Day
_PREFIXED = re.compile(r"(?:(?:step|half|god|foster|great|ex)-?)+(?P<kin>[a-z]+)")


def _kin(token: str) -> Kin | None:
    form = re.sub(r"^grand[ -]", "grand", token.lower()).replace(" ", "-")
    form = re.sub(r"^(\w+)-in-laws$", r"\1s-in-law", form)
    table = _kin_words()
    prefixed = _PREFIXED.fullmatch(form)
    if form not in table and prefixed and prefixed["kin"] in table:
        return table[prefixed["kin"]]._replace(predicate=OTHER)
    return table.get(form)


def encode(text: str, people: int) -> tuple[str, list[Kin]]:
    """Encode people as `@number`, kin words as `#number`, other names as `~name`, and the rest in lower case."""
    text = text.replace("’", "'").replace("´", "'")
    tokens = list(_TOKEN.finditer(text))
    code, initial = " ", True
    kins: list[Kin] = []
    for match, after in zip_longest(tokens, tokens[1:]):
        token, piece = match[0], match[0].lower()
        kin = _kin(token)
        next_kin = _kin(after[0]) if after else None
        festive = _FESTIVE.match(text, match.end())
        if match["slot"]:
            is_person = len(match["slot"]) < _MOST_DIGITS and int(match["slot"]) < people
            piece = f"@{match['slot']}" if is_person else "~somebody"
        elif kin and not festive and (kin.gender or not next_kin):  # "her twin sister": the word is sister
            piece = f"#{len(kins)}"
            kins.append(kin._replace(word=token.lower(), start=len(code), end=len(code) + len(piece)))
        elif token == "'" and (
            (next_kin and code[-3:-2] == "@") or (kins and kins[-1].plural and kins[-1].end == len(code) - 1)
        ):
            piece = "'s"  # "ENT_0 'son", as published, and "her parents' house"
        elif token[0].isupper() and not initial and token != "I":
            piece = f"~{piece}"
        code += piece + " "
        initial = token[0] in '.!?"“`'
    return code, kins


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
            for group in [(way,) for way in ways] if owner.each else [ways]:
                claim = KinClaim(group, kin.word, kin.predicate, kin.gender, second, owner.pronoun, owner.nearest)
                self.claims.append((claim, number))

    def _owner(self, number: int, left: str, right: str) -> tuple[Owner | None, int, str]:
        """Return the owner, where the phrase begins, and what follows it."""
        match = _OWNER.search(left)
        if match:
            head = self.heads[int(match["kin"])] if match["kin"] else match.start() + 1
            return self._named_owner(number, match, left), head, right
        start = re.search(rf"{_ONE}{ADJ}$", left).start()  # type: ignore[union-attr]  # it always matches
        match = _OF.match(right)
        if match:
            ways = tuple((person, ()) for person in numbers(match[0]))
            return Owner(ways, each=True), start, right[match.end() :]
        match = _HAS.search(left)
        if match and match["slot"]:
            return Owner(((int(match["slot"]), ()),)), start, right
        if match:
            return self._pronoun(match["pronoun"], left[: match.start() + 1]), start, right
        match = _SAME.search(left)
        return self.owners[int(match["kin"])] if match else None, len(left), right

    def _named_owner(self, number: int, match: re.Match[str], left: str) -> Owner | None:
        if match["slots"]:
            return Owner(tuple((person, ()) for person in numbers(match["slots"])), each=True)
        if match["pronoun"]:
            return self._pronoun(match["pronoun"], left[: match.start() + 1])
        kin = int(match["kin"])
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
            match = re.search(r" @(\d+) (?:, )?$", left)
            return Owner(((int(match[1]), ()),)) if match else None
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
        match = _NAMED.match(rest) or linked or comma or closed or _IS.match(rest)
        if not match:
            return ()
        names = numbers(match["names"])
        if match is before:
            return names if kin.plural and "one of" not in match["link"] else names[-1:]
        return names if kin.plural else names[:1]

    def _together(self, kin: Kin, left: str, right: str) -> tuple[int, ...]:
        """Return the people in "ENT_0 and ENT_1 are sisters" or "the sisters ENT_0 and ENT_1"."""
        after = _NAMED.match(right) or _COMMA.match(right)
        match = _MUTUAL.search(left) or (after if kin.plural else None)
        return numbers(match["names"]) if match else ()


def stated(text: str, genders: Sequence[str]) -> list[KinClaim]:
    """Return every relation between two people that a text states in a recognised form."""
    return [claim for claim, _ in ClaimReader(text, genders).claims]


MISSING, UNKNOWN_SLOT, REVEALS = "missing-person", "unknown-slot", "reveals"
SWAPPED, PRONOUN, FRAGMENT = "swapped-roles", "wrong-pronoun", "fragment"
NOT_TOLD, GENDER, NOT_RECOGNISED = "fact-not-told", "gender-not-told", "not-recognised"
FATAL = (MISSING, UNKNOWN_SLOT, REVEALS)
DOUBTFUL = (SWAPPED, PRONOUN, FRAGMENT, NOT_TOLD, GENDER, NOT_RECOGNISED)


class TextProblem(NamedTuple):
    """Something wrong with a text.

    Attributes:
        kind: One of FATAL or DOUBTFUL.
        what: A description for people.
    """

    kind: str
    what: str


class PlaceholderFlaw(NamedTuple):
    """A problem, and the placeholder that has it."""

    key: Key
    number: int
    text: str
    kind: str
    what: str

    def __str__(self) -> str:
        words, genders = self.key
        return f"{'-'.join(words)} {'-'.join(genders)} {self.number}: {self.kind}: {self.what}: {self.text}"


_SLOT = re.compile(r"ENT[_\d]\w*")
_STRAY = re.compile(r"male '\w|\w's'|\\|^\w+: ENT|\[|\]|_{2,}|[a-z]\.[A-Z]")
_VERB = re.compile(rf" (?:is|was|are|were|has|had|have|(?!(?:{STOP.replace(' ', '|')}) )[a-zé-]{{2,}}) ")


class _TextCheck:
    """Compares a text with the facts that it should state."""

    def __init__(self, words: Sequence[str], genders: Sequence[str], text: str) -> None:
        self.words, self.genders, self.text = words, genders, text
        self.reader = ClaimReader(text, genders)
        self.given: dict[tuple[int, int], str] = {}
        for number, predicate in enumerate(map(predicate_of, words)):
            self.given |= {(number, number + 1): predicate, (number + 1, number): inverse(predicate)}
        self.recognised: set[int] = set()  # facts
        self.understood: set[int] = set()  # kin words
        self.shown: set[int] = set()  # people whose gender a word shows

    def claims(self) -> Iterator[TextProblem]:
        """Check the relations that are stated."""
        for claim, number in self.reader.claims:
            ways = [onward for way in claim.owners for onward in self._onward(way)]
            meanings = [(first, relation_along((*path, claim.predicate))) for first, path in ways]
            right = [
                first for first, meaning in meanings if meaning and self.given.get((first, claim.second)) == meaning
            ]
            if right:
                yield from self._accept(claim, number, right[0])
            elif claim.predicate == OTHER or None not in [meaning for _, meaning in meanings]:
                yield from self._refuse(claim)

    def _onward(self, way: Way) -> Iterator[Way]:
        """Yield a path, and shorter ones if kin on it are people of the facts: "her mother's" may be ENT_1's."""
        yield way
        first, path = way
        for (of, kin), predicate in self.given.items():
            if path and (of, predicate) == (first, path[0]):
                yield from self._onward((kin, path[1:]))

    def _accept(self, claim: KinClaim, number: int, first: int) -> Iterator[TextProblem]:
        self.recognised.add(min(first, claim.second))
        self.understood.add(number)
        while number in self.reader.through:
            number = self.reader.through[number]
            self.understood.add(number)
        if claim.pronoun in PRONOUNS:
            self.shown.add(first)
        if claim.gender == self.genders[claim.second]:
            self.shown.add(claim.second)
        elif claim.gender:
            yield TextProblem(PRONOUN, f"ENT_{claim.second} is called a {claim.word}")

    def _refuse(self, claim: KinClaim) -> Iterator[TextProblem]:
        """Return why a claim is not right for anybody who may be meant."""
        second = claim.second
        direct = [first for first, path in claim.owners if not path]
        derived = [first for first in direct if self._derived(first, second) == claim.predicate]
        fitting = [of for (of, kin), predicate in self.given.items() if (kin, predicate) == (second, claim.predicate)]
        gender = PRONOUNS.get(claim.pronoun or "")
        astray = gender and (claim.nearest is None or self.genders[claim.nearest] != gender)
        if not claim.owners or (astray and fitting and not derived):
            yield TextProblem(PRONOUN, f"'{claim.pronoun} {claim.word}' is said of ENT_{second}, but fits nobody")
            return
        first = [*derived, *direct, claim.owners[0][0]][0]
        said = f"ENT_{second} is said to be ENT_{first}'s {'' if direct else '… '}{claim.word}"
        if (first, second) in self.given:
            yield TextProblem(SWAPPED, f"{said}, who is their {word(self.given[first, second], self.genders[second])}")
        elif direct:  # "her mother's mother, ENT_2" is not shorter than the facts
            yield TextProblem(REVEALS, f"{said}, which is not a given fact")

    def _derived(self, first: int, second: int) -> str | None:
        step = 1 if second > first else -1
        return relation_along([self.given[place, place + step] for place in range(first, second, step)])

    def pronouns(self) -> Iterator[TextProblem]:
        """Find pronouns that can refer to nobody in the text."""
        code, kins = self.reader.code, self.reader.kins
        present = {self.genders[person] for person in numbers(code)}
        strangers = {kin.gender for kin, seconds in zip(kins, self.reader.seconds, strict=True) if not seconds}
        for match in re.finditer(r" (" + "|".join(PRONOUNS) + r")(?= )", code):
            gender = PRONOUNS[match[1]]
            if gender not in present and not strangers & {gender, None} and "~" not in code:
                yield TextProblem(PRONOUN, f"'{match[1]}', but nobody is {gender}")
                return

    def untold(self) -> Iterator[TextProblem]:
        """Find facts for which the text does not even have a word."""
        said = {kin.predicate for kin in self.reader.kins}
        for number, kin in self.reader.through.items():
            said.add(relation_along([self.reader.kins[kin].predicate, self.reader.kins[number].predicate]) or "")
        around = not all(self.reader.seconds)  # "his sister … her son ENT_1": kin that lead on to a nephew
        for number, fact in enumerate(self.words):
            either = {predicate_of(fact), inverse(predicate_of(fact))}
            hint = any(re.search(hints, self.text, re.I) for name, hints in TELLING.items() if name in either)
            hint |= around and not either & NEAR
            if not either & said and number not in self.recognised and not hint:
                yield TextProblem(NOT_TOLD, f"no word states that ENT_{number + 1} is ENT_{number}'s {fact}")

    def unclear(self) -> Iterator[TextProblem]:
        """Find facts, kin words and genders that were not understood."""
        for number, fact in enumerate(self.words):
            if number not in self.recognised:
                yield TextProblem(NOT_RECOGNISED, f"that ENT_{number + 1} is ENT_{number}'s {fact}")
        for number, (kin, owner) in enumerate(zip(self.reader.kins, self.reader.owners, strict=True)):
            generic = owner is None and kin.word in GENERIC
            if number not in self.understood and not generic and not self._refers_back(number, kin):
                yield TextProblem(NOT_RECOGNISED, f"who is called '{kin.word}'")
            elif owner and owner.pronoun == "their" and not self._knows_both(owner, self.reader.seconds[number]):
                yield TextProblem(NOT_RECOGNISED, f"whose '{kin.word}' is meant")
        married = len(re.findall(r" (?:marr(?:y|ie[sd])|wed) ", self.reader.code))
        if married > sum(number == -1 for _, number in self.reader.claims):
            yield TextProblem(NOT_RECOGNISED, "who is married")
        if UNCLEAR.search(self.reader.code):
            yield TextProblem(NOT_RECOGNISED, "whether 'and' joins two people or two parts of the sentence")
        self._follow_pronouns()
        for person in range(1, len(self.genders)):
            if person not in self.shown:
                yield TextProblem(GENDER, f"no word shows that ENT_{person} is {self.genders[person]}")

    def _knows_both(self, owner: Owner, seconds: Sequence[int]) -> bool:
        return owner.each and not {first for first, _ in owner.ways} & set(seconds)

    def _refers_back(self, number: int, kin: Kin) -> bool:
        """Return whether a kin word without a name repeats a given fact: "his son", "the father"."""
        owner = self.reader.owners[number]
        firsts = {first for first, path in owner.ways if not path} if owner else set(range(len(self.genders)))
        plain = owner or re.search(rf" the {ADJ}$", self.reader.code[: kin.start])
        if not plain or kin.plural or self.reader.seconds[number]:
            return False
        meant = {
            second
            for (first, second), predicate in self.given.items()
            if first in firsts and predicate == kin.predicate and kin.gender in (None, self.genders[second])
        }
        if kin.gender and len(meant) == 1:
            self.shown |= meant
        return bool(meant)

    def _follow_pronouns(self) -> None:
        """Count a pronoun as showing the gender of all whom it may mean; for other genders there are fewer."""
        for pronoun in re.findall(r" (" + "|".join(PRONOUNS) + r")(?= (?!#))", self.reader.code):
            self.shown |= {person for person, gender in enumerate(self.genders) if gender == PRONOUNS[pronoun]}


def _slots(genders: Sequence[str], text: str) -> Iterator[TextProblem]:
    allowed = [f"ENT_{number}_{gender}" for number, gender in enumerate(genders)]
    slots = _SLOT.findall(text)
    for slot in allowed:
        if slot not in slots:
            yield TextProblem(MISSING, f"{slot} is not mentioned")
    for slot in dict.fromkeys(slots):
        if slot not in allowed:
            yield TextProblem(UNKNOWN_SLOT, f"{slot}; expected {', '.join(allowed)}")


def _fragments(text: str, code: str) -> Iterator[TextProblem]:
    stray = _STRAY.search(text)
    if stray:
        yield TextProblem(FRAGMENT, f"stray characters at {text[stray.start() : stray.start() + 12]!r}")
    if not re.match(r"[\"'“‘`(]*[A-Z]", text):
        yield TextProblem(FRAGMENT, f"begins with {text[:1]!r}, not with a capital letter")
    if not re.search(r"[.!?…][\"'”’)]*\s*$", text):
        yield TextProblem(FRAGMENT, f"ends with {text[-1:]!r}, not like a sentence")
    if not _VERB.search(re.sub(rf" {ADJ}#\d+ ", " ", code)):  # only people and kin are left
        yield TextProblem(FRAGMENT, "no verb")


def check(words: Sequence[str], genders: Sequence[str], text: str, *, thorough: bool = False) -> list[TextProblem]:
    """Find what is wrong with a placeholder.

    Args:
        words: What each person is to the one before.
        genders: Everybody's gender.
        text: With slots such as `ENT_0_male`.
        thorough: Also require that every fact and every kin word is recognised, and everybody's gender shown. An
            ambiguous pronoun is read in favour of the facts, so a text is safe only if it is checked for all genders.

    Returns:
        Problems, fatal ones first; empty if there are none.
    """
    judge = _TextCheck(words, genders, text)
    defects = [*_slots(genders, text), *judge.claims(), *judge.pronouns(), *_fragments(text, judge.reader.code)]
    defects += judge.untold()
    defects += judge.unclear() if thorough else ()
    order = (*FATAL, *DOUBTFUL)
    return sorted(dict.fromkeys(defects), key=lambda problem: order.index(problem.kind))


def problems(placeholders: Placeholders, *, thorough: bool = False) -> list[PlaceholderFlaw]:
    """Check all texts of a collection; return flaws in its order."""
    return [
        PlaceholderFlaw(key, number, text, *problem)
        for key, texts in placeholders.templates.items()
        for number, text in enumerate(texts)
        for problem in check(key[0], key[1], text, thorough=thorough)
    ]
