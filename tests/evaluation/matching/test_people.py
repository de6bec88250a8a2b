"""Lists of people among other sentences, and how a reply matches them."""

from itertools import combinations

import pytest

from storyproof.evaluation.matching import find_meant, judge
from storyproof.evaluation.matching.matchers import careful, strict
from tests.samples import example

PEOPLE = ("Bruno", "Elena", "Malik", "Zoe")
SETS = [", ".join(each) for size in range(1, 5) for each in combinations(PEOPLE, size)]
WHO = "Who believes that the umbrella is in the case?"


@pytest.mark.parametrize(
    ("reply", "meant", "kind"),
    [
        # what is said to be the answer, the last one first
        ("At first I thought that Bruno believes so. Answer: Malik", "Malik", "contained_match"),
        ("Answer: Bruno. Elena does too. Answer: Malik", "Malik", "contained_match"),
        ("Answer: Bruno\nAnswer: Elena\nAnswer: Malik\nAnswer: Zoe", "Zoe", "contained_match"),
        ("Bruno believes so.\nAnswer: Malik\n\nZoe believes so, and Elena believes so.", "Malik", "contained_match"),
        ("Answer: who knows. Bruno believes that.", "Bruno", "contained_match"),
        ("Elena believes so.\nAnswer: Bruno\nAnswer: who knows\nAnswer: who knows", "Bruno", "contained_match"),
        ("Elena believes so.\nAnswer: nobody\nAnswer: Bruno", "Bruno", "contained_match"),
        # corrections
        ("Bruno believes that. Wait, Elena does. Wait, Malik does.", "Malik", "contained_match"),
        ("Bruno. Wait, Elena. Wait, Malik. Wait, Zoe believes so.", "Zoe", "contained_match"),
        # a line or sentence that is nothing but a list
        ("Bruno.\nElena believes so.\nMalik", "Malik", "contained_match"),
        ("Bruno and Elena.\nMalik thinks that Zoe is right.", "Bruno, Elena", "contained_match"),
        ("Malik believes so.\nBruno and Elena", "Bruno, Elena", "contained_match"),
        ("Nobody. Malik thinks so.", "nobody", "contained_match"),
        ("Nobody.\nMalik left the room first.", "nobody", "contained_match"),
        ("Malik believes so. Zoe does.\nNobody", "nobody", "contained_match"),
        ("Bruno and Elena.\nMalik believes that, too; Zoe believes so.", "Bruno, Elena, Malik, Zoe", "prefix_match"),
        ("Malik believes so.\nZoe.\nElena believes so.", "Elena, Malik, Zoe", "contained_match"),
        ("Bruno, Elena and Malik saw it. Zoe.", "Zoe", "contained_match"),
        ("Bruno believes that. Elena, Zoe and Malik saw it being moved to the box.", "Bruno", "prefix_match"),
        # conclusions that say who
        ("Malik believes so. Zoe believes so. So only Bruno and Elena.", "Bruno, Elena", "contained_match"),
        ("Malik believes so, so nobody.", "nobody", "contained_match"),
        ("Malik does, so everybody.", "Bruno, Elena, Malik, Zoe", "contained_match"),
        ("Malik believes so. So do Zoe and Elena.", "Elena, Malik, Zoe", "contained_match"),
        ("Zoe does, so Malik does, so Bruno and Elena do; so it is.", "Bruno, Elena, Malik, Zoe", "contained_match"),
        ("Bruno does, so Elena does, so Malik; he left, and so Zoe.", "Zoe", "contained_match"),
        # nobody, everybody, others
        ("Nobody but Bruno.", "Bruno", "contained_match"),
        ("Everybody but Bruno and Zoe", "Elena, Malik", "contained_match"),
        ("Except Bruno, everybody.", "Elena, Malik, Zoe", "contained_match"),
        ("Bruno, Elena, all of them.", "Bruno, Elena", "prefix_match"),
        ("Bruno does not; the others do.", "Elena, Malik, Zoe", "contained_match"),
        ("Bruno does not. Elena does not. Malik does not. Zoe does not.", "nobody", "contained_match"),
        # clauses
        ("Bruno; Elena", "Bruno, Elena", "normalized_match"),
        ("Neither Bruno nor Elena, but Malik.", "Malik", "contained_match"),
        ("Bruno does not believe so, Elena, too; Zoe does.", "Zoe", "contained_match"),
        ("Bruno thinks it is in the box; Malik that it is in the case.", "Malik", "contained_match"),
        ("Bruno thinks, it is in the box. Malik.", "Malik", "contained_match"),
        ("Elena and Bruno (but not Malik)", "Bruno, Elena", "contained_match"),
        ("Bruno and Elena, because Malik saw it.", "Bruno, Elena", "prefix_match"),
        ("Zoe, who left the room first and never came back", "Zoe", "prefix_match"),
        ("Zoe, who does not believe so", None, "negated"),
        ("Bruno. Malik, too.", "Bruno, Malik", "prefix_match"),
        # nobody is named
        ("Not Bruno. Not Elena.", None, "negated"),
        ("Bruno does not.", None, "negated"),
        ("Hugo does.", None, "no_match"),
        ("I do not know.", None, "no_match"),
        ("", None, "no_match"),
    ],
)
def test_lists_among_other_sentences(reply: str, meant: str | None, kind: str) -> None:
    row = example(question=WHO, answer=meant or "Bruno", candidates=[*SETS, "nobody"])
    assert find_meant(careful, row, reply) == meant
    assert judge(careful, row, reply).kind == kind


def test_where_nobody_is_no_candidate() -> None:
    row = example(question=WHO, answer="Bruno", candidates=SETS)
    assert find_meant(careful, row, "Nobody does.") is None
    assert find_meant(careful, row, "Bruno does.") == "Bruno"


def test_a_name_within_another() -> None:
    people = ("Ann", "Ann-Marie", "Bo")
    sets = [", ".join(each) for size in range(1, 4) for each in combinations(people, size)]
    row = example(question=WHO, answer="Ann-Marie, Bo", candidates=[*sets, "nobody"])
    assert find_meant(careful, row, "Bo and Ann-Marie") == "Ann-Marie, Bo"


def test_an_answer_of_much_text_ends() -> None:
    row = example(question=WHO, answer="Bruno", candidates=[*SETS, "nobody"])
    assert find_meant(careful, row, "Answer: Bruno" + " and" * 600 + " Elena") == "Bruno"
    assert find_meant(careful, row, "Answer: Bruno" + " and" * 400 + " Elena") == "Bruno, Elena"


def test_strict_takes_lists_only() -> None:
    row = example(question=WHO, answer="nobody", candidates=[*SETS, "nobody"])
    assert not judge(strict, row, "whoever").right
    assert not judge(strict, row, "").right
    assert judge(strict, row, "nobody").right
