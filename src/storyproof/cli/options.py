"""Options that dataclasses declare: those of benchmarks on the commands that generate, those of models on others.

A dataclass is imported only when its command runs or shows its help: the command line starts without loading any.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.main import get_command

from storyproof.catalog import load, names, versions
from storyproof.cli.command import OTHER_NAMES, Command, with_usual_names
from storyproof.errors import ConfigError, StoryproofError, listed
from storyproof.runtime.options import Option

if TYPE_CHECKING:
    from storyproof.benchmark import Benchmark

_OPTIONS, _BENCHMARKS, _GIVEN = "storyproof.options", "storyproof.benchmarks", "storyproof.given"
_TRAINING, _TRAINING_GIVEN = "storyproof.training", "storyproof.training.given"
PRESET = "--preset"
RARE = "--option"


class BenchmarkCommand(Command):
    """A command that also takes the options of a benchmark, which `given_settings` returns as settings.

    The options are those of the benchmark that the arguments name; of all benchmarks if that one does not have them
    all, so that the message can name those that have.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Find out which options there are, then parse."""
        args = list(with_usual_names(args, OTHER_NAMES.get(self.name or "", {})))
        normalize = ctx.token_normalize_func or (lambda word: word)
        typed = {normalize(word.partition("=")[0]) for word in args if word.startswith("--")}
        plain = [word.rpartition("=")[2].partition("@")[0] for word in args]
        named = next((word for word in plain if word in names("benchmark")), None)
        if named is not None:
            self._take(ctx, [named])
        if not typed <= _flags(self.get_params(ctx)):
            self._take(ctx, names("benchmark"))
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters, then those of benchmarks, then `--help`."""
        if _OPTIONS not in ctx.meta:
            self._take(ctx, names("benchmark"))
        own = self.get_own_params(ctx)
        return [*own[:-1], *(each for group in ctx.meta[_OPTIONS].values() for each in group), *own[-1:]]

    def get_own_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters."""
        return super().get_params(ctx)

    def invoke(self, ctx: Any) -> Any:
        """Keep what was given of the benchmark's options apart from the command's own parameters."""
        flags = {each.name: each.opts[0] for group in ctx.meta[_OPTIONS].values() for each in group}
        values = {flag: ctx.params.pop(name) for name, flag in flags.items()}
        ctx.meta[_GIVEN] = {flag: value for flag, value in values.items() if value is not None}
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the command's own options, those of benchmarks under their names, and the benchmarks."""
        self.get_params(ctx)
        groups, ctx.meta[_OPTIONS] = ctx.meta[_OPTIONS], {}
        super().format_options(ctx, formatter)
        ctx.meta[_OPTIONS] = groups
        for title, group in groups.items():
            with formatter.section(f"Options of {title}"):
                formatter.write_dl([record for each in group if (record := each.get_help_record(ctx))])
        if benchmarks := ctx.meta[_BENCHMARKS]:
            with formatter.section("Benchmarks"):
                written = "--format" in _flags(self.get_own_params(ctx))
                formatter.write_dl([(name, _summary(each[0], formats=written)) for name, each in benchmarks.items()])

    def _take(self, ctx: Any, benchmarks: Iterable[str]) -> None:
        """Add the options of benchmarks, grouped by the benchmarks that have them."""
        own = _flags(self.get_own_params(ctx))
        having: dict[str, list[str]] = {}
        declared: dict[str, Any] = {}
        versions_by_name = {name: each for name in benchmarks if (each := _all_versions(name))}
        for name, each in versions_by_name.items():
            for flag, annotation in _declared(each).items():
                if flag not in own:
                    having.setdefault(flag, []).append(name)
                    declared.setdefault(flag, annotation)
        groups: dict[str, dict[str, Any]] = {}
        for flag, users in having.items():
            groups.setdefault(", ".join(users), {})[flag] = declared[flag]
        ctx.meta[_BENCHMARKS] = versions_by_name
        ctx.meta[_OPTIONS] = {title: parameters(group) for title, group in groups.items()}


def _flags(parameters: Iterable[Any]) -> set[str]:
    return {flag for each in parameters for flag in (*each.opts, *each.secondary_opts)}


def _all_versions(name: str) -> list[type[Benchmark]]:
    """Return the versions of a benchmark, the current one first; none if its package cannot be imported."""
    try:
        return [load("benchmark", f"{name}@{version}") for version in reversed(versions(name))]
    except StoryproofError:
        return []  # one broken package must not break the command


def _summary(benchmark: type[Benchmark], *, formats: bool) -> str:
    """Return what help says about a benchmark, with the formats in which it can be written where that matters."""
    usual = ", ".join(f"{count} {split}" for split, count in benchmark.usual_counts.items())
    if benchmark.test_parts:
        usual += f" for each {benchmark.test_parts}"
    summary = f"version {benchmark.version}; stories by default: {usual}"
    if not formats:
        return summary
    from storyproof.datasets.shards import writable_formats

    return f"{summary}; formats: {', '.join(writable_formats(benchmark))}"


