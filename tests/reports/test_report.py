"""Reports as tables and as a page, without a browser."""

import csv
import gzip
import io
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from storyproof.errors import UnknownNameError
from storyproof.evaluation.runs import Evaluation
from storyproof.reports import run_browser
from storyproof.reports.report import RunReport, report
from storyproof.reports.run_charts import curve_chart, group_chart, mistake_chart, score_charts
from storyproof.reports.run_tables import CSV_COLUMNS, build_tables
from tests.reports.run_samples import HOSTILE, chat_name, data_folder, evaluate


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Evaluation]:
    folder = tmp_path_factory.mktemp("report")
    return evaluate(data_folder(folder), "random", "rules", "oracle", chat_name(), folder=folder / "runs")


@pytest.fixture(scope="module")
def found(runs: list[Evaluation]) -> RunReport:
    return report(runs)


@pytest.fixture(scope="module")
def page(found: RunReport) -> str:
    return found.render()


def unpack(page: str, name: str) -> Any:
    packed = re.search(rf'<script type="application/gzip" id="{name}">([^<]*)</script>', page)
    assert packed is not None
    return json.loads(gzip.decompress(b64decode(packed[1])))


def reality(prompt: str) -> str:
    """Answer with the container that the story places an object in last."""
    return re.findall(r"(?:is in|moved \S+ \S+ to) the (\w+)", prompt.partition("\n\n")[2] or prompt)[-1]


def test_the_procedure_that_a_model_follows(tmp_path: Path) -> None:
    found = report(evaluate(data_folder(tmp_path, "tomi", test=60), f"{__name__}:reality", "rules", conventions=False))
    [diagnosis] = found.boards[0].diagnoses  # baselines follow themselves
    second = next(each for each in diagnosis.groups if each.group == "second_order")
    assert second.best is not None
    assert len(second.best.procedures) == 1
    [(name, share)] = second.shares.items()
    assert "reality" in (name, *second.same.get(name, ()))
    assert share.low <= share.value == 1 <= share.high
    page = found.render()
    titles = {each.title: each for each in build_tables(found.boards[0])}
    assert ("second order", "100.0") in {(row[1], row[3].partition(" ")[0]) for row in titles["Procedures"].rows}
    linked = re.search(r'<a href="#0:([^"]+)">1</a>', page)
    assert linked is not None
    assert linked[1] in {place for each in diagnosis.groups for place in each.deciding}
    assert {row["section"] for row in csv.DictReader(io.StringIO(found.render("csv")))} >= {"procedures"}


def test_csv_has_every_figure(found: RunReport) -> None:
    rows = list(csv.DictReader(io.StringIO(found.render("csv"))))
    assert tuple(rows[0]) == CSV_COLUMNS
    [board] = found.boards
    averages = {row["solver"]: row for row in rows if row["section"] == "leaderboard" and row["measure"] == "average"}
    for each in board.rows:
        assert float(averages[each.solver]["value"]) == pytest.approx(each.accuracy.value, abs=1e-5)
        assert int(averages[each.solver]["of"]) == each.accuracy.of
    assert {row["section"] for row in rows} >= {"leaderboard", "differences", "mistakes", "replies", "effort"}
    counts = [row for row in rows if row["section"] == "mistakes" and row["measure"] == "explains"]
    assert board.mistakes is not None
    assert sum(int(row["value"]) for row in counts) == sum(board.mistakes.wrong.values())


def test_markdown(found: RunReport) -> None:
    text = found.render("markdown")
    lines = text.split("\n")
    assert lines[0] == "# Runs"
    tables = [number for number, line in enumerate(lines) if re.fullmatch(r"\|(---:?\|)+", line)]
    assert len(tables) == len(build_tables(found.boards[0]))
    for number in tables:  # rows have as many cells as the head
        width = lines[number - 1].replace(r"\|", "").count("|")
        rest = lines[number + 1 :]
        body = rest[: rest.index("")] if "" in rest else rest
        assert {line.replace(r"\|", "").count("|") for line in body} == {width}
    assert "| oracle | 100.0 (86.2–100.0) |" in text


