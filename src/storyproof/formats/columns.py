"""Which columns of somebody else's file hold story, question and answer: as users say, or as names suggest.

A *record* is what a file holds per line or object. A column is a path in a record, such as `question`, `data.0.context`
or `qas.*.question`, in which `*` stands for all items of a list. A record whose question is in a list has one row per
item; what the items lack, such as the story, is taken from around them.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from storyproof.errors import ConfigError, DataError, UnknownNameError, quoted
from storyproof.example import REQUIRED
from storyproof.io.bounded_input import has_surrogate

ROLES = (*REQUIRED, "choices", "id", "split")
_NAMES: Mapping[str, tuple[str, ...]] = {  # what others call columns, the most certain names first
    "story": (
        *("story", "passage", "context", "narrative", "fullcontext", "shortcontext", "storytext", "scenario", "plot"),
        *("paragraph", "premise", "article", "conversation", "dialogue", "document", "background", "text", "故事"),
    ),
    "question": ("question", "query", "questiontext", "q", "stem", "ask", "problem", "问题"),
    "answer": (
        *("answer", "target", "label", "correctanswer", "answerkey", "goldanswer", "gold", "groundtruth", "ideal"),
        *("answertext", "correct", "solution", "answers", "output", "response", "a", "答案"),
    ),
    "choices": ("choices", "options", "candidates", "cands", "alternatives", "answerchoices", "选项"),
    "id": ("id", "uid", "qid", "guid", "uuid", "exampleid", "questionid", "rowid", "index", "sampleid", "序号"),
    "split": ("split",),
}
_CHOICE = re.compile(r"(?:option|choice|opt|answer|ans|选项)[\s_.-]*([a-j]|\d{1,2})", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPTION = re.compile(r"(?:^|[\s,;|])\(?([A-Z]|\d{1,2})[.):]\s*")  # "A. box, B. jar" and "(A) box (B) jar"
_LABEL = re.compile(r"\(?([A-Za-z]|\d{1,2})[.):]?\)?(?:\s.*)?")
_SEPARATOR = re.compile(r"[*_=#~-]{3,}")
_INSTRUCTION = re.compile(r"\b(?:story|question|questions|answer|passage|multiple[- ]choice)\b", re.IGNORECASE)
_DEEPEST = 6  # levels of a record in which columns are looked for
_MOST_LEAVES = 1_000  # columns of a record
_SAMPLE_ITEMS = 3  # of a list
ITEM = "*"
Path = tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """Where a file has what rows need, as paths; empty for what it does not have.

    Attributes:
        story: The text; several sentences may be a list.
        question: What is asked about it.
        answer: The answer, the letter of a choice or its number from 0; several accepted answers may be a list.
        choices: The answers to choose from: a list, `A. box, B. jar`, or one column for each.
        id: What findings call a row.
        split: train, val or test.
    """

    story: Path = ()
    question: Path = ()
    answer: Path = ()
    choices: tuple[Path, ...] = ()
    id: Path = ()
    split: Path = ()

    def named(self) -> dict[str, str]:
        """Return the columns as people read them, by what they hold."""
        names = {role: name_of_path(getattr(self, role)) for role in ROLES if role != "choices"}
        names["choices"] = "+".join(map(name_of_path, self.choices))
        return {role: names[role] for role in ROLES if names[role]}

    @cached_property
    def names(self) -> tuple[str, str, str, str, str] | None:
        """The columns of story, question, answer, id and split, empty if there is none; None if any is nested."""
        needed, others = (self.story, self.question, self.answer), (self.id, self.split)
        is_plain = all(len(each) == 1 for each in needed) and all(len(each) < 2 for each in others)
        if self.choices or not is_plain or not {"", ITEM}.isdisjoint(sum((*needed, *others), ())):
            return None
        story, question, answer, name, split = ("".join(each) for each in (*needed, *others))
        return story, question, answer, name, split

    @property
    def firsts(self) -> set[str]:
        """The outermost columns that are needed."""
        paths = [*(path for name, path in asdict(self).items() if name != "choices"), *self.choices]
        return {path[0] for path in paths if path}


class NoColumnsError(DataError):
    """A file in which no column for a story or a question is found.

    Attributes:
        found: What it has instead, for commands without `--columns`.
    """

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found

    def __str__(self) -> str:
        return f"{self.found}. Name them with --columns story=NAME,question=NAME,answer=NAME."


class RowValues(NamedTuple):
    """What a row of a record says.

    Attributes:
        story: Its text, one sentence per line if the file has a list of sentences; None if there is none.
        question: What is asked; None if there is nothing.
        answer: The accepted answers, one per line, as texts of choices if they are letters; None if there is none.
        choices: The choices as (label, text).
        id: What the file calls it; None if nothing.
        split: Its split as the file says.
        answer_at: The path at which the record has the answer, its items numbered.
        written: The answer as it stands there.
        problem: Why it cannot be judged: what is lacking, and a message. Empty if it can be.
    """

    story: str | None
    question: str | None
    answer: str | None
    choices: tuple[tuple[str, str], ...]
    id: str | None
    split: str | None
    answer_at: Path
    written: Any
    problem: tuple[str, str]


def name_of_path(path: Path) -> str:
    """Return a path as people write it."""
    return ".".join(" ".join(part.split()) for part in path)


# What users say.


def parse_consistent(text: str | Sequence[str]) -> tuple[str, ...]:
    """Read the names of columns that must agree: `answer,answer_text`.

    Raises:
        ConfigError: If these are not two or more.
    """
    names = tuple(part.strip() for part in (text.split(",") if isinstance(text, str) else text))
    if len(names) < 2 or not all(names):
        raise ConfigError(f"--consistent is {quoted(text)}; expected two or more columns, such as answer,answer_text.")
    return names


def parse_columns(text: str | Mapping[str, str]) -> dict[str, str]:
    """Read what users say: `story=passage,question=query,answer=label,choices=options`, or the same as a dictionary.

    Raises:
        ConfigError: If it is not in this form.
        UnknownNameError: If it names something else than story, question, answer, choices, id or split.
    """
    if isinstance(text, Mapping):
        for role in text:
            if role not in ROLES:
                raise UnknownNameError("column of a row", str(role), ROLES)
        return {role: str(name) for role, name in text.items()}
    pairs: dict[str, str] = {}
    last = ""
    for part in text.split(","):
        role, sign, name = part.partition("=")
        if not sign and last:  # a name with a comma
            pairs[last] += f",{part}"
            continue
        last = role.strip()
        if not sign:
            raise ConfigError(f"--columns is {quoted(text)}; expected story=NAME,question=NAME,answer=NAME.")
        if last not in ROLES:
            raise UnknownNameError("column of a row", last, ROLES)
        if last in pairs:
            raise ConfigError(f"--columns names '{last}' twice; name each once.")
        pairs[last] = name.strip()
    return pairs


def find_columns(records: Sequence[Mapping[str, Any]], given: Mapping[str, str], where: str) -> list[Columns]:
    """Return the columns of a file, several if its records have several kinds of questions.

    Args:
        records: Some of its records.
        given: What users said, by role; an empty name says that there is no such column.
        where: The file, for messages.

    Raises:
        DataError: If there is no such column.
        NoColumnsError: If neither a story nor a question is found.
    """
    leaves = _Leaves(records)
    fixed: dict[str, Any] = {}
    for role, name in given.items():
        if role == "choices":
            fixed[role] = tuple(path for part in name.split("+") if part for path in leaves.find_all(part, where))
        else:
            fixed[role] = leaves.find(name, where) if name else ()
    guesses = _guess(leaves, fixed)
    if not any(each.story or each.question for each in guesses):
        known = ", ".join(map(name_of_path, leaves.paths)) or "nothing"
        raise NoColumnsError(f"{where}: no column for a story or a question is found; it has: {known}")
    return guesses


def find_paths(records: Sequence[Mapping[str, Any]], names: Sequence[str], where: str) -> list[Path]:
    """Return the columns that users mean by some names.

    Raises:
        DataError: If there is no such column, naming those there are.
    """
    leaves = _Leaves(records)
    return [leaves.find(name, where) for name in names]


def values_at(record: Mapping[str, Any], path: Path) -> list[str]:
    """Return the values at a path as texts."""
    values = [item for each in _at(record, path) for item in (each if isinstance(each, list) else [each])]
    return [each if isinstance(each, str) else json.dumps(each, default=str) for each in values]


class _Leaves:
    """The columns of some records with what they hold.

    Attributes:
        paths: All columns, in their order; lists and objects too.
    """

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.records = records
        values: dict[Path, list[Any]] = {}
        for record in records:
            for path, value in _walk(record, ()):
                if path in values or len(values) < _MOST_LEAVES:
                    values.setdefault(path, []).append(value)
        self.paths = [path for path, found in values.items() if not any(isinstance(each, dict) for each in found)]
        self._values = values

    def texts(self, path: Path) -> list[str]:
        """Return the texts at a path that are not empty."""
        return [each for each in self._values.get(path, ()) if isinstance(each, str) and each.strip()]

    def values(self, path: Path) -> list[Any]:
        """Return what stands at a path."""
        return [each for each in self._values.get(path, ()) if each not in (None, "", [], {})]

    def all_paths(self) -> list[Path]:
        """Return all paths, also of objects."""
        return list(self._values)

    def find(self, name: str, where: str) -> Path:
        """Return the path that users mean by a name.

        Raises:
            DataError: If there is none, naming those there are.
        """
        for path in self._values:
            if name in (path[-1] if len(path) == 1 else "", name_of_path(path), ".".join(path)):
                return path
        numbered = tuple(name.split("."))
        if any(next(_at(record, numbered), None) is not None for record in self.records):
            return numbered  # an item of a list
        raise self._unknown(name, where)

    def find_all(self, name: str, where: str) -> list[Path]:
        """Return the paths that users mean by a name, in which `*` at the end stands for any rest."""
        if name.endswith("*") and not name.endswith(".*"):
            paths = [path for path in self.paths if name_of_path(path).startswith(name[:-1])]
            if not paths:
                raise self._unknown(name, where)
            return paths
        return [self.find(name, where)]

    def _unknown(self, name: str, where: str) -> DataError:
        known = [name_of_path(path) for path in self.paths]
        hint = UnknownNameError("column", name, known)
        return DataError(f"{where}: {hint} Check --columns.")


def _walk(value: Mapping[str, Any], before: Path) -> Iterator[tuple[Path, Any]]:
    """Yield all values within a record with their paths; of lists of objects the first few items."""
    for key, child in value.items():
        path = (*before, str(key))
        yield path, child
        if len(path) >= _DEEPEST:
            continue
        if isinstance(child, dict):
            yield from _walk(child, path)
        elif isinstance(child, list) and child and all(isinstance(each, dict) for each in child[:_SAMPLE_ITEMS]):
            for each in child[:_SAMPLE_ITEMS]:
                yield from _walk(each, (*path, ITEM))


def _guess(leaves: _Leaves, fixed: Mapping[str, Any]) -> list[Columns]:
    """Return the columns that names and contents suggest, but for those that are fixed."""
    questions = [fixed["question"]] if "question" in fixed else _guess_questions(leaves)
    candidates: list[Columns] = []
    for question in questions or [()]:
        taken = {question, *(path for role, path in fixed.items() if role != "choices")}
        story = fixed["story"] if "story" in fixed else _guess_story(leaves, question, taken)
        taken.add(story)
        columns = Columns(story, question)
        choices = fixed["choices"] if "choices" in fixed else _guess_choices(leaves, question, taken)
        columns = replace(columns, choices=choices)
        taken |= set(choices)
        answer = fixed["answer"] if "answer" in fixed else _guess_answer(leaves, columns, taken)
        columns = replace(columns, answer=answer)
        if not choices and "choices" not in fixed:
            columns = replace(columns, choices=_guess_listed_choices(leaves, columns, {*taken, answer}))
        name, split = (
            fixed[role] if role in fixed else _best_named(leaves, role, question, {*taken, answer})
            for role in ("id", "split")
        )
        candidates.append(replace(columns, id=name, split=split))
    answered = [each for each in candidates if each.answer]
    return answered or candidates[:1]


def _guess_questions(leaves: _Leaves) -> list[Path]:
    """Return the columns of questions: those of one name, in whatever object they are."""
    named = [path for path in leaves.paths if _rank("question", path) is not None and leaves.texts(path)]
    if named:
        best = min(named, key=lambda path: (_rank("question", path), len(path)))
        return [path for path in named if _key(path[-1]) == _key(best[-1])]
    asking = [path for path in leaves.paths if (texts := leaves.texts(path)) and _asks(texts)]
    return asking[:1]


def _asks(texts: Sequence[str]) -> bool:
    ends = sum(each.rstrip().endswith(("?", "？")) for each in texts)
    return ends >= 0.6 * len(texts) and sum(map(len, texts)) < 400 * len(texts)


def _guess_story(leaves: _Leaves, question: Path, taken: set[Path]) -> Path:
    named = _best_named(leaves, "story", question, taken)
    if named:
        return named
    lengths = {
        path: sum(map(len, texts)) / len(texts)
        for path in leaves.paths
        if path not in taken and _is_around(path, question) and (texts := leaves.texts(path)) and not _asks(texts)
    }
    long = {path: length for path, length in lengths.items() if length >= 80}
    return max(long, key=lambda path: long[path]) if long else ()


def _guess_answer(leaves: _Leaves, columns: Columns, taken: set[Path]) -> Path:
    named = _best_named(leaves, "answer", columns.question, taken)
    if named or not columns.question:
        return named
    if not columns.story and not columns.choices:
        return ()
    shares = {}
    for path in leaves.paths:
        if path in taken or not _is_around(path, columns.question) or _rank("id", path) is not None:
            continue
        rows = [row for record in leaves.records for row in rows_of(record, replace(columns, answer=path))]
        filled = [row for row in rows if row.answer and len(row.answer) <= 60]
        fitting = sum(
            any(folded(row.answer or "") == folded(text) for _, text in row.choices)
            or folded(row.answer or "") in folded(row.story or "")
            for row in filled
        )
        if filled and len(filled) >= 0.8 * len(rows):
            shares[path] = fitting / len(filled)
    best = max(shares, key=lambda path: shares[path], default=())
    return best if shares.get(best, 0) >= 0.6 else ()


def _guess_choices(leaves: _Leaves, question: Path, taken: set[Path]) -> tuple[Path, ...]:
    lettered: dict[tuple[Path, str], list[Path]] = {}
    for path in leaves.paths:
        match = _CHOICE.fullmatch(" ".join(path[-1].split()))
        letter = match[1] if match else path[-1] if path[-1] in ("A", "B", "C", "D", "E") else ""
        if letter and path not in taken and _is_around(path, question):
            lettered.setdefault((path[:-1], path[-1][: -len(letter)]), []).append(path)
    named = _best_named(leaves, "choices", question, taken)
    several = max(lettered.values(), key=lambda paths: (len(paths), paths[0][-1].isascii()), default=[])
    if named or len(several) < 2:
        return (named,) if named else ()
    return tuple(several)


def _guess_listed_choices(leaves: _Leaves, columns: Columns, taken: set[Path]) -> tuple[Path, ...]:
    """Return the column of lists in which the answers are, under whatever name."""
    if not columns.answer:
        return ()
    for path in leaves.paths:
        if path in taken or not _is_around(path, columns.question):
            continue
        rows = [row for record in leaves.records for row in rows_of(record, replace(columns, choices=(path,)))]
        listed = [row for row in rows if len(row.choices) > 1 and row.answer]
        fitting = sum(any(folded(row.answer or "") == folded(text) for _, text in row.choices) for row in listed)
        if listed and len(listed) >= 0.8 * len(rows) and fitting >= 0.8 * len(listed):
            return (path,)
    return ()


def _best_named(leaves: _Leaves, role: str, question: Path, taken: set[Path]) -> Path:
    """Return the column that is called after a role, nearest to the question; empty if there is none."""
    paths = leaves.all_paths() if role in ("choices", "answer") else leaves.paths
    named = [
        path
        for path in paths
        if path not in taken
        and _rank(role, path) is not None
        and (role == "answer" or not any(_rank("answer", (step,)) is not None for step in path[:-1]))
        and _is_around(path, question, inside=role in ("choices", "answer", "id"))
        and leaves.values(path)
        and (role != "answer" or not isinstance(value := leaves.values(path)[0], dict) or "text" in value)
    ]
    return min(named, key=lambda path: (-_shared(path, question), _rank(role, path), len(path)), default=())


def _is_around(path: Path, question: Path, *, inside: bool = True) -> bool:
    """Return whether a column belongs to every question: it is in an object around it, or in the object of it."""
    listed = len(path) - 1 - path[::-1].index(ITEM) if ITEM in path else -1
    return path[: listed + 1] == question[: listed + 1] or (inside and path[: len(question) - 1] == question[:-1])


def _shared(path: Path, question: Path) -> int:
    """Return how many steps two paths have in common."""
    count = 0
    for one, other in zip(path[:-1], question[:-1], strict=False):
        if one != other:
            break
        count += 1
    return count


def _key(name: str) -> str:
    return "".join(_WORD.findall(name.casefold()))


def _rank(role: str, path: Path) -> int | None:
    """Return how certain it is that a column is called after a role, from 0; None if it is not."""
    places = [_NAMES[role].index(each) for each in _keys(path[-1]) if each in _NAMES[role]]
    return min(places, default=None)


@lru_cache(maxsize=4096)
def _keys(name: str) -> tuple[str, ...]:
    """Return a name without case and signs: the whole, and its lines."""
    return tuple(dict.fromkeys([_key(name), *map(_key, name.splitlines())]))


# What rows say.


def row_hash(story: str | None, question: str | None) -> str:
    """Return what names a row by its story and question: the same whatever breaks its lines and sets its case."""
    text = f"{_hashed(story or '')}\n{_hashed(question or '')}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@lru_cache(maxsize=4)  # rows about one story stand together
def _hashed(text: str) -> str:
    return " ".join(text.split()).casefold()


def rows_of(record: Mapping[str, Any], columns: Columns) -> Iterator[RowValues]:
    """Yield the rows of a record: one, or one for each item if the question is in a list."""
    plain = _plain_row(record, columns)
    if plain is not None:
        yield plain
        return
    for bound in _bindings(record, columns.question or columns.answer or columns.story):
        yield _row(record, columns, bound)


def _bindings(record: Any, path: Path) -> Iterator[Path]:
    """Yield a path with the items of lists numbered."""
    for place, step in enumerate(path):
        if step != ITEM:
            continue
        items = next(_at(record, path[:place]), None)
        for number in range(len(items) if isinstance(items, list) else 0):
            yield from _bindings(record, (*path[:place], str(number), *path[place + 1 :]))
        return
    yield path


def _bound(path: Path, bound: Path) -> Path:
    """Return a path in which items are those of another path as far as the two are the same."""
    other_path = list(path)
    for place, (step, other) in enumerate(zip(path, bound, strict=False)):
        if step != other and step != ITEM:
            break
        other_path[place] = other
    return tuple(other_path)


def _at(value: Any, path: Path) -> Iterator[Any]:
    """Yield what stands at a path; with `*` several values."""
    for place, step in enumerate(path):
        if isinstance(value, dict):
            if step not in value:
                return
            value = value[step]
        elif isinstance(value, list) and step == ITEM:
            for each in value:
                yield from _at(each, path[place + 1 :])
            return
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return
    yield value


def _plain_row(record: Mapping[str, Any], columns: Columns) -> RowValues | None:
    """Return what `_row` returns for three plain texts without choices, as most records are; None for any other."""
    if columns.names is None:
        return None
    story_name, question_name, answer_name, id_name, split_name = columns.names
    texts = [record.get(each) for each in (story_name, question_name, answer_name)]
    for text in texts:
        if not isinstance(text, str) or not (inner := text.strip()) or inner[0] in "[{":
            return None
    story, question, answer = texts
    name, split = (_id(record.get(each)) if each else None for each in (id_name, split_name))
    return RowValues(story, question, str(answer).strip(), (), name, split, columns.answer, answer, ("", ""))


def _row(record: Mapping[str, Any], columns: Columns, bound: Path) -> RowValues:
    def values(path: Path) -> list[Any]:
        if len(path) == 1:  # as in nearly all files
            return [record[path[0]]] if path[0] in record else []
        return list(_at(record, _bound(path, bound))) if path else []

    choices = _choices([each for path in columns.choices for each in values(path)], columns.choices)
    story, question = _text(values(columns.story)), _text(values(columns.question), " ")
    given = values(columns.answer)
    written = given[0] if len(given) == 1 else given or None
    answer = _answer(written, choices)
    names = [each for path in (columns.id, columns.split) for each in [*values(path), None][:1]]
    problem = ("", "")
    for role, value in (("answer", answer), ("question", question), ("story", story)):
        if not value or not value.strip():
            path = getattr(columns, role)
            shown = quoted(next(iter(values(path)), None))
            content = (
                f"'{name_of_path(path)}' is {shown}; expected text"
                if path
                else f"no column for the {role}; expected one, such as '{role}'"
            )
            problem = (role, content)
    return RowValues(
        story, question, answer, choices, _id(names[0]), _id(names[1]), _bound(columns.answer, bound), written, problem
    )


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def _text(values: Sequence[Any], between: str = "\n") -> str | None:
    """Return a text that may be a list of sentences, also one that is written as a list."""
    texts: list[str] = []
    for value in values:
        value = _listed(value)
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in items):
            return None
        sentences = [each.strip() for each in items] if isinstance(value, list) else items
        texts += [each if not isinstance(value, list) or each[-1:] in ".!?。" else f"{each}." for each in sentences]
    return between.join(texts) if texts else None


def _listed(value: Any) -> Any:
    """Return the list that a text is, in JSON or as Python writes it; anything else as it is."""
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] not in ("[", "{") or text[-1:] not in ("]", "}"):
        return value
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        try:
            with warnings.catch_warnings(action="ignore"):
                parsed = ast.literal_eval(text)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return value
    return parsed if isinstance(parsed, list | dict) and not has_surrogate(parsed) else value


def _choices(values: Sequence[Any], paths: Sequence[Path]) -> tuple[tuple[str, str], ...]:
    """Return choices with their labels, in any of the usual forms."""
    if len(paths) > 1:
        texts = [str(each).strip() for each in values if isinstance(each, str | int | float) and str(each).strip()]
        labels = [path[-1].strip()[-1:] for path in paths]
        return tuple(zip(labels if len(labels) == len(texts) else _LETTERS, texts, strict=False))
    value = _listed(values[0]) if len(values) == 1 else list(values)
    if isinstance(value, dict):
        listed, named = value.get("text"), value.get("label")
        if isinstance(listed, list) and isinstance(named, list):
            return tuple((str(label), str(text)) for label, text in zip(named, listed, strict=False))
        return tuple((str(key), each) for key, each in value.items() if isinstance(each, str))
    if isinstance(value, list):
        choices: list[tuple[str, str]] = []
        for number, each in enumerate(value):
            label = _LETTERS[number] if number < len(_LETTERS) else str(number)
            if isinstance(each, dict):
                label, each = str(each.get("label", label)), each.get("text")
            if isinstance(each, str | int | float):
                choices.append((label, str(each)))
        return tuple(choices)
    if not isinstance(value, str):
        return ()
    return _lettered(value)


def _lettered(text: str) -> tuple[tuple[str, str], ...]:
    """Return the choices of a text such as `A. box, B. jar`; a text with lines or bars has one in each."""
    matches = list(_OPTION.finditer(text))
    labels = [each[1] for each in matches]
    if len(matches) > 1 and labels in (list(_LETTERS[: len(matches)]), [str(n + 1) for n in range(len(matches))]):
        ends = [each.start() for each in matches[1:]] + [len(text)]
        texts = [text[each.end() : end].strip(" ,;|\n") for each, end in zip(matches, ends, strict=True)]
        return tuple(zip(labels, texts, strict=True))
    for sign in ("\n", "|", ";"):
        parts = [each.strip() for each in text.split(sign) if each.strip()]
        if len(parts) > 1:
            return tuple(zip(_LETTERS, parts, strict=False))
    return ()


def _answer(value: Any, choices: Sequence[tuple[str, str]]) -> str | None:
    """Return the accepted answers, one per line; a letter or a number stands for a choice."""
    value = _listed(value)
    if isinstance(value, dict) and "text" in value:  # as in SQuAD
        return _answer(value["text"], choices)
    if isinstance(value, list):
        texts = [_answer(each, choices) for each in value]
        return "\n".join(dict.fromkeys(each for each in texts if each)) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if isinstance(value, int) and 0 <= value < len(choices):
            return choices[value][1]
        return str(value)
    if not isinstance(value, str):
        return None
    place = _chosen(value, choices)
    return value.strip() if place is None else choices[place][1].strip()


def _chosen(answer: str, choices: Sequence[tuple[str, str]]) -> int | None:
    """Return the choice that an answer names, by its text or its label; None if it names none."""
    plain = folded(answer)
    for place, (_, text) in enumerate(choices):
        if folded(text) == plain:
            return place
    match = _LABEL.fullmatch(answer.strip())
    label = match[1].casefold() if match else ""
    named = [place for place, (each, _) in enumerate(choices) if each.casefold() == label]
    if not named and label.isdecimal() and int(label) < len(choices):
        return int(label)
    return named[0] if named else None


def chosen_as(right: str, written: Any, choices: Sequence[tuple[str, str]]) -> Any:
    """Return how a row that has its answer `written` so writes another one; None if it is none of its choices."""
    if isinstance(written, list):
        return None if len(written) != 1 else chosen_as(right, written[0], choices)
    if isinstance(written, bool):
        return {"yes": True, "no": False}.get(right)
    if not choices:
        return right if isinstance(written, str) else None
    place = next((at for at, (_, text) in enumerate(choices) if folded(text) == folded(right)), None)
    if place is None:
        return None
    label, text = choices[place]
    if isinstance(written, int):
        return place
    if any(folded(text) == folded(str(written)) for _, text in choices) or _chosen(str(written), choices) is None:
        return text
    shown = str(written).strip()
    if shown.isdecimal() and all(each != shown for each, _ in choices):
        return str(place)
    return shown.replace(shown.strip("().: ")[:1], label, 1) if len(shown) <= 3 else None


_IN = frozenset(("in", "inside", "im", "en"))  # English, German and Spanish
_ARTICLES = frozenset(("the", "der", "die", "das", "dem", "den", "el", "la", "los", "las"))
_CHINESE_PLACE = re.compile(r"^在?([\u4e00-\u9fff]+?)(?:里面|里)$")


def folded(answer: str) -> str:
    """Return an answer in free words without what does not matter: case, article, punctuation, "in" of a place."""
    text = answer.casefold().replace("_", " ").strip(" .。\t\n\"'")
    if not text.isascii():
        text = _CHINESE_PLACE.sub(r"\1", text)
    words = text.split()
    start = len(words) > 1 and words[0] in _IN
    return " ".join(words[start + (len(words) > start + 1 and words[start] in _ARTICLES) :])


# Instructions that stand around stories.


def find_instructions(stories: Iterable[str | None]) -> frozenset[str]:
    """Return first and last lines of stories that recur and speak of the story or the question: instructions."""
    counts: Counter[str] = Counter()
    total = 0
    for story in dict.fromkeys(each for each in stories if each):
        total += 1
        lines = [line.strip() for line in story.split("\n") if line.strip()]
        counts.update({line for line in (*lines[:1], *lines[-1:]) if len(lines) > 1 and _INSTRUCTION.search(line)})
    return frozenset(line for line, count in counts.items() if count >= max(3, total / 50))


def without_instructions(story: str, instructions: frozenset[str]) -> str:
    """Return a story without instructions around it, and without lines that only separate it from something."""
    lines = story.split("\n")
    kept = [line for line in lines if line.strip() not in instructions and not _SEPARATOR.fullmatch(line.strip())]
    return story if len(kept) == len(lines) else "\n".join(kept)
