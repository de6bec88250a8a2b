"""Scenes: everyday events, each with the sentences that state facts on its occasion.

A scene is a YAML file with the lists `begin` and `then` of frames, by what B may be to A, and maybe openers and
closers. `frames.yaml` explains the notation. A story takes a frame of `begin`, and then others in any order, so each of
`then` has to make sense after every one of `begin`, whoever its people are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from storyproof.errors import DataError
from storyproof.families.kinship.language.frames import (
    ADDRESS,
    ANY,
    BEGIN,
    EVERY_RELATION,
    THEN,
    Frame,
    Passage,
    make_frames,
    make_passage,
    our_frames,
    pronoun_bit,
    variants,
)
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, NAMES, word
from storyproof.generation.seeds import digest
from storyproof.io.bounded_input import FOLDER, DocumentError, compose_yaml, kind_of, name_of, read_text, shipped_loader

OPENERS, CLOSERS = "openers", "closers"
PARTS = (OPENERS, CLOSERS, BEGIN, THEN)
_EXPECTED = f"{BEGIN} and {THEN}, and maybe {OPENERS} and {CLOSERS}"
_ALL = slice(None)
_TEST_SHARE = 3  # one of so many scenes is for the test
_SAMPLE = {MALE: ("Omar", "Bertil", "he", "his", "him"), FEMALE: ("Leila", "Freya", "she", "her", "her")}


@dataclass(frozen=True, slots=True)
class Scene:
    """An everyday event.

    Attributes:
        name: The file's name.
        openers: Sentences with which a story can begin; of each all variants.
        closers: Sentences with which a story can end.
        frames: How facts are put.
        passages: How two or three facts are put together.
    """

    name: str
    openers: tuple[str, ...]
    closers: tuple[str, ...]
    frames: tuple[Frame, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Scenes:
    """A collection of scenes, with a name for manifests and messages."""

    name: str
    scenes: tuple[Scene, ...]

    def split(self, *purpose: object) -> tuple[Scenes, Scenes]:
        """Return the scenes of training and those of test, a third of them."""
        order = sorted(self.scenes, key=lambda scene: digest(*purpose, "scene", scene.name))
        if len(order) < 2:
            raise DataError(f"{self.name} has one scene, but training and test need different ones; add another.")
        kept = max(1, len(order) // _TEST_SHARE)
        return Scenes(self.name, tuple(order[kept:])), Scenes(self.name, tuple(order[:kept]))

    def share(self, kept: float, *purpose: object) -> Scenes:
        """Return a share of the scenes, one at least."""
        if kept == 1:
            return self
        order = sorted(self.scenes, key=lambda scene: digest(*purpose, "share", scene.name))
        return Scenes(self.name, tuple(order[: max(1, round(kept * len(order)))]))

    @property
    def frames(self) -> int:
        """The number of frames and passages."""
        return sum(len(scene.frames) + len(scene.passages) for scene in self.scenes)


@cache
def our_scenes() -> Scenes:
    """Return the scenes that ship with storyproof."""
    folder = files("storyproof.families.kinship.language").joinpath("scenes")
    scene_files = sorted((each for each in folder.iterdir() if each.name.endswith(".yaml")), key=lambda each: each.name)
    texts = ((each.name, each.read_text(encoding="utf-8")) for each in scene_files)
    return Scenes("built-in", tuple(read_scene(text, name, ours=True) for name, text in texts))


def load_scenes(path: str | Path) -> Scenes:
    """Read a scene file, or all scene files of a folder.

    Raises:
        DataError: If there is none, or one is not as expected; the message says where.
    """
    place = Path(path)
    try:
        scene_files = sorted(place.glob("*.yaml")) if kind_of(place) == FOLDER else [place]
        if not scene_files:
            raise DataError(f"{place} has no scene; expected files called *.yaml.")
        return Scenes(name_of(place.name), tuple(read_scene(_read(each), name_of(each)) for each in scene_files))
    except OSError as error:
        raise DataError(
            f"cannot read the scenes {place}: {error.strerror or error}; give a folder of YAML files."
        ) from error


def _read(path: Path) -> str:
    """Read a file.

    Raises:
        OSError: If it cannot be read.
        DataError: If it is not UTF-8.
    """
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        line, byte = error.object[: error.start].count(b"\n") + 1, f"0x{error.object[error.start]:02x}"
        raise DataError(
            f"{name_of(path)}, line {line}: found the byte {byte}, which is not UTF-8; save the file as UTF-8."
        ) from error


def read_scene(text: str, where: str, *, ours: bool = False) -> Scene:
    """Read a scene.

    Args:
        text: The YAML.
        where: What messages call it.
        ours: Whether the file ships with storyproof; its frames have been checked, and are not checked again.

    Raises:
        DataError: If it is not as expected; the message says where, and what to do.
    """
    lists: dict[str, list[tuple[str, str, int]]] = {part: [] for part in PARTS}
    for part, relations, line, sentence in _sentences(text, where, ours):
        if not sentence.endswith("."):
            raise DataError(f"{where}, line {line}: '{sentence}' has no full stop at its end; add it.")
        if (other := next((each for each in lists[part] if each[0] == sentence), None)) is not None:
            raise DataError(f"{where}, line {line}: '{sentence}' stands in line {other[2]} too; leave one out.")
        lists[part].append((sentence, relations, line))
    words, frames, passages = our_frames().words, [], []
    for part in (BEGIN, THEN):
        if not lists[part]:
            raise DataError(f"{where} has no list {part}; expected {_EXPECTED}.")
        for sentence, names, line in lists[part]:
            try:
                if "," in names:
                    several = tuple(_relations(each.strip()) for each in names.split(","))
                    passages.append(make_passage(part, sentence, several, words))
                    if not ours:
                        check_passage(passages[-1])
                    continue
                made = make_frames(part, sentence, _relations(names), words)
                for frame in made if not ours else ():
                    check_frame(frame)
            except DataError as error:
                raise DataError(f"{where}, line {line}: {error}") from error
            frames += made
    texts: dict[str, list[str]] = {OPENERS: [], CLOSERS: []}
    for part, every in texts.items():
        for sentence, _, line in lists[part]:
            try:
                for each in variants(sentence, words):
                    every.append(each)
                    if not ours:
                        check_no_fact(each)
            except DataError as error:
                raise DataError(f"{where}, line {line}: {error}") from error
    return Scene(Path(where).stem, tuple(texts[OPENERS]), tuple(texts[CLOSERS]), tuple(frames), tuple(passages))


def _sentences(text: str, where: str, ours: bool) -> Iterator[tuple[str, str, int, str]]:
    """Yield the sentences of a scene: in which list each is, for which relations, its line and its text."""
    import yaml

    try:
        root = yaml.compose(text, Loader=shipped_loader()) if ours else compose_yaml(text)
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise DataError(f"{where}{line}: not valid YAML: {error}; expected {_EXPECTED}.") from error
    for part, value in _entries(root, where, _EXPECTED):
        if part not in PARTS:
            raise DataError(f"{where}, line {_line(value)}: '{part}' is unknown; expected {_EXPECTED}.")
        groups = _entries(value, where, "relations, or any") if part in (BEGIN, THEN) else [(ANY, value)]
        for relations, sentences in groups:
            if not isinstance(sentences, yaml.SequenceNode):
                raise DataError(
                    f"{where}, line {_line(sentences)}: expected a list of sentences; put '- ' before each."
                )
            for node in sentences.value:
                if not isinstance(node.value, str) or not node.value.strip():
                    raise DataError(
                        f"{where}, line {_line(node)}: expected a sentence; write it in one line, after '- '."
                    )
                yield part, relations, _line(node), " ".join(node.value.split())


def _entries(node: Any, where: str, expected: str) -> list[tuple[str, Any]]:
    """Return the keys of a mapping with their values."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise DataError(f"{where}, line {_line(node) if node else 1}: found something else than {expected}.")
    entries = [(str(key.value), value) for key, value in node.value]
    for number, (name, value) in enumerate(entries):
        if name in [earlier for earlier, _ in entries[:number]]:
            raise DataError(f"{where}, line {_line(value)}: there is '{name}' already; put both into one list.")
    return entries


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _relations(names: str) -> frozenset[str]:
    relations = EVERY_RELATION if names == ANY else frozenset(names.split())
    if unknown := relations - EVERY_RELATION:
        raise DataError(f"the relation '{min(unknown)}' is unknown; expected some of {', '.join([ANY, *NAMES])}.")
    return relations


