"""Screenshots of pages for the docs, taken with chromium: `make screenshots`.

Every page is built from data that a seed determines, so that a test can take a screenshot again and compare. Another
page is one more entry in `SHOTS`.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory, mkdtemp
from threading import Thread
from typing import Any, Literal

import storyproof
from storyproof.reports.audit_sections import page_of, shortcuts_of

IMAGES = Path(__file__).parent / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
_SIDE = 48  # pixels of the small pictures that are compared
_SOLVERS = {"tomi": ("random", "majority", "rules", "entnet", "oracle"), "clutrr": ("random", "rules", "gat", "oracle")}
_SPOILED = 7  # every so many answers
_STUDY_TIME = 1_800_000_000.0  # when all participants of a study take part


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot.

    Attributes:
        page: Writes the page into a folder and returns its file, or its address with what follows `#`.
        width: Of the window, in pixels.
        height: Of the window.
        scheme: Light or dark.
        ready: What must be on the page before the picture is taken, as a selector.
    """

    page: Callable[[Path], str]
    width: int = 1280
    height: int = 900
    scheme: Literal["light", "dark"] = "light"
    ready: str = "main"


def audit_of_spoiled_stories(folder: Path) -> str:
    """Write the audit page of stories some of whose answers and types were replaced by wrong ones."""
    path = folder / "stories.jsonl"
    storyproof.generate("tomi", test=60, seed=7, out=folder / "made", format="jsonl")
    lines = (folder / "made" / "test.jsonl").read_text().splitlines()
    with path.open("w") as file:
        for number, line in enumerate(lines):
            row = json.loads(line)
            if number % _SPOILED == 4:
                row["answer"] = next(each for each in row["candidates"] if each != row["answer"])
            if number % _SPOILED == 2 and row["story_type"] == "false_belief":
                row["story_type"] = "true_belief"
            file.write(json.dumps(row) + "\n")
    report = storyproof.audit([path])
    page = folder / "audit.html"
    page.write_text(page_of(report, [path], {"shortcuts": shortcuts_of([path])[0]}), "utf-8")
    return page.as_uri()


def finding_of_spoiled_stories(folder: Path) -> str:
    """Return the address of a finding on that page."""
    return f"{audit_of_spoiled_stories(folder)}#stories.jsonl:4"


