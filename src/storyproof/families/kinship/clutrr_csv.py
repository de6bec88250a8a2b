"""CLUTRR's published CSV, written and read as examples; see `clutrr_records` for the fields.

Names stand in brackets, the story is one running text, and edges are numbered by the order of `genders`. What the
published form has no column for (placeholders, types of noise, status) is worked out again when it is read, or left
null.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from storyproof.example import SPLITS, plain_schema, story_of_id
from storyproof.families.kinship.clutrr_records import (
    COLUMNS,
    ProofStep,
    Row,
    patched_records,
    read_records,
    read_row,
    refuse,
)
from storyproof.families.kinship.placeholder_files import ours
from storyproof.families.kinship.relations import WORDS, predicate_of
from storyproof.families.kinship.rows import Case, Telling, noise_types, read_case, story_type, told_facts
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.text import ask, synthetic_line
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import Format, Place, Spot, with_places
from storyproof.formats.lines import first_line
from storyproof.formats.patches import Changes, Write

BESIDE = ("text_query", "text_target", "clean_story", "node_mapping")  # columns that examples have not, as they stand
_SCHEMA = pa.schema(
    [
        *plain_schema(KINSHIP_SCHEMA),
        *((name, pa.string()) for name in ("syn_story", *BESIDE)),
        ("problems", pa.list_(pa.string())),
    ]
)
_PUBLISHED = {"answer": "target", "edges": "story_edges", "question_type": "task_name", "split": "task_split"}
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


class ClutrrFormat(Format):
    """CLUTRR's published CSV."""

    name = "clutrr"
    suffixes = (".csv",)
    opening = "the columns of CLUTRR"
    short_name = "csv"
    family = "kinship"

    def recognise(self, path: Path) -> bool:
        """Return whether the first line names columns of CLUTRR."""
        named = next(csv.reader([first_line(path)]), [])
        return {"story", "target", "story_edges"} <= set(named)

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file; fields that do not fit the rest of their row are listed in the column `problems`."""
        return read_csv(path, rows, places)

    def locate(self, path: Path, column: str, place: Place) -> Spot:
        """Return where a value stands, under the published name of its column."""
        return Spot(path.name, place.line, _PUBLISHED.get(column, column))

    def writer(self, folder: Path, split: str) -> ClutrrSplit:
        """Return what writes a file, and one for each scenario of the test split."""
        return ClutrrSplit(folder, split)

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Replace fields in the text of their records, quoted as they were; columns are added at the end."""
        return {path.name: lambda file: file.writelines(patched_records(path, changes))}


class ClutrrSplit:
    """Writes one split: training and validation into one file, the test rows into one for each scenario."""

    def __init__(self, folder: Path, split: str) -> None:
        self._folder = folder
        self._split = split
        self._tasks: dict[str, None] = {}
        self._files: dict[str, TextIO] = {}
        self._writers: dict[str, Any] = {}
        self._rows: dict[str, int] = {}

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        for row in table.to_pylist():
            task = row["question_type"].removeprefix("task_")
            self._tasks[task] = None
            name = task if self._split == "test" else "all"
            if name not in self._files:
                path = self._folder / f"{name}_{self._split}.csv"
                self._files[name] = path.open("w", encoding="utf-8", newline="")
                self._writers[name] = csv.writer(self._files[name], lineterminator="\n")
                self._writers[name].writerow(COLUMNS)
                self._rows[name] = 0
            written = _published(row)
            self._writers[name].writerow([self._rows[name], *(written[column] for column in COLUMNS[1:])])
            self._rows[name] += 1

    def close(self) -> list[Path]:
        """Finish the files and return them."""
        for file in self._files.values():
            file.close()
        paths = []
        for name in self._files:
            path = self._folder / f"{name}_{self._split}.csv"
            if name == "all":  # called after all that is in it, which is known by now
                tasks = sorted(self._tasks, key=lambda task: [int(part) for part in task.split(".")])
                path = path.rename(self._folder / f"{','.join(tasks)}_{self._split}.csv")
            paths.append(path)
        return paths


