"""What the error browser of a report shows: every question, what each solver answered and why, stories and pictures.

What many questions share is there once: stories, texts and explanations are numbered. Everything is compressed, because
ten runs of some thousand questions would else make a page of many megabytes; the page's script unpacks it. Replies of
language models are cut, and pictures are drawn for the questions that most solvers miss.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from storyproof.errors import DataError
from storyproof.evaluation.answer_judge import describe
from storyproof.evaluation.matching.kinds import MEANINGS
from storyproof.families.family import Picture, family_of
from storyproof.language.display_names import display_name
from storyproof.reports.run_data import AskedQuestion, Board, SolverRun
from storyproof.reports.run_scores import kind_of
from storyproof.solvers.baselines import ENDS_OF_SCALE

PICTURES = 600  # drawn for a report
LONGEST_REPLY = 1_500  # characters of a reply that a page holds
ALL_REPLIES = 6_000_000  # characters of all replies in a page
_UNANSWERED, _WRONG, _RIGHT = -1, 0, 1


@dataclass(slots=True)
class _Numbering:
    """Texts by number, each once."""

    numbers: dict[str, int] = field(default_factory=dict)

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def listed(self) -> list[str]:
        return list(self.numbers)


@dataclass(frozen=True, slots=True)
class BrowserData:
    """What the error browser shows.

    Attributes:
        answers: Questions and answers, for the page's script.
        pictures: The pictures that answers refer to by number, each in its wide and its narrow form.
        cut: How many replies are not shown in full.
    """

    answers: dict[str, Any]
    pictures: list[dict[str, str]]
    cut: int


def collect(boards: Sequence[Board], explained: Sequence[Sequence[Sequence[tuple[str, ...]]]]) -> BrowserData:
    """Collect what the error browser shows.

    Args:
        boards: Runs on each dataset.
        explained: For each board and run what explains its answers, as `explain_answers` returns it.
    """
    texts = _Numbering()
    replies = _Replies(boards)
    drawn: dict[Picture, int] = {}
    share = PICTURES // max(1, len(boards))
    found = [
        _board(board, reasons, texts, replies, drawn, share) for board, reasons in zip(boards, explained, strict=True)
    ]
    answers = {
        "boards": found,
        "texts": texts.listed(),
        "meanings": MEANINGS,
        "captions": [each.caption for each in drawn],
    }
    return BrowserData(answers, [{"svg": each.svg, "narrow": each.narrow} for each in drawn], replies.cut)


def _board(
    board: Board,
    explained: Sequence[Sequence[tuple[str, ...]]],
    texts: _Numbering,
    replies: _Replies,
    drawn: dict[Picture, int],
    share: int,
) -> dict[str, Any]:
    stories: dict[str, int] = {}
    family = board.family
    questions = board.questions
    facets: dict[str, list[int]] = {}
    for number, each in enumerate(questions):
        for name, group in _facets(each).items():
            facets.setdefault(name, [-1] * len(questions))[number] = texts(display_name(group))
    pictures, notes = _draw(board, drawn, share)
    return {
        "name": board.name,
        "split": board.split,
        "labels": board.labels,
        "mistakes": {}
        if family is None
        else {name: [display_name(name), text] for name, text in describe(family).items()},
        "stories": stories,
        "ids": [each.id for each in questions],
        "story": [
            -1 if each.example is None else stories.setdefault(each.example.story, len(stories)) for each in questions
        ],
        "number": [each.story_number for each in questions],
        "question": [texts(each.question) for each in questions],
        "target": [texts(each.target) for each in questions],
        "proved": {number: each.proved for number, each in enumerate(questions) if each.proved is not None},
        "proof": [[] if each.example is None else list(each.example.proof or ()) for each in questions],
        "facets": facets,
        "pictures": pictures,
        "notes": notes,
        "solvers": [
            _solver(solver, reasons, len(questions), texts, replies)
            for solver, reasons in zip(board.solvers, explained, strict=True)
        ],
    } | {"stories": [story.split("\n") for story in stories]}


def _facets(question: AskedQuestion) -> dict[str, str]:
    if question.example is None:
        return {"question type": question.question_type}
    return dict(family_of(question.example).facets(question.example))


def _solver(
    solver: SolverRun, explained: Sequence[tuple[str, ...]], count: int, texts: _Numbering, replies: _Replies
) -> dict[str, Any]:
    right, answer = [_UNANSWERED] * count, [-1] * count
    reply: dict[int, int] = {}
    match: dict[int, str] = {}
    cut: dict[int, int] = {}
    why: dict[int, list[str]] = {}
    several: dict[int, Counter[str]] = defaultdict(Counter)
    places = solver.places.tolist()
    for place, is_right, each, reasons in zip(
        places, solver.right.tolist(), solver.predictions, explained, strict=True
    ):
        right[place] = _RIGHT if is_right else _WRONG
        answer[place] = texts(each.answer or "")
        if each.answerer is not None:
            several[place][each.answer or "no answer"] += 1
        if reasons:
            why[place] = list(dict.fromkeys([*why.get(place, []), *reasons]))
        if each.match is not None:
            match[place] = "cut_off" if each.cut_off else each.match
        if each.reply is not None:
            shown = replies.shorten(each.reply, wrong=not is_right)
            if shown is not None and (shown != each.answer or len(shown) > 120):
                reply[place] = texts(shown)
            if shown is None or len(shown) < len(each.reply):
                cut[place] = len(each.reply)
    if several:
        for place, share in zip(*(each.tolist() for each in solver.shares()), strict=True):
            right[place] = _RIGHT if share > 0.5 else _WRONG
            given = several[place].most_common()
            if several[place].total() > 1:
                answer[place] = texts(", ".join(f"{text} ({count})" for text, count in given))
    is_end = solver.judged.run.model in ENDS_OF_SCALE
    about = {"title": solver.title, "matching": solver.judged.run.matching, "end": is_end, "kind": kind_of(solver)}
    return about | {"right": right, "answer": answer, "reply": reply, "match": match, "cut": cut, "why": why}


class _Replies:
    """Cuts replies so that a page holds no more of them than it can: those to right answers first.

    Args:
        boards: All runs, whose replies are counted first.
    """

    def __init__(self, boards: Iterable[Board]) -> None:
        sizes: Counter[bool] = Counter()
        for solver in (solver for board in boards for solver in board.solvers):
            for right, each in zip(solver.right.tolist(), solver.predictions, strict=True):
                sizes[not right] += min(len(each.reply or ""), LONGEST_REPLY)
        self._most = {
            True: _share(sizes[True], ALL_REPLIES),
            False: _share(sizes[False], max(0, ALL_REPLIES - sizes[True])),
        }
        self.cut = 0

    def shorten(self, reply: str, *, wrong: bool) -> str | None:
        """Return as much of a reply as the page holds; None for nothing."""
        most = int(min(LONGEST_REPLY, self._most[wrong] * LONGEST_REPLY))
        self.cut += len(reply) > most
        return reply[:most] if most else None


def _share(wanted: int, room: int) -> float:
    return 1.0 if wanted <= room else room / wanted


# --- pictures


def _draw(board: Board, drawn: dict[Picture, int], most: int) -> tuple[dict[int, list[int]], dict[int, str]]:
    """Draw the questions that most solvers miss; return the pictures of each question, and why there is none."""
    stories: dict[str, list[int]] = defaultdict(list)
    for number, each in enumerate(board.questions):
        stories[each.story_id].append(number)
    pictures: dict[int, list[int]] = {}
    notes: dict[int, str] = {}
    for number in sorted(choose(board, most)):  # questions of one story share what is derived from it
        asked = board.questions[number]
        rows = [board.questions[other].example for other in stories[asked.story_id] if other != number]
        known = [row for row in (*rows, asked.example) if row is not None]
        try:
            found = family_of(known[-1]).pictures(known, tuple(known[-1].proof or ()))
            pictures[number] = [drawn.setdefault(picture, len(drawn)) for picture in found]
        except DataError as error:
            notes[number] = f"There is no picture: {error}"
    return pictures, notes


def choose(board: Board, most: int) -> list[int]:
    """Choose questions that are worth a picture: those that most solvers miss, of all question types in turn."""
    wrong = np.zeros(len(board.questions), np.int64)
    for solver in board.solvers:
        weight = 1 if solver.judged.run.model in ENDS_OF_SCALE else len(board.solvers) + 1  # a guess proves little
        places, shares = solver.shares()
        wrong[places] += weight * (shares <= 0.5)
    groups: dict[str, list[int]] = defaultdict(list)
    for number in np.argsort(-wrong, kind="stable").tolist():
        if board.questions[number].example is not None:
            groups[board.questions[number].question_type].append(number)
    found: list[int] = []
    for rank in range(max(map(len, groups.values()), default=0)):
        turn = [numbers[rank] for numbers in groups.values() if rank < len(numbers)]
        found += sorted(turn, key=lambda number: -wrong[number])
        if len(found) >= most:
            break
    return found[:most]
