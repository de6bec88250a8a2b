"""Figures as the terminal shows them: percents, counts, and tables that are readable on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich takes a while to import, and most commands print no table
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

NONE = "–"  # where there is no figure
_NAME = 28  # columns that names take at most where there is little room; they go on in the next line


def percent(value: float | None) -> str:
    """Return a fraction as percent; a dash if there is none."""
    return NONE if value is None else f"{100 * value:.1f}"


def with_interval(value: float | None, interval: Sequence[float] | None, between: str = " to ") -> str:
    """Return a fraction as percent, with its interval if it has one."""
    if value is None or interval is None:
        return percent(value)
    return f"{percent(value)} ({percent(interval[0])}{between}{percent(interval[1])})"


def signed(value: float, low: float, high: float) -> str:
    """Return a difference with its interval."""
    shown, least, most = (f"{100 * each:+z.1f}" for each in (value, low, high))
    return f"{shown} ({least} to {most})"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        heading: What stands above, in lines.
        cells: What stands in it.
        rank: 0 if it must stay; where there is no room, the highest is left out first.
        name: Whether these are names, which stand to the left and are folded rather than cut.
    """

    heading: str
    cells: Sequence[str]
    rank: int = 0
    name: bool = False


@dataclass(frozen=True, slots=True)
class Fitting:
    """A table that fits the screen, by as many of these steps as are needed.

    Columns move together and headings are broken into lines; columns are left out, with a note; intervals stand below
    their figures.

    Attributes:
        columns: From the left.
        styles: Of the rows.
    """

    columns: Sequence[Column]
    styles: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for a screen."""
        from rich.text import Text

        kept = list(self.columns)
        table = self._table(kept)
        if _width(console, options, table) > options.max_width:
            table = self._table(kept, close=True)
        while _width(console, options, table) > options.max_width:
            least = max(kept, key=lambda column: column.rank)
            if not least.rank:
                table = self._table(kept, close=True, below=True)
                break
            kept.remove(least)
            table = self._table(kept, close=True)
        yield table
        left_out = [column.heading.replace("\n", " ") for column in self.columns if column not in kept]
        if left_out:
            yield Text(f"no room for: {', '.join(left_out)}; --json has all", style="dim")

    def _table(self, columns: Sequence[Column], *, close: bool = False, below: bool = False) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0 if close else 1))
        for column in columns:
            table.add_column(
                Text(column.heading.replace(" ", "\n") if close else column.heading),
                justify="left" if column.name else "right",
                overflow="fold",
                no_wrap=not column.name,
                max_width=_NAME if close and column.name else None,
            )
        rows = zip(*(column.cells for column in columns), strict=True)
        for number, row in enumerate(rows):
            cells = (cell.replace(" (", "\n(") if below else cell for cell in row)
            table.add_row(*map(Text, cells), style=self.styles[number] if self.styles else None)
        return table


def _width(console: Console, options: ConsoleOptions, table: Table) -> int:
    """Return the width of a table that is not limited."""
    from rich.measure import Measurement

    return Measurement.get(console, options.update(width=10_000), table).maximum
