"""Simulate slopes of prompts' figures on features of theirs and write the table of
docs/reference/methods_items.md.

Prompts are drawn anew each time, models stay: log-odds of being right fall with the
logarithm of the length, or do not; the figure is the mean over models of 0/1 scores.
The truth is the slope over 400 000 prompts.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.items.feature_view import SHOWN, SHOWN_SKEWED
from warehouse.stats.items.features import JointTest, Slope, joint_test, slope

MARKS = (
    "<!-- calibration of features: begin -->",
    "<!-- calibration of features: end -->",
)
#: Models, and the log-odds of a right answer of the middle prompt: .5, and at the
#: ceiling about .95.
MODELS, EASY = 20, {"half right": 0.0, "near the ceiling": 4.0}
#: Standard deviations of log-odds: of prompts, and of clusters.
PROMPTS, CLUSTERS = 1.5, 0.8
SIZES = ((60, None), (300, None), (1000, None), (300, 8), (300, 20), (1000, 50))
EFFECT = -0.5
LEVELS = (0.55, 0.25, 0.12, 0.08)
Array = NDArray[np.float64]


class Row(NamedTuple):
    """One kind of data; shares of the samples, of those in which there is a figure."""

    feature: str
    figure: str
    n: int
    clusters: int | None
    coverage: float
    false: float
    called: float
    few: float
    skewed: float
    defined: float


def lengths(
    rng: np.random.Generator, n: int, codes: NDArray[np.intp] | None, spread: float
) -> Array:
    """Lengths in words: their logarithms vary by ``spread``, half of it between
    clusters."""
    z = rng.standard_normal(n)
    if codes is not None:
        z = (
            np.sqrt(0.5) * z
            + np.sqrt(0.5) * rng.standard_normal(codes.max() + 1)[codes]
        )
    return np.maximum(1, np.round(np.exp(4 + spread * z)))


def figure(
    rng: np.random.Generator,
    z: Array,
    easy: float,
    effect: float,
    codes: NDArray[np.intp] | None,
) -> Array:
    """Mean over models of each prompt."""
    logit = easy + effect * z + PROMPTS * rng.standard_normal(len(z))
    if codes is not None:
        logit = logit + CLUSTERS * rng.standard_normal(codes.max() + 1)[codes]
    ability = np.linspace(-1.5, 1.5, MODELS)
    return (
        rng.random((len(z), MODELS)) < 1 / (1 + np.exp(-(logit[:, None] + ability)))
    ).mean(axis=1)


def unequal(
    rng: np.random.Generator, n: int, clusters: int | None
) -> NDArray[np.intp] | None:
    """Clusters of unequal sizes, every one of them there."""
    if clusters is None:
        return None
    rest = rng.choice(clusters, n - clusters, p=rng.dirichlet(np.full(clusters, 2.0)))
    return np.concatenate([np.arange(clusters), rest])


def numeric(
    scale: str, spread: float, name: str, n: int, clusters: int | None, samples: int
) -> Row:
    """Coverage of the slope under an effect, and false positives without."""
    rng = np.random.default_rng(
        zlib.crc32(f"{scale}{spread}{name}{n}{clusters}".encode())
    )

    def shown(x: Array) -> Array:
        return np.log(x) if scale == "log" else x

    big = 400_000
    # clusters of three stand for any: half of the spread of lengths is theirs
    far = None if clusters is None else np.arange(big) // 3
    x = lengths(rng, big, far, spread)
    y = figure(rng, (np.log(x) - 4) / spread, EASY[name], EFFECT, far)
    truth = float(np.cov(shown(x), y)[0, 1] / shown(x).var(ddof=1))
    covered: list[bool] = []
    tests: list[Slope | JointTest] = []
    for _ in range(samples):
        codes = unequal(rng, n, clusters)
        x = lengths(rng, n, codes, spread)
        z = (np.log(x) - 4) / spread
        one = slope(figure(rng, z, EASY[name], EFFECT, codes), shown(x), codes)
        none = slope(figure(rng, z, EASY[name], 0.0, codes), shown(x), codes)
        if one.ci_low is not None and one.ci_high is not None:
            covered.append(one.ci_low <= truth <= one.ci_high)
        tests.append(none)
    return Row(
        f"length, {scale}, sd of log {spread:g}",
        name,
        n,
        clusters,
        *_shares(covered, tests),
    )


def categorical(name: str, n: int, clusters: int | None, samples: int) -> Iterator[Row]:
    """False positives of groups: the smallest against the rest, and all of them
    together."""
    rng = np.random.default_rng(zlib.crc32(f"{name}{n}{clusters}".encode()))
    covered: list[bool] = []
    alone: list[Slope | JointTest] = []
    together: list[Slope | JointTest] = []
    for _ in range(samples):
        codes = unequal(rng, n, clusters)
        groups = np.unique(rng.choice(len(LEVELS), n, p=LEVELS), return_inverse=True)[1]
        y = figure(rng, np.zeros(n), EASY[name], 0.0, codes)
        one = slope(y, (groups == groups.max()).astype(float), codes)
        if one.ci_low is not None and one.ci_high is not None:
            covered.append(one.ci_low <= 0 <= one.ci_high)
        alone.append(one)
        together.append(
            joint_test(y, groups[:, None] == np.arange(1, groups.max() + 1), codes)
        )
    yield Row(
        "group of 8% against the rest", name, n, clusters, *_shares(covered, alone)
    )
    yield Row("four groups together", name, n, clusters, *_shares([], together))


def _shares(covered: list[bool], tests: list[Slope | JointTest]) -> tuple[float, ...]:
    """Coverage, p at most .05, what a verdict would call shown, flags, and where there
    is a figure."""
    made = [one for one in tests if one.p_value is not None]
    p = np.array([one.p_value for one in made])
    skewed = np.array(["skewed" in one.flags for one in made], np.bool_)
    few = ["few_clusters" in one.flags for one in made]
    called = np.where(skewed, p <= SHOWN_SKEWED, p <= SHOWN)
    shares = [
        float(np.mean(one)) if len(one) else float("nan")
        for one in (covered, p <= SHOWN, called, few, skewed)
    ]
    return (*shares, len(made) / len(tests))


def rows(samples: int) -> Iterator[Row]:
    """Every row of the table."""
    for name in EASY:
        for n, clusters in SIZES:
            for spread in (0.5, 1.2):
                for scale in ("log", "words"):
                    yield numeric(scale, spread, name, n, clusters, samples)
            yield from categorical(name, n, clusters, samples)


def table(found: Iterable[Row], samples: int) -> list[str]:
    """The rows in Markdown."""
    lines = [
        f"{samples} samples a row, {MODELS} models; made by `python "
        "benchmarks/calibrate_features.py`.",
        "",
        "| feature | models | prompts | clusters | covers | p at most .05 | called "
        "shown | `few_clusters` | `skewed` | defined |",
        f"{'| --- ' * 10}|",
    ]
    return [
        *lines,
        *(
            script.row(
                [one.feature, one.figure, f"{one.n}", f"{one.clusters or ''}"], one[4:]
            )
            for one in found
        ),
    ]


def main() -> None:
    options = script.parser_of(
        __doc__, "methods_items.md", {"samples": (1500, "of a row")}, seed=False
    ).parse_args()
    script.write_between(
        options.output, MARKS, table(rows(options.samples), options.samples)
    )
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
