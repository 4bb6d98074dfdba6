"""What is imported only when it is needed: names of the statistics, engines, frames."""

from __future__ import annotations

import ast
import pkgutil
from datetime import datetime
from importlib import import_module
from pathlib import Path

import pytest

import warehouse.stats
from tests.refresh.test_refresh import BASE, WORK, build
from tests.support.cli import in_subprocess
from warehouse.api import connect
from warehouse.refresh.run import refresh
from warehouse.store.computed import metric_values
from warehouse.store.open import open_store

#: What takes long to load, and what only computing or telling needs.
HEAVY = {
    *(
        "pandas",
        "scipy.special",
        "scipy.stats",
        "rich",
        "sqlalchemy",
        "alembic",
        "urllib.request",
        "deltalake",
    ),
    *("grpc", "pysail", "pyspark", "warehouse.stats.intervals.estimate_mean"),
    "warehouse.analysis.leaderboard.answer",
}


def test_a_lazy_name_is_the_one_that_type_checkers_see() -> None:
    stub = ast.parse(Path(warehouse.stats.__file__).with_suffix(".pyi").read_text())
    typed = {
        (alias.asname, f"warehouse.stats.{node.module}")
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names = [name for name, _ in typed]
    assert warehouse.stats.__all__ == sorted(names) and len(names) > 90
    for name, home in typed:
        assert name is not None and getattr(warehouse.stats, name) is getattr(
            import_module(home), name
        )
    # importing a module would put it in the place of a function of its name
    modules = {module.name for module in pkgutil.iter_modules(warehouse.stats.__path__)}
    assert not modules & set(names)
    assert set(names) <= set(dir(warehouse.stats))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        warehouse.stats.nothing  # noqa: B018


def test_a_refresh_with_nothing_to_do_loads_nothing_that_computes(
    tmp_path: Path,
) -> None:
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    with open_store(url, create=True) as store:
        build().write(store)
    refresh(connect(url)._opener, WORK)
    (tmp_path / "warehouse.toml").write_text(
        '[alerts]\nmax_silence = "1d"\npublished = false\n'
    )
    done = in_subprocess(
        "--db",
        url,
        "refresh",
        "--baseline",
        BASE,
        folder=tmp_path,
        environment={"PYTHONPROFILEIMPORTTIME": "1"},
    )
    assert done.returncode == 1 and "alert: silence" in done.stderr
    assert "0 recomputed, 28 fresh" in done.stderr
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert {"warehouse.refresh.run", "warehouse.refresh.alerts", "duckdb"} <= imported
    assert sorted(imported & HEAVY) == [
        "sqlalchemy"
    ]  # by it the refresh is written down
    words = ("--db", url, "history", BASE, "quiz", "--json")
    seen = in_subprocess(
        *words, folder=tmp_path, environment={"PYTHONPROFILEIMPORTTIME": "1"}
    )
    imported = {line.split("|")[-1].strip() for line in seen.stderr.splitlines()}
    assert "warehouse.refresh.history" in imported and seen.stdout.startswith("[")
    assert sorted(imported & HEAVY) == []


ODD = 'it\'s 100 %s :name \\ "quoted" \u00e9\U0001f600 $1 {0} --'

VALUES = (
    ODD,
    "",
    "'; drop table run; --",
    "''",
    "$a",
    "1",
    "2026-01-01",
    0,
    -7,
    2**31 - 1,
    -(2**31),
    2**31,
    2**63,
    True,
    False,
    None,
    1.5,
    datetime(2026, 1, 31, 12),
    "a\x00b",
)


def test_a_parameter_is_the_value_and_the_type_that_binding_it_gives(
    duckdb_url: str,
) -> None:
    """Most are written into the text: binding one imports pandas."""
    with open_store(duckdb_url, create=True) as store:
        for value in VALUES:
            found = store.arrow("select :a as a, ':a' as b -- :a", {"a": value})
            raw = store.connection.connection.driver_connection
            bound = raw.sql(
                "select $a as a, ':a' as b", params={"a": value}
            ).to_arrow_table()
            assert (
                found.schema == bound.schema and found.to_pylist() == bound.to_pylist()
            )
            assert found.to_pylist() == [{"a": value, "b": ":a"}]


def test_what_stands_in_a_statement_is_what_was_given(store_url: str) -> None:
    """Values that a refresh writes without binding them, on both engines."""
    with open_store(store_url, create=True) as store:
        parameters = {"holder": ODD, "nested": [1.5, None, {ODD: "\x00"}]}
        first = datetime(2026, 2, 28, 23, 59, 59, 999999)
        number = metric_values.begin(store, parameters, ODD, first, None)
        assert metric_values.unfinished(store) == {**parameters, "id": number}
        summary = {"notes": [ODD], "none": None}
        metric_values.finish(
            store, number, ODD, [], state=ODD, summary=summary, now=first
        )
        with store.begin() as connection:
            (row,) = connection.execute(
                metric_values.tables.refresh.select()
            ).mappings()
        assert dict(row) == {
            "id": number,
            "started_at": first,
            "finished_at": first,
            "state": ODD,
            "program_version": ODD,
            "parameters": parameters,
            "summary": summary,
        }
