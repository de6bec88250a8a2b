"""A learned model that chooses among the candidates of theory-of-mind questions by shallow features.

One row of features for each question and candidate: words, and where sentences are relative to the candidate. Nothing
here follows who is where: sentences are counted by their kind, by whom they are about (first asked, last asked, mover,
anybody else) and by whether their room is that of the scene, before, between and after the mentions of the candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.shortcuts.stories import NONE, Told, by_batch
from storyproof.families.belief.world import EventKind
from storyproof.shortcuts.split_setup import Fold
from storyproof.shortcuts.word_probes import boosted_trees, one_thread
from storyproof.stats import Flags, Ints

Matrix = npt.NDArray[np.float32]

_ROLES = 4  # first asked, last asked, mover, anybody else
_ARRIVES, _LEAVES, _MOVES = 0, 2 * _ROLES, 4 * _ROLES  # codes of sentences; the first two by role and room
_PLACED, _OTHER_MOVED, _OTHER_PLACED, _FELT, _NOISE = range(5 * _ROLES, 5 * _ROLES + 5)
_CODES = _NOISE + 1
_SCENE_ENTRIES = 3  # where a story has several scenes: the last entries before the last placing belong to the last one

_NEVER = -99  # stands for a distance to what does not occur
_MOST_WORDS = 150
_LEAST_COUNT = 20  # how often a word must occur to be counted, and
_LEAST_SHARE = 0.005  # how often for each question
_MOST_CANDIDATES = 250
CATEGORICAL = (0, 1, 2)  # columns that hold codes without an order: candidate, last sentence, last but one


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Which words have a column.

    Attributes:
        column: [word], the column of its presence, or NONE.
        candidate: [word], its code as a candidate, or NONE.
    """

    column: Ints
    candidate: Ints

    @classmethod
    def of(cls, encoded: Told) -> Lexicon:
        """Choose the most frequent words of some questions; ties go to the word that was met first."""
        *worded, _ = encoded.all_words
        size = 1 + max(int(column.max(initial=0)) for column in encoded.all_words)
        seen = np.zeros(size, np.int64)
        for column in worded:
            seen += np.bincount(column[column != NONE], minlength=size)
        offered = np.bincount(encoded.candidates[encoded.candidates != NONE], minlength=size)
        enough = max(_LEAST_COUNT, _LEAST_SHARE * len(encoded.story))
        return cls(_ranks(seen, _MOST_WORDS, enough), _ranks(offered, _MOST_CANDIDATES, 2))

    def words(self, encoded: Told) -> Matrix:
        """Return the presence of words, [question, column]."""
        present = np.zeros((len(encoded.story), int(self.column.max(initial=NONE)) + 2), np.float32)
        *worded, _ = encoded.all_words
        for words in worded:
            inside = (words != NONE) & (words < len(self.column))
            column = np.where(inside, self.column[np.where(inside, words, 0)], NONE)
            rows = np.broadcast_to(np.arange(len(words)).reshape(-1, *[1] * (words.ndim - 1)), words.shape)
            present[rows, column] = 1  # words without a column land in the last one
        return present[:, :-1]

    def codes(self, candidates: Ints) -> Ints:
        """Return the code of each candidate, or NONE."""
        inside = (candidates != NONE) & (candidates < len(self.candidate))
        return np.where(inside, self.candidate[np.where(inside, candidates, 0)], NONE)


def _ranks(counts: Ints, most: int, enough: float) -> Ints:
    """Number the most frequent from 0; NONE for the rest."""
    ranks = np.full(len(counts), NONE)
    chosen = np.argsort(-counts, kind="stable")[:most]
    chosen = chosen[counts[chosen] >= enough]
    ranks[chosen] = np.arange(len(chosen))
    return ranks


