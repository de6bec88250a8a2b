"""CLUTRR's published CSV: one file for training (`1.2,1.3_train.csv`), one a test scenario (`1.2_test.csv`, …).

Names stand in brackets, the story is one running text, and edges are numbered by the order of `genders`. What the
published form has no column for (placeholders, types of noise, status) is worked out again when it is read, or left
null.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import KINSHIP_SCHEMA, SPLITS, plain_schema, story_of_id
from storyproof.kinship.placeholders import ours
from storyproof.kinship.relations import WORDS, predicate_of
from storyproof.kinship.rows import TASKS_BY_NUMBER, Case, noise_types, read_case, story_type, told_facts
from storyproof.kinship.text import ask, synthetic_line

COLUMNS = (
    "",
    "id",
    "story",
    "query",
    "text_query",
    "target",
    "text_target",
    "clean_story",
    "proof_state",
    "f_comb",
    "task_name",
    "story_edges",
    "edge_types",
    "query_edge",
    "genders",
    "syn_story",
    "node_mapping",
    "task_split",
)
_SCHEMA = pa.schema([*plain_schema(KINSHIP_SCHEMA), ("syn_story", pa.string()), ("problems", pa.list_(pa.string()))])
_MOST_FACTS = 100
_TASK_NAME = re.compile(r"task_(\d)\.(\d+)")
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


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
        """Finish the files; gives what was written."""
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
    first = [min(place[fact] for fact in line) for line in facts]
    clean = [lines[number] for number in sorted(range(len(lines)), key=first.__getitem__) if first[number] < case.k]
    words = row["edge_types"]
    return {
        "id": row["id"],
        "story": _bracketed(" ".join(lines), case.names),
        "query": repr(tuple(row["query"])),
        "text_query": "",
        "target": row["answer"],
        "text_target": repr([_target_text(case, row["answer"])]),
        "clean_story": _bracketed(" ".join(clean), case.names),
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
        "node_mapping": repr({number: number for number in range(len(case.names))}),
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


def _target_text(case: Case, answer: str) -> str:
    """Word the answer itself by the first placeholder there is."""
    key = (answer,), (case.genders[case.asked[0]], case.genders[case.asked[1]])
    template = (*ours().templates.get(key, ()), synthetic_line(key))[0]
    return _bracketed(_filled(template, case, case.query), case.names)


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


def read_csv(path: Path, rows: int) -> Iterator[pa.Table]:
    """Read a file in tables of so many rows.

    Raises:
        DataError: If its columns are not those of CLUTRR, or a field cannot be read; the message names row and column.
    """
    waiting: list[dict[str, Any]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            _check_columns(path, reader.fieldnames or [])
            for number, record in enumerate(reader):
                waiting.append(_example(record, f"{path}, row {number}", f"{path.stem}-{number}"))
                if len(waiting) == rows:
                    yield pa.Table.from_pylist(waiting, schema=_SCHEMA)
                    waiting = []
    except (OSError, UnicodeError, csv.Error) as error:
        raise DataError(f"cannot read {path}: {error}.") from error
    if waiting:
        yield pa.Table.from_pylist(waiting, schema=_SCHEMA)


def _check_columns(path: Path, found: Sequence[str]) -> None:
    needed = [name for name in COLUMNS if name not in ("", "text_query", "text_target", "syn_story", "node_mapping")]
    for name in needed:
        if found.count(name) != 1:
            raise DataError(
                f"{path} has {found.count(name) or 'no'} column{'s' * (found.count(name) > 1)} '{name}'; expected the "
                f"columns of CLUTRR: {', '.join(needed)}."
            )


def _problems(record: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Say which fields do not fit the rest of the row; each with the name of the field first."""
    names = [each.split(":")[0] for each in found["genders"]]
    problems = []
    edge = [names.index(name) if name in names else -1 for name in found["query"]]
    if record["query_edge"].replace(" ", "") != f"({edge[0]},{edge[1]})":
        problems.append(f"query_edge: {record['query_edge']}")
    if record["task_split"] not in SPLITS:
        problems.append(f"task_split: {record['task_split']}")
    if record["f_comb"] != "-".join(found["edge_types"][: found["k"]]):
        problems.append(f"f_comb: {record['f_comb']}")
    return problems + _loose_halves(record, found, names)


