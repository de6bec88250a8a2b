"""Replacing results of participants who were excluded: their items go to others, and their data stay as they are."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import Any

from sqlalchemy import Row, delete, insert, select

from storyproof.study import schema
from storyproof.study.folder import REPLACEMENT, REVIEWING, SOLVING, WRITING, Study
from storyproof.study.participants import DONE, is_free, lock_pool, log
from storyproof.study.results import FAILED_CHECKS, find_exclusions, read_rows


def replace_excluded(study: Study) -> dict[str, int]:
    """Open a new slot for each result of an excluded participant; return how many, by kind of slot.

    Only exclusions that cannot change any more are replaced: failed attention checks, and other reasons of those who
    have finished. A slot is replaced once, however often this is called. Reviews of stories by excluded writers that
    nobody has begun are not asked for any more.
    """
    rows = read_rows(study)
    final = [
        number
        for number, reasons in find_exclusions(study.design, rows).items()
        if FAILED_CHECKS in reasons or rows.participants[number].status == DONE
    ]
    slot, text = schema.slot, schema.text
    opened: Counter[str] = Counter()
    with study.database.writing() as connection:
        lock_pool(connection)
        held = connection.execute(
            select(slot).where(slot.c.holder.in_(final), slot.c.is_done, slot.c.kind.in_((SOLVING, WRITING, REVIEWING)))
        ).all()
        known = set(connection.execute(select(slot.c.kind, slot.c.target, slot.c.condition, slot.c.number)).all())
        by_excluded = set(connection.execute(select(text.c.id).where(text.c.participant_id.in_(final))).scalars().all())
        for row in held:
            place = (row.kind, row.target, row.condition, row.number + REPLACEMENT)
            if place in known or (row.kind == REVIEWING and row.target in by_excluded):
                continue
            connection.execute(insert(slot).values(**_replacing(row)))
            opened[row.kind] += 1
        connection.execute(
            delete(slot).where(slot.c.kind == REVIEWING, slot.c.target.in_(by_excluded), is_free(study.now()))
        )
        log(study, connection, "replaced", None, ", ".join(f"{kind} {count}" for kind, count in opened.items()))
    return dict(opened)


def _replacing(row: Row[Any]) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "target": row.target,
        "condition": row.condition,
        "number": row.number + REPLACEMENT,
        "stratum": row.stratum,
        "rank": secrets.randbelow(2**31 - 1),
        "is_done": False,
    }
