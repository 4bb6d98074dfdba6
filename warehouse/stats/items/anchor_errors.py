"""How far estimates from anchors are off for models that the anchors were not chosen
on, and what they do to rankings, seeds and training curves (Madaan et al. 2024 §5,
tables 3, 4 and 7; statistics.md §5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed, as_shares
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.anchors import (
    Anchors,
    anchor_score,
    choose_anchors,
    gp_irt_weight,
    p_irt,
    predict_rest,
)
from warehouse.stats.items.dimensions import DimensionsFit, fit_dimensions
from warehouse.stats.items.irt import IrtFit, as_model, fit_irt
from warehouse.stats.items.responses import Responses
from warehouse.stats.suites.rank_agreement import kendall_tau_b
from warehouse.stats.training.curve_tests import monotonicity_tau

#: Ways to a score from m prompts.
METHODS = ("random", "scores", "irt", "p_irt", "gp_irt")
FOLDS = 5
#: Models that anchors are chosen on, at least, and models in all.
LEAST_TRAIN, LEAST_MODELS = 3, 8
#: Random choices of prompts that are averaged.
RANDOM_DRAWS = 50
#: Scores of models by number of anchors and method.
Estimates = dict[tuple[int, str], FloatArray]
#: The best models, of which reversals are counted apart.
TOP = 10


@dataclass(frozen=True)
class AnchorError(NamedFigures):
    """One way to a score from m prompts, on models left out."""

    n_items: int  #: m.
    #: ``random`` (mean of random prompts), ``scores`` (weighted anchors by k-means on
    #: score columns), ``irt`` (weighted anchors on (α, β)), ``p_irt``, ``gp_irt``.
    method: str
    error: float  #: mean |estimate − score on all prompts|.
    se_error: float | None  #: of ``error``, over models; None with one.
    bias: float  #: mean of estimate − score.
    largest: float  #: largest |estimate − score|.
    tau: float | None  #: Kendall's τ-b with the full ranking; None where constant.
    #: share of pairs of models, not tied on all prompts, that the estimate puts the
    #: other way round.
    reversals: float | None
    #: the same among the best 10; None with fewer than 2 pairs.
    top_reversals: float | None
    #: seed_sd, seed_sd_full: standard deviation over seeds (ddof 1), mean over recipes
    #: and checkpoints, by the estimate and on all prompts; None without seeds.
    seed_sd: float | None
    seed_sd_full: float | None
    #: monotonicity, monotonicity_full: mean τ-b of curves against the order of
    #: checkpoints; None without three checkpoints of a run.
    monotonicity: float | None
    monotonicity_full: float | None

    def __str__(self) -> str:
        if self.tau is None:
            tau = "-"
        else:
            tau = f"{self.tau:.3g}"
        return f"{self.method}, {self.n_items} prompts: error {self.error:.3g}, τ {tau}"


@dataclass(frozen=True, eq=False)
class RecipeCheckpoints:
    """Which models are checkpoints and seeds of one recipe."""

    #: label of each model's recipe, equal for all its seeds and checkpoints, shape
    #: (M,).
    recipe: NDArray[np.intp]
    seed: NDArray[np.intp]  #: label of the training seed, shape (M,).
    position: FloatArray  #: in training, NaN where unknown, shape (M,).


@dataclass(frozen=True, eq=False)
class FittedItems:
    """Items fitted on some models, with what gp-IRT needs of them."""

    fit: IrtFit | DimensionsFit  #: the item response model.
    #: b̂ for each number of anchors, from models held out among these, in order.
    biases: tuple[float, ...]
    variance: float  #: σ̂².


def anchor_errors(
    responses: Responses,
    sizes: Sequence[int],
    *,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    curves: RecipeCheckpoints | None = None,
    model: str | int | None = None,
    estimates: Estimates | None = None,
    seed: int = 0,
) -> list[AnchorError]:
    """Every method at every size, each model estimated from anchors chosen without it.

    Models are left out in 5 folds, those of one group together. Within the others a
    quarter is held out again, for b̂ of gp-IRT.

    Args:
        responses: answers of all models to all items, none missing.
        sizes: numbers of anchors m, below the number of items.
        weights: ω of each item in the score, shape (J,); None: all alike.
        groups: label of each model's family, shape (M,); None: each by itself.
        curves: seeds and checkpoints among the models; None: there are none.
        model: ``1pl``, ``2pl``, or the dimensions of a 2PL (`fit_dimensions`); None: by
            the number of models.
        estimates: where there are some (`anchor_estimates`).
        seed: of folds, starts and random choices.

    Returns:
        by size, then by `METHODS`.

    Raises:
        StatisticsError: fewer than 8 models, missing cells, sizes out of range.
    """
    omega, n = as_shares(weights, responses.n_items), responses.n_items
    if estimates is None:
        estimates, _ = anchor_estimates(
            responses, sizes, weights=weights, groups=groups, model=model, seed=seed
        )
    y = shares_of(responses)
    truth = y @ omega
    rows = []
    for size in sizes:
        rng = np.random.default_rng([seed, 31, size])
        draws = [
            _random_mean(y, omega, rng.choice(n, size, replace=False))
            for _ in range(RANDOM_DRAWS)
        ]
        rows.append(
            _mean_of_draws(
                [
                    _measures("random", size, truth, rows_drawn, curves)
                    for rows_drawn in draws
                ]
            )
        )
        rows += [
            _measures(method, size, truth, estimates[size, method], curves)
            for method in METHODS[1:]
        ]
    return rows


def anchor_estimates(
    responses: Responses,
    sizes: Sequence[int],
    *,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    model: str | int | None = None,
    jackknife: bool = False,
    seed: int = 0,
) -> tuple[Estimates, dict[str, FloatArray]]:
    """What `anchor_errors`, which has the arguments, is of; and with ``jackknife``
    standard errors of the last size by method, over anchors."""
    m, n = responses.n_models, responses.n_items
    _check_left_out(responses, sizes)
    omega = as_shares(weights, n)
    name = _model_name(model, m)
    y = shares_of(responses)
    families = np.arange(m)
    if groups is not None:
        families = np.asarray(groups)
    fold = folds_of(families, as_seed(seed))
    estimates: Estimates = {}
    for size, method in product(sizes, METHODS[1:]):
        estimates[size, method] = np.full(m, np.nan)
    errors = {method: np.full(m, np.nan) for method in METHODS[2:]}
    for number in np.unique(fold):
        tested, train = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if len(train) < LEAST_TRAIN:
            raise StatisticsError(
                f"{len(train)} models are left to choose anchors on, expected "
                f"{LEAST_TRAIN} or more"
            )
        seen, unseen = responses.part(train), responses.part(tested)
        fitted = fit_for_anchors(seen, sizes, weights=omega, model=name, seed=seed)
        for index, size in enumerate(sizes):
            columns = choose_anchors(y[train].T, size, weights=omega, seed=seed)
            estimates[size, "scores"][tested] = anchor_score(
                y[tested][:, columns.items], columns.weights
            )
            chosen = irt_anchors(fitted.fit, seen, size, weights=omega, seed=seed)
            by_method = estimate_all(fitted, index, unseen, chosen, weights=omega)
            for method, values in by_method.items():
                estimates[size, method][tested] = values
        if jackknife and sizes[-1] > 1:
            of_last = _over_anchors(fitted, index, unseen, chosen, omega)
            for method, values in of_last.items():
                errors[method][tested] = values
    return estimates, errors


def _check_left_out(responses: Responses, sizes: Sequence[int]) -> None:
    """Refuse few models, answers that are missing, and as many anchors as items."""
    m, n = responses.n_models, responses.n_items
    if m < LEAST_MODELS:
        raise StatisticsError(
            f"errors on models left out need {LEAST_MODELS} models, found {m}"
        )
    if not responses.answered().all():
        raise StatisticsError(
            "anchors need answers of all models to all prompts; leave the others out"
        )
    if not sizes or min(sizes) < 1 or max(sizes) >= n:
        raise StatisticsError(
            f"numbers of anchors must lie between 1 and {n - 1}, found {list(sizes)}"
        )


def _model_name(model: str | int | None, n_models: int) -> str | int:
    """1PL or 2PL by name, or a number of dimensions."""
    if isinstance(model, int):
        return model
    return as_model(model, n_models)


def _over_anchors(
    fitted: FittedItems,
    index: int,
    responses: Responses,
    anchors: Anchors,
    omega: FloatArray,
) -> dict[str, FloatArray]:
    """Jackknife standard errors of `estimate_all`: one anchor left out at a time."""
    m = len(anchors.items)
    without = []
    for left in range(m):
        kept = np.arange(m) != left
        share = anchors.weights[kept] / anchors.weights[kept].sum()
        part = replace(anchors, items=anchors.items[kept], weights=share)
        without.append(estimate_all(fitted, index, responses, part, weights=omega))
    errors: dict[str, FloatArray] = {}
    for name in without[0]:
        values = [estimates[name] for estimates in without]
        errors[name] = np.std(values, axis=0) * math.sqrt(m - 1)
    return errors


def shares_of(responses: Responses) -> FloatArray:
    """Share of right draws in each cell, NaN where there are none, shape (M, J)."""
    y = responses.successes.astype(np.float64)
    if responses.trials is None:
        return y
    return y / np.where(responses.trials > 0, responses.trials, np.nan)


def fit_items(responses: Responses, model: str | int) -> IrtFit | DimensionsFit:
    """The model that anchors rest on: ``1pl``, ``2pl``, or a 2PL of so many dimensions."""
    if isinstance(model, int):
        return fit_dimensions(responses, model)
    return fit_irt(responses, model, tolerance=1e-4)


def irt_anchors(
    fit: IrtFit | DimensionsFit,
    responses: Responses,
    size: int,
    *,
    weights: ArrayLike | None = None,
    seed: int = 0,
) -> Anchors:
    """Anchors by (α, β), β = −d. A 1PL has no more different items than scores: where
    they are fewer than anchors, by score columns.

    Args:
        fit: of the items.
        responses: that it was fitted on.
        size: m.
        weights: ω, shape (J,).
        seed: of k-means.
    """
    if isinstance(fit, DimensionsFit):
        slopes = fit.alpha
    else:
        slopes = fit.a
    coordinates = np.column_stack([slopes, -fit.d])
    if len(np.unique(coordinates, axis=0)) < size:
        coordinates = shares_of(responses).T
    return choose_anchors(coordinates, size, weights=weights, seed=seed)


def fit_for_anchors(
    responses: Responses,
    sizes: Sequence[int],
    *,
    weights: ArrayLike | None = None,
    model: str | int,
    seed: int = 0,
) -> FittedItems:
    """Fit items, and find b̂ on a quarter of the models that a second fit has not seen.

    Args:
        responses: answers without gaps.
        sizes: numbers of anchors.
        weights: ω, shape (J,).
        model: ``1pl``, ``2pl``, or dimensions.
        seed: of the quarter and of k-means.
    """
    m = responses.n_models
    order = np.random.default_rng([as_seed(seed), 32]).permutation(m)
    n_inner = max(1, m // 4)
    tested, train = np.sort(order[:n_inner]), np.sort(order[n_inner:])
    omega = as_shares(weights, responses.n_items)
    biases = [0.0] * len(sizes)
    if len(train) >= 2:
        inside = responses.part(train)
        inner, y = fit_items(inside, model), shares_of(responses)[tested]
        for index, size in enumerate(sizes):
            chosen = irt_anchors(inner, inside, size, weights=omega, seed=seed)
            p = predict_rest(inner, responses.part(tested, chosen.items), chosen.items)
            rest = np.setdiff1d(np.arange(responses.n_items), chosen.items)
            share = omega[rest] / omega[rest].sum()
            biases[index] = float(np.abs((p[:, rest] - y[:, rest]) @ share).mean())
    variance = float(shares_of(responses).var(axis=1).mean())
    return FittedItems(fit_items(responses, model), tuple(biases), variance)


def estimate_all(
    fitted: FittedItems,
    index: int,
    responses: Responses,
    anchors: Anchors,
    *,
    weights: ArrayLike | None = None,
) -> dict[str, FloatArray]:
    """IRT, p-IRT and gp-IRT of new models, from their answers to the anchors alone.

    Args:
        fitted: on other models.
        index: of this number of anchors among those that ``fitted`` knows.
        responses: of the new models; cells off the anchors are not looked at.
        anchors: the items, with their weights.
        weights: ω, shape (J,).
    """
    omega = as_shares(weights, responses.n_items)
    answers = responses.part(slice(None), anchors.items)
    y = shares_of(answers)
    direct = anchor_score(y, anchors.weights)
    model_based = p_irt(
        y, predict_rest(fitted.fit, answers, anchors.items), anchors.items, omega
    )
    weight = gp_irt_weight(fitted.biases[index], fitted.variance, len(anchors.items))
    return {
        "irt": direct,
        "p_irt": model_based,
        "gp_irt": weight * direct + (1 - weight) * model_based,
    }


def _measures(
    method: str,
    size: int,
    truth: FloatArray,
    estimate: FloatArray,
    curves: RecipeCheckpoints | None,
) -> AnchorError:
    off = estimate - truth
    tau = float(kendall_tau_b(truth, estimate[None])[0])
    top = np.argsort(-truth, kind="stable")[:TOP]
    se_error = None
    if len(off) > 1:
        se_error = float(np.abs(off).std(ddof=1) / math.sqrt(len(off)))
    return AnchorError(
        method=method,
        n_items=size,
        error=float(np.abs(off).mean()),
        bias=float(off.mean()),
        largest=float(np.abs(off).max()),
        se_error=se_error,
        tau=None if math.isnan(tau) else tau,
        reversals=_reversals(truth, estimate),
        top_reversals=_reversals(truth[top], estimate[top]),
        seed_sd=_seed_sd(estimate, curves),
        seed_sd_full=_seed_sd(truth, curves),
        monotonicity=_monotonicity(estimate, curves),
        monotonicity_full=_monotonicity(truth, curves),
    )


def _reversals(truth: FloatArray, estimate: FloatArray) -> float | None:
    i, j = np.triu_indices(len(truth), 1)
    true_sign = np.sign(truth[i] - truth[j])
    found_sign = np.sign(estimate[i] - estimate[j])
    untied = true_sign != 0
    if untied.sum() > 1:
        return float((true_sign * found_sign < 0)[untied].mean())
    return None


def _seed_sd(figures: FloatArray, curves: RecipeCheckpoints | None) -> float | None:
    if curves is None:
        return None
    errors_of_seeds: dict[tuple[int, str], dict[int, float]] = {}
    for i, value in enumerate(figures):
        key = int(curves.recipe[i]), str(curves.position[i])
        errors_of_seeds.setdefault(key, {})[int(curves.seed[i])] = float(value)
    deviations = [
        float(np.std(list(seeds.values()), ddof=1))
        for seeds in errors_of_seeds.values()
        if len(seeds) > 1
    ]
    if deviations:
        return float(np.mean(deviations))
    return None


def _monotonicity(
    figures: FloatArray, curves: RecipeCheckpoints | None
) -> float | None:
    if curves is None:
        return None
    runs: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for i, value in enumerate(figures):
        if not np.isnan(curves.position[i]):
            key = int(curves.recipe[i]), int(curves.seed[i])
            runs.setdefault(key, []).append((float(curves.position[i]), float(value)))
    defined: list[float] = []
    for run in runs.values():
        if len(run) < 3:
            continue
        tau = monotonicity_tau([y for _, y in sorted(run)])
        if tau is not None:
            defined.append(tau)
    if defined:
        return float(np.mean(defined))
    return None


def _random_mean(
    y: FloatArray, omega: FloatArray, items: NDArray[np.intp]
) -> FloatArray:
    return np.asarray(y[:, items] @ omega[items] / omega[items].sum())


def _mean_of_draws(draws: Sequence[AnchorError]) -> AnchorError:
    """Each measure as its mean over draws; None where a draw has none."""

    def mean(name: str) -> float | None:
        values = [getattr(draw, name) for draw in draws]
        if None in values:
            return None
        return float(np.mean(values))

    names = [name for name in vars(draws[0]) if name not in ("method", "n_items")]
    figures: dict[str, float | None] = {name: mean(name) for name in names}
    return AnchorError(draws[0].n_items, draws[0].method, **figures)  # type: ignore[arg-type]


def folds_of(groups: NDArray[np.generic], seed: int) -> NDArray[np.intp]:
    """Fold of each model; models of one group share it."""
    names, codes = np.unique(groups, return_inverse=True)
    order = np.random.default_rng([seed, 33]).permutation(len(names))
    if len(names) < 2:
        raise StatisticsError("all models are of one family: none can be left out")
    fold: NDArray[np.intp] = (order % min(FOLDS, len(names)))[codes]
    return fold
