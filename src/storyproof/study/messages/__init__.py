"""The texts of pages, one file per language; `{names}` in them are filled in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from storyproof.inputs import parse_yaml
from storyproof.svg import safe


class PageTexts:
    """The texts of pages in one language.

    Args:
        language: Its code, one of `design.LANGUAGES`.
        texts: The texts by key.
    """

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self.language = language
        self._texts = texts

    def plain(self, key: str, **values: object) -> str:
        """Return a text, not escaped."""
        return self._texts[key].format(**values) if values else self._texts[key]

    def __call__(self, key: str, **values: object) -> str:
        """Return a text escaped for a page, and so is what is filled in."""
        return safe(self.plain(key, **values))

    def keys(self) -> list[str]:
        """Return the keys of all texts."""
        return list(self._texts)


@cache
def load_texts(language: str) -> PageTexts:
    """Return the texts of a language."""
    found = parse_yaml(files("storyproof.study.messages").joinpath(f"{language}.yaml").read_text("utf-8"))
    return PageTexts(language, {str(key): str(text) for key, text in found.items()})
