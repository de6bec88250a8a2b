"""What has been proved once: all patterns of clean chains, with everything that puzzles need to know of them.

The strict rules admit few patterns: 23 of two facts, 2,339 of ten, 10,319 of fifteen. Oracle and checker have been
asked about every one of them (see `make_proof_file`), and what they said ships with storyproof as one file. Its first
line names by hashes the rules, the code and the content that it belongs to. A file that is damaged, or that belongs to
other rules or other code, is not used: the patterns are proved again, which takes longer and gives the same.

A pattern holds for all genders in which the people of each of its couples differ, so no genders are recorded:

1. Genders matter to a family only in that spouses differ. If the genders of both people of a couple are exchanged, or
   that of somebody unmarried, the result is a family in which everybody is to everybody what they were before.
2. So a family that fits a story fits it with other genders too, unless these make two named spouses equal. For each
   pattern, a family is known that fits and in which the recorded couples are all couples of two named people. So the
   story is possible with all genders in which these differ.
3. The rules compose relations without regard to genders, so the answer holds in every family that fits, whatever the
   genders. The checker, which knows no rules, has confirmed it with genders in which all differ who could be married,
   so that families in which they are were inspected too.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from storyproof.families.kinship.rules import RuleSet, strict_rules
from storyproof.generation.seeds import digest

Bytes = npt.NDArray[np.int8]
NOBODY = -1
FILE = Path(__file__).with_name("strict.proofs")
LENGTHS = range(2, 16)
_FORMAT = 1
_IDENTITY = ("rules", "code", "content")
_SINGLE = ("target", "published")  # one number per pattern
# What decides which patterns are admitted, and what is recorded of them.
_SOURCES = ("oracle.py", "checker.py", "published.yaml", "generation/make_proof_file.py")


class UnusableProofsError(Exception):
    """The file is missing or damaged, or belongs to other rules or other code."""


@dataclass(frozen=True)
class Proved:
    """The patterns of one length, as arrays of small numbers, sorted by target and relations.

    People are numbered from 0 to k along the chain; relations are numbers of predicates.

    Attributes:
        target: [pattern], what the last person is to the first.
        relations: [pattern, fact], the pattern itself.
        spouse: [pattern, person], to whom a person of the chain must be married; NOBODY if to none of them.
        published: [pattern], 1 if the published rules derive the same answer and no other, else 0.
        first: [pattern, step], the proof from the top down: whose relative is concluded,
        via: through whom,
        second: who the relative is,
        concluded: and what they are.
    """

    target: Bytes
    relations: Bytes
    spouse: Bytes
    published: Bytes
    first: Bytes
    via: Bytes
    second: Bytes
    concluded: Bytes

    def __len__(self) -> int:
        return len(self.target)

    def pack(self) -> bytes:
        """Return all numbers, column by column: neighbours are often equal, which compresses well."""
        arrays = (getattr(self, item.name) for item in fields(self))
        return b"".join(np.ascontiguousarray(array.T).tobytes() for array in arrays)

    @classmethod
    def unpack(cls, k: int, packed: bytes) -> Proved:
        """Return what was packed; raise ValueError if it has another size."""
        widths = {"relations": k, "spouse": k + 1, **dict.fromkeys(_SINGLE, 1)}
        sizes = [widths.get(item.name, k - 1) for item in fields(cls)]
        columns = np.frombuffer(packed, np.int8).reshape(sum(sizes), -1)
        parts = np.split(columns, np.cumsum(sizes)[:-1])
        named = zip((item.name for item in fields(cls)), parts, strict=True)
        return cls(**{name: part[0] if name in _SINGLE else part.T for name, part in named})


class Proofs:
    """The proved patterns of all lengths: those of a file or, if it cannot be used, proved again on demand.

    Attributes:
        sha256: A hash that names rules, code and content of the file; empty if it is not used.
        problem: Why the file is not used; empty if it is.
    """

    def __init__(self, path: Path = FILE) -> None:
        self._found: dict[int, Proved] = {}
        self._read: Callable[[int], Proved] | None = None
        self.sha256 = self.problem = ""
        try:
            self.sha256, self._read = _open(path, strict_rules())
        except UnusableProofsError as error:
            self.problem = str(error)

    def of(self, k: int) -> Proved:
        """Return the patterns of k facts."""
        if k not in self._found and self._read is not None:
            try:
                self._found[k] = self._read(k)
            except UnusableProofsError as error:
                self.sha256, self.problem, self._read = "", str(error), None
        if k not in self._found:
            from storyproof.families.kinship.generation.make_proof_file import prove  # needs oracle and checker

            shorter = [self.of(less) for less in range(LENGTHS.start, k)]
            self._found[k] = prove(strict_rules(), shorter)
        return self._found[k]


@cache
def strict_proofs() -> Proofs:
    """Return the patterns of the strict reading."""
    return Proofs()


def _open(path: Path, rules: RuleSet) -> tuple[str, Callable[[int], Proved]]:
    """Return the hash of a file, and what reads the patterns of a length from it."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise UnusableProofsError(f"{path.name} cannot be read: {error.strerror}") from error
    try:
        header = json.loads(head)
        stated = {name: header[name] for name in _IDENTITY}
        lengths = {
            int(k): (int(start), int(size), str(sha256)) for k, (start, size, sha256) in header["lengths"].items()
        }
        if list(lengths) != list(LENGTHS):
            raise ValueError("other lengths")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UnusableProofsError(f"{path.name} is damaged: its first line is not as expected") from error
    expected = _identity(rules, [sha256 for _, _, sha256 in lengths.values()])
    for name, value in expected.items():
        if stated[name] != value:
            raise UnusableProofsError(f"{path.name} belongs to other {name}")

    def read(k: int) -> Proved:
        start, size, sha256 = lengths[k]
        try:
            packed = zlib.decompress(body[start : start + size])
        except zlib.error:
            packed = b""
        if hashlib.sha256(packed).hexdigest() != sha256:
            raise UnusableProofsError(f"{path.name} is damaged: the patterns of {k} facts are not those that it names")
        return Proved.unpack(k, packed)

    return digest(stated).hex(), read


def write_proofs(path: Path, proved: Mapping[int, Proved], rules: RuleSet) -> str:
    """Write a file of proofs; return the hash that names it."""
    packed = {k: each.pack() for k, each in proved.items()}
    parts = {k: zlib.compress(each, 9) for k, each in packed.items()}
    starts = np.cumsum([0, *map(len, parts.values())]).tolist()
    lengths = {
        k: (start, len(parts[k]), hashlib.sha256(packed[k]).hexdigest())
        for k, start in zip(parts, starts[:-1], strict=True)
    }
    identity = _identity(rules, [sha256 for _, _, sha256 in lengths.values()])
    path.write_bytes(json.dumps({**identity, "lengths": lengths}).encode() + b"\n" + b"".join(parts.values()))
    return digest(identity).hex()


def _identity(rules: RuleSet, content: Sequence[str]) -> dict[str, str]:
    """Return what a file of proofs belongs to; nothing of code that is installed without its sources."""
    heads = sorted((*body, head) for body, head in rules.heads.items())
    names = [(each.name, each.inverse) for each in rules.predicates]
    identity = {
        "rules": digest(rules.name, names, heads, rules.stated, rules.inverses).hex(),
        "content": digest(_FORMAT, *content).hex(),
    }
    folder = Path(__file__).parent.parent
    with suppress(OSError):
        sources = [(folder / name).read_bytes().replace(b"\r\n", b"\n") for name in _SOURCES]
        identity["code"] = hashlib.sha256(b"\0".join(sources)).hexdigest()
    return identity
