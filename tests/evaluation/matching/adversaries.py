"""Replies that take long if reading them is not linear in their length, and a check that it is.

Repeating anything that a matcher knows leads it to try much: from every hyphen to the end of a word, from every mention
to the end of the sentence, each conclusion with each mention.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BELIEF = ("box", ("basket", "box", "42", "bread_bin"), "Where will Anne look for the ball?")
UNKNOWN = ("box", ("basket", "box", "bread_bin"), "")
KIN = ("mother", (), "What is Ada to Ben?")
QUESTIONS = (BELIEF, UNKNOWN, KIN)  # answer, candidates, question

_NAMES = (
    *("box", "Box", "basket", "42", "bread", "bread bin", "mother", "mom", "mother-in-law", "great", "grand", "step"),
    *("Anne", "Ada", "Ada's", "Ben'", "she", "he", "it", "they", "A-", "a-", "x", "all along"),
)
_DENIALS = (
    *("not", "isn't", "never", "no", "neither", "nor", "without", "instead of", "doubt", "unaware", "not seen"),
    *("not having", "does not know", "I don't think", "if", "if she had", "had", "is", "is not", "was", "empty"),
)
_CLAUSES = (
    *("because", "since", "as", "but", "however", "while", "and", "and she", "and will", "and so", "so", "therefore"),
    *("this means", "will look", "she looks", "Anne will", "Anne thinks", "still", "probably", "also", "yet", "the"),
    *("a", "an", "his", "of", "to", "named", "would be", "must be", "'s", "'ll"),
)
_ANSWERS = (
    *("answer", "answer is", "answer:", "conclusion is", "final", "final answer:", "actually,", "wait", "no, wait"),
    *("question", "Question:", "question 1", "\nq", "\nQuestion 1", "user", "\\boxed{", "<answer>", "</answer>"),
)
_SIGNS = (
    *("-", "--", "_", "\\_", "—", "–", ".", "...", "…", ",", ";", ":", "!", "?", '"', "'", "’", "*", "**", "#", "`"),
    *("(", ")", "[", "]", "{", "}", "<", "</think>", "<think>", "1", "1.", "2)", "²"),
)
_SPACES = (" ", "\t", "\n", "\n\n", "\r\n", "\N{NO-BREAK SPACE}", "\N{EM SPACE}", "\N{IDEOGRAPHIC SPACE}", "\x0b")
_MARKS = ("é", "e\N{COMBINING ACUTE ACCENT}", "\N{COMBINING ACUTE ACCENT}", "\N{ZERO WIDTH SPACE}", "İ", "ß", "Σ")
TOKENS = (*_NAMES, *_DENIALS, *_CLAUSES, *_ANSWERS, *_SIGNS, *_SPACES, *_MARKS)

_RATIO = 8.0  # of CPU time for four times the length: 4 if linear, 16 if quadratic
_CLEAR = 6.0  # as measured with few tries
_CHEAP_S = 4e-6  # CPU time per character below which nothing is compared; it is a tenth of that


@dataclass(frozen=True)
class Family:
    """Replies of one shape and any length: a head, one or two pieces repeated, a tail."""

    head: str
    first: str
    second: str
    tail: str

    def reply(self, length: int) -> str:
        """Return a reply of about this length."""
        each = length // 2 if self.second else length
        pieces = [piece * (each // len(piece)) for piece in (self.first, self.second) if piece]
        return self.head + "".join(pieces) + self.tail


# What was found by looping models and by trying; each took seconds or minutes.
KNOWN = {
    "hyphens": Family("box A-", "A-", "", " x"),
    "spaces after a question": Family("not box basket\nq", " ", "", "x"),
    "one statement again and again": Family("", "she looks box basket ", "", ""),
    "the answer is the answer is": Family("", "answer is ", "", "box"),
    "corrections after mentions": Family("", "box basket ", ", wait ", ""),
    "conclusions after mentions": Family("", "box basket ", ", so ", ""),
    "others in every sentence": Family("", "Ben will look in the box. ", "", ""),
    "articles before mentions": Family("", "a ", "box basket ", ""),
    "numbers": Family("", "42 ", "", "basket"),
    "unreal conditions": Family("", "if she had box. ", "basket. ", ""),
    "answers without a name": Family("", "answer: ", "box ", ""),
    "subjects before mentions": Family("Ada is ", "also ", "mother ", ""),
    "owners before mentions": Family("", "Ada-", "'s mother ", ""),
}


def single() -> Iterator[Family]:
    """Yield each token repeated, with and without a space."""
    for token in TOKENS:
        yield Family("box ", token, "", " basket")
        yield Family("not basket or ", f"{token} ", "", "x")


def drawn(count: int, seed: int) -> Iterator[Family]:
    """Yield shapes drawn at random: rows of up to three tokens, and two of them in turn."""
    draw = random.Random(seed)

    def row() -> str:
        return "".join(draw.choice(TOKENS) + draw.choice(("", " ", " ")) for _ in range(draw.choice((1, 2, 3))))

    for _ in range(count):
        head, tail = (draw.choice(("", "box ", "not basket ", "mother ", row())) for _ in range(2))
        yield Family(head, row(), draw.choice(("", row())), tail)


def assert_linear(judge: Callable[[str], object], family: Family, length: int) -> None:
    """Check that four times the length takes about four times as long.

    CPU time counts, not the clock, and of several tries the least, so that other processes hardly matter. What takes
    little time for its length passes at once, and what is clearly in proportion after two tries.
    """
    long = _least_time(judge, family.reply(length), 1)
    if long < _CHEAP_S * length or long < _CLEAR * _least_time(judge, family.reply(length // 4), 2):
        return
    long = min(long, _least_time(judge, family.reply(length), 2))
    short = _least_time(judge, family.reply(length // 4), 5)
    assert long < _RATIO * short, f"{family}: {length:,} characters took {long:.3f} s, a quarter {short:.3f} s"


def _least_time(judge: Callable[[str], object], reply: str, tries: int) -> float:
    found = []
    for number in range(tries):
        different = reply + "." * number  # never the same twice: a reading may be remembered
        start = time.process_time()
        judge(different)
        found.append(time.process_time() - start)
    return min(found)
