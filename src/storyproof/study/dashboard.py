"""The pages for the people who run the study: log-in and dashboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from storyproof.pictures.svg import element, safe
from storyproof.reports.page import build_table
from storyproof.study.admin import AdminSession
from storyproof.study.design import PARAPHRASE
from storyproof.study.folder import REVIEWING, SOLVING, WRITING, Study
from storyproof.study.forms import sign
from storyproof.study.pages import BuiltPage, lay_out
from storyproof.study.results import (
    StudyRows,
    find_exclusions,
    fleiss_kappa,
    group_answers,
    list_payouts,
    read_rows,
    review_texts,
)

REFRESH_S = 15
_MOST_LISTED = 500
_SLOT_NAMES = {SOLVING: "Questions to answer", WRITING: "Stories to write", REVIEWING: "Reviews"}


def login_page(study: Study, message: str = "") -> BuiltPage:
    """Return the page that asks for the password."""
    field = element(
        "label", 'Password<input type="password" name="password" autocomplete="current-password" required autofocus>'
    )
    hidden = f'<input type="hidden" name="signature" value="{sign(study.secret, "login")}">'
    hidden += (
        '<input type="text" name="username" value="admin" autocomplete="username" hidden>'  # for password managers
    )
    button = element("p", element("button", "Log in", type="submit"))
    body = element("p", safe(message), class_="notice", role="status") if message else ""
    body += element("form", hidden + field + button, method="post", action="/admin/login")
    return lay_out(study.design, "Dashboard", body, script=False)


def dashboard_page(study: Study, session: AdminSession) -> BuiltPage:
    """Return the dashboard; browsers fetch it again every few seconds."""
    rows = read_rows(study)
    excluded = find_exclusions(study.design, rows)
    now = datetime.fromtimestamp(study.now(), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    hidden = f'<input type="hidden" name="form_key" value="{safe(session.form_key)}">'
    leave = element("form", hidden + element("button", "Log out", type="submit"), method="post", action="/admin/logout")
    export = element("a", "Download all results (ZIP)", href="/admin/export.zip")
    body = element("p", f"State of {now}; updated every {REFRESH_S} seconds. {export}") + leave
    body += element("h2", "Progress") + _progress(study, rows)
    if study.design.kind == PARAPHRASE:
        body += element("h2", "Stories") + _stories(study, rows, excluded)
    else:
        body += element("h2", "Accuracy and time") + _answers(study, rows, excluded)
    body += element("h2", "Exclusions") + _exclusions(study, rows, excluded)
    body += element("h2", "Pay") + _pay(study, rows)
    return lay_out(study.design, f"{study.design.shown_title}: dashboard", body, script=False, wide=True)


def _progress(study: Study, rows: StudyRows) -> str:
    counts: Counter[tuple[str, str]] = Counter((row.condition, row.status) for row in rows.participants.values())
    people = [
        [safe(each.name), str(counts[each.name, "working"]), str(counts[each.name, "done"])]
        for each in study.design.conditions
    ]
    slots = [
        [_SLOT_NAMES[kind], str(total), str(done), str(held), str(total - done - held)]
        for kind, (total, done, held) in rows.slots.items()
    ]
    return build_table(["Participants in", "at work", "finished"], people, label="Participants") + build_table(
        ["Wanted", "in all", "done", "given out", "free"], slots, label="Items"
    )


def _answers(study: Study, rows: StudyRows, excluded: dict[int, list[str]]) -> str:
    heads = ["Condition", "Questions", "Answers", "People", "Accuracy", "95% interval", "Timed out", "Median time"]
    lines = [
        [
            safe(each.condition),
            safe(each.stratum or "all"),
            str(each.answers),
            str(each.participants),
            f"{each.accuracy.value:.1%}",
            f"{each.accuracy.low:.1%} to {each.accuracy.high:.1%}",
            str(each.timed_out),
            f"{each.median_s:.1f} s",
            _number(each.difficulty) + (f" ± {each.spread:.2f}" if each.spread is not None else ""),
        ]
        for each in group_answers(study, rows, excluded)
    ]
    if not lines:
        return element("p", "There are no answers yet.")
    note = element("p", "Intervals are over participants. Excluded participants are left out.", class_="note")
    return build_table([*heads, "Difficulty"], lines, label="Accuracy, time and difficulty") + note


def _stories(study: Study, rows: StudyRows, excluded: dict[int, list[str]]) -> str:
    texts = review_texts(study.design, rows, excluded)
    complete = [each for each in texts if each.is_complete]
    accepted = sum(each.is_accepted for each in complete)
    kappa = fleiss_kappa(texts, study.design.reviewers)
    reasons: Counter[str] = Counter(reason for each in texts for reason in each.reasons)
    lines = [
        ["Stories", str(len(texts))],
        ["with all reviews", str(len(complete))],
        ["accepted: all reviewers find them good", str(accepted)],
        ["acceptance rate", f"{accepted / len(complete):.1%}" if complete else "–"],
        ["agreement of reviewers (Fleiss' kappa)", _number(kappa)],
        *([f"reason: {safe(name)}", str(count)] for name, count in reasons.most_common()),
    ]
    return build_table(["", "count"], lines, label="Stories and reviews")


def _exclusions(study: Study, rows: StudyRows, excluded: dict[int, list[str]]) -> str:
    rules = study.design.exclusions
    stated = [
        f"{rules.failed_checks} or more failed attention checks" if rules.failed_checks else "",
        f"a median time below {rules.fastest_median_s:g} s" if rules.fastest_median_s else "",
        "not finished" if rules.needs_completion else "",
    ]
    words = "; ".join(each for each in stated if each) or "none"
    body = element("p", f"Rules, stated in the design: {safe(words)}. Excluded: {len(excluded)}.")
    lines = [[safe(rows.participants[number].code), safe(", ".join(why))] for number, why in excluded.items()]
    return body + (build_table(["Participant", "why"], lines[:_MOST_LISTED], label="Exclusions") if lines else "")


def _pay(study: Study, rows: StudyRows) -> str:
    payouts = list_payouts(study.design, rows)
    if not payouts:
        return element("p", "There are no participants yet.")
    total = sum(each.amount for each in payouts)
    lines = [
        [
            safe(each.code),
            safe(each.external_id),
            safe(each.status),
            str(each.tasks),
            str(each.reviews),
            f"{each.amount}",
        ]
        for each in payouts
    ]
    body = element("p", f"In all {total} {safe(study.design.currency)} for {len(payouts)} participants.")
    if len(lines) > _MOST_LISTED:
        body += element("p", f"The first {_MOST_LISTED} are listed; the download has all.", class_="note")
    heads: Sequence[str] = ("Participant", "id at the site", "status", "tasks", "reviews", "amount")
    return body + build_table(heads, lines[:_MOST_LISTED], label="Pay")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
