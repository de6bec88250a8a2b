"""One table of names, imported when asked for.

Other people's packages add benchmarks and solvers through the entry point groups `storyproof.benchmarks` and
`storyproof.solvers`, and edit nothing here.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from storyproof.errors import ConfigError, UnknownNameError

BENCHMARKS = {
    "tomi": "storyproof.tom.tomi:Tomi",
    "tomi-matched": "storyproof.tom.matched:TomiMatched",
    "tom-babi": "storyproof.tom.babi:TomBabi",
    "tom-babi-easy": "storyproof.tom.babi:TomBabiEasy",
    "clutrr": "storyproof.kinship.clutrr:Clutrr",
}
SOLVERS = {
    "rules": "storyproof.solvers.rules:Rules",
    "oracle": "storyproof.solvers.baselines:Oracle",
    "random": "storyproof.solvers.baselines:Random",
    "majority": "storyproof.solvers.baselines:Majority",
    "entnet": "storyproof.solvers.neural.shipped:entnet",
    "gat": "storyproof.solvers.neural.shipped:gat",
}
_TABLES = {"benchmark": BENCHMARKS, "solver": SOLVERS}


def names(what: str) -> dict[str, str]:
    """Give all names of a kind (`benchmark` or `solver`) with where they are made."""
    found = {point.name: point.value for point in entry_points(group=f"storyproof.{what}s")}
    return {**found, **_TABLES[what]}


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
        raise ConfigError(f"{what} '{name}' should be at '{known[name]}', but it is not; mend its package.") from error
