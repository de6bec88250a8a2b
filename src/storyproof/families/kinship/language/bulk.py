"""The same as `tokens` for many texts at once, as arrays; what the reader's checks may refuse is marked.

The texts of a batch are cut, classified, simplified and reduced together, and their sentences are numbered by skeleton.
Texts with marks or phrases that need a closer look (quotations, titles, "whose name is") are left to `tokens`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.checks import STORY_ABOUT, SUSPECT
from storyproof.families.kinship.language.lexicon import KinWord, kin_words
from storyproof.families.kinship.language.phrases import have_phrases
from storyproof.families.kinship.language.tokens import (
    ABOUT_PEOPLE,
    DOUBTFUL,
    ENDING_MARKS,
    IDLE,
    LATIN,
    LINE,
    Tokens,
    alphabet_of,
    class_of_word,
    fold,
    is_owner,
    is_word,
)
from storyproof.families.kinship.relations import MALE, NAMES, WORDS

Numbers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Kinds = npt.NDArray[np.uint8]
MOST_NAMES = 8  # in a sentence
MOST_PEOPLE = 62  # in a text; each is a bit
_PEOPLE = MOST_PEOPLE + 1
_MOST_SENTENCES = 100  # in a text; longer ones are read on their own
_LINE, _SPACE = ord(LINE), ord(" ")


def _table(kinds: str) -> Flags:
    """Return a flag for each class."""
    flags = np.zeros(256, np.bool_)
    flags[[ord(kind) for kind in kinds]] = True
    return flags


# What `_simplify` does not know: titles, questions, twins, other names, "whose name is", "it was at noon that".
_CLOSER = r"""[{}?\\P]|[SD]k|5v[p<][^.\n]*T"""
_NEUTRAL = _table(lx.NEUTRAL)
_ABOUT_PEOPLE = _table(ABOUT_PEOPLE + "{}" + LINE)  # with kin words that are capitalised
_SPEAKER, _DOUBTFUL = _table(lx.SPEAKER), _table(DOUBTFUL)
_START = _table('.?\n:"')
_END = _table(".\n")
_KIN = _table("KL")
_MODIFIERS = _table("M@[O")
_POSSESSIVE = _table("hr")
_THINGS, _NAMED, _ARTICLES = _table("=M@"), _table("Nc"), _table("dD")
_SO_WHAT = ~_table("T.,;\nN")  # may stand between "so" and "that"
_TO_OTHER = np.arange(256, dtype=np.uint8)
_TO_OTHER[[ord(kind) for kind in IDLE]] = ord(lx.OTHER)


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a batch of texts.

    Attributes:
        text: [sentence], the number of its text.
        line: [sentence], from 1.
        skeleton: [sentence], the number of its skeleton.
        skeletons: The distinct reduced classes of sentences.
        people: [sentence, name], the person's number in the list of the text's people, -1 after the last name.
        like_words: [sentence, name], whether the name is a word too.
        kins: [sentence + 1], where its kin words begin in the next three.
        predicate: [kin word], the number of the relation in `relations.NAMES`.
        male: [kin word], whether the relative is male.
        plural: [kin word], whether the word is plural.
        word: [kin word], the number of the word in `relations.WORDS`.
        closer: [text], whether it has to be read on its own.
        suspect: [text], whether patterns on its classes may match.
        kinds: The classes of all texts, before they are simplified.
        bounds: [text + 1], where its classes begin.
    """

    text: Numbers
    line: Numbers
    skeleton: Numbers
    skeletons: list[str]
    people: Numbers
    like_words: Flags
    kins: Numbers
    predicate: Numbers
    male: Flags
    plural: Flags
    word: Numbers
    closer: Flags
    suspect: Flags
    kinds: bytes
    bounds: Numbers


