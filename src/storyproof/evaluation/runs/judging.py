"""Judges a language model's answers by all matchers, counts them, and adds up what they took."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from storyproof.evaluation.matching import MATCHERS, Match, Matcher, candidates_of, judge, load_matcher
from storyproof.evaluation.matching.match import NO_MATCH
from storyproof.evaluation.runs.files import Recorder
from storyproof.evaluation.runs.questioning import Progress, Questioning, Quiet
from storyproof.evaluation.runs.tally import Tally
from storyproof.example import Example
from storyproof.solvers.llm.prompting import Prompt, ends_before_answer
from storyproof.solvers.llm.requests import Reply
from storyproof.solvers.llm.running import Answered


class Judged:
    """Judges answers by all matchers, counts them, and adds up what they took."""

    def __init__(self, asked: Questioning) -> None:
        self._asked = asked
        self._matchers: dict[str, Matcher] = {**MATCHERS, asked.matching: load_matcher(asked.matching)}
        self.tally = Tally(list(self._matchers))
        self.stop: Callable[[], None] = lambda: None
        self._read = self._written = self._cached = 0
        self._counted = False
        self._cut_off = 0

    @property
    def missing(self) -> float:
        """Which share of the questions has no answer."""
        return 1 - len(self.tally) / self.tally.asked

    def watch(self, prompt: Prompt, progress: Progress) -> Callable[[Example, list[str], Reply, bool], None]:
        """Give what is told of every reply as it comes."""
        matcher = self._matchers[self._asked.matching]

        def told(example: Example, texts: list[str], reply: Reply, done: bool) -> None:
            if progress.stopping():
                self.stop()
            if reply.error is not None:
                progress.answered(None)
            elif done and not isinstance(progress, Quiet):
                cut_off = ends_before_answer(prompt, reply)
                progress.answered(not cut_off and judge(matcher, example, prompt.answer(texts, example)).right)

        return told

    def count(self, answers: Iterable[Answered], recorder: Recorder) -> None:
        """Judge and record all answers."""
        for each in answers:
            for reply in each.replies:
                self._read += reply.prompt_tokens or 0
                self._written += reply.output_tokens or 0
                self._cached += reply.cached_tokens or 0
                self._counted |= reply.prompt_tokens is not None
            if not each.complete:
                self.tally.fail(each.example, each.error)
                continue
            self._cut_off += each.cut_off
            matches = {name: self._judge(matcher, each) for name, matcher in self._matchers.items()}
            self.tally.add(each.example, matches)
            recorder.add(self._row(each, matches))

    @staticmethod
    def _judge(matcher: Matcher, each: Answered) -> Match:
        """Judge an answer; where there is none, not even a user's own matcher can find it right."""
        return NO_MATCH if each.cut_off else judge(matcher, each.example, each.answer)

    def _row(self, each: Answered, matches: dict[str, Match]) -> dict[str, Any]:
        example, match = each.example, matches[self._asked.matching]
        row = {
            "id": example.id,
            "story_id": example.story_id,
            "question_type": example.question_type,
            "question": example.question,
            "answer": self._meant(each, match),
            "target": example.answer,
            "reply": each.answer,
            "match": match.kind,
            "right": match.right,
        }
        last = each.replies[-1] if each.replies else None
        if len(each.replies) > 1 or (last is not None and last.text != each.answer):
            row["steps"] = [reply.text for reply in each.replies]
        if last is not None and last.choice_scores is not None:
            row["choice_scores"] = list(last.choice_scores)
        if each.cut_off:
            row["cut_off"] = True
        return row

    def _meant(self, each: Answered, match: Match) -> str:
        """Say which candidate a reply amounts to, so that it can be scored against other labels; else the reply."""
        example, matcher = each.example, self._matchers[self._asked.matching]
        if match.right:
            return example.answer
        if each.cut_off:
            return ""
        for candidate in candidates_of(example):
            if candidate != example.answer and judge(matcher, replace(example, answer=candidate), each.answer).right:
                return candidate
        return each.answer

    def details(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        tally, chosen = self.tally, self._asked.matching
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
        found: dict[str, Any] = {
            "matching": chosen,
            "match_types": tally.kinds(chosen),
            "matchings": side_by_side,
            "cut_off": self._cut_off,
            "failures": {"failed": tally.failed, "not_asked": tally.not_asked, "of": tally.asked, "errors": errors},
        }
        if self._counted:
            found["tokens"] = {"prompt": self._read, "output": self._written, "cached": self._cached}
            if self._asked.prices is not None:
                found["cost"] = self._asked.prices.cost(self._read, self._written, self._cached)
        return found
