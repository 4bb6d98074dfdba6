"""Tables of training in a report: curves, noise of seeds and checkpoints, seeds crossed
with prompts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from markupsafe import Markup

from warehouse.analysis.curves.on_leaderboard import BenchmarkCurves
from warehouse.analysis.seeds.view import SeedsReport
from warehouse.analysis.variance.seed_view import SeedReport
from warehouse.tables.page import (
    PageColumn,
    count,
    model_and_condition,
    name,
    number,
    table,
    text,
)
from warehouse.tables.words import decimals


def _by_itself(
    head: str, values: Sequence[float | None], *, minor: bool = False
) -> PageColumn:
    """Figures with the decimals that they need themselves."""
    return number(head, values, decimals(values), minor=minor)


def curves_table(curves: BenchmarkCurves, benchmark: str) -> Markup:
    """First, last and best figure of every curve."""
    rows = curves.rows
    points = chain.from_iterable(row.points for row in rows)
    n_decimals = decimals(
        (p.ci_high - p.ci_low) / 4
        for p in points
        if p.ci_high is not None and p.ci_low is not None
    )
    return table(
        f"Curves of {benchmark}",
        "Curves along training, the best last figure first. Monotonicity: Kendall's "
        "τ-b of the figures with the order of the checkpoints; above 0 is getting "
        "better.",
        [
            *model_and_condition(
                "Model", [row.model for row in rows], [row.condition for row in rows]
            ),
            text("Metric", [row.metric for row in rows], minor=True),
            text("Split", [row.split for row in rows], minor=True),
            text("Unit", [row.unit for row in rows], minor=True),
            count("Checkpoints", [row.n_checkpoints for row in rows], keep=True),
            number("First", [row.first for row in rows], n_decimals, minor=True),
            number("Last", [row.last for row in rows], n_decimals),
            number("Best", [row.best for row in rows], n_decimals),
            number("Best at", [row.best_position for row in rows], "%g", minor=True),
            number(
                "Monotonicity",
                [row.monotonicity for row in rows],
                2,
                sign=True,
                minor=True,
            ),
        ],
    )


def noise_table(noise: SeedsReport, benchmark: str) -> Markup:
    """A table of what another seed or checkpoint changes."""
    rows = noise.rows
    n_decimals = decimals(row.seed_sd for row in rows)
    return table(
        f"Noise of training on {benchmark}",
        "What another seed or checkpoint changes. Noise floor: difference of two "
        "single runs of one recipe that seeds alone exceed in "
        f"{100 * (1 - noise.level):.2g} % of cases.",
        [
            name("Recipe of", [row.model for row in rows]),
            text("Recipe", [row.recipe for row in rows], wrap=True),
            count("Seeds", [row.n_seeds for row in rows], keep=True),
            count("Checkpoints", [row.n_checkpoints for row in rows]),
            number("Last", [row.seed_mean for row in rows], n_decimals),
            _by_itself("SD over seeds", [row.seed_sd for row in rows], minor=True),
            _by_itself("Low", [row.seed_sd_low for row in rows], minor=True),
            _by_itself("High", [row.seed_sd_high for row in rows], minor=True),
            _by_itself(
                "Half-width of a run", [row.half_width for row in rows], minor=True
            ),
            _by_itself("Noise floor", [row.noise_floor for row in rows]),
            _by_itself("Jitter", [row.jitter for row in rows], minor=True),
            text("Why no floor", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )


def seeds_table(seeds: SeedReport, benchmark: str) -> Markup:
    """Training seeds crossed with prompts."""
    rows = seeds.rows
    n_decimals = decimals(row.se_both_sampled for row in rows)
    return table(
        f"Training seeds of {benchmark}",
        "Training seeds crossed with prompts: the error of the mean by what is taken "
        "to be a sample.",
        [
            name("Seeds of", [row.model for row in rows]),
            text("Recipe", [row.recipe for row in rows], wrap=True),
            text("Position", [f"{row.position}" for row in rows]),
            count("Seeds", [row.n_seeds for row in rows]),
            number("Mean", [row.estimate for row in rows], n_decimals),
            _by_itself("SD over seeds", [row.seed_sd for row in rows], minor=True),
            _by_itself(
                "SE, prompts sampled", [row.se_seeds_fixed for row in rows], minor=True
            ),
            _by_itself(
                "SE, seeds sampled", [row.se_prompts_fixed for row in rows], minor=True
            ),
            _by_itself("SE, both", [row.se_both_sampled for row in rows]),
            count("Prompts", [row.n_prompts for row in rows]),
            count("Left out", [row.n_left_out for row in rows]),
            text("Why no figure", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )
