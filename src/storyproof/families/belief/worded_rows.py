"""Which rows in a language pack's own words say what follows from their text, as arrays from text to labels.

What arrays do not read, or what differs, is left to `rows`, which says what it is. So arrays only ever confirm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.families.belief import provers
from storyproof.families.belief.arrays import (
    MOST_AGENTS,
    MOST_NAMES,
    MOST_SENTENCES,
    NOBODY,
    Flags,
    PlotArrays,
    Small,
)
from storyproof.families.belief.labels import LabelledQuestions, LabelWords, kind_name
from storyproof.families.belief.language.block_reader import ROLES, UNREAD, BlockReader, SentenceTable
from storyproof.families.belief.language.pack import AGENT, CONTAINER, HEARER, ROOM, THING
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.parsing import local_numbers, number_names
from storyproof.families.belief.proof_check import check_proofs
from storyproof.families.belief.questions import ASKS, QuestionArrays
from storyproof.families.belief.readings import ALL_READINGS, BeliefReading
from storyproof.families.belief.rooms import occurrences, place_moves
from storyproof.families.belief.rows import reading_of, unknown_words
from storyproof.families.belief.wording import LANGUAGES, find_wording, reader_of
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import NO_WORD, Words

Numbers = npt.NDArray[np.intp]
_AT_ONCE = 3072  # stories that are proved together
_TEXTS = ("story", "question")


@dataclass(frozen=True, slots=True)
class ConfirmedRows:
    """Rows whose labels follow from their text.

    Attributes:
        rows: Which of the rows these are; all rows of a story, or none.
        asked: What they ask.
    """

    rows: Flags
    asked: set[str]


@dataclass(frozen=True, slots=True)
class _Stories:
    """Stories that were read and can happen.

    Attributes:
        number: The place of each story among those that were to be read, -1 if it is not among these.
        plots: What happens.
        lie: Which messages the text calls lies, [time, story].
        cast: The word numbers of local numbers.
    """

    number: Numbers
    plots: PlotArrays
    lie: Flags
    cast: Cast


@dataclass(frozen=True, slots=True)
class _Questions:
    """Rows whose questions were read.

    Attributes:
        row: The rows.
        asked: The questions.
        chain: The word numbers of the agents, [place in the chain, question].
        own: The number of the reading that decides, in `readings`.
        readings: These readings.
        unknown: Whether "unknown" is a candidate.
    """

    row: Numbers
    asked: QuestionArrays
    chain: Words
    own: Numbers
    readings: list[BeliefReading]
    unknown: Flags

    def pick(self, places: Numbers) -> _Questions:
        """Return some of them."""
        return _Questions(
            self.row[places],
            self.asked.pick(places),
            self.chain[:, places],
            self.own[places],
            self.readings,
            self.unknown[places],
        )


@cache
def _block_reader(language: str) -> BlockReader:
    earlier = LANGUAGES[: LANGUAGES.index(language)]
    return BlockReader(reader_of(language), [reader_of(each) for each in earlier])


def _languages(sentences: pa.StringArray) -> npt.NDArray[np.str_]:
    """Return the language of each of some sentences, with which stories begin; empty where none is known."""
    found, left = np.full(len(sentences), "", "<U2"), np.arange(len(sentences))
    for language in LANGUAGES:
        kinds = _block_reader(language).sentences(sentences.take(pa.array(left))).kind
        found[left[kinds != UNREAD]] = language
        left = left[kinds == UNREAD]
        if not len(left):
            break
    return found


def confirm_rows(table: pa.Table) -> ConfirmedRows:
    """Return the rows whose labels follow from their text by the oracle, and whose proofs the checker confirms."""
    rows, asked = np.zeros(table.num_rows, np.bool_), set[str]()
    texts = [_coded(table.column(name)) for name in _TEXTS]
    if not table.num_rows or any(each.null_count for each in texts):
        return ConfirmedRows(rows, asked)
    story, question = texts
    first = pc.list_element(pc.split_pattern(story.dictionary, "\n", max_splits=1), 0).dictionary_encode()
    languages = _languages(first.dictionary)[np.asarray(first.indices)][np.asarray(story.indices)]
    for language in np.unique(languages).tolist():
        if language:
            places = np.flatnonzero(languages == language)
            if len(places) == len(rows):
                found = _confirm(table, story, question, language)
            else:
                part = pa.array(places)
                found = _confirm(table.take(part), story.take(part), question.take(part), language)
            rows[places] = found.rows
            asked |= found.asked
    return ConfirmedRows(rows, asked)


def _confirm(table: pa.Table, story: pa.DictionaryArray, question: pa.DictionaryArray, language: str) -> ConfirmedRows:
    """Return which rows of one language are confirmed.

    Args:
        table: The rows.
        story: Their stories.
        question: Their questions.
        language: The language.
    """
    rows, reader = np.zeros(table.num_rows, np.bool_), _block_reader(language)
    used, story_of = np.unique(np.asarray(story.indices), return_inverse=True)
    stories = _read_stories(story.dictionary.take(pa.array(used)), reader)
    if not stories.plots.count:
        return ConfirmedRows(rows, set())
    questions = _read_questions(table, question, stories, stories.number[story_of], reader)
    rows[questions.row] = True
    for part in _parts(questions):
        rows[part.row[_find_wrong(table, stories, part, _label_words(language))]] = False
    # A story whose rows are not all confirmed is left as a whole: what is wrong with it is said at its first row.
    is_left = np.zeros(len(used), np.bool_)
    is_left[story_of[~rows]] = True
    rows &= ~is_left[story_of]
    asks = questions.asked
    kinds = np.column_stack([asks.ask, (asks.chain != NOBODY).sum(axis=0)])[rows[questions.row]]
    return ConfirmedRows(rows, {kind_name(ASKS[ask], order) for ask, order in np.unique(kinds, axis=0).tolist()})


def _coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return texts by number."""
    array = column.combine_chunks()
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.string()))


