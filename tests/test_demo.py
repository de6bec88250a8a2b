"""The tour of `make demo`: one screen that shows what it says."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import storyproof

ROOT = Path(__file__).parents[1]
MOST_LINES = 45


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "MODEL", "local/none")  # no test needs a network
    return module


def test_it_is_one_screen(demo: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # it can be repeated
        demo.main(tmp_path / "demo", stories=30)
        shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(len(line.replace(str(tmp_path), "")) for line in lines) <= demo.WIDTH
    assert "180 questions of 30 stories" in shown
    assert "0 disagreements; 180 proofs checked" in shown
    assert "story type: true belief should be false belief (and 5 more)" in shown
    assert "question type: " in shown
    assert "answer: " in shown
    assert "an audit of them finds 0 wrong labels" in shown
    assert [line.split()[0] for line in lines if line.startswith(" ") and line.endswith(" 100.0")][-1] == "oracle"
    assert "  *4 Rosa exited the workshop." in shown
    assert "Sack: a false belief" in shown
    assert "skipped: unknown model to pull 'none'" in shown
    assert f"open {tmp_path / 'demo' / 'report.html'} in a browser" in shown
    assert "<html" in (tmp_path / "demo" / "report.html").read_text("utf-8")


def test_the_flaws_are_those_of_the_published_data(demo: ModuleType, tmp_path: Path) -> None:
    storyproof.generate("tomi", test=12, seed=7, format="babi", out=tmp_path / "made")
    demo.spoil(tmp_path / "made" / "test.txt", tmp_path / "made" / "test.trace")
    [report] = storyproof.audit(tmp_path / "made").files
    assert {each.field for each in report.findings} == {"answer", "question_type", "story_type"}
    assert sum(each.field == "answer" for each in report.findings) == 1


def test_make_runs_it() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ndemo: ")[2].partition("\n\n")[0]
    assert recipe.splitlines()[1:] == ["\t@$(BIN)/python examples/demo.py demo"]
