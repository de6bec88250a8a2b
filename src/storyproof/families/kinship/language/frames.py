"""Frames: how one fact is put.

Those that need a scene, or nothing, are written in `frames.yaml`, which explains the notation; situations, in which the
relation is the reason for what happens, in `situations.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from storyproof.errors import DataError
from storyproof.families.kinship.relations import NAMES
from storyproof.generation.seeds import digest
from storyproof.io.bounded_input import parse_shipped

PLAIN = "plain"
SPARE = "spare"
CLEFT = "cleft"
SITUATION = "situation"
ANY = "any"  # in `situations.yaml`: whatever B is to A
PAST, LASTING = "past", "lasting"  # what somebody did, what somebody was doing
# What a sentence is composed of besides the literal text of its frame; a frame lists numbers of these.
SOURCES = (
    "A", "B", "Who", "Whose", "whose", "kin", "a kin", "siblings",
    "A.his", "A.he", "A.him", "A.His", "A.He", "A's", "A or him", "A or he",
    "A.did", "A.doing", "A.done", "B.did", "B.doing", "B.done", "B.do",
    "met", "meeting", "rest", "joint", "place", "moment", "word",
)  # fmt: skip
_COMPOSED: Mapping[str, tuple[str, ...]] = {
    "only kin": ("kin",),
    "same siblings": ("siblings",),
    "adv": ("place", "moment"),
    "tail": ("rest", "place", "moment"),
    "A.new": (),
    "B.new": (),
    "A.busy": (),
}
# Where A is named by a pronoun if the sentence before tells of A too, and the pronoun can mean nobody else.
_RESUMING = (
    (re.compile(r"^((?:\{[AB]\.\w+\})*)\{A\} "), r"\1{Who} "),
    (re.compile(r"^((?:\{[AB]\.\w+\})*)\{A\}'s (?=\{kin\})"), r"\1{Whose} "),
    (re.compile(r"\{A\}'s (?=\{kin\})"), "{whose} "),
)
_SLOT = re.compile(r"\{([^{}]*)\}")
_PRONOUN = re.compile(r"\{A\.[Hh]\w+\}")
_NO_CONNECTIVE = ("siblings", SITUATION, PLAIN)
# Who a sentence is about, with what is said on the way: "Omar's niece Freya", "Freya, Omar's niece,".
_SUBJECT = re.compile(r"\{A\}'s \{kin\} \{B\}|\{[AB]\}(?:, [^,]*,)?")
_NO_TENSE = re.compile(r" had ")  # what would not follow "Soon": "had just sung"
# Words by which a reader knows a frame again.
_STRIKING = re.compile(r"^[A-Z][a-z ]+(?=\{)|had (?:come|just|already)")


@dataclass(frozen=True)
class Frame:
    """One way to put a fact.

    Attributes:
        group: What kind of construction it is.
        text: Its text.
        relations: What B may be to A, without gender.
        words: What its slot {word} may be filled with, if it has one.
    """

    group: str
    text: str
    relations: frozenset[str] = frozenset(NAMES)
    words: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in hashes."""
        return f"{self.group}: {self.text}"

    def parts(self) -> list[str | int]:
        """Return literal texts, and numbers of SOURCES.

        Raises:
            DataError: If a slot is unknown.
        """
        parts: list[str | int] = []
        text = self.text
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

    @property
    def kind(self) -> str:
        """What it has in common with other frames, of which a story should have one: "It was", "had come with"."""
        striking = _STRIKING.search(self.text)
        return striking[0].strip().lower() if striking else self.text

    @property
    def _first_sentence(self) -> str:
        return self.text.partition(". ")[0]

    def _has(self, *slots: str) -> bool:
        return any(f"{{{slot}}}" in self.text for slot in slots)

    @property
    def has_sentences(self) -> bool:
        """Whether it has several sentences, of which the first names A only."""
        return self._first_sentence != self.text

    @property
    def binds(self) -> bool:
        """Whether a pronoun in the first sentence means A, where others could be meant too."""
        return _PRONOUN.search(self._first_sentence) is not None

    @property
    def shows_owner(self) -> bool:
        """Whether the gender of A can be seen."""
        return _PRONOUN.search(self.text) is not None or self._has("siblings", "same siblings")

    @property
    def relation(self) -> str:
        """Which relations it is for: all, several, only, siblings or same siblings."""
        slots = {"a kin": "several", "only kin": "only", "siblings": "siblings", "same siblings": "same siblings"}
        return next((kind for slot, kind in slots.items() if self._has(slot)), "all")

    def has_deed(self, person: str) -> bool:
        """Return whether A or B does something of the scene in it."""
        return f"{{{person}.d" in self.text

    def needs_new(self, person: str) -> bool:
        """Return whether the story must not have told of A or B yet."""
        return self._has(f"{person}.new")

    @property
    def needs_busy(self) -> bool:
        """Whether the story must have said what A is doing."""
        return self._has("A.busy")

    @property
    def is_situation(self) -> bool:
        """Whether the relation is the reason for what happens in it."""
        return self.group == SITUATION

    @property
    def is_meeting(self) -> bool:
        """Whether somebody does something with somebody else in it."""
        return self._has("met", "meeting", "joint")

    @property
    def is_joint(self) -> bool:
        """Whether two people do something together in it."""
        return self._has("joint")

    @property
    def tense(self) -> str | None:
        """Which connectives it can follow: those of PAST or LASTING, or None."""
        subject = _SUBJECT.match(self.text)
        if subject is None or self.group in _NO_CONNECTIVE or ". Then" in self.text:
            return None
        rest = self.text[subject.end() :]
        if _NO_TENSE.match(rest):
            return None
        return LASTING if rest.startswith(" was ") else PAST

    @property
    def can_be_joined(self) -> bool:
        """Whether it is one plain clause about B that can be joined with another."""
        return (
            self.text.startswith(("{A}'s {kin} {B} ", "{B}, {A}'s {kin}, "))
            and self.group in ("possessive", "apposition", SITUATION)
            and not re.search(r"[.;] |\b(?:for|and|so|that|believed)\b", self.text)
            and not self._has("A or him", "A or he", "A's")
            and not _PRONOUN.search(self.text)
        )


