"""One table of names, imported when asked for.

Other packages add entries through entry point groups, one per kind (`GROUPS`), and change nothing here.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from storyproof.errors import ConfigError, UnknownNameError

FAMILIES = {
    "belief": "storyproof.families.belief.family:FAMILY",
    "kinship": "storyproof.families.kinship.family:FAMILY",
}
DEFAULT_FAMILY = "belief"  # of rows whose columns and question tell nothing
BENCHMARKS = {
    "tomi": "storyproof.families.belief.tomi:Tomi",
    "tomi-matched": "storyproof.families.belief.tomi_matched:TomiMatched",
    "tom-babi": "storyproof.families.belief.tom_babi:TomBabi",
    "tom-babi-easy": "storyproof.families.belief.tom_babi:TomBabiEasy",
    "clutrr": "storyproof.families.kinship.clutrr:Clutrr",
}
SOLVERS = {
    "rules": "storyproof.solvers.baselines:Rules",
    "oracle": "storyproof.solvers.baselines:Oracle",
    "random": "storyproof.solvers.baselines:Random",
    "majority": "storyproof.solvers.baselines:Majority",
    "entnet": "storyproof.solvers.neural.solver:entnet",
    "gat": "storyproof.solvers.neural.solver:gat",
}
BACKENDS = {
    "openai": "storyproof.solvers.llm.openai:OpenAI",
    "vllm": "storyproof.solvers.llm.vllm:Vllm",
    "hf": "storyproof.solvers.llm.hf:Transformers",
    "local": "storyproof.solvers.llm.local:Local",
}
_TABLES = {"family": FAMILIES, "benchmark": BENCHMARKS, "solver": SOLVERS, "backend": BACKENDS}
GROUPS = {
    "family": "storyproof.families",
    "benchmark": "storyproof.benchmarks",
    "solver": "storyproof.solvers",
    "backend": "storyproof.backends",
}


def names(what: str) -> dict[str, str]:
    """Return all names of a kind with where they are made; storyproof's own first."""
    own = _TABLES[what]
    others = {point.name: point.value for point in entry_points(group=GROUPS[what]) if point.name not in own}
    return {**own, **others}


def load(what: str, name: str) -> Any:
    """Import what a name stands for.

    Raises:
        UnknownNameError: If there is no such name.
        ConfigError: If it needs a package that is not installed, or is not where it should be.
    """
    known = names(what)
    if name not in known:
        raise UnknownNameError(what, name, known)
    module, _, attribute = known[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ImportError as error:
        raise ConfigError(f"{what} '{name}' needs the package '{error.name}', which is not installed.") from error
    except AttributeError as error:
        raise ConfigError(f"{what} '{name}' should be at '{known[name]}', but it is not; fix its package.") from error
