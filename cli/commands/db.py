"""``db``: the schema's version, and proof that the store is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..lazy_group import command, group
from ..state import State, pass_state
from ..ui.options import output_options
from ..ui.output import Output
from ..ui.table import echo

if TYPE_CHECKING:
    from warehouse.store.schema.migrate import CheckReport


@group("db")
def db() -> None:
    pass


@command("db upgrade")
@pass_state
def upgrade(state: State) -> None:
    from warehouse.store.schema import migrate, revision

    with state.open(write=True, check=False) as store:
        before = revision.found(store)
        migrate.upgrade(store)
        if before == revision.HEAD:
            change = f"up to date at {before}; the views were made anew"
        else:
            change = f"{before or 'empty'} -> {revision.HEAD}"
        echo(f"{store.name}: {change}")


@command("db downgrade")
@click.argument("revision", metavar="REVISION")
@click.option("--yes", is_flag=True, help="Do not ask; what the older schema lacks is lost.")
@pass_state
def downgrade(state: State, revision: str, yes: bool) -> None:
    from warehouse.store.schema import migrate
    from warehouse.store.schema import revision as versions

    with state.open(write=True, check=False) as store:
        before = versions.found(store)
        if not yes:
            click.confirm(
                f"{store.name}: what revision {revision} has no place for is lost. Go on?", abort=True, err=True
            )
        migrate.downgrade(store, revision)
        echo(f"{store.name}: {before or 'empty'} -> {versions.found(store) or 'empty'}")


@command("db current")
@output_options
@pass_state
def current(state: State, output: Output) -> None:
    from warehouse.store.schema import revision

    with state.open(check=False) as store:
        row = {"store": store.name, "schema": revision.found(store), "program": revision.HEAD}
    output.emit(list(row), [row])


@command("db check")
@output_options
@click.pass_context
@pass_state
def check(state: State, context: click.Context, output: Output) -> None:
    from warehouse.store.schema.migrate import check as prove

    with state.open(check=False) as store:
        report = prove(store)
        name = store.name
    if output.for_people:
        _print(name, report)
    else:
        output.emit(["part", "check", "severity", "n", "finding"], _rows(report))
    context.exit(0 if report.ok else 1)


@command("db vacuum")
@pass_state
def vacuum(state: State) -> None:
    from warehouse.store.curate.upkeep import vacuum as remove

    with state.open(write=True) as store:
        echo(f"{store.name}: {remove(store, wait=state.wait, say=state.say)}")


@command("db reader")
@click.argument("role", metavar="[ROLE]", required=False, default="")
@click.option("--new-password", is_flag=True, help="Give it another password.")
@pass_state
def reader(state: State, role: str, new_password: bool) -> None:
    from warehouse.store.curate import upkeep as readers

    with state.open(write=True) as store:
        made = readers.make_reader(store, role, new_password=new_password)
        usual = store.dialect.roles is not None and made.role == store.dialect.roles.usual
        echo(f"{store.name}: {'made' if made.is_new else 'let in'} {made.role}, who can read")
    if made.password_file:
        state.say(f"its password is in {made.password_file}")
    if not usual:
        state.say(f'name it: reader = "{made.role}" under [store] in warehouse.toml')
    for function, owner in made.lent:
        state.say(f"note: it can call {function}, which acts with the powers of {owner}")


def _print(name: str, report: CheckReport) -> None:
    echo(f"schema drift: {'none' if not report.drift else ''}".rstrip())
    for difference in report.drift:
        echo(f"  {difference}")
    echo(f"integrity: {'clean' if not report.integrity else ''}".rstrip())
    for finding in report.integrity:
        echo(f"  {finding.severity}: {finding}")
    for skipped in report.skipped:
        echo(f"  not checked, the schema differs: {skipped}")
    echo(f"{name}: {'ok' if report.ok else 'not ok'}")


def _rows(report: CheckReport) -> list[dict[str, Any]]:
    drift = [("drift", "schema", "error", 1, text) for text in report.drift]
    issues = [("integrity", item.check, item.severity, item.n, str(item)) for item in report.integrity]
    skipped = [("integrity", name, "skipped", None, "the schema differs") for name in report.skipped]
    names = ("part", "check", "severity", "n", "finding")
    return [dict(zip(names, row, strict=True)) for row in [*drift, *issues, *skipped]]


for _command in (upgrade, downgrade, current, check, vacuum, reader):
    db.add_command(_command)
