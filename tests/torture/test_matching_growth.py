"""Replies of looping or hostile models: no shape may take more time than in proportion to its length."""

import time
from functools import partial

from storyproof.evaluation.matching.matchers import careful
from tests.evaluation.matching.adversaries import KNOWN, QUESTIONS, assert_linear, drawn, single
from tests.evaluation.matching.test_growth import judge_by_all
from tests.torture.trial import Trial

LENGTH = 64_000
SHAPES = 1_200
MEGABYTE = 1_000_000
MOST_S = 10.0  # of CPU time for a megabyte; a quiet core takes less than 2


def test_matching_grows_in_proportion(trial: Trial) -> None:
    for answer, candidates, question in QUESTIONS:
        judge = partial(judge_by_all, answer=answer, candidates=candidates, question=question)
        for family in (*KNOWN.values(), *single(), *drawn(SHAPES, seed=11)):
            with trial.case(f"{family} {question}"):
                assert_linear(judge, family, LENGTH)


def test_matching_a_megabyte(trial: Trial) -> None:
    for answer, candidates, question in QUESTIONS:
        for name, family in KNOWN.items():
            with trial.case(f"{name} {question}"):
                reply = family.reply(MEGABYTE)
                start = time.process_time()
                careful(reply, answer, candidates, question)
                assert time.process_time() - start < MOST_S
