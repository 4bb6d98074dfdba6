"""Simulate the intervals and tests of `warehouse judge` (statistics.md §16), and write
docs/reference/calibration_judges.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

from warehouse.stats import (
    estimate_mean,
    interval_t,
    judge_agreement,
    judge_bias,
    pooled_weight,
    prediction_powered_difference,
    prediction_powered_mean,
    rogan_gladen,
)
from warehouse.stats.judges.plan import (
    allocate_labels,
    differences_of_means,
    label_pilot,
    level_of_pairs,
    plan_labels,
    ranks_left,
    score_cuts,
    strata_by,
    target_error,
)
from warehouse.stats.judges.prediction import (
    label_influence,
    label_spread,
    reproducibility,
)

N = 1000
#: Units that truths of agreement are taken from.
MANY = 400_000

Array = NDArray[np.float64]
#: What one sample gives: by column, a number to be averaged; None does not count.
Draw = Callable[[np.random.Generator], Mapping[str, float | None]]


def covered(low: float | None, high: float | None, truth: float) -> float | None:
    return None if low is None or high is None else float(low <= truth <= high)


def figures(found: Any, truth: float) -> dict[str, float | None]:
    return {
        "covers": covered(found.low, found.high, truth),
        "labels cover": covered(found.label_low, found.label_high, truth),
        "width / labels'": found.width_ratio,
        "labels alone": float("labels_only" in found.flags),
    }


def groups(n: int, g: int) -> NDArray[np.intp]:
    return np.arange(n) * g // n


def truths(
    rng: np.random.Generator, p: float, clusters: NDArray[np.intp] | None
) -> Array:
    """0/1 labels at rate p; in clusters by a normal that they share (correlation .2)."""
    from statistics import NormalDist

    z = rng.normal(size=N)
    if clusters is not None:
        z = (
            math.sqrt(0.2) * rng.normal(size=clusters.max() + 1)[clusters]
            + math.sqrt(0.8) * z
        )
    return (z < NormalDist().inv_cdf(p)).astype(float)


def judged(rng: np.random.Generator, h: Array, p: float, rho: float) -> Array:
    """A judge that says what people say with probability rho, else draws at the same
    rate."""
    return np.where(rng.random(len(h)) < rho, h, (rng.random(len(h)) < p).astype(float))


def part(rng: np.random.Generator, h: Array, n: int) -> Array:
    """Labels of a simple random part."""
    known = np.full(len(h), np.nan)
    chosen = rng.permutation(len(h))[:n]
    known[chosen] = h[chosen]
    return known


def by_counts(
    order: NDArray[np.intp], h: Array, of: NDArray[np.intp], counts: NDArray[np.intp]
) -> Array:
    """Labels of so many units of each stratum, the first in an order."""
    known = np.full(len(h), np.nan)
    for code, count in enumerate(counts):
        chosen = order[of[order] == code][:count]
        known[chosen] = h[chosen]
    return known


# --- means --------------------------------------------------------------------------------------


def simple(p: float, rho: float, n: int, g: int = 0) -> Draw:
    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        of = groups(N, g) if g else None
        h = truths(rng, p, of)
        judge = judged(rng, h, p, rho)
        return figures(prediction_powered_mean(part(rng, h, n), judge, clusters=of), p)

    return draw


def fixed(p: float, rho: float, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        h = truths(rng, p, None)
        judge = judged(rng, h, p, rho)
        return figures(
            prediction_powered_mean(part(rng, h, n), judge, prompts_fixed=True),
            float(h.mean()),
        )

    return draw


def stratified(
    p: float,
    rho: float,
    n: int,
    shares: tuple[float, ...],
    *,
    is_fixed: bool = False,
    g: int = 0,
) -> Draw:
    """Strata by the judge's score, or by its order where there are more than two;
    labels by these shares."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        clusters = groups(N, g) if g else None
        h = truths(rng, p, clusters)
        judge = judged(rng, h, p, rho) + (len(shares) == 4) * rng.normal(0, 0.3, N)
        order = np.lexsort((rng.random(N), judge))
        strata = np.empty(N, int)
        strata[order] = (
            judge[order] if len(shares) == 2 else groups(N, len(shares))
        ).astype(int)
        known = np.full(N, np.nan)
        for stratum, share in enumerate(shares):
            inside = rng.permutation(np.flatnonzero(strata == stratum))[
                : max(2, round(share * n))
            ]
            known[inside] = h[inside]
        truth = float(h.mean()) if is_fixed else p
        return figures(
            prediction_powered_mean(
                known, judge, strata=strata, prompts_fixed=is_fixed, clusters=clusters
            ),
            truth,
        )

    return draw


