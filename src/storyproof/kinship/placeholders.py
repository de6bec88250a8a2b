"""Placeholders: texts that tell one, two or three kinship facts, with slots for the people.

The slot `ENT_1_female` stands for person 1, a woman; in a text for the words ("son", "wife") person 1 is person 0's son
and person 2 is person 1's wife. The collection that ships with storyproof is written once for all genders: `{0}` is a
name, and `{1.his}` is *his* or *her* as person 1 needs it. Other collections come as JSON files in the form that CLUTRR
was published in: `{"son-wife": {"male-male-female": ["ENT_0_male …", …]}}`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from storyproof.errors import ConfigError, DataError
from storyproof.kinship.relations import (
    BASIC,
    FEMALE,
    GENDERS,
    MALE,
    NAMES,
    PREDICATES,
    WORDS,
    gender_of,
    predicate_of,
    word,
)
from storyproof.seeds import Draws

Key = tuple[tuple[str, ...], tuple[str, ...]]  # relation words, and the genders of all people

TEST_SHARE = 0.2
MOST_FACTS = 3
_FILE = "placeholders.yaml"
_FORMS = {
    "he": "she", "him": "her", "his": "her", "himself": "herself", "dad": "mom", "grandpa": "grandma", "boy": "girl",
    "man": "woman", "gentleman": "lady", "groom": "bride", "host": "hostess",
    **{predicate.male: predicate.female for predicate in PREDICATES},
}  # fmt: skip
_FIELD = re.compile(r"\{(?P<person>\d+)(?:\.(?P<word>[A-Za-z-]+))?\}")
_NAME = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_TYPOS = {"neice": "niece"}
_WORD = "|".join(sorted([*WORDS, *_TYPOS], key=len, reverse=True))
_RELATIONS = re.compile(rf"(?:{_WORD})(?:-(?:{_WORD}))*")


@dataclass(frozen=True)
class Placeholders:
    """A collection of texts.

    Attributes:
        name: storyproof for the one that ships with it, the name of the file for others.
        templates: The texts for each combination of relation words and genders; none is empty.
        aligned: Whether the texts for other genders of the same predicates are the same texts, in the same order.
    """

    name: str
    templates: Mapping[Key, tuple[str, ...]]
    aligned: bool = False

    @property
    def count(self) -> int:
        """How many texts there are."""
        return sum(map(len, self.templates.values()))

    def share(self, fraction: float, *purpose: object) -> Placeholders:
        """Keep a random part of each list, at least one text; a smaller part for the same purpose is part of a larger.

        Raises:
            ConfigError: If the fraction is not above 0 and at most 1.
        """
        if not 0 < fraction <= 1:
            raise ConfigError(f"a share of {fraction} placeholders was asked for; give a number above 0 and at most 1.")
        orders = self._orders("share", *purpose)
        kept = {
            key: set(order[: max(1, math.ceil(fraction * len(order) - 1e-9))])  # 0.7 * 10 is more than 7
            for key, order in orders.items()
        }
        return self._keep(kept)

    def split(self, *purpose: object) -> tuple[Placeholders, Placeholders]:
        """Divide each list at random into train and test, about 4 to 1 and at least one text each.

        A single text for two or three facts goes to train, because test can tell those facts one by one.

        Raises:
            ConfigError: If there is only one text for a single fact.
        """
        train: dict[Key, set[int]] = {}
        test: dict[Key, set[int]] = {}
        for key, order in self._orders("split", *purpose).items():
            if len(order) == 1 and len(key[0]) == 1:
                raise ConfigError(
                    f"{self.name} has only one placeholder for {_show(key)}; train and test need one each; add another."
                )
            count = max(1, round(len(order) * TEST_SHARE)) if len(order) > 1 else 0
            train[key], test[key] = set(order[count:]), set(order[:count])
        return self._keep(train), self._keep(test)

    def without(self, bad: Collection[tuple[Key, int]]) -> Placeholders:
        """Leave out texts by key and number; from an aligned collection, for all genders."""
        names = {(self._group(key), number) for key, number in bad}
        return self._keep(
            {
                key: {number for number in range(len(texts)) if (self._group(key), number) not in names}
                for key, texts in self.templates.items()
            }
        )

    def _group(self, key: Key) -> Sequence[object]:
        return tuple(predicate_of(word) for word in key[0]) if self.aligned else key

    def _orders(self, *purpose: object) -> dict[Key, list[int]]:
        """Draw an order for each list: the same for all genders where the lists are of one length."""
        lengths: dict[tuple[str, ...], set[int]] = {}
        for (words, _), texts in self.templates.items():
            lengths.setdefault(tuple(map(predicate_of, words)), set()).add(len(texts))
        orders = {}
        for (words, genders), texts in self.templates.items():
            predicates = tuple(map(predicate_of, words))
            group = (predicates,) if len(lengths[predicates]) == 1 else (words, genders)
            orders[words, genders] = Draws("placeholders", *purpose, *group).order(len(texts)).tolist()
        return orders

    def _keep(self, numbers: Mapping[Key, Collection[int]]) -> Placeholders:
        kept = {
            key: tuple(text for number, text in enumerate(texts) if number in numbers[key])
            for key, texts in self.templates.items()
        }
        return replace(self, templates={key: texts for key, texts in kept.items() if texts})


def missing(placeholders: Placeholders, predicates: Sequence[str] = BASIC) -> list[Key]:
    """Give the single facts that cannot be told, of those that stories need."""
    return [
        key
        for predicate in predicates
        for genders in _all_genders((predicate,))
        if not placeholders.templates.get(key := ((word(predicate, genders[1]),), genders))
    ]


def require_singles(placeholders: Placeholders, predicates: Sequence[str] = BASIC) -> None:
    """Raise ConfigError unless every single fact that stories need can be told."""
    lacking = missing(placeholders, predicates)
    if lacking:
        more = f" (and for {len(lacking) - 1} others)" if len(lacking) > 1 else ""
        raise ConfigError(
            f"{placeholders.name} has no placeholder for {_show(lacking[0])}{more}; "
            "every fact must be tellable on its own, so add at least one."
        )


def _show(key: Key) -> str:
    return f"'{'-'.join(key[0])}' with genders {'-'.join(key[1])}"


# ------------------------------------------------------------------------------------------------- the one that ships


def ours() -> Placeholders:
    """Give the collection that ships with storyproof."""
    return _shipped()[0]


def our_names() -> Mapping[str, tuple[str, ...]]:
    """Give first names by gender."""
    return _shipped()[1]


@cache
def _shipped() -> tuple[Placeholders, dict[str, tuple[str, ...]]]:
    return read_collection(files("storyproof.kinship").joinpath(_FILE).read_text(encoding="utf-8"), _FILE)


def read_collection(text: str, where: str) -> tuple[Placeholders, dict[str, tuple[str, ...]]]:
    """Read a collection that is written for all genders at once.

    Args:
        text: YAML with `names` by gender and `templates` by predicates.
        where: What to call it in messages.

    Returns:
        The texts for all genders, and the names.

    Raises:
        DataError: If anything is not as expected; the message says where.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        line = f", line {place.line + 1}" if place else ""
        raise DataError(f"{where}{line}: not valid YAML: {getattr(error, 'problem', error)}.") from error
    if not isinstance(data, dict) or set(data) != {"names", "templates"}:
        raise DataError(f"{where}: expected 'names' and 'templates', found {_kind(data)}.")
    if not isinstance(data["templates"], dict):
        raise DataError(f"{where}: expected lists of texts by predicates, found {_kind(data['templates'])}.")
    found: dict[Key, tuple[str, ...]] = {}
    for combination, texts in data["templates"].items():
        found.update(_expand_list(combination, texts, f"{where}: '{combination}'"))
    return Placeholders("storyproof", found, aligned=True), _read_names(data["names"], where)