def features(encoded: Told, lexicon: Lexicon) -> Matrix:
    """Return one row for each question and candidate, in that order.

    Args:
        encoded: What `pick` gives: each question has a story of its own.
        lexicon: Which words have a column.
    """
    questions, most = encoded.candidates.shape
    codes = _codes(encoded)
    mentioned = encoded.speaks_of_it[:, None, :] & (encoded.container[:, None, :] == encoded.candidates[:, :, None])
    length = (encoded.kind != NONE).sum(axis=1)
    ends = [_at(codes, length - back) for back in (1, 2)]
    categories = [lexicon.codes(encoded.candidates), *(np.repeat(end[:, None], most, axis=1) for end in ends)]
    by_question = np.concatenate([_of_question(encoded, length), lexicon.words(encoded)], axis=1)
    parts = [
        np.stack(categories, axis=-1) + 1,  # 0 for what has no code
        _of_candidate(encoded, codes, mentioned, length),
        _counts(codes, mentioned),
        np.repeat(by_question[:, None, :], most, axis=1),
    ]
    return np.concatenate(parts, axis=-1, dtype=np.float32).reshape(questions * most, -1)


def _codes(encoded: Told) -> Ints:
    """Code each sentence by its kind, by whom it is about and by its room, [question, time]."""
    kind, agent = encoded.kind, encoded.agent
    role = np.full(kind.shape, _ROLES - 1)
    for number, who in ((2, encoded.mover), (1, encoded.searcher), (0, encoded.believer)):
        role = np.where((agent == who[:, None]) & (agent != NONE), number, role)
    away = (encoded.room != _scene(encoded)[:, None]).astype(np.int64)
    itself = encoded.thing == encoded.asked[:, None]
    codes = np.full(kind.shape, NONE)
    for chosen, code in (
        ((kind == EventKind.ENTER) | (kind == EventKind.IS_IN), _ARRIVES + 2 * role + away),
        (kind == EventKind.EXIT, _LEAVES + 2 * role + away),
        (kind == EventKind.MOVE, np.where(itself, _MOVES + role, _OTHER_MOVED)),
        (kind == EventKind.PLACE, np.where(itself, _PLACED, _OTHER_PLACED)),
        (kind == EventKind.FEEL, _FELT),
        (kind == EventKind.NOISE, _NOISE),
    ):
        codes = np.where(chosen, code, codes)
    return codes


def _scene(encoded: Told) -> Ints:
    """Guess the room of the scene: the one named most often, of several scenes in the last; ties go to the latest."""
    present = encoded.room != NONE
    placed = encoded.kind == EventKind.PLACE
    times = np.arange(encoded.kind.shape[1])
    last = np.where(placed, times, NONE).max(axis=1)
    earlier = (present & (times < last[:, None]))[:, ::-1].cumsum(axis=1)[:, ::-1]
    window = present & ((placed.sum(axis=1) <= 1)[:, None] | (times >= last[:, None]) | (earlier <= _SCENE_ENTRIES))
    same = (encoded.room[:, :, None] == encoded.room[:, None, :]) & window[:, None, :]
    votes = np.where(window, same.sum(axis=2) * len(times) + times * (times < last[:, None]), NONE)
    best = votes.argmax(axis=1)
    scene: Ints = encoded.room[np.arange(len(best)), best]
    return scene


def _of_question(encoded: Told, length: Ints) -> Matrix:
    """Return features of each question: what it asks, and whether it asks about the mover."""
    mover = encoded.mover
    return np.stack(
        [encoded.memory, encoded.order, encoded.believer == mover, encoded.searcher == mover, length],
        axis=1,
        dtype=np.float32,
    )


def _of_candidate(encoded: Told, codes: Ints, mentioned: Flags, length: Ints) -> Matrix:
    """Return features of each candidate: its place among the others and among the sentences."""
    first, last = _span(mentioned)
    never = ~mentioned.any(axis=2)
    earlier = (first[:, None, :] < first[:, :, None]).sum(axis=2)
    later = (last[:, None, :] > last[:, :, None]).sum(axis=2)
    liked = (
        (encoded.kind == EventKind.FEEL)[:, None, :] & (encoded.thing[:, None, :] == encoded.candidates[:, :, None])
    ).sum(axis=2)
    lasting = _at(codes, np.where(never, NONE, last))
    columns = [
        mentioned.sum(axis=2), earlier, later, liked, first, length[:, None] - last, lasting == _PLACED,
        *(lasting == _MOVES + role for role in range(_ROLES)),
    ]  # fmt: skip
    times = np.arange(codes.shape[1])
    for code in (start + 2 * role for start in (_ARRIVES, _LEAVES) for role in range(_ROLES)):
        when = np.where(codes == code, times, NONE).max(axis=1)
        columns.append(np.where((when == NONE)[:, None], _NEVER, when[:, None] - last))
    return np.stack(columns, axis=-1, dtype=np.float32)


