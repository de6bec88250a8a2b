"""The modules that the mutation test changes, and the tests that should notice; `mutants` runs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A module that is mutated, and the tests that should notice.

    Attributes:
        area: What the module is part of.
        module: Its path in the package.
        tests: What every mutant is tested with: some seconds of tests that notice most.
        slower: What is tried next with those that nobody noticed.
    """

    area: str
    module: str
    tests: tuple[str, ...]
    slower: tuple[str, ...] = ()

    @property
    def tries(self) -> tuple[tuple[str, ...], ...]:
        """Return the selections of tests, one after the other."""
        return (self.tests, self.slower) if self.slower else (self.tests,)

    @property
    def path(self) -> str:
        """Return the module's path from the root."""
        return f"src/storyproof/{self.module}"


def _targets() -> Iterator[Target]:
    belief, kinship, datasets = "tests/families/belief", "tests/families/kinship", "tests/datasets"
    yield Target("oracles", "families/kinship/oracle.py", (f"{kinship}/test_oracle.py",))
    yield Target("checkers", "families/kinship/checker.py", (f"{kinship}/test_checker.py",))
    nested = tuple(f"{belief}/test_{name}.py" for name in ("oracle_blocks", "decision", "proofs", "trajectories"))
    slower = tuple(f"{belief}/test_{name}.py" for name in ("answers", "reference", "agreement", "plain_sight"))
    for name in ("oracle", "answers", "trajectories"):
        yield Target("oracles", f"families/belief/{name}.py", nested, slower)
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
    spoken = (f"{belief}/test_answer_language.py", f"{matched}/test_languages.py")
    yield Target("matching", "families/belief/answer_language.py", spoken)
    yield Target("matching", "families/belief/speech.py", spoken)
    yield Target("matching", "families/kinship/answer_language.py", (f"{kinship}/test_answer_language.py",))
    readers = tuple(f"{belief}/test_{name}.py" for name in ("wording", "worded_statements", "plot_text", "user_text"))
    readers += ("-k", "not same_text and not narratives_have and not statements_of_what_the_oracle")
    yield Target("oracles", "families/belief/arrays.py", (f"{belief}/test_arrays.py", *nested))
    yield Target(
        "oracles",
        "families/kinship/rules.py",
        (f"{kinship}/test_rules.py", f"{kinship}/test_strict_rules.py", f"{kinship}/test_oracle.py"),
    )
    yield Target("checkers", "families/belief/proof_check.py", (f"{belief}/test_proof_check.py",))
    deletion = (f"{kinship}/test_deletion.py", "-k", "not sample_or_all and not sample_is_checked")
    yield Target("checkers", "families/kinship/deletion.py", deletion)
    yield Target(
        "checkers", "families/kinship/genealogy.py", (f"{kinship}/test_genealogy.py", f"{kinship}/test_checker.py")
    )
    yield Target("readers", "families/belief/questions.py", (f"{belief}/test_story.py", *readers))
    yield Target("readers", "families/belief/read_text.py", readers)
    typed = tuple(f"{belief}/test_{name}.py" for name in ("user_text", "plot_text", "question_forms"))
    yield Target("readers", "families/belief/user_text.py", typed, ("tests/web/test_stories.py", readers[1]))
    yield Target("readers", "families/belief/tomi_text.py", (f"{belief}/test_tomi_text.py",))
    yield Target("readers", "families/belief/language/reader.py", readers)
    yield Target("readers", "families/belief/language/block_reader.py", (f"{belief}/test_block_reader.py",))
    language, module = f"{kinship}/language", "families/kinship/language"
    yield Target("readers", f"{module}/bulk.py", (f"{language}/test_bulk.py",))
    consistent = tuple(f"{language}/test_{name}.py" for name in ("consistency", "checks", "changes"))
    for name in ("checks", "consistency"):
        yield Target("readers", f"{module}/{name}.py", consistent)
    read = (f"{language}/test_reader.py", f"{language}/test_checks.py")
    for name in ("grammar", "lexicon", "reader", "reading", "stories", "tokens"):
        yield Target("readers", f"{module}/{name}.py", (*read, "-k", "not few_frames_fit and not long_texts"))
    stored = tuple(f"tests/study/test_{name}.py" for name in ("submissions", "migrations", "app"))
    for name in ("submissions", "participants", "database"):
        yield Target("study store", f"study/{name}.py", (*stored, "-m", "not slow and not study"))
    lists = tuple(f"{matched}/test_{name}.py" for name in ("people", "polarity"))
    for name in ("languages", "people", "polarity"):
        yield Target("matching", f"{matching}/{name}.py", (*reading, *denials[:1], *lists))
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
        *("-k", "row_labels or prove_labels or change_is_caught"),
    )
    yield Target("labels", "families/kinship/prove_labels.py", judging)
    yield Target("labels", "families/kinship/audit/labels.py", judging)
    yield Target("mechanisms", "families/belief/audit/causes.py", (f"{belief}/audit/test_causes.py",))


TARGETS = tuple(_targets())

# Numbers that are not mutated: how much is done at once, or kept for later. They change speed and memory but no result.
# By module, with the function around them.
TUNING = {
    "families/belief/oracle.py": ("_SMALL", "_SETS"),
    "families/belief/answers.py": (
        *("_BELIEFS", "_WIDTH", "_RUN", "_CELLS"),
        *("PlotAnswers._tell.size", "PlotAnswers._decisive.width", "PlotAnswers._gives.width"),
    ),
    "families/belief/time_sets.py": ("_SMALL",),
    "families/belief/benchmarks/short_chains.py": ("_ALL_PAIRS", "_ALL_SETS"),
    "families/belief/block_checker.py": (
        "_AT_ONCE",
        "_MOST_CHAINS",
        "_MOST_KEYS",
        "answer_under.wide",
        "answer_under.size",
    ),
    "families/belief/proof_check.py": ("_AT_ONCE", "_Values.batches.size"),
    "families/kinship/deletion.py": ("_MOST_KEPT",),
    "families/belief/read_text.py": ("_QUESTIONS",),
    "families/belief/language/block_reader.py": ("_MOST_REMEMBERED",),
    "families/kinship/language/reader.py": ("_MOST_TOKENS, _MOST_BYTES, _MOST_MEANINGS",),
    "stats.py": ("_CELLS", "_KEPT_CELLS", "_DIRECT"),
}


def function_at(tree: ast.Module, line: int) -> str:
    """Return the functions and classes around a line, joined by points; empty at the top of a module."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return ".".join(node.name for node in sorted(around, key=lambda node: node.lineno))


def tuning_numbers(module: str, tree: ast.Module) -> Iterator[tuple[str, tuple[tuple[int, int], tuple[int, int]]]]:
    """Yield the assignments of what `TUNING` lists: the name, with the function around it, and where it stands."""
    listed = TUNING.get(module, ())
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            changed = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target).strip("()")
            if not any(each.endswith(changed) for each in listed):
                continue  # finding the function around a line takes long
            name = ".".join(filter(None, (function_at(tree, node.lineno), changed)))
            if name in listed:
                yield name, ((node.lineno, 0), (node.end_lineno or node.lineno, node.end_col_offset or 0))
