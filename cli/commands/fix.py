"""The commands of `fix`: what people say of what a store holds, and what they take out
of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from warehouse.errors import MisuseError
from warehouse.tables.words import counted

from ..lazy_group import command
from ..state import State
from ..ui.options import fields_callback, option, output_options, refuse_typed
from ..ui.output import Output
from ..ui.table import echo, print_text
from .lists import print_metrics, print_prices, print_runs

if TYPE_CHECKING:
    from warehouse.store.connection import Store
    from warehouse.store.curate.conditions import ChangedConditions


@command("fix alias")
@click.argument("name")
@click.argument("canonical", required=False)
@option("--model", "NAME is a model.", name="kind", flag_value="model")
@option("--benchmark", "NAME is a benchmark.", name="kind", flag_value="benchmark")
@option(
    "--metric",
    "NAME and CANONICAL are metrics, as METRIC or METRIC,FILTER: two names of one.",
    name="kind",
    flag_value="metric",
)
@option("--on BENCHMARK", "With --metric: of this benchmark alone.", name="on")
@option("--undo", "Show NAME under its own name again.", is_flag=True)
def alias(
    state: State,
    name: str,
    canonical: str | None,
    kind: Literal["model", "benchmark", "metric"] | None,
    on: str | None,
    undo: bool,
) -> None:
    from warehouse.store.curate import aliases

    if undo and canonical is not None:
        raise click.UsageError(
            f"--undo shows {name} under its own name: name it alone, without "
            f"{canonical}"
        )
    if not undo and canonical is None:
        raise click.UsageError(
            "Missing argument 'CANONICAL': the name it is shown under, or --undo"
        )
    if kind == "metric":
        return _alias_metric(state, name, canonical, on or "")
    refuse_typed("goes with --metric", "on")
    with state.open(write=True) as store:
        chosen = kind or aliases.kind_of(store, name, canonical)
        if canonical is None:
            aliases.unalias(store, chosen, name)
            shown = f"{name} is shown under its own name"
        else:
            shown = (
                f"{name} is shown as {aliases.alias(store, chosen, name, canonical)}"
            )
    print_text(shown)


def _alias_metric(state: State, name: str, canonical: str | None, on: str) -> None:
    """Make two names of a metric one, or take that back."""
    from warehouse.store.curate import metric_aliases

    with state.open(write=True) as store:
        if canonical is None:
            said = metric_aliases.unalias_metric(store, name, benchmark=on)
            shown = f"{said.name} counts by its own name again"
        else:
            shown = str(
                metric_aliases.alias_metric(store, name, canonical, benchmark=on)
            )
    print_text(shown)


@command("fix link")
@click.argument("benchmark")
@click.argument("canonical", required=False)
@option(
    "--by",
    "What must be equal: the normalised question, or the tool's own id; within: the "
    "question of one stands whole in the prompt of the other, between examples or "
    "instructions.",
    click.Choice(["text", "id", "within"]),
    "text",
)
@option("--undo", "Take BENCHMARK's prompts apart again.", is_flag=True)
def link(
    state: State,
    benchmark: str,
    canonical: str | None,
    by: Literal["text", "id", "within"],
    undo: bool,
) -> None:
    from warehouse.store.curate import prompt_links

    if undo:
        refuse_typed("goes with linking, not with --undo", "by")
        if canonical is not None:
            raise click.UsageError(
                f"--undo takes all prompts of {benchmark} apart: name it alone, "
                f"without {canonical}"
            )
        with state.open(write=True) as store:
            print_text(f"{prompt_links.unlink(store, benchmark)} prompts taken apart")
        return
    if canonical is None:
        raise click.UsageError(
            "link to which benchmark? warehouse fix link BENCHMARK CANONICAL"
        )
    with state.open(write=True) as store:
        print_text(str(prompt_links.link(store, benchmark, canonical, by=by)))


@command("fix metric")
@click.argument("benchmark")
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
def metric(
    state: State,
    benchmark: str,
    metric: str | None,
    higher_is_better: bool | None,
    bounds: tuple[float, float] | None,
    output: Output,
) -> None:
    from warehouse.store.curate import headline_metric

    if metric is None and higher_is_better is None and bounds is None:
        raise click.UsageError(
            "say which metric counts (--metric), which way it points "
            "(--higher-is-better, --lower-is-better) or between which values it lies "
            f"(--bounds); those that there are: warehouse list metrics {benchmark}"
        )
    if higher_is_better is not None or bounds is not None:
        with state.open(write=True) as store:
            if bounds is not None:
                headline_metric.bound(store, benchmark, metric or "", *bounds)
            if higher_is_better is not None:
                headline_metric.direct(store, benchmark, metric or "", higher_is_better)
    elif metric is not None:
        with state.open(write=True) as store:
            chosen = headline_metric.choose(store, benchmark, metric)
        if chosen:
            state.say(f"{benchmark} is reported by {chosen.metric}")
        else:
            state.say(f"{benchmark}: no metric")
    print_metrics(state, benchmark, output)


@command("fix policy")
@click.argument("benchmark")
@click.argument("policy", required=False)
@option("-m --metric METRIC", "Of this metric alone; default: of every one.")
@option(
    "--wrong-value X",
    "Score of wrong samples, of a metric without a worst score.",
    float,
)
@option("--undo", "Unscored samples are missing again.", is_flag=True)
def policy(
    state: State,
    benchmark: str,
    policy: str | None,
    metric: str | None,
    wrong_value: float | None,
    undo: bool,
) -> None:
    from warehouse.store.curate import policies

    if undo and policy is not None:
        raise click.UsageError(
            f"--undo takes the policy of {benchmark} back: name it alone, without "
            f"{policy}"
        )
    if undo:
        refuse_typed("goes with a policy, not with --undo", "wrong_value")
        with state.open(write=True) as store:
            name = policies.unset_policy(store, benchmark, metric=metric or "")
        print_text(f"{name}: unscored samples are missing")
        return
    if policy is None:
        raise click.UsageError(
            "Missing argument 'POLICY': attempts, all-wrong, missing or STATUS=wrong,"
            "..., or --undo"
        )
    with state.open(write=True) as store:
        said = policies.set_policy(
            store, benchmark, policy, metric=metric or "", wrong_value=wrong_value
        )
    print_text(str(said))


@command("fix slices")
@click.argument("benchmark")
@click.argument("fields", metavar="[FIELD]...", nargs=-1)
@option("--undo", "Take the fields back; without one all of them.", is_flag=True)
def slices(state: State, benchmark: str, fields: tuple[str, ...], undo: bool) -> None:
    from warehouse.store.curate import declared_slices

    with state.open(write=True) as store:
        if undo:
            gone = declared_slices.undeclare_slices(store, benchmark, fields)
            print_text(f"{benchmark}: {', '.join(gone)} not declared any more")
            return
        name, is_there = declared_slices.declare_slices(store, benchmark, fields)
    print_text(
        f"{name}: {', '.join(fields)} declared, for scores that are stored from now on"
    )
    if not is_there:
        state.say(f"note: there is no benchmark '{name}' yet")


@command("fix settings")
@click.argument("benchmark", required=False, default="")
@option(
    "--ignore SETTING",
    "Runs that differ by it alone are repeats from now on; of BENCHMARK, else of every "
    "benchmark.",
)
@option("--count SETTING", "Take that back: runs that differ by it are apart again.")
@option("--reason TEXT", "With --ignore: why it does not matter.")
def settings(
    state: State,
    benchmark: str,
    ignore: str | None,
    count: str | None,
    reason: str | None,
) -> None:
    from warehouse.store.curate import conditions

    if ignore and count:
        raise click.UsageError(
            "--ignore and --count say the opposite: give one of the two"
        )
    if not ignore:
        refuse_typed("goes with --ignore", "reason")
    if not ignore and not count:
        raise click.UsageError(
            "say which setting does not matter (--ignore) or counts again (--count); "
            f"those that there are: warehouse list settings {benchmark}".rstrip()
        )
    with state.open(write=True) as store:
        if ignore:
            changed = conditions.ignore(
                store, ignore, benchmark=benchmark, reason=reason or ""
            )
        else:
            changed = conditions.unignore(store, str(count), benchmark=benchmark)
    echo(_in_words(changed, str(ignore or count), is_ignored=bool(ignore)))


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


@command("fix tag")
@click.argument("run", metavar="run:ID")
@click.argument("tags", metavar="[TAG]...", nargs=-1)
@option("--remove TAG", "Take a tag off the run.", name="removed", multiple=True)
@option("--note TEXT", "Write a note to the run; '' removes it.")
@output_options
def tag(
    state: State,
    run: str,
    tags: tuple[str, ...],
    removed: tuple[str, ...],
    note: str | None,
    output: Output,
) -> None:
    from warehouse.store.curate import catalogue

    if not tags and not removed and note is None:
        raise click.UsageError(
            f"say a TAG, --remove TAG or --note TEXT: warehouse fix tag {run} paper"
        )
    with state.open(write=True) as store:
        if tags or removed:
            catalogue.tag(store, run, add=tags, remove=removed)
        if note is not None:
            catalogue.note(store, run, note)
    print_runs(state, (f"run_id={run.removeprefix('run:')}",), True, output)


@command("fix invalidate")
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
            f"run:{run_id} counts again; see it with: warehouse list runs run:{run_id}"
        )
        return
    with state.open(write=True) as store:
        run_id = catalogue.invalidate(store, run, reason)
    print_text(
        f"run:{run_id} is out of every view; see it with: warehouse list runs run:{run_id}"
    )


def _source_named(store: Store, reference: str) -> str:
    """What was named, and where its number says nothing the path of it."""
    if not reference.isdecimal():
        return reference
    paths = store.rows("select path from source where id = :id", {"id": int(reference)})
    if not paths:
        return reference
    return f"{reference}, {paths[0]['path']}"


@command("fix forget")
@click.argument("source", metavar="SOURCE")
def forget(state: State, source: str) -> None:
    from warehouse.store.load import source_ledger

    with state.open(write=True) as store:
        named = _source_named(store, source)
        voted = store.rows("select count(*) as n from preference")[0]["n"]
        told: list[str] = []
        removed, kept = source_ledger.forget(store, source, say=told.append)
        voted -= store.rows("select count(*) as n from preference")[0]["n"]
    votes = ""
    if voted:
        votes = f", {voted} votes removed"
    shared = ""
    if kept:
        shared = " (other sources hold them)"
    print_text(
        f"forgot {named}: {counted(removed, 'run')} removed, {kept} kept{shared}{votes}"
    )
    state.notes(told)


@command("fix cluster")
@click.argument("benchmark")
@click.argument("fields", metavar="FIELD[,FIELD]", callback=fields_callback)
@option("--default", "Use it for error bars from now on.", name="default", is_flag=True)
def cluster(
    state: State, benchmark: str, fields: tuple[str, ...], default: bool
) -> None:
    from warehouse.store.curate.field_clusters import cluster_by

    with state.open(write=True) as store:
        name, clusters, prompts = cluster_by(store, benchmark, fields, default=default)
    used = ""
    if default:
        used = "; error bars use it"
    print_text(f"{benchmark}: {prompts} prompts in {clusters} clusters by {name}{used}")


@command("fix released")
@click.argument("model")
@click.argument("day", required=False, default="")
@option("--undo", "Take the day back.", is_flag=True)
def released(state: State, model: str, day: str, undo: bool) -> None:
    from warehouse.store.curate import aliases

    if bool(day) == undo:
        raise click.UsageError(
            "give a DAY such as 2024-01-31, or --undo to take it back: one of the two"
        )
    with state.open(write=True) as store:
        aliases.set_release_date(store, model, day)
    if undo:
        print_text(f"{model}: no release date")
    else:
        print_text(f"{model}: released {day}")


@command("fix prices")
@click.argument("file", type=click.Path(path_type=Path))
@output_options
def prices(state: State, file: Path, output: Output) -> None:
    from warehouse.store.curate.prices import put_prices, read_prices

    read = read_prices(file)
    with state.open(write=True) as store:
        put_prices(store, read)
    print_prices(state, output)
