"""The web application: one page, and the JSON that it asks for."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from secrets import randbelow
from string import Template
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from storyproof.catalog import DEFAULT_FAMILY
from storyproof.errors import ConfigError, DataError, StoryproofError, quoted
from storyproof.example import Example
from storyproof.families.family import load_family
from storyproof.io.bounded_input import DocumentError, parse_json
from storyproof.pictures.svg import element, safe
from storyproof.reports.header import PLACES, page_header
from storyproof.reports.page import build_page, content_policy, read_asset, theme
from storyproof.runtime.guard import LARGEST_REQUEST, Guard
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.solver import DEFAULT_PROMPT
from storyproof.stories import OwnText, prove_own
from storyproof.web.askers import Askers
from storyproof.web.dials import DialSettings, Recipes, describe_benchmarks
from storyproof.web.docs_page import docs_body
from storyproof.web.library import LARGEST_DROPPED, Library
from storyproof.web.stories import (
    MOST_MINDS,
    StoryPlace,
    ask_about,
    choose_question,
    fresh_story,
    step_through,
    view_made,
    view_own,
)
from storyproof.web.threads import BusyError, Done, WorkerThreads

QUICK_S, SLOW_S = 10.0, 180.0  # how long a request may take; asking models, reports and audits take longer
MOST_AT_ONCE, MOST_SLOW = 4, 2  # requests that are worked on; the others wait
LONGEST_STORY, LONGEST_QUESTION, MOST_LINES = 20_000, 1_000, 200
_LARGEST_SEED = 1 << 53  # beyond this a page cannot hold a number
_MOST_SETTINGS, _LONGEST_SETTING, _MOST_PEOPLE = 50, 200, 64
# Reports and audits are pages of their own: without an origin, they cannot reach this server.
_APART = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"

_log = logging.getLogger(__name__)
_Body = Mapping[str, Any]


def create_app(
    data: str | Path,
    *,
    models: Collection[str] = (),
    options: ModelOptions | None = None,
    seed: int | None = None,
    hosts: Collection[str] = (),
    any_address: bool = False,
    quick_s: float = QUICK_S,
) -> Starlette:
    """Build the web application of the explorer.

    Args:
        data: Its data folder: downloads are written there, and runs and data there can be opened.
        models: Models that can be asked, besides the solvers of the catalog; names as for `evaluate`.
        options: How language models are run.
        seed: Of fresh stories; by default another one each time.
        hosts: The names under which the server may be called, besides those of this machine itself.
        any_address: Whether it may also be called by any numeric address.
        quick_s: How long a request for a story may take.

    Raises:
        ConfigError: If a model's name stands for nothing.
    """
    explorer = Explorer(Path(data), Askers(tuple(models), options), seed, quick_s)
    routes = [
        Route("/", explorer.show_place),
        Route("/runs", explorer.show_place),
        Route("/data", explorer.show_place),
        Route("/studies", explorer.show_place),
        Route("/docs", explorer.show_docs),
        Route("/explore", explorer.show_page),
        Route("/api/start", explorer.start),
        Route("/api/files", explorer.list_files),
        Route("/api/story", explorer.make_story, methods=["POST"]),
        Route("/api/read", explorer.read_text, methods=["POST"]),
        Route("/api/steps", explorer.step, methods=["POST"]),
        Route("/api/ask", explorer.ask, methods=["POST"]),
        Route("/api/drop", explorer.keep_file, methods=["POST"]),
        Route("/api/dataset", explorer.make_dataset, methods=["POST"]),
        Route("/downloads/{name}", explorer.download),
        Route("/report", explorer.show_report),
        Route("/audit", explorer.show_audit),
    ]

    @asynccontextmanager
    async def closing(app: Starlette) -> AsyncIterator[None]:
        yield
        explorer.askers.close()

    return Starlette(
        routes=[Route(each.path, _answering(each.endpoint), methods=each.methods) for each in routes],
        middleware=[
            Middleware(
                Guard,
                hosts=hosts,
                any_address=any_address,
                types=("application/json", "application/octet-stream"),
                is_linked=lambda path: path in ("/", *PLACES),
                largest=lambda path: LARGEST_DROPPED if path == "/api/drop" else LARGEST_REQUEST,
            )
        ],
        exception_handlers={404: _not_found, 405: _not_found, 500: _failed},
        lifespan=closing,
    )


def _served_page(title: str, here: str, body: str, scripts: Sequence[str], sheet: str) -> tuple[str, str]:
    """Return a page with the header of the server, and its content security policy."""
    header = page_header(here, served=True)
    page = build_page(title, body, scripts=scripts, styles=[sheet], connect=bool(scripts), header=header)
    policy = content_policy(scripts, [theme(), sheet], connect=bool(scripts))
    return page, f"{policy}; frame-ancestors 'none'"


@cache
def place_page(here: str) -> tuple[str, str]:
    """Return the home page or one of its parts, and its content security policy."""
    script, sheet = (read_asset("storyproof.web", f"home.{kind}") for kind in ("js", "css"))
    picture = load_family(DEFAULT_FAMILY).samples[0]
    example = prove_own(OwnText(picture.story, picture.question))
    drawn = load_family(DEFAULT_FAMILY).pictures([example], example.proof)[0]
    body = Template(read_asset("storyproof.web", "home.html")).substitute(
        place=here, narrow=drawn.narrow, wide=drawn.svg.replace('class="picture ', 'class="wide picture ', 1)
    )
    title = f"{PLACES[here]} – storyproof" if here in PLACES else "storyproof"
    return _served_page(title, here, body, [read_asset("storyproof.reports", "page.js"), script], sheet)


@cache
def explorer_page() -> tuple[str, str]:
    """Return the page, and its content security policy."""
    script, sheet = (read_asset("storyproof.web", f"explorer.{kind}") for kind in ("js", "css"))
    scripts = [read_asset("storyproof.reports", "page.js"), script]
    body = read_asset("storyproof.web", "explorer.html")
    return _served_page("Explore – storyproof", "/explore", body, scripts, sheet)


@cache
def docs_page() -> tuple[str, str]:
    """Return the page that says how things are done, and its content security policy."""
    return _served_page("Docs – storyproof", "/docs", docs_body(), [], read_asset("storyproof.web", "home.css"))


def error_page(title: str, message: str) -> tuple[str, str]:
    """Return a page that says what is wrong, and its content security policy."""
    body = element("h1", safe(title)) + element("p", safe(message), class_="lead data")
    body += '<p><a class="button primary" href="/">Go to the home page</a></p>'
    sheet = read_asset("storyproof.web", "home.css")
    return _served_page(f"{title} – storyproof", "", element("main", body, class_="error"), [], sheet)


class Explorer:
    """Answers requests; what takes long runs in threads, a few at a time.

    Args:
        folder: The data folder.
        askers: The models that can be asked.
        seed: The seed of fresh stories.
        quick_s: How long a request for a story may take.
    """

    def __init__(self, folder: Path, askers: Askers, seed: int | None, quick_s: float = QUICK_S) -> None:
        self.askers = askers
        self._library = Library(folder)
        self._recipes = Recipes(randbelow(_LARGEST_SEED) if seed is None else seed)
        self._quick, self._slow = WorkerThreads(MOST_AT_ONCE, quick_s), WorkerThreads(MOST_SLOW, SLOW_S)

    async def show_page(self, request: Request) -> Response:
        """Return the page."""
        page, policy = explorer_page()
        return HTMLResponse(page, headers={"content-security-policy": policy})

    async def show_place(self, request: Request) -> Response:
        """Return the home page, or one of its parts on a page of its own."""
        page, policy = place_page(request.url.path)
        return HTMLResponse(page, headers={"content-security-policy": policy})

    async def show_docs(self, request: Request) -> Response:
        """Return the page that says how things are done."""
        page, policy = await self._quick.run(docs_page)
        return HTMLResponse(page, headers={"content-security-policy": policy})

    async def keep_file(self, request: Request) -> Response:
        """Write a file that was dropped on a page into the data folder, to be audited."""
        name, content = request.query_params.get("name", ""), await request.body()
        return JSONResponse({"data": await self._quick.run(lambda: self._library.keep_file(name, content))})

    async def start(self, request: Request) -> Response:
        """Return what the page needs first: benchmarks with their dials, and models."""

        def find() -> dict[str, Any]:
            return {"benchmarks": describe_benchmarks(), **self.askers.describe()}

        return JSONResponse(await self._quick.run(find))

    async def list_files(self, request: Request) -> Response:
        """Return the runs and data in the data folder."""
        return JSONResponse(await self._quick.run(self._library.listing))

    async def make_story(self, request: Request) -> Response:
        """Return a fresh story with one of its questions, or the one that is named."""
        body = await _body(request)
        wanted, asked, order = _story_place(body), _whole(body, "asked", None, 0, 1_000), _order(body)

        def find() -> dict[str, Any]:
            found, examples = fresh_story(self._recipes, wanted)
            return view_made(found, examples, asked, order).as_dict()

        return JSONResponse(await self._quick.run(find))

    async def read_text(self, request: Request) -> Response:
        """Return what a user's own text says, or where it cannot be read."""
        body = await _body(request)
        text, order = _own_text(body), _order(body)
        return JSONResponse(await self._quick.run(lambda: view_own(text, order).as_dict()))

    async def step(self, request: Request) -> Response:
        """Return the states of a story."""
        body = await _body(request)
        find, order = self._example(body), _order(body)
        return JSONResponse({"steps": await self._quick.run(lambda: step_through(find(), order))})

    async def ask(self, request: Request) -> Response:
        """Return what a model answers, after lines of what it has said so far if it can be heard."""
        body = await _body(request)
        model, prompt = _text(body, "model", 200), _text(body, "prompt", 100, DEFAULT_PROMPT)
        find, conventions = self._example(body, ask_about), _truth(body, "conventions", usual=True)
        heard = self._slow.listen(lambda hear: self.askers.ask(model, find(), prompt, conventions, hear))
        first = await anext(heard)
        if isinstance(first, Done):
            return JSONResponse(first.result)

        async def lines() -> AsyncIterator[str]:
            yield _line({"said": first})
            try:
                async for each in heard:
                    yield _line(each.result if isinstance(each, Done) else {"said": each})
            except Exception as error:  # the status has been sent
                message, status = _explain(error)
                if status == 500:
                    _log.error("a request to %s failed", request.url.path, exc_info=error)
                yield _line({"error": message})

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def make_dataset(self, request: Request) -> Response:
        """Write a dataset into the data folder, to be downloaded."""
        body = await _body(request)
        dials, seed = _dials(body), _whole(body, "seed", 0, 0, _LARGEST_SEED)
        counts = {split: _whole(body, split, 0, 0, 10**9) or 0 for split in ("train", "val", "test")}
        format_name = _text(body, "format", 40, "jsonl")
        made = partial(self._library.make_dataset, dials, counts, seed or 0, format_name)
        return JSONResponse(await self._slow.run(made))

    async def download(self, request: Request) -> Response:
        """Return a dataset that was made."""
        path = await self._quick.run(lambda: self._library.download(request.path_params["name"]))
        return FileResponse(path, media_type="application/zip", filename=path.name)

    async def show_report(self, request: Request) -> Response:
        """Return the report on runs of the data folder."""
        runs = request.query_params.getlist("run")
        page = await self._slow.run(lambda: self._library.report_page(runs))
        return _page_apart(page.replace(page_header("Report"), page_header("/runs", served=True), 1))

    async def show_audit(self, request: Request) -> Response:
        """Return the audit of data of the data folder."""
        data = request.query_params.get("data", "")
        page = await self._slow.run(lambda: self._library.audit_page(data))
        return _page_apart(page.replace(page_header("Audit"), page_header("/data", served=True), 1))

    def _example(self, body: _Body, read: Callable[[OwnText], Example] = prove_own) -> Callable[[], Example]:
        """Return what finds the example that a request is about: of a fresh story, or of a user's own."""
        if "story" in body:
            return partial(read, _own_text(body))
        wanted, asked = _story_place(body), _whole(body, "asked", None, 0, 1_000)
        if wanted.place < 0:
            raise ConfigError("the request names no story; give story and question, or place and number.")

        def find() -> Example:
            _, examples = fresh_story(self._recipes, wanted)
            number = choose_question(examples) if asked is None else asked
            if number >= len(examples):
                raise ConfigError(f"the question is {number}; the story has {len(examples)}, counted from 0.")
            return examples[number]

        return find


