"""The texts of pages, one file per language; `{names}` in them are filled in.

A file of a lab may also translate the rules for a story, in a language in which its family has no texts for them: the
key is then the English sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Formatter

from storyproof.errors import ConfigError, DataError, quoted
from storyproof.io.bounded_input import DocumentError, parse_shipped, parse_yaml, read_text
from storyproof.pictures.svg import safe
from storyproof.study.design import LANGUAGES, StudyDesign

ENGLISH = "en"


class PageTexts:
    """The texts of pages in one language.

    Args:
        language: Its code.
        texts: The texts by key.
    """

    def __init__(self, language: str, texts: Mapping[str, str]) -> None:
        self.language = language
        self._texts = texts

    def plain(self, key: str, **values: object) -> str:
        """Return a text, not escaped."""
        return self._texts[key].format(**values) if values else self._texts[key]

    def __call__(self, key: str, **values: object) -> str:
        """Return a text escaped for a page, and so is what is filled in."""
        return safe(self.plain(key, **values))

    def translate(self, sentence: str) -> str:
        """Return an English sentence in this language, not escaped; as it is if there is no translation."""
        return self._texts.get(sentence, sentence)

    def replaced(self, language: str, texts: Mapping[str, str]) -> PageTexts:
        """Return these texts with others in their place."""
        return PageTexts(language, {**self._texts, **texts})

    def keys(self) -> list[str]:
        """Return the keys of all texts that pages have, without those of translated sentences."""
        return [key for key in self._texts if " " not in key]


def shipped_file(language: str) -> str:
    """Return the file with the texts of a language."""
    return files("storyproof.study.messages").joinpath(f"{language}.yaml").read_text("utf-8")


@cache
def load_texts(language: str) -> PageTexts:
    """Return the texts of a language that ships with storyproof."""
    texts = parse_shipped(shipped_file(language))
    return PageTexts(language, {str(key): str(text) for key, text in texts.items()})


def texts_of(design: StudyDesign) -> PageTexts:
    """Return the texts of a study's pages: its own, else those of its language."""
    shipped = load_texts(design.language if design.language in LANGUAGES else ENGLISH)
    if not design.messages:
        return shipped
    return shipped.replaced(design.language, design.messages)


def read_messages(path: Path, language: str) -> dict[str, str]:
    """Read a file with texts of a lab's own: in a language that ships, some of them; in another, all.

    Raises:
        DataError: If it cannot be read.
        ConfigError: If it is not as expected; the message says what to do.
    """
    try:
        texts = parse_yaml(read_text(path))
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {path}: {error}; choose another file for --messages.") from error
    except DocumentError as error:
        raise ConfigError(f"{path}, line {error.line}: not valid YAML: {error}; put texts into quotes.") from error
    english = load_texts(ENGLISH)
    if not isinstance(texts, dict) or not all(isinstance(each, str) for pair in texts.items() for each in pair):
        raise ConfigError(f"{path} is not a list of texts; expected lines of the form KEY: TEXT, both in quotes.")
    known = english.keys()
    for key, text in texts.items():
        if " " in key:
            continue
        if key not in known:
            raise ConfigError(f"{path}: the text {quoted(key)} is unknown; storyproof study messages writes all texts.")
        if _slots(text) != _slots(english.plain(key)):
            wanted = ", ".join(f"{{{name}}}" for name in sorted(_slots(english.plain(key)) or ())) or "nothing"
            raise ConfigError(f"{path}: the text {quoted(key)} is {quoted(text)}; {wanted} must stand in braces.")
    missing = [key for key in known if key not in texts]
    if missing and language not in LANGUAGES:
        raise ConfigError(f"{path} lacks {len(missing)} texts, the first: {missing[0]}; add them, in '{language}'.")
    return texts


def _slots(text: str) -> frozenset[str] | None:
    """Return the names that are filled in; None if the braces are not as expected."""
    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        return None
    names = {name for _, name, _, _ in parts if name is not None}
    plain = all(name.isidentifier() for name in names) and not any(form or how for _, _, form, how in parts)
    return frozenset(names) if plain else None
