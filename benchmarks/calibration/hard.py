"""Data that are hard for a mean: rarely large, heavy-tailed, clusters of unequal,
telling size.

What counts here is what a reader cannot see: intervals that miss and carry no flag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from calibration.cells import Array
from calibration.vectorised_defaults import intervals
from scipy import special

from warehouse.stats import Estimate, PairedDifference, estimate_mean

Rng = np.random.Generator
Draw = Callable[[Rng, tuple[int, int]], Array]
_ENTRIES, _SAMPLES, _CLUSTERED = 2_000_000, 1500, 400
PROMPTS = (30, 100, 300, 1000, 2000)
CLUSTERS = (20, 50, 200)


class Population(NamedTuple):
    """Scores to draw from: whether they have bounds, the mean, and how to draw a table
    of them."""

    bounded: bool
    mean: float
    draw: Draw


class HardRow(NamedTuple):
    """What was seen for one kind of data; shares of the samples."""

    name: str
    prompts: int
    clusters: int | None
    simulations: int
    coverage: float
    flagged: float
    missed: float
    method: str

    @property
    def unbounded(self) -> bool:
        """Whether the scores have no bounds."""
        named = POPULATIONS.get(self.name)
        return self.name.startswith("unbounded") if named is None else not named.bounded

    @property
    def unflagged_coverage(self) -> float | None:
        """Coverage among the samples without a flag; None where fewer than 50 are."""
        plain = 1 - self.flagged
        return 1 - self.missed / plain if plain * self.simulations >= 50 else None


def _rare(share: float, low: float = 0.0, width: float = 0.0) -> Population:
    """Uniform on [0, 1] with a given probability, else next to a floor."""

    def draw(rng: Rng, shape: tuple[int, int]) -> Array:
        floor = low + width * rng.random(shape)
        return np.where(rng.random(shape) < share, rng.random(shape), floor)

    return Population(True, share / 2 + (1 - share) * (low + width / 2), draw)


def _lognormal(sigma: float) -> Population:
    return Population(
        False,
        float(np.exp(sigma**2 / 2)),
        lambda rng, shape: rng.lognormal(0, sigma, shape),
    )


def _uneven_differences(rng: Rng, shape: tuple[int, int]) -> Array:
    """Differences of lognormal scores, the first with the heavier tail; mean 0."""
    second = rng.lognormal(0.72 - 0.18, 0.6, shape)
    return np.asarray(rng.lognormal(0, 1.2, shape) - second)


POPULATIONS = {
    "bounded, 1 % large, else 0": _rare(0.01),
    "bounded, 0.3 % large, else 0": _rare(0.003),
    "bounded, 1 % large, else below .05": _rare(0.01, width=0.05),
    "bounded, 0.1 % large, else below .05": _rare(0.001, width=0.05),
    "Beta(.05, 2)": Population(
        True, 0.05 / 2.05, lambda rng, shape: rng.beta(0.05, 2, shape)
    ),
    "uniform": Population(True, 0.5, lambda rng, shape: rng.random(shape)),
    "exponential": Population(
        False, 1.0, lambda rng, shape: rng.exponential(size=shape)
    ),
    "lognormal, σ .5": _lognormal(0.5),
    "lognormal, σ 1": _lognormal(1.0),
    "lognormal, σ 1.5": _lognormal(1.5),
    "lognormal, σ 2": _lognormal(2.0),
    "differences, t with 3 df": Population(
        False, 0.0, lambda rng, shape: rng.standard_t(3, shape)
    ),
    "differences, uneven lognormal": Population(False, 0.0, _uneven_differences),
}
#: kind of score -> slope of the clusters' level on the logarithm of their size
CLUSTERED = [
    (kind, slope)
    for kind in ("0/1", "0/1, rare", "bounded", "unbounded")
    for slope in (0.0, 0.8)
]


def hard_rows(seed: int = 1) -> Iterator[HardRow]:
    """Every row of the table."""
    for name in POPULATIONS:
        for n in PROMPTS:
            yield independent(name, n, seed)
    for kind, slope in CLUSTERED:
        for count in CLUSTERS:
            yield clustered(kind, slope, count, seed)


def read_hard(page: str) -> list[HardRow]:
    """The rows that a page shows, to a tenth of a percent; without the method."""
    part = page[page.index("## Hard cases") :]
    cells = [
        line.strip("| ").split("|")
        for line in part[: part.index("\n## ")].splitlines()
        if line.startswith("|")
    ]
    return [_shown([text.strip() for text in row]) for row in cells[2:]]


def _shown(texts: list[str]) -> HardRow:
    n, g = (int(text or 0) for text in texts[1:3])
    covers, flagged, missed = (float(texts[at].strip(" %")) / 100 for at in (3, 4, 6))
    count = _CLUSTERED if g else samples_of(n)
    return HardRow(texts[0], n, g or None, count, covers, flagged, missed, "")


def samples_of(n: int, samples: int = _SAMPLES) -> int:
    """How many samples of n prompts are drawn."""
    return min(samples, max(500, _ENTRIES // n))


def independent(name: str, n: int, seed: int, samples: int = _SAMPLES) -> HardRow:
    """Samples of n prompts without clusters."""
    rng = np.random.default_rng([seed, n, *map(ord, name)])
    population, count = POPULATIONS[name], samples_of(n, samples)
    scores = population.draw(rng, (count, n))
    sample_intervals = intervals(
        scores,
        1,
        clustered=False,
        binary=False,
        bounded=population.bounded,
        paired=False,
    )
    holds = (sample_intervals.low <= population.mean) & (
        population.mean <= sample_intervals.high
    )
    plain = ~sample_intervals.flagged
    return HardRow(
        name,
        n,
        None,
        count,
        float(holds.mean()),
        float(sample_intervals.flagged.mean()),
        float((plain & ~holds).mean()),
        str(sample_intervals.method[0]),
    )


def clustered(
    kind: str, slope: float, count: int, seed: int, samples: int = _CLUSTERED
) -> HardRow:
    """Samples of clusters with lognormal sizes (median 6, σ 1.2), on which the scores
    depend."""
    rng = np.random.default_rng([seed, count, int(10 * slope), *map(ord, kind)])
    truth = _mean(kind, slope, rng)

    def one() -> Estimate:
        scores, codes = _clusters(kind, slope, count, rng)
        return estimate_mean(
            scores,
            clusters=codes,
            bounds=None if kind == "unbounded" else (0, 1),
            n_draws=1 if kind.startswith("0/1") else 4,
            n_resamples=100,
        )

    return HardRow(
        clustered_name(kind, slope), 0, count, samples, *seen_in(samples, truth, one)
    )


def seen_in(
    samples: int, truth: float, one: Callable[[], Estimate | PairedDifference]
) -> tuple[float, float, float, str]:
    """Shares of samples whose interval covers, that have a flag, and that miss without
    one; the last one's method."""
    covered = flagged = missed = 0
    method = ""
    for _ in range(samples):
        found = one()
        holds = (
            found.ci_low is not None
            and found.ci_high is not None
            and found.ci_low <= truth <= found.ci_high
        )
        covered, flagged, method = (
            covered + holds,
            flagged + bool(found.flags),
            found.method,
        )
        missed += not holds and not found.flags
    return covered / samples, flagged / samples, missed / samples, method


