"""Published figures of models on benchmarks, at most one of each pair: checked, thinned
out, connected (§13b)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.sample import components

IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Figures:
    """Figures of models on benchmarks, at most one of each pair."""

    values: FloatArray  #: in [0, 1], higher is better, shape (N,).
    variance: FloatArray  #: square of the known standard error of each, 0 where none is known, shape (N,).
    model: IntArray  #: number of the model of each.
    benchmark: IntArray  #: number of the benchmark of each.
    models: tuple[str, ...]  #: names, shape (M,).
    benchmarks: tuple[str, ...]  #: names, shape (J,).

    def part(self, kept: NDArray[np.bool_]) -> Figures:
        """Some of the figures, without the models and benchmarks that have none left."""
        models, model = np.unique(self.model[kept], return_inverse=True)
        benchmarks, benchmark = np.unique(self.benchmark[kept], return_inverse=True)
        names = (
            tuple(self.models[i] for i in models),
            tuple(self.benchmarks[j] for j in benchmarks),
        )
        numbers = model.astype(np.intp), benchmark.astype(np.intp)
        return Figures(self.values[kept], self.variance[kept], *numbers, *names)


def as_figures(
    values: ArrayLike,
    models: Sequence[str],
    benchmarks: Sequence[str],
    standard_errors: ArrayLike | None = None,
) -> Figures:
    """Figures with the names of their models and benchmarks, checked.

    Args:
        values: in [0, 1], higher is better, shape (N,).
        models: name of the model of each.
        benchmarks: name of the benchmark of each.
        standard_errors: of each, 0 or NaN where none is known: figures weigh the less
            the larger it is.

    Raises:
        StatisticsError: other lengths, no figure, a value outside [0, 1], a model twice
            on one benchmark, an error below 0.
    """
    numbers = np.asarray(values, dtype=np.float64)
    are_alike = numbers.ndim == 1 and len(numbers) == len(models) == len(benchmarks)
    if not are_alike or not len(numbers):
        found = f"{numbers.shape}, {len(models)} and {len(benchmarks)}"
        raise StatisticsError(
            "figures need one value, model and benchmark each, at least one; found "
            f"{found}"
        )
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise StatisticsError("figures must be numbers in [0, 1]")
    errors = np.zeros(len(numbers))
    if standard_errors is not None:
        errors = np.nan_to_num(np.asarray(standard_errors, float))
    if errors.shape != numbers.shape or not (np.isfinite(errors) & (errors >= 0)).all():
        raise StatisticsError(
            "standard errors must be at least 0, one for each figure; found shape "
            f"{errors.shape}"
        )
    model_names, model = _codes(models)
    benchmark_names, benchmark = _codes(benchmarks)
    cells = model * len(benchmark_names) + benchmark
    pairs, counts = np.unique(cells, return_counts=True)
    if (counts > 1).any():
        m, j = divmod(int(pairs[counts > 1][0]), len(benchmark_names))
        raise StatisticsError(
            f"{model_names[m]} has several figures on {benchmark_names[j]}"
        )
    return Figures(numbers, errors**2, model, benchmark, model_names, benchmark_names)


def _codes(labels: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Names in order, and the number of each label's."""
    texts = np.asarray(labels, dtype=object).astype(str)
    names, codes = np.unique(texts, return_inverse=True)
    return tuple(names.tolist()), codes.astype(np.intp)


def with_enough(
    figures: Figures, min_benchmarks: int = 4, min_models: int = 4
) -> Figures:
    """Models and benchmarks that have so many figures among those that are left; maybe
    none."""
    while True:
        enough_models = (
            np.bincount(figures.model, minlength=len(figures.models)) >= min_benchmarks
        )
        enough_benchmarks = (
            np.bincount(figures.benchmark, minlength=len(figures.benchmarks))
            >= min_models
        )
        kept = enough_models[figures.model] & enough_benchmarks[figures.benchmark]
        if kept.all():
            return figures
        figures = figures.part(kept)


def where(figures: Figures, kept: NDArray[np.bool_]) -> Figures:
    """Some of the figures, with all models and benchmarks."""
    own = (
        figures.values[kept],
        figures.variance[kept],
        figures.model[kept],
        figures.benchmark[kept],
    )
    return Figures(*own, figures.models, figures.benchmarks)


def without(figures: Figures, benchmark: int) -> Figures:
    """All models, without one benchmark."""
    rest = where(figures, figures.benchmark != benchmark)
    numbers = rest.benchmark - (rest.benchmark > benchmark)
    names = figures.benchmarks[:benchmark] + figures.benchmarks[benchmark + 1 :]
    return Figures(
        rest.values,
        rest.variance,
        rest.model,
        numbers.astype(np.intp),
        figures.models,
        names,
    )


def check_connected(figures: Figures) -> None:
    """Refuse models that are on no scale together.

    Raises:
        StatisticsError: they fall into components; names their benchmarks.
    """
    count, total = len(figures.models), len(figures.models) + len(figures.benchmarks)
    labels = components(figures.model, count + figures.benchmark, total)
    pieces = int(labels.max()) + 1
    if pieces > 1:
        names: list[str] = []
        for piece in range(pieces):
            n_models = (labels[:count] == piece).sum()
            first = np.flatnonzero(labels[count:] == piece)[:5]
            benchmarks = ", ".join(figures.benchmarks[j] for j in first)
            names.append(f"{n_models} models on {benchmarks}")
        raise StatisticsError(
            f"the models share no scale: they fall into {pieces} components "
            f"({'; '.join(names[:5])}), and no model has figures on benchmarks of two. "
            "Name the benchmarks of one, or add a model that has both"
        )
