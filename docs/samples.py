"""The samples inside the site: a report, an audit page, and twenty stories that play.

Everything follows from seeds. The audited file has labels that were changed on purpose, so that there is something to
find; the two models of the report are rules that cannot follow beliefs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import storyproof
from storyproof.datasets.reading import find_source, iterate_examples
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.pictures.svg import element, safe
from storyproof.reports.audit_sections import page_of
from storyproof.reports.header import page_header
from storyproof.reports.page import build_page, read_asset

_STORIES, _WRONG = 40, 9  # of the samples; every so manieth label about a false belief is changed
_PLAYED = {"tomi": 10, "tom-k": 6, "tom-babi": 4}
_TITLE = "Twenty stories"


class PlaceOfMention:
    """A model that cannot follow beliefs: it answers the first or the last container that the story mentions."""

    def __init__(self, *, last: bool) -> None:
        self._last = last

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example."""
        return [self._answer(example) for example in examples]

    def _answer(self, example: Example) -> str:
        words = example.story.replace(".", " ").split()
        mentioned = [word for word in words if word in example.candidates]
        return mentioned[-1 if self._last else 0] if mentioned else example.candidates[0]


@cache
def sample_report() -> str:
    """Return the page of a report on two models and the baselines."""
    with TemporaryDirectory() as place:
        runs: list[Any] = []
        for benchmark in ("tomi", "tom-babi"):
            data = Path(place) / benchmark
            storyproof.generate(benchmark, test=_STORIES, seed=7, out=data)
            for name, is_last in (("first-mention", False), ("last-mention", True)):
                runs.append(replace(storyproof.evaluate(PlaceOfMention(last=is_last), data), model=name))
            runs += [storyproof.evaluate(name, data) for name in ("random", "majority", "rules", "oracle")]
        return storyproof.report(runs, title="A sample report").render()


@cache
def sample_audit() -> str:
    """Return the page of an audit of a file in which some labels were changed."""
    with TemporaryDirectory() as place:
        path = Path(place) / "changed.jsonl"
        rows = storyproof.generate("tomi", test=_STORIES, seed=11).to_pylist()
        keep = ("id", "story_id", "story", "question", "answer", "candidates", "question_type", "split", "benchmark")
        lines, seen = [], 0
        for row in rows:
            line = {name: row[name] for name in keep}
            seen += bool(row["false_belief"])
            if row["false_belief"] and seen % _WRONG == 0:
                line["answer"] = next(each for each in row["candidates"] if each != row["answer"])
            lines.append(json.dumps(line))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return page_of(storyproof.audit(path), [path], {})


@cache
def sample_stories() -> str:
    """Return a page with stories that play, without a server: for each its question, its answer and its picture."""
    cards: list[dict[str, Any]] = []
    with TemporaryDirectory() as place:
        for benchmark, count in _PLAYED.items():
            data = Path(place) / benchmark
            storyproof.generate(benchmark, test=_STORIES, seed=7, out=data)
            found = groupby(iterate_examples(find_source(data, "test")), key=lambda row: row.story_id)
            shown = [card for _, rows in found if (card := _card(benchmark, list(rows))) is not None]
            cards += shown[:count]
    choices = "".join(
        element("option", safe(f"{number}. {card['benchmark']}: {card['question']}"), value=str(number - 1))
        for number, card in enumerate(cards, start=1)
    )
    lead = (
        "Press play. Sentences appear, beliefs change, and what decides the answer lights up at the end. "
        "storyproof serve makes more of them, and reads your own."
    )
    field = '<label class="wide">Story <select name="story">' + choices + "</select></label>"
    player = '<button type="button" id="play" class="primary">Play</button>'
    player += '<label class="unseen" for="step">Sentence</label><input type="range" id="step" min="0" value="0">'
    body = element("header", element("h1", _TITLE) + element("p", lead, class_="lead"))
    main = element("form", field + element("div", player, class_="player"), class_="filters")
    main += '<h2 id="question"></h2><figure id="picture"></figure><p id="answer" class="lead" role="status"></p>'
    body += element("main", main)
    folder = Path(__file__).parent / "site"
    script, sheet = ((folder / f"stories.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    return build_page(
        f"{_TITLE} of storyproof",
        body,
        header=page_header("Stories"),
        packed={"cards": cards},
        scripts=[read_asset("storyproof.reports", "page.js"), script],
        styles=[sheet],
    )


def _card(benchmark: str, rows: Sequence[Example]) -> dict[str, Any] | None:
    """Return a story with its deepest question about a false belief; None if it has none."""
    asked = max((row for row in rows if row.false_belief), key=lambda row: row.order or 0, default=None)
    if asked is None:
        return None
    [picture] = family_of(asked).pictures([*(row for row in rows if row is not asked), asked], asked.proof)
    card = {"benchmark": benchmark, "question": asked.question, "answer": asked.answer, "proof": list(asked.proof)}
    return card | {"svg": picture.svg, "narrow": picture.narrow}


SAMPLES = {
    "samples/report.html": sample_report,
    "samples/audit.html": sample_audit,
    "samples/stories.html": sample_stories,
}
