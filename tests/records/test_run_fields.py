"""The one table of run fields, held against header, table and view."""

from __future__ import annotations

from dataclasses import fields

from warehouse.records import RunHeader
from warehouse.records.run_fields import (
    ALWAYS_TOLD,
    COMMON_FIELDS,
    CONDITION_FIELDS,
    HASHES,
    LABEL_FIELDS,
    RUN_FIELDS,
    STORED_FIELDS,
    WHO_FIELDS,
)
from warehouse.store.schema import tables
from warehouse.store.sql.query_files import views

HEADER = {field.name for field in fields(RunHeader)}


def test_fields_are_those_of_the_header_the_table_and_the_view() -> None:
    run_current = next(view for view in views("duckdb") if view.name == "run_current")
    columns = {name for name, _ in run_current.columns}
    assert {*CONDITION_FIELDS, *STORED_FIELDS} <= HEADER
    assert set(tables.run.c.keys()) >= set(STORED_FIELDS)
    assert columns >= {*LABEL_FIELDS, *WHO_FIELDS, *COMMON_FIELDS}


def test_a_setting_of_a_run_is_part_of_its_condition_and_is_shown() -> None:
    facts = {"sampling_seed", "n_benchmark", "n_requested", "started_at", "note"}
    settings = set(STORED_FIELDS) - facts
    assert settings <= set(CONDITION_FIELDS) and settings <= set(LABEL_FIELDS)


def test_labels_show_fields_once_in_one_order() -> None:
    places = sorted(field.label for field in RUN_FIELDS if field.label is not None)
    assert places == list(range(len(places)))
    assert set(LABEL_FIELDS) >= {*ALWAYS_TOLD, *HASHES}
    assert WHO_FIELDS[0] == "model" and not set(WHO_FIELDS) & set(COMMON_FIELDS)
