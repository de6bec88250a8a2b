"""storyproof study: everything about studies with people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.command import Command
from storyproof.cli.options import StudyCommand, declared_values
from storyproof.cli.safe_terminal import echo, note

if TYPE_CHECKING:
    from storyproof.study.folder import Study

app = typer.Typer(
    help="Studies with people: write and review stories, or answer questions, in a browser.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)

_Name = Annotated[Path, typer.Argument(metavar="NAME", help="The study's folder.")]
_Database = Annotated[
    str,
    typer.Option(
        envvar="STORYPROOF_STUDY_DATABASE",
        show_envvar=True,
        help="postgresql://USER:PASSWORD@HOST/NAME; by default SQLite in the study's folder.",
    ),
]
_PASSWORD_VARIABLE = "STORYPROOF_STUDY_PASSWORD"


@app.command("new", cls=StudyCommand, short_help="Create a study.")
def new(
    context: typer.Context,
    name: _Name,
    kind: Annotated[str, typer.Option(help="paraphrase (write and review stories) or solve (answer questions).")],
    data: Annotated[Path | None, typer.Option(help="The dataset with the questions (solve).")] = None,
    split: Annotated[str | None, typer.Option(help="Which split of it.", show_default="test")] = None,
    family: Annotated[
        str,
        typer.Option(
            help="The family whose facts are paraphrased (paraphrase).",
            show_default="the first that collects paraphrases",
        ),
    ] = "",
    messages: Annotated[
        Path | None, typer.Option(help="A YAML file with your own texts of the pages, see study messages.")
    ] = None,
    consent: Annotated[Path | None, typer.Option(help="A text file with your own consent text.")] = None,
    debriefing: Annotated[Path | None, typer.Option(help="A text file with your own debriefing.")] = None,
    database: _Database = "",
) -> None:
    """Create a study: draw its items, freeze its design, and print the password of its dashboard."""
    _need()
    from storyproof.study.design import PARAPHRASE, ExclusionRules
    from storyproof.study.messages import read_messages
    from storyproof.study.new import new_study

    given, _ = declared_values(context)
    rules = {field: given.pop(field) for field in ExclusionRules.options() if field in given}
    usual = {"tasks_per_participant": 1, "practice": 0} if kind == PARAPHRASE else {}
    language = given.get("language", "en")
    settings = {
        **usual,
        **given,
        "kind": kind,
        "consent": _read(consent, "--consent"),
        "debriefing": _read(debriefing, "--debriefing"),
        "messages": {} if messages is None else read_messages(messages, language),
        "exclusions": ExclusionRules(**rules),
    }
    password_given = os.environ.get(_PASSWORD_VARIABLE, "")
    study, password = new_study(
        name, settings, data=data, split=split, family=family, database=database, password=password_given
    )
    study.close()
    items = f"{study.design.items:,} items"
    note(f"{name}: {items}; design {study.design.sha256[:12]}, items {study.items.sha256[:12]}")
    if not password_given:
        echo(f"The password of the dashboard is {password} (shown once; storyproof study password sets another).")
    note(f"Start it: storyproof study serve {name}")


@app.command("messages", cls=Command, short_help="Write the texts of the pages, to translate them.")
def messages(
    out: Annotated[Path, typer.Option(help="The YAML file.")],
    language: Annotated[str, typer.Option(help="The language to begin with: en or de.")] = "en",
) -> None:
    """Write the texts of the pages into a file that study new takes as --messages, after a change or a translation."""
    from storyproof.errors import UnknownNameError
    from storyproof.io.atomic_files import whole_file, writing_to
    from storyproof.study.design import LANGUAGES
    from storyproof.study.messages import shipped_file

    if language not in LANGUAGES:
        raise UnknownNameError("language", language, LANGUAGES)
    with writing_to(out), whole_file(out) as file:
        file.write(shipped_file(language).encode())
    note(f"written to {out}")


@app.command("serve", cls=Command, short_help="Start the study server.")
def serve(
    name: _Name,
    host: Annotated[
        str, typer.Option(help="The address to listen at; with another one, other machines can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes one that is free.")] = 8643,
    public_url: Annotated[
        str, typer.Option(help="The address under which participants reach it: that of the proxy with TLS.")
    ] = "",
    proxies: Annotated[
        str,
        typer.Option(help="Addresses of trusted proxies, which report the addresses of participants; comma-separated."),
    ] = "127.0.0.1",
    database: _Database = "",
) -> None:
    """Start the study server; the dashboard is at /admin."""
    from storyproof.study.serve import serve_study

    def ready(address: str) -> None:
        echo(f"The study is at {address}/ and its dashboard at {address}/admin (Ctrl+C ends it).")

    serve_study(name, host=host, port=port, public_url=public_url, proxies=proxies, database=database, ready=ready)


@app.command("plan", cls=Command, short_help="Compute how many participants are needed.")
def plan(
    accuracy: Annotated[float, typer.Option(help="The accuracy that you expect; 0.5 is the worst case.")] = 0.5,
    half_width: Annotated[float, typer.Option(help="Half the width of the interval: 0.05 for 5 points.")] = 0.05,
    tasks: Annotated[int, typer.Option(help="Questions per participant.")] = 10,
    correlation: Annotated[
        float, typer.Option(help="How alike the answers of one participant are (intraclass correlation).")
    ] = 0.1,
    conditions: Annotated[int, typer.Option(help="Conditions, between participants.")] = 1,
    excluded: Annotated[float, typer.Option(help="The share of participants whom you expect to exclude.")] = 0.0,
    level: Annotated[float, typer.Option(help="The level of the interval.")] = 0.95,
) -> None:
    """Compute how many participants give an interval of a given width."""
    from storyproof.study.planning import plan_participants

    size = plan_participants(
        accuracy=accuracy,
        half_width=half_width,
        tasks=tasks,
        correlation=correlation,
        conditions=conditions,
        excluded=excluded,
        level=level,
    )
    echo(f"independent answers needed: {size.independent:,} (z² p (1 − p) / h²)")
    echo(f"design effect of {tasks} answers per participant: {size.design_effect:.2f} (1 + (m − 1) ρ)")
    echo(f"participants per condition: {size.participants:,}, with {size.answers:,} answers")
    echo(f"participants to recruit: {size.recruited:,}")


@app.command("export", cls=Command, short_help="Write all results.")
def export(
    name: _Name,
    out: Annotated[Path, typer.Option(help="A new folder for the tables, the codebook and the runs.")],
    database: _Database = "",
) -> None:
    """Write all results: CSV and Parquet with a codebook, and runs for report or placeholders for generate."""
    from storyproof.study.export import export_study

    with _opened(name, database) as study:
        summary = export_study(study, out)
    note(f"written to {out}: {', '.join(summary.files)}")
    for line in summary.notes:
        note(line)


@app.command("preregister", cls=Command, short_help="Write a preregistration.")
def preregister(
    name: _Name,
    out: Annotated[Path, typer.Option(help="The JSON file.")],
    database: _Database = "",
) -> None:
    """Write design, items, seeds, rules and hashes as a preregistration."""
    from storyproof.study.planning import write_preregistration

    with _opened(name, database) as study:
        write_preregistration(study, out)
    note(f"written to {out}")


@app.command("backup", cls=Command, short_help="Write a backup, while the study runs.")
def backup(
    name: _Name,
    out: Annotated[Path, typer.Option(help="The ZIP file; it contains the secret of the study.")],
    database: _Database = "",
) -> None:
    """Write a backup, while the study runs."""
    from storyproof.study.backup import back_up

    with _opened(name, database) as study:
        counts = back_up(study, out)
    note(f"written to {out}: {_counts(counts)}")


@app.command("restore", cls=Command, short_help="Create a study from a backup.")
def restore(
    backup_file: Annotated[Path, typer.Argument(metavar="BACKUP", help="What study backup wrote.")],
    name: Annotated[Path, typer.Argument(metavar="NAME", help="A new folder for the study.")],
    database: _Database = "",
) -> None:
    """Create a study from a backup; with another --database it moves there."""
    _need()
    from storyproof.study.backup import restore as restore_study

    study, counts = restore_study(backup_file, name, database=database)
    study.close()
    note(f"restored to {name}: {_counts(counts)}")


@app.command("password", cls=Command, short_help="Set a new password of the dashboard.")
def password(name: _Name, database: _Database = "") -> None:
    """Set a new password of the dashboard, from STORYPROOF_STUDY_PASSWORD or at random, and end all its sessions."""
    from storyproof.study.admin import hash_password
    from storyproof.study.folder import new_password

    given = os.environ.get(_PASSWORD_VARIABLE, "")
    chosen = given or new_password()
    with _opened(name, database) as study:
        study.set_password(hash_password(chosen))
    if given:
        note("The password is set.")
    else:
        echo(f"The password of the dashboard is {chosen} (shown once).")


@app.command("unlock", cls=Command, short_help="Forget wrong passwords of the dashboard.")
def unlock(name: _Name, database: _Database = "") -> None:
    """Forget wrong passwords of the dashboard, so that it can be entered again at once."""
    from storyproof.study.admin import unlock as forget

    with _opened(name, database) as study:
        count = forget(study)
    note(f"forgot {count:,} wrong passwords")


@app.command("replace-excluded", cls=Command, short_help="Give items of excluded people to others.")
def replace_excluded(name: _Name, database: _Database = "") -> None:
    """Give the items of excluded participants to others; their data stay, and are left out of results."""
    from storyproof.study.recruitment import replace_excluded as replace

    with _opened(name, database) as study:
        counts = replace(study)
    note(f"opened again: {_counts(counts)}" if counts else "nothing to replace")


@app.command("delete-participant", cls=Command, short_help="Delete all data of one participant.")
def delete_participant(
    name: _Name,
    code: Annotated[str, typer.Argument(metavar="CODE", help="The participant's code.")],
    database: _Database = "",
) -> None:
    """Delete all data of one participant; the items that they answered become free again."""
    from storyproof.study.participants import delete_participant as delete

    with _opened(name, database) as study:
        counts = delete(study, code)
    note(f"deleted {code}: {_counts(counts)}. Earlier backups and exports still contain the data.")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{table} {count:,}" for table, count in counts.items())


def _need() -> None:
    from storyproof.study.serve import need_packages

    need_packages()


@contextmanager
def _opened(name: Path, database: str) -> Iterator[Study]:
    _need()
    from storyproof.study.folder import open_study

    study = open_study(name, database=database)
    try:
        yield study
    finally:
        study.close()


def _read(path: Path | None, option: str) -> str:
    if path is None:
        return ""
    from storyproof.errors import DataError
    from storyproof.io.bounded_input import read_text

    try:
        return read_text(path)
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {path}: {error}; choose another file for {option}.") from error
