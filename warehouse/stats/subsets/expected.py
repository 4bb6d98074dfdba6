"""What each prompt's score is expected to be, and how precise a sample would have been
for stored models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_floats,
    as_level,
    check_length,
)
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.subsets.design import (
    LEAST,
    allocate,
    check_size,
    n_strata,
    runs_of,
)
from warehouse.stats.subsets.estimate import as_range
from warehouse.stats.subsets.sample import Sampled, bounded_interval, unbounded_interval

#: Models that are left out one by one, spread evenly over the figures of all.
MOST_MODELS = 100


@dataclass(frozen=True)
class ExpectedPrecision(NamedFigures):
    """What a sample would have given for stored models."""

    size: int  #: m.
    n_models: int  #: models, each with the others as its history.
    #: median width of the interval; None where too few prompts or no variance give
    #: none.
    width: float | None
    width_most: float | None  #: 90 % of the models have none wider.
    error: float | None  #: median standard error.
    #: median of the variance of a simple random sample over that of this one; None
    #: without models.
    gain: float | None
    gain_least: float | None  #: 90 % of the models gain more.
    level: float  #: of the intervals.


class LeaveOneOut:
    """Stored models, each in the order of what the others (and a baseline) predict for
    it.

    Exact design variances are used, not draws: every score of a stored model is known.
    """

    def __init__(
        self,
        history: ArrayLike,
        *,
        baseline: ArrayLike | None = None,
        models: Sequence[str] | None = None,
        bounds: Bounds | None = None,
        level: float = 0.95,
    ) -> None:
        """Orders the prompts for each model.

        Args:
            history: scores of stored models, NaN where there is none, shape (M, N).
                Only models with all N are left out in turn; the others predict.
            baseline: scores of the baseline of the plan on all prompts, shape (N,); it
                is no row of the history.
            models: of each row, shape (M,): rows of one model, as with other examples
                or temperatures, are left out together, or they would predict each other
                too well; where there is one model only, each by itself. None: each row
                is a model.
            bounds: of the scores.
            level: of the intervals, in (0, 1).

        Raises:
            StatisticsError: shapes that do not fit, infinite scores.
        """
        table = as_floats(history, "history")
        if table.ndim != 2 or np.isinf(table).any():
            raise StatisticsError("`history` must be models x prompts, finite or NaN")
        base = None
        if baseline is not None:
            base = as_floats(baseline, "baseline")
            check_length(len(base), table.shape[1], "baseline")
        self.level = as_level(level)
        self.range = as_range(bounds)
        self.n = table.shape[1]
        whole = np.flatnonzero(np.isfinite(table).all(axis=1)).tolist()
        self.scores: list[FloatArray] = []
        self.constant: list[bool] = []
        sums, counts = np.nansum(table, axis=0), np.isfinite(table).sum(axis=0)
        names = np.arange(len(table))
        if models is not None:
            names = np.unique(list(models), return_inverse=True)[1]
        check_length(len(names), len(table), "models")
        if len(set(names.tolist())) == 1:
            names = np.arange(len(table))
        for row in _spread(whole, table):
            own = table[names == names[row]]
            prediction = _others(
                sums - np.nansum(own, axis=0),
                counts - np.isfinite(own).sum(axis=0),
                base,
            )
            order = np.argsort(np.round(prediction, 12), kind="stable")
            self.scores.append(table[row][order])
            self.constant.append(bool(np.ptp(prediction) < 1e-12))

    def at(self, size: int) -> ExpectedPrecision:
        """What a sample of so many prompts would have given.

        Raises:
            StatisticsError: a size that is not from 1 to N.
        """
        check_size(size, self.n)
        one_stratum = runs_of(self.n, 1)
        strata = runs_of(self.n, n_strata(size))
        each = []
        for y, constant in zip(self.scores, self.constant, strict=True):
            stratum = strata
            if constant:
                stratum = one_stratum
            each.append(self._of_size(y, stratum, size))
        widths = [width for width, _, _ in each if width is not None]
        gains = [gain for _, _, gain in each if gain is not None]
        errors = [error for _, error, _ in each]
        return ExpectedPrecision(
            size=size,
            n_models=len(each),
            width=_quantile(widths, 0.5),
            width_most=_quantile(widths, 0.9),
            error=_quantile(errors, 0.5),
            gain=_quantile(gains, 0.5),
            gain_least=_quantile(gains, 0.1),
            level=self.level,
        )

    def size_for(self, width: float) -> ExpectedPrecision:
        """The smallest sample whose median interval is no wider, by bisection; all
        prompts if none is.

        Raises:
            StatisticsError: a width that is not above 0, or no model with all prompts.
        """
        if not 0 < width < float("inf"):
            raise StatisticsError(f"the width of an interval is above 0, found {width}")
        if not self.scores:
            raise StatisticsError(
                "no stored model has all prompts: nothing tells how wide an interval "
                "will be"
            )
        low, high = min(LEAST, self.n) - 1, self.n
        while high - low > 1:
            middle = (low + high) // 2
            median_width = self.at(middle).width
            if median_width is not None and median_width <= width:
                low, high = (low, middle)
            else:
                low, high = (middle, high)
        return self.at(high)

    def _of_size(
        self, y: FloatArray, stratum: NDArray[np.intp], size: int
    ) -> tuple[float | None, float, float | None]:
        """Width of the interval at the true figure and variance, the error, and the
        gain."""
        sizes = np.bincount(stratum).astype(np.float64)
        drawn = allocate(sizes.astype(np.intp), size).astype(np.float64)
        means = np.bincount(stratum, weights=y) / sizes
        squares = np.bincount(stratum, weights=(y - means[stratum]) ** 2)
        within = squares / np.maximum(sizes - 1, 1)
        left = 1 - drawn / sizes
        of_strata = (sizes / self.n) ** 2 * left * within / np.maximum(drawn, 1)
        v = float(of_strata.sum())
        simple, gain, width = 0.0, None, None
        if self.n > 1:
            simple = (1 - size / self.n) * float(y.var(ddof=1)) / size
        if v > 0:
            gain = simple / v
        if size >= LEAST or size >= self.n:
            width = self._width(y, v, float((drawn - 1).sum()), size)
        return width, v**0.5, gain

    def _width(
        self, y: FloatArray, variance: float, df: float, size: int
    ) -> float | None:
        if self.range is None:
            low, width = (0.0, 1.0)
        else:
            low, width = (self.range[0], self.range[1] - self.range[0])
        typical = (y[:: max(1, self.n // size)][:size] - low) / width
        centre = (float(y.mean()) - low) / width
        basis = Sampled(centre, variance / width**2, df, typical, self.n, finite=True)
        if self.range is None:
            ends, *_ = unbounded_interval(basis, self.level)
        else:
            ends, *_ = bounded_interval(basis, self.level)
        if ends is None:
            return None
        return width * (ends[1] - ends[0])


def _others(
    sums: FloatArray, counts: NDArray[np.intp], baseline: FloatArray | None
) -> FloatArray:
    """The prediction of the other models: prompts' means, which is what the additive
    fit is where none is missing."""
    counted = counts > 0
    if not counted.any():
        if baseline is None:
            return np.zeros(len(sums))
        return baseline
    means = np.full(len(sums), sums[counted].sum() / counts[counted].sum())
    means[counted] = sums[counted] / counts[counted]
    if baseline is None:
        return means
    return (means + baseline) / 2


def _spread(rows: list[int], table: FloatArray) -> list[int]:
    """At most `MOST_MODELS` of the rows, evenly over their means."""
    if len(rows) <= MOST_MODELS:
        return rows
    means = np.array([float(table[row].mean()) for row in rows])
    ordered = [rows[place] for place in np.lexsort((np.array(rows), means)).tolist()]
    chosen = np.linspace(0, len(ordered) - 1, MOST_MODELS).round().astype(int)
    return [ordered[index] for index in chosen]


def _quantile(values: list[float], q: float) -> float | None:
    if values:
        return float(np.quantile(values, q))
    return None


def predict_scores(
    history: ArrayLike | None,
    baseline: ArrayLike | None = None,
    *,
    n: int | None = None,
) -> FloatArray:
    """The prediction f of each prompt's score (statistics.md §10). Any f is valid: it
    only buys precision.

    An additive fit of models and prompts: the mean of a prompt after removing the
    models' means, with the mean over all cells added back. A complete history gives the
    prompts' means; a prompt without history gets the mean over cells. Where models fall
    into parts that share no prompt, each part keeps its own mean. A baseline counts as
    much as all the history.

    Args:
        history: scores of earlier models, NaN where not asked, shape (M, N); None or M
            = 0: no history.
        baseline: scores of one model on all N prompts, shape (N,).
        n: number of prompts where there is neither; the prediction then is 0
            everywhere.

    Returns:
        f, shape (N,).

    Raises:
        StatisticsError: infinite scores, a baseline that lacks prompts, shapes that do
            not fit.
    """
    base = fit = None
    if baseline is not None:
        base = _baseline(baseline)
    if history is not None:
        fit = _two_way(_table(history))
    if fit is not None and base is not None and len(fit) != len(base):
        raise StatisticsError(
            f"the history has {len(fit)} prompts, the baseline {len(base)}"
        )
    if fit is None:
        if base is None:
            return np.zeros(_size(n))
        return base
    if base is None:
        return fit
    return (fit + base) / 2


def _size(n: int | None) -> int:
    if n is None or n < 1:
        raise StatisticsError(
            "without history and baseline say how many prompts there are: n of at "
            "least 1"
        )
    return n


def _baseline(scores: ArrayLike) -> FloatArray:
    values = as_floats(scores, "baseline")
    wrong = int((~np.isfinite(values)).sum())
    if values.ndim != 1 or wrong:
        raise StatisticsError(
            f"the baseline has no finite score of {wrong} of {values.size} prompts; it "
            "has to be scored on all"
        )
    return values


def _table(history: ArrayLike) -> FloatArray:
    table = as_floats(history, "history")
    if table.ndim != 2:
        raise StatisticsError(
            f"`history` must be models x prompts, found {table.ndim} dimensions"
        )
    if np.isinf(table).any():
        raise StatisticsError(
            f"`history` holds {int(np.isinf(table).sum())} infinite scores; leave them "
            "out as NaN"
        )
    return table


def _two_way(table: FloatArray) -> FloatArray | None:
    there = np.isfinite(table)
    if not there.any():
        return None
    if there.all():
        return np.asarray(table.mean(axis=0))
    models, prompts = there.any(axis=1), there.any(axis=0)
    y, cells = table[models][:, prompts], there[models][:, prompts]
    predictions = np.full(table.shape[1], y[cells].mean())
    predictions[prompts] = _additive(np.where(cells, y, 0.0), cells)
    return predictions


def _additive(y: FloatArray, cells: np.ndarray) -> FloatArray:
    """Effects of prompts by least squares over the cells; those of models sum to 0 over
    the cells of each part."""
    weights = cells.astype(np.float64)
    of_model, of_prompt = weights.sum(axis=1), weights.sum(axis=0)
    means = y.sum(axis=0) / of_prompt
    normal = np.diag(of_model) - (weights / of_prompt) @ weights.T
    right = y.sum(axis=1) - weights @ means
    effects: FloatArray = np.linalg.lstsq(normal, right, rcond=1e-10)[0]
    links = sparse.csr_matrix((len(y), len(y)))
    if len(y) > 1:
        links = sparse.csr_matrix(((weights @ weights.T) > 0).astype(np.int8))
    parts = connected_components(links, directed=False)[1]
    sums = np.bincount(parts, weights=of_model * effects)
    means_of_parts = sums / np.bincount(parts, weights=of_model)
    effects = effects - means_of_parts[parts]
    return np.asarray(means - effects @ weights / of_prompt)
