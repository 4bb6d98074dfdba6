"""The examples in the docstrings of the statistics are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import warehouse.stats

MODULES = [
    m.name for m in pkgutil.walk_packages(warehouse.stats.__path__, "warehouse.stats.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    tests = [t for name in MODULES for t in finder.find(importlib.import_module(name))]
    assert sum(bool(t.examples) for t in tests) >= 8
