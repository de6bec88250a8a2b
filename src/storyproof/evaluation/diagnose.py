"""The verb `diagnose`: which procedure a solver's answers follow, if any.

A family lists procedures that a solver may follow (`Family.procedures`) and says what each would answer. The answers of
a run are explained by one of them, by two of them mixed question by question, by guessing, or by none of these. Every
explanation allows for lapses: now and then a solver guesses among the candidates. *None of these* stands for whatever
only weak explanations fit: many procedures mixed freely, one procedure with many lapses, or the majority of three
procedures, which is how a procedure that is not listed often looks, or a choice between two that depends on the
question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from storyproof.datasets.frames import Data, takes_rows
from storyproof.datasets.reading import find_source, iterate_examples
from storyproof.errors import DataError, ParseError
from storyproof.evaluation.other_logs import Log, read_log
from storyproof.evaluation.rescore import match_rows, meant_answer
from storyproof.evaluation.runs import Prediction, RecordedRun, RunSource, read_runs, story_hash
from storyproof.example import Example
from storyproof.families.family import Family, family_of
from storyproof.stats import LEVEL, Floats, Interval

GUESS, NONE = "guess", "none"
ALL = "all questions"
FEWEST = 10  # answers below which nothing is said
_LAPSES = (0.01, 0.03, 0.06, 0.10)  # how often a solver that follows a procedure guesses instead
_MANY_LAPSES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_SHARES = tuple(share / 10 for share in range(1, 10))  # of the first of two procedures
_LOG_MIXED = -4.0  # log prior of two procedures against one
_LOG_DEPENDENT = -12.0  # … of two of which the question decides which is followed
_FREE = 14.0  # what the free mixture must explain better, in nats, for its weights are fitted
_STEPS = 200  # of the fit of the free mixture
_LOOKED_AT = 30  # likely pairs whose choices are looked at
_SHOWN = 5  # explanations and questions that are listed


@dataclass(frozen=True, slots=True)
class Explanation:
    """What may explain answers.

    Attributes:
        procedures: One procedure, two that are mixed, or GUESS or NONE.
        probability: Its posterior probability.
    """

    procedures: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class GroupDiagnosis:
    """What explains the answers to one group of questions.

    Attributes:
        group: The kind of question, or ALL.
        questions: How many answers were explained.
        unanswered: How many more questions have no answer, or none among the candidates.
        explanations: The most probable ones, the best first; none if there are fewer than FEWEST answers, or if all
            procedures answer them alike.
        shares: How often each procedure of the best explanation is followed, with a 95% interval; where that is NONE,
            those of the procedure that fits best.
        same: The procedures that give the same answers to all these questions as one that is named.
        deciding: The ids of the questions that speak most for the best explanation against the next.
    """

    group: str
    questions: int
    unanswered: int
    explanations: tuple[Explanation, ...]
    shares: Mapping[str, Interval]
    same: Mapping[str, tuple[str, ...]]
    deciding: tuple[str, ...]

    @property
    def best(self) -> Explanation | None:
        """The most probable explanation, if there is one."""
        return self.explanations[0] if self.explanations else None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What explains the answers of a run.

    Attributes:
        model: Whose answers they are.
        data: The data that were answered.
        descriptions: What each procedure does, in words that follow "the solver".
        groups: First all questions, then by kind; questions that only check that the story was read are left out.
    """

    model: str
    data: str
    descriptions: Mapping[str, str]
    groups: tuple[GroupDiagnosis, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "model": self.model,
            "data": self.data,
            "level": LEVEL,
            "groups": [
                {
                    "group": each.group,
                    "questions": each.questions,
                    "unanswered": each.unanswered,
                    "explanations": [
                        {"procedures": list(one.procedures), "probability": one.probability}
                        for one in each.explanations
                    ],
                    "shares": {
                        name: {"value": share.value, "interval": [share.low, share.high]}
                        for name, share in each.shares.items()
                    },
                    "same": {name: list(others) for name, others in each.same.items()},
                    "deciding": list(each.deciding),
                }
                for each in self.groups
            ],
        }