def _published(row: dict[str, Any]) -> dict[str, str]:
    """Give a row in the published columns."""
    case = read_case(row)
    lines = row["story"].split("\n")
    facts = told_facts(case, lines, row["placeholders"])
    place = {fact: number for number, fact in enumerate(case.facts)}
    told = [(line, frozenset(place[fact] for fact in each)) for line, each in zip(lines, facts, strict=True)]
    words = row["edge_types"]
    return {
        "id": row["id"],
        "story": _bracketed(" ".join(lines), case.names),
        "query": repr(tuple(row["query"])),
        "text_query": "",
        "target": row["answer"],
        "text_target": repr([target_texts(case, row["answer"])[0]]),
        "clean_story": clean_story(case, told),
        "proof_state": repr(_proof_state(case, row, words)),
        "f_comb": "-".join(words[: case.k]),
        "task_name": row["question_type"],
        "story_edges": repr([tuple(edge) for edge in row["edges"]]),
        "edge_types": repr(words),
        "query_edge": repr(case.asked),
        "genders": ",".join(row["genders"]),
        "syn_story": ""
        if _foreign(row["placeholders"])
        else _bracketed(
            " ".join(
                _filled(synthetic_line(_key(case, place[fact], words)), case, fact) for line in facts for fact in line
            ),
            case.names,
        ),
        "node_mapping": node_mapping(case),
        "task_split": row["split"],
    }


def _foreign(placeholders: Sequence[str]) -> bool:
    """Say whether a story is told in other people's placeholders, so that its text cannot be read back from a CSV."""
    return any(not each.rpartition("/")[2].isdecimal() for each in placeholders)


def _key(case: Case, place: int, words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, second = case.edges[place]
    return (words[place],), (case.genders[first], case.genders[second])


def _filled(template: str, case: Case, fact: Any) -> str:
    for slot, person in enumerate((fact.first, fact.second)):
        template = template.replace(f"ENT_{slot}_{case.genders[person]}", case.names[person])
    return template


def target_texts(case: Case, answer: str) -> list[str]:
    """Word the answer itself: by the first placeholder there is, and plainly."""
    key = (answer,), (case.genders[case.asked[0]], case.genders[case.asked[1]])
    templates = (*ours().templates.get(key, ())[:1], synthetic_line(key))
    return [_bracketed(_filled(each, case, case.query), case.names) for each in templates]


def clean_story(case: Case, told: Sequence[Telling]) -> str:
    """Tell the chain alone, in its order, in the words of the story."""
    in_order = sorted(told, key=lambda each: min(each[1]))
    return _bracketed(" ".join(text for text, facts in in_order if min(facts) < case.k), case.names)


def node_mapping(case: Case) -> str:
    """Say who is who in the family that the story was cut from; ours has nobody else."""
    return repr({number: number for number in range(len(case.names))})


def _bracketed(text: str, names: Sequence[str]) -> str:
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w@])({any_name})(?![\w-])", r"[\1]", text)


def _proof_state(case: Case, row: dict[str, Any], words: Sequence[str]) -> list[dict[Any, Any]]:
    """Give the proof as published: a dictionary a step, from the top down."""
    known = {(first, second): told for (first, second), told in zip(case.edges, words, strict=True)}
    known |= {(step[0], step[2]): told for step, told in zip(row["proof_steps"], row["proof_relations"], strict=True)}

    def triple(first: int, second: int) -> tuple[str, str, str]:
        return case.names[first], known[first, second], case.names[second]

    return [
        {triple(first, second): [triple(first, via), triple(via, second)]} for first, via, second in row["proof_steps"]
    ]


def read_csv(path: Path, rows: int, places: bool = False) -> Iterator[pa.Table]:
    """Read a file in tables of so many rows.

    Args:
        path: The file.
        rows: How many rows a table has.
        places: Add the column `place`.

    Raises:
        DataError: If its columns are not those of CLUTRR, or a field cannot be read; the message names row and column.
    """
    records = read_records(path)
    header = next(records).fields
    found = _numbered(_example(path, read_row(path, record, header)) for record in records if record.fields)
    done = 0
    while part := list(islice(found, rows)):
        table = pa.Table.from_pylist(part, schema=_SCHEMA)
        yield with_places(table, done, [row["line"] for row in part]) if places else table
        done += len(part)


