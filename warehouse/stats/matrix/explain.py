"""Does semantic similarity explain performance similarity? Over all prompts, and for
each (Siska 2024 §3.4).

(Siska et al. 2024 §3.4, figure 4)

It runs over all other prompts; its sums follow from small products of the whole
matrices, so no n × n matrix is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import ROUNDING, FloatArray, as_seed
from warehouse.stats.core.quantiles import t_p_values
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.matrix.similarity import (
    Progress,
    as_count,
    as_matrix,
    generator,
    kolmogorov_smirnov,
    unit_rows,
    upper_p_value,
)
from warehouse.stats.multiple.adjust import benjamini_hochberg

#: Cells of the grids on which distributions of coefficients and FDRs are compared.
_CELLS = 2048


@dataclass(frozen=True)
class Mantel:
    """Correlation of two similarity matrices."""

    #: Pearson correlation over pairs i < j; None where one of them does not vary.
    r: float | None
    #: one-sided, (1 + #{r_b ≥ r})/(1 + N), prompts permuted; None without r or N.
    p_value: float | None
    n_permutations: int  #: N.


@dataclass(frozen=True)
class Explanation(NamedFigures):
    """Semantic against performance similarity."""

    n_prompts: int  #: prompts n.
    #: prompts whose regression is not defined (no variation, or no residual).
    n_undefined: int
    intercept: bool  #: whether the regressions have one.
    coefficients: FloatArray  #: β of each prompt, NaN where not defined, shape (n,).
    statistics: FloatArray  #: their t, shape (n,).
    p_values: FloatArray  #: two-sided, shape (n,).
    #: Benjamini–Hochberg over the prompts; descriptive, since the tests depend on one
    #: another, shape (n,).
    fdr: FloatArray
    mean_coefficient: float | None  #: mean β.
    mean_coefficient_permuted: float | None  #: mean over the permutations.
    p_mean_coefficient: float | None  #: (1 + #{permuted ≥ observed})/(1 + N).
    ks_coefficient: float | None  #: D of the coefficients against all tables.
    p_ks_coefficient: float | None  #: exact, by permutation.
    #: with prompts taken as independent; too small.
    p_ks_coefficient_textbook: float | None
    ks_fdr: float | None  #: D of the FDRs.
    p_ks_fdr: float | None  #: exact, by permutation.
    p_ks_fdr_textbook: float | None  #: with prompts taken as independent; too small.
    mantel: Mantel  #: correlation of the two similarities over pairs.
    n_permutations: int  #: shuffled performance matrices, N.
    seed: int  #: of the permutations.

    def __str__(self) -> str:
        if self.mantel.r is None:
            r = "none"
        else:
            r = f"{self.mantel.r:.4g}"
        return (
            f"{self.n_prompts} prompts, Mantel r {r}, {self.n_permutations} "
            "permutations"
        )


def mantel(
    matrix: ArrayLike,
    embeddings: ArrayLike,
    *,
    n_permutations: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Mantel:
    """Mantel correlation of semantic and performance cosines over pairs of prompts.

    Prompts are permuted; Σ_ij s_sem(π i, π j) s_perf(i, j) = ‖Ẽ_πᵀ Q̃‖² costs O(ndk).

    Args:
        matrix: prompts × models, finite, shape (n, k).
        embeddings: vectors of the prompts' texts, shape (n, d).
        n_permutations: N; 0 for r alone.
        seed: of the permutations.
        progress: called with (done, N).
    """
    performance, semantic = unit_pair(matrix, embeddings)
    as_count(n_permutations, "n_permutations", 0)
    return _mantel(performance, semantic, n_permutations, as_seed(seed), progress)


def explain(
    matrix: ArrayLike,
    embeddings: ArrayLike,
    *,
    intercept: bool = True,
    n_permutations: int = 1000,
    shuffle: Literal["prompts", "columns"] = "prompts",
    seed: int = 0,
    progress: Progress | None = None,
) -> Explanation:
    """Per-prompt coefficients with FDR, against the same with the texts dealt anew; and
    the Mantel correlation.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        embeddings: vectors of the prompts' texts, no zero row, shape (n, d).
        intercept: False for the paper's regression through the origin.
        n_permutations: N, at least 1.
        shuffle: ``prompts``: whole rows, which is exact where texts have nothing to do
            with scores; ``columns``: every model's scores by themselves, as in the
            paper. That supposes that prompts are equally hard for all models, too:
            where they are not, it finds texts to explain something in up to a third of
            the cases where they do not.
        seed: each permutation has a stream of its own.
        progress: called with (done, 2N): the regressions, then Mantel.

    Raises:
        StatisticsError: lengths that differ, fewer than 4 prompts, a zero or missing
            vector, or a performance matrix whose columns are all constant.
    """
    performance, vectors = unit_pair(matrix, embeddings)
    values = as_matrix(matrix)
    as_count(n_permutations, "n_permutations")
    as_seed(seed)
    if shuffle not in ("prompts", "columns"):
        raise StatisticsError(f"`shuffle` is prompts or columns, found {shuffle!r}")
    if bool((values == values[0]).all()):
        raise StatisticsError(
            "every model has one score for all prompts (all columns are constant): "
            "there is nothing to explain"
        )
    semantic, steps = Semantic(vectors), 2 * n_permutations
    observed = coefficients_of(performance, semantic, intercept)
    fdr = benjamini_hochberg(observed.p_values)
    betas, fdrs = [observed.coefficients], [fdr]
    columns = np.ascontiguousarray(values.T)
    for index in range(1, n_permutations + 1):
        rng = generator(seed, 4, index)
        if shuffle == "prompts":
            shuffled = performance[rng.permutation(len(values))]
        else:
            shuffled = unit_rows(np.ascontiguousarray(rng.permuted(columns, axis=1).T))
        coefficients = coefficients_of(shuffled, semantic, intercept)
        betas.append(coefficients.coefficients)
        fdrs.append(benjamini_hochberg(coefficients.p_values))
        if progress:
            progress(index, steps)

    def shown(done: int, _all: int) -> None:
        if progress:
            progress(n_permutations + done, steps)

    return Explanation(
        len(values),
        int(np.isnan(observed.coefficients).sum()),
        intercept,
        observed.coefficients,
        observed.statistics,
        observed.p_values,
        fdr,
        *_means(betas),
        *_compare(betas),
        *_compare(fdrs),
        _mantel(performance, vectors, n_permutations, seed, shown),
        n_permutations,
        seed,
    )


def _mantel(
    performance: FloatArray,
    semantic: FloatArray,
    n_permutations: int,
    seed: int,
    progress: Progress | None,
) -> Mantel:
    n = len(performance)
    pairs = n * (n - 1) / 2
    mean_q, var_q = _pair_moments(performance)
    mean_e, var_e = _pair_moments(semantic)
    if var_q <= ROUNDING or var_e <= ROUNDING:
        return Mantel(None, None, n_permutations)

    def correlation(rows: FloatArray) -> float:
        product = rows.T @ semantic
        both = (float(np.einsum("ij,ij->", product, product)) - n) / 2 / pairs
        return float((both - mean_q * mean_e) / np.sqrt(var_q * var_e))

    r, permuted = correlation(performance), np.empty(n_permutations)
    for index in range(n_permutations):
        permuted[index] = correlation(
            performance[generator(seed, 5, index).permutation(n)]
        )
        if progress:
            progress(index + 1, n_permutations)
    return Mantel(
        r, upper_p_value(r, permuted) if n_permutations else None, n_permutations
    )


def _pair_moments(unit: FloatArray) -> tuple[float, float]:
    """Mean and variance (1/pairs) of cosines over pairs, from ‖Σ q̃‖² and ‖Q̃ᵀQ̃‖²."""
    n = len(unit)
    total, gram = unit.sum(axis=0), unit.T @ unit
    mean = (float(total @ total) - n) / (n * (n - 1))
    square = (float(np.einsum("ij,ij->", gram, gram)) - n) / (n * (n - 1))
    return mean, square - mean**2


def _means(tables: list[FloatArray]) -> tuple[float | None, float | None, float | None]:
    defined = [table[~np.isnan(table)] for table in tables]
    if any(len(table) == 0 for table in defined):
        if not len(defined[0]):
            return (None, None, None)
        return (float(defined[0].mean()), None, None)
    means = np.array([table.mean() for table in defined])
    return float(means[0]), float(means[1:].mean()), upper_p_value(means[0], means[1:])


def _compare(
    tables: list[FloatArray],
) -> tuple[float | None, float | None, float | None]:
    """Kolmogorov–Smirnov at evenly spaced points; undefined figures are a value of
    their own."""
    defined = np.concatenate(tables)
    defined = defined[~np.isnan(defined)]
    if not len(defined):
        return None, None, None
    low, high = float(defined.min()), float(defined.max())
    scale = 0.0
    if high > low:
        scale = _CELLS / (high - low)

    def counts(index: int) -> NDArray[np.int64]:
        cells = np.where(np.isnan(tables[index]), -1, (tables[index] - low) * scale)
        return np.bincount(cells.astype(np.int64) + 1, minlength=_CELLS + 2)

    ks = kolmogorov_smirnov(counts, len(tables))
    return ks.statistic, ks.p_value, ks.textbook_p_value


#: Residual sums of squares below this share of the total are rounding.
_NO_RESIDUAL = 1e-12


@dataclass(frozen=True)
class PromptCoefficients:
    """One regression for each prompt; NaN where it is not defined."""

    coefficients: FloatArray  #: β, shape (n,).
    statistics: FloatArray  #: t = β over its standard error, shape (n,).
    p_values: FloatArray  #: two-sided, Student's t, shape (n,).
    degrees_of_freedom: int  #: n − 2 without intercept, n − 3 with one.
    intercept: bool  #: whether there is one.


def prompt_coefficients(
    matrix: ArrayLike, embeddings: ArrayLike, *, intercept: bool = True
) -> PromptCoefficients:
    """β_i of regressing performance cosines on semantic cosines over j ≠ i, for every
    prompt i.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        embeddings: vectors of the prompts' texts, no zero row, shape (n, d).
        intercept: False for the paper's regression through the origin.

    Raises:
        StatisticsError: lengths that differ, fewer than 4 prompts, a zero or missing
            vector.

    Examples:
        >>> matrix = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1]]
        >>> vectors = [[1, 0], [0.6, 0.8], [0, 1], [0.8, 0.6], [-0.6, 0.8]]
        >>> regression = prompt_coefficients(matrix, vectors)
        >>> round(float(regression.coefficients[0]), 12)
        -0.627664387285
    """
    performance, semantic = unit_pair(matrix, embeddings)
    return coefficients_of(performance, Semantic(semantic), intercept)


class Semantic:
    """What the regressions need of the embeddings, worked out once: ẽ, Σẽ, Sx, Sxx."""

    def __init__(self, unit: FloatArray) -> None:
        self.unit = unit
        self.sx = unit @ unit.sum(axis=0) - 1
        self.sxx = np.einsum("ij,ij->i", unit @ (unit.T @ unit), unit) - 1


def unit_pair(
    matrix: ArrayLike, embeddings: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Performance (n, k) and text (n, d) of the same prompts, rows at unit length.

    Raises:
        StatisticsError: other numbers of rows, fewer than 4, vectors that are zero or
            not finite.
    """
    values = as_matrix(matrix)
    vectors = np.asarray(embeddings, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(values):
        raise StatisticsError(
            f"`embeddings` has shape {vectors.shape}, expected one vector for each of "
            f"the {len(values)} prompts"
        )
    if len(values) < 4:
        raise StatisticsError(
            f"a regression over other prompts needs 4 prompts, found {len(values)}"
        )
    wrong = ~np.isfinite(vectors).all(axis=1) | ~vectors.any(axis=1)
    if wrong.any():
        raise StatisticsError(
            f"`embeddings` has {int(wrong.sum())} vector(s) that are zero or not "
            f"finite (first: row {int(np.argmax(wrong))}); leave prompts without text "
            "out"
        )
    return unit_rows(values), unit_rows(vectors)


def coefficients_of(
    unit: FloatArray, semantic: Semantic, intercept: bool
) -> PromptCoefficients:
    """The closed forms of statistics.md §7; `unit` are performance rows at length 1."""
    others = len(unit) - 1
    both = (
        unit.T @ semantic.unit
    )  # k × d: this way round the products take a third less
    sxy = np.einsum("ji,ij->i", both @ semantic.unit.T, unit) - 1
    syy = np.einsum("ij,ij->i", unit @ (unit.T @ unit), unit) - 1
    sxx, freedom = semantic.sxx, others - 1
    if intercept:
        sy = unit @ unit.sum(axis=0) - 1
        sxy = sxy - semantic.sx * sy / others
        sxx = sxx - semantic.sx**2 / others
        syy = syy - sy**2 / others
        freedom = others - 2
    tolerance = ROUNDING * others
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = np.where(sxx > tolerance, sxy / sxx, np.nan)
        residual = syy - beta * sxy
        defined = (
            (sxx > tolerance) & (syy > tolerance) & (residual > _NO_RESIDUAL * syy)
        )
        t = np.where(defined, beta / np.sqrt(residual / freedom / sxx), np.nan)
        p = t_p_values(t, freedom)
    beta = np.where(defined, beta, np.nan)
    return PromptCoefficients(beta, t, np.asarray(p), freedom, intercept)