def _page_apart(page: str) -> Response:
    return HTMLResponse(page, headers={"content-security-policy": _APART})


# Requests: plain values of bounded size.


async def _body(request: Request) -> _Body:
    """Return the values of a request.

    Raises:
        DataError: If it is not an object of JSON.
    """
    try:
        found = parse_json((await request.body()).decode("utf-8"))
    except (DocumentError, UnicodeError) as error:
        raise DataError(f"the request is not valid JSON: {error}.") from error
    if not isinstance(found, dict):
        raise DataError("the request is not an object of JSON.")
    return found


def _text(body: _Body, name: str, most: int, usual: str | None = None) -> str:
    value = body.get(name, usual)
    if not isinstance(value, str) or len(value) > most:
        raise ConfigError(f"{name} is {quoted(value)}; expected a text of at most {most:,} characters.")
    return value


def _truth(body: _Body, name: str, *, usual: bool) -> bool:
    value = body.get(name, usual)
    if not isinstance(value, bool):
        raise ConfigError(f"{name} is {quoted(value)}; expected true or false.")
    return value


def _whole(body: _Body, name: str, usual: int | None, least: int, most: int) -> int | None:
    value = body.get(name)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"{name} is {quoted(value)}; expected a whole number from {least} to {most}.")
    return value


