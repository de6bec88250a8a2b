"""Judges answers by matchers, counts and records them, and explains wrong ones by the mistake that leads to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

from storyproof.errors import StoryproofError
from storyproof.evaluation.matching import Match, Matcher, find_meant, is_unparsed, judge
from storyproof.evaluation.matching.kinds import NO_MATCH
from storyproof.evaluation.options import Prices
from storyproof.evaluation.runs import Prediction, PredictionSink, story_hash
from storyproof.evaluation.scores import Tally
from storyproof.example import Example
from storyproof.families.family import Family, family_of
from storyproof.solvers.llm.messages import Reply
from storyproof.solvers.solver import Answer

LABEL, UNSETTLED, NO_ANSWER, UNEXPLAINED = "label", "unsettled", "no_answer", "unexplained"
_FIRST = {
    LABEL: "what is proved; the label is wrong",
    UNSETTLED: "something, though no answer follows from the story",
}
_LAST = {NO_ANSWER: "nothing that is a possible answer", UNEXPLAINED: "something that no known mistake explains"}


def describe(family: Family) -> dict[str, str]:
    """Return all explanations of wrong answers in order of priority, each in words that follow "answered"."""
    return {**_FIRST, **family.mistakes, **_LAST}


class MistakeFinder:
    """Explains wrong answers to one example.

    Args:
        example: What was asked.
    """

    def __init__(self, example: Example) -> None:
        family = family_of(example)
        try:
            self._answers = dict(family.mistaken_answers(example))
            self._proved: str | None = family.checked_answer(example)
            self._possible = frozenset(family.candidates(example))
        except (StoryproofError, LookupError, ValueError):  # rows may name people that are not in their text
            self._proved, self._answers, self._possible = None, {}, frozenset(example.candidates)

    def explain(self, answer: str) -> tuple[str, ...]:
        """Return all explanations that fit a wrong answer, the first of `describe` first; at least one."""
        explanations = []
        if self._proved is not None and self._proved == answer != "":
            explanations.append(LABEL)
        if self._proved == "":
            explanations.append(UNSETTLED)
        explanations += [name for name, answers in self._answers.items() if answer in answers]
        return tuple(explanations) or ((UNEXPLAINED if answer in self._possible else NO_ANSWER),)


_MOST_KEPT = 100_000  # verdicts on answers that came early, about 20 MB


class _Verdict(NamedTuple):
    """What the deciding matcher finds, and which candidate an answer means, if any."""

    match: Match
    meant: str | None


class AnswerJudge:
    """Judges the answers of one run.

    Args:
        matchers: By name.
        chosen: The name of the matcher that decides.
        free_text: Whether answers are free-text replies.
        prices: What tokens cost.
        can_answer: Whether the solver could have answered an example at all; by default it could.
    """

    def __init__(
        self,
        matchers: Mapping[str, Matcher],
        chosen: str,
        *,
        free_text: bool,
        prices: Prices | None = None,
        can_answer: Callable[[Example], bool] | None = None,
    ) -> None:
        self._matchers, self._chosen, self.free_text, self._prices = dict(matchers), chosen, free_text, prices
        self._can_answer = can_answer
        self._unknown_answers = 0
        self.tally = Tally(list(self._matchers))
        self._read = self._written = self._cached = 0
        self._has_tokens = False
        self._cut_off = self._at_limit = self._unparsed = 0
        self._kept: dict[bytes, _Verdict] = {}

    @property
    def missing(self) -> float:
        """The share of the questions without an answer."""
        return 1 - len(self.tally) / self.tally.asked if self.tally.asked else 0.0

    def is_right(self, answer: Answer) -> bool:
        """Return whether an answer counts as right; its verdict is kept until it is added, to judge it only once."""
        verdict = self._decide(answer)
        if len(self._kept) < _MOST_KEPT:
            self._kept[_fingerprint(answer)] = verdict
        return verdict.match.right

    def add(self, answer: Answer, recorder: PredictionSink) -> None:
        """Judge, count and record an answer."""
        for reply in answer.replies:
            self._read += reply.prompt_tokens or 0
            self._written += reply.output_tokens or 0
            self._cached += reply.cached_tokens or 0
            self._has_tokens |= reply.prompt_tokens is not None
        if not answer.complete:
            self.tally.fail(answer.example, answer.error)
            return
        self._cut_off += answer.cut_off
        self._at_limit += answer.at_limit
        self._unparsed += self.free_text and (answer.cut_off or is_unparsed(answer.example, answer.text))
        self._unknown_answers += self._can_answer is not None and not self._can_answer(answer.example)
        verdict = self._kept.pop(_fingerprint(answer), None) if self._kept else None
        verdict = verdict or self._decide(answer)
        matches = {
            name: verdict.match if name == self._chosen else self._judge(matcher, answer)
            for name, matcher in self._matchers.items()
        }
        self.tally.add(answer.example, matches)
        recorder.add(self._prediction(answer, verdict))

    def extend(self, tally: Tally, unknown_answers: int) -> None:
        """Count what a judge of another part of the run has counted; its answers are not free-text replies."""
        self.tally.extend(tally)
        self._unknown_answers += unknown_answers

    @property
    def unknown_answers(self) -> int:
        """How many answers the solver could not have given."""
        return self._unknown_answers

    @staticmethod
    def _judge(matcher: Matcher, answer: Answer) -> Match:
        """Judge an answer; where there is none, not even a user's own matcher can find it right."""
        return NO_MATCH if answer.cut_off else judge(matcher, answer.example, answer.text)

    def _decide(self, answer: Answer) -> _Verdict:
        """Judge an answer by the deciding matcher, and find what it means, which can be scored against other labels."""
        matcher = self._matchers[self._chosen]
        match = self._judge(matcher, answer)
        if match.right or answer.cut_off or not self.free_text:
            return _Verdict(match, answer.example.answer if match.right else None)
        return _Verdict(match, find_meant(matcher, answer.example, answer.text))

    def _prediction(self, answer: Answer, verdict: _Verdict) -> Prediction:
        example, family = answer.example, family_of(answer.example)
        prediction = Prediction(
            id=example.id,
            story_id=example.story_id,
            story_hash=story_hash(example.story),
            question_type=example.question_type,
            kind=family.kind(example),
            order=example.order,
            false_belief=example.false_belief,
            question=example.question,
            answer=answer.text,
            target=example.answer,
            right=verdict.match.right,
        )
        if not self.free_text:
            return prediction
        last = answer.replies[-1] if answer.replies else None
        several = len(answer.replies) > 1 or (last is not None and last.text != answer.text)
        return replace(
            prediction,
            answer="" if answer.cut_off else answer.text if verdict.meant is None else verdict.meant,
            reply=answer.text,
            match=verdict.match.kind,
            steps=[reply.text for reply in answer.replies] if several else None,
            choice_scores=None if last is None or last.choice_scores is None else list(last.choice_scores),
            cut_off=answer.cut_off or None,
            effort=_effort(answer.replies) if answer.replies else None,
        )

    def details(self) -> dict[str, Any]:
        """Return how answers were judged, as plain values for JSON."""
        tally, chosen = self.tally, self._chosen
        if not self.free_text:
            unknown = {"unknown_answers": self._unknown_answers} if self._unknown_answers else {}
            return {"matching": chosen, **unknown}
        side_by_side = {}
        for name in self._matchers:
            scores, joint = tally.scores(name), tally.joint(name)
            accuracy = tally.accuracy(name)
            side_by_side[name] = {
                "accuracy": scores.accuracy,
                "joint_accuracy": None if joint is None else scores.joint_accuracy,
                "intervals": {
                    "accuracy": [accuracy.low, accuracy.high],
                    "joint_accuracy": None if joint is None else [joint.low, joint.high],
                },
                "match_types": tally.kinds(name),
            }
        errors = dict(tally.errors.most_common(20))
        details: dict[str, Any] = {
            "matching": chosen,
            "match_types": tally.kinds(chosen),
            "matchings": side_by_side,
            "cut_off": self._cut_off,
            "at_limit": self._at_limit,
            "unparsed": self._unparsed / len(tally) if len(tally) else None,
            "failures": {"failed": tally.failed, "not_asked": tally.not_asked, "of": tally.asked, "errors": errors},
        }
        if self._has_tokens:
            details["tokens"] = {"prompt": self._read, "output": self._written, "cached": self._cached}
            if self._prices is not None:
                details["cost"] = self._prices.cost(self._read, self._written, self._cached)
        return details


def _fingerprint(answer: Answer) -> bytes:
    """Return what tells an answer from others: it may come twice, in two objects, hours and many answers apart."""
    example = answer.example
    parts = (example.id, example.question, example.answer, answer.text, str(answer.cut_off))
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _effort(replies: tuple[Reply, ...]) -> dict[str, float]:
    """Return what replies took together, as far as it is known."""
    effort: dict[str, float] = {}
    for name in ("prompt_tokens", "output_tokens", "cached_tokens", "seconds", "retries"):
        values = [value for reply in replies if (value := getattr(reply, name)) is not None]
        if values:
            effort[name] = round(sum(values), 6)
    return effort