def _expand_list(combination: Any, texts: Any, where: str) -> dict[Key, tuple[str, ...]]:
    predicates = tuple(str(combination).split(" "))
    if not 1 <= len(predicates) <= MOST_FACTS or not set(predicates) <= set(NAMES):
        raise DataError(f"{where}: expected one to three of {', '.join(NAMES)}, separated by single spaces.")
    _check_texts(texts, where)
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise DataError(f"{where}: a text stands there twice: {twice!r}.")
    found: dict[Key, tuple[str, ...]] = {}
    for genders in _all_genders(predicates):
        words = tuple(word(predicate, gender) for predicate, gender in zip(predicates, genders[1:], strict=True))
        found[words, genders] = tuple(
            expand(text, genders, f"{where}, number {number}") for number, text in enumerate(texts, start=1)
        )
    return found


def expand(text: str, genders: Sequence[str], where: str = "placeholder") -> str:
    """Put a text that is written for all genders into the form for these.

    Raises:
        DataError: If a field is not understood; the message begins with `where`.
    """

    def fill(field: re.Match[str]) -> str:
        person = int(field["person"])
        if person >= len(genders):
            raise DataError(f"{where}: {field[0]} is of a person beyond the last, {len(genders) - 1}: {text!r}.")
        form = field["word"]
        if form is None:
            return f"ENT_{person}_{genders[person]}"
        if form not in _FORMS and form[0].lower() + form[1:] not in _FORMS:
            raise DataError(f"{where}: unknown word in {field[0]}; expected one of {', '.join(_FORMS)}: {text!r}.")
        if genders[person] == MALE:
            return form
        female = _FORMS[form.lower()]
        return female.capitalize() if form[0].isupper() else female

    if set("{}") & set(_FIELD.sub("", text)):
        raise DataError(f"{where}: a brace outside of fields such as {{0}} and {{1.his}}: {text!r}.")
    return _FIELD.sub(fill, text)


