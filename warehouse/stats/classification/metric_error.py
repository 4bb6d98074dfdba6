"""The error of a metric of a whole set, by the influence of its prompts (statistics.md
§23)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.classification.confusion import LabelledAnswers
from warehouse.stats.classification.forms import ACCURACY, PRECISION, Form, influence
from warehouse.stats.core.inputs import Clusters, FloatArray
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.intervals.standard_errors import effective_clusters, robust_errors

#: An error below this share of the metric's range is none.
_NO_ERROR = 1e-9


@dataclass(frozen=True)
class MetricError:
    """How far a metric would lie elsewhere on other prompts."""

    standard_error: float  #: 0 where no prompt moves it.
    df: float  #: degrees of freedom, at least 1.
    n_units: float  #: clusters, as if of one size; infinite without clusters.

    def shrink(self, level: float) -> float:
        """(z/t)²: how many prompts one prompt is worth while the error is not known."""
        return (z_quantile(level) / t_quantile(level, self.df)) ** 2


def centred_influence(form: Form, answers: LabelledAnswers) -> FloatArray:
    """ψ of each prompt, of mean 0, shape (n,)."""
    table = answers.table
    cells = influence(form, table)
    return answers.by_prompt(cells - float((table * cells).sum()))


def metric_error(
    form: Form, answers: LabelledAnswers, clusters: Clusters | None
) -> MetricError | None:
    """The error of a metric; None with one prompt or one cluster.

    Without clusters V = Σψ²/(n(n−1)) with n − 1 degrees of freedom; with clusters CR2
    of ψ, with at most as many degrees of freedom as clusters hold the rare class.
    """
    error = error_of(centred_influence(form, answers), clusters)
    if error is None or clusters is None:
        return error
    holders = _rare_prompts(form, answers)
    if holders is None:
        return error
    held = clusters.sums(holders)
    shares = held / held.sum()
    most = 1 / float(shares @ shares) - 1
    return MetricError(
        error.standard_error, max(1.0, min(error.df, most)), error.n_units
    )


def error_of(psi: FloatArray, clusters: Clusters | None) -> MetricError | None:
    """The error of the mean of ψ, whose sum is 0; None with one prompt or cluster."""
    n = len(psi)
    if n < 2:
        return None
    if clusters is None:
        error = math.sqrt(float(psi @ psi) / (n * (n - 1)))
        return MetricError(_unless_rounding(error), n - 1.0, math.inf)
    robust = robust_errors(psi, clusters)
    if robust is None:
        return None
    return MetricError(
        _unless_rounding(robust.se_cr2),
        max(1.0, robust.degrees_of_freedom),
        effective_clusters(clusters),
    )


def why_no_error(clusters: Clusters | None) -> str:
    """Why there is none."""
    if clusters is None:
        return "single_prompt"
    return "single_cluster"


def _unless_rounding(error: float) -> float:
    if error > _NO_ERROR:
        return error
    return 0.0


def _rare_prompts(form: Form, answers: LabelledAnswers) -> FloatArray | None:
    """How much each prompt is of the class on which the metric hangs; None where that
    is no single one."""
    if form.metric == ACCURACY:
        return None
    if form.metric == PRECISION:
        answered = np.zeros_like(answers.table)
        answered[:, form.k] = 1
        return answers.by_prompt(answered)
    k = form.k
    if k is None:
        if answers.n_classes != 2:
            return None
        k = int(np.argmin(answers.target_counts))
    is_target: NDArray[np.bool_] = answers.targets == k
    return is_target.astype(np.float64)
