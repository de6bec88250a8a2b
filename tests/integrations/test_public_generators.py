"""Audits of generators from the package index: known flaws are found and shrunk, and a clean one comes out clean."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from storyproof.audits.generators import FAILED, WRONG, GeneratorReport, audit_generator

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.filterwarnings("ignore"),  # what other packages warn of
]
EXAMPLES = Path(__file__).parents[2] / "examples" / "generators"


@pytest.fixture(autouse=True)
def _examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.chdir(tmp_path)


def need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; make test-generators installs it")


def shown(report: GeneratorReport) -> set[tuple[str, str, int]]:
    """Return what was wrong, what is right, and how many sentences it takes to show that."""
    return {
        (each.smallest.finding.found, each.smallest.finding.expected, len(each.smallest.sample.sentences))
        for each in report.causes
        if each.smallest
    }


def test_reasoning_gym_inverts_in_laws_and_nieces() -> None:
    need("reasoning_gym")
    place = "public_generators:family_relationships"
    usual = audit_generator(place, samples=400, dials={"family_size": range(4, 9)})
    assert usual.counts[WRONG] > 20
    assert usual.judged > 0.9 * usual.questions
    for found, expected, size in shown(usual):
        assert found in ("mother-in-law", "father-in-law")
        assert expected in ("daughter-in-law", "son-in-law")
        assert size <= 3  # two are enough where the story says in one sentence what somebody is, and whose
    larger = audit_generator(place, samples=600, dials={"family_size": range(9, 13)})
    assert {"niece", "nephew"} <= {found for found, _, _ in shown(larger)}  # above the default sizes only
    assert max(size for _, _, size in shown(larger)) <= 5


def test_reasoning_core_calls_brothers_cousins() -> None:
    need("reasoning_core")
    report = audit_generator("public_generators:kinship_relation_resolution", samples=300, dials={"level": range(3)})
    assert report.counts[WRONG] == report.judged > 150  # every label that can be judged
    assert {("first cousins", "brother", 2), ("first cousins once removed", "uncle", 3)} <= shown(report)
    assert set(report.unread) <= {"answer"}  # of cousins nothing can be proved


def test_reasoning_core_tracks_beliefs_as_closed_containers_do() -> None:
    """What has words for it here is right; a label may hold only if to come back shows nothing."""
    need("reasoning_core")
    report = audit_generator("public_generators:belief_tracking", samples=200, dials={"level": range(2)})
    assert report.counts[WRONG] == report.counts[FAILED] == 0
    assert report.judged > 40
    assert {*report.unread} == {"story"}  # messages about beliefs, and who watches whom watching
    for each in report.causes:
        assert each.smallest
        assert "closed+always" in each.smallest.finding.reading


def test_phantom_wiki_is_clean() -> None:
    need("phantom_wiki")
    if shutil.which("swipl") is None:
        pytest.skip("SWI-Prolog is not installed (Debian: swi-prolog-nox)")
    report = audit_generator("public_generators:phantom_wiki", samples=60, dials={"people": range(5, 16)})
    assert report.ok
    assert report.judged == 60
    assert "pyswip" in sys.modules
