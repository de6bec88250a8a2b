"""Which part of a reply counts, one rule at a time."""

import pytest

from storyproof.evaluation.matching.careful import ReplyReading, judge_carefully, meant_carefully, read_reply
from storyproof.evaluation.matching.kinds import (
    AMBIGUOUS,
    CONTAINED,
    EXACT,
    NEGATED,
    NO_MATCH,
    NORMALIZED,
    PREFIX,
    SUFFIX,
    Match,
)
from storyproof.language.answer_language import PLAIN_TALK, Mention, Talk

NAMES = ("box", "jar", "treasure_chest")
NUMBERS = ("41", "42")


def read(reply: str, names: tuple[str, ...] = NAMES) -> str | None:
    return read_reply(reply, names, "", PLAIN_TALK).name


def test_a_reading_knows_no_right_answer() -> None:
    assert read_reply("the box", NAMES, "", PLAIN_TALK) == ReplyReading(NORMALIZED, "box")
    assert read_reply("box or jar", NAMES, "", PLAIN_TALK) == ReplyReading(AMBIGUOUS)
    assert read_reply("not the box", NAMES, "", PLAIN_TALK) == ReplyReading(NEGATED)
    assert read_reply("the attic", NAMES, "", PLAIN_TALK) == ReplyReading(NO_MATCH)
    assert read_reply("", NAMES, "", PLAIN_TALK) == ReplyReading(NO_MATCH)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("box", EXACT),
        ("Box ", EXACT),
        ("an a the 1 2 box -- the", NORMALIZED),
        ("box and box", PREFIX),
        ("box, 2 box", PREFIX),
        ("the box it is", PREFIX),
        ("it is the box", SUFFIX),
        ("it is box, box", SUFFIX),
        ("ah, box: a 1", SUFFIX),
        ("it is the box there", CONTAINED),
        ("1a box", SUFFIX),
        ("box the1", PREFIX),
        ("not the jar but the box", SUFFIX),
    ],
)
def test_kinds(reply: str, kind: Match) -> None:
    assert judge_carefully(reply, "box", NAMES) == kind


def test_what_is_judged_and_what_is_meant() -> None:
    assert judge_carefully("the jar", "box", NAMES) == NO_MATCH
    assert judge_carefully("the jar or box", "box", NAMES) == AMBIGUOUS
    assert judge_carefully("not the jar", "box", NAMES) == NEGATED
    assert judge_carefully("the bin", "bin", NAMES) == NORMALIZED
    assert judge_carefully("the box", " ", NAMES) == judge_carefully("", "", NAMES) == NO_MATCH
    assert judge_carefully(" ", " box", NAMES) == NO_MATCH
    assert meant_carefully("the jar", "box", NAMES) == "jar"
    assert meant_carefully(" JAR\n", "box", ("jar ", "box")) == "jar "
    assert meant_carefully("so", "box", ("so", "box")) == "so"
    assert meant_carefully("-", "box", ("-", "box")) == "-"
    assert meant_carefully("the bin", "bin", NAMES) is None
    assert meant_carefully("the jar or box", "box", NAMES) is None
    assert meant_carefully("", "box", ("", "box")) is None


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        # The last correction with a mention after it
        ("jar. wait, box. wait, jar. wait, never mind", "jar"),
        ("jar. wait, box. actually, fine", "box"),
        ("jar, no wait, box", "box"),
        ("wait, jar. so box", "box"),
        ("jar. correction: box", "box"),
        ("jar. scratch  that, box", "box"),
        ("jar, waiting, box", "box"),
        ("the jar awaits the box", None),
        ("jar .........wait, box", "box"),
        ("it was the jar. ((((((((( wait, the box there", None),
        ("wait, box. the jar is near", None),
        ("box. jar. wait, box. treasure chest is it, wait", None),
        # The last conclusion
        ("jar, so box, so jar, so what", "jar"),
        ("it was the jar. so far the box is it", None),
        ("jar so that box", None),
        ("the jar, which means the box", "box"),
        ("not the jar. the box, so the jar. hence nothing", "jar"),
        ("because of the jar, so box", "box"),
        ("because of the jar", "jar"),
        # Answers
        ("the jar. the answer is the box", "box"),
        ("the jar. the answer is the box. the jar", "box"),
        ("answer: jar. answer: box", None),
        ("answer: jar. no. answer: box", "box"),
        ("answer: jar. final answer: box. the jar", "box"),
        ("answer: box. final answer: see above. jar", "box"),
        ("answer: finally jar. answer: box", None),
        ("answer: jar. answer: finally box", None),
        ("answer: jar. answer: treasure chest. sorry, answer: box", "box"),
        ("it was the jar. answer: -- box", "box"),
        ("jar. answer: *** \n box", "box"),
        ("answer: \n\n**box**\n\njar", "box"),
        ("answer: something else. box or jar", None),
        ("the answer would be box. jar", "box"),
        ("jar \\boxed{box}", "box"),
        ("jar <answer>box</answer> jar", "box"),
        ("the answers: box. then the jar there", None),
        # An answer that has the first or last sentence to itself
        ("box\nit was in the jar", "box"),
        ("it was in the jar\nbox", "box"),
        ("the box! it was in the jar. then in the box", "box"),
        ("it was in the jar\nbox\nit was moved to the jar", None),
        ("it was there\njar\nbox", None),
        ("box\nit was in the jar\nbox\nand so on", "box"),
        ("there it is\nbox\nit was in the jar\nbox", "box"),
        ("1. box\nit was in the jar", "box"),
        ("treasure\nchest\nit was in the jar", "treasure_chest"),
        ("box jar\nit was in the box", None),
        ("a\nbox\nit was in the jar", "box"),
        # Further questions of the model's own
        ("not jar but box\nquestion: where?\njar", "box"),
        ("not jar but box\n\n  q 2 : jar", "box"),
        ("not jar but box\nqueue: jar", None),
        ("\nquestion: jar or box\n", None),
        ("no jar, box\nuser : jar", "box"),
        # Thinking, typesetting
        ("<think>jar</think>box", "box"),
        ("<think>jar</think>jar</think>box<think>jar", "box"),
        ("box <think> jar", "box"),
        ("treasure\\_chest", "treasure_chest"),
        ("treasure—chest", "treasure_chest"),
        ("it isn’t the jar, box", "box"),
        # Signs that a single name may be denied
        ("I doubted the box", None),
        ("anywhere but the box", None),
        ("the box is empty", None),
        ("it isnt the box", None),
        ("if she had seen it, box", None),
    ],
)
def test_what_counts(reply: str, name: str | None) -> None:
    assert read(reply) == name


