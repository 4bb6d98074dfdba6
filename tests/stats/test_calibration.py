"""The published calibration: its formulas are those of the library, its table is not
stale."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.stats import estimate_mean, interval_t, paired_difference

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from calibrate import _version  # noqa: E402
from calibration.cells import Cell, grid  # noqa: E402
from calibration.hard import HardRow, clustered, independent, read_hard  # noqa: E402
from calibration.page import UNFLAGGED, read_rows  # noqa: E402
from calibration.simulate import REACHED, simulate  # noqa: E402
from calibration.vectorised_defaults import intervals  # noqa: E402
from calibration.weighted import QUESTIONS, Question  # noqa: E402
from calibration.weighted import clustered as clustered_weights  # noqa: E402
from calibration.weighted import independent as independent_weights  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "calibration.md"
SHAPES = [(30, 1), (12, 1), (250, 1), (60, 5), (8, 3), (30, 4), (25, 40)]


def draws(kind: str, units: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Scores of one sample, units in a row."""
    rate = rng.choice([0.01, 0.1, 0.5, 0.95])
    if kind == "normal":
        return rng.gamma(rng.choice([0.2, 5.0]), size=(units, size)) + rng.normal(
            size=(units, 1)
        )
    rates = rng.beta(2 * rate, 2 * (1 - rate), (units, 1)) * np.ones((units, size))
    if kind == "binary":
        return (rng.random((units, size)) < rates).astype(float)
    return rng.binomial(4, rates) / 4


@pytest.mark.parametrize("kind", ["binary", "bounded", "normal", "paired"])
@pytest.mark.parametrize(("units", "size"), SHAPES)
def test_the_vectorised_defaults_are_estimate_mean(
    kind: str, units: int, size: int
) -> None:
    rng = np.random.default_rng(units * size)
    samples = [draws(kind, units, size, rng) for _ in range(40)]
    if kind == "paired":
        samples = [a - draws(kind, units, size, rng) for a in samples]
    bounded, clustered = kind in ("binary", "bounded"), size > 1
    vectorised = intervals(
        np.array([s.sum(axis=1) for s in samples]),
        size,
        clustered=clustered,
        binary=kind == "binary",
        bounded=bounded,
        paired=kind == "paired",
    )
    labels = np.repeat(np.arange(units), size) if clustered else None
    for i, sample in enumerate(samples):
        scores: Any = sample.ravel()
        if kind == "paired":
            real: Any = paired_difference(
                scores, np.zeros_like(scores), clusters=labels, bounds=(-1, 1)
            )
            method = real.method.removeprefix("paired_")
            if (
                method == "added_prompts"
            ):  # the page of composed figures has its interval; here it is the test's
                ends_of_t = interval_t(
                    real.difference, real.standard_error, real.degrees_of_freedom
                )
                method, real = (
                    "t",
                    replace(
                        real,
                        ci_low=ends_of_t and ends_of_t.low,
                        ci_high=ends_of_t and ends_of_t.high,
                    ),
                )
        else:
            real = estimate_mean(
                scores,
                clusters=labels,
                bounds=(0, 1) if bounded else None,
                n_draws=1 if kind == "binary" else 4,
                n_resamples=100,
            )
            method = real.method
        assert (method, bool(real.flags)) == (
            vectorised.method[i],
            bool(vectorised.flagged[i]),
        ) or (real.flags[-1:] in {("all_scores_equal",), ("all_differences_equal",)})
        if real.ci_low is None:
            assert np.isnan(vectorised.low[i])
        else:
            ends = (vectorised.low[i], vectorised.high[i])
            assert ends == pytest.approx(
                (real.ci_low, real.ci_high), rel=1e-8, abs=1e-10
            )


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_weighted_means_are_covered(question: Question) -> None:
    row = independent_weights(question, 1.0, 300, seed=3, samples=300)
    assert row.coverage > 0.935 - 3 * (0.06 * 0.94 / 300) ** 0.5
    assert row.flagged < 0.2


@pytest.mark.parametrize("kind", ["0/1, p 0.8", "NLL", "0/1, paired", "NLL, paired"])
def test_weighted_means_in_clusters_are_covered(kind: str) -> None:
    row = clustered_weights(kind, 1.0, 60, seed=3, samples=200)
    assert row.coverage > 0.94 - 3 * (0.06 * 0.94 / 200) ** 0.5


