"""What a sentence says about kinship, whatever else it says: people who are named by what they are to somebody.

"Ann asked her brother Ben if he could help" takes it for granted that Ben is Ann's brother, whether he could help or
not. `language.reader` refuses such sentences, as it does not look into conditions, denials and reports. `state_namings`
is for a sentence that it refuses: it returns what the sentence takes for granted, in plain sentences, which the same
reader reads. It understands less than the reader in every other way:

- Every kin word of the sentence must be part of a naming, or mean somebody without a name whom nobody can confuse with
  the people named: then all people of the sentence must be named by their kin.
- A sentence with words that make people unreal, past or somebody else's invention is not touched (`namings.yaml`).
- "His" and "her" must have one person whom they can mean: named before in the sentence, or in the sentence before.

A plain statement ("Ann has a brother named Ben", "Ben and Cleo are sisters") is understood where nothing in its clause
can take it back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.checks import Doubt, check_patterns, check_suggestions, may_clash
from storyproof.families.kinship.language.phrases import find_phrase
from storyproof.families.kinship.language.reading import ReadFact
from storyproof.families.kinship.language.tokens import Tokens, cut
from storyproof.families.kinship.relations import FEMALE, MALE, gender_of
from storyproof.io.bounded_input import load_shipped

# Reasons for which the reader refuses a sentence that may take a relation for granted all the same.
REASONS = frozenset(
    (
        "a negation, a comparison or alternatives",
        "a condition or an indirect question",
        "what follows 'that' need not be true",
        "what somebody says or believes need not be true",
        "a comma or the end of the sentence must follow",
        "it is not clear whether this is the relative's name",
        "it is not clear whether this is a list",
        "this kin word states none of the 22 relations",
        "births, deaths, weddings and ages are not understood",
        "it is not stated who this is",
        "it is not stated who these are",
        "it is not stated who these are, or whose relatives",
        "it is not stated whose relative this is",
        "it is not clear who is meant",
        "descriptions of people are not understood",
        "nobody of this gender can be meant",
        "a play or a dream need not be true",
        "names are introduced with a kin word only",
        "a statement must end here",
        "two people would have one name",
        "what stands before this word may change it",
    )
)
_WORD = re.compile(r"[A-Za-z][A-Za-z-]*(?:n't|'(?:ll|d|ve|re|m)\b)?|'s\b|'|\d\S*|\S")
_ASKED = re.compile(r"\b(?:ask\w*|see|sees|know\w*|check\w*)\b.*\bif\b", re.IGNORECASE)
_ROLE = re.compile(r"\b(?:as|not|plays?|played|playing)$", re.IGNORECASE)
_SPOUSES = frozenset(("husband", "wife"))
_GENDERS = {"his": MALE, "her": FEMALE, "he": MALE, "she": FEMALE}
_PERSONS = frozenset(("man", "woman", "boy", "girl", "lady", "guy", "gentleman"))
_LETTERS = {
    "their": "t", "he": "e", "she": "e", "is": "i", "was": "i", "are": "a", "were": "a", "has": "x", "a": "d",
    "an": "d", "the": "D", "this": "D", "these": "D", "those": "D", "of": "o", "called": "c", "named": "c", "who": "W",
    "and": "&", "also": "j", "with": "v", "one": "m", "two": "m", "name": "=", ",": ",", ";": ";",
}  # fmt: skip


@cache
def _words(name: str) -> frozenset[str]:
    """Return the words of a list in `namings.yaml`."""
    return frozenset(_table()[name].split())


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return what finds any word of a list in `namings.yaml`."""
    words = "|".join(_table()[name].split()).replace("_", " ")
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


def _table() -> Any:
    return load_shipped("storyproof.families.kinship.language", "namings.yaml")


@cache
def _modifiers() -> frozenset[str]:
    return _words("modifiers") | set(
        lx.words_of(lx.MODIFIER, lx.OLD, lx.ELDER)
    )  # the last are repeated in what is stated


class _Token(NamedTuple):
    kind: str
    word: str
    start: int


