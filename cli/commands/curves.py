"""``curves``: scores along training, with bands, departures from chance, drops and crossings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from warehouse.questions.training import Curves
from warehouse.tables.words import meanings

from ..lazy_group import command
from ..state import State
from ..ui.options import draw, drawable, option, output_options
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import decimals, echo, interval, level_column, number, p_value, print_constants, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.training.curve_rows import CheckpointRow, CurveRow, CurvesReport


#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("sd/mean of last 5", "Spearman", "tau", "band", "chance", "checkpoints", "first", "drop at", "split")
#: Curves whose findings are told one by one.
_MOST_SENTENCES = 6


@command("curves")
@options_of(Curves)
@option("--checkpoints", "A row for each checkpoint.", name="points", is_flag=True)
@drawable
@output_options
def curves(state: State, /, points: bool, output: Output, **options: Any) -> None:
    report: CurvesReport = state.ask(Curves(**options))
    draw(report)
    output.give(report, lambda: _print(report, state, points), part="checkpoints" if points else "rows")
    if report.left_out:
        state.say(f"note: {report.left_out} recipes without a place in training are left out")
    if len(report.rows) > 2 and not any(row.other for row in report.rows):
        state.say("note: name two models to see where their curves cross")


def _print(report: CurvesReport, state: State, points: bool) -> None:
    for sentence in _sentences(report):
        print_text(sentence)
    echo()
    if points:
        _print_checkpoints(report)
    else:
        _print_curves(report)
    reasons = Counter(why for row in report.rows for why in {row.reason, row.chance_reason} if why)
    state.notes(f"{why}: {n} curve{'s' * (n > 1)}" for why, n in reasons.items())
    state.notes(meanings(flag for row in report.rows for flag in row.flags))
    partly = sum(row.n_left_out > 0 for row in report.rows)
    if partly:
        state.say(f"note: checkpoints that only some seeds have are left out in {partly} curve{'s' * (partly > 1)}")


def _print_curves(report: CurvesReport) -> None:
    widths = [
        (row.ci_high - row.ci_low) / 4 for row in report.rows if row.ci_low is not None and row.ci_high is not None
    ]
    n_decimals = decimals(widths)
    rows = [_curve_cells(row, n_decimals, level_column(report.level)) for row in report.rows]
    rows = print_constants(rows, ("benchmark", "metric", "model", "unit"))
    print_rows(
        rows,
        hide_empty=(
            *("split", "recipe", "setting", "tau", "Spearman", "sd/mean of last 5", "above from", "drops", "drop at"),
        ),
        minor=_MINOR,
    )


def _curve_cells(row: CurveRow, n_decimals: int, band: str) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": row.recipe if row.recipe not in row.model else "",
        "setting": row.setting,
        "unit": row.unit,
        "seeds": row.n_seeds,
        "checkpoints": row.n_checkpoints,
        "first": number(row.first, n_decimals),
        "last": number(row.last, n_decimals),
        band: interval(row.ci_low, row.ci_high, n_decimals),
        "band": row.band,
        "tau": number(row.tau, 2),
        "Spearman": number(row.spearman, 2),
        "sd/mean of last 5": number(row.spread_of_last_five, 4),
        "chance": row.chance,
        "above from": row.above_chance_from,
        "drops": row.n_drops,
        "drop at": row.largest_drop_at,
    }


def _print_checkpoints(report: CurvesReport) -> None:
    points = report.checkpoints
    n_decimals = decimals(
        [(p.ci_high - p.ci_low) / 4 for p in points if p.ci_low is not None and p.ci_high is not None]
    )
    cells = [_point_cells(point, n_decimals, level_column(report.level)) for point in points]
    rows = print_constants(cells, ("benchmark", "metric", "model", "unit"))
    print_rows(
        rows,
        hide_empty=("split", "recipe", "setting", "p chance", "p drop", "", "change"),
        minor=("p drop", "p chance", "split"),
    )


def _point_cells(point: CheckpointRow, n_decimals: int, band: str) -> dict[str, Any]:
    marks = [word for word, holds in (("above chance", point.is_above_chance), ("drop", point.is_drop)) if holds]
    return {
        "benchmark": point.benchmark,
        "split": point.split,
        "metric": point.metric,
        "model": point.model,
        "recipe": point.recipe if point.recipe not in point.model else "",
        "setting": point.setting,
        "unit": point.unit,
        "at": point.position,
        "score": number(point.score, n_decimals),
        band: interval(point.ci_low, point.ci_high, n_decimals),
        "p chance": p_value(point.p_above_chance),
        "change": number(point.change, n_decimals, sign=True),
        "p drop": p_value(point.p_drop),
        "": ", ".join(marks),
    }


def _sentences(report: CurvesReport) -> list[str]:
    """What was found, in words; of many curves the numbers only."""
    findings = [
        f"{_of(row, report)}: {', '.join(_findings(row))}." for row in report.rows[:_MOST_SENTENCES] if _findings(row)
    ]
    sentences = findings if len(report.rows) <= _MOST_SENTENCES else [f"{report.one_line}."]
    crossings = dict.fromkeys(
        f"{_whose(row, report)}{row.crossing_in_words}." for row in report.rows if row.crossing_in_words
    )
    sentences += list(crossings)[:_MOST_SENTENCES]
    if report.kendall is not None:
        pearson = "" if report.pearson is None else f", Pearson {report.pearson:.2f}"
        sentences.append(
            f"Over the recipes the last scores of the two go together by Kendall {report.kendall:.2f}{pearson}."
        )
    bands = ", ".join(dict.fromkeys(row.band for row in report.rows if row.band))
    if bands:
        sentences.append(f"Bands and tests allow for {bands}; tests are corrected over checkpoints (Holm).")
    return sentences or [f"{report.one_line}."]


def _of(row: CurveRow, report: CurvesReport) -> str:
    several = len({other.benchmark for other in report.rows}) > 1
    return f"{row.name} on {row.benchmark}" if several else row.name


def _whose(row: CurveRow, report: CurvesReport) -> str:
    """The recipe, where each has a crossing of its own."""
    several = len({compared.name for compared in report.rows if compared.other}) > 2
    return f"{row.name}: " if several else ""


def _findings(row: CurveRow) -> list[str]:
    words = []
    if row.chance is not None and row.band:
        source = {"given": "", "metric": " by the metric", "options": " by the options"}[row.chance_from]
        at = f"chance ({row.chance:.3g}{source})"
        if row.above_chance_from is not None:
            words.append(f"above {at} from {row.unit} {row.above_chance_from:g} on")
        elif row.above_chance_at is not None:
            words.append(f"first above {at} at {row.unit} {row.above_chance_at:g}, not to the end")
        else:
            words.append(f"never significantly above {at}")
    if row.n_drops and row.largest_drop is not None:
        largest = (
            f"{'the largest ' * (row.n_drops > 1)}by {abs(row.largest_drop):.3g} at {row.unit} {row.largest_drop_at:g}"
        )
        words.append(f"{row.n_drops} significant drop{'s' * (row.n_drops > 1)}, {largest}")
    elif row.n_drops == 0:
        words.append("no significant drop")
    return words
