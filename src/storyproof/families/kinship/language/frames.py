"""Frames: how one fact is put.

Those of natural text belong to scenes (`scenes`), and most of them to certain relations; `frames.yaml` has those of
plain text, and what all scenes share. It explains the notation.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from storyproof.errors import DataError
from storyproof.families.kinship.relations import NAMES
from storyproof.io.bounded_input import load_shipped

PLAIN = "plain"
SPARE = "spare"
BEGIN, THEN = "begin", "then"  # with which a scene begins, and with which it goes on
ANY = "any"  # whatever B is to A
EVERY_RELATION = frozenset(NAMES)
# What a sentence is composed of besides the literal text of its frame; a frame lists numbers of these.
SOURCES = (
    "A", "B", "Who", "Whose", "whose", "kin", "a kin", "siblings",
    "A.his", "A.he", "A.him", "A.His", "A.He",
    "A's", "A or him", "A or he", "A or He", "B's", "B or him", "B or he", "B or He",
    "word 0", "word 1", "word 2", "word 3", "word 4", "word 5",
)  # fmt: skip
FIRST_CHOICE = SOURCES.index("word 0")
MOST_CHOICES = len(SOURCES) - FIRST_CHOICE
# What has to be true of A or B; a frame that begins a scene makes A or B the person whom it is about.
MARKS = ("A.new", "B.new", "A.young", "B.young", "A.main", "B.main", "A.other", "B.other")
_COMPOSED: Mapping[str, tuple[str, ...]] = {"only kin": ("kin",), **dict.fromkeys(MARKS, ())}
# Where A is named by a pronoun if the sentence before tells of A too, and the pronoun can mean nobody else.
_RESUMING = (
    (re.compile(r"^((?:\{[AB]\.\w+\})*)\{A\} "), r"\1{Who} "),
    (re.compile(r"^((?:\{[AB]\.\w+\})*)\{A\}'s (?=\{kin\})"), r"\1{Whose} "),
    (re.compile(r"\{A\}'s (?=\{kin\})"), "{whose} "),
)
_SLOT = re.compile(r"\{([^{}]*)\}")
_MARK = re.compile("|".join(rf"\{{{re.escape(mark)}\}}" for mark in MARKS))
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_CHOICE = re.compile(r"\[([^\[\]]*)\]|\{([^{}]*)\}")
_PRONOUN = re.compile(r"\{A\.[Hh]\w+\}")


@dataclass(frozen=True)
class Frame:
    """One way to put a fact.

    Attributes:
        group: What kind of construction it is.
        text: Its text.
        relations: What B may be to A, without gender.
        body: Its text with {word 0}, {word 1} … for choices, if it has any.
        words: The words of these.
        kind: The text from which this and other frames were made, of which a story should have one.
    """

    group: str
    text: str
    relations: frozenset[str] = EVERY_RELATION
    body: str = ""
    words: tuple[tuple[str, ...], ...] = ()
    kind: str = ""

    def parts(self) -> list[str | int]:
        """Return literal texts, and numbers of SOURCES.

        Raises:
            DataError: If a slot is unknown.
        """
        parts: list[str | int] = []
        text = self.body or self.text
        for pattern, resumed in _RESUMING if self.group != PLAIN else ():
            text = pattern.sub(resumed, text)
        for place, part in enumerate(_SLOT.split(text)):
            if place % 2 == 0:
                parts += [part] if part else []
                continue
            names = _COMPOSED.get(part, (part,))
            if not set(names) <= set(SOURCES):
                known = ", ".join([*SOURCES, *_COMPOSED])
                raise DataError(f"the frame '{self.text}' has the unknown slot {{{part}}}; expected one of {known}.")
            parts += [SOURCES.index(name) for name in names]
        return parts

    @cached_property
    def pieces(self) -> tuple[list[str | int], list[list[str]]]:
        """The parts without the full stop, and the choices, which take in the literal text around them."""
        words = [list(each) for each in self.words]
        whole: list[str | int] = []
        parts = self.parts()
        parts[-1] = str(parts[-1]).removesuffix(".")  # every frame ends with a full stop, which the narrator adds
        for part in parts:
            before = whole[-1] if whole else None
            if isinstance(part, str) and isinstance(before, int) and before >= FIRST_CHOICE:
                words[before - FIRST_CHOICE] = [text + part for text in words[before - FIRST_CHOICE]]
                continue
            if isinstance(part, int) and part >= FIRST_CHOICE and isinstance(before, str):
                words[part - FIRST_CHOICE] = [before + text for text in words[part - FIRST_CHOICE]]
                whole.pop()
            whole.append(part)
        return whole, words

    @property
    def unmarked_body(self) -> str:
        """The body without what only says where the frame fits."""
        return _MARK.sub("", self.body)

    @cached_property
    def _sentences(self) -> list[str]:
        return self.text.split(". ")

    def _has(self, *slots: str) -> bool:
        return any(f"{{{slot}}}" in self.text for slot in slots)

    @cached_property
    def has_sentences(self) -> bool:
        """Whether it has several sentences."""
        return len(self._sentences) > 1

    @cached_property
    def ends_with(self) -> tuple[bool, bool]:
        """Whether its last sentence tells of A, and of B."""
        last = _MARK.sub("", self._sentences[-1])
        return "{A" in last, "{B" in last

    @cached_property
    def binds(self) -> bool:
        """Whether a pronoun in the first sentence means A, where others could be meant too."""
        return _PRONOUN.search(self._sentences[0]) is not None

    @cached_property
    def shows_owner(self) -> bool:
        """Whether the gender of A can be seen."""
        return _PRONOUN.search(self.text) is not None or self._has("siblings")

    @cached_property
    def relation(self) -> str:
        """Which relations it is for: all, several, only or siblings."""
        slots = {"a kin": "several", "only kin": "only", "siblings": "siblings"}
        return next((kind for slot, kind in slots.items() if self._has(slot)), "all")

    @cached_property
    def needs(self) -> tuple[bool, ...]:
        """Which of MARKS must hold."""
        return tuple(self._has(mark) and not (self.group == BEGIN and mark.endswith("main")) for mark in MARKS)

    @cached_property
    def is_about(self) -> tuple[bool, bool]:
        """Whether it makes the scene one about A, and about B."""
        return self.group == BEGIN and self._has("A.main"), self.group == BEGIN and self._has("B.main")

    @cached_property
    def is_special(self) -> bool:
        """Whether it is for some relations only, which are the reason for what happens."""
        return self.relations != EVERY_RELATION

    @cached_property
    def can_follow_time(self) -> bool:
        """Whether it can follow "A week later, "."""
        return _MARK.sub("", self.text).startswith(("{A} ", "{A}'s {kin}")) and not self._has("day", "month")


PEOPLE = "ABCD"
_PEOPLE_MARKS = tuple(f"{person}.{mark}" for person in PEOPLE for mark in ("young", "main"))
# Where a fact is stated: "{A.his} {kin} {B}", or how A addresses B.
_KIN = re.compile(r"\{([A-D])(?:\}'s|\.[hH]is\}|'s\}| or His\}) \{kin(?: (\d))?\}|\{Mom\}")
_PERSON_SLOT = re.compile(r"([A-D])(?:\.(his|he|him|His|He)|('s)| or (he|him|He|His))?$")
_PAIRS = tuple(itertools.combinations(range(4), 2))


# How people address those whom they say these words of.
ADDRESS = {"mother": "Mom", "father": "Dad", "grandmother": "Grandma", "grandfather": "Grandpa"}
# What must not be said in one sentence, as there is a nearer word: "his father Suresh and Suresh's wife Sarah" suggests
# that Sarah is not the mother. Of somebody and their relative, and of one person.
CHAIN, ONE = "chain", "one"
_IN_CHAIN = """
    inv-child SO, inv-child child, SO child, SO grand, inv-grand SO, child sibling, child inv-child, sibling inv-child,
    sibling inv-grand, sibling inv-un, grand sibling, un sibling, sibling sibling