def clustered_name(kind: str, slope: float) -> str:
    """The name of a row of clusters."""
    return f"{kind}, {'level depends on size' if slope else 'level apart from size'}"


def _clusters(
    kind: str, slope: float, count: int, rng: Rng
) -> tuple[Array, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    sizes = np.maximum(1, np.round(6 * rng.lognormal(0, 1.2, count))).astype(np.intp)
    level = np.repeat(slope * np.log(sizes / 6) + 0.7 * rng.normal(size=count), sizes)
    codes = np.repeat(np.arange(count), sizes)
    if kind == "unbounded":
        return level + rng.normal(size=len(level)), codes
    rate = special.expit(level - (2 if kind.endswith("rare") else 0))
    draws = 1 if kind.startswith("0/1") else 4
    return rng.binomial(draws, rate) / draws, codes


def _mean(kind: str, slope: float, rng: Rng) -> float:
    """The mean over prompts of a very large sample of clusters."""
    parts = [_clusters(kind, slope, 400_000, rng)[0] for _ in range(3)]
    return float(sum(part.sum() for part in parts) / sum(len(part) for part in parts))


def section(rows: list[HardRow]) -> str:
    """The section of docs/reference/calibration.md."""
    lines = [
        _WORDS,
        "| scores | n | G | covers | flagged | covers, unflagged | missed without a "
        "flag |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        unflagged = row.unflagged_coverage
        texts = [
            row.name,
            f"{row.prompts or ''}",
            f"{row.clusters or ''}",
            _percent(row.coverage),
            f"{100 * row.flagged:.0f} %",
            "–" if unflagged is None else _percent(unflagged),
            _percent(row.missed),
        ]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines) + "\n\n"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


_WORDS = """## Hard cases

Bounded scores that are rarely large, heavy tails, and clusters of lognormal sizes (median 6, σ 1.2) whose level may
depend on the size. Where the large values are missing by chance, mean and error are both too small and the sample looks
harmless: its own skewness flags the lucky samples and not the others. So scores without bounds get the hull of t and
bootstrap-t, flags inform only, and bounded scores that are few or skewed get Gaffke's interval.
*Covers, unflagged*: among samples without a flag (–: fewer than 50); where few, these are the unlucky ones, and
the last column counts. *Missed without a flag*: share of all samples, which should be at most 5 %. 400 to 1 500 samples
a row: 5 % is known to ±0.6 to ±1.1 (a standard error).
"""
