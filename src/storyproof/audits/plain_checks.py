"""Checks that need no understanding of texts: they run on every row, whatever it says.

Of each row only hashes are kept: of its story, of story and question, and of its answer. Conflicts are rows with the
same story and question and different answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from hashlib import blake2b
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.audits.duplicates import Hashes, hash_of
from storyproof.example import SPLITS
from storyproof.findings import CONFLICT, NO_CHOICE, NOT_IN_STORY, TWICE, Finding
from storyproof.formats.chunks import as_bytes, from_bytes
from storyproof.formats.columns import folded
from storyproof.formats.format import PLACE, numbers_of
from storyproof.formats.records import RECORD

MOST_COMPARED = 20_000_000  # rows that are compared between splits
_EXTRACTIVE = 0.8  # the share of answers that occur in their stories, from which on the others are listed
_ODD = np.uint64(0x9E3779B97F4A7C15)
_PARTS = {name: name for name in SPLITS} | {"validation": "val", "valid": "val", "dev": "val", "training": "train"}
Numbers = npt.NDArray[np.int64]


@dataclass(slots=True)
class RowHashes:
    """What is compared between rows: hashes of stories, of stories with questions, and of answers; and their splits."""

    stories: Hashes
    questions: Hashes
    answers: Hashes
    splits: npt.NDArray[np.int8]  # their places in SPLITS; -1 if not known


@dataclass(slots=True)
class PlainChecks:
    """The checks of one file.

    Attributes:
        file: What findings call it.
        split: Its split, if that can be told.
        is_foreign: Whether somebody else wrote it, so that answers may be checked for being in stories or choices.
        counts: How many choices, repeated questions and conflicts there are.
    """

    file: str
    split: str | None = None
    is_foreign: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _parts: list[RowHashes] = field(default_factory=list)
    _places: list[pa.Table] = field(default_factory=list)  # ids, lines, answers and their names
    _absent: list[tuple[int, int, str, str, str]] = field(default_factory=list)  # answers that are not in their story

    def check(self, table: pa.Table) -> Iterator[Finding]:
        """Yield what is wrong with rows by themselves, and remember what is compared with others."""
        if "answer" not in table.column_names:
            return
        stories = _hashes(table.column("story"), partial(_hash_texts, plain=_plain_story, unusual=_UNUSUAL_STORY))
        asked = _hashes(table.column("question"), partial(_hash_texts, plain=_plain, unusual=_UNUSUAL))
        answers = _hashes(table.column("answer"), _hash_answers)
        about = table.column(RECORD) if RECORD in table.column_names else None
        splits = self._splits(table.num_rows, about)
        questions = stories * _ODD + asked
        questions[(answers == _EMPTY) | ((stories == _EMPTY) & (asked == _EMPTY))] = 0
        self._parts.append(RowHashes(stories, questions, answers, splits))
        lines, names = (pc.struct_field(table.column(PLACE), name) for name in ("line", "answer"))
        ids, texts = (table.column(name).cast(pa.string()) for name in ("id", "answer"))
        self._places.append(pa.table([ids, lines, texts, names], ["id", "line", "answer", "name"]))
        if self.is_foreign and about is not None:
            yield from self._check_answers(table, about)

    def _splits(self, rows: int, about: pa.ChunkedArray | None) -> npt.NDArray[np.int8]:
        """Return the split of each row: what it says itself, else that of the file."""
        if about is None:
            return np.full(rows, SPLITS.index(self.split) if self.split else -1, np.int8)
        parts = pc.struct_field(about, "part").to_pylist()
        names = [_PARTS.get((each or "").casefold(), self.split) for each in parts]
        return np.array([SPLITS.index(each) if each else -1 for each in names], np.int8)

    def _check_answers(self, table: pa.Table, about: pa.ChunkedArray) -> Iterator[Finding]:
        """Yield answers that are not among their choices, and choices that occur twice."""
        stories, answers, ids = (table.column(name).to_pylist() for name in ("story", "answer", "id"))
        listed, columns = pc.struct_field(about, "choices"), pc.struct_field(table.column(PLACE), "answer")
        texts = (stories, answers, ids, listed.to_pylist(), columns.to_pylist())
        for number, line, story, answer, name, choices, column in zip(*numbers_of(table), *texts, strict=True):
            if not answer:
                continue
            known: dict[str, Any] = {"file": self.file, "row": number, "line": line, "id": name}
            accepted = [folded(each) for each in answer.split("\n")]
            if choices:
                plain = [folded(each) for each in choices]
                self.counts["with_choices"] += 1
                if twice := [text for text, count in Counter(plain).items() if count > 1]:
                    reason = "the right one is among them" if twice[0] in accepted else ""
                    yield Finding(
                        kind=TWICE, field="choices", found=twice[0], expected="", reason=reason, is_claim=False, **known
                    )
                if not set(accepted) & set(plain):
                    shown = answer.replace("\n", ", ")
                    expected = "one of " + ", ".join(choices)
                    yield Finding(kind=NO_CHOICE, field=column or "answer", found=shown, expected=expected, **known)
            elif story:
                self.counts["without_choices"] += 1
                text = f" {story.casefold().replace('_', ' ')} "
                if not any(each and each in text for each in accepted):
                    self._absent.append((number, line, name, column or "answer", answer.replace("\n", ", ")))

    def hashes(self) -> RowHashes:
        """Return what is compared with the rows of other files."""
        none = np.zeros(0, np.uint64)
        nothing = RowHashes(none, none, none, np.zeros(0, np.int8))
        parts = self._parts or [nothing]
        return RowHashes(
            np.concatenate([each.stories for each in parts]),
            np.concatenate([each.questions for each in parts]),
            np.concatenate([each.answers for each in parts]),
            np.concatenate([each.splits for each in parts]),
        )

    def conclude(self, findings: Collection[Finding]) -> Iterator[Finding]:
        """Yield conflicts, and answers that are not in their stories though most are; count them and repeated rows.

        Args:
            findings: What is found in the rows that are judged. It explains the conflicts that they are in, and what is
                found about an answer explains that it is not in its story.
        """
        judged, explained = {each.row for each in findings}, {(each.row, each.field) for each in findings}
        without = self.counts.pop("without_choices", 0)
        if self._absent and len(self._absent) <= (1 - _EXTRACTIVE) * without:
            for number, line, name, column, answer in self._absent:
                if (number, column) in explained:
                    continue
                known: dict[str, Any] = {"file": self.file, "row": number, "line": line, "id": name, "is_claim": False}
                yield Finding(kind=NOT_IN_STORY, field=column, found=answer, expected="words of the story", **known)
        self.counts["conflicts"] = 0
        whole = self.hashes()
        for rows in _groups(whole.questions):
            self.counts["repeated_questions"] += 1
            answers = whole.answers[rows]
            if (answers == answers[0]).all():
                continue
            self.counts["conflicts"] += 1
            yield replace(self._conflict(rows, answers), is_claim=not any(row in judged for row in rows.tolist()))

    def _conflict(self, rows: Numbers, answers: Hashes) -> Finding:
        other = int(np.flatnonzero(answers != answers[0])[0])
        (first, _, one, _), (name, line, two, column) = (self._place(int(rows[at])) for at in (0, other))
        more = f"; {len(rows)} rows have them" if len(rows) > 2 else ""
        return Finding(
            file=self.file,
            row=int(rows[other]),
            line=line,
            id=name,
            kind=CONFLICT,
            field=column,
            found=two.replace("\n", ", "),
            expected="",
            reason=f"row {rows[0]} ({first}) has the same story and question with the answer {one!r}{more}",
        )

    def _place(self, row: int) -> tuple[str, int, str, str]:
        """Return the id, the line and the answer of a row, and the name of its column."""
        for table in self._places:
            if row < table.num_rows:
                [values] = table.slice(row, 1).to_pylist()
                return values["id"] or "", values["line"], values["answer"] or "", values["name"] or "answer"
            row -= table.num_rows
        raise IndexError(row)

    def absorb(self, other: PlainChecks) -> None:
        """Take what was remembered of the rows that follow."""
        self.counts.update(other.counts)
        self._parts += other._parts
        self._places += other._places
        self._absent += other._absent

    def __getstate__(self) -> tuple[Any, ...]:
        """Return what another process needs; of tables, only the rows that they have, rather than whole buffers."""
        self._parts = [self.hashes()] if self._parts else []
        names = (each.name for each in fields(self))
        return tuple([as_bytes(self._places) if name == "_places" else getattr(self, name) for name in names])

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Take what another process sent."""
        for each, value in zip(fields(self), state, strict=True):
            setattr(self, each.name, from_bytes(value) if each.name == "_places" else value)


