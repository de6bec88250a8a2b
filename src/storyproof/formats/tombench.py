"""False beliefs of ToMBench, in Chinese and in English: one row for each language of a record.

Items about places are a sentence of which each part is an event. The Chinese ones are restated in the words that
storyproof reads; the English ones are read as they are. Items about contents ("the label says hats; inside is a
notebook") are restated as far as they have one answer: what is inside, and what the person expects who has looked
inside. What somebody else expects "after opening it" has two, as the question does not say whether they have looked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from storyproof.errors import ParseError, quoted
from storyproof.formats.restated import Restated, as_word

_ENGLISH = ("STORY", "QUESTION", *(f"OPTION-{letter}" for letter in "ABCD"))
_CHINESE = ("故事", "问题", *(f"选项{letter}" for letter in "ABCD"))
_PLACES_ZH = re.compile(
    "(?P<one>[^，。]+?)和(?P<other>[^，。]+?)在(?P<room>[^，。]+?)闲逛，他们看到了[^。]+?，他们在(?P<first>[^，。]+?)里面发现了"
    "(?P<thing>[^，。]+?)，(?P<left>[^，。]+?)离开了(?P=room)，(?P<mover>[^，。]+?)把(?P=thing)移动到了(?P<second>[^，。]+?)。"
)
_CONTENTS_ZH = re.compile(
    "(?P<finder>[^，。]+?)在(?P<room>[^，。]+?)找到了(?P<box>[^，。]+?)，(?P=box)上面的标签是(?P<label>[^，。]+?)，(?P=finder)不能看到"
    "(?P=box)里面是什么，(?P=finder)打开了(?P=box)并且找到(?P<inside>[^，。]+?)，在(?P=box)里面没有(?P=label)，(?P=finder)关上了"
    "(?P=box)并且把它放回原处，(?P<other>[^，。]+?)进入了(?P=room)并且看到了(?P=box)。"
)
_A = r"(?:an? |the |some )?"
_CONTENTS_EN = re.compile(
    rf"(?P<finder>[^,]+?) finds? {_A}(?P<box>[^,]+?) (?:in|on|at) (?:the )?(?P<room>[^,]+?), the (?:label|tag)[^,]*, "
    r"(?P=finder) cannot see what is in(?:side)? the (?P=box), (?P=finder) opens the (?P=box) and finds "
    rf"{_A}(?P<inside>[^,]+?), there (?:is|are) no [^,]+, (?P=finder) closes the (?P=box) and puts it back[^,]*, "
    rf"(?P<other>[^,]+?) enters (?:the )?[^,]+ and sees the (?P=box)\."
)
_QUESTIONS = {
    "reality": ("现在(?P<thing>.+)在哪里？",),
    "belief": (
        "在(?P<back>[^，,]+)返回(?P<room>[^，,]+)之后[，,] ?(?P<asked>[^，,]+?)(?:认为(?P<nested>[^，,]+?))?"
        "会在哪里寻找(?P<thing>.+)？",
    ),
    "inside": ("(?P<box>.+)里面有什么？", r"What is in(?:side)? the (?P<box>.+)\?"),
    "thinks": (
        "[^，,]+打开[^，,]+之后[，,] ?[^，,]+认为[^，,]+会期望在[^，,]+里面找到什么？",
        r"After [^,]+ opens [^,]+, what does [^,]+ think [^,]+ expects? to find .+\?",
    ),
    "expects": (
        "[^，,]+打开(?P<box>[^，,]+)之后[，,] ?(?P<asked>[^，,]+?)期望在(?P=box)里面找到什么？",
        r"After [^,]+ opens the (?P<box>[^,]+), what does (?P<asked>[^,]+?) expect to find in(?:side)? the (?P=box)\?",
    ),
}


def restate(record: Mapping[str, Any]) -> Sequence[Restated]:
    """Return the rows of a record: that in English and, if there is one, that in Chinese."""
    return [_row(record, names) for names in (_ENGLISH, _CHINESE) if isinstance(record.get(names[0]), str)]


def _row(record: Mapping[str, Any], names: Sequence[str]) -> Restated:
    story, question, *options = (record.get(name) for name in names)
    row = {**record, **dict(zip(_ENGLISH, (story, question, *options), strict=True))}
    for name in _CHINESE:
        row.pop(name, None)
    texts = str(story).strip(), str(question).strip()
    try:
        told, asked = _told(*texts, [str(each) for each in options if each is not None])
    except ParseError as error:
        return Restated(row, *texts, problem=str(error))
    return Restated({**row, "STORY": told, "QUESTION": asked}, *texts)


def _told(story: str, question: str, options: Sequence[str]) -> tuple[str, str]:
    """Return story and question in words that are read."""
    kind, asked = _asked(question)
    if places := _PLACES_ZH.fullmatch(story):
        return _places(places.groupdict(), kind, asked)
    if contents := _CONTENTS_ZH.fullmatch(story) or _CONTENTS_EN.fullmatch(story):
        return _contents(contents.groupdict(), kind, asked, options)
    if story.isascii() or kind not in ("inside", "expects", "thinks"):
        return story, question  # in English, about places
    raise ParseError(f"not one of the stories about places or contents: {quoted(story)}")


def _asked(question: str) -> tuple[str, Mapping[str, str | None]]:
    for kind, patterns in _QUESTIONS.items():
        for pattern in patterns:
            if match := re.fullmatch(pattern, question):
                return kind, match.groupdict()
    return "", {}


def _places(told: Mapping[str, str], kind: str, asked: Mapping[str, str | None]) -> tuple[str, str]:
    said = {name: as_word(each) for name, each in told.items()}
    people, room, thing = (said["one"], said["other"]), said["room"], said["thing"]
    if asked.get("thing") != told["thing"] or not {said["left"], said["mover"]} <= {*people}:
        raise ParseError("the question, or a part of the story, is about something else")
    lines = [f"{name} entered the {room}." for name in people]
    lines += [f"The {thing} is in the {said['first']} in the {room}.", f"{said['left']} exited the {room}."]
    lines += [f"{said['mover']} moved the {thing} to the {said['second']}."]
    if kind == "reality":
        return "\n".join(lines), f"Where is the {thing} really?"
    chain = [name for name in (asked["asked"], asked["nested"]) if name is not None]
    if asked["back"] != told["left"] or asked["room"] != told["room"] or not {*chain} <= {*people}:
        raise ParseError("the question is about somebody who does not return, or is not in the story")
    lines.append(f"{said['left']} entered the {room}.")
    who = f"does {chain[0]} think that {chain[1]} will" if len(chain) > 1 else f"will {chain[0]}"
    return "\n".join(lines), f"Where {who} look for the {thing}?"


def _contents(
    told: Mapping[str, str], kind: str, asked: Mapping[str, str | None], options: Sequence[str]
) -> tuple[str, str]:
    finder, other = (_squeezed(told[name]) for name in ("finder", "other"))
    if kind == "thinks":
        raise ParseError(
            "what somebody expects who opens it; the question does not say whether they have looked inside"
        )
    if kind not in ("inside", "expects") or _squeezed(asked["box"] or "") != _squeezed(told["box"]):
        raise ParseError("the question is about something else than what is inside")
    if kind == "expects" and (finder == other or _squeezed(asked["asked"] or "") != finder):
        raise ParseError("the question is not about the person who has looked inside, or two people have one name")
    inside = next((each for each in options if _singular(each) == _singular(told["inside"])), None)
    if inside is None:
        raise ParseError(f"what is inside is none of the choices: {quoted(told['inside'])}")
    room, what = as_word(told["room"]), as_word(inside)
    story = f"{finder} entered the {room}.\nThe content is in the {what} in the {room}.\n{other} entered the {room}."
    if kind == "inside":
        return story, "Where is the content really?"
    return story, f"Where will {finder} look for the content?"


def _squeezed(name: str) -> str:
    """Return a name without what translators write in several ways: "Lilei" and "Li Lei"."""
    return "".join(name.split()).capitalize()


def _singular(noun: str) -> str:
    """Return a noun without case, article and plural."""
    plain = re.sub(r"^(?:an?|the|some) ", "", noun.strip().casefold())
    return re.sub(r"(?<=[^s])e?s$", "", plain)