def test_latex(found: RunReport) -> None:
    text = found.render("latex")
    for name in ("tabular", "table"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == len(build_tables(found.boards[0]))
    for line in text.split("\n"):
        if line.endswith(r"\\"):
            assert not re.search(r"(?<!\\)[%#_]", line)


def test_unknown_formats_are_refused(found: RunReport) -> None:
    with pytest.raises(UnknownNameError, match="csv, html, latex, markdown"):
        found.render("docx")


def test_nothing_hostile_is_markup(runs: list[Evaluation]) -> None:
    """Names of models and data, and whatever solvers say, are text in all formats."""
    nasty = [replace(each, model=f"{HOSTILE}{number}", data=f"{each.data}") for number, each in enumerate(runs)]
    text = report(nasty, title=HOSTILE).render()
    assert "alert(1)</script>" not in text
    assert "<img" not in text
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.extend([tag, *(name for name, _ in attrs)])  # type: ignore[method-assign]
    parser.feed(text)
    assert "onerror" not in tags
    assert tags.count("script") == 5  # names, answers, pictures, what pages share, and the page's own
    for form in ("markdown", "latex"):
        written = report(nasty, title=HOSTILE).render(form)
        assert "\x1b" not in written
        assert "<img" not in written.replace(r"\<img", "")


def test_the_page_is_deterministic_and_closed(runs: list[Evaluation], page: str) -> None:
    assert report(runs).render() == page
    assert "Content-Security-Policy" in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page.partition('<script type="application/gzip"')[0])


def test_the_browser_holds_every_answer(runs: list[Evaluation], page: str) -> None:
    answers = unpack(page, "answers")
    [board] = answers["boards"]
    texts = answers["texts"]
    by_title = {solver["title"]: solver for solver in board["solvers"]}
    for each in runs:
        solver = by_title[each.model]
        for row in each.predictions:
            place = board["ids"].index(row["id"])
            assert solver["right"][place] == int(row["right"])
            assert texts[solver["answer"][place]] == row["answer"]
            assert texts[board["question"][place]] == row["question"]
            assert texts[board["target"][place]] == row["target"]
            if "reply" in row and row["reply"] != row["answer"]:
                assert texts[solver["reply"][str(place)]] == row["reply"]
            assert (str(place) in solver["why"]) == (not row["right"])
    assert len(board["stories"]) == 24
    assert all(
        max(proof) <= len(board["stories"][story]) for proof, story in zip(board["proof"], board["story"], strict=True)
    )


def test_pictures_are_of_what_is_missed(page: str) -> None:
    answers, pictures = unpack(page, "answers"), unpack(page, "pictures")
    [board] = answers["boards"]
    drawn = {int(number) for number in board["pictures"]}
    assert drawn
    assert max(number for numbers in board["pictures"].values() for number in numbers) == len(pictures) - 1
    assert all(each["svg"].startswith("<svg") for each in pictures)
    assert len(drawn) + len(board["notes"]) == 144  # so few that all of them have one


def test_few_pictures_are_for_what_most_solvers_miss(runs: list[Evaluation], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_browser, "PICTURES", 18)
    [board] = unpack(report(runs).render(), "answers")["boards"]
    drawn = {int(number) for number in board["pictures"]}
    assert len(drawn) == 18
    kinds = board["facets"]["question type"]
    assert len({kinds[number] for number in drawn}) == len(set(kinds))  # of all types
    counted = [solver for solver in board["solvers"] if not solver["end"]]
    for kind in set(kinds):  # and of each those that most solvers miss
        missed = {n: sum(s["right"][n] == 0 for s in counted) for n, each in enumerate(kinds) if each == kind}
        least = min(missed[number] for number in drawn if kinds[number] == kind)
        assert all(missed[number] <= least or number in drawn for number in missed)