def _groups(keys: Hashes) -> Iterator[Numbers]:
    """Yield the rows of each key that several rows have, in the order of their first rows; 0 is no key."""
    in_order = np.sort(keys)  # in a tenth of the time of its order, which few rows need
    twice = np.unique(in_order[1:][in_order[1:] == in_order[:-1]])
    if not (twice != 0).any():
        return
    rows = np.flatnonzero(np.isin(keys, twice))
    order = rows[np.argsort(keys[rows], kind="stable")]
    ordered = keys[order]
    starts = np.flatnonzero(np.append([True], ordered[1:] != ordered[:-1]))
    ends = np.append(starts[1:], len(rows))
    several = np.flatnonzero((ends - starts > 1) & (ordered[starts] != 0)).tolist()
    found = [order[starts[place] : ends[place]] for place in several]
    yield from sorted(found, key=lambda rows: int(rows[0]))


def find_shared(files: Sequence[RowHashes]) -> list[dict[str, Any]]:
    """Return what each two splits share: stories, questions about them, and conflicts; nothing if they share none."""
    found = []
    by_split = {}
    for place, name in enumerate(SPLITS):
        masks = [each.splits == place for each in files]
        by_split[name] = {
            what: np.concatenate([getattr(each, what)[mask] for each, mask in zip(files, masks, strict=True)])
            for what in ("stories", "questions", "answers")
            if files
        }
    for first, second in combinations(SPLITS, 2):
        one, two = by_split[first], by_split[second]
        if not files or not len(one["questions"]) or not len(two["questions"]):
            continue
        stories = np.setdiff1d(np.intersect1d(one["stories"], two["stories"]), [_EMPTY])
        questions = np.setdiff1d(np.intersect1d(one["questions"], two["questions"]), [0])
        if not len(stories) and not len(questions):
            continue
        pairs = [np.unique(np.stack([part["questions"], part["answers"]]), axis=1) for part in (one, two)]
        ours, theirs = ({tuple(each) for each in pair[:, np.isin(pair[0], questions)].T.tolist()} for pair in pairs)
        conflicts = len({key for key, _ in ours ^ theirs})
        counts = {"stories": len(stories), "questions": len(questions), "conflicts": conflicts}
        found.append({"first": first, "second": second, **counts})
    return found


