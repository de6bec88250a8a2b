from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.clutrr import NameAssigner
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.relations import GENDERS
from storyproof.generation.seeds import Draws
from tests.groups import try_examples

MEN = tuple(f"Man{number}" for number in range(30))
WOMEN = tuple(f"Woman{number}" for number in range(31))
FEW = {"male": MEN, "female": WOMEN}
TOKENS = tuple(f"@entity-{number}" for number in range(30))
POOLS = [
    {gender: tuple(f"{name}-{pool}" for name in names) for gender, names in FEW.items()} for pool in ("p", "q", "r")
]
POOLS[1]["male"] += ("Late-q", "Later-q")  # pools need not be equally large
SHARED = dict.fromkeys(GENDERS, TOKENS)
EVERY = 6**3  # casts of three when 24 of 30 names are kept free for others
MOST_PEOPLE = 20  # of a story with all kinds of noise around the longest chain


def cast(
    assigner: NameAssigner, places: npt.NDArray[np.int64], genders: npt.NDArray[np.int8], *purpose: object
) -> list[tuple[str, ...]]:
    numbers = assigner.assign(places, np.zeros_like(places), genders, Draws("test", *purpose))
    return [tuple(assigner.names[number] for number in row) for row in numbers.tolist()]


@st.composite
def crowds(draw: st.DrawFn) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
    rows, people = draw(st.integers(1, 40)), draw(st.integers(3, MOST_PEOPLE))
    places = draw(st.lists(st.integers(0, EVERY - 1), min_size=rows, max_size=rows))
    flat = draw(st.lists(st.integers(0, 1), min_size=rows * people, max_size=rows * people))
    return np.array(places), np.array(flat, np.int8).reshape(rows, people)


@try_examples(40)
@given(crowds())
def test_names_differ_within_a_row_and_fit_the_gender(
    crowd: tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]],
) -> None:
    places, genders = crowd
    for named, row in zip(cast(NameAssigner([FEW], "x"), places, genders), genders.tolist(), strict=True):
        assert len(set(named)) == len(named)
        assert all(name in FEW[GENDERS[gender]] for name, gender in zip(named, row, strict=True))


@try_examples(40)
@given(crowds())
def test_shared_names_differ_within_a_row_whatever_the_gender(
    crowd: tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]],
) -> None:
    places, genders = crowd
    for named in cast(NameAssigner([SHARED], "x"), places, genders):
        assert len(set(named)) == len(named)
        assert set(named) <= set(TOKENS)


@pytest.mark.parametrize("names", [FEW, SHARED], ids=["by gender", "shared"])
@pytest.mark.parametrize("genders", list(product((0, 1), repeat=3)), ids=str)
def test_every_place_is_a_cast_of_its_own(names: dict[str, tuple[str, ...]], genders: tuple[int, ...]) -> None:
    assigner = NameAssigner([names], "x")
    assert assigner.capacity == EVERY
    found = cast(assigner, np.arange(EVERY), np.tile(np.array(genders, np.int8), (EVERY, 1)))
    assert len(set(found)) == EVERY


def test_shared_names_keep_casts_apart_across_genders() -> None:
    # Names that do not show a gender: not even a puzzle with other genders may have the same people.
    genders = np.array(list(product((0, 1), repeat=3)), np.int8)[np.arange(EVERY) % 8]
    assert len(set(cast(NameAssigner([SHARED], "x"), np.arange(EVERY), genders))) == EVERY


def test_the_first_three_hang_on_the_place_alone() -> None:
    assigner = NameAssigner([FEW], "x")
    genders = np.zeros((5, 6), np.int8)
    places = np.array([3, 1, 4, 1, 5])
    one, other = cast(assigner, places, genders, 1), cast(assigner, places, genders, 2)
    assert [row[:3] for row in one] == [row[:3] for row in other]
    assert one[1][:3] == one[3][:3]
    assert [row[3:] for row in one] != [row[3:] for row in other]
    assert [row[:3] for row in cast(assigner, places[::-1].copy(), genders)] == [row[:3] for row in one[::-1]]


def test_the_purpose_decides_which_place_has_which_names() -> None:
    genders = np.zeros((EVERY, 3), np.int8)
    one, again, other = (cast(NameAssigner([FEW], purpose), np.arange(EVERY), genders) for purpose in "xxy")
    assert one == again
    assert one != other
    assert set(one) == set(other)


def test_people_are_numbered_men_first() -> None:
    assert NameAssigner([FEW], "x").names == [*MEN, *WOMEN]
    assert NameAssigner([SHARED], "x").names == list(TOKENS)


@try_examples(40)
@given(crowds())
def test_the_people_of_a_row_have_names_of_one_pool(
    crowd: tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]],
) -> None:
    places, genders = crowd
    for named, row in zip(cast(NameAssigner(POOLS, "x"), places, genders), genders.tolist(), strict=True):
        assert len(set(named)) == len(named)
        [pool] = [each for each in POOLS if named[0] in each["male"] + each["female"]]
        assert all(name in pool[GENDERS[gender]] for name, gender in zip(named, row, strict=True))


@pytest.mark.parametrize("genders", list(product((0, 1), repeat=3)), ids=str)
def test_pools_add_casts_and_repeat_none(genders: tuple[int, ...]) -> None:
    assigner = NameAssigner(POOLS, "x")
    assert assigner.capacity == len(POOLS) * EVERY  # the smallest list of all pools counts
    casts = cast(assigner, np.arange(assigner.capacity), np.tile(np.array(genders, np.int8), (assigner.capacity, 1)))
    assert len(set(casts)) == assigner.capacity
    used = Counter(
        next(number for number, pool in enumerate(POOLS) if one in pool[GENDERS[genders[0]]]) for one, *_ in casts
    )
    assert used == dict.fromkeys(range(len(POOLS)), EVERY)


def test_all_names_are_used() -> None:
    genders = np.tile(np.array([0, 1] * 5, np.int8), (30_000, 1))
    assigner = NameAssigner([*our_names().values()], "x")
    # Rows with the same facts begin at one name; others begin elsewhere, so that no name is left out.
    numbers = assigner.assign(np.arange(30_000), np.arange(30_000) * 7919, genders, Draws("test"))
    found = {assigner.names[number] for number in np.unique(numbers).tolist()}
    assert found == {name for pool in our_names().values() for names in pool.values() for name in names}


def test_there_are_names_for_millions_of_stories() -> None:
    fewest = min(len(names) for pool in our_names().values() for names in pool.values())
    assert NameAssigner([*our_names().values()], "x").capacity == len(our_names()) * (fewest - 24) ** 3 > 4_000_000
