"""What ships as proved is proved again: a sample here, everything in a slow test."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.generation import proof_file as module
from storyproof.families.kinship.generation.make_proof_file import chain, differing, prove
from storyproof.families.kinship.generation.proof_file import FILE, LENGTHS, Proofs, Proved, strict_proofs
from storyproof.families.kinship.oracle import ProofStep, derive, replay
from storyproof.families.kinship.relations import GENDERS, Fact
from storyproof.families.kinship.rules import published_rules, strict_rules
from tests.families.kinship.generation.test_pattern_search import every_sequence

RULES = strict_rules()
NAMES = [predicate.name for predicate in RULES.predicates]
Couples = list[tuple[int, int]]


def pattern(proved: Proved, number: int) -> tuple[str, ...]:
    return tuple(NAMES[relation] for relation in proved.relations[number].tolist())


def couples(proved: Proved, number: int) -> Couples:
    return [(one, other) for one, other in enumerate(proved.spouse[number].tolist()) if one < other]


def steps(proved: Proved, number: int) -> list[ProofStep]:
    parts = (array[number].tolist() for array in (proved.first, proved.via, proved.second, proved.concluded))
    return [ProofStep(Fact(one, NAMES[what], other), via) for one, via, other, what in zip(*parts, strict=True)]


def fitting_genders(people: int, couples: Couples) -> Iterator[tuple[str, ...]]:
    """All genders in which the people of each couple differ."""
    for genders in product(GENDERS, repeat=people):
        if all(genders[one] != genders[other] for one, other in couples):
            yield genders


# ------------------------------------------------------------------------------------------------------- the file


def test_the_file_belongs_to_these_rules_and_this_code() -> None:
    proofs = Proofs()
    for k in LENGTHS:
        proofs.of(k)
    assert proofs.problem == "", "run `make proofs`"
    assert len(proofs.sha256) == 64


def test_the_file_is_small() -> None:
    assert FILE.stat().st_size < 400_000


def test_there_are_so_many_patterns() -> None:
    counts = {k: len(strict_proofs().of(k)) for k in LENGTHS}
    assert counts == {
        2: 23, 3: 57, 4: 122, 5: 234, 6: 413, 7: 683, 8: 1072, 9: 1612, 10: 2339, 11: 3293, 12: 4518, 13: 6062,
        14: 7977, 15: 10319,
    }  # fmt: skip


def test_patterns_are_sorted_and_none_comes_twice() -> None:
    for k in LENGTHS:
        proved = strict_proofs().of(k)
        listed = np.column_stack([proved.target, proved.relations]).tolist()
        assert listed == sorted(listed)
        assert len(set(map(tuple, proved.relations.tolist()))) == len(proved)


def test_packing_loses_nothing() -> None:
    proved = strict_proofs().of(4)
    again = Proved.unpack(4, proved.pack())
    assert all((getattr(proved, name) == getattr(again, name)).all() for name in vars(proved))


# ------------------------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("k", LENGTHS)
def test_a_sample_is_proved_again(k: int) -> None:
    """Oracle and checker are asked about random patterns, the checker with random genders."""
    proved, draws = strict_proofs().of(k), random.Random(k)
    chosen = draws.sample(range(len(proved)), min(len(proved), 30))
    stories = [chain(pattern(proved, number)) for number in chosen]
    derived, published = (derive(rules, stories, k + 1) for rules in (RULES, published_rules()))
    pairs = derived.pairs("SO")
    for place, number in enumerate(chosen):
        query = Fact(0, NAMES[proved.target[number]], k)
        assert derived.relations(place, 0, k) == [query.predicate]
        assert derived.size(place, query) == k
        assert replay(RULES, stories[place], query, steps(proved, number)) is None
        assert {pair for pair in pairs[place] if pair[0] < pair[1]} == set(couples(proved, number))
        assert bool(proved.published[number]) == (published.relations(place, 0, k) == [query.predicate])
        for _ in range(3):
            assert status(random_genders(k + 1, couples(proved, number), draws), stories[place], query) == ENTAILED


def random_genders(people: int, couples: Couples, draws: random.Random) -> list[str]:
    found = [draws.choice(GENDERS) for _ in range(people)]
    for one, other in couples:
        found[other] = GENDERS[1 - GENDERS.index(found[one])]
    return found


def check_all_genders(k: int) -> int:
    proved, checked = strict_proofs().of(k), 0
    for number in range(len(proved)):
        facts, query = chain(pattern(proved, number)), Fact(0, NAMES[proved.target[number]], k)
        for genders in fitting_genders(k + 1, couples(proved, number)):
            assert status(genders, facts, query) == ENTAILED, (facts, genders)
            checked += 1
    return checked


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_the_answer_is_entailed_for_all_genders_in_which_spouses_differ(k: int) -> None:
    assert check_all_genders(k) > 4 * len(strict_proofs().of(k))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_for_no_other_genders_is_the_story_possible(k: int) -> None:
    """So no couple is missing."""
    proved = strict_proofs().of(k)
    for number in range(len(proved)):
        facts, query = chain(pattern(proved, number)), Fact(0, NAMES[proved.target[number]], k)
        fitting = set(fitting_genders(k + 1, couples(proved, number)))
        for genders in set(product(GENDERS, repeat=k + 1)) - fitting:
            assert status(genders, facts, query) == "impossible"


@pytest.mark.slow
@pytest.mark.parametrize("k", [7, 8])
def test_the_answer_is_entailed_for_all_genders_of_longer_chains(k: int) -> None:
    check_all_genders(k)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_patterns_are_all_sequences_that_come_to_one_relation(k: int) -> None:
    proved = strict_proofs().of(k)
    found: dict[str, set[tuple[str, ...]]] = {}
    for number in range(len(proved)):
        found.setdefault(NAMES[proved.target[number]], set()).add(pattern(proved, number))
    assert found == every_sequence(RULES, k)


def same(one: Proved, other: Proved) -> bool:
    return one.pack() == other.pack()


def test_short_patterns_are_proved_to_the_same() -> None:
    shorter: list[Proved] = []
    for k in range(LENGTHS.start, 7):
        shorter.append(prove(RULES, shorter))
        assert same(shorter[-1], strict_proofs().of(k))


@pytest.mark.slow
@pytest.mark.parametrize("k", LENGTHS)
def test_all_patterns_are_proved_to_the_same(k: int) -> None:
    assert same(prove(RULES, [strict_proofs().of(less) for less in range(LENGTHS.start, k)]), strict_proofs().of(k))


def test_genders_in_which_couples_differ() -> None:
    assert differing(4, [(0, 2), (2, 3)]) == ["male", "male", "female", "male"]
    assert differing(3, [(0, 1), (1, 2), (0, 2)]) is None


# ------------------------------------------------------------------------------------------ a file that is not good


@cache
def shipped() -> bytes:
    return FILE.read_bytes()


def altered(folder: Path, content: bytes) -> Proofs:
    path = folder / "strict.proofs"
    path.write_bytes(content)
    return Proofs(path)


def check_proved_again(proofs: Proofs, problem: str) -> None:
    for k in (2, 3, 4):
        assert same(proofs.of(k), strict_proofs().of(k))
    assert problem in proofs.problem
    assert proofs.sha256 == ""


def test_a_missing_file_is_noticed(tmp_path: Path) -> None:
    check_proved_again(Proofs(tmp_path / "strict.proofs"), "strict.proofs cannot be read: No such file")


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"[1]\n", b"\xff\n", b'{"lengths": {"2": 1}}\n'])
def test_a_file_without_its_first_line_is_noticed(content: bytes, tmp_path: Path) -> None:
    check_proved_again(altered(tmp_path, content), "is damaged: its first line is not as expected")


def test_a_file_that_was_cut_is_noticed(tmp_path: Path) -> None:
    head = shipped().index(b"\n") + 1
    check_proved_again(altered(tmp_path, shipped()[: head + 5]), "the patterns of 2 facts are not those that it names")


def test_a_changed_byte_never_gives_other_patterns(tmp_path: Path) -> None:
    draws, head = random.Random(5), shipped().index(b"\n")
    noticed = 0
    for place in [*draws.sample(range(head), 15), *range(head + 1, head + 16)]:
        content = bytearray(shipped())
        content[place] ^= 1 << draws.randrange(7)
        proofs = altered(tmp_path, bytes(content))
        assert all(same(proofs.of(k), strict_proofs().of(k)) for k in (2, 3))
        assert proofs.problem or place < head, place  # behind the first line are the patterns of two facts
        noticed += bool(proofs.problem)
    assert noticed > 20


def test_proofs_of_other_code_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SOURCES", ("oracle.py",))
    check_proved_again(altered(tmp_path, shipped()), "strict.proofs belongs to other code")


def test_code_without_sources_is_not_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SOURCES", ("compiled.py",))
    assert altered(tmp_path, shipped()).problem == ""


def test_proofs_of_other_rules_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(RULES, stated=RULES.stated[:-1])
    monkeypatch.setattr(module, "strict_rules", lambda: other)
    assert altered(tmp_path, shipped()).problem == "strict.proofs belongs to other rules"


def test_line_ends_of_sources_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in module._SOURCES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        text = (Path(module.__file__).parent.parent / name).read_bytes()
        (tmp_path / name).write_bytes(text.replace(b"\n", b"\r\n"))
    monkeypatch.setattr(module, "__file__", str(tmp_path / "generation" / "proved.py"))
    assert Proofs(FILE).problem == ""
