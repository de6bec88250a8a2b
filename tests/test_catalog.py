from importlib.metadata import EntryPoint

import pytest

from storyproof import catalog
from storyproof.errors import ConfigError, UnknownNameError


def add_entry_point(monkeypatch: pytest.MonkeyPatch, name: str, value: str, group: str = "storyproof.solvers") -> None:
    points = [EntryPoint(name, value, group)]
    monkeypatch.setattr(catalog, "entry_points", lambda group: [point for point in points if point.group == group])


@pytest.mark.parametrize("what", ["benchmark", "solver"])
def test_every_name_loads(what: str) -> None:
    for name in catalog.names(what):
        assert callable(catalog.load(what, name))


def test_benchmarks_are_filed_under_their_own_names() -> None:
    for name in catalog.names("benchmark"):
        assert catalog.load("benchmark", name).name == name


def test_unknown_name() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown solver 'rule'\. Did you mean 'rules'\? Known: composer, entnet, gat, majority"
    ):
        catalog.load("solver", "rule")


def test_other_packages_add_names(monkeypatch: pytest.MonkeyPatch) -> None:
    add_entry_point(monkeypatch, "mine", "fractions:Fraction")
    assert catalog.load("solver", "mine").__name__ == "Fraction"
    assert "mine" not in catalog.names("benchmark")


def test_other_packages_cannot_take_our_names(monkeypatch: pytest.MonkeyPatch) -> None:
    add_entry_point(monkeypatch, "rules", "fractions:Fraction")
    assert catalog.load("solver", "rules").__module__ == "storyproof.solvers.baselines"


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    add_entry_point(monkeypatch, "deep", "no_such_package.models:Deep")
    with pytest.raises(ConfigError, match="solver 'deep' needs the package 'no_such_package', which is not installed"):
        catalog.load("solver", "deep")


def test_missing_attribute_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    add_entry_point(monkeypatch, "odd", "fractions:Nothing")
    with pytest.raises(ConfigError, match="'fractions:Nothing'"):
        catalog.load("solver", "odd")
