"""``seeds``: how much a figure changes with the training seed, and from checkpoint to checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import average_option, level_option, metric_option, output_options, where_option
from ..ui.output import Output
from ..ui.table import decimals, interval, number, p_value, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.training.seeds import SeedsReport, SeedsRow


#: Columns that -v adds; --json and --csv have all.
_MORE = ("checkpoints", "half-width", "jitter", "tau", "p rise")


@command("seeds")
@click.argument("benchmarks", metavar="[BENCHMARK]...", nargs=-1)
@average_option
@metric_option
@where_option
@level_option
@output_options
@pass_state
def seeds(
    state: State,
    benchmarks: tuple[str, ...],
    averaged: int,
    metric: str | None,
    where: tuple[str, ...],
    level: float,
    output: Output,
) -> None:
    from warehouse.analysis.training.seeds import SeedsRow
    from warehouse.analysis.training.seeds import seeds as find

    with state.open() as store:
        found = find(store, benchmarks, metric=metric, where=where, averaged=averaged, level=level)
    if output.for_people:
        _print(found, state)
    else:
        output.emit_records(SeedsRow, found.rows)
    if found.left_out:
        state.say(f"note: {found.left_out} recipes with one seed and one checkpoint are left out")


def _print(found: SeedsReport, state: State) -> None:
    for sentence in _sentences(found):
        print_text(sentence)
    click.echo()
    places = decimals([value for row in found.rows for value in (row.seed_sd, row.jitter) if value])
    rows = [_cells(row, places, f"{100 * found.level:g}% interval") for row in found.rows]
    if not state.verbose:  # a terminal of 80 columns has room for what decides
        rows = [{key: cell for key, cell in row.items() if key not in _MORE} for row in rows]
    for name in ("metric", "model"):
        if len(rows) > 1 and len({row[name] for row in rows}) == 1:  # said once
            print_text(f"{name}: {rows[0][name]}")
            rows = [{key: cell for key, cell in row.items() if key != name} for row in rows]
    needless = ("split", "recipe", "flags", "half-width", "jitter", "tau", "p rise")
    print_rows(rows, needless=needless)
    without = Counter(row.reason for row in found.rows if row.reason)
    state.notes(f"{reason}: {n} row{'s' * (n > 1)}" for reason, n in without.items())


def _cells(row: SeedsRow, places: int, interval_of_level: str) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": row.recipe,
        "seeds": row.n_seeds,
        "checkpoints": row.n_checkpoints,
        "mean": number(row.seed_mean, places),
        "sd over seeds": number(row.seed_sd, places),
        interval_of_level: interval(row.seed_sd_low, row.seed_sd_high, places),
        "half-width": number(row.half_width, places),
        "noise floor": number(row.noise_floor, places),
        "jitter": number(row.jitter, places),
        "tau": number(row.tau, 2),
        "p rise": p_value(row.p_monotone),
        "flags": row.flags,
    }


def _sentences(found: SeedsReport) -> Sequence[str]:
    """What follows from the table, in words."""
    floors = [row for row in found.rows if row.noise_floor is not None]
    if not floors:
        return [
            "No recipe has a second training seed: how far two of its runs lie apart by chance cannot be told;"
            " jitter alone is a lower bound (--json)."
        ]
    above = [row for row in floors if row.sd_ratio is not None and row.sd_ratio > 1]
    figure = "last checkpoint" if floors[0].averaged == 1 else f"mean of the last {floors[0].averaged} checkpoints"
    sentences = [
        f"Two single runs of one recipe (figure: {figure}) differ by more than the noise floor in"
        f" {100 * (1 - found.level):.2g} % of cases."
    ]
    if above:
        sentences.append(
            f"For {len(above)} of {len(floors)} rows with seeds the spread over seeds is larger than the half-width of"
            " a single run's interval: an interval over prompts alone says too little there."
        )
    return sentences
