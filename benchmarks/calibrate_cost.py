"""Simulate what docs/reference/methods_cost.md says of its intervals and tests
(statistics.md §17), and
write its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

from warehouse.stats import (
    as_good_for_less,
    cheaper_sample_size,
    cheaper_test,
    cost_per_solved,
    cost_ratio,
    frontier_set,
    mean_cost,
)

SIZES = (50, 200, 500)
#: Prompts of a cluster, and the share of the variance of log costs that they have in
#: common.
IN_CLUSTER, SHARED = 5, 0.5

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], float | None]


def costs(
    rng: np.random.Generator,
    n: int,
    sigma: float,
    models: int = 1,
    *,
    clustered: bool = False,
) -> Array:
    """Lognormal costs of mean 1, shape (n, models); where clustered, prompts of a
    cluster cost alike."""
    z = rng.normal(size=(n, models))
    if clustered:
        common = np.repeat(
            rng.normal(size=(n // IN_CLUSTER, models)), IN_CLUSTER, axis=0
        )
        z = SHARED**0.5 * common + (1 - SHARED) ** 0.5 * z
    return np.exp(sigma * z - sigma**2 / 2)


def clusters(n: int) -> Array:
    return np.repeat(np.arange(n // IN_CLUSTER), IN_CLUSTER)


def covered(figure: object, truth: float) -> float | None:
    low, high = getattr(figure, "low"), getattr(figure, "high")  # noqa: B009
    if low is None:
        return None if getattr(figure, "estimate") is None else 1.0  # noqa: B009  # the whole line
    return float(low <= truth and (high is None or truth <= high))


def cells() -> Iterator[tuple[str, str, Draw]]:
    """What is simulated: the table, the row, and one draw."""
    for sigma in (0.3, 1.0, 1.5):
        for is_clustered in (False, True):
            name = f"σ {sigma:g}" + ", clusters of 5" * is_clustered

            def mean(
                rng: np.random.Generator,
                n: int,
                s: float = sigma,
                c: bool = is_clustered,
            ) -> float | None:
                return covered(
                    mean_cost(
                        costs(rng, n, s, clustered=c)[:, 0], clusters(n) if c else None
                    ),
                    1,
                )

            def ratio(
                rng: np.random.Generator,
                n: int,
                s: float = sigma,
                c: bool = is_clustered,
            ) -> float | None:
                a, b = np.hstack(
                    [costs(rng, n, s, clustered=c), costs(rng, n, 0.3, clustered=c)]
                ).T
                return covered(cost_ratio(a, b, clusters(n) if c else None), 1)

            def wrong(
                rng: np.random.Generator,
                n: int,
                s: float = sigma,
                c: bool = is_clustered,
            ) -> float | None:
                a, b = np.hstack(
                    [costs(rng, n, s, clustered=c), costs(rng, n, 0.3, clustered=c)]
                ).T
                return float(
                    (cheaper_test(a, b, clusters(n) if c else None).p_value or 1)
                    <= 0.05
                )

            yield "mean cost, 95 % interval covers", name, mean
            yield "cost ratio (other σ .3), 95 % interval covers", name, ratio
            yield "called cheaper at .05 though equal (other σ .3)", name, wrong


def cells_of_two() -> Iterator[tuple[str, str, Draw]]:
    """The same of figures with scores in them."""
    for solved in (0.05, 0.3):
        for method in ("log_delta", "fieller"):
            for is_clustered in (False, True):
                name = (
                    f"{method}, {100 * solved:g} % solved, σ 1"
                    + ", clusters of 5" * is_clustered
                )

                def each(
                    rng: np.random.Generator,
                    n: int,
                    p: float = solved,
                    m: str = method,
                    c: bool = is_clustered,
                ) -> float | None:
                    y = (rng.random(n) < p).astype(float)
                    one = costs(rng, n, 1.0, clustered=c)[:, 0]
                    return covered(
                        cost_per_solved(one, y, clusters(n) if c else None, method=m),
                        1 / p,
                    )

                yield (
                    "cost per solved, 95 % interval covers, where any is solved",
                    name,
                    each,
                )
    for name, better, times in (
        ("score at the margin, 20 × cheaper", 0.4, 20.0),
        ("equal score, cost at 1/x", 0.5, 2.0),
    ):
        for sigma in (0.3, 1.0, 1.5):

            def good(
                rng: np.random.Generator,
                n: int,
                p: float = better,
                t: float = times,
                s: float = sigma,
            ) -> float | None:
                a, b = (
                    (rng.random(n) < p).astype(float),
                    (rng.random(n) < 0.5).astype(float),
                )
                cheap, dear = np.hstack([costs(rng, n, s) / t, costs(rng, n, 0.3)]).T
                test = as_good_for_less(a, cheap, b, dear, margin=0.1, times=2)
                return float((test.p_value or 1) <= 0.05)

            yield (
                "as good (margin .1) for 2 × less at .05, at its edge",
                f"{name}, σ {sigma:g}",
                good,
            )


PLANNED = (
    "found with the prompts that a pilot of n plans for power .8 (half as expensive, "
    "other σ .3)"
)
#: New samples of each pilot's plan.
NEW_SAMPLES = 40


def planned(rng: np.random.Generator, n: int, sigma: float) -> float | None:
    """How often new samples, of the size that a pilot of n prompts asks for, show that
    half the cost is less."""
    a, b = np.hstack([costs(rng, n, sigma) / 2, costs(rng, n, 0.3)]).T
    plan = cheaper_sample_size(a, b)
    if plan is None:
        return None
    cheap, dear = (
        costs(rng, plan.n_prompts, spread, NEW_SAMPLES) for spread in (sigma, 0.3)
    )
    return float(
        np.mean(
            [
                (cheaper_test(*pair).p_value or 1) <= 0.05
                for pair in zip(cheap.T / 2, dear.T, strict=True)
            ]
        )
    )


SETS = {
    "equal scores, costs ×2 apart, σ 1": (0.0, [2.0**k for k in range(6)], [1.0] * 6),
    "equal costs, equal skew, scores apart": (0.1, [1.0] * 6, [1.0] * 6),
    "equal costs, σ .3 against 1.5, scores apart": (0.1, [1.0] * 6, [0.3, 1.5] * 3),
}


def in_set(
    rng: np.random.Generator, n: int, settings: tuple[float, list[float], list[float]]
) -> float:
    """Whether the set holds all six models, each of which is on the frontier as one
    metric is equal for all."""
    step, means, sigmas = settings
    y = (rng.random((n, 6)) < 0.3 + step * np.arange(6)).astype(float)
    c = np.hstack(
        [mean * costs(rng, n, sigma) for mean, sigma in zip(means, sigmas, strict=True)]
    )
    return float(frontier_set(y, c).in_set.all())


def share(draw: Draw, n: int, times: int, seed: int | None = None) -> str:
    rng = np.random.default_rng([times if seed is None else seed, n])
    values = [value for _ in range(times) if (value := draw(rng, n)) is not None]
    return f"{np.mean(values):.3f}" if values else "-"


def tables(runs: int) -> Iterator[str]:
    """Lines of the tables; sets have a fifth of the samples, plans a 66th of the
    pilots."""
    heads = f"{' | '.join(f'n = {n}' for n in SIZES)} |\n| --- |{' --- |' * len(SIZES)}"
    heading = ""
    for table, row, draw in sorted([*cells(), *cells_of_two()], key=lambda one: one[0]):
        if table != heading:
            yield f"\n| {table} | {heads}"
            heading = table
        yield f"| {row} | {' | '.join(share(draw, n, runs) for n in SIZES)} |"
    yield f"\n| 95 % set holds the whole frontier | {heads}"
    for row, settings in SETS.items():
        draw = partial(in_set, settings=settings)
        yield (
            f"| {row} | {' | '.join(share(draw, n, max(runs // 5, 1)) for n in SIZES)} "
            "|"
        )
    yield f"\n| {PLANNED} | {heads}"
    for sigma in (0.3, 1.0, 1.5):
        draw = partial(planned, sigma=sigma)
        yield (
            f"| σ {sigma:g} | "
            f"{' | '.join(share(draw, n, max(runs // 66, 1), seed=runs) for n in SIZES)} "
            "|"
        )


def main() -> None:
    options = script.parser_of(
        __doc__, "methods_cost.md", {"runs": (2000, "samples of a cell")}, seed=False
    ).parse_args()
    script.write_between(
        options.output, script.MARKS, [*map(script.told, tables(options.runs)), ""]
    )


if __name__ == "__main__":
    main()
