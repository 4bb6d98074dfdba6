"""``recipes``: which benchmarks can decide between recipes at a small scale, and at what cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from warehouse.questions.training import Recipes

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import decimals, echo, interval, number, print_constants, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.training.recipes import RecipesReport, RecipesRow


#: Columns that a narrow terminal does without, the first of them first.
_SPARE = (
    *("SNR interval", "SNR", "jitter", "seed sd", "recipe sd", "noise sd", "pairs", "least prompts", "noise from"),
    *("flags", "power in budget", "split"),
)


@command("recipes")
@click.argument("benchmarks", metavar="[BENCHMARK|SUITE]...", nargs=-1)
@options_of(Recipes, without=("benchmarks",))
@output_options
@pass_state
def recipes(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.training.recipes import RecipesRow
    from warehouse.analysis.training.trajectories import describe_others

    question = Recipes.said(options, typed(options))
    with state.open() as store:
        report: RecipesReport = question.ask(store)
    if output.for_people:
        _print(report, state)
    else:
        output.emit_records(RecipesRow, report.rows)
    if report.left_out:
        state.say(f"note: {report.left_out} benchmarks and metrics have one recipe only at this scale")
    if report.elsewhere:
        state.say(f"note: two recipes {describe_others(report.elsewhere)}")


def _print(report: RecipesReport, state: State) -> None:
    for sentence in _sentences(report):
        print_text(sentence)
    echo()
    places = decimals([value for row in report.rows for value in (row.noise_sd, row.recipe_sd) if value])
    rows = [_cells(row, places, f"{100 * report.level:g}% interval") for row in report.rows]
    if len(rows) > 1:
        rows = print_constants(rows, ("metric", "verdict"))
    print_rows(rows, needless=tuple(key for key in rows[0] if key not in ("benchmark", "recipes")), spare=_SPARE)
    for name in ("accuracy_reason", "plan_reason"):
        reasons = Counter(why for row in report.rows if (why := getattr(row, name)))
        state.notes(f"{why}: {n} row{'s' * (n > 1)}" for why, n in reasons.items())
    mixed = sum("mixed_lengths" in row.flags for row in report.rows)
    if mixed:
        state.say(f"note: runs of different lengths make one figure in {mixed} rows; --small and --large can say which")


def _cells(row: RecipesRow, places: int, interval_of_level: str) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "setting": row.setting,
        "recipes": row.n_recipes if row.n_both is None else row.n_both,
        "recipe sd": number(row.recipe_sd, places),
        "noise sd": number(row.noise_sd, places),
        "noise from": row.noise_from,
        "ceiling": number(row.ceiling, 2),
        "verdict": row.verdict,
        "accuracy": number(row.accuracy, 2),
        interval_of_level: interval(row.accuracy_low, row.accuracy_high, 2),
        "pairs": row.n_pairs,
        "SNR": number(row.signal_to_noise, 1),
        "SNR interval": interval(row.signal_to_noise_low, row.signal_to_noise_high, 1),
        "seed sd": number(row.seed_sd, places),
        "jitter": number(row.jitter, places),
        "seeds": row.n_seeds,
        "average": row.averaged,
        "cost": row.cost,
        "power in budget": number(row.power_in_budget, 2),
        "least prompts": row.least_prompts,
        "flags": row.flags,
    }


def _sentences(report: RecipesReport) -> list[str]:
    """What follows from the table, in words."""
    n = len(report.rows)
    counts = Counter(row.verdict for row in report.rows)
    known = n - counts["cannot tell"]
    words = [f"{n} benchmarks and metrics."]
    if known:
        words.append(
            f"By their noise {counts['cannot decide']} of {known} cannot decide between the recipes (ceiling of the"
            f" decision accuracy below .6); of the other{'s' * (known != 1)} noise alone does not forbid it."
        )
    if counts["cannot tell"]:
        words.append(
            f"For {counts['cannot tell']} the noise is unknown: no recipe has a second seed, nor sixteen checkpoints."
        )
    if report.two_scales:
        predicted = [row for row in report.rows if row.accuracy is not None]
        sure = sum(row.accuracy_low is not None and row.accuracy_low > 0.5 for row in predicted)
        words.append(
            "No benchmark has six recipes at both scales: how alike both order fewer tells nothing."
            if not predicted
            else f"The small scale orders pairs of recipes as the large one does, better than chance, for {sure} of"
            f" {len(predicted)} with six recipes at both ({100 * report.level:g} %, each by itself)."
        )
    if report.delta is not None:
        planned = [row for row in report.rows if row.n_seeds is not None]
        words.append(
            f"A difference of {report.delta:g} can be found with {100 * report.target:g} % power on {len(planned)} of"
            f" {n}; seeds and averaged checkpoints are of each recipe, cost is of both."
        )
    return words