# ------------------------------------------------------------------------------------------------------------- checking


def sample(frame: Frame, relation: str, genders: tuple[str, str], words: Sequence[str], *, clear: bool) -> str:
    """Return a frame's text for two people, Omar or Leila and Bertil or Freya.

    Args:
        frame: The frame.
        relation: What the second is to the first.
        genders: Theirs.
        words: Words for its choices.
        clear: Whether pronouns stand where they can mean one person, instead of names.
    """
    text = frame.unmarked_body
    for number, each in enumerate(words):
        text = text.replace(f"{{word {number}}}", each)
    forms = {"kin": word(relation, genders[1])}
    for person, place, gender in (("A", 0, genders[0]), ("B", 1, genders[1])):
        name, (he, his, him) = _SAMPLE[gender][place], _SAMPLE[gender][2:]
        pronouns = {"he": he, "him": him, "He": he.capitalize(), "his": his, "His": his.capitalize()}
        forms[person] = name
        forms |= {f"{person}.{form}": pronoun for form, pronoun in pronouns.items()}
        forms |= {f"{person} or {form}": pronouns[form] if clear else name for form in ("he", "him", "He")}
        forms[f"{person}'s"] = his if clear else f"{name}'s"
    for slot, value in forms.items():
        text = text.replace(f"{{{slot}}}", value)
    return text


