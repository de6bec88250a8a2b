"""Checks of a story while it is written and when it is sent: those of its family, its length, and whether it is new."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from storyproof.families.paraphrasing import Paraphrasing, TextRemark
from storyproof.study.folder import Study
from storyproof.study.items import StudyItem, find_paraphrasing
from storyproof.study.submissions import is_copy

TOO_SHORT, TOO_LONG = "too-short", "too-long"
COPIES_INSTRUCTIONS, COPIES_EARLIER = "copy-instructions", "copy-earlier"
_ALIKE = 0.9  # of the words, in order


def check_story(study: Study, item: StudyItem, text: str) -> list[TextRemark]:
    """Return remarks on a story, problems before questions; none if all is well."""
    design, length = study.design, len(text.strip())
    if length < design.shortest_text:
        return [TextRemark(TOO_SHORT, str(design.shortest_text))]
    if length > design.longest_text:
        return [TextRemark(TOO_LONG, str(design.longest_text))]
    asked = find_paraphrasing(item.family)
    own = asked.fingerprint(item.writing_task(), text)
    if any(_alike(each, other) for each in (own, _plain(text)) for other in _shown(item.family)):
        return [TextRemark(COPIES_INSTRUCTIONS, "")]
    if is_copy(study, own):
        return [TextRemark(COPIES_EARLIER, "")]
    return asked.check(item.writing_task(), text)


@lru_cache(maxsize=8)
def _shown(family: str) -> tuple[str, ...]:
    """Return the stories that the instructions show, as they are and without names."""
    asked: Paraphrasing = find_paraphrasing(family)
    shown = asked.examples()[:3]
    return tuple(form for each in shown for form in (_plain(each.text), asked.fingerprint(each.task, each.text)))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _alike(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one.split(), other.split(), autojunk=False)
    return matcher.real_quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE
