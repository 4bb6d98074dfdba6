"""``seeds``: how much a figure changes with the training seed, and from checkpoint to checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from warehouse.questions.training import Seeds

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import decimals, echo, interval, level_column, number, p_value, print_constants, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.training.seeds import SeedsReport, SeedsRow


#: Columns that are left out where no row has them.
_NEEDLESS = (
    *("split", "recipe", "setting", "mean", "sd over seeds", "half-width", "noise floor", "jitter", "tau", "p rise"),
    *("SNR", "SNR, other", "ratio", "interval of ratio", "flags"),
)
#: Columns that a narrow terminal does without, the first of them first.
_SPARE = ("checkpoints", "half-width", "jitter", "tau", "p rise")
#: Further ones, to make room for a second metric.
_FOR_ANOTHER = ("mean", "noise floor", "sd over seeds", "split")


@command("seeds")
@click.argument("benchmarks", metavar="[BENCHMARK|SUITE]...", nargs=-1)
@options_of(Seeds, without=("benchmarks",))
@output_options
@pass_state
def seeds(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.training.seeds import SeedsRow
    from warehouse.analysis.training.trajectories import describe_others

    with state.open() as store:
        report: SeedsReport = Seeds(**options).ask(store)
    if output.for_people:
        _print(report, state)
    else:
        output.emit_records(SeedsRow, report.rows)
    if report.left_out:
        state.say(f"note: {report.left_out} recipes with one seed and one checkpoint are left out")
    if report.elsewhere:
        state.say(f"note: seeds or checkpoints {describe_others(report.elsewhere)}")


def _print(report: SeedsReport, state: State) -> None:
    for sentence in _sentences(report):
        print_text(sentence)
    echo()
    places = decimals([value for row in report.rows for value in (row.seed_sd, row.jitter) if value])
    rows = [_cells(row, places, level_column(report.level)) for row in report.rows]
    if len(rows) > 1:
        rows = print_constants(rows, ("metric", "model"))
    level = level_column(report.level)
    floors = any(row.noise_floor is not None for row in report.rows)
    first = () if floors else ("mean",)  # jitter says more where there is one seed
    spare = (*_SPARE, level, *_FOR_ANOTHER) if report.rows[0].other_metric else (*_SPARE, "SNR", "mean", "split", level)
    print_rows(rows, needless=(*_NEEDLESS, level), spare=(*first, *spare, "flags", "metric"))
    without = Counter(row.reason for row in report.rows if row.reason)
    state.notes(f"{reason}: {n} row{'s' * (n > 1)}" for reason, n in without.items())


def _cells(row: SeedsRow, places: int, interval_of_level: str) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": row.recipe,
        "setting": row.setting,
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
        "SNR": number(row.signal_to_noise, 1),
        "SNR, other": number(row.other_signal_to_noise, 1),
        "ratio": number(row.ratio, 2),
        "interval of ratio": interval(row.ratio_low, row.ratio_high, 2),
        "flags": row.flags,
    }


def _sentences(report: SeedsReport) -> Sequence[str]:
    """What follows from the table, in words."""
    floors = [row for row in report.rows if row.noise_floor is not None]
    if not floors:
        return [
            "No recipe has a second training seed: how far two of its runs lie apart by chance cannot be told;"
            " jitter alone is a lower bound (--json)."
        ]
    above = [row for row in floors if row.sd_ratio is not None and row.sd_ratio > 1]
    figure = "last checkpoint" if floors[0].averaged == 1 else f"mean of the last {floors[0].averaged} checkpoints"
    sentences = [
        f"Two single runs of one recipe (figure: {figure}) differ by more than the noise floor in"
        f" {100 * (1 - report.level):.2g} % of cases."
    ]
    intervals = [row for row in report.rows if row.ratio_low is not None and row.ratio_high is not None]
    if intervals:
        larger = sum(row.ratio_low > 1 for row in intervals if row.ratio_low is not None)
        smaller = sum(row.ratio_high < 1 for row in intervals if row.ratio_high is not None)
        sentences.append(
            f"Signal to noise over seeds is larger by {intervals[0].other_metric} in {larger} of {len(intervals)} rows,"
            f" smaller in {smaller}, and cannot be told apart in {len(intervals) - larger - smaller}."
        )
    if above:
        sentences.append(
            f"For {len(above)} of {len(floors)} rows with seeds the spread over seeds is larger than the half-width of"
            " a single run's interval: an interval over prompts alone says too little there."
        )
    return sentences
