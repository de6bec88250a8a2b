"""The names of families, benchmarks, solvers, engines and so on; what a name stands for is imported when it is used.

Other packages add entries through entry point groups, one per kind (`GROUPS`), and change nothing here. An older
version of a benchmark is listed as `name@version` beside the current one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from storyproof.errors import ConfigError, UnknownNameError

FAMILIES = {
    "belief": "storyproof.families.belief.family:FAMILY",
    "kinship": "storyproof.families.kinship.family:FAMILY",
}
DEFAULT_FAMILY = "belief"  # of rows that neither columns nor question identify
BENCHMARKS = {
    "tomi": "storyproof.families.belief.benchmarks.tomi:Tomi",
    "tomi-matched": "storyproof.families.belief.benchmarks.tomi_matched:TomiMatched",
    "tom-babi": "storyproof.families.belief.benchmarks.tom_babi:TomBabi",
    "tom-babi-easy": "storyproof.families.belief.benchmarks.tom_babi:TomBabiEasy",
    "tom-k": "storyproof.families.belief.benchmarks.tom_k:TomK",
    "clutrr": "storyproof.families.kinship.clutrr:Clutrr",
}
FORMATS = {
    "tomi": "storyproof.families.belief.babi_format:TOMI",
    "tom-babi": "storyproof.families.belief.babi_format:TOM_BABI",
    "clutrr": "storyproof.families.kinship.clutrr_csv:FORMAT",
    "table": "storyproof.formats.delimited:FORMAT",
    "jsonl": "storyproof.formats.jsonl:FORMAT",
    "inspect": "storyproof.integrations.inspect_format:FORMAT",
    "json": "storyproof.formats.json_list:FORMAT",
    "parquet": "storyproof.formats.parquet:FORMAT",
    "arrow": "storyproof.formats.arrow_file:FORMAT",
    "xlsx": "storyproof.formats.xlsx:FORMAT",
    "hf": "storyproof.integrations.hf_format:FORMAT",
}
SOLVERS = {
    "rules": "storyproof.solvers.baselines:Rules",
    "oracle": "storyproof.solvers.baselines:Oracle",
    "random": "storyproof.solvers.baselines:Random",
    "majority": "storyproof.solvers.baselines:Majority",
    "entnet": "storyproof.solvers.neural.solver:entnet",
    "gat": "storyproof.solvers.neural.solver:gat",
    "tracker": "storyproof.solvers.neural.solver:tracker",
    "composer": "storyproof.solvers.neural.solver:composer",
}
BACKENDS = {
    "openai": "storyproof.solvers.llm.openai:OpenAI",
    "vllm": "storyproof.solvers.llm.vllm:Vllm",
    "hf": "storyproof.solvers.llm.hf:Transformers",
    "local": "storyproof.solvers.llm.local:Local",
}
ENGINES = {
    "processes": "storyproof.engines.processes:Processes",
    "ray": "storyproof.integrations.ray_engine:RayEngine",
}
CURRICULA = {
    "tracker": "storyproof.families.belief.curriculum:BeliefCurriculum",
    "composer": "storyproof.families.kinship.curriculum:KinshipCurriculum",
}
_TABLES = {
    "family": FAMILIES,
    "benchmark": BENCHMARKS,
    "format": FORMATS,
    "solver": SOLVERS,
    "backend": BACKENDS,
    "engine": ENGINES,
    "curriculum": CURRICULA,
}
GROUPS = {
    "family": "storyproof.families",
    "benchmark": "storyproof.benchmarks",
    "format": "storyproof.formats",
    "solver": "storyproof.solvers",
    "backend": "storyproof.backends",
    "engine": "storyproof.engines",
    "curriculum": "storyproof.curricula",
}


def names(what: str) -> dict[str, str]:
    """Return all names of a kind with the places of what they stand for; storyproof's own first."""
    return {name: place for name, place in _entries(what).items() if "@" not in name}


def _entries(what: str) -> dict[str, str]:
    """Return the names of a kind, with older versions of benchmarks."""
    own = _TABLES[what]
    others = {name: value for name, value in _declared(entry_points, GROUPS[what], tuple(sys.path)) if name not in own}
    return {**own, **others}


@cache
def _declared(find: Callable[..., Iterable[EntryPoint]], group: str, path: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return what the packages on a path declare in a group; finding out means reading a file of each of them."""
    return [(point.name, point.value) for point in find(group=group)]


def load(what: str, name: str) -> Any:
    """Import what a name stands for; a benchmark may be given with its version, such as `tomi@1`.

    Raises:
        UnknownNameError: If there is no such name or version.
        ConfigError: If it needs a package that is not installed, or is not where it should be.
    """
    if what == "benchmark" and "@" in name:
        plain, _, version = name.partition("@")
        return load_version(plain, version)
    registered = names(what)
    if name not in registered:
        raise UnknownNameError(what, name, registered)
    return _load(what, name, registered[name])


def load_version(name: str, version: int | str) -> Any:
    """Import a benchmark in one of its versions.

    Raises:
        UnknownNameError: If there is no such benchmark or version.
    """
    entries = _entries("benchmark")
    key = f"{name}@{version}"
    if name in entries and key in entries:
        return _load("benchmark", key, entries[key])
    current = load("benchmark", name)
    if str(current.version) != str(version):
        raise UnknownNameError(f"version of {name}", str(version), map(str, versions(name)))
    return current


def versions(name: str) -> list[int]:
    """Return the versions of a benchmark that can be generated, in order; the last one is the current one."""
    older = [key.partition("@")[2] for key in _entries("benchmark") if key.startswith(f"{name}@")]
    return sorted({*map(int, filter(str.isdecimal, older)), load("benchmark", name).version})


def _load(what: str, name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ImportError as error:
        raise ConfigError(f"{what} '{name}' needs the package '{error.name}', which is not installed.") from error
    except AttributeError as error:
        raise ConfigError(f"{what} '{name}' should be at '{place}', but it is not; fix its package.") from error
