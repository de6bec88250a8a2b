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
_SEVERAL_CLAUSES = re.compile(r"[,;\"]|\. |\b(?:because|so|that|when|until|while|if|but|who|as|before|after)\b")
_NAME_AT_END = re.compile(r"\{[AB][^}]*\}(?:\{word \d\})*\.$")
_APPOSITION = re.compile(r"\{B\}, \{A\}'s \{kin\}, ")
_OPEN_END = re.compile(r"[.;\"] |\b(?:for|and|so|that|believed)\b|,$")  # what another clause cannot follow


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
        parts[-1] = str(parts[-1]).removesuffix(".")  # every frame ends with a full stop, which a joiner replaces
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

    @cached_property
    def can_be_continued(self) -> bool:
        """Whether it is one plain clause, without a name at its end, that another frame can follow after "and"."""
        return not _NAME_AT_END.search(self.body) and not _SEVERAL_CLAUSES.search(
            _APPOSITION.sub("", " ".join([self.text, *itertools.chain(*self.words)]))
        )

    @cached_property
    def can_be_joined(self) -> bool:
        """Whether it is one plain clause about B that can follow another frame after "and"."""
        return (
            self.text.startswith(("{A}'s {kin} {B} ", "{B}, {A}'s {kin}, "))
            and self.group == THEN
            and not any(_OPEN_END.search(each) for each in (self.text, *itertools.chain.from_iterable(self.words)))
            and not self._has("A or him", "A or he", "A's", "B's", "B or he", "B or him")
            and not _PRONOUN.search(self.text)
        )


@dataclass(frozen=True)
class Frames:
    """The frames that no scene has, with what joins sentences.

    Attributes:
        plain: Those of plain text.
        spare: Those for what a scene has no frame for.
        joiners: What stands between two facts of a sentence.
        changes: What another scene of a story can begin with.
        words: Lists of words for choices.
    """

    plain: tuple[Frame, ...]
    spare: tuple[Frame, ...]
    joiners: tuple[str, ...]
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
    return Frames(plain, spare, tuple(data["joiners"]), tuple(changes), words)


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