def _read_stories(texts: pa.StringArray, reader: BlockReader) -> _Stories:
    """Read stories in words of the pack, and leave out the others and those that cannot happen."""
    lines = pc.split_pattern(texts, "\n")
    lengths = np.asarray(pc.list_value_length(lines))
    coded = lines.flatten().dictionary_encode()
    known, code = reader.sentences(coded.dictionary), np.asarray(coded.indices)
    owner = np.repeat(np.arange(len(texts)), lengths)
    room = ROLES.index(ROOM)
    is_room_missing = (known.kind == EventKind.PLACE) & (known.words[room] == NO_WORD) & (known.left_out[room] == 0)
    is_left = lengths > MOST_SENTENCES
    is_left[owner[((known.kind == UNREAD) | is_room_missing)[code]]] = True
    is_worded = np.zeros(len(texts), np.bool_)  # rows of stories in ToMi's wording are judged in another way
    is_worded[owner[~known.is_tomi[code]]] = True
    read = np.flatnonzero(is_worded & ~is_left)
    of_read = (is_worded & ~is_left)[owner]
    plots, lie, cast, fits = _lay_out(known, code[of_read], lengths[read], reader)
    plots = place_moves(plots)
    kept = np.flatnonzero(fits & occurrences(plots, tells_rooms=True).possible)
    number = np.full(len(texts), -1, np.intp)
    number[read[kept]] = np.arange(len(kept))
    return _Stories(number, plots.pick(kept), lie[:, kept], _pick_cast(cast, kept))


