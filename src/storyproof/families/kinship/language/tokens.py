"""Text as a string of word classes, one character per word or mark.

A text is cut at spaces, and each token has classes of its own: `Freya's` is a name and a possessive. `simplify` and
`reduce` then leave out what says nothing: of several neutral words in a row only the first and the last are kept, so
that sentences that differ in their deeds and places only have the same classes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.lexicon import KinWord
from storyproof.families.kinship.language.names import sure_first_names

LINE = "\n"
LATIN = "LATIN"
_TOKEN = re.compile(r"@[\w-]*\w(?:'s)?|[^\W\d_]+(?:[-'][^\W\d_]+)*|\d+|[^\w\s]|_")
_MARKS = {
    ",": ",", ";": ";", ":": ":", ".": ".", "!": ".", "?": "?", "(": "(", ")": ")", "–": "_", "—": "_", "-": "_",
    '"': lx.QUOTE, "“": lx.QUOTE, "”": lx.QUOTE,
}  # fmt: skip
ENDING_MARKS = ",;:.!?"  # each is its own class, but for "!"
_APOSTROPHES = str.maketrans("’ʼ´`", "''''")
_CAPITAL_KIN = {lx.KIN: "{", lx.KINS: "}"}  # a title or part of a name, unless it begins a sentence
_IS_SHORT = frozenset({"he", "she", "it", "that", "there", "who", "what", "here", "where", "let", "how", "this"})
_NEGATED = {"is": lx.IS, "are": lx.ARE, "was": lx.WAS, "were": lx.WAS, "has": lx.HAS, "have": lx.HAD, "had": lx.HAD}


class Piece(NamedTuple):
    """A word or mark of a token: its class, where it stands in the token, and the word."""

    kind: str
    start: int
    end: int
    word: str


class Token(NamedTuple):
    """What stands between two spaces.

    Attributes:
        kinds: Its classes.
        pieces: Its words and marks, one for each class.
        capital: The capitalised word in it that may be a name, if there is one.
        kin: The kin word in it, if there is one.
    """

    kinds: str
    pieces: tuple[Piece, ...]
    capital: str | None
    kin: KinWord | None


class Tokens(dict[str, Token]):
    """Tokens by their text; each text is analysed once."""

    def __missing__(self, text: str) -> Token:
        token = self[text] = _token(text) if text != LINE else Token(LINE, (Piece(LINE, 0, 1, LINE),), None, None)
        return token

    def is_name(self, name: str) -> bool:
        """Return whether a name can be told from words: one word, with a capital, of no class of its own."""
        return self[name].capital == name


def cut(text: str) -> list[str]:
    """Return what stands between spaces, and the ends of lines."""
    return text.replace(LINE, f" {LINE} ").split(" ")


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


def _pieces(text: str) -> list[Piece]:
    pieces: list[Piece] = []
    for match in _TOKEN.finditer(text.translate(_APOSTROPHES)):
        word, start, end = match[0], match.start(), match.end()
        if word == "'":
            after_s = pieces and pieces[-1].end == start and pieces[-1].word[-1:] in "sxz"
            pieces.append(Piece(lx.POSSESSIVE if after_s else lx.UNKNOWN_MARK, start, end, word))
        elif not word[0].isalnum() and word[0] != "@":
            pieces.append(Piece(_MARKS.get(word, lx.UNKNOWN_MARK), start, end, word))
        else:
            pieces += _split_word(word, start, end)
    return pieces


def _split_word(word: str, start: int, end: int) -> list[Piece]:
    """Split off what an apostrophe adds: Freya's, it's, isn't, he'll."""
    base, apostrophe, rest = word.rpartition("'")
    low, rest = base.lower(), rest.lower()
    here = start + len(base)
    if not apostrophe:
        return [_word(word, start, end)]
    if rest == "s":
        return [_word(base, start, here), Piece(lx.IS if low in _IS_SHORT else lx.POSSESSIVE, here, end, "'s")]
    if rest == "t" and low.endswith("n"):
        return [Piece(_NEGATED.get(low[:-1], lx.OTHER), start, here - 1, base), Piece(lx.NOT, here - 1, end, "n't")]
    if rest in ("ll", "d", "ve", "re", "m"):
        return [_word(base, start, here), Piece(lx.HAD, here, end, rest)]
    return [_word(word, start, end)]


def _word(word: str, start: int, end: int) -> Piece:
    if word[0] == "@":
        return Piece(lx.CAPITAL, start, end, word)
    if not word.isascii() and not _is_plain(word):
        return Piece(lx.UNKNOWN_MARK, start, end, word)
    kind = lx.class_of(word.lower())
    if word[0].isupper():
        kind = lx.CAPITAL if kind == lx.OTHER else _CAPITAL_KIN.get(kind, kind)
    return Piece(kind, start, end, word)


def is_word(text: str) -> bool:
    """Return whether a text is surely one word: letters only, none of which stands for an apostrophe."""
    return text.isalpha() and (text.isascii() or text.translate(_APOSTROPHES) == text)


def is_owner(word: str) -> bool:
    """Return whether "'s" after a word makes it a possessor; otherwise it is short for "is"."""
    return word.lower() not in _IS_SHORT


def class_of_word(word: str) -> str:
    """Return the class of a text that is one word."""
    return _word(word, 0, len(word)).kind


def _is_plain(word: str) -> bool:
    """Return whether a word looks like what it is: letters of one alphabet, and a name if that is not the Latin one."""
    alphabets = {alphabet_of(letter) for letter in word if letter not in "-'"}
    is_latin = alphabets == {LATIN}
    return len(alphabets) == 1 and (is_latin or word[0].isupper()) and unicodedata.normalize("NFKC", word) == word


@lru_cache(1 << 12)
def alphabet_of(letter: str) -> str:
    """Return the alphabet of a letter, such as LATIN or CYRILLIC."""
    return unicodedata.name(letter, "unknown").split()[0]


# ---------------------------------------------------------------------------------------------------------------- names


@lru_cache(1 << 16)
def fold(name: str) -> str:
    """Return a name without what readers overlook: case, accents and apostrophes."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in letters if letter.isalnum() or letter == "@")


