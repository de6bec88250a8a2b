"""The pages that participants see. Everything from people or data is escaped; no page holds a script of its own."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from math import ceil
from typing import NamedTuple

from storyproof.errors import DataError
from storyproof.families.family import family_of
from storyproof.families.paraphrasing import REASONS, TextRemark
from storyproof.language.display_names import spaced
from storyproof.pictures.svg import element, safe
from storyproof.reports.page import build_page, content_policy, data_text, read_asset, theme
from storyproof.study.design import MTURK, PROLIFIC, SOLVE, StudyDesign
from storyproof.study.folder import Study
from storyproof.study.forms import seal_arrival, sign
from storyproof.study.items import PRACTICE, StudyItem, find_paraphrasing
from storyproof.study.messages import ENGLISH, PageTexts, texts_of
from storyproof.study.participant_flow import ANSWER, RATE, REVIEW, START, WRITE, StudyStep
from storyproof.study.participants import Arrival, Participant
from storyproof.study.recruitment import MTURK_HOSTS, Exit

RATINGS = (1, 2, 3, 4, 5)
REFERRER = "same-origin"  # other sites must not learn a participant's link; our own forms must say that they are ours


class BuiltPage(NamedTuple):
    """A page, and its content security policy."""

    html: str
    policy: str


@cache
def _assets() -> tuple[str, str]:
    script, sheet = (read_asset("storyproof.study", f"study.{kind}") for kind in ("js", "css"))
    return script, sheet


def frames_of(design: StudyDesign) -> str:
    """Return the sites that may show pages in a frame: Mechanical Turk, if participants come from there."""
    return "https://*.mturk.com" if design.recruitment == MTURK else ""


def lay_out(
    design: StudyDesign, title: str, body: str, *, script: bool = True, forms: str = "'self'", wide: bool = False
) -> BuiltPage:
    """Return a page of the study.

    Args:
        design: The design.
        title: The title of the page, plain text.
        body: Its content, escaped.
        script: Whether the page needs the script.
        forms: Where forms may be sent.
        wide: Whether it uses the width of the screen, for tables.
    """
    code, sheet = _assets()
    scripts = [code] if script else []
    html = build_page(
        f"{title} – {design.shown_title}",
        _head(design) + element("main", element("h1", safe(title)) + body, class_="wide" if wide else ""),
        scripts=scripts,
        styles=[sheet],
        connect=script,
        language=design.language,
        forms=forms,
        referrer=REFERRER,
    )
    policy = content_policy(scripts, [theme(), sheet], connect=script, forms=forms)
    return BuiltPage(html, f"{policy}; frame-ancestors {frames_of(design) or chr(39) + 'none' + chr(39)}")


def _head(design: StudyDesign) -> str:
    """Return the top of every page: which study this is, and whose."""
    whose = element("span", data_text(design.institution), class_="whose") if design.institution else ""
    return element("header", element("strong", data_text(design.shown_title)) + whose, class_="study")


# Before and after.


def consent_page(study: Study, arrival: Arrival | None, *, notice: str = "") -> BuiltPage:
    """Return the page with the consent text; without an arrival it is a preview."""
    design, say = study.design, texts_of(study.design)
    body = _notice(say(notice)) if notice else ""
    body += _paragraphs(design.consent) if design.consent else _usual_consent(design, say)
    if arrival is None:
        body += _notice(say("preview_note"))
    else:
        tick = '<input type="checkbox" name="agree" value="yes" required>'
        body += _form(
            "/consent",
            element("label", tick + element("span", say("consent_agree")), class_="tick")
            + _hidden("arrival", seal_arrival(study.secret, arrival))
            + _button(say("consent_start")),
            step="consent",
        )
    return lay_out(design, say.plain("consent_title"), body)


def _usual_consent(design: StudyDesign, say: PageTexts) -> str:
    lines = [say(f"consent_{design.kind}"), say("consent_time", minutes=design.duration_minutes)]
    lines += _limits(design, say)
    if Decimal(design.pay_per_task) or Decimal(design.pay_per_review):
        key = "consent_pay" if design.kind == SOLVE else "consent_pay_reviews"
        amounts = {"task": design.pay_per_task, "review": design.pay_per_review, "currency": design.currency}
        lines.append(say(key, **amounts))
    lines += [say(f"consent_{each}") for each in ("free", "data", "deletion")]
    if design.retention:
        lines.append(say("consent_retention", retention=design.retention))
    if design.institution or design.contact:
        lines.append(say("consent_who", institution=design.institution or "–", contact=design.contact or "–"))
    return "".join(element("p", line) for line in lines)


def _limits(design: StudyDesign, say: PageTexts) -> list[str]:
    """Return what the consent says about time limits; which condition somebody will be in is not known yet."""
    limits = sorted({each.time_limit_s for each in design.conditions if each.time_limit_s is not None})
    if not limits or design.kind != SOLVE:
        return []
    key = (
        "consent_limit"
        if len(limits) == len({each.time_limit_s for each in design.conditions})
        else "consent_limit_some"
    )
    return [say(key, seconds=" / ".join(f"{each:g}" for each in limits))]


def full_page(study: Study, leave: Exit, again_s: float | None = None) -> BuiltPage:
    """Return the page for those who come when there is nothing to do: at the moment, or any more."""
    say = texts_of(study.design)
    if again_s is not None:  # who comes back later is not screened out
        body = element("p", say("full_now", minutes=max(1, ceil(again_s / 60))))
        return lay_out(study.design, say.plain("full_now_title"), body, script=False)
    body = element("p", say("full")) + _exit(study.design, say, leave)
    return lay_out(study.design, say.plain("full_title"), body, script=False)


def finished_page(study: Study, me: Participant, leave: Exit, amount: Decimal) -> BuiltPage:
    """Return the debriefing."""
    design, say = study.design, texts_of(study.design)
    body = element("p", say("done_thanks"))
    body += _paragraphs(design.debriefing) if design.debriefing else element("p", say(f"done_{design.kind}"))
    if amount:
        body += element("p", say("done_pay", amount=amount, currency=design.currency))
    body += element("p", say("done_code", code=me.code) + _copy(say, me.code)) + _exit(design, say, leave)
    forms = " ".join(MTURK_HOSTS) if leave.kind == MTURK else "'none'"
    return lay_out(design, say.plain("done_title"), body, forms=forms)


def _copy(say: PageTexts, text: str) -> str:
    """Return a button that copies a text, where scripts run."""
    return " " + element(
        "button", say("copy"), type="button", data_copy=text, data_copied=say.plain("copied"), hidden="hidden"
    )


def _exit(design: StudyDesign, say: PageTexts, leave: Exit) -> str:
    if leave.kind == PROLIFIC and leave.address:
        return element("p", element("a", say("done_prolific"), href=leave.address, id="leave"))
    if leave.kind == MTURK and leave.fields is not None:
        hidden = "".join(_hidden(name, value) for name, value in leave.fields.items())
        return element("form", hidden + _button(say("done_mturk")), method="post", action=leave.address, id="leave")
    return ""


def error_page(design: StudyDesign, key: str, back: str = "") -> BuiltPage:
    """Return a page that says what went wrong.

    Args:
        design: The design.
        key: The key of the text.
        back: Where a link leads; empty for none.
    """
    say = texts_of(design)
    body = element("p", say(key)) + (element("p", element("a", say("error_again"), href=back)) if back else "")
    return lay_out(design, say.plain("error_title"), body, script=False)


# Steps.


def step_page(
    study: Study,
    me: Participant,
    token: str,
    step: StudyStep,
    link: str,
    *,
    notice: str = "",
    text: str = "",
    remarks: Sequence[TextRemark] = (),
    story: str = "",
) -> BuiltPage:
    """Return the page of a step.

    Args:
        study: The study.
        me: The participant.
        token: That of the link.
        step: The step.
        link: The whole link, to go on elsewhere.
        notice: The key of a text that stands at the top.
        text: What the participant has written so far (write).
        remarks: What the checks say about it.
        story: The story to review.
    """
    say = texts_of(study.design)
    if step.kind == START:
        return _start_page(study, me, token, step, say, link)
    item = study.items[step.item]
    signature = sign(study.secret, me.id, step.kind, step.slot)
    shared = (
        _hidden("slot", str(step.slot))
        + _hidden("signature", signature)
        + _hidden("browser_ms", "")
        + _hidden("hidden_ms", "")
    )
    match step.kind:
        case "answer":
            title, content = _question(study, me, say, item, step, shared, token)
        case "rate":
            title, content = say.plain("rate_title"), _rating(say, shared, token)
        case "write":
            title, content = say.plain("write_title"), _writing(study, say, item, shared, token, text, remarks)
        case _:
            title, content = say.plain("review_title"), _review(say, item, step, shared, token, story)
    top = _progress(say, step) + (_notice(say(notice)) if notice else "")
    return lay_out(study.design, title, top + content + _foot(say, link))


def _start_page(study: Study, me: Participant, token: str, step: StudyStep, say: PageTexts, link: str) -> BuiltPage:
    """Return the page before the first question with a time limit: its clock starts with a button, not with a link."""
    limit = study.design.condition(me.condition).time_limit_s or 0.0
    body = _progress(say, step) + element("p", say("start_text", seconds=f"{limit:g}"), class_="lead")
    fields = _hidden("signature", sign(study.secret, me.id, START)) + _button(say("start_button"))
    body += _form(f"/s/{token}/{START}", fields, step=START)
    return lay_out(study.design, say.plain("start_title"), body + _foot(say, link))


def _foot(say: PageTexts, link: str) -> str:
    return element(
        "footer",
        element("p", say("pause_note")) + element("p", say("personal_link", link=link) + _copy(say, link)),
    )


def _progress(say: PageTexts, step: StudyStep, *, ahead: bool = True) -> str:
    """Return how far a participant is: at the next step, or at the one that was just done."""
    at = min(step.done + ahead, step.total)
    words = say("progress", done=at, total=step.total)
    bar = element(
        "progress",
        "",
        value=str(step.done),
        max=str(step.total),
        aria_label=say.plain("progress", done=at, total=step.total),
    )
    return element("p", words, class_="note") + bar


def _question(
    study: Study, me: Participant, say: PageTexts, item: StudyItem, step: StudyStep, shared: str, token: str
) -> tuple[str, str]:
    practice = step.role == PRACTICE
    body = _notice(say("practice_intro")) if practice else ""
    if practice and (limit := study.design.condition(me.condition).time_limit_s) is not None:
        body += _clock(say, limit, limit, over=say.plain("practice_over"))
    if step.deadline is not None:
        limit = study.design.condition(me.condition).time_limit_s or 0.0
        body += _clock(say, max(0.0, step.deadline - study.now()), limit)
    body += element("h2", say("story")) + _story(item.story)
    body += _conventions(say, item, shown=practice) if study.design.conventions else ""
    legend = element("legend", _read(item.question), class_="question")
    fields = _members(say, item, legend) if item.parts else _choices(item, legend)
    body += _form(f"/s/{token}/{ANSWER}", shared + fields + _button(say("send")), step=ANSWER)
    return say.plain("practice_title" if practice else "question_title"), body


def _clock(say: PageTexts, left: float, limit: float, over: str = "") -> str:
    """Return the time left as a text and as a bar that empties; in practice it says what its end means."""
    words = element("span", say("time_left", seconds=round(left)), role="timer")
    bar = element("progress", "", value=f"{left:.1f}", max=f"{limit:.1f}", aria_hidden="true")
    text = say.plain("time_left", seconds="{seconds}")
    return element(
        "div", words + bar, class_="clock", data_left_ms=str(round(1000 * left)),
        data_limit_ms=str(round(1000 * limit)), data_text=text, data_over=over,
    )  # fmt: skip


def _choices(item: StudyItem, legend: str) -> str:
    """Return the possible answers, of which one is chosen."""
    choices = "".join(
        element("label", f'<input type="radio" name="answer" value="{safe(each)}" required>' + _read(each))
        for each in item.choices
    )
    return element("fieldset", legend + choices, class_="choices", data_keys="yes")


def _members(say: PageTexts, item: StudyItem, legend: str) -> str:
    """Return what an answer may consist of, to be ticked; the last box says that nothing belongs to it."""
    *members, nothing = item.members
    hint = element("p", say("parts_hint", nothing=nothing), class_="note")
    boxes = "".join(
        element("label", f'<input type="checkbox" name="part" value="{safe(each)}"{alone}>' + data_text(each))
        for each, alone in [*((each, "") for each in members), (nothing, " data-alone")]
    )
    missing = say.plain("parts_missing")
    return element("fieldset", legend + hint + boxes, class_="choices", data_missing=missing)


def _read(text: str) -> str:
    """Return a text of the data as people read it: a filing_cabinet is a filing cabinet."""
    return data_text(spaced(text))


def _story(lines: Sequence[str], marked: Sequence[int] = ()) -> str:
    shown = (
        element("li", element("mark", _read(line)), class_="deciding")
        if number in marked
        else element("li", _read(line))
        for number, line in enumerate(lines, start=1)
    )
    return element("ol", "".join(shown), class_="story")


def _conventions(say: PageTexts, item: StudyItem, *, shown: bool) -> str:
    example = item.example()
    lines = family_of(example).conventions(example, say.language)
    if not lines:
        return ""
    entries = "".join(element("li", safe(say.translate(line))) for line in lines)
    content = element("summary", say("conventions")) + element("ul", entries)
    return element("details", content, open="open" if shown else "")


def feedback_page(study: Study, token: str, step: StudyStep, item: StudyItem, given: str) -> BuiltPage:
    """Return the page that shows the right answer of a practice question, with its proof and picture.

    Args:
        study: The study.
        token: That of the participant's link.
        step: What comes next.
        item: The question.
        given: The participant's answer.
    """
    say = texts_of(study.design)
    is_right = given == item.answer
    key, sign_, style = ("feedback_right", "✓ ", "good") if is_right else ("feedback_wrong", "✗ ", "bad")
    words = say(key, answer=spaced(item.answer), given=spaced(given))
    mark = element("span", sign_, class_=style, aria_hidden="true")
    body = _progress(say, step, ahead=False) + element("p", mark + words, class_="lead")
    body += element("p", _read(item.question), class_="question") + _story(item.story, item.proof)
    if item.proof:
        body += element("p", say("feedback_proof"))
    if study.design.language == ENGLISH:  # the words in pictures are English
        if item.number not in study.drawn:
            study.drawn[item.number] = _picture(item, say.plain("feedback_picture"))
        body += study.drawn[item.number]
    body += element("p", element("a", say("continue"), href=f"/s/{token}", id="continue", class_="button"))
    return lay_out(study.design, say.plain("feedback_title"), body, script=False)


def _picture(item: StudyItem, caption: str) -> str:
    example = item.example()
    try:
        picture = family_of(example).pictures([example], example.proof)[0]
    except (DataError, LookupError):  # not every story can be drawn
        return ""
    forms = element("div", picture.narrow, class_="narrow") if picture.narrow else ""
    forms += element("div", picture.svg, class_="wide")
    return element("figure", element("figcaption", safe(caption)) + element("div", forms, class_="drawing"))


def _rating(say: PageTexts, shared: str, token: str) -> str:
    choices = "".join(
        element("label", f'<input type="radio" name="difficulty" value="{each}" required>' + say(f"rate_{each}"))
        for each in RATINGS
    )
    fields = element("legend", say("rate_title"), class_="unseen") + choices
    fields = element("fieldset", fields, class_="choices scale", data_keys="yes")
    return _form(f"/s/{token}/{RATE}", shared + fields + _button(say("send")), step=RATE)


def _facts(say: PageTexts, item: StudyItem, hidden_key: str) -> str:
    task = item.writing_task()
    body = element("h2", say("write_facts")) + _list(task.facts)
    body += element("h3", say("write_genders")) + _list(task.genders)
    if task.hidden:
        body += element("h3", say(hidden_key)) + _list([task.hidden])
    return element("div", body, class_="facts")


def _writing(
    study: Study, say: PageTexts, item: StudyItem, shared: str, token: str, text: str, remarks: Sequence[TextRemark]
) -> str:
    design = study.design
    body = element("p", say("write_intro")) + _facts(say, item, "write_hidden") + _examples(say, item)
    questions = any(each.is_question for each in remarks)
    area = element(
        "textarea",
        safe(text),
        name_="text",
        required="required",
        minlength=str(design.shortest_text),
        maxlength=str(design.longest_text),
        data_check=f"/s/{token}/check",
        data_problems=say.plain("write_problems"),
        data_questions=say.plain("write_questions"),
        data_fine=say.plain("write_fine"),
    )
    length = say("write_length", least=design.shortest_text, most=design.longest_text)
    tick = element(
        "label",
        '<input type="checkbox" name="confirm" value="yes">' + element("span", say("write_confirm")),
        class_="tick confirm",
    )
    if not questions:
        tick = tick.replace("<label", "<label hidden", 1)
    fields = element("label", say("write_label") + f" ({length})" + area)
    fields += element("div", _remarks(say, remarks), class_="remarks", aria_live="polite") + tick
    return body + _form(f"/s/{token}/{WRITE}", shared + fields + _button(say("send")), step=WRITE)


def _remarks(say: PageTexts, remarks: Sequence[TextRemark]) -> str:
    problems, questions = describe_remarks(say, remarks)
    body = ""
    if problems:
        body += element("div", element("p", say("write_problems")) + _list(problems), class_="problem")
    if questions:
        body += element("div", element("p", say("write_questions")) + _list(questions), class_="notice")
    return body


def describe_remarks(say: PageTexts, remarks: Sequence[TextRemark]) -> tuple[list[str], list[str]]:
    """Return what to change and what to look at again, in sentences."""
    problems = [say.plain(f"remark_{each.kind}", what=each.what) for each in remarks if not each.is_question]
    questions = [say.plain(f"remark_{each.kind}", what=each.what) for each in remarks if each.is_question]
    return problems, questions


def _examples(say: PageTexts, item: StudyItem) -> str:
    """Return one good story and two bad ones, with their facts."""
    shown = find_paraphrasing(item.family).examples()[:3]
    body = element("h3", say("write_facts")) + _list(shown[0].task.facts)
    body += element("h3", say("write_hidden")) + _list([shown[0].task.hidden])
    for each in shown:
        reasons = " ".join(say.plain(f"reason_{reason}") for reason in each.reasons)
        head = say("write_good") if each.is_good else say("write_bad", reason=reasons)
        body += element("h3", head) + element("p", data_text(each.text))
    return element("details", element("summary", say("write_examples")) + body, open="open")


def _review(say: PageTexts, item: StudyItem, step: StudyStep, shared: str, token: str, story: str) -> str:
    body = element("p", say("review_intro")) + element("h2", say("review_story"))
    body += element("p", data_text(story), class_="lead") + _facts(say, item, "review_hidden")
    verdicts = "".join(
        element("label", f'<input type="radio" name="verdict" value="{each}" required>' + say(f"review_{each}"))
        for each in ("good", "bad")
    )
    reasons = "".join(
        element("label", f'<input type="checkbox" name="reason" value="{each}">' + say(f"reason_{each}"))
        for each in REASONS
    )
    fields = element("fieldset", element("legend", say("review_question")) + verdicts, class_="choices")
    fields += element("fieldset", element("legend", say("review_why")) + reasons, class_="choices")
    return body + _form(f"/s/{token}/{REVIEW}", shared + fields + _button(say("send")), step=REVIEW)


# Elements.


def _form(action: str, content: str, step: str) -> str:
    return element("form", content, method="post", action=action, data_step=step)


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{safe(name)}" value="{safe(value)}">'


def _button(text: str) -> str:
    return element("p", element("button", text, type="submit"))


def _notice(text: str) -> str:
    return element("p", text, class_="notice", role="status")


def _list(lines: Sequence[str]) -> str:
    return element("ul", "".join(element("li", data_text(line)) for line in lines))


def _paragraphs(text: str) -> str:
    parts = [part for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]
    return "".join(element("p", data_text(part.strip())) for part in parts)
