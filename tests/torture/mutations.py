"""Ways to damage files: values of JSON and YAML, columns of tables, lines of text, and bytes.

All draw from a `random.Random`, so that a case can be repeated by its number.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import math
from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa

Change = Callable[[Random, Any], Any]


class Raw:
    """A piece of JSON that `json.dumps` would not write: a key twice, a number without end, lists in lists."""

    def __init__(self, text: str) -> None:
        self.text = text


def _nested(depth: int) -> Raw:
    return Raw("[" * depth + "]" * depth)


STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 127, 128, 255, 32767, 32768, 65536, 2**31, 2**63, -(2**63), 2**64, 10**30, 1.5,
    -0.0, math.nan, math.inf, -math.inf, "", " ", "\0", "\ud800", "\udfff\ud800", "😀", "\u202e", "\x1b[31m", "\x85",
    "a\nb", "a\tb", "\r", "x" * 5_000, "the", "Where", "?", "%s", "{0}", "{story}",
    "..", "/", "/etc/passwd", "'", '"', "\\",
    "-1", "1e999", "NaN", "null",
    "entailed", "male", "first_order_0_tom", [], {}, [None], [[]], [{}], {"": None}, {"a": [1]},
    ["x"] * 300, [0] * 300, [[0, 1]] * 300, [["a", "b"]], [[0]], [[0, 1, 2]], [-1], [10**30], [math.nan], ["\ud800"],
    Raw("9" * 5_000), Raw("-" + "9" * 5_000), Raw("1e999"), Raw('"\\ud800"'), Raw('{"a": 1, "a": 2}'), _nested(99),
    _nested(101), _nested(1_200), _nested(50_000), Raw("NaN"), Raw("-0"), Raw('"' + "\\u0000" * 3 + '"'),
)  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to all values within a value, itself left out."""
    found: list[tuple[Any, ...]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        found += [(*at, key), *places(child, (*at, key))]
    return found


def _parent(value: Any, at: tuple[Any, ...]) -> Any:
    for key in at[:-1]:
        value = value[key]
    return value


def _drop(random: Random, parent: Any, key: Any) -> None:
    del parent[key]


def _retype(random: Random, parent: Any, key: Any) -> None:
    parent[key] = copy.deepcopy(random.choice(STRANGE))


def _rename(random: Random, parent: Any, key: Any) -> None:
    if isinstance(parent, dict):
        parent[random.choice(["", "x", f"{key} ", str(key).upper(), "\0", "\ud800", "id", "story"])] = parent.pop(key)
    else:
        parent.insert(random.randrange(len(parent) + 1), parent.pop(key))


def _wrap(random: Random, parent: Any, key: Any) -> None:
    parent[key] = random.choice([[parent[key]], {"value": parent[key]}, [parent[key]] * 3, str(parent[key])])


def _swap(random: Random, parent: Any, key: Any) -> None:
    keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
    other = random.choice(keys)
    parent[key], parent[other] = parent[other], parent[key]


def _damage_text(random: Random, parent: Any, key: Any) -> None:
    value = parent[key]
    if not isinstance(value, str) or not value:
        _retype(random, parent, key)
        return
    at = random.randrange(len(value))
    parent[key] = random.choice(
        [
            value[:at],
            value[at:],
            value[:at] + random.choice("\0\n\t .?|\ud800é{}[]'\"\\") + value[at:],
            value * random.choice([2, 50]),
            value.upper(),
            value[::-1],
            value + "\n" + value,
            " ".join(random.sample(value.split(" "), len(value.split(" ")))),
            "\n".join(random.sample(value.split("\n"), len(value.split("\n")))),
        ]
    )


def _empty(random: Random, parent: Any, key: Any) -> None:
    parent[key] = type(parent[key])() if isinstance(parent[key], str | list | dict | int | float) else None


VALUE_CHANGES = (_drop, _retype, _retype, _retype, _rename, _wrap, _swap, _damage_text, _damage_text, _empty)


def change_value(random: Random, value: Any) -> Any:
    """Damage a value of JSON at one to three places."""
    value = copy.deepcopy(value)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        known = places(value)
        if not known:
            return copy.deepcopy(random.choice(STRANGE))
        at = random.choice(known)
        random.choice(VALUE_CHANGES)(random, _parent(value, at), at[-1])
    return value


def write_json(value: Any, indent: int | None = None, ascii_only: bool = True) -> bytes:
    """Write a value with raw pieces in it."""
    raws: list[str] = []

    def plain(each: Any) -> Any:
        if isinstance(each, Raw):
            raws.append(each.text)
            return f"@raw {len(raws) - 1}@"
        if isinstance(each, dict):
            return {key: plain(child) for key, child in each.items()}
        return [plain(child) for child in each] if isinstance(each, list | tuple) else each

    text = json.dumps(plain(value), indent=indent, ensure_ascii=ascii_only)
    for number, raw in enumerate(raws):
        text = text.replace(f'"@raw {number}@"', raw)
    return text.encode("utf-8", "surrogatepass")


def change_bytes(random: Random, content: bytes) -> bytes:
    """Damage bytes: flip, cut, repeat, insert, swap, or replace all of them."""
    found = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 5])):
        at = random.randrange(len(found)) if found else 0
        end = min(len(found), at + random.choice([1, 2, 8, 100]))
        kind = random.randrange(9)
        if kind == 0 and found:
            found[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del found[at:end]
        elif kind == 2:
            del found[at:]
        elif kind == 3:
            del found[:at]
        elif kind == 4:
            found[at:at] = found[at:end] * random.choice([1, 2, 30])
        elif kind == 5:
            found[at:at] = random.choice(
                [
                    b"\0",
                    b"\xff",
                    b"\xed\xa0\x80",
                    b"\xef\xbb\xbf",
                    b"\r",
                    b"\n",
                    b"\n\n",
                    b'"',
                    b"'",
                    b",",
                    b"\t",
                    b"[" * 3000,
                ]
            )
        elif kind == 6 and found:
            found[at] = random.randrange(256)
        elif kind == 7:
            found[at:end] = bytes(random.randrange(256) for _ in range(end - at))
        else:
            found = found[at:] + found[:at]
    if random.random() < 0.02:
        return random.choice(
            [b"", b"\0" * 100, b"\n", b"\xff\xfe", b"[", b"{}", b"[]", b"null", b"\x1f\x8b\x08\0", b"PAR1"]
        )
    return bytes(found)


def change_lines(random: Random, content: bytes) -> bytes:
    """Damage a text by lines and their cells: drop, repeat, swap, or change a cell or a number."""
    lines = content.decode().split("\n")
    for _ in range(random.choice([1, 1, 2, 3])):
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        kind = random.randrange(8)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(other, lines[at])
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind in (3, 4):
            separator = random.choice("\t, ")
            cells = lines[at].split(separator)
            cells[random.randrange(len(cells))] = random.choice(
                [
                    "",
                    "0",
                    "1",
                    "2",
                    "-",
                    "999999999999",
                    "9" * 5_000,
                    "x" * 5_000,
                    "\0",
                    "?",
                    "Ben",
                    "the",
                    "true_belief",
                    "é",
                ]
            )
            lines[at] = separator.join(cells)
        elif kind == 5:
            lines[at] += random.choice(["\t", "\t1", "\tbox\t1", "?", ".", " ", ",", "\r", "\0", ",,,", '"'])
        elif kind == 6:
            lines[at] = lines[at] * random.choice([2, 100])
        else:
            words = lines[at].split(" ")
            random.shuffle(words)
            lines[at] = " ".join(words)
        lines = lines or [""]
    return "\n".join(lines).encode()


def change_csv(random: Random, content: bytes) -> bytes:
    """Damage fields of a CSV file: their text as a literal, their number, or the header."""
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    for _ in range(random.choice([1, 1, 2, 3])):
        row = random.choice(rows)
        at = random.randrange(len(row)) if row else 0
        kind = random.randrange(8)
        if kind == 0 and row:
            del row[at]
        elif kind == 1:
            row.insert(at, random.choice(["", "x", *row]))
        elif kind in (2, 3, 4) and row:
            row[at] = random.choice(
                [
                    "", "x", "[]", "{}", "()", "None", "nan", "[(0, 0)]", "[(0, 99)]", "(0, 1)", "(-1, 2)", "('a',)",
                    "[[]]",
                    "[" * 300 + "]" * 300, "[" * 30_000, "(" * 5_000 + ")" * 5_000, "9" * 5_000, f"[({10**30}, 1)]",
                    "'\\ud800'", "['\\ud800']", "('\\ud800', 'x')", "[{('a', 'b', 'c'): []}]", "{1: {2: 3}}", "1()",
                    "'\\d'",
                    "-" * 5_000 + "1", "a:male", "a:male,a:male", ":", "task_1.2", "task_9.9", "task_1.99", "train",
                    "father",
                    "x" * 5_000, "x" * 140_000, "\0", "\n\n", "[x] and [y]", "[" + "], [".join("ab") + "]",
                ]
            )  # fmt: skip
        elif kind == 5 and row:
            other = random.randrange(len(row))
            row[at], row[other] = row[other], row[at]
        elif kind == 6:
            rows.insert(random.randrange(len(rows) + 1), list(random.choice(rows)))
        elif row:
            text = row[at]
            cut = random.randrange(len(text) + 1)
            row[at] = text[:cut] + random.choice(["", "'", "]", ")", ",", "\\", "(", "\n"]) + text[cut + 1 :]
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=random.choice(["\n", "\r\n"])).writerows(rows)
    return out.getvalue().encode("utf-8", "replace")