def unequal(p: float, rho: float, n: int, sigma: float) -> Draw:
    """Chances lognormal, higher where the judge says 1; each unit drawn by itself."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        h = truths(rng, p, None)
        judge = judged(rng, h, p, rho)
        chance = np.exp(sigma * rng.normal(size=N) + sigma * judge)
        chance = np.clip(n * chance / chance.sum(), 0.03 * n / N, 1)
        known = np.where(rng.random(N) < chance, h, np.nan)
        return figures(prediction_powered_mean(known, judge, probabilities=chance), p)

    return draw


def waves(p: float, n: int, k: int, *, fine: bool = False) -> Draw:
    """As `judge next` draws: one simple wave, one by strata, and two by strata, the
    second by what the first says."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        h = truths(rng, p, None)
        judge = judged(rng, h, p, 0.8) + fine * rng.normal(0, 0.3, N)
        simple = prediction_powered_mean(part(rng, h, n), judge)
        cuts = score_cuts(judge, k)
        of = strata_by(cuts, judge)
        sizes, order = np.bincount(of), rng.permutation(N)

        def labels(counts: NDArray[np.intp]) -> Array:
            return by_counts(order, h, of, counts)

        once = prediction_powered_mean(
            labels(allocate_labels(sizes, n)), judge, strata=of
        )
        first = allocate_labels(sizes, n // 2)
        spread = label_spread([(labels(first), judge)], of)
        both = first + allocate_labels(sizes, n - n // 2, first, spread)
        twice = prediction_powered_mean(labels(both), judge, strata=of)
        wide = [
            None if one.low is None or one.high is None else one.high - one.low
            for one in (simple, once, twice)
        ]
        return {
            "simple covers": covered(simple.low, simple.high, p),
            "by strata": covered(once.low, once.high, p),
            "Neyman": covered(twice.low, twice.high, p),
            "simple, alone": float("labels_only" in simple.flags),
            "width / simple": wide[1] / wide[0] if wide[1] and wide[0] else None,
            "Neyman / simple": wide[2] / wide[0] if wide[2] and wide[0] else None,
            "second wave by spread": float(spread is not None),
        }

    return draw


def pooled(n: int, rho: float, models: int = 8) -> Draw:
    """λ of eight models together."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        rates = np.linspace(0.4, 0.7, models)
        hs = [truths(rng, p, None) for p in rates]
        gs = [judged(rng, h, p, rho) for h, p in zip(hs, rates, strict=True)]
        known = [part(rng, h, n) for h in hs]
        there = [~np.isnan(one) for one in known]
        weight = pooled_weight(
            [(h[one], g[one]) for h, g, one in zip(hs, gs, there, strict=True)]
        )
        found = [
            figures(prediction_powered_mean(h, g, weight=weight), p)
            for h, g, p in zip(known, gs, rates, strict=True)
        ]
        return {name: float(np.mean([one[name] for one in found])) for name in found[0]}  # type: ignore[arg-type]

    return draw


def several_draws(k: int, n: int, noise: float) -> Draw:
    """A judge asked K times: the interval, and the spread of the figure over fresh
    draws against what is said of it."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        h = truths(rng, 0.5, None)
        chance = np.clip(0.5 + (h - 0.5) * 0.8 + rng.normal(0, noise, N), 0.02, 0.98)
        known = part(rng, h, n)
        found, values = [], []
        for _ in range(20):
            said = (rng.random((k, N)) < chance).astype(float)
            found.append(
                prediction_powered_mean(known, said.mean(axis=0), bounds=(0, 1))
            )
            values.append(said.var(axis=0, ddof=1).mean() / k)
        expected = reproducibility(found[0], values[0])
        seen = float(np.std([one.estimate for one in found], ddof=1))
        return figures(found[0], 0.5) | {"said / seen spread": expected / seen}

    return draw


def difference(
    p_a: float, p_b: float, n: int, rho: float = 0.8, strata: int = 0
) -> Draw:
    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        common = rng.random(N)
        own = [np.where(rng.random(N) < 0.5, common, rng.random(N)) for _ in range(2)]
        hs = [(u < p).astype(float) for u, p in zip(own, (p_a, p_b), strict=True)]
        gs = [judged(rng, h, 0.6, rho) for h in hs]
        known, of = part(rng, hs[0], n), None
        if strata:
            score = (gs[0] + gs[1]) / 2
            of = strata_by(score_cuts(score, strata), score)
            known = by_counts(
                rng.permutation(N), hs[0], of, allocate_labels(np.bincount(of), n)
            )
        other = np.where(np.isnan(known), np.nan, hs[1])
        return figures(
            prediction_powered_difference(known, other, *gs, strata=of), p_a - p_b
        )

    return draw


def board(rates: Array, rho: float, n: int, g: int = 0) -> Draw:
    """Several models labelled on the same units, whose ease they share: what holds of
    all of them at once."""
    from statistics import NormalDist

    m, cuts = len(rates), [NormalDist().inv_cdf(p) for p in rates]

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        of = groups(N, g) if g else np.arange(N)
        ease = rng.normal(size=of.max() + 1)[of]
        hs = [
            (math.sqrt(0.5) * (ease + rng.normal(size=N)) < cut).astype(float)
            for cut in cuts
        ]
        gs = [judged(rng, h, p, rho) for h, p in zip(hs, rates, strict=True)]
        there = ~np.isnan(part(rng, hs[0], n))
        known = [np.where(there, h, np.nan) for h in hs]
        clusters = of if g else None
        alone, means, ends = (
            [
                prediction_powered_mean(h, judge, clusters, level=level)
                for h, judge in zip(known, gs, strict=True)
            ]
            for level in (0.95, 1 - 0.05 / m, level_of_pairs(m))
        )
        psi = [
            label_influence(h, judge, one.weight)
            for h, judge, one in zip(known, gs, ends, strict=True)
        ]
        sums = [np.bincount(of, one) for one in psi]
        figures = [
            [getattr(one, name) for one in ends] for name in ("estimate", "low", "high")
        ]
        low, high = differences_of_means(*figures, sums)
        gaps = rates[:, None] - rates
        pairs = np.triu_indices(m, 1)
        ranks = np.array(ranks_left(low, high))
        by_t = [
            prediction_powered_difference(
                known[a], known[b], gs[a], gs[b], clusters, level=level_of_pairs(m)
            )
            for a, b in zip(*pairs, strict=True)
            if m <= 5  # else there are too many
        ]
        best, worst = 1 + (gaps < 0).sum(axis=1), m - (gaps > 0).sum(axis=1)

        def all_cover(found: Any, truths: Any = rates) -> float:
            return float(
                all(
                    covered(one.low, one.high, p) != 0
                    for one, p in zip(found, truths, strict=True)
                )
            )

        return {
            "each by itself": all_cover(alone),
            "means": all_cover(means),
            "differences": float(((low <= gaps) & (gaps <= high))[pairs].all()),
            "differences by t": all_cover(by_t, gaps[pairs]) if by_t else None,
            "ranks": float(((ranks[:, 0] <= best) & (worst <= ranks[:, 1])).all()),
            "pairs told apart": float(((low > 0) | (high < 0))[pairs].mean()),
            "labels alone": float(
                np.mean(["labels_only" in one.flags for one in alone])
            ),
        }

    return draw


# --- agreement, bias, Rogan and Gladen -----------------------------------------------------------

MEASURES = ("agreement", "kappa", "kappa_quadratic", "ac1", "alpha_nominal")


def rated(
    rng: np.random.Generator, n: int, rates: tuple[float, ...], same: float, g: int
) -> tuple[Array, Array, NDArray[np.intp]]:
    """People's category, the judge's, and clusters, which are easier or harder to judge
    alike."""
    c = len(rates)
    of = groups(n, g)
    people = rng.choice(c, n, p=rates)
    chance = np.full(n, same)
    if g < n:
        a = 8.0
        chance = rng.beta(a * same, a * (1 - same), g)[of]
    judge = np.where(rng.random(n) < chance, people, rng.choice(c, n, p=rates))
    return people.astype(float), judge.astype(float), of


def agreement(n: int, rates: tuple[float, ...], same: float, g: int) -> Draw:
    h, judge, _ = rated(np.random.default_rng(0), MANY, rates, same, MANY)
    truth = {
        one.measure: one.estimate
        for one in judge_agreement(h, judge, np.arange(MANY) // (MANY // 10)).figures
    }

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        h, judge, of = rated(rng, n, rates, same, g)
        found = judge_agreement(h, judge, None if g == n else of)
        result: dict[str, float | None] = {}
        for name in MEASURES:
            one, value = found.figure(name), truth[name]
            if value is None:
                continue
            result[name] = covered(one.low, one.high, value)
            if name in ("kappa", "ac1"):
                plain = interval_t(one.estimate or 0.0, one.standard_error, g - 1)
                result[f"{name}, plain t"] = (
                    None if plain is None else covered(plain.low, plain.high, value)
                )
        return result

    return draw


def bias(models: int, n: int, g: int, kind: str, *, gaps: bool = False) -> Draw:
    """Share of samples in which some model is told to be favoured, though none is."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        of = groups(n, g)
        common = rng.normal(size=(g, 1)).repeat(models, axis=1)[of]
        differences, clusters = [], []
        for k in range(models):
            if kind == "0/1, 20 % differ":
                d = rng.choice([-1.0, 0.0, 1.0], n, p=[0.1, 0.8, 0.1])
            elif kind == "skewed":
                d = rng.choice([-1.0, 0.0, 3.0], n, p=[0.3, 0.6, 0.1])
            else:
                d = 0.5 * common[:, k] + rng.normal(size=n)
            there = rng.random(n) < 0.6 if gaps else np.ones(n, bool)
            differences.append(d[there])
            clusters.append(of[there])
        found = judge_bias(differences, clusters)
        joint = [one.p_simultaneous for one in found if one.p_simultaneous is not None]
        own = [one.p_value for one in found if one.p_value is not None]
        return {
            "any model, together": float(min(joint, default=1.0) <= 0.05),
            "any model, one by one": float(min(own, default=1.0) <= 0.05),
        }

    return draw


def prevalence(p: float, se: float, sp: float, g: int) -> Draw:
    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        of = groups(N, g) if g else None
        h = truths(rng, p, of)
        judge = np.where(h == 1, rng.random(N) < se, rng.random(N) >= sp).astype(float)
        a, b = int(rng.binomial(100, se)), int(rng.binomial(100, sp))
        effect = 1.0
        if of is not None:
            effect = estimate_mean(judge, clusters=of).design_effect or 1.0
        with_it = rogan_gladen(
            float(judge.sum()), N, a, 100, b, 100, design_effect=effect
        )
        without = rogan_gladen(float(judge.sum()), N, a, 100, b, 100)
        return {
            "covers": covered(with_it.low, with_it.high, p),
            "without the design effect": covered(without.low, without.high, p),
            "the judge's rate": float(
                abs(judge.mean() - p) <= 1.96 * math.sqrt(p * (1 - p) * effect / N)
            ),
        }

    return draw


# --- how many labels ---------------------- ---------------------------------------------------------


def piloted(p: float, rho: float, n: int, g: int = 0) -> Draw:
    """The interval of the correlation that n labels show."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        of = groups(N, g) if g else None
        h = truths(rng, p, of)
        chosen = rng.permutation(N)[:n]
        clusters = None if of is None else of[chosen]
        found = label_pilot(
            h[chosen], judged(rng, h, p, rho)[chosen], clusters=clusters
        )
        width = (
            None if found.low is None or found.high is None else found.high - found.low
        )
        return {
            "covers": covered(found.low, found.high, rho),
            "no interval": float(width is None),
            "width": width,
        }

    return draw


def planned(p: float, rho: float, width: float, pilot: int = 0) -> Draw:
    """The interval by as many labels as a plan says: of a pilot, or of the true
    correlation and spread."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        h = truths(rng, p, None)
        judge = judged(rng, h, p, rho)
        sd, reduction = math.sqrt(p * (1 - p)), rho**2
        if pilot:
            chosen = rng.permutation(N)[:pilot]
            found = label_pilot(h[chosen], judge[chosen])
            sd, reduction = found.sd or 0.0, found.reduction or 0.0
        plan = plan_labels(N, sd, reduction, target_error(width=width))
        if plan.n_labels is None:
            return {"no number": 1.0}
        figure = prediction_powered_mean(part(rng, h, plan.n_labels), judge)
        wide = (
            None
            if figure.low is None or figure.high is None
            else (figure.high - figure.low) / width
        )
        found_width = {
            "width / wanted": wide,
            "covers": covered(figure.low, figure.high, p),
        }
        return {"no number": 0.0, "labels": float(plan.n_labels), **found_width}

    return draw


def _rate(cut: float) -> float:
    """P(.5 U + .5 V > 1 − cut) of two uniforms."""
    x = 2 * (1 - cut)
    return 1 - x * x / 2 if x < 1 else (2 - x) ** 2 / 2


def found_difference(rate: float, delta: float, rho: float) -> Draw:
    """How often a true difference is found by the labels planned for power .8."""

    def draw(rng: np.random.Generator) -> Mapping[str, float | None]:
        ease = rng.random(N)
        a, b = (
            ((0.5 * ease + 0.5 * rng.random(N)) > 1 - cut).astype(float)
            for cut in (rate + delta / 2, rate - delta / 2)
        )
        sides = [judged(rng, one, rate, rho) for one in (a, b)]
        true = np.corrcoef(a - b, sides[0] - sides[1])[0, 1]
        plan = plan_labels(
            N,
            float((a - b).std(ddof=1)),
            max(0.0, true) ** 2,
            target_error(difference=_rate(rate + delta / 2) - _rate(rate - delta / 2)),
        )
        if plan.n_labels is None:
            return {"no number": 1.0}
        chosen = rng.permutation(N)[: plan.n_labels]
        known = [np.full(N, np.nan) for _ in sides]
        for own, labels in zip(known, (a, b), strict=True):
            own[chosen] = labels[chosen]
        figure = prediction_powered_difference(*known, *sides)
        is_found = figure.p_value is not None and figure.p_value < 0.05
        return {
            "no number": 0.0,
            "labels": float(plan.n_labels),
            "found": float(is_found),
        }

    return draw


def of_labels() -> Iterator[tuple[str, str, Draw]]:
    table = "Interval of the correlation that labels show (U)"
    for p, rho, n, g in (
        *((0.5, rho, n, 0) for rho in (0.0, 0.3, 0.8) for n in (20, 50, 200)),
        *((0.2, rho, 200, 0) for rho in (0.0, 0.3, 0.8)),
        *((0.1, rho, 700, 0) for rho in (0.0, 0.3, 0.8)),
        *((0.5, 0.3, n, 30) for n in (50, 200)),
        (0.5, 0.8, 200, 30),
    ):
        yield (
            table,
            f"rate {p:g}, correlation {rho:g}, {n} labels{f', {g} clusters' * bool(g)}",
            piloted(p, rho, n, g),
        )
    table = "Labels planned for a width (U)"
    for p, rho, width, pilot in (
        *((0.5, rho, width, 0) for rho in (0.0, 0.3, 0.8) for width in (0.1, 0.2)),
        (0.1, 0.8, 0.08, 0),
        *((0.5, rho, 0.15, pilot) for rho in (0.3, 0.8) for pilot in (30, 100)),
    ):
        how = f"by a pilot of {pilot}" if pilot else "correlation and spread known"
        yield (
            table,
            f"rate {p:g}, correlation {rho:g}, width {width:g}, {how}",
            planned(p, rho, width, pilot),
        )
    table = "Labels planned for a difference, power .8 (U)"
    for rate, delta, rho in (
        (0.5, 0.1, 0.0),
        (0.5, 0.1, 0.5),
        (0.5, 0.1, 0.8),
        (0.7, 0.15, 0.6),
    ):
        yield (
            table,
            f"rate {rate:g}, difference {delta:g}, judge {rho:g}",
            found_difference(rate, delta, rho),
        )


def of_means() -> Iterator[tuple[str, str, Draw]]:
    table = "The mean by a simple sample of labels"
    for p, rho, n in (
        (0.5, 0.0, 50),
        (0.5, 0.3, 50),
        (0.5, 0.8, 50),
        (0.5, 0.8, 200),
        (0.05, 0.8, 200),
        (0.95, 0.8, 200),
    ):
        yield table, f"rate {p:g}, correlation {rho:g}, {n} labels", simple(p, rho, n)
    for n in (50, 200):
        yield (
            table,
            f"rate 0.5, correlation 0.8, {n} labels, 30 clusters",
            simple(0.5, 0.8, n, 30),
        )
    table = "Differences of two models, 0/1"
    for p_a, p_b, n in ((0.5, 0.6, 50), (0.5, 0.6, 200), (0.9, 0.95, 200)):
        yield table, f"rates {p_a:g} and {p_b:g}, {n} labels", difference(p_a, p_b, n)
        yield (
            table,
            f"rates {p_a:g} and {p_b:g}, {n} labels, by three strata (U)",
            difference(p_a, p_b, n, strata=3),
        )
    table = "Prompts fixed (U)"
    for p, rho, n in (
        (0.5, 0.8, 50),
        (0.5, 0.8, 200),
        (0.5, 0.8, 800),
        (0.1, 0.8, 200),
        (0.5, 0.0, 200),
    ):
        yield (
            table,
            f"rate {p:g}, correlation {rho:g}, {n} of {N} labelled",
            fixed(p, rho, n),
        )
    table = "λ of eight models together (U)"
    for n, rho in ((20, 0.8), (30, 0.8), (40, 0.3)):
        yield table, f"{n} labels a model, correlation {rho:g}", pooled(n, rho)
    table = "A judge asked several times (U)"
    for k, n, noise in ((2, 100, 0.1), (5, 100, 0.1), (2, 300, 0.2)):
        yield (
            table,
            f"{k} draws, {n} labels, noise {noise:g}",
            several_draws(k, n, noise),
        )


def of_designs() -> Iterator[tuple[str, str, Draw]]:
    table = "Labels by strata (U)"
    for p in (0.5, 0.1):
        for n in (40, 100, 200):
            yield (
                table,
                f"rate {p:g}, by the judge's 0 and 1, half and half, {n} labels",
                stratified(p, 0.8, n, (0.5, 0.5)),
            )
            yield (
                table,
                f"rate {p:g}, four strata of a finer judge, alike, {n} labels",
                stratified(p, 0.8, n, (0.25,) * 4),
            )
            shares = (0.1, 0.4, 0.4, 0.1)
            yield (
                table,
                f"rate {p:g}, four strata, more in the middle, {n} labels",
                stratified(p, 0.8, n, shares),
            )
    yield (
        table,
        "rate 0.5, by 0 and 1, one label in five of 0, 100 labels",
        stratified(0.5, 0.8, 100, (0.2, 0.8)),
    )
    yield (
        table,
        "rate 0.5, 25 strata of 40, four labels each",
        stratified(0.5, 0.8, 100, (0.04,) * 25),
    )
    yield (
        table,
        "rate 0.5, 25 strata, two labels each",
        stratified(0.5, 0.8, 50, (0.04,) * 25),
    )
    yield (
        table,
        "rate 0.5, four strata, 100 labels, 30 clusters",
        stratified(0.5, 0.8, 100, (0.25,) * 4, g=30),
    )
    yield (
        table,
        "rate 0.1, four strata, 100 labels, prompts fixed",
        stratified(0.1, 0.8, 100, (0.25,) * 4, is_fixed=True),
    )
    table = "Labels by unequal chances without strata (U)"
    for sigma in (0.3, 1.0):
        for p, n in ((0.5, 50), (0.5, 200), (0.1, 200), (0.9, 200)):
            yield (
                table,
                f"rate {p:g}, σ {sigma:g}, {n} labels",
                unequal(p, 0.8, n, sigma),
            )
    yield (
        table,
        "rate 0.5, σ 1, 200 labels, no correlation",
        unequal(0.5, 0.0, 200, 1.0),
    )


def of_waves() -> Iterator[tuple[str, str, Draw]]:
    table = (
        "Waves by strata of the judge's score, correlation .8, against one simple wave "
        "(U)"
    )
    for p in (0.5, 0.1, 0.05, 0.02):
        for n in (50, 200):
            yield table, f"rate {p:g}, judge of 0 and 1, {n} labels", waves(p, n, 2)
            yield (
                table,
                f"rate {p:g}, four strata of a finer judge, {n} labels",
                waves(p, n, 4, fine=True),
            )


def of_boards() -> Iterator[tuple[str, str, Draw]]:
    table = "All models of a board at once, by Bonferroni (U)"
    for m in (2, 5, 20):
        for p, spread in ((0.5, 0.0), (0.85, 0.05), (0.91, 0.06), (0.95, 0.03)):
            for rho in (0.3, 0.8):
                for n in (200, 50)[: 1 + (m == 5)]:
                    row = (
                        f"{m} models, rates {p - spread:g} to {p + spread:g}, "
                        f"correlation {rho:g}, {n} labels"
                    )
                    yield (
                        table,
                        row,
                        board(np.linspace(p - spread, p + spread, m), rho, n),
                    )
    yield (
        table,
        "5 models, rates 0.7 to 0.9, correlation 0.8, 200 labels, 30 clusters",
        board(np.linspace(0.7, 0.9, 5), 0.8, 200, 30),
    )


def of_judges() -> Iterator[tuple[str, str, Draw]]:
    table = "Agreement: intervals of (U)"
    for n, g in ((50, 50), (200, 200), (200, 13), (200, 30), (1000, 30)):
        for name, rates, same in (
            ("two categories", (0.5, 0.5), 0.7),
            ("two, nearly all alike", (0.5, 0.5), 0.95),
            ("two, one of 90 %", (0.9, 0.1), 0.7),
            ("five", (0.1, 0.2, 0.4, 0.2, 0.1), 0.5),
        ):
            where = f"{n} units" if n == g else f"{n} units in {g} clusters"
            yield (
                table,
                f"{where}, {name}, same by {same:g}",
                agreement(n, rates, same, g),
            )
    table = "Bias towards a model: told at .05 though there is none (U)"
    for models, n, g in ((10, 100, 100), (10, 200, 20), (60, 200, 200)):
        for kind in ("normal, prompts in common", "0/1, 20 % differ", "skewed"):
            yield (
                table,
                f"{models} models, {n} units in {g} clusters, {kind}",
                bias(models, n, g, kind),
            )
    gaps = bias(10, 200, 20, "normal, prompts in common", gaps=True)
    yield table, "10 models, 200 units in 20 clusters, 40 % missing", gaps
    table = "Rogan and Gladen, 100 positives and 100 negatives elsewhere (clusters: U)"
    for p in (0.05, 0.5, 0.95):
        for se, sp in ((0.9, 0.9), (0.7, 0.8)):
            for g in (0, 30):
                where = f", {g} clusters" if g else ""
                yield (
                    table,
                    f"rate {p:g}, sensitivity {se:g}, specificity {sp:g}{where}",
                    prevalence(p, se, sp, g),
                )


HEAD = """# Calibration of judges against people

How often the 95 % intervals of [`warehouse judge`](../judges.md) cover, and what they save. `python
benchmarks/calibrate_judges.py` runs it again, seeded, and writes this page. {runs} samples a row: a share has a Monte
Carlo error of up to {error:.3f}, {near:.3f} where it is near .95; {few} where a judge is asked several times, and with
60 models; {more} in the last four tables.

1 000 units; a judge says what people say with the probability *correlation*, else draws at the same rate. *labels
cover* is the interval of the labels alone, *labels alone* the share of samples in which the judge is not used, for a
reason that is given. Clusters share a normal (correlation .2). (U): not simulated in the definitions; what does not
hold here is no default.

Of a board all intervals of a kind have to cover: *means* of all models, *differences* of all pairs as the ranks take
them, *differences by t* those of pairs by themselves (one without an interval counts as covered), each by Bonferroni;
*ranks* are the sets of all models. Models share half of the variance of a unit's ease.
"""


def tables(runs: int, only: str) -> Iterator[str]:
    heading = ""
    cells = [
        (runs, *one) for one in (*of_means(), *of_boards(), *of_designs(), *of_judges())
    ]
    cells += [(runs * 5 // 2, *one) for one in of_waves()]
    cells += [(runs * 5 // 2, *one) for one in of_labels()]
    for runs, table, row, draw in cells:
        if only and only not in table:
            continue
        rng = np.random.default_rng([runs, len(row), sum(map(ord, row))])
        is_long = "several times" in table or "60 models" in row
        samples = [draw(rng) for _ in range(max(1, runs // 4) if is_long else runs)]
        names = list(dict.fromkeys(name for one in samples for name in one))
        means = []
        for name in names:
            values = [value for one in samples if (value := one.get(name)) is not None]
            means.append(f"{np.mean(values):.3f}" if values else "-")
        if table != heading:
            yield (
                "\n"
                f"## {table}\n"
                "\n"
                f"| | {' | '.join(names)} |\n"
                f"| --- |{' --- |' * len(names)}"
            )
            heading = table
        yield f"| {row} | {' | '.join(means)} |"


def main() -> None:
    parser = script.parser_of(
        __doc__,
        "calibration_judges.md",
        {"runs": (400, "samples of a cell")},
        seed=False,
    )
    parser.add_argument(
        "--only", default="", help="tables whose title has this; writes no page"
    )
    options = parser.parse_args()
    lines = list(map(script.told, tables(options.runs, options.only)))
    if not options.only:
        counts = {
            "runs": options.runs,
            "few": options.runs // 4,
            "more": options.runs * 5 // 2,
        }
        head = HEAD.format(
            **counts,
            error=0.5 / math.sqrt(options.runs),
            near=0.218 / math.sqrt(options.runs),
        )
        options.output.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
