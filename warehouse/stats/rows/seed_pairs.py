"""All pairs of rows of which some are over training seeds: each pair's own test, Holm,
simultaneous intervals.

Max-|T| by signs over prompts knows nothing of seeds; so where a row has two seeds,
places and intervals of all pairs go by Holm and by h(α / number of pairs)
(statistics.md §20 B).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import Bounds, Clusters, FloatArray
from warehouse.stats.multiple.adjust import benjamini_hochberg, holm
from warehouse.stats.multiple.all_pairs import AllPairs
from warehouse.stats.rows.seed_difference import (
    RowSeeds,
    SeedParts,
    cut_to_range,
    difference_over_paired_seeds,
    difference_over_seeds,
    seed_parts,
)
from warehouse.stats.rows.seed_fit import fit_seeds


def pairs_over_seeds(
    pairs: AllPairs,
    rows: Sequence[FloatArray],
    *,
    trained: Sequence[bool],
    clusters: Clusters | None = None,
    bounds: Bounds | None = None,
    labels: Sequence[Sequence[str]] | None = None,
) -> AllPairs:
    """All pairs with the errors, p and intervals of rows over seeds.

    Args:
        pairs: of the parts of the prompts of each row; pairs without a second seed keep
            their error and p.
        rows: cells of each row on all prompts, NaN where it has none, shape (S, n)
            each; S is 1 without seeds.
        trained: whether a row of one seed could have had others.
        clusters: of the prompts, or None.
        bounds: of the scores; intervals are cut to ± their range.
        labels: of the seeds of each row, where equal labels go together; None: all are
            independent.
    """
    a, b = pairs.first, pairs.second
    seeds = np.array([len(cells) for cells in rows])
    several = (seeds[a] > 1) | (seeds[b] > 1)
    v_prompts = np.nan_to_num(pairs.standard_error, nan=0.0) ** 2
    df = np.nan_to_num(pairs.degrees_of_freedom, nan=1.0)
    p, error = pairs.p_value.copy(), pairs.standard_error.copy()
    difference = pairs.difference.copy()
    simple = np.zeros(len(rows), bool)
    if labels is None:
        simple = _whole_rows(rows)
    of_rows = _row_seeds(rows, trained, simple, clusters)
    quick = several & simple[a] & simple[b] & (pairs.n_prompts > 1)
    none = RowSeeds(1, 0.0, 0.0, fixed=True)
    both = [(none, none)] * len(pairs)
    found = np.flatnonzero(quick)
    for fast in found.tolist():
        both[fast] = of_rows[a[fast]], of_rows[b[fast]]
    parts = seed_parts(v_prompts, df, both)
    own = _take(parts, found)
    p[found] = own.p_values(difference[found])
    error[found] = _none_for_0(own.standard_error)
    slow = several & ~quick
    n_tests = max(1, int((np.isfinite(p) | slow).sum()))
    half = parts.half_width((1 - pairs.level) / n_tests)
    low, high = difference - half, difference + half
    for pair in np.flatnonzero(slow & (pairs.n_prompts > 1)):
        i, j = int(a[pair]), int(b[pair])
        names = None
        if labels is not None:
            names = labels[i], labels[j]
        figures = _slow(
            rows[i],
            rows[j],
            (trained[i], trained[j]),
            clusters,
            names,
            pairs.level,
            n_tests,
        )
        difference[pair], error[pair], p[pair], low[pair], high[pair] = figures
    usable = np.isfinite(p)
    for each in range(len(pairs)):
        low[each], high[each] = cut_to_range(low[each], high[each], bounds)
    return replace(
        pairs,
        difference=difference,
        standard_error=error,
        statistic=difference / error,
        p_value=p,
        p_holm=holm(p),
        p_bh=benjamini_hochberg(p),
        p_step_down=np.full_like(p, np.nan),
        simultaneous_low=np.where(usable, low, np.nan),
        simultaneous_high=np.where(usable, high, np.nan),
        critical_value=np.nan,
        critical_values=np.full(pairs.n_models, np.nan),
        n_resamples=0,
        exact=False,
        over_seeds=True,
    )


def _whole_rows(rows: Sequence[FloatArray]) -> NDArray[np.bool_]:
    """Which rows have every seed on the same prompts: their seeds' parts are those of
    any pair on these prompts."""
    scored = [np.isfinite(cells) for cells in rows]
    first = scored[0][0]
    return np.array([bool((own == first).all()) for own in scored])


def _row_seeds(
    rows: Sequence[FloatArray],
    trained: Sequence[bool],
    simple: NDArray[np.bool_],
    clusters: Clusters | None,
) -> list[RowSeeds]:
    found: list[RowSeeds] = []
    for cells, is_trained, is_simple in zip(rows, trained, simple, strict=True):
        if not is_simple or len(cells) < 2:
            found.append(RowSeeds(1, 0.0, 0.0, fixed=not is_trained))
            continue
        there = np.isfinite(cells[0])
        codes = None
        if clusters is not None:
            codes = clusters.codes[there]
        fit = fit_seeds(cells[:, there], clusters=codes)
        found.append(RowSeeds.of(fit, fixed=False))
    return found


def _take(parts: SeedParts, rows: NDArray[np.intp]) -> SeedParts:
    return SeedParts(
        *(getattr(parts, name)[rows] for name in SeedParts.__dataclass_fields__)
    )


def _none_for_0(errors: FloatArray) -> FloatArray:
    return np.where(errors > 0, errors, np.nan)


def _slow(
    first: FloatArray,
    second: FloatArray,
    trained: tuple[bool, bool],
    clusters: Clusters | None,
    labels: tuple[Sequence[str], Sequence[str]] | None,
    level: float,
    n_tests: int,
) -> tuple[float, float, float, float, float]:
    """Difference, error, p and simultaneous interval of one pair on its common prompts."""
    common = np.isfinite(first).any(axis=0) & np.isfinite(second).any(axis=0)
    codes = None
    if clusters is not None:
        codes = clusters.codes[common]
    together = 1 - (1 - level) / n_tests
    x, y = first[:, common], second[:, common]
    labels_a, labels_b = labels or ((), ())
    shared = [name for name in labels_a if name in labels_b]
    if len(shared) > 1:
        x = x[[list(labels_a).index(name) for name in shared]]
        y = y[[list(labels_b).index(name) for name in shared]]
        found = difference_over_paired_seeds(x, y, clusters=codes, level=together)
    else:
        x = x[np.isfinite(x).any(axis=1)]
        y = y[np.isfinite(y).any(axis=1)]
        found = difference_over_seeds(
            x,
            y,
            clusters=codes,
            level=together,
            fixed_a=not trained[0],
            fixed_b=not trained[1],
        )
    figures = (found.standard_error, found.p_value, found.ci_low, found.ci_high)
    error, p, low, high = np.array(figures, dtype=np.float64).tolist()  # NaN for None
    return found.difference, error, p, low, high
