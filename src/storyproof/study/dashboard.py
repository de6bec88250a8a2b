"""The pages for the people who run the study: log-in and dashboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

from storyproof.language.display_names import display_name
from storyproof.pictures.svg import element, safe
from storyproof.reports.numbers import counted
from storyproof.reports.page import build_table, data_text
from storyproof.reports.run_scores import FEW
from storyproof.stats import Interval
from storyproof.study.admin import AdminSession
from storyproof.study.design import PARAPHRASE
from storyproof.study.folder import REVIEWING, SOLVING, WRITING, Study
from storyproof.study.forms import sign
from storyproof.study.items import MAIN
from storyproof.study.pages import BuiltPage, lay_out
from storyproof.study.participants import DONE, WORKING, reserved
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
_DAY_S = 86_400.0
_LEAST_RESULTS = 5  # in the last day, for a forecast
_BINS = 40  # of arrivals over time
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
    return lay_out(study.design, "Log in", body, script=False)


def dashboard_page(study: Study, session: AdminSession, address: str) -> BuiltPage:
    """Return the dashboard; browsers fetch it again every few seconds.

    Args:
        study: The study.
        session: The session of the person who looks.
        address: The address for participants.
    """
    rows = read_rows(study)
    excluded = find_exclusions(study.design, rows)
    now = datetime.fromtimestamp(study.now(), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    hidden = f'<input type="hidden" name="form_key" value="{safe(session.form_key)}">'
    leave = element("form", hidden + element("button", "Log out", type="submit"), method="post", action="/admin/logout")
    export = element("a", "Download all results (ZIP)", href="/admin/export.zip", class_="button")
    state = element("p", f"State of {now}; updated every {REFRESH_S} seconds.", class_="note")
    body = state + _cards(study, rows, excluded) + element("p", safe(_forecast(study, rows)), class_="lead")
    body += element("div", export + leave, class_="top") + _share(f"{address}/")
    body += element("h2", "Conditions") + _conditions(study, rows)
    body += element("h2", "Arrivals") + _arrivals(study, rows)
    if study.design.kind == PARAPHRASE:
        body += element("h2", "Stories") + _stories(study, rows, excluded)
    else:
        body += element("h2", "Accuracy and time") + _answers(study, rows, excluded)
    body += element("h2", "Places") + _progress(study, rows)
    body += element("h2", "Exclusions") + _exclusions(study, rows, excluded)
    body += element("h2", "Pay") + _pay(study, rows)
    return lay_out(study.design, "Dashboard", body, wide=True)


def _cards(study: Study, rows: StudyRows, excluded: dict[int, list[str]]) -> str:
    """Return the four numbers by which one sees how it goes."""
    wanted, done = (sum(counts[place] for counts in rows.slots.values()) for place in (0, 1))
    finished = sum(row.status == DONE for row in rows.participants.values())
    pay = sum((each.amount for each in list_payouts(study.design, rows)), start=Decimal(0))
    cards = [
        (f"{done:,} of {wanted:,}", f"results are in ({done / wanted:.0%})" if wanted else "results are in"),
        (f"{finished:,}", f"participants have finished; {len(rows.participants) - finished:,} have not"),
        (f"{len(excluded):,}", "are excluded by the rules of the design"),
        (f"{pay} {study.design.currency}", "pay so far"),
    ]
    body = "".join(
        element("div", element("dd", safe(value), class_="value") + element("dt", safe(text)), class_="stat")
        for value, text in cards
    )
    return element("dl", body, class_="stats")


def _result_times(rows: StudyRows) -> list[float]:
    """Return when the results that count came, the first first."""
    return sorted(row.received_at for row in (*rows.answers, *rows.texts, *rows.reviews) if row.role == MAIN)


def _forecast(study: Study, rows: StudyRows) -> str:
    """Return when all results will be there if they come as they did in the last day."""
    left = sum(total - done for total, done, _ in rows.slots.values())
    if not left:
        return "All results are in."
    recent = [time for time in _result_times(rows) if time > study.now() - _DAY_S]
    if len(recent) < _LEAST_RESULTS:
        return f"{left:,} results are to come; too few have come in the last day to say when."
    hours = max(study.now() - recent[0], 60.0) / 3600
    rate = len(recent) / hours
    end = datetime.fromtimestamp(study.now() + 3600 * left / rate, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{left:,} results are to come. At this rate ({rate:.1f} an hour) they will be in at {end}."


def _share(link: str) -> str:
    copy = element("button", "Copy", type="button", data_copy=link, data_copied="Copied", hidden="hidden")
    words = element("strong", "Link for participants") + ": " + element("a", safe(link), href=link)
    return element("p", f"{words} {copy}", class_="share")


def _conditions(study: Study, rows: StudyRows) -> str:
    """Return a bar for each condition: the results that are in, of those wanted."""
    counts: Counter[tuple[str, str]] = Counter((row.condition, row.status) for row in rows.participants.values())
    if study.design.kind == PARAPHRASE:
        done = {study.design.conditions[0].name: len(rows.texts)}
    else:
        done = Counter(row.condition for row in rows.answers if row.role == MAIN)
    wanted = study.design.items * study.design.answers_per_item
    parts = ""
    for each in study.design.conditions:
        number = done.get(each.name, 0)
        limit = "" if each.time_limit_s is None else f" ({each.time_limit_s:g} s)"
        people = f"{counts[each.name, DONE]:,} finished, {counts[each.name, WORKING]:,} at work"
        bar = element(
            "progress", "", value=str(number), max=str(wanted), aria_label=f"{each.name}: {number} of {wanted} results"
        )
        parts += element("span", data_text(each.name) + limit) + bar
        parts += element("span", f"{number:,} of {wanted:,} · {people}", class_="note")
    return element("div", parts, class_="bars")


def _arrivals(study: Study, rows: StudyRows) -> str:
    """Return how many participants came, over time."""
    times = sorted(row.created_at for row in rows.participants.values())
    if not times:
        return element("p", "Nobody has come yet.")
    first, last = times[0], max(study.now(), times[0] + 3600)
    counts = [0] * _BINS
    for time in times:
        counts[min(int((time - first) / (last - first) * _BINS), _BINS - 1)] += 1
    bars = "".join(
        element("path", d=f"M{place + 0.1:.1f} 20h0.8V{20 - 19 * count / max(counts):.2f}h-0.8Z")
        for place, count in enumerate(counts)
        if count
    )
    label = f"{len(times)} arrivals over time, at most {max(counts)} in one of {_BINS} parts"
    ends = "".join(
        element("span", datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")) for time in (first, last)
    )
    return (
        f'<svg class="arrivals" viewBox="0 0 {_BINS} 20" preserveAspectRatio="none" role="img" '
        f'aria-label="{safe(label)}">{bars}</svg>' + element("div", ends, class_="arrivals-ends")
    )


def _progress(study: Study, rows: StudyRows) -> str:
    with study.database.reading() as connection:
        kept = reserved(study, connection)
    first = next(iter(rows.slots), "")
    slots = [
        [
            _SLOT_NAMES[kind],
            str(total),
            str(done),
            str(held),
            str(kept if kind == first else 0),
            str(max(0, total - done - held - (kept if kind == first else 0))),
        ]
        for kind, (total, done, held) in rows.slots.items()
    ]
    note = "Reserved: places of people at work who will get them next; they return some minutes after somebody left."
    return build_table(["Wanted", "in all", "done", "given out", "reserved", "free"], slots, label="Items") + element(
        "p", note, class_="note"
    )


def _answers(study: Study, rows: StudyRows, excluded: dict[int, list[str]]) -> str:
    heads = ["Condition", "Questions", "0 to 100%", "Accuracy", "95% interval", "Answers", "People", "Timed out"]
    lines = [
        [
            safe(each.condition),
            safe(display_name(each.stratum) if each.stratum else "all"),
            _dots(each.accuracy, faint=each.participants < FEW),
            f"{each.accuracy.value:.1%}",
            f"{each.accuracy.low:.1%} to {each.accuracy.high:.1%}",
            str(each.answers),
            str(each.participants),
            str(each.timed_out),
            f"{each.median_s:.1f}",
            _number(each.difficulty) + (f" ± {each.spread:.2f}" if each.spread is not None else ""),
        ]
        for each in group_answers(study, rows, excluded)
    ]
    if not lines:
        return element("p", "There are no answers yet.")
    note = "Intervals are over participants, and faint for fewer than ten. Excluded participants are left out."
    table = build_table(
        [*heads, "Median time (s)", "Difficulty"], lines, label="Accuracy, time and difficulty", style="full"
    )
    return table + element("p", note, class_="note")


def _dots(score: Interval, *, faint: bool) -> str:
    low, value, high = (f"{100 * each:.1f}" for each in (score.low, score.value, score.high))
    marks = element("path", d=f"M{low} 10H{high}", class_=f"interval people{' faint' * faint}")
    marks += element("path", d=f"M{value} 10h0", class_="point people")
    return f'<svg class="dots" viewBox="-2 0 104 20" preserveAspectRatio="none" aria-hidden="true">{marks}</svg>'


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
    lines = [
        [safe(rows.participants[number].code), safe(", ".join(why).replace("-", " "))]
        for number, why in excluded.items()
    ]
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
    body = element("p", f"In all {total} {safe(study.design.currency)} for {counted(len(payouts), 'participant')}.")
    if len(lines) > _MOST_LISTED:
        body += element("p", f"The first {_MOST_LISTED} are listed; the download has all.", class_="note")
    heads: Sequence[str] = ("Participant", "id at the site", "status", "tasks", "reviews", "amount")
    return body + build_table(heads, lines[:_MOST_LISTED], label="Pay")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