def find_lookalikes(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two different names that look the same to a reader, or are written in different alphabets."""
    seen: dict[str, str] = {}
    foreign: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(fold(name), name)
        foreign.setdefault(alphabet_of(name[0]) if name[0] != "@" else LATIN, name)
        if other != name:
            return other, name
    return tuple(foreign.values())[:2] if len(foreign) > 1 else None  # type: ignore[return-value]


_CAPITAL_AT_START = re.compile(r'(?:(?<=[.?\n:"])|^)C')
_KIN_AT_START = re.compile(r'(?:(?<=[.?\n:"])|^)([{}])')
_TO_KIN = {"{": lx.KIN, "}": lx.KINS}


def resolve_capitals(kinds: str, capitals: list[str], names: Collection[str]) -> tuple[str, list[str]]:
    """Decide which capitalised words are names of people.

    Args:
        kinds: The classes of a text.
        capitals: Its capitalised words, in order.
        names: The people.

    Returns:
        The classes, and the names in order.
    """
    if "{" in kinds or "}" in kinds:
        kinds = _KIN_AT_START.sub(lambda match: _TO_KIN[match[1]], kinds)
        kinds = kinds.replace("{", lx.OTHER_KIN).replace("}", lx.OTHER_KIN)
    if all(word in names for word in capitals):
        return kinds.replace(lx.CAPITAL, lx.NAME), capitals
    starts = {match.end() - 1 for match in _CAPITAL_AT_START.finditer(kinds)}
    places = [place for place, kind in enumerate(kinds) if kind == lx.CAPITAL]
    resolved = list(kinds)
    for place, word in zip(places, capitals, strict=True):
        other = lx.OTHER if place in starts or word in lx.CALENDAR else lx.PROPER
        resolved[place] = lx.NAME if word in names else other
    return "".join(resolved), [word for word in capitals if word in names]


_AS_NAME = "|".join(sorted(lx.WORDS_AS_NAMES, key=len, reverse=True))
_KIN = "|".join(sorted(lx.kin_words(), key=len, reverse=True))
_NAME_PLACE = re.compile(
    rf"\[(?P<a>{_AS_NAME})\]"
    rf"|\b(?P<b>{_AS_NAME})['’]s (?:\w+ )?(?:{_KIN})\b"
    rf"|\b(?:{_KIN}),? (?:(?:is |was )?(?:called|named) |is )?(?P<c>{_AS_NAME})\b"
    rf"|\b(?:{_KIN}) (?:of|to) (?P<d>{_AS_NAME})\b"
    rf"|(?:^|[.!?\n] )(?P<e>{_AS_NAME}),? (?:is |was |has |and )?"
    rf"(?:an?|the|his|her|[A-Z][\w-]*['’]s) (?:\w+ )?(?:{_KIN})\b"
    rf"|\b[A-Z][\w-]* and (?P<f>{_AS_NAME}) (?:is|are|was|were)\b"
)
_BEFORE_WORDS = ("[Ii]n", "[Oo]n", "[Tt]he", "[Aa]", "last", "next", "this", "since")
_NOT_NAMED = r"(?<![\w@'’-])" + "".join(rf"(?<!\b{word} )" for word in _BEFORE_WORDS)


def words_as_names(text: str, names: Collection[str] | None) -> frozenset[str]:
    """Return words that stand where only names stand, or are said to be names, and would be taken for other words."""
    if names is not None:
        return lx.WORDS_AS_NAMES & frozenset(names)
    if not any(word in text for word in lx.WORDS_AS_NAMES):
        return frozenset()
    return frozenset(word for match in _NAME_PLACE.finditer(text) for word in match.groups() if word)


def mark_names(text: str, words: Collection[str]) -> str:
    """Return a text with a mark before some words, wherever these can be names."""
    return re.sub(rf"{_NOT_NAMED}({'|'.join(sorted(words))})(?![\w-])", rf"{lx.NAME_MARK}\1", text)


def guess_names(kinds: str, capitals: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Guess which capitalised words are names of people.

    Args:
        kinds: The classes of a text.
        capitals: Its capitalised words, in order.

    Returns:
        The names, and those of them that only stand where any word is capitalised and may be other words.
    """
    starts = {match.end() - 1 for match in _CAPITAL_AT_START.finditer(kinds)}
    places = [place for place, kind in enumerate(kinds) if kind == lx.CAPITAL]
    sure: set[str] = set()
    located: set[str] = set()
    maybe: set[str] = set()
    for place, word in zip(places, capitals, strict=True):
        low, before, after = word.lower(), kinds[place - 1 : place], kinds[place + 1 : place + 2]
        if word in lx.CALENDAR and before not in ("K", "{", "c", lx.AND) and after not in (lx.POSSESSIVE, lx.AND):
            continue
        if before == lx.IN:
            located.add(word)
        elif place not in starts or word[0] == lx.NAME_MARK or (word in sure_first_names() and after != lx.CAPITAL):
            sure.add(word)
        elif low in lx.NO_NAMES or low.endswith("ly") or after == lx.CAPITAL:
            continue
        elif before == lx.QUOTE and (kinds[place + 2 : place + 3] == lx.QUOTE or after not in "',&(ix"):
            continue  # "Patience," said …; "Need a hand?" asked …
        elif after and after in "',&(ix":
            sure.add(word)
        else:
            maybe.add(word)
    return frozenset((sure | maybe) - located), frozenset(maybe - sure)


# ------------------------------------------------------------------------------------------------------------ skeletons

_QUOTED = re.compile(r'"([^"]*)"')
ABOUT_PEOPLE = "NKLZhrHesmgGty%RP"  # classes of words with which a quotation may be about people
# With "I" or "you" it may, if it is about what is true or what might be.
DOUBTFUL = "73!^IE|c"
_ABOUT_PEOPLE = re.compile(f"[{ABOUT_PEOPLE}]|{lx.SPEAKER}.*[{DOUBTFUL}]|[{DOUBTFUL}].*{lx.SPEAKER}", re.DOTALL)
_ADDRESS = re.compile(rf"{lx.KIN},(?P<rest>.*)", re.DOTALL)  # "Mum, it is late"
_JOBS = re.compile("(?<=[dD])j")
_BEASTS = re.compile(">(?=[Nc])")  # "the puppet called Walter"
IDLE = "j738964k+Q5=*$/>`]"  # classes that only the checks of whole stories look at
_TO_OTHER = str.maketrans(dict.fromkeys(IDLE, lx.OTHER))
_NOT_A_PERSON = re.compile("[=M@]o")
_TWIN = re.compile(r"\\(?=K)")
_RESULT = re.compile(r"(?:(?:^|[.\n])5v[p<][^T.,;\n]*|Q[^T.,;\nN]{1,2})T")  # it was at the pier that; so loudly that
_IDLE_MODIFIER = re.compile(r"(?:[M@\[]|(?<![hr])O)(?![M@O\[]*[KL])")
_OWN_KIN = re.compile("O(?=M*[KL])")
_NEUTRAL = f"[{re.escape(lx.NEUTRAL)}]"
_INNER = re.compile(f"(?<={_NEUTRAL}){_NEUTRAL}+(?={_NEUTRAL})")


def silence_quotations(kinds: str) -> str:
    """Return as many classes, in which quotations that mention nobody are neutral."""
    return _QUOTED.sub(_silence, kinds) if lx.QUOTE in kinds else kinds


def simplify(kinds: str) -> str:
    """Return as many classes, in which everything that the grammar does not look at is neutral."""
    if "9" in kinds:
        kinds = kinds.replace("D92", "ww2")  # "was the first to", which describes nobody
    if "k" in kinds:
        kinds = kinds.replace("Ski", "ccc").replace("pDko", "cccc")  # "whose name is", "by the name of"
    if lx.TWIN in kinds:
        kinds = _TWIN.sub(lx.MODIFIER, kinds).replace(lx.TWIN, lx.OTHER_KIN)
    if "T" in kinds:
        kinds = _RESULT.sub(lambda match: match[0][:-1] + lx.OTHER, kinds)
    kinds = _NOT_A_PERSON.sub("wp", kinds)
    if ">" in kinds:
        kinds = _BEASTS.sub(lx.UNREAL, kinds)
    if "j" in kinds:
        kinds = _JOBS.sub(lx.PERSON, kinds)
    kinds = _IDLE_MODIFIER.sub(lx.OTHER, kinds.translate(_TO_OTHER))
    kinds = kinds.replace(lx.OLD, lx.MODIFIER).replace(lx.ELDER, lx.MODIFIER)
    return _OWN_KIN.sub(lx.MODIFIER, kinds) if lx.OWN in kinds else kinds


def _silence(match: re.Match[str]) -> str:
    """Return a quotation that mentions nobody as nothing but its marks; a form of address before it stays."""
    words = match[1]
    address = _ADDRESS.fullmatch(words)
    rest = address["rest"] if address else words
    if _ABOUT_PEOPLE.search(rest) or (address and re.search(f"[{DOUBTFUL}]", rest)):
        return match[0]
    return f'"{words[: len(words) - len(rest)]}{lx.OTHER * len(rest)}"'


def reduce(kinds: str) -> str:
    """Return simplified classes without neutral words between neutral words."""
    return _INNER.sub("", kinds)


def kept_places(kinds: str) -> list[int]:
    """Return which places of simplified classes `reduce` keeps."""
    dropped = {place for match in _INNER.finditer(kinds) for place in range(*match.span())}
    return [place for place in range(len(kinds)) if place not in dropped]
