"""``variance``: prompts against draws, pass@k, and seeds against prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.questions.variance import PassRates, SeedVariance, Templates, Variance
from warehouse.tables.words import SHOWN, reasons

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import WrittenNumber, decimals, interval, level_column, number, print_legend, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.results import Row
    from warehouse.analysis.variance.templates import TemplateRow, TemplatesReport
    from warehouse.analysis.variance.variance import PassReport, PassRow, SeedReport, SeedRow, VarianceReport


@command("variance")
@options_of(PassRates)
@option("--seeds", "Training seeds crossed with prompts instead.", is_flag=True)
@output_options
def variance(state: State, /, output: Output, seeds: bool, **options: Any) -> None:
    question = PassRates.from_command(options, typed(options))
    if seeds:
        _seeds(state, question.only(SeedVariance, "does not go with --seeds"), output)
    elif question.at or question.hat:
        _pass_rates(state, question, output)
    else:
        _split(state, question.only(Variance, "goes with --pass-at or --pass-hat"), output)


def _emit(state: State, output: Output, report: Any, row: type[Row], print_it: Callable[[Any, State], None]) -> None:
    """Print a report for people or as rows, and below it what was left out."""
    if output.for_people:
        print_it(report, state)
    else:
        output.emit_records(row, report.rows)
        _notes(state, report.left_out)


def _notes(state: State, left_out: Sequence[str]) -> None:
    state.notes(f"left out {reason}" for reason in left_out[:SHOWN])
    if len(left_out) > SHOWN:
        state.say(f"note: and {len(left_out) - SHOWN} more left out")


def _heading(rows: Sequence[Any]) -> tuple[str, ...]:
    """Say once what all rows share; the columns that say nothing then."""
    shared, hide_empty = [], []
    for name in ("benchmark", "metric"):
        values = {getattr(row, name) for row in rows}
        if len(values) == 1:
            shared.append(values.pop())
            hide_empty.append(name)
    if shared:
        print_text(" by ".join(shared))
    return tuple(hide_empty)


# --- prompts and draws -------------------------------------------------------------------------


def _split(state: State, question: Variance, output: Output) -> None:
    from warehouse.analysis.variance.row import VarianceRow

    report: VarianceReport = state.ask(question)
    _emit(state, output, report, VarianceRow, lambda report, state: state.show(report.view(verbose=state.verbose)))


# --- pass@k ------------------------------------------------------------------------------------


def _pass_rates(state: State, question: PassRates, output: Output) -> None:
    from warehouse.analysis.variance.variance import PassRow

    report: PassReport = state.ask(question)
    _emit(state, output, report, PassRow, _print_rates)


def _print_rates(report: PassReport, state: State) -> None:
    shared = _heading(report.rows)
    wording = {
        "prompts_sampled": "prompts sampled: they stand for others like them",
        "prompts_fixed": "prompts fixed: only the draws are random",
    }
    print_text(f"intervals with {wording[report.rows[0].estimand]}\n")
    n_decimals = decimals(row.standard_error for row in report.rows)
    rows = [_rate_cells(row, n_decimals, shared, state.verbose) for row in report.rows]
    hide_empty = ("condition", "benchmark", "split", "metric", "over all", "clusters", "method", "flags")
    shown = print_rows(
        rows, hide_empty=hide_empty, minor=("method", "draws", "split", "metric", "clusters", "prompts", "se")
    )
    if "statistic" in shown:
        for line in _rates_in_words(report.rows):
            print_text(line)
    explained = [row for row in report.rows if row.ci_low is None or row.bound_low is not None or state.verbose]
    state.notes(reasons((row, row.reason) for row in explained))
    _notes(state, report.left_out)


def _rates_in_words(rows: Sequence[PassRow]) -> list[str]:
    """What pass@k and pass^k are, where they are shown."""
    names = [row.statistic for row in rows]
    lines = {
        "pass@": "pass@k: chance that at least one of k draws is right, mean over prompts",
        "pass^": "pass^k: chance that all of k draws are right, mean over prompts",
    }
    return [line for mark, line in lines.items() if any(name.startswith(mark) for name in names)]


def _rate_cells(row: PassRow, n_decimals: int, shared: Sequence[str], verbose: bool) -> dict[str, Any]:
    return {
        "model": row.model,
        "condition": row.condition,
        "benchmark": "" if "benchmark" in shared else row.benchmark,
        "split": row.split,
        "metric": "" if "metric" in shared else row.metric,
        "statistic": row.statistic,
        "estimate": number(row.estimate, n_decimals),
        "se": number(row.standard_error, n_decimals),
        level_column(row.level): interval(row.ci_low, row.ci_high, n_decimals),
        "over all": interval(row.bound_low, row.bound_high, n_decimals),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "draws": row.n_draws,
        "method": row.method if verbose else "",
        "flags": row.flags,
    }


# --- seeds -------------------------------------------------------------------------------------


def _seeds(state: State, question: SeedVariance, output: Output) -> None:
    from warehouse.analysis.variance.variance import SeedRow

    report: SeedReport = state.ask(question)
    _emit(state, output, report, SeedRow, _print_seeds)


#: Columns that a narrow terminal does without, the first of them first.
SEED_MINOR = (
    *("split", "metric", "recipe", "V both", "V seeds", "V prompts", "clusters", "prompts", "seed sd"),
    "se prompts fixed",
)
#: Columns of the seeds, in words.
SEED_LEGEND = {
    "se seeds fixed": "error if these seeds are all there are, and prompts a sample",
    "se prompts fixed": "error if these prompts are all there are, and seeds a sample",
    "se both sampled": "error if both are samples; squared: V prompts + V seeds - V both, at least either",
    "seed sd": "standard deviation of the seeds' figures",
    "V prompts": "variance of the figure that the choice of prompts makes",
    "V seeds": "variance that the choice of seeds makes",
    "V both": "variance that is in each of the two: of both together, and of draws",
    "left out": "prompts that some seed has no score of",
}


def _print_seeds(report: SeedReport, state: State) -> None:
    shared = _heading(report.rows)
    n_decimals = decimals(row.se_both_sampled for row in report.rows)
    rows = [_seed_cells(row, n_decimals, shared) for row in report.rows]
    hide_empty = ("recipe", "position", "benchmark", "split", "metric", "clusters")
    shown = print_rows(rows, hide_empty=hide_empty, counts=("left out",), minor=SEED_MINOR)
    print_text("")
    print_legend(SEED_LEGEND, shown)
    for row in report.rows:
        if row.reason:
            state.say(f"note: {row.model} {row.position}".rstrip() + f": {row.reason}")
    _notes(state, report.left_out)


def _seed_cells(row: SeedRow, n_decimals: int, shared: Sequence[str]) -> dict[str, Any]:
    return {
        "model": row.model,
        "recipe": row.recipe,
        "position": row.position,
        "benchmark": "" if "benchmark" in shared else row.benchmark,
        "split": row.split,
        "metric": "" if "metric" in shared else row.metric,
        "estimate": number(row.estimate, n_decimals),
        "se seeds fixed": number(row.se_seeds_fixed, n_decimals),
        "se prompts fixed": number(row.se_prompts_fixed, n_decimals),
        "se both sampled": number(row.se_both_sampled, n_decimals),
        "seed sd": number(row.seed_sd, n_decimals),
        "V prompts": _part(row.part_prompts),
        "V seeds": _part(row.part_seeds),
        "V both": _part(row.part_interaction),
        "seeds": row.n_seeds,
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "left out": row.n_left_out,
    }


def _part(variance: float | None) -> WrittenNumber | None:
    return None if variance is None else WrittenNumber(f"{variance:.2e}")


# --- templates ---------------------------------------------------------------------------------


@command("templates")
@options_of(Templates)
@output_options
def templates(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.variance.templates import TemplateRow

    report: TemplatesReport = state.ask(Templates.from_command(options, typed(options)))
    _emit(state, output, report, TemplateRow, _print_templates)


#: Columns that a narrow terminal does without, the first of them first.
TEMPLATE_MINOR = (
    *("split", "metric", "V both", "V templates", "V prompts", "df", "condition", "lowest", "highest", "clusters"),
    "prompts",
)
#: Pairs of models that are named where judges disagree.
FLIPS_SHOWN = 5
_SAMPLES = {
    "both": "prompts and {factor}s are a sample of what could have been",
    "prompts": "prompts are a sample, these {factor}s are all there are",
    "templates": "{factor}s are a sample, these prompts are all there are",
}


def _print_templates(report: TemplatesReport, state: State) -> None:
    shared = _heading(report.rows)
    n_decimals = decimals(row.standard_error for row in report.rows)
    rows = [_template_cells(row, n_decimals, shared, report.factor) for row in report.rows]
    hide_empty = ("condition", "benchmark", "split", "metric", "needed", "flags", "spread", "clusters")
    shown = print_rows(rows, hide_empty=hide_empty, counts=("left out",), minor=TEMPLATE_MINOR)
    print_text("")
    factor = report.factor
    print_text(f"se and interval: {_SAMPLES[report.rows[0].random].format(factor=factor)}")
    meanings = {
        "highest": f"highest mean of a {factor}, with its name: like the lowest an extreme, without error",
        "spread": "standard deviation of a judge's mean about that of all judges, answers the same",
        "V prompts": "variance of the figure that the choice of prompts makes",
        "V templates": f"that the choice of {factor}s makes",
        "V both": "that is in each of the two: of both together, and of draws",
        "needed": f"{factor}s that bring the error to the one asked for; none: no number does, or there are no others",
        "left out": f"prompts without a score under some {factor}",
    }
    print_legend(meanings, shown)
    if report.flip_share is not None and report.n_top is not None:
        first = f"{report.n_top} of {len(report.rows)} conditions are first by some {factor}"
        print_text(
            f"two conditions by one {factor}: opposite to their means in {100 * report.flip_share:.0f} %; {first}"
        )
    if any("few_templates" in row.flags for row in report.rows):
        print_text(f"few_templates: fewer than 9 {factor}s stand for all; where they differ much the interval is short")
    _print_flips(report)
    state.notes(reasons((row, row.reason) for row in report.rows if row.reason))
    _notes(state, report.left_out)


def _print_flips(report: TemplatesReport) -> None:
    """Which pairs two judges put in different orders."""
    if report.factor != "judge" or report.flip_share is None:
        return
    shown = [flip for flip in report.flips if flip.is_shown]
    print_text(
        f"{len(report.flips)} pairs of models change places between two judges, {len(shown)} by more than chance (both"
        " differences, Holm over pairs of models, times the pairs of judges)"
    )
    for flip in shown[:FLIPS_SHOWN]:
        print_text(
            f"  {flip.judge_a} has {flip.model_a} above {flip.model_b} by {abs(flip.difference_a):.3g},"
            f" {flip.judge_b} the other way by {abs(flip.difference_b):.3g} (p = {flip.p_holm:.2g})"
        )
    if len(shown) > FLIPS_SHOWN:
        print_text(f"  and {len(shown) - FLIPS_SHOWN} more")


def _template_cells(row: TemplateRow, n_decimals: int, shared: Sequence[str], factor: str) -> dict[str, Any]:
    def named(value: float | None, name: str) -> str:
        return "" if value is None else f"{number(value, n_decimals)} {name}"

    spread = row.variance_templates
    return {
        "model": row.model,
        "condition": row.condition,
        "benchmark": "" if "benchmark" in shared else row.benchmark,
        "split": row.split,
        "metric": "" if "metric" in shared else row.metric,
        "estimate": number(row.estimate, n_decimals),
        "se": number(row.standard_error, n_decimals),
        level_column(row.level): interval(row.ci_low, row.ci_high, n_decimals, at=row.estimate),
        "df": number(row.df, 1),
        "lowest": named(row.worst, row.worst_template),
        "highest": named(row.best, row.best_template),
        "spread": None if factor != "judge" or spread is None else number(max(0.0, spread) ** 0.5, n_decimals),
        "V prompts": _part(row.part_prompts),
        "V templates": _part(row.part_templates),
        "V both": _part(row.part_residual),
        f"{factor}s": row.n_templates,
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "left out": row.n_left_out,
        "needed": row.templates_needed,
        "flags": row.flags,
    }