def _all_genders(predicates: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Give all combinations of genders; spouses are of opposite gender."""
    for genders in product(GENDERS, repeat=len(predicates) + 1):
        pairs = zip(predicates, genders, genders[1:], strict=False)
        if not any(predicate == "SO" and one == other for predicate, one, other in pairs):
            yield genders


def _read_names(data: Any, where: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(data, dict) or set(data) != set(GENDERS):
        raise DataError(f"{where}: 'names': expected the lists {MALE} and {FEMALE}, found {_kind(data)}.")
    seen: set[str] = set()
    for gender in GENDERS:
        _check_texts(data[gender], f"{where}: 'names', '{gender}'")
        for name in data[gender]:
            if not _NAME.fullmatch(name) or name in seen:
                raise DataError(f"{where}: 'names', '{gender}': {name!r} is no single word, or stands there twice.")
            seen.add(name)
    return {gender: tuple(data[gender]) for gender in GENDERS}


def _check_texts(texts: Any, where: str) -> None:
    if not isinstance(texts, list):
        raise DataError(f"{where}: expected a list of texts, found {_kind(texts)}.")
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"{where}, number {number}: expected a text, found {text!r}.")


def _kind(data: Any) -> str:
    return f"{', '.join(map(repr, data)) or 'nothing'}" if isinstance(data, dict) else type(data).__name__


# --------------------------------------------------------------------------------------------------- published files


def load_placeholders(path: str | Path) -> Placeholders:
    """Read a collection in the published form; texts that stand twice in a list are kept once.

    Raises:
        DataError: If the file cannot be read or is not of that form; the message says where.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the placeholders {path}: {error}.") from error
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}.") from error
    if not isinstance(data, dict):
        raise DataError(f"{path}: expected lists by relations and genders, found {_kind(data)}.")
    found: dict[Key, tuple[str, ...]] = {}
    for relations, by_gender in data.items():
        if not isinstance(by_gender, dict):
            raise DataError(f"{path}: '{relations}': expected lists by genders, found {_kind(by_gender)}.")
        for genders, texts in by_gender.items():
            where = f"{path}: '{relations}', '{genders}'"
            key = _read_key(relations, genders, where)
            _check_texts(texts, where)
            if texts:
                found[key] = tuple(dict.fromkeys([*found.get(key, ()), *texts]))
    return Placeholders(Path(path).name, found)


def _read_key(relations: str, genders: str, where: str) -> Key:
    if not _RELATIONS.fullmatch(relations):
        raise DataError(f"{where}: '{relations}' is not made of the words {', '.join(WORDS)}, joined by '-'.")
    words = tuple(_TYPOS.get(found, found) for found in re.findall(_WORD, relations))
    people = tuple(genders.split("-"))
    if len(people) != len(words) + 1 or not set(people) <= set(GENDERS):
        raise DataError(f"{where}: expected {len(words) + 1} genders, each {MALE} or {FEMALE}, joined by '-'.")
    for number, found in enumerate(words, start=1):
        if gender_of(found) != people[number]:
            raise DataError(f"{where}: a {found} is {gender_of(found)}, but person {number} is {people[number]}.")
    return words, people
