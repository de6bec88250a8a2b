"""The sentences and questions of many stories read at once, as arrays: those in the words of a language pack.

Text is cut at its words, or characters where no spaces separate words. Names and nouns are found as `reader` finds
them, and texts that differ in nothing else have one skeleton, which `reader` reads once. What it does not read by its
table of skeletons, such as words of one's own, is left to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.families.belief.arrays import Flags
from storyproof.families.belief.language.grammar import FEMALE, MALE
from storyproof.families.belief.language.pack import AGENT, CONTAINER, HEARER, ROOM, THING
from storyproof.families.belief.language.reader import IN_ROOM, OF_THING, StoryReader
from storyproof.families.belief.questions import ASKS
from storyproof.families.belief.tomi_text import parse_question, parse_sentence
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import NO_WORD, Words

Read = TypeVar("Read")
Numbers = npt.NDArray[np.intp]
Codes = npt.NDArray[np.int32]

UNREAD = len(EventKind)  # the kind of a sentence that is left to `reader`
ROLES = (AGENT, ROOM, THING, CONTAINER, HEARER)
_GENDERS = {MALE: 1, FEMALE: 2}  # as bits
_ANY = 3
_KIND = np.arange(len(EventKind) + 1)
_IN_ROOM, _OF_THING = np.isin(_KIND, IN_ROOM), np.isin(_KIND, OF_THING)
_MOST_WORDS = 64  # of a text; longer ones are left to `reader`
_MOST_REMEMBERED = 1 << 16  # tokens
_WORD = re.compile(r"[\w'’-]+")
_SPACE = " "
_IN_WORD = np.zeros(256, np.bool_)  # bytes; those above 127 belong to letters and signs, which tokens tell apart
_IN_WORD[[*b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_'-", *range(128, 256)]] = True
_QUOTES = tuple(mark.encode() for mark in "“”„«»")
_NOTHING = -1
_PHRASE, _TAIL_BITS = 1 << 62, 32  # the symbols of phrases: above those of all tokens, kind and tail
_OWN = 4  # columns of what a sentence means before those of the roles
_UNREAD = (UNREAD, False, False, _NOTHING, *[0] * len(ROLES), *[_NOTHING] * len(ROLES))
_MIX = np.uint64(0x9E3779B97F4A7C15)


class _Token(NamedTuple):
    """A word with what follows it up to the next word.

    Attributes:
        word: The number of the word among those of phrases, -1 if it is in none.
        lowered: The same with a small first letter.
        tail: What follows it.
        is_clear: Whether it is one word, or no phrase can begin in it.
        number: Its own number, which no other token ever has.
    """

    word: int
    lowered: int
    tail: str
    is_clear: bool
    number: int


class _Alike(NamedTuple):
    """Texts by skeleton.

    Attributes:
        skeleton: The skeleton of each text, -1 for those that are left to `reader`.
        first: A text of each skeleton.
        phrases: The phrases of each text, [text, place], -1 after the last.
        symbols: The skeletons, [skeleton, place], -1 after the last symbol; the same in every table.
    """

    skeleton: Numbers
    first: Numbers
    phrases: Codes
    symbols: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SentenceTable:
    """Sentences as numbers.

    Attributes:
        kind: `EventKind`, or UNREAD.
        is_lie: Whether the text calls a message a lie.
        is_tomi: Whether the sentence is one of ToMi's wording too.
        words: The word number of each role, [role, sentence], NO_WORD where a sentence has none. Things that are liked
            may be containers, whose numbers follow those of the things.
        left_out: What is left to the sentence before, [role, sentence]: the genders that somebody can have as bits,
            both of them for a room or an object; 0 for nothing.
        hour: The number of the time with which it begins, -1 if it does not.
    """

    kind: npt.NDArray[np.uint8]
    is_lie: Flags
    is_tomi: Flags
    words: Words
    left_out: npt.NDArray[np.uint8]
    hour: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """Questions as numbers.

    Attributes:
        ask: What is asked, as an index into ASKS.
        is_read: Which questions were read; the others are left to `reader`.
        is_tomi: Whether the question is one of ToMi's wording too.
        thing: The word number of the object.
        chain: Those of the agents, [place in the chain, question], NO_WORD after the end.
        place: That of the container, NO_WORD where the kind has none.
    """

    ask: npt.NDArray[np.uint8]
    is_read: Flags
    is_tomi: Flags
    thing: Words
    chain: Words
    place: Words


class BlockReader:
    """Reads texts in the words of one language."""

    def __init__(self, reader: StoryReader, earlier: Sequence[StoryReader] = ()) -> None:
        """Prepare to read.

        Args:
            reader: The reader of the language.
            earlier: Those of the languages that questions are tried in before.
        """
        self._reader, self._earlier = reader, earlier
        phrases = reader.phrases()
        self._phrases = list(phrases.values())
        self._number_words()
        self._tokens: dict[str, _Token] = {}
        self._tails: dict[str, int] = {}
        self._numbers = count(1)
        self._clauses: dict[bytes, tuple[int, ...]] = {}  # what sentences mean, by skeleton: see `_clause`
        self._words: dict[str, int] = {}
        self._is_spaced, self._space = reader.pack.grammar.spaced, reader.pack.space
        pieces = [surface.split(_SPACE) if self._is_spaced else list(surface) for surface in phrases]
        for word in (word for words in pieces for word in words):
            self._words.setdefault(word, len(self._words))
        self._starts = {words[0] for words in pieces}
        self._build_trie(pieces)
        # Texts with phrases of one kind in the same places are read alike by `reader` and by ToMi's patterns.
        kinds: dict[tuple[object, ...], int] = {}
        self._kind: Codes = np.array(
            [
                kinds.setdefault((phrase.sign, len(words), surface.endswith(phrase.word)), len(kinds))
                for (surface, phrase), words in zip(phrases.items(), pieces, strict=True)
            ],
            np.int32,
        )

    def _number_words(self) -> None:
        """Number what phrases name: places in the lists of the pack."""
        nouns = self._reader.pack.nouns
        places = {role: {noun.word: place for place, noun in enumerate(nouns[role])} for role in nouns}
        numbers = [places[each.role][each.word] if each.is_name else NO_WORD for each in self._phrases]
        shift = [len(nouns[THING]) if each.role == CONTAINER else 0 for each in self._phrases]
        self._number = np.array(numbers, np.int32)
        self._number_as_thing = self._number + np.array(shift, np.int32)
        self._gender = np.array([*(_GENDERS[noun.gender] for noun in nouns[AGENT]), 0], np.uint8)  # the last: nobody

    def _build_trie(self, pieces: Sequence[Sequence[str]]) -> None:
        """Build the tables that lead from the words of phrases to the phrases."""
        nodes: dict[tuple[int, ...], int] = {(): 0}
        for words in pieces:
            path = tuple(self._words[word] for word in words)
            for end in range(1, len(path) + 1):
                nodes.setdefault(path[:end], len(nodes))
        self._next = np.zeros((len(nodes), len(self._words) + 1), np.int32)  # the last column is of other words
        self._phrase_at = np.full(len(nodes), _NOTHING, np.int32)
        for path, node in nodes.items():
            if path:
                self._next[nodes[path[:-1]], path[-1]] = node
        for number, words in enumerate(pieces):
            self._phrase_at[nodes[tuple(self._words[word] for word in words)]] = number
        self._longest = max(map(len, pieces))

    def sentences(self, texts: pa.StringArray) -> SentenceTable:
        """Read different sentences."""
        if max(len(self._clauses), len(self._tails)) > _MOST_REMEMBERED:
            self._clauses.clear()
            self._tails.clear()
        alike = self._find_alike(texts, initial=True)
        keys = [symbols[symbols != _NOTHING].tobytes() for symbols in alike.symbols]
        new = np.array([number for number, key in enumerate(keys) if key not in self._clauses], np.intp)
        for number, (text, named) in zip(new.tolist(), self._representatives(texts, alike, new), strict=True):
            self._clauses[keys[number]] = self._clause(text, named)
        # The last skeleton is that of what is not read.
        columns = np.array([*(self._clauses[key] for key in keys), _UNREAD], np.int32)[alike.skeleton].T
        kind, is_lie, is_tomi, hour = columns[:_OWN]
        left_out, slots = columns[_OWN : _OWN + len(ROLES)], columns[_OWN + len(ROLES) :]
        words = np.full((len(ROLES), len(texts)), NO_WORD, np.int32)
        for row, (role, places) in enumerate(zip(ROLES, slots, strict=True)):
            words[row] = _pick(self._number_as_thing if role == THING else self._number, alike.phrases, places)
        return SentenceTable(
            kind.astype(np.uint8),
            is_lie.astype(np.bool_),
            is_tomi.astype(np.bool_),
            words,
            left_out.astype(np.uint8),
            hour.astype(np.int8),
        )

    def _clause(self, text: str, named: list[tuple[str, str]]) -> tuple[int, ...]:
        """Return what a sentence means: four numbers of `SentenceTable`, what each role leaves out, and its phrase."""
        clause = self._reader.clause(text)
        if clause is None or clause.named != named:
            return _UNREAD
        left_out, slots = [0] * len(ROLES), [_NOTHING] * len(ROLES)
        for role, genders in clause.left_out.items():
            left_out[ROLES.index(role)] = sum(_GENDERS[each] for each in genders) or _ANY
        for place, role in enumerate(clause.roles):
            if role:
                slots[ROLES.index(role)] = place
        is_tomi = _read_if_possible(parse_sentence, text) is not None
        return clause.kind, clause.is_lie, is_tomi, clause.hour, *left_out, *slots

    def fill_in(self, kind: npt.NDArray[np.uint8], words: Words, left_out: npt.NDArray[np.uint8]) -> Flags:
        """Put into sentences what they leave to the one before, by the rule of `reader`; return where there is nothing.

        Args:
            kind: What happens, [story, time].
            words: The words of each role, [role, story, time], which are changed.
            left_out: See `SentenceTable`, [role, story, time].
        """
        agent, hearer, room, thing = (ROLES.index(role) for role in (AGENT, HEARER, ROOM, THING))
        is_wrong = np.zeros(kind.shape[0], np.bool_)
        for time in np.flatnonzero(left_out.any(axis=(0, 1))).tolist():
            needed = left_out[:, :, time]
            if not time:
                is_wrong |= needed.any(axis=0)
                continue
            before, subject, other = kind[:, time - 1], words[agent, :, time - 1], words[hearer, :, time - 1]
            for role in (agent, hearer):
                genders = needed[role]
                fits = (self._gender[subject] & genders) > 0
                fits &= (other == subject) | ((self._gender[other] & genders) == 0)
                is_wrong |= (genders > 0) & ~fits
                words[role, :, time] = np.where(genders > 0, subject, words[role, :, time])
            for role, known in ((room, _IN_ROOM[before]), (thing, _OF_THING[before])):
                word = words[role, :, time - 1]
                is_missing = needed[role] > 0
                is_wrong |= is_missing & ~(
                    known & (word != NO_WORD) & (word < len(self._reader.pack.nouns[ROLES[role]]))
                )
                words[role, :, time] = np.where(is_missing, word, words[role, :, time])
        return is_wrong

    def questions(self, texts: pa.StringArray) -> QuestionTable:
        """Read different questions."""
        alike = self._find_alike(texts, initial=False)
        count = len(alike.first)
        ask, is_read, is_tomi = (np.zeros(count + 1, np.uint8), *(np.zeros(count + 1, np.bool_) for _ in range(2)))
        width = alike.phrases.shape[1]
        thing, place = (np.full(count + 1, _NOTHING, np.int32) for _ in range(2))
        chain = np.full((max(1, width), count + 1), _NOTHING, np.int32)
        for number, (text, named) in enumerate(self._representatives(texts, alike, np.arange(count))):
            clause = self._reader.question_clause(text)
            tomi = _read_if_possible(parse_question, text)
            if clause is None or clause.named != named or tomi not in (None, clause.question):
                continue
            if any(_read_if_possible(other.read_question, text) is not None for other in self._earlier):
                continue
            ask[number], is_read[number], is_tomi[number] = ASKS.index(clause.question.ask), True, tomi is not None
            agents = [at for at, role in enumerate(clause.roles) if role == AGENT]
            chain[: len(agents), number] = agents
            thing[number] = clause.roles.index(THING)
            place[number] = clause.roles.index(CONTAINER) if CONTAINER in clause.roles else _NOTHING
        longest = max(1, int((chain != _NOTHING).sum(axis=0).max(initial=0)))

        def numbers(places: Codes) -> Words:
            return _pick(self._number, alike.phrases, places[alike.skeleton])

        return QuestionTable(
            ask[alike.skeleton],
            is_read[alike.skeleton],
            is_tomi[alike.skeleton],
            numbers(thing),
            np.stack([numbers(each) for each in chain[:longest]]),
            numbers(place),
        )

    def _representatives(
        self, texts: pa.StringArray, alike: _Alike, skeletons: Numbers
    ) -> Iterable[tuple[str, list[tuple[str, str]]]]:
        """Yield a text of each of some skeletons, with the role and word of each of its phrases."""
        first = alike.first[skeletons]
        chosen = texts.take(pa.array(first)).to_pylist()
        for text, phrases in zip(chosen, alike.phrases[first].tolist(), strict=True):
            yield text, [(self._phrases[each].role, self._phrases[each].word) for each in phrases if each != _NOTHING]

    def _find_alike(self, texts: pa.StringArray, *, initial: bool) -> _Alike:
        """Find the phrases of texts, and which texts differ in nothing else."""
        token, text = _cut(texts, is_spaced=self._is_spaced)
        known = [self._token(each) for each in token.dictionary.to_pylist()]
        code = np.asarray(token.indices)
        columns = zip(*known, strict=True) if known else ((), (), (), (), ())
        word, lowered, tails, clear, numbers = columns
        self._tails.setdefault(self._space, 0)
        tail = np.array([self._tails.setdefault(each, len(self._tails)) for each in tails], np.int32)[code]
        starts = np.flatnonzero(np.diff(text, prepend=_NOTHING))
        unclear = np.zeros(len(texts), np.bool_)
        unclear[text[~np.array(clear, np.bool_)[code]]] = True
        unclear[text[_places(text, len(texts)) >= _MOST_WORDS]] = True
        goes_on = np.append((text[1:] == text[:-1]) & (tail[:-1] == 0), False) if len(code) else np.zeros(0, np.bool_)
        words = np.array(word, np.int32)[code]
        phrase, length = self._find_phrases(words, words, goes_on, np.arange(len(code)))
        if initial:  # the first word may have a capital that it has nowhere else
            small, small_length = self._find_phrases(np.array(lowered, np.int32)[code], words, goes_on, starts)
            is_longer = small_length > length[starts]
            phrase[starts] = np.where(is_longer, small, phrase[starts])
            length[starts] = np.maximum(length[starts], small_length)
        found, is_within = self._without_overlaps(phrase, length, _places(text, len(texts)))
        # Literal words have the number of their token, phrases one of their kind and what follows them.
        symbol = np.array(numbers, np.int64)[code]
        last = found + length[found] - 1
        symbol[found] = _PHRASE + (self._kind[phrase[found]].astype(np.int64) << _TAIL_BITS) + tail[last]
        kept = ~is_within
        row, symbol = text[kept], symbol[kept]
        at = _places(row, len(texts))
        fits = at < _MOST_WORDS
        rows = np.full((len(texts), int(at[fits].max(initial=0)) + 1), _NOTHING, np.int64)
        rows[row[fits], at[fits]] = symbol[fits]
        which, first = _distinct(rows, unclear)
        owner = text[found]
        number = _places(owner, len(texts))
        usable = ~unclear[owner]
        phrases = np.full((len(texts), int(number[usable].max(initial=-1)) + 1), _NOTHING, np.int32)
        phrases[owner[usable], number[usable]] = phrase[found[usable]]
        return _Alike(which, first, phrases, rows[first])

    def _find_phrases(
        self, first: Codes, words: Codes, goes_on: Flags, at: Numbers
    ) -> tuple[Codes, npt.NDArray[np.int32]]:
        """Return the longest phrase that begins at each of some tokens, and its number of words.

        Args:
            first: The words of tokens as first words of phrases.
            words: The words of tokens.
            goes_on: Whether a space and another token of the same text follow.
            at: The tokens.
        """
        node = self._next[0, first[at]]
        phrase = self._phrase_at[node]
        length = (phrase != _NOTHING).astype(np.int32)
        live = np.flatnonzero(node)
        for more in range(1, self._longest):
            live = live[goes_on[at[live] + more - 1]]
            node[live] = self._next[node[live], words[at[live] + more]]
            live = live[node[live] != 0]
            ends = live[self._phrase_at[node[live]] != _NOTHING]
            phrase[ends], length[ends] = self._phrase_at[node[ends]], more + 1
        return phrase, length

    def _without_overlaps(self, phrase: Codes, length: Codes, place: Numbers) -> tuple[Numbers, Flags]:
        """Return the tokens at which phrases begin, and which tokens belong to one but do not begin it.

        Args:
            phrase: The longest phrase that begins at each token.
            length: Its number of words.
            place: The place of each token in its text.
        """
        found = np.flatnonzero(phrase != _NOTHING)
        found = found[np.argsort(place[found], kind="stable")]
        is_within = np.zeros(len(phrase) + self._longest, np.bool_)
        # A phrase that begins in another is none.
        for at in np.split(found, np.cumsum(np.bincount(place[found]))[:-1]) if len(found) else ():
            at = at[~is_within[at]]
            for more in range(1, self._longest):
                is_within[at[length[at] > more] + more] = True
        is_within = is_within[: len(phrase)]
        return np.sort(found[~is_within[found]]), is_within

    def _token(self, text: str) -> _Token:
        """Return what is known of a token."""
        token = self._tokens.get(text)
        if token is None:
            if len(self._tokens) >= _MOST_REMEMBERED:
                self._tokens.clear()
            token = self._tokens[text] = self._analyse(text)
        return token

    def _analyse(self, text: str) -> _Token:
        other = len(self._words)
        if not self._is_spaced:
            word_number = self._words.get(text, other)
            return _Token(word_number, word_number, "", is_clear=True, number=next(self._numbers))
        match = _WORD.match(text)
        if match is not None and _WORD.search(text, match.end()) is None:
            word = match[0]
            small = word[:1].lower() + word[1:]
            word_number, small_number = (self._words.get(each, other) for each in (word, small))
            return _Token(word_number, small_number, text[match.end() :], is_clear=True, number=next(self._numbers))
        found = [each for word in _WORD.findall(text) for each in (word, word[:1].lower() + word[1:])]
        return _Token(other, other, text, is_clear=self._starts.isdisjoint(found), number=next(self._numbers))


def _read_if_possible(read: Callable[[str], Read], text: str) -> Read | None:
    """Return what a text says; None if it cannot be read."""
    try:
        return read(text)
    except ParseError:
        return None


def _cut(texts: pa.StringArray, *, is_spaced: bool) -> tuple[pa.DictionaryArray, Numbers]:
    """Cut texts before each of their words, or characters; return the tokens, and the number of the text of each."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    letters = np.frombuffer(data, np.uint8, int(bounds[-1])) if data is not None else np.zeros(0, np.uint8)
    if is_spaced:
        in_word = _IN_WORD[letters] & ~_find_quotes(letters)
        begins = in_word.copy()
        begins[1:] &= ~in_word[:-1]
    else:
        begins = (letters & 0xC0) != 0x80
    begins[: bounds[0]] = False
    begins[bounds[:-1][bounds[:-1] < bounds[1:]]] = True  # texts that are not empty
    cuts = np.append(np.flatnonzero(begins), bounds[-1]).astype(np.int32)
    tokens = pa.Array.from_buffers(pa.string(), len(cuts) - 1, [None, pa.py_buffer(cuts), data])
    return tokens.dictionary_encode(), np.searchsorted(bounds, cuts[:-1], "right") - 1


