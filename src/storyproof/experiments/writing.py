"""Tables as files: CSV (a line a cell), Markdown, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from storyproof.experiments.files import write_json, write_text
from storyproof.experiments.tabulating import Encoder, Table

RESULTS = "results.json"
_PAPERS, _SHOWN = "bert-base-uncased", 12  # the paper's encoder, and how much of a digest is enough to tell
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
_MINUS = re.compile(r"(?<= )-(?=[0-9])")
_TEX = str.maketrans({character: f"\\{character}" for character in "&%$#_{}"} | {"–": "--", "±": r"$\pm$"})


def write_tables(folder: Path, table: Table) -> None:
    """Write a table in all its forms, and its cells as JSON."""
    write_json(folder / RESULTS, table.as_dict())
    for name, make in _FORMS.items():
        write_text(folder / name, make(table))


def as_csv(table: Table) -> str:
    """Write every cell as a line, in fractions."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV)
    for cell in table.as_dict()["cells"]:
        told = {**cell, "runs": len(cell["runs"])}
        writer.writerow([_rounded(told[name]) for name in _CSV])
    return out.getvalue()


def _rounded(value: object) -> object:
    return f"{value:.4f}" if isinstance(value, float) else value


def as_markdown(table: Table) -> str:
    """Write the table for Markdown."""
    heads, body = cells_of(table)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in body)]
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([f"# {table.experiment.title}", "", *lines, "", caption_of(table), "", *notes]).rstrip() + "\n"


def as_latex(table: Table) -> str:
    """Write the table for LaTeX, with booktabs' rules."""
    heads, body = cells_of(table)
    lines = [f"{' & '.join(map(_as_tex, row))} \\\\" for row in [heads, *body]]
    left = "l" * (len(heads) - len(table.columns))
    return "\n".join(
        [
            f"% {table.experiment.title}. {caption_of(table)}",
            "% needs \\usepackage{booktabs}",
            f"\\begin{{tabular}}{{{left}{'r' * len(table.columns)}}}",
            "\\toprule",
            lines[0],
            "\\midrule",
            *lines[1:],
            "\\bottomrule",
            "\\end{tabular}",
            "",
        ]
    )


def _as_tex(cell: str) -> str:
    return _MINUS.sub("$-$", cell.translate(_TEX))


def cells_of(table: Table) -> tuple[list[str], list[list[str]]]:
    """Give the heads and the rows; a group is named in its first row."""
    grouped = any(row.group for row in table.rows)
    heads = [column.named(", ") for column in table.columns]
    body, before = [], ""
    for row, entries in zip(table.rows, table.entries, strict=True):
        group = [row.group if row.group != before else ""] if grouped else []
        body.append([*group, row.label, *map(table.text, entries)])
        before = row.group
    return [*([""] * grouped), "", *heads], body


def caption_of(table: Table) -> str:
    """Say what the figures of a table are."""
    unit = "Percent" if table.percent else "Fraction"
    counts = sorted({len(entry.values) for entries in table.entries for entry in entries if entry and entry.values})
    runs = f" of {' or '.join(map(str, counts))} {'run' if counts == [1] else 'runs'}" if counts else ""
    encoder = f" {_told(table.encoder)}" if table.encoder is not None else ""
    if not table.experiment.source:
        return f"{unit} right: mean ± deviation{runs}.{encoder}"
    paper = f"(the paper's figure, difference). Paper: {table.experiment.source}."
    return f"{unit} right: mean ± deviation{runs} {paper}{encoder}"


def _told(encoder: Encoder) -> str:
    """Say which encoder models stand on, and which the paper's do."""
    files = f" (digest of its files {encoder.digest[:_SHOWN]}…)" if encoder.digest else ""
    stand = "stands" if len(encoder.models) == 1 else "stand"
    return f"{' and '.join(encoder.models)} {stand} on the encoder '{encoder.name}'{files}; the paper's is {_PAPERS}."


_FORMS = {"table.csv": as_csv, "table.md": as_markdown, "table.tex": as_latex}
TABLES = tuple(_FORMS)
