from pathlib import Path

import pytest

from storyproof.errors import ConfigError
from storyproof.runtime.optional_packages import installed, need


def test_missing_package_comes_with_the_command() -> None:
    with pytest.raises(ConfigError) as stop:
        need("no_such_package", "vllm", "the model 'x'")
    assert str(stop.value) == (
        "the model 'x' needs the package 'no_such_package', which is not installed: pip install 'storyproof[vllm]'."
    )


def test_broken_package_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="installed but cannot be imported: No module named 'no_such_package'"):
        need("broken_package", "llm", "the model 'x'")


def test_installed() -> None:
    assert installed("json")
    assert not installed("no_such_package")
    assert not installed("no_such_package.inside")
