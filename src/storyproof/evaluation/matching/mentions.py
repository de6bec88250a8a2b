"""Finds which candidates a text names: by whole words, whatever their case, hyphens, underscores or number."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from storyproof.evaluation.matching.languages import Language
from storyproof.language.answer_language import Mention, Talk, parts_of

_PARTS = re.compile(r"[\s_-]+")
_GAP = r"[\s_-]+"


class NameFinder:
    """Finds candidates, and what else a family's replies may name, in texts.

    Args:
        candidates: What could be answered.
        talk: How replies of the family are read.
        language: The language of the texts.
    """

    def __init__(self, candidates: Sequence[str], talk: Talk, language: Language) -> None:
        self._language = language
        known = list(dict.fromkeys(candidate for candidate in candidates if candidate.strip()))
        spelt = {candidate.lower() for candidate in known}
        known += [name for name in talk.further if name not in spelt]
        known.sort()
        self._names: dict[str, str] = {}  # by form; the first name to claim a form keeps it
        for name in known:
            parts = [language.fold(part) for part in parts_of(name)]
            if parts:
                self._names.setdefault("-".join(parts), name)
        for name in known:
            further = (form for part in ["-".join(parts_of(name))] for form in language.forms(language.fold(part)))
            for form in (*talk.forms(name), *further):
                self._names.setdefault(form, name)
        # The longer form first: a treasure chest is not just a chest. No group and nothing before the forms: so the
        # pattern skips to where one may begin, and what is before it is checked afterwards.
        forms_first = sorted(self._names, key=lambda form: (-len(form), form))
        spelt_out = [_GAP.join(re.escape(part) for part in form.split("-")) for form in forms_first]
        lookalikes = [each for each in language.lookalikes if each not in self._names]
        others = [each for each in (talk.lookalikes, *lookalikes) if each]
        edge = r"(?![^\W_]|[-_][^\W_])" if language.spaced else ""
        self._pattern = re.compile(rf"(?:{'|'.join([*others, *spelt_out]) or '(?!)'}){edge}")

    def find(self, text: str) -> list[Mention]:
        """Return all mentions in a text in lower case, in order; a lookalike of a name stands under its own words."""
        found = []
        text = self._language.fold(text)
        match = self._pattern.search(text)
        while match is not None:
            start, end = match.span()
            if start and self._language.spaced and _inside(text, start):
                match = self._pattern.search(text, start + 1)
                continue
            form = match[0]
            name = self._names.get(form) or self._names.get(_PARTS.sub("-", form), form)
            found.append(Mention(start, end, name))
            match = self._pattern.search(text, end)
        return found


def _inside(text: str, start: int) -> bool:
    """Return whether a place is in the middle of a word, or of one with hyphens or underscores."""
    before = text[start - 1]
    return before.isalnum() or (before in "-_" and start > 1 and text[start - 2].isalnum())


@lru_cache(maxsize=8192)
def name_finder(candidates: tuple[str, ...], talk: Talk, language: Language) -> NameFinder:
    """Return the finder for some candidates; kept, because most questions share theirs with others."""
    return NameFinder(candidates, talk, language)


def within(found: Sequence[Mention], spans: Sequence[tuple[int, int]]) -> list[Mention]:
    """Return the mentions within spans. Of spans that begin before a mention, the last one ends last."""
    starts = [start for start, _ in spans]
    places = [bisect_right(starts, mention.start) for mention in found]
    return [
        mention for mention, place in zip(found, places, strict=True) if place and mention.start < spans[place - 1][1]
    ]