def _loose_halves(record: dict[str, Any], found: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Find steps of a proof whose halves are neither told nor concluded elsewhere."""
    known: set[tuple[str, str, str]] = set()
    for (first, second), told in zip(found["edges"], found["edge_types"], strict=False):
        if 0 <= first < len(names) and 0 <= second < len(names):
            known.add((names[first], told, names[second]))
    steps = [next(iter(step.items())) for step in ast.literal_eval(record["proof_state"])]
    known |= {conclusion for conclusion, _ in steps}
    loose = []
    for (first, _, second), (one, other) in steps:
        if (one[0], other[2], one[2]) != (first, second, other[0]) or not {tuple(one), tuple(other)} <= known:
            loose.append(f"proof_state: {one} and {other}")
    return loose


def _example(record: dict[str, Any], where: str, unnamed: str) -> dict[str, Any]:
    """Read one row into the columns of an example."""
    if None in record or None in record.values():
        raise DataError(f"{where}: it has another number of fields than the header.")
    match = _TASK_NAME.fullmatch(record["task_name"])
    if match is None or int(match[1]) not in TASKS_BY_NUMBER:
        raise DataError(f"{where}: task_name is '{record['task_name']}', expected task_T.k.")
    k = int(match[2])
    if not 0 < k <= _MOST_FACTS:
        raise DataError(f"{where}: task_name is '{record['task_name']}', expected a length from 1 to {_MOST_FACTS}.")
    names = [each.split(":")[0] for each in record["genders"].split(",")]
    edges = [list(edge) for edge in _pairs(record, "story_edges", len(names), where)]
    _pair(_literal(record, "query_edge", tuple, where), record, "query_edge", len(names), where)
    types = _texts(record, "edge_types", where)
    query = list(_literal(record, "query", tuple, where))
    steps, relations = _proof(record, names, where)
    if len(query) != 2 or not all(isinstance(name, str) for name in query):
        raise DataError(f"{where}: query is {record['query']}, expected two names.")
    noise = noise_types([(edge[0], edge[1]) for edge in edges if len(edge) == 2], k)
    asked = tuple(names.index(name) if name in names else -1 for name in query)
    found = {
        "id": record["id"] or unnamed,
        "story_id": story_of_id(record["id"]) or record["id"] or unnamed,
        "benchmark": "clutrr",
        "split": record["task_split"] if record["task_split"] in SPLITS else None,
        "story": _BRACKETS.sub(r"\1", record["story"]),
        "question": ask(*query),
        "answer": record["target"],
        "question_type": record["task_name"],
        "order": 0,
        "chain": [],
        "story_type": story_type(noise, (asked[0], asked[1]), [(edge[0], edge[1]) for edge in edges]),
        "false_belief": False,
        "k": k,
        "task": TASKS_BY_NUMBER[int(match[1])],
        "query": query,
        "genders": record["genders"].split(","),
        "edges": edges,
        "edge_types": types,
        "noise_types": noise,
        "pattern": " ".join(predicate_of(told) for told in types[:k] if told in WORDS),
        "proof_steps": steps,
        "proof_relations": relations,
        "syn_story": _BRACKETS.sub(r"\1", record.get("syn_story") or ""),
    }
    return {**found, "problems": _problems(record, found)}


def _pairs(record: dict[str, Any], name: str, people: int, where: str) -> list[tuple[int, int]]:
    """Read a list of pairs of people."""
    return [_pair(each, record, name, people, where) for each in _literal(record, name, list, where)]


def _pair(found: Any, record: dict[str, Any], name: str, people: int, where: str) -> tuple[int, int]:
    if (
        not isinstance(found, tuple)
        or len(found) != 2
        or any(type(person) is not int or not 0 <= person < people for person in found)
    ):
        raise DataError(
            f"{where}: {name} is '{record[name]}', expected pairs of {people} people, counted from 0, not {found!r}."
        )
    return found[0], found[1]


def _texts(record: dict[str, Any], name: str, where: str) -> list[str]:
    """Read a list of texts."""
    found: list[str] = _literal(record, name, list, where)
    for each in found:
        if not isinstance(each, str):
            raise DataError(f"{where}: {name} has {each!r}, expected text.")
    return found


def _literal(record: dict[str, Any], name: str, kind: type, where: str) -> Any:
    try:
        found = ast.literal_eval(record[name])
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise DataError(f"{where}: {name} is '{record[name]}', expected a Python {kind.__name__}.") from error
    if not isinstance(found, kind):
        raise DataError(f"{where}: {name} is '{record[name]}', expected a Python {kind.__name__}.")
    return found


def _proof(record: dict[str, Any], names: Sequence[str], where: str) -> tuple[list[list[int]], list[str]]:
    """Read the proof; steps come from the top down."""
    steps, relations = [], []
    for step in _literal(record, "proof_state", list, where):
        try:
            (((first, told, second), ((_, _, via), (_, _, _))),) = step.items()
            if not isinstance(told, str):
                raise TypeError(told)
            steps.append([names.index(first), names.index(via), names.index(second)])
        except (AttributeError, TypeError, ValueError) as error:
            raise DataError(
                f"{where}: proof_state has {step}, expected {{(a, r, c): [(a, r1, b), (b, r2, c)]}} with known names."
            ) from error
        relations.append(told)
    return steps, relations
