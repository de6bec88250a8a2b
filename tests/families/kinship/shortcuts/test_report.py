import random

import pytest

from storyproof.audits.shortcuts import find_shortcuts
from storyproof.example import Example
from storyproof.families.kinship.shortcuts.report import extract_features, find_overlap
from tests.samples import changed
from tests.shortcuts.stories import kin

MEN = ("Al", "Bo", "Cy", "Dov", "Ed")
WOMEN = ("Amy", "Bea", "Cat", "Dot", "Eva")


def chains(count: int, seed: int = 0) -> list[Example]:
    """A brother's or sister's parent is one's parent; a parent's sibling is an uncle or aunt."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        first, via, last = (
            dice.choice([f"{name}:male" for name in MEN] + [f"{name}:female" for name in WOMEN]) for _ in "abc"
        )
        while len({first, via, last}) < 3:
            via, last = (
                dice.choice([f"{name}:male" for name in MEN] + [f"{name}:female" for name in WOMEN]) for _ in "ab"
            )
        man, then_man = via.endswith(":male"), last.endswith(":male")
        if dice.random() < 0.5:
            types, answer = (
                ["brother" if man else "sister", "father" if then_man else "mother"],
                ("father" if then_man else "mother"),
            )
        else:
            types, answer = (
                ["father" if man else "mother", "brother" if then_man else "sister"],
                ("uncle" if then_man else "aunt"),
            )
        found.append(kin(f"{seed}-{number}", [first, via, last], types, answer))
    return found


def test_what_a_shallow_reader_sees() -> None:
    row = kin("s", ["Al:male", "Amy:female", "Bo:male", "Cy:male"], ["sister", "father", "brother"], "uncle")
    (puzzle,) = extract_features([row])
    assert puzzle.label == "uncle"
    assert (puzzle.first, puzzle.second, puzzle.gender) == ("Al", "Cy", "male")
    assert puzzle.length == 3
    assert puzzle.last_relation == "brother"
    assert puzzle.facts == ("sister", "father", "brother")
    assert puzzle.generations == 1


def test_the_shortest_way_counts_and_the_telling_decides_what_comes_last() -> None:
    row = kin("s", ["Al:male", "Amy:female", "Bo:male"], ["sister", "father"], "father")
    edges, types = [[0, 1], [1, 2], [0, 2]], ["sister", "father", "uncle"]
    shortcut = changed(row, edges=edges, edge_types=types, story="A running text.")
    assert extract_features([shortcut])[0].length == 1
    assert extract_features([shortcut])[0].last_relation == "uncle"


def test_heuristics_by_hand() -> None:
    report = find_shortcuts(chains(200), chains(200, seed=1), learned=False)
    assert report.about == "kinship"
    assert report.chance == pytest.approx(1 / 6)
    assert report.forced.about.startswith("the gender")
    assert 0.4 < report.row("last_relation").accuracy.value < 0.6  # right for parents, wrong for uncles and aunts
    assert 0.4 < report.row("gender_only").accuracy.value < 0.65
    assert report.row("gender_only").accuracy.value <= report.forced.accuracy
    assert report.row("majority").accuracy.value < 0.4
    assert report.row("length_and_gender").accuracy == report.row("gender_only").accuracy  # all are of one length
    assert list(report.row("majority").by_kind) == ["k=2"]
    assert report.row("majority").by_false_belief == {}


def test_an_unknown_length_takes_the_nearest() -> None:
    train = [kin(f"t{n}", ["Al:male", "Amy:female", "Bo:male"], ["sister", "father"], "father") for n in range(3)]
    long = kin("x", ["Al:male", "Amy:female", "Bo:male", "Cy:male"], ["sister", "father", "brother"], "uncle")
    report = find_shortcuts(train, [long, *train], learned=False)
    assert report.row("length_and_gender").by_kind["k=3"].value == 0
    assert report.row("length_and_gender").by_kind["k=2"].value == 1


def test_overlap_between_splits() -> None:
    train = [kin("t", ["Al:male", "Amy:female", "Bo:male"], ["sister", "father"], "father")]
    test = [
        kin("a", ["Al:male", "Cat:female", "Bo:male"], ["sister", "father"], "father"),
        kin("b", ["Al:male", "Cat:female", "Bo:male"], ["mother", "brother"], "uncle"),
        kin("c", ["Bo:male", "Cat:female", "Al:male"], ["mother", "brother"], "uncle"),
    ]
    found = find_overlap(train, test)
    assert found.shares["names"].value == pytest.approx(2 / 3)
    assert found.shares["queries"].value == pytest.approx(2 / 3)
    assert found.shares["queries_with_answer"].value == pytest.approx(1 / 3)
    assert found.by_kind["k=2"] == {name: share for name, share in found.shares.items() if name != "names"}


def test_probes_find_what_words_give_away() -> None:
    pytest.importorskip("sklearn")
    report = find_shortcuts(chains(200), chains(200, seed=1))
    for name in ("relation_words", "facts_unordered"):
        assert report.row(name).accuracy.value > 0.4
    assert report.row("facts_unordered").by_kind["k=2"].of == 200
    assert report.verdict.startswith("A reader who")


def test_names_that_give_the_answer_away() -> None:
    train = [kin(f"t{n}", ["Al:male", "Amy:female", f"{name}:male"], ["mother", "brother"], answer)
             for name, answer in (("Bo", "uncle"), ("Cy", "father")) for n in range(20)]  # fmt: skip
    report = find_shortcuts(train, train, learned=False)
    assert report.row("question_only").accuracy.value == 1
    assert "does not test kinship" in report.verdict
