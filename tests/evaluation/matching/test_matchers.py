import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.evaluation.matching import KINDS, MATCHERS, Match, exact, find_meant, judge, load_matcher, matchers
from storyproof.evaluation.matching.matchers import careful, lenient, strict
from storyproof.families.family import family_of
from storyproof.families.kinship.relations import WORDS
from tests.samples import example

PLACES = ("basket", "box", "bread_bin", "jar", "toolbox", "treasure_chest")
places = st.sampled_from(PLACES)
replies = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from([*PLACES, "the", "not", "in", "is", "so", ",", ".", "\n", "answer:", "because"])).map(
        " ".join
    ),
)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("Basket ", "exact_match"),
        ("the basket!", "normalized_match"),
        ("Basket, of course", "prefix_match"),
        ("It is in the basket.", "suffix_match"),
        ("The basket it is: a fine place.", "prefix_match"),
        ("In a basket there", "contained_match"),
        ("not in the basket", "suffix_match"),
        ("basketball", "prefix_match"),
        ("box", "no_match"),
        ("", "no_match"),
    ],
)
def test_lenient(reply: str, kind: str) -> None:
    assert lenient(reply, "basket") == Match(kind, kind != "no_match")


def test_lenient_removes_articles_as_whole_words_only() -> None:
    assert lenient("An a the apple", "apple").kind == "normalized_match"
    assert lenient("Anna", "na").kind == "suffix_match"
    assert lenient("bread bin", "bread_bin").right  # as by `careful`, though letters alone differ


def test_strict() -> None:
    assert strict(" BASKET\n", "basket").right
    assert strict("the basket", "basket").kind == "no_match"


def test_exact() -> None:
    assert exact("box", "box").kind == "exact_match"
    assert exact("Box", "box").kind == "no_match"
    assert judge(exact, example(candidates=[]), "box").right


def test_what_a_reply_means_depends_on_the_matcher() -> None:
    for reply, by_strict, by_careful, by_lenient in (
        ("JAR", "jar", "jar", "jar"),
        ("the jar", None, "jar", "jar"),
        ("not the jar", None, None, "jar"),
        ("the jars or boxes", None, None, "box"),
        ("ajar", None, None, "jar"),
        ("", None, None, None),
    ):
        found = {name: find_meant(matcher, example(answer="shelf"), reply) for name, matcher in MATCHERS.items()}
        assert found == {"strict": by_strict, "careful": by_careful, "lenient": by_lenient}, reply


@pytest.mark.parametrize("name", MATCHERS)
def test_nothing_matches_an_empty_answer(name: str) -> None:
    assert not judge(MATCHERS[name], example(answer=" ", candidates=[]), "").right


@given(reply=replies, answer=places)
def test_every_kind_is_known_and_says_whether_it_is_right(reply: str, answer: str) -> None:
    for matcher in MATCHERS.values():
        found = matcher(reply, answer, PLACES)
        assert isinstance(found, Match)
        assert found.kind in KINDS
        assert found.right == (found.kind.endswith("_match") and found.kind != "no_match")


@given(reply=replies, answer=places)
def test_what_is_strictly_right_is_right(reply: str, answer: str) -> None:
    if strict(reply, answer).right:
        assert careful(reply, answer, PLACES).kind == lenient(reply, answer).kind == "exact_match"


@given(reply=replies)
def test_careful_finds_at_most_one_answer_right(reply: str) -> None:
    assert sum(careful(reply, answer, PLACES).right for answer in PLACES) <= 1


@given(reply=replies, answer=places, order=st.permutations(PLACES))
def test_order_of_candidates_does_not_matter(reply: str, answer: str, order: list[str]) -> None:
    assert careful(reply, answer, order) == careful(reply, answer, PLACES)


@given(answer=places, frame=st.sampled_from(["{}", "The {}.", "in the {}", "It is in the {} now", "{}s", "**{}**"]))
def test_careful_forgives_spelling(answer: str, frame: str) -> None:
    for spelt in (answer, answer.upper(), answer.replace("_", " "), answer.replace("_", "-").title()):
        assert careful(frame.format(spelt), answer, PLACES).right


@given(first=places, second=places)
def test_careful_hears_what_is_denied(first: str, second: str) -> None:
    if first == second:
        return
    for frame in (
        "not in the {} but in the {}",
        "It isn't in the {}; it is in the {}.",
        "It is no longer in the {}, it is in the {}",
        "Instead of the {}, the {}.",
    ):
        reply = frame.format(first, second)
        assert careful(reply, second, PLACES).right, reply
        assert not careful(reply, first, PLACES).right, reply
    assert careful(f"the {first}, not the {second}", first, PLACES).right
    assert careful(f"{first} or {second}", first, PLACES).kind == "ambiguous"


@given(word=st.sampled_from(WORDS), other=st.sampled_from(WORDS))
def test_kin_is_told_apart(word: str, other: str) -> None:
    for frame in ("{}", "Ada is the {} of Ben.", "Ada is Ben's {}", "She is his {}, I think"):
        assert careful(frame.format(word), other, (), "What is Ada to Ben?").right == (word == other)


