"""Simulate what `warehouse prefer` covers, and write the tables of
docs/reference/calibration_preferences.md.

A voter has a taste of their own for each model, and so has a prompt (standard deviation
0.5 each unless said); the truth is what the same fit tends to with many voters and
prompts. Voters are alike busy or as Zipf has it (the r-th votes in proportion to 1/r),
pairs are met log-normally often.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from warehouse.errors import StatisticsError
from warehouse.stats.preferences.ballots import BOTH_BAD, Ballots, Design, ballots
from warehouse.stats.preferences.contrasts import (
    Contrast,
    contrasts,
    position_bias,
    simultaneous,
    two_judges,
)
from warehouse.stats.preferences.errors import preference_errors
from warehouse.stats.preferences.fit import NotConnectedError, fit_preferences, newton

#: Values of a covariate, and its coefficient; a tie's ln ν; taste of a voter for what
#: is shown first.
GRID, DELTA, TIED, POSITION_TASTE = np.array([-1.5, -0.5, 0.5, 1.5]), 0.4, -0.3, 0.3
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


class Cell(NamedTuple):
    """A design, and what is asked of it."""

    name: str
    models: int = 5
    votes: int = 2000
    voters: int = 20
    prompts: int = 100
    zipf: bool = True
    spread: float = 0.5
    taste: float = 0.5
    ties: str = "half"
    errors: str = "two_way"
    tied: bool = False
    covariate: bool = False
    uniform: bool = False
    both_bad: bool = False
    weights: float = 0.0
    bridge: str = ""


CELLS = [
    Cell("20 voters alike, 100 prompts", zipf=False, spread=0),
    Cell("20 voters, 100 prompts"),
    Cell("100 voters, 13 prompts", voters=100, prompts=13),
    Cell("no tastes", taste=0),
    Cell("ties of a half", tied=True),
    Cell("Davidson", tied=True, ties="davidson"),
    Cell(
        "Davidson, 100 voters, 13 prompts",
        voters=100,
        prompts=13,
        tied=True,
        ties="davidson",
    ),
    Cell("a covariate", covariate=True),
    Cell("a covariate, 100 voters, 13 prompts", voters=100, prompts=13, covariate=True),
    Cell("uniform pairs, pairs of spread 1", uniform=True, spread=1),
    Cell("weights of spread 1", weights=1),
    Cell("both bad dropped", tied=True, both_bad=True),
    Cell("cr1", errors="cr1"),
    Cell("a model met by one voter only: pairs with it", bridge="with"),
    Cell("a model met by one voter only: other pairs", bridge="without"),
    Cell("3 voters alike", voters=3, zipf=False),
    Cell("5 voters", voters=5),
    Cell("3 prompts", prompts=3, voters=100),
    Cell("300 votes", votes=300),
    Cell("60 models, 9 000 votes, 100 voters, 100 prompts", 60, 9000, 100),
    Cell("60 models, 9 000 votes, 100 voters, 13 prompts", 60, 9000, 100, 13),
    Cell("60 models, 9 000 votes, 5 voters", 60, 9000, 5),
    Cell("60 models, 9 000 votes, Davidson", 60, 9000, 100, tied=True, ties="davidson"),
    Cell("60 models, 9 000 votes, a covariate", 60, 9000, 100, covariate=True),
]


class World(NamedTuple):
    """What does not change from sample to sample: pairs, how often each is met,
    strengths."""

    a: NDArray[np.intp]
    b: NDArray[np.intp]
    share: NDArray[np.float64]
    beta: NDArray[np.float64]
    bad: NDArray[np.float64]


def world_of(cell: Cell) -> World:
    rng = np.random.default_rng(7)
    a, b = np.triu_indices(cell.models, 1)
    share = np.exp(rng.normal(0, cell.spread, len(a)))
    beta = np.linspace(-0.8, 0.8, cell.models)
    return World(a, b, share / share.sum(), beta, expit(-1 - beta[a] - beta[b]))


def chances(eta: NDArray[np.float64], tied: bool) -> NDArray[np.float64]:
    """Of the first, a tie, the second."""
    if not tied:
        return np.stack([expit(eta), np.zeros_like(eta), expit(-eta)])
    parts = np.exp(np.stack([eta / 2, np.full_like(eta, TIED), -eta / 2]))
    return np.asarray(parts / parts.sum(axis=0))


def truth(
    cell: Cell,
    world: World,
    beta: NDArray[np.float64],
    share: NDArray[np.float64],
    tastes: int = 4,
) -> NDArray[np.float64]:
    """Coefficients that the fit tends to; `tastes` is how many are added to a vote's
    log-odds."""
    x = GRID if cell.covariate else np.zeros(1)
    a, b = np.repeat(world.a, len(x)), np.repeat(world.b, len(x))
    step = np.tile(x, len(world.a))
    eta = (beta[a] - beta[b] + DELTA * step)[:, None] + np.sqrt(
        tastes
    ) * cell.taste * NODES
    first, tie, second = chances(eta, cell.tied) @ NODE_WEIGHTS / NODE_WEIGHTS.sum()
    if cell.both_bad:
        tie = tie * (1 - np.repeat(world.bad, len(x)))
    weight = np.repeat(
        np.full(len(world.a), 1 / len(world.a)) if cell.uniform else share, len(x)
    )
    total = weight * (first + tie + second)
    totals = (
        np.stack([total, weight * (first - second), weight * tie], axis=1)
        * cell.votes
        / total.sum()
    )
    extra = step[:, None] if cell.covariate else np.zeros((len(a), 0))
    return newton(
        Design(a, b, extra, np.arange(len(a)), cell.models), totals, cell.ties
    )[0]


class Sample(NamedTuple):
    pair: NDArray[np.intp]
    turned: NDArray[np.bool_]
    voters: NDArray[np.intp]
    prompts: NDArray[np.intp]
    by_prompt: NDArray[np.float64]


def sample_of(rng: np.random.Generator, cell: Cell, world: World) -> Sample:
    busy = 1 / np.arange(1, cell.voters + 1) if cell.zipf else np.ones(cell.voters)
    voters = rng.choice(cell.voters, cell.votes, p=busy / busy.sum())
    pair = rng.choice(len(world.a), cell.votes, p=world.share)
    if cell.bridge:
        voters[(world.b[pair] == cell.models - 1)] = 1
    prompts = rng.integers(0, cell.prompts, cell.votes)
    by_prompt = rng.normal(0, cell.taste, (cell.prompts, cell.models))
    return Sample(pair, rng.random(cell.votes) < 0.5, voters, prompts, by_prompt)


def voted(
    rng: np.random.Generator,
    cell: Cell,
    world: World,
    drawn: Sample,
    position: float = 0.0,
) -> tuple[Ballots, float]:
    """The votes, and the standard deviation of the covariate."""
    a, b = world.a[drawn.pair], world.b[drawn.pair]
    by_voter = rng.normal(0, cell.taste, (cell.voters, cell.models))
    taste = rng.normal(0, position, cell.voters) if position else np.zeros(cell.voters)
    x = rng.choice(GRID, cell.votes) if cell.covariate else np.zeros(cell.votes)
    eta = (
        world.beta[a]
        - world.beta[b]
        + DELTA * x
        + np.where(drawn.turned, -1, 1) * taste[drawn.voters]
    )
    for effects, of in ((by_voter, drawn.voters), (drawn.by_prompt, drawn.prompts)):
        eta = eta + effects[of, a] - effects[of, b]
    first, tie, _ = chances(eta, cell.tied)
    u = rng.random(cell.votes)
    outcome = np.where(u < first, 0, np.where(u < first + tie, 2, 1))
    if cell.both_bad:
        outcome[(outcome == 2) & (rng.random(cell.votes) < world.bad[drawn.pair])] = (
            BOTH_BAD
        )
    won = np.where(drawn.turned & (outcome < 2), 1 - outcome, outcome)
    settings: dict[str, Any] = {
        "uniform_pairs": cell.uniform,
        "drop_both_bad": cell.both_bad,
    }
    if cell.covariate:
        settings |= {
            "covariates": np.where(drawn.turned, -x, x)[:, None],
            "names": ["x"],
        }
    if cell.weights:
        settings["weights"] = np.exp(rng.normal(0, cell.weights, cell.votes))
    sides = np.where(drawn.turned, b, a), np.where(drawn.turned, a, b)
    found = ballots(
        *sides,
        won,
        n_models=cell.models,
        voters=drawn.voters,
        prompts=drawn.prompts,
        **settings,
    )
    return found, float(x.std(ddof=1)) if cell.covariate else 1.0


def holds(found: Contrast, true: float) -> bool | None:
    """None where there is no interval."""
    return (
        None
        if found.low is None or found.high is None
        else bool(found.low <= true <= found.high)
    )


def simulate(cell: Cell, runs: int, seed: int) -> str:
    """Pairs and whole samples covered, rank sets right, the covariate covered; what was
    not connected or had none."""
    world = world_of(cell)
    true = truth(cell, world, world.beta, world.share)
    m = cell.models
    a, b = np.triu_indices(m, 1)
    weights = np.zeros((len(a), len(true)))
    weights[np.arange(len(a)), a], weights[np.arange(len(a)), b] = 1, -1
    extra = np.eye(len(true))[m : m + 1] if cell.covariate else np.zeros((0, len(true)))
    ranks = 1 + (true[:m] > true[:m, None]).sum(axis=1)
    covered, joint, right, slope, widths, singular = [], [], [], [], [], 0
    apart = none = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        votes, sd = voted(rng, cell, world, sample_of(rng, cell, world))
        try:
            fit = fit_preferences(votes, ties=cell.ties)
        except NotConnectedError:
            apart += 1
            continue
        errors = preference_errors(fit, method=cell.errors)
        singular += "jackknife_singular" in errors.flags
        if errors.reason:
            none += 1
            continue
        found = contrasts(fit.theta, errors, np.concatenate([weights, extra]))
        held = [holds(one, t) for one, t in zip(found, weights @ true, strict=False)]
        chosen = (
            np.ones(len(a), dtype=bool)
            if not cell.bridge
            else (b == m - 1) == (cell.bridge == "with")
        )
        kept = [
            one
            for one, is_chosen in zip(held, chosen, strict=True)
            if is_chosen and one is not None
        ]
        covered += [np.mean(kept)] if kept else []
        band = simultaneous(fit.strengths, errors, n_draws=999, seed=run)
        gaps = np.abs(fit.strengths[a] - fit.strengths[b] - weights @ true)
        joint.append(
            not (
                gaps
                > (band.critical_value or np.nan) * np.sqrt(errors.of_pairs(m)[a, b])
            ).any()
        )
        right.append(bool(((band.rank_low <= ranks) & (ranks <= band.rank_high)).all()))
        widths.append(np.mean(band.rank_high - band.rank_low))
        if cell.covariate:
            slope.append(holds(found[-1], true[m] * sd))
    shares = [np.mean(one) if one else np.nan for one in (covered, joint, right, slope)]
    span = f"{np.mean(widths):.1f} of {m - 1}" if widths else ""
    rest = " | ".join(f"{count / runs:.2f}" for count in (apart, none, singular))
    return f"{script.row([cell.name], shares)} {span} | {rest} |"


def simulate_judge(cell: Cell, runs: int, seed: int) -> str:
    """Coverage of judge less people, the judge with tastes for prompts of which half
    are those of people."""
    world = world_of(cell)
    judge = world.beta[::-1] * 0.5
    met = 1 - np.exp(-cell.votes * world.share / cell.prompts)
    difference = truth(cell, world, world.beta, world.share) - truth(
        cell, world, judge, met / met.sum(), 2
    )
    covered, apart = [], 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        drawn = sample_of(rng, cell, world)
        people, _ = voted(rng, cell, world, drawn)
        seen = np.unique(np.stack([drawn.prompts, drawn.pair]), axis=1)
        own = np.sqrt(0.5) * (
            drawn.by_prompt + rng.normal(0, cell.taste, drawn.by_prompt.shape)
        )
        a, b = world.a[seen[1]], world.b[seen[1]]
        p = expit(judge[a] - judge[b] + own[seen[0], a] - own[seen[0], b])
        both = ballots(
            np.concatenate([people.first, a]),
            np.concatenate([people.second, b]),
            np.concatenate([people.outcome, (rng.random(len(a)) > p).astype(np.intp)]),
            n_models=cell.models,
            voters=np.concatenate([people.voters, np.full(len(a), -1)]),
            prompts=np.concatenate([people.prompts, seen[0]]),
        )
        try:
            found = two_judges(both, np.arange(both.n) >= people.n)
        except StatisticsError:
            apart += 1
            continue
        covered.append(
            np.mean(
                [
                    holds(one, t)
                    for one, t in zip(found.contrasts, difference, strict=False)
                ]
            )
        )
    return f"| {cell.name} | {np.mean(covered):.3f} | {apart / runs:.2f} |"


def simulate_position(cell: Cell, runs: int, seed: int) -> str:
    """How often a bias is found at 5 % that only single voters have."""
    world, found = world_of(cell), 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        votes, _ = voted(rng, cell, world, sample_of(rng, cell, world), POSITION_TASTE)
        gamma = position_bias(votes).gamma
        found += (
            gamma is not None and gamma.p_value is not None and gamma.p_value < 0.05
        )
    return f"| {cell.name} | {found / runs:.3f} |"


def main() -> None:
    counts = {
        "runs": (400, "of each cell, a quarter with 60 models"),
        "cells": (len(CELLS), "only the first so many"),
    }
    options = script.parser_of(
        __doc__, "calibration_preferences.md", counts
    ).parse_args()
    slow = [cell.models > 5 for cell in CELLS]
    runs = [max(1, options.runs // 4) if one else options.runs for one in slow]
    tables = [
        (
            "| cell | pairs | all pairs | rank sets | covariate | ranks span | not "
            "connected | no error | singular |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            [simulate, CELLS[: options.cells], runs],
        ),
        (
            "| judge less people | covered | refused |",
            "| --- | ---: | ---: |",
            [
                simulate_judge,
                [CELLS[at] for at in (1, 2, 15)][: options.cells],
                [options.runs // 2 or 1] * 3,
            ],
        ),
        (
            "| position bias of single voters | found at 5 % |",
            "| --- | ---: |",
            [
                simulate_position,
                [CELLS[at] for at in (1, 2)][: options.cells],
                [options.runs // 2 or 1] * 2,
            ],
        ),
    ]
    lines = [
        f"{options.runs} samples a cell, {max(1, options.runs // 4)} of 60 models."
    ]
    for head, rule, (simulation, cells, times) in tables:
        lines += ["", head, rule]
        several = zip(cells, times, strict=False)
        lines += [
            script.told(simulation(cell, count, options.seed))
            for cell, count in several
        ]
    script.write_between(options.output, script.MARKS, lines)


if __name__ == "__main__":
    main()
