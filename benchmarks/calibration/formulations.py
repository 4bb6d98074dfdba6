"""Two formulations of one benchmark over the same models, simulated: coverage of the
three intervals, false crossings.

Each prompt has a difficulty in each formulation (standard deviation 1, correlated where
prompts are linked), each model an ability in each (standard deviation ``spread``,
correlation ``rho``), answers are right by a probit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from warehouse.stats import (
    all_pairs,
    find_crossings,
    formulation_agreement,
    formulation_noise,
)

Array = NDArray[np.float64]
STATISTICS = ("pearson", "kendall", "spearman")
INTERVALS = ("models", "prompts", "both", "percentile")
#: Models and prompts of a population, about.
_MANY = 2000
#: Models up to which crossings are counted.
_MOST_CROSSED = 30


class FormulationCell(NamedTuple):
    """What is simulated.

    ``shape``: of the abilities and answers: ``normal``, ``skewed`` abilities,
    ``ceiling`` (true means about .96), ``families`` (four models of one kind share half
    the variance of their answers), ``clusters`` (ten prompts each, which a model finds
    hard in its own way), ``unlinked`` (each formulation has its own prompts).
    """

    models: int
    prompts: int
    spread: float
    rho: float
    shape: str = "normal"


class FormulationRow(NamedTuple):
    """Of a cell: for each interval and statistic the share that covers, and the mean
    width; crossings shown."""

    cell: FormulationCell
    covered: dict[str, float]
    width: dict[str, float]
    false_crossings: float


def cells() -> Iterator[FormulationCell]:
    """From strong noise (spread .1 and .2) to little, from no agreement to nearly all."""
    for models in (3, 5, 10, 70):
        for prompts, spread in ((40, 0.2), (200, 0.1), (200, 0.5), (1000, 0.5)):
            for rho in (0.0, 0.9, 0.99):
                yield FormulationCell(models, prompts, spread, rho)
    for shape in ("skewed", "ceiling", "families", "clusters", "unlinked"):
        for models in (5, 10, 30):
            for spread in (0.15, 0.5):
                yield FormulationCell(models, 200, spread, 0.95, shape)


def simulate_formulations(
    cell: FormulationCell, seed: int, simulations: int
) -> FormulationRow:
    """Coverage in one cell, and the share of samples with a crossing shown where there
    is none (the second formulation then has the abilities of the first, shrunk)."""
    rng = np.random.default_rng(
        [seed, cell.models, cell.prompts, int(1000 * cell.spread), int(1000 * cell.rho)]
    )
    population = _statistics(*_true(cell, _abilities(cell, rng, _MANY)))
    seen: dict[str, list[tuple[bool, float]]] = {}
    false = 0
    for number in range(simulations):
        abilities = _abilities(cell, rng, cell.models)
        difficulties = _difficulties(cell, rng)
        scores, units = _answers(cell, rng, abilities, difficulties)
        means = [side.mean(axis=0) for side in scores]
        if min(map(np.ptp, means)) == 0:
            continue
        truths = {"prompts": _statistics(*_true(cell, abilities)), "both": population}
        truths |= {"percentile": truths["prompts"], "models": {}}
        if cell.shape not in ("families", "clusters"):
            truths["models"] = _statistics(*_on_these_prompts(cell, rng, difficulties))
        for row in formulation_agreement(
            *means, formulation_noise(*scores, *units), seed=number
        ):
            ends = {
                name: (getattr(row, f"{name}_low"), getattr(row, f"{name}_high"))
                for name in INTERVALS[:3]
            }
            ends["percentile"] = (None, None)
            if row.statistic == "pearson":
                ends["percentile"] = _percentile(rng, *scores)
            for name, (low, high) in ends.items():
                truth = truths[name].get(row.statistic)
                if low is not None and truth is not None:
                    inside = low - 1e-9 <= truth <= high + 1e-9
                    seen.setdefault(f"{name} {row.statistic}", []).append(
                        (inside, high - low)
                    )
        false += _false_crossing(cell, rng, abilities)
    covered = {
        name: float(np.mean([inside for inside, _ in own]))
        for name, own in seen.items()
    }
    width = {
        name: float(np.mean([length for _, length in own]))
        for name, own in seen.items()
    }
    return FormulationRow(cell, covered, width, false / simulations)


def _abilities(cell: FormulationCell, rng: np.random.Generator, n: int) -> Array:
    """Of n models in both formulations, shape (2, n)."""
    z = rng.multivariate_normal([0, 0], [[1, cell.rho], [cell.rho, 1]], n).T
    if cell.shape == "skewed":
        z = np.exp(0.75 * z) - 1
    return np.asarray(z * cell.spread + (2.5 if cell.shape == "ceiling" else 0.0))


def _true(cell: FormulationCell, abilities: Array) -> Array:
    """Means over all prompts, shape (2, M)."""
    return np.asarray(
        special.ndtr(abilities / np.sqrt(1.5 if cell.shape == "clusters" else 2))
    )


def _statistics(x: Array, y: Array) -> dict[str, float]:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return {}
    return {
        "pearson": float(np.corrcoef(x, y)[0, 1]),
        "kendall": float(stats.kendalltau(x, y, method="asymptotic").statistic),
        "spearman": float(stats.spearmanr(x, y).statistic),
    }


def _difficulties(cell: FormulationCell, rng: np.random.Generator) -> Array:
    """Of the prompts in both formulations, shape (2, n)."""
    n = cell.prompts
    first, other = rng.standard_normal((2, n))
    if cell.shape == "unlinked":
        return np.array([first, other])
    both = np.array([first, 0.8 * first + 0.6 * other])
    return np.zeros((2, n)) if cell.shape == "clusters" else both


def _answers(
    cell: FormulationCell,
    rng: np.random.Generator,
    abilities: Array,
    difficulties: Array,
) -> tuple[list[Array], list[NDArray[np.int64]]]:
    """Scores of both formulations, prompts × models, and the unit of each prompt."""
    n, m = cell.prompts, abilities.shape[1]
    units = np.arange(n)
    own = rng.standard_normal((2, n, m))
    if cell.shape == "families":
        families = rng.standard_normal((2, n, -(-m // 4)))[:, :, np.arange(m) // 4]
        own = np.sqrt(0.5) * (own + families)
    elif cell.shape == "clusters":
        units = units // 10
        own = own + np.sqrt(0.5) * rng.standard_normal((2, -(-n // 10), m))[:, units]
    right = own < abilities[:, None, :] + difficulties[:, :, None]
    others = units + n if cell.shape == "unlinked" else units
    return [right[0].astype(np.float64), right[1].astype(np.float64)], [units, others]


def _on_these_prompts(
    cell: FormulationCell, rng: np.random.Generator, difficulties: Array
) -> Array:
    """Means of other models on these prompts, answers included, shape (2, many)."""
    chances = special.ndtr(
        _abilities(cell, rng, _MANY // 5)[:, None, :] + difficulties[:, :, None]
    )
    noise = np.sqrt((chances * (1 - chances)).sum(axis=1)) / cell.prompts
    return np.asarray(chances.mean(axis=1) + noise * rng.standard_normal(noise.shape))


def _percentile(
    rng: np.random.Generator, first: Array, second: Array
) -> tuple[float, float]:
    """What resampling the prompts gives, which is too low."""
    drawn = rng.multinomial(len(first), np.full(len(first), 1 / len(first)), 300)
    u, v = drawn @ first, drawn @ second
    u, v = (side - side.mean(axis=1, keepdims=True) for side in (u, v))
    with np.errstate(invalid="ignore"):
        r = (u * v).sum(axis=1) / np.sqrt((u * u).sum(axis=1) * (v * v).sum(axis=1))
    low, high = np.nanquantile(r, [0.025, 0.975])
    return float(low), float(high)


def _false_crossing(
    cell: FormulationCell, rng: np.random.Generator, abilities: Array
) -> bool:
    """Whether a crossing is shown where the second formulation has the order of the
    first."""
    if cell.models > _MOST_CROSSED:
        return False
    same = np.array(
        [abilities[0], abilities[0] * (cell.rho if cell.shape == "normal" else 0.5)]
    )
    scores, units = _answers(cell, rng, same, _difficulties(cell, rng))
    clusters = units[0] if cell.shape == "clusters" else None
    p = [all_pairs(side, clusters, n_resamples=0).p_value for side in scores]
    found = find_crossings(*(side.mean(axis=0) for side in scores), *p)
    return bool((found.p_holm <= 0.05).any())


_HEAD = """# Calibration of the agreement of two formulations

