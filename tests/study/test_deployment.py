"""The files for deployment fit the program: commands, ports, paths and variables that they name exist."""

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from storyproof.cli.study import app
from storyproof.runtime.guard import LARGEST_REQUEST
from storyproof.study.folder import DATABASE_VARIABLE
from storyproof.study.serve import PORT

DEPLOY = Path(__file__).parents[2] / "deploy"


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return found


def flags(command: str) -> set[str]:
    return {flag for parameter in get_command(app).commands[command].params for flag in parameter.opts}  # type: ignore[attr-defined]


def test_the_service_of_the_compose_file_can_be_started() -> None:
    study = compose()["services"]["study"]
    verb, _, *options = study["command"]
    assert verb == "serve"
    assert {each.partition("=")[0] for each in options} <= flags("serve")
    assert f"--port={PORT}" in options
    assert DATABASE_VARIABLE in study["environment"]
    assert (DEPLOY / study["build"]["context"] / study["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"


def test_only_the_proxy_is_reached_from_outside() -> None:
    services = compose()["services"]
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]
    assert [name for name, each in services.items() if "outside" in each["networks"]] == ["proxy"]
    used = {volume.partition(":")[0] for each in services.values() for volume in each.get("volumes", [])}
    assert {name for name in used if not name.startswith(".")} == set(compose()["volumes"])


def test_memory_and_processes_are_bounded() -> None:
    for name, each in compose()["services"].items():
        assert re.fullmatch(r"\d+[gm]", each["mem_limit"]), name
        assert each["pids_limit"] <= 500, name


def test_the_proxy_leads_to_the_service() -> None:
    text = (DEPLOY / "Caddyfile").read_text("utf-8")
    assert f"reverse_proxy study:{PORT}" in text
    assert f"max_size {LARGEST_REQUEST // 1024}KB" in text
    assert text.count("{") == text.count("}")


def test_the_image_copies_what_there_is_and_runs_as_its_own_user() -> None:
    lines = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in steps} <= known
    for name, rest in steps:
        if name == "COPY" and "--from" not in rest:
            for source in shlex.split(rest)[:-1]:
                assert (DEPLOY.parent / source).exists(), source
    assert ["USER", "10001"] in steps
    assert ["EXPOSE", str(PORT)] in steps


def test_the_unit_starts_the_service() -> None:
    text = (DEPLOY / "storyproof-study@.service").read_text("utf-8")
    [command] = re.findall(r"^ExecStart=\S+/storyproof study (.*)$", text, re.MULTILINE)
    verb, _, *options = command.split()
    assert verb == "serve"
    assert {each for each in options if each.startswith("--")} <= flags("serve")


@pytest.mark.study
def test_the_dockerfile_passes_hadolint() -> None:
    program = shutil.which("hadolint", path=DEPLOY.parent / ".venv-tools" / "bin") or shutil.which("hadolint")
    if program is None:
        pytest.skip("hadolint is not installed; make test-study installs it")
    done = subprocess.run([program, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.study
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "storyproof-study@demo.service"
    shutil.copy(DEPLOY / "storyproof-study@.service", unit)
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    remarks = [line for line in done.stderr.splitlines() if "is not executable" not in line]  # it is not installed here
    assert remarks == []


@pytest.mark.study
def test_the_image_can_be_built_from_what_it_copies(tmp_path: Path) -> None:
    """The files that the image copies are enough for a wheel with all that a study needs."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    for sources, target in re.findall(r"^COPY (?!--from)(.*) (\S+)$", text, re.MULTILINE):
        for source in shlex.split(sources):
            found = DEPLOY.parent / source
            if found.is_dir():
                shutil.copytree(found, tmp_path / "source" / target, ignore=shutil.ignore_patterns("*.egg-info"))
            else:
                (tmp_path / "source").mkdir(exist_ok=True)
                shutil.copy(found, tmp_path / "source" / source)
    build = "from setuptools.build_meta import build_wheel; print(build_wheel('wheel'))"
    (tmp_path / "source" / "wheel").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=tmp_path / "source", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [wheel] = (tmp_path / "source" / "wheel").glob("*.whl")
    held = {name.partition("/")[2] for name in zipfile.ZipFile(wheel).namelist()}
    package = DEPLOY.parent / "src" / "storyproof"
    wanted = {str(path.relative_to(package)) for path in (package / "study").rglob("*") if path.is_file()}
    assert {each for each in wanted if "__pycache__" not in each} <= held