def _numbered(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Note where the first column does not count the rows; of rows of our making only, and some may be left out.

    As rows are left out the numbers run ahead of the rows, ever further, but in step with the numbers in the ids.
    """
    first, last, ahead = (0, 0), (0, 0), 0
    for place, row in enumerate(rows):
        given = row.pop("index")
        if given is not None and story_of_id(row["id"]):
            index, number = int(given) if given.isdecimal() else -1, int(row["id"][-11:-2])
            strays = (index - first[0]) * (last[1] - first[1]) != (number - first[1]) * (last[0] - first[0])
            if not ahead <= index - place <= number - place or (index != place > 1 and strays):
                row["problems"].append(f"index: {given}")
            first, last, ahead = (index, number) if not place else first, (index, number), index - place
        yield row


def _example(path: Path, row: Row) -> dict[str, Any]:
    """Read one row into the columns of an example.

    Raises:
        DataError: If it speaks of people whom it does not have.
    """
    fields, asked = row.fields, _numbers(row.names, row.query)
    for name, pairs in (("story_edges", row.edges), ("query_edge", [row.query_edge])):
        for pair in pairs:
            if not all(0 <= person < len(row.names) for person in pair):
                form = f"pairs of {len(row.names)} people, counted from 0, not {pair!r}"
                refuse(path, row.record, f"{name} is '{fields[name]}', expected {form}")
    noise = noise_types(row.edges, row.k)
    unnamed = f"{path.stem}-{row.record.row}"
    return {
        "id": fields["id"] or unnamed,
        "story_id": story_of_id(fields["id"]) or fields["id"] or unnamed,
        "benchmark": "clutrr",
        "split": fields["task_split"] if fields["task_split"] in SPLITS else None,
        "story": _BRACKETS.sub(r"\1", fields["story"]),
        "question": ask(*row.query),
        "answer": fields["target"],
        "question_type": fields["task_name"],
        "order": 0,
        "chain": [],
        "story_type": story_type(noise, (asked[0], asked[1]), row.edges),
        "false_belief": False,
        "k": row.k,
        "task": row.task,
        "query": list(row.query),
        "genders": fields["genders"].split(","),
        "edges": [list(edge) for edge in row.edges],
        "edge_types": list(row.types),
        "noise_types": noise,
        "pattern": " ".join(predicate_of(told) for told in row.types[: row.k] if told in WORDS),
        "proof_steps": [_step(path, row, step) for step in row.proof],
        "proof_relations": [step.head[1] for step in row.proof],
        "index": fields.get(""),
        "line": row.record.line,
        "syn_story": _BRACKETS.sub(r"\1", fields.get("syn_story", "")),
        **{name: fields.get(name) for name in BESIDE},
        "problems": [*_problems(row), *_loose_halves(row)],
    }


def _numbers(names: Sequence[str], some: Sequence[str]) -> list[int]:
    """Give people's numbers; -1 for somebody unknown."""
    return [names.index(name) if name in names else -1 for name in some]


def _step(path: Path, row: Row, step: ProofStep) -> list[int]:
    """Give a step of the proof as three people: about whom, by way of whom, and who they are to them."""
    numbers = _numbers(row.names, (step.head[0], step.left[2], step.head[2]))
    if -1 in numbers:
        form = "{(a, r, c): [(a, r1, b), (b, r2, c)]} with known names"
        refuse(path, row.record, f"proof_state has {{{step.head}: [{step.left}, {step.right}]}}, expected {form}")
    return numbers


def _problems(row: Row) -> Iterator[str]:
    """Say which fields do not fit the rest of the row; each with the name of the field first."""
    fields = row.fields
    first, second = _numbers(row.names, row.query)
    if fields["query_edge"].replace(" ", "") != f"({first},{second})":
        yield f"query_edge: {fields['query_edge']}"
    if fields["task_split"] not in SPLITS:
        yield f"task_split: {fields['task_split']}"
    if fields["f_comb"] != "-".join(row.types[: row.k]):
        yield f"f_comb: {fields['f_comb']}"


def _loose_halves(row: Row) -> Iterator[str]:
    """Find steps of a proof whose halves are neither told nor concluded elsewhere."""
    told = zip(row.edges, row.types, strict=False)
    known = {(row.names[first], word, row.names[second]) for (first, second), word in told}
    known |= {step.head for step in row.proof}
    for (first, _, second), one, other in row.proof:
        if (one[0], other[2], one[2]) != (first, second, other[0]) or not {one, other} <= known:
            yield f"proof_state: {one} and {other}"


FORMAT = ClutrrFormat()
