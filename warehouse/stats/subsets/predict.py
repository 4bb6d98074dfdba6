"""What each prompt's score is expected to be, from models that were asked it before."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_floats


def predict_scores(history: ArrayLike | None, baseline: ArrayLike | None = None, *, n: int | None = None) -> FloatArray:
    """The prediction f of each prompt's score (statistics.md §10). Any f is valid: it only buys precision.

    An additive fit of models and prompts: the mean of a prompt after removing the models' means, with the
    mean over all cells added back. A complete history gives the prompts' means; a prompt without history
    gets the mean over cells. Where models fall into parts that share no prompt, each part keeps its own
    mean. A baseline counts as much as all the history.

    Args:
        history: scores of earlier models, NaN where not asked, shape (M, N); None or M = 0: no history.
        baseline: scores of one model on all N prompts, shape (N,).
        n: number of prompts where there is neither; the prediction then is 0 everywhere.

    Returns:
        f, shape (N,).

    Raises:
        StatisticsError: infinite scores, a baseline that lacks prompts, shapes that do not fit.
    """
    base = None if baseline is None else _baseline(baseline)
    fit = None if history is None else _two_way(_table(history))
    if fit is not None and base is not None and len(fit) != len(base):
        raise StatisticsError(f"the history has {len(fit)} prompts, the baseline {len(base)}")
    if fit is None:
        return np.zeros(_size(n)) if base is None else base
    return fit if base is None else (fit + base) / 2


def _size(n: int | None) -> int:
    if n is None or n < 1:
        raise StatisticsError("without history and baseline say how many prompts there are: n of at least 1")
    return n


def _baseline(scores: ArrayLike) -> FloatArray:
    values = as_floats(scores, "baseline")
    wrong = int((~np.isfinite(values)).sum())
    if values.ndim != 1 or wrong:
        raise StatisticsError(
            f"the baseline has no finite score of {wrong} of {values.size} prompts; it has to be scored on all"
        )
    return values


def _table(history: ArrayLike) -> FloatArray:
    table = as_floats(history, "history")
    if table.ndim != 2:
        raise StatisticsError(f"`history` must be models x prompts, found {table.ndim} dimensions")
    if np.isinf(table).any():
        raise StatisticsError(f"`history` holds {int(np.isinf(table).sum())} infinite scores; leave them out as NaN")
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
    """Effects of prompts by least squares over the cells; those of models sum to 0 over the cells of each part."""
    weights = cells.astype(np.float64)
    of_model, of_prompt = weights.sum(axis=1), weights.sum(axis=0)
    means = y.sum(axis=0) / of_prompt
    normal = np.diag(of_model) - (weights / of_prompt) @ weights.T
    right = y.sum(axis=1) - weights @ means
    effects: FloatArray = np.linalg.lstsq(normal, right, rcond=1e-10)[0]
    empty = sparse.csr_matrix((len(y), len(y)))
    links = sparse.csr_matrix(((weights @ weights.T) > 0).astype(np.int8))
    parts = connected_components(links if len(y) > 1 else empty, directed=False)[1]
    total = np.bincount(parts, weights=of_model * effects) / np.bincount(parts, weights=of_model)
    effects = effects - total[parts]
    return np.asarray(means - effects @ weights / of_prompt)