def test_the_page_holds_every_cell() -> None:
    assert [row.cell for row in read_rows(PAGE)] == grid()


def test_the_page_holds_what_it_promises() -> None:
    """What the project asks of its default intervals, read off the published table."""
    rows = [row for row in read_rows(PAGE) if row.cell.kind != "paired"]
    short = [row for row in rows if row.coverage < REACHED]
    assert len(short) <= 0.05 * len(rows)
    assert np.mean([row.coverage for row in rows]) < 0.99


@pytest.mark.parametrize("part", ["grid", "hard cases"])
def test_the_page_shows_no_cell_that_fails_without_a_flag(part: str) -> None:
    """Flags hold where it matters: wherever a fifth of the samples carries none, these
    do. Those of the hull inform only: it is judged by all samples."""
    hard = read_hard(PAGE.read_text(encoding="utf-8"))
    rows = hard if part == "hard cases" else read_rows(PAGE)
    short = []
    for row in rows:
        missed_error = (0.06 * 0.94 / row.simulations) ** 0.5
        assert row.missed <= 0.06 + 2 * missed_error, row
        informs_only = (
            row.unbounded if isinstance(row, HardRow) else row.method == "hull"
        )
        if row.flagged <= 0.8 and not informs_only:
            share = 1 - row.missed / (1 - row.flagged)
            error = (share * (1 - share) / ((1 - row.flagged) * row.simulations)) ** 0.5
            short += [row] if share + 2 * error < UNFLAGGED else []
    assert short == []


HARD = [
    ("bounded, 1 % large, else 0", 300),
    ("bounded, 0.1 % large, else below .05", 1000),
    ("lognormal, σ 1", 300),
    ("lognormal, σ 1.5", 2000),
    ("differences, uneven lognormal", 300),
]


@pytest.mark.parametrize(("name", "n"), HARD)
def test_hard_data_are_covered_or_flagged(name: str, n: int) -> None:
    """Of all samples at most 6 % miss without a flag, but for three Monte Carlo errors."""
    row = independent(name, n, seed=5, samples=600)
    assert row.missed <= 0.06 + 3 * (0.06 * 0.94 / row.simulations) ** 0.5
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = next(line for line in lines if line.startswith(f"| {name} | {n} |"))
    assert abs(float(shown.split("|")[5].strip(" %")) / 100 - row.flagged) < 0.1


@pytest.mark.parametrize(
    "kind",
    [
        "0/1",
        *(
            pytest.param(kind, marks=pytest.mark.rare)
            for kind in ("bounded", "unbounded")
        ),
    ],
)
def test_clusters_whose_size_tells_their_level_are_flagged(kind: str) -> None:
    row = clustered(kind, 0.8, 50, seed=5, samples=60)
    assert row.missed <= 0.06 + 3 * (0.06 * 0.94 / row.simulations) ** 0.5


SPOT_CHECKS = [
    Cell("beta", 0, 0.0, 50, None, 0.0),
    Cell("rate", 1, 0.5, 50, None, 0.0),
    Cell("rate", 1, 0.02, 10_000, 20, 0.2),
    Cell("rate", 5, 0.1, 300, 10, 0.6),
    Cell("rate", 20, 0.9, 100, None, 0.0),
    Cell("exponential", 0, 0.0, 100, 5, 0.6),
    Cell("normal", 0, 0.0, 20, 10, 0.0),
    Cell("paired", 1, 0.1, 300, 50, 0.2),
]


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, marks=pytest.mark.rare if cell in SPOT_CHECKS[3:5] else ())
        for cell in SPOT_CHECKS
    ],
    ids=str,
)
def test_the_page_is_what_the_code_does(cell: Cell) -> None:
    """A fresh, small simulation with another seed gives the published coverage."""
    published = {row.cell: row for row in read_rows(PAGE)}[cell]
    fresh = simulate(cell, seed=99, chunks=1, chunk=3000)
    room = 4 * (fresh.mc_error**2 + published.mc_error**2) ** 0.5 + 0.003
    assert fresh.coverage == pytest.approx(published.coverage, abs=room)
    assert fresh.flagged == pytest.approx(published.flagged, abs=0.06)
    assert fresh.missed == pytest.approx(published.missed, abs=room)
    assert fresh.method == published.method


def test_the_digest_of_what_decides_the_figures_finds_its_files() -> None:
    assert len({_version(0), _version(0), _version(1)}) == 2