_TYPES = (
    pa.string(), pa.large_string(), pa.int8(), pa.int64(), pa.uint64(), pa.float64(), pa.bool_(), pa.binary(),
    pa.date32(), pa.null(), pa.list_(pa.string()), pa.list_(pa.int64()), pa.list_(pa.list_(pa.int64())),
    pa.struct([("a", pa.int8())]),
    pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.struct([("a", pa.list_(pa.string()))])),
)  # fmt: skip


def _values(random: Random, kind: pa.DataType, count: int) -> pa.Array:
    made: list[Any] = []
    for _ in range(count):
        value: Any = random.choice([None, 0, 1, -1, 100, 30_000])
        if pa.types.is_list(kind):
            inner = _values(random, kind.value_type, random.choice([0, 1, 3]))
            value = random.choice([None, inner.to_pylist()])
        elif pa.types.is_struct(kind):
            value = random.choice([None, {"a": None}])
        elif pa.types.is_dictionary(kind) or "string" in str(kind):
            value = random.choice([None, "", "box", "\0", "x" * 3_000, "a\nb", "Ada:male", "entailed", "é"])
        elif pa.types.is_binary(kind):
            value = random.choice([None, b"", b"\xff", b"box"])
        elif pa.types.is_boolean(kind):
            value = random.choice([None, True, False])
        elif pa.types.is_floating(kind):
            value = random.choice([None, 0.0, math.nan, math.inf, 1e300])
        elif pa.types.is_null(kind):
            value = None
        elif value is not None and (pa.types.is_unsigned_integer(kind) or kind == pa.int8()):
            value = abs(value) % 100
        made.append(value)
    return pa.array(made, kind)


