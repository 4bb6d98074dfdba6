"""Tables of the item response models, for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .table import echo, excerpt, interval, level_column, number, p_value, print_rows, print_text, visible

if TYPE_CHECKING:
    from warehouse.analysis.irt.published import ScaleReport, ScaleRow
    from warehouse.analysis.irt.results import (
        AbilityReport,
        BlockRow,
        DimensionRow,
        DimensionsReport,
        FittedItemRow,
        IrtReport,
        NextReport,
        NextRow,
    )

#: Characters of a prompt's id, a benchmark's name and a model's name in a table of 80 columns.
_ID, _BENCHMARK, _MODEL = 16, 14, 26
#: Level at which a loss has to be smaller for its model to be called better.
_LEVEL = 0.95


def print_fit(report: IrtReport, top: int) -> None:
    """What the model is, how well it predicts, and the prompts that stand out."""
    print_text(f"{report.one_line}.")
    print_text(_spread(report.rows))
    print_text(f"{report.model.upper()}: {report.model_reason}. {_losses(report)}")
    if report.n_testlets is not None:
        print_text(f"{report.n_testlets} clusters of prompts; errors of abilities allow for them.")
    echo()
    if len(report.forms) > 1:
        print_rows([{"benchmark": f.label, "prompts": f.n_items, "models": f.n_models} for f in report.forms])
        echo()
    _print_blocks(report.blocks)
    several = len(report.forms) > 1
    print_text("Prompts with the most surprises (infit and outfit are 1 where the model fits; a ranking, no test):")
    shown = report.rows[:top] if top else report.rows
    print_rows([_item(row, several) for row in shown], hide_empty=("text",), minor=("text", "models"))
    echo()
    against = sorted((row for row in report.rows if row.reversed), key=lambda row: row.free_discrimination or 0.0)
    if against:
        print_text(
            f"{len(against)} prompts go against the ability that the others measure, which a, above 0 as it is, does"
            " not show (free a: the slope that may be negative). A wrong key?"
        )
        listed = against[:top] if top else against
        print_rows([_against(row, several) for row in listed], hide_empty=("text",), minor=("text",))
        echo()
    if report.dif_reason:
        print_text(f"Families are not compared: {report.dif_reason}.")
        return
    print_text("Families of models, and prompts that are easier or harder for one than abilities tell (DIF):")
    print_rows(
        [
            {"family": f.family, "models": f.n_models, "others": f.n_others, "prompts": f.n_flagged}
            for f in report.families
        ]
    )
    flagged = sorted((row for row in report.rows if row.dif), key=lambda row: row.dif_q or 0.0)
    if flagged:
        echo()
        print_rows(
            [_dif(row, several) for row in (flagged[:top] if top else flagged)], hide_empty=("text",), minor=("text",)
        )


def _spread(rows: Sequence[FittedItemRow]) -> str:
    moving = [row for row in rows if not row.constant]
    constant = len(rows) - len(moving)
    same = f" {constant} prompts have one answer for all." if constant else ""
    if not moving:
        return f"No prompt tells models apart.{same}"
    d = np.quantile([row.difficulty for row in moving], [0.05, 0.95])
    a = np.quantile([row.discrimination for row in moving], [0.05, 0.95])
    return (
        f"Middle 90 % of prompts: difficulty {d[0]:.2f} to {d[1]:.2f} sd of abilities,"
        f" discrimination {a[0]:.2f} to {a[1]:.2f}.{same}"
    )


def _losses(report: IrtReport) -> str:
    from warehouse.stats.core.quantiles import t_quantile  # takes a while

    if report.loss_1pl is None or report.loss_difference is None:
        return ""
    models = min(report.n_held_out, max(form.n_models for form in report.forms))  # the error is over models
    flat = models < 2 or all(row.constant for row in report.rows)
    needed = math.inf if flat else t_quantile(_LEVEL, models - 1)
    clear = report.loss_se is not None and abs(report.loss_difference) > needed * report.loss_se
    better = "2PL" if report.loss_difference < 0 else "1PL"
    error = "" if report.loss_se is None else f" (se {report.loss_se:.4f})"
    return (
        f"Log loss of {report.n_held_out} held-out draws: 1PL {report.loss_1pl:.4f}, 2PL {report.loss_2pl:.4f},"
        f" mean scores of prompts alone {report.loss_items:.4f}. 2PL less 1PL {report.loss_difference:+.4f}{error}:"
        f" {better + ' predicts better' if clear else 'no clear difference'}."
    )


def _item(row: FittedItemRow, several: bool) -> dict[str, Any]:
    return {
        **_named(row, several),
        "models": row.n_models,
        "mean": number(row.mean_score, 2),
        "a": number(row.discrimination, 2),
        "difficulty": number(row.difficulty, 2),
        "se": number(row.se_difficulty, 2),
        "infit": number(row.infit, 2),
        "outfit": number(row.outfit, 2),
        "text": row.text,
    }


def _against(row: FittedItemRow, several: bool) -> dict[str, Any]:
    return {
        **_named(row, several),
        "models": row.n_models,
        "mean": number(row.mean_score, 2),
        "a": number(row.discrimination, 2),
        "free a": number(row.free_discrimination, 2),
        "text": row.text,
    }


def _dif(row: FittedItemRow, several: bool) -> dict[str, Any]:
    return {
        **_named(row, several),
        "family": excerpt(row.dif_family, _MODEL),
        "easier by (logits)": number(row.dif_effect, 2, sign=True),
        "q": p_value(row.dif_q),
        "text": row.text,
    }


def _named(row: FittedItemRow | NextRow, several: bool) -> dict[str, Any]:
    benchmark = {"benchmark": excerpt(row.benchmark, _BENCHMARK)} if several else {}
    return {"prompt": row.prompt, "id": excerpt(row.key, _ID), **benchmark}


def _print_blocks(blocks: Sequence[BlockRow]) -> None:
    if len(blocks) < 2:
        return
    print_text("Blocks of models that answered different prompts, and the prompts that link each to the others:")
    print_rows(
        [
            {
                "block": row.block,
                "models": row.n_models,
                "prompts": row.n_items,
                "links": row.n_links,
                "mean": number(row.prior_mean, 2),
                "such as": excerpt(", ".join(row.models), 40),
            }
            for row in blocks
        ]
    )
    echo()


def print_abilities(report: AbilityReport) -> None:
    """The scale, the most able first."""
    print_text(f"{report.one_line}; abilities in standard deviations of these models.")
    echo()
    _print_blocks(report.blocks)
    level = level_column(report.level)
    cells = [
        {
            "rank": row.rank,
            "ranks": None if row.rank_low is None else f"{row.rank_low}-{row.rank_high}",
            "model": visible(row.model),
            "ability": number(row.ability, 2),
            "se": number(row.standard_error, 2),
            f"its {level}": interval(row.ci_low, row.ci_high, 2),
            "behind": number(row.behind_leader, 2),
            level: interval(row.behind_low, row.behind_high, 2),
            "p": p_value(row.p_leader),
            "prompts": row.n_items,
            "block": row.block,
        }
        for row in report.rows
    ]
    print_rows(cells, hide_empty=("block",), minor=("block", f"its {level}", "p", "prompts", "se"))
    echo()
    print_text("ranks: those that the data leave a model; behind: the first model's ability less its own.")


def print_sensitivity(report: AbilityReport) -> None:
    """The scale without single benchmarks and families."""
    print_text(f"{report.one_line}; what its order of models is without one benchmark or family.")
    echo()
    cells = [
        {
            "without": f"{row.kind} {excerpt(row.left_out, _ID)}",
            "models": row.n_models,
            "prompts": row.n_items,
            "tau": number(row.tau, 3),
            "places": row.most_places,
            "first": visible(row.leader or ""),
            "moves most": visible(row.most_moved or ""),
            "by (sd)": number(row.shift, 2, sign=True),
        }
        for row in report.sensitivity
    ]
    print_rows(
        cells,
        empty="nothing to leave out",
        hide_empty=("tau", "places", "first", "moves most", "by (sd)"),
        minor=("prompts", "models"),
    )
    for row in report.sensitivity:
        if row.reason:
            print_text(f"without {row.kind} {row.left_out}: {row.reason}")
    if not report.sensitivity:
        return
    echo()
    print_text(
        "tau: agreement with the order of all; places: largest change of a rank among the models left;"
        " by: change of ability, both scales standardised over the models left."
    )


def print_scale(report: ScaleReport, top: int = 20, by_benchmark: bool = False) -> None:
    """The models, or the benchmarks, or what is expected of a model, and how far all that can be relied on."""
    print_text(f"{report.one_line}; abilities in standard deviations of these models.")
    echo()
    if by_benchmark:
        _print_benchmarks(report)
    elif report.predicted is not None:
        _print_predictions(report)
    else:
        _print_models(report, top)
    echo()
    check = report.held_out
    print_text(
        f"Figures that the fit had not seen are off by {check.scale:.3f} (root mean square, in shares of the range of"
        f" a benchmark): {check.additive:.3f} if all benchmarks had one slope, {check.means:.3f} by their means."
    )
    if report.n_merged:
        print_text(f"{report.n_merged} of the figures are the largest of several.")
    if report.n_clipped:
        print_text(f"{report.n_clipped} figures lie below chance or out of range, and count as its end.")


def _print_models(report: ScaleReport, top: int) -> None:
    level = level_column(report.level)
    cells: list[dict[str, Any]] = [
        {
            "rank": row.rank,
            "model": visible(row.model),
            "ability": number(row.estimate, 2),
            "se": number(row.standard_error, 2),
            f"its {level}": interval(row.ci_low, row.ci_high, 2),
            "difference": number(row.difference, 2, sign=True),
            level: interval(row.difference_low, row.difference_high, 2),
            "benchmarks": row.n_benchmarks,
            "released": row.release_date,
        }
        for row in (report.rows[:top] if top else report.rows)
    ]
    minor = (f"its {level}", "released", "benchmarks", "rank", "se")
    print_rows(cells, hide_empty=("released",), minor=minor)
    echo()
    alike = [row for row in report.rows if row.difference_low is not None and _has_zero(row)]
    words = f"{len(alike)} models cannot" if len(alike) != 1 else "1 model cannot"
    print_text(
        f"{words} be told from {visible(report.reference)} by their intervals of {100 * report.level:g} %, which are"
        " for one difference each; figures on more benchmarks that both have would tell."
    )
    trend = report.trend
    if trend is not None:
        print_text(
            f"Ability rises by {trend.estimate:.2f} standard deviations a year"
            f" {interval(trend.ci_low, trend.ci_high, 2)} over {trend.n_models} models of {trend.n_days} days of"
            f" release, which explain {100 * trend.r_squared:.0f} % of its variance."
        )


def _has_zero(row: ScaleRow) -> bool:
    return (row.difference_low or 0.0) <= 0 <= (row.difference_high or 0.0)


def _print_benchmarks(report: ScaleReport) -> None:
    cells: list[dict[str, Any]] = [
        {
            "benchmark": visible(row.benchmark),
            "metric": visible(row.metric),
            "difficulty": number(row.difficulty, 2),
            "slope": number(row.slope, 2),
            "residual": number(row.residual, 3),
            "chance": number(row.chance, 2),
            "models": row.n_models,
        }
        for row in report.benchmarks
    ]
    print_rows(cells, minor=("metric", "chance"))
    echo()
    print_text(
        "difficulty: ability at which half of the range from chance up is expected; slope: how far the benchmark tells"
        " models apart there, in logits; residual: its figures around the fit, a share of that range"
    )


def _print_predictions(report: ScaleReport) -> None:
    cells: list[dict[str, Any]] = [
        {
            "benchmark": visible(row.benchmark),
            "metric": visible(row.metric),
            "expected": number(row.estimate, 3),
            level_column(row.level): interval(row.ci_low, row.ci_high, 3),
        }
        for row in report.predictions
    ]
    print_text(f"What {visible(report.predicted or '')} is expected to have where it has no figure:")
    print_rows(cells, empty="it has a figure on each of them", minor=("metric",))


def print_next(report: NextReport) -> None:
    """The plan, and how far the ability can then be off."""
    print_text(
        f"{report.asked} has answered {report.n_asked} of {report.n_items} prompts: ability {report.ability:.2f}"
        f" (sd {report.sd:.2f}) among {report.n_models} models."
    )
    after = report.n_asked + len(report.rows)
    if report.mean_error is not None and report.mean_error_random is not None:
        reach = (
            ""
            if report.factor is None
            else f" {100 * report.level:g} % of models lie within {report.factor:.2f} posterior sd of it."
        )
        print_text(
            f"Asked one by one, {after} prompts give the ability of all prompts with a mean error of"
            f" {report.mean_error:.2f} sd of abilities (at random {report.mean_error_random:.2f};"
            f" {report.n_replayed} models replayed).{reach}"
        )
    echo()
    several = len({row.benchmark for row in report.rows}) > 1
    cells = [
        {
            "order": row.order,
            **_named(row, several),
            "information": number(row.information, 3),
            "chance": number(row.chance, 2),
            "difficulty": number(row.difficulty, 2),
            "text": row.text,
        }
        for row in report.rows
    ]
    print_rows(cells, hide_empty=("text",), minor=("text",))


def print_dimensions(report: DimensionsReport) -> None:
    """How well each number of dimensions predicts models left out, and what estimates of scores are worth."""
    own = [row for row in report.rows if row.chosen]
    print_text(f"{report.one_line}, on models left out ({report.n_groups} in 5 folds).")
    print_text(_fewest(report))
    for estimate in ("p-IRT", "gp-IRT"):
        print_text(_gains(estimate, own, report.n_groups))
    echo()
    numbers = dict.fromkeys(row.n_dimensions for row in report.rows)
    lines = [_dimension([row for row in report.rows if row.n_dimensions == number]) for number in numbers]
    for label, name in ((f"gp-IRT ({report.chosen})", "gp_irt_error"), ("plain mean", "mean_error")):
        lines.append(dict.fromkeys(lines[0]) | {"dimensions": label} | _errors(own, name))
    print_rows(lines, minor=("se",))
    echo()
    print_text(
        "log loss: of hidden answers, nats a draw; behind: less the least, with its error over models. off at m: points"
        " of 100 that a score from m random prompts is off: p-IRT by each number of dimensions, then gp-IRT by the"
        " chosen one and the plain mean of the same prompts."
    )


def _dimension(rows: Sequence[DimensionRow]) -> dict[str, Any]:
    first = rows[0]
    return {
        "dimensions": f"{first.n_dimensions}{' *' * first.chosen}",
        "log loss": number(first.log_loss, 4),
        "se": number(first.standard_error, 4),
        "behind": number(first.behind, 4),
        "its se": number(first.behind_standard_error, 4),
        **_errors(rows, "p_irt_error"),
    }


def _errors(rows: Sequence[DimensionRow], name: str) -> dict[str, Any]:
    return {f"off at {row.n_prompts}": number(100 * getattr(row, name), 2) for row in rows}


def _fewest(report: DimensionsReport) -> str:
    """What the chosen number is, and how far one dimension is behind."""
    by_number = {row.n_dimensions: row for row in report.rows}
    best, single = min(report.rows, key=lambda row: row.log_loss).n_dimensions, by_number.get(1)
    why = "the least log loss"
    if report.chosen != best:
        why = f"the fewest within a standard error of the least log loss, that of {best}"
    if single is not None and not single.chosen:
        why += f"; one dimension is {single.behind:.4f} behind (se {single.behind_standard_error:.4f})"
    return f"{report.chosen} dimension{'s' * (report.chosen > 1)} (*): {why}."


def _gains(estimate: str, rows: Sequence[DimensionRow], n_groups: int) -> str:
    """At which numbers of prompts an estimate is nearer to the score than the plain mean."""
    from warehouse.stats.core.quantiles import t_quantile  # takes a while

    name = f"{estimate.replace('-', '_').lower()}_gain"
    found: dict[str, list[str]] = {}
    for row in rows:
        gain, error = getattr(row, name), getattr(row, f"{name}_standard_error")
        clear = abs(gain) > t_quantile(_LEVEL, n_groups - 1) * error
        verdict = "cannot be told from it" if not clear else "nearer than it" if gain > 0 else "farther off than it"
        found.setdefault(verdict, []).append(f"{row.n_prompts} ({100 * gain:+.2f})")
    parts = [f"{verdict} at {', '.join(at)}" for verdict, at in found.items()]
    return f"{estimate} against the plain mean of the same prompts, points nearer to the score: {'; '.join(parts)}."
