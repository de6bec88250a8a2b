"""The data folder: what is in it can be opened, and nothing else."""

import multiprocessing
import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.study.progress import address_shown, read_address
from storyproof.web import library as shelves
from storyproof.web.app import create_app
from storyproof.web.dials import DialSettings
from storyproof.web.library import Library
from tests.reports.run_samples import data_folder, evaluate
from tests.web.client import PATIENT_S, Client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library") / "data"
    made.mkdir()
    evaluate(data_folder(made), "rules", "oracle", folder=made / "runs")
    (made / "notes.json").write_text('{"a": 1}')
    (made / ".hidden.jsonl").write_text("{}")
    outside = made.parent / "outside"
    storyproof.generate("tomi", test=3, out=outside, format="jsonl")
    (made / "link").symlink_to(outside)
    (made / "<img src=x>").mkdir()
    os.link(outside / "test.jsonl", made / "<img src=x>" / "<script>alert(1)</script>.jsonl".replace("/", "_"))
    return made


@pytest.fixture(scope="module")
def client(folder: Path) -> Client:
    return Client(create_app(folder, seed=1, quick_s=PATIENT_S))


def test_runs_and_data_are_listed(client: Client, folder: Path) -> None:
    found = client.get("/api/files").json
    runs = {each["path"]: each for each in found["runs"]}
    assert list(runs) == ["runs/oracle_test.json", "runs/rules_test.json"]
    oracle = runs["runs/oracle_test.json"]
    assert (oracle["model"], oracle["data"], oracle["benchmark"], oracle["accuracy"]) == ("oracle", "tomi", "tomi", 1.0)
    assert oracle["interval"][1] == 1.0
    assert oracle["started"].startswith("20")
    assert [each["path"] for each in found["data"]] == ["<img src=x>/<script>alert(1)<_script>.jsonl", "tomi"]
    assert found["data"][1]["splits"]["test"] > 0
    assert found["studies"] == []
    assert found["folder"] == str(folder)


def test_a_report_is_a_page_apart(client: Client) -> None:
    page = client.get("/report?run=runs/rules_test.json&run=runs/oracle_test.json")
    assert page.status == 200
    assert page.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in page.headers["content-security-policy"]
    assert "rules answers" in page.text


def test_an_audit_is_remembered_until_the_data_change(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, out=tmp_path / "tomi", format="jsonl")
    client = Client(create_app(tmp_path, seed=1, quick_s=PATIENT_S))
    assert client.get("/api/files").json["data"][0]["audit"] is None
    client.get("/audit?data=tomi")
    found = client.get("/api/files").json["data"][0]["audit"]
    assert (found["ok"], found["questions"], found["understood"]) == (True, 18, 1.0)
    assert found["result"].startswith("✓ Passed.")
    with (tmp_path / "tomi" / "test.jsonl").open("a") as file:
        file.write("\n")
    assert client.get("/api/files").json["data"][0]["audit"] is None


def test_a_dropped_file_is_audited(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, out=tmp_path / "made", format="jsonl")
    content = (tmp_path / "made" / "test.jsonl").read_bytes()
    wrong = content.replace(b'"answer": "', b'"answer": "not the ', 1)
    client = Client(create_app(tmp_path / "data", seed=1, quick_s=PATIENT_S))
    kind = {"content-type": "application/octet-stream"}
    for name, kept in (("my file.jsonl", "dropped/my_file.jsonl"), ("../../etc/x.jsonl", "dropped/x.jsonl")):
        sent = client.request("POST", f"/api/drop?name={quote(name)}", wrong, kind)
        assert sent.json == {"data": kept}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "made"]
    page = client.get("/audit?data=dropped/x.jsonl")
    assert page.status == 200
    assert "1 of 18 answers" in page.text
    assert 'href="/runs"' in page.text  # the header leads back
    refused = client.request("POST", "/api/drop?name=story.docx", b"x", kind)
    assert refused.status == 400
    assert "should end in" in refused.error
    assert (
        client.request("POST", "/api/drop?name=a.jsonl", wrong, {**kind, "origin": "http://evil.example"}).status == 403
    )


def test_studies_are_listed_with_their_progress(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "design.json").write_text('{"name": "kin", "title": "Who is who?", "kind": "solve"}')
    (folder / "items.jsonl").write_text("")
    client = Client(create_app(tmp_path, seed=1, quick_s=PATIENT_S))
    [found] = client.get("/api/files").json["studies"]
    assert (found["path"], found["title"], found["done"]) == ("study", "Who is who?", None)
    with sqlite3.connect(folder / "study.sqlite") as base:
        base.execute("CREATE TABLE slot (is_done BOOLEAN)")
        base.execute("CREATE TABLE participant (id INTEGER)")
        base.executemany("INSERT INTO slot VALUES (?)", [(True,), (False,), (False,)])
    [found] = client.get("/api/files").json["studies"]
    assert (found["done"], found["wanted"], found["participants"]) == (1, 3, 0)