@cache
def _report() -> tuple[str, str]:
    """Return a report on built-in solvers and shipped nets, and the id of a question that the net gets wrong."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        storyproof.generate("tomi", out=folder / "tomi", train=0, val=0, test=300, seed=7)
        lengths = tuple(range(2, 11))
        storyproof.generate("clutrr", out=folder / "clutrr", train=0, val=0, test=20, seed=7, test_k=lengths)
        runs = [storyproof.evaluate(solver, folder / data) for data, names in _SOLVERS.items() for solver in names]
        page = storyproof.report(runs).render()
    net = next(run for run in runs if run.model == "entnet")
    return page, next(row["id"] for row in net.predictions if not row["right"])


def report_on_runs(folder: Path) -> str:
    """Write the page of a report."""
    page = folder / "report.html"
    page.write_text(_report()[0], "utf-8")
    return page.as_uri()


def answer_in_report(folder: Path) -> str:
    """Return the address of a question on that page."""
    return f"{report_on_runs(folder)}#0:{_report()[1]}"


@cache
def _explorer() -> str:
    """Start the explorer with a fixed seed, until this process ends; return its address."""
    addresses: Queue[str] = Queue()
    folder = mkdtemp()  # nothing is written there
    settings = {"port": 0, "seed": 7, "ready": addresses.put}
    Thread(target=storyproof.serve, args=[folder], kwargs=settings, daemon=True).start()
    return addresses.get(timeout=120)


def story_in_explorer(folder: Path) -> str:
    """Return the address of a story with a false belief."""
    return f"{_explorer()}explore#benchmark=tomi&split=test&place=4&number=0"


def _study(folder: Path, kind: str, benchmark: str = "clutrr", **dials: Any) -> Any:
    """Create a study whose pages are the same each time: with fixed seeds, secret and clock."""
    from storyproof.study.design import StudyCondition
    from storyproof.study.new import new_study

    settings: dict[str, Any] = {"kind": kind, "title": "Who is who?", "seed": 3, "pay_per_task": "0.20"}
    data = None
    if kind == "solve":
        data = folder / "data"
        storyproof.generate(benchmark, train=0, val=0, test=30, seed=7, out=data, **(dials or {"test_k": (2, 3, 4)}))
        settings |= {
            "conditions": (StudyCondition(name="limited", time_limit_s=60.0), StudyCondition(name="unlimited"))
        }
        settings |= {"items": 60, "tasks_per_participant": 6}
    else:
        settings |= {"items": 60, "tasks_per_participant": 1, "practice": 0}
    study, _ = new_study(folder / "study", settings, data=data, family="kinship", now=lambda: _STUDY_TIME)
    study.secret = "0" * 64
    return study


def _write_study_page(folder: Path, page: Any) -> str:
    path = folder / "page.html"
    path.write_text(page.html, "utf-8")
    return path.as_uri()


def question_of_study(folder: Path) -> str:
    """Write the page of a question with a time limit."""
    return _question_page(folder, _study(folder, "solve"), "k=3")


def names_of_study(folder: Path) -> str:
    """Write the page of a question whose answer is a set of people."""
    dials = {"order": 1, "agents": 4, "moves": 2, "tells": 1, "lies": 1, "rooms": 2, "objects": 1, "peeks": 0}
    return _question_page(folder, _study(folder, "solve", "tom-k", style="narrative", **dials), "believers")


def _question_page(folder: Path, study: Any, kind: str) -> str:
    """Write the page of the first question of a kind."""
    from storyproof.study.pages import step_page
    from storyproof.study.participant_flow import StudyStep
    from storyproof.study.participants import Participant

    me = Participant(1, "CODE", "link", "", {}, "limited", "working")
    number = next(item.number for item in study.items.of("main") if item.stratum == kind)
    step = StudyStep("answer", 1, "main", number, 0, _STUDY_TIME, _STUDY_TIME + 60, 4, 9)
    return _write_study_page(folder, step_page(study, me, "TOKEN", step, "https://study.example.org/s/TOKEN"))


def writing_of_study(folder: Path) -> str:
    """Write the page on which a story is written, with remarks on a text."""
    from storyproof.study.pages import step_page
    from storyproof.study.participant_flow import StudyStep
    from storyproof.study.participants import Participant
    from storyproof.study.text_checks import check_story

    study = _study(folder, "paraphrase")
    me = Participant(1, "CODE", "link", "", {}, "unlimited", "working")
    item = next(item for item in study.items.of("main") if item.stratum == "2 facts")
    first, second, _ = item.writing_task().people
    text = f"{first} baked a cake for {second}, who had slept badly."
    step = StudyStep("write", 1, "main", item.number, 0, _STUDY_TIME, None, 0, 4)
    remarks = check_story(study, item, text)
    shown = step_page(study, me, "TOKEN", step, "https://study.example.org/s/TOKEN", text=text, remarks=remarks)
    return _write_study_page(folder, shown)


def dashboard_of_study(folder: Path) -> str:
    """Write the dashboard of a study with some participants, who err at random."""
    import random

    from storyproof.study.admin import AdminSession
    from storyproof.study.dashboard import dashboard_page
    from storyproof.study.participant_flow import find_step
    from storyproof.study.participants import Arrival, enter, find
    from storyproof.study.submissions import submit_answer, submit_rating

    study = _study(folder, "solve")
    draws, clock = random.Random(7), [_STUDY_TIME]
    study.now = lambda: clock[0]
    for number in range(12):
        me = find(study, enter(study, Arrival(str(number)), "0" * 64))
        assert me is not None
        while (step := find_step(study, me)).kind != "finished":
            item = study.items[step.item]
            if step.kind == "rate":
                submit_rating(study, me, step.slot, draws.randint(1, 5))
                continue
            wrong = draws.random() < 0.2 if step.role == "main" else number == 4
            answer = draws.choice([each for each in item.choices if each != item.answer]) if wrong else item.answer
            taken = draws.randint(4_000, 30_000)
            clock[0] += taken / 1000
            submit_answer(study, me, step.slot, answer, taken)
    return _write_study_page(folder, dashboard_page(study, AdminSession("", ""), "https://study.example.org"))


SHOTS: dict[str, Shot] = {
    "study-question.png": Shot(question_of_study, width=900, height=1000),
    "study-names.png": Shot(names_of_study, width=390, height=1600, scheme="dark", ready="[name=part]"),
    "study-write.png": Shot(writing_of_study, width=900, height=1480),
    "study-dashboard.png": Shot(dashboard_of_study, height=1100),
    "explorer.png": Shot(story_in_explorer, height=800, ready="#moment table"),
    "explorer-phone.png": Shot(story_in_explorer, width=390, height=1100, scheme="dark", ready="#pictures svg.narrow"),
    "report.png": Shot(report_on_runs, height=1020, ready="#list .answer"),
    "report-answer.png": Shot(answer_in_report, height=900, ready=".answer[open] svg.wide"),
    "audit.png": Shot(audit_of_spoiled_stories),
    "audit-finding.png": Shot(finding_of_spoiled_stories, ready="details[open] svg.wide"),
    "audit-phone.png": Shot(
        finding_of_spoiled_stories, width=390, height=1100, scheme="dark", ready="details[open] svg.narrow"
    ),
}


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


def take(browser: Any, shot: Shot, folder: Path) -> bytes:
    """Return a screenshot as PNG; the folder is for the files of the page."""
    context = browser.new_context(viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme)
    page = context.new_page()
    page.goto(shot.page(folder))
    page.locator(shot.ready).first.wait_for()
    taken: bytes = page.screenshot(animations="disabled")
    context.close()
    return taken


def difference(first: Path, second: Path) -> float:
    """Return how different two pictures look: 0 for the same, 1 for black and white.

    Both are compared as small grey pictures, in which the edges of letters do not matter but places and colours do. The
    result is the mean over the tenth of the places that differ most, so that a part that changed is not averaged away.
    """
    from PIL import Image

    small = [Image.open(path).convert("L").resize((_SIDE, _SIDE), Image.Resampling.BOX) for path in (first, second)]
    apart = sorted((abs(a - b) for a, b in zip(*(each.tobytes() for each in small), strict=True)), reverse=True)
    worst = apart[: len(apart) // 10]
    return sum(worst) / len(worst) / 255


def main() -> None:
    """Take all screenshots, or those that are named."""
    wanted = sys.argv[1:] or list(SHOTS)
    with chromium() as browser:
        for name in wanted:
            with TemporaryDirectory() as folder:
                (IMAGES / name).write_bytes(take(browser, SHOTS[name], Path(folder)))
            print(IMAGES / name)


if __name__ == "__main__":
    main()
