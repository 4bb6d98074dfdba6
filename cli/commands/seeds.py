"""The commands that ask what training seeds leave open: `seeds`, `decide` and `recipes`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warehouse.questions.training import Decide, Recipes, Seeds
from warehouse.tables.words import UNEQUAL_PROMPTS, meanings

from ..lazy_group import command
from ..state import State
from ..ui.options import draw, drawable, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import decimals, echo, interval, level_column, number, p_value, print_constants, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.training.decide import DecisionRow, Decisions
    from warehouse.analysis.training.recipes import RecipesReport, RecipesRow
    from warehouse.analysis.training.seeds import SeedsReport, SeedsRow


#: Columns that are left out where no row has them.
_HIDE_EMPTY = (
    *("split", "recipe", "setting", "mean", "sd over seeds", "half-width", "noise floor", "jitter", "tau", "p rise"),
    *("SNR", "SNR, other", "ratio", "interval of ratio", "flags"),
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR_OF_SEEDS = ("checkpoints", "half-width", "jitter", "tau", "p rise")
#: Further ones, to make room for a second metric.
_FOR_ANOTHER = ("mean", "noise floor", "sd over seeds", "split")


@command("seeds")
@options_of(Seeds)
@drawable
@output_options
def seeds(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.training.trajectories import describe_others

    report: SeedsReport = state.ask(Seeds(**options))
    draw(report)
    output.give(report, lambda: _print_seeds(report, state))
    if report.left_out:
        state.say(f"note: {report.left_out} recipes with one seed and one checkpoint are left out")
    state.notes(meanings(flag for row in report.rows for flag in row.flags if flag == UNEQUAL_PROMPTS))
    if report.elsewhere:
        state.say(f"note: seeds or checkpoints {describe_others(report.elsewhere)}")


def _print_seeds(report: SeedsReport, state: State) -> None:
    for sentence in _seeds_sentences(report):
        print_text(sentence)
    echo()
    n_decimals = decimals([value for row in report.rows for value in (row.seed_sd, row.jitter) if value])
    rows = [_seeds_cells(row, n_decimals, level_column(report.level)) for row in report.rows]
    if len(rows) > 1:
        rows = print_constants(rows, ("metric", "model"))
    level = level_column(report.level)
    floors = any(row.noise_floor is not None for row in report.rows)
    narrow = _MINOR_OF_SEEDS if floors else ("mean", "half-width", "seeds", "p rise", "tau")  # jitter says more there
    minor = (*narrow, level, *_FOR_ANOTHER) if report.rows[0].other_metric else (*narrow, "SNR", "mean", "split", level)
    print_rows(rows, hide_empty=(*_HIDE_EMPTY, level), minor=(*minor, "flags", "metric"))
    without = Counter(row.reason for row in report.rows if row.reason)
    state.notes(f"{reason}: {n} row{'s' * (n > 1)}" for reason, n in without.items())


def _seeds_cells(row: SeedsRow, n_decimals: int, interval_of_level: str) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": row.recipe,
        "setting": row.setting,
        "seeds": row.n_seeds,
        "checkpoints": row.n_checkpoints,
        "mean": number(row.seed_mean, n_decimals),
        "sd over seeds": number(row.seed_sd, n_decimals),
        interval_of_level: interval(row.seed_sd_low, row.seed_sd_high, n_decimals),
        "half-width": number(row.half_width, n_decimals),
        "noise floor": number(row.noise_floor, n_decimals),
        "jitter": number(row.jitter, n_decimals),
        "tau": number(row.tau, 2),
        "p rise": p_value(row.p_monotone),
        "SNR": number(row.signal_to_noise, 1),
        "SNR, other": number(row.other_signal_to_noise, 1),
        "ratio": number(row.ratio, 2),
        "interval of ratio": interval(row.ratio_low, row.ratio_high, 2),
        "flags": row.flags,
    }


def _seeds_sentences(report: SeedsReport) -> Sequence[str]:
    """What follows from the table, in words."""
    floors = [row for row in report.rows if row.noise_floor is not None]
    if not floors:
        if any(row.n_seeds > 1 for row in report.rows):
            return ["How far two runs of one recipe lie apart by chance cannot be told: the notes say why."]
        return [
            "No recipe has a second training seed: how far two of its runs lie apart by chance cannot be told;"
            " jitter alone is a lower bound (--json)."
        ]
    above = [row for row in floors if row.sd_ratio is not None and row.sd_ratio > 1]
    few = ["few_seeds" in row.flags for row in floors]
    figure = "last checkpoint" if floors[0].averaged == 1 else f"mean of the last {floors[0].averaged} checkpoints"
    sentences = [
        f"Two single runs of one recipe (figure: {figure}) differ by more than the noise floor in"
        f" {100 * (1 - report.level):.2g} % of cases"
        + (", if no seed fails: so few may lack one in ten that does." if any(few) else ".")
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


@command("decide")
@options_of(Decide)
@output_options
def decide(state: State, /, output: Output, **options: Any) -> None:
    decisions: Decisions = state.ask(Decide(**options))
    output.give(decisions, lambda: _print_decisions(decisions))
    state.notes(f"left out {reason}" for reason in decisions.left_out)
    if mixed := sum("mixed_lengths" in row.flags for row in decisions.rows):
        many = f"{mixed} benchmark{'s' * (mixed > 1)}"
        state.say(f"note: the runs end at different places in training on {many}; MODEL@step=N ends them at one")
    state.notes(meanings(flag for row in decisions.rows for flag in row.flags))


#: Rows whose sentences are told one by one.
_MOST_SENTENCES = 6


def _print_decisions(decisions: Decisions) -> None:
    rows = decisions.rows
    print_text(f"{decisions.one_line}.")
    for row in rows if len(rows) <= _MOST_SENTENCES else ():
        print_text(row.sentence)
    if len(rows) > _MOST_SENTENCES:
        print_text(_decisions_in_words(rows))
    echo()
    n_decimals = decimals([row.noise_floor for row in rows if row.noise_floor])
    cells = [_decision_cells(row, n_decimals) for row in rows]
    if len(cells) > 1:
        cells = print_constants(cells, ("metric", "seeds", "noise from", "verdict"))
    print_rows(
        cells,
        hide_empty=("split", "better", "noise from", "wrong order", "more runs", "noise floor"),
        minor=("noise floor", "noise from", "split", "seeds", "metric", "B", "A"),
    )


def _decisions_in_words(rows: Sequence[DecisionRow]) -> str:
    """What the columns mean, and how far others spread."""
    pools = {(row.pool, row.pool_size): row for row in rows if row.floor_from == "pool"}
    pool_sentences = [
        f"On {size} benchmarks {name} they did by {row.pool_quantiles[0]:.2g} to {row.pool_quantiles[-1]:.2g}."
        for (name, size), row in pools.items()
    ]
    words = (
        "Random seeds alone explain a gap if they make runs spread by more than the standard deviation in `chance if"
        " above`.",
        *pool_sentences,
        "`wrong order` is the probability that the other one is better; `more runs` would settle it in 8 of 10 cases.",
        "--json has a sentence for each benchmark.",
    )
    return " ".join(words)


def _decision_cells(row: DecisionRow, n_decimals: int) -> dict[str, object]:
    floor = number(row.noise_floor, n_decimals)
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "A": number(row.mean_a, n_decimals),
        "B": number(row.mean_b, n_decimals),
        "A - B": number(row.difference, n_decimals, sign=True),
        "chance if above": number(row.noise_if_sd_above, n_decimals + 1),
        "verdict": row.verdict,
        "better": row.better.upper(),
        "wrong order": p_value(row.p_wrong_sign),
        "more runs": row.runs_to_settle,
        "noise floor": f">= {floor}" if row.floor_from == "jitter" else floor,
        "seeds": f"{row.n_seeds_a} + {row.n_seeds_b}",
        "noise from": "" if row.floor_from == "seeds" else row.floor_from.replace("_", " "),
    }


#: Columns that a narrow terminal does without, the first of them first.
_MINOR_OF_RECIPES = (
    *("SNR interval", "SNR", "jitter", "seed sd", "recipe sd", "noise sd", "least prompts", "noise from"),
    *("flags", "power in budget", "ties", "split", "to settle", "alike"),
)


@command("recipes")
@options_of(Recipes)
@output_options
def recipes(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.training.trajectories import describe_others

    question = Recipes.from_command(options, typed(options))
    report: RecipesReport = state.ask(question)
    output.give(report, lambda: _print_recipes(report, state))
    if report.left_out:
        state.say(f"note: {report.left_out} benchmarks and metrics have one recipe only at this scale")
    if report.elsewhere:
        state.say(f"note: two recipes {describe_others(report.elsewhere)}")


def _print_recipes(report: RecipesReport, state: State) -> None:
    for sentence in _recipe_sentences(report):
        print_text(sentence)
    echo()
    n_decimals = decimals([value for row in report.rows for value in (row.noise_sd, row.recipe_sd) if value])
    rows = [_recipe_cells(row, n_decimals, f"{100 * report.level:g}% interval") for row in report.rows]
    if len(rows) > 1:
        rows = print_constants(rows, ("metric", "verdict"))
    print_rows(
        rows, hide_empty=tuple(key for key in rows[0] if key not in ("benchmark", "recipes")), minor=_MINOR_OF_RECIPES
    )
    for name in ("accuracy_reason", "plan_reason"):
        reasons = Counter(why for row in report.rows if (why := getattr(row, name)))
        state.notes(f"{why}: {n} row{'s' * (n > 1)}" for why, n in reasons.items())
    mixed = sum("mixed_lengths" in row.flags for row in report.rows)
    if mixed:
        state.say(f"note: runs of different lengths make one figure in {mixed} rows; --small and --large can say which")


def _recipe_cells(row: RecipesRow, n_decimals: int, interval_of_level: str) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "setting": row.setting,
        "recipes": row.n_recipes if row.n_both is None else row.n_both,
        "recipe sd": number(row.recipe_sd, n_decimals),
        "noise sd": number(row.noise_sd, n_decimals),
        "noise from": row.noise_from,
        "ceiling": number(row.ceiling, 2),
        "verdict": row.verdict,
        "accuracy": number(row.accuracy, 2),
        interval_of_level: interval(row.accuracy_low, row.accuracy_high, 2),
        "alike": None if row.agreements is None else f"{row.agreements} of {row.n_pairs}",
        "ties": row.ties_small,
        "to settle": row.recipes_to_settle,
        "SNR": number(row.signal_to_noise, 1),
        "SNR interval": interval(row.signal_to_noise_low, row.signal_to_noise_high, 1),
        "seed sd": number(row.seed_sd, n_decimals),
        "jitter": number(row.jitter, n_decimals),
        "seeds": row.n_seeds,
        "average": row.averaged,
        "cost": row.cost,
        "power in budget": number(row.power_in_budget, 2),
        "least prompts": row.least_prompts,
        "flags": row.flags,
    }


def _recipe_sentences(report: RecipesReport) -> list[str]:
    """What follows from the table, in words."""
    n = len(report.rows)
    sentences = [row.sentence for row in report.rows] if n <= _MOST_SENTENCES else [f"{report.one_line}."]
    words = [
        *sentences,
        *(_at_two_scales(report) if report.two_scales else _at_one_scale(report)) * (n > _MOST_SENTENCES),
    ]
    if report.delta is not None:
        planned = [row for row in report.rows if row.n_seeds is not None]
        words.append(
            f"A difference of {report.delta:g} can be found with {100 * report.target:g} % power on {len(planned)} of"
            f" {n}; seeds and averaged checkpoints are of each recipe, cost is of both."
        )
    return words


def _at_one_scale(report: RecipesReport) -> list[str]:
    counts = Counter(row.verdict for row in report.rows)
    words = []
    n_decided = len(report.rows) - counts["cannot tell"]
    if n_decided:
        words.append(
            f"By their noise {counts['cannot decide']} of {n_decided} cannot decide between recipes (at most 60 % of"
            f" pairs in the right order); of the other{'s' * (n_decided != 1)} noise alone does not forbid it."
        )
    if counts["cannot tell"]:
        words.append(
            f"For {counts['cannot tell']} the noise is unknown: no recipe has a second seed, nor sixteen checkpoints."
        )
    return words


def _at_two_scales(report: RecipesReport) -> list[str]:
    """How many rank as the large scale does, and how often `decide` at the small one was right."""
    predicted = [row for row in report.rows if row.accuracy is not None]
    if not predicted:
        return ["No benchmark has six recipes at both scales: how alike both order fewer tells nothing."]
    better = sum(row.verdict in ("decides", "better than chance") for row in predicted)
    words = [
        f"The small scale orders pairs of recipes as the large one does, better than chance, on {better} of"
        f" {len(predicted)} with six recipes at both ({100 * report.level:g} %, each by itself); `to settle` is the"
        " number of recipes at both scales that would show more."
    ]
    for word, name in (("decides", "n_decides"), ("leans", "n_leans")):
        of, right = (sum(getattr(row, field) or 0 for row in predicted) for field in (name, f"{name}_right"))
        if of:
            words.append(
                f"Where `decide` says {word} at the small scale, the large one agrees in {right} of {of} pairs."
            )
    return words