def _counts(codes: Ints, mentioned: Flags) -> Matrix:
    """Count sentences by code: before a candidate's mentions, between and after them, and in all."""
    questions, most, longest = mentioned.shape
    first, last = _span(mentioned)
    times = np.arange(longest)
    region = np.where(times < first[:, :, None], 0, np.where(times > last[:, :, None], 2, 1))
    rows = np.arange(questions * most).reshape(questions, most, 1)
    flat = (rows * 3 + region) * _CODES + codes[:, None, :]
    is_told = np.broadcast_to((codes != NONE)[:, None, :], flat.shape)
    counts = np.bincount(flat[is_told], minlength=questions * most * 3 * _CODES)
    counts = counts.reshape(questions, most, 3, _CODES)
    parts = [counts.reshape(questions, most, -1), counts.sum(axis=2)]
    return np.concatenate(parts, axis=-1, dtype=np.float32)


def _span(mentioned: Flags) -> tuple[Ints, Ints]:
    """Return the times of the first and last mention; the end of the story if there is none."""
    longest = mentioned.shape[2]
    never = ~mentioned.any(axis=2)
    first = np.where(never, longest, mentioned.argmax(axis=2))
    last = np.where(never, longest, longest - 1 - mentioned[:, :, ::-1].argmax(axis=2))
    return first, last


def _at(codes: Ints, times: Ints) -> Ints:
    """Return the codes of sentences; NONE for times before the story."""
    rows = np.arange(len(codes)).reshape(-1, *[1] * (times.ndim - 1))
    return np.where(times < 0, NONE, codes[rows, np.maximum(times, 0)])


def choose(encoded: Told, fold: Fold, seed: int = 0) -> Ints:
    """Train boosted trees to tell which candidate is right, and return their choice for each row to answer.

    Each kind of question has trees of its own: memory and reality want opposite places, which one set of greedy trees
    finds hard to see.
    """
    kinds = 2 * encoded.order + encoded.memory
    chosen = np.full(len(fold.ask), NONE)
    for kind in np.unique(kinds[fold.ask]):
        alike, here = fold.fit[kinds[fold.fit] == kind], kinds[fold.ask] == kind
        own = Fold(alike if len(alike) else fold.fit, fold.ask[here])
        chosen[here] = _choose_alike(encoded, own, seed)
    return chosen


def _choose_alike(encoded: Told, fold: Fold, seed: int) -> Ints:
    first: Ints = encoded.candidates[fold.ask, 0]
    fit = encoded.pick(fold.fit)
    is_candidate = fit.candidates != NONE
    right = (fit.candidates == fit.answer[:, None]) & is_candidate
    useful = np.flatnonzero(right.any(axis=1))
    if not len(useful) or is_candidate[useful].sum() == right.sum():
        return first  # nothing to choose between
    lexicon = Lexicon.of(fit)
    rows = is_candidate[useful].reshape(-1)
    matrix, target = features(fit.pick(useful), lexicon)[rows], right[useful].reshape(-1)[rows]
    telling = np.flatnonzero(matrix.min(axis=0) < matrix.max(axis=0))
    if not len(telling):
        return first
    codes = np.flatnonzero(np.isin(telling, CATEGORICAL)).tolist()
    model = boosted_trees(seed, codes or None)
    with one_thread():
        model.fit(matrix[:, telling], target)
        return by_batch(encoded, fold.ask, lambda part: _best(model, part, lexicon, telling))


def _best(model: Any, encoded: Told, lexicon: Lexicon, telling: Ints) -> Ints:
    """Return the candidate that the model finds likeliest; of equals the first of them."""
    scores: npt.NDArray[np.float64] = model.predict_proba(features(encoded, lexicon)[:, telling])[:, 1]
    scores = np.where(encoded.candidates == NONE, -1.0, scores.reshape(encoded.candidates.shape))
    likeliest: Ints = encoded.candidates[np.arange(len(scores)), scores.argmax(axis=1)]
    return likeliest
