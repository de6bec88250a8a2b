"""Tables as CSV (one line per cell), Markdown, LaTeX and JSON files, and in the terminal."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.experiments.table import Encoder, ResultTable
from storyproof.io.atomic_files import write_json, write_whole, writing_to
from storyproof.reports.table_text import latex_table

RESULTS = "results.json"
_PAPERS, _SHOWN = "bert-base-uncased", 12  # the paper's encoder, and how many characters of a digest are shown
_CSV = (
    "group",
    "row",
    "column",
    "model",
    "data",
    "test",
    "measure",
    "mean",
    "deviation",
    "runs",
    "paper",
    "difference",
)


def write_tables(folder: Path, table: ResultTable) -> None:
    """Write a table in all formats, and its cells as JSON.

    Raises:
        DataError: If a file cannot be written.
    """
    with writing_to(folder / RESULTS):
        write_json(folder / RESULTS, table.as_dict())
    for name, make in _FORMATS.items():
        with writing_to(folder / name):
            write_whole(folder / name, make(table).encode())


def as_csv(table: ResultTable) -> str:
    """Format every cell as one line, in fractions."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV)
    for cell in table.as_dict()["cells"]:
        values = {**cell, "runs": len(cell["runs"])}
        writer.writerow([_round(values[name]) for name in _CSV])
    return out.getvalue()


def _round(value: object) -> object:
    return f"{value:.4f}" if isinstance(value, float) else value


def as_markdown(table: ResultTable) -> str:
    """Format the table as Markdown."""
    heads, body = cells_of(table)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in body)]
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([f"# {table.experiment.title}", "", *lines, "", caption_of(table), "", *notes]).rstrip() + "\n"


def as_latex(table: ResultTable) -> str:
    """Format the table for LaTeX, with the rules of booktabs."""
    heads, body = cells_of(table)
    about = f"% {table.experiment.title}. {caption_of(table)}"
    shown = latex_table(heads, body, labels=len(heads) - len(table.columns))
    return "\n".join([about, "% needs \\usepackage{booktabs}", shown, ""])


def cells_of(table: ResultTable) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows; a group is named in its first row."""
    grouped = any(row.group for row in table.rows)
    heads = [column.named(", ") for column in table.columns]
    body, before = [], ""
    for row, entries in zip(table.rows, table.entries, strict=True):
        group = [row.group if row.group != before else ""] if grouped else []
        body.append([*group, row.label, *map(table.text, entries)])
        before = row.group
    return [*([""] * grouped), "", *heads], body


def caption_of(table: ResultTable) -> str:
    """Describe the figures of a table."""
    unit = "Percent" if table.percent else "Fraction"
    counts = sorted({len(entry.values) for entries in table.entries for entry in entries if entry and entry.values})
    runs = f" of {' or '.join(map(str, counts))} {'run' if counts == [1] else 'runs'}" if counts else ""
    encoder = f" {_describe(table.encoder)}" if table.encoder is not None else ""
    if not table.experiment.source:
        return f"{unit} right: mean ± deviation{runs}.{encoder}"
    paper = f"(the paper's figure, difference). Paper: {table.experiment.source}."
    return f"{unit} right: mean ± deviation{runs} {paper}{encoder}"


def _describe(encoder: Encoder) -> str:
    """Describe which encoder models use, and which the paper's models use."""
    files = f" (digest of its files {encoder.digest[:_SHOWN]}…)" if encoder.digest else ""
    stand = "stands" if len(encoder.models) == 1 else "stand"
    return f"{' and '.join(encoder.models)} {stand} on the encoder '{encoder.name}'{files}; the paper's is {_PAPERS}."


def view(table: ResultTable) -> RenderableType:
    """Lay the table out for the terminal."""
    heads, body = cells_of(table)
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(table.experiment.title), title_justify="left")
    for number, head in enumerate(heads):
        is_label = number < len(heads) - len(table.columns)
        shown.add_column(Text(head), justify="left" if is_label else "right")
    for row in body:
        shown.add_row(*(Text(cell.replace(" (", "\n(")) for cell in row))  # narrow enough for a terminal
    return Group(shown, *(Text(line, style="dim") for line in (caption_of(table), *table.notes)))


_FORMATS = {"table.csv": as_csv, "table.md": as_markdown, "table.tex": as_latex}
TABLES = tuple(_FORMATS)