def test_long_replies_are_cut(runs: list[Evaluation]) -> None:
    talker = runs[-1]
    rows = [dict(row) | {"reply": f"{row['id']} " * 2000} for row in talker.predictions]
    text = report([replace(talker, predictions=rows)]).render()
    assert "144 long replies are cut" in text
    [board] = unpack(text, "answers")["boards"]
    [solver] = board["solvers"]
    assert len(solver["cut"]) == 144
    assert len(text) < 1_500_000


def test_without_data(runs: list[Evaluation], tmp_path: Path) -> None:
    gone = [replace(each, data=str(tmp_path / "gone"), path=None) for each in runs]
    text = report(gone).render()
    assert "is missing, so stories are not shown" in text
    [board] = unpack(text, "answers")["boards"]
    assert set(board["story"]) == {-1}
    assert board["pictures"] == {}


def test_figures(found: RunReport, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    files = found.write_figures(tmp_path / "figures")
    assert {file.suffix for file in files} == {".svg", ".png", ".pdf"}
    assert {file.stem for file in files} >= {"1-average", "1-joint", "1-curve", "1-by-question-type", "1-mistakes"}
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    assert all(file.read_bytes().startswith(starts[file.suffix]) for file in files)


def test_every_figure_says_what_its_numbers_are(found: RunReport) -> None:
    """A figure of mistakes shows shares of wrong answers, and nothing in it speaks of right ones."""
    [board] = found.boards
    assert board.mistakes is not None
    assert board.curve is not None
    charts = score_charts(board) | {"curve": curve_chart(board, board.curve)}
    charts |= {each.facet: group_chart(board, each) for each in board.breakdowns}
    for name, chart in charts.items():
        words = " ".join(ElementTree.fromstring(chart).itertext())
        assert "right" in words, name
        assert "144 questions of 24 stories" in words
    mistakes = " ".join(ElementTree.fromstring(mistake_chart(board, board.mistakes)).itertext())
    assert "percent of each solver’s wrong answers" in mistakes
    assert " right" not in mistakes
    assert all(text.split()[0] in mistakes for text in board.mistakes.descriptions.values())


def test_few_stories_have_faint_intervals(tmp_path: Path) -> None:
    faint = 'opacity="0.25"'
    few, many = (report(evaluate(data_folder(tmp_path / str(n), test=n), "rules")).boards[0] for n in (3, 24))
    assert faint in score_charts(few)["average"]
    assert faint not in score_charts(many)["average"]


def test_no_path_of_this_machine_is_in_a_page(runs: list[Evaluation], tmp_path: Path) -> None:
    """A page is sent to others; neither data that were found nor data that are gone say where they were."""
    hidden = str(Path(runs[0].data).parent)
    for each in (runs, [replace(each, data=f"{hidden}/gone/{each.model[:3]}", path=None) for each in runs]):
        text = report(each).render()
        assert hidden not in text
        assert hidden not in json.dumps(unpack(text, "answers"))


@pytest.mark.slow
def test_ten_runs_of_six_thousand_questions_are_small(tmp_path: Path) -> None:
    """Ten language models with long replies to 5,994 questions each: the page stays under 5 MB."""
    data = data_folder(tmp_path, test=999)
    [first] = evaluate(data, "random")
    runs = []
    for number in range(10):
        rows = []
        for place, row in enumerate(first.predictions):
            reply = " ".join(f"word{(place * 31 + number * 17 + n * n) % 4096}" for n in range(100))
            rows.append(
                dict(row)
                | {"reply": f"{reply} {row['answer']}", "match": "suffix_match" if row["right"] else "no_match"}
            )
        runs.append(
            replace(first, model=f"model-{number}", predictions=rows, path=None, details={"matching": "careful"})
        )
    page = report(runs).render()
    size = len(page.encode())
    print(f"{size:,} bytes")
    assert size < 5_000_000
