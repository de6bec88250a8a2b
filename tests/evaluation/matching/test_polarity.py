"""Replies to questions of yes or no: what decides, and how they match."""

import pytest

from storyproof.evaluation.matching import find_meant, judge
from storyproof.evaluation.matching.matchers import careful
from storyproof.evaluation.matching.polarity import yes_and_no
from tests.samples import example

KNOWS, WRONG = "Does Ada know where the key is?", "Does Ada know that Ben is wrong about where the key is?"
KNOWS_DE, KNOWS_ES, KNOWS_ZH = (
    "Weiß Ada, wo der Schlüssel ist?",
    "¿Sabe Ada dónde está la llave?",
    "杨军知道手镯在哪里吗？",
)
KNOWS_THEY = "Do they know where the key is?"
NAMES = {
    KNOWS_THEY: ("no", "yes"),
    KNOWS: ("no", "yes"),
    WRONG: ("no", "yes"),
    KNOWS_DE: ("ja", "nein"),
    KNOWS_ES: ("no", "sí"),
}


@pytest.mark.parametrize(
    ("question", "reply", "meant", "kind"),
    [
        (KNOWS, "Yes.", "yes", "normalized_match"),
        (KNOWS, "Yes", "yes", "exact_match"),
        (KNOWS, "Yes, she does.", "yes", "prefix_match"),
        (KNOWS, "Wait, no. Wait, yes.", "yes", "normalized_match"),
        (KNOWS, "No. Wait, she knows it. Wait, no. Wait, yes.", "yes", "normalized_match"),
        (KNOWS, "Answer: yes. Answer: no.", "no", "suffix_match"),
        (KNOWS, "The answer is a clear yes", "yes", "suffix_match"),
        (KNOWS, "The answer is neither yes nor no.", None, "no_match"),
        (KNOWS, "In my view, no. She left.", "no", "prefix_match"),
        (KNOWS, "Since Ben left, she does not know. Yes.", "yes", "suffix_match"),
        (KNOWS, "She left, so no. She returned, so yes.", "yes", "suffix_match"),
        (KNOWS, "She returned, so yes. That is all there is to say, as far as I know.", "yes", "prefix_match"),
        (KNOWS, "I see; yes.", "yes", "suffix_match"),
        (KNOWS, "Ada knows it, Ben does not.", "yes", "contained_match"),
        (KNOWS, "She knows it. She does not know it.", None, "ambiguous"),
        (KNOWS, "She knows it. She knows it well.", "yes", "contained_match"),
        (KNOWS, "Ada thinks that she knows it, but she is wrong.", "no", "contained_match"),
        (KNOWS, "She does not think that she knows it", "no", "contained_match"),
        (KNOWS, "Only Ben knows it, not Ada.", "no", "contained_match"),
        (KNOWS, "Ada is wrong about it.", "no", "contained_match"),
        (KNOWS, "Ben is wrong about it.", None, "no_match"),
        (KNOWS, "She is wrong about it.", "no", "contained_match"),
        (KNOWS, "Ada is not wrong about it.", "yes", "contained_match"),
        (KNOWS, "Because she saw the move, she knows it.", "yes", "contained_match"),
        (KNOWS, "She knows it because Ben does not.", "yes", "contained_match"),
        (KNOWS, "Ada saw how it was moved, so she knows it.", "yes", "contained_match"),
        (KNOWS, "Camille has no way of knowing that.", "no", "contained_match"),
        (KNOWS, "She was there, so she does", "yes", "suffix_match"),
        (KNOWS, "She left, therefore not really", "no", "suffix_match"),
        (KNOWS, "Ben does not believe, she knows it", "no", "contained_match"),
        (KNOWS, "She did not leave, she knows it", "yes", "contained_match"),
        (KNOWS, "Only Ada knows it", "yes", "contained_match"),
        (KNOWS, "Ben was wrong, and Ada thinks that she knows it", "yes", "contained_match"),
        (KNOWS, "Because she does not know Ben, she knows it", "yes", "contained_match"),
        (KNOWS, "Ada left, so she does not know it, and Ben knows it", "no", "contained_match"),
        (KNOWS_THEY, "They are wrong about it.", None, "no_match"),
        (KNOWS, "Sadly no", "no", "normalized_match"),
        (KNOWS, "Definitely.", "yes", "normalized_match"),
        (KNOWS, "I don't think so.", "no", "normalized_match"),
        (KNOWS, "Yes and no.", None, "no_match"),
        (KNOWS, "I cannot say.", None, "no_match"),
        (KNOWS, "She thinks that it is in the box.", None, "no_match"),
        (KNOWS, "She wrongly thinks that it is in the box.", "no", "contained_match"),
        (KNOWS, "Indeed she does", "yes", "prefix_match"),
        (KNOWS, "Hm", None, "no_match"),
        (KNOWS, "...", None, "no_match"),
        (WRONG, "She knows that he is wrong.", "yes", "contained_match"),
        (WRONG, "He is not wrong.", "no", "contained_match"),
        (WRONG, "Ben is wrong.", None, "no_match"),
        (WRONG, "Ada is wrong, too.", None, "no_match"),
        (WRONG, "She does not know that he is wrong.", "no", "contained_match"),
        (KNOWS_ZH, "是", "知道", "normalized_match"),
        (KNOWS_ZH, "否", "不知道", "normalized_match"),
        (KNOWS_ZH, "他知道", "知道", "contained_match"),
        (KNOWS_ZH, "杨军错了", "不知道", "contained_match"),
        (KNOWS_ZH, "他没有弄错", "知道", "contained_match"),
        (KNOWS_ZH, "应该知道", "知道", "normalized_match"),
        (KNOWS_ZH, "我认为不知道", "不知道", "normalized_match"),
        (KNOWS_DE, "Ja, das weiß sie", "ja", "prefix_match"),
        (KNOWS_DE, "Leider nein", "nein", "normalized_match"),
        (KNOWS_DE, "Ada irrt sich.", "nein", "contained_match"),
        (KNOWS_DE, "Ada hat gesehen, wie er umgelegt wurde, also weiß sie es.", "ja", "contained_match"),
        (KNOWS_ES, "si", "sí", "normalized_match"),
        (KNOWS_ES, "Ella lo sabe", "sí", "contained_match"),
        (KNOWS_ES, "Ada se equivoca", "no", "contained_match"),
        (KNOWS_ES, "No lo puedo decir.", None, "no_match"),
    ],
)
def test_what_decides(question: str, reply: str, meant: str | None, kind: str) -> None:
    names = NAMES.get(question, ("不知道", "知道"))
    row = example(question=question, answer=meant or names[0], candidates=list(names))
    assert find_meant(careful, row, reply) == meant
    assert judge(careful, row, reply).kind == kind


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (("no", "yes"), ("yes", "no")),
        (("yes", "no"), ("yes", "no")),
        (("不知道", "知道"), ("知道", "不知道")),
        (("否", "是"), ("是", "否")),
        (("maybe", "no", "yes"), None),
        (("no", "yes", "ja"), None),
        (("yes", "ja"), None),
        (("no",), None),
        (("box", "jar"), None),
    ],
)
def test_which_candidates_are_yes_and_no(names: tuple[str, ...], pair: tuple[str, str] | None) -> None:
    assert yes_and_no(names) == pair