def change_table(random: Random, table: pa.Table) -> pa.Table:
    """Damage a table: columns dropped, renamed, doubled or of another type, nulls, and rows swapped or repeated."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if not table.num_columns:
            return table
        at = random.randrange(table.num_columns)
        name = table.column_names[at]
        kind = random.randrange(9)
        if kind == 0:
            table = table.remove_column(at)
        elif kind == 1:
            names = list(table.column_names)
            names[at] = random.choice(["", "x", name.upper(), *table.column_names])
            table = table.rename_columns(names)
        elif kind in (2, 3):
            made = _values(random, random.choice(_TYPES), table.num_rows)
            table = table.set_column(at, name, made)
        elif kind == 4:
            table = table.set_column(at, name, pa.nulls(table.num_rows, table.schema.field(at).type))
        elif kind == 5:
            made = _values(random, table.schema.field(at).type, table.num_rows)
            table = table.set_column(at, name, made)
        elif kind == 6:
            rows = [random.randrange(table.num_rows) for _ in range(random.choice([1, table.num_rows, 40]))]
            table = table.take(pa.array(rows)) if table.num_rows else table
        elif kind == 7:
            order = list(range(table.num_rows))
            random.shuffle(order)
            table = table.set_column(at, table.schema.field(at), table.column(at).take(pa.array(order, pa.int64())))
        else:
            keep = [random.random() < 0.7 for _ in range(table.num_rows)]
            column = table.column(at).combine_chunks()
            values = [value if kept else None for value, kept in zip(column.to_pylist(), keep, strict=True)]
            table = table.set_column(at, name, pa.array(values, table.schema.field(at).type))
    return table
