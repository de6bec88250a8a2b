"""The verb `doctor`: what is installed, which extras work, and what to do about the rest."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.catalog import GROUPS, load, names
from storyproof.errors import ConfigError, StoryproofError, shorten
from storyproof.runtime.optional_packages import need
from storyproof.solvers.llm.pull import WEIGHTS, cache_folder, weights_path

WORKS, MISSING, OLD, BROKEN = "works", "missing", "too old", "broken"
PURPOSES = {
    "audit": "audit --shortcuts and --overlaps",
    "models": "train, evaluate trained models, experiment",
    "llm": "evaluate and ask models behind an OpenAI-compatible server",
    "pages": "PNG and PDF by report --figures and show --out; charts of experiment",
    "serve": "the explorer",
    "study": "studies with people",
    "pandas": "table.to_pandas(), and frames of pandas as data",
    "polars": "polars.from_arrow(table), and frames of polars as data",
    "xlsx": "audit of sheets of Excel (.xlsx)",
    "local": "small models in this process (local/…)",
    "hf": "models of Hugging Face in this process (hf/…)",
    "vllm": "models on GPUs by vLLM (vllm/…)",
    "reasoning-gym": "benchmarks in Reasoning Gym",
    "trl": "storyproof.rewards in trainers of TRL",
    "verifiers": "the environment for verifiers (vf-eval storyproof-verifiers)",
    "datasets": "storyproof.hf: stories as datasets of Hugging Face",
    "inspect": "tasks for Inspect (inspect eval storyproof/…)",
    "lm-eval": "tasks for lm-evaluation-harness",
    "ray": "--engine ray",
    "s3": "data at s3://…",
    "gcs": "data at gs://…",
}
_NOT_FOR_USERS = frozenset({"dev", "docs"})
_NEED = re.compile(r"([\w.-]+)\s*(?:\[([\w,\s-]+)\])?\s*([^;]*?)\s*(?:;(.*))?$")
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_BOUND = re.compile(r"(>=|<=|==|!=|~=|>|<)\s*([\w.]+)")
_TOO_LONG_S = 120.0
# Imports modules one by one and says after each how it went: one may take the interpreter down.
_IMPORTER = """
import importlib, json, sys
for name in sys.argv[1:]:
    print(json.dumps([name, None]), flush=True)
    try:
        importlib.import_module(name)
        why = ""
    except BaseException as error:
        why = f"{type(error).__name__}: {error}"
    print(json.dumps([name, why]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class PackageState:
    """A package that storyproof uses.

    Attributes:
        name: Its name for pip.
        needs: The versions that are needed, such as `>=2.4`.
        version: The installed version; empty if there is none.
        state: `works`, `missing`, `too old` or `broken` (it is installed, but cannot be imported).
        why: Why it is broken.
    """

    name: str
    needs: str
    version: str
    state: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ExtraState:
    """An extra of storyproof, or what every installation needs.

    Attributes:
        name: Its name; empty for what is always needed.
        purpose: What it is for.
        packages: Its packages.
    """

    name: str
    purpose: str
    packages: tuple[PackageState, ...]

    @property
    def state(self) -> str:
        """The worst state of its packages."""
        states = [each.state for each in self.packages]
        return next((state for state in (BROKEN, OLD, MISSING) if state in states), WORKS)

    @property
    def remedy(self) -> str:
        """What to do; empty if it works."""
        target = f"storyproof[{self.name}]" if self.name else "storyproof"
        troubled = [each for each in self.packages if each.state == BROKEN]
        if troubled:
            again = " ".join(each.name for each in troubled)
            return f"pip install --force-reinstall {again}"
        return "" if self.state == WORKS else f"pip install --upgrade '{target}'"


@dataclass(frozen=True, slots=True)
class InstallationState:
    """What is installed, and what works.

    Attributes:
        version: The version of storyproof.
        place: Where it is installed.
        python: The version of Python.
        system: The operating system.
        core: What every installation needs.
        extras: The extras.
        problems: Other things that do not work, each with what to do.
        notes: What else may be good to know.
    """

    version: str
    place: str
    python: str
    system: str
    core: ExtraState
    extras: tuple[ExtraState, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is broken; an extra that is not installed is not a problem."""
        broken = any(extra.state in (BROKEN, OLD) for extra in self.extras)
        return self.core.state == WORKS and not broken and not self.problems

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        values = asdict(self)
        for each, extra in zip([values["core"], *values["extras"]], [self.core, *self.extras], strict=True):
            each |= {"state": extra.state, "remedy": extra.remedy}
        return {"ok": self.ok, **values}


def doctor(*, progress: Callable[[int], None] = lambda packages: None) -> InstallationState:
    """Find out what is installed, which extras work, and what to do about the rest.

    Every package is imported in another process, so that one that crashes does no harm.

    Args:
        progress: Called with 1 each time that a package was tried.

    Example:
        >>> import storyproof
        >>> found = storyproof.doctor()
        >>> found.version == storyproof.__version__, found.core.state
        (True, 'works')
        >>> {"audit", "models", "llm", "pages", "serve"} <= {extra.name for extra in found.extras}
        True
    """
    needs = read_needs(metadata.requires("storyproof") or ())
    packages = list(dict.fromkeys(name for group in needs.values() for name in group))
    installed = {name: version for name in packages if (version := _version(name))}
    failures = _try_imports({name: _module_of(name) for name in installed}, progress)

    def states(group: Mapping[str, str]) -> tuple[PackageState, ...]:
        return tuple(
            _state(name, bound, installed.get(name, ""), failures.get(name, "")) for name, bound in group.items()
        )

    extras = [name for name in needs if name and name not in _NOT_FOR_USERS]
    return InstallationState(
        version=__version__,
        place=str(Path(__file__).parents[1]),
        python=f"{platform.python_version()} ({sys.executable})",
        system=platform.platform(),
        core=ExtraState("", "everything", states(needs[""])),
        extras=tuple(ExtraState(name, PURPOSES.get(name, ""), states(needs[name])) for name in extras),
        problems=tuple(_problems()),
        notes=tuple(_notes()),
    )


def read_needs(lines: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return which versions of which packages are needed, by extra; those of an extra in an extra are its own, too.

    Names have hyphens: `reasoning_gym` and `reasoning-gym` are one package.

    Args:
        lines: Requirements of a package, as its metadata list them.
    """
    needs: dict[str, dict[str, str]] = {"": {}}
    within: dict[str, list[str]] = {}
    for line in lines:
        match = _NEED.match(line.strip())
        if match is None:
            continue
        name, inner, bound, marker = match.groups()
        extra = _EXTRA.search(marker or "")
        group = needs.setdefault(extra[1] if extra else "", {})
        if name.lower() == "storyproof":
            within.setdefault(extra[1] if extra else "", []).extend(re.findall(r"[\w-]+", inner or ""))
        else:
            group[name.replace("_", "-")] = bound
    for extra_name, others in within.items():
        for other in others:
            needs[extra_name] = {**needs.get(other, {}), **needs[extra_name]}
    return needs


def satisfies(version: str, bounds: str) -> bool:
    """Return whether a version is within bounds such as `>=2.0,<3`; letters in versions are ignored."""
    for sign, bound in _BOUND.findall(bounds):
        have, want = _numbers(version), _numbers(bound)
        width = max(len(have), len(want))
        first, second = ((*each, *[0] * (width - len(each))) for each in (have, want))
        compatible = first >= second and first[: len(want) - 1] == second[: len(want) - 1]
        holds = {
            ">=": first >= second,
            "<=": first <= second,
            ">": first > second,
            "<": first < second,
            "==": first == second,
            "!=": first != second,
            "~=": compatible,
        }
        if not holds[sign]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, release[0].split("."))) if release else (0,)


def _state(name: str, bound: str, version: str, failure: str) -> PackageState:
    if not version:
        return PackageState(name, bound, "", MISSING)
    if not satisfies(version, bound):
        return PackageState(name, bound, version, OLD)
    return PackageState(name, bound, version, BROKEN if failure else WORKS, failure)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _module_of(package: str) -> str:
    """Return the module that a package is imported by."""
    files = metadata.distribution(package).read_text("top_level.txt") or ""
    named = [line.strip() for line in files.splitlines() if line.strip() and not line.startswith("_")]
    plain = package.replace("-", "_").lower()
    if named:
        return next((each for each in named if each.lower() == plain), named[0])
    tops = [
        each.parts[0] for each in metadata.files(package) or () if len(each.parts) == 2 and each.name == "__init__.py"
    ]
    return next((each for each in tops if each.lower() == plain), tops[0] if tops else plain)


def _try_imports(modules: Mapping[str, str], progress: Callable[[int], None]) -> dict[str, str]:
    """Import modules in other processes; return why those failed that did, by package."""
    failures: dict[str, str] = {}
    left = dict(modules)
    while left:
        trying, done = _import_some(list(left.values()))
        for package, module in list(left.items()):
            if module in done:
                failures |= {package: shorten(done[module])} if done[module] else {}
            elif module == trying:
                failures[package] = "the interpreter crashes when it is imported"
            else:
                continue
            del left[package]
            progress(1)
        if not done and not trying:
            return failures | dict.fromkeys(left, "no process can be started to import it")
    return failures


def _import_some(modules: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Import modules in another process; return the one at which it ended, if any, and how the others went."""
    command = [sys.executable, "-c", _IMPORTER, *modules]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=_TOO_LONG_S * len(modules)
        )
        lines = done.stdout.splitlines()
    except subprocess.TimeoutExpired as error:
        lines = str(error.stdout or b"", "utf-8", "replace").splitlines() if error.stdout else []
    except OSError:
        return "", {}
    trying, errors = "", {}
    for line in lines:
        try:
            name, why = json.loads(line)
        except ValueError:  # what a package prints when it is imported
            continue
        trying = name if why is None else ""
        if why is not None:
            errors[name] = why
    return trying, errors


def _problems() -> Iterable[str]:
    """Yield what does not work besides packages, each with what to do."""
    for kind, group in GROUPS.items():
        for name, place in names(kind).items():
            if place.startswith("storyproof."):
                continue
            try:
                load(kind, name)
            except StoryproofError as error:
                yield f"{error} It is declared in the entry point group {group}."
    folder = cache_folder()
    parent = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    if not os.access(parent, os.W_OK):
        yield f"the cache for models, {folder}, cannot be written; change its permissions, or set XDG_CACHE_HOME."


def _notes() -> Iterable[str]:
    """Yield what else may be good to know."""
    try:
        import fcntl  # noqa: F401
    except ImportError:
        yield "this system has no file locks; two processes that write one folder notice each other by their files."
    pulled = [name for name in WEIGHTS if weights_path(name).is_file()]
    here = f"models in the cache: {', '.join(pulled)}" if pulled else "no model in the cache"
    first = next(iter(WEIGHTS))
    yield f"{here}; local/{first} is downloaded for its first use, or by `storyproof doctor --pull {first}`"


def need_peer(package: str, extra: str, what: str) -> Any:
    """Import a package, if its version is one that the extra of storyproof asks for.

    Args:
        package: Its name for pip.
        extra: The extra that installs it; its bounds are those of storyproof's own metadata.
        what: What needs it, for the message.

    Raises:
        ConfigError: If it is missing, broken, or of a version that does not fit; the message has the command that
            installs one that does.
    """
    bounds = read_needs(metadata.requires("storyproof") or ()).get(extra, {}).get(package, "")
    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError:
        version = ""
    if version and not satisfies(version, bounds):
        raise ConfigError(
            f"{what} needs {package} {bounds}, but {version} is installed: pip install --upgrade 'storyproof[{extra}]'."
        )
    return need(package.replace("-", "_"), extra, what)
