"""Assertions for the tests of other packages that generate stories with questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from storyproof.audits.generators import FAILED, WRONG, audit_generator

__all__ = ["agrees_with_proof"]


def agrees_with_proof(
    generator: str | Callable[..., Any],
    *,
    samples: int = 1000,
    seed: int = 0,
    readings: Sequence[str] = (),
    rules: str | os.PathLike[str] | None = None,
    allow_rule_dependent: bool = False,
    allow_unread: float = 0.0,
    **dials: Iterable[Any],
) -> bool:
    """Return True if the answers of a generator are those that oracle and checker derive from its stories.

    Args:
        generator: A function that returns (story, question, answer), an object with such a function as `sample`, or
            where one is (`module:name`). If it has `answer(story, question)` it is asked further questions too.
        samples: At most how many draws; the first batch in which something is wrong is the last one.
        seed: The seed of the first draw.
        readings: Only these readings make a wrong label rule-dependent; by default all.
        rules: The file of rules that its kinship stories were made by, if they are its own.
        allow_rule_dependent: Whether answers may be right under another reading than the default.
        allow_unread: The share of questions that need not be understood.
        **dials: What else it is called with: the values of each dial.

    Raises:
        AssertionError: If an answer is not the proved one, with the smallest story that shows it; or if questions are
            not understood.
        ConfigError: If there is no such generator, it lacks a dial, or it returns something else.

    Example:
        >>> import storyproof
        >>> from storyproof.testing import agrees_with_proof
        >>> def sample(seed, moves):
        ...     row = storyproof.stream("tom-k", seed=seed, moves=moves)[0].rows[0]
        ...     return row.story, row.question, row.answer
        >>> agrees_with_proof(sample, samples=20, moves=(1, 2))
        True
    """
    __tracebackhide__ = True
    report = audit_generator(
        generator,
        samples=samples,
        seed=seed,
        dials=dials,
        readings=readings,
        rules=rules,
        stop=True,
    )
    counted = (WRONG, FAILED) if allow_rule_dependent else None
    causes = [each for each in report.causes if counted is None or each.consequence in counted]
    if causes:
        listed = "\n".join(map(str, causes))
        raise AssertionError(f"{report.generator} disagrees with the proofs ({report.samples:,} samples):\n{listed}")
    if report.conflicts:
        raise AssertionError(f"{report.generator} answers {report.conflicts:,} questions in two ways.")
    if report.unread.total() > allow_unread * report.questions:
        reason, count = report.unread_reasons.most_common(1)[0]
        raise AssertionError(
            f"{report.generator}: {report.unread.total():,} of {report.questions:,} questions are not understood, so "
            f"they are not judged; {count:,} because of {reason}"
        )
    return True
