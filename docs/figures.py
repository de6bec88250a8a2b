"""The figures of the docs: each comes from a command of `figures.toml`, and its output is stored in `figures/`.

`make figures` runs the commands again, stores what they print, and writes the figures into the pages that quote them.
`make bench` does the same for those that measure speed. Tests check that pages and stored outputs agree, and (slowly)
that the commands still give what is stored.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib import metadata
from math import floor, log10
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
STORED = DOCS / "figures"
LIST = DOCS / "figures.toml"
PUBLISHED = "STORYPROOF_PUBLISHED"  # the folder with published data, for tests
_PACKAGES = ("numpy", "pyarrow", "scikit-learn", "torch")
_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
_FIELD = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")


class FigureError(Exception):
    """A figure cannot be measured, or a page does not quote it as the list says."""


@dataclass(frozen=True)
class Quote:
    """A sentence or a row of a page with figures in it.

    Attributes:
        page: The page, relative to the root.
        text: The words of the page, with `{name:format}` for a figure. Formats are Python's, and `.1p` for per cent
            without the sign, `~2` for two significant digits; a format that ends with `*other` makes the figure bold if
            the figure `other` is not 0. `{name@figure}` is one of another figure.
    """

    page: str
    text: str

    @property
    def names(self) -> list[str]:
        """The figures that are quoted, and those that decide which are bold."""
        found = [(match[1], (match[2] or "").partition("*")[2]) for match in _FIELD.finditer(self.text)]
        return [name for pair in found for name in pair if name]

    def pattern(self) -> re.Pattern[str]:
        """Return what finds the quote in its page, with a group for each figure; lines may be broken anywhere."""
        parts = []
        for number, part in enumerate(_FIELD.split(self.text)):
            if number % 3 == 0:
                parts.append(r"\s+".join(map(re.escape, re.split(r"\s+", part))))
            elif number % 3 == 2:
                parts.append(rf"(\*\*{_NUMBER}\*\*|{_NUMBER})" if "*" in (part or "") else f"({_NUMBER})")
        return re.compile("".join(parts))

    def formatted(self, values: Mapping[str, float]) -> list[str]:
        """Return the figures as the page should show them."""
        found = []
        for match in _FIELD.finditer(self.text):
            form, _, bold = (match[2] or "").partition("*")
            shown = show(values[match[1]], form)
            found.append(f"**{shown}**" if bold and values[bold] else shown)
        return found

    def shown(self, page: str) -> list[str]:
        """Return the figures as a page shows them.

        Raises:
            FigureError: If the page does not have the quote, or twice.
        """
        found = [match.groups() for match in self.pattern().finditer(page)]
        if len(found) != 1:
            raise FigureError(f"{self.page}: found {len(found)} times instead of once: {self.text}")
        return list(found[0])

    def update(self, page: str, values: Mapping[str, float]) -> str:
        """Return a page with the figures that were measured."""
        self.shown(page)
        new = iter(self.formatted(values))

        def fill(match: re.Match[str]) -> str:
            parts, done = [], match.start()
            for group in range(1, len(match.groups()) + 1):
                parts += [page[done : match.start(group)], next(new)]
                done = match.end(group)
            return "".join([*parts, page[done : match.end()]])

        return self.pattern().sub(fill, page)


@dataclass(frozen=True)
class Figure:
    """Commands whose output the docs quote.

    Attributes:
        name: Its name; the output is stored in `figures/NAME.json`.
        about: What it measures.
        commands: What is run, one after the other in an empty folder; `python` is that of storyproof.
        published: The folder of published data whose content is also in that folder; empty if none is needed.
        json: The file that the last command writes, from which `values` are taken; empty to store what is printed.
        values: Figures by name, as paths into that file; if there are none, the file has figures by name.
        quotes: Where they are quoted.
        tolerance: How far a repetition may be from what is stored, in the unit of the figure.
        speed: How many times slower a repetition may be, for figures that depend on the machine; 0 for others.
        needs: A file without which the commands are skipped, such as an environment of other tools.
        codes: Exit codes that are no failure; `audit` returns 1 if it finds anything.
        stored: Where the figures are, if nothing is run: the table of an experiment (`results.json`), which `storyproof
            experiment` writes, or any other file, with `values`.
    """

    name: str
    about: str
    commands: tuple[str, ...] = ()
    published: str = ""
    json: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()
    tolerance: float = 0.0
    speed: float = 0.0
    needs: str = ""
    codes: tuple[int, ...] = (0,)
    stored: str = ""

    @property
    def path(self) -> Path:
        """Where the output is stored."""
        return ROOT / self.stored if self.stored else STORED / f"{self.name}.json"

    def obstacle(self, published: Path | None) -> str:
        """Return why the commands cannot be run here; empty if they can."""
        if self.published and (published is None or not (published / self.published).is_dir()):
            return f"needs the published data '{self.published}': make figures PUBLISHED=DIR"
        if self.needs and not (ROOT / self.needs).exists():
            return f"needs {self.needs}, which is not there"
        return ""


@cache
def read_list() -> dict[str, Figure]:
    """Read `figures.toml`."""
    given = tomllib.loads(LIST.read_text(encoding="utf-8"))
    given.pop("uncovered")
    shared = given.pop("values", {})
    found = {}
    for name, entry in given.items():
        if isinstance(values := entry.get("values", {}), str):
            entry["values"] = shared[values]
        entry["quotes"] = tuple(Quote(page, text) for page, texts in entry.pop("quotes", {}).items() for text in texts)
        for name_of_list in ("commands", "codes"):
            if name_of_list in entry:
                entry[name_of_list] = tuple(entry[name_of_list])
        found[name] = Figure(name, **entry)
    return found


def show(value: float, form: str) -> str:
    """Return a figure in a format."""
    if form.endswith("p"):
        return format(100 * value, f"{form[:-1]}f")
    if form.startswith("~"):
        digits = int(form[1:]) - 1 - floor(log10(abs(value))) if value else 0
        return format(round(value, digits), f",.{max(digits, 0)}f")
    return format(value, form)


def pick(content: Any, path: str) -> float:
    """Return the figure at a path such as `rows/name=majority/interval/0`.

    Where several parts match a `*`, it is their sum; with `?` at the end of the path, nothing counts as 0.
    """
    found, is_optional = [content], path.endswith("?")
    for part in path.removesuffix("?").split("/"):
        found = [inner for each in found for inner in _step(each, part)]
    if not found and is_optional:
        return 0
    if not found:
        raise FigureError(f"the output has nothing at {path}")
    if len(found) == 1:
        return float(found[0]) if isinstance(found[0], float) else int(found[0])
    return sum(found)


def _step(content: Any, part: str) -> Iterator[Any]:
    if isinstance(content, Mapping):
        if part == "*":
            yield from content.values()
        elif part in content:
            yield content[part]
        return
    if part.isdigit():
        yield content[int(part)]
        return
    name, _, wanted = part.partition("=")
    yield from (each for each in content if fnmatchcase(str(each[name]), wanted))


def _read_cells(table: Mapping[str, Any]) -> dict[str, float]:
    """Return the cells of an experiment: `entnet tomi average`; with ` ±` its deviation, with ` paper` the paper's.

    What was trained on other data than it was tested on has both names: `entnet plain on tomi average`.
    """
    found = {}
    for cell in table["cells"]:
        data = cell["data"] if cell["test"] == cell["data"] else f"{cell['data']} on {cell['test']}"
        name = f"{cell['model']} {data} {cell['measure']}"
        for ending, key in (("", "mean"), (" ±", "deviation"), (" paper", "paper")):
            if cell[key] is not None:
                found[name + ending] = cell[key]
    return found


def read_stored(figure: Figure) -> dict[str, Any]:
    """Return what is stored of a figure."""
    stored: dict[str, Any] = json.loads(figure.path.read_text(encoding="utf-8"))
    return stored


def stored_values(figure: Figure) -> dict[str, float]:
    """Return the stored figures by name."""
    stored = read_stored(figure)
    if figure.stored and figure.values:
        return {name: pick(stored, path) for name, path in figure.values.items()}
    if figure.stored:
        return _read_cells(stored)
    values: dict[str, float] = stored["values"]
    return values


def _owner(figure: Figure, name: str) -> tuple[Figure, str]:
    """Return to which figure a name of a quote belongs, and the name there; names may contain an @ themselves."""
    own, _, other = name.rpartition("@")
    figures = read_list()
    return (figures[other], own) if own and other in figures else (figure, name)


def quotable_values(figure: Figure, quote: Quote) -> dict[str, float]:
    """Return the figures that a quote names."""
    found = {}
    for name in quote.names:
        owner, own = _owner(figure, name)
        values = stored_values(owner)
        if own not in values:
            raise FigureError(f"{owner.path.name} has no figure '{own}'; run make figures FIGURES={owner.name}")
        found[name] = values[own]
    return found


def is_stored(figure: Figure) -> bool:
    """Return whether there is an output of a figure, and of all that its quotes name beside it."""
    owners = [_owner(figure, name)[0] for quote in figure.quotes for name in quote.names]
    return all(each.path.exists() for each in (figure, *owners))


def run(figure: Figure, published: Path | None) -> dict[str, Any]:
    """Run the commands of a figure in an empty folder and return what is stored of it.

    Raises:
        FigureError: If a command fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if figure.published:
            assert published is not None
            for each in (published / figure.published).iterdir():
                (folder / each.name).symlink_to(each.resolve(), target_is_directory=each.is_dir())
        printed = {}
        for command in figure.commands:
            printed[command] = _run_command(command, folder, figure.codes)
        result: dict[str, Any] = {"commands": list(figure.commands), "machine": describe_machine()}
        if not figure.json:
            return {**result, "printed": printed}
        content = json.loads((folder / figure.json).read_text(encoding="utf-8"))
        picked = {name: pick(content, path) for name, path in figure.values.items()}
        return {**result, "values": picked or content}