"""
_OF_ONE = "SO child, SO grand, child SO, grand SO"
SUGGESTIVE = {
    kind: frozenset((one, other) for one, other in (pair.split() for pair in listed.split(",")))
    for kind, listed in ((CHAIN, _IN_CHAIN), (ONE, _OF_ONE))
}


@dataclass(frozen=True)
class Passage:
    """One way to put two or three facts together: what {A}, {B}, {C} and {D} do, of whom each is a relative of another.

    Attributes:
        group: BEGIN or THEN.
        text: Its text.
        relations: What may be said by {kin}, {kin 2} and {kin 3}, without gender.
        body: Its text with {word 0}, {word 1} … for choices.
        words: The words of these.
    """

    group: str
    text: str
    relations: tuple[frozenset[str], ...]
    body: str
    words: tuple[tuple[str, ...], ...]

    @cached_property
    def owners(self) -> tuple[int, ...]:
        """Whose relative B, C and D are named as, as numbers of people."""
        kins = [int(match[2] or 1) for match in _KIN.finditer(self.text)]
        if kins != list(range(1, len(self.relations) + 1)):
            raise DataError(f"'{self.text}' does not state {len(self.relations)} facts, in order.")
        return tuple(PEOPLE.index(match[1] or "A") for match in _KIN.finditer(self.text))

    @cached_property
    def sentences(self) -> tuple[int, ...]:
        """In which of its sentences each fact stands."""
        return tuple(self.text.count(". ", 0, match.start()) for match in _KIN.finditer(self.text))

    @cached_property
    def ends_with(self) -> tuple[bool, ...]:
        """Whether its last sentence tells of A, B, C and D."""
        last = re.split(r"\. ", _SOME_MARK.sub("", self.text))[-1]
        return tuple(f"{{{person}" in last for person in PEOPLE)

    @cached_property
    def marks(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Who must be young, and whom it makes the scene one about."""
        young, main = (tuple(f"{{{person}.{mark}}}" in self.text for person in PEOPLE) for mark in ("young", "main"))
        return young, main

    @cached_property
    def near(self) -> tuple[tuple[int, int, str], ...]:
        """Pairs of facts in one sentence: of one person, or of somebody and their relative."""
        pairs = []
        for one, other in itertools.combinations(range(len(self.relations)), 2):
            kind = ONE if self.owners[one] == self.owners[other] else CHAIN if self.owners[other] == one + 1 else ""
            if kind and self.sentences[one] == self.sentences[other]:
                pairs.append((one, other, kind))
        return tuple(pairs)

    def may_say(self, relations: Sequence[str], genders: Sequence[str]) -> bool:
        """Return whether in one sentence these relations suggest nothing else than follows from them.

        Two relatives of one word are "his sons Ali and Ben", not "his son Ali and his son Ben".
        """
        return not any(
            (relations[one], relations[other]) in SUGGESTIVE[kind]
            or (kind == ONE and (relations[one], genders[one]) == (relations[other], genders[other]))
            for one, other, kind in self.near
        )

    @cached_property
    def can_follow_time(self) -> bool:
        """Whether it can follow "A week later, "."""
        return _SOME_MARK.sub("", self.text).startswith("{A} ") and not re.search(r"\{day\}|\bevery\b", self.text)

    @property
    def shows_owner(self) -> bool:
        """Whether the gender of A can be seen."""
        return re.search(r"\{A\.[hH]\w+\}", self.text) is not None

    @cached_property
    def parts(self) -> list[str | tuple[str, int, int]]:
        """Literal texts, and slots: what they stand for, of whom, and when a pronoun can mean nobody else.

        The last is a number of bits that must not be set, see `pronoun_bit`; of what is no pronoun it is 0.

        Raises:
            DataError: If a slot is unknown.
        """
        parts: list[str | tuple[str, int, int]] = []
        earlier: set[int] = set()
        before: set[int] = set()
        here: set[int] = set()
        number = 0
        for place, part in enumerate(_SLOT.split(_SOME_MARK.sub("", self.body).removesuffix("."))):
            if place % 2 == 0:
                parts += [part] if part else []
                if ". " in part:
                    earlier, before, here, number = before, here, set(), number + 1
                continue
            if match := _PERSON_SLOT.match(part):
                person = PEOPLE.index(match[1])
                form = match[2] or match[4] or ("his" if match[3] else "")
                rest = (before | here | (earlier if person not in here else set())) - {person}
                bits = sum(pronoun_bit(person, other) for other in rest)
                if not number:
                    bits |= pronoun_bit(person)
                if person < 2 and person not in here:  # somebody of the sentences before the passage
                    bits |= (earlier_bit(person), pronoun_bit(person), 0)[min(number, 2)]
                # Where the sentence has named the person already, a name would be stiff.
                kind = form if not form or match[2] or person in here else f"or {form}"
                if not parts and not form and _SOME_MARK.sub("", self.text).startswith("{A} "):
                    kind = "Who"
                parts.append((kind, person, bits if kind else 0))
                here.add(person)
            elif part == "Mom":
                parts.append((part, 0, 0))
            elif part.startswith(("kin", "word ")):
                kind, _, which = part.partition(" ")
                parts.append((kind, int(which or 1) - (kind == "kin"), 0))
            else:
                raise DataError(f"'{self.text}' has the unknown slot {{{part}}}.")
        return parts

    @cached_property
    def forbidden(self) -> int:
        """The bits of all pronouns that no name can replace, and of people who have to be young."""
        bits = 0
        for part in self.parts:
            if not isinstance(part, str) and part[0] in ("his", "he", "him", "His", "He"):
                bits |= part[2]
        return bits | sum(young_bit(person) for person, needed in enumerate(self.marks[0]) if needed)


