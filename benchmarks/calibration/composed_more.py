"""Further composed figures: bands of votes, horizons, planned power, predicted figures,
rows over seeds, repeats."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import calibrate_horizon as horizons
import calibrate_preferences as votes
import calibrate_scale as scales
import numpy as np
from calibration.composed_outcomes import (
    ALPHA,
    Array,
    ComposedCell,
    Generator,
    Outcome,
    lognormal,
    missed,
    sizes_of,
)
from scipy.special import expit

from warehouse.stats import (
    paired_difference,
    plan_from_pilot,
    row_over_seeds,
    sample_size,
    time_horizons,
)
from warehouse.stats.items.published_figures import where
from warehouse.stats.items.published_scale import published_scale
from warehouse.stats.preferences.contrasts import simultaneous
from warehouse.stats.preferences.errors import preference_errors
from warehouse.stats.preferences.fit import NotConnectedError, fit_preferences
from warehouse.stats.rows.repeats import POOLED, repeats_test
from warehouse.stats.rows.seed_difference import difference_over_seeds

NONE = Outcome(math.nan)

# --- j: the band of Bradley-Terry strengths --------------------------------------------------------


def _band(voters: int, prompts: int) -> Any:
    """Five models, 2 000 votes, voters and prompts with tastes of their own."""
    cell = votes.Cell("", voters=voters, prompts=prompts, zipf=False)
    world = votes.world_of(cell)
    true = votes.truth(cell, world, world.beta, world.share)[: cell.models]
    a, b = np.triu_indices(cell.models, 1)

    def ask(rng: Generator) -> Outcome:
        found, _ = votes.voted(rng, cell, world, votes.sample_of(rng, cell, world))
        try:
            fit = fit_preferences(found)
        except NotConnectedError:
            return NONE
        errors = preference_errors(fit)
        band = simultaneous(
            fit.strengths, errors, n_draws=1999, seed=int(rng.integers(1 << 31))
        )
        if band.critical_value is None:
            return NONE
        half = band.critical_value * np.sqrt(errors.of_pairs(cell.models)[a, b])
        off = np.abs(fit.strengths[a] - fit.strengths[b] - true[a] + true[b])
        return Outcome(
            float((off > half).any()), bool(errors.flags), float(np.median(2 * half))
        )

    return ask


# --- k: time horizons ------------------------------------------------------------------------------


@cache
def _limit(cell: horizons.Cell) -> float:
    """The horizon that the fit tends to, in minutes."""
    return float(2 ** horizons.limits(cell, np.array([cell.log2]))[0])


def _horizon(families: int, tasks: int, runs: int) -> Any:
    """The interval that is given where none is asked for; its width in doublings."""
    cell = horizons.Cell(families, tasks, runs, 0.1, 5, 1)

    def ask(rng: Generator) -> Outcome:
        (fit,) = time_horizons(
            *horizons.drawn(rng, cell, np.array([cell.log2])), q=(0.5,), n_resamples=299
        )
        if fit.reason:
            return NONE
        found = fit.horizons[0]
        held = horizons.covers(found.low, found.high, _limit(cell))
        is_closed = found.low is not None and found.high is not None
        width = (
            math.log2(found.high / found.low) if is_closed and found.low else math.nan
        )
        return Outcome(float(not held), bool(fit.flags or found.flags), width)

    return ask


# --- l: power that was planned for ------------------------------------------------------------------


def _planned(kind: str, pilot_size: int, delta: float) -> Any:
    """Whether a comparison finds the difference with as many prompts (clusters) as a
    pilot says give power .8."""

    def draw(rng: Generator, n: int) -> tuple[Array, Any]:
        if kind == "normal":
            return rng.standard_normal(n), None
        if kind == "skewed":
            return lognormal(rng, 1.0, n) - 1, None
        of = np.repeat(np.arange(max(2, n // 10)), 10)
        return lognormal(rng, 1.0, len(of) // 10)[of] * lognormal(
            rng, 0.5, len(of)
        ) - 1, of

    def ask(rng: Generator) -> Outcome:
        first, of = draw(rng, pilot_size)
        pilot = plan_from_pilot(first, np.zeros(len(first)), clusters=of)
        n = min(sample_size(delta, pilot.parts), 20_000)
        values, of = draw(rng, n)
        found = paired_difference(values + delta, np.zeros(len(values)), clusters=of)
        is_found = (
            found.p_value is not None
            and found.p_value <= ALPHA
            and found.difference > 0
        )
        return Outcome(float(is_found), "skewed_pilot" in pilot.flags)

    return ask


# --- m: figures that a scale predicts --------------------------------------------------------------


def _predicted(mask: str, misfit: str, third: int) -> Any:
    """A figure that was left out, of those whose true value is in one third of all (1:
    the lowest)."""

    def ask(rng: Generator) -> Outcome:
        one = scales.world(mask, rng)
        true = scales.chances(one, misfit, rng, sd=0.0)
        noise = true + rng.normal(0, 0.16, len(true)) * np.sqrt(
            np.clip(true * (1 - true), 0.0, 0.25)
        )
        whole = scales.figures_of(one, noise)
        test = rng.random(len(whole.values)) < 0.1
        for side in (whole.model, whole.benchmark):
            test[np.unique(side, return_index=True)[1]] = False
        fitted = published_scale(where(whole, ~test))
        ends = np.quantile(whole.values, [(third - 1) / 3, third / 3])
        held = []
        for value, m, j in zip(
            whole.values[test], whole.model[test], whole.benchmark[test], strict=True
        ):
            if not ends[0] <= value <= ends[1]:
                continue
            _, low, high = fitted.predicted(int(m), int(j))
            held.append(low <= value <= high)
        return Outcome(float(1 - np.mean(held))) if held else NONE

    return ask


# --- q: rows over seeds, repeats (statistics.md §20) -------------------------------------------------


def _seeded(
    rng: Generator, seeds: int, n: int, spread: float, difficulty: Array, centre: float
) -> Array:
    """Answers of seeds whose skills differ, right by a logistic curve, shape (seeds,
    n)."""
    skill = rng.normal(0, spread, (seeds, 1))
    return (rng.random((seeds, n)) < expit(centre + skill - difficulty)).astype(float)


def _two_rows(
    n: int, seeds: tuple[int, int], spreads: tuple[float, float], gap: float = 0.0
) -> Any:
    """Two models that are alike on average, or one better by a gap in logits; rate
    about .7."""

    def ask(rng: Generator) -> Outcome:
        difficulty = rng.normal(0, 1.5, n)
        a = _seeded(rng, seeds[0], n, spreads[0], difficulty, 1.2 + gap)
        b = _seeded(rng, seeds[1], n, spreads[1], difficulty, 1.2)
        found = difference_over_seeds(a, b, bounds=(0, 1))
        if found.p_value is None:
            return NONE
        return Outcome(
            float(found.p_value <= ALPHA),
            bool(found.flags),
            (found.ci_high or 0) - (found.ci_low or 0),
        )

    return ask


@cache
def _rate(centre: float, spread: float) -> float:
    """Mean over prompts and seeds."""
    return float(
        expit(
            centre
            + np.random.default_rng(7).normal(0, math.hypot(1.5, spread), 2_000_000)
        ).mean()
    )


def _row(n: int, seeds: int, spread: float) -> Any:
    def ask(rng: Generator) -> Outcome:
        scores = _seeded(rng, seeds, n, spread, rng.normal(0, 1.5, n), 1.2)
        row = row_over_seeds(scores, bounds=(0, 1))
        return missed(row.ci_low, row.ci_high, _rate(1.2, spread), row.flags)

    return ask


def _repeats(n: int, runs: int) -> Any:
    """Real repeats, that are taken for something else (p up to .01)."""

    def ask(rng: Generator) -> Outcome:
        chances = expit(1.2 + rng.normal(0, 1.5, n))
        found = repeats_test(
            (rng.random((runs, n)) < chances).astype(float), bounds=(0, 1)
        )
        return Outcome(float(found.verdict != POOLED), bool(found.flags))

    return ask


def _repeats_in_clusters(runs: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        of = sizes_of(rng, 30)
        own = rng.normal(0, 1, (runs, 30))[
            :, of
        ]  # what a run has in common within a cluster
        scores = (rng.random((runs, len(of))) < expit(0.8 + own)).astype(float)
        found = repeats_test(scores, clusters=of, bounds=(0, 1))
        return Outcome(float(found.verdict != POOLED), bool(found.flags))

    return ask


def cells() -> list[ComposedCell]:
    """The cells, in the order of the page."""
    interval, size, power = "interval misses", "rejects equals", "power"
    skewed, normal, clustered = (
        _planned(kind, n, 0.3)
        for kind, n in (("skewed", 50), ("normal", 50), ("six", 60))
    )
    return [
        *(
            ComposedCell(
                "j",
                "band misses",
                f"{voters} voters, {prompts} prompts",
                500,
                _band(voters, prompts),
            )
            for voters, prompts in ((100, 12), (15, 15), (20, 100))
        ),
        *(
            ComposedCell(
                "k",
                interval,
                f"{families} families of one task, one run",
                400,
                _horizon(families, 1, 1),
            )
            for families in (15, 40, 100)
        ),
        ComposedCell(
            "k",
            interval,
            "36 families of two tasks, ten runs",
            400,
            _horizon(36, 2, 10),
        ),
        ComposedCell(
            "l",
            power,
            "a pilot of 50, lognormal(1), planned for 80 %",
            500,
            skewed,
            True,
        ),
        ComposedCell(
            "l", power, "a pilot of 50, normal, planned for 80 %", 500, normal, True
        ),
        ComposedCell(
            "l",
            power,
            "a pilot of 6 clusters, lognormal(1), planned for 80 %",
            500,
            clustered,
            True,
        ),
        *(
            ComposedCell(
                "m",
                f"predicted misses, third {third}",
                mask,
                100,
                _predicted(mask, "independent", third),
            )
            for mask in ("sparse 60 × 12",)
            for third in (1, 2, 3)
        ),
        ComposedCell(
            "q",
            interval,
            "a row of 3 seeds, 60 prompts, seeds differ much",
            500,
            _row(60, 3, 1.0),
        ),
        ComposedCell(
            "q",
            interval,
            "a row of 3 seeds, 60 prompts, mere draws",
            500,
            _row(60, 3, 0.0),
        ),
        *(
            ComposedCell("q", size, name, 500, _two_rows(n, seeds, spreads))
            for name, n, seeds, spreads in (
                ("3 seeds against 3, 60 prompts, mere draws", 60, (3, 3), (0.0, 0.0)),
                (
                    "3 seeds against 3, 300 prompts, seeds differ",
                    300,
                    (3, 3),
                    (0.5, 0.5),
                ),
                (
                    "2 seeds against 2, 300 prompts, seeds differ",
                    300,
                    (2, 2),
                    (0.5, 0.5),
                ),
                (
                    "3 seeds against 10, 300 prompts, seeds differ",
                    300,
                    (3, 10),
                    (0.5, 0.5),
                ),
                (
                    "one seed that differs against 3 that do not",
                    300,
                    (1, 3),
                    (0.5, 0.0),
                ),
            )
        ),
        ComposedCell(
            "q",
            power,
            "3 seeds against 3, 300 prompts, .12 better",
            500,
            _two_rows(300, (3, 3), (0.1, 0.1), 0.8),
            True,
        ),
        ComposedCell(
            "q", "repeats taken apart", "2 runs, 200 prompts", 1000, _repeats(200, 2)
        ),
        ComposedCell(
            "q", "repeats taken apart", "5 runs, 60 prompts", 1000, _repeats(60, 5)
        ),
        ComposedCell(
            "q",
            "repeats taken apart",
            "3 runs, 30 clusters of unequal size",
            1000,
            _repeats_in_clusters(3),
        ),
    ]
