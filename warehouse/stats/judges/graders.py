"""How far three or more graders agree on the same units, of which each may lack some:
Krippendorff's α."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_clusters,
    as_level,
    number_of,
    one_unit_each,
)
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.judges.agreement import (
    FEW_CLUSTERS,
    FEWEST_UNITS,
    LEVELS,
    MOST_CATEGORIES,
    MOST_CELLS,
    AgreementFigure,
    alpha_of,
    figure_of,
    jackknife_errors,
)


@dataclass(frozen=True)
class GradersAgreement(NamedFigures):
    """Several graders among themselves."""

    n_graders: int  #: those that have graded a unit which another has graded as well.
    #: units with at least two grades; the others say nothing of agreement.
    n_units: int
    n_grades: int  #: grades of these.
    n_clusters: int | None  #: None without clusters.
    #: ``alpha_nominal``, ``alpha_ordinal``, ``alpha_interval``.
    figures: tuple[AgreementFigure, ...]
    level: float  #: nominal coverage of the intervals.
    flags: tuple[str, ...]  #: ``few_units``, ``few_clusters``, ``one_category``.

    def figure(self, measure: str) -> AgreementFigure:
        """That of a name."""
        return next(figure for figure in self.figures if figure.measure == measure)


def graders_agreement(
    grades: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95
) -> GradersAgreement:
    """Krippendorff's α of any number of graders, nominal, ordinal and interval.

    α = 1 − (n − 1) Σ O_ck δ²_ck / Σ n_c n_k δ²_ck, with O of pairs of grades within
    units, each unit's weighted by 1/(m_u − 1) for its m_u grades. Errors by the
    jackknife over clusters, intervals on the scale of ln(1 − α).

    Args:
        grades: of each unit (rows) by each grader (columns), NaN where there is none,
            shape (n, k).
        clusters: of each unit (its prompt), integers or strings, shape (n,); None: each
            by itself.
        level: nominal coverage of the intervals.

    Raises:
        StatisticsError: no matrix, infinite grades, or no unit with two grades.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    Examples:
        >>> nan = float("nan")
        >>> found = graders_agreement([[1, 1, nan], [2, 2, 3], [3, 3, 3], [nan, 1, nan]])
        >>> found.n_units, round(found.figure("alpha_nominal").estimate, 3)
        (3, 0.65)
    """
    given = np.asarray(grades, dtype=np.float64)
    if given.ndim != 2 or np.isinf(given).any():
        raise StatisticsError(
            "grades: expected a matrix of units by graders, finite or NaN"
        )
    paired = (~np.isnan(given)).sum(axis=1) >= 2
    if not paired.any():
        raise StatisticsError("grades: no unit has two of them")
    used = given[paired]
    groups = None
    if clusters is not None:
        groups = as_clusters(np.asarray(clusters)[paired], len(used))
    units = groups or one_unit_each(len(used))
    has_grade = ~np.isnan(used)
    values = np.unique(used[has_grade])
    return GradersAgreement(
        n_graders=int(has_grade.any(axis=0).sum()),
        n_units=len(used),
        n_grades=int(has_grade.sum()),
        n_clusters=number_of(groups),
        figures=tuple(_figures(used, values, units, as_level(level))),
        level=level,
        flags=flags_of(
            few_units=len(used) < FEWEST_UNITS,
            few_clusters=units.n < FEW_CLUSTERS,
            one_category=len(values) == 1,
        ),
    )


def _figures(
    grades: FloatArray, values: FloatArray, units: Clusters, level: float
) -> list[AgreementFigure]:
    names = [f"alpha_{of}" for of in LEVELS]
    if len(values) > MOST_CATEGORIES:
        reason = f"more than {MOST_CATEGORIES} different grades: no categories"
        return [AgreementFigure(name, None, None, None, None, reason) for name in names]
    order = np.argsort(units.codes, kind="stable")
    ends = np.concatenate([[0], np.cumsum(units.sizes)]).astype(int)
    whole = _coincidences(grades, values)
    estimates = [float(alpha_of(whole[None], values, of)[0]) for of in LEVELS]
    if len(grades) < FEWEST_UNITS or units.n < 2:
        few = "a single cluster"
        if len(grades) < FEWEST_UNITS:
            few = f"fewer than {FEWEST_UNITS} units"
        return [
            figure_of(name, value, None, few, level, 1)
            for name, value in zip(names, estimates, strict=True)
        ]
    step = max(1, MOST_CELLS // len(values) ** 2)
    left = []
    for start in range(0, units.n, step):
        own = []
        for cluster in range(start, min(start + step, units.n)):
            members = order[ends[cluster] : ends[cluster + 1]]
            own.append(_coincidences(grades[members], values))
        without = np.maximum(whole - np.stack(own), 0.0)
        left.append(np.stack([alpha_of(without, values, of) for of in LEVELS], axis=1))
    errors = jackknife_errors(np.concatenate(left))
    return [
        figure_of(name, value, error, "", level, units.n - 1)
        for name, value, error in zip(names, estimates, errors, strict=True)
    ]


def _coincidences(grades: FloatArray, values: FloatArray) -> FloatArray:
    """Pairs of grades within units, shape (C, C); each unit's weigh as many as it has
    grades."""
    counts = np.zeros((len(grades), len(values)))
    rows, columns = np.nonzero(~np.isnan(grades))
    np.add.at(counts, (rows, np.searchsorted(values, grades[rows, columns])), 1.0)
    scaled = counts / (counts.sum(axis=1) - 1)[:, None]
    found: FloatArray = scaled.T @ counts - np.diag(scaled.sum(axis=0))
    return found
