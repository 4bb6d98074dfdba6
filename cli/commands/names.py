"""``models`` and ``benchmarks``: what there is, and other names for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

import click

from ..lazy_group import command, group
from ..state import State, pass_state
from ..ui.options import output_options
from ..ui.output import Output
from ..ui.table import echo


@group("models", invoke_without_command=True)
@output_options
@pass_state
@click.pass_context
def models(context: click.Context, state: State, output: Output) -> None:
    if context.invoked_subcommand:
        return
    from warehouse.store.curate import aliases

    with state.open() as store:
        entries = aliases.models(store)
    needless = ("family", "developer", "parameter_count")
    shown = _shown(aliases.ModelEntry, "model", entries)
    output.emit_records(
        aliases.ModelEntry, entries, shown=shown, needless=needless, spare=needless, empty="no models yet"
    )


def _shown(kind: type, name: str, entries: Sequence[Any]) -> list[str]:
    """Columns of a list of names: without what each is shown as where all keep their own."""
    renamed = any(getattr(entry, name) != entry.shown_as for entry in entries)
    return [item.name for item in fields(kind) if renamed or item.name != "shown_as"]


class _Named(click.Group):
    """A group whose first word may be a name of the user's: then it means ``metrics NAME``."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            args = ["metrics", *args]
        return super().resolve_command(ctx, args)


@group(
    "benchmarks",
    invoke_without_command=True,
    cls=_Named,
    subcommand_metavar="[NAME [--metric METRIC] | COMMAND [ARGS]...]",
)
@output_options
@pass_state
@click.pass_context
def benchmarks(context: click.Context, state: State, output: Output) -> None:
    if context.invoked_subcommand:
        return
    from warehouse.store.curate import aliases

    with state.open() as store:
        entries = aliases.benchmarks(store)
    needless = ("parent", "version", "clustering")
    spare = ("version", "clustering", "parent", "n_models")
    shown = _shown(aliases.BenchmarkEntry, "benchmark", entries)
    output.emit_records(
        aliases.BenchmarkEntry, entries, shown=shown, needless=needless, spare=spare, empty="no benchmarks yet"
    )


@command("benchmarks metrics")
@click.argument("name")
@click.option(
    "-m",
    "--metric",
    metavar="METRIC",
    help="Make it the headline metric, as METRIC or METRIC,FILTER; '' takes the choice back.",
)
@click.option(
    "--higher-is-better/--lower-is-better",
    "higher_is_better",
    default=None,
    help="Which way METRIC (default: the headline metric) points, whatever dumps say.",
)
@click.option(
    "--bounds",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="Between which values scores of METRIC (default: the headline metric) can lie: intervals keep within.",
)
@output_options
@pass_state
def metrics(
    state: State,
    name: str,
    metric: str | None,
    higher_is_better: bool | None,
    bounds: tuple[float, float] | None,
    output: Output,
) -> None:
    from warehouse.store.curate import headline_metric

    if higher_is_better is not None or bounds is not None:
        with state.open(write=True) as store:
            if bounds is not None:
                headline_metric.bound(store, name, metric or "", *bounds)
            if higher_is_better is not None:
                headline_metric.direct(store, name, metric or "", higher_is_better)
    elif metric is not None:
        with state.open(write=True) as store:
            chosen = headline_metric.choose(store, name, metric)
        state.say(f"{name} is reported by {chosen.metric}" if chosen else f"{name}: no metric")
    with state.open() as store:
        entries = headline_metric.metrics(store, name)
    output.emit_records(headline_metric.MetricEntry, entries, empty=f"{name} has no metrics yet")


benchmarks.add_command(metrics)


def _add_naming(group: click.Group, kind: Literal["model", "benchmark"]) -> None:
    """``alias`` and ``unalias`` below the group."""

    @command(f"{group.name} alias")
    @click.argument("name")
    @click.argument("canonical")
    @pass_state
    def alias(state: State, name: str, canonical: str) -> None:
        from warehouse.store.curate import aliases

        with state.open(write=True) as store:
            echo(f"{name} is shown as {aliases.alias(store, kind, name, canonical)}")

    @command(f"{group.name} unalias")
    @click.argument("name")
    @pass_state
    def unalias(state: State, name: str) -> None:
        from warehouse.store.curate import aliases

        with state.open(write=True) as store:
            aliases.unalias(store, kind, name)
        echo(f"{name} is shown under its own name")

    group.add_command(alias)
    group.add_command(unalias)


_add_naming(models, "model")
_add_naming(benchmarks, "benchmark")