@takes_rows("data")
def diagnose(run: RunSource, data: Data | None = None, *, split: str | None = None) -> list[Diagnosis]:
    """Explain the answers of each run by the procedures that its family lists.

    Args:
        run: What `evaluate` wrote, as a file or read already; a file of JSON lines with `id` and `answer`; or a log of
            Inspect or of lm-evaluation-harness.
        data: What was answered; by default where the run says. Logs need it.
        split: Which split; by default that of the run.

    Raises:
        DataError: If run and data cannot be read or do not belong together.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=60, seed=7, out="data")
        >>> [found] = storyproof.diagnose(storyproof.evaluate("rules", "data"))
        >>> found.groups[0].best.procedures
        ('rules',)
    """
    log = read_log(Path(run)) if isinstance(run, str | Path) else None
    if log is not None:
        return [_diagnose_log(log, data, split)]
    return [_diagnose(each, data, split) for each in read_runs(run)]


def _diagnose_log(log: Log, data: Any, split: str | None) -> Diagnosis:
    if data is None:
        raise DataError(f"{log.where} does not say which of your data was answered; name the data with --data.")
    source = find_source(data, split)
    answers: dict[str, Prediction] = {}
    by_id = {}
    for logged, example in match_rows(log, list(iterate_examples(source)), form=""):
        if example.id in answers:
            raise DataError(f"{log.where} answers {example.id} more than once; keep one answer for each row.")
        answers[example.id] = Prediction(id=example.id, answer=meant_answer(logged.reply, example))
        by_id[example.id] = example
    return explain_answers(log.model, source.name, list(by_id.values()), answers)


def _diagnose(run: RecordedRun, data: Any, split: str | None) -> Diagnosis:
    where = data if data is not None else run.data
    if where is None:
        raise DataError(f"{run.where} does not say what was answered; name the data with --data.")
    answers = {each.id: each for each in run.predictions if not each.failed}
    try:
        source = find_source(where, split or run.split)
    except DataError as error:
        raise DataError(f"{run.where}: {error} Name the data with --data.") from error
    examples = [each for each in iterate_examples(source) if each.id in answers]
    if not examples:
        raise DataError(f"{run.where}: none of its ids is in {source.name}; give the data that were answered.")
    for example in examples:
        if answers[example.id].story_hash not in (None, story_hash(example.story)):
            raise DataError(
                f"{source.name} has another story for {example.id} than {run.where}; give the data that were answered."
            )
    return explain_answers(run.title, source.name, examples, answers)


def explain_answers(
    model: str,
    data: str,
    examples: Sequence[Example],
    answers: Mapping[str, Prediction],
    replies: Mapping[str, Mapping[str, str]] | None = None,
) -> Diagnosis:
    """Explain answers to examples of one family.

    Args:
        model: Whose answers they are.
        data: What the data are called.
        examples: What was asked.
        answers: By the ids of the examples.
        replies: What each procedure would answer, by the ids of the examples, if it is known; see `ask_procedures`.

    Raises:
        DataError: If the family lists no procedures.
    """
    family = family_of(examples[0])
    if not family.procedures:
        raise DataError(f"no procedures are known for {family.title}; diagnose explains answers about other families.")
    kept = [each for each in examples if not family.is_control(each)]
    by_kind: dict[str, list[int]] = {}
    for number, example in sorted(enumerate(kept), key=lambda pair: family.kind_order(pair[1])):
        by_kind.setdefault(family.kind(example), []).append(number)
    table = tabulate(family, kept, [answers[each.id].answer or "" for each in kept], replies or ask_procedures(kept))
    groups = {ALL: list(range(len(kept))), **(by_kind if len(by_kind) > 1 else {})}
    groups_explained = tuple(_explain_group(name, kept, table.pick(places)) for name, places in groups.items())
    return Diagnosis(model, data, family.procedures, groups_explained)


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Answers beside what procedures would have answered.

    Attributes:
        names: The procedures.
        ids: The questions.
        answers: The place of each answer among the candidates; -1 if it is none of them.
        predicted: The same of what each procedure would answer, [procedure, question].
        sizes: How many candidates there are.
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    answers: np.ndarray[Any, np.dtype[np.intp]]
    predicted: np.ndarray[Any, np.dtype[np.intp]]
    sizes: np.ndarray[Any, np.dtype[np.intp]]

    def pick(self, places: Sequence[int]) -> AnswerTable:
        """Return some of the questions."""
        ids = tuple(self.ids[place] for place in places)
        return AnswerTable(self.names, ids, self.answers[places], self.predicted[:, places], self.sizes[places])


