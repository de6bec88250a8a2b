"""The same as `tokens` for many texts at once, as arrays.

The texts of a batch are cut, classified, simplified and reduced together, and their sentences are numbered by skeleton.
Texts with marks or phrases that need a closer look (quotations, titles, "whose name is") are left to `tokens`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.lexicon import Kin
from storyproof.families.kinship.language.tokens import IDLE, LINE, Tokens

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Kinds = npt.NDArray[np.uint8]
_LINE = ord(LINE)


def _table(kinds: str) -> Flags:
    """Return a flag for each class."""
    found = np.zeros(256, np.bool_)
    found[[ord(kind) for kind in kinds]] = True
    return found


_CLOSER = _table('"{}?\\')
_NEUTRAL = _table(lx.NEUTRAL)
_START = _table('.?\n:"')
_END = _table(".\n")
_NAME = _table(lx.NAME)
_ANY_KIN = _table("KL{}")
_MODIFIERS = _table("M@[O")
_KIN = _table("KL")
_SUSPECT = _table("73]![48+RE*/P")
_COPULA = _table("iva")
_AFTER_TURN = _table("iva6")
_TO_OTHER = np.arange(256, dtype=np.uint8)
_TO_OTHER[[ord(kind) for kind in IDLE]] = ord(lx.OTHER)


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts as sentences.

    Attributes:
        closer: [text], whether it has to be read on its own.
        suspect: [text], whether patterns on its classes may match.
        kinds: The classes of all texts, before they are simplified.
        ends: [text], where its classes end, with an end of line.
        skeletons: The distinct reduced classes of sentences.
        skeleton: [sentence], which of them it has.
        repeats: [sentence], whether a name occurs in it more than once.
        line: [sentence], from 1.
        name: [sentence + 1], where its names begin in `names`.
        kin: [sentence + 1], where its kin words begin in `kins`.
        names: All names, in order.
        kins: All kin words, in order.
        first: [text + 1], where its sentences begin.
    """

    closer: list[bool]
    suspect: list[bool]
    kinds: bytes
    ends: list[int]
    skeletons: list[str]
    skeleton: list[int]
    repeats: list[bool]
    line: list[int]
    name: list[int]
    kin: list[int]
    names: list[str]
    kins: list[Kin]
    first: list[int]


def prepare(texts: Sequence[str], names: Sequence[Collection[str]], tokens: Tokens) -> Batch:
    """Return texts as sentences, each with its skeleton, names and kin words.

    Args:
        texts: The texts.
        names: The people of each text.
        tokens: The tokens known so far.
    """
    codes, first, unique = _cut(texts)
    known = [tokens[each] for each in unique]
    kinds, token_ends = _classes([each.kinds for each in known], codes)
    bounds = np.concatenate([[0], token_ends])[first]
    text = np.repeat(np.arange(len(texts)), np.diff(bounds))
    called = _resolve(kinds, text, names, [each.capital for each in known], codes)
    raw = kinds.tobytes()
    suspect, closer = _find_suspects(kinds, text, len(texts))
    kin_words = [each.kin for each in known]
    has_kin = np.array([kin is not None for kin in kin_words], np.bool_)
    kins = [kin_words[code] for code in codes[has_kin[codes]].tolist()]
    _simplify(kinds)
    kept = _reduce(kinds)
    kinds, text = kinds[kept], text[kept]
    ends = np.flatnonzero(_END[kinds]) + 1
    starts = np.concatenate([[0], ends[:-1]])
    encoded = pa.Array.from_buffers(
        pa.binary(),
        len(ends),
        [None, pa.py_buffer(np.concatenate([[0], ends]).astype(np.int32)), pa.py_buffer(kinds)],
    ).dictionary_encode()
    real = ends - starts > 1  # others are the end of a line after the end of a sentence
    name, kin = (np.add.reduceat(table[kinds], starts, dtype=np.int64) for table in (_NAME, _ANY_KIN))
    of = text[starts]
    line = np.concatenate([[0], np.cumsum(kinds == _LINE)])[starts]
    line -= _first_of(line, of)
    skeletons = [each[:-1].decode("ascii") for each in encoded.dictionary.to_pylist()]
    names_of = np.repeat(np.arange(len(ends)), name)
    repeats = _find_repeats(called[1], names_of, len(ends))
    chosen = np.flatnonzero(real)
    return Batch(
        closer=closer.tolist(),
        suspect=suspect.tolist(),
        kinds=raw,
        ends=bounds[1:].tolist(),
        skeletons=skeletons,
        skeleton=np.asarray(encoded.indices)[chosen].tolist(),
        repeats=repeats[chosen].tolist(),
        line=(line[chosen] + 1).tolist(),
        name=_offsets(name, chosen),
        kin=_offsets(kin, chosen),
        names=called[0],
        kins=kins,  # type: ignore[arg-type]  # tokens without a kin word are left out
        first=np.searchsorted(of[chosen], np.arange(len(texts) + 1)).tolist(),
    )


def _cut(texts: Sequence[str]) -> tuple[Numbers, Numbers, list[str]]:
    """Cut texts at spaces, and return the numbers of tokens, where each text begins, and the distinct tokens."""
    array = pa.array(texts, pa.string())
    array = pc.binary_join_element_wise(pc.replace_substring(array, LINE, f" {LINE} "), LINE, " ")
    lists = pc.split_pattern(array, " ")
    encoded = lists.flatten().dictionary_encode()
    return np.asarray(encoded.indices), np.asarray(lists.offsets), encoded.dictionary.to_pylist()


