"""storyproof audit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.catalog import FORMATS
from storyproof.cli import completion
from storyproof.cli import engine_options as engines
from storyproof.cli.command import is_given
from storyproof.cli.output import check_folder, check_results, takes_output, write_result
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import console, echo, note
from storyproof.errors import ConfigError
from storyproof.findings import PROOF_SAMPLE, SAMPLES
from storyproof.io.storage import as_place
from storyproof.language.display_names import display_name

if TYPE_CHECKING:
    from storyproof.findings import AuditReport, FileReport


def audit(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="paths",
            show_default=False,
            help="Files, folders or URLs (s3://…): .txt (ToMi, ToM-bAbI), .csv, .tsv, .jsonl, .json, .parquet, .arrow, "
            ".xlsx; zipped ones too; also placeholders (.json). None with --generator.",
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            help=f"auto, {', '.join(FORMATS)}; other packages can add formats.", autocompletion=completion.formats
        ),
    ] = "auto",
    columns: Annotated[
        str,
        typer.Option(
            metavar="<str>",
            help="Where files have what rows need: story=passage,question=query,answer=label,choices=options; by "
            "default names and contents tell.",
        ),
    ] = "",
    consistent: Annotated[
        str, typer.Option(metavar="<str>", help="Columns that must agree, such as answer,answer_text.")
    ] = "",
    reading: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<str>",
            help="Count a wrong label as rule-dependent only if it is right under this reading; may be repeated.",
            show_default="all",
        ),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(help="The rules that kinship data were generated with, if they are your own.")
    ] = None,
    proofs: Annotated[
        bool,
        typer.Option(
            "--proofs",
            help="Check every proof by leaving out sentences; without it kinship proofs are checked for the first "
            f"{PROOF_SAMPLE} different questions per file.",
        ),
    ] = False,
    fix: Annotated[Path | None, typer.Option(help="Write the corrected files to this folder, with errata.csv.")] = None,
    ambiguous: Annotated[str, typer.Option(help="--fix: 'mark' or 'drop' rows from which no answer follows.")] = "mark",
    write_errata: Annotated[
        Path | None, typer.Option(help="Write errata to this folder: hashes of rows and corrections, no texts.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write certificate.json and certificate.md to this folder, for a dataset card.")
    ] = None,
    shortcuts: Annotated[
        bool, typer.Option("--shortcuts", help="Also measure how well the data can be answered without reasoning.")
    ] = False,
    overlaps: Annotated[
        bool, typer.Option("--overlaps", help="Also look for duplicates, within and between splits.")
    ] = False,
    language: Annotated[
        bool, typer.Option("--language", help="Also measure how varied the language of the stories is.")
    ] = False,
    against: Annotated[Path | None, typer.Option(help="Also look for overlap with this dataset.")] = None,
    generator: Annotated[
        str | None,
        typer.Option(
            metavar="<module:function>",
            help="Instead of files: a function that returns (story, question, answer), which is called with a seed.",
        ),
    ] = None,
    samples: Annotated[int, typer.Option(help="--generator: how many samples to draw.")] = SAMPLES,
    dial: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<name=values>",
            help="--generator: what else the function is called with, such as people=2..5 or kind=easy,hard; may be "
            "repeated. All combinations take turns.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="--generator: the seed of the first sample.")] = 0,
    most: Annotated[int, typer.Option(help="List at most this many findings; 0 lists all.")] = 20,
    engine: engines.Name = engines.PROCESSES,
    address: engines.Address = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes, each of which reads one file or shard at a time; findings stay the same.",
            show_default="all available cores, fewer for few or small files",
        ),
    ] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write everything to a JSON file; - for standard output.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page; - for standard output.")] = None,
) -> None:
    """Check every label against the text, list what is wrong and why, and write corrected files.

    `verify` is another name of this command. Exit code 1 if a label is wrong, or a row is not understood.
    Labels that follow under some readings only, duplicates and small tests are listed too, but do not count as wrong.
    With `--generator`, samples of a program are judged instead of files, and disagreements shrunk to small stories.
    """
    import storyproof
    from storyproof.audits.audit import usual_workers
    from storyproof.formats.columns import parse_columns
    from storyproof.io.archives import unpacked

    if generator is not None:
        _refuse_file_options(context)
        _audit_generator(generator, samples, seed, dial or [], reading or [], rules, most, json_out)
        return
    for option in ("samples", "dial", "seed"):
        if is_given(context, option):
            raise ConfigError(
                f"--{option} has an effect on samples of a generator only; add --generator MODULE:FUNCTION."
            )
    if not paths:
        raise ConfigError("no files were given; name at least one, or a generator: --generator MODULE:FUNCTION.")
    places = [as_place(path) for path in paths]
    for is_wanted, option in ((shortcuts, "--shortcuts"), (overlaps, "--overlaps"), (language, "--language")):
        engines.refuse_urls(places if is_wanted else [], option)
    for given, option in ((against, "--against"), (html, "--html")):
        engines.refuse_urls(places if given is not None else [], option)
    for out, option in ((json_out, "--json"), (html, "--html")):
        check_results(out, [*places, against, rules], option)
    if json_out is not None and json_out == html:
        raise ConfigError(f"--json and --html are both {html}; choose two files.")
    for folder, option in ((write_errata, "--write-errata"), (certificate, "--certificate")):
        if folder is not None:
            engines.refuse_urls(places, option)
            check_folder(folder, option)
    if fix is not None:
        check_folder(fix, "--fix")
    elif is_given(context, "ambiguous") and ambiguous in ("mark", "drop"):
        raise ConfigError(
            f"--ambiguous is '{ambiguous}', but it has an effect on corrected files only; add --fix FOLDER."
        )
    if workers is None and engine == engines.PROCESSES:
        workers = usual_workers(places)
    with engines.needed(engine, address, workers, *places) as started, progress_bar("questions", None) as progress:
        report = storyproof.audit(
            places,
            format=format,
            columns=columns,
            consistent=consistent,
            readings=tuple(reading or ()),
            rules=rules,
            proofs=proofs,
            fix=fix,
            ambiguous=ambiguous,
            engine=started,
            progress=progress,
        )
    with progress_bar("further probes", None):
        wanted = shortcuts or certificate is not None, overlaps or against is not None, language
        with unpacked([Path(path) for path in paths] if any(wanted) else []) as unzipped:
            more = _more([Path(path) for path in unzipped], *wanted, against, parse_columns(columns) if columns else {})
    extra = {name: value for name, value, _ in more}
    quiet = takes_output(json_out) or takes_output(html)
    if json_out is not None:
        plain = quiet  # escapes of the screen would not be JSON
        write_result(json_out, json.dumps({**report.as_dict(), **extra}, indent=2, ensure_ascii=plain) + "\n")
    if html is not None:
        from storyproof.reports.audit_sections import page_of

        complete_list = json_out.name if json_out is not None and not takes_output(json_out) else ""
        with unpacked([Path(path) for path in paths]) as unzipped:
            page = page_of(report, [Path(path) for path in unzipped], extra, complete_list=complete_list)
        write_result(html, page, option="--html")
    if write_errata is not None or certificate is not None:
        from storyproof.audits.audit import audited_files
        from storyproof.audits.errata import write_errata_of
        from storyproof.reports.certificate import write_certificate

        with unpacked([Path(path) for path in paths]) as unzipped:
            files = audited_files(unzipped)
            if write_errata is not None:
                write_errata_of(report, files, write_errata)
            if certificate is not None:
                write_certificate(report, files, extra.get("shortcuts"), certificate)
    if not quiet:
        _print(report, most)
        for heading, _, text in more:
            echo(heading)
            console().print(text)
        echo(_verdict(report))
    if fix is not None:
        note(f"corrected files and errata.csv written to {fix}", err=quiet)
    for written, what in ((write_errata, "errata"), (certificate, "certificate.json and certificate.md")):
        if written is not None:
            note(f"{what} written to {written}", err=quiet)
    for out, what in ((json_out, "all findings"), (html, "the page")):
        if out is not None and not takes_output(out):
            note(f"{what} written to {out}", err=quiet)
    if not report.ok:
        raise typer.Exit(1)


_OF_GENERATORS = ("context", "generator", "samples", "dial", "seed", "reading", "rules", "most", "json_out")


def _refuse_file_options(context: typer.Context) -> None:
    """Raise ConfigError if files, or what is done with files, are given beside a generator."""
    for parameter in context.command.params:
        if parameter.name not in _OF_GENERATORS and is_given(context, parameter.name or ""):
            name = "paths" if parameter.name == "paths" else max(parameter.opts, key=len)
            raise ConfigError(f"{name} and --generator exclude each other; generate files, and audit these instead.")


def _audit_generator(
    generator: str,
    samples: int,
    seed: int,
    dials: Sequence[str],
    readings: Sequence[str],
    rules: Path | None,
    most: int,
    json_out: Path | None,
) -> None:
    """Audit what a generator draws, and print or write what was found."""
    from storyproof.audits.generators import DEPENDENT, FAILED, WRONG, audit_generator, parse_dials
    from storyproof.reports.numbers import counted

    check_results(json_out, [rules], "--json")
    values = parse_dials(dials)
    with progress_bar("samples", samples) as progress:
        report = audit_generator(
            generator,
            samples=samples,
            seed=seed,
            dials=values,
            readings=tuple(readings),
            rules=rules,
            progress=progress,
        )
    if json_out is not None:
        content = report.as_dict()
        write_result(json_out, json.dumps(content, indent=2, ensure_ascii=takes_output(json_out), default=str) + "\n")
    if not takes_output(json_out):
        further = f", {report.further:,} of them further ones" if report.further else ""
        share = "" if report.judged == report.questions else f" ({_percent(report.judged, report.questions)})"
        wrong, dependent, failed = (report.counts[each] for each in (WRONG, DEPENDENT, FAILED))
        echo(
            f"{counted(report.samples, 'sample')}, {counted(report.questions, 'question')}{further}: "
            f"{report.judged:,} judged{share}, {counted(wrong, 'wrong answer')}, {dependent:,} rule-dependent, "
            f"{report.unread.total():,} not understood" + (f", {counted(failed, 'error')}" if failed else "")
        )
        if report.conflicts:
            echo(f"  {counted(report.conflicts, 'conflict')} (the same story and question, different answers)")
        for reason, count in report.unread_reasons.most_common(3):
            echo(f"  not understood: {count:,} {reason}")
        for line in (line for each in report.causes[: most or None] for line in str(each).split("\n")):
            echo(line)
        if most and len(report.causes) > most:
            echo(
                f"… and {counted(len(report.causes) - most, 'more cause')}; --most 0 lists all, --json FILE writes all"
            )
        echo(counted(len(report.causes), "cause"))
    if json_out is not None and not takes_output(json_out):
        note(f"all causes written to {json_out}")
    if not report.ok:
        raise typer.Exit(1)


def _print(report: AuditReport, most: int) -> None:
    """Print how much was judged and found, then findings, wrong answers first."""
    from storyproof.audits.audit import by_consequence, by_own_rules, listed_statuses
    from storyproof.reports.numbers import counted

    totals = report.totals
    if rules := by_own_rules(report):
        echo(rules)
        for asked, counts in totals.pop("own_rules").items():
            echo(f"  {display_name(asked)}: {', '.join(f'{name} {count:,}' for name, count in counts.items())}")
    if entries := totals.pop("entries", 0):
        echo(f"{entries:,} placeholders")
    if report.questions:
        wrong, dependent = (sum(totals[name].values()) for name in ("wrong_answers", "rule_dependent"))
        for file in report.files:
            for text in _ways_of_reading(file):
                echo(f"{file.file}: {text}")
        judged = totals["judged"]
        share = "" if judged == report.questions else f" ({_percent(judged, report.questions)})"
        echo(
            f"{counted(report.questions, 'row')} of {counted(report.stories, 'story')}: {judged:,} judged{share}, "
            f"{counted(wrong, 'wrong answer')}, {dependent:,} rule-dependent, {report.unread.total():,} not understood"
        )
        if repeated := totals.pop("repeated_questions", 0):
            conflicts = f"{counted(totals['conflicts'], 'conflict')} (the same story and question, different answers)"
            echo(f"  {conflicts} among {repeated:,} that occur more than once")
    for pair in report.shared:
        shared = ", ".join(counted(pair[what], one) for what, one in _SHARED.items())
        echo(f"  shared by {pair['first']} and {pair['second']}: {shared}")
    for path in report.left_out:
        echo(f"  left out, because no question is found in it: {path}")
    for name in ("wrong_answers", "rule_dependent", "unread", "by_mechanism"):
        _print_counts(_LABELS[name], {key: count for key, count in totals.pop(name, {}).items() if count})
    _print_counts("disagreements by field", report.by_field())
    for standard, counts in listed_statuses(report).items():
        _print_counts(f"under {standard}", counts)
        totals = {name: count for name, count in totals.items() if name not in counts}
    _print_counts("counts", {name: totals[name] for name in totals if name not in _SHOWN_ABOVE and totals[name]})
    if report.proofs_checked:
        echo(f"  checked by leaving out sentences: {counted(report.proofs_checked, 'proof')}{_derived(report)}")
    if unchecked := [name for name, count in report.unchecked.items() if count]:
        echo(f"  not in the data, so not checked: {', '.join(unchecked)}")
    if report.lacks_manifest:
        echo("  no manifest.json, so files cannot be checked against what was generated")
    findings = by_consequence(report)
    for each in findings[: most or None]:
        echo(each)
    if most and len(findings) > most:
        echo(f"… and {len(findings) - most:,} more; --most 0 lists all, --json FILE writes all")


_LABELS = {
    "wrong_answers": "wrong answers",
    "rule_dependent": "right under another reading",
    "unread": "not understood",
    "by_mechanism": "causes",
}
_SHOWN_ABOVE = ("rows", "stories", "judged", "conflicts", "records", "with_choices")


_SHARED = {"stories": "story", "questions": "question", "conflicts": "conflict"}


def _ways_of_reading(file: FileReport) -> Iterator[str]:
    """Yield how a file was read, where that is not as it says itself."""
    if file.columns:
        yield "columns: " + ", ".join(f"{role} = {name}" for role, name in file.columns.items())
    yield from file.notes


def _percent(part: int, whole: int) -> str:
    """Return a share in percent; all and nothing are exact."""
    share = 100 * part / whole
    return f"{share:.0f}%" if part in (0, whole) else f"{min(99.9, max(0.1, share)):.1f}%"


def _derived(report: AuditReport) -> str:
    """Return how many of the proofs are not those of the data."""
    count = report.proofs_derived
    if count in (0, report.proofs_checked):
        return " (derived here: the rows have none)" if count else ""
    return f" ({count:,} of them derived here: those rows have none)"


def _print_counts(label: str, counts: Mapping[str, int]) -> None:
    if counts:
        echo(f"  {label}: {', '.join(f'{display_name(name)} {count:,}' for name, count in counts.items())}")


def _verdict(report: AuditReport) -> str:
    """Return how much of what the data claim is wrong, and what stands beside it, in a line."""
    from storyproof.audits.audit import listed_statuses
    from storyproof.reports.numbers import counted

    parts = [counted(len(report.disagreements), "disagreement")]
    if unread := report.unread.total():
        parts.append(f"{unread:,} of {counted(report.questions, 'row')} not understood")
    if unsettled := report.unsettled.total():
        standard = " and ".join(listed_statuses(report))
        parts.append(f"{unsettled:,} of {counted(report.questions, 'label')} do not follow under {standard}")
    return "; ".join(parts)


def _more(
    paths: Sequence[Path],
    shortcuts: bool,
    overlaps: bool,
    language: bool,
    against: Path | None,
    columns: Mapping[str, str],
) -> list[tuple[str, Any, Any]]:
    """Return what else was asked for: name, plain values, and a table to print."""
    from storyproof.reports import audit_sections as auditing

    sections: list[tuple[str, Any, Any]] = []
    if shortcuts:
        sections.append(("shortcuts", *auditing.shortcuts_of(paths, columns)))
    if overlaps:
        sections.append(("overlaps", *auditing.overlaps_of(paths, against, columns)))
    if language:
        sections.append(("language", *auditing.language_of(paths)))
    return sections