def _declared(benchmarks: Iterable[type[Benchmark]]) -> dict[str, Any]:
    """Return the annotated types of the options of a benchmark in all its versions, by flag."""
    types: dict[str, Any] = {}
    for benchmark in benchmarks:
        if benchmark.presets:
            about = f"One of the named data sets: {', '.join(benchmark.presets)}."
            types.setdefault(PRESET, Annotated[str | None, typer.Option(PRESET, help=about, metavar="<str>")])
        for option in benchmark.config_type.options().values():
            types.setdefault(option.flag, annotated(option))
    return types


def annotated(option: Option) -> Any:
    """Return the annotated type of an option for Typer; one that is on by default can be switched off."""
    shown: dict[str, Any] = {"help": option.described, "show_default": option.default or False}
    if option.read is bool:
        flag = f"{option.flag}/--no-{option.flag.removeprefix('--')}" if option.is_on else option.flag
        return Annotated[bool | None, typer.Option(flag, **shown)]
    kind = list[str] if option.is_repeated else str
    return Annotated[kind | None, typer.Option(option.flag, metavar=option.metavar, **shown)]


def parameters(annotations: Mapping[str, Any]) -> list[Any]:
    """Return parameters for annotated types by flag, made by Typer as those of a function are."""

    def nothing(**_: Any) -> None:
        """Do nothing."""

    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None)
    named = {"declared_" + flag.removeprefix("--").replace("-", "_"): kind for flag, kind in annotations.items()}
    nothing.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [keyword(name, annotation=kind) for name, kind in named.items()]
    )
    nothing.__annotations__ = dict(named)
    app = typer.Typer(add_completion=False)
    app.command()(nothing)
    return list(get_command(app).params)


class DeclaredCommand(Command):
    """A command that also takes the options that a dataclass declares; `declared_values` returns what was given.

    Rare options are given as `--option NAME=VALUE`. Names that the dataclass does not declare are kept as they are.

    Attributes:
        leaves_out: The fields that the command does not take.
        others: What names that are not declared are passed to, for the help of `--option`; empty to refuse them.
    """

    leaves_out: ClassVar[frozenset[str]] = frozenset()
    others: ClassVar[str] = ""

    @classmethod
    def declarations(cls) -> Mapping[str, Option]:
        """Return the options by the names of their fields."""
        raise NotImplementedError

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters, then the declared ones, then `--quiet` and `--help`."""
        if _OPTIONS not in ctx.meta:
            ctx.meta[_OPTIONS] = self._declared()
        own = super().get_params(ctx)
        return [*own[:-2], *ctx.meta[_OPTIONS].values(), *own[-2:]]

    def invoke(self, ctx: Any) -> Any:
        """Keep what was given of the declared options apart from the command's own parameters."""
        given = {flag: ctx.params.pop(each.name) for flag, each in ctx.meta[_OPTIONS].items()}
        ctx.meta[_GIVEN] = {flag: value for flag, value in given.items() if value not in (None, [], ())}
        return super().invoke(ctx)

    def _declared(self) -> dict[str, Any]:
        """Return the parameters by flag."""
        options = {name: each for name, each in self.declarations().items() if name not in self.leaves_out}
        annotations = {each.flag: annotated(each) for each in options.values() if not each.is_rare}
        rare = [each.flag.removeprefix("--") for each in options.values() if each.is_rare]
        if rare or self.others:
            several = (
                f"NAME=VALUE, repeatable: {', '.join(rare)}{f'; others go to {self.others}' if self.others else ''}."
            )
            declared = Option(several, flag=RARE, metavar="<str>", is_repeated=True)
            annotations[RARE] = annotated(declared)
        return dict(zip(annotations, parameters(annotations), strict=True))


class TrainingCommand(BenchmarkCommand):
    """A command that also takes the settings of training, which `training_settings` returns."""

    @classmethod
    def declarations(cls) -> Mapping[str, Option]:
        """Return the settings of training."""
        from storyproof.solvers.training_settings import Settings

        return Settings.options()

    def get_own_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters with those of training before `--option`."""
        if _TRAINING not in ctx.meta:
            own = {each.flag: annotated(each) for each in self.declarations().values() if not each.is_rare}
            ctx.meta[_TRAINING] = dict(zip(own, parameters(own), strict=True))
        params = super().get_own_params(ctx)
        place = next(place for place, each in enumerate(params) if RARE in each.opts)
        return [*params[:place], *ctx.meta[_TRAINING].values(), *params[place:]]

    def invoke(self, ctx: Any) -> Any:
        """Keep what was given of the settings of training apart from the command's own parameters."""
        given = {flag: ctx.params.pop(each.name) for flag, each in ctx.meta[_TRAINING].items()}
        ctx.meta[_TRAINING_GIVEN] = {flag: value for flag, value in given.items() if value is not None}
        return super().invoke(ctx)


