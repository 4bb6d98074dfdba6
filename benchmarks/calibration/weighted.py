"""Weighted means: lognormal weights, one prompt with nearly all, scores that depend on
them, clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from calibration.cells import Array
from calibration.hard import seen_in
from scipy import special

from warehouse.stats import Estimate, PairedDifference, estimate_mean, paired_difference

Rng = np.random.Generator
SAMPLES = 600
PROMPTS, SIGMAS, GROUPS = (60, 300, 1000), (0.5, 1.0, 2.0), (15, 60)
_SIZE, _CORRELATION, _SLOPE = 5, 0.3, 0.25


class Question(NamedTuple):
    """A kind of figure: what is drawn for standardised logarithms of weights z, and its
    true value."""

    name: str
    draw: Callable[[Rng, Array], Array]
    truth: Callable[[float], float]
    bounds: tuple[float, float] | None = None


class WeightedRow(NamedTuple):
    """What was seen for one kind of data; shares of the samples."""

    scores: str
    weights: str
    prompts: int
    clusters: int | None
    simulations: int
    coverage: float
    flagged: float
    missed: float
    method: str


def _answers(base: float, slope: float) -> Question:
    """0/1 scores, right with probability expit(base + slope z)."""
    z, mass = np.polynomial.hermite_e.hermegauss(60)

    def truth(sigma: float) -> float:  # lognormal weights move z by σ
        return float(special.expit(base + slope * (z + sigma)) @ mass / mass.sum())

    name = f"0/1, p {special.expit(base):.2g}{', by weight' if slope else ''}"
    return Question(
        name,
        lambda rng, z: (rng.random(z.shape) < special.expit(base + slope * z)).astype(
            float
        ),
        truth,
    )


QUESTIONS = (
    Question(
        "NLL, by weight",
        lambda rng, z: rng.gamma(4, 0.25, z.shape) * (1 + _SLOPE * z),
        lambda s: 1 + _SLOPE * s,
    ),
    Question("NLL", lambda rng, z: rng.gamma(4, 0.25, z.shape), lambda s: 1.0),
    Question("F1", lambda rng, z: rng.beta(2, 1, z.shape), lambda s: 2 / 3, (0.0, 1.0)),
    _answers(special.logit(0.7), 0.0),
    _answers(special.logit(0.95), 0.0),
    _answers(special.logit(0.8), 0.5),
)


def weighted_rows(seed: int = 1, samples: int = SAMPLES) -> Iterator[WeightedRow]:
    """Every row of the table."""
    for question in QUESTIONS:
        for sigma in SIGMAS:
            for n in PROMPTS:
                yield independent(question, sigma, n, seed, samples)
        if "by weight" not in question.name:
            yield dominated(question, 0.99, 100, seed, samples)
    for kind in ("0/1, p 0.8", "NLL", "0/1, paired", "NLL, paired"):
        for sigma in SIGMAS:
            for groups in GROUPS:
                yield clustered(kind, sigma, groups, seed, samples)


def independent(
    question: Question, sigma: float, n: int, seed: int, samples: int
) -> WeightedRow:
    """Lognormal weights without clusters."""
    rng, truth = _rng(seed, question.name, n, sigma), question.truth(sigma)

    def one() -> Estimate:
        z = rng.normal(size=n)
        return estimate_mean(
            question.draw(rng, z), weights=np.exp(sigma * z), bounds=question.bounds
        )

    return WeightedRow(
        question.name,
        f"lognormal, σ {sigma:g}",
        n,
        None,
        samples,
        *seen_in(samples, truth, one),
    )


def dominated(
    question: Question, share: float, n: int, seed: int, samples: int
) -> WeightedRow:
    """One prompt with a share of the weight, the others alike."""
    rng = _rng(seed, question.name, n, share)
    weights = np.r_[share / (1 - share) * (n - 1), np.ones(n - 1)]

    def one() -> Estimate:
        return estimate_mean(
            question.draw(rng, np.zeros(n)), weights=weights, bounds=question.bounds
        )

    seen = seen_in(samples, question.truth(0.0), one)
    return WeightedRow(
        question.name, f"one prompt has {100 * share:g} %", n, None, samples, *seen
    )


def clustered(
    kind: str, sigma: float, groups: int, seed: int, samples: int
) -> WeightedRow:
    """Lognormal weights in clusters of about five prompts; of pairs both runs have
    weights of their own."""
    rng, paired = _rng(seed, kind, groups, sigma), kind.endswith("paired")
    threshold = special.ndtri(0.8)

    def scores(codes: Array) -> Array:
        effect = rng.normal(size=groups)[codes] * _CORRELATION**0.5
        latent = effect + rng.normal(size=len(codes)) * (1 - _CORRELATION) ** 0.5
        return (
            (latent < threshold).astype(float)
            if kind.startswith("0/1")
            else np.exp(0.5 * latent)
        )

    def one() -> Estimate | PairedDifference:
        codes = np.repeat(np.arange(groups), 1 + rng.poisson(_SIZE - 1, groups))
        weights = rng.lognormal(0, sigma, (2, len(codes)))
        if paired:
            sides = {
                "weights_a": weights[0],
                "weights_b": weights[1],
                "clusters": codes,
            }
            return paired_difference(scores(codes), scores(codes), **sides)
        return estimate_mean(scores(codes), weights=weights[0], clusters=codes)

    truth = 0.0 if paired else 0.8 if kind.startswith("0/1") else float(np.exp(0.125))
    seen = seen_in(samples, truth, one)
    return WeightedRow(
        kind, f"lognormal, σ {sigma:g}", groups * _SIZE, groups, samples, *seen
    )


def _rng(seed: int, name: str, n: int, figure: float) -> Rng:
    return np.random.default_rng([seed, n, int(100 * figure), *map(ord, name)])


def weighted_section(rows: list[WeightedRow]) -> str:
    """The section of docs/reference/calibration.md."""
    lines = [
        _WORDS,
        "| scores | weights | n | G | covers | flagged | covers, unflagged | method |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        plain = 1 - row.flagged
        unflagged = (
            f"{100 * (1 - row.missed / plain):.1f} %"
            if plain * row.simulations >= 200
            else "–"
        )
        texts = [
            row.scores,
            row.weights,
            f"{row.prompts}",
            f"{row.clusters or ''}",
            f"{100 * row.coverage:.1f} %",
        ]
        lines.append(
            "| "
            f"{' | '.join([*texts, f'{100 * row.flagged:.0f} %', unflagged, f'`{row.method}`'])} "
            "|"
        )
    return "\n".join(lines) + "\n\n"


_WORDS = f"""## Weighted means

Corpus figures: a value per prompt and its weight (words, bytes). *By weight*: the score depends on the logarithm of the
weight. *F1*: Beta(2, 1). In clusters (about {_SIZE} prompts each, correlation {_CORRELATION:g}) weights are
independent of scores; of pairs each run has weights of its own, and *covers* is the share that does not reject.
Flags (`weights_concentrated`, `weights_dominated`, `few_clusters`) look at the weights only. With lognormal weights,
σ 2, a prompt or two make up the figure: where scores depend on the weights, its tail is hardly sampled, and nothing
saves the interval. {SAMPLES} samples a row.
"""
