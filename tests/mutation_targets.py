"""The modules that the mutation test changes, and the tests that should notice; `mutants` runs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A module that is mutated, and the tests that should notice."""

    area: str
    module: str
    tests: tuple[str, ...]

    @property
    def path(self) -> str:
        """Return the module's path from the root."""
        return f"src/storyproof/{self.module}"


def _targets() -> Iterator[Target]:
    belief, kinship, datasets = "tests/families/belief", "tests/families/kinship", "tests/datasets"
    yield Target("oracles", "families/kinship/oracle.py", (f"{kinship}/test_oracle.py",))
    yield Target("checkers", "families/kinship/checker.py", (f"{kinship}/test_checker.py",))
    nested = tuple(f"{belief}/test_{name}.py" for name in ("oracle_blocks", "decision", "proofs", "trajectories"))
    yield Target("oracles", "families/belief/oracle.py", nested)
    yield Target("oracles", "families/belief/answers.py", (*nested, f"{belief}/test_answers.py"))
    yield Target("oracles", "families/belief/trajectories.py", nested)
    yield Target("oracles", "families/belief/time_sets.py", (f"{belief}/test_time_sets.py",))
    yield Target(
        "oracles", "families/belief/benchmarks/short_chains.py", (f"{belief}/benchmarks/test_question_sampler.py",)
    )
    # Without those that change the code themselves: these fail where it is not what they change.
    blocks = (f"{belief}/test_oracle_blocks.py", f"{belief}/test_block_checker.py")
    blocks += ("-k", "not mutations_are_noticed and not short_cuts and not chains_of_four")
    yield Target("checkers", "families/belief/block_checker.py", blocks)
    yield Target("checkers", "families/belief/world.py", (f"{belief}/test_world.py", f"{belief}/test_story.py"))
    matching, matched = "evaluation/matching", "tests/evaluation/matching"
    reading = tuple(f"{matched}/test_{name}.py" for name in ("reading", "careful", "matchers", "languages"))
    yield Target("matching", f"{matching}/careful.py", reading)
    denials = tuple(f"{matched}/test_{name}.py" for name in ("denials", "careful", "languages"))
    yield Target("matching", f"{matching}/denials.py", denials)
    yield Target("matching", f"{matching}/kinds.py", (f"{matched}/test_matchers.py",))
    yield Target("matching", f"{matching}/matchers.py", (f"{matched}/test_matchers.py",))
    yield Target("matching", f"{matching}/mentions.py", (f"{matched}/test_mentions.py",))
    mistakes = tuple(f"{family}/test_mistakes.py" for family in (belief, kinship))
    yield Target("matching", "evaluation/answer_judge.py", ("tests/evaluation/test_answer_judge.py", *mistakes))
    yield Target("matching", "language/answer_language.py", ("tests/language/test_answer_language.py",))
    yield Target("matching", "families/belief/answer_language.py", (f"{belief}/test_answer_language.py",))
    yield Target("matching", "families/belief/speech.py", (f"{matched}/test_languages.py",))
    yield Target("matching", "families/kinship/answer_language.py", (f"{kinship}/test_answer_language.py",))
    readers = tuple(f"{belief}/test_{name}.py" for name in ("wording", "worded_statements", "plot_text", "user_text"))
    yield Target("oracles", "families/belief/arrays.py", nested)
    yield Target(
        "oracles",
        "families/kinship/rules.py",
        (f"{kinship}/test_rules.py", f"{kinship}/test_strict_rules.py", f"{kinship}/test_oracle.py"),
    )
    yield Target("checkers", "families/belief/proof_check.py", (f"{belief}/test_proof_check.py",))
    yield Target("checkers", "families/kinship/deletion.py", (f"{kinship}/test_deletion.py",))
    yield Target(
        "checkers", "families/kinship/genealogy.py", (f"{kinship}/test_genealogy.py", f"{kinship}/test_checker.py")
    )
    yield Target("readers", "families/belief/questions.py", (f"{belief}/test_story.py", *readers))
    yield Target("readers", "families/belief/read_text.py", readers)
    yield Target("readers", "families/belief/user_text.py", readers)
    yield Target("readers", "families/belief/tomi_text.py", (f"{belief}/test_tomi_text.py",))
    yield Target("readers", "families/belief/language/reader.py", readers)
    yield Target(
        "readers",
        "families/belief/language/block_reader.py",
        (f"{belief}/test_block_reader.py", f"{belief}/test_worded_rows.py"),
    )
    language = f"{kinship}/language"
    kinship_readers = tuple(
        f"{language}/test_{name}.py" for name in ("reader", "checks", "consistency", "bulk", "changes")
    )
    for name in ("bulk", "checks", "consistency", "grammar", "lexicon", "reader", "reading", "stories", "tokens"):
        yield Target("readers", f"families/kinship/language/{name}.py", kinship_readers)
    study = (f"tests/study/test_{name}.py" for name in ("submissions", "migrations", "export", "app"))
    stored = (*study, "-m", "not slow and not study")
    for name in ("submissions", "participants", "database"):
        yield Target("study store", f"study/{name}.py", stored)
    for name in ("languages", "people", "polarity"):
        yield Target("matching", f"{matching}/{name}.py", (*reading, *denials[:1]))
    yield Target("stats", "stats.py", ("tests/test_stats.py",))
    yield Target("writing", "io/atomic_files.py", ("tests/io/test_atomic_files.py",))
    writing = tuple(f"{datasets}/test_{name}.py" for name in ("manifest", "folders"))
    yield Target("writing", "datasets/folders.py", writing)
    yield Target("writing", "datasets/manifest.py", writing)
    yield Target("writing", "datasets/path_conflicts.py", (f"{datasets}/test_path_conflicts.py",))
    yield Target("labels", "families/belief/tomi_labels.py", (f"{belief}/test_labels.py",))
    judge = tuple(f"{belief}/audit/test_{name}.py" for name in ("tomi_judge", "files"))
    yield Target("labels", "families/belief/audit/tomi_judge.py", (*judge, "-k", "not mutated"))
    rows = tuple(f"{belief}/audit/test_{name}.py" for name in ("tomi_judge", "rows", "files"))
    yield Target("labels", "families/belief/audit/rows.py", (*rows, "-k", "not mutated"))
    judging = (
        f"{kinship}/test_prove_labels.py",
        *(f"{kinship}/audit/test_{name}.py" for name in ("row_labels", "labels")),
    )
    yield Target("labels", "families/kinship/prove_labels.py", judging)
    yield Target("labels", "families/kinship/audit/labels.py", judging)
    yield Target("mechanisms", "families/belief/audit/causes.py", (f"{belief}/audit/test_causes.py",))


