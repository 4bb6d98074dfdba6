"""Scores that look bounded, of a metric of which nobody has said between which values it lies."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

import numpy as np

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.scores import PromptScores

#: Scores from which on two values are no accident.
ENOUGH = 20
_PERCENT = (0.0, 100.0)


def unstated_bounds(scored: Iterable[tuple[str, Metric, PromptScores]]) -> Iterator[str]:
    """What to say of each metric whose scores are two values only, or reach from 0 to 100: intervals
    that know no bounds lie beyond them.

    Args:
        scored: name of the benchmark, metric and scores of each condition.
    """
    found: dict[tuple[str, str], list[PromptScores]] = {}
    for benchmark, metric, scores in scored:
        if metric.bounds is None and metric.link == "identity" and scores.n:
            found.setdefault((benchmark, metric.label), []).append(scores)
    for (benchmark, label), every in found.items():
        values = np.unique(np.concatenate([scores.values for scores in every]))
        ends = (float(values[0]), float(values[-1]))
        if sum(scores.n for scores in every) < ENOUGH or not (len(values) == 2 or ends == _PERCENT):
            continue
        what = "only {:g} and {:g} occur" if len(values) == 2 else "scores lie between {:g} and {:g}"
        low, high = (f"{end:.12g}" for end in ends)
        yield (
            f"{label}: {what.format(*ends)}, and nobody has said that there are no others; this says so, and"
            f" intervals keep within: warehouse benchmarks metrics {shlex.quote(benchmark)} --metric"
            f" {shlex.quote(label)} --bounds {low} {high}"
        )