def ask_procedures(examples: Iterable[Example]) -> dict[str, Mapping[str, str]]:
    """Return what each procedure would answer to examples, by their ids.

    Raises:
        DataError: If an example cannot be read.
    """
    replies = {}
    for example in examples:
        try:
            replies[example.id] = family_of(example).procedure_answers(example)
        except ParseError as error:
            raise DataError(f"{example.id}: {error}") from error
    return replies


def tabulate(
    family: Family, examples: Sequence[Example], answers: Iterable[str], replies: Mapping[str, Mapping[str, str]]
) -> AnswerTable:
    """Return answers beside what the procedures of a family would answer."""
    names = tuple(family.procedures)
    given, predicted, sizes = [], [], []
    for example, answer in zip(examples, answers, strict=True):
        place = {candidate: number for number, candidate in enumerate(family.candidates(example))}
        given.append(place.get(answer, -1))
        predicted.append([place.get(replies[example.id].get(name, ""), -1) for name in names])
        sizes.append(max(1, len(place)))
    columns = np.array(predicted, np.intp).reshape(len(given), len(names)).T
    ids = tuple(each.id for each in examples)
    return AnswerTable(names, ids, np.array(given, np.intp), columns, np.array(sizes, np.intp))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The log-likelihood of answers under each explanation, priors included.

    Attributes:
        names: The procedures that differ on these questions.
        single: By procedure.
        pairs: Numbers of two procedures each.
        mixed: By pair.
        guess: Of guessing.
        none: Of none of these.
    """

    names: tuple[str, ...]
    single: Floats
    pairs: tuple[tuple[int, int], ...]
    mixed: Floats
    guess: float
    none: float

    def ranked(self) -> list[Explanation]:
        """Return all explanations with their probabilities, the best first."""
        scores = np.concatenate([self.single, self.mixed, [self.guess, self.none]])
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        labels = [
            *((name,) for name in self.names),
            *((self.names[one], self.names[other]) for one, other in self.pairs),
            (GUESS,),
            (NONE,),
        ]
        order = np.argsort(-chances, kind="stable").tolist()
        return [Explanation(labels[place], float(chances[place])) for place in order]


def weigh(table: AnswerTable) -> Evidence:
    """Return how well each explanation fits answers that are among the candidates."""
    is_right, count, chance = _distinct(_fits(table), 1 / table.sizes)
    single = _mean(_with_lapses(is_right, chance, count, _LAPSES))
    pairs = tuple(combinations(range(len(is_right)), 2))
    first, second = np.array(pairs, np.intp).reshape(-1, 2).T
    mixed = np.stack(
        [
            _log_sum((1 - lapse) * (share * is_right[first] + (1 - share) * is_right[second]) + lapse * chance, count)
            for lapse in _LAPSES
            for share in _SHARES
        ]
    )
    guess = float(np.log(chance) @ count)
    high = _mean(_with_lapses(is_right, chance, count, _MANY_LAPSES))
    others = [_free_mixture(is_right, chance, count) - _FREE, float(_mean(high))]
    if len(is_right) > 2:
        one, two, three = np.array(list(combinations(range(len(is_right)), 3)), np.intp).T
        # Two of three that agree with an answer are a majority; of fewer it is at most a guess.
        votes = np.median(np.stack([is_right[one], is_right[two], is_right[three]]), axis=0)
        listed = {fits.tobytes() for fits in is_right}
        is_new = [each.tobytes() not in listed for each in votes]
        if any(is_new):
            by_majority = _mean(_with_lapses(votes[is_new], chance, count, (*_LAPSES, _MANY_LAPSES[0])))
            others.append(float(_mean(by_majority) + np.log(np.mean(is_new))))
    size = len(is_right)
    likely = np.argsort(-mixed.max(axis=0), kind="stable")[:_LOOKED_AT]
    if len(likely):
        others.append(
            _dependent_choice(table, [pairs[place] for place in likely.tolist()]) - np.log(len(pairs)) + _LOG_DEPENDENT
        )
    return Evidence(
        table.names,
        single - np.log(size),
        pairs,
        _mean(mixed) - np.log(max(1, len(pairs))) + _LOG_MIXED if pairs else np.zeros(0),
        guess,
        float(_mean(np.array(others))),
    )


def _fits(table: AnswerTable) -> Floats:
    """Return the chance of each answer under each procedure: 1 or 0, and a guess where it gives no answer."""
    return np.where(table.predicted < 0, 1 / table.sizes, table.predicted == table.answers)


def _distinct(fits: Floats, chance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return questions that fit alike once each, with how many they are."""
    columns, count = np.unique(np.vstack([fits, chance]), axis=1, return_counts=True)
    return columns[:-1], count.astype(float), columns[-1]


