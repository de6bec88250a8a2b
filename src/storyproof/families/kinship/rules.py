"""Rules of composition: if Z is X's `first` and Y is Z's `second`, then Y is X's `head`.

There are three kinds of rule sets: `strict`, derived from the definition of a family; `published`, the paper's sixteen
rules; and rules from a file, for other kinship systems, which may also define relations.

The strict rules are derived by program. Every relation is a path from one person to another with four kinds of steps:
up to a parent, down to a child, to the spouse, to a sibling. Two relations in a row are their paths joined, and a path
can be shortened wherever the laws of a family say where two steps lead: a child's parent is oneself or one's spouse, a
spouse's child is one's own child, and so on. A composition is sound if all the paths to which it may reduce are cases
of one relation. Paths that lead back to their beginning are ignored, because the people of a story are distinct.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError, UnknownNameError, quoted
from storyproof.families.kinship.relations import BASIC, FEMALE, MALE, NAMES, PREDICATES, Predicate
from storyproof.io.bounded_input import LARGEST_YAML, DocumentError, parse_yaml, read_text

STRICT, PUBLISHED = "strict", "published"
READINGS = (STRICT, PUBLISHED)
NONE = -1
_MOST_RELATIONS = 100  # of a user's own; their numbers are int8


@dataclass(frozen=True)
class RuleSet:
    """A set of rules of composition.

    Attributes:
        name: strict, published, or the hash of a file.
        predicates: All relations that it knows.
        heads: The relation that follows from two relations in a row.
        stated: The relations that stories state.
        inverses: Whether a fact also implies what the first person is to the second.
    """

    name: str
    predicates: tuple[Predicate, ...]
    heads: Mapping[tuple[str, str], str]
    stated: tuple[str, ...]
    inverses: bool

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each predicate, by name."""
        return {predicate.name: number for number, predicate in enumerate(self.predicates)}

    @cached_property
    def table(self) -> npt.NDArray[np.int8]:
        """The head by numbers of predicates: [first, second], NONE where nothing follows."""
        table = np.full((len(self.predicates), len(self.predicates)), NONE, np.int8)
        for (first, second), head in self.heads.items():
            table[self.number[first], self.number[second]] = self.number[head]
        return table

    @cached_property
    def bodies(self) -> dict[str, list[tuple[str, str]]]:
        """How each relation can be stated in two facts; in a fixed order."""
        bodies: dict[str, list[tuple[str, str]]] = {}
        for body in sorted(self.heads):
            if set(body) <= set(self.stated):
                bodies.setdefault(self.heads[body], []).append(body)
        return bodies

    @property
    def targets(self) -> tuple[str, ...]:
        """The relations that can be asked for, in the order of the predicates."""
        heads = set(self.heads.values())
        return tuple(predicate.name for predicate in self.predicates if predicate.name in heads)

    def word(self, predicate: str, gender: str) -> str:
        """Return the word for a second person of this gender."""
        relation = self.predicates[self.number[predicate]]
        return relation.male if gender == MALE else relation.female

    @cached_property
    def by_word(self) -> dict[str, tuple[str, str]]:
        """Predicate and gender of each word."""
        return {
            word: (predicate.name, gender)
            for predicate in self.predicates
            for word, gender in ((predicate.male, MALE), (predicate.female, FEMALE))
        }


@cache
def strict_rules() -> RuleSet:
    """Return all compositions that are sound in every family."""
    return RuleSet(STRICT, PREDICATES, sound_compositions(), BASIC, inverses=True)


@cache
def published_rules() -> RuleSet:
    """Return the paper's rules, which use facts only in the direction in which they are stated."""
    text = (files("storyproof.families.kinship") / "published.yaml").read_text(encoding="utf-8")
    return _parse(text, "published.yaml", PUBLISHED)