def choices(frame: Frame) -> Iterator[list[str]]:
    """Yield words for the choices of a frame: the first ones, and each of the others beside the first ones."""
    first = [each[0] for each in frame.words]
    yield first
    for number, listed in enumerate(frame.words):
        for another in dict.fromkeys(listed[1:]):
            yield [*first[:number], another, *first[number + 1 :]]


def cases(frame: Frame) -> list[tuple[str, tuple[str, str], bool]]:
    """Return for which relations and genders a frame is used, and whether pronouns can be clear."""
    return [
        (relation, (one, other), clear)
        for relation, one, other in itertools.product(sorted(frame.relations), GENDERS, GENDERS)
        if relation != "SO" or one != other
        for clear in ((True, False) if one != other else (False,))
    ]


def check_frame(frame: Frame, part: slice = _ALL) -> None:
    """Check that a frame states its fact and no other, whatever its words and its people, and leaves pronouns clear.

    Args:
        frame: The frame.
        part: With which of its relations and genders.

    Raises:
        DataError: If the reader finds something else, or does not understand it.
    """
    frame.parts()
    every = cases(frame)[part]
    for number, listed in enumerate(choices(frame)):
        for relation, genders, clear in every if number == 0 else [every[number % len(every)]]:
            text = sample(frame, relation, genders, listed, clear=clear)
            owner, relative = _SAMPLE[genders[0]][0], _SAMPLE[genders[1]][1]
            expected = {(owner, word(relation, genders[1]), relative)}
            # Both are somewhere before, so that the frame may not place them, or say what they do for long.
            story, names = f"{relative} was in the kitchen.\n{owner} was in the kitchen.\n{text}", [owner, relative]
            if genders[0] != genders[1] and any(frame.ends_with):  # no third person may be meant
                who = 0 if frame.ends_with[0] else 1
                story += f"\n{_SAMPLE[genders[who]][3].capitalize()} aunt Nora sang."
                names.append("Nora")
                expected |= {((owner, relative)[who], "aunt", "Nora")}
            if _facts(story, *names) != expected:
                raise DataError(f"'{text}' does not state its fact, or states another; use other words.")


def passage_text(
    passage: Passage, kins: Sequence[str], people: Sequence[tuple[str, str]], words: Sequence[str], *, clear: bool
) -> str:
    """Return a passage's text.

    Args:
        passage: The passage.
        kins: What its facts say.
        people: The names and genders of its people.
        words: Words for its choices.
        clear: Whether the sentence before it tells of nobody who could be meant.
    """
    text = ""
    for part in passage.parts:
        if isinstance(part, str):
            text += part
            continue
        kind, number, bits = part
        if kind == "Mom":
            text += ADDRESS[kins[0]]
            continue
        if kind in ("kin", "word"):
            text += (kins if kind == "kin" else words)[number]
            continue
        name, gender = people[number]
        others = [other for other in range(len(people)) if other != number and bits & pronoun_bit(number, other)]
        bound = all(people[other][1] != gender for other in others) and (clear or not bits & pronoun_bit(number))
        form = kind.removeprefix("or ")
        if kind in ("", "Who") or (kind.startswith("or ") and not bound):
            text += f"{name}'s" if form in ("his", "His") else name
        else:
            he, his, him = _SAMPLE[gender][2:]
            pronoun = {"he": he, "his": his, "him": him}[form.lower()]
            text += pronoun.capitalize() if form[0] == "H" else pronoun
    return f"{text}."