def _lay_out(
    known: SentenceTable, code: Words, lengths: Numbers, reader: BlockReader
) -> tuple[PlotArrays, Flags, Cast, Flags]:
    """Return stories as arrays, numbered as `encode_plots` does; the last array says which could be read.

    Left out are those with too many names, those whose times run backwards, and those in which the sentence before does
    not have what one leaves to it.

    Args:
        known: The distinct sentences.
        code: The sentences of all stories.
        lengths: How many of them each story has.
        reader: Knows what is left to the sentence before.
    """
    count, longest = len(lengths), max(1, int(lengths.max(initial=0)))
    story = np.repeat(np.arange(count), lengths)
    time = np.arange(len(code)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kind, lie = np.full((count, longest), EventKind.NOISE, np.uint8), np.zeros((count, longest), np.bool_)
    kind[story, time], lie[story, time] = known.kind[code], known.is_lie[code]
    words = np.full((len(ROLES), count, longest), NO_WORD, np.int32)
    for role, wide in enumerate(words):
        wide[story, time] = known.words[role].take(code)
    is_wrong = np.zeros(count, np.bool_)
    if known.left_out.any():
        left_out = np.zeros(words.shape, np.uint8)
        left_out[:, story, time] = known.left_out[:, code]
        is_wrong |= reader.fill_in(kind, words, left_out)
    if (known.hour >= 0).any():
        hour = np.full((count, longest), -1, np.int8)
        hour[story, time] = known.hour[code]
        latest = np.maximum.accumulate(hour, axis=1)
        is_wrong |= ((hour[:, 1:] >= 0) & (hour[:, 1:] <= latest[:, :-1])).any(axis=1)
    by_role = dict(zip(ROLES, words, strict=True))
    is_idle = kind <= EventKind.FEEL

    def happening(role: str) -> Words:
        return np.where(is_idle, np.int32(NO_WORD), by_role[role])

    def idle(role: str) -> Words:
        return np.where(is_idle, by_role[role], np.int32(NO_WORD))

    acting = np.stack([happening(AGENT), happening(HEARER)], axis=2).reshape(count, 2 * longest)
    people, agents = number_names(np.concatenate([acting, idle(AGENT)], axis=1))
    things_of, things = number_names(np.concatenate([happening(THING), idle(THING)], axis=1))
    (room, rooms), (container, containers) = (number_names(by_role[role]) for role in (ROOM, CONTAINER))
    pairs, feeling = people[:, : 2 * longest], people[:, 2 * longest :]
    agent = np.where(is_idle, feeling, pairs[:, ::2])
    thing = np.where(is_idle, things_of[:, longest:], things_of[:, :longest])
    names = (agents, rooms, things, containers)
    most = (MOST_AGENTS, MOST_NAMES, MOST_NAMES, MOST_NAMES)
    fits = ~is_wrong & ~np.any(
        [(each[:, limit:] != NO_WORD).any(axis=1) for each, limit in zip(names, most, strict=True)], axis=0
    )

    def small(numbers: Words) -> Small:
        return np.ascontiguousarray(np.minimum(numbers, MOST_NAMES).astype(np.int8).T)

    who, where, what, box, whom = map(small, (agent, room, thing, container, pairs[:, 1::2]))
    most_people = max(1, min(agents.shape[1], MOST_AGENTS))
    plots = PlotArrays(np.ascontiguousarray(kind.T), who, where, what, box, whom, most_people)
    cast = Cast(*(np.ascontiguousarray(each[:, :limit].T) for each, limit in zip(names, most, strict=True)))
    return plots, np.ascontiguousarray(lie.T), cast, fits


def _pick_cast(cast: Cast, columns: Numbers) -> Cast:
    return Cast(*(getattr(cast, item.name).take(columns, axis=1) for item in fields(Cast)))


def _read_questions(
    table: pa.Table, texts: pa.DictionaryArray, stories: _Stories, story: Numbers, reader: BlockReader
) -> _Questions:
    """Read the questions of rows about stories that were read, and leave out the others.

    Args:
        table: The rows.
        texts: Their questions.
        stories: The stories.
        story: The story of each row, -1 if it was not read.
        reader: Reads the questions.
    """
    known, code = reader.questions(texts.dictionary), np.asarray(texts.indices)
    row = np.flatnonzero((story >= 0) & known.is_read[code])
    story, code, cast = story[row], code[row], stories.cast
    thing = local_numbers(known.thing[code], cast.things[:, story].T)
    chain = np.stack([local_numbers(each[code], cast.agents[:, story].T) for each in known.chain])
    place = local_numbers(known.place[code], cast.containers[:, story].T)
    is_known = (thing >= 0) & (chain >= NOBODY).all(axis=0) & (place >= NOBODY)
    is_known &= _is_put(stories.plots)[np.maximum(thing, 0), story]
    kept = np.flatnonzero(is_known)
    row, code = row[kept], code[kept]
    asked = QuestionArrays(story[kept], known.ask[code], thing[kept], chain[:, kept], place[kept])
    own, readings = _own_readings(table)
    return _Questions(row, asked, known.chain[:, code], own[row], readings, _says_unknown(table)[row])


def _is_put(plots: PlotArrays) -> Flags:
    """Return which objects are put somewhere, or said to be, [object, story]."""
    found = np.zeros((int(plots.thing.max(initial=0)) + 1, plots.count), np.bool_)
    time, story = np.nonzero((plots.thing >= 0) & (plots.container >= 0))
    found[plots.thing[time, story], story] = True
    return found


def _own_readings(table: pa.Table) -> tuple[Numbers, list[BeliefReading]]:
    """Return the reading that decides each row, see `reading_of`, by number, and these readings."""
    if "readings" not in table.column_names:
        return np.zeros(table.num_rows, np.intp), [reading_of(None)]
    lists = table.column("readings").combine_chunks()
    is_named = np.asarray(pc.fill_null(pc.greater(pc.list_value_length(lists), 0), False))
    first = pc.list_element(lists.filter(pa.array(is_named)), 0)
    first = _coded(pa.chunked_array([first]))
    readings = [reading_of(None), *(reading_of([name]) for name in first.dictionary.to_pylist())]
    numbers = np.zeros(table.num_rows, np.intp)
    numbers[is_named] = np.asarray(first.indices.fill_null(-1)) + 1
    merged = list(dict.fromkeys(readings))
    return np.array([merged.index(each) for each in readings])[numbers], merged


def _says_unknown(table: pa.Table) -> Flags:
    """Return in which rows the answer or a candidate is the word for unknown."""
    words, found = pa.array(sorted(unknown_words()), pa.string()), np.zeros(table.num_rows, np.bool_)
    if "answer" in table.column_names:
        found |= np.asarray(pc.is_in(table.column("answer").cast(pa.string()), value_set=words))
    if "candidates" in table.column_names:
        lists = table.column("candidates").combine_chunks()
        said = np.asarray(pc.is_in(lists.flatten().cast(pa.string()), value_set=words))
        found[np.asarray(pc.list_parent_indices(lists))[said]] = True
    return found


def _parts(questions: _Questions) -> Iterator[_Questions]:
    """Yield the questions of each reading in parts, each about at most _AT_ONCE stories."""
    for own in np.unique(questions.own).tolist():
        places = np.flatnonzero(questions.own == own)
        places = places[np.argsort(questions.asked.story[places], kind="stable")]
        story = questions.asked.story[places]
        block = (np.cumsum(np.diff(story, prepend=-1) != 0) - 1) // _AT_ONCE
        for part in np.split(places, np.flatnonzero(np.diff(block)) + 1):
            yield questions.pick(part)


def _find_wrong(table: pa.Table, stories: _Stories, questions: _Questions, words: LabelWords) -> Flags:
    """Return which rows say what does not follow, or on which oracle and checker differ; all of one reading."""
    columns, story = np.unique(questions.asked.story, return_inverse=True)
    plots, own = stories.plots.pick(columns), questions.readings[int(questions.own[0])]
    lengths = (plots.kind != EventKind.NOISE).any(axis=1)
    longest = max(1, int(np.flatnonzero(lengths).max(initial=0)) + 1)
    plots = plots.at(np.arange(longest)[:, None], np.arange(plots.count)[None])
    asked = QuestionArrays(story, *(getattr(questions.asked, name) for name in ("ask", "thing", "chain", "place")))
    derived = provers.derive(plots, asked, own, ALL_READINGS)
    wrong = check_proofs(plots, asked, derived.proofs, own).is_wrong
    for difference in provers.differences(plots, asked, derived):
        wrong[difference.questions] = True
    lie, cast = stories.lie[:longest, columns], _pick_cast(stories.cast, columns)
    labelled = LabelledQuestions(plots, lie, cast, asked, questions.chain, derived, own, questions.unknown)
    row = pa.array(questions.row)
    for name, right in labelled.columns(words).items():
        if name in table.column_names:
            wrong |= _differ(table.column(name).take(row).combine_chunks(), right)
    return wrong


@cache
def _label_words(language: str) -> LabelWords:
    wording = find_wording(language)
    return LabelWords.of(wording, wording.vocabulary.agents, wording.vocabulary.containers)


def _differ(given: pa.Array, right: pa.Array) -> Flags:
    """Return where values are not the right ones; a value that is missing is not compared."""
    if pa.types.is_list(right.type) or pa.types.is_large_list(right.type):
        return _lists_differ(given, right)
    try:
        given, right = _plain(given), _plain(right)
        same = pc.equal(given.cast(right.type), right)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # values of another kind are left to `rows`
        return np.ones(len(given), np.bool_)
    differs: Flags = ~np.asarray(pc.fill_null(same, False)) & np.asarray(given.is_valid())
    return differs


def _lists_differ(given: pa.Array, right: pa.Array) -> Flags:
    """Return where lists are not the right ones."""
    if not pa.types.is_list(given.type) and not pa.types.is_large_list(given.type):
        return np.ones(len(given), np.bool_)
    length, right_length = (np.asarray(pc.fill_null(pc.list_value_length(each), -1)) for each in (given, right))
    differs: Flags = (length != right_length) & (length >= 0)
    alike = np.flatnonzero(length == right_length)
    if len(alike) < len(given):
        given, right = (each.take(pa.array(alike)) for each in (given, right))
    items = _differ(given.flatten(), right.flatten()) | np.asarray(given.flatten().is_null())
    differs[np.repeat(alike, length[alike])[items]] = True
    return differs


def _plain(array: pa.Array) -> pa.Array:
    """Return words instead of their codes."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
