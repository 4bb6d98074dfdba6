"""Conditions of stored runs, worked out anew: where a person says that a setting does
not matter, takes that back, or the store was made by a version that did not keep the
settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.errors import MisuseError, did_you_mean
from warehouse.records import RunHeader, parse_json
from warehouse.records.canonical_json import canonical_digest
from warehouse.records.clock import utc_now
from warehouse.records.credentials import masked
from warehouse.records.settings import RunSettings, settings_of
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.ignored_settings import (
    NEVER_IGNORED,
    IgnoredSetting,
    IgnoredSettings,
)
from warehouse.store.load.dimension_rows import seed_label
from warehouse.store.load.run_keys import marks_of_samples
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Runs whose conditions are written in one statement.
BLOCK = 1000


@dataclass(frozen=True)
class ChangedConditions:
    """The outcome for the conditions of a store."""

    n_runs: int  #: runs whose condition is another one now.
    n_before: int  #: conditions of those runs before,
    n_after: int  #: and now.


@dataclass(frozen=True)
class SettingEntry:
    """One setting in which runs of one model differ, or that does not matter by a
    person's word."""

    setting: str  #: path of it in what the tools write.
    benchmark: str  #: where; empty: on every benchmark.
    n_models: int  #: models of which runs differ in it.
    n_values: int  #: values that it has.
    values: tuple[str, ...]  #: the first of these.
    is_ignored: bool  #: it does not matter, by a person's word.
    reason: str | None  #: why, in that person's words.


#: Values that are listed of a setting.
VALUES_SHOWN = 3


def settings(store: Store, benchmark: str = "") -> list[SettingEntry]:
    """The settings in which runs of one model differ on a benchmark, and those that do
    not matter there.

    Args:
        benchmark: its name, or the one that it is shown under; empty: only what does
            not matter is listed.

    Raises:
        MisuseError: no run is on such a benchmark.
    """
    ignored = IgnoredSettings.read(store)
    stored = _stored(store)
    shown_as = _shown_as(stored, benchmark)
    rows = [row for row in stored if row["shown_as"] == shown_as]
    entries = ignored.of_benchmark(benchmark) if benchmark else ignored.entries
    by_model: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in rows:
        if row["is_current"]:
            by_model[row["model"]].append(row["settings"])
    n_models: Counter[str] = Counter()
    for own in by_model.values():
        n_models.update(_differing(own))
    listed = [
        _entry(path, benchmark, count, rows, entries)
        for path, count in n_models.most_common()
    ]
    found: set[str] = set()
    for entry in listed:
        if entry.is_ignored:
            found |= {entry.setting, entry.setting.rpartition(".")[2]}
    others = [
        SettingEntry(entry.name, entry.benchmark, 0, 0, (), True, entry.reason or None)
        for entry in entries
        if entry.name not in found
    ]
    return [*listed, *others]


def _shown_as(stored: Sequence[Mapping[str, Any]], benchmark: str) -> str:
    """The name that a benchmark is shown under, by any of its names; empty for none
    (MisuseError: no run is on it)."""
    if not benchmark:
        return ""
    for row in stored:
        if benchmark in (row["benchmark"], row["shown_as"]):
            return str(row["shown_as"])
    raise MisuseError(
        f"no run is on a benchmark '{benchmark}'; see: warehouse list benchmarks"
    )


def _differing(settings: Sequence[Mapping[str, str]]) -> set[str]:
    """Paths of which some settings do not all say the same; other names of the
    benchmark are none."""
    values: dict[str, set[str | None]] = {}
    for path in set().union(*settings) - {"benchmark"}:
        values[path] = {own.get(path) for own in settings}
    return {path for path, found in values.items() if len(found) > 1}