def _with_lapses(fits: Floats, chance: Floats, count: Floats, lapses: Sequence[float]) -> Floats:
    return np.stack([_log_sum((1 - lapse) * fits + lapse * chance, count) for lapse in lapses])


def _log_sum(likelihood: Floats, count: Floats) -> Floats:
    total: Floats = np.log(likelihood) @ count
    return total


def _mean(logs: Floats) -> Any:
    """Return the logarithm of the mean of exponentials, over the first axis."""
    top = logs.max(axis=0)
    return np.log(np.exp(logs - top).mean(axis=0)) + top


def _free_mixture(fits: Floats, chance: Floats, count: Floats) -> float:
    """Return the greatest log-likelihood of any mixture of procedures and guesses (expectation maximisation)."""
    parts = np.vstack([fits, chance])
    weights = np.full(len(parts), 1 / len(parts))
    for _ in range(_STEPS):
        joint = weights[:, None] * parts
        weights = (joint / joint.sum(axis=0)) @ count / count.sum()
    return float(np.log(weights @ parts) @ count)


def _dependent_choice(table: AnswerTable, pairs: Sequence[tuple[int, int]]) -> float:
    """Return the log-likelihood of choosing between two procedures by something about the question.

    That is the answer of one of the two, or with which of them another procedure agrees; all are equally likely. In
    each of its cells, questions on which the two differ are answered by the first of them with a chance of its own,
    which is integrated out (Jeffreys' prior).
    """
    fits, chance = _fits(table), 1 / table.sizes
    gamma = np.array([math.lgamma(number + 0.5) for number in range(len(table.ids) + 1)])
    total = np.array([math.lgamma(number + 1) for number in range(len(table.ids) + 1)])
    logs_of_procedures = []
    for one, other in pairs:
        # Where one of them gives no answer, only answers of the other tell whom a solver followed; those do not count.
        is_choice = (np.minimum(table.predicted[one], table.predicted[other]) >= 0) & (fits[one] + fits[other] == 1)
        either = np.log((1 - _LAPSES[1]) * (fits[one] + fits[other]) / 2 + _LAPSES[1] * chance)
        is_one = fits[one, is_choice] == 1
        agrees = (table.predicted == table.predicted[one]) + 2 * (table.predicted == table.predicted[other])
        agrees[one], agrees[other] = table.predicted[one], table.predicted[other]
        logs = []
        for feature in agrees[:, is_choice]:
            cells = np.unique(feature, return_inverse=True)[1]
            of_one, of_both = np.bincount(cells, weights=is_one).astype(np.intp), np.bincount(cells)
            of_other = of_both - of_one
            logs.append(float((gamma[of_one] + gamma[of_other] - total[of_both] - 2 * gamma[0]).sum()))
        logs_of_procedures.append(either[~is_choice].sum() + float(_mean(np.array(logs))))
    return float(_mean(np.array(logs_of_procedures)) + np.log(len(logs_of_procedures)))


