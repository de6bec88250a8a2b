"""An exception that nobody expected has an exit code of its own, one sentence, and a report to attach to an issue."""

import re
import shlex
import tempfile
from pathlib import Path

import pytest

import storyproof
from storyproof.cli.crash import DEBUG, EXIT_CODE, report_crash, show_traceback
from tests.cli.invocation import Program


def break_show(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `show` raise something."""

    def fail(*arguments: object, **settings: object) -> None:
        raise error

    monkeypatch.setattr(storyproof, "show", fail, raising=False)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv(DEBUG, raising=False)
    return folder


def test_a_bug_is_reported_in_one_sentence(program: Program, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    break_show(monkeypatch, KeyError("first\nsecond"))
    ended = program("show data --index 3")
    assert (ended.code, ended.out) == (EXIT_CODE, "")
    assert EXIT_CODE == 70
    assert ended.err.count("\n") == 1
    found = re.fullmatch(
        r"storyproof: internal error \(KeyError: 'first\\nsecond'\); please open an issue and attach "
        r"(\S+), which has the command, the versions and the traceback, and if possible the input\.\n",
        ended.err,
    )
    assert found is not None, ended.err
    report = Path(found[1])
    assert report.parent == temporary
    text = report.read_text()
    for line in ("command: storyproof show data --index 3", f"storyproof: {storyproof.__version__}", "python: 3."):
        assert f"{line}" in text
    assert "Traceback (most recent call last):" in text
    assert "pyarrow" in text
    assert report.stat().st_mode & 0o077 == 0  # it may quote data


def test_without_a_folder_for_reports_the_traceback_is_shown(
    program: Program, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    temporary.rmdir()
    break_show(monkeypatch, ZeroDivisionError("division by zero"))
    ended = program("show data")
    assert ended.code == EXIT_CODE
    assert "Traceback (most recent call last):" in ended.err
    *_, last = ended.err.splitlines()
    assert last.startswith("storyproof: internal error (ZeroDivisionError: division by zero); please open")


@pytest.mark.parametrize("debug", ["1", "0"])
def test_tracebacks_are_shown_on_demand(program: Program, monkeypatch: pytest.MonkeyPatch, debug: str) -> None:
    monkeypatch.setenv(DEBUG, debug)
    ended = program("show nowhere")
    assert ended.code == 2
    assert ("Traceback (most recent call last):" in ended.err) == (debug == "1")
    assert ended.err.splitlines()[-1] == "storyproof: nowhere does not exist; give a dataset folder or a file."


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "there is not enough memory; use less data at a time, or a machine with more."),
        (
            PermissionError(13, "Permission denied", "data"),
            "cannot read or write data: Permission denied; check the path, the permissions and the space on the disk.",
        ),
        (
            OSError("broken"),
            "cannot read or write broken; check the path, the permissions and the space on the disk.",
        ),
    ],
)
def test_what_is_no_bug_is_not_reported_as_one(
    program: Program, monkeypatch: pytest.MonkeyPatch, temporary: Path, error: BaseException, message: str
) -> None:
    break_show(monkeypatch, error)
    ended = program("show data")
    assert (ended.code, ended.out, ended.err) == (2, "", f"storyproof: {message}\n")
    assert not list(temporary.iterdir())


def test_the_exit_codes_are_in_the_help(program: Program) -> None:
    for help_option in ("-h", "--help"):
        text = " ".join(program(help_option).out.split())
        assert "70: internal error" in text
        assert "With STORYPROOF_DEBUG=1 every error shows its traceback." in text


def test_reports_contain_no_keys_or_passwords(
    monkeypatch: pytest.MonkeyPatch, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, other = "sk-ADVSECRET-abcdefghijkl", "another-KEY-4711-0815"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("MINE", other)
    monkeypatch.setenv("DATABASE", "postgresql://me:pass-of-environment@host/db")
    message = (
        f"{key} {' '.join(key)} {other[:16]} pass-of-environment http://who:elsewhere@host/v1\n[parameters: (1, 'x')]"
    )
    message += "\nDETAIL: Key (name)=(Ada) already exists."
    monkeypatch.setattr(
        "sys.argv",
        shlex.split(
            "storyproof show data --api-key-env MINE --base-url http://me:S3cretPw@h/v1 --option api_key=hush-hush "
            "--database=postgresql://study:S3cretPw2@h/db"
        ),
    )
    assert report_crash(KeyError(message)) == EXIT_CODE
    [report] = [path.read_text() for path in temporary.iterdir()]
    printed = capsys.readouterr().err
    for secret in (
        key,
        key[:12],
        " ".join(key),
        other[:16],
        "environment",
        "elsewhere",
        "S3cretPw",
        "hush",
        "'x'",
        "Ada",
    ):
        assert secret not in report + printed
    assert "--api-key-env MINE --base-url http://…@h/v1 --option" in report
    assert "--database=postgresql://…@h/db" in report


@pytest.mark.parametrize(
    "command",
    [
        "storyproof study restore b x --database postgresql://study:S3/cret-Pw@127.0.0.1:1/db",
        "storyproof study restore b x --database postgresql://study:S3@cret-Pw@127.0.0.1:1/db",
        "storyproof study restore b x --database 'postgresql://127.0.0.1:1/db?user=study&password=S3cret-Pw'",
        "storyproof study restore b x --database 'host=127.0.0.1 password=S3cret-Pw'",
        "storyproof evaluate --api_key_env MINE --prompt S3cret-Pw",
        "storyproof evaluate --api_key_env=MINE --prompt S3cret-Pw",
    ],
)
def test_passwords_written_in_other_ways_are_hidden(
    command: str, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setenv("MINE", "S3cret-Pw")
    monkeypatch.setattr("sys.argv", shlex.split(command))
    report_crash(KeyError("x"))
    [report] = [path.read_text() for path in temporary.iterdir()]
    assert "cret-Pw" not in report


def test_tracebacks_on_demand_contain_no_passwords(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STORYPROOF_DEBUG", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ADVSECRET-abcdefghijkl")
    show_traceback(ValueError("407, url='http://me:S3cretPw@proxy', sk-ADVSECRET-abcdefghijkl"))
    printed = capsys.readouterr().err
    assert "407, url='http://…@proxy'" in printed
    assert "ADVSECRET" not in printed


def test_reports_of_studies_contain_no_data(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    monkeypatch.setattr("sys.argv", ["storyproof", "study", "export", "mine"])
    given = ["what Ada wrote", "who Ada is"]
    try:
        try:
            raise ValueError(given[0])
        except ValueError as error:
            raise KeyError(given[1]) from error
    except KeyError as error:
        report_crash(error)
    [report] = [path.read_text() for path in temporary.iterdir()]
    assert report.index("ValueError (message left out)") < report.index("KeyError (message left out)")
    assert "Ada" not in report
    assert "test_reports_of_studies_contain_no_data" in report