def training_settings(context: typer.Context, options: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of training that were given, and what `--option` gives besides: options of the model.

    Raises:
        ConfigError: If a text cannot be read.
    """
    declared = TrainingCommand.declarations()
    given = context.meta[_TRAINING_GIVEN]
    settings = {
        name: given[each.flag] if each.read is bool else each.parse(given[each.flag])
        for name, each in declared.items()
        if each.flag in given
    }
    rare = {each.flag.removeprefix("--"): (name, each) for name, each in declared.items() if each.is_rare}
    others = []
    for text in options:
        key, value = key_and_value(text)
        name, option = rare.get(key.replace("_", "-"), ("", None))
        if option is None:
            others.append(text)
        else:
            settings[name] = option.parse(value)
    return settings, others


class ModelCommand(DeclaredCommand):
    """A command that runs language models."""

    others = "the request or the engine"

    @classmethod
    def declarations(cls) -> Mapping[str, Option]:
        """Return the options of models."""
        from storyproof.solvers.llm.options import ModelOptions

        return ModelOptions.options()


class OneQuestionCommand(ModelCommand):
    """A command that asks a language model one question at a time."""

    leaves_out = frozenset({"concurrency", "batch_size"})


class StudyCommand(DeclaredCommand):
    """A command that designs a study."""

    @classmethod
    def declarations(cls) -> Mapping[str, Option]:
        """Return the options of the design, and those of its rules for whom to leave out."""
        from storyproof.study.design import ExclusionRules, StudyDesign

        return {**StudyDesign.options(), **ExclusionRules.options()}


def declared_values(context: typer.Context) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what was given of declared options: values by field, and by name what `--option` gives besides.

    Raises:
        ConfigError: If a text cannot be read.
    """
    command: Any = context.command
    fields = {option.flag: (name, option) for name, option in command.declarations().items()}
    values: dict[str, Any] = {}
    others: dict[str, str] = {}
    for flag, given in context.meta[_GIVEN].items():
        if flag == RARE:
            for text in given:
                key, value = key_and_value(text)
                name, option = fields.get(f"--{key.replace('_', '-')}", ("", None))
                if option is not None and option.is_rare:
                    values[name] = option.parse(value)
                else:
                    others[key] = value
            continue
        name, option = fields[flag]
        if option.is_repeated:
            values[name] = tuple(map(option.parse, given))
        else:
            values[name] = given if option.read is bool else option.parse(given)
    return values, others


def key_and_value(text: str) -> tuple[str, str]:
    """Divide NAME=VALUE.

    Raises:
        ConfigError: If it is something else.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigError(f"{RARE} is '{text}'; expected NAME=VALUE.")
    return key, value


def given_settings(context: typer.Context, benchmark: type[Benchmark]) -> dict[str, Any]:
    """Return the settings of a benchmark that options give, `preset` among them.

    Raises:
        ConfigError: If the benchmark does not have an option, or its text cannot be read.
    """
    given: dict[str, Any] = context.meta[_GIVEN]
    options = {option.flag: (name, option) for name, option in benchmark.config_type.options().items()}
    settings: dict[str, Any] = {}
    for flag, value in given.items():
        if flag == PRESET and benchmark.presets:
            settings["preset"] = value
        elif flag in options:
            name, option = options[flag]
            settings[name] = value if option.read is bool else option.parse(value)
        else:
            raise ConfigError(_refusal(flag, benchmark, options, off=value is False))
    return settings


def refuse_settings(context: typer.Context) -> None:
    """Raise ConfigError if an option of a benchmark is given where no benchmark is."""
    for flag in context.meta[_GIVEN]:
        users = " or ".join(_having(flag))
        raise ConfigError(f"{flag} is given without --benchmark; add --benchmark {users}, or leave {flag} out.")


def _refusal(flag: str, benchmark: type[Benchmark], options: Mapping[str, tuple[str, Option]], *, off: bool) -> str:
    typed = flag.replace("--", "--no-", 1) if off else flag
    flags = sorted([*options, *([PRESET] if benchmark.presets else [])])
    has = f"{benchmark.name} has {listed(flags)}" if flags else f"{benchmark.name} has no options of its own"
    several = len(_all_versions(benchmark.name)) > 1
    called = f"version {benchmark.version} of {benchmark.name}" if several else benchmark.name
    others = [name for name in _having(flag) if name != benchmark.name]
    return f"{typed} is not an option of {called}{f', but of {listed(others)}' if others else ''}; {has}."


def _having(flag: str) -> list[str]:
    """Return the benchmarks that have an option."""
    return [name for name in names("benchmark") if flag in _declared(_all_versions(name))]
