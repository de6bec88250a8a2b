"""Frames: how one fact is put. They are written in `frames.yaml`, which explains the notation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from storyproof.errors import DataError
from storyproof.generation.seeds import digest
from storyproof.io.bounded_input import parse_shipped

PLAIN = "plain"
SPARE = "spare"
CLEFT = "cleft"
PAST, LASTING = "past", "lasting"  # what somebody did, what somebody was doing
# What a sentence is composed of besides the literal text of its frame; a frame lists numbers of these.
SOURCES = (
    "A", "B", "kin", "a kin", "siblings", "A.his", "A.he", "A.him", "A.His", "A.He", "B.his", "B.he", "B.him",
    "did", "doing", "done", "do", "did2", "doing2", "done2", "do2", "Passive",
    "met", "meeting", "rest", "joint", ",tail", ",adv", "place", "moment", "Where",
)  # fmt: skip
_COMPOSED = {
    "only kin": ("kin",),
    "same siblings": ("siblings",),
    "did too": ("did",),
    "doing too": ("doing",),
    "adv": ("place", "moment"),
    ",adv": (",adv", "place", "moment"),
    "tail": ("rest", "place", "moment"),
    ",tail": (",tail", "rest", "place", "moment"),
}
_SLOT = re.compile(r"\{([^{}]*)\}")
_PRONOUN = re.compile(r"\{([AB])\.\w+\}")
_NO_CONNECTIVE = ("introduction", "siblings", PLAIN)
# Who a sentence is about, with what is said on the way: "Omar's niece Freya", "Freya, who is Omar's niece,".
_SUBJECT = re.compile(r"\{A\}'s \{(?:only )?kin\},? \{B\},?|\{[AB]\}(?:, [^,]*,)?")
# What would not follow "Soon": "had just sung", "was the first to sing", "looked up when his niece sang".
_NO_TENSE = re.compile(r" (?:had|was the first|looked|waited) ")
# Words by which a reader knows a frame again.
_STRIKING = re.compile(
    r"^[A-Z][a-z ]+(?=\{)|had come with|looked up|looked over|[Ss]o (?:did|was)|had just|caught sight"
)


@dataclass(frozen=True)
class Frame:
    """One way to put a fact.

    Attributes:
        group: What kind of construction it is.
        text: Its text.
    """

    group: str
    text: str

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
        for place, part in enumerate(_SLOT.split(self.text)):
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

    def binds(self, person: str) -> bool:
        """Return whether a pronoun in the first sentence means this person, where others could be meant too."""
        return person in _PRONOUN.findall(self._first_sentence)

    @property
    def shows_owner(self) -> bool:
        """Whether the gender of A can be seen."""
        return "A" in _PRONOUN.findall(self.text) or self._has("siblings", "same siblings")

    @property
    def relation(self) -> str:
        """Which relations it is for: all, several, only, siblings or same siblings."""
        slots = {"a kin": "several", "only kin": "only", "siblings": "siblings", "same siblings": "same siblings"}
        return next((kind for slot, kind in slots.items() if self._has(slot)), "all")

    @property
    def deeds(self) -> int:
        """How many things people do in it, at most."""
        if re.search(r"\{d\w+2\}", self.text):
            return 2
        return 1 if self.is_passive or re.search(r"\{d\w+(?: too)?\}", self.text) else 0

    @property
    def needs_common_deed(self) -> bool:
        """Whether others must be able to do the same thing as well."""
        return self._has("did too", "doing too")

    @property
    def is_passive(self) -> bool:
        """Whether it needs a passive."""
        return self._has("Passive")

    @property
    def is_meeting(self) -> bool:
        """Whether somebody does something with somebody else in it."""
        return self._has("met", "meeting", "joint")

    @property
    def is_joint(self) -> bool:
        """Whether two people do something together in it."""
        return self._has("joint")

    @property
    def has_front(self) -> bool:
        """Whether it begins with an adverbial."""
        return self._has("Where")

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
        """Whether it is one plain clause about what B does that can be joined with another."""
        return (
            self.tense is not None
            and not self.text.startswith(("{A},", "{A} "))
            and ". " not in self.text
            and ";" not in self.text
            and not _PRONOUN.search(self.text)
            and not self.is_meeting
        )


@dataclass(frozen=True)
class Frames:
    """All frames, with what joins them; connectives by the tense of the frames that they fit."""

    frames: tuple[Frame, ...]
    connectives: Mapping[str, tuple[str, ...]]
    joiners: tuple[str, ...]

    def split(self, *purpose: object) -> tuple[Frames, Frames]:
        """Return the frames of training and those of test, about a third of each group."""
        train: list[Frame] = []
        test: list[Frame] = []
        for group in dict.fromkeys(frame.group for frame in self.frames):
            every = [frame for frame in self.frames if frame.group == group]
            every.sort(key=lambda frame: digest(*purpose, "frame", frame.name))
            kept = max(1, len(every) // 3)
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
    """Return the frames that ship with storyproof."""
    text = files("storyproof.families.kinship.language").joinpath("frames.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = parse_shipped(text)
    joiners, past, lasting = (data.pop(name) for name in ("joiners", "connectives", "lasting connectives"))
    frames = tuple(Frame(group, text) for group, texts in data.items() for text in texts)
    return Frames(frames, {PAST: tuple(past), LASTING: tuple(lasting)}, tuple(joiners))