def _entry(
    path: str,
    benchmark: str,
    n_models: int,
    rows: Sequence[Mapping[str, Any]],
    entries: Sequence[IgnoredSetting],
) -> SettingEntry:
    values = sorted({row["settings"].get(path, "not said") for row in rows})
    names = (path, path.rpartition(".")[2])
    said = [entry for entry in entries if entry.name in names]
    shown = tuple(
        value if len(value) <= 60 else f"{value[:59]}…"
        for value in values[:VALUES_SHOWN]
    )
    reason = None
    if said:
        reason = said[0].reason or None
    return SettingEntry(
        path, benchmark, n_models, len(values), shown, bool(said), reason
    )


def ignore(
    store: Store, name: str, *, benchmark: str = "", reason: str = ""
) -> ChangedConditions:
    """Say that a setting does not matter: runs that differ by it alone are repeats from
    now on.

    Args:
        store: a store open for writing.
        name: of the setting, as the note of an ingest or ``warehouse list runs`` shows it:
            its path, or its last name.
        benchmark: where it does not matter, by any of its names; empty: everywhere.
        reason: why, for those who read it later.

    Raises:
        MisuseError: no run has such a setting; it says who was evaluated, or on what;
            no such benchmark.
    """
    if name in NEVER_IGNORED:
        raise MisuseError(
            f"'{name}' says who was evaluated, on what or by whom: it cannot be left "
            "out"
        )
    with store.changing_catalogue() as connection:
        stored = _stored(store)
        benchmark = _shown_as(stored, benchmark)
        _require_setting(stored, name, benchmark)
        table = tables.ignored_setting
        is_the_same = (table.c.name == name) & table.c.benchmark.in_(
            _names_of(stored, benchmark)
        )
        connection.execute(sa.delete(table).where(is_the_same))
        last_id = connection.execute(
            sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0))
        ).scalar_one()
        row = {
            "id": int(last_id) + 1,
            "name": name,
            "benchmark": benchmark,
            "reason": masked(reason) or None,
        }
        connection.execute(sa.insert(table).values(**row, created_at=utc_now()))
        return _work_out_anew(store, connection)


def unignore(store: Store, name: str, *, benchmark: str = "") -> ChangedConditions:
    """Take back what :func:`ignore` said (MisuseError: nobody had said it)."""
    with store.changing_catalogue() as connection:
        table = tables.ignored_setting
        names = _names_of(_stored(store), benchmark)
        is_the_same = (table.c.name == name) & table.c.benchmark.in_(names)
        deleted = connection.execute(
            sa.delete(table).where(is_the_same).returning(table.c.id)
        ).all()
        if not deleted:
            known = [entry.name for entry in IgnoredSettings.read(store).entries]
            hint = did_you_mean(name, known, "see: warehouse list settings")
            raise MisuseError(
                f"'{name}' is not among the settings that do not matter; {hint}"
            )
        return _work_out_anew(store, connection)


def _names_of(stored: Sequence[Mapping[str, Any]], benchmark: str) -> list[str]:
    """All names of the benchmark that one of them names; itself where no run is on it."""
    shown = {
        row["shown_as"]
        for row in stored
        if benchmark in (row["benchmark"], row["shown_as"])
    }
    names = {row["benchmark"] for row in stored if row["shown_as"] in shown}
    return sorted({benchmark, *shown, *names})


def _require_setting(
    stored: Sequence[Mapping[str, Any]], name: str, benchmark: str
) -> None:
    names: set[str] = set()
    for row in stored:
        if benchmark in ("", row["shown_as"]):
            names |= row["settings"].keys() | {
                path.rpartition(".")[2] for path in row["settings"]
            }
    if name not in names:
        hint = did_you_mean(name, names, "see: warehouse list settings BENCHMARK")
        raise MisuseError(f"no run has a setting '{name}'; {hint}")


def _stored(store: Store) -> list[dict[str, Any]]:
    rows = store.rows(query_text("store", "ignorable_settings"))
    return [{**row, "settings": parse_json(row["settings"])} for row in rows]


def after_renaming(store: Store, connection: sa.Connection) -> None:
    """Benchmarks are shown under other names: what does not matter on one holds for all
    that are shown so."""
    if any(entry.benchmark for entry in IgnoredSettings.read(store).entries):
        _work_out_anew(store, connection)


