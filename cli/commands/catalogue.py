"""The commands that list and name what a store holds: `runs`, `sources`, `models`,
`benchmarks` and `link`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from warehouse.analysis.listing_view import look_of
from warehouse.errors import MisuseError
from warehouse.tables.words import some_of

from ..lazy_group import command, group
from ..state import State, pass_state
from ..ui.options import option, output_options, refuse_typed
from ..ui.output import Output
from ..ui.questions import where_option
from ..ui.table import echo, print_text

if TYPE_CHECKING:
    from warehouse.store.curate.conditions import ChangedConditions


@command("runs")
@click.argument("run", metavar="[run:ID]", required=False)
@where_option
@option(
    "--all", "Superseded and invalidated runs too.", name="everything", is_flag=True
)
@option("--tag TAG", "Put a tag on the run.", name="tags", multiple=True)
@option("--untag TAG", "Take a tag off the run.", name="untags", multiple=True)
@option("--note TEXT", "Write a note to the run; '' removes it.")
@output_options
def runs(
    state: State,
    run: str | None,
    where: tuple[str, ...],
    everything: bool,
    tags: tuple[str, ...],
    untags: tuple[str, ...],
    note: str | None,
    output: Output,
) -> None:
    if tags or untags or note is not None:
        _mark(state, run, tags, untags, note)
    if run:
        refuse_typed(
            "is for the list: a run that is named is shown whatever became of it",
            "everything",
        )
        where, everything = (*where, f"run_id={run.removeprefix('run:')}"), True
    _list(state, where, everything, output)


def _mark(
    state: State,
    run: str | None,
    tags: tuple[str, ...],
    untags: tuple[str, ...],
    note: str | None,
) -> None:
    from warehouse.store.curate import catalogue

    if run is None:
        raise click.UsageError(
            "--tag, --untag and --note need a run: warehouse runs run:7 --tag x"
        )
    with state.open(write=True) as store:
        if tags or untags:
            catalogue.tag(store, run, add=tags, remove=untags)
        if note is not None:
            catalogue.note(store, run, note)


def _list(
    state: State, where: tuple[str, ...], everything: bool, output: Output
) -> None:
    from warehouse.analysis.selection.listed_runs import ListedRun, list_runs
    from warehouse.store.curate import catalogue

    with state.open() as store:
        rows = list_runs(store, where=where, everything=everything)
        if rows:
            hints = []
        else:
            hints = catalogue.hints_on_runs(store, where)
    output.emit_records(
        ListedRun,
        rows,
        **look_of("ListedRun", rows, everything=everything),
        empty="no such runs",
    )
    state.notes(hints)


@command("invalidate")
@click.argument("run", metavar="run:ID")
@option("--reason TEXT", "Why; kept with the run.", default="")
@option(
    "--undo",
    "Give the run back: it is what it was, among the runs that there are now.",
    is_flag=True,
)
def invalidate(state: State, run: str, reason: str, undo: bool) -> None:
    from warehouse.store.curate import catalogue

    if undo and reason:
        raise MisuseError("--undo gives a run back, which needs no --reason")
    if not undo and not reason:
        raise click.UsageError(
            "Missing option '--reason': why it is out, or --undo to give it back"
        )
    if undo:
        with state.open(write=True) as store:
            run_id = catalogue.validate(store, run)
        print_text(
            f"run:{run_id} counts again; see it with: warehouse runs run:{run_id}"
        )
        return
    with state.open(write=True) as store:
        run_id = catalogue.invalidate(store, run, reason)
    print_text(
        f"run:{run_id} is out of every view; see it with: warehouse runs run:{run_id}"
    )


@command("sources")
@click.argument("source", required=False)
@output_options
def sources(state: State, source: str | None, output: Output) -> None:
    from warehouse.store.curate import catalogue

    with state.open() as store:
        entries = catalogue.sources(store, source)
        rejected = []
        if source and entries:
            rejected = catalogue.rejections(store, entries[0].source_id)
    output.emit_records(
        catalogue.SourceEntry,
        entries,
        **look_of("SourceEntry", entries),
        empty="nothing ingested yet",
    )
    if source and output.for_people:
        for text in entries[0].notes:
            print_text(f"note: {text}")
        for row in rejected:
            print_text(f"rejected: {row.place}: {row.found}; expected {row.expected}")


@command("forget")
@click.argument("source", metavar="SOURCE")
def forget(state: State, source: str) -> None:
    from warehouse.store.load import source_ledger

    with state.open(write=True) as store:
        voted = store.rows("select count(*) as n from preference")[0]["n"]
        told: list[str] = []
        removed, kept = source_ledger.forget(store, source, say=told.append)
        voted -= store.rows("select count(*) as n from preference")[0]["n"]
    votes = ""
    if voted:
        votes = f", {voted} votes removed"
    print_text(
        f"forgot {source}: {removed} runs removed, {kept} kept (other sources hold "
        f"them){votes}"
    )
    state.notes(told)


@command("prices")
@click.argument(
    "file", metavar="[FILE]", required=False, type=click.Path(path_type=Path)
)
@output_options
def prices(state: State, file: Path | None, output: Output) -> None:
    from warehouse.store.curate.prices import (
        StoredPrice,
        models_without_price,
        put_prices,
        read_prices,
        stored_prices,
    )

    if file is None:
        read = []
    else:
        read = read_prices(file)
    with state.open(write=bool(read)) as store:
        if read:
            put_prices(store, read)
        rows, lacking = stored_prices(store), models_without_price(store)
    output.emit_records(
        StoredPrice,
        rows,
        hide_empty=("cached", "cache_write", "reasoning", "until"),
        empty="no prices yet: warehouse prices FILE",
    )
    if lacking:
        state.say(f"note: tokens without a price of the day: {some_of(lacking)}")


@group("models", invoke_without_command=True)
@option(
    "--release-date MODEL DAY",
    "Say when a model was released: 2024-01-31; '' takes it back. Repeatable.",
    name="dates",
    nargs=2,
    multiple=True,
)
@output_options
@pass_state
@click.pass_context
def models(
    context: click.Context,
    state: State,
    dates: Sequence[tuple[str, str]],
    output: Output,
) -> None:
    if context.invoked_subcommand:
        refuse_typed("is for the list of models", "dates")
        return
    from warehouse.store.curate import aliases

    with state.open(write=bool(dates)) as store:
        for model, day in dates:
            aliases.set_release_date(store, model, day)
        entries = aliases.models(store)
    output.emit_records(
        aliases.ModelEntry,
        entries,
        **look_of("ModelEntry", entries),
        empty="no models yet",
    )


class _Named(click.Group):
    """A group whose first word may be a name of the user's: then it means ``metrics
    NAME``."""

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
    output.emit_records(
        aliases.BenchmarkEntry,
        entries,
        **look_of("BenchmarkEntry", entries),
        empty="no benchmarks yet",
    )


@command("benchmarks metrics", group=benchmarks)
@click.argument("name")
@option(
    "-m --metric METRIC",
    "Make it the headline metric, as METRIC or METRIC,FILTER; '' takes the choice "
    "back.",
)
@option(
    "--higher-is-better/--lower-is-better",
    "Which way METRIC (default: the headline metric) points, whatever dumps say.",
    silent_default=None,
)
@option(
    "--bounds LOW HIGH",
    "Between which values scores of METRIC (default: the headline metric) can lie: "
    "intervals keep within.",
    float,
    nargs=2,
)
@output_options
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
        state.say(
            f"{name} is reported by {chosen.metric}" if chosen else f"{name}: no metric"
        )
    with state.open() as store:
        entries = headline_metric.metrics(store, name)
    output.emit_records(
        headline_metric.MetricEntry, entries, empty=f"{name} has no metrics yet"
    )


@command("benchmarks settings", group=benchmarks)
@click.argument("name", required=False)
@option(
    "--ignore SETTING",
    "Runs that differ by it alone are repeats from now on; of NAME, else of every "
    "benchmark.",
)
@option("--count SETTING", "Take that back: runs that differ by it are apart again.")
@option("--reason TEXT", "With --ignore: why it does not matter.")
@output_options
def settings(
    state: State,
    name: str | None,
    ignore: str | None,
    count: str | None,
    reason: str | None,
    output: Output,
) -> None:
    from warehouse.store.curate import conditions

    if ignore and count:
        raise click.UsageError(
            "--ignore and --count say the opposite: give one of the two"
        )
    if not ignore:
        refuse_typed("goes with --ignore", "reason")
    benchmark = name or ""
    if ignore or count:
        with state.open(write=True) as store:
            if ignore:
                changed = conditions.ignore(
                    store, ignore, benchmark=benchmark, reason=reason or ""
                )
            else:
                changed = conditions.unignore(store, str(count), benchmark=benchmark)
        echo(_in_words(changed, str(ignore or count), is_ignored=bool(ignore)))
        return
    with state.open() as store:
        entries = conditions.settings(store, benchmark)
    nothing = "every setting counts"
    if benchmark:
        nothing = "runs of one model differ in no setting"
    output.emit_records(
        conditions.SettingEntry,
        entries,
        hide_empty=("benchmark", "reason"),
        empty=nothing,
    )


def _in_words(changed: ChangedConditions, setting: str, *, is_ignored: bool) -> str:
    """The fate of the runs of a store, in words."""
    now = "counts again"
    if is_ignored:
        now = "does not matter"
    if not changed.n_runs:
        return f"{setting} {now}; no run changed its condition"
    before = f"{changed.n_before} condition{'s' if changed.n_before > 1 else ''}"
    return (
        f"{setting} {now}: {changed.n_runs} runs of {before} are of {changed.n_after} "
        "now"
    )


def _add_naming(group: click.Group, kind: Literal["model", "benchmark"]) -> None:
    """``alias`` and ``unalias`` below the group."""

    @command(f"{group.name} alias", group=group)
    @click.argument("name")
    @click.argument("canonical")
    def alias(state: State, name: str, canonical: str) -> None:
        from warehouse.store.curate import aliases

        with state.open(write=True) as store:
            print_text(
                f"{name} is shown as {aliases.alias(store, kind, name, canonical)}"
            )

    @command(f"{group.name} unalias", group=group)
    @click.argument("name")
    def unalias(state: State, name: str) -> None:
        from warehouse.store.curate import aliases

        with state.open(write=True) as store:
            aliases.unalias(store, kind, name)
        print_text(f"{name} is shown under its own name")


_add_naming(models, "model")
_add_naming(benchmarks, "benchmark")


@command("link")
@click.argument("benchmark", required=False)
@click.argument("canonical", required=False)
@option(
    "--by",
    "What must be equal: the normalised question, or the tool's own id.",
    click.Choice(["text", "id"]),
    "text",
)
@option("--undo", "Take BENCHMARK's prompts apart again.", is_flag=True)
@output_options
def link(
    state: State,
    benchmark: str | None,
    canonical: str | None,
    by: Literal["text", "id"],
    undo: bool,
    output: Output,
) -> None:
    from warehouse.store.curate import prompt_links

    if benchmark is None:
        refuse_typed(
            "needs a BENCHMARK: without one the links are listed", "by", "undo"
        )
        with state.open() as store:
            links = prompt_links.links(store)
        output.emit_records(
            prompt_links.LinkEntry, links, empty="no prompts are linked"
        )
    elif undo:
        refuse_typed("goes with linking, not with --undo", "by")
        if canonical is not None:
            raise click.UsageError(
                f"--undo takes all prompts of {benchmark} apart: name it alone, "
                f"without {canonical}"
            )
        with state.open(write=True) as store:
            print_text(f"{prompt_links.unlink(store, benchmark)} prompts taken apart")
    elif canonical is None:
        raise click.UsageError(
            "link to which benchmark? warehouse link BENCHMARK CANONICAL"
        )
    else:
        with state.open(write=True) as store:
            print_text(str(prompt_links.link(store, benchmark, canonical, by=by)))