def _find_quotes(letters: npt.NDArray[np.uint8]) -> Flags:
    """Return which bytes belong to quotation marks, which stand beside words."""
    found = np.zeros(len(letters), np.bool_)
    for mark in _QUOTES:
        width = len(mark)
        at = np.flatnonzero(letters[: max(0, len(letters) - width + 1)] == mark[0])
        for place, byte in enumerate(mark[1:], start=1):
            at = at[letters[at + place] == byte]
        for place in range(width):
            found[at + place] = True
    return found


def _places(owner: Numbers, count: int) -> Numbers:
    """Return the place of each thing among those of its owner; owners are sorted."""
    places: Numbers = np.arange(len(owner)) - np.searchsorted(owner, np.arange(count))[owner]
    return places


def _distinct(rows: npt.NDArray[np.int64], left_out: Flags) -> tuple[Numbers, Numbers]:
    """Return which of the distinct rows each row is, -1 for those that are left out; and where each first occurs."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ (column + 1).astype(np.uint64)) * _MIX
        keys ^= keys >> np.uint64(29)
    kept = np.flatnonzero(~left_out)
    _, first, which = np.unique(keys[kept], return_index=True, return_inverse=True)
    first = kept[first]
    number = np.full(len(rows), _NOTHING, np.intp)
    same = (rows[kept] == rows[first[which]]).all(axis=1)  # rows of one key may differ
    number[kept[same]] = which[same]
    return number, first


def _pick(numbers: Words, phrases: Codes, places: Codes) -> Words:
    """Return the numbers of one phrase of each text, NO_WORD where the place is none."""
    if not phrases.shape[1]:
        return np.full(len(places), NO_WORD, np.int32)
    chosen = phrases[np.arange(len(phrases)), np.maximum(places, 0)]
    return np.where(places == _NOTHING, np.int32(NO_WORD), numbers[chosen])