class Sentence(NamedTuple):
    """What is taken for granted in a sentence.

    Attributes:
        facts: What the second is to the first, as (first, kin word, second).
        people: Everybody named in it, in order.
        unnamed: The genders of relatives without a name.
        open: Relatives without a name, as (whose, kin word): the next sentence may say it.
    """

    facts: tuple[tuple[str, str, str], ...]
    people: tuple[str, ...]
    unnamed: frozenset[str]
    open: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The facts in plain sentences."""
        return " ".join(f"{second} is {first}'s {word}." for first, word, second in self.facts)


def state_namings(
    sentence: str, before: Sentence | None, names: frozenset[str], genders: Mapping[str, str]
) -> Sentence | None:
    """Return what a sentence takes for granted; None if that is not clear.

    Args:
        sentence: One sentence.
        before: What the sentence before says.
        names: Everybody whom the text names.
        genders: The genders that are known.
    """
    reader = _Sentence(sentence, before, names, genders)
    try:
        reader.read()
    except _Unclear:
        return None
    return reader.result()


def mentioned(sentence: str, names: frozenset[str], genders: Mapping[str, str]) -> Sentence:
    """Return whom a sentence mentions, to whom the next one may refer."""
    return _Sentence(sentence, None, names, genders).result()


class _Unclear(Exception):  # noqa: N818  # not an error of the program: the verdict on a sentence
    """A sentence does not plainly take anything for granted."""


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return constructions as patterns on classes; statements first, as a statement can look like a naming.

    N name, p his or her, t their, e he or she, K kin word, L kin word in the plural, M modifier, i is, a are, x has,
    d a, D the, o of, c called, W who, & and, j also, v with, m one or two, P man or woman, = name, w others. Groups:
    o or p whose relative, n who.
    """
    owner = "(?:(?P<o>N)'|(?P<p>[pt]))M*"
    subject = "(?:^|(?<=;))(?:(?P<s>N)|(?P<e>e))"
    end = "(?=$|[;,&W])"
    return tuple(
        (name, re.compile(pattern))
        for name, pattern in (
            ("has", f"{subject}(?:j?xj?|idPv)dM*(?P<k>K),?c?(?P<n>N){end}"),
            ("is", f"{subject}i{owner}(?P<k>K){end}"),
            ("is of", f"{subject}i(?:[Dd]|mo)?[DdM]*(?P<k>[KL])o[DM]*(?P<o>N){end}"),
            ("whose", f"(?:^|(?<=;)){owner}(?P<k>K)(?:i|'=i)c?(?P<n>N){end}"),
            ("are", f"(?:^|(?<=;))(?P<o>N)&(?P<n>N)aM*(?P<k>L){end}"),
            ("named", f"{owner}(?P<k>K)(?P<comma>,?)c?(?P<n>N)"),
            ("several", f"{owner}m?M*(?P<k>L),?(?P<n>N)&(?P<n2>N)"),
            ("before", f"(?P<n>N),{owner}(?P<k>K)(?=$|[;,])"),
            ("who", f"(?P<n>N),?Wi{owner}(?P<k>K)"),
            ("who of", "(?P<n>N)(?:,?Wi[Dd]|,[Dd]|D)M*(?P<k>K)o[DM]*(?P<o>N)"),
        )
    )


_STATEMENTS = frozenset(("has", "is", "is of", "whose", "are"))