TARGETS = tuple(_targets())

# Numbers that are not mutated: how much is done at once, or kept for later. They change speed and memory, and no result.
# By module, with the function around them.
TUNING = {
    "families/belief/oracle.py": ("_SMALL", "_SETS"),
    "families/belief/answers.py": (
        *("_BELIEFS", "_WIDTH", "_RUN", "_CELLS"),
        *("PlotAnswers._tell.size", "PlotAnswers._decisive.width", "PlotAnswers._gives.width"),
    ),
    "families/belief/time_sets.py": ("_SMALL",),
    "families/belief/benchmarks/short_chains.py": ("_ALL_PAIRS", "_ALL_SETS"),
    "families/belief/block_checker.py": ("_AT_ONCE", "_MOST_CHAINS", "_MOST_KEYS", "answer_under.wide", "answer_under.size"),
    "families/belief/proof_check.py": ("_AT_ONCE", "_Values.batches.size"),
    "families/kinship/deletion.py": ("_MOST_KEPT",),
    "families/belief/read_text.py": ("_QUESTIONS",),
    "families/belief/language/block_reader.py": ("_MOST_REMEMBERED",),
    "families/kinship/language/reader.py": ("_MOST_TOKENS, _MOST_BYTES, _MOST_MEANINGS",),
    "stats.py": ("_CELLS", "_KEPT_CELLS", "_DIRECT"),
}