def _run_command(line: str, folder: Path, codes: Sequence[int]) -> list[str]:
    """Run a command and return the lines that it prints; PyTorch gets one thread, as sums depend on their number."""
    line = line.replace("storyproof ", "python -m storyproof ", 1) if line.startswith("storyproof ") else line
    line = re.sub(r"^python\b", sys.executable, line.partition("  #")[0]).replace("{root}", str(ROOT))
    search = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": search, "COLUMNS": "120", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in codes:
        raise FigureError(f"failed with exit code {done.returncode}: {line}")
    return [each.rstrip() for each in done.stdout.splitlines()]


def describe_machine() -> dict[str, str]:
    """Return what figures may depend on: the processor and the versions of packages."""
    found = {"processor": _processor(), "cores": str(os.cpu_count()), "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """Return the name of the processor; Linux says it in a file."""
    path = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*:\s*(.+)$", path.read_text("utf-8"), re.MULTILINE) if path.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def compare(figure: Figure, found: Mapping[str, Any]) -> list[str]:
    """Return where a repetition differs from what is stored by more than the tolerance."""
    if not figure.json:
        return _compare_printed(figure, read_stored(figure)["printed"], found["printed"])
    stored = stored_values(figure)
    problems = []
    for name, value in found["values"].items():
        then = stored[name]
        if figure.speed:
            is_near = max(value, then) <= figure.speed * min(value, then)
        else:
            is_near = abs(value - then) <= figure.tolerance + 1e-9
        if not is_near:
            problems.append(f"{figure.name}: {name} is {value}, stored is {then}")
    return problems


def _compare_printed(
    figure: Figure, stored: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[str]]
) -> list[str]:
    """Compare lines: words are equal, and numbers are within the tolerance."""
    problems = []
    for command, lines in found.items():
        then = stored[command]
        if len(then) != len(lines):
            problems.append(f"{command} prints {len(lines)} lines, stored are {len(then)}")
        for one, other in zip(lines, then, strict=False):
            if not _is_like(one, other, figure.tolerance):
                problems.append(f"{command} prints: {one.strip()}; stored is: {other.strip()}")
    return problems


def _is_like(one: str, other: str, tolerance: float) -> bool:
    words = [re.split(f"({_NUMBER})", " ".join(line.split())) for line in (one, other)]
    if words[0][::2] != words[1][::2]:
        return False
    pairs = zip(words[0][1::2], words[1][1::2], strict=True)
    return all(
        abs(float(first.replace(",", "")) - float(second.replace(",", ""))) <= tolerance + 1e-9
        for first, second in pairs
    )


def update_pages(figures: Sequence[Figure]) -> list[str]:
    """Write the stored figures into the pages that quote them, and return which quotes were not found."""
    problems = []
    for figure in figures:
        for quote in figure.quotes:
            path = ROOT / quote.page
            text = path.read_text(encoding="utf-8")
            try:
                path.write_text(quote.update(text, quotable_values(figure, quote)), encoding="utf-8")
            except FigureError as error:
                problems.append(str(error))
    return problems


_INTRODUCTION = """# Figures

Figures in these pages come from the commands below. What each command gave is stored in `docs/figures/`, and
`docs/figures.toml` says which sentence of which page quotes it.

```
make figures                            # runs the commands, stores their output and updates the pages
make figures PUBLISHED=../shared/data   # also those about published data: a folder with tomi, clutrr …
make bench                              # the same for speed; use a quiet machine
```

Without published data, figures about them are skipped, and stay as they are. `make test` compares the pages with what
is stored; `make test-slow` runs the commands again and compares, with published data if `STORYPROOF_PUBLISHED` names
their folder. PyTorch runs with one thread.

Other programs used the machines at the same time. Speed is measured in CPU seconds, so that they matter less.
"""
_COLUMNS = ("| figures | command | quoted in | machine | a repetition may differ by |", "|---|---|---|---|---|")


def write_page() -> str:
    """Return the page that lists all figures, with their commands and the machines that they were measured on."""
    machines: dict[str, str] = {}
    rows = {False: list(_COLUMNS), True: list(_COLUMNS)}
    for figure in read_list().values():
        rows[bool(figure.speed)].append(_describe(figure, machines))
    uncovered = tomllib.loads(LIST.read_text(encoding="utf-8"))["uncovered"]
    parts = {
        "Machines": [f"- **{name}**: {about}" for about, name in machines.items()],
        "What data and models show": rows[False],
        "Speed": rows[True],
        "What is not stored": [
            "| page | figures | why |",
            "|---|---|---|",
            *(f"| {each['page']} | {each['what']} | {each['why']} |" for each in uncovered),
        ],
    }
    return "\n".join([_INTRODUCTION, *("\n".join([f"## {title}\n", *lines, ""]) for title, lines in parts.items())])


def _describe(figure: Figure, machines: dict[str, str]) -> str:
    """Return the row of a figure; machines get names in the order in which they are found."""
    commands = "<br>".join(f"`{each}`" for each in figure.commands) or f"[`{figure.stored}`](../{figure.stored})"
    pages = ", ".join(dict.fromkeys(quote.page for quote in figure.quotes)) or "transcripts"
    machine = "not stored yet"
    if figure.stored:
        machine = "in the file" if figure.values else "`about.json` beside it"
    elif figure.path.exists():
        stored = ", ".join(f"{name} {value}" for name, value in read_stored(figure)["machine"].items())
        machine = machines.setdefault(stored, f"M{len(machines) + 1}")
    allowed = f"a factor of {figure.speed:g}" if figure.speed else f"{figure.tolerance:g}"
    return f"| {figure.about} | {commands} | {pages} | {machine} | {allowed} |"


def main() -> None:
    """Run the commands, store what they give, and update the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="these figures only")
    parser.add_argument("--published", type=Path, help="the folder with published data: tomi, clutrr …")
    parser.add_argument("--speed", action="store_true", help="the figures that measure speed, and no others")
    chosen = parser.parse_args()
    figures = read_list()
    if unknown := [name for name in chosen.names if name not in figures]:
        raise SystemExit(f"there is no figure '{unknown[0]}'; known are {', '.join(figures)}")
    wanted = [figures[name] for name in chosen.names] or [
        each for each in figures.values() if bool(each.speed) == chosen.speed
    ]
    STORED.mkdir(exist_ok=True)
    problems = []
    for figure in wanted:
        if figure.stored:
            print(f"{figure.name}: read from {figure.stored}", flush=True)
        elif obstacle := figure.obstacle(chosen.published):
            print(f"{figure.name}: skipped, {obstacle}", flush=True)
        else:
            print(f"{figure.name}: {'; '.join(figure.commands)}", flush=True)
            try:
                found = run(figure, chosen.published and chosen.published.resolve())
            except FigureError as error:
                problems.append(f"{figure.name}: {error}")
                continue
            draft = figure.path.with_suffix(".draft")
            draft.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            draft.replace(figure.path)
    problems += update_pages([each for each in figures.values() if is_stored(each)])
    if problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
