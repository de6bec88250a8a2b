"""Text as a string of word classes, one character per word or mark.

`split` turns a text into classes, names and kin words. `reduce` leaves out what says nothing: of several neutral words in
a row only the first and the last are kept, so that sentences that differ in their deeds and places only become equal.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.lexicon import Kin

_TOKEN = re.compile(r"@[\w-]*\w|[^\W\d_]+(?:[-'][^\W\d_]+)*|\d+|[^\w\s]|_")
_MARKS = {
    ",": ",", ";": ";", ":": ":", ".": ".", "!": ".", "?": "?", "(": "(", ")": ")", "–": "–", "—": "–", "-": "–",
    '"': lx.QUOTE, "“": lx.QUOTE, "”": lx.QUOTE,
}  # fmt: skip
_APOSTROPHES = str.maketrans("’ʼ´`", "''''")
_CAPITAL_KIN = {lx.KIN: "{", lx.KINS: "}"}  # a title or a name, unless it begins a sentence
_CONTRACTED = frozenset({"he", "she", "it", "that", "there", "who", "what", "here", "where", "let", "how", "this"})
_NEGATED = {"is": lx.IS, "are": lx.ARE, "was": lx.WAS, "were": lx.WAS, "has": lx.HAS, "have": lx.HAD, "had": lx.HAD}
LINE = "\n"


class Piece(NamedTuple):
    """A class with the characters of a token that it stands for."""

    kind: str
    start: int
    end: int
    word: str


class Token(NamedTuple):
    """What one token between spaces consists of.

    Attributes:
        kinds: Its classes.
        pieces: The same with their places.
        capital: The capitalised word in it that may be a name, if there is one.
        kin: The kin word in it, if there is one.
    """

    kinds: str
    pieces: tuple[Piece, ...]
    capital: str | None
    kin: Kin | None


def _pieces(text: str) -> list[Piece]:
    found: list[Piece] = []
    for match in _TOKEN.finditer(text.translate(_APOSTROPHES)):
        word, start, end = match[0], match.start(), match.end()
        if word == "'":
            after_s = found and found[-1].end == start and found[-1].word[-1:] in "sxz"
            found.append(Piece(lx.POSSESSIVE if after_s else lx.UNKNOWN_MARK, start, end, word))
        elif not word[0].isalnum() and word[0] != "@":
            found.append(Piece(_MARKS.get(word, lx.UNKNOWN_MARK), start, end, word))
        elif word.endswith("'s") or word.endswith("'S"):
            base = word[:-2]
            second = lx.IS if base.lower() in _CONTRACTED else lx.POSSESSIVE
            found += [_word(base, start, end - 2), Piece(second, end - 2, end, word[-2:])]
        elif word.lower().endswith("n't"):
            base = word[:-3].lower()
            found += [Piece(_NEGATED.get(base, lx.OTHER), start, end - 3, base), Piece(lx.NOT, end - 3, end, "n't")]
        else:
            base, apostrophe, rest = word.partition("'")
            if apostrophe and rest.lower() in ("ll", "d", "ve", "re", "m"):  # he'll, she'd
                found += [_word(base, start, start + len(base)), Piece(lx.HAD, start + len(base), end, rest)]
            else:
                found.append(_word(word, start, end))
    return found


def _word(word: str, start: int, end: int) -> Piece:
    kind = lx.class_of(word.lower()) if word[0] != "@" else lx.CAPITAL
    if word[0].isupper():
        capital = lx.CAPITAL if kind == lx.OTHER else kind
        kind = _CAPITAL_KIN.get(kind, capital)
    return Piece(kind, start, end, word)


def _token(text: str) -> Token:
    pieces = tuple(_pieces(text))
    capitals = [piece.word for piece in pieces if piece.kind == lx.CAPITAL]
    kins = [piece.word.lower() for piece in pieces if piece.kind in "KL{}"]
    if len(capitals) > 1 or len(kins) > 1:  # words that are glued together by a mark
        pieces = tuple(piece._replace(kind=lx.UNKNOWN_MARK) for piece in pieces)
        capitals, kins = [], []
    return Token(
        "".join(piece.kind for piece in pieces),
        pieces,
        capitals[0] if capitals else None,
        lx.kin_words()[kins[0]] if kins else None,
    )


class Tokens(dict[str, Token]):
    """Tokens by their text; each is analysed once."""

    def __missing__(self, text: str) -> Token:
        found = self[text] = _token(text) if text != LINE else Token(LINE, (Piece(LINE, 0, 1, LINE),), None, None)
        return found


class Words(NamedTuple):
    """A text.

    Attributes:
        kinds: The classes of all its words and marks.
        names: The names of people, in order.
        kins: The kin words, in order.
    """

    kinds: str
    names: list[str]
    kins: list[Kin]


def cut(text: str) -> list[str]:
    """Return the tokens of a text: what stands between spaces, and the ends of lines."""
    return text.replace("\n", " \n ").split(" ")


_CAPITAL_AT_START = re.compile(r'(?:(?<=[.?\n:"])|^)C')
_KIN_AT_START = re.compile(r'(?:(?<=[.?\n:"])|^)([{}])')
_TO_KIN = {"{": lx.KIN, "}": lx.KINS}


def resolve_capitals(kinds: str, capitals: list[str], names: Collection[str]) -> tuple[str, list[str]]:
    """Decide which capitalised words are names of people, and return the classes and the names."""
    if "{" in kinds or "}" in kinds:
        kinds = _KIN_AT_START.sub(lambda match: _TO_KIN[match[1]], kinds)
        kinds = kinds.replace("{", lx.OTHER_KIN).replace("}", lx.OTHER_KIN)
    if all(word in names for word in capitals):
        return kinds.replace(lx.CAPITAL, lx.NAME), capitals
    starts = {match.end() - 1 for match in _CAPITAL_AT_START.finditer(kinds)}
    found, called, number = list(kinds), [], 0
    for place, kind in enumerate(kinds):
        if kind != lx.CAPITAL:
            continue
        word = capitals[number]
        number += 1
        if word in names:
            found[place] = lx.NAME
            called.append(word)
        else:
            found[place] = lx.OTHER if place in starts or word in lx.CALENDAR else lx.PROPER
    return "".join(found), called


def guess_names(kinds: str, capitals: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Guess which capitalised words are names of people, if nobody says.

    Returns:
        The names, and those of them that only stand where any word is capitalised.
    """
    starts = {match.end() - 1 for match in _CAPITAL_AT_START.finditer(kinds)}
    places = [place for place, kind in enumerate(kinds) if kind == lx.CAPITAL]
    sure: set[str] = set()
    located: set[str] = set()
    maybe: set[str] = set()
    for place, word in zip(places, capitals, strict=True):
        before, after = kinds[place - 1 : place], kinds[place + 1 : place + 2]
        if word in lx.CALENDAR and before not in ("K", "{", "c", lx.AND) and after not in (lx.POSSESSIVE, lx.AND):
            continue
        if before == lx.IN:
            located.add(word)
        elif place not in starts:
            sure.add(word)
        elif after and after in "',&(ix" and word.lower() not in lx.NO_NAMES:
            sure.add(word)
        elif word.lower() not in lx.NO_NAMES and not word.lower().endswith("ly") and after != lx.CAPITAL:
            maybe.add(word)
    sure -= located
    return frozenset(sure | (maybe - located)), frozenset(maybe - sure)