def load_rules(path: str | Path) -> RuleSet:
    """Read a file of rules.

    Raises:
        DataError: If it cannot be read, or contains a rule that cannot be used; the message names the line.
    """
    try:
        text = read_text(Path(path), LARGEST_YAML)
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read the rules in {path}: {error}.") from error
    return _parse(text, str(path), f"rules-{hashlib.sha256(text.encode()).hexdigest()[:16]}")


def rules_of(reading: str) -> RuleSet:
    """Return the rules of a reading.

    Raises:
        UnknownNameError: If there is no such reading.
    """
    if reading not in READINGS:
        raise UnknownNameError("reading", reading, READINGS)
    return strict_rules() if reading == STRICT else published_rules()


def _parse(text: str, where: str, name: str) -> RuleSet:
    import yaml

    try:
        whole = parse_yaml(text)
        root = yaml.compose(text, yaml.SafeLoader)
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise DataError(f"{where}{line}: not valid YAML: {error}.") from error
    if not isinstance(whole, dict) or not isinstance(whole.get("rules"), list) or not whole["rules"]:
        raise DataError(f"{where}: expected 'rules:' with a list of 'head: [first, second]'.")
    for section in whole:
        if section not in ("rules", "stories", "relations"):
            raise DataError(f"{where}: unknown section {quoted(section)}; expected rules, stories and relations.")
    names = [key.value for key, _ in root.value]
    for key, _ in root.value:
        if names.count(key.value) > 1:
            raise DataError(f"{where}, line {key.start_mark.line + 1}: '{key.value}' occurs twice; keep one.")
    predicates = _relations(whole.get("relations"), where)
    relation_names = [predicate.name for predicate in predicates]
    stated = whole.get("stories", list(BASIC))
    if not isinstance(stated, list):
        raise DataError(f"{where}: 'stories' is {quoted(stated)}, expected a list of relations.")
    for relation in stated:
        _check_known(relation, relation_names, f"{where}: 'stories'")
    heads = _heads(list(_with_lines(root, whole["rules"])), relation_names, where)
    rules = RuleSet(name, predicates, {body: head for body, (head, _) in heads.items()}, tuple(stated), inverses=False)
    _check_reach(rules, heads, where)
    return rules


def _with_lines(root: Any, rules: list[Any]) -> Iterator[tuple[int, Any]]:
    """Yield each rule with its line; with that of the document if an alias or a merged mapping gives the rules."""
    listed = next((value.value for key, value in root.value if key.value == "rules"), ())
    nodes = listed if len(listed) == len(rules) else [root] * len(rules)
    for node, rule in zip(nodes, rules, strict=True):
        yield node.start_mark.line + 1, rule


def _relations(given: Any, where: str) -> tuple[Predicate, ...]:
    """Add the relations that a file defines, `name: [male word, female word, inverse]`, to the known ones."""
    if given is None:
        return PREDICATES
    form = "'name: [male word, female word, name of the inverse]'"
    if not isinstance(given, dict):
        raise DataError(f"{where}: 'relations' is {quoted(given)}, expected {form}.")
    if len(given) > _MOST_RELATIONS:
        raise DataError(f"{where}: 'relations' has {len(given):,} entries, expected at most {_MOST_RELATIONS}.")
    relations = {predicate.name: predicate for predicate in PREDICATES}
    for name, parts in given.items():
        if not isinstance(parts, list) or len(parts) != 3 or not all(isinstance(part, str) and part for part in parts):
            raise DataError(f"{where}: relation {quoted(name)} is {quoted(parts)}, expected {form}.")
        if name in relations:
            raise DataError(f"{where}: relation {quoted(name)} is already defined; use another name.")
        relations[str(name)] = Predicate(str(name), *parts)
    words = [word for predicate in relations.values() for word in (predicate.male, predicate.female)]
    for predicate in relations.values():
        _check_known(predicate.inverse, relations, f"{where}: the inverse of '{predicate.name}'")
        if words.count(predicate.male) + words.count(predicate.female) > 2:
            raise DataError(f"{where}: '{predicate.male}' or '{predicate.female}' is the word for two relations.")
    return tuple(relations.values())


