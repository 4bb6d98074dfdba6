"""``print(result)`` shows what the command prints, of whatever kind the result is."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pkgutil import walk_packages
from typing import Any

import pytest

import warehouse
import warehouse.analysis
import warehouse.refresh
from tests.support.cli import Caller, filled_url, on_a_terminal
from tests.support.world import build_world
from warehouse.analysis.results import Result, StoredResult
from warehouse.cli.ui.views import _PRINTERS, view_of
from warehouse.tables.view import Table

#: A result that no command shows.
PLAIN = {"BenchmarkCurves"}
#: What others are made of.
BASES = {"StoredResult", "IrtResult", "MatrixResult", "SubsetPlan", "_ItemsOfModels"}


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with filled_url(request, "duckdb", build_world()) as filled:
        yield filled


def results(kind: type = Result) -> Iterator[type]:
    for below in kind.__subclasses__():
        yield below
        yield from results(below)


def test_every_result_is_shown_as_its_command_shows_it() -> None:
    for room in (warehouse.analysis, warehouse.refresh):
        for found in walk_packages(room.__path__, f"{room.__name__}."):
            import_module(found.name)
    own = {kind.__name__ for kind in results() if kind.view not in (Result.view, StoredResult.view)}
    named = {kind.__name__ for kind in results() if kind.__module__.startswith("warehouse.")}
    assert named - own - PLAIN - BASES == {*_PRINTERS}


@pytest.mark.parametrize("name", sorted(_PRINTERS))
def test_a_printer_is_there(name: str) -> None:
    module, function, further = _PRINTERS[name]
    signature(getattr(import_module(module, "warehouse.cli.commands"), function)).bind(None, *further)


def test_print_is_what_a_terminal_of_80_columns_shows(url: str) -> None:
    store = warehouse.connect(url)
    asked: dict[tuple[str, ...], Any] = {
        ("gate", "run:14", "run:16", "--margin", "0.5"): store.gate("run:14", "run:16", 0.5),
        ("power", "--from", "run:14", "run:16", "--delta", "0.1"): store.power("run:14", "run:16", delta=0.1),
        ("recipes",): store.recipes(),
    }
    for command, result in asked.items():
        shown = on_a_terminal(80, "--db", url, "-q", *command)
        head = str(result).splitlines()[: len(shown)]
        assert [line for line in head if "left out" not in line][:6] == [
            line for line in shown if "--wide" not in line
        ][:6]
        assert "<table" in result._repr_html_()


def test_print_is_what_the_command_prints(url: str, run: Caller) -> None:
    store = warehouse.connect(url)
    asked: dict[tuple[str, ...], Any] = {
        ("show", "run:1"): store.show("run:1"),
        ("show", "prompt:1"): store.show("prompt:1"),
        ("variance", "essay", "--pass-at", "1"): store.pass_rates("essay", at=[1]),
    }
    run_1 = store.show("run:1")
    first = f"prompt:{run_1.rows[0].prompt_id}"
    asked["show", "run:1", first] = store.show("run:1", first)
    for command, result in asked.items():
        shown = run(*command, db=url).out.split()
        assert [word for word in str(result).split()[:12] if word in shown] == shown[:12], command
        assert "<div" in result._repr_html_() and len(result.to_arrow()) == len(result.to_frame())
    refreshed = store.refresh()
    assert str(refreshed).startswith("refresh ") and "recomputed" in str(refreshed)
    assert " failed" not in str(refreshed).splitlines()[1]  # 0 everywhere


def test_what_nobody_prints_has_no_view() -> None:
    assert view_of(object()) is None


def test_names_may_be_one_name(url: str) -> None:
    assert str(warehouse.connect(url).seeds("probe")) == str(warehouse.connect(url).seeds(["probe"]))
    assert any(isinstance(part, Table) for part in warehouse.connect(url).recipes("quiz").view().parts)