def test_a_study_says_where_it_is_served_while_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "design.json").write_text('{"name": "kin"}')
    (folder / "items.jsonl").write_text("")
    client = Client(create_app(tmp_path, seed=1, quick_s=PATIENT_S))

    def address() -> str:
        return client.get("/api/files").json["studies"][0]["address"]

    assert address() == ""
    with address_shown(folder, "http://127.0.0.1:8643"):
        assert address() == "http://127.0.0.1:8643"
        assert (folder / "served-at.txt").stat().st_mode & 0o777 == 0o600
        with address_shown(folder, "http://127.0.0.1:9"):  # a second server of the same study
            assert address() == "http://127.0.0.1:8643"
        assert address() == "http://127.0.0.1:8643"
    assert address() == ""
    (folder / "served-at.txt").write_text("http://127.0.0.1:8643")  # of a server that was killed
    assert address() == ""
    with address_shown(folder, "javascript:alert(1)"):
        assert address() == ""


def test_a_study_is_served_where_its_address_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "served-at.txt").mkdir()
    with address_shown(tmp_path, "http://127.0.0.1:8643"):
        assert read_address(tmp_path) == ""


def test_an_audit_is_a_page_apart(client: Client) -> None:
    page = client.get("/audit?data=tomi")
    assert page.status == 200
    assert page.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "Passed" in page.text
    odd = client.get(f"/audit?data={quote('<img src=x>/<script>alert(1)<_script>.jsonl')}")
    assert odd.status == 200
    assert "<script>alert" not in odd.text


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../outside",
        "../outside/test.jsonl",
        "link",
        "link/test.jsonl",
        "/etc/passwd",
        "tomi/../../outside",
        "nothing",
        "a" * 5000,
        "tomi\x00",
        "runs/../..",
    ],
)
def test_nothing_outside_the_folder_can_be_named(client: Client, name: str) -> None:
    for path in (f"/audit?data={quote(name)}", f"/report?run={quote(name)}"):
        found = client.get(path)
        assert found.status == 400, path
        assert "in the data folder" in found.error


def test_a_report_needs_a_run(client: Client) -> None:
    assert "at least one run" in client.get("/report").error
    assert client.get("/report?run=notes.json").status == 400


@pytest.mark.parametrize("name", ["..%2fnotes.json", "x.zip", "%2e%2e", "tomi.jsonl", "a%00.zip", "A.zip"])
def test_only_downloads_can_be_downloaded(client: Client, name: str) -> None:
    assert client.get(f"/downloads/{name}").status in (400, 404)


def test_a_link_is_not_a_download(tmp_path: Path) -> None:
    (tmp_path / "downloads").mkdir()
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "downloads" / "a.zip").symlink_to(secret)
    with pytest.raises(DataError, match="no such download"):
        Library(tmp_path).download("a.zip")


def test_old_downloads_are_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "MOST_DOWNLOADS", 2)
    library = Library(tmp_path)
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "Mine.txt").write_text("mine")
    made = [library.make_dataset(DialSettings("tomi"), {"test": 3}, seed, "jsonl")["file"] for seed in range(3)]
    kept = sorted(path.name for path in (tmp_path / "downloads").iterdir())
    assert "Mine.txt" in kept
    assert made[-1] in kept
    assert len(kept) == 3


def test_what_a_killed_server_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "downloads" / ".making" / "tomi-0"
    left.mkdir(parents=True)
    (left / "test.jsonl").write_text("{")
    found = Library(tmp_path).make_dataset(DialSettings("tomi"), {"test": 3}, 0, "jsonl")
    assert [path.name for path in (tmp_path / "downloads").iterdir()] == [found["file"]]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(DataError, match="choose another --data"):
        Library(tmp_path / "data").make_dataset(DialSettings("tomi"), {"test": 3}, 0, "jsonl")


def test_a_large_file_is_not_opened(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "LARGEST_OPENED", 100)
    assert "too large for a page" in client.get("/audit?data=tomi").error


def test_a_page_is_built_again_when_its_file_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(folder)
    first = library.audit_page("tomi")
    assert library.audit_page("tomi") is first
    manifest = folder / "tomi" / "manifest.json"
    os.utime(manifest, ns=(1, 1))
    assert library.audit_page("tomi") is not first


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    found = Library(tmp_path / "none").listing()
    assert (found["runs"], found["data"]) == ([], [])
    assert not (tmp_path / "none").exists()


def _die(paths: Sequence[Path]) -> str:
    os.abort()


def test_a_reader_that_aborts_does_not_take_the_server_with_it(
    client: Client, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(shelves, "_audit", _die)
    os.utime(folder / "tomi" / "manifest.json", ns=(2, 2))
    answer = client.get("/audit?data=tomi")
    assert answer.status == 400
    assert answer.error == (
        "The process that read tomi died: a file may be damaged, or memory ran out; "
        "run storyproof audit on it to see more."
    )


def _wait(paths: Sequence[Path]) -> str:
    while True:
        time.sleep(1)


def test_a_reader_that_never_ends_is_ended(client: Client, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(shelves, "_audit", _wait)
    monkeypatch.setattr(shelves, "LONGEST_S", 0.1)
    os.utime(folder / "tomi" / "manifest.json", ns=(3, 3))
    assert client.get("/audit?data=tomi").status == 503
    assert not multiprocessing.active_children()
