import base64
import hashlib
import json
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import storyproof
from storyproof.findings import AuditReport, FileReport, Finding
from storyproof.report.audit_page import Examples, audit_page, listed
from storyproof.report.audit_sections import page_of
from tests.families.kinship.drawing.test_tree import AUNT, GRANDMOTHER, TWO_FATHERS
from tests.samples import BELIEF, SEARCH, changed, example

CHROMIUM = shutil.which("chromium")

TIMEOUT_S = 60

NAME = "<img/src=x/onerror=hacked=1>"
TEXT = "</script><script>hacked=2</script><img src=x onerror=hacked=3><!--<script>\u2028&lt;${hacked=4}\ud800"


def erratum(row: int, **changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "file": "val.txt",
        "line": row * 6 + 6,
        "id": f"val-{row}",
        "kind": "structural",
        "field": "answer",
        "found": "jar",
        "expected": "box",
        "reason": "somebody was inserted after the fact",
        "sentences": (3, 4),
        "asked": "first_order",
    }
    return Finding(row=row, **{**fields, **changes})


def report_of(*errata: Finding) -> AuditReport:
    files: dict[str, list[Finding]] = {}
    for each in errata:
        files.setdefault(each.file, []).append(each)
    totals = {"questions": 1200, "stories": 200, "wrong_answers": {"memory": 0, "first_order": len(errata)}}
    return AuditReport([FileReport(file, "tomi", dict(totals), found) for file, found in files.items()])


def small() -> tuple[AuditReport, Examples]:
    errata = [
        erratum(0),
        erratum(1, kind="semantic", field="story_type", found="true_belief", expected="false_belief", asked="reality"),
        erratum(2, reading="infer-mover", asked="second_order"),
        erratum(-1, kind="small_test", field="rows", found="12 rows", expected="", line=0, id="", asked=""),
        erratum(7, file="1.3_test.csv", kind="ambiguous", field="target", found="mother", expected="", sentences=()),
        erratum(8, file="1.3_test.csv", kind="contradicted", field="target", found="sister", expected="sister-in-law"),
        erratum(9, file="1.3_test.csv", kind="impossible", field="target", found="brother", expected=""),
    ]
    asked = example(question=BELIEF, chain=["Ada", "Ben"])
    shown: Examples = {
        ("val.txt", 0): [asked, example()],
        ("val.txt", 1): example(),
        ("1.3_test.csv", 7): GRANDMOTHER,
        ("1.3_test.csv", 8): [AUNT],
        ("1.3_test.csv", 9): TWO_FATHERS,
    }
    return report_of(*errata), shown


def hostile() -> tuple[AuditReport, Examples]:
    """Make an audit in which everything that comes from data would be run if it were not shown as text."""
    story = example().story.replace("Ada", NAME).replace("box", '"><svg/onload=hacked=5>')
    row = example(story=story, question=SEARCH, candidates=[], id=TEXT)
    kin = GRANDMOTHER.get("genders") or []
    evil = {"query": [NAME, "Haruka"], "genders": [f"{NAME}:male", *kin[1:]], "story": TEXT, "question": TEXT}
    fields = dict.fromkeys(("id", "field", "found", "expected", "reason", "reading", "asked"), TEXT)
    errata = [erratum(row, **fields, file=TEXT + "%", kind=TEXT) for row in range(3)]
    family = changed(GRANDMOTHER, **evil)
    unreadable = example(story=TEXT, question=TEXT)
    return report_of(*errata), {(TEXT + "%", number): each for number, each in enumerate([row, family, unreadable])}


def data_of(page: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found)