_QUOTED = re.compile(r'"([^"]*)"')
_PEOPLE = re.compile(r"[NKL Z hrHesmgGtyF%RP{}]".replace(" ", ""))


def _silence(match: re.Match[str]) -> str:
    """Return a quotation as nothing but its marks if it mentions nobody; classes keep their number."""
    return match[0] if _PEOPLE.search(match[1]) else '"' + lx.OTHER * len(match[1]) + '"'


_JOBS = re.compile(r"(?<=[dD])j")
_TO_OTHER = str.maketrans({kind: lx.OTHER for kind in "j738964k+Q5"})
_IDLE_MODIFIER = re.compile(r"(?:[M@]|(?<![hr])O)(?![M@O]*[KL])")
_OWN_KIN = re.compile(r"O(?=M*[KL])")
_INNER = re.compile(rf"(?<=[{re.escape(lx.NEUTRAL)}])[{re.escape(lx.NEUTRAL)}]+(?=[{re.escape(lx.NEUTRAL)}])")
_FIRST_TO = re.compile("D9(?=2)")


def simplify(kinds: str) -> str:
    """Return classes of the same number, in which everything that the grammar does not look at is neutral."""
    if lx.QUOTE in kinds:
        kinds = _QUOTED.sub(_silence, kinds)
    if "9" in kinds:
        kinds = _FIRST_TO.sub("ww", kinds)
    if "Ski" in kinds:
        kinds = kinds.replace("Ski", "ccc")  # "whose name is"
    if "j" in kinds:
        kinds = _JOBS.sub(lx.PERSON, kinds)
    kinds = _IDLE_MODIFIER.sub(lx.OTHER, kinds.translate(_TO_OTHER)).replace(lx.OLD, lx.MODIFIER)
    return _OWN_KIN.sub(lx.MODIFIER, kinds) if lx.OWN in kinds else kinds


def reduce(kinds: str) -> str:
    """Return simplified classes without neutral words between neutral words."""
    return _INNER.sub("", kinds)


def kept_places(kinds: str) -> list[int]:
    """Return which places of simplified classes `reduce` keeps."""
    dropped = {place for match in _INNER.finditer(kinds) for place in range(*match.span())}
    return [place for place in range(len(kinds)) if place not in dropped]