_SOME_MARK = re.compile("|".join(rf"\{{{re.escape(mark)}\}}" for mark in _PEOPLE_MARKS))


def pronoun_bit(person: int, other: int | None = None) -> int:
    """Return the bit for two people of one gender; for one, for somebody else whom a pronoun can mean."""
    pair = 6 + person if other is None else _PAIRS.index((min(person, other), max(person, other)))
    return int(1 << pair)


def earlier_bit(person: int) -> int:
    """Return the bit for somebody else of the last sentences whom a pronoun for the first or second person can mean."""
    return 1 << 14 + person


def young_bit(person: int) -> int:
    """Return the bit of a person who may have children in the story."""
    return int(1 << 10 + person)


def make_passage(
    group: str, text: str, relations: tuple[frozenset[str], ...], lists: Mapping[str, Sequence[str]]
) -> Passage:
    """Return the passage of a text with choices, none of which has slots.

    Raises:
        DataError: If it is not as expected.
    """
    pieces, words = _choices(text, lists)
    if len(words) > MOST_CHOICES:
        raise DataError(f"the passage '{text}' has {len(words)} choices of words; leave {MOST_CHOICES} at most.")
    body = _filled(pieces, [f"{{word {number}}}" for number in range(len(words))])
    passage = Passage(group, text, relations, body, words)
    if passage.owners[0] != 0 or not passage.shows_owner:
        raise DataError(f"'{text}' has to show the gender of A, with {{A.his}}.")
    return passage