@dataclass(frozen=True)
class Frames:
    """All frames, with what joins them; connectives by the tense of the frames that they fit."""

    frames: tuple[Frame, ...]
    connectives: Mapping[str, tuple[str, ...]]
    joiners: tuple[str, ...]

    def split(self, *purpose: object) -> tuple[Frames, Frames]:
        """Return the frames of training and those of test, half of each group, so that each side has enough."""
        train: list[Frame] = []
        test: list[Frame] = []
        for group in dict.fromkeys((frame.group, frame.relations) for frame in self.frames):
            every = [frame for frame in self.frames if (frame.group, frame.relations) == group]
            every.sort(key=lambda frame: digest(*purpose, "frame", frame.name))
            kept = max(1, len(every) // 2)
            test += every[:kept]
            train += every[kept:]
        return tuple(Frames(tuple(side), self.connectives, self.joiners) for side in (train, test))  # type: ignore[return-value]

    def plain(self) -> Frames:
        """Return the frames that need no scene."""
        return Frames(tuple(frame for frame in self.frames if frame.group == PLAIN), {}, ())

    def lively(self) -> Frames:
        """Return the frames that need a scene."""
        kept = tuple(frame for frame in self.frames if frame.group != PLAIN)
        return Frames(kept, self.connectives, self.joiners)


@cache
def our_frames() -> Frames:
    """Return the frames that ship with storyproof.

    Raises:
        DataError: If the name of a relation is unknown.
    """
    data = _table("frames.yaml")
    joiners, past, lasting = (data.pop(name) for name in ("joiners", "connectives", "lasting connectives"))
    frames = [Frame(group, text) for group, texts in data.items() for text in texts]
    situations = _table("situations.yaml")
    words = {name: tuple(listed.split(", ")) for name, listed in situations.pop("words").items()}
    slot = re.compile(rf"\{{({'|'.join(words)})\}}")
    for names, texts in situations.items():
        relations = frozenset(NAMES if names == ANY else names.split())
        if unknown := relations - set(NAMES):
            known = ", ".join([ANY, *NAMES])
            raise DataError(f"situations.yaml has the unknown relation '{min(unknown)}'; expected some of {known}.")
        for text in texts:
            slots = slot.findall(text)
            if len(slots) > 1:
                raise DataError(f"'{text}' in situations.yaml has {len(slots)} slots of words; leave one.")
            frames.append(Frame(SITUATION, slot.sub("{word}", text), relations, words[slots[0]] if slots else ()))
    return Frames(tuple(frames), {PAST: tuple(past), LASTING: tuple(lasting)}, tuple(joiners))


def _table(name: str) -> dict[str, Any]:
    text = files("storyproof.families.kinship.language").joinpath(name).read_text(encoding="utf-8")
    table: dict[str, Any] = parse_shipped(text)
    return table
