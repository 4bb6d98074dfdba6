"""``models`` and ``benchmarks``: what there is, and other names for it."""

from __future__ import annotations

import click

from .frame import command, group
from .options import output_options
from .output import Output
from .state import State, pass_state


@group("models", invoke_without_command=True)
@output_options
@pass_state
@click.pass_context
def models(context: click.Context, state: State, output: Output) -> None:
    if context.invoked_subcommand:
        return
    from warehouse.store import aliases

    with state.open() as store:
        found = aliases.models(store)
    needless = ("family", "developer", "parameter_count")
    output.emit_records(aliases.ModelEntry, found, needless=needless, empty="no models yet")


@group("benchmarks", invoke_without_command=True)
@output_options
@pass_state
@click.pass_context
def benchmarks(context: click.Context, state: State, output: Output) -> None:
    if context.invoked_subcommand:
        return
    from warehouse.store import aliases

    with state.open() as store:
        found = aliases.benchmarks(store)
    needless = ("parent", "version", "clustering")
    output.emit_records(aliases.BenchmarkEntry, found, needless=needless, empty="no benchmarks yet")


@command("models alias")
@click.argument("name")
@click.argument("canonical")
@pass_state
def alias_model(state: State, name: str, canonical: str) -> None:
    from warehouse.store import aliases

    with state.open(write=True) as store:
        click.echo(f"{name} is shown as {aliases.alias(store, 'model', name, canonical)}")


@command("models unalias")
@click.argument("name")
@pass_state
def unalias_model(state: State, name: str) -> None:
    from warehouse.store import aliases

    with state.open(write=True) as store:
        aliases.unalias(store, "model", name)
    click.echo(f"{name} is shown under its own name")


@command("benchmarks alias")
@click.argument("name")
@click.argument("canonical")
@pass_state
def alias_benchmark(state: State, name: str, canonical: str) -> None:
    from warehouse.store import aliases

    with state.open(write=True) as store:
        click.echo(f"{name} is shown as {aliases.alias(store, 'benchmark', name, canonical)}")


@command("benchmarks unalias")
@click.argument("name")
@pass_state
def unalias_benchmark(state: State, name: str) -> None:
    from warehouse.store import aliases

    with state.open(write=True) as store:
        aliases.unalias(store, "benchmark", name)
    click.echo(f"{name} is shown under its own name")


models.add_command(alias_model)
models.add_command(unalias_model)
benchmarks.add_command(alias_benchmark)
benchmarks.add_command(unalias_benchmark)