class _Sentence:
    """A sentence while it is read."""

    def __init__(
        self, sentence: str, before: Sentence | None, names: frozenset[str], genders: Mapping[str, str]
    ) -> None:
        self.text = sentence.rstrip(" .!")
        # Stephen is no step-kin, and Will is sure.
        self.bare = _WORD.sub(lambda match: "N" if match[0] in names else match[0], self.text)
        self.before, self.genders = before, genders
        self.tokens = list(_tokens(self.text, names))
        self.kinds = "".join(each.kind for each in self.tokens)
        self.facts: list[tuple[str, str, str]] = []
        self.covered: set[int] = set()  # kin words
        self.naming: set[int] = set()  # names that a construction gives to a relative

    def read(self) -> None:
        """Find the facts.

        Raises:
            _Unclear: If it is not clear what they are.
        """
        if _pattern("blocked").search(self.bare) or re.search(r'["“”?:()\[\]—]', self.text) or "F" in self.kinds:
            raise _Unclear
        self._check_words()
        if self._read_name():
            return
        for name, pattern in _patterns():
            for match in pattern.finditer(self.kinds):
                if match.start("k") not in self.covered:
                    self._construct(name, match)
        self._check_rest()
        if _pattern("parted").search(self.bare) and any(
            word in _SPOUSES or "-in-law" in word for _, word, _ in self.facts
        ):
            raise _Unclear
        facts = [
            ReadFact(first, word.split(" ")[-1], second, 1, 1) for first, word, second in dict.fromkeys(self.facts)
        ]
        try:
            check_suggestions(facts, 0)
        except Doubt as doubt:
            raise _Unclear from doubt

    def _read_name(self) -> bool:
        """Read "Her name is Asia" and "Alfred is the son's name" after a sentence about one relative without a name."""
        name = re.fullmatch("(?P<p>p)=i(?P<n>N)", self.kinds) or re.fullmatch("(?P<n>N)iD(?P<k>K)'=", self.kinds)
        if name is None or self.before is None or len(self.before.open) != 1:
            return False
        [(owner, word)] = self.before.open
        if "p" in name.groupdict() and _GENDERS[self._name(0).lower()] != gender_of(word):
            raise _Unclear
        if ("k" in name.groupdict() and self._kin(name.start("k")) != word) or self._name(name.start("n")) == owner:
            raise _Unclear
        self.facts.append((owner, word, self._name(name.start("n"))))
        return True

    def _check_words(self) -> None:
        """Check that the sentence is not about ages, times, roles, beliefs or things that are called like people."""
        kinds = "".join(Tokens()[each].kinds for each in cut(self.text))
        try:
            check_patterns(self.text, kinds)
        except Doubt as doubt:
            if doubt.reason != "a play or a dream need not be true":
                raise _Unclear from doubt
        classes = [lx.class_of(each.word.lower()) if each.word.isalpha() else "" for each in self.tokens]
        hard = [each.word.lower() for each, kind in zip(self.tokens, classes, strict=True) if kind == lx.HARD]
        if find_phrase(self.text) or not _words("wedding").issuperset(hard):
            raise _Unclear
        if (
            re.search("N,?i[dD]", self.kinds)
            and self.covered is not None
            and not self.kinds.startswith("Ni")
            and not re.search("Ni(?:[dD]M*|mo)[KL]", self.kinds)
        ):
            raise _Unclear  # Omar's niece Freya is a boat
        if any(
            self.kinds[place] in "ia" and lx.NUMBER in classes[place + 1 : place + 3] for place in range(len(classes))
        ):
            raise _Unclear
        if lx.BEAST in classes or lx.UNTRUSTED in classes or may_clash(kinds):
            raise _Unclear
        if re.search(r"NN|N,?[dD](?!M*[KL])|(?<!d)P|dP(?!v)", self.kinds) or self.kinds.startswith("D="):
            raise _Unclear
        for place, kind in enumerate(self.kinds):
            if kind == "N" and place and classes[place - 1] in (lx.PERSON, lx.JOB, lx.MAN, lx.WOMAN):
                raise _Unclear
        if " if " in self.text and not _ASKED.search(self.text):
            raise _Unclear
        if (
            self.tokens
            and self.tokens[0].word.lower() in _words("openers")
            and "," not in self.kinds
            and len(set(self.kinds) & set("KL"))
        ):
            raise _Unclear

    def result(self) -> Sentence:
        """Return what was found."""
        people = tuple(dict.fromkeys(each.word for each in self.tokens if each.kind == "N"))
        unnamed = self._unnamed(len(self.tokens))
        return Sentence(tuple(dict.fromkeys(self.facts)), people, frozenset(unnamed), tuple(self._open()))

    def _open(self) -> Iterator[tuple[str, str]]:
        """Yield relatives without a name; none if it is not clear whose they are."""
        relatives = []
        for match in re.finditer("(?:(?P<o>N)'|(?P<p>p))M*(?P<k>K)(?!,?c?N|'|o)", self.kinds):
            if re.search("N,?(?:Wi)?$|i$", self.kinds[: match.start()]):
                return
            try:
                relatives += [(owner, self._kin(match.start("k"))) for owner in self._owners(match)]
            except _Unclear:
                return
        yield from dict.fromkeys(relatives)

    # ---------------------------------------------------------------------------------------------------- constructions

    def _construct(self, name: str, match: re.Match[str]) -> None:
        groups = match.groupdict()
        kin = match.start("k")
        if name in _STATEMENTS:
            if "n't" in self.text or _pattern("unsure").search(self.bare):
                raise _Unclear
            self._state(name, match)
            return
        self._check_naming(name, match)
        owners = self._owners(match)
        relatives = [match.start(group) for group in ("n", "n2") if groups.get(group)]
        self._add(owners, kin, relatives)
        end = match.end("n")
        while name == "named" and (more := re.compile("&M*(?P<k>K),?(?P<n>N)").match(self.kinds, end)):
            self._check_after(more.end("n"), closed=self.kinds[more.end("k")] != ",")
            self._add(owners, more.start("k"), [more.start("n")])
            end = more.end("n")

    def _state(self, name: str, match: re.Match[str]) -> None:
        kin = match.start("k")
        if name == "whose":
            self._add(self._owners(match), kin, [match.start("n")])
        elif name == "are":
            one, other = match.start("o"), match.start("n")
            if self._kin(kin) not in ("brother", "sister"):
                raise _Unclear
            self._add([self._name(one)], kin, [other])
        else:
            subject = [self._name(match.start("s"))] if match["s"] else [self._bind(match.start("e"))]
            if name == "has":
                self._add(subject, kin, [match.start("n")])
                return
            self.covered.add(kin)
            self.facts += [(owner, self._worded(kin), each) for owner in self._owners(match) for each in subject]

    def _add(self, owners: Sequence[str], kin: int, relatives: Sequence[int]) -> None:
        self.covered.add(kin)
        self.naming.update(relatives)
        for owner in owners:
            for relative in relatives:
                if owner == self._name(relative):
                    raise _Unclear
                self.facts.append((owner, self._worded(kin), self._name(relative)))

    def _check_naming(self, name: str, match: re.Match[str]) -> None:
        """Raise _Unclear if a naming may be part of a list, a role, or two clauses."""
        before = self.kinds[: match.start()]
        said = self.text[: self.tokens[match.start()].start].rstrip()
        if _ROLE.search(said) or _says_that(said) or before.endswith(("i", "a")):
            raise _Unclear
        relatives = [self._name(match.start(group)) for group in ("n", "n2") if match.groupdict().get(group)]
        acting = [
            each.word
            for place, each in enumerate(self.tokens)
            if self.kinds[place] == "N" and self.kinds[place + 1 : place + 2] != "'"
        ]
        if any(acting.count(each) > 1 for each in relatives):
            raise _Unclear
        if name == "named":
            after = self.kinds[match.end("n") :]
            verb = lx.class_of(self.tokens[match.start() - 1].word.lower()) if match.start() else ""
            if not match["comma"] and re.match("&N(?!')", after):
                raise _Unclear
            if verb in (lx.SPEECH, lx.GIVING, lx.FACTIVE, lx.SAID, lx.BELIEF) and (
                after.startswith("'")
                or (
                    verb in (lx.SPEECH, lx.FACTIVE, lx.BELIEF, lx.SAID)
                    and after[:1] in ("w", "i", "a", "x")
                    and self.tokens[match.end("n")].word.lower()
                    not in _words("after_name") | {"that", "about", "his", "her"}
                )
            ):
                raise _Unclear  # "told his niece Irina was ill", "gave his niece Irina's umbrella"
            self._check_after(match.end("n"), closed=not match["comma"], first=match.start() == 0)
        elif name == "several":
            if re.match(",?[&N]|'", self.kinds[match.end("n2") :]):
                raise _Unclear
        elif name in ("before", "who") and not before and self._differs(match):
            raise _Unclear
        elif name == "before":
            if before.endswith((",", "&", "N")) or re.match(",&?N", self.kinds[match.end("k") :]):
                raise _Unclear
        elif before.endswith(("&", "N", "'", "o")) or re.match("[&N']", self.kinds[match.end() :]):
            raise _Unclear

    def _differs(self, match: re.Match[str]) -> bool:
        """Return whether a pronoun after "Leila, Samir's brother," is of the other gender, with nobody else around."""
        gender = gender_of(self._kin(match.start("k")))
        after = self.text[self.tokens[match.start("k")].start :].lower()
        other = r"\b(?:she|her|hers|herself)\b" if gender == MALE else r"\b(?:he|his|him|himself)\b"
        return self.kinds.count("N") == 2 and re.search(other, after) is not None

    def _check_after(self, end: int, *, closed: bool, first: bool = False) -> None:
        """Check what follows a relative's name; `closed` if no comma stands before it, so that none need follow."""
        rest = self.kinds[end:]
        if rest.startswith("N"):
            raise _Unclear
        if closed or not rest or rest.startswith(";"):
            return
        word = self.tokens[end].word.lower()
        opened = self.tokens[0].word.lower() in _words("openers")
        if re.match(",?&?N|,&[Dd]", rest) or rest.startswith("'") or (rest[0] != "," and opened):
            raise _Unclear
        if rest[0] not in ",&" and word not in _words("after_name") and not first:
            raise _Unclear

    # ----------------------------------------------------------------------------------------------------------- people

    def _name(self, place: int) -> str:
        return self.tokens[place].word

    def _kin(self, place: int) -> str:
        return lx.kin_words()[self.tokens[place].word.lower()].word

    def _worded(self, place: int) -> str:
        """Return a kin word with what says who is older, as two of these may contradict each other."""
        elder = self.tokens[place - 1].word.lower() if place else ""
        return f"{elder} {self._kin(place)}" if lx.class_of(elder or "x") == lx.ELDER else self._kin(place)

    def _owners(self, match: re.Match[str]) -> list[str]:
        if match.groupdict().get("o"):
            return [self._name(match.start("o"))]
        place = match.start("p")
        if self.kinds[place] == "t":
            named = dict.fromkeys(self._name(each) for each in range(place) if self.kinds[each] == "N")
            if len(named) != 2 or self._unnamed(place):
                raise _Unclear
            return list(named)
        barred = {self._name(match.start("n"))} if "n" in match.groupdict() else set()
        return [self._bind(place, barred)]

    def _bind(self, place: int, barred: Collection[str] = ()) -> str:
        """Return the one person whom a pronoun can mean."""
        gender = _GENDERS[self.tokens[place].word.lower()]
        here = [self._name(each) for each in range(place) if self.kinds[each] == "N"]
        if not here and self.before is not None:
            people, unnamed = self.before.people, self.before.unnamed
        else:
            people, unnamed = tuple(here), self._unnamed(place)
        parallel = re.search(r"(?P<p>p)M*K,?N,?&$", self.kinds[:place])
        if parallel and self.tokens[parallel.start("p")].word.lower() == self.tokens[place].word.lower():
            return self._bind(parallel.start("p"), barred)  # "with his brother Scott and his grandfather Jason"
        before_names = self.tokens[: self.kinds.find("N")] if here else []
        if any(_GENDERS.get(each.word.lower()) == gender for each in before_names):
            if self.before is None:
                raise _Unclear  # "Her mother Ada came, but her brother did not": the person meant by the first "her"
            people, unnamed = (*self.before.people, *people), unnamed | self.before.unnamed
        able = [each for each in dict.fromkeys(people) if each not in barred]
        able = [each for each in able if self._gender(each) in (None, gender)]
        if len(able) != 1 or gender in unnamed:
            raise _Unclear
        if self._gender(able[0]) is None and (len(set(people)) > 1 or not here):
            raise _Unclear
        return able[0]

    def _gender(self, name: str) -> str | None:
        for _, word, second in self.facts:
            if second == name:
                return gender_of(word.split(" ")[-1])
        return self.genders.get(name)

    def _unnamed(self, end: int) -> frozenset[str]:
        """Return the genders of people without a name who are mentioned before a place."""
        genders: set[str] = set()
        for place, token in enumerate(self.tokens[:end]):
            kin = lx.kin_words().get(token.word.lower()) if token.kind in "KL" else None
            after, before = self.kinds[place + 1 :], self.kinds[:place]
            if (
                kin is not None
                and not re.match(",?c?N|oN", after)
                and not re.search("N,?(?:Wi)?(?:N'|[ptdD])M*$", before)
            ):
                genders.add(kin.gender)
            elif token.kind == "w" and lx.class_of(token.word.lower()) in (lx.PERSON, lx.MAN, lx.WOMAN):
                kind = lx.class_of(token.word.lower())
                genders |= {lx.MAN: {MALE}, lx.WOMAN: {FEMALE}}.get(kind, {MALE, FEMALE})
        return frozenset(genders)

    def _check_rest(self) -> None:
        """Check that nothing else is said about who is related to whom."""
        rest = [place for place, kind in enumerate(self.kinds) if kind in "KLZ" and place not in self.covered]
        for place in rest:
            word = self.tokens[place].word.lower()
            if self.kinds[place] == "Z" and word not in _words("idle_kin"):
                raise _Unclear
            if re.match(",?c?N|o", self.kinds[place + 1 :]):
                raise _Unclear
        named = dict.fromkeys(each.word for each in self.tokens if each.kind == "N")
        related = {name for first, _, second in self.facts for name in (first, second)}
        if (
            not self.facts
            and (rest or _pattern("relates").search(self.bare) or "blood" in self.text)
            and ("n't" in self.text or _pattern("alone").search(self.bare))
        ):
            raise _Unclear  # an only child, never married
        if not rest and not _pattern("relates").search(self.bare):
            return
        if any(name not in related for name in named) and (self.facts or len(named) > 1 or "=" in self.kinds):
            raise _Unclear
        if rest and any(place for place in self._statement_places()):
            raise _Unclear
        if "=" in self.kinds and not self.facts:
            raise _Unclear

    def _statement_places(self) -> list[int]:
        places = []
        for name, pattern in _patterns():
            places += [match.start("k") + 1 for match in pattern.finditer(self.kinds) if name in _STATEMENTS]
        return places


def _says_that(text: str) -> bool:
    """Return whether a text ends in somebody's words or thoughts: "Omar told Lars that"."""
    match = _pattern("told").search(text)
    return match is not None and re.search(r"\bthat\b", text[match.end() :]) is not None


def _tokens(text: str, names: frozenset[str]) -> Iterator[_Token]:
    """Yield the words and marks of a sentence with their classes."""
    words = list(_WORD.finditer(text))
    for number, match in enumerate(words):
        word, low = match[0], match[0].lower()
        following = words[number + 1][0].lower() if number + 1 < len(words) else ""
        if word in names:
            kind = "N"
        elif low in ("'s", "'"):
            kind = "'"
        elif low in _LETTERS:
            kind = _LETTERS[low]
        elif low in ("his", "her"):
            kind = "p"
        elif low in _PERSONS:
            kind = "P"
        elif low in _modifiers() or (low == "great" and following in _words("great")):
            kind = "M"
        elif word[0].isupper() and number and lx.class_of(low) in (lx.KIN, lx.KINS) and word not in _words("titles"):
            kind = "Z"  # perhaps a title
        else:
            kind = {lx.KIN: "K", lx.KINS: "L", lx.OTHER_KIN: "Z", lx.SPEAKER: "F"}.get(lx.class_of(low), "w")
        yield _Token(kind, word, match.start())