class Elements(HTMLParser):
    """Collects the elements of a page, and the text in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


# --- the page as text


def test_totals_and_classes() -> None:
    report, shown = small()
    text = Elements(audit_page(report, shown, title="Audit of A & B")).text
    assert text.count("Audit of A & B") == 2
    assert "7 findings in 2 files, 1 of them rule-dependent." in text
    assert "The labelled answer is wrong." in text
    assert "2,400 questions" in text
    assert "wrong answers: first order" in text
    assert "All findings are listed." in text


def test_a_clean_audit() -> None:
    page = audit_page(AuditReport([FileReport("a.txt", "tomi", {"questions": 6})]), {}, title="Clean")
    assert "0 findings in 1 file." in page
    assert page.count("Nothing wrong was found.") == 2
    assert data_of(page) == {"findings": [], "stories": [], "captions": []}


def test_a_bounded_number_is_listed_and_the_page_says_so() -> None:
    report = report_of(*map(erratum, range(5)), erratum(5, kind="semantic"))
    assert [each.row for each in listed(report, 2)] == [0, 1, 5]
    page = audit_page(report, {}, title="Bounded", per_kind=2)
    assert "The list holds the first 2 findings of each class: structural 2 of 5." in page
    assert [each["row"] for each in data_of(page)["findings"]] == [0, 1, 5]


def test_findings_share_stories_and_pictures() -> None:
    shown = {("val.txt", row): example() for row in (0, 3)}
    data = data_of(audit_page(report_of(erratum(0), erratum(3)), shown, title="x"))
    assert [each["story"] for each in data["findings"]] == [0, 0]
    assert [each["pictures"] for each in data["findings"]] == [[0], [0]]
    assert len(data["captions"]) == 1


def test_what_there_is_to_see() -> None:
    report, shown = small()
    page = audit_page(report, shown, title="x")
    data, pictures = data_of(page), re.findall(r'<script type="image/svg\+xml" id="picture-\d">(.*?)</script>', page)
    assert len(pictures) == len(data["captions"]) == 5
    by_row = {each["row"]: each for each in data["findings"]}
    assert {row: len(each["pictures"]) for row, each in by_row.items()} == {0: 1, 1: 1, 2: 0, -1: 0, 7: 2, 8: 1, 9: 0}
    assert by_row[9]["note"] == "There is no picture: no family fits the story."
    assert by_row[2]["story"] is None
    assert "label: jar" in pictures[by_row[0]["pictures"][0]]
    assert "label:" not in pictures[by_row[1]["pictures"][0]]  # its answer is not what is wrong


def test_sections() -> None:
    share = {"value": 0.76666, "low": 0.75, "high": 0.78}
    rows: list[dict[str, object]] = [
        {"name": "majority <b>", "accuracy": share, "rows": 5994},
        {"name": "last", "joint": (0.1, 12.5), "beats": True},
    ]
    page = audit_page(AuditReport([]), {}, title="x", sections=[("Short & cuts", rows), ("Empty", [])])
    text = Elements(page).text.split("\n")
    for told in ("Short & cuts", "majority <b>", "0.767 (0.75 to 0.78)", "5,994", "0.1 to 12.5", "yes"):
        assert told in text
    assert "Nothing to show." in text


def test_the_policy_allows_nothing_but_what_is_there() -> None:
    page = audit_page(*small(), title="x")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (allowed,) = re.findall(rf"{directive} ([^;]+)", policy)
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
        assert allowed == " ".join(f"'sha256-{digest}'" for digest in digests)
    for _, attributes in Elements(page).found:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attributes)


HARMLESS = Elements(audit_page(*small(), title="x"))


@settings(max_examples=25)
@given(st.one_of(st.just(TEXT), st.text()))
def test_text_from_the_data_is_text(text: str) -> None:
    errata = [erratum(0, file=text, kind=text, field=text, found=text, expected=text, reason=text, id=text, asked=text)]
    shown = {(text, 0): example(story=text, question=text)}
    page = audit_page(report_of(*errata), shown, title=text, sections=[(text, [{text: text}])])
    (found,) = data_of(page)["findings"]
    assert {found[name] for name in ("file", "kind", "field", "found", "expected", "reason", "question")} == {text}
    assert data_of(page)["stories"] == [text.split("\n")]
    elements = Elements(page).found
    assert {tag for tag, _ in elements} <= {tag for tag, _ in HARMLESS.found}
    assert [attributes for tag, attributes in elements if tag == "script" and "type" not in attributes] == [{}]
    page.encode()


# --- the page in a browser


def in_browser(test: Any) -> Any:
    """Mark a test that needs a browser, and skip it where there is none."""
    missing = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; make test-browser installs it")
    return pytest.mark.browser(missing(test))


class Browser:
    """Chromium without a window, spoken to through a pipe."""

    def __init__(self, folder: Path) -> None:
        import fcntl  # not on every system, and needed here only

        assert CHROMIUM is not None
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, 50) for each in (commands, answers)]
        flags = ["headless", "no-sandbox", "disable-gpu", "disable-background-networking", "disable-dev-shm-usage"]
        flags = [f"--{flag}" for flag in (*flags, "remote-debugging-pipe", f"user-data-dir={folder}")]
        start = f'exec "$0" "$@" 3<&{high[0]} 4>&{high[1]} {high[0]}<&- {high[1]}>&-'
        quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self._process = subprocess.Popen(["bash", "-c", start, CHROMIUM, *flags], pass_fds=high, **quiet)
        for each in (commands, answers, *high):
            os.close(each)
        self._number, self._waiting, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._session = ""
        self.call("Browser.close")
        self._process.wait(TIMEOUT_S)
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._waiting:
            if not select.select([self._read], [], [], max(0.0, end - time.monotonic()))[0]:
                pytest.fail(f"chromium said nothing for {TIMEOUT_S} s")
            self._waiting += os.read(self._read, 1 << 20)
        line, _, self._waiting = self._waiting.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found

    def open(self, page: Path, hash_: str = "", *, width: int = 1200, scheme: str = "light") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for url in ("about:blank", page.as_uri() + hash_):
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not any(event["method"] == "Page.loadEventFired" for event in self.events):
                self.events.append(self._next())

    def js(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait until the page has been drawn anew."""
        self.js("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def press(self, key: str, code: int) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.settle()

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)
        self.settle()

    def choose(self, name: str, value: str) -> None:
        """Choose from a list, as its keyboard or mouse would."""
        field = f"document.querySelector('#filters [name={name}]')"
        self.js(f"{field}.value = {json.dumps(value)}; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")

    def rows(self) -> list[str]:
        """Give the rows that are listed."""
        return [each.rpartition(" ")[2] for each in self.texts(".where")]

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")
        return found

    def trouble(self) -> list[Any]:
        """Give what a page did that it should not: errors, what its policy forbade, and whatever it asked for."""
        bad = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening")
        found = [event for event in self.events if event["method"] in bad]
        asked = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return found + asked[1:]  # the first is for the page


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("chromium"))
    yield found
    found.close()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return written(tmp_path, *small())


