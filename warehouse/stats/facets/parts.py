"""Squared errors of a mean over conditions by their facets, and what the mean's
variance is made of (statistics.md §27, step 2 and "Parts").

V_A holds what other levels of the facets A would change, with every interaction of A
with further facets, and the noise R_A. With V_F = Σ_A (−1)^{|A|+1} V_A and R_F alike,
Var(m) = V_I + V_F − R_F.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.facets.conditions import Combinations

#: A set of facets; the rest of facets that are not crossed is a part of its own.
Facets = tuple[str, ...]
REST: Facets = ("rest",)


@dataclass(frozen=True)
class FacetParts:
    """Squared errors by facets, with their noise and degrees of freedom."""

    facets: tuple[str, ...]  #: the random facets.
    counts: tuple[int, ...]  #: L of each.
    is_full: bool  #: every combination of levels is there.
    v: Mapping[
        Facets, float
    ]  #: V_A; of facets that are not crossed each V_f and V_rest.
    r: Mapping[Facets, float]  #: R_A likewise.
    df: Mapping[Facets, int]  #: df_A.
    v_all: float  #: V_F.
    r_all: float  #: R_F.
    levels: Mapping[str, FloatArray]  #: what each level of a facet adds to the mean.
    weights: FloatArray  #: w: weight of each combination in the mean, shape (J',).
    #: h_f of each facet, where combinations are missing.
    spreads: Mapping[Facets, float]

    def singles(self) -> Iterator[tuple[str, int, float, float]]:
        """Each facet by itself: name, L, V_f, R_f."""
        for name, count in zip(self.facets, self.counts, strict=True):
            yield name, count, self.v[(name,)], self.r[(name,)]

    @property
    def fewest_df(self) -> int:
        """min L − 1."""
        return min(self.counts) - 1


def subsets_of(facets: tuple[str, ...]) -> list[Facets]:
    """Every non-empty set of facets, small ones first."""
    found: list[Facets] = []
    for size in range(1, len(facets) + 1):
        found.extend(combinations(facets, size))
    return found


def facet_parts(
    condition_parts: FloatArray, noise: FloatArray, combined: Combinations
) -> FacetParts:
    """The squared errors of the mean over combinations.

    Args:
        condition_parts: c_j, shape (J,).
        noise: R of them, shape (J, J).
        combined: which conditions make which combination.

    Raises:
        StatisticsError: facets cannot be told apart.
    """
    means = combined.average @ condition_parts
    covariance = combined.average @ noise @ combined.average.T
    if combined.is_full:
        return _crossed(means, covariance, combined)
    return _with_gaps(means, covariance, combined)


def _crossed(
    means: FloatArray, covariance: FloatArray, combined: Combinations
) -> FacetParts:
    counts = combined.counts
    v: dict[Facets, float] = {}
    r: dict[Facets, float] = {}
    df: dict[Facets, int] = {}
    v_all = r_all = 0.0
    # combinations are in the order of their codes, as a Kronecker product has them
    for facets in subsets_of(combined.facets):
        form = np.ones((1, 1))
        freedom = 1
        for name, count in zip(combined.facets, counts, strict=True):
            average = np.full((count, count), 1 / count)
            if name in facets:
                form = np.kron(form, np.eye(count) - average)
                freedom *= count - 1
            else:
                form = np.kron(form, average)
        form /= freedom * np.prod(counts)
        v[facets] = float(means @ form @ means)
        r[facets] = float(np.trace(form @ covariance))
        df[facets] = freedom
        sign = 1 if len(facets) % 2 else -1
        v_all += sign * v[facets]
        r_all += sign * r[facets]
    table = means.reshape(counts)
    levels = {}
    for axis, name in enumerate(combined.facets):
        others = tuple(i for i in range(len(counts)) if i != axis)
        levels[name] = table.mean(axis=others) - table.mean()
    weights = np.full(len(means), 1 / len(means))
    return FacetParts(
        combined.facets, counts, True, v, r, df, v_all, r_all, levels, weights, {}
    )


def _with_gaps(
    means: FloatArray, covariance: FloatArray, combined: Combinations
) -> FacetParts:
    """Main effects by least squares; facet × facet is pooled in the rest."""
    n_combinations = len(means)
    columns = [np.ones((n_combinations, 1))]
    contrasts = []
    for axis, count in enumerate(combined.counts):
        contrast = np.vstack([np.eye(count - 1), -np.ones(count - 1)])
        contrasts.append(contrast)
        columns.append(contrast[combined.codes[:, axis]])
    design = np.hstack(columns)
    rank = int(np.linalg.matrix_rank(design))
    freedom = n_combinations - rank
    if rank < design.shape[1] or freedom < 1:
        raise StatisticsError(
            f"facets cannot be told apart ({', '.join(combined.facets)}): too few "
            "combinations of their levels were run"
        )
    inverse = np.linalg.pinv(design)
    weights = inverse[0]
    projection = np.eye(n_combinations) - design @ inverse
    v: dict[Facets, float] = {}
    r: dict[Facets, float] = {}
    df: dict[Facets, int] = {}
    spreads: dict[Facets, float] = {}
    levels = {}
    first = 1
    for name, count, contrast in zip(
        combined.facets, combined.counts, contrasts, strict=True
    ):
        effects = contrast @ inverse[first : first + count - 1]
        first += count - 1
        levels[name] = effects @ means
        scale = count * (count - 1)
        v[(name,)] = float(levels[name] @ levels[name]) / scale
        r[(name,)] = float(np.trace(effects @ covariance @ effects.T)) / scale
        spreads[(name,)] = float(np.sum(effects**2)) / scale
        df[(name,)] = count - 1
    beyond = (sum(spreads.values()) - float(weights @ weights)) / freedom
    v_facets, r_facets = sum(v.values()), sum(r.values())
    v[REST] = beyond * float(means @ projection @ means)
    r[REST] = beyond * float(np.trace(projection @ covariance))
    df[REST] = freedom
    return FacetParts(
        facets=combined.facets,
        counts=combined.counts,
        is_full=False,
        v=v,
        r=r,
        df=df,
        v_all=v_facets - v[REST],
        r_all=r_facets - r[REST],
        levels=levels,
        weights=weights,
        spreads=spreads,
    )


def variance_parts(
    parts: FacetParts, v_prompts: float, draws: float | None
) -> dict[str, float]:
    """What Var(m) is made of: ``prompts``, each set of facets, ``prompts x`` each, and
    ``draws``. They add up to V_I + V_F − R_F; some may be below 0.

    Args:
        v_prompts: V_I.
        draws: what draws alone make, or None where no cell has two.
    """
    found = {"prompts": v_prompts - parts.r_all}
    if parts.is_full:
        of_facets = _alone(parts.v, parts.r, parts.facets)
        of_noise = _alone(parts.r, None, parts.facets)
    else:
        of_facets, of_noise = _alone_with_gaps(parts)
    for facets, value in of_facets.items():
        found[" x ".join(facets)] = value
    for facets, value in of_noise.items():
        found[" x ".join(("prompts", *facets))] = value
    if draws is not None:
        last = " x ".join(("prompts", *(parts.facets if parts.is_full else REST)))
        found[last] -= draws
        found["draws"] = draws
    return found


def _alone(
    totals: Mapping[Facets, float],
    noise: Mapping[Facets, float] | None,
    facets: tuple[str, ...],
) -> dict[Facets, float]:
    """What each set of facets makes without the larger ones that hold it."""
    found = {}
    for inner in subsets_of(facets):
        value = 0.0
        for outer in subsets_of(facets):
            if set(inner) <= set(outer):
                sign = -1 if (len(outer) - len(inner)) % 2 else 1
                value += sign * totals[outer]
                if noise is not None:
                    value -= sign * noise[outer]
        found[inner] = value
    return found


def _alone_with_gaps(
    parts: FacetParts,
) -> tuple[dict[Facets, float], dict[Facets, float]]:
    of_mean = float(parts.weights @ parts.weights)
    beyond = sum(parts.spreads.values()) - of_mean
    q = (parts.v[REST] - parts.r[REST]) / beyond
    q_noise = parts.r[REST] / beyond
    of_facets, of_noise = {}, {}
    for facets, spread in parts.spreads.items():
        of_facets[facets] = parts.v[facets] - parts.r[facets] - spread * q
        of_noise[facets] = parts.r[facets] - spread * q_noise
    of_facets[REST] = of_mean * q
    of_noise[REST] = of_mean * q_noise
    return of_facets, of_noise