class KnownTokens:
    """The tokens met so far, as arrays by number; a token has its space or end of line at its end."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.size = 0  # characters of all tokens
        self._classes: dict[str, str] = {}  # of words
        self._words: dict[str, int] = {}  # capitalised words
        self._folded: dict[str, int] = {}
        self._names: dict[str, bool] = {}  # whether names can be told from words
        self.texts = pa.array([], pa.string())
        self.kinds = pa.array([], pa.binary())
        self.words = pa.array([], pa.string())
        self.capital, self.predicate, self.word, self.folded = (np.zeros(0, np.int64) for _ in range(4))
        (
            self.is_capital,
            self.is_kin,
            self.male,
            self.plural,
            self.named,
            self.calendar,
            self.like_word,
            self.foreign,
        ) = (np.zeros(0, np.bool_) for _ in range(8))

    def number(self, texts: pa.StringArray) -> Small:
        """Return the numbers of different tokens."""
        numbers = pc.index_in(texts, value_set=self.texts)
        if numbers.null_count:
            self._add(texts.filter(numbers.is_null()))
            numbers = pc.index_in(texts, value_set=self.texts)
        return np.asarray(numbers, np.int32)

    def is_name(self, name: str) -> bool:
        """Return what `Tokens.is_name` returns."""
        answer = self._names.get(name)
        if answer is None:
            answer = self._names[name] = self._class(name) == lx.CAPITAL if is_word(name) else self.tokens.is_name(name)
            self.size += len(name)
        return answer

    def _class(self, word: str) -> str:
        word_class = self._classes.get(word)
        if word_class is None:
            word_class = self._classes[word] = class_of_word(word)
        return word_class

    def _analyse(self, text: str) -> tuple[str, str | None, KinWord | None]:
        """Return classes, capitalised word and kin word of a token.

        Most tokens are a word with "'s" or marks after it, so that the word is all that has to be looked up.
        """
        bare, line = text[:-1], text[-1] if text[-1] == LINE else ""
        body = bare.rstrip(ENDING_MARKS)
        word = body.removesuffix("'s")
        owns = len(word) < len(body)
        if body and not (is_word(word) and (not owns or is_owner(word))):
            token = self.tokens[bare]
            return token.kinds + line, token.capital, token.kin
        marks = bare[len(body) :].replace("!", ".") + line
        if not body:
            return marks, None, None
        kind = self._class(word)
        kinds = f"{kind}{lx.POSSESSIVE}{marks}" if owns else kind + marks
        return kinds, word if kind == lx.CAPITAL else None, kin_words()[word.lower()] if kind in "KL{}" else None

    def _add(self, texts: pa.StringArray) -> None:
        """Add tokens."""
        words = self._words
        known = [self._analyse(text) for text in texts.to_pylist()]
        self.texts = pa.concat_arrays([self.texts, texts])
        self.size += texts.nbytes
        before = len(words)
        capital = [-1 if word is None else words.setdefault(word, len(words)) for _, word, _ in known]
        kins = [kin for _, _, kin in known]
        self.kinds = pa.concat_arrays([self.kinds, pa.array([kinds.encode() for kinds, _, _ in known], pa.binary())])
        self._append("capital", capital)
        self._append("is_capital", [word >= 0 for word in capital])
        self._append("is_kin", [kin is not None for kin in kins])
        self._append("predicate", [-1 if kin is None else NAMES.index(kin.predicate) for kin in kins])
        self._append("word", [-1 if kin is None else WORDS.index(kin.word) for kin in kins])
        self._append("male", [kin is not None and kin.gender == MALE for kin in kins])
        self._append("plural", [kin is not None and kin.plural for kin in kins])
        self._add_words(list(islice(words, before, None)))

    def _add_words(self, words: list[str]) -> None:
        """Add capitalised words."""
        folded = self._folded
        self.words = pa.concat_arrays([self.words, pa.array(words, pa.string())])
        self._append("named", [self.is_name(word) for word in words])
        self._append("calendar", [word in lx.CALENDAR for word in words])
        self._append("like_word", [word in lx.NAMES_LIKE_WORDS for word in words])
        self._append("folded", [folded.setdefault(fold(word), len(folded)) for word in words])
        self._append("foreign", [word[0] != "@" and alphabet_of(word[0]) != LATIN for word in words])

    def _append(self, name: str, more: list[Any]) -> None:
        """Append to one of the arrays."""
        array = getattr(self, name)
        setattr(self, name, np.concatenate([array, np.array(more, array.dtype)]))


def prepare(texts: Sequence[str], names: Sequence[Collection[str]], vocabulary: KnownTokens) -> Sentences:
    """Return texts as sentences, each with its skeleton, names and kin words.

    Args:
        texts: The texts.
        names: The people of each text.
        vocabulary: The tokens met so far.
    """
    array = pa.array(texts, pa.string())
    codes, first = _cut(array, vocabulary)
    kinds, token_bounds = _classes(vocabulary, codes)
    bounds = token_bounds[first]
    person, like_word, unusable = _resolve(kinds, bounds, names, codes, vocabulary)
    quoting = _silence(kinds, bounds)
    raw = kinds.tobytes()
    suspect, closer = _find_suspects(raw, bounds)
    closer |= unusable | quoting | have_phrases(array) | _have_stories(array, kinds, bounds)
    _simplify(kinds)
    kept = np.flatnonzero(_reduce(kinds))
    kinds = kinds[kept]
    ends = np.flatnonzero(_END[kinds]) + 1
    starts = np.concatenate([[0], ends[:-1]])
    encoded = pa.Array.from_buffers(
        pa.binary(),
        len(ends),
        [None, pa.py_buffer(np.concatenate([[0], ends]).astype(np.int32)), pa.py_buffer(kinds)],
    ).dictionary_encode()
    skeletons, skeleton = encoded.dictionary.to_pylist(), np.asarray(encoded.indices)
    name_counts = np.array([each.count(b"N") for each in skeletons])[skeleton]
    kin_counts = np.array([len(each) - len(each.translate(None, b"KL{}")) for each in skeletons])[skeleton]
    of = _owners(starts, np.searchsorted(kept, bounds))
    line = np.concatenate([[0], np.cumsum(kinds[ends - 1] == _LINE)[:-1]])
    line -= _first_of(line, of)
    real = np.flatnonzero(ends - starts > 1)  # others are the end of a line after the end of a sentence
    people, like_words = _spread(person, like_word, name_counts[real])
    closer[of[real][name_counts[real] > MOST_NAMES]] = True
    closer |= np.bincount(of[real], minlength=len(texts)) > _MOST_SENTENCES
    kin = codes[np.flatnonzero(vocabulary.is_kin[codes])]
    return Sentences(
        text=of[real],
        line=line[real] + 1,
        skeleton=skeleton[real].astype(np.int64),
        skeletons=[each[:-1].decode("ascii") for each in skeletons],
        people=people,
        like_words=like_words,
        kins=np.concatenate([[0], np.cumsum(kin_counts[real])]),
        predicate=vocabulary.predicate[kin],
        male=vocabulary.male[kin],
        plural=vocabulary.plural[kin],
        word=vocabulary.word[kin],
        closer=closer,
        suspect=suspect,
        kinds=raw,
        bounds=bounds,
    )


def _cut(texts: pa.Array, vocabulary: KnownTokens) -> tuple[Small, Numbers]:
    """Cut texts after spaces and lines; return the numbers of their tokens, and where each text begins.

    The end of a text ends a line.
    """
    joined = pc.binary_join_element_wise(texts, LINE, "")
    _, offsets, data = joined.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(joined) + 1, joined.offset * 4)
    letters = np.frombuffer(data, np.uint8, int(bounds[-1]))
    ends = np.flatnonzero((letters == _SPACE) | (letters == _LINE)).astype(np.int32) + np.int32(1)
    cuts = np.concatenate([bounds[:1], ends[np.searchsorted(ends, bounds[0], "right") :]])
    encoded = pa.Array.from_buffers(pa.string(), len(cuts) - 1, [None, pa.py_buffer(cuts), data]).dictionary_encode()
    codes = vocabulary.number(encoded.dictionary)[np.asarray(encoded.indices)]
    return codes, np.searchsorted(cuts, bounds)


def _classes(vocabulary: KnownTokens, codes: Small) -> tuple[Kinds, Numbers]:
    """Return the classes of all tokens, and where those of each token begin."""
    taken = vocabulary.kinds.take(pa.array(codes))
    _, offsets, data = taken.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(taken) + 1).astype(np.int64)
    return np.frombuffer(data, np.uint8, int(bounds[-1])).copy(), bounds


def _owners(places: Numbers, bounds: Numbers) -> Numbers:
    """Return the numbers of the texts to which places belong; both are sorted."""
    owners: Numbers = np.repeat(np.arange(len(bounds) - 1), np.diff(np.searchsorted(places, bounds)))
    return owners


def _resolve(
    kinds: Kinds, bounds: Numbers, names: Sequence[Collection[str]], codes: Small, vocabulary: KnownTokens
) -> tuple[Numbers, Flags, Flags]:
    """Mark names among the capitalised words.

    Returns:
        For each name its number in the list of the text's people, and whether it is a word too; for each text whether
        there are people whose names cannot be found.
    """
    capitals = vocabulary.capital[codes[np.flatnonzero(vocabulary.is_capital[codes])]]
    places = np.flatnonzero(kinds == ord(lx.CAPITAL))
    known, unusable = _list_people(names, vocabulary)
    wanted = _owners(places, bounds) * (len(vocabulary.words) + 1) + capitals
    at = np.minimum(np.searchsorted(known, wanted * _PEOPLE), max(len(known) - 1, 0))
    is_name = known[at] // _PEOPLE == wanted if len(known) else np.zeros(len(places), np.bool_)
    begins = _START[kinds[places - 1]]  # the first text is preceded by the end of the last
    other = np.where(begins | vocabulary.calendar[capitals], ord(lx.OTHER), ord(lx.PROPER))
    kinds[places] = np.where(is_name, ord(lx.NAME), other)
    person = known[at[is_name]] % _PEOPLE if len(known) else np.zeros(0, np.int64)
    return person, vocabulary.like_word[capitals[is_name]], unusable


def _list_people(names: Sequence[Collection[str]], vocabulary: KnownTokens) -> tuple[Numbers, Flags]:
    """Return a sorted number for each person whose name is known, and the texts with names of another kind.

    The number consists of the text, the word, and the person's place in the list of the text's people.
    """
    lengths = np.fromiter(map(len, names), np.int64, len(names))
    called = pa.array(list(chain.from_iterable(names)), pa.string()).dictionary_encode()
    words = pc.fill_null(pc.index_in(called.dictionary, value_set=vocabulary.words), -1)
    called_as = np.asarray(called.indices)
    word = np.asarray(words).astype(np.int64)[called_as]
    text = np.repeat(np.arange(len(names)), lengths)
    place = np.arange(len(word)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    known = (text * (len(vocabulary.words) + 1) + word) * _PEOPLE + place
    met = word >= 0
    known = known[met & (place < MOST_PEOPLE)]
    known.sort()
    unusable: Flags = lengths > MOST_PEOPLE
    # Names that look alike, and names in other alphabets, which may look like others.
    unusable[text[met][vocabulary.foreign[word[met]]]] = True
    alike = np.sort(text[met] * (len(vocabulary.words) + 1) + vocabulary.folded[word[met]])
    unusable[alike[1:][alike[1:] == alike[:-1]] // (len(vocabulary.words) + 1)] = True
    fits = np.append(vocabulary.named, False)[np.asarray(words)]
    wrong = [each for each in np.flatnonzero(~fits).tolist() if not vocabulary.is_name(called.dictionary[each].as_py())]
    if wrong:
        unusable[text[np.isin(called_as, wrong)]] = True
    return known, unusable


def _silence(kinds: Kinds, bounds: Numbers) -> Flags:
    """Make quotations that mention nobody neutral; return the texts with others, or with marks that are no pairs."""
    marks = _places(kinds, lx.QUOTE)
    text = np.searchsorted(bounds, marks, "right") - 1
    others: Flags = np.bincount(text, minlength=len(bounds) - 1) % 2 == 1
    inside = ~others[text]
    marks, text = marks[inside], text[inside]
    begins, ends = marks[::2], marks[1::2]

    def lacks(flags: Flags) -> Flags:
        count = np.concatenate([[0], np.cumsum(flags[kinds])])
        lacking: Flags = count[begins] == count[ends]
        return lacking

    silent = lacks(_ABOUT_PEOPLE) & (lacks(_SPEAKER) | lacks(_DOUBTFUL))
    others[text[::2][~silent]] = True
    change = np.zeros(len(kinds) + 1, np.int8)
    change[begins[silent] + 1] = 1
    change[ends[silent]] -= 1  # nothing may stand between the two marks
    kinds[np.cumsum(change[:-1], dtype=np.int8) > 0] = ord(lx.OTHER)
    return others


def _find_suspects(kinds: bytes, bounds: Numbers) -> tuple[Flags, Flags]:
    """Return which texts the checks of whole stories may refuse, and which have to be read on their own."""
    offsets = pa.py_buffer(bounds.astype(np.int32))
    texts = pa.Array.from_buffers(pa.string(), len(bounds) - 1, [None, offsets, pa.py_buffer(kinds)])
    suspect, closer = (
        pc.match_substring_regex(texts, pattern=pattern).to_numpy(zero_copy_only=False)
        for pattern in (SUSPECT, _CLOSER)
    )
    return suspect, closer


def _have_stories(texts: pa.Array, kinds: Kinds, bounds: Numbers) -> Flags:
    """Return which texts may tell of a story in the story."""
    may_tell = np.zeros(len(texts), np.bool_)
    places = np.flatnonzero(kinds == ord(lx.FICTION))
    chosen = np.flatnonzero(np.diff(np.searchsorted(places, bounds)))
    may_tell[chosen] = pc.match_substring_regex(texts.take(pa.array(chosen)), pattern=STORY_ABOUT)
    return may_tell


def _simplify(kinds: Kinds) -> None:
    """Do what `tokens.simplify` does; what it changes is rare, so that only these places are looked at."""
    first = _places(kinds, "9")
    first = first[(kinds[first - 1] == ord("D")) & (kinds[first + 1] == ord("2"))]
    kinds[first - 1] = ord(lx.OTHER)
    _simplify_results(kinds)
    thing = _places(kinds, "o")
    thing = thing[_THINGS[kinds[thing - 1]]]
    kinds[thing - 1] = ord(lx.OTHER)
    kinds[thing] = ord(lx.PREPOSITION)
    beast = _places(kinds, ">")
    kinds[beast[_NAMED[kinds[beast + 1]]]] = ord(lx.UNREAL)
    job = _places(kinds, "j")
    kinds[job[_ARTICLES[kinds[job - 1]]]] = ord(lx.PERSON)
    np.take(_TO_OTHER, kinds, out=kinds, mode="clip")
    modifier = np.flatnonzero(_MODIFIERS[kinds])
    own = (kinds[modifier] == ord(lx.OWN)) & _POSSESSIVE[kinds[modifier - 1]]
    live = _KIN[kinds[modifier + 1]]
    beside = np.flatnonzero(modifier[1:] == modifier[:-1] + 1)[::-1].tolist()
    for place in beside:  # from the last to the first, so that the kin word at the end of a row reaches all of it
        live[place] |= live[place + 1]
    kinds[modifier[~own]] = ord(lx.OTHER)
    kinds[modifier[live]] = ord(lx.MODIFIER)


def _places(kinds: Kinds, kind: str) -> Numbers:
    """Return where a class stands; never at the end, since that is the end of a line."""
    return np.flatnonzero(kinds == ord(kind))


def _simplify_results(kinds: Kinds) -> None:
    """Make "that" neutral after "so" and one or two words."""
    at = _places(kinds, lx.SO) + 1
    for _ in range(2):
        at = at[_SO_WHAT[kinds[at]]] + 1
        that = kinds[at] == ord(lx.THAT)
        kinds[at[that]] = ord(lx.OTHER)
        at = at[~that]


def _reduce(kinds: Kinds) -> Flags:
    """Return which places `tokens.reduce` keeps."""
    neutral = _NEUTRAL[kinds]
    return ~(neutral & np.roll(neutral, 1) & np.roll(neutral, -1))


def _first_of(values: Numbers, group: Numbers) -> Numbers:
    """Return for each place the first value of its group; groups are sorted."""
    change = np.concatenate([[True], group[1:] != group[:-1]])
    firsts: Numbers = values[change][np.cumsum(change) - 1]
    return firsts


def _spread(person: Numbers, like_word: Flags, counts: Numbers) -> tuple[Numbers, Flags]:
    """Return the names of sentences as rows."""
    starts = np.cumsum(counts) - counts
    sentence = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(person)) - starts[sentence]
    fits = place < MOST_NAMES
    people = np.full((len(counts), MOST_NAMES), -1, np.int64)
    like_words = np.zeros((len(counts), MOST_NAMES), np.bool_)
    people[sentence[fits], place[fits]] = person[fits]
    like_words[sentence[fits], place[fits]] = like_word[fits]
    return people, like_words
