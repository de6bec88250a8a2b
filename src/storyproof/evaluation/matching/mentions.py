"""Finds which candidates a text names: by whole words, whatever their case, hyphens, underscores or number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from storyproof.families.kinship.relations import WORDS

_KINSHIP = frozenset(WORDS)
_PARTS = re.compile(r"[\s_-]+")
_GAP = r"[\s_-]+"
_CALLED = {  # what people say in speech
    "mother": ("mom", "mum", "mommy", "mummy", "mama"),
    "father": ("dad", "daddy", "papa"),
    "grandmother": ("grandma", "granny"),
    "grandfather": ("grandpa", "granddad"),
}
_FURTHER = "cousin"  # no answer to any question, but one that a reply may give
# Kin that is named by a word of ours but is not that kin: a great-aunt is no aunt.
_OTHER_KIN = (
    r"(?:great|step|half|foster|god|adoptive|adopted|ex|former)[\s_-]*(?:grand[\s_-]*)?"
    rf"(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})s?"
)


class Mention(NamedTuple):
    """Where a text names something that could be the answer."""

    start: int
    end: int
    name: str


class Names:
    """All that could be named, ready to be looked for."""

    def __init__(self, candidates: Sequence[str]) -> None:
        known = list(dict.fromkeys(candidate for candidate in candidates if candidate.strip()))
        self.kinship = any(candidate.lower() in _KINSHIP for candidate in known)
        if self.kinship:
            spelt = {candidate.lower() for candidate in known}
            known += [word for word in (*WORDS, _FURTHER) if word not in spelt]
        known.sort()
        self._names: dict[str, str] = {}  # by their form, of which the first to claim it keeps it
        for forms in (_own_form, _other_forms):
            for name in known:
                for form in forms(name):
                    self._names.setdefault(form, name)
        # The longer form first: a treasure chest is not just a chest. No group and nothing before the forms: so the
        # pattern skips to where one may begin, and what is before it is looked at afterwards.
        forms_first = sorted(self._names, key=lambda form: (-len(form), form))
        spelt_out = [_GAP.join(re.escape(part) for part in form.split("-")) for form in forms_first]
        others = [_OTHER_KIN] if self.kinship else []
        self._pattern = re.compile(rf"(?:{'|'.join([*others, *spelt_out]) or '(?!)'})(?![^\W_]|[-_][^\W_])")

    def find(self, text: str) -> list[Mention]:
        """Find all that is named in a text in lower case, in order; what is like a name but is not it, by its words."""
        found = []
        match = self._pattern.search(text)
        while match is not None:
            start, end = match.span()
            if start and _inside(text, start):
                match = self._pattern.search(text, start + 1)
                continue
            form = match[0]
            name = self._names.get(form) or self._names.get(_PARTS.sub("-", form), form)
            found.append(Mention(start, end, name))
            match = self._pattern.search(text, end)
        return found


def _inside(text: str, start: int) -> bool:
    """Say whether a place is in the middle of a word, or of one with hyphens or underscores."""
    before = text[start - 1]
    return before.isalnum() or (before in "-_" and start > 1 and text[start - 2].isalnum())


@lru_cache(maxsize=8192)
def names_of(candidates: tuple[str, ...]) -> Names:
    """Make candidates ready to be looked for; kept, because most questions share theirs with others."""
    return Names(candidates)


def _own_form(name: str) -> list[str]:
    """Give a name as it is looked for: in lower case, its parts joined by hyphens."""
    parts = [part for part in _PARTS.split(name.lower()) if part]
    return ["-".join(parts)] if parts else []


def _other_forms(name: str) -> list[str]:
    """Give other forms of a name: its plural or singular, and of kinship what people also say."""
    parts = [part for part in _PARTS.split(name.lower()) if part]
    if not parts:
        return []
    if parts[-2:] == ["in", "law"]:
        return [f"{parts[0]}s-in-law", f"{parts[0]}-inlaw", f"{parts[0]}-in-laws"]
    found = ["-".join([*parts[:-1], other]) for other in _other_numbers(parts[-1])]
    if len(parts) > 1:
        found.append("".join(parts))  # treasurechest
    if name.lower() in _KINSHIP and parts[0].startswith("grand"):
        found += [f"grand-{parts[0][5:]}", f"grand-{parts[0][5:]}s"]
    return [*found, *(form for word in _CALLED.get(name.lower(), ()) for form in (word, f"{word}s"))]


def _other_numbers(word: str) -> list[str]:
    """Give the plural of a word, and its singular if it looks like a plural."""
    found = [f"{word}s"]
    if re.search(r"(?:s|x|z|ch|sh|o)$", word):
        found.append(f"{word}es")
    if re.search(r"[^aeiou]y$", word):
        found.append(f"{word[:-1]}ies")
    if re.search(r"fe?$", word):
        found.append(re.sub(r"fe?$", "ves", word))
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        found.append(word[:-1])
        if word.endswith("ies"):
            found.append(f"{word[:-3]}y")
        if re.search(r"(?:s|x|z|ch|sh)es$", word):
            found.append(word[:-2])
    return found
