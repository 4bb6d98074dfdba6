"""Item response models of several dimensions (Polo et al. 2024, Madaan et al. 2024 E.1;
statistics.md §5b).

P = σ(α_j·θ_m + d_j), by penalised joint maximum likelihood. A rotation of all α and θ
changes nothing that was observed: only figures that it leaves alone may be told (P,
held-out loss, estimates of scores), never coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.em import SD_D
from warehouse.stats.items.links import check_connected
from warehouse.stats.items.responses import Responses, cell_blocks

_STEPS, _MAP_STEPS = 200, 100
#: Share of the objective by which the last step has to better it.
_FTOL = 1e-8
#: Shares of right answers that intercepts start from.
_FROM, _TO = 0.02, 0.98
#: σ′(0): what a logit makes of a share, at most.
_SLOPE = 0.25


@dataclass(frozen=True, eq=False)
class DimensionsFit(NamedFigures):
    """An item response model of D dimensions, turned so that its axes are those of the
    slopes' spread."""

    alpha: FloatArray  #: slopes, shape (J, D); the sum of each column is above 0.
    d: FloatArray  #: intercepts, shape (J,).
    theta: FloatArray  #: of the models, shape (M, D).
    objective: float  #: −log likelihood + Σθ²/2 + Σα²/2 + Σd²/18: what was made small.
    converged: bool  #: within 200 steps.

    @property
    def n_dimensions(self) -> int:
        """D."""
        return int(self.alpha.shape[1])

    def __str__(self) -> str:
        return (
            f"{len(self.theta)} models x {len(self.d)} items in {self.n_dimensions} "
            "dimensions"
        )

    def chances(self, theta: FloatArray) -> FloatArray:
        """P of every item, shape (M, J)."""
        return np.asarray(special.expit(theta @ self.alpha.T + self.d))


def fit_dimensions(responses: Responses, n_dimensions: int) -> DimensionsFit:
    """Fit D dimensions, from the principal components of the centred answers on.

    Args:
        responses: the answers; missing cells drop out.
        n_dimensions: D, below the number of models and of items.

    Raises:
        StatisticsError: D out of range, models without a common scale.

    Examples:
        >>> from warehouse.stats.items.responses import as_responses
        >>> print(fit_dimensions(as_responses([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]]), 2))
        4 models x 3 items in 2 dimensions
    """
    from scipy.optimize import minimize

    m, j = responses.successes.shape
    if not 1 <= n_dimensions < min(m, j):
        raise StatisticsError(
            f"{n_dimensions} dimensions of {m} models x {j} items, expected 1 to "
            f"{min(m, j) - 1}"
        )
    check_connected(responses)
    with one_blas_thread():
        found = minimize(
            _objective,
            _start(responses, n_dimensions),
            args=(responses,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _STEPS, "maxfun": 2 * _STEPS, "ftol": _FTOL},
        )
        theta, alpha, d = _parts(np.asarray(found.x), m, j)
        turn = np.linalg.svd(alpha, full_matrices=False)[2].T
        turn = turn * np.where((alpha @ turn).sum(axis=0) < 0, -1.0, 1.0)
    return DimensionsFit(
        alpha @ turn, d, theta @ turn, float(found.fun), bool(found.success)
    )


def place_models(
    fit: DimensionsFit,
    answers: Responses,
    items: NDArray[np.intp] | slice = slice(None),
) -> FloatArray:
    """θ of new models (MAP under N(0, I)), items given, shape (M, D).

    Args:
        fit: of all items.
        answers: of the new models to some; a model may have none.
        items: which, shape (J,).
    """
    alpha, d = fit.alpha[items], fit.d[items]
    theta = np.zeros((answers.n_models, fit.n_dimensions))
    with one_blas_thread():
        for _ in range(_MAP_STEPS):
            slope, curve = _posterior_slopes(theta, alpha, d, answers)
            step = np.linalg.solve(curve, slope[..., None])[..., 0]
            length = np.linalg.norm(step, axis=1)
            theta = theta + step / np.maximum(length, 1)[:, None]
            if length.max() < 1e-8:
                break
    return theta


def _posterior_slopes(
    theta: FloatArray, alpha: FloatArray, d: FloatArray, answers: Responses
) -> tuple[FloatArray, FloatArray]:
    """Gradient of each model's log posterior, shape (M, D), and its negative Hessian,
    shape (M, D, D)."""
    n, size = theta.shape
    slope = -theta
    curve = np.broadcast_to(np.eye(size), (n, size, size)).copy()
    for block, y, k in cell_blocks(answers):
        a = alpha[block]
        p = special.expit(theta @ a.T + d[block])
        slope = slope + (y - k * p) @ a
        products = (a[:, :, None] * a[:, None, :]).reshape(len(a), -1)
        curve += ((k * p * (1 - p)) @ products).reshape(n, size, size)
    return slope, curve


def _parts(x: FloatArray, m: int, j: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """θ, α and d of all parameters in one row."""
    size = (len(x) - j) // (m + j)
    theta = x[: m * size].reshape(m, size)
    alpha = x[m * size : -j].reshape(j, size)
    return theta, alpha, x[-j:]


def _start(responses: Responses, size: int) -> FloatArray:
    """Principal components of the shares less their items' means, as logits."""
    k = responses.counts()
    shares = responses.successes / np.maximum(k, 1)
    n_answers = np.count_nonzero(k, axis=0)
    means = shares.sum(axis=0) / np.maximum(n_answers, 1)
    centred = np.where(k > 0, shares - means, 0.0)
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    spread = np.sqrt(len(shares))
    theta = left[:, :size] * spread
    alpha = right[:size].T * sizes[:size] / spread / _SLOPE
    near = np.clip(means, _FROM, _TO)
    d = np.log(near / (1 - near))
    return np.concatenate([theta.ravel(), alpha.ravel(), d])


def _objective(x: FloatArray, responses: Responses) -> tuple[float, FloatArray]:
    """Of `DimensionsFit`, and its gradient."""
    theta, alpha, d = _parts(x, *responses.successes.shape)
    value = 0.5 * float((theta**2).sum() + (alpha**2).sum() + (d**2).sum() / SD_D**2)
    of_theta, of_alpha, of_d = theta.copy(), alpha.copy(), d / SD_D**2
    for items, y, k in cell_blocks(responses):
        logit = theta @ alpha[items].T + d[items]
        tail = np.exp(-np.abs(logit))
        log_1_plus_exp = np.maximum(logit, 0) + np.log1p(tail)
        value += float((k * log_1_plus_exp - y * logit).sum())
        expected = k * np.where(logit < 0, tail, 1.0) / (1 + tail)
        residual = expected - y
        of_theta += residual @ alpha[items]
        of_alpha[items] += residual.T @ theta
        of_d[items] += residual.sum(axis=0)
    return value, np.concatenate([of_theta.ravel(), of_alpha.ravel(), of_d])