def _order(body: _Body) -> int:
    found = _whole(body, "order", 2, 1, MOST_MINDS)
    return 2 if found is None else found


def _dials(body: _Body) -> DialSettings:
    settings = body.get("settings") or {}
    if not isinstance(settings, dict) or len(settings) > _MOST_SETTINGS:
        raise ConfigError(f"settings is {quoted(settings)}; expected an object of dials.")
    for name, value in settings.items():
        if not isinstance(value, bool):
            _text(settings, name, _LONGEST_SETTING)
    return DialSettings(_text(body, "benchmark", 100), _text(body, "preset", 100, ""), settings)


def _story_place(body: _Body) -> StoryPlace:
    place = _whole(body, "place", -1, 0, _LARGEST_SEED)
    number = _whole(body, "number", 0, 0, _LARGEST_SEED)
    return StoryPlace(_dials(body), _text(body, "split", 10, "test"), -1 if place is None else place, number or 0)


def _own_text(body: _Body) -> OwnText:
    people = body.get("people") or []
    if not isinstance(people, list) or len(people) > _MOST_PEOPLE:
        raise ConfigError(f"people is {quoted(people)}; expected a list of at most {_MOST_PEOPLE} names.")
    for name in people:
        _text({"people": name}, "people", 100)
    story = _text(body, "story", LONGEST_STORY)
    if story.count("\n") >= MOST_LINES:
        raise ConfigError(f"the story has {story.count(chr(10)) + 1:,} lines; expected at most {MOST_LINES}.")
    return OwnText(story, _text(body, "question", LONGEST_QUESTION), tuple(people), _text(body, "family", 100, ""))


