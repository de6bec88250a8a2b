"""What verify says of single kinship rows, label by label."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from storyproof.families.kinship.audit.labels import LABELS, check_row
from storyproof.families.kinship.prove_labels import LabelJudgement, judge
from storyproof.families.kinship.relations import GENDERS, WORDS
from storyproof.families.kinship.row import read_row
from storyproof.families.kinship.rules import published_rules

Row = dict[str, Any]
Flaw = tuple[str, Any, Any]

# Of strangers' making: of rows of ours more is known.
RIGHT: Row = {
    "id": "mine",
    "story_id": "mine",
    "story": "Ann has a son, Bob. Bob is married to Cat.",
    "question": "What is Cat to Ann?",
    "answer": "daughter-in-law",
    "candidates": sorted(WORDS),
    "question_type": "task_1.2",
    "order": 0,
    "chain": [],
    "story_type": "clean",
    "false_belief": False,
    "readings": ["strict", "published"],
    "proof": [1, 2],
    "k": 2,
    "task": "clean",
    "query": ["Ann", "Cat"],
    "genders": ["Ann:female", "Bob:male", "Cat:female"],
    "edges": [[0, 1], [1, 2]],
    "edge_types": ["son", "wife"],
    "noise_types": [],
    "pattern": "child SO",
    "status": "entailed",
    "proof_steps": [[0, 1, 2]],
    "proof_relations": ["daughter-in-law"],
}
OURS = {"id": "train-000000001-0", "story_id": "train-000000001"}
# A fact about a fourth person, from whom nothing leads back.
NOISE: Row = {
    "story": RIGHT["story"] + " Cat has a brother, Dan.",
    "genders": [*RIGHT["genders"], "Dan:male"],
    "edges": [[0, 1], [1, 2], [2, 3]],
    "edge_types": ["son", "wife", "brother"],
    "noise_types": ["irrelevant"],
    "story_type": "irrelevant",
    "task": "irrelevant",
    "question_type": "task_3.2",
}
MEMORY: Row = {
    "question": "What is Bob to Ann?",
    "query": ["Ann", "Bob"],
    "answer": "son",
    "story_type": "memory",
    "task": "memory",
    "question_type": "task_6.2",
    "proof_steps": [],
    "proof_relations": [],
}
NEPHEW: Row = {  # the daughter's aunt may be the wife's sister, too
    "genders": ["Ann:male", "Bob:female", "Cat:female"],
    "edge_types": ["daughter", "aunt"],
    "answer": "sister",
    "pattern": "child inv-un",
    "readings": ["published"],
    "status": "ambiguous",
    "proof_relations": ["sister"],
}


def flaws(*changes: Row, judged: LabelJudgement | None = None, **more: Any) -> tuple[list[Flaw], Counter[str]]:
    """Return what is wrong in the row, changed, and what is not checked besides the running text."""
    values = dict(RIGHT)
    for change in (*changes, more):
        values |= change
    row = read_row(values)
    unchecked: Counter[str] = Counter()
    found = list(check_row(row, judged or judge([row.structure])[0], unchecked))
    unchecked -= Counter(["story"])
    return found, unchecked


@pytest.mark.parametrize(
    "change", [{}, NOISE, NEPHEW, MEMORY, OURS], ids=["plain", "noise", "two ways", "memory", "ours"]
)
def test_rows_as_they_should_be(change: Row) -> None:
    assert flaws(change) == ([], Counter())


@pytest.mark.parametrize("name", LABELS)
def test_a_label_that_is_missing_is_counted(name: str) -> None:
    if name != "answer":  # without which there is no row
        assert flaws({name: None}) == ([], Counter([name]))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"question": "What is Bob to Ann?"}, ("question", "What is Bob to Ann?", "a question about Ann and Cat")),
        ({"problems": ["edges: odd: really"]}, ("edges", "odd: really", "a value that fits the rest of the row")),
        ({"candidates": ["daughter-in-law"]}, ("candidates", ["daughter-in-law"], sorted(WORDS))),
        ({"readings": ["strict"]}, ("readings", ["strict"], ["strict", "published"])),
        ({"readings": []}, ("readings", [], ["strict", "published"])),
        ({"status": "ambiguous"}, ("status", "ambiguous", "entailed")),
        ({"noise_types": ["irrelevant"]}, ("noise_types", ["irrelevant"], [])),
        ({"story_type": "memory"}, ("story_type", "memory", "clean")),
        ({"pattern": "child"}, ("pattern", "child", "child SO")),
        ({"task": "memory", "question_type": "task_6.2", "candidates": None}, ("task", "memory", "clean")),
        ({"question_type": "task_1.3"}, ("question_type", "task_1.3", "task_1.2")),
        ({"order": 1}, ("order", 1, 0)),
        ({"chain": ["Ann"]}, ("chain", ["Ann"], [])),
        ({"false_belief": True}, ("false_belief", True, False)),
    ],
)
def test_one_wrong_label(change: Row, expected: Flaw) -> None:
    assert flaws(change)[0] == [expected]


def test_a_question_of_another_form() -> None:
    ((field, _, expected),) = flaws(question="Why?")[0]
    assert (field, expected) == ("question", "a kinship question")


# --- answers


def test_a_wrong_answer() -> None:
    wrong = {"answer": "daughter", "proof_steps": None, "proof_relations": None, "status": None}
    expected = ("answer", "daughter", "daughter-in-law")
    assert flaws(wrong)[0] == [expected]
    assert flaws(wrong, readings=None)[0] == [expected]
    assert flaws(wrong, readings=None, status="entailed")[0] == [expected, ("status", "entailed", "contradicted")]
    assert flaws(wrong, readings=None, status="contradicted")[0] == []  # it says so itself
    assert flaws(wrong, status="contradicted")[0] == [expected]
    own = ["rules-0123456789abcdef"]  # nobody knows what follows by these
    assert flaws(wrong, readings=own)[0] == []
    assert flaws(wrong, readings=["strict", *own])[0] == [("readings", ["strict", *own], [])]


def test_a_right_answer_that_says_nothing_more() -> None:
    bare = {"readings": None, "proof_steps": None, "proof_relations": None}
    for status in ("entailed", None):
        assert flaws(bare, status=status)[0] == []


def test_the_right_answer_has_the_gender_of_whom_it_names() -> None:
    wrong = {"answer": "father", "proof_steps": None, "proof_relations": None, "status": None}
    assert flaws(MEMORY, wrong)[0] == [("answer", "father", "son")]


def test_a_wrong_answer_with_a_proof() -> None:
    wrong = {"answer": "daughter", "proof_relations": ["daughter"], "status": None, "readings": None}
    ((field, _, expected),) = flaws(wrong)[0]  # the proof says what is wrong
    assert (field, expected) == ("proof_steps", "a proof of daughter")


def test_what_is_wrong_with_a_proof_that_the_strict_rules_do_not_know() -> None:
    ((field, found, expected),) = flaws(NEPHEW, answer="mother", readings=None, status=None)[0]
    assert (field, expected) == ("proof_steps", "a proof of mother")
    assert found.startswith("the proof ends in ")  # by the published rules its one step is right


def test_no_answer_follows() -> None:
    apart = {
        "genders": ["Ann:female", "Bob:male", "Cat:female", "Dan:male"],
        "edges": [[0, 1], [2, 3]],
        "pattern": "child SO",
        "edge_types": ["son", "husband"],
        "proof_steps": None,
        "status": None,
    }
    assert flaws(apart)[0] == [("answer", "daughter-in-law", "no answer that follows")]


def test_two_answers_follow() -> None:
    judged = LabelJudgement("contradicted", {"strict": [], "published": ["inv-child", "inv-in-law", "cousin"]}, None)
    wrong = {"proof_steps": None, "status": None}
    assert flaws(wrong, judged=judged)[0] == [("answer", "daughter-in-law", "mother or mother-in-law")]


def test_readings() -> None:
    assert flaws(NEPHEW, readings=["strict", "published"])[0] == [("readings", ["strict", "published"], ["published"])]
    odd = ["strict", "published", "odd"]
    assert flaws(readings=odd)[0] == [("readings", odd, "known readings")]
    assert flaws(readings=["strict", "published", "rules-0123456789abcdef"])[0] == []


def test_a_story_that_is_impossible() -> None:
    impossible: Row = {  # Cat would be married to her grandson
        "edges": [[0, 1], [1, 2], [2, 0]],
        "edge_types": ["son", "wife", "daughter"],
        "noise_types": ["supporting"],
        "story_type": "supporting",
        "task": "supporting",
        "question_type": "task_2.2",
        "status": "impossible",
    }
    assert flaws(impossible)[0] == [("story", "a story that fits no family", "a story that is possible")]
    assert flaws(impossible, readings=None)[0] == []


def test_a_status_that_nobody_can_check() -> None:
    judged = LabelJudgement(None, {"strict": ["in-law"], "published": ["in-law"]}, 2)
    found, unchecked = flaws(status=None, readings=["published"], judged=judged)
    assert (found, unchecked) == ([], Counter())
    assert flaws(readings=["published"], judged=judged)[0] == [("status", "entailed", None)]
    assert flaws(status=None, pattern=None, readings=["published"], judged=judged) == ([], Counter(["pattern"]))


# --- candidates


def words_of(predicates: tuple[str, ...]) -> list[str]:
    rules = published_rules()
    return sorted({rules.word(each, gender) for each in predicates for gender in GENDERS})


def test_candidates_of_published_rules() -> None:
    rules = published_rules()
    targets, stated = words_of(rules.targets), words_of((*rules.targets, *rules.stated))
    assert flaws(candidates=targets)[0] == []
    assert flaws(MEMORY, candidates=stated)[0] == []
    mixed = {**MEMORY, "task": "mixed", "question_type": "task_7.2"}
    assert flaws(mixed, candidates=stated)[0] == []
    assert stated != targets
    for change, wrong in (({}, stated), (MEMORY, targets), (mixed, targets)):
        found = [field for field, _, _ in flaws(change, candidates=wrong)[0]]
        assert found == ([] if wrong == sorted(WORDS) else ["candidates"])


def test_candidates_without_the_answer() -> None:
    rest = sorted(set(WORDS) - {"daughter-in-law"})
    assert [field for field, _, _ in flaws(candidates=rest)[0]] == ["candidates"]
    husband = {
        "genders": ["Ann:female", "Bob:male", "Cat:male"],
        "edge_types": ["son", "father"],
        "answer": "husband",
        "pattern": "child inv-child",
        "readings": ["strict"],
        "proof_relations": ["husband"],
    }
    assert flaws(husband)[0] == []
    targets = words_of(published_rules().targets)  # which never conclude that two are married
    assert flaws(husband, candidates=targets)[0] == [("candidates", targets, sorted(WORDS))]


# --- what only rows of ours promise


def test_proofs_of_ours_take_one_fact_after_another() -> None:
    long: Row = {
        "genders": ["Ann:female", "Bob:male", "Cat:female", "Dan:male"],
        "edges": [[0, 1], [1, 2], [2, 3]],
        "edge_types": ["son", "sister", "brother"],
        "answer": "son",
        "k": 3,
        "pattern": "child sibling sibling",
        "query": ["Ann", "Dan"],
        "question": "What is Dan to Ann?",
        "question_type": "task_1.3",
        "proof_steps": [[0, 1, 3], [1, 2, 3]],
        "proof_relations": ["son", "brother"],
        "story": "Ann has a son, Bob. Bob has a sister, Cat. Cat has a brother, Dan.",
    }
    assert flaws(long)[0] == flaws(long, OURS)[0] == []
    short = {"proof_steps": [[0, 2, 3], [0, 1, 2]], "proof_relations": ["son", "daughter"]}
    assert flaws(long, short, OURS)[0] == []
    stated = {
        "edges": [[0, 1], [1, 2], [2, 3], [1, 3]],
        "edge_types": [*long["edge_types"], "brother"],
        "noise_types": ["supporting"],
        "story_type": "supporting",
        "task": "supporting",
        "question_type": "task_2.3",
        "proof_steps": [[0, 1, 3]],
        "proof_relations": ["son"],
    }
    assert flaws(long, stated)[0] == []
    assert flaws(long, stated, OURS)[0] == [
        ("proof_steps", "1 steps", "2 steps, one fact after another"),
        ("k", 3, "2, because the answer follows from 2 facts"),
    ]


def test_proofs_of_memory_have_no_steps() -> None:
    assert flaws(MEMORY, OURS)[0] == []
    judged = judge([read_row({**RIGHT, **MEMORY}).structure])[0]
    less = LabelJudgement(judged.status, judged.derived, 0)
    assert flaws(MEMORY, OURS, judged=less)[0] == [("k", 2, "0, because the answer follows from 0 facts")]


def test_chains_of_ours_lead_from_the_first_to_the_second() -> None:
    expected = "a chain of facts from the first asked person to the second"
    other = {"genders": ["Bob:male", "Ann:female", "Cat:female"], "edges": [[1, 0], [0, 2]], "proof_steps": [[1, 0, 2]]}
    assert flaws(other)[0] == []
    assert flaws(other, OURS)[0] == [("edges", ((1, 0), (0, 2)), expected)]
    back = {
        "query": ["Cat", "Ann"],
        "question": "What is Ann to Cat?",
        "answer": "mother-in-law",
        "readings": ["strict"],
        "proof_steps": [[2, 1, 0]],
        "proof_relations": ["mother-in-law"],
    }
    assert flaws(back)[0] == []
    assert flaws(back, OURS)[0] == [("edges", ((0, 1), (1, 2)), expected)]


def test_facts_of_ours_stand_in_the_order_of_the_chain() -> None:
    turned = {"edges": [[1, 2], [0, 1]], "edge_types": ["wife", "son"], "pattern": "SO child", "proof": [2, 1]}
    assert flaws(turned)[0] == []
    ((field, found, _),) = flaws(turned, OURS)[0]
    assert (field, found) == ("edges", ((1, 2), (0, 1)))


def test_a_row_without_an_id_is_not_one_of_ours() -> None:
    assert flaws(OURS, genders=[*RIGHT["genders"], "Dan:male"])[0]
    assert flaws(id=None, story_id=None, genders=[*RIGHT["genders"], "Dan:male"])[0] == []


def test_people_of_ours() -> None:
    more = {"genders": [*RIGHT["genders"], "Dan:male"]}
    assert flaws(more)[0] == []
    assert flaws(more, OURS)[0] == [
        ("genders", more["genders"], "exactly the people of whom something is stated"),
        ("story", "a text without Dan", "a text that mentions everybody"),
    ]


def test_names_of_ours_have_a_gender(monkeypatch: pytest.MonkeyPatch) -> None:
    from storyproof.families.kinship.audit import labels

    monkeypatch.setattr(labels, "genders_of_names", lambda: {"Bob": "female", "Ann": "female"})
    assert flaws()[0] == []
    assert flaws(OURS)[0] == [("genders", "Bob:male", "Bob:female")]


# --- kinds of stories


def test_tasks() -> None:
    tasks = "clean or supporting or irrelevant or disconnected or all or memory or mixed"
    odd = {"task": "odd", "question_type": "task_9.9", "order": 5}
    assert flaws(odd)[0] == [("task", "odd", tasks)]
    mixed = {"task": "mixed", "question_type": "task_7.2"}
    assert flaws(mixed)[0] == flaws(MEMORY, mixed)[0] == []
    assert flaws(NOISE, mixed)[0] == [("task", "mixed", "irrelevant")]
    assert flaws(NOISE, task=None)[0] == []
    assert flaws(NOISE, task=None, question_type="task_1.2")[0] == [("question_type", "task_1.2", "task_3.2")]


def test_facts_without_a_relation() -> None:
    found, unchecked = flaws(NOISE, edge_types=["son", "wife"])
    assert (found, unchecked) == ([], Counter(["edge_types"]) - Counter(["story"]))


# --- texts


def test_running_text_that_does_not_mention_somebody() -> None:
    assert flaws(story="Ann has a son, Bob.")[0] == []
    expected = ("story", "a text without Cat", "a text that mentions everybody")
    assert flaws(OURS, story="Ann has a son, Bob.")[0] == [expected]


def test_a_story_in_words_that_nobody_knows_is_counted_as_unchecked() -> None:
    row, unchecked = read_row(RIGHT), Counter[str]()
    for count in (1, 2):
        assert list(check_row(row, judge([row.structure])[0], unchecked)) == []
        assert unchecked == Counter(story=count)


@pytest.mark.parametrize("change", [{}, {**NOISE, "edge_types": ["son", "wife"]}], ids=["typed", "untyped"])
def test_columns_that_repeat_the_rest_are_checked(change: Row) -> None:
    odd = "Ann has an odd son."
    assert flaws(change, clean_story=odd)[0] == [("clean_story", odd, "the story's own sentences about the chain")]
    assert flaws(change, text_query="Who?")[0] == []
    assert flaws(change, OURS, text_query="Who?")[0] == [("text_query", "Who?", "nothing")]


def test_a_text_that_reveals_the_answer() -> None:
    plain = "Ann has a son, Bob. Bob is married to his wife, Cat."
    reveals = plain + " Cat is the daughter-in-law of Ann."

    def told(text: str) -> Row:
        for place, name in enumerate(("Ann", "Bob", "Cat")):
            text = text.replace(name, f"ENT_{place}_{RIGHT['genders'][place].partition(':')[2]}")
        return {"placeholders": [f"son,wife/female,male,female/{text}"], "proof": [1]}

    assert flaws(told(plain), story=plain)[0] == []
    ((field, found, expected),) = flaws(told(reveals), story=reveals)[0]
    assert (field, [found]) == ("placeholders", told(reveals)["placeholders"])
    assert "daughter-in-law" in expected