def _classes(kinds: list[str], codes: Numbers) -> tuple[Kinds, Numbers]:
    """Return the classes of all tokens, and where those of each token end."""
    taken = pa.array([each.encode() for each in kinds], pa.binary()).take(pa.array(codes))
    _, offsets, data = taken.buffers()
    ends = np.frombuffer(offsets, np.int32, len(taken) + 1)
    return np.frombuffer(data, np.uint8, int(ends[-1])).copy(), ends[1:].astype(np.int64)


def _resolve(
    kinds: Kinds, text: Numbers, names: Sequence[Collection[str]], capitals: list[str | None], codes: Numbers
) -> tuple[list[str], Numbers]:
    """Mark names among the capitalised words, and return the names and their numbers."""
    words: dict[str, int] = {}
    number = np.array([-1 if word is None else words.setdefault(word, len(words)) for word in capitals], np.int64)
    numbers = number[codes]
    numbers = numbers[numbers >= 0]
    places = np.flatnonzero(kinds == ord(lx.CAPITAL))
    size = max(len(words), 1)
    known = [at * size + words[name] for at, each in enumerate(names) for name in each if name in words]
    is_name = np.isin(text[places] * size + numbers, np.array(known, np.int64))
    calendar = np.array([word in lx.CALENDAR for word in words], np.bool_)
    before = kinds[places - 1]  # the first text is preceded by the last end of line
    other = np.where(_START[before] | calendar[numbers] if len(words) else _START[before], ord(lx.OTHER), ord(lx.PROPER))
    kinds[places] = np.where(is_name, ord(lx.NAME), other)
    chosen = numbers[is_name]
    called = np.array([*words, ""], object)
    return called[chosen].tolist(), chosen


def _shifted(kinds: Kinds, by: int) -> Kinds:
    """Return for each place the class `by` places before it, or after it if negative.

    A text ends with the end of a line, so that no pattern reaches into another text.
    """
    return np.roll(kinds, by)


def _find_suspects(kinds: Kinds, text: Numbers, count: int) -> tuple[Flags, Flags]:
    """Find the texts whose classes patterns have to be tried on, and those that have to be read on their own."""
    before, before2, after = _shifted(kinds, 1), _shifted(kinds, 2), _shifted(kinds, -1)

    def is_(kind: str) -> Flags:
        return kinds == ord(kind)

    suspect = _SUSPECT[kinds]
    suspect |= is_("n") & (_AFTER_TURN[before] | _COPULA[before2])
    suspect |= is_("@") & (before2 == ord("n"))
    suspect |= is_("^") & _END[after]
    suspect |= is_("`") & _COPULA[before]
    suspect |= is_("i") & ((before == ord("Q")) | (before == ord("A")))
    suspect |= is_("z") & ((before == ord("x")) | (before == ord("X")))
    suspect |= (is_("p") | is_("<")) & _COPULA[before]
    closer = _CLOSER[kinds] | (is_("k") & ((before == ord("S")) | (before == ord("D"))))

    def texts(flags: Flags) -> Flags:
        return np.bincount(text[flags], minlength=count) > 0

    result = texts(is_("T")) & (texts(is_("Q")) | texts(is_("5")))
    return texts(suspect), texts(closer) | result


def _simplify(kinds: Kinds) -> None:
    """Do what `tokens.simplify` does."""
    before, after = _shifted(kinds, 1), _shifted(kinds, -1)
    first = (kinds == ord("9")) & (before == ord("D")) & (after == ord("2"))
    kinds[np.flatnonzero(first) - 1] = ord(lx.OTHER)
    thing = (kinds == ord("o")) & ((before == ord("=")) | (before == ord("M")) | (before == ord("@")))
    kinds[np.flatnonzero(thing) - 1] = ord(lx.OTHER)
    kinds[thing] = ord(lx.PREPOSITION)
    kinds[(kinds == ord(">")) & ((after == ord("N")) | (after == ord("c")))] = ord(lx.UNREAL)
    kinds[(kinds == ord("j")) & ((before == ord("d")) | (before == ord("D")))] = ord(lx.PERSON)
    kinds[:] = _TO_OTHER[kinds]
    modifier = _MODIFIERS[kinds]
    live = modifier & _KIN[_shifted(kinds, -1)]
    while True:
        more = live | (modifier & np.roll(live, -1))
        if (more == live).all():
            break
        live = more
    owner = (_shifted(kinds, 1) == ord("h")) | (_shifted(kinds, 1) == ord("r"))
    own = (kinds == ord(lx.OWN)) & owner & ~live
    kinds[modifier & ~own] = ord(lx.OTHER)
    kinds[live] = ord(lx.MODIFIER)


def _reduce(kinds: Kinds) -> Flags:
    """Return which places `tokens.reduce` keeps."""
    neutral = _NEUTRAL[kinds]
    return ~(neutral & np.roll(neutral, 1) & np.roll(neutral, -1))


def _first_of(values: Numbers, group: Numbers) -> Numbers:
    """Return for each place the first value of its group; groups are sorted."""
    change = np.concatenate([[True], group[1:] != group[:-1]])
    return values[change][np.cumsum(change) - 1]


def _find_repeats(names: Numbers, sentence: Numbers, count: int) -> Flags:
    """Return in which sentences a name occurs more than once."""
    found = np.zeros(count, np.bool_)
    if len(names):
        key = np.sort(sentence * (int(names.max()) + 1) + names)
        found[key[1:][key[1:] == key[:-1]] // (int(names.max()) + 1)] = True
    return found


def _offsets(counts: Numbers, chosen: Numbers) -> list[int]:
    """Return where the items of chosen sentences begin; sentences that are left out have none."""
    ends = np.cumsum(counts)
    return [*(ends[chosen] - counts[chosen]).tolist(), int(ends[-1]) if len(ends) else 0]
