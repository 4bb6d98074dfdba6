"""Conditions of stored runs, worked out anew: where a person says that a setting does not matter, takes that back, or
the store was made by a version that did not keep the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.errors import MisuseError, did_you_mean
from warehouse.records import RunHeader, parse_json
from warehouse.records.canonical_json import canonical_digest
from warehouse.records.clock import utc_now
from warehouse.records.settings import RunSettings, settings_of
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.ignored_settings import NEVER_IGNORED, IgnoredSetting, IgnoredSettings
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Runs whose conditions are written in one statement.
BLOCK = 1000


@dataclass(frozen=True)
class ChangedConditions:
    """What became of the conditions of a store."""

    n_runs: int  #: runs whose condition is another one now.
    n_before: int  #: conditions of those runs before,
    n_after: int  #: and now.


def ignored(store: Store) -> list[IgnoredSetting]:
    """The settings that do not matter by a person's word."""
    return list(IgnoredSettings.read(store).entries)


def ignore(store: Store, name: str, *, benchmark: str = "", reason: str = "") -> ChangedConditions:
    """Say that a setting does not matter: runs that differ by it alone are repeats from now on.

    Args:
        store: a store open for writing.
        name: of the setting, as the note of an ingest or ``warehouse runs`` shows it: its path, or its last name.
        benchmark: where it does not matter; empty: everywhere.
        reason: why, for those who read it later.

    Raises:
        MisuseError: no run has such a setting; it says who was evaluated, or on what; no such benchmark.
    """
    if name in NEVER_IGNORED:
        raise MisuseError(f"'{name}' says who was evaluated and on what: it cannot be left out")
    with store.changing_catalogue() as connection:
        _require_setting(store, name, benchmark)
        table = tables.ignored_setting
        is_the_same = (table.c.name == name) & (table.c.benchmark == benchmark)
        connection.execute(sa.delete(table).where(is_the_same))
        last_id = connection.execute(sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0))).scalar_one()
        row = {"id": int(last_id) + 1, "name": name, "benchmark": benchmark, "reason": reason or None}
        connection.execute(sa.insert(table).values(**row, created_at=utc_now()))
        return _work_out_anew(store, connection)


def unignore(store: Store, name: str, *, benchmark: str = "") -> ChangedConditions:
    """Take back what :func:`ignore` said (MisuseError: nobody had said it)."""
    with store.changing_catalogue() as connection:
        table = tables.ignored_setting
        is_the_same = (table.c.name == name) & (table.c.benchmark == benchmark)
        deleted = connection.execute(sa.delete(table).where(is_the_same).returning(table.c.id)).all()
        if not deleted:
            known = [entry.name for entry in IgnoredSettings.read(store).entries]
            hint = did_you_mean(name, known, "see: warehouse runs ignored")
            raise MisuseError(f"'{name}' is not among the settings that do not matter; {hint}")
        return _work_out_anew(store, connection)


def _require_setting(store: Store, name: str, benchmark: str) -> None:
    names: set[str] = set()
    is_benchmark_known = not benchmark
    for row in _stored(store):
        is_benchmark_known |= row["benchmark"] == benchmark
        if benchmark in ("", row["benchmark"]):
            settings = row["settings"]
            names |= settings.keys() | {path.rpartition(".")[2] for path in settings}
    if not is_benchmark_known:
        raise MisuseError(f"no run is on a benchmark '{benchmark}'; see: warehouse benchmarks")
    if name not in names:
        raise MisuseError(
            f"no run has a setting '{name}'; {did_you_mean(name, names, 'see: warehouse runs --settings')}"
        )


def _stored(store: Store) -> list[dict[str, Any]]:
    rows = store.rows(query_text("store", "ignorable_settings"))
    return [{**row, "settings": parse_json(row["settings"])} for row in rows]


def _work_out_anew(store: Store, connection: sa.Connection) -> ChangedConditions:
    """Write the condition of every run that is another one under the settings that are ignored now."""
    without = IgnoredSettings.read(store)
    changed: dict[int, str] = {}
    before: set[str] = set()
    for row in _stored(store):
        condition = without.condition_key(row["benchmark"], row["settings"]) or row["recorded_key"]
        if condition != row["condition_key"]:
            changed[row["run_id"]] = condition
            before.add(row["condition_key"])
    _write(connection, [{"id": run_id, "condition_key": key} for run_id, key in changed.items()])
    return ChangedConditions(len(changed), len(before), len(set(changed.values())))


def _write(connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Change columns of runs; each row holds the id and the new values."""
    if not rows:
        return
    names = [name for name in rows[0] if name != "id"]
    assignments = ", ".join(f"{name} = :{name}" for name in names)
    statement = sa.text(f"update run set {assignments} where id = :id")
    for start in range(0, len(rows), BLOCK):
        connection.execute(statement, [dict(row) for row in rows[start : start + BLOCK]])


# --- stores that were made before settings were kept --------------------------------------------


def complete(store: Store, connection: sa.Connection) -> int:
    """Work out the settings of runs that were stored without, from all that is stored of them.

    Runs that were one condition, and differ by a setting that did not count then, are two afterwards.

    Returns:
        number of these runs.
    """
    text = query_text("store", "stored_settings").format(condition="run.settings is null")
    rows = [dict(row) for row in connection.execute(sa.text(text)).mappings()]
    changes = [_completed(row) for row in rows]
    _write(connection, changes)
    return len(changes)


def _completed(row: dict[str, Any]) -> dict[str, Any]:
    told = settings_of_stored(row)
    marks = dict(told.marks)
    return {
        "id": row["run_id"],
        "settings": engines.json_text(dict(told.settings)),
        "marks": engines.json_text(marks) if marks else None,
        "versions": engines.json_text(dict(told.versions)) if told.versions else None,
        "condition_key": told.condition_key,
        "recorded_key": told.condition_key,
        "execution_key": canonical_digest(marks) if marks else "",
    }


_OBJECTS = ("sampling", "configuration", "hyperparameters", "agent_parameters")
_OWN = frozenset({"run_id", "scorers_key", "harness_run", "position", "position_unit"})


def settings_of_stored(row: Mapping[str, Any]) -> RunSettings:
    """The settings of a stored run: a row of ``stored_settings.sql``."""
    fields: dict[str, Any] = {name: value for name, value in row.items() if name not in _OWN}
    for name in _OBJECTS:
        fields[name] = parse_json(fields[name]) if fields[name] else {}
    for name in ("training_seed", "recipe", "agent", "agent_version"):
        fields[name] = fields[name] or None
    if row["position_unit"] in ("step", "epoch"):
        fields[row["position_unit"]] = row["position"]
    if fields.get("step") is not None:
        fields["step"] = int(fields["step"])
    told = settings_of(RunHeader(run_id=row["harness_run"], **fields))
    if not row["scorers_key"]:
        return told
    settings = {**told.settings, "scorers": row["scorers_key"]}
    return RunSettings(settings, told.marks, told.versions, told.left_out)
