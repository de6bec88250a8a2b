"""Matchers: does a reply give the right answer, and how closely?

There are three for free text. Each labels a reply with the most specific kind of match, so that the shares of a run add
up to 1. `strict`: nothing but the answer. `lenient`: the usual steps, down to the answer being anywhere in the reply as
a piece of text, which also finds a box in a toolbox and in "not in the box". `careful`: reads (see `careful`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.evaluation.matching.careful import LANGUAGES, judge_carefully, meant_carefully
from storyproof.evaluation.matching.kinds import CONTAINED, EXACT, NO_MATCH, NORMALIZED, PREFIX, SUFFIX, Match
from storyproof.evaluation.matching.people import is_bare_list
from storyproof.example import Example
from storyproof.families.family import families, family_of, recognise
from storyproof.language.answer_language import PLAIN_TALK, Talk, language_of, people_sets
from storyproof.solvers.llm.function_backend import load_function

_NO_LETTERS = re.compile(r"\d|[^\w\s]")
_ARTICLES = re.compile(r"\b(?:an?|the)\b")


class Matcher(Protocol):
    """Compares a reply with the right answer; users' own functions may also return just whether it is right."""

    def __call__(self, reply: str, answer: str, candidates: Sequence[str], /) -> Match | bool:
        """Judge one reply."""


def exact(reply: str, answer: str, candidates: Sequence[str] = ()) -> Match:
    """Accept nothing but the very answer: for solvers that choose among answers."""
    del candidates
    return EXACT if reply == answer else NO_MATCH


def strict(reply: str, answer: str, candidates: Sequence[str] = ()) -> Match:
    """Accept nothing but the answer itself, in any case; people in any order."""
    wanted, said = answer.strip().lower(), reply.strip().lower()
    if wanted and said == wanted:
        return EXACT
    sets = people_sets(tuple(candidates))
    if sets is not None and is_bare_list(said, sets, answer, LANGUAGES[language_of("", tuple(candidates))]):
        return EXACT
    return NO_MATCH


def lenient(reply: str, answer: str, candidates: Sequence[str] = (), question: str = "") -> Match:
    """Compare letters only, without articles; the answer anywhere in the reply is enough, or what `careful` accepts."""
    found = _compare_letters(reply, answer, candidates)
    return found if found.right else _if_right(careful(reply, answer, candidates, question))


def _compare_letters(reply: str, answer: str, candidates: Sequence[str]) -> Match:
    found = strict(reply, answer, candidates)
    if found.right:
        return found
    wanted, said = _normalized_answer(answer), _normalized_reply(reply)
    if not wanted or wanted not in said:
        return NO_MATCH
    if wanted == said:
        return NORMALIZED
    return PREFIX if said.startswith(wanted) else SUFFIX if said.endswith(wanted) else CONTAINED


def _if_right(match: Match) -> Match:
    return match if match.right else NO_MATCH


def careful(reply: str, answer: str, candidates: Sequence[str] = (), question: str = "") -> Match:
    """Read the reply: whole words, what it denies, and what else it names (see the module `careful`)."""
    return judge_carefully(reply, answer, candidates, question, _talk_of((*candidates, answer), question))


MATCHERS: dict[str, Matcher] = {"strict": strict, "careful": careful, "lenient": lenient}


def load_matcher(name: str) -> Matcher:
    """Load a matcher by its name, or a user's own by `module:function` or `file.py:function`.

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
        ConfigError: If a user's own matcher fails, or returns neither a match nor true or false.
    """
    if matcher is exact:
        return exact(reply, example.answer)
    candidates = _candidates(example)
    if matcher is careful:
        return judge_carefully(reply, example.answer, candidates, example.question, family_of(example).talk())
    if matcher is lenient:
        compared = _compare_letters(reply, example.answer, candidates)
        return compared if compared.right else _if_right(judge(careful, example, reply))
    name = getattr(matcher, "__name__", repr(matcher))
    try:
        found = matcher(reply, example.answer, candidates)
    except Exception as error:  # whatever somebody else's code may raise
        raise ConfigError(
            f"the matcher '{name}' failed on the reply to {example.id} with {type(error).__name__}: {error}; fix "
            "it and rerun the same command: nothing is asked twice."
        ) from error
    if isinstance(found, Match):
        return found
    if isinstance(found, bool):
        return CONTAINED if found else NO_MATCH
    raise ConfigError(f"the matcher '{name}' returned {found!r}; expected a Match, or true or false.")


def find_meant(matcher: Matcher, example: Example, reply: str) -> str | None:
    """Return the candidate that a reply means: if that were the right answer, the reply would be right.

    Raises:
        ConfigError: If a user's own matcher fails, or returns neither a match nor true or false.
    """
    candidates = _candidates(example)
    if matcher is careful:
        return meant_carefully(reply, example.answer, candidates, example.question, family_of(example).talk())
    right = (each for each in candidates if judge(matcher, replace(example, answer=each), reply).right)
    return next(right, None)


def is_unparsed(example: Example, reply: str) -> bool:
    """Return whether a reply names no candidate, or several, as `careful` reads it; whichever matcher decides."""
    return not judge(careful, example, reply).right and find_meant(careful, example, reply) is None


def _candidates(example: Example) -> Sequence[str]:
    return example.candidates or family_of(example).mentionable(example)  # no lookup where the row has them


def _talk_of(candidates: Sequence[str], question: str) -> Talk:
    """Return how replies are read where no example tells the family: by the candidates, else by the question."""
    claimed = (family.talk() for family in families() if family.talk().claims(candidates))
    return next(claimed, recognise((), question).talk() if question else PLAIN_TALK)


def _normalize(text: str) -> str:
    """Keep letters and the space between words, and drop articles; an underscore is a space, as in red_suitcase."""
    return " ".join(_ARTICLES.sub("", _NO_LETTERS.sub("", text.lower()).replace("_", " ")).split())


_normalized_answer = lru_cache(maxsize=4096)(_normalize)
_normalized_reply = lru_cache(maxsize=1)(_normalize)  # compared with one candidate after the other