def test_candidates_of_the_story() -> None:
    def possible(**changes: Any) -> list[str]:
        row = example(candidates=[], **changes)
        return list(family_of(row).candidates(row))

    def mentionable(**changes: Any) -> list[str]:
        row = example(candidates=[], **changes)
        return list(family_of(row).mentionable(row))

    row = example()
    assert family_of(row).candidates(row) == family_of(row).mentionable(row) == ["box", "jar"]
    assert possible() == mentionable() == ["box", "jar"]
    further = f"{row.story}\nThe cup is in the bag."
    assert possible(story=further) == ["box", "jar"]  # where the asked object was
    assert mentionable(story=further) == ["bag", "box", "jar"]
    assert possible(question="Where?") == ["box", "jar"]
    for question in ("What is Ada to Ben?", "How is Ada related to Ben?", "What is the relationship of Ada to Ben?"):
        assert possible(question=question, answer="aunt") == mentionable(question=question) == list(WORDS)
    assert possible(story="Once upon a time.") == mentionable(story="Once upon a time.") == []


def test_load_matcher() -> None:
    assert load_matcher("careful") is careful
    with pytest.raises(UnknownNameError, match=r"unknown matcher 'carefull'. Did you mean 'careful'"):
        load_matcher("carefull")


def test_own_matcher(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def first(reply, answer, candidates):\n    return reply[0] == answer[0]\ndef bad(*_): return 3\n")
    assert judge(load_matcher(f"{path}:first"), example(), "barrel").right
    assert judge(load_matcher(f"{path}:first"), example(), "jar").kind == "no_match"
    with pytest.raises(ConfigError, match="the matcher 'bad' returned 3; expected a Match, or true or false"):
        judge(load_matcher(f"{path}:bad"), example(), "jar")
    with pytest.raises(ConfigError, match="has no function 'nothing'"):
        load_matcher(f"{path}:nothing")
    with pytest.raises(ConfigError, match="the matcher 'first' failed on the reply to 1 with IndexError"):
        judge(load_matcher(f"{path}:first"), example(), "")


def test_candidates_are_those_of_the_row_else_of_the_story() -> None:
    story = f"{example().story}\nThe cup is in the bag."
    assert judge(careful, example(story=story), "the box or the bag").right
    assert judge(careful, example(story=story, candidates=[]), "the box or the bag").kind == "ambiguous"
    assert find_meant(careful, example(story=story), "the bag") is None
    assert find_meant(careful, example(story=story, candidates=[]), "the bag") == "bag"


def test_without_an_example_the_question_tells_the_family() -> None:
    assert not careful("Ben will look in the box", "box", PLACES, "Where will Anne look for the ball?").right
    assert careful("Ben will look in the box", "box", PLACES).right
    assert not careful("his stepmother", "mother", ("mother",)).right


def test_a_reply_is_normalized_once_for_all_candidates() -> None:
    before = matchers._normalized_reply.cache_info().misses
    assert find_meant(lenient, example(candidates=[f"jar {number}" for number in range(20)]), "nowhere at all") is None
    assert matchers._normalized_reply.cache_info().misses == before + 1


def test_judge_knows_the_question() -> None:
    asked = example(question="What is Ada to Ben?", answer="mother", candidates=list(WORDS))
    assert judge(careful, asked, "Ada is Ben's mother").right
    assert not judge(careful, asked, "Ben is Ada's mother").right


def judged(name: str = "judged_replies") -> list[dict[str, str]]:
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_judged_replies_are_enough_and_of_all_kinds() -> None:
    verdicts = Counter(row["verdict"] for row in judged())
    assert verdicts.total() >= 150
    assert set(verdicts) == {"right", "wrong", "none"}
    assert min(verdicts.values()) >= 50


# How often each matcher differs from a person; docs/matching.md says these figures.
@pytest.mark.parametrize(
    ("replies", "name", "false_right", "false_wrong"),
    [
        ("judged_replies", "strict", 0, 73),
        ("judged_replies", "careful", 2, 0),
        ("judged_replies", "lenient", 34, 0),
        ("fresh_replies", "strict", 0, 11),
        ("fresh_replies", "careful", 1, 0),
        ("fresh_replies", "lenient", 24, 0),
    ],
)
def test_errors_of_the_matchers(replies: str, name: str, false_right: int, false_wrong: int) -> None:
    found: Counter[tuple[bool, bool]] = Counter()
    for row in judged(replies):
        asked = example(question=row["question"], answer=row["answer"], candidates=row["candidates"])
        found[judge(MATCHERS[name], asked, row["reply"]).right, row["verdict"] == "right"] += 1
    assert (found[True, False], found[False, True]) == (false_right, false_wrong)


@pytest.mark.parametrize(
    ("reply", "unparsed"),
    [
        ("basket", False),
        ("In the jar.", False),
        ("The jar or the basket", True),
        ("Who knows", True),
        ("Not the jar", True),
    ],
)
def test_a_reply_is_unparsed_if_it_names_no_candidate_or_several(reply: str, unparsed: bool) -> None:
    row = example(question="Where is the key?", answer="basket", candidates=list(PLACES))
    assert matchers.is_unparsed(row, reply) == unparsed
    assert not matchers.is_unparsed(example(question=row.question, answer="attic", candidates=list(PLACES)), "attic")


def test_strict_takes_the_people_of_the_answer_only() -> None:
    people = ("Ann", "Ann, Bo", "Bo", "nobody")
    assert strict("Bo and Ann", "Ann, Bo", people).right
    assert not strict("Bo", "Ann, Bo", people).right


def test_lenient_says_nothing_but_no_match_where_careful_is_not_right() -> None:
    assert lenient("The jars or the baskets?", "treasure_chest", PLACES).kind == "no_match"
    assert lenient("The boxes", "toolbox", PLACES).kind == "no_match"
    assert lenient("In the treasurechest.", "treasure_chest", PLACES).right
