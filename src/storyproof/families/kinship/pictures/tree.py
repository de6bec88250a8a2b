"""A kinship row for the terminal: the story, the question, the proof in words, and the family as a tree.

A tree has a couple on each line and their children below it. People who have parents in the family are drawn below
them; if both spouses do, each is drawn below their own parents, with an arrow to the other, and the children follow
the one who comes first. So everybody is drawn once. Marks in plain text repeat what colours show on a screen.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from storyproof.example import Example
from storyproof.families.kinship.checker import Witnesses
from storyproof.families.kinship.genealogy import Genealogy
from storyproof.families.kinship.pictures.picture import FamilyScene, read_scene
from storyproof.families.kinship.relations import MALE, NAMES, word
from storyproof.families.kinship.row import KinshipRow

_ASKED, _MARKED, _REST = "bold", "cyan", "dim"
_GAP = 4  # columns between two families side by side
_LEGEND = "«…» asked about   ·… in the proof   ⚭ married   → drawn below their own parents"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class FamilyStory:
    """An example with families that show the status of its answer, which Rich can print at any width.

    Attributes:
        example: The example.
        scene: Its people and facts, and what the checker finds; None if the row lacks its facts.
    """

    example: Example
    scene: FamilyScene | None

    @property
    def witnesses(self) -> Witnesses | None:
        """What the checker finds; None if strict kinship does not define all words, or the row lacks its facts."""
        return None if self.scene is None else self.scene.witnesses

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield family_view(self, options.max_width)


def lay_out(example: Example) -> FamilyStory:
    """Find families that fit a story and show the status of its answer.

    Raises:
        DataError: If the row refers to somebody who is not in it.
    """
    return FamilyStory(example, read_scene(example))


def family_view(story: FamilyStory, width: int = 200) -> RenderableType:
    """Show a kinship row: the story, the question, the proof in words, and the family.

    Args:
        story: The row.
        width: The width of the screen; two families are shown side by side if they fit.
    """
    example, scene = story.example, story.scene
    parts: list[RenderableType] = [_title(story), Text(), _story_lines(example), Text()]
    parts.append(Text.assemble(example.question, (" → ", "dim"), (example.answer, "bold")))
    if scene is not None:
        proof = _proof_lines(scene)
        parts += [Text(), *proof] if proof else []
        parts += [Text(), *_families(scene, example.answer, width)]
    return Group(*parts)


def _title(story: FamilyStory) -> Text:
    example, witnesses = story.example, story.witnesses
    status = example.get("status") or (witnesses.status if witnesses else "unknown")
    parts = {"story": example.story_id, "task": example.get("task"), "k": example.get("k"), "status": status}
    title = Text("  ").join(Text.assemble((f"{name} ", "dim"), str(value)) for name, value in parts.items() if value)
    if witnesses and witnesses.status != status:
        title.append(f", but the checker finds it {witnesses.status}", style="bold red")
    return title


def _story_lines(example: Example) -> Table:
    """Number the lines of a story; those that the proof does not need are dim."""
    table = Table.grid(padding=(0, 1))
    for number, line in enumerate(example.story.split("\n"), start=1):
        needed = not example.proof or number in example.proof
        table.add_row(Text(str(number), style="dim"), Text(line, style="" if needed else "dim"))
    return table


def _proof_lines(scene: FamilyScene) -> list[Text]:
    """Return a proof from the conclusion down, premises indented below it; empty if the row has none."""
    if scene.steps is None or scene.relations is None:
        return []
    row, steps = scene.row, list(zip(scene.steps, scene.relations, strict=False))
    lines: list[Text] = []

    def explain(first: int, second: int, indent: str) -> None:
        step = next((step for step in steps if (step[0][0], step[0][2]) == (first, second)), None)
        if step is None:
            lines.append(Text(indent + _stated(row, first, second)))
            return
        steps.remove(step)  # so that a circular proof comes to an end
        (_, via, _), relation = step
        lines.append(Text(f"{indent}{_sentence(row, first, relation, second)}, because"))
        explain(first, via, indent + "  ")
        explain(via, second, indent + "  ")

    explain(*row.pair, "")
    return lines


def _sentence(row: KinshipRow, first: int, relation: str, second: int) -> str:
    return f"{row.names[second]} is {row.names[first]}'s {relation}"


def _stated(row: KinshipRow, first: int, second: int) -> str:
    """Return what the story states of two people, in the direction in which it does."""
    # Published rows have edges without a type after those of the chain.
    for pair in ((first, second), (second, first)):
        for edge, relation in zip(row.edges, row.words, strict=False):
            if edge == pair:
                return f"{_sentence(row, edge[0], relation, edge[1])} (stated)"
    return f"what {row.names[second]} is to {row.names[first]} is not stated"


def _families(scene: FamilyScene, answer: str, width: int) -> list[RenderableType]:
    """Draw the families that show the status of an answer, or say why there is none to draw."""
    row = scene.row
    if scene.witnesses is None:
        words = ", ".join(f"'{each}'" for each in scene.foreign)
        return [Text(f"No family is drawn: strict kinship does not define {words}.")]
    marked = _proof_people(scene)
    drawn = [
        Text("\n").join([Text(heading, style="italic"), *draw(family, marked, row.pair)])
        for heading, family in _headed(scene.witnesses, row, answer)
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


def _headed(witnesses: Witnesses, row: KinshipRow, answer: str) -> list[tuple[str, Genealogy]]:
    """Return the families that show a status, each with a heading."""
    fits, against = witnesses.fits, witnesses.against
    if fits is not None and against is not None:
        holds = _sentence(row, row.pair[0], answer, row.pair[1])
        return [(f"Here it holds: {holds}", fits), (f"Here it does not: {_relation_in(against, row)}", against)]
    if fits is not None:
        return [("The answer holds in every family that fits the story, as in this one:", fits)]
    if against is not None:
        relation = _relation_in(against, row)
        return [(f"The answer holds in no family that fits the story; in this one {relation}:", against)]
    return []


def _relation_in(family: Genealogy, row: KinshipRow) -> str:
    """Describe what the second of the asked people is to the first in a family."""
    first, second = row.pair
    relations = family.relations(first, second)
    words = [word(name, row.genders[second]) for name in NAMES if name in relations]
    if not words:
        return f"{row.names[second]} has no named relation to {row.names[first]}"
    return _sentence(row, first, " and ".join(words), second)


def _proof_people(scene: FamilyScene) -> set[int]:
    """Return the people through whom the proof goes; without a proof, those of the chain."""
    row = scene.row
    if scene.steps is None:
        return set(range(min(row.k + 1, len(row.names))))
    return {*row.pair, *(person for step in scene.steps for person in step)}


def draw(family: Genealogy, marked: Collection[int] = (), asked: Collection[int] = ()) -> list[Text]:
    """Draw a family: couples with their children below them, unconnected parts below each other.

    Args:
        family: The family.
        marked: The people to mark with a dot.
        asked: The people to mark with angle quotes.

    Returns:
        Its lines, which can also be read without colour.
    """
    return _Tree(family, marked, asked).lines


class _Tree:
    """A family as it is drawn, line by line."""

    def __init__(self, family: Genealogy, marked: Collection[int], asked: Collection[int]) -> None:
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
        """Return whether a person and their spouse are each drawn below their own parents."""
        spouse = self._spouse.get(person)
        return spouse is not None and None not in (self._people[person].parents, self._people[spouse].parents)

    def _roots(self) -> list[int]:
        """Return the people with whom trees begin; the family of the first person comes first."""
        roots = []
        for person in self._born.get(None, []):
            spouse = self._spouse.get(person)
            if spouse is None or (self._people[spouse].parents is None and person < spouse):
                roots.append(person)
        return sorted(roots, key=lambda person: (self._first_below(person), person))

    def _first_below(self, person: int) -> int:
        """Return the lowest number in a person's household and in those of all their descendants."""
        children = self._children(person)
        return min([person, self._spouse.get(person, person), *map(self._first_below, children)])

    def _children(self, person: int) -> list[int]:
        couple = self._people[person].marriage
        return [] if couple is None else self._born.get(couple, [])

    def _grow(self, person: int, branch: str, indent: str) -> None:
        """Draw a person with their spouse, then their children unless they are already below the spouse."""
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
