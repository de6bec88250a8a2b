import pytest

from storyproof.families.belief.baselines import apply_rules
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.tomi_text import parse, parse_question
from storyproof.solvers.baselines import Rules
from tests.samples import BELIEF, MEMORY, REALITY, SEARCH, STORY, example, examples

LEAVE = ["Ada exited the attic.", "Ben entered the attic."]  # after STORY: a second-order false belief


def answer(story: str, question: str) -> str:
    asked = parse_question(question)
    return apply_rules(parse(story), asked.thing, asked.order, is_memory=asked.ask == Ask.MEMORY)


@pytest.mark.parametrize("benchmark", ["tom-babi", "tom-babi-easy"])
@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_perfect_where_templates_are_strict(benchmark: str, split: str) -> None:
    rows = examples(benchmark, split)
    assert Rules().predict(rows) == [row.answer for row in rows]


@pytest.mark.parametrize(("question", "right"), [(MEMORY, "box"), (REALITY, "jar"), (SEARCH, "box"), (BELIEF, "box")])
def test_false_belief(question: str, right: str) -> None:
    assert answer(STORY, question) == right


@pytest.mark.parametrize(("question", "right"), [(MEMORY, "box"), (REALITY, "jar"), (SEARCH, "jar"), (BELIEF, "jar")])
def test_nobody_left(question: str, right: str) -> None:
    stay = [sentence for sentence in STORY.split("\n") if "exited" not in sentence]
    assert answer("\n".join(stay), question) == right


@pytest.mark.parametrize(("question", "right"), [(SEARCH, "jar"), (BELIEF, "box")])
def test_first_order_goes_by_the_last_exit_and_second_by_the_first(question: str, right: str) -> None:
    assert answer("\n".join([STORY, *LEAVE]), question) == right


def test_agents_are_not_looked_at() -> None:
    # Ada moved it and knows; the rules say otherwise, which is what ToMi was made to show.
    assert answer(STORY, "Where will Ada look for the key?") == "box"


def test_exits_before_the_last_placing_do_not_count() -> None:
    told_again = STORY.split("\n")
    told_again[3:3] = ["Ada exited the attic.", "Ada entered the attic.", "The key is in the box."]
    told_again = [sentence for sentence in told_again if sentence != "Ben exited the attic."]
    assert answer("\n".join(told_again), SEARCH) == "jar"


def test_other_objects_are_not_mistaken_for_this_one() -> None:
    story = STORY + "\nThe map is in the tin.\nAda moved the map to the urn."
    assert answer(story, REALITY) == "jar"
    assert answer(story, "Where is the map really?") == "urn"


def test_object_that_is_nowhere() -> None:
    assert answer(STORY, "Where is the map really?") == ""


def test_one_answer_an_example_in_order() -> None:
    asked = [example(question=REALITY), example(question=MEMORY), example(question=REALITY)]
    assert Rules().predict(asked) == ["jar", "box", "jar"]