def _hashes(column: pa.ChunkedArray, hash_distinct: Callable[[pa.Array], Hashes]) -> Hashes:
    """Return the hashes of texts, each of which is hashed once however often it occurs."""
    parts = []
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        codes = np.asarray(pc.fill_null(coded.indices, len(coded.dictionary))).astype(np.intp)
        parts.append(np.append(hash_distinct(coded.dictionary.cast(pa.string())), _EMPTY)[codes])
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


def _hash_texts(texts: pa.Array, plain: Callable[[str], str], unusual: str) -> Hashes:
    """Return the hashes of texts without what does not matter.

    Args:
        texts: Different texts.
        plain: Returns a text without what does not matter.
        unusual: A pattern of texts that differ from this in more than case and line breaks.
    """
    texts = texts.fill_null("")
    is_unusual, in_line = pc.match_substring_regex(texts, unusual), pc.replace_substring(texts, "\n", " ")
    found = pc.ascii_lower(in_line).cast(pa.binary()).to_pylist()
    others = pc.and_(pc.invert(pc.string_is_ascii(texts)), pc.invert(is_unusual))
    for mask, source, change in ((others, in_line, str.casefold), (is_unusual, texts, plain)):
        for place, text in zip(np.flatnonzero(mask).tolist(), source.filter(mask).to_pylist(), strict=True):
            found[place] = change(text).encode()
    return _digests(found)


def _hash_answers(answers: pa.Array) -> Hashes:
    return _digests([_plain_answer(each or "").encode() for each in answers.to_pylist()])


def _digests(texts: Iterable[bytes]) -> Hashes:
    """Return 64 bits of each text that are the same in every process, as `hash_of` does."""
    return np.frombuffer(b"".join([blake2b(each, digest_size=8).digest() for each in texts]), "<u8").astype(np.uint64)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _plain_story(text: str) -> str:
    """Return a story without spaces and lines that hold no words."""
    return " ".join(part for part in text.split() if not set(part) <= _SIGNS).casefold()


def _plain_answer(text: str) -> str:
    """Return an answer without what does not matter; nothing, which is not compared, if several are accepted."""
    accepted = {*map(folded, text.split("\n"))}
    return accepted.pop() if len(accepted) == 1 else ""


_SIGNS = set("*-_=#~")
# Space that `str.split` takes away, besides single spaces and ends of lines between words.
_SPACES = r"\t\r\f\x0b\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_UNUSUAL = rf"\s\s|^\s|\s$|[{_SPACES}]"
_UNUSUAL_STORY = rf"{_UNUSUAL}|(?:^|\s)[-*_=#~]+(?:\s|$)"
_EMPTY = np.uint64(hash_of(""))