@dataclass(frozen=True)
class Frames:
    """The frames that no scene has, with what joins sentences.

    Attributes:
        plain: Those of plain text.
        spare: Those for what a scene has no frame for.
        changes: What another scene of a story can begin with.
        words: Lists of words for choices.
    """

    plain: tuple[Frame, ...]
    spare: tuple[Frame, ...]
    changes: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]


@cache
def our_frames() -> Frames:
    """Return the frames that ship with storyproof."""
    data = load_shipped("storyproof.families.kinship.language", "frames.yaml")
    words = {name: tuple(listed.split(", ")) for name, listed in data["words"].items()}
    plain, spare = (
        tuple(frame for text in data[group] for frame in make_frames(group, text, EVERY_RELATION, words))
        for group in (PLAIN, SPARE)
    )
    changes = itertools.chain(*(variants(text, words) for text in data["changes"]))
    return Frames(plain, spare, tuple(changes), words)


def make_frames(group: str, text: str, relations: frozenset[str], lists: Mapping[str, Sequence[str]]) -> list[Frame]:
    """Return the frames of a text with choices: one for each word of a choice that has a slot, and one for the others.

    Raises:
        DataError: If it has too many.
    """
    texts, whole = [text], []
    while texts:
        each = texts.pop()
        slotted = next((match for match in _BRACKETS.finditer(each) if _has_slot(match[1], lists)), None)
        if slotted is None:
            pieces, words = _choices(each, lists)
            if len(words) > MOST_CHOICES:
                raise DataError(f"the frame '{text}' has {len(words)} choices of words; leave {MOST_CHOICES} at most.")
            body = _filled(pieces, [f"{{word {number}}}" for number in range(len(words))])
            whole.append(Frame(group, each, relations, body, words, text))
            continue
        options = slotted[1].split("|")
        others = "|".join(option for option in options if not _has_slot(option, lists))
        options = [option for option in options if _has_slot(option, lists)] + ([f"[{others}]"] if others else [])
        texts += [each[: slotted.start()] + option + each[slotted.end() :] for option in reversed(options)]
    return whole


def _has_slot(text: str, lists: Mapping[str, Sequence[str]]) -> bool:
    return any(slot not in lists for slot in _SLOT.findall(text))


def variants(text: str, lists: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return all texts that the choices of a text give."""
    return _variants(*_choices(text, lists))


def _filled(pieces: Sequence[str], words: Iterable[str]) -> str:
    """Return pieces of text with words between them."""
    return "".join(itertools.chain(*zip(pieces, [*words, ""], strict=True)))


def _choices(text: str, lists: Mapping[str, Sequence[str]]) -> tuple[list[str], tuple[tuple[str, ...], ...]]:
    """Return what stands around the choices of a text, and what can be chosen.

    A choice is "{day}", a word of a list, or "[one|another {day}]". Each of its texts is as frequent as the others,
    however many words a list in it has.
    """
    pieces: list[str] = []
    choices: list[tuple[str, ...]] = []
    end = 0
    for match in _CHOICE.finditer(text):
        if match[1] is None and match[2] not in lists:
            continue  # a slot
        pieces.append(text[end : match.start()])
        every = [variants(each, lists) for each in match[1].split("|")] if match[1] is not None else [lists[match[2]]]
        most = max(map(len, every))
        choices.append(tuple(itertools.chain(*(tuple(each) * round(most / len(each)) for each in every))))
        end = match.end()
        if ". " in "".join(choices[-1]):
            raise DataError(f"'{text}' has the end of a sentence in a choice; write another frame.")
    return [*pieces, text[end:]], tuple(choices)


def _variants(pieces: Sequence[str], choices: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(_filled(pieces, chosen) for chosen in itertools.product(*choices))
