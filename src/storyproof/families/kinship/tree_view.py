"""A kinship puzzle as the terminal shows it: the story, what is asked, the proof in words, and the family as a tree.

A tree has a couple on each line and their children below it. Whoever has parents in the family stands below them; if
both spouses do, each is drawn below their own parents, with an arrow to the other, and the children follow the one who
comes first. So everybody is drawn once. Marks say in plain text what colours say on a screen.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.kinship.checker import Verdict, judge
from storyproof.families.kinship.genealogy import Family
from storyproof.families.kinship.relations import MALE, NAMES, WORDS, Fact, predicate_of, word

_ASKED, _MARKED, _REST = "bold", "cyan", "dim"
_GAP = 4  # columns between two families side by side
_LEGEND = "«…» asked about   ·… in the proof   ⚭ married   → drawn below their own parents"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class FamilyStory:
    """A kinship puzzle with what the families that fit it say to its answer.

    Attributes:
        example: The puzzle.
        verdict: What the checker says; None if strict kinship lacks one of the puzzle's words, or the row its facts.
    """

    example: Example
    verdict: Verdict | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield family_view(self, options.max_width)


class _Told(NamedTuple):
    """What a row says of its people, who are known by their numbers."""

    names: list[str]
    genders: list[str]
    facts: list[tuple[int, str, int]]
    asked: tuple[int, int]

    def say(self, first: int, what: str, second: int) -> str:
        return f"{self.names[second]} is {self.names[first]}'s {what}"

    def say_stated(self, first: int, second: int) -> str:
        """Say what the story states of two people, in its own direction."""
        for pair in ((first, second), (second, first)):
            for one, what, other in self.facts:
                if (one, other) == pair:
                    return f"{self.say(one, what, other)} (stated)"
        return f"what {self.names[second]} is to {self.names[first]} is not stated"

    def say_in(self, family: Family) -> str:
        """Say what the second of the asked people is to the first in a family."""
        first, second = self.asked
        found = family.relations(first, second)
        words = [word(name, self.genders[second]) for name in NAMES if name in found]
        if not words:
            return f"{self.names[second]} is nothing to {self.names[first]} that has a word"
        return self.say(first, " and ".join(words), second)


def _read(example: Example) -> _Told | None:
    """Read who is who and what is told of them; None if the row does not say.

    Raises:
        DataError: If it speaks of somebody who is not in the story.
    """
    query, genders, edges, types = map(example.get, ("query", "genders", "edges", "edge_types"))
    if query is None or genders is None or edges is None or types is None:
        return None
    people = [each.rpartition(":") for each in genders]
    names = [name for name, _, _ in people]
    if len(query) != 2 or not set(query) <= set(names):
        raise DataError(f"{example.id} asks about {query}; expected two of {', '.join(names)}.")
    spoken_of = {person for each in (*edges, *(example.get("proof_steps") or ())) for person in each}
    if not spoken_of <= set(range(len(names))):
        raise DataError(f"{example.id} has edges or proof steps of {max(spoken_of)}, but only {len(names)} genders.")
    first, second = map(names.index, query)
    # Published rows have edges without a type after those of the chain.
    facts = [(one, what, other) for (one, other), what in zip(edges, types, strict=False)]
    return _Told(names, [gender for _, _, gender in people], facts, (first, second))


def _foreign_words(example: Example) -> list[str]:
    """List the words of a row that strict kinship does not define."""
    return sorted({*(example.get("edge_types") or ()), example.answer} - set(WORDS))


def lay_out(example: Example) -> FamilyStory:
    """Ask the checker which families fit a story, and what they say to its answer.

    Raises:
        DataError: If the row speaks of somebody who is not in the story.
    """
    told = _read(example)
    if told is None or _foreign_words(example):
        return FamilyStory(example, None)
    facts = [Fact(first, predicate_of(what), second) for first, what, second in told.facts]
    first, second = told.asked
    query = Fact(first, predicate_of(example.answer), second)
    return FamilyStory(example, judge(told.genders, facts, query, told.names))


def family_view(story: FamilyStory, width: int = 200) -> RenderableType:
    """Show a kinship puzzle: the story, what is asked, the proof in words, and the family.

    Args:
        story: The puzzle.
        width: How wide the screen is; where there are two families to show, they stand side by side if they fit.
    """
    example, told = story.example, _read(story.example)
    parts: list[RenderableType] = [_title(story), Text(), _story_lines(example), Text()]
    parts.append(Text.assemble(example.question, (" → ", "dim"), (example.answer, "bold")))
    if told is not None:
        proof = _proof_lines(example, told)
        parts += [Text(), *proof] if proof else []
        parts += [Text(), *_families(story, told, width)]
    return Group(*parts)


def _title(story: FamilyStory) -> Text:
    example, verdict = story.example, story.verdict
    status = example.get("status") or (verdict.status if verdict else "unknown")
    parts = {"story": example.story_id, "task": example.get("task"), "k": example.get("k"), "status": status}
    title = Text("  ").join(Text.assemble((f"{name} ", "dim"), str(value)) for name, value in parts.items() if value)
    if verdict and verdict.status != status:
        title.append(f", but the checker finds it {verdict.status}", style="bold red")
    return title


def _story_lines(example: Example) -> Table:
    """Number the lines of a story; those on which the proof does not rest are dim."""
    table = Table.grid(padding=(0, 1))
    for number, line in enumerate(example.story.split("\n"), start=1):
        needed = not example.proof or number in example.proof
        table.add_row(Text(str(number), style="dim"), Text(line, style="" if needed else "dim"))
    return table


def _proof_lines(example: Example, told: _Told) -> list[Text]:
    """Tell a proof from the top down, what a line rests on indented below it; empty if the row has none."""
    if example.get("proof_steps") is None or example.get("proof_relations") is None:
        return []
    steps = list(zip(example.get("proof_steps"), example.get("proof_relations"), strict=True))
    lines: list[Text] = []

    def explain(first: int, second: int, indent: str) -> None:
        step = next((step for step in steps if (step[0][0], step[0][2]) == (first, second)), None)
        if step is None:
            lines.append(Text(indent + told.say_stated(first, second)))
            return
        steps.remove(step)  # so that a proof that goes in circles comes to an end
        (_, via, _), what = step
        lines.append(Text(f"{indent}{told.say(first, what, second)}, because"))
        explain(first, via, indent + "  ")
        explain(via, second, indent + "  ")

    explain(*told.asked, "")
    return lines


def _families(story: FamilyStory, told: _Told, width: int) -> list[RenderableType]:
    """Draw the families that show the status of an answer, or say why there is none to draw."""
    example, verdict = story.example, story.verdict
    if verdict is None:
        words = ", ".join(f"'{each}'" for each in _foreign_words(example))
        return [Text(f"No family is drawn: strict kinship does not know {words}.")]
    marked = _proof_people(example, told)
    drawn = [
        Text("\n").join([Text(heading, style="italic"), *draw(family, marked, told.asked)])
        for heading, family in _headed(verdict, told, example.answer)
    ]
    if not drawn:
        return [Text("No family fits the story.", style="italic")]
    parts: list[RenderableType] = [drawn[0]]
    if len(drawn) > 1:
        parts = [Text("The answer holds in some families that fit the story, but not in all.", style="italic"), Text()]
        if sum(max(line.cell_len for line in block.split()) for block in drawn) + _GAP <= width:
            beside = Table.grid(padding=(0, _GAP), pad_edge=False)
            beside.add_row(*drawn)
            parts.append(beside)
        else:
            parts += [drawn[0], Text(), drawn[1]]
    return [*parts, Text(), Text(_LEGEND, style="dim")]


def _headed(verdict: Verdict, told: _Told, answer: str) -> list[tuple[str, Family]]:
    """Give the families that show a status, with what there is to say of them."""
    fits, against = verdict.fits, verdict.against
    if fits is not None and against is not None:
        holds = told.say(told.asked[0], answer, told.asked[1])
        return [(f"Here it holds: {holds}", fits), (f"Here it does not: {told.say_in(against)}", against)]
    if fits is not None:
        return [("The answer holds in every family that fits the story, as in this one:", fits)]
    if against is not None:
        return [(f"The answer holds in no family that fits the story; in this one {told.say_in(against)}:", against)]
    return []


def _proof_people(example: Example, told: _Told) -> set[int]:
    """Give the people through whom the proof goes; without a proof, those of the chain."""
    if example.get("proof_steps") is None:
        return set(range(min((example.get("k") or 0) + 1, len(told.names))))
    return {*told.asked, *(person for step in example.get("proof_steps") for person in step)}


def draw(family: Family, marked: Collection[int] = (), asked: Collection[int] = ()) -> list[Text]:
    """Draw a family: couples with their children below them, unconnected parts below each other.

    Args:
        family: The family.
        marked: Whom to mark with a dot.
        asked: Whom to mark with angles.

    Returns:
        Its lines, which can be read without colour, too.
    """
    return _Drawing(family, marked, asked).lines


class _Drawing:
    """A family being drawn, line by line."""

    def __init__(self, family: Family, marked: Collection[int], asked: Collection[int]) -> None:
        self.lines: list[Text] = []
        self._people = family.people
        self._spouse = {one: other for pair in family.couples for one, other in (pair, pair[::-1])}
        self._born: dict[int | None, list[int]] = {}
        for person, each in enumerate(family.people):
            self._born.setdefault(each.parents, []).append(person)
        self._done: set[int] = set()  # the couples whose children are drawn
        self._labels = [self._label(person, marked, asked) for person in range(len(family.people))]
        for person in self._roots():
            self._grow(person, "", "")

    def _label(self, person: int, marked: Collection[int], asked: Collection[int]) -> Text:
        name, gender = self._people[person].name, self._people[person].gender
        if name is None:
            name = "(a man)" if gender == MALE else "(a woman)"
            if self._apart(person):  # an arrow points to them
                number = sum(
                    each.name is None and self._apart(other) for other, each in enumerate(self._people[:person])
                )
                name += str(number + 1).translate(_SUPERSCRIPTS)
        if person in asked:
            return Text(f"«{name}»", style=_ASKED)
        if person in marked:
            return Text(f"·{name}", style=_MARKED)
        return Text(name, style=_REST if marked or asked else "")

    def _apart(self, person: int) -> bool:
        """Say whether a person is drawn below their own parents, and so is their spouse."""
        spouse = self._spouse.get(person)
        return spouse is not None and None not in (self._people[person].parents, self._people[spouse].parents)

    def _roots(self) -> list[int]:
        """Give those with whom trees begin: the family of the first person first."""
        found = []
        for person in self._born.get(None, []):
            spouse = self._spouse.get(person)
            if spouse is None or (self._people[spouse].parents is None and person < spouse):
                found.append(person)
        return sorted(found, key=lambda person: (self._first_below(person), person))

    def _first_below(self, person: int) -> int:
        """Give the lowest number in a person's household and in those of all their descendants."""
        children = self._children(person)
        return min([person, self._spouse.get(person, person), *map(self._first_below, children)])

    def _children(self, person: int) -> list[int]:
        couple = self._people[person].marriage
        return [] if couple is None else self._born.get(couple, [])

    def _grow(self, person: int, branch: str, indent: str) -> None:
        """Draw a person with their spouse, then their children unless the spouse's line has them already."""
        line = Text.assemble((branch, "dim"), self._labels[person])
        couple, spouse = self._people[person].marriage, self._spouse.get(person)
        if spouse is not None:
            line.append(" ⚭ → " if self._apart(person) else " ⚭ ").append_text(self._labels[spouse])
        self.lines.append(line)
        if couple is None or couple in self._done:
            return
        self._done.add(couple)
        children = self._children(person)
        for child in children:
            last = child == children[-1]
            self._grow(child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))
