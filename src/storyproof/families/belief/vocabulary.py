"""The words a world may use, each in one role only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from storyproof.errors import VocabularyError, quoted
from storyproof.io.bounded_input import LARGEST_YAML, DocumentError, parse_yaml, read_text

_WORD = re.compile(r"[^\W\d_][\w'-]*")
_RESERVED = {"the", "phone", "where"}  # a name like these would make a sentence mean two things
_DEFAULT_FILE = Path(__file__).with_name("words.yaml")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Word lists by role.

    Raises:
        VocabularyError: If a list is empty, a word is no word, occurs twice or has two roles.
    """

    agents: tuple[str, ...]
    rooms: tuple[str, ...]
    containers: tuple[str, ...]
    objects: tuple[str, ...]

    def __post_init__(self) -> None:
        role_of: dict[str, str] = {}
        for role in ROLES:
            words = getattr(self, role)
            if not words:
                raise VocabularyError(f"the list '{role}' is empty; give it at least one word.")
            for word in words:
                _check_word(word, role)
                if word in role_of and role_of[word] == role:
                    raise VocabularyError(f"{quoted(word)} stands twice in '{role}'; remove one.")
                if word in role_of:
                    raise VocabularyError(
                        f"{quoted(word)} is in two roles, '{role_of[word]}' and '{role}'; "
                        "a word may have one role only."
                    )
                role_of[word] = role

    def require(self, needed: dict[str, int], why: str) -> None:
        """Raise VocabularyError unless each role has at least the needed number of words."""
        for role, count in needed.items():
            have = len(getattr(self, role))
            if have < count:
                raise VocabularyError(f"too few {role}: {have} found, {why} needs at least {count}; add some.")

    def as_dict(self) -> dict[str, list[str]]:
        """Return the lists by role, for a manifest."""
        return {role: list(getattr(self, role)) for role in ROLES}


ROLES = tuple(field.name for field in fields(Vocabulary))


def _check_word(word: object, role: str) -> None:
    if not isinstance(word, str):
        raise VocabularyError(
            f"{quoted(word)} in '{role}' is no text; put it in quotes (YAML reads yes, no and 12 as values)."
        )
    if not _WORD.fullmatch(word):
        raise VocabularyError(
            f"{quoted(word)} in '{role}' is no single word of letters, digits, - and _, beginning with a letter."
        )
    if word.lower() in _RESERVED:
        raise VocabularyError(f"'{word}' in '{role}' is a word of the sentences themselves; choose another.")


def load_vocabulary(path: str | Path) -> Vocabulary:
    """Read a vocabulary from a YAML file with the lists agents, rooms, containers and objects.

    Raises:
        VocabularyError: If the file cannot be read or its lists cannot be used; the message names the file.
    """
    try:
        data = parse_yaml(read_text(Path(path), LARGEST_YAML))
    except (OSError, UnicodeDecodeError) as error:
        raise VocabularyError(f"cannot read the vocabulary {path}: {error}.") from error
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise VocabularyError(f"{path}{line}: not valid YAML: {error}.") from error
    try:
        return from_lists(data)
    except VocabularyError as error:
        raise VocabularyError(f"{path}: {error}") from error


def from_lists(data: Any) -> Vocabulary:
    """Build a vocabulary from a mapping of role to list."""
    if not isinstance(data, dict) or not data:
        raise VocabularyError(f"expected the lists {', '.join(ROLES)}, found {type(data).__name__}.")
    unknown = [role for role in data if role not in ROLES]
    if unknown:
        raise VocabularyError(f"unknown list {quoted(unknown[0])}; expected {', '.join(ROLES)}.")
    missing = [role for role in ROLES if role not in data]
    if missing:
        raise VocabularyError(f"the list '{missing[0]}' is missing; expected {', '.join(ROLES)}.")
    for role in ROLES:
        if data[role] is None:
            data = {**data, role: []}
        elif not isinstance(data[role], list | tuple):
            raise VocabularyError(f"'{role}' is not a list but {type(data[role]).__name__}; write it as [a, b, …].")
    return Vocabulary(**{role: tuple(data[role]) for role in ROLES})


@cache
def default_vocabulary() -> Vocabulary:
    """Return the words that ship with storyproof."""
    return load_vocabulary(_DEFAULT_FILE)


def shares(words: Sequence[str], parts: Sequence[float], least: int) -> list[tuple[str, ...]]:
    """Cut a list into consecutive pieces: at least `least` words each, and of the rest about the given shares."""
    spare, total = len(words) - least * len(parts), sum(parts)
    ends = [round(spare * sum(parts[: number + 1]) / total) + least * (number + 1) for number in range(len(parts))]
    return [tuple(words[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