# Errors: always JSON with what is wrong.

_Endpoint = Callable[[Request], Awaitable[Response]]


def _answering(endpoint: _Endpoint) -> _Endpoint:
    """Return an endpoint that answers with a message what a user can do something about."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (BusyError, TimeoutError, StoryproofError, OSError, MemoryError) as error:
            return _problem(request, *_explain(error))

    return answer


def _explain(error: Exception) -> tuple[str, int]:
    """Return what is wrong, and the status that says so."""
    if isinstance(error, BusyError | TimeoutError):
        return "this takes too long, or the server is busy; try again, or less.", 503
    if isinstance(error, StoryproofError):
        return str(error).encode("utf-8", "replace").decode(), 400
    if isinstance(error, OSError | MemoryError):
        return f"the server cannot do this: {type(error).__name__}.", 500
    return "this is a bug of storyproof; the server's output has the details.", 500


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values) + "\n"


def _problem(request: Request, message: str, status: int) -> Response:
    """Return what is wrong: as JSON to a script, as a page to a person."""
    if request.method != "GET" or request.url.path.startswith("/api/"):
        return JSONResponse({"error": message}, status)
    title = "Nothing is here" if status == 404 else "This did not work"
    page, policy = error_page(title, message[0].upper() + message[1:])
    return HTMLResponse(page, status, headers={"content-security-policy": policy})


async def _not_found(request: Request, error: Exception) -> Response:
    return _problem(request, "there is nothing at this address.", getattr(error, "status_code", 404))


async def _failed(request: Request, error: Exception) -> Response:
    _log.error("a request to %s failed", request.url.path, exc_info=error)
    return _problem(request, *_explain(error))