def _work_out_anew(store: Store, connection: sa.Connection) -> ChangedConditions:
    """Write the condition of every run that is another one under the settings that are
    ignored now."""
    without = IgnoredSettings.read(store)
    changed: dict[int, str] = {}
    before: set[str] = set()
    for row in _stored(store):
        condition = (
            without.condition_key(row["benchmark"], row["settings"])
            or row["recorded_key"]
        )
        if condition != row["condition_key"]:
            changed[row["run_id"]] = condition
            before.add(row["condition_key"])
    _write(
        connection,
        [{"id": run_id, "condition_key": key} for run_id, key in changed.items()],
    )
    return ChangedConditions(len(changed), len(before), len(set(changed.values())))


def _write(connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Change columns of runs; each row holds the id and the new values."""
    if not rows:
        return
    names = [name for name in rows[0] if name != "id"]
    assignments = ", ".join(f"{name} = :{name}" for name in names)
    statement = sa.text(f"update run set {assignments} where id = :id")
    for start in range(0, len(rows), BLOCK):
        connection.execute(
            statement, [dict(row) for row in rows[start : start + BLOCK]]
        )


# --- stores that were made before settings were kept --------------------------------------------


def complete(store: Store, connection: sa.Connection) -> int:
    """Work out the settings of runs that were stored without, from all that is stored
    of them.

    Runs that were one condition, and differ by a setting that did not count then, are
    two afterwards.

    Returns:
        number of these runs.
    """
    text = query_text("store", "stored_settings")
    rows = [dict(row) for row in connection.execute(sa.text(text)).mappings()]
    taken = connection.execute(sa.text(query_text("store", "stored_sample_marks")))
    of_samples = {
        run_id: marks_of_samples(latency, cost) for run_id, latency, cost in taken
    }
    changes = [_completed(row, of_samples.get(row["run_id"], {})) for row in rows]
    _write(connection, changes)
    return len(changes)


def _completed(row: dict[str, Any], of_samples: Mapping[str, str]) -> dict[str, Any]:
    told = settings_of_stored(row)
    if not row["n_found"]:
        told = told.of_figures_alone()
    completed = {
        "id": row["run_id"],
        "settings": engines.json_text(dict(told.settings)),
        "marks": None,
        "versions": None,
        "condition_key": told.condition_key,
        "recorded_key": told.condition_key,
        "execution_key": "",
    }
    marks = dict(sorted({**of_samples, **told.marks}.items()))
    if marks:
        completed["marks"] = engines.json_text(marks)
        completed["execution_key"] = canonical_digest(marks)
    if told.versions:
        completed["versions"] = engines.json_text(dict(told.versions))
    return completed


_OBJECTS = ("sampling", "configuration", "hyperparameters", "agent_parameters")
_OWN = frozenset(
    {"run_id", "scorers_key", "harness_run", "position", "position_unit", "n_found"}
)


def settings_of_stored(row: Mapping[str, Any]) -> RunSettings:
    """The settings of a stored run: a row of ``stored_settings.sql``."""
    fields: dict[str, Any] = {
        name: value for name, value in row.items() if name not in _OWN
    }
    for name in _OBJECTS:
        if fields[name]:
            fields[name] = parse_json(fields[name])
        else:
            fields[name] = {}
    for name in ("training_seed", "recipe", "agent", "agent_version"):
        fields[name] = fields[name] or None
    if fields["training_seed"] == seed_label(
        fields["initialisation_seed"], fields["data_order_seed"]
    ):
        fields["training_seed"] = None
    if row["position_unit"] in ("step", "epoch"):
        fields[row["position_unit"]] = row["position"]
    if fields.get("step") is not None:
        fields["step"] = int(fields["step"])
    told = settings_of(RunHeader(run_id=row["harness_run"], **fields))
    if not row["scorers_key"]:
        return told
    settings = {**told.settings, "scorers": row["scorers_key"]}
    return RunSettings(settings, told.marks, told.versions, told.left_out)
