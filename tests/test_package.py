import subprocess
import sys

import pytest

import storyproof


def test_verbs_are_functions() -> None:
    for verb in ("generate", "verify", "evaluate", "show"):
        assert callable(getattr(storyproof, verb))
        assert verb in dir(storyproof)


def test_no_other_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = storyproof.nonsense


@pytest.mark.parametrize("module", ["storyproof", "storyproof.cli"])
def test_import_is_light(module: str) -> None:
    heavy = {"numpy", "pyarrow", "torch", "rich", "yaml"}
    code = f"import sys, {module}, storyproof; dir(storyproof); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
