"""The results of a study: who took part, what they did, who is excluded by which rule, and what they are paid."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import mean, median, stdev
from typing import Any

from sqlalchemy import Connection, Row, Table, func, select

from storyproof.stats import Interval, mean_interval
from storyproof.study import schema
from storyproof.study.design import PARAPHRASE, StudyDesign
from storyproof.study.folder import REVIEWING, SOLVING, WRITING, Study
from storyproof.study.items import ATTENTION, MAIN
from storyproof.study.participant_flow import ANSWER, REVIEW, WRITE
from storyproof.study.participants import DONE

FAILED_CHECKS, TOO_FAST, INCOMPLETE = "failed-attention-checks", "too-fast", "incomplete"
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class StudyRows:
    """All rows of a study at one moment.

    Attributes:
        participants: By number.
        answers: In the order in which they came.
        texts: The stories, likewise.
        reviews: The reviews, likewise.
        submissions: How many forms of each kind each participant has sent.
        slots: How many slots there are, by kind, and how many of them are done or held.
    """

    participants: Mapping[int, Row[Any]]
    answers: Sequence[Row[Any]]
    texts: Sequence[Row[Any]]
    reviews: Sequence[Row[Any]]
    submissions: Mapping[int, Counter[str]]
    slots: Mapping[str, tuple[int, int, int]]


def read_rows(study: Study) -> StudyRows:
    """Read all rows, in one transaction."""
    with study.database.reading() as connection:
        people = connection.execute(select(schema.participant).order_by(schema.participant.c.id)).all()
        sent: dict[int, Counter[str]] = defaultdict(Counter)
        table = schema.submission
        for owner, kind, count in connection.execute(
            select(table.c.participant_id, table.c.kind, func.count()).group_by(table.c.participant_id, table.c.kind)
        ):
            sent[owner][kind] = count
        return StudyRows(
            {row.id: row for row in people},
            _all(connection, schema.answer),
            _all(connection, schema.text),
            _all(connection, schema.review),
            sent,
            _slot_counts(study, connection),
        )


def _all(connection: Connection, table: Table) -> Sequence[Row[Any]]:
    return connection.execute(select(table).order_by(table.c.id)).all()


def _slot_counts(study: Study, connection: Connection) -> dict[str, tuple[int, int, int]]:
    slot, now = schema.slot, study.now()
    found = {}
    for kind in (SOLVING, WRITING, REVIEWING):
        base = select(func.count()).select_from(slot).where(slot.c.kind == kind)
        counts = [base, base.where(slot.c.is_done), base.where(~slot.c.is_done, slot.c.lease_until >= now)]
        total, done, held = (connection.execute(each).scalar_one() for each in counts)
        if total:
            found[kind] = (total, done, held)
    return found


# Exclusions.


def find_exclusions(design: StudyDesign, rows: StudyRows) -> dict[int, list[str]]:
    """Return why participants are left out of results, by the rules of the design; the others are not in it."""
    rules = design.exclusions
    failed: Counter[int] = Counter()
    for row in (*rows.answers, *rows.reviews):
        failed[row.participant_id] += row.role == ATTENTION and not row.is_right
    times: dict[int, list[float]] = defaultdict(list)
    for row in (*rows.answers, *rows.texts):
        if row.role == MAIN:
            times[row.participant_id].append(seconds_of(row))
    exclusions: dict[int, list[str]] = {}
    for number, person in rows.participants.items():
        reasons = []
        if rules.failed_checks and failed[number] >= rules.failed_checks:
            reasons.append(FAILED_CHECKS)
        if times[number] and median(times[number]) < rules.fastest_median_s:
            reasons.append(TOO_FAST)
        if rules.needs_completion and person.status != DONE:
            reasons.append(INCOMPLETE)
        if reasons:
            exclusions[number] = reasons
    return exclusions


def seconds_of(row: Row[Any]) -> float:
    """Return how long a result took: by the browser if that can be true, else by the server."""
    milliseconds = row.browser_ms if row.timing in ("ok", "gap") else row.server_ms
    return float(milliseconds) / 1000


# Solve studies.


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """The answers of a group.

    Attributes:
        condition: Their condition.
        stratum: The kind of question; empty for all.
        answers: How many.
        participants: Of how many participants.
        accuracy: The share of right ones, with an interval over participants.
        timed_out: How many came too late, or not at all.
        median_s: The median time.
        difficulty: The mean rating; None if nobody has rated.
        spread: Its standard deviation; None if fewer than two have rated.
    """

    condition: str
    stratum: str
    answers: int
    participants: int
    accuracy: Interval
    timed_out: int
    median_s: float
    difficulty: float | None
    spread: float | None


def group_answers(study: Study, rows: StudyRows, excluded: Mapping[int, object]) -> list[AnswerGroup]:
    """Return the answers of each condition, as a whole and by kind of question, without excluded participants."""
    groups: dict[tuple[str, str], list[Row[Any]]] = {}
    order = [each.name for each in study.design.conditions]
    for row in rows.answers:
        if row.role == MAIN and row.participant_id not in excluded:
            for stratum in ("", study.items[row.item].stratum):
                groups.setdefault((row.condition, stratum), []).append(row)
    keys = sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    return [_group(*key, groups[key]) for key in keys]


def _group(condition: str, stratum: str, rows: Sequence[Row[Any]]) -> AnswerGroup:
    ratings = [row.difficulty for row in rows if row.difficulty is not None]
    return AnswerGroup(
        condition,
        stratum,
        len(rows),
        len({row.participant_id for row in rows}),
        mean_interval([float(row.is_right) for row in rows], [row.participant_id for row in rows]),
        sum(row.is_timed_out for row in rows),
        median(seconds_of(row) for row in rows),
        mean(ratings) if ratings else None,
        stdev(ratings) if len(ratings) > 1 else None,
    )


# Paraphrase studies.


@dataclass(frozen=True, slots=True)
class ReviewedText:
    """A story with its reviews.

    Attributes:
        row: The story.
        votes: What reviewers who are not excluded found: good or not.
        reasons: Why not, all reasons of all of them.
        is_complete: Whether it has all reviews that are wanted.
        is_accepted: Whether it is complete and all of them found it good.
    """

    row: Row[Any]
    votes: tuple[bool, ...]
    reasons: tuple[str, ...]
    is_complete: bool
    is_accepted: bool


def review_texts(design: StudyDesign, rows: StudyRows, excluded: Mapping[int, object]) -> list[ReviewedText]:
    """Return the stories of participants who are not excluded, with the reviews of such participants."""
    reviews: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in rows.reviews:
        if row.role == MAIN and row.participant_id not in excluded:
            reviews[row.target].append(row)
    texts = []
    for row in rows.texts:
        if row.participant_id in excluded:
            continue
        votes = tuple(bool(each.is_good) for each in reviews[row.id])
        reasons = tuple(reason for each in reviews[row.id] for reason in json.loads(each.reasons))
        complete = len(votes) >= design.reviewers
        texts.append(ReviewedText(row, votes, reasons, complete, complete and all(votes)))
    return texts


def fleiss_kappa(texts: Sequence[ReviewedText], reviewers: int) -> float | None:
    """Return Fleiss' kappa of the stories with all reviews; None if it is not defined.

    It is not if there is one reviewer, no story, or if all reviews say the same.
    """
    votes = [each.votes[:reviewers] for each in texts if each.is_complete]
    if reviewers < 2 or not votes or len({vote for each in votes for vote in each}) < 2:
        return None
    from statsmodels.stats.inter_rater import fleiss_kappa as kappa

    return float(kappa([[sum(each), len(each) - sum(each)] for each in votes]))


# Pay.


@dataclass(frozen=True, slots=True)
class PayoutRow:
    """What a participant is paid.

    Attributes:
        code: The pseudonym.
        source: Where they come from.
        external_id: The id there, by which they are paid.
        status: Whether they have finished.
        tasks: Questions answered, or stories written.
        reviews: Reviews.
        amount: The pay.
    """

    code: str
    source: str
    external_id: str
    status: str
    tasks: int
    reviews: int
    amount: Decimal


def pay_of(design: StudyDesign, sent: Mapping[str, int]) -> tuple[int, int, Decimal]:
    """Return tasks, reviews and pay for the forms that a participant has sent; practice and checks are not paid."""
    tasks = sent.get(WRITE if design.kind == PARAPHRASE else ANSWER, 0)
    reviews = sent.get(REVIEW, 0)
    amount = tasks * Decimal(design.pay_per_task) + reviews * Decimal(design.pay_per_review)
    return tasks, reviews, amount.quantize(CENT)


def list_payouts(design: StudyDesign, rows: StudyRows) -> list[PayoutRow]:
    """Return what everybody is paid. Participants who are excluded from results have worked, too, and are paid."""
    return [
        PayoutRow(row.code, row.source, row.external_id or "", row.status, *pay_of(design, rows.submissions[number]))
        for number, row in rows.participants.items()
    ]


def pay_so_far(study: Study, participant_id: int) -> Decimal:
    """Return what a participant is paid for what is done."""
    table = schema.submission
    with study.database.reading() as connection:
        sent = connection.execute(
            select(table.c.kind, func.count()).where(table.c.participant_id == participant_id).group_by(table.c.kind)
        )
        return pay_of(study.design, {kind: count for kind, count in sent})[2]  # noqa: C416  # a result is no mapping