_NAMES = {MALE: ("Omar", "Bertil", "Samir", "Nils"), FEMALE: ("Leila", "Freya", "Nora", "Ama")}


def passage_cases(
    passage: Passage, most: int
) -> Iterator[tuple[list[str], list[tuple[str, str]], set[tuple[str, str, str]]]]:
    """Yield kin words, people and facts with which a passage may be used, as far as one family can have them.

    Args:
        passage: The passage.
        most: How many are tried at most, evenly chosen.
    """
    count = len(passage.relations) + 1
    cases = [
        (genders, relations)
        for genders in itertools.product(GENDERS, repeat=count)
        if not any(
            genders[one] == genders[other] and passage.forbidden & pronoun_bit(one, other)
            for one, other in itertools.combinations(range(count), 2)
        )
        for relations in itertools.product(*map(sorted, passage.relations))
        if passage.may_say(relations, genders[1:])
    ]
    for genders, relations in cases[:: len(cases) // most + 1]:
        people = [(_NAMES[gender][place], gender) for place, gender in enumerate(genders)]
        kins = [word(relation, genders[place + 1]) for place, relation in enumerate(relations)]
        facts = {
            (people[owner][0], kin, people[place + 1][0])
            for place, (owner, kin) in enumerate(zip(passage.owners, kins, strict=True))
        }
        if _is_possible(" ".join(f"{third} is {first}'s {kin}." for first, kin, third in sorted(facts)), people[0]):
            yield kins, people, facts


def _is_possible(plain: str, owner: tuple[str, str]) -> bool:
    """Return whether one family can have some facts, of people of whom the first has this gender."""
    he = _SAMPLE[owner[1]][2].capitalize()
    names = sorted({each for listed in _NAMES.values() for each in listed})
    try:
        _facts(f"{owner[0]} sang.\n{he} danced.\n{plain}", *names)
    except DataError:
        return False
    return True


def check_passage(passage: Passage, *, most: int = 1000) -> None:
    """Check that a passage states its facts and no others, whatever its words and its people.

    Args:
        passage: The passage.
        most: In how many of its cases about, evenly chosen.

    Raises:
        DataError: If the reader finds something else, or does not understand it.
    """
    texts = itertools.cycle(itertools.product(*passage.words))
    for kins, people, facts in passage_cases(passage, most):
        for clear in (True, False) if not passage.forbidden & pronoun_bit(0) else (True,):
            text = passage_text(passage, kins, people, next(texts), clear=clear)
            # All are somewhere before, so that the passage may not place them, or say what they do for long.
            before = "".join(f"{name} was in the kitchen.\n" for name, _ in reversed(people))
            last = [person for person, there in zip(people, passage.ends_with, strict=False) if there]
            names, expected = [name for name, _ in people], set(facts)
            for name, gender in last:
                if [each for _, each in last].count(gender) == 1:  # no person without a name may be meant
                    text += f"\n{_SAMPLE[gender][3].capitalize()} aunt Vera sang."
                    names.append("Vera")
                    expected.add((name, "aunt", "Vera"))
                    break
            if _facts(before + text, *names) != expected:
                raise DataError(f"'{text}' does not state its facts, or states others; use other words.")


def check_no_fact(sentence: str) -> None:
    """Check that a sentence states nothing about people.

    Raises:
        DataError: If it does, or is not understood.
    """
    if _facts(f"{sentence}\nLeila's brother Bertil sang.", "Leila", "Bertil") != {("Leila", "brother", "Bertil")}:
        raise DataError(f"'{sentence}' states a relation; use other words.")


def _facts(text: str, *names: str) -> set[tuple[str, str, str]]:
    """Return the facts that a text states.

    Raises:
        DataError: If the reader does not understand it.
    """
    from storyproof.families.kinship.language.reader import NotUnderstood, read  # takes a while

    try:
        return {(fact.first, fact.word, fact.second) for fact in read(text, names).facts}
    except NotUnderstood as error:
        sentence = text.split("\n")[error.line - 1]
        raise DataError(
            f"'{sentence}' is not understood at '{error.words}': {error.reason}; use other words."
        ) from error
