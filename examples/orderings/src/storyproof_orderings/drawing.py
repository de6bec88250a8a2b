"""Orders as the terminal shows them, and as SVG."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from storyproof.example import Example
from storyproof.pictures import svg
from storyproof_orderings.orders import Fact, parse_story, people_of

_ROW, _COLUMN, _BOX = 56.0, 120.0, 26.0


def levels(facts: list[Fact]) -> list[list[str]]:
    """Return people in rows: everybody one row below the lowest of those known to be taller."""
    level = dict.fromkeys(people_of(facts), 0)
    for _ in level:  # a chain has no more steps than people
        for fact in facts:
            level[fact.shorter] = max(level[fact.shorter], level[fact.taller] + 1)
    return [[name for name, row in level.items() if row == number] for number in sorted(set(level.values()))]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A story with its questions."""

    examples: list[Example]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = self.examples[0]
        yield Text.assemble(("story ", "dim"), first.story_id, ("  ", ""), first.story_type)
        for number, line in enumerate(first.story.split("\n"), start=1):
            yield Text.assemble((f"{number:>3} ", "dim"), line)
        rows = levels(parse_story(first.story))
        yield Text("known order, tallest first: " + " > ".join("/".join(row) for row in rows))
        for each in self.examples:
            proof = ", ".join(map(str, each.proof)) or "nothing settles it"
            yield Text.assemble(each.question, (" → ", "dim"), (each.answer, "bold"), (f"  ({proof})", "dim"))


def picture(example: Example, marked: Collection[int]) -> str:
    """Draw the facts of a story as lines from taller to shorter people; marked sentences stand out."""
    facts = parse_story(example.story)
    rows = levels(facts)
    place = {
        name: (_COLUMN * (column + 0.6), _ROW * (row + 0.6))
        for row, names in enumerate(rows)
        for column, name in enumerate(names)
    }
    parts = []
    for number, fact in enumerate(facts, start=1):
        (x, y), (to_x, to_y) = place[fact.taller], place[fact.shorter]
        line = f"M{svg.number(x)} {svg.number(y + _BOX / 2)}L{svg.number(to_x)} {svg.number(to_y - _BOX / 2)}"
        parts.append(svg.element("path", d=line, class_="line on" if number in marked else "line"))
    for name, (x, y) in place.items():
        width = min(svg.text_width(name) + 20, _COLUMN - 8)
        box = svg.element("rect", x=x - width / 2, y=y - _BOX / 2, width=width, height=_BOX, rx=6)
        is_proof = any(name in (fact.taller, fact.shorter) for number, fact in enumerate(facts, 1) if number in marked)
        parts.append(
            svg.element("g", box + svg.label(name, x, y + 4.5, width), class_="person on" if is_proof else "person")
        )
    size = _COLUMN * (max(map(len, rows)) + 0.2), _ROW * (len(rows) + 0.2)
    return svg.frame("ordering", f"An order of {len(place)} people", example.story.replace("\n", " "), size, parts)
