import pytest

from storyproof.families.belief.family import FAMILY
from storyproof.solvers.baselines import Majority, Oracle, Random
from tests.samples import BELIEF, MEMORY, REALITY, SEARCH, STORY, example, examples


@pytest.mark.parametrize("benchmark", ["tomi", "tom-babi", "tom-babi-easy"])
def test_oracle_is_perfect(benchmark: str) -> None:
    rows = examples(benchmark, "test")
    assert Oracle().predict(rows) == [row.answer for row in rows]


def test_oracle_reads_the_text_and_not_the_label() -> None:
    asked = [example(question=question, answer="nowhere") for question in (MEMORY, REALITY, SEARCH, BELIEF)]
    assert Oracle().predict(asked) == ["box", "jar", "box", "box"]


def test_oracle_says_nothing_where_there_is_no_belief() -> None:
    assert Oracle().predict([example(question="Where will Zoe look for the key?")]) == [""]


def test_random_hangs_on_the_seed_alone() -> None:
    rows = examples("tomi", "test")
    answers = Random(seed=1).predict(rows)
    assert Random(seed=1).predict(rows) == answers
    assert Random(seed=2).predict(rows) != answers


def test_random_does_not_hang_on_the_order() -> None:
    rows = examples("tomi", "test")
    assert Random().predict(rows[::-1]) == Random().predict(rows)[::-1]
    assert Random().predict(rows[5:6]) == Random().predict(rows)[5:6]


def test_random_is_fair() -> None:
    rows = examples("tomi", "test")
    first = sum(answer == FAMILY.positions(row)[0] for row, answer in zip(rows, Random().predict(rows), strict=True))
    assert 0.42 < first / len(rows) < 0.58  # 576 draws; four standard deviations


def test_majority_says_the_place_most_often_right() -> None:
    asked = [
        *(example(question=SEARCH, answer=answer) for answer in ("box", "jar", "jar")),
        *(example(question=BELIEF, answer=answer) for answer in ("box", "box", "jar")),
        example(question=MEMORY, answer="box"),
        example(question=REALITY, answer="jar"),
    ]
    assert Majority().predict(asked) == ["jar"] * 3 + ["box"] * 3 + ["box", "jar"]


def test_majority_is_about_places_not_words() -> None:
    swapped = STORY.replace("box", "tin").replace("jar", "box").replace("tin", "jar")
    asked = [example(answer="box"), example(answer="jar", story=swapped), example(answer="jar")]
    assert Majority().predict(asked) == ["box", "jar", "box"]


@pytest.mark.parametrize("solver", [Random(), Majority(), Oracle()])
def test_object_that_is_nowhere(solver: Random | Majority | Oracle) -> None:
    assert solver.predict([example(question="Where is the map really?")]) == [""]


def test_places_in_the_order_of_the_story() -> None:
    assert FAMILY.positions(example()) == ["box", "jar"]
    assert FAMILY.positions(example(story=STORY + "\nAda moved the key to the box.")) == ["box", "jar"]
