"""The commands of the store itself (`store init`, `check`, `publish`, `export` …) and `completion`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.errors import MisuseError

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.table import echo, print_text

if TYPE_CHECKING:
    from warehouse.ingest.outdated import OutdatedSource
    from warehouse.store.connection import Store
    from warehouse.store.schema.migrate import CheckReport
    from warehouse.store.snapshot import PublishedCopy


@command("store init")
@option(
    "--create",
    "Make the database too, where the server does not have it.",
    name="make_database",
    is_flag=True,
)
def init(state: State, make_database: bool) -> None:
    from warehouse.store.schema import revision

    if make_database:
        from warehouse.store.open import make_database as make

        make(state.config().url.value, state.say)
    with state.open_or_create(beside_others=True) as store:
        print_text(f"{store.name} is ready, schema {revision.HEAD}")


@command("store upgrade")
def upgrade(state: State) -> None:
    from warehouse.store.schema import migrate, revision

    with state.open(write=True, check=False) as store:
        before = revision.found(store)
        migrate.upgrade(store)
        if before == revision.HEAD:
            change = f"up to date at {before}; the views were made anew"
        else:
            change = f"{before or 'empty'} -> {revision.HEAD}"
        print_text(f"{store.name}: {change}")


@command("store downgrade")
@click.argument("revision", metavar="REVISION")
@option("--yes", "Do not ask; what the older schema lacks is lost.", is_flag=True)
def downgrade(state: State, revision: str, yes: bool) -> None:
    from warehouse.store.schema import migrate
    from warehouse.store.schema import revision as versions

    with state.open(write=True, check=False) as store:
        before = versions.found(store)
        if not yes and not sys.stdin.isatty():
            raise MisuseError(
                f"what revision {revision} has no place for is lost: say --yes, as "
                "nobody can be asked here"
            )
        if not yes:
            click.confirm(
                f"{store.name}: what revision {revision} has no place for is lost. Go "
                "on?",
                abort=True,
                err=True,
            )
        migrate.downgrade(store, revision)
        print_text(
            f"{store.name}: {before or 'empty'} -> {versions.found(store) or 'empty'}"
        )


@command("store current")
@output_options
def current(state: State, output: Output) -> None:
    from warehouse.store.schema import revision

    with state.open(check=False) as store:
        row = {
            "store": store.name,
            "schema": revision.found(store),
            "program": revision.HEAD,
        }
    output.emit(list(row), [row])


@command("store check")
@option(
    "--deep",
    "Work out keys, digests and hashes of all runs and texts anew, from what is "
    "stored: seconds per million scores.",
    is_flag=True,
)
@output_options
@click.pass_context
def check(context: click.Context, /, state: State, deep: bool, output: Output) -> None:
    from warehouse.store.schema.migrate import check as prove

    from ..ui.progress import share

    with (
        state.open(check=False) as store,
        share(state.quiet or not deep, "recomputing") as done,
    ):
        report = prove(store, deep=deep, progress=done)
        name = store.name
        if report.drift:
            outdated = []
        else:
            outdated = _outdated(store)
    if output.for_people:
        _print(name, report, outdated)
    else:
        output.emit(
            ["part", "check", "severity", "n", "finding"],
            [*_rows(report), *_rows_of_sources(outdated)],
        )
    context.exit(0 if report.ok else 1)


@command("store vacuum")
def vacuum(state: State) -> None:
    from warehouse.store.curate.upkeep import vacuum as remove

    with state.open(write=True) as store:
        print_text(f"{store.name}: {remove(store, wait=state.wait, say=state.say)}")


@command("store reader")
@click.argument("role", metavar="[ROLE]", required=False, default="")
@option("--new-password", "Give it another password.", is_flag=True)
def reader(state: State, role: str, new_password: bool) -> None:
    from warehouse.store.curate import upkeep as readers

    with state.open(write=True) as store:
        made = readers.make_reader(store, role, new_password=new_password)
        usual = (
            store.dialect.roles is not None and made.role == store.dialect.roles.usual
        )
        print_text(
            f"{store.name}: {'made' if made.is_new else 'let in'} {made.role}, who can "
            "read"
        )
    if made.password_file:
        state.say(f"its password is in {made.password_file}")
    if not usual:
        state.say(f'name it: reader = "{made.role}" under [store] in warehouse.toml')
    for function, owner in made.definer_functions:
        state.say(
            f"note: it can call {function}, which acts with the powers of {owner}"
        )


def _outdated(store: Store) -> list[OutdatedSource]:
    """Sources that their importers would read otherwise by now."""
    from warehouse.ingest.outdated import outdated_sources

    return outdated_sources(store)


#: Of more sources that are to be read anew is told how many they are.
SOURCES_SHOWN = 20


def _print(name: str, report: CheckReport, outdated: Sequence[OutdatedSource]) -> None:
    echo(f"schema drift: {'none' if not report.drift else ''}".rstrip())
    for difference in report.drift:
        print_text(f"  {difference}")
    echo(f"integrity: {'clean' if not report.integrity else ''}".rstrip())
    for finding in report.integrity:
        print_text(f"  {finding.severity}: {finding}")
    for skipped in report.skipped:
        print_text(f"  not checked, the schema differs: {skipped}")
    if outdated:
        print_text(
            "to be read anew: an earlier version of the importer has read these, which "
            "may have said less of them"
        )
    for source in outdated[:SOURCES_SHOWN]:
        print_text(f"  {source}")
    if len(outdated) > SOURCES_SHOWN:
        echo(
            f"  and {len(outdated) - SOURCES_SHOWN} more (warehouse store check --json)"
        )
    if report.recomputed is not None:
        print_text(
            "recomputed: "
            f"{report.recomputed}{': nothing differs' if report.recomputed.ok else ''}"
        )
        for fault in (*report.recomputed.runs, *report.recomputed.texts):
            print_text(f"  error: {fault}")
    print_text(f"{name}: {'ok' if report.ok else 'not ok'}")


def _rows(report: CheckReport) -> list[dict[str, Any]]:
    drift = [("drift", "schema", "error", 1, text) for text in report.drift]
    issues = [
        ("integrity", item.check, item.severity, item.n, str(item))
        for item in report.integrity
    ]
    skipped = [
        ("integrity", name, "skipped", None, "the schema differs")
        for name in report.skipped
    ]
    names = ("part", "check", "severity", "n", "finding")
    return [
        dict(zip(names, row, strict=True))
        for row in [*drift, *issues, *skipped, *_recomputed(report)]
    ]


def _recomputed(report: CheckReport) -> list[tuple[str, str, str, int, str]]:
    if report.recomputed is None:
        return []
    runs = [
        ("recomputed", fault.what, "error", 1, str(fault))
        for fault in report.recomputed.runs
    ]
    texts = [
        ("recomputed", fault.table, "error", fault.n, str(fault))
        for fault in report.recomputed.texts
    ]
    return [
        *runs,
        *texts,
        (
            "recomputed",
            "seconds",
            "note",
            report.recomputed.n_scores,
            str(report.recomputed),
        ),
    ]


def _rows_of_sources(outdated: Sequence[OutdatedSource]) -> list[dict[str, Any]]:
    return [
        {
            "part": "sources",
            "check": "read_anew",
            "severity": "note",
            "n": 1,
            "finding": str(source),
        }
        for source in outdated
    ]


OCCASIONS = ("ingest", "refresh")


@command("store publish")
@click.argument("path", metavar="[PATH]", required=False, type=OutputFile(None))
@option(
    "--after WHAT",
    "Also write to warehouse.toml that it is published again after: ingest, refresh or "
    "ingest,refresh.",
)
@output_options
def publish(
    state: State, /, path: Path | None, after: str | None, output: Output
) -> None:
    from warehouse.store.snapshot import PublishedCopy

    config = state.config()
    target = str(path or config.publish_path.value)
    if not target:
        raise click.UsageError("give a PATH, or publish.path in warehouse.toml")
    if after is not None:
        unknown = [word for word in after.split(",") if word not in OCCASIONS]
        if unknown:
            raise click.BadParameter(
                f"'{unknown[0]}' is not one of {', '.join(OCCASIONS)}",
                param_hint="--after",
            )
    done = _publish(state, target, force=forced())
    if after is not None:
        from warehouse.config import CONFIG_VARIABLE, add_publish

        chosen = state.config_file or os.environ.get(CONFIG_VARIABLE)
        state.say(f"wrote to {add_publish(Path.cwd(), target, after, chosen=chosen)}")
    output.emit_records(PublishedCopy, [done])


def publish_after(state: State, occasion: str, path: Path | None = None) -> None:
    """Publish where the flag or ``warehouse.toml`` asks for it after an occasion
    (``ingest``, ``refresh``) that changed the store."""
    config = state.config()
    hooked = occasion in config.publish_after.value.split(",")
    target = str(path or (config.publish_path.value if hooked else ""))
    if target:
        state.say(str(_publish(state, target)))


def _publish(state: State, target: str, *, force: bool = False) -> PublishedCopy:
    from warehouse.store.snapshot import publish as write

    return write(
        state.config().url.value, target, force=force, wait=state.wait, say=state.say
    )


@command("store export")
@click.argument("out", required=False, type=click.Path(file_okay=False, path_type=Path))
@option(
    "--parquet DIR",
    "Folder for all tables and views as Parquet files; must not exist or be empty.",
    click.Path(file_okay=False, path_type=Path),
    name="folder",
)
@option(
    "--format",
    "Format of OUT: the whole store as Parquet, or current runs as Every Eval Ever or "
    "as logs of Inspect.",
    click.Choice(["parquet", "every-eval-ever", "inspect"]),
    silent_default="parquet",
    name="form",
)
@option("--overwrite", "Replace an earlier export that lies there.", is_flag=True)
def export(
    state: State, out: Path | None, folder: Path | None, form: str, overwrite: bool
) -> None:
    if (out is None) == (folder is None) or (folder is not None and form != "parquet"):
        raise MisuseError(
            "say one folder: export --parquet DIR, or export --format FORMAT OUT"
        )
    target = out or folder or Path()
    with state.open() as store:
        if form == "parquet":
            from warehouse.export import export as write

            echo(str(write(store, target, overwrite=overwrite, progress=state.detail)))
            return
        import time

        from warehouse.interchange import every_eval_ever, inspect_logs

        write_runs = (
            inspect_logs.export if form == "inspect" else every_eval_ever.export
        )
        report = write_runs(
            store, target, now=time.time(), overwrite=overwrite, progress=state.detail
        )
        for reason in report.left_out:
            echo(f"left out: {reason}", err=True)
        echo(str(report))


SHELLS = ("bash", "zsh", "fish")


@command("completion", takes_state=False)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # the three are click's own
    echo(kind(ctx.find_root().command, {}, "warehouse", "_WAREHOUSE_COMPLETE").source())
