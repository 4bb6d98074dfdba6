"""``lake``: the store as Delta tables, which engines beyond one machine read."""

from __future__ import annotations

from datetime import timedelta

import click

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options
from ..ui.output import Output
from ..ui.table import echo

_CHANGED = ("table", "n_rows", "change", "written", "version")
_CHECKED = ("table", "n_store", "n_lake", "n_behind", "n_differing", "verdict")


def _age(_ctx: click.Context, param: click.Parameter, value: str) -> timedelta:
    from warehouse.config import AGE, parse_age

    age = parse_age(value)
    if age is None:
        raise click.BadParameter(f"'{value}' is not {AGE}", param=param)
    return age


@command("lake sync")
@click.argument("location")
@option(
    "--anew",
    "Write every table as a whole: after damage, or from another store.",
    is_flag=True,
)
@output_options
def sync(state: State, location: str, anew: bool, output: Output) -> None:
    from warehouse.store.lake.sync import SyncedTable
    from warehouse.store.lake.sync import sync as bring_up

    with state.open() as store:
        report = bring_up(store, location, anew=anew, say=state.say)
    if not output.for_people:
        return output.emit_records(SyncedTable, report.tables)
    echo(str(report))
    changed = [table for table in report.tables if table.written]
    if changed and report.version:
        echo()
        output.emit_records(SyncedTable, changed, shown=_CHANGED, minor=("version",))
    return None


@command("lake check")
@click.argument("location")
@output_options
@click.pass_context
def check(context: click.Context, state: State, location: str, output: Output) -> None:
    from warehouse.store.lake.check import CheckedTable
    from warehouse.store.lake.check import check as hold_against

    with state.open() as store:
        report = hold_against(store, location, progress=state.detail)
    if output.for_people:
        echo(str(report))
        bad = [table for table in report.tables if table.verdict != "same"]
        if bad:
            echo()
            output.emit_records(CheckedTable, bad, shown=_CHECKED)
    else:
        output.emit_records(CheckedTable, report.tables)
    context.exit(0 if report.verdict == "same" else 1)


@command("lake versions")
@click.argument("location")
@output_options
def versions(_state: State, location: str, output: Output) -> None:
    from warehouse.store.lake.versions import LakeLocation, history

    lake_versions = history(LakeLocation(location))
    rows = [
        {
            "version": version.number,
            "synced_at": version.synced_at,
            "runs": version.tables["run"].n_rows,
            "scores": version.tables["score"].n_rows,
            "rows": version.n_rows,
        }
        for version in lake_versions
    ]
    output.emit(list(rows[0]), rows)


@command("lake vacuum")
@click.argument("location")
@option(
    "--older-than AGE",
    "Versions that were replaced longer ago go: 12h, 7d, 4w; 0h keeps the newest "
    "alone.",
    default="7d",
    callback=_age,
)
@output_options
def vacuum(_state: State, location: str, older_than: timedelta, output: Output) -> None:
    from warehouse.store.lake.versions import VacuumReport
    from warehouse.store.lake.versions import vacuum as remove

    report = remove(location, older_than=older_than)
    output.answer(VacuumReport, [report], lambda: echo(str(report)))