@pytest.mark.parametrize(
    ("reply", "name"),
    [("42", "42"), ("42, 41", None), ("not 41 but 42", "42"), ("42\nwhich is 41 + 1", "42"), ("41 + 1 is\n42", "42")],
)
def test_numbers(reply: str, name: str | None) -> None:
    assert read(reply, NUMBERS) == name


def test_a_letter_that_grows_in_lower_case_moves_no_mention() -> None:
    assert [len(letter.lower()) for letter in map(chr, range(0x110000)) if len(letter.lower()) != 1] == [2]

    class Checking(Talk):
        def set_aside_first(self, said: str, found: object, question: str) -> tuple[Mention, ...]:
            [mention] = found  # type: ignore[misc]
            assert said[mention.start : mention.end] == "Box"
            return ()

    assert read_reply("İİİ: Box", NAMES, "Where?", Checking()).name == "box"


class Aside(Talk):
    """A family that sets mentions aside, as lists, and finds one place decisive."""

    def __init__(self, first: tuple[str, ...] = (), decisive: tuple[str, ...] = (), last: tuple[str, ...] = ()) -> None:
        self._first, self._decisive, self._last = first, decisive, last

    def set_aside_first(self, said: str, found: list[Mention], question: str) -> list[Mention]:  # type: ignore[override]
        return [mention for mention in found if mention.name in self._first]

    def decisive(self, said: str, found: list[Mention], question: str) -> list[Mention]:  # type: ignore[override]
        return [mention for mention in found if mention.name in self._decisive]

    def set_aside_last(self, said: str, text: str, found: list[Mention], question: str) -> list[Mention]:  # type: ignore[override]
        return [mention for mention in found if mention.name in self._last]


@pytest.mark.parametrize(
    ("reply", "talk", "reading"),
    [
        ("box or jar", Aside(first=("jar",)), ReplyReading(PREFIX, "box")),
        ("the jar", Aside(first=("jar",)), ReplyReading(NO_MATCH)),
        ("box or jar", Aside(last=("jar",)), ReplyReading(PREFIX, "box")),
        ("box or jar", Aside(last=("jar", "box")), ReplyReading(NO_MATCH)),
        ("not box or jar", Aside(last=("jar",)), ReplyReading(NEGATED)),
        ("the jar", Aside(last=("jar",)), ReplyReading(NORMALIZED, "jar")),  # nothing makes it worth reading
        ("box or jar", Aside(decisive=("jar",)), ReplyReading(SUFFIX, "jar")),
        ("box or jar", Aside(decisive=("jar", "box")), ReplyReading(AMBIGUOUS)),
        ("box, not jar", Aside(decisive=("jar",)), ReplyReading(PREFIX, "box")),
        ("jar. answer: box", Aside(decisive=("jar",)), ReplyReading(SUFFIX, "box")),
    ],
)
def test_what_a_family_says_of_mentions(reply: str, talk: Talk, reading: ReplyReading) -> None:
    assert read_reply(reply, NAMES, "Where?", talk) == reading
    if talk._first or talk._last or talk._decisive:  # type: ignore[attr-defined]
        assert read_reply(reply, NAMES, "", talk) == read_reply(reply, NAMES, "", PLAIN_TALK)


def test_a_family_may_have_every_reply_read() -> None:
    class Always(Aside):
        reads_always = True

    talk = Always(last=("jar",))
    assert read_reply("the jar", NAMES, "Where?", talk) == ReplyReading(NO_MATCH)
    assert read_reply("the jar", NAMES, "", talk) == ReplyReading(NORMALIZED, "jar")
    assert read_reply("box, wait, box it is", NAMES, "Where?", talk) == ReplyReading(CONTAINED, "box")
    assert read_reply("box, wait, box it is", NAMES, "", talk) == ReplyReading(PREFIX, "box")