How often the 95 % intervals of `warehouse noise formulations` cover, {simulations} samples a cell (a fourth with 30
models or more). `python benchmarks/calibrate_formulations.py` runs it again, seeded, and writes this page.

Each prompt has a difficulty in each formulation (standard deviation 1, correlated .8 where prompts are linked), each
model an ability in each (standard deviation *spread*, correlation *ρ*); answers are right by a probit. The truths:
*models*, the correlation over all such models' means on these prompts; *prompts*, that of the true means of these
models; *both*, that of all such models' true means. *percentile* is what resampling prompts would give for *prompts*,
Pearson: it is no interval of ours. P, K, S: Pearson, Kendall's τ-b, Spearman. *crossing*: share of samples in which
any crossing is shown (Holm, 5 %) where there is none; not simulated with 70 models.
Shapes: *skewed* abilities; *ceiling*, true means about .96; *families*, four models each share half the variance of
their answers; *clusters* of ten prompts, which a model finds hard in its own way; *unlinked*, each formulation with
prompts of its own.
"""


def write_page(path: Path, rows: list[FormulationRow], simulations: int) -> None:
    """Coverage and mean width of every cell."""
    names = [
        f"{interval} {statistic}"
        for interval in INTERVALS[:3]
        for statistic in STATISTICS
    ]
    lines = [_HEAD.format(simulations=simulations)]
    for what, figures in (("Coverage", "covered"), ("Mean width", "width")):
        columns = [*names, "percentile pearson"]
        heads = [f"{name.split()[0]} {name.split()[1][0].upper()}" for name in columns]
        crossing = ["crossing"] if figures == "covered" else []
        lines += [
            f"\n## {what}\n",
            f"| models, prompts, spread, ρ | {' | '.join([*heads, *crossing])} |",
        ]
        lines += ["| --- |" + " --- |" * len([*heads, *crossing])]
        for row in rows:
            values = [getattr(row, figures).get(name) for name in columns]
            shown = ["-" if value is None else f"{value:.2f}" for value in values]
            shown += [
                f"{row.false_crossings:.3f}"
                if row.cell.models <= _MOST_CROSSED
                else "-"
            ] * len(crossing)
            models, prompts, spread, rho, shape = row.cell
            kind = "" if shape == "normal" else f", {shape}"
            lines.append(
                f"| {models}, {prompts}, {spread:g}, {rho:g}{kind} | "
                f"{' | '.join(shown)} |"
            )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
