"""Releases: workflows, release notes and versions belong together."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

import storyproof
from docs.release import problem, with_absolute_links
from tests import installed

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def workflow(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    return loaded


def commands(about: dict[Any, Any]) -> list[str]:
    return [step["run"] for job in about["jobs"].values() for step in job.get("steps", []) if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_whole(path: Path) -> None:
    about = workflow(path.stem)
    assert {"name", True, "permissions", "jobs"} <= set(about)  # YAML 1.1 reads `on` as true
    assert about["permissions"] == {"contents": "read"}  # jobs that need more say so
    assert "secrets." not in path.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for job in about["jobs"].values():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(about["jobs"])
        assert "uses" in job or job["timeout-minutes"] <= 60
        assert "uses" not in job or (ROOT / job["uses"]).is_file()
        for step in job.get("steps", []):
            assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
    for command in commands(about):
        for target in re.findall(r"\bmake ([\w-]+)", command):
            assert f"\n{target}:" in makefile
        for file in re.findall(r"\bpython (\S+\.py)", command):
            assert (ROOT / file).is_file()
        for module in re.findall(r"\bpython -m (docs\.\w+)", command):
            assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


def test_a_tag_is_checked_built_tried_attested_and_published_in_this_order() -> None:
    about = workflow("release")
    assert about[True] == {"push": {"tags": ["v*"]}}
    order = ["version", "package", "attest", "publish"]
    assert list(about["jobs"]) == order
    assert [about["jobs"][name]["needs"] for name in order[1:]] == [first for first, _ in pairwise(order)]
    assert "workflow_call" in workflow("package")[True]
    allowed = {name: job.get("permissions", {}) for name, job in about["jobs"].items()}
    assert [name for name, each in allowed.items() if each.get("id-token") == "write"] == ["attest", "publish"]
    assert allowed["publish"] == {"id-token": "write"}
    assert about["jobs"]["publish"]["environment"]["name"] == "pypi"
    [attest] = [step for step in about["jobs"]["attest"]["steps"] if "attest-build-provenance" in step["uses"]]
    assert attest["with"]["subject-path"] == "dist/*"
    assert about["jobs"]["publish"]["steps"][-1]["uses"].startswith("pypa/gh-action-pypi-publish@")


def test_the_wheel_is_tried_on_every_python_and_system() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    jobs = workflow("package")["jobs"]
    matrix = jobs["installed"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={matrix['python'][0]}"
    claimed = {each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r"Python :: 3\.\d+$", each)}
    assert claimed <= set(matrix["python"])
    oldest, newest = jobs["dependencies"]["strategy"]["matrix"]["include"]
    assert (oldest["resolution"], oldest["python"]) == ("lowest-direct", matrix["python"][0])
    assert (newest["resolution"], newest["python"]) == ("highest", matrix["python"][-1])
    for name in ("installed", "dependencies"):
        assert jobs[name]["steps"][-1]["run"] == "python tests/installed.py"


def test_what_is_tried_are_commands() -> None:
    from storyproof import cli

    known = {each.name for each in cli.app.registered_commands}
    tried = {command.split()[0] for command in installed.COMMANDS if not command.startswith("--")}
    assert tried <= known
    assert {"generate", "verify", "audit", "evaluate", "show", "report"} <= tried


@pytest.mark.parametrize(
    ("tag", "heading", "expected"),
    [
        ("v0.9.0", "0.9.0 (2026-12-01)", ""),
        ("v0.9.1", "0.9.0 (2026-12-01)", "the tag is v0.9.1, but storyproof.__version__ is 0.9.0; expected v0.9.0."),
        ("v0.9.0", "0.9.0 (unreleased)", "CHANGELOG.md begins with '0.9.0 (unreleased)'; expected '0.9.0 (YEAR-"),
        ("v0.9.0", "Unreleased", "CHANGELOG.md begins with 'Unreleased'"),
        ("v0.9.0", "", "CHANGELOG.md begins with ''"),
    ],
)
def test_a_release_needs_its_version_and_notes(tag: str, heading: str, expected: str) -> None:
    found = problem(tag, "0.9.0", f"# Changelog\n\n## {heading}\n" if heading else "# Changelog\n")
    assert found.startswith(expected) if expected else not found


def test_release_notes_are_of_this_version() -> None:
    headings = re.findall(r"^## (.*)$", CHANGELOG, flags=re.MULTILINE)
    assert headings[0].startswith(f"{storyproof.__version__} (")
    newest = CHANGELOG.partition("\n## ")[2].partition("\n## ")[0]
    assert set(re.findall(r"^### (.*)$", newest, flags=re.MULTILINE)) <= {"Added", "Changed", "Data changes", "Fixed"}


def test_the_readme_of_a_package_links_to_files_that_exist() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    page = with_absolute_links(readme, "https://example.org/lab/storyproof", "v0.9.0")
    assert not re.search(r"\]\((?!https://)", page)
    linked = re.findall(r"(!?)\[[^\]]*\]\(https://example.org/lab/storyproof/(\w+)/v0.9.0/([^)]+)\)", page)
    assert len(linked) > 5
    for picture, kind, file in linked:
        assert kind == ("raw" if picture else "blob")
        assert (ROOT / file).is_file()
    assert (
        page.replace("https://example.org/lab/storyproof/raw/v0.9.0/", "").replace(
            "https://example.org/lab/storyproof/blob/v0.9.0/", ""
        )
        == readme
    )


@pytest.mark.parametrize("page", ["docs/citing.md", "docs/install.md"])
def test_pages_name_this_version(page: str) -> None:
    named = re.findall(
        r"(?:version = \{|\(storyproof |^storyproof )(\d+\.\d+\.\d+)", (ROOT / page).read_text("utf-8"), re.M
    )
    assert named
    assert set(named) == {storyproof.__version__}
