"""Scenes: what is going on in a story, without a word about who is what to whom.

A scene is a YAML file with five lists of phrases. Verbs have their four forms in front of a bar, so that no grammar has
to guess them: `carry carried carrying carried | [a tray of cups] across the grass`. What stands in brackets can become
the subject of a passive sentence, `[…]+` in the plural. `{}` is the place of another person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from storyproof.errors import DataError
from storyproof.generation.seeds import digest
from storyproof.io.bounded_input import FOLDER, DocumentError, compose_yaml, kind_of, name_of, read_text, shipped_loader

PARTS = ("openers", "moments", "places", "alone", "together")
_EXPECTED = f"the lists {', '.join(PARTS)}, each with phrases"
_FORMS = 4
_OBJECT = re.compile(r"\[([^\[\]]+)\](\+?)")
_WORD = re.compile(r"[^\W\d_]+")
_KIN_COMPOUND = re.compile(r"(?:great)?grand(?!stand|eur)|step(?:child|parent|sib|[a-z]*er$)")
_SLOT = re.compile(r"\{[^{}]*\}")
_IN_LAW = re.compile(r"\bin-laws?\b", re.IGNORECASE)
_MARKS = {"alone": r"[\[\]+|]", "together": r"[{}|]"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that would say or suggest who is related to whom, or bring in people of whom the story says nothing.
KIN = _words("""
    father mother son daughter brother sister husband wife uncle aunt nephew niece cousin parent child children kid
    baby twin triplet sibling spouse bride groom widow widower orphan heir ancestor descendant family relative relation
    kin dad daddy mum mummy mom mommy papa mama grandpa grandma granddad granny nan auntie sis bro stepfather stepmother
    stepson stepdaughter stepbrother stepsister godfather godmother godson goddaughter fiance fiancee couple wedding
    marriage married marry divorce divorced engaged birthday anniversary christening heirloom toddler teenager
    wives babies families newlywed honeymoon motherly fatherly brotherly sisterly parental maternal paternal
""")
PEOPLE = _words("""
    man men woman women boy girl lady gentleman person people somebody someone anybody anyone everybody everyone nobody
    ladies gentlemen friend neighbour guest visitor stranger colleague teacher doctor vicar driver waiter
""")
PRONOUNS = _words("""
    he him his himself she her hers herself they them their theirs themselves i me my we us our you your who whom whose
""")
# Words that would make what a sentence says unreal, past or a comparison.
UNREAL = _words("""
    not never no none nor if unless whether would could might may should like as than pretend pretended dream dreamed
    dreamt imagine imagined think thought believe believed wish wished hope hoped want wanted claim claimed say said
    tell told call called name named know knew remember remembered forget forgot seem seemed almost nearly perhaps maybe
    former late own half adopt adopted foster dead die died born
""")
# Words with which the reader takes another clause to begin, "for a while" among them.
CLAUSES = _words("while whilst whereas")


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that one person does, in its forms; `passive` is empty if there is none."""

    do: str
    did: str
    doing: str
    done: str
    passive: str


@dataclass(frozen=True, slots=True)
class Meeting:
    """Something done with another person, who stands between `met` or `meeting` and `rest`.

    `joint` is what the two of them did together ("unpacked the hamper"); empty if that cannot be said.
    """

    met: str
    meeting: str
    rest: str
    joint: str


@dataclass(frozen=True, slots=True)
class Scene:
    """What is going on.

    Attributes:
        name: The file's name.
        openers: Whole sentences that set the scene.
        moments: When something was done.
        places: Where something was done.
        alone: What one person does.
        together: What one person does with another.
    """

    name: str
    openers: tuple[str, ...]
    moments: tuple[str, ...]
    places: tuple[str, ...]
    alone: tuple[Deed, ...]
    together: tuple[Meeting, ...]


