"""Scenes from stories that people wrote: what is going on in them, without a word about who is what to whom.

A sentence without people becomes an opener. A sentence in which one person does something becomes a deed, and one with
two people something done together, if its verb is one of those in our phrases: their four forms are known there, and no
grammar has to guess them. An adverbial in front becomes a moment or a place if its first word says which. Whatever else
a story says is left out. Each story gives a scene of its own, since the phrases of two occasions do not go together;
lists are filled up with phrases that fit any occasion.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from storyproof.families.kinship.language.scenes import PARTS, is_phrase
from storyproof.io.bounded_input import parse_yaml

_LONGEST = 10  # words of what a person does
_NEUTRAL = "neutral-phrases.yaml"
_FORMS = re.compile(r"^ *- (\w+ \w+ \w+ing \w+)(?: \||$)", re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_WHEN = frozenset({"after", "before", "between", "during", "until"})
_WHERE = frozenset({"above", "along", "behind", "below", "beneath", "beside", "near", "outside", "underneath"})
# Words with which a second clause begins, or which have a tense: they do not fit the other forms of the verb.
_CLAUSES = re.compile(
    r"\b(?:and|but|or|so|because|since|while|when|where|until|before|after|that|which|is|are|was|were|be|been|has|have|"
    r"had|do|does|did|will|can|must|it)\b"
)


def write_scene(people: Sequence[str], text: str) -> tuple[str, int] | None:
    """Return the scene that a story sets, as YAML, and how many of its phrases are the writer's.

    Args:
        people: The names of the people of the story.
        text: The story.

    Returns:
        None if no sentence of the story can open a scene.
    """
    lists: dict[str, dict[str, None]] = {part: {} for part in PARTS}
    for sentence in _SENTENCES.split(" ".join(text.split())):
        for part, phrase in _phrases(people, sentence):
            if is_phrase(phrase, part):
                lists[part][phrase] = None
    if not lists["openers"]:
        return None
    count = sum(map(len, lists.values()))
    for part, phrases in _neutral_phrases().items():
        lists[part] |= dict.fromkeys(phrases)
    lines = ["# From a story that a participant wrote; phrases that fit any scene fill up its lists."]
    for part, found in lists.items():
        lines += [f"{part}:", *(f"  - {json.dumps(phrase)}" for phrase in found)]
    return "\n".join(lines) + "\n", count


def _phrases(people: Sequence[str], sentence: str) -> Iterator[tuple[str, str]]:
    """Yield what a sentence may contribute, each with the list for which it is; it is not checked yet."""
    names = "|".join(map(re.escape, sorted(people, key=len, reverse=True)))
    if not re.search(rf"\b(?:{names})\b", sentence):
        yield "openers", sentence
        return
    match = re.fullmatch(rf"(?:([A-Z][^,]*), )?({names}) (\w+)(?: ([^,]*))?\.", sentence)
    if match is None:
        return
    front, subject, verb, rest = match[1], match[2], match[3], match[4] or ""
    if front:
        first = front.split()[0].lower()
        part = "moments" if first in _WHEN else "places" if first in _WHERE else ""
        later = " ".join(front.split()[1:])
        if part and not _CLAUSES.search(later) and not re.search(rf"\b(?:{names})\b", front):
            yield part, front[0].lower() + front[1:]
    words = rest.split()
    others = re.findall(rf"\b(?:{names})\b", rest)
    forms = _verbs().get(verb)
    if forms is None or not words or len(words) > _LONGEST or _CLAUSES.search(rest) or "{" in rest:
        return
    if not others:
        yield "alone", f"{forms} | {rest}"
    elif len(others) == 1 and others[0] != subject and not re.search(rf"\b{re.escape(others[0])}['’]", rest):
        yield "together", f"{forms} | " + re.sub(rf"\b{re.escape(others[0])}\b", "{}", rest)


@cache
def _verbs() -> dict[str, str]:
    """Return the four forms of the verbs of our phrases by their past; without pasts that two verbs share."""
    folder = files("storyproof.families.kinship.language")
    texts = [each.read_text("utf-8") for each in folder.joinpath("scenes").iterdir() if each.name.endswith(".yaml")]
    found: dict[str, set[str]] = {}
    for text in (*texts, folder.joinpath(_NEUTRAL).read_text("utf-8")):
        for forms in _FORMS.findall(text):
            found.setdefault(forms.split()[1], set()).add(forms)
    return {past: each.pop() for past, each in found.items() if len(each) == 1}


@cache
def _neutral_phrases() -> dict[str, list[str]]:
    text = files("storyproof.families.kinship.language").joinpath(_NEUTRAL).read_text("utf-8")
    return {part: phrases for part, phrases in parse_yaml(text).items() if part in PARTS}
