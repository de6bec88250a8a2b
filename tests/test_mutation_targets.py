import ast
import tomllib
from pathlib import Path

from tests.mutation_targets import TARGETS, TUNING, tuning_numbers

ROOT = Path(__file__).parents[1]
# What contracts keep apart from oracles, checkers and readers because it writes stories, or is measured by part.
WRITERS = ("benchmarks", "generation", "choices", "frames", "names", "narrator", "scenes", "placeholders")


def test_modules_and_tests_exist() -> None:
    for target in TARGETS:
        for path in (target.path, *(each for each in (*target.tests, *target.slower) if each.endswith(".py"))):
            assert (ROOT / path).is_file(), path
    assert len({target.module for target in TARGETS}) == len(TARGETS)


def test_every_module_that_a_contract_keeps_independent_is_mutated() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    named = {
        module.removeprefix("storyproof.").replace(".", "/") + ".py"
        for contract in contracts
        if contract["type"] == "forbidden" and contract["source_modules"][0].startswith("storyproof.families.")
        for module in (*contract["source_modules"], *contract["forbidden_modules"])
        if module.rpartition(".")[2] not in WRITERS
    }
    assert len(named) > 15
    assert named - {target.module for target in TARGETS} == set()


def test_what_scores_and_stores_rest_on_is_mutated() -> None:
    mutated = {target.module for target in TARGETS}
    source = ROOT / "src" / "storyproof"
    matching = {path.relative_to(source).as_posix() for path in (source / "evaluation" / "matching").glob("*.py")}
    assert {each for each in matching if not each.endswith("__init__.py")} <= mutated
    assert {"language/answer_language.py", "stats.py", "study/submissions.py", "study/database.py"} <= mutated


def test_numbers_that_are_not_mutated_exist() -> None:
    for module, names in TUNING.items():
        tree = ast.parse((ROOT / "src" / "storyproof" / module).read_text("utf-8"))
        assert {name for name, _ in tuning_numbers(module, tree)} == set(names), module
