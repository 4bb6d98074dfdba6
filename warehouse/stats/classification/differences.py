"""Two runs on the same prompts by a metric of the whole set (statistics.md §23).

The answers of a prompt are exchanged at random: if the runs are alike, that changes
nothing but by chance. Student's t on the influence of the prompts gives the interval;
a verdict needs both, as t alone finds differences that are none in up to .07 of the
cases at .05.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.classification.confusion import LabelledAnswers
from warehouse.stats.classification.figures import FEW_CLUSTERS, form_of, value_of
from warehouse.stats.classification.forms import Form, values
from warehouse.stats.classification.metric_error import (
    centred_influence,
    error_of,
    why_no_error,
)
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_level,
    as_seed,
    clusters_if_any,
    number_of,
)
from warehouse.stats.core.quantiles import t_p_value, t_quantile
from warehouse.stats.core.results import NamedFigures, flags_of

#: Prompts with other answers below which there is no verdict.
FEW_DIFFERING = 10
#: Exchanges that are looked at by default, beside the answers as they are.
N_SWAPS = 9999
#: Entries of tables that are held at a time.
_MOST_ENTRIES = 1 << 21
#: Differences closer than this are equal.
_TIE = 1e-12


@dataclass(frozen=True)
class SetDifference(NamedFigures):
    """A metric of one run less that of another on the same prompts."""

    metric: str  #: such as ``f`` or ``kappa``.
    of_class: str | None  #: the class that it is of; None where it is of all.
    difference: float | None  #: first less second; None where one of them is.
    standard_error: float | None  #: None where it is 0 or not defined.
    ci_low: float | None  #: lower end of the interval, of Student's t.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    degrees_of_freedom: float | None  #: of the error.
    p_value: float | None  #: the larger of the two that follow.
    p_t: float | None  #: two-sided, of Student's t.
    p_swap: float | None  #: share of exchanges that give as large a difference.
    n_prompts: int  #: prompts of both.
    n_differing: int  #: of these, prompts on which the answers differ.
    n_clusters: int | None  #: None without clusters.
    #: ``few_differing``: on so few that the interval covers .85 to .93, so that nothing
    #: is decided; ``few_clusters``.
    flags: tuple[str, ...]
    reason: str  #: why there is no difference or no interval; empty otherwise.

    @property
    def has_verdict(self) -> bool:
        """Whether p says that the runs differ at the level of the interval, or that
        this cannot be told; without it nothing is said."""
        return self.p_value is not None and "few_differing" not in self.flags


def set_metric_difference(
    a: LabelledAnswers,
    b: LabelledAnswers,
    metric: str,
    of_class: str | None = None,
    *,
    beta: float = 1.0,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = N_SWAPS,
    seed: int = 0,
) -> SetDifference:
    """A metric of one run less that of another, with its interval and its test.

    Args:
        a: of the first run.
        b: of the second, with the same prompts in the same order, and their targets.
        metric: as in `set_metric`.
        of_class: label of the class; None: of all.
        beta: of F: how many times as much recall counts as precision, above 0.
        clusters: of each prompt, integers or strings, shape (n,); None: each by itself.
        level: nominal coverage of the interval, in (0, 1).
        n_resamples: exchanges of answers, at least 1.
        seed: of the exchanges, a whole number of at least 0.

    Raises:
        StatisticsError: other prompts or targets, a metric or class that there is not,
            or arguments out of range.

    Examples:
        >>> from warehouse.stats import labelled_answers
        >>> first = labelled_answers(list("aaabbb"), list("aaabbb"))
        >>> second = labelled_answers(list("aaabbb"), list("aababb"))
        >>> found = set_metric_difference(first, second, "accuracy")
        >>> round(found.difference, 4), found.n_differing, found.flags
        (0.3333, 2, ('few_differing',))
    """
    _check_alike(a, b)
    form = form_of(a, metric, of_class, beta)
    groups = clusters_if_any(clusters, a.n)
    as_level(level)
    if n_resamples < 1:
        raise StatisticsError(f"`n_resamples` must be at least 1, found {n_resamples}")
    moved = answer_shares(a) - answer_shares(b)
    n_differing = int((np.abs(moved) > _TIE).any(axis=1).sum())
    found = _compared(form, a, b, groups, level)
    p_swap = None
    if found.difference is not None:
        p_swap = _p_swap(form, (a, b), moved, groups, n_resamples, as_seed(seed))
    p_value = None
    if found.p_t is not None and p_swap is not None:
        p_value = max(found.p_t, p_swap)
    n_clusters = number_of(groups)
    flags = flags_of(
        few_differing=n_differing < FEW_DIFFERING,
        few_clusters=n_clusters is not None and n_clusters < FEW_CLUSTERS,
    )
    return SetDifference(
        metric=form.metric,
        of_class=of_class,
        level=level,
        p_value=p_value,
        p_swap=p_swap,
        n_prompts=a.n,
        n_differing=n_differing,
        n_clusters=n_clusters,
        flags=flags,
        **vars(found),
    )


def _check_alike(a: LabelledAnswers, b: LabelledAnswers) -> None:
    if a.classes != b.classes or not np.array_equal(a.targets, b.targets):
        raise StatisticsError(
            "`a` and `b` must have the same prompts in the same order: their targets "
            "or classes differ"
        )


@dataclass(frozen=True)
class _Compared:
    """The difference by Student's t; fields as in `SetDifference`."""

    difference: float | None = None
    standard_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    degrees_of_freedom: float | None = None
    p_t: float | None = None
    reason: str = ""


