"""Files of placeholders: the shipped collection, and collections of users.

The shipped one is written once for all genders: `{0}` is a name, `{1.his}` is *his* or *her* according to person 1.
Others are JSON files in the form in which CLUTRR was published:
`{"son-wife": {"male-male-female": ["ENT_0_male …", …]}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from storyproof.errors import QUOTED, DataError, quoted
from storyproof.families.kinship.placeholders.collection import MOST_FACTS, Key, Placeholders, all_genders
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, NAMES, PREDICATES, WORDS, gender_of, word
from storyproof.io.bounded_input import (
    DocumentError,
    name_of,
    open_text,
    parse_json,
    parse_shipped,
    parse_yaml,
    read_bytes,
)

_FORMS = {
    "he": "she", "him": "her", "his": "her", "himself": "herself", "dad": "mom", "grandpa": "grandma", "boy": "girl",
    "man": "woman", "gentleman": "lady", "groom": "bride", "host": "hostess",
    **{predicate.male: predicate.female for predicate in PREDICATES},
}  # fmt: skip
_FIELD = re.compile(r"\{(?P<person>\d{1,3})(?:\.(?P<word>[A-Za-z-]+))?\}")
_SHIPPED = "placeholders.yaml"
_TYPOS = {"neice": "niece"}
_WORD = "|".join(sorted([*WORDS, *_TYPOS], key=len, reverse=True))
_RELATIONS = re.compile(rf"(?:{_WORD})(?:-(?:{_WORD}))*")
_BEGINNING = re.compile(rf'\s*\{{\s*(?:\}}|"(?:{_WORD})[^"]*"\s*:|"[^"]*"\s*:\s*\{{\s*"(?:fe)?male)')


# -------------------------------------------------------------------------------------------- the shipped collection


@cache
def ours() -> Placeholders:
    """Return the collection that ships with storyproof."""
    text = files("storyproof.families.kinship.placeholders").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return read_collection(text, _SHIPPED, parse=parse_shipped)


def read_collection(text: str, where: str, *, parse: Callable[[str], Any] = parse_yaml) -> Placeholders:
    """Read a collection that is written for all genders at once.

    Args:
        text: YAML with lists of texts by predicates.
        where: What messages call it.
        parse: The parser of YAML.

    Raises:
        DataError: If anything is not as expected; the message says where.
    """
    try:
        data = parse(text)
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise DataError(f"{where}{line}: not valid YAML: {error}.") from error
    if not isinstance(data, dict):
        raise DataError(f"{where}: expected lists of texts by predicates, found {_kind(data)}.")
    collection: dict[Key, tuple[str, ...]] = {}
    for combination, texts in data.items():
        collection.update(_expand_list(combination, texts, f"{where}: {quoted(combination)}"))
    return Placeholders("storyproof", collection, aligned=True)


def _expand_list(combination: Any, texts: Any, where: str) -> dict[Key, tuple[str, ...]]:
    predicates = tuple(str(combination).split(" "))
    if not 1 <= len(predicates) <= MOST_FACTS or not set(predicates) <= set(NAMES):
        raise DataError(f"{where}: expected one to three of {', '.join(NAMES)}, separated by single spaces.")
    _check_texts(texts, where)
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise DataError(f"{where}: a text occurs twice: {quoted(twice)}.")
    expanded: dict[Key, tuple[str, ...]] = {}
    for genders in all_genders(predicates):
        words = tuple(word(predicate, gender) for predicate, gender in zip(predicates, genders[1:], strict=True))
        expanded[words, genders] = tuple(
            expand(text, genders, f"{where}, number {number}") for number, text in enumerate(texts, start=1)
        )
    return expanded


def expand(text: str, genders: Sequence[str], where: str = "placeholder") -> str:
    """Return the version for some genders of a text that is written for all.

    Raises:
        DataError: If a field is not valid; the message begins with `where`.
    """

    def fill(field: re.Match[str]) -> str:
        person = int(field["person"])
        if person >= len(genders):
            raise DataError(
                f"{where}: {field[0]} refers to a person beyond the last, {len(genders) - 1}: {quoted(text)}."
            )
        form = field["word"]
        if form is None:
            return f"ENT_{person}_{genders[person]}"
        if form not in _FORMS and form[0].lower() + form[1:] not in _FORMS:
            raise DataError(
                f"{where}: unknown word in {field[0]}; expected one of {', '.join(_FORMS)}: {quoted(text)}."
            )
        if genders[person] == MALE:
            return form
        female = _FORMS[form.lower()]
        return female.capitalize() if form[0].isupper() else female

    if set("{}") & set(_FIELD.sub("", text)):
        raise DataError(f"{where}: a brace outside of fields such as {{0}} and {{1.his}}: {quoted(text)}.")
    return _FIELD.sub(fill, text)


def _check_texts(texts: Any, where: str) -> None:
    if not isinstance(texts, list):
        raise DataError(f"{where}: expected a list of texts, found {_kind(texts)}.")
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"{where}, number {number}: expected a text, found {quoted(text)}.")


def _kind(data: Any) -> str:
    return ", ".join(map(quoted, data))[:QUOTED] or "nothing" if isinstance(data, dict) else type(data).__name__


# --------------------------------------------------------------------------------------------------- published files


def looks_like_placeholders(path: Path) -> bool:
    """Return whether a file begins as a collection of placeholders: an object by relations, with objects by genders."""
    try:
        with open_text(path, errors="replace") as file:
            beginning = file.read(1 << 16)
    except OSError:
        return False
    return _BEGINNING.match(beginning) is not None


def load_placeholders(path: str | Path) -> Placeholders:
    """Read a collection in the published form; texts that occur twice in a list are kept once.

    Raises:
        DataError: If the file cannot be read or is not in that form; the message says where.
    """
    try:
        data = parse_json(read_bytes(Path(path)))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the placeholders {path}: {error}.") from error
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise DataError(f"{path}{line}: not valid JSON: {error}.") from error
    if not isinstance(data, dict):
        raise DataError(f"{path}: expected lists by relations and genders, found {_kind(data)}.")
    collection: dict[Key, tuple[str, ...]] = {}
    for relations, by_gender in data.items():
        if not isinstance(by_gender, dict):
            raise DataError(f"{path}: {quoted(relations)}: expected lists by genders, found {_kind(by_gender)}.")
        for genders, texts in by_gender.items():
            where = f"{path}: {quoted(relations)}, {quoted(genders)}"
            key = _read_key(relations, genders, where)
            _check_texts(texts, where)
            if texts:
                collection[key] = tuple(dict.fromkeys([*collection.get(key, ()), *texts]))
    return Placeholders(name_of(Path(path).name), collection)


def _read_key(relations: str, genders: str, where: str) -> Key:
    if not _RELATIONS.fullmatch(relations):
        raise DataError(
            f"{where}: {quoted(relations)} does not consist of the words {', '.join(WORDS)}, joined by '-'."
        )
    words = tuple(_TYPOS.get(key_word, key_word) for key_word in re.findall(_WORD, relations))
    people = tuple(genders.split("-"))
    if len(people) != len(words) + 1 or not set(people) <= set(GENDERS):
        raise DataError(f"{where}: expected {len(words) + 1} genders, each {MALE} or {FEMALE}, joined by '-'.")
    for number, key_word in enumerate(words, start=1):
        if gender_of(key_word) != people[number]:
            raise DataError(f"{where}: a {key_word} is {gender_of(key_word)}, but person {number} is {people[number]}.")
    return words, people
