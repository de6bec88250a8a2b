"""The web application of a study: pages for participants, and the dashboard.

The link identifies a participant; there are no cookies, which sites that show the study in a frame would lose.
Everything that a page needs is in the database, so that a server that was killed goes on where it was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread
from sqlalchemy import Row, select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from storyproof.errors import ConfigError, StoryproofError
from storyproof.families.paraphrasing import REASONS
from storyproof.io.bounded_input import DocumentError, parse_json
from storyproof.runtime.guard import Guard
from storyproof.study import schema
from storyproof.study.admin import (
    DEVICE_S,
    SESSION_S,
    TooManyAttemptsError,
    find_session,
    log_in,
    log_out,
    new_device,
)
from storyproof.study.dashboard import REFRESH_S, dashboard_page, login_page
from storyproof.study.design import PARAPHRASE
from storyproof.study.folder import Study
from storyproof.study.forms import FormError, check_signature, open_arrival, read_form, read_json_text
from storyproof.study.items import ATTENTION, PRACTICE, StudyItem, find_paraphrasing
from storyproof.study.messages import texts_of
from storyproof.study.pages import (
    RATINGS,
    REFERRER,
    BuiltPage,
    consent_page,
    describe_remarks,
    error_page,
    feedback_page,
    finished_page,
    frames_of,
    full_page,
    step_page,
)
from storyproof.study.participant_flow import (
    ANSWER,
    FINISHED,
    RATE,
    REVIEW,
    START,
    WRITE,
    StudyStep,
    find_step,
    find_step_by_link,
)
from storyproof.study.participants import Participant, StudyFullError, enter, find
from storyproof.study.recruitment import exit_of, read_arrival
from storyproof.study.results import pay_so_far
from storyproof.study.submissions import (
    LATE,
    FormOutcome,
    ImpossibleAnswerError,
    submit_answer,
    submit_rating,
    submit_review,
    submit_text,
    time_out,
)
from storyproof.study.text_checks import check_story

_log = logging.getLogger(__name__)
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_Handler = Callable[[Request, bytes], Response]
_THREADS = 8  # at work at a time; more would only wait for each other


def create_app(study: Study, *, public_url: str = "http://127.0.0.1", any_address: bool = False) -> Starlette:
    """Build the web application of a study.

    Args:
        study: The study.
        public_url: The address under which participants reach it; links begin with it.
        any_address: Whether it may also be called by any numeric address.
    """
    server, threads = StudyServer(study, public_url), CapacityLimiter(_THREADS)
    routes = [
        Route("/", _answering(server.show_consent, study, threads)),
        Route("/consent", _answering(server.consent, study, threads), methods=["POST"]),
        Route("/s/{token}", _answering(server.show_step, study, threads)),
        Route("/s/{token}/feedback/{slot:int}", _answering(server.show_feedback, study, threads)),
        Route("/s/{token}/check", _answering(server.check, study, threads), methods=["POST"]),
        *(
            Route(f"/s/{{token}}/{kind}", _answering(handler, study, threads), methods=["POST"])
            for kind, handler in server.forms().items()
        ),
        Route("/admin", _answering(server.show_dashboard, study, threads)),
        Route("/admin/login", _answering(server.log_in, study, threads), methods=["POST"]),
        Route("/admin/logout", _answering(server.log_out, study, threads), methods=["POST"]),
        Route("/admin/export.zip", _answering(server.export, study, threads)),
        Route("/health", _answering(server.show_health, study, threads)),
    ]
    guard = Middleware(
        Guard,
        hosts=[urlsplit(public_url).hostname or ""],
        any_address=any_address,
        types=(_FORM, _JSON),
        is_linked=lambda path: path == "/" or path == "/admin" or path.startswith("/s/"),
        schemes=("http", "https"),
        frames=frames_of(study.design),
        referrer=REFERRER,
    )

    async def missing(request: Request, error: Exception) -> Response:
        return _page(error_page(study.design, "not_found"), getattr(error, "status_code", 404))

    async def failed(request: Request, error: Exception) -> Response:
        _log.error("a request failed", exc_info=error)  # without its address, which is somebody's link
        return _page(error_page(study.design, "failed"), 500)

    return Starlette(routes=routes, middleware=[guard], exception_handlers={404: missing, 405: missing, 500: failed})


def _answering(handler: _Handler, study: Study, threads: CapacityLimiter) -> Any:
    """Return an endpoint that reads the body, answers in a thread, and turns what a user can do into a page."""

    async def answer(request: Request) -> Response:
        body = await request.body()
        try:
            return await to_thread.run_sync(handler, request, body, limiter=threads)
        except FormError:
            return _page(error_page(study.design, "bad_form", _back(request)), 400)
        except StoryproofError as error:
            _log.error("a request failed: %s", error)
            return _page(error_page(study.design, "busy", _back(request)), 503)

    return answer


def _back(request: Request) -> str:
    token = request.path_params.get("token", "")
    return f"/s/{token}" if token.isascii() and token.replace("-", "").replace("_", "").isalnum() else ""


def _page(page: BuiltPage, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return HTMLResponse(page.html, status, headers={"content-security-policy": page.policy, **(headers or {})})


class StudyServer:
    """Answers requests. Handlers are plain functions, run in threads.

    Args:
        study: The study.
        public_url: The address under which participants reach it.
    """

    def __init__(self, study: Study, public_url: str) -> None:
        self._study, self._public_url = study, public_url.rstrip("/")
        self._is_secure = public_url.startswith("https:")
        # The prefix makes browsers refuse a cookie that another host or an insecure page has set.
        self._cookie = "__Host-storyproof" if self._is_secure else "storyproof"

    def forms(self) -> dict[str, _Handler]:
        """Return what handles each form of this kind of study."""
        if self._study.design.kind == PARAPHRASE:
            return {WRITE: self.write, REVIEW: self.review}
        return {START: self.start, ANSWER: self.answer, RATE: self.rate}

    # Participants.

    def show_consent(self, request: Request, body: bytes) -> Response:
        """Return the consent page for a new participant."""
        query = {name: value for name, value in request.query_params.items() if len(value) <= 200}
        try:
            arrival = read_arrival(self._study.design, query)
        except ConfigError:
            return _page(error_page(self._study.design, "not_found"), 400)
        return _page(consent_page(self._study, arrival))

    def consent(self, request: Request, body: bytes) -> Response:
        """Take in a participant who consents."""
        form = read_form(body)
        arrival = open_arrival(self._study.secret, form.get("arrival"))
        if form.get("agree") != "yes":
            return _page(consent_page(self._study, arrival, notice="consent_missing"), 400)
        try:
            token = enter(self._study, arrival, sha256(body).hexdigest())
        except StudyFullError as full:
            return _page(full_page(self._study, exit_of(self._study.design, None), full.again_s))
        return RedirectResponse(f"/s/{token}", 303)

    def show_step(self, request: Request, body: bytes) -> Response:
        """Return the page of a participant's next step."""
        token = request.path_params["token"]
        place = find_step_by_link(self._study, token)
        if place is None:
            return self._unknown()
        (me, step), notice = place, "timed_out_note" if request.query_params.get("over") else ""
        while time_out(self._study, me, step):
            step, notice = find_step(self._study, me), "timed_out_note"
        return self._show(me, token, step, notice=notice)

    def _show(self, me: Participant, token: str, step: StudyStep, status: int = 200, **more: Any) -> Response:
        if step.kind == FINISHED:
            leave, amount = exit_of(self._study.design, me), pay_so_far(self._study, me.id)
            return _page(finished_page(self._study, me, leave, amount))
        story = self._story(step) if step.kind == REVIEW else ""
        link = f"{self._public_url}/s/{token}"
        return _page(step_page(self._study, me, token, step, link, story=story, **more), status)

    def _story(self, step: StudyStep) -> str:
        if step.role == ATTENTION:
            return self._study.items[step.item].text
        with self._study.database.reading() as connection:
            text: str = connection.execute(select(schema.text.c.text).where(schema.text.c.id == step.text)).scalar_one()
            return text

    def start(self, request: Request, body: bytes) -> Response:
        """Start the clock: give out the next question."""
        me, token = self._participant(request)
        if me is None:
            return self._unknown()
        check_signature(self._study.secret, read_form(body).get("signature"), me.id, START)
        find_step(self._study, me)
        return RedirectResponse(f"/s/{token}", 303)

    def answer(self, request: Request, body: bytes) -> Response:
        """Store an answer."""
        me, token = self._participant(request)
        if me is None:
            return self._unknown()
        form = read_form(body)
        slot = self._signed_slot(form.get("slot"), form.get("signature"), me, ANSWER)
        answer = form.get("answer")
        if not answer:
            with self._study.database.reading() as connection:
                row = connection.execute(select(schema.slot).where(schema.slot.c.id == slot)).first()
            item = None if row is None else self._study.items[row.target]
            if item is not None and item.parts:
                answer = self._compose(item, form.all("part"))
            if not answer and not self._may_be_empty(me, row):
                step = find_step(self._study, me)
                if item is not None and item.parts and step.kind == ANSWER and step.slot == slot:
                    return self._show(me, token, step, 422, notice="parts_missing")
                raise FormError
        try:
            outcome = submit_answer(self._study, me, slot, answer, *form.measured())
        except ImpossibleAnswerError as error:
            raise FormError from error
        if outcome.role == PRACTICE and outcome.status != LATE:
            return RedirectResponse(f"/s/{token}/feedback/{slot}", 303)
        if (not answer or form.get("over")) and outcome.status != LATE:  # whose time was over is told so
            return RedirectResponse(f"/s/{token}?over=1", 303)
        return self._go_on(token, outcome)

    def _compose(self, item: StudyItem, ticked: list[str]) -> str:
        """Return the answer that consists of what was ticked; empty if there is none."""
        if not set(ticked) <= set(item.members):
            raise FormError
        return item.compose(ticked)

    def _may_be_empty(self, me: Participant, row: Row[Any] | None) -> bool:
        """Return whether the form of a slot may come without an answer: only when its time is over."""
        limit = self._study.design.condition(me.condition).time_limit_s
        if row is None or limit is None or row.kind in (PRACTICE, ATTENTION):
            return False
        return bool(self._study.now() >= row.shown_at + limit - 1.0)  # a browser's clock is not ours

    def show_feedback(self, request: Request, body: bytes) -> Response:
        """Return the feedback on a practice question that the participant has answered."""
        me, token = self._participant(request)
        if me is None:
            return self._unknown()
        table = schema.answer
        with self._study.database.reading() as connection:
            row = connection.execute(
                select(table.c.item, table.c.answer).where(
                    table.c.slot_id == request.path_params["slot"] % 2**31,
                    table.c.participant_id == me.id,
                    table.c.role == PRACTICE,
                )
            ).first()
        if row is None:
            return RedirectResponse(f"/s/{token}", 303)
        step = find_step_by_link(self._study, token)
        assert step is not None  # its participant was found just now
        return _page(feedback_page(self._study, token, step[1], self._study.items[row.item], row.answer))

    def rate(self, request: Request, body: bytes) -> Response:
        """Store a rating."""
        me, token = self._participant(request)
        if me is None:
            return self._unknown()
        form = read_form(body)
        slot = self._signed_slot(form.get("slot"), form.get("signature"), me, RATE)
        if form.get("difficulty") not in map(str, RATINGS):
            raise FormError
        return self._go_on(token, submit_rating(self._study, me, slot, int(form.get("difficulty"))))

    def write(self, request: Request, body: bytes) -> Response:
        """Store a story, unless something must be changed; questions must be confirmed."""
        me, token = self._participant(request)
        if me is None:
            return self._unknown()
        form = read_form(body)
        slot = self._signed_slot(form.get("slot"), form.get("signature"), me, WRITE)
        step, text = find_step(self._study, me), form.get("text").strip()
        if step.kind != WRITE or step.slot != slot:
            return RedirectResponse(f"/s/{token}", 303)  # sent before, or gone to somebody else
        item = self._study.items[step.item]
        remarks = check_story(self._study, item, text)
        if any(not each.is_question for each in remarks) or (remarks and form.get("confirm") != "yes"):
            if find_step(self._study, me) != step:  # the same story was stored meanwhile, from a second click
                return RedirectResponse(f"/s/{token}", 303)
            return self._show(me, token, step, 422, text=text, remarks=remarks)
        fingerprint = find_paraphrasing(item.family).fingerprint(item.writing_task(), text)
        outcome = submit_text(self._study, me, slot, text, fingerprint, remarks, *form.measured())
        return self._go_on(token, outcome)

    def check(self, request: Request, body: bytes) -> Response:
        """Return remarks on a story that is being written."""
        me, _ = self._participant(request)
        if me is None:
            return JSONResponse({"error": "unknown link"}, 404)
        try:
            sent = parse_json(body)
        except (DocumentError, UnicodeError) as error:
            raise FormError from error
        if not isinstance(sent, dict):
            raise FormError
        text = read_json_text(sent, "text", 2 * self._study.design.longest_text)
        step = find_step(self._study, me)
        if step.kind != WRITE or step.slot != sent.get("slot"):
            return JSONResponse({"problems": [], "questions": []})
        say = texts_of(self._study.design)
        remarks = check_story(self._study, self._study.items[step.item], text)
        problems, questions = describe_remarks(say, remarks)
        return JSONResponse({"problems": problems, "questions": questions})

    def review(self, request: Request, body: bytes) -> Response:
        """Store a review."""
        me, token = self._participant(request)
        if me is None:
            return self._unknown()
        form = read_form(body)
        slot = self._signed_slot(form.get("slot"), form.get("signature"), me, REVIEW)
        verdict, reasons = form.get("verdict"), form.all("reason")
        if verdict not in ("good", "bad", "") or not set(reasons) <= set(REASONS):
            raise FormError
        if not verdict or (verdict == "bad") != bool(reasons):
            step = find_step(self._study, me)
            if step.kind == REVIEW and step.slot == slot:
                return self._show(me, token, step, 422, notice="review_missing")
            return RedirectResponse(f"/s/{token}", 303)
        good = verdict == "good"
        return self._go_on(
            token, submit_review(self._study, me, slot, good, list(dict.fromkeys(reasons)), *form.measured())
        )

    def _participant(self, request: Request) -> tuple[Participant | None, str]:
        token = request.path_params["token"]
        return find(self._study, token), token

    def _unknown(self) -> Response:
        return _page(error_page(self._study.design, "not_found"), 404)

    def _signed_slot(self, slot: str, signature: str, me: Participant, kind: str) -> int:
        if not (slot.isascii() and slot.isdecimal() and len(slot) < 10):
            raise FormError
        check_signature(self._study.secret, signature, me.id, kind, int(slot))
        return int(slot)

    def _go_on(self, token: str, outcome: FormOutcome) -> Response:
        if outcome.status == LATE:
            return _page(error_page(self._study.design, "late", f"/s/{token}"), 409)
        return RedirectResponse(f"/s/{token}", 303)

    # For the people who run the study.

    def show_dashboard(self, request: Request, body: bytes) -> Response:
        """Return the dashboard, or the page to log in."""
        session = find_session(self._study, request.cookies.get(self._cookie, ""))
        if session is None:
            return _page(login_page(self._study))
        return _page(dashboard_page(self._study, session, self._public_url), headers={"refresh": str(REFRESH_S)})

    def log_in(self, request: Request, body: bytes) -> Response:
        """Begin a session."""
        form = read_form(body)
        check_signature(self._study.secret, form.get("signature"), "login")
        address = request.client.host if request.client else ""
        try:
            device = request.cookies.get(f"{self._cookie}-device", "")
            session = log_in(self._study, form.get("password"), address, device)
        except TooManyAttemptsError:
            message = "Too many wrong passwords; try again in 15 minutes, or run storyproof study unlock on the server."
            return _page(login_page(self._study, message), 429)
        if session is None:
            return _page(login_page(self._study, "The password is wrong."), 403)
        response = RedirectResponse("/admin", 303)
        for name, value, seconds in (
            (self._cookie, session.token, SESSION_S),
            (f"{self._cookie}-device", new_device(self._study), DEVICE_S),
        ):
            response.set_cookie(
                name,
                value,
                max_age=int(seconds),
                path="/",
                secure=self._is_secure,
                httponly=True,
                samesite="strict",
            )
        return response

    def log_out(self, request: Request, body: bytes) -> Response:
        """End a session."""
        session = find_session(self._study, request.cookies.get(self._cookie, ""))
        if session is None or not log_out(self._study, session, read_form(body).get("form_key")):
            raise FormError
        response = RedirectResponse("/admin", 303)
        response.delete_cookie(self._cookie, path="/", secure=self._is_secure, httponly=True, samesite="strict")
        return response

    def export(self, request: Request, body: bytes) -> Response:
        """Return all results as a ZIP file."""
        if find_session(self._study, request.cookies.get(self._cookie, "")) is None:
            return RedirectResponse("/admin", 303)
        from storyproof.study.export import export_archive

        name = f"{self._study.design.name}-results.zip"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(export_archive(self._study), media_type="application/zip", headers=headers)

    def show_health(self, request: Request, body: bytes) -> Response:
        """Return whether the database answers."""
        with self._study.database.reading() as connection:
            connection.execute(select(schema.study.c.id))
        return PlainTextResponse("ok\n")