def _compared(
    form: Form,
    a: LabelledAnswers,
    b: LabelledAnswers,
    clusters: Clusters | None,
    level: float,
) -> _Compared:
    first, why_first = value_of(form, a)
    second, why_second = value_of(form, b)
    if first is None or second is None:
        return _Compared(reason=why_first or why_second)
    difference = first - second
    psi = centred_influence(form, a) - centred_influence(form, b)
    error = error_of(psi, clusters)
    if error is None:
        return _Compared(difference, reason=why_no_error(clusters))
    if not error.standard_error:
        return _Compared(difference, reason="zero_standard_error")
    half = t_quantile(level, error.df) * error.standard_error
    return _Compared(
        difference=difference,
        standard_error=error.standard_error,
        ci_low=difference - half,
        ci_high=difference + half,
        degrees_of_freedom=error.df,
        p_t=t_p_value(difference / error.standard_error, error.df),
    )


def answer_shares(answers: LabelledAnswers) -> FloatArray:
    """Share of the draws of each prompt by answer, the last: none, shape (n, C+1)."""
    width = answers.n_classes + 1
    cells = answers.prompts * width + answers.answers
    sums = np.bincount(cells, answers.weights, answers.n * width)
    return sums.astype(np.float64).reshape(-1, width)


def _p_swap(
    form: Form,
    runs: tuple[LabelledAnswers, LabelledAnswers],
    moved: FloatArray,
    clusters: Clusters | None,
    n_resamples: int,
    seed: int,
) -> float:
    """Share of exchanges whose difference is at least as large, the answers as they are
    among them; a difference that is not defined counts as larger.

    Args:
        moved: shares of answers of the first run less those of the second, shape (n,
            C+1).
    """
    first, second = (run.table for run in runs)
    observed = abs(float(values(form, first) - values(form, second)))
    changes, counts = _changes(runs[0].targets, moved, first.size, clusters)
    used = np.flatnonzero(np.abs(changes).max(axis=0, initial=0) > _TIE)
    changes = changes[:, used] / runs[0].n
    rng = np.random.default_rng(seed)
    block = max(1, _MOST_ENTRIES // max(first.size, len(counts)))
    n_larger = 0
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        swapped = rng.binomial(counts, 0.5, (size, len(counts))) @ changes
        shift = np.zeros((size, first.size))
        shift[:, used] = swapped
        shift = shift.reshape(size, *first.shape)
        difference = values(form, first - shift) - values(form, second + shift)
        n_larger += int(np.sum(~(np.abs(difference) < observed - _TIE)))
    return (1 + n_larger) / (1 + n_resamples)


def _changes(
    targets: NDArray[np.intp],
    moved: FloatArray,
    size: int,
    clusters: Clusters | None,
) -> tuple[FloatArray, NDArray[np.int64]]:
    """What an exchange of each unit takes from the first table, and how many units are
    alike in that, shapes (U, size) and (U,)."""
    n, width = moved.shape
    units = np.arange(n)
    if clusters is not None:
        units = clusters.codes
    differs = (np.abs(moved) > _TIE).any(axis=1)
    _, units = np.unique(units[differs], return_inverse=True)
    totals = np.zeros((units.max(initial=-1) + 1, size))
    columns = targets[differs][:, None] * width + np.arange(width)
    np.add.at(totals, (units[:, None], columns), moved[differs])
    rounded = np.asarray(np.round(totals, 12), dtype=np.float64)
    rows, counts = np.unique(rounded, axis=0, return_counts=True)
    return rows, counts.astype(np.int64)
