"""What commands write: never over what they read, nor over what others wrote; whole, or not at all."""

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.io import atomic_files
from tests.cli.invocation import Refuse, execute, run

COUNTS = "--train 3 --val 0 --test 3"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "data"
    storyproof.generate("tomi", train=3, test=3, out=out, format="babi")
    return out


@pytest.fixture
def data(made: Path, folder: Path) -> Path:
    return Path(shutil.copytree(made, folder / "data"))


def contents(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


def assert_refused(refuse: Refuse, place: Path, command: str, *said: str) -> None:
    """A command must say so in a sentence, and leave all files as they are."""
    before = contents(place)
    message = refuse(command)
    for words in said:
        assert words in message
    assert contents(place) == before


def test_force_spares_projects(folder: Path, refuse: Refuse) -> None:
    (folder / "w" / "src").mkdir(parents=True)
    (folder / "w" / "manifest.json").write_text('{"manifest_version": 3}')
    (folder / "w" / "src" / "thesis.txt").write_text("mine")
    assert_refused(
        refuse, folder, f"generate tomi --out w {COUNTS} --force", "manifest.json is changed, or not written by"
    )


def test_force_spares_results_in_a_dataset(folder: Path, data: Path, refuse: Refuse) -> None:
    command = f"generate tomi --out data {COUNTS} --force"
    assert (
        run("evaluate", "--model", "majority", "--data", data, "--output-dir", data / "evaluation_results").exit_code
        == 0
    )
    assert_refused(refuse, folder, command, "evaluation_results", "move them away or choose another folder for --out")


def test_force_spares_a_file_that_the_dataset_is_made_from(folder: Path, data: Path, refuse: Refuse) -> None:
    words = {
        "agents": ["Ada", "Ben", "Cleo"],
        "rooms": ["attic", "barn"],
        "containers": ["box", "jar"],
        "objects": ["key"],
    }
    (data / "words.yaml").write_text(json.dumps(words))
    command = f"generate tomi --out data {COUNTS} --force --vocabulary data/words.yaml"
    assert_refused(refuse, folder, command, "words.yaml")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("process data/train.txt --out data --force", "contains the input"),
        ("process data --out data --force", "is the input"),
        ("process link --out data --force", "is the input"),
        ("process data --out . --force", "contains the input"),
        ("process data --out data/processed", "lies inside the input"),
        ("audit data --fix data", "is the input"),
        ("audit data --fix data/fixed", "lies inside the input"),
        ("audit data/train.txt --json data/train.txt", "is an input"),
        ("audit data --json data/train.txt", "would be read as a part of the input"),
        ("audit data --html data/test.trace", "would be read as a part of the input"),
        ("audit data --against link --html other", "is an input"),
        ("verify data --json link/manifest.json", "would be read as a part of the input"),
        ("verify link/train.txt --json data/train.txt", "is an input"),
        ("evaluate --model majority --data data --json data/train.txt", "would be read as a part of the input"),
        ("evaluate --model majority --data majority_test.json --output-dir .", "is an input"),
        ("compare run.json run.json --json run.json", "is an input"),
        ("compare run.json:a run.json:b --json run.json", "is an input"),
        ("compare run.json --labels data --json run.json", "is an input"),
        ("ask --model majority --data data --json data/test.txt", "would be read as a part of the input"),
        ("train memnn --data data --out data --force", "is also the input"),
    ],
)
def test_inputs_are_not_overwritten(folder: Path, data: Path, refuse: Refuse, command: str, said: str) -> None:
    (folder / "link").symlink_to(data)
    (folder / "other").hardlink_to(data / "train.txt")
    if "--against" in command:
        command = command.replace("audit data", "audit other.txt")
        (folder / "other.txt").hardlink_to(data / "train.txt")
    storyproof.process(data, folder / "processed")
    (folder / "processed" / "test.json").rename(folder / "majority_test.json")
    (folder / "run.json").write_text("{}")
    assert_refused(refuse, folder, command, said)


def test_harmless_outputs(folder: Path, data: Path) -> None:
    before = contents(data)
    for command in (
        ("verify", data, "--json", data / "report.json"),
        ("verify", data, "--json", data / "report.json"),
        ("audit", data, "--html", data / "page.html", "--fix", folder / "fixed"),
        ("evaluate", "--model", "majority", "--data", data, "--output-dir", data),
        ("process", data, "--out", folder / "processed"),
        ("process", data, "--out", folder / "processed", "--force"),
        ("verify", data, "--json", "/dev/null"),
    ):
        done = run(*command)
        assert done.exit_code == 0, done.output
    assert before.items() <= contents(data).items()


def test_standard_output_as_a_file(folder: Path, data: Path) -> None:
    done = execute("verify", data, "--json", "/dev/stdout")
    assert done.returncode == 0
    assert '"disagreements": 0' in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        "verify data --json out",
        "audit data --json out",
        "audit data --html out",
        "evaluate --model majority --data data --json out",
        "compare run.json run.json --json out",
    ],
)
def test_a_full_disk_keeps_the_old_file(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    assert run("evaluate", "--model", "majority", "--data", data, "--json", "run.json").exit_code == 0
    (folder / "out").write_text("old")
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "out":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    before = contents(folder)
    said = str(run(*command.split()).exception)
    assert said.startswith("cannot write out: No space left on device; choose another file for --")
    assert contents(folder) == before


def test_a_full_disk_while_writing(folder: Path, data: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        with atomic_files.whole_file(path) as file:
            file.write(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("storyproof.cli.output.write_whole", full)
    (folder / "out").write_text("old")
    assert_refused(refuse, folder, "verify data --json out", "No space left on device")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert_refused(refuse, folder, "verify data --json /dev/full", "No space left on device")


@pytest.mark.parametrize("what", ["predictions", "errata"])
def test_a_full_disk_keeps_runs_and_fixes(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    command = "evaluate --model majority --data data --output-dir runs"
    assert run(*command.split()).exit_code == 0

    def full(*given: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if what == "predictions":
        monkeypatch.setattr(Path, "replace", full)
    else:
        monkeypatch.setattr("storyproof.audits.audit.errata_csv", full)
        command = "audit data --fix fixed"
    before = contents(folder)
    assert "No space left on device" in str(run(*command.split()).exception)
    assert contents(folder) == before
    assert not (folder / "fixed").exists()


def test_a_dataset_without_its_manifest_is_not_called_clean(folder: Path, data: Path) -> None:
    (data / "manifest.json").unlink()
    done = run("verify", data, "--json", "found.json")
    assert done.exit_code == 0
    assert (
        "\n  no manifest.json, so files cannot be checked against what was generated\n0 disagreements\n" in done.stdout
    )
    assert json.loads((folder / "found.json").read_text())["lacks_manifest"] is True


def test_an_unfinished_dataset_is_a_finding(folder: Path, data: Path) -> None:
    (data / "manifest.json").unlink()
    (data / ".data.unfinished-abcdefgh").mkdir()
    (data / ".data.unfinished-abcdefgh" / ".storyproof-unfinished").touch()
    done = run("verify", "data")
    assert done.exit_code == 1
    assert "unfinished: the run that wrote it was killed" in done.stdout
