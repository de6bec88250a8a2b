"""Frames: how one fact is put.

Those that need a scene, or nothing, are written in `frames.yaml`, which explains the notation; situations, in which the
relation is the reason for what happens, in `situations.yaml`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
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
    "met", "meeting", "rest", "joint", "place", "moment",
    "word 0", "word 1", "word 2", "word 3", "word 4", "word 5",
)  # fmt: skip
FIRST_CHOICE = SOURCES.index("word 0")
MOST_CHOICES = len(SOURCES) - FIRST_CHOICE
_COMPOSED: Mapping[str, tuple[str, ...]] = {
    "only kin": ("kin",),
    "same siblings": ("siblings",),
    "adv": ("place", "moment"),
    "tail": ("rest", "place", "moment"),
    "A.new": (),
    "B.new": (),
    "A.busy": (),
    "B.busy": (),
    "A.later": (),
}
# Where A is named by a pronoun if the sentence before tells of A too, and the pronoun can mean nobody else.
_RESUMING = (
    (re.compile(r"^((?:\{[AB]\.\w+\})*)\{A\} "), r"\1{Who} "),
    (re.compile(r"^((?:\{[AB]\.\w+\})*)\{A\}'s (?=\{kin\})"), r"\1{Whose} "),
    (re.compile(r"\{A\}'s (?=\{kin\})"), "{whose} "),
)
_SLOT = re.compile(r"\{([^{}]*)\}")
_CHOICE = re.compile(r"\[([^\[\]]*)\]|\{([^{}]*)\}")
_PRONOUN = re.compile(r"\{A\.[Hh]\w+\}")
_NO_CONNECTIVE = ("siblings", SITUATION, PLAIN)
# Who a sentence is about, with what is said on the way: "Omar's niece Freya", "Freya, Omar's niece,".
_SUBJECT = re.compile(r"\{A\}'s \{kin\} \{B\}|\{[AB]\}(?:, [^,]*,)?")
_NO_TENSE = re.compile(r" had ")  # what would not follow "Soon": "had just sung"
_OPEN_END = re.compile(r"[.;\"] |\b(?:for|and|so|that|believed)\b|,$")  # what another clause cannot follow
# Words by which a reader knows a frame again.
_STRIKING = re.compile(r"^[A-Z][a-z ]+(?=\{)|had (?:come|just|already)")


@dataclass(frozen=True)
class Frame:
    """One way to put a fact.

    Attributes:
        group: What kind of construction it is.
        text: Its text.
        relations: What B may be to A, without gender.
        body: Its text with {word 0}, {word 1} … for choices, if it has any.
        words: The words of these.
    """

    group: str
    text: str
    relations: frozenset[str] = frozenset(NAMES)
    body: str = ""
    words: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def name(self) -> str:
        """What it is called in hashes."""
        return f"{self.group}: {self.text}"

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

    @cached_property
    def kind(self) -> str:
        """What it has in common with other frames, of which a story should have one: "It was", "had come with"."""
        striking = _STRIKING.search(self.text)
        return striking[0].strip().lower() if striking else self.text

    @cached_property
    def _first_sentence(self) -> str:
        return self.text.partition(". ")[0]

    def _has(self, *slots: str) -> bool:
        return any(f"{{{slot}}}" in self.text for slot in slots)

    @cached_property
    def has_sentences(self) -> bool:
        """Whether it has several sentences, of which the first names A only."""
        return self._first_sentence != self.text

    @cached_property
    def binds(self) -> bool:
        """Whether a pronoun in the first sentence means A, where others could be meant too."""
        return _PRONOUN.search(self._first_sentence) is not None

    @cached_property
    def shows_owner(self) -> bool:
        """Whether the gender of A can be seen."""
        return _PRONOUN.search(self.text) is not None or self._has("siblings", "same siblings")

    @cached_property
    def relation(self) -> str:
        """Which relations it is for: all, several, only, siblings or same siblings."""
        slots = {"a kin": "several", "only kin": "only", "siblings": "siblings", "same siblings": "same siblings"}
        return next((kind for slot, kind in slots.items() if self._has(slot)), "all")

    @cached_property
    def needs(self) -> tuple[bool, ...]:
        """Whether A, and B, does something of the scene in it; must be new in the story; must be doing something."""
        return tuple(f"{{{person}.{what}" in self.text for what in ("d", "new}", "busy}") for person in "AB")

    @cached_property
    def is_situation(self) -> bool:
        """Whether the relation is the reason for what happens in it."""
        return self.group == SITUATION

    @cached_property
    def is_meeting(self) -> bool:
        """Whether somebody does something with somebody else in it."""
        return self._has("met", "meeting", "joint")

    @cached_property
    def is_joint(self) -> bool:
        """Whether two people do something together in it."""
        return self._has("joint")

    @cached_property
    def tense(self) -> str | None:
        """Which connectives it can follow: those of PAST or LASTING, or None."""
        if self._has("A.later"):
            return PAST
        subject = _SUBJECT.match(self.text)
        if subject is None or self.group in _NO_CONNECTIVE or ". Then" in self.text:
            return None
        rest = self.text[subject.end() :]
        if _NO_TENSE.match(rest):
            return None
        return LASTING if rest.startswith(" was ") else PAST

    @cached_property
    def can_be_joined(self) -> bool:
        """Whether it is one plain clause about B that can be joined with another."""
        return (
            self.text.startswith(("{A}'s {kin} {B} ", "{B}, {A}'s {kin}, "))
            and self.group in ("possessive", "apposition", SITUATION)
            and not any(_OPEN_END.search(each) for each in (self.text, *itertools.chain.from_iterable(self.words)))
            and not self._has("A or him", "A or he", "A's")
            and not _PRONOUN.search(self.text)
        )


@dataclass(frozen=True)
class Frames:
    """All frames, with what joins them.

    Attributes:
        frames: How facts are put.
        connectives: What a sentence can begin with, by the tense of the frames that it fits.
        joiners: What stands between two facts of a sentence.
        closers: How stories can end, each with its variants.
        dates: How openers can begin, each with its variants.
    """

    frames: tuple[Frame, ...]
    connectives: Mapping[str, tuple[str, ...]]
    joiners: tuple[str, ...]
    closers: tuple[tuple[str, ...], ...] = ()
    dates: tuple[tuple[str, ...], ...] = ()

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
        closers = sorted(self.closers, key=lambda variants: digest(*purpose, "closer", variants[0]))
        half = len(closers) // 2
        return (
            replace(self, frames=tuple(train), closers=tuple(closers[half:])),
            replace(self, frames=tuple(test), closers=tuple(closers[:half])),
        )

    def plain(self) -> Frames:
        """Return the frames that need no scene."""
        return Frames(tuple(frame for frame in self.frames if frame.group == PLAIN), {}, ())

    def lively(self) -> Frames:
        """Return the frames that need a scene."""
        return replace(self, frames=tuple(frame for frame in self.frames if frame.group != PLAIN))


@cache
def our_frames() -> Frames:
    """Return the frames that ship with storyproof.

    Raises:
        DataError: If the name of a relation is unknown.
    """
    data = _table("frames.yaml")
    joiners, past, lasting, closers, dates = (
        data.pop(name) for name in ("joiners", "connectives", "lasting connectives", "closers", "dates")
    )
    situations = _table("situations.yaml")
    words = {name: tuple(listed.split(", ")) for name, listed in situations.pop("words").items()}
    every = frozenset(NAMES)
    frames = [make_frame(group, text, every, words) for group, texts in data.items() for text in texts]
    for names, texts in situations.items():
        relations = frozenset(NAMES if names == ANY else names.split())
        if unknown := relations - set(NAMES):
            known = ", ".join([ANY, *NAMES])
            raise DataError(f"situations.yaml has the unknown relation '{min(unknown)}'; expected some of {known}.")
        frames += [make_frame(SITUATION, text, relations, words) for text in texts]
    return Frames(
        tuple(frames),
        {PAST: tuple(past), LASTING: tuple(lasting)},
        tuple(joiners),
        *(tuple(_variants(*_choices(text, words)) for text in texts) for texts in (closers, dates)),
    )


def make_frame(group: str, text: str, relations: frozenset[str], lists: Mapping[str, Sequence[str]]) -> Frame:
    """Return the frame of a text with choices.

    Raises:
        DataError: If it has too many, or other slots in them.
    """
    pieces, words = _choices(text, lists)
    if len(words) > MOST_CHOICES:
        raise DataError(f"the frame '{text}' has {len(words)} choices of words; leave {MOST_CHOICES} at most.")
    slots = [f"{{word {number}}}" for number in range(len(words))]
    return Frame(group, text, relations, _filled(pieces, slots), words)


def _filled(pieces: Sequence[str], words: Iterable[str]) -> str:
    """Return pieces of text with words between them."""
    return "".join(itertools.chain(*zip(pieces, [*words, ""], strict=True)))


def _choices(text: str, lists: Mapping[str, Sequence[str]]) -> tuple[list[str], tuple[tuple[str, ...], ...]]:
    """Return what stands around the choices of a text, and what can be chosen.

    A choice is "{treat}", a word of a list, or "[one|another {treat}]". Each of its texts is as frequent as the others,
    however many words a list in it has.
    """
    pieces: list[str] = []
    choices: list[tuple[str, ...]] = []
    end = 0
    for match in _CHOICE.finditer(text):
        if match[1] is None and match[2] not in lists:
            continue  # a slot
        pieces.append(text[end : match.start()])
        every = (
            [_variants(*_choices(each, lists)) for each in match[1].split("|")]
            if match[1] is not None
            else [lists[match[2]]]
        )
        most = max(map(len, every))
        choices.append(tuple(itertools.chain(*(tuple(each) * round(most / len(each)) for each in every))))
        end = match.end()
        if unknown := [each for each in choices[-1] if "{" in each]:
            raise DataError(f"'{text}' has a slot in its choice '{unknown[0]}'; only lists of words can stand there.")
    return [*pieces, text[end:]], tuple(choices)


def _variants(pieces: Sequence[str], choices: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return all texts that choices give."""
    return tuple(_filled(pieces, chosen) for chosen in itertools.product(*choices))


def _table(name: str) -> dict[str, Any]:
    text = files("storyproof.families.kinship.language").joinpath(name).read_text(encoding="utf-8")
    table: dict[str, Any] = parse_shipped(text)
    return table
