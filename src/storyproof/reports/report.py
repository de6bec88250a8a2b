"""The verb `report`: runs side by side, on a page or as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from storyproof.errors import UnknownNameError
from storyproof.evaluation.runs import RunSource
from storyproof.reports.run_data import Board, gather, read_all
from storyproof.reports.run_mistakes import explain_answers
from storyproof.reports.run_numbers import BoardNumbers, count_board, headline
from storyproof.reports.run_tables import as_csv, as_latex, as_markdown
from storyproof.runtime.notebook import NotebookView
from storyproof.runtime.optional_packages import need

HTML, MARKDOWN, LATEX, CSV = FORMATS = ("html", "markdown", "latex", "csv")


@dataclass(frozen=True, slots=True)
class RunReport(NotebookView):
    """A report on runs.

    Attributes:
        title: What it is called.
        headline: The result in one sentence.
        boards: The numbers about the runs on each dataset.
        notes: What else a reader must know.
    """

    title: str
    headline: str
    boards: tuple[BoardNumbers, ...]
    notes: tuple[str, ...]
    _data: tuple[Board, ...] = field(repr=False, compare=False)
    _explained: tuple[list[list[tuple[str, ...]]], ...] = field(repr=False, compare=False)

    def render(self, format: str = HTML) -> str:
        """Return the report as a page (`html`), or its tables as `markdown`, `latex` or `csv`.

        Raises:
            UnknownNameError: If the format is another.
        """
        check_format(format)
        if format == MARKDOWN:
            return as_markdown(self.title, self.headline, self.boards)
        if format == LATEX:
            return as_latex(self.title, self.headline, self.boards)
        if format == CSV:
            return as_csv(self.boards)
        from storyproof.reports.run_browser import collect
        from storyproof.reports.run_page import run_page

        return run_page(self.title, self.headline, self.boards, self.notes, collect(self._data, self._explained))

    def write_figures(self, folder: str | Path) -> list[Path]:
        """Write all charts at print quality (SVG, PNG and PDF); return the files.

        Raises:
            ConfigError: If the extra `pages` is not installed.
            DataError: If a file cannot be written.
        """
        from storyproof.reports.run_charts import write_figures

        return write_figures(Path(folder), self.boards)


def check_format(format: str, *, figures: bool = False) -> None:
    """Check that a report can be written in a format, and with figures if these are wanted.

    Raises:
        UnknownNameError: If there is no such format.
        ConfigError: If figures are wanted and the extra `pages` is not installed.
    """
    if format not in FORMATS:
        raise UnknownNameError("format of reports", format, FORMATS)
    if figures:
        need("vl_convert", "pages", "A chart as PNG or PDF")


def report(runs: RunSource | Sequence[RunSource], *, data: Sequence[str | Path] = (), title: str = "Runs") -> RunReport:
    """Compare runs: scores, differences, groups, mistakes, and every answer.

    Args:
        runs: What `evaluate` returned or wrote: one or several, as objects, files, or folders of files.
        data: Where the data of runs are, if they have moved; they are known by their hashes.
        title: The title of the report.

    Raises:
        DataError: If a run cannot be read, or there is none.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data")
        >>> found = storyproof.report([storyproof.evaluate(model, "data") for model in ("random", "oracle")])
        >>> len(found.render("csv").splitlines()) > 2
        True
    """
    several = isinstance(runs, Sequence) and not isinstance(runs, str)
    recorded, notes = read_all(runs if several else [runs])  # type: ignore[arg-type, list-item]
    boards = gather(recorded, data)
    explained = [explain_answers(board) for board in boards]
    numbers = tuple(count_board(board, reasons) for board, reasons in zip(boards, explained, strict=True))
    return RunReport(title, headline(numbers), numbers, tuple(notes), tuple(boards), tuple(explained))
