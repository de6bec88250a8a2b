"""Tells whether a reply gives the right answer, and how closely.

Three matchers, all of which label each reply with the most specific rung that it reaches, so that the labels of a run
add up to 1. `strict`: nothing but the answer. `lenient`: the usual ladder, down to the answer being somewhere in the
reply as a piece of text, which also finds a box in a toolbox and in "not in the box". `careful`: reads (see `careful`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.evaluation.matching.careful import judge_carefully
from storyproof.evaluation.matching.match import CONTAINED, EXACT, NO_MATCH, NORMALIZED, PREFIX, SUFFIX, Match
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.llm.functions import load_function

_NO_LETTERS = re.compile(r"[^a-z\s]")
_ARTICLES = re.compile(r"\b(?:an?|the)\b")


class Matcher(Protocol):
    """Compares a reply with the right answer; users' own functions may also return just whether it is right."""

    def __call__(self, reply: str, answer: str, candidates: Sequence[str], /) -> Match | bool:
        """Judge one reply."""


def strict(reply: str, answer: str, candidates: Sequence[str] = ()) -> Match:
    """Take nothing but the answer itself, in whatever case."""
    del candidates
    wanted = answer.strip().lower()
    return EXACT if wanted and reply.strip().lower() == wanted else NO_MATCH


def lenient(reply: str, answer: str, candidates: Sequence[str] = ()) -> Match:
    """Go down the usual ladder: only letters count, articles do not, and any piece of text that fits is enough."""
    found = strict(reply, answer)
    if found.right:
        return found
    wanted, said = _normalized_answer(answer), _normalize(reply)
    if not wanted or wanted not in said:
        return NO_MATCH
    if wanted == said:
        return NORMALIZED
    return PREFIX if said.startswith(wanted) else SUFFIX if said.endswith(wanted) else CONTAINED


def careful(reply: str, answer: str, candidates: Sequence[str] = (), question: str = "") -> Match:
    """Read the reply: whole words, what it denies, and what else it names (see the module `careful`)."""
    return judge_carefully(reply, answer, candidates, question)


MATCHERS: dict[str, Matcher] = {"strict": strict, "careful": careful, "lenient": lenient}


def load_matcher(name: str) -> Matcher:
    """Find a matcher by its name, or a user's own by `module:function` or `file.py:function`.

    Raises:
        UnknownNameError: If there is no such name.
        ConfigError: If there is no such function.
    """
    if name in MATCHERS:
        return MATCHERS[name]
    if ":" not in name:
        raise UnknownNameError("matcher", name, (*MATCHERS, "module:function"))
    return load_function(name, "matcher")


def judge(matcher: Matcher, example: Example, reply: str) -> Match:
    """Judge the reply to an example.

    Raises:
        ConfigError: If a user's own matcher fails, or gives neither a match nor true or false.
    """
    candidates = candidates_of(example)
    if matcher is careful:
        return judge_carefully(reply, example.answer, candidates, example.question)
    name = getattr(matcher, "__name__", repr(matcher))
    try:
        found = matcher(reply, example.answer, candidates)
    except Exception as error:  # whatever somebody else's code may raise
        raise ConfigError(
            f"the matcher '{name}' failed on the reply to {example.id} with {type(error).__name__}: {error}; mend it, "
            "and run the same command again: it asks nothing twice."
        ) from error
    if isinstance(found, Match):
        return found
    if isinstance(found, bool):
        return CONTAINED if found else NO_MATCH
    raise ConfigError(f"the matcher '{name}' gave {found!r}; expected a Match, or true or false.")


def candidates_of(example: Example) -> Sequence[str]:
    """Return the candidates, else what the question's family tells from the text."""
    return example.candidates or family_of(example).candidates(example)


def _normalize(text: str) -> str:
    """Keep letters and the space between words, and drop articles."""
    return " ".join(_ARTICLES.sub("", _NO_LETTERS.sub("", text.lower())).split())


_normalized_answer = lru_cache(maxsize=4096)(_normalize)