@dataclass(frozen=True)
class Scenes:
    """A collection of scenes, with a name for manifests and messages."""

    name: str
    scenes: tuple[Scene, ...]

    def split(self, *purpose: object) -> tuple[Scenes, Scenes]:
        """Return the scenes of training and those of test, a fifth of them."""
        order = sorted(self.scenes, key=lambda scene: digest(*purpose, "scene", scene.name))
        if len(order) < 2:
            raise DataError(f"{self.name} has one scene, but training and test need different ones; add another.")
        kept = max(1, len(order) // 5)
        return Scenes(self.name, tuple(order[kept:])), Scenes(self.name, tuple(order[:kept]))

    def share(self, kept: float, *purpose: object) -> Scenes:
        """Return a share of the scenes, one at least."""
        if kept == 1:
            return self
        order = sorted(self.scenes, key=lambda scene: digest(*purpose, "share", scene.name))
        return Scenes(self.name, tuple(order[: max(1, round(kept * len(order)))]))


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
        ours: Whether the file ships with storyproof; its words have been checked, and are not checked again.

    Raises:
        DataError: If it is not as expected; the message says where, and what to do.
    """
    lists: dict[str, list[tuple[int, str]]] = {}
    for name, line, phrases in _lists(text, where, ours):
        if name in lists:
            raise DataError(f"{where}, line {line}: there are {name} already; put all of them into one list.")
        lists[name] = phrases
    for part in PARTS:
        if not lists.get(part):
            raise DataError(f"{where} has no {part}; a scene needs {', '.join(PARTS)}, each a list of phrases.")
        seen: dict[str, int] = {}
        for line, phrase in lists[part] if not ours else ():
            if phrase in seen:
                raise DataError(f"{where}, line {line}: '{phrase}' stands in line {seen[phrase]} too; leave one out.")
            seen[phrase] = line
            _check_words(phrase, part, f"{where}, line {line}")
    return Scene(
        Path(where).stem,
        tuple(phrase for _, phrase in lists["openers"]),
        tuple(phrase for _, phrase in lists["moments"]),
        tuple(phrase for _, phrase in lists["places"]),
        tuple(_deed(phrase, f"{where}, line {line}") for line, phrase in lists["alone"]),
        tuple(_meeting(phrase, f"{where}, line {line}") for line, phrase in lists["together"]),
    )


def _lists(text: str, where: str, ours: bool) -> Iterator[tuple[str, int, list[tuple[int, str]]]]:
    """Yield the lists of a scene: the name, its line, and each phrase with its line."""
    import yaml

    try:
        root = yaml.compose(text, Loader=shipped_loader()) if ours else compose_yaml(text)
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise DataError(f"{where}{line}: not valid YAML: {error}; expected {_EXPECTED}.") from error
    if not isinstance(root, yaml.MappingNode):
        raise DataError(f"{where}, line 1: found something else than {_EXPECTED}.")
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not isinstance(key.value, str) or key.value not in PARTS:
            raise DataError(f"{where}, line {line}: '{key.value}' is unknown; a scene has {', '.join(PARTS)}.")
        if not isinstance(value, yaml.SequenceNode):
            raise DataError(f"{where}, line {line}: expected a list under {key.value}; put '- ' before each phrase.")
        yield key.value, line, list(_phrases(value.value, where))


def _phrases(nodes: Iterable[Any], where: str) -> Iterator[tuple[int, str]]:
    for node in nodes:
        line = node.start_mark.line + 1
        if not isinstance(node.value, str) or not node.value.strip():
            raise DataError(f"{where}, line {line}: expected a phrase; write it in one line, after '- '.")
        yield line, " ".join(node.value.split())


def _check_words(phrase: str, part: str, where: str) -> None:
    """Refuse words that a scene must not have."""
    said = phrase
    for slot in _SLOT.findall(phrase):
        if part != "together" or slot != "{}":
            use = "write {} for the other person" if part == "together" else "leave it out"
            raise DataError(f"{where}: '{said}' has the slot {slot}, which {part} do not have; {use}.")
    if in_law := _IN_LAW.search(phrase):
        raise DataError(f"{where}: '{in_law[0]}' says who is related to whom, which only the facts of a story may.")
    for word in _WORD.findall(phrase):
        low = word.lower()
        if low in KIN or (low.endswith("s") and low[:-1] in KIN) or _KIN_COMPOUND.match(low):
            raise DataError(
                f"{where}: '{word}' says or suggests who is related to whom, which only the facts of a story may; "
                "use another word."
            )
        if low in PEOPLE or low in PRONOUNS or low.removesuffix("s") in PEOPLE:
            raise DataError(f"{where}: '{word}' brings in a person whom the story does not name; use another word.")
        if low in UNREAL:
            raise DataError(f"{where}: '{word}' can make a fact beside it unreal or a comparison; use another word.")
        if low in CLAUSES and part != "openers":
            raise DataError(f"{where}: '{word}' reads as the beginning of another clause; use another word.")
    if part == "openers":
        if not phrase.endswith(".") or not phrase[0].isupper() or "." in phrase[:-1]:
            raise DataError(f"{where}: '{said}' is not a sentence; begin with a capital and end with a full stop.")
        phrase = phrase[1:]
    if any(letter.isupper() or letter.isdigit() for letter in phrase):
        raise DataError(f"{where}: '{said}' has a capital or a digit, which readers take for a name; write it small.")
    if part != "openers" and re.search(r"[.;:!?\"]", phrase):
        raise DataError(f"{where}: '{said}' has punctuation that ends a clause; leave it out.")
    if rest := re.sub(_MARKS.get(part, r"(?!)"), "", re.sub(r"[\w\s,.'-]", "", phrase)):
        raise DataError(f"{where}: '{said}' has '{rest[0]}', which is not a slot or mark of {part}; leave it out.")


def is_phrase(phrase: str, part: str) -> bool:
    """Return whether a text can be a phrase of a list of scenes: nothing in it is about people or kin."""
    try:
        _check_words(phrase, part, "")
        if part in _VERBAL:
            _VERBAL[part](phrase, "")
    except DataError:
        return False
    return part != "openers" or len(phrase.split()) > 2


def _forms(phrase: str, where: str) -> tuple[list[str], str]:
    """Return the forms of a verb and the rest of its phrase."""
    verb, bar, rest = phrase.partition("|")
    forms = verb.split()
    if not bar or len(forms) != _FORMS or not forms[2].endswith("ing"):
        raise DataError(
            f"{where}: '{phrase}' has no verb in its four forms; write base, past, -ing and participle before a bar, "
            "such as 'carry carried carrying carried | [a tray]'."
        )
    return forms, rest.strip()


def _deed(phrase: str, where: str) -> Deed:
    (do, did, doing, done), rest = _forms(phrase, where)
    match = _OBJECT.search(rest)
    before, thing, after = (rest[: match.start()], match[1], rest[match.end() :]) if match else (rest, "", "")
    if _OBJECT.search(after) or (before + after).strip("[]+") != before + after or (match and not thing.strip()):
        raise DataError(f"{where}: '{phrase}' has unpaired, empty or several brackets; put one object in brackets.")
    plain = " ".join(f"{before}{thing}{after}".split())
    passive = ""
    if match:
        thing = thing.strip()
        verb = "were" if match[2] else "was"
        passive = " ".join([thing[0].upper() + thing[1:], verb, done, *before.split(), *after.split()])
    do, did, doing, done = (f"{form} {plain}".strip() for form in (do, did, doing, done))
    return Deed(do, did, doing, done, passive)


def _meeting(phrase: str, where: str) -> Meeting:
    (_, met, meeting, _), rest = _forms(phrase, where)
    if rest.count("{}") != 1 or "{" in rest.replace("{}", "") or "}" in rest.replace("{}", ""):
        raise DataError(f"{where}: '{phrase}' needs the other person once; write {{}} where the person stands.")
    before, after = (part.strip() for part in rest.split("{}"))
    # Only "with" says that both do it; what is done "for", "to" or "beside" somebody is done by one.
    alone = before.removesuffix("with").strip() if f" {before}".endswith(" with") else None
    joint = "" if alone is None else " ".join([met, *alone.split(), *after.split()])
    return Meeting(f"{met} {before}".strip(), f"{meeting} {before}".strip(), f" {after}" if after else "", joint)


_VERBAL = {"alone": _deed, "together": _meeting}
