"""Everything that is installed is fixed: packages by hashes, actions and images by digests."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted(ROOT.glob("requirements*.lock"))
HASH = r"    --hash=sha256:[0-9a-f]{64}"


def pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^(\S+)==(\S+)", lock.read_text("utf-8"), flags=re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_of_a_lock_has_hashes(lock: Path) -> None:
    for entry in re.split(r"\n(?=\S)", lock.read_text("utf-8").rstrip("\n")):
        assert re.fullmatch(rf"[a-z0-9.-]+==[^\s;]+( ; [^\\]+)?( \\\n{HASH})+", entry), entry.partition("\n")[0]
    assert "torch" not in pins(lock)


def test_installs_from_locks_need_hashes() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^LOCKED := \$\(PIP\) .*--require-hashes -r$", text, flags=re.MULTILINE)
    used = re.findall(r"^\t.* (\S+) (requirements\S*\.lock)$", text, flags=re.MULTILINE)
    image = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    used += re.findall(r"pip install .*(--require-hashes) -r (\S+\.lock)", image)
    assert {option for option, _ in used} == {"$(LOCKED)", "--require-hashes"}
    assert sorted(lock for _, lock in used) == [lock.name for lock in LOCKS]
    others = re.findall(r"pip install (?!.*--require-hashes)(.*)$", image, flags=re.MULTILINE)
    assert all("--no-deps --no-build-isolation ." in options for options in others)


def test_the_image_has_the_versions_that_are_tested() -> None:
    image = pins(ROOT / "requirements-study.lock")
    tested = pins(ROOT / "requirements.lock")
    assert {name: version for name, version in image.items() if tested.get(name) != version} == {}


def test_actions_are_pinned_by_digest() -> None:
    """A tag can be moved to other code; the comment says which version it is."""
    used = [
        line
        for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
        for line in re.findall(r"^\s*(?:- )?uses: (.*)$", path.read_text("utf-8"), flags=re.MULTILINE)
        if not line.startswith("./")
    ]
    assert len(used) > 10
    for line in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line), line
    assert len({line.partition("@")[0] for line in used}) == len(set(used))  # one version of each


def test_images_are_pinned_by_digest() -> None:
    image = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    images = re.findall(r"^FROM (\S+)", image, flags=re.MULTILINE)
    assert len(set(images)) == 1
    images += re.findall(
        r"^\s*image: (\S+)$", (ROOT / "deploy" / "compose.yaml").read_text("utf-8"), flags=re.MULTILINE
    )
    assert len(images) == 4
    for each in images:
        assert re.fullmatch(r"[a-z]+:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}", each), each