def _heads(
    rules: list[tuple[int, Any]], relation_names: list[str], where: str
) -> dict[tuple[str, str], tuple[str, int]]:
    """Return head and line of each body."""
    heads: dict[tuple[str, str], tuple[str, int]] = {}
    for line, rule in rules:
        place = f"{where}, line {line}"
        if not isinstance(rule, dict) or len(rule) != 1:
            raise DataError(f"{place}: found {quoted(rule)}, expected 'head: [first, second]'.")
        ((head, body),) = rule.items()
        if not isinstance(body, list) or len(body) != 2:
            raise DataError(
                f"{place}: the body of {quoted(head)} is {quoted(body)}, expected two relations, [first, second]."
            )
        for relation in (head, *body):
            _check_known(relation, relation_names, place)
        first, second = body
        if (first, second) in heads:
            other, earlier = heads[first, second]
            raise DataError(
                f"{place}: [{first}, {second}] has the head '{head}', but '{other}' in line {earlier}; "
                "a body can have only one head."
            )
        heads[first, second] = head, line
    return heads


def _check_known(relation: Any, relation_names: Any, place: str) -> None:
    if not isinstance(relation, str) or relation not in relation_names:
        raise DataError(f"{place}: unknown relation {quoted(relation)}; known: {', '.join(relation_names)}.")


def _check_reach(rules: RuleSet, heads: dict[tuple[str, str], tuple[str, int]], where: str) -> None:
    """Refuse rules that can never be used: something in their body is neither stated nor concluded."""
    reached = set(rules.stated)
    while new := {head for body, head in rules.heads.items() if set(body) <= reached} - reached:
        reached |= new
    for body, (head, line) in heads.items():
        for relation in body:
            if relation not in reached:
                raise DataError(
                    f"{where}, line {line}: '{head}' cannot be concluded by this rule, because nothing yields "
                    f"'{relation}': stories do not state it, and no usable rule has it as its head."
                )


UP, DOWN, SPOUSE, SIBLING = "UDSB"
_PATHS = {
    "child": {"D"},
    "inv-child": {"U"},
    "SO": {"S"},
    "sibling": {"B"},
    "grand": {"DD"},
    "inv-grand": {"UU"},
    "un": {"BD"},
    "inv-un": {"UB"},
    "in-law": {"DS"},
    "inv-in-law": {"SU"},
    "sibling-in-law": {"SB", "BS"},
}
_LAWS = {
    DOWN + UP: ("", SPOUSE),  # everyone has two married parents
    UP + DOWN: ("", SIBLING),  # couples share all their children
    SPOUSE + SPOUSE: ("",),
    UP + SPOUSE: (UP,),
    SPOUSE + DOWN: (DOWN,),
    SIBLING + UP: (UP,),
    DOWN + SIBLING: (DOWN,),
    SIBLING + SIBLING: ("", SIBLING),
}


def shortest_paths(path: str) -> frozenset[str]:
    """Return all paths to which a path may reduce."""
    for place in range(len(path) - 1):
        steps = path[place : place + 2]
        if steps in _LAWS:
            return frozenset().union(*(shortest_paths(path[:place] + new + path[place + 2 :]) for new in _LAWS[steps]))
    return frozenset([path])


@cache
def sound_compositions() -> dict[tuple[str, str], str]:
    """Return, for each two relations in a row, the one that always holds between the ends, if there is one."""
    compositions = {}
    for first, second in product(NAMES, repeat=2):
        paths = {
            short
            for one, other in product(_PATHS[first], _PATHS[second])
            for short in shortest_paths(one + other)
            if short  # the ends are different people
        }
        heads = [name for name in NAMES if paths and paths <= _PATHS[name]]
        if heads:
            compositions[first, second] = heads[0]
    return compositions


def relation_along(path: Sequence[str]) -> str | None:
    """Return what the last person of a chain is to the first; None if that is not known, or not known on the way."""
    relation: str | None = path[0]
    for step in path[1:]:
        relation = sound_compositions().get((relation or "", step))
    return relation