def _explain_group(group: str, examples: Sequence[Example], table: AnswerTable) -> GroupDiagnosis:
    answered = np.flatnonzero(table.answers >= 0)
    unanswered = len(table.ids) - len(answered)
    table, same = _merge_equal(table.pick(answered.tolist()))
    if len(answered) < FEWEST or len(table.names) < 2:
        return GroupDiagnosis(group, len(answered), unanswered, (), {}, {}, ())
    ranked = weigh(table).ranked()
    best = ranked[0]
    named = _closest(table) if best.procedures == (NONE,) else best.procedures if best.procedures != (GUESS,) else ()
    shares = follow_shares(table, named) if named else {}
    return GroupDiagnosis(
        group,
        len(answered),
        unanswered,
        tuple(ranked[:_SHOWN]),
        shares,
        {name: same[name] for name in named if same[name]},
        _deciding(table, best, ranked[1]),
    )


def _merge_equal(table: AnswerTable) -> tuple[AnswerTable, dict[str, tuple[str, ...]]]:
    """Keep one of the procedures that answer all questions alike, the first; return also which are like it."""
    first: dict[bytes, int] = {}
    same: dict[str, list[str]] = {}
    for number, name in enumerate(table.names):
        keeper = first.setdefault(table.predicted[number].tobytes(), number)
        same.setdefault(table.names[keeper], []).extend([name] if keeper != number else [])
    kept = [number for number in first.values() if (table.predicted[number] >= 0).any()]
    names = tuple(table.names[number] for number in kept)
    merged = AnswerTable(names, table.ids, table.answers, table.predicted[kept], table.sizes)
    return merged, {name: tuple(others) for name, others in same.items()}


def _closest(table: AnswerTable) -> tuple[str, ...]:
    return (table.names[int(np.log(0.5 * _fits(table) + 0.5 / table.sizes).sum(axis=1).argmax())],)


def follow_shares(table: AnswerTable, names: Sequence[str]) -> dict[str, Interval]:
    """Return how often each of one or two procedures is followed, where all other answers are guesses.

    All shares are equally likely beforehand; intervals have equal tails.
    """
    fits = _fits(table)[[table.names.index(name) for name in names]]
    fits, count, chance = _distinct(fits, 1 / table.sizes)
    steps = np.linspace(0, 1, 401 if len(names) == 1 else 81)
    weights = steps[:, None] if len(names) == 1 else np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    weights = weights[weights.sum(axis=1) <= 1 + 1e-9]
    with np.errstate(divide="ignore"):
        logs = _log_sum(weights @ fits + (1 - weights.sum(axis=1))[:, None] * chance, count)
    chances = np.exp(logs - logs.max())
    likeliest = weights[chances.argmax()]
    shares = {}
    for number, name in enumerate(names):
        of = np.array([chances[weights[:, number] == step].sum() for step in steps])
        below = np.cumsum(of) / of.sum()
        low, high = (float(steps[np.searchsorted(below, at)]) for at in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        shares[name] = Interval(
            float(likeliest[number]), min(low, float(likeliest[number])), max(high, float(likeliest[number]))
        )
    return shares


def _deciding(table: AnswerTable, best: Explanation, other: Explanation) -> tuple[str, ...]:
    """Return the questions whose answers are much likelier under the best explanation than under the next."""
    gain = np.log(_likelihood(table, best)) - np.log(_likelihood(table, other))
    order = np.argsort(-gain, kind="stable")[:_SHOWN].tolist()
    return tuple(table.ids[place] for place in order if gain[place] > 0.1)


def _likelihood(table: AnswerTable, explanation: Explanation) -> Floats:
    """Return the chance of each answer; for none of these, by the majority of the three procedures that fit best."""
    fits, chance = _fits(table), 1 / table.sizes
    names = explanation.procedures
    if names == (GUESS,):
        return chance
    if names == (NONE,):
        best = np.argsort(-np.log(0.5 * fits + 0.5 * chance).sum(axis=1), kind="stable")[:3]
        return 0.7 * np.median(fits[best], axis=0) + 0.3 * chance
    shares = follow_shares(table, names)
    total = sum(each.value for each in shares.values()) or 1.0
    places = [table.names.index(name) for name in names]
    parts = sum(shares[name].value / total * fits[place] for name, place in zip(names, places, strict=True))
    return np.asarray(0.94 * parts + 0.06 * chance)