def written(folder: Path, report: AuditReport, shown: Examples, **options: Any) -> Path:
    path = folder / "audit page.html"
    path.write_text(audit_page(report, shown, title="Audit", **options), "utf-8")
    return path


@in_browser
def test_filters(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.rows() == ["0", "1", "2", "file", "7", "8", "9"]
    assert browser.texts("#filters [name=kind] option")[:3] == ["all", "structural", "semantic"]
    for name, value, rows in (
        ("file", "1.3_test.csv", ["7", "8", "9"]),
        ("kind", "semantic", ["1"]),
        ("field", "target", ["7", "8", "9"]),
        ("asked", "second_order", ["2"]),
        ("reading", "some", ["2"]),
    ):
        browser.choose(name, value)
        assert browser.rows() == rows
        assert browser.texts("#count") == [f"{len(rows)} of 7 listed findings"]
        browser.js("document.getElementById('clear').click()")
        assert len(browser.rows()) == 7
    browser.js("document.querySelector('button[data-kind=structural]').click()")
    assert browser.rows() == ["0", "2"]
    assert browser.trouble() == []


@in_browser
def test_search(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.js("document.querySelector('#filters [name=search]').focus()")
    browser.type("HARUKA oliver")  # in the story of row 7 only
    assert browser.rows() == ["7"]
    browser.type(" nobody")
    assert browser.rows() == []
    assert browser.texts("#count") == ["0 of 7 listed findings"]


@in_browser
def test_a_finding_opens_by_keyboard_and_shows_story_and_picture(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.js("document.querySelectorAll('#list svg').length") == 0
    browser.js("document.getElementById('clear').focus()")
    browser.press("Tab", 9)
    browser.press("Enter", 13)
    assert browser.texts("details[open] .where") == ["val.txt row 0"]
    assert browser.texts("details[open] mark") == ["The key is in the box.", "Ben exited the attic."]
    assert len(browser.texts("details[open] .story li")) == 5
    assert browser.texts("details[open] svg .wrong") == ["label: jar"]
    assert browser.js("document.querySelector('details[open] svg').getBoundingClientRect().width") > 300
    browser.press("Enter", 13)
    assert browser.texts("details[open] .where") == []


@in_browser
def test_a_label_is_held_against_two_families(browser: Browser, page: Path) -> None:
    browser.open(page, "#1.3_test.csv:7")
    holds, fails = browser.texts("details[open] figcaption")
    assert "the label holds" in holds
    assert "the label does not hold" in fails
    assert browser.js("document.querySelectorAll('details[open] svg.family').length") == 2


@in_browser
def test_permalinks(browser: Browser, tmp_path: Path) -> None:
    many = report_of(*(erratum(row) for row in range(250)), erratum(9, file="a b:c.txt"), erratum(240, field="story"))
    page = written(tmp_path, many, {("val.txt", row): example() for row in (7, 240)})
    browser.open(page, "#val.txt:240")
    browser.settle()
    assert browser.texts("details[open] .where") == ["val.txt row 240"] * 2  # both findings of the row
    assert -1 <= browser.js("document.querySelector('details[open]').getBoundingClientRect().top") < 900
    assert browser.js("document.activeElement === document.querySelector('details[open] summary')")
    browser.choose("file", "a b:c.txt")
    assert browser.rows() == ["9"]
    browser.js("location.hash = '#val.txt:7'")  # hidden by the filter, which gives way
    browser.settle()
    assert browser.texts(".finding.target .where") == ["val.txt row 7"]
    assert len(browser.rows()) == 100
    browser.open(page, "#a%20b%3Ac.txt:9")
    assert browser.texts("details[open] .where") == ["a b:c.txt row 9"]
    assert browser.js("document.querySelector('details[open] a').getAttribute('href')") == "#a%20b%3Ac.txt:9"
    browser.js("location.hash = '#val.txt:9999'")
    browser.settle()
    assert browser.texts("#count") == ["No listed finding is in row 9999 of val.txt."]


@in_browser
def test_files_of_one_name_in_two_folders(browser: Browser, tmp_path: Path) -> None:
    for folder, thing in (("one", "key"), ("two", "map")):
        (tmp_path / folder).mkdir()
        story = "".join(f"{number} {line}\n" for number, line in enumerate(example().story.split("\n"), 1))
        asked = f"{story}6 {SEARCH}\tjar\t1\n".replace("key", thing)
        (tmp_path / folder / "val.txt").write_text(asked)
    paths = [tmp_path / "one", tmp_path / "two"]
    page = tmp_path / "page.html"
    page.write_text(page_of(storyproof.audit(paths), paths, {}), "utf-8")
    browser.open(page)
    assert browser.texts("#filters [name=file] option") == ["all", "one/val.txt", "two/val.txt"]
    browser.choose("file", "two/val.txt")
    assert browser.texts(".where") == ["two/val.txt row 0"]
    for folder, thing in (("one", "key"), ("two", "map")):
        browser.open(page, f"#{folder}%2Fval.txt:0")
        assert browser.texts("details[open] .where") == [f"{folder}/val.txt row 0"]
        assert f"The {thing} is in the box." in browser.texts("details[open] .story li")
        assert browser.js("document.querySelector('details[open] a').getAttribute('href')") == f"#{folder}%2Fval.txt:0"
    assert browser.trouble() == []


@in_browser
def test_thousands_of_findings_are_shown_a_hundred_at_a_time(browser: Browser, tmp_path: Path) -> None:
    page = written(tmp_path, report_of(*map(erratum, range(3000))), {}, per_kind=3000)
    browser.open(page)
    assert browser.texts("#count") == ["3000 of 3000 listed findings; the first 100 are shown"]
    assert len(browser.rows()) == 100
    browser.js("document.getElementById('more').click()")
    assert len(browser.rows()) == 200
    assert browser.js("document.activeElement.querySelector('.where').textContent") == "val.txt row 100"


@in_browser
def test_hostile_data_run_nothing(browser: Browser, tmp_path: Path) -> None:
    page = written(tmp_path, *hostile(), sections=[(TEXT, [{TEXT: TEXT}])])
    browser.open(page)
    browser.js("document.querySelectorAll('#list summary').forEach((summary) => summary.click())")
    browser.settle()
    browser.js("document.querySelector('details[open] a').click()")
    browser.js("document.querySelector('button[data-kind]').click()")
    browser.settle()
    assert len(browser.rows()) == 3
    assert browser.js("document.querySelectorAll('figure svg').length") == 3  # a timeline, and two families
    assert NAME in browser.js("document.querySelector('figure svg').textContent")
    assert browser.js("typeof hacked") == "undefined"
    assert browser.js("[...document.scripts].filter((script) => !script.type).length") == 1
    assert browser.js("document.querySelectorAll('img, iframe, object, [onerror], [onload]').length") == 0
    assert browser.trouble() == []


@in_browser
@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_overflows(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, "#val.txt:0", width=width)
    browser.js("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    browser.settle()
    assert browser.js("document.documentElement.scrollWidth") <= width
    assert browser.js(
        "[...document.querySelectorAll('table.full')].every((t) => t.scrollWidth <= t.parentElement.clientWidth)"
    )


@in_browser
def test_dark_where_the_reader_wants_it(browser: Browser, page: Path) -> None:
    shades = []
    for scheme in ("light", "dark"):
        browser.open(page, "#val.txt:0", scheme=scheme)
        colours = browser.js(
            "[[document.body, 'backgroundColor'], [document.querySelector('svg.picture text'), 'fill']]"
            ".map(([node, name]) => getComputedStyle(node)[name])"
        )
        shades.append([sum(map(int, re.findall(r"\d+", colour)[:3])) > 380 for colour in colours])
    assert shades == [[True, False], [False, True]]
